"""Plan a commit of saves: draft, analyse, decide.

The plan is pure: the same prepared memories over the same read set give the same plan. So if the
items don't fit, they are planned again without the last item, instead of guessing beforehand.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.errors import FieldError, Invalid
from memory_core.domain.importance import importance_by_type, surer
from memory_core.domain.memory import (
    Memory,
    MemoryType,
    OnConflict,
    Outcome,
    Status,
    fields_of,
    text_of_value,
)
from memory_core.domain.ranking.index_terms import TurnTerms, turn_of, with_lexical
from memory_core.domain.requests.memories import SaveInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.skew import MAX_SKEW
from memory_core.domain.statements.worth import worth_of
from memory_core.domain.truth.entries import Statement
from memory_core.domain.truth.slots import slot_name, text_of_key
from memory_core.evolution.changeset import MAX_DOCUMENTS, ChangeSet
from memory_core.evolution.judgements import (
    Verdict,
    contradict,
    judged,
    naming_what_holds,
    repeated,
)
from memory_core.evolution.slot_log import SlotLog
from memory_core.evolution.truth_commands import says, statement_in
from memory_core.evolution.versions import embed_memories, old_version, version_document
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.ids import derived, out_of_order_id, procedure_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.sessions import Session
from memory_core.ports import Embedder, IdSource, Neighbour

MAX_ITEMS = 48
"""More items never fit, since each is an event and a memory at least; so neighbours are searched
for no more items.
"""


def most_of_one_commit(items: Sequence[Prepared]) -> int:
    """How many of the first items a commit holds at most.

    Each item is an event, each memory and each session a document, and each slot a log and at least
    a single memory. More items would be read in vain.
    """
    documents = set[tuple[str, object]]()
    for count, memory in enumerate(item.memory for item in items[:MAX_ITEMS]):
        slot = slot_name(memory)
        documents.add(("memory", slot or memory.id))
        if slot is not None:
            documents.add(("log", slot))
        if memory.session_id is not None:
            documents.add(("session", memory.session_id))
        if count + 1 + len(documents) > MAX_DOCUMENTS:
            return max(1, count)
    return MAX_ITEMS


class SessionGrew(Exception):
    """The session's last turn is not the turn after which a turn was read.

    Another process was faster.
    """


@dataclass(frozen=True, slots=True)
class PlannedOutcome:
    """The outcome of an item, by ids, so that a receipt can hold it."""

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
        """The outcomes as JSON: places, ids and outcomes."""
        return {
            "items": [
                [planned.place, planned.outcome.value, planned.memory_id, planned.conflict_id]
                for planned in self.outcomes
            ]
        }

    @classmethod
    def of_receipt(cls, result: Mapping[str, Any]) -> Planned:
        """The outcomes in a receipt, as `for_receipt` made them."""
        return cls(
            tuple(
                PlannedOutcome(place, Outcome(outcome), *ids)
                for place, outcome, *ids in result["items"]
            )
        )


def plan(
    owner: Owner,
    items: Sequence[Prepared],
    read_set: ReadSet,
    duplicate_threshold: float,
    now: datetime,
    actor: str,
) -> Changes[Planned]:
    """The changes of as many items as fit into a commit, and their outcomes.

    At least a single item is taken.

    Args:
        owner: Whose memories they are.
        items: Prepared memories.
        read_set: The read set, with neighbours of semantic items and what `slot_reads` names.
        duplicate_threshold: The least similarity of texts that may say the same.
        now: The present time.
        actor: The caller.

    Raises:
        SessionGrew: A session's last turn is not the turn after which its next turn was read.

    """
    page = ChangeSet(owner, read_set, now, weighs=len(items) > 1, actor=actor)
    outcomes: list[PlannedOutcome] = []
    for item in items:
        before = page.copy()
        neighbours = read_set.near.get(item.memory.id, ())
        outcomes.append(_place(page, item, neighbours, duplicate_threshold))
        if page.full and len(outcomes) > 1:
            page = before
            outcomes.pop()
            break
    taken = items[: len(outcomes)]
    semantic = any(item.memory.type is MemoryType.SEMANTIC for item in taken)
    return Changes(
        Planned(tuple(outcomes)),
        **page.written(),
        reads=frozenset(page.states),
        types=frozenset({MemoryType.SEMANTIC.value} if semantic else ()),
    )


def _place(
    page: ChangeSet, item: Prepared, neighbours: Sequence[Neighbour], duplicate_threshold: float
) -> PlannedOutcome:
    if item.memory.type is MemoryType.PROCEDURAL:
        return _upsert(page, item)
    if item.memory.type is MemoryType.EPISODIC:
        return append_turn(page, item)
    item = replace(item, memory=naming_what_holds(page, item.memory))
    judgement = judged(page, item.memory, neighbours, duplicate_threshold)
    if judgement.verdict is Verdict.SAME and judgement.old is not None:
        page.retell(judgement.old, item.memory, judgement.version)
        return PlannedOutcome(item.place, Outcome.REINFORCED, judgement.old.id)
    if judgement.verdict is Verdict.NEW:
        page.apply([Change("created", item.memory)])
        return PlannedOutcome(item.place, Outcome.CREATED, item.memory.id)
    done = contradict(page, item.memory, judgement, item.on_conflict, page.actor)
    return PlannedOutcome(item.place, done.outcome, done.memory_id, done.conflict.id, done.conflict)


def append_turn(page: ChangeSet, item: Prepared) -> PlannedOutcome:
    """Store an episodic memory, unless it is stored already.

    It is stored already if an active memory has the same words, session, actor and time. A deleted
    memory begins again under its id, so that two equal calls at once make a single memory.

    Args:
        page: The change set.
        item: The memory.

    Raises:
        SessionGrew: The session's last turn is not the turn after which this turn was read.

    """
    memory = item.memory
    existing = page.memory(memory.id)
    if existing is not None and existing.status is not Status.DELETED:
        return _reinforce(page, item.place, existing)
    if item.turn is not None and memory.session_id is not None:
        session = page.session(memory.session_id)
        if session.last_turn_id != item.after:
            raise SessionGrew
        memory = memory.changed(lexical=memory.lexical.changed(turn=session.turns))
        session.add_turn(item.turn)
    page.apply([Change("created", memory, existing)])
    return PlannedOutcome(item.place, Outcome.CREATED, memory.id)


def _reinforce(page: ChangeSet, place: int, existing: Memory) -> PlannedOutcome:
    if existing.type is MemoryType.PROCEDURAL:
        page.reinforce(existing, confidence=surer(existing.confidence))
    else:
        page.reinforce(existing)
    return PlannedOutcome(place, Outcome.REINFORCED, existing.id)


def _upsert(page: ChangeSet, item: Prepared) -> PlannedOutcome:
    """Store the value of a key: reinforce an equal value, or make the next version.

    A value that leaves the present value as it is becomes a memory of its own. A deleted key begins
    again.
    """
    memory = item.memory
    slot, existing = page.slot(memory), page.memory(memory.id)
    if slot is None or (existing is None and not slot.entries):
        page.apply([Change("created", memory)])
        return PlannedOutcome(item.place, Outcome.CREATED, memory.id)
    again = repeated(memory, slot)
    same = None if again is None else page.found(again.memory_id)
    if again is not None and same is not None and same.status is not Status.ARCHIVED:
        page.retell(same, memory, again.version, confidence=surer(same.confidence))
        return PlannedOutcome(item.place, Outcome.REINFORCED, same.id)
    updated = None if existing is None else _next_value(page, slot, existing, memory)
    if existing is None or updated is None:
        late = memory if existing is None else memory.changed(id=late_id(memory))
        known = page.memory(late.id)
        if known is not None and known.status is not Status.DELETED:
            page.retell(known, memory, known.version)
            return PlannedOutcome(item.place, Outcome.REINFORCED, known.id)
        page.apply([Change("created", late, known)])
        return PlannedOutcome(item.place, Outcome.CREATED, late.id)
    page.puts |= {document.id: document for document in [version_document(old_version(existing))]}
    page.apply([Change("upserted", updated, existing, says=says(updated))])
    is_new_life = existing.status is Status.DELETED
    return PlannedOutcome(
        item.place, Outcome.CREATED if is_new_life else Outcome.UPSERTED, memory.id
    )


def _next_value(page: ChangeSet, slot: SlotLog, existing: Memory, memory: Memory) -> Memory | None:
    """The next version of a key's memory, with another value.

    None for a value that does not take the place of the memory's own: it is from before, it was
    over when it was said, or it is announced.

    Args:
        page: The change set of the commit.
        slot: The log of the key.
        existing: The key's memory.
        memory: The memory with the other value.

    """
    order = statement_in(slot, memory).order
    is_new_life = existing.status is Status.DELETED
    if not is_new_life and any(
        each.order > order and each.place not in slot.account.hidden_at
        for each in slot.account.statements
    ):
        return None
    kept_of_it = () if is_new_life else ("session_id", "agent_id", "created_at")
    fields = memory.model_fields_set - {"id", *kept_of_it}
    changed = fields_of(memory, fields)
    changed |= {
        "reinforcement_count": 0,
        "last_used_at": page.now,
        "last_accessed_at": page.now,
        "updated_at": page.now,
        "told_at": [],
    }
    changed |= {
        "status": Status.ACTIVE,
        "status_reason": "created" if is_new_life else "manual_update",
    }
    changed["valid_until"] = memory.valid_until
    changed["version"] = _next_version(existing, slot)
    updated = existing.changed(**changed)
    updated.embedding = memory.embedding
    moment = page.now + MAX_SKEW  # the caller's clock may be ahead
    keeps_own = any(
        interval.memory_id == existing.id
        and interval.version != updated.version
        and interval.lasts_beyond(moment)
        for interval in slot.added(says(updated)).timeline.intervals
    )
    return None if keeps_own else updated


def _next_version(memory: Memory, slot: SlotLog) -> int:
    """The version after all versions of a memory.

    Args:
        memory: As it is stored.
        slot: Whose log may have later versions of it.

    """
    return 1 + max(
        memory.version,
        *(
            each.version
            for each in slot.entries
            if isinstance(each, Statement) and each.memory_id == memory.id
        ),
    )


def late_id(memory: Memory) -> str:
    """The id of a procedural memory that leaves its key's present value as it is."""
    return out_of_order_id(memory.key or "", memory.event_timestamp.isoformat(), memory.content)


