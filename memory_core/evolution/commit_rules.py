"""The rules that complete every commit: of chains, of slots, of pending conflicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from memory_core.domain.conflict import MAX_OPEN, RULE, ConflictRecord, record_in
from memory_core.domain.errors import Conflict, HeadMoved
from memory_core.domain.event_log import is_version
from memory_core.domain.memory import Memory, Status
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import FOUND_BY_DEFAULT, ConflictState, mark_conflict
from memory_core.domain.truth.slots import are_of_one_slot, same_value, slot_of
from memory_core.evolution.slot_commits import with_slots
from memory_core.ledger.changes import Change, Changes, Result
from memory_core.ledger.commit_hooks import PostponedDecision
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import ReadSet, Shelf
from memory_core.ledger.readable import as_memory
from memory_core.ports import Clock, Document, LongTermStore


class MemoryRules:
    """What follows from changes of memories, for any owner (`ledger.commit.CommitRules`)."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def complete(
        self,
        store: LongTermStore,
        owner: Owner,
        changes: Changes[Result],
        read_set: ReadSet,
        *,
        is_part: bool,
    ) -> Changes[Result]:
        """The changes, with what follows from them in chains and slots.

        Args:
            store: Where further documents are read.
            owner: Whose memories they are.
            changes: As they were decided.
            read_set: The read set of the decision.
            is_part: Whether they belong to another commit, which completes the slots.

        Raises:
            Conflict: A chain would lead back to itself, or the log of a slot refuses an operation.
            HeadMoved: Other commits changed a chain since.
            SealedEntries: A change reaches back to sealed entries that were not read.
            Unavailable: The store is down.
            WithoutLog: A slot needs a log first.

        """
        shelf = Shelf(store, owner, read_set)
        bare = await without_circles(shelf, changes)
        return bare if is_part else await with_slots(shelf, bare)

    async def settle(
        self,
        store: LongTermStore,
        owner: Owner,
        changes: Changes[Result],
        *,
        is_reduced: bool = False,
    ) -> Changes[Result]:
        """The completed changes, with their effects on pending conflicts.

        Args:
            store: Where records and memories are read.
            owner: Whose memories they are.
            changes: As `complete` returned them.
            is_reduced: Whether no conflict is ended; changes that only end some end a single one.

        Returns:
            The very same changes if they affect no conflict. `left_open` names the memories of
                conflicts that are not ended yet.

        Raises:
            Unavailable: The store is down.

        """
        only_ends = all(change.event_type == SETTLED for change in changes.changes)
        most = int(only_ends) if is_reduced else MAX_ENDED
        carried = any(change.after.conflict_ids for change in changes.changes)
        if not carried and not any(document.kind == "conflict" for document in changes.puts):
            return changes
        sheet = _Sheet(changes)
        sheet.follow_records()
        if most and (wanted := sheet.records_to_read()):
            sheet.records |= (await store.snapshot(owner, wanted)).documents
            if side_ids := sheet.sides_to_read():
                seen = await store.snapshot(owner, side_ids)
                memories = (
                    as_memory(document, seen.head)
                    for document in seen.documents.values()
                    if document.kind == "memory"
                )
                sheet.read |= {memory.id: memory for memory in memories if memory is not None}
                sheet.states |= sheet.read
        sheet.end_questions(self._clock.now(), most)
        return sheet.completed()

    def endings(self, changes: Changes[Result]) -> Iterator[PostponedDecision]:
        """Decisions that end pending conflicts for which a commit had no room.

        A memory names its pending conflicts until they are ended. So if this process dies before
        these commits, the next commit that writes the memory ends them.
        """
        for name in left_open(changes):

            def ending(read_set: ReadSet, name: str = name) -> Changes[None]:
                memory = read_set.memory(name)
                marks = () if memory is None else (Change(SETTLED, memory, memory),)
                wanted = Changes(None, marks, reads=frozenset({name}))
                return wanted if left_open(wanted) else Changes(None)

            yield PostponedDecision(name, ending)


# Pending conflicts follow their memories.
#
# After every commit, records, memories and head agree on which conflicts are pending. Both sides of
# a pending conflict name it (`conflict_ids`). When a commit of any kind makes a side inactive, the
# conflict ends in that very commit. But the successor of that memory inherits the conflict, and in
# a slot, where a single truth must hold in the end, the memory that is left inherits it. An edit of
# a slot's member that makes both sides say the same ends the conflict, too. Note: this is why no
# code that deletes, clears, supersedes or edits needs to handle conflicts.


