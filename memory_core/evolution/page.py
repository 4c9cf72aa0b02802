"""One commit in the making: what it is about to write, laid over what the store shows.

So later items of a commit are decided on what earlier ones do; and it knows when it is more than a commit holds.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np
import orjson

from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.endings import is_ending
from memory_core.domain.lifecycle import back_in_use
from memory_core.domain.models import Memory, MemoryType, Status
from memory_core.domain.scope import Owner
from memory_core.domain.slots import slot_of
from memory_core.domain.worth import most_lasting
from memory_core.evolution.key_line import key_of
from memory_core.evolution.old_versions import Versions
from memory_core.evolution.overlap import overruling, without_overlap
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.evolution.tellings import first_telling, kept, over, tellings
from memory_core.evolution.truth_line import passed_over, place_of
from memory_core.ledger.changes import Change
from memory_core.ledger.commit import Look
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.sessions import Session
from memory_core.ports import Document, Neighbour

MAX_DOCUMENTS = 98
"""Of the 100 operations of a batch; the others are the head and the receipt. Forming has documents of its own besides."""
MAX_BYTES = 1_700_000
"""Of the 1.8 MB of a batch; the rest is for the head, the receipt and what an event says beside its fields."""
MAX_VERSIONS = 20
"""Old versions, and what was told late of a time before them: of these, the latest, has its place what is told late."""
_NUMBER_BYTES, _EVENT_BYTES = 13, 400


@dataclass
class Page:
    """What this commit is about to write, laid over what the store shows. `weighs`: whether it matters how much that is.

    beside, weight: documents, and bytes, that the commit writes besides. actor: on whose behalf. asked: the ids of the look's documents,
    also of those that are not there. keys: whose values the look shows.
    """

    owner: Owner
    look: Look
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
    asked: Collection[str] = ()
    keys: Collection[str] = ()

    def memory(self, memory_id: str) -> Memory | None:
        """The memory as this commit will leave it, where the look shows it: by its id or as a neighbour."""
        return self.states.get(memory_id) or self.look.memory(memory_id) or self._neighbours.get(memory_id)

    @cached_property
    def _neighbours(self) -> dict[str, Memory]:
        return {one.memory.id: one.memory for near in self.look.near for one in near}

    def values(self, key: str) -> list[Memory]:
        """The values of a key as this commit will leave them, past ones too, and what an undo took away.

        Raises LookedElsewhere when the key was not asked for.
        """
        if key not in self.keys:
            raise LookedElsewhere(keys=[key])
        found = (self._neighbours | self.states).values()
        return [one for one in found if key_of(one) == key]

    def session(self, name: str) -> Session:
        """The working copy of a session."""
        if name not in self.sessions:
            self.sessions[name] = Session(self.owner, name, self.look.documents.get(session_document_id(self.owner, name)))
        return self.sessions[name]

    def apply(self, changes: Sequence[Change]) -> None:
        """Add changes, in order."""
        for change in changes:
            self.changes.append(change)
            self.states[change.after.id] = change.after
            if self.weighs:
                self.weight += _weight(change)
            comes_or_goes = change.before is None or (change.before.status is Status.DELETED) != (change.after.status is Status.DELETED)
            if change.after.session_id is not None and comes_or_goes:
                self.session(change.after.session_id).count(change.before, change.after, self.now)

    def unread_sessions(self, asked: Collection[str]) -> list[str]:
        """Ids of the documents of sessions that this changes, and that were not asked for: they must be read first."""
        return [name for session in self.sessions if (name := session_document_id(self.owner, session)) not in asked]

    @property
    def full(self) -> bool:
        """Whether this is more than one commit holds."""
        return self._more_than(MAX_DOCUMENTS, MAX_BYTES)

    def surplus(self, items: int) -> int:
        """Of `items` equal parts of a full page, about how many are too many; at least one."""
        documents = len(self.states) + len(self.changes) + len(self.puts) + len(self.sessions) + self.beside
        share = max(1 - MAX_DOCUMENTS / max(documents, 1), 1 - MAX_BYTES / max(self.weight, 1))
        return min(items, max(1, int(items * share)))

    def takes(self, change: Change) -> bool:
        """Whether one change more fits the commit."""
        return not self._more_than(MAX_DOCUMENTS - 2, MAX_BYTES - _weight(change))

    def _more_than(self, most: int, bytes_: int) -> bool:
        documents = len(self.states) + len(self.changes) + len(self.puts) + len(self.sessions) + self.beside
        if documents > most or self.weight > bytes_:
            return True
        return self.weighs and self.weight + sum(len(orjson.dumps(one.document.body)) for one in self.sessions.values()) > bytes_

    def weigh(self) -> None:
        """From now on it matters how much this is."""
        if not self.weighs:
            self.weighs = True
            self.weight += sum(_weight(change) for change in self.changes)

    def record(self, conflict: ConflictRecord) -> None:
        """Put a conflict record into the commit."""
        document = self.puts[conflict.id] = Document(conflict.id, "conflict", conflict.model_dump(mode="json"))
        self.weight += len(orjson.dumps(document.body))
        self.pending += conflict.status == "pending"

    def reinforce(self, held: Memory, **fields: Any) -> None:
        """Somebody said again what is held, and so has it in mind; `fields` change with it."""
        used: dict[str, Any] = {"last_used_at": self.now, "last_accessed_at": self.now}
        if held.status is Status.DECAYED:
            used |= back_in_use(self.now)
        stronger = held.model_copy(update={"reinforcement_count": held.reinforcement_count + 1, **used, **fields})
        self.apply([Change("reinforced", stronger, held)])

    def retell(self, held: Memory, new: Memory, truths: Sequence[Memory] = (), **fields: Any) -> None:
        """The new memory says what is held: it is reinforced, was said at the later of the two times, and holds from the earlier one on.

        truths: those of its slot; whom it took over from ended then. Without the later time, a truth told again would lose to another
        one that was told before that, but arrives after it.
        """
        # An ending holds from where it was told first and not passed over, which may be later than its first telling.
        begins = held.valid_from if truths and is_ending(held) and not passed_over(new, truths) else first_telling(held)
        same_slot = slot_of(new) == slot_of(held)  # of a slot that it does not name, it says nothing
        if same_slot and new.event_timestamp < begins and new.valid_from < held.valid_from and not over(new, held):
            fields |= {"valid_from": new.valid_from}
            earlier = [one for one in truths if place_of(one) < place_of(held)]
            again = held.model_copy(update=fields)
            self.apply(without_overlap([Change("reinforced", again, held), *overruling(again, earlier)], truths)[1:])
        counts = same_slot or new.event_timestamp > held.event_timestamp
        if (worth := most_lasting([held.worth, new.worth])) != held.worth:
            fields |= {"worth": worth}
        told = kept([*tellings(held), *([new.event_timestamp] if counts else [])])
        self.reinforce(held, event_timestamp=max(held.event_timestamp, new.event_timestamp), told_at=told, **fields)

    def neighbours(self, one: Memory, shown: Sequence[Neighbour]) -> list[Neighbour]:
        """The store's neighbours in their state of now, and those that this commit adds, nearest first."""
        fresh = [Neighbour(self.states.get(near.memory.id, near.memory), near.similarity) for near in shown]
        known = {near.memory.id for near in fresh}
        for memory in self.states.values():
            if memory.id in known or memory.type is not MemoryType.SEMANTIC:
                continue
            fresh.append(Neighbour(memory, _similarity(one, memory)))
        slot = slot_of(one)
        mates = [near.memory for near in fresh if slot is not None and slot_of(near.memory) == slot]
        fresh += [Neighbour(version, 0.0) for mate in mates for version in self.versions(mate, since=one.event_timestamp)]
        return sorted(fresh, key=lambda near: -near.similarity)

    def versions(self, memory: Memory, since: datetime) -> list[Memory]:
        """What a memory was before it was changed by hand or by key, the latest first; none where all that was before a moment.

        As far as it was told before the next version was: an edit replaces its memory at once, also one that tells of a later time.

        Raises LookedElsewhere for versions that were not `asked` for.
        """
        if memory.version == 1 or max(memory.event_timestamp, memory.valid_from) <= since:
            return []
        found: list[Memory] = []
        latest = first_telling(memory)
        for one in reversed(Versions(self.look, self.asked, self.puts).before(memory)[-MAX_VERSIONS:]):
            told = [moment for moment in tellings(one) if moment < latest]
            if told and one.status is not Status.DELETED:
                found.append(one.model_copy(update={"told_at": kept(told), "event_timestamp": told[-1]}))
                latest = told[0]
        return found

    def before(self, memory: Memory) -> list[Memory]:
        """What is known to have held before a memory, the latest first, along `supersedes_id`.

        Raises LookedElsewhere for one that was not `asked` for.
        """
        found: list[Memory] = []
        step: Memory | None = memory
        while step is not None and (name := step.supersedes_id) is not None and len(found) < MAX_VERSIONS:
            if name not in self.asked and self.memory(name) is None:
                raise LookedElsewhere([name])
            step = self.memory(name)
            found += [step] if step is not None else []
        return [one for one in found if one.status is Status.SUPERSEDED]


def _similarity(one: Memory, other: Memory) -> float:
    if one.embedding is None or other.embedding is None:
        return 1.0 if slot_of(one) is not None and slot_of(one) == slot_of(other) else 0.0
    return float(np.dot(one.embedding, other.embedding))


def _weight(change: Change) -> int:
    """Bytes that a change adds to the batch at most: the memory and its vector, its event, the version that it leaves."""
    both = [change.after, *([change.before] if change.before is not None else [])]
    vectors = sum(_NUMBER_BYTES * len(one.embedding) for one in both if one.embedding is not None)
    return 2 * sum(len(one.model_dump_json().encode()) for one in both) + vectors + _EVENT_BYTES
