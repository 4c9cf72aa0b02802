"""One commit's worth of saves, decided in order over what the store shows and what this very commit is about to write.

Pure: the same prepared memories over the same look give the same plan. So whatever turns out not to fit is planned again
without its last item, instead of being guessed beforehand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_core.domain.confidence import surer
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, MemoryType, Outcome, Status
from memory_core.domain.scope import Owner
from memory_core.evolution.apart import set_apart
from memory_core.evolution.decide import Verdict, holding, judge
from memory_core.evolution.key_line import PROCEDURAL, alive, standing
from memory_core.evolution.marks import mark_fallen
from memory_core.evolution.old_versions import Versions
from memory_core.evolution.overlap import without_overlap
from memory_core.evolution.page import Page
from memory_core.evolution.recorded import chosen_by, recorded
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.evolution.strategies import begun, in_order, resolve
from memory_core.evolution.truth_line import joined, superseded_by
from memory_core.evolution.versions import end_versions, new_version
from memory_core.formation.prepare import Prepared
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Look
from memory_core.ledger.ids import session_document_id, told_late_id
from memory_core.ports import Neighbour

_NOT_TOLD_AGAIN = (Status.DELETED, Status.ARCHIVED, Status.SUPERSEDED)
"""How a key's memory is that the same value does not reinforce: it begins anew, or as the next version."""
MAX_ITEMS = 48
"""More never fit, since each is an event and a memory at least; so no more are searched neighbours for."""


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


def plan(
    owner: Owner,
    items: Sequence[Prepared],
    look: Look,
    duplicate_threshold: float,
    now: datetime,
    asked: Collection[str],
    actor: str,
    keys: Collection[str] = (),
) -> Changes[Planned]:
    """The changes of as many items as fit one commit (at least one), and their outcomes.

    actor: who saves. asked: ids that the look was asked for besides, those that are not there included. keys: whose values it was asked
    for, after the neighbours of the items. Raises SessionGrew when a session's last turn is not the one that its next turn was read after,
    LookedElsewhere when more has to be read: cells that told what a new truth replaces, versions that it ends, values of keys, sessions of
    others than the items that count a memory more.
    """
    page = Page(owner, look, now, weighs=len(items) > 1, actor=actor, asked=asked, keys=keys)
    nears = iter(look.near)
    outcomes: list[PlannedOutcome] = []
    for one in items:
        shown = next(nears, ()) if one.memory.type is MemoryType.SEMANTIC else ()
        outcomes.append(_place(page, one, shown, duplicate_threshold, Versions(look, asked, page.puts)))
        if page.full and len(outcomes) > 1:
            return plan(owner, items[: len(outcomes) - 1], look, duplicate_threshold, now, asked, actor, keys)
    in_sessions = [one.memory.session_id for one in items if one.memory.session_id is not None]
    if unread := page.unread_sessions({*asked, *(session_document_id(owner, name) for name in in_sessions)}):
        raise LookedElsewhere(unread)
    mark_fallen(page, asked)
    end_versions(page, asked)
    semantic = any(one.memory.type is MemoryType.SEMANTIC for one in items)
    return Changes(
        Planned(tuple(outcomes)),
        tuple(page.changes),
        (*page.puts.values(), *(session.document for session in page.sessions.values())),
        reads=frozenset(page.states),
        sessions=frozenset(page.sessions),
        types=frozenset({MemoryType.SEMANTIC.value} if semantic else ()) | (PROCEDURAL if keys else frozenset()),
        head_fields=lambda head: {"pending_count": head.pending_count + page.pending},
    )


def _place(page: Page, one: Prepared, shown: Sequence[Neighbour], duplicate_threshold: float, older: Versions) -> PlannedOutcome:
    if one.memory.type is MemoryType.PROCEDURAL:
        return _upsert(page, one, older)
    if one.memory.type is MemoryType.EPISODIC:
        return append_turn(page, one)
    judgement = judge(one.memory, page.neighbours(one.memory, shown), duplicate_threshold)
    if judgement.verdict is Verdict.SAME and judgement.old is not None:
        page.retell(judgement.old, one.memory, judgement.truths)
        return PlannedOutcome(one.place, Outcome.REINFORCED, judgement.old.id)
    if judgement.verdict is Verdict.NEW:
        page.apply(begun(one.memory, judgement.truths, page.now))
        return PlannedOutcome(one.place, Outcome.CREATED, one.memory.id)
    resolution = resolve(one.memory, judgement, one.on_conflict, page.now)
    resolution = recorded(resolution, one.memory, chosen_by(one.on_conflict, page.actor))
    page.apply(resolution.changes)
    record = resolution.conflict
    for one_record in resolution.records:
        page.record(one_record)
    return PlannedOutcome(one.place, resolution.outcome, resolution.memory_id, record.id if record else None, record)