SETTLED: Final = "conflict_settled"
"""The event of a memory of which only the pending conflicts change."""
ASKED_ABOUT: Final = FOUND_BY_DEFAULT | {Status.DECAYED}
"""A question waits while a side is faded: it may be found again. Nothing shows it until then."""
MAX_ENDED = 20
"""Conflicts that a commit ends. Each takes two records, and the other side with its event, of a
commit's hundred documents.
"""


def left_open(changes: Changes[Any]) -> list[str]:
    """Ids of memories with pending conflicts that these changes make inactive.

    A commit of its own ends the rest of these conflicts.
    """
    doubted = _Sheet(changes).in_doubt()
    return [memory.id for memory in doubted if memory.status not in ASKED_ABOUT]


class _Sheet:
    """A commit's memories and records while conflicts are completed.

    Attributes:
        states: The memories as the commit leaves them, by id.
        records: Documents of conflicts, by id.
        read: Further memories as they were read, by id.
        ended: Records of conflicts that end.
        begun: Records of conflicts that take their place.
        about: By memory id, the conflict that its change is about.
        heirs: By the id of an inactive memory, the memory that is left for it.
        risen: Memories that are active after this commit and were not before.
        edited: Memories that were edited.

    """

    def __init__(self, changes: Changes[Any]) -> None:
        self._changes = changes
        self.states = {change.after.id: change.after for change in changes.changes}
        self.records = {each.id: each for each in changes.puts if each.kind == "conflict"}
        self.read, self.about, self.heirs = dict[str, Memory](), dict[str, str](), dict[str, str]()
        self.ended, self.begun = dict[str, Document](), dict[str, Document]()
        stood = {
            change.before.id
            for change in changes.changes
            if change.before is not None and change.before.status in FOUND_BY_DEFAULT
        }
        self.risen = [
            memory.id
            for memory in self.states.values()
            if memory.status in FOUND_BY_DEFAULT and memory.id not in stood
        ]
        self.edited = {
            change.after.id for change in changes.changes if change.event_type == "updated"
        }

    def follow_records(self) -> None:
        """Let both sides name a pending record, and neither a resolved or deleted record."""
        for name in [each.id for each in self._changes.deletes if each.kind == "conflict"]:
            for side in [*self.states]:
                self._set(side, name, open=False)
        for name, document in self.records.items():
            record = record_in(document.body)
            for side in record.sides:
                self._set(side, name, open=record.open)
            if not record.open:
                self._leave_to_the_other(record)

    def records_to_read(self) -> list[str]:
        return sorted({*self.names()} - self.records.keys())

    def sides_to_read(self) -> list[str]:
        documents = [self.records[name] for name in self.names() if name in self.records]
        sides = {side for document in documents for side in record_in(document.body).sides}
        return sorted(sides - self.states.keys())

    def end_questions(self, now: datetime, most: int) -> None:
        """End or pass on conflicts with an inactive side, or that an edit has answered."""
        names = self.names()
        # who is in the last one is left: so each commit passes its part on to the same
        for name in reversed(names[most:]):
            if name in self.records and (last := record_in(self.records[name].body)).open:
                self._leave_to_the_other(last)
        for name in names[:most]:
            document = self.records.get(name)
            record = None if document is None else record_in(document.body)
            sides = record.sides if record is not None and record.open else ()
            for memory_id in [memory_id for memory_id in self.states if memory_id not in sides]:
                self._set(memory_id, name, open=False)
            if document is None or record is None or not sides:
                continue
            reason = " and ".join(
                self._said(side) for side in sides if not self._stands(side)
            ) or self._answer(*sides)
            if reason is None:
                continue
            for side in record.sides:
                self._set(side, name, open=False)
            if (heir := self._heir(record)) is not None:
                passed = _passed_on(record, *heir, now)
                reason = f"{reason}; {passed.id} asks about {heir[1]} in its place"
                body = passed.model_dump(mode="json")
                self.begun[passed.id] = Document(passed.id, "conflict", body)
                for side in passed.sides:
                    self._set(side, passed.id, open=True)
            else:
                self._leave_to_the_other(record)
            reason = f"{record.reason}; {reason}"
            resolved = record.settled(RULE, now, reason)
            body = resolved.model_dump(mode="json")
            self.ended[name] = replace(document, body={**document.body, **body})

    def completed(self) -> Changes[Any]:
        """The changes, with the effects on conflicts."""
        changes = self._changes
        last = {change.after.id: place for place, change in enumerate(changes.changes)}
        made = [*changes.changes]
        for name, state in self.states.items():
            state = _consistent(state)
            if name not in self.read:
                made[last[name]] = replace(made[last[name]], after=state)
            elif state.conflict_ids != self.read[name].conflict_ids:
                made.append(
                    Change(SETTLED, state, self.read[name], {"conflict_id": self.about[name]})
                )
        puts = {document.id: document for document in changes.puts} | self.ended | self.begun
        return replace(
            changes,
            changes=tuple(made),
            puts=tuple(puts.values()),
            reads=changes.reads | self.states.keys(),
            head_fields=changes.counting(len(self.begun) - len(self.ended)),
        )

    def in_doubt(self) -> list[Memory]:
        """The memories whose pending conflicts may end with this commit."""
        return [
            memory
            for memory in self.states.values()
            if memory.conflict_ids
            and (memory.status not in ASKED_ABOUT or memory.id in self.edited)
        ]

    def names(self) -> list[str]:
        """The ids of the records of these memories' pending conflicts."""
        return list(
            dict.fromkeys(name for memory in self.in_doubt() for name in memory.conflict_ids)
        )

    def _answer(self, *sides: str) -> str | None:
        """How an edit has decided whether two active memories can both be true.

        None if it has not.
        """
        if len(sides) != 2:
            return None
        first, second = (self.states[side] for side in sides)
        if not are_of_one_slot(first, second) or not same_value(first, second):
            return None
        return "both say the same now"

    def _stands(self, name: str) -> bool:
        return name in self.states and self.states[name].status in ASKED_ABOUT

    def _said(self, name: str) -> str:
        return f"{name} is {self.states[name].status.value if name in self.states else 'gone'}"

    def _set(self, memory_id: str, name: str, *, open: bool) -> None:
        memory = self.states.get(memory_id)
        if memory is None or (name in memory.conflict_ids) is open:
            return
        ids = [conflict_id for conflict_id in memory.conflict_ids if conflict_id != name]
        ids += [name] if open else []
        self.states[memory_id] = memory.changed(conflict_ids=ids)
        self.about[memory_id] = name

    def _leave_to_the_other(self, record: ConflictRecord) -> None:
        """If a single side is active, make it the heir of the other side."""
        standing = [side for side in record.sides if self._stands(side)]
        if len(standing) == 1:
            self.heirs |= {
                side: standing[0]
                for side in record.sides
                if side not in standing and side not in self.heirs
            }

    def _heir(self, record: ConflictRecord) -> tuple[str, str] | None:
        """The inactive side, and its heir against the other side.

        None if these two have a pending conflict already. In a slot the heir is the active memory
        there. Elsewhere it is only the successor, since the contradiction of a memory need not
        apply to another memory.
        """
        fallen = [side for side in record.sides if side in self.states and not self._stands(side)]
        others = [self.states[side] for side in record.sides if self._stands(side)]
        if not fallen or not others:
            return None
        other, slot, successor = others[0], slot_of(others[0]), self.states[fallen[0]].next_id
        heirs = (self.heirs.get(fallen[0]), *self.risen) if slot is not None else ()
        for name in (successor, *heirs):
            if name is None or name == other.id or not self._stands(name):
                continue
            heir = self.states[name]
            if slot_of(heir) == slot:
                asked = {*heir.conflict_ids} & {*other.conflict_ids} - {record.id}
                room = slot is not None or len(heir.conflict_ids) < MAX_OPEN
                return (fallen[0], name) if room and not asked else None
        return None


