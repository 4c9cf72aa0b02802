"""One commit's worth of saves, decided in order over what the store shows and what this very commit is about to write.

Pure: the same prepared memories over the same look give the same plan. So whatever turns out not to fit is planned again
without its last item, instead of being guessed beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import orjson

from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import ConflictRecord, Memory, MemoryType, Outcome, Status
from memory_core.domain.scope import Owner
from memory_core.domain.slots import slot_of
from memory_core.evolution.decide import Verdict, judge
from memory_core.evolution.strategies import resolve
from memory_core.evolution.versions import new_version
from memory_core.formation.prepare import Prepared
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Look
from memory_core.ledger.ids import session_document_id, told_late_id
from memory_core.ledger.sessions import Session
from memory_core.ports import Document, Neighbour

MAX_DOCUMENTS = 98
"""Of the 100 operations of a batch; the others are the head and the receipt."""
MAX_BYTES = 1_700_000
"""Of the 1.8 MB of a batch; the rest is for the head, the receipt and what an event says beside its fields."""
MAX_ITEMS = 48
"""More never fit, since each is an event and a memory at least; so no more are searched neighbours for."""
_NUMBER_BYTES, _EVENT_BYTES = 13, 400


class SessionGrew(Exception):
    """The session's last turn is not the one that a turn was read after: another process was faster."""


@dataclass(frozen=True, slots=True)
class PlannedOutcome:
    """One item's outcome, by ids, so that a receipt can hold it."""

    place: int
    outcome: Outcome
    memory_id: str
    conflict_id: str | None = None
    conflict: ConflictRecord | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """The outcomes of the items that fit, in order."""

    outcomes: tuple[PlannedOutcome, ...]

    def for_receipt(self) -> dict[str, Any]:
        """JSON-ready: places, ids and outcomes."""
        return {"items": [[one.place, one.outcome.value, one.memory_id, one.conflict_id] for one in self.outcomes]}

    @classmethod
    def of_receipt(cls, result: Mapping[str, Any]) -> Planned:
        """What `for_receipt` made."""
        return cls(tuple(PlannedOutcome(place, Outcome(outcome), *ids) for place, outcome, *ids in result["items"]))


@dataclass(slots=True)
class _Page:
    """What this commit is about to write, laid over what the store shows. `weighs`: whether it matters how much that is."""

    owner: Owner
    look: Look
    now: datetime
    weighs: bool
    changes: list[Change] = field(default_factory=list)
    puts: dict[str, Document] = field(default_factory=dict)
    states: dict[str, Memory] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    pending: int = 0
    weight: int = 0

    def memory(self, memory_id: str) -> Memory | None:
        return self.states.get(memory_id) or self.look.memory(memory_id)

    def session(self, name: str) -> Session:
        if name not in self.sessions:
            self.sessions[name] = Session(self.owner, name, self.look.documents.get(session_document_id(self.owner, name)))
        return self.sessions[name]

    def apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self.changes.append(change)
            self.states[change.after.id] = change.after
            if self.weighs:
                self.weight += _weight(change)
            if change.after.session_id is not None and (change.before is None or change.before.status is Status.DELETED):
                self.session(change.after.session_id).count(change.before, change.after, self.now)

    @property
    def full(self) -> bool:
        """Whether this is more than one commit holds."""
        documents = len(self.states) + len(self.changes) + len(self.puts) + len(self.sessions)
        if documents > MAX_DOCUMENTS or self.weight > MAX_BYTES:
            return True
        return self.weighs and self.weight + sum(len(orjson.dumps(one.document.body)) for one in self.sessions.values()) > MAX_BYTES

    def neighbours(self, one: Memory, shown: Sequence[Neighbour]) -> list[Neighbour]:
        """The store's neighbours in their state of now, and those that this commit adds, nearest first."""
        fresh = [Neighbour(self.states.get(near.memory.id, near.memory), near.similarity) for near in shown]
        known = {near.memory.id for near in fresh}
        for memory in self.states.values():
            if memory.id in known or memory.type is not MemoryType.SEMANTIC:
                continue
            fresh.append(Neighbour(memory, _similarity(one, memory)))
        return sorted(fresh, key=lambda near: -near.similarity)


def plan(owner: Owner, items: Sequence[Prepared], look: Look, duplicate_threshold: float, now: datetime) -> Changes[Planned]:
    """The changes of as many items as fit one commit (at least one), and their outcomes.

    Raises SessionGrew when a session's last turn is not the one that its next turn was read after.
    """
    page = _Page(owner, look, now, weighs=len(items) > 1)
    nears = iter(look.near)
    outcomes: list[PlannedOutcome] = []
    for one in items:
        shown = next(nears, ()) if one.memory.type is MemoryType.SEMANTIC else ()
        outcomes.append(_place(page, one, shown, duplicate_threshold))
        if page.full and len(outcomes) > 1:
            return plan(owner, items[: len(outcomes) - 1], look, duplicate_threshold, now)
    semantic = any(one.memory.type is MemoryType.SEMANTIC for one in items)
    return Changes(
        Planned(tuple(outcomes)),
        tuple(page.changes),
        (*page.puts.values(), *(session.document for session in page.sessions.values())),
        reads=frozenset(page.states),
        sessions=frozenset(page.sessions),
        types=frozenset({MemoryType.SEMANTIC.value}) if semantic else frozenset(),
        head_fields=lambda head: {"pending_count": head.pending_count + page.pending},
    )