# Prepare drafts: analyse their texts (turns together with the turns before them), and embed all at
# once.


LONG_CHARACTERS = 4_000
"""Characters of a text that is analysed in a thread: 31,000 characters of base64 take 27 ms."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A memory ready to be decided on.

    Attributes:
        place: Place of its item in the call, from 0.
        memory: Memory with its vector.
        on_conflict: The strategy that the caller wants.
        turn: Terms that the next turn needs; None if the memory is no turn.
        after: Id of the turn after which it was read; None for the first turn.

    """

    place: int
    memory: Memory
    on_conflict: OnConflict
    turn: TurnTerms | None = None
    after: str | None = None


async def prepare(
    drafts: Sequence[Draft],
    sessions: Mapping[str, Session],
    stored_ids: Collection[str],
    embedder: Embedder,
) -> list[Prepared]:
    """Analyse and embed drafts, in order.

    Args:
        drafts: In order.
        sessions: Sessions of every turn among the drafts, by name.
        stored_ids: Ids of the turns that are stored already. A repeated turn is no new turn, so no
            turn is read after it.
        embedder: Embedder for the vectors.

    Raises:
        Unavailable: The embedder is down.

    """
    tails = {name: session.last_turns for name, session in sessions.items()}
    known_ids = set(stored_ids)
    prepared: list[Prepared] = []
    for draft in drafts:
        memory, name = draft.memory, draft.memory.session_id or ""
        previous, before_previous = tails[name] if draft.is_turn else (None, None)
        if len(memory.content) > LONG_CHARACTERS:
            analysed = await asyncio.to_thread(with_lexical, memory, previous, before_previous)
        else:
            analysed = with_lexical(memory, previous, before_previous)
        turn = turn_of(analysed) if draft.is_turn else None
        if turn is not None and memory.id not in known_ids:
            known_ids.add(memory.id)
            tails[name] = (turn, previous)
        prepared.append(
            Prepared(
                draft.place, analysed, draft.on_conflict, turn, previous.id if previous else None
            )
        )
    await embed_memories(embedder, [ready.memory for ready in prepared])
    return prepared


