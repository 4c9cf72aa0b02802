"""Pending conflicts follow their memories.

After every commit, records, memories and head agree on which conflicts are pending. Both sides of a
pending conflict name it (`conflict_ids`). When a commit of any kind makes a side inactive, the
conflict ends in that very commit. But the successor of that memory inherits the conflict, and in a
slot, where a single truth must hold in the end, the memory that is left inherits it. An edit of a
slot's member that makes both sides say the same ends the conflict, too. Note: this is why no code
that deletes, clears, supersedes or edits needs to handle conflicts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from memory_core.domain.conflict import MAX_OPEN, RULE, ConflictRecord, record_in
from memory_core.domain.memory import Head, HeadFields, Memory, Status
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import FOUND_BY_DEFAULT, ConflictState, mark_conflict
from memory_core.domain.truth.slots import are_of_one_slot, same_value, slot_of
from memory_core.ledger.changes import Change, Changes, HeadChange, Result
from memory_core.ledger.ids import derived
from memory_core.ledger.readable import as_memory
from memory_core.ports import Document, LongTermStore

SETTLED: Final = "conflict_settled"
"""The event of a memory of which only the pending conflicts change."""
ASKED_ABOUT: Final = FOUND_BY_DEFAULT | {Status.DECAYED}
"""A question waits while a side is faded: it may be found again. Nothing shows it until then."""
MAX_ENDED = 20
"""Conflicts that a commit ends. Each takes two records, and the other side with its event, of a
commit's hundred documents.
"""


async def settled(
    store: LongTermStore,
    owner: Owner,
    changes: Changes[Result],
    now: datetime,
    most: int = MAX_ENDED,
) -> Changes[Result]:
    """Complete changes with their effects on pending conflicts.

    Args:
        store: Store to read records and memories from.
        owner: Whose memories they are.
        changes: Changes of a decision.
        now: The present time.
        most: How many conflicts are ended at once. `left_open` names the memories of the remaining
            conflicts.

    Returns:
        The very same changes if they affect no conflict.

    Raises:
        Unavailable: The store is down.

    """
    carried = any(change.after.conflict_ids for change in changes.changes)
    if not carried and not any(document.kind == "conflict" for document in changes.puts):
        return changes
    sheet = _Sheet.of(changes)
    sheet.follow_records()
    if wanted := sheet.records_to_read():
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
    sheet.end_questions(now, most)
    return sheet.changes(changes)


def followed(changes: Changes[Result]) -> Changes[Result]:
    """The changes, with sides that name their pending conflicts, without further documents.

    No conflict is ended.
    """
    sheet = _Sheet.of(changes)
    sheet.follow_records()
    return sheet.changes(changes)


def counting(changes: Changes[Any], more: int) -> HeadChange:
    """The head's fields by these changes, with the count of pending conflicts.

    Args:
        changes: Changes of a decision.
        more: By how many the pending conflicts increase; negative if they decrease.

    """

    def head_fields(head: Head) -> HeadFields:
        fields = changes.head_fields(head)
        count = fields.get("pending_count", head.pending_count) + more
        return {**fields, "pending_count": max(0, count)}

    return head_fields if more else changes.head_fields


def unsettled(changes: Changes[Any]) -> list[str]:
    """Ids of memories with pending conflicts that these changes make inactive or edit."""
    return [memory.id for memory in _Sheet.of(changes).in_doubt()]


def left_open(changes: Changes[Any]) -> list[str]:
    """Ids of memories with pending conflicts that these changes make inactive.

    A commit of its own ends the rest of these conflicts.
    """
    doubted = _Sheet.of(changes).in_doubt()
    return [memory.id for memory in doubted if memory.status not in ASKED_ABOUT]


@dataclass(slots=True)
class _Sheet:
    """A commit's memories and records while conflicts are completed.

    Attributes:
        states: The memories as the commit leaves them, by id.
        put: Ids of the records that the commit writes anyway.
        records: Documents of conflicts, by id.
        read: Further memories as they were read, by id.
        ended: Records of conflicts that end.
        begun: Records of conflicts that take their place.
        about: By memory id, the conflict that its change is about.
        heirs: By the id of an inactive memory, the memory that is left for it.
        risen: Memories that are active after this commit and were not before.
        edited: Memories that were edited.
        dropped: Records that are deleted.

    """

    states: dict[str, Memory]
    put: frozenset[str]
    records: dict[str, Document]
    read: dict[str, Memory] = field(default_factory=dict)
    ended: dict[str, Document] = field(default_factory=dict)
    begun: dict[str, Document] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    heirs: dict[str, str] = field(default_factory=dict)
    risen: tuple[str, ...] = ()
    edited: frozenset[str] = frozenset()
    dropped: tuple[str, ...] = ()

    @classmethod
    def of(cls, changes: Changes[Any]) -> _Sheet:
        records = {
            document.id: document for document in changes.puts if document.kind == "conflict"
        }
        states = {change.after.id: change.after for change in changes.changes}
        stood = {
            change.before.id
            for change in changes.changes
            if change.before is not None and change.before.status in FOUND_BY_DEFAULT
        }
        risen = tuple(
            memory.id
            for memory in states.values()
            if memory.status in FOUND_BY_DEFAULT and memory.id not in stood
        )
        edited = frozenset(
            change.after.id for change in changes.changes if change.event_type == "updated"
        )
        dropped = tuple(document.id for document in changes.deletes if document.kind == "conflict")
        return cls(states, frozenset(records), records, risen=risen, edited=edited, dropped=dropped)

    def follow_records(self) -> None:
        """Let both sides name a pending record, and neither a resolved or deleted record."""
        for name in self.dropped:
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

    def changes(self, changes: Changes[Result]) -> Changes[Result]:
        """The given changes, with the effects on conflicts."""
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
        puts = [self.ended.get(document.id, document) for document in changes.puts]
        puts += [document for name, document in self.ended.items() if name not in self.put]
        puts += self.begun.values()
        return replace(
            changes,
            changes=tuple(made),
            puts=tuple(puts),
            reads=changes.reads | self.states.keys(),
            head_fields=counting(changes, len(self.begun) - len(self.ended)),
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
