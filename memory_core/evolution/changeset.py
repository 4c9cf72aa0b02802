"""A commit in the making: its changes, laid over the read set.

So later items of a commit see the effects of earlier items. The change set also knows when it is
more than a commit holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import orjson

from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.errors import NotFound
from memory_core.domain.memory import Head, HeadFields, Memory, MemoryFields, MemoryType, Status
from memory_core.domain.scope import Owner
from memory_core.domain.statements.worth import most_lasting
from memory_core.domain.transitions import back_in_use, mark_conflict
from memory_core.domain.truth.slots import SlotName, are_of_one_slot, slot_name
from memory_core.evolution.slot_log import Act, SlotLog, documents_of
from memory_core.evolution.succession import first_telling, kept, tellings
from memory_core.evolution.truth_commands import added_by, mentions
from memory_core.ledger.changes import Change
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.sessions import Session
from memory_core.ports import Document, Neighbour

MAX_DOCUMENTS = 98
"""Documents, of the 100 operations of a batch; the other two are the head and the receipt. Forming
has further documents of its own.
"""
MAX_BYTES = 1_700_000
"""Bytes, of the 1.8 MB of a batch; the rest is for the head, the receipt and the parts of events
beside their fields.
"""
_OF_CHANGE = 2
"""Documents that a change adds: the memory and its event."""
_NUMBER_BYTES, _EVENT_BYTES = 13, 400


@dataclass
class ChangeSet:
    """The changes of a commit, laid over the read set.

    Attributes:
        owner: Whose memories are changed.
        read_set: The read set.
        now: The present time.
        weighs: Whether the size of the changes matters.
        changes: In order.
        puts: Documents to write, by id.
        states: Changed memories as the commit leaves them, by id.
        sessions: Changed sessions, by name.
        pending: How many pending conflicts are added.
        beside: Documents that the commit writes besides.
        weight: Bytes of the commit so far, with the bytes that it writes besides.
        actor: On whose behalf the commit is made.
        logs: Logs of slots, with the entries of this commit.

    """

    owner: Owner
    read_set: ReadSet
    now: datetime
    weighs: bool
    changes: list[Change] = field(default_factory=list)
    puts: dict[str, Document] = field(default_factory=dict)
    states: dict[str, Memory] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    pending: int = 0
    beside: int = 0
    weight: int = 0
    actor: str = "system"
    logs: dict[SlotName, SlotLog] = field(default_factory=dict)
    _shared_sessions: frozenset[str] = field(default=frozenset(), init=False)
    _moved: dict[SlotName, tuple[SlotLog, list[str]]] = field(default_factory=dict, init=False)

    def copy(self) -> ChangeSet:
        """The same changes, which stay as they are when others are added to this one.

        A session is copied only when one of the two counts a further change in it.
        """
        self._shared_sessions = frozenset(self.sessions)
        copied = copy(self)
        copied.changes, copied.puts = [*self.changes], {**self.puts}
        copied.states, copied.logs = {**self.states}, {**self.logs}
        copied.sessions = {**self.sessions}
        return copied

    def memory(self, memory_id: str) -> Memory | None:
        """The memory as this commit will leave it, if the read set has it.

        The read set may have it by its id or as a neighbour.
        """
        memory = (
            self.states.get(memory_id)
            or self.read_set.memory(memory_id)
            or self._neighbours.get(memory_id)
        )
        return None if memory is None else self._by_its_log(memory)

    def found(self, memory_id: str) -> Memory:
        """The memory as this commit will leave it; it must exist.

        Raises NotFound for a missing memory.
        """
        memory = self.memory(memory_id)
        if memory is None:
            self._check_read([memory_id])
            raise NotFound(f"{memory_id} is gone")
        return memory

    def slot(self, memory: Memory) -> SlotLog | None:
        """The log of a memory's slot, with the entries of this commit.

        None if the memory has no shared slot. Raises WithoutLog if its members need a log first.
        """
        name = slot_name(memory)
        if name is None:
            return None
        if name not in self.logs:
            self._check_read(documents_of(name))
            log = SlotLog.read(name, self.read_set)
            for change in self.changes:
                if slot_name(change.after) == name:
                    log = added_by(log, change)
            self.logs[name] = log
        return self.logs[name]

    def _by_its_log(self, memory: Memory) -> Memory:
        """A memory in the state that its slot's log gives, if that was read."""
        name = slot_name(memory)
        log = None if name is None else self.logs.get(name)
        if name is None or log is None:
            return memory
        row = log.rows.get(memory.id)
        return memory if row is None else row.on(memory)

    @cached_property
    def _neighbours(self) -> dict[str, Memory]:
        return {neighbour.memory.id: neighbour.memory for neighbour in self.read_set.neighbours()}

    def session(self, name: str) -> Session:
        """The working copy of a session."""
        if name not in self.sessions:
            document_id = session_document_id(self.owner, name)
            self._check_read([document_id])
            session = Session(self.owner, name, self.read_set.documents.get(document_id))
            self.sessions[name] = session
            if self.weighs:  # the turns that it gets are weighed with their memories
                self.weight += len(orjson.dumps(session.document.body))
        elif name in self._shared_sessions:
            self._shared_sessions -= {name}
            self.sessions[name] = self.sessions[name].copy()
        return self.sessions[name]

    def _check_read(self, ids: Iterable[str]) -> None:
        """Check that a command declared its reads; anything else is a fault of the code."""
        unread = self.read_set.unread(ids)
        assert not unread, f"a decision needs documents that its reads do not name: {unread}"

    def apply(self, changes: Sequence[Change]) -> None:
        """Add changes, in order."""
        for change in changes:
            self.changes.append(change)
            self.states[change.after.id] = change.after
            name = slot_name(change.after)
            if name in self.logs and name is not None:
                self.logs[name] = added_by(self.logs[name], change)
            if self.weighs:
                self.weight += weight_of(change)
            comes_or_goes = change.before is None or (change.before.status is Status.DELETED) != (
                change.after.status is Status.DELETED
            )
            if change.after.session_id is not None and comes_or_goes:
                self.session(change.after.session_id).count(change.before, change.after, self.now)

    def written(self) -> dict[str, Any]:
        """The content of the commit, as fields of `Changes`.

        It has memories, documents, sessions, and the number of pending conflicts.
        """
        sessions = [session.document for session in self.sessions.values()]

        def head_fields(head: Head) -> HeadFields:
            return {"pending_count": max(0, head.pending_count + self.pending)}

        return {
            "changes": tuple(self.changes),
            "puts": (*self.puts.values(), *sessions),
            "sessions": frozenset(self.sessions),
            "head_fields": head_fields,
        }

    @property
    def full(self) -> bool:
        """Whether the changes are more than a commit holds."""
        return self._more_than(MAX_DOCUMENTS, MAX_BYTES)

    def surplus(self, items: int) -> int:
        """How many equal parts of a full commit must go so that the rest fits.

        It is an estimate: of `items` parts, at least 1.
        """
        documents = self._documents()
        share = max(1 - MAX_DOCUMENTS / max(documents, 1), 1 - MAX_BYTES / max(self.weight, 1))
        return min(items, max(1, int(items * share)))

    def takes(self, change: Change) -> bool:
        """Whether a further change fits into the commit."""
        return not self._more_than(MAX_DOCUMENTS - _OF_CHANGE, MAX_BYTES - weight_of(change))

    def _documents(self) -> int:
        """The number of documents, with the changes that follow in slots that were read.

        These are the logs, and members with an event each.
        """
        moved = [self._moved_by(name, log) for name, log in self.logs.items()]
        followers = sum(member not in self.states for members in moved for member in members)
        changed = len(self.states) + len(self.changes) + _OF_CHANGE * followers
        return changed + len(self.logs) + len(self.puts) + len(self.sessions) + self.beside

    def _moved_by(self, name: SlotName, log: SlotLog) -> list[str]:
        """The members of a slot whose rows its log changes.

        They are found once for each state of the log.
        """
        known = self._moved.get(name)
        if known is None or known[0] is not log:
            before = SlotLog.read(name, self.read_set).rows
            moved = [member for member, row in log.rows.items() if before.get(member) != row]
            known = self._moved[name] = log, moved
        return known[1]

    def _more_than(self, most: int, bytes_: int) -> bool:
        return self._documents() > most or self.weight > bytes_

    def record(self, conflict: ConflictRecord) -> None:
        """Add a conflict record to the commit."""
        document = self.puts[conflict.id] = Document(
            conflict.id, "conflict", conflict.model_dump(mode="json")
        )
        self.weight += len(orjson.dumps(document.body))
        self.pending += conflict.status == "pending"

    def leave_pending(self, conflict: ConflictRecord, sides: Sequence[Memory]) -> None:
        """Leave the decision which of two memories holds to a person.

        Args:
            conflict: The pending conflict.
            sides: The two memories.

        """
        self.record(conflict)
        about = {"conflict_id": conflict.id}
        marks = [(mark_conflict(side, "pending"), side) for side in sides]
        self.apply([Change("conflict_marked", marked, side, about) for marked, side in marks])

    def reinforce(
        self, memory: Memory, says: Act | None = None, **fields: Unpack[MemoryFields]
    ) -> None:
        """Reinforce a memory, which brings it into use.

        Args:
            memory: Memory that was said again.
            says: The entry that this adds to the log of its slot; None for the usual entry.
            **fields: Further fields that change with it.

        """
        used: MemoryFields = {
            "reinforcement_count": memory.reinforcement_count + 1,
            "last_used_at": self.now,
            "last_accessed_at": self.now,
        }
        if memory.status is Status.DECAYED:
            used |= back_in_use(self.now)
        stronger = memory.changed(**(used | fields))
        self.apply([Change("reinforced", stronger, memory, says=says)])

    def retell(
        self,
        memory: Memory,
        new: Memory,
        version: int | None = None,
        *,
        source_ids: list[str] | None = None,
        confidence: float | None = None,
    ) -> None:
        """Reinforce a memory that a new memory repeats, at the later of the two times.

        Args:
            memory: Memory that says the same.
            new: The new memory.
            version: The version of it that says the same; None for the latest.
            source_ids: Its sources from now on; None leaves them as they are.
            confidence: Its confidence from now on; None leaves it as it is.

        """
        fields = MemoryFields()
        if source_ids is not None:
            fields["source_ids"] = source_ids
        if confidence is not None:
            fields["confidence"] = confidence
        name, later = slot_name(memory), max(memory.event_timestamp, new.event_timestamp)
        if (worth := most_lasting([memory.worth, new.worth])) != memory.worth:
            fields |= {"worth": worth}
        if name is None:
            if new.event_timestamp < first_telling(memory) and new.valid_from < memory.valid_from:
                fields |= {"valid_from": new.valid_from}
            moments = kept([*tellings(memory), new.event_timestamp])
            fields |= {"event_timestamp": later, "told_at": moments}
            self.reinforce(memory, **fields)
        elif slot_name(new) == name:
            act = mentions(memory.id, version or memory.version, new)
            fields |= {"event_timestamp": later}
            self.reinforce(memory, act, **fields)
        else:  # of a slot that it does not name, it says nothing
            self.reinforce(memory, **fields)

    def neighbours(self, new: Memory, neighbours: Sequence[Neighbour]) -> list[Neighbour]:
        """The neighbours as this commit leaves them, and memories that it adds.

        Args:
            new: The memory whose neighbours they are.
            neighbours: As the store returned them.

        Returns:
            The nearest first.

        """
        fresh = [
            Neighbour(self.memory(near.memory.id) or near.memory, near.similarity)
            for near in neighbours
        ]
        known = {near.memory.id for near in fresh}
        for memory in self.states.values():
            if memory.id in known or memory.type is not MemoryType.SEMANTIC:
                continue
            fresh.append(Neighbour(self._by_its_log(memory), _similarity(new, memory)))
        return sorted(fresh, key=lambda near: -near.similarity)


def _similarity(first: Memory, second: Memory) -> float:
    if first.embedding is None or second.embedding is None:
        return 1.0 if are_of_one_slot(first, second) else 0.0
    return float(np.dot(first.embedding, second.embedding))


def weight_of(change: Change) -> int:
    """Bytes that a change adds to the batch at most.

    These are the memory and its vector, its event, and the version that it leaves.
    """
    weight = _EVENT_BYTES + _weight_of(change.after, change.body)
    if change.before is not None:
        weight += _weight_of(change.before, change.body_before)
    return weight


def _weight_of(memory: Memory, body: dict[str, Any]) -> int:
    vector = 0 if memory.embedding is None else _NUMBER_BYTES * len(memory.embedding)
    return 2 * len(orjson.dumps(body)) + vector