def append_turn(page: Page, one: Prepared) -> PlannedOutcome:
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


def _reinforce(page: Page, place: int, held: Memory) -> PlannedOutcome:
    if held.type is MemoryType.PROCEDURAL:
        page.reinforce(held, confidence=surer(held.confidence))
    else:
        page.reinforce(held)
    return PlannedOutcome(place, Outcome.REINFORCED, held.id)


def _upsert(page: Page, one: Prepared, older: Versions) -> PlannedOutcome:
    """One memory a key: the same value reinforces it, another becomes its next version, a deleted one comes back anew."""
    memory = one.memory
    held = page.memory(memory.id)
    if held is None:
        page.apply([Change("created", memory)])
        return PlannedOutcome(one.place, Outcome.CREATED, memory.id)
    other = _in_its_place(page, held)
    holds = held if other is None else other
    if holds.status in FOUND_BY_DEFAULT and memory.event_timestamp < holds.event_timestamp:
        return _tell_late(page, one, holds)
    if holds.status not in _NOT_TOLD_AGAIN and _says_the_same(holds, memory):
        page.retell(holds, memory, confidence=surer(holds.confidence))
        return PlannedOutcome(one.place, Outcome.REINFORCED, holds.id)
    kept_of_it = () if held.status is Status.DELETED else ("session_id", "agent_id", "created_at")
    fields = memory.model_fields_set - {"id", *kept_of_it}
    changed = {name: getattr(memory, name) for name in fields}
    changed |= {"reinforcement_count": 0, "last_used_at": page.now, "told_at": []}
    changed |= {"status": Status.ACTIVE, "status_reason": "created" if held.status is Status.DELETED else "manual_update"}
    if held.status in _NOT_TOLD_AGAIN:
        before = held.supersedes_id or held.next_id  # also what was deleted since: it tells that others may have been
        changed |= {"next_id": None, "supersedes_id": before if other is None else other.id}
    updated, kept = new_version(held, changed, page.now, older)
    updated.embedding = memory.embedding
    page.puts |= {one.id: one for one in kept}
    page.apply([Change("upserted", updated, held)])
    if other is not None:
        page.apply([Change("superseded", superseded_by(other, updated, page.now), other)])
    if updated.valid_from < held.valid_from or held.status in _NOT_TOLD_AGAIN:
        set_apart(page, page.values(memory.key or ""))
    return PlannedOutcome(one.place, Outcome.CREATED if held.status is Status.DELETED else Outcome.UPSERTED, memory.id)


def _in_its_place(page: Page, held: Memory) -> Memory | None:
    """The value of its key that holds in the place of its own memory: an undo put it there.

    Raises LookedElsewhere when the key's values were not read.
    """
    if held.status in FOUND_BY_DEFAULT or held.key is None:
        return None
    return next(iter(standing(page.values(held.key))), None)


def _tell_late(page: Page, one: Prepared, held: Memory) -> PlannedOutcome:
    """A value from before the present one was told last: it was told of once more, or is history on arrival, under an id of its own.

    One that was deleted and is told again begins a new life under its id.
    """
    memory = one.memory.model_copy(update={"id": late_id(one.memory)})
    told = page.memory(memory.id)
    if told is not None and told.status is not Status.DELETED:
        return _reinforce(page, one.place, told)
    if told is not None:
        memory = memory.model_copy(update={"revision": told.revision})  # another life is another memory, whoever is named after it
    values = page.values(memory.key or "")
    truths = [*alive(values), *(version for value in values for version in page.versions(value, since=memory.event_timestamp))]
    same = holding(memory, truths)
    if same is not None and _says_the_same(same, memory):
        page.retell(same, memory, truths, confidence=surer(same.confidence))
        set_apart(page, values)
        return PlannedOutcome(one.place, Outcome.REINFORCED, same.id)
    placed, changes = joined(memory, truths, page.now)
    begins = [] if told is None else [Change("created", memory, told)]
    arrived = Change("created", placed) if told is None else Change("superseded", placed, memory)
    page.apply(in_order(*begins, *without_overlap([arrived, *changes], truths)))
    set_apart(page, values)
    return PlannedOutcome(one.place, Outcome.CREATED, placed.id)


def late_id(memory: Memory) -> str:
    """The id of a procedural memory that turns out to be older than what its key holds."""
    return told_late_id(memory.key or "", memory.event_timestamp.isoformat(), memory.content)


def _says_the_same(held: Memory, new: Memory) -> bool:
    if new.value is not None or held.value is not None:
        return bool(held.value == new.value) and (held.content == new.content)
    return held.content.strip() == new.content.strip()
