"""The last step of every commit to a slot: by it no two of its truths come to hold at one moment.

Of the truths that had begun by a moment, the one told last holds. The decisions before this step know their own case and may not read
every member of the slot; this step reads all of them, merged ones and old versions included, and cuts whatever still overlaps.
Note: some overlaps are wanted, see `_side_by_side`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import combinations
from typing import Any

from memory_core.domain.conflict import Cut
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT, TRUE_ONCE
from memory_core.domain.models import Memory, MemoryType, Status
from memory_core.domain.scope import Owner
from memory_core.domain.slots import Slot, slot_of
from memory_core.domain.versions import VERSIONS_END, base_id, is_of_its_life, is_version, version_id
from memory_core.evolution.moves import moves_of
from memory_core.evolution.tellings import ended, over
from memory_core.evolution.truth_line import place_of
from memory_core.evolution.versions import version_document
from memory_core.ledger.changes import Change, Changes, Result
from memory_core.ledger.commit import Look, as_memory
from memory_core.ports import Document, LongTermStore, Near

_NEVER = datetime.max.replace(tzinfo=timezone.utc)
_SEMANTIC = frozenset({MemoryType.SEMANTIC.value})


async def keep_disjoint(
    store: LongTermStore, owner: Owner, changes: Changes[Result], look: Look, nears: Sequence[Near], ahead: Sequence[Change] = ()
) -> Changes[Result]:
    """The changes, with the cuts that keep the truths of each slot apart; the same object where none is needed.

    Args:
        store: where members of a slot are read that the decision was not shown.
        owner: whose memories they are.
        changes: what is about to be committed.
        look: what the decision was shown.
        nears: what `look` was asked for.
        ahead: changes of the same decision that were committed before it, because they did not fit one commit.

    Returns:
        The given object where nothing overlaps.

    Raises:
        Unavailable: the store does not answer.

    """
    if changes.begins is not None:
        return changes
    if ahead and (decided := _decision(changes)) is not None:
        moves = [*decided.body["moves"], *(one.model_dump(mode="json") for one in moves_of(ahead))]
        recorded = replace(decided, body={**decided.body, "moves": moves})
        changes = replace(changes, puts=tuple(recorded if one is decided else one for one in changes.puts))
    for slot, gaining in _gaining(changes).items():
        members, was_read = await _members(store, owner, slot, look, nears)
        older = await _old_versions(store, owner, _with_changes(members, changes), gaining, look)
        cuts = _Slot.of(slot, members, older, changes).cuts()
        if was_read:
            changes = replace(changes, types=changes.types | _SEMANTIC)
        if cuts:
            changes = _with_cuts(changes, cuts, members, older)
    return changes


def _gaining(changes: Changes[Any]) -> dict[Slot, list[Memory]]:
    """By slot, the truths that these changes may let hold longer, or that may no longer stand beside another one."""
    first, last = dict[str, Memory | None](), dict[str, Memory]()
    for change in changes.changes:
        first.setdefault(change.after.id, change.before)
        last[change.after.id] = change.after
        if change.removed:
            del last[change.after.id]
    gaining: dict[Slot, list[Memory]] = {}
    for name, after in last.items():
        slot = slot_of(after) if after.type is MemoryType.SEMANTIC else None
        if slot is not None and _gains(first[name], after):
            gaining.setdefault(slot, []).append(after)
    for version in _written(changes):
        memory, slot = first.get(base_id(version.id)), slot_of(version)
        if slot is not None and memory is not None and version.version < memory.version and memory.type is MemoryType.SEMANTIC:
            gaining.setdefault(slot, []).append(version)  # it may hold again
    return gaining


def _written(changes: Changes[Any]) -> list[Memory]:
    """The old versions that these changes write."""
    return [Memory.model_validate(one.body) for one in changes.puts if one.kind == "version"]


def _gains(before: Memory | None, after: Memory) -> bool:
    if not _counts(after):
        return False
    if before is None or not _counts(before) or slot_of(before) != slot_of(after) or after.valid_from < before.valid_from:
        return True
    longer = before.valid_until is not None and (after.valid_until is None or before.valid_until < after.valid_until)
    return longer or (_stands(before) and not _stands(after)) or (bool(before.conflict_ids) and not after.conflict_ids)


async def _members(store: LongTermStore, owner: Owner, slot: Slot, look: Look, nears: Sequence[Near]) -> tuple[dict[str, Memory], bool]:
    """The members of a slot before the commit, by id; and whether they had to be read."""
    if was_read := all(near.slot != slot for near in nears):
        found = (await store.snapshot(owner, (), Near(None, _SEMANTIC, 1.0, slot))).near
    else:
        found = tuple(one for near in look.near for one in near) + look.merged
    shown = {name: memory for name in look.documents if (memory := look.memory(name)) is not None}
    members = {one.memory.id: one.memory for one in found} | shown
    return {name: one for name, one in members.items() if slot_of(one) == slot and one.type is MemoryType.SEMANTIC}, was_read


def _with_changes(members: Mapping[str, Memory], changes: Changes[Any]) -> dict[str, Memory]:
    return {**members, **{change.after.id: change.after for change in changes.changes}}


async def _old_versions(
    store: LongTermStore, owner: Owner, members: Mapping[str, Memory], gaining: Sequence[Memory], look: Look
) -> dict[str, Memory]:
    """The old versions, by id, that a gaining truth may share a moment with: those of members that begin after it, and its own."""
    begins = min(one.valid_from for one in gaining)
    names = [
        version_id(one.id, number)
        for one in members.values()
        if one.version > 1 and (one.valid_from > begins or any(one.id == base_id(each.id) for each in gaining))
        for number in range(1, one.version)
    ]
    wanted = [name for name in names if name not in look.documents]
    seen = await store.snapshot(owner, wanted) if wanted else None
    documents = {**look.documents, **({} if seen is None else seen.documents)}
    head = look.head if seen is None else seen.head
    found = {name: as_memory(documents[name], head) for name in names if name in documents}
    return {name: one for name, one in found.items() if one is not None}


@dataclass(frozen=True, slots=True)
class _Slot:
    """All truths of one slot, old versions included, before a commit and after it.

    waiting: ids of the memories that stand beside another one while their conflict is open. changed: ids of those that the commit changes.
    waited: pairs of ids that stood beside each other before the commit only because their conflict was open.
    """

    before: Mapping[str, Memory]
    after: Mapping[str, Memory]
    waiting: frozenset[str]
    changed: frozenset[str]
    waited: frozenset[frozenset[str]]

    @classmethod
    def of(cls, slot: Slot, members: Mapping[str, Memory], older: Mapping[str, Memory], changes: Changes[Any]) -> _Slot:
        before = {**members, **older}
        for change in changes.changes:
            if change.before is not None:
                before.setdefault(change.after.id, change.before)
        written = {one.id: one for one in _written(changes)}
        after = {**before, **{change.after.id: change.after for change in changes.changes}, **written}
        for change in changes.changes:
            if change.removed:
                after.pop(change.after.id, None)
        here = {name: one for name, one in after.items() if slot_of(one) == slot and one.type is MemoryType.SEMANTIC}
        asked = Counter(name for one in here.values() if _stands(one) and not is_version(one.id) for name in one.conflict_ids)
        waiting = {one.id for one in here.values() if _stands(one) and any(asked[name] > 1 for name in one.conflict_ids)}
        held = {name: one for name, one in here.items() if not is_version(name) or is_of_its_life(one, after.get(base_id(name)))}
        changed = {change.after.id for change in changes.changes} | {base_id(name) for name in written}
        return cls(before, held, frozenset(waiting), frozenset(changed), _waiting_pairs(before.values()))

    def cuts(self) -> list[Memory]:
        """The truths that have to end earlier, as they are then."""
        counted = sorted((one for one in self.after.values() if _counts(one)), key=_told, reverse=True)
        open_ended = [one for one in counted if _stands(one) and one.valid_until is None]
        later, shorter = list[Memory](), list[Memory]()
        for truth in counted:
            if _is_empty(truth):
                continue
            if not _stands(truth) or truth.valid_until is not None:
                rivals = [*later, *(one for one in open_ended if _told(one) < _told(truth))]
                if base_id(truth.id) not in self.changed:
                    rivals = [one for one in rivals if base_id(one.id) in self.changed]
                limits = [limit for one in rivals if _overlap(truth, one) and (limit := self._limit(truth, one)) is not None]
                if limits and (truth.valid_until is None or min(limits) < truth.valid_until):
                    truth = ended(truth, min(limits))
                    shorter.append(truth)
            if not _is_empty(truth):
                later.append(truth)
        return shorter

    def _limit(self, truth: Memory, other: Memory) -> datetime | None:
        """Where a truth ends for another one: where that begins. None where both may hold at once for good, or while they wait."""
        names = base_id(truth.id), base_id(other.id)
        if names[0] == names[1]:
            return other.valid_from
        if not self.waiting.isdisjoint(names):
            return None
        stand, stood = [self._in_use(self.after, name) for name in names], [self._in_use(self.before, name) for name in names]
        if all(stand):
            return None
        held = [self.before.get(one.id) for one in (truth, other)]
        if frozenset(names) in self.waited:
            return other.valid_from
        if any(stand) or stood[0] is not stood[1] or any(one is None or not _counts(one) or _is_empty(one) for one in held):
            return other.valid_from
        first, second = (one for one in held if one is not None)
        if not _overlap(first, second):
            return other.valid_from
        return max(other.valid_from, min(one.valid_until or _NEVER for one in (first, second)))

    def _in_use(self, truths: Mapping[str, Memory], name: str) -> bool:
        return name in truths and _stands(truths[name])


def _waiting_pairs(memories: Iterable[Memory]) -> frozenset[frozenset[str]]:
    """The pairs of ids of which it is not decided which one holds."""
    sides: dict[str, list[str]] = {}
    for memory in memories:
        if _stands(memory) and not is_version(memory.id):
            for conflict in memory.conflict_ids:
                sides.setdefault(conflict, []).append(memory.id)
    return frozenset(frozenset(pair) for names in sides.values() for pair in combinations(names, 2))


def _counts(one: Memory) -> bool:
    """Whether a look back in time shows the truth."""
    return _stands(one) or (one.status_reason in TRUE_ONCE and one.status in (Status.SUPERSEDED, Status.UPDATED))


def _stands(one: Memory) -> bool:
    return one.status in FOUND_BY_DEFAULT


def _is_empty(one: Memory) -> bool:
    """Whether it holds at no moment."""
    return one.valid_until is not None and one.valid_until <= one.valid_from


def _told(one: Memory) -> tuple[datetime, float, int]:
    return (*place_of(one), one.version)


def _overlap(one: Memory, other: Memory) -> bool:
    return not over(one, other) and not over(other, one)


def _with_cuts(
    changes: Changes[Result], cuts: Sequence[Memory], members: Mapping[str, Memory], older: Mapping[str, Memory]
) -> Changes[Result]:
    """The changes that also end these truths earlier; what was decided about a conflict names them, so that it can be taken back."""
    made, puts = [*changes.changes], {one.id: one for one in changes.puts}
    place = {change.after.id: number for number, change in enumerate(made)}
    decided = _decision(changes)
    said = {} if decided is None else {"conflict_id": decided.id}

    def change_of(name: str, event: str) -> int:
        if name not in place:
            place[name] = len(made)
            made.append(Change(event, members[name], members[name], said))
        return place[name]

    for cut in cuts:
        if not is_version(cut.id):
            number = change_of(cut.id, "preceded" if _stands(cut) else "superseded")
            made[number] = replace(made[number], after=made[number].after.model_copy(update={"valid_until": cut.valid_until}))
            continue
        number = change_of(base_id(cut.id), "preceded")
        assert cut.valid_until is not None
        ends = {**made[number].metadata.get(VERSIONS_END, {}), str(cut.version): cut.valid_until.isoformat()}
        made[number] = replace(made[number], metadata={**made[number].metadata, VERSIONS_END: ends})
        document = version_document(cut)
        puts[cut.id] = replace(puts[cut.id], body=document.body) if cut.id in puts else document
    if decided is not None:
        puts[decided.id] = _recorded(decided, cuts, made, older)
    return replace(changes, changes=tuple(made), puts=tuple(puts.values()))


def _decision(changes: Changes[Any]) -> Document | None:
    """The record of the decision that this commit is, if it is one."""
    records = [one for one in changes.puts if one.kind == "conflict" and one.body["status"] == "resolved" and one.body["moves"]]
    told = {change.metadata.get("conflict_id") for change in changes.changes}
    return next((one for one in records if one.id in told), None)


def _recorded(decided: Document, cuts: Sequence[Memory], made: Iterable[Change], older: Mapping[str, Memory]) -> Document:
    """The record, which says how to take back these cuts too."""
    moves = {str(one["memory_id"]): one for one in decided.body["moves"]}
    ended_versions = {str(one["version_id"]): one for one in decided.body["cuts"]}
    for cut in cuts:
        if not is_version(cut.id):
            (move,) = moves_of([one for one in made if one.after.id == cut.id])
            moves[cut.id] = _move_with(moves.get(cut.id), move.model_dump(mode="json"))
        elif cut.id in older and (until := older[cut.id].valid_until) is not None and cut.valid_until is not None:
            ended_versions[cut.id] = Cut(version_id=cut.id, before=until, after=cut.valid_until).model_dump(mode="json")
    return replace(decided, body={**decided.body, "moves": [*moves.values()], "cuts": [*ended_versions.values()]})


def _move_with(recorded: dict[str, Any] | None, move: dict[str, Any]) -> dict[str, Any]:
    """A recorded move, as the memory is after the cut; of what the decision changed, it keeps how that was without it."""
    if recorded is None or recorded["after"] is None:
        return recorded or move
    before = None if recorded["before"] is None else {**(move["before"] or {}), **recorded["before"]}
    return {**recorded, "before": before, "after": {**recorded["after"], **move["after"]}}
