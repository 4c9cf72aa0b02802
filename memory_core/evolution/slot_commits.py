"""Complete every decision: extend the logs of slots, and let their members follow.

Only here it is decided which truth of a slot holds when. A command says how a single memory
changed. Every other member that changes by it, and the stored fields that `projection` names, come
from the timeline of the log. Note: the log is read after the read set of a decision. It has a tag
of its own, so a commit on an older state of it is refused, and decided again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from functools import reduce
from typing import Any, Final

from memory_core.domain.archival import is_cold
from memory_core.domain.conflict import MAX_OPEN, RULE, record_in
from memory_core.domain.event_log import VERSIONS, base_id, is_version, version_id
from memory_core.domain.memory import EventType, Memory, MemoryFields, Status
from memory_core.domain.transitions import (
    FOUND_BY_DEFAULT,
    allowed,
    delete,
    mark_conflict,
    reactivate,
    touch,
)
from memory_core.domain.truth.entries import Key, Pair
from memory_core.domain.truth.slots import SlotName, slot_name
from memory_core.evolution.links import SPLIT, marked
from memory_core.evolution.reads import near_of
from memory_core.evolution.slot_log import (
    SlotLog,
    documents_of,
    earlier_time_conflict,
    old_version_ids,
)
from memory_core.evolution.truth_commands import act_of, added_by, forgotten, old_values, says_again
from memory_core.evolution.truth_projection import Projection
from memory_core.evolution.versions import (
    old_version,
    version_document,
    with_version_ends,
    with_words,
)
from memory_core.ledger.changes import Change, Changes, Result
from memory_core.ledger.ids import session_document_id, slot_document_id
from memory_core.ledger.read_set import Shelf, WithoutLog
from memory_core.ledger.sessions import Session

_PROJECTED = ("status", "status_reason", "valid_from", "valid_until", "next_id", "supersedes_id")


async def with_slots(shelf: Shelf, changes: Changes[Result]) -> Changes[Result]:
    """The changes, with their consequences in the slots of their memories.

    Args:
        shelf: Where logs and members are read that the decision did not read.
        changes: Changes that are about to be committed.

    Returns:
        The given object if no slot is concerned.

    Raises:
        Conflict: The log of a slot refuses an operation.
        SealedEntries: A change reaches back to sealed entries that were not read.
        Unavailable: The store is down.
        WithoutLog: A slot needs a log first.

    """
    if changes.begins is not None:
        return changes
    made, by_slot = _Completion(shelf, changes), _by_slot(changes)
    await shelf.read([each for name in changes.without_log for each in documents_of(name)])
    for name in sorted(changes.without_log):
        await made.make_log(name)
    for name, concerned in by_slot.items():
        await made.settle(name, concerned)
    if by_slot or changes.without_log:
        changes = await made.completed(changes)
    return await marked(shelf, await with_version_ends(shelf, changes))


def _by_slot(changes: Changes[Any]) -> dict[SlotName, list[str]]:
    """By slot, the ids of the memories whose changes concern it."""
    ids_by_slot: dict[SlotName, list[str]] = {}
    for change in changes.changes:
        name = slot_name(change.after)
        if name is not None and (_is_done_to_its_memory(change) or _is_moved(change)):
            ids_by_slot.setdefault(name, []).append(change.after.id)
    return ids_by_slot


def _is_moved(change: Change) -> bool:
    before = change.before
    return before is None or any(
        getattr(before, name) != getattr(change.after, name) for name in _PROJECTED
    )


def _is_done_to_its_memory(change: Change) -> bool:
    """Whether a change is refused for an earlier interval of a memory.

    A move to the archive, or a redaction, concerns the interval alone.
    """
    is_edit = change.event_type == "updated" and change.after.status is Status.SUPERSEDED
    return change.removed or is_edit or act_of(change) is not None


def _values(slot: SlotLog | None) -> dict[Key, str | None]:
    """The values that hold at some moment, by memory and version."""
    return {} if slot is None else {each.key: each.value for each in slot.timeline.times}


class _Completion:
    """Completes the changes of a commit, a slot after the other.

    Attributes:
        shelf: Where logs and members are read.
        changes: In order.
        puts: Documents to write, by id.
        deletes: Documents to delete.
        about: The metadata of the members' events.
        counted: By session, memories that were added or removed.
        asked: How many conflicts are asked again.
        now: The time of the commit.

    """

    def __init__(self, shelf: Shelf, changes: Changes[Any]) -> None:
        self.shelf, self.now, self.asked = shelf, shelf.read_set.now, 0
        self.changes, self.deletes = [*changes.changes], [*changes.deletes]
        self.puts = {document.id: document for document in changes.puts}
        self.about = next(
            (change.metadata for change in self.changes if "conflict_id" in change.metadata), {}
        )
        self.counted: list[tuple[str, Memory | None, Memory]] = []

    async def settle(self, name: SlotName, concerned: Collection[str]) -> None:
        """Add what follows in a slot from the changes of some of its members."""
        log = await self._log(name)
        own = [change for change in self.changes if change.after.id in concerned]
        removed = [change.after.id for change in own if change.removed]
        after = forgotten(reduce(added_by, own, log), dict.fromkeys(removed))
        restated, after = await self._restate(after)
        await self._follow(log, after, [*own, *restated], removed)

    async def make_log(self, name: SlotName) -> None:
        """Make a log of a slot's members, if it has members and no log.

        Members that differ from the log are also changed.
        """
        try:
            await self._log(name)
        except WithoutLog:
            store, owner = self.shelf.store, self.shelf.owner
            near = (await store.snapshot(owner, (), near_of(name, past=True))).near
            members = [each.memory for each in near if slot_name(each.memory) == name]
            if not members:
                return
            names = old_version_ids(members)
            await self.shelf.read(names)
            versions = filter(None, map(self.shelf.memory, names))
            stored = self.shelf.document(slot_document_id(*name))
            head = self.shelf.read_set.head
            made = SlotLog.of_members(name, head, self.now, stored, members, versions)
            await self._follow(None, made)

    async def _log(self, name: SlotName) -> SlotLog:
        await self.shelf.read(documents_of(name))
        return SlotLog.read(name, self.shelf.read_set)

    async def _restate(self, slot: SlotLog) -> tuple[list[Change], SlotLog]:
        """Make old versions that hold on the next versions of their memories.

        A memory has its last interval: a value of a key that was replaced, and that turns out to
        hold on, is again the value that its memory shows.
        """
        restated = list[Change]()
        for interval in old_values(slot):
            name, old_name = interval.memory_id, version_id(*interval.key)
            await self.shelf.read([name, old_name])
            memory, old = self.stored(name), self.stored(old_name)
            if memory is None or old is None or is_cold(memory) or is_cold(old):
                continue
            after = slot.added(says_again(interval))
            if after is slot:
                continue
            slot, version = after, after.timeline.latest_versions()[name]
            words: MemoryFields = {"version": version, "updated_at": self.now}
            again = with_words(memory, old).changed(**words)
            restated.append(Change("restored", again, memory, self.about, follows=True))
            self.puts[version_id(name, memory.version)] = version_document(old_version(memory))
        self.changes += restated
        return restated, slot

    async def _follow(
        self,
        before: SlotLog | None,
        after: SlotLog,
        own: Sequence[Change] = (),
        removed: Sequence[str] = (),
    ) -> None:
        """Add the new log, and the members that differ by it.

        `own` are the changes of members; `removed` are members that are hard-deleted.
        """
        wanted, known = after.rows, {} if before is None else before.rows
        concerned = {change.after.id for change in own}
        vanished = [row for name, row in known.items() if row.part and name not in wanted]
        gone = {row.id for row in vanished}  # what led to one of these leads there no more
        for change in filter(_is_done_to_its_memory, own):
            row = wanted.get(change.after.id)
            if row is not None and row.part:
                raise earlier_time_conflict(row)
            if row is None and after.seal is not None and not after.knows(change.after.id):
                raise after.sealed()
        values = _values(before)
        reworded = {key for key, value in _values(after).items() if values.get(key, value) != value}
        rows = [
            replace(row, members=row.members | gone)
            for name, row in wanted.items()
            if name in concerned or known.get(name) != row or row.key in reworded
        ]
        new = {*(change.after.id for change in own if change.before is None), *self.puts}
        names = [name for row in rows for name in (row.id, row.member_id, base_id(row.id))]
        await self.shelf.read([name for name in (*names, *gone) if name not in new])
        self._take_stored()
        for row in sorted(rows, key=lambda row: is_version(row.id)):
            self._put(row, is_reworded=row.key in reworded)
        for row in vanished:
            # forgetting for good finds these by itself, and counts them
            if row.memory_id not in removed:
                self._drop(row)
        if removed and all(member.memory_id in removed for member in after.timeline.members):
            self.deletes += [] if after.stored is None else [after.stored, *after.parts]
        elif before is None or after.entries != before.entries:
            documents, surplus = after.documents()
            self.puts |= {document.id: document for document in documents}
            self.deletes += surplus
        await self._ask_again(after)

    def _take_stored(self) -> None:
        """Let each change begin with its memory as it is stored, or was left.

        A decision saw members as their log has them. A memory may be left by an earlier change.
        """
        left: dict[str, Memory] = {}
        for place, change in enumerate(self.changes):
            name = change.after.id
            before = left.get(name) or (change.before and self.shelf.memory(name))
            left[name] = change.after
            if before is not None and slot_name(before) is not None:
                self.changes[place] = replace(change, before=before)

    def _put(self, row: Projection, *, is_reworded: bool) -> None:
        """Change a memory to its row, unless it is gone or of another slot.

        `is_reworded` means that the member has another value in the log, in the same version.
        """
        if is_version(row.id):
            self._put_version(row)
            return
        place, stored = self._place(row.id), self.stored(row.id)
        if place is not None:
            change = self.changes[place]
            if not change.removed:
                after = row.on(change.after)
                self._count(change.after, after)
                self._put_change(place, replace(change, after=after))
        elif stored is not None:
            has_words = is_reworded and row.part > 0 and not is_cold(stored)
            member = self.stored(row.member_id) if has_words else None
            after = row.on(stored if member is None else with_words(stored, member))
            if after is not stored:
                event, touched = _event(stored, after), _touched(after, self.now)
                self._add(Change(event, touched, stored, self.about, follows=True))
        elif row.part and (member := self.stored(row.member_id)) is not None:
            # why it is deleted is the member's to say, if that was deleted before
            status = Status.DELETED if member.status is Status.DELETED else Status.ACTIVE
            own: MemoryFields = {**_earlier_time(row, self.now), "status": status}
            made = row.on(member.changed(**own))
            self._add(Change(SPLIT, made, None, self.about))

    def _drop(self, row: Projection) -> None:
        """Withdraw an earlier interval that no longer holds."""
        stored = self.shelf.memory(row.id)
        if stored is not None and (stored.status, stored.status_reason) != (
            Status.DELETED,
            "contradicted",
        ):
            gone = delete(stored, "contradicted", self.now, valid_until=stored.valid_from)
            self._add(Change("contradicted", gone, stored, self.about))

    async def completed(self, changes: Changes[Result]) -> Changes[Result]:
        """The given changes, with all that follows, and the sessions that count it."""
        names = {
            session_id: session_document_id(self.shelf.owner, session_id)
            for session_id, _, _ in self.counted
        }
        await self.shelf.read([name for name in names.values() if name not in self.puts])
        for session_id, before, after in self.counted:
            name = names[session_id]
            document = self.puts.get(name) or self.shelf.document(name)
            session = Session(self.shelf.owner, session_id, document)
            session.count(before, after, self.now)
            self.puts[name] = session.document
        return replace(
            changes,
            changes=tuple(self.changes),
            puts=tuple(self.puts.values()),
            deletes=tuple(self.deletes),
            reads=changes.reads | {change.after.id for change in self.changes},
            sessions=changes.sessions | names.keys(),
            head_fields=changes.counting(self.asked),
        )

    async def _ask_again(self, slot: SlotLog) -> None:
        """Reopen undecided conflicts of reactivated memories.

        A question ends when one of its sides is deleted or replaced before it was decided. The log
        still has the pair, so the two hold side by side again when that side comes back. What a
        person or a model decided stays decided.
        """
        states = {change.after.id: change.after for change in self.changes}
        pairs = _standing_pairs(slot, _risen(self.changes))
        await self.shelf.read(
            [name for conflict_id, sides in pairs for name in (conflict_id, *sides)]
        )
        for conflict_id, names in pairs:
            document = self.shelf.document(conflict_id)
            sides = [states.get(name) or self.shelf.memory(name) for name in names]
            if document is None or conflict_id in self.puts or not all(map(_has_room, sides)):
                continue
            record = record_in(document.body)
            if record.open or record.by != RULE or {*record.sides} != {*names}:
                continue
            opened = record.asked_again(RULE, self.now, _WHY).model_dump(mode="json")
            self.puts[conflict_id] = replace(document, body={**document.body, **opened})
            self.asked += 1
            for side in filter(None, sides):
                if side.id not in states:
                    states[side.id] = side
                    self.changes.append(Change(MARKED, side, side, {"conflict_id": record.id}))

    def _count(self, before: Memory | None, after: Memory) -> None:
        is_same = before is not None and (before.status is Status.DELETED) is (
            after.status is Status.DELETED
        )
        if after.session_id is not None and not is_same:
            self.counted.append((after.session_id, before, after))

    def stored(self, name: str) -> Memory | None:
        """A memory or an old version, as this commit leaves it."""
        if (place := self._place(name)) is not None:
            return self.changes[place].after
        put = self.puts.get(name)
        return (
            self.shelf.memory(name)
            if put is None
            else Memory.model_validate({**put.body, "embedding": put.vector})
        )

    def _put_version(self, row: Projection) -> None:
        """Write an old version, which has no event of its own.

        Its memory's event names the fields that change.
        """
        stored, memory = self.stored(row.id), self.stored(base_id(row.id))
        if stored is None or memory is None:
            return
        after, place = row.on(stored), self._place(memory.id)
        if after is stored and row.id not in self.puts:
            return
        if place is None:
            place = len(self.changes)
            self.changes.append(Change("preceded", memory, memory, self.about))
        change, document = self.changes[place], version_document(after)
        versions = {
            **change.metadata.get(VERSIONS, {}),
            str(stored.version): {name: document.body[name] for name in _PROJECTED},
        }
        self.changes[place] = replace(change, metadata={**change.metadata, VERSIONS: versions})
        self.puts[row.id] = document

    def _place(self, name: str) -> int | None:
        places = reversed(range(len(self.changes)))
        return next((place for place in places if self.changes[place].after.id == name), None)

    def _add(self, change: Change) -> None:
        self.changes.append(change)
        self._put_change(len(self.changes) - 1, change)
        self._count(change.before, change.after)

    def _put_change(self, place: int, change: Change) -> None:
        """Put a change into its place.

        It takes two steps if the memory must be active in between.
        """
        before, status = change.before, change.after.status
        if before is None or status in (before.status, *allowed(before.status)):
            self.changes[place] = change
            return
        between = reactivate(change.after)
        self.changes[place] = replace(change, after=between)
        self.changes.insert(
            place + 1, Change(_event(between, change.after), change.after, between, change.metadata)
        )


def _earlier_time(row: Projection, now: datetime) -> MemoryFields:
    """The fields of a new memory that keeps another memory's earlier interval."""
    return {
        "id": row.id,
        "told_at": [],
        "reinforcement_count": 0,
        "sequence": 0,
        "version": 1,
        "pinned": False,
        "session_id": None,
        "conflict_ids": [],
        "conflict_state": "resolved",
        "created_at": now,
        "updated_at": now,
    }


