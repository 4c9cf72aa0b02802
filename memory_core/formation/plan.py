"""One commit's worth of saves, decided in order over what the store shows and what this very commit is about to write.

Pure: the same prepared memories over the same look give the same plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np

from memory_core.domain.models import ConflictRecord, Memory, MemoryType, Outcome, Status
from memory_core.domain.scope import Owner
from memory_core.evolution.decide import Verdict, judge, slot_of
from memory_core.evolution.strategies import resolve
from memory_core.evolution.versions import new_version
from memory_core.formation.prepare import Prepared
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Look
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.sessions import Session
from memory_core.ports import Document, Neighbour

MAX_DOCUMENTS = 94
"""Of the 100 operations of a batch; the rest is for the head, the receipt and one item's worst case over the line."""
MAX_BYTES = 1_500_000


class SessionGrew(Exception):
    """Another process added a turn to the session after these were read together with its last ones."""


@dataclass(frozen=True, slots=True)
class PlannedOutcome:
    """One item's outcome, by ids, so that a receipt can hold it."""

    outcome: Outcome
    memory_id: str
    conflict_id: str | None = None
    conflict: ConflictRecord | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """The outcomes of the items that fit, in order."""

    outcomes: tuple[PlannedOutcome, ...]

    def for_receipt(self) -> dict[str, Any]:
        """JSON-ready: ids and outcomes."""
        return {"items": [[one.outcome.value, one.memory_id, one.conflict_id] for one in self.outcomes]}

    @classmethod
    def of_receipt(cls, result: Mapping[str, Any]) -> Planned:
        """What `for_receipt` made."""
        return cls(tuple(PlannedOutcome(Outcome(outcome), memory_id, conflict_id) for outcome, memory_id, conflict_id in result["items"]))


@dataclass(slots=True)
class _Page:
    """What this commit is about to write, laid over what the store shows."""

    owner: Owner
    look: Look
    now: datetime
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
            self.weight += _weight(change)
            if change.after.session_id is not None and (change.before is None or change.before.status is Status.DELETED):
                self.session(change.after.session_id).count(change.before, change.after, self.now)

    @property
    def full(self) -> bool:
        documents = len(self.states) + len(self.changes) + len(self.puts) + len(self.sessions)
        return documents > MAX_DOCUMENTS - 8 or self.weight > MAX_BYTES

    def neighbours(self, one: Memory, shown: Sequence[Neighbour]) -> list[Neighbour]:
        """The store's neighbours in their state of now, and those that this commit adds, nearest first."""
        fresh = [Neighbour(self.states.get(near.memory.id, near.memory), near.similarity) for near in shown]
        known = {near.memory.id for near in fresh}
        for memory in self.states.values():
            if memory.id in known or memory.type is not MemoryType.SEMANTIC:
                continue
            fresh.append(Neighbour(memory, _similarity(one, memory)))
        return sorted(fresh, key=lambda near: -near.similarity)


def plan(
    owner: Owner, items: Sequence[Prepared], look: Look, duplicate_threshold: float, now: datetime, *, check_turns: bool = True
) -> Changes[Planned]:
    """The changes of as many items as fit one commit (at least one), and their outcomes.

    Raises SessionGrew when `check_turns` and a session's last turn is not the one that its items were read after.
    """
    page = _Page(owner, look, now)
    nears = iter(look.near)
    outcomes: list[PlannedOutcome] = []
    if check_turns:
        _check_sessions(page, items)
    for one in items:
        if page.full:
            break
        shown = next(nears, ()) if one.memory.type is MemoryType.SEMANTIC else ()
        outcomes.append(_place(page, one, shown, duplicate_threshold))
    done = items[: len(outcomes)]
    return Changes(
        Planned(tuple(outcomes)),
        tuple(page.changes),
        (*page.puts.values(), *(session.document for session in page.sessions.values())),
        reads=frozenset(page.states),
        sessions=frozenset(page.sessions),
        types=frozenset({MemoryType.SEMANTIC.value}) if any(one.memory.type is MemoryType.SEMANTIC for one in done) else frozenset(),
        head_fields={"pending_count": (look.head.pending_count if look.head else 0) + page.pending} if page.pending else {},
    )