def _passed_on(record: ConflictRecord, fallen: str, heir: str, now: datetime) -> ConflictRecord:
    """A conflict of its own, about the heir and the other side."""
    old_id, new_id = (heir if side == fallen else side for side in record.sides)
    identity = derived("cft", record.id, old_id, new_id)
    return record.changed(id=identity, old_id=old_id, new_id=new_id, at=now, by=RULE, previous=None)


def _consistent(memory: Memory) -> Memory:
    """The memory, with `conflict_state` according to its `conflict_ids`."""
    state: ConflictState = (
        "pending"
        if memory.conflict_ids
        else "resolved"
        if memory.conflict_state == "pending"
        else memory.conflict_state
    )
    return memory if state == memory.conflict_state else mark_conflict(memory, state)


# Chains end: no commit lets `next_id` lead from a memory back to itself.
#
# The code that sets a `next_id` has its own reasons why that can't happen, most of them about
# times. This checks it whatever the reasons were. Only a deleted memory may lead to memories that
# were superseded since, and so back; then its `next_id` is cleared. The log of a slot decides its
# successors after this. Note: the check costs next to no time. Nearly always the successor is new,
# or was read for the decision, so the walk ends in known memories. Only otherwise is a document
# read.


MAX_STEPS = 200
"""How far a chain is followed; the walks that answer callers end earlier."""
LED_ANEW: Final = "led_anew"
"""The event of a deleted memory whose chain led back to it, and whose `next_id` is cleared."""