def _event(before: Memory, after: Memory) -> EventType:
    """The event type of a member's change that follows from another member."""
    if before.status is after.status:
        return (
            "superseded"
            if after.status is Status.SUPERSEDED and before.next_id != after.next_id
            else "preceded"
        )
    if after.status is Status.DELETED:
        return "contradicted" if after.status_reason == "contradicted" else "deleted"
    if after.status is Status.UPDATED:
        return "merged"
    return "superseded" if after.status is Status.SUPERSEDED else "restored"


def _touched(memory: Memory, now: datetime) -> Memory:
    touched = touch(memory, now)
    if memory.status not in FOUND_BY_DEFAULT and memory.conflict_state != "none":
        return mark_conflict(touched, "resolved")
    return touched


MARKED: Final = "conflict_marked"
_WHY = "both hold again"


def _risen(changes: Sequence[Change]) -> set[str]:
    """The memories that these changes reactivate."""
    first: dict[str, Memory | None] = {}
    for change in changes:
        first.setdefault(change.after.id, change.before)
    stand = {change.after.id: change.after.status in FOUND_BY_DEFAULT for change in changes}
    return {
        name
        for name, before in first.items()
        if stand[name] and before is not None and before.status not in FOUND_BY_DEFAULT
    }


def _standing_pairs(slot: SlotLog, risen: set[str]) -> list[tuple[str, tuple[str, str]]]:
    """Coexisting pairs of a conflict of which a side was reactivated.

    Each follows its conflict's id.
    """
    if not risen:
        return []
    return [
        (pair.conflict_id, sides)
        for pair in slot.account.others
        if isinstance(pair, Pair) and pair.conflict_id is not None
        if not risen.isdisjoint(pair.memory_ids)
        for sides in pair.sides
        if not risen.isdisjoint(sides)
        and all(name in slot.rows and slot.rows[name].status in FOUND_BY_DEFAULT for name in sides)
        and slot.timeline.share_a_moment(*sides)
    ]


def _has_room(side: Memory | None) -> bool:
    return side is not None and len(side.conflict_ids) < MAX_OPEN