def _place(page: _Page, one: Prepared, shown: Sequence[Neighbour], duplicate_threshold: float) -> PlannedOutcome:
    if one.memory.type is MemoryType.PROCEDURAL:
        return _upsert(page, one)
    if one.memory.type is MemoryType.EPISODIC:
        return _append(page, one)
    judgement = judge(one.memory, page.neighbours(one.memory, shown), duplicate_threshold)
    if judgement.verdict is Verdict.SAME and judgement.old is not None:
        return _reinforce(page, one.place, judgement.old)
    if judgement.verdict is Verdict.NEW:
        page.apply([Change("created", one.memory)])
        return PlannedOutcome(one.place, Outcome.CREATED, one.memory.id)
    resolution = resolve(one.memory, judgement, one.on_conflict, page.now)
    page.apply(resolution.changes)
    record = resolution.conflict
    if record is not None:
        page.puts[record.id] = Document(record.id, "conflict", record.model_dump(mode="json"))
        page.pending += record.status == "pending"
    return PlannedOutcome(one.place, resolution.outcome, resolution.memory_id, record.id if record else None, record)


def _append(page: _Page, one: Prepared) -> PlannedOutcome:
    """Episodic memories are always stored, but for one that stands there already with the same words, session, actor and time.

    One that was deleted and is told again begins a new life under its id, so that two who tell it at once make one.
    """
    memory = one.memory
    held = page.memory(memory.id)
    if held is not None and held.status is not Status.DELETED:
        return _reinforce(page, one.place, held)
    if one.turn is not None and memory.session_id is not None:
        session = page.session(memory.session_id)
        if session.last_turn_id != one.after:
            raise SessionGrew
        memory = memory.model_copy(update={"lexical": memory.lexical.model_copy(update={"turn": session.turns})})
        session.add_turn(one.turn)
    page.apply([Change("created", memory, held)])
    return PlannedOutcome(one.place, Outcome.CREATED, memory.id)


def _reinforce(page: _Page, place: int, held: Memory) -> PlannedOutcome:
    stronger = held.model_copy(update={"reinforcement_count": held.reinforcement_count + 1, "last_used_at": page.now})
    page.apply([Change("reinforced", stronger, held)])
    return PlannedOutcome(place, Outcome.REINFORCED, held.id)


def _upsert(page: _Page, one: Prepared) -> PlannedOutcome:
    """One memory a key: the same value reinforces it, another becomes its next version, a deleted one comes back anew."""
    memory = one.memory
    held = page.memory(memory.id)
    if held is None:
        page.apply([Change("created", memory)])
        return PlannedOutcome(one.place, Outcome.CREATED, memory.id)
    if held.status not in (Status.DELETED, Status.ARCHIVED) and _says_the_same(held, memory):
        return _reinforce(page, one.place, held)
    if held.status in FOUND_BY_DEFAULT and memory.event_timestamp < held.event_timestamp:
        return _tell_late(page, one, held)
    fields = memory.model_fields_set - {"id", "created_at", "session_id", "agent_id"}
    changed = {name: getattr(memory, name) for name in fields}
    changed |= {"reinforcement_count": 0, "last_used_at": page.now}
    changed |= {"status": Status.ACTIVE, "status_reason": "created" if held.status is Status.DELETED else "manual_update"}
    updated, kept = new_version(held, changed, page.now)
    updated.embedding = memory.embedding
    page.puts[kept.id] = kept
    page.apply([Change("upserted", updated, held)])
    return PlannedOutcome(one.place, Outcome.CREATED if held.status is Status.DELETED else Outcome.UPSERTED, memory.id)


def _tell_late(page: _Page, one: Prepared, held: Memory) -> PlannedOutcome:
    """A value from before the present one is history on arrival: kept under an id of its own, superseded, found by `at` only."""
    memory = one.memory
    identity = late_id(page.owner, memory)
    told = page.memory(identity)
    if told is not None:
        return _reinforce(page, one.place, told)
    until = max(memory.valid_from, held.valid_from)
    history = {"status": Status.SUPERSEDED, "status_reason": "contradicted", "next_id": held.id, "valid_until": memory.valid_until or until}
    page.apply([Change("created", memory.model_copy(update={"id": identity, **history}))])
    return PlannedOutcome(one.place, Outcome.CREATED, identity)


def late_id(owner: Owner, memory: Memory) -> str:
    """The id of a procedural memory that turns out to be older than what its key holds."""
    return told_late_id(owner, memory.key or "", memory.event_timestamp.isoformat(), memory.content)


def _says_the_same(held: Memory, new: Memory) -> bool:
    if new.value is not None or held.value is not None:
        return bool(held.value == new.value) and (held.content == new.content)
    return held.content.strip() == new.content.strip()


def _similarity(one: Memory, other: Memory) -> float:
    if one.embedding is None or other.embedding is None:
        return 1.0 if slot_of(one) is not None and slot_of(one) == slot_of(other) else 0.0
    return float(np.dot(one.embedding, other.embedding))


def _weight(change: Change) -> int:
    """Bytes that a change adds to the batch at most: the memory and its vector, its event, the version that it leaves."""
    both = [change.after, *([change.before] if change.before is not None else [])]
    vectors = sum(_NUMBER_BYTES * len(one.embedding) for one in both if one.embedding is not None)
    return 2 * sum(len(one.model_dump_json().encode()) for one in both) + vectors + _EVENT_BYTES