async def without_circles(shelf: Shelf, changes: Changes[Result]) -> Changes[Result]:
    """Check that the changes close no circle, and clear a deleted memory's `next_id`.

    Of a circle that the changes would close, the first deleted memory loses its `next_id`. All
    memories that were walked over join the reads of the changes, so a change of them voids the
    decision.

    Args:
        shelf: Where further memories are read.
        changes: Changes of a decision.

    Raises:
        Conflict: A memory would lead back to itself, over memories that are not deleted.
        HeadMoved: There is a circle because other commits changed the chain since.
        Unavailable: The store is down.

    """
    if all(change.after.next_id is None for change in changes.changes):
        return changes
    made, walked = [*changes.changes], set[str]()
    states = {change.after.id: None if change.removed else change.after for change in made}
    led = {change.before.id: change.before.next_id for change in reversed(made) if change.before}
    for start, after in [*states.items()]:
        if after is None or after.next_id in (None, led.get(start)):
            continue
        while way := await _circle(shelf, states, start, walked):
            if any(_is_newer(shelf, name) for name in way):
                raise HeadMoved(
                    "this chain of memories has changed meanwhile; try again", retry_after_s=1
                )
            known = (states.get(name) or shelf.memory(name) for name in (*way[1:], start))
            deleted = (each for each in known if each and each.status is Status.DELETED)
            if (fallen := next(deleted, None)) is None:
                over = f", over {' and '.join(way[1:])}," if way[1:] else ""
                raise Conflict(f"{start} would lead{over} back to itself")
            states[fallen.id] = anew = fallen.changed(next_id=None)
            places = [place for place, change in enumerate(made) if change.after.id == fallen.id]
            if places:
                made[places[-1]] = replace(made[places[-1]], after=anew)
            else:
                made.append(Change(LED_ANEW, anew, fallen))
    return replace(changes, changes=tuple(made), reads=changes.reads | walked)


async def _circle(
    shelf: Shelf, states: Mapping[str, Memory | None], start: str, walked: set[str]
) -> list[str]:
    """The ids along `next_id` from a memory back to it; else empty.

    `states` are the changed memories. The ids that are walked over are added to `walked`.
    """
    way, at = [start], _next_id(shelf, states, start)
    while at is not None and at not in way and not is_version(at) and len(way) < MAX_STEPS:
        way.append(at)
        walked.add(at)
        if at not in states:
            await shelf.read([at])
        at = _next_id(shelf, states, at)
    return way if at == start else []


def _next_id(shelf: Shelf, states: Mapping[str, Memory | None], name: str) -> str | None:
    document = None if name in states else shelf.document(name)
    if document is not None:  # which may be damaged elsewhere
        next_id: str | None = document.body["next_id"] if document.kind == "memory" else None
        return next_id
    memory = states[name] if name in states else shelf.memory(name)
    return None if memory is None else memory.next_id


def _is_newer(shelf: Shelf, name: str) -> bool:
    """Whether a memory was changed after the decision's reads."""
    document, head = shelf.document(name), shelf.read_set.head
    sequence = 0 if head is None else head.sequence
    return document is not None and int(document.body["revision"]) > sequence