def _check_sessions(page: _Page, items: Sequence[Prepared]) -> None:
    """The first turn of each session must follow the turn that it was read after."""
    first: set[str] = set()
    for one in items:
        name = one.memory.session_id
        if one.turn is None or name is None or name in first:
            continue
        first.add(name)
        last, _ = page.session(name).last_turns
        if (last.id if last else None) != one.after:
            raise SessionGrew


def _place(page: _Page, one: Prepared, shown: Sequence[Neighbour], duplicate_threshold: float) -> PlannedOutcome:
    if one.memory.type is MemoryType.PROCEDURAL:
        return _upsert(page, one.memory)
    if one.memory.type is MemoryType.EPISODIC:
        return _append(page, one)
    judgement = judge(one.memory, page.neighbours(one.memory, shown), duplicate_threshold)
    if judgement.verdict is Verdict.SAME and judgement.old is not None:
        return _reinforce(page, judgement.old)
    if judgement.verdict is Verdict.NEW:
        page.apply([Change("created", one.memory)])
        return PlannedOutcome(Outcome.CREATED, one.memory.id)
    resolution = resolve(one.memory, judgement, one.on_conflict, page.now)
    page.apply(resolution.changes)
    record = resolution.conflict
    if record is not None:
        page.puts[record.id] = Document(record.id, "conflict", record.model_dump(mode="json"))
        page.pending += record.status == "pending"
    return PlannedOutcome(resolution.outcome, resolution.memory_id, record.id if record else None, record)


def _append(page: _Page, one: Prepared) -> PlannedOutcome:
    """Episodic memories are always stored, but for one that is there already with the same words, session, actor and time."""
    memory = one.memory
    held = page.memory(memory.id)
    if held is not None and held.status is not Status.DELETED:
        return _reinforce(page, held)
    turn = one.turn
    if held is not None:
        memory = memory.model_copy(update={"id": one.spare_id})
        turn = None if turn is None else replace(turn, id=one.spare_id)
    page.apply([Change("created", memory)])
    if turn is not None and memory.session_id is not None:
        page.session(memory.session_id).add_turn(turn)
    return PlannedOutcome(Outcome.CREATED, memory.id)


def _reinforce(page: _Page, held: Memory) -> PlannedOutcome:
    stronger = held.model_copy(update={"reinforcement_count": held.reinforcement_count + 1, "last_used_at": page.now})
    page.apply([Change("reinforced", stronger, held)])
    return PlannedOutcome(Outcome.REINFORCED, held.id)


def _upsert(page: _Page, memory: Memory) -> PlannedOutcome:
    """One memory a key: the same value reinforces it, another becomes its next version, a deleted one comes back anew."""
    held = page.memory(memory.id)
    if held is None:
        page.apply([Change("created", memory)])
        return PlannedOutcome(Outcome.CREATED, memory.id)
    if held.status not in (Status.DELETED, Status.ARCHIVED) and _says_the_same(held, memory):
        return _reinforce(page, held)
    fields = memory.model_fields_set - {"id", "created_at", "session_id", "agent_id"}
    changed = {name: getattr(memory, name) for name in fields}
    changed |= {"reinforcement_count": 0, "last_used_at": page.now}
    changed |= {"status": Status.ACTIVE, "status_reason": "created" if held.status is Status.DELETED else "manual_update"}
    updated, kept = new_version(held, changed, page.now)
    updated.embedding = memory.embedding
    page.puts[kept.id] = kept
    page.apply([Change("upserted", updated, held)])
    return PlannedOutcome(Outcome.CREATED if held.status is Status.DELETED else Outcome.UPSERTED, memory.id)


def _says_the_same(held: Memory, new: Memory) -> bool:
    if new.value is not None or held.value is not None:
        return bool(held.value == new.value) and (held.content == new.content)
    return held.content.strip() == new.content.strip()


def _similarity(one: Memory, other: Memory) -> float:
    if one.embedding is None or other.embedding is None:
        return 1.0 if slot_of(one) is not None and slot_of(one) == slot_of(other) else 0.0
    return float(np.dot(one.embedding, other.embedding))


def _weight(change: Change) -> int:
    """Bytes that a change is about to add to the batch, guessed high: the memory, its event, its vector as text."""
    memory = change.after
    vector = 0 if memory.embedding is None else 12 * len(memory.embedding)
    return 3_000 + 8 * len(memory.content.encode()) + vector