# Make a draft of a caller's item: defaults, importance and identity. No I/O; text and vector
# follow.


NO_PERSONS = frozenset({"assistant", "system", "tool"})
"""Actors whose words say nothing about the person."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory before it is analysed, embedded and compared.

    Attributes:
        place: Place of its item in the call, from 0.
        memory: Without its vector.
        on_conflict: The strategy that the caller wants.

    """

    place: int
    memory: Memory
    on_conflict: OnConflict

    @property
    def is_turn(self) -> bool:
        """Whether it is a turn of a session, read together with the turns before it."""
        return self.memory.type is MemoryType.EPISODIC and self.memory.session_id is not None


def draft(
    owner: Owner, place: int, item: SaveInput, now: datetime, ids: IdSource, call: Call
) -> Draft:
    """The memory that an item asks for.

    Args:
        owner: Whose memory it is.
        place: Place of the item in the call, from 0.
        item: The request.
        now: The present time.
        ids: Source of the id of a semantic memory.
        call: Call whose correlation id the memory keeps.

    Raises:
        Invalid: Defaults and given fields contradict each other.

    """
    value_text = text_of_value(item.value)
    content = item.content if item.content is not None else text_of_key(item.key or "", value_text)
    event = item.event_timestamp or now
    valid_from = item.valid_from or event
    if item.valid_until is not None and item.valid_until <= valid_from:
        raise Invalid(
            "the validity is empty",
            errors=(FieldError("valid_until", f"must be later than {valid_from.isoformat()}"),),
        )
    given = item.importance is not None
    memory = Memory(
        id=_identity(item, content, event, ids),
        app_id=owner.app_id,
        user_id=owner.user_id,
        session_id=item.session_id,
        agent_id=item.agent_id,
        type=item.type,
        category=item.category,
        content=content,
        subject=item.subject,
        attribute=item.attribute,
        key=item.key,
        value=item.value,
        value_text=value_text,
        foresight=item.foresight,
        entities=item.entities,
        actor=item.actor,
        action_type=item.action_type,
        source=item.source,
        metadata=item.metadata,
        tags=item.tags,
        importance_base=item.importance
        if item.importance is not None
        else importance_by_type(item.type, content, item.category, item.tags),
        importance_basis="given" if given else "type",
        confidence=item.confidence,
        pinned=item.pinned,
        searchable=item.searchable,
        worth=worth_of(content, by_assistant=item.actor in NO_PERSONS),
        created_at=now,
        updated_at=now,
        event_timestamp=event,
        valid_from=valid_from,
        valid_until=item.valid_until,
        correlation_id=call.correlation_id,
    )
    return Draft(place, memory, item.on_conflict)


def numbered_draft(made: Draft, earlier: int) -> Draft:
    """The draft of an episodic memory after equal items of the same call.

    If the call is sent again, it names the same memories.

    Args:
        made: The draft.
        earlier: How many equal items came before it.

    """
    if not earlier:
        return made
    return replace(
        made,
        memory=made.memory.changed(id=derived("mem", "equal item", made.memory.id, str(earlier))),
    )


def _identity(item: SaveInput, content: str, event: datetime, ids: IdSource) -> str:
    """The id of a memory by its type.

    Procedural: by key. Episodic: by content, session, actor and event time. Semantic: a new id,
    since neighbours decide.
    """
    if item.type is MemoryType.PROCEDURAL:
        return procedure_id(item.key or "")
    if item.type is MemoryType.EPISODIC:
        return derived(
            "mem", "episode", item.session_id or "", item.actor or "", event.isoformat(), content
        )
    return ids.new("mem")
