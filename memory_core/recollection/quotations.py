"""Quote memories in a context, with the remarks that belong beside them.

A quotation has the memory's own words, their speaker, and marks such as "no longer true in part".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.fields import local
from memory_core.domain.memory import Foresight, Memory, MemoryType
from memory_core.domain.messages import MESSAGE
from memory_core.domain.note import FIRST_AT, FOOTER, parts_of
from memory_core.domain.ranking.acknowledgements import only_acknowledges
from memory_core.domain.ranking.index_terms import spoken
from memory_core.domain.ranking.learned_order import ASSISTANTS
from memory_core.domain.ranking.selection import Piece
from memory_core.domain.scope import Owner
from memory_core.domain.text import remarks
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.excerpts import covered, excerpt
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.token_count import count_tokens
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.ledger.readable import readable_shown
from memory_core.ports import LongTermStore
from memory_core.recollection.superseded_facts import SupersededFact

TRUE_IN_PART = "no longer true in part"
"""The mark on the line of a memory that tells a superseded fact.

The lines below name the fact and its present truth.
"""
BY_ASSISTANT, FROM_TOOL = "by an assistant", "from a tool"
NEWS = timedelta(days=90)
"""How long foresight without an end is told as expected, from its beginning on."""
STORIES = frozenset({"cell", "note"})
"""Categories of memories that were formed of a whole cell."""
AGENT = "agent"
"""The category of a memory that was formed of an agent's own messages."""
_NOBODY = frozenset({"assistant", "system", "tool", "ai", "developer"})
"""Actors that are no person."""


def piece(
    memory: Memory,
    *,
    priority: float,
    superseded: Sequence[SupersededFact],
    terms: Collection[str],
    moment: datetime,
) -> Piece | None:
    """Make a memory a piece of a context, under the day of its event.

    Args:
        memory: The memory.
        priority: How much the context wants it.
        superseded: Its superseded facts.
        terms: The query's terms.
        moment: The time of the context, in the caller's time zone.

    Returns:
        The piece; None if the memory tells only foresight that has ended.

    """
    if tells_only_what_has_ended(memory, moment):
        return None
    standing = [foresight for foresight in memory.foresight if holds(foresight, moment)]
    text, speaker = _said(memory, terms)
    return Piece(
        id=memory.id,
        at=shown_at(memory.event_timestamp, moment),
        order=memory.sequence,
        text=text,
        priority=priority,
        speaker=speaker,
        said_by=said_by(memory),
        is_output="tool" in (memory.actor, memory.metadata.get("role")),
        begins=memory.valid_from
        if _is_truth(memory) and memory.valid_from > memory.event_timestamp
        else None,
        mark="; ".join(
            filter(
                None,
                (
                    TRUE_IN_PART if superseded else "",
                    _begins(memory, moment),
                    _merged_from(memory, moment),
                    origin_of(memory),
                ),
            )
        ),
        notes=(
            *(no_longer_true(fact) for fact in superseded),
            *(expected(foresight, moment) for foresight in standing),
        ),
    )


def _begins(memory: Memory, moment: datetime) -> str:
    """Return the day from which a future truth holds; empty for other memories."""
    waits = _is_truth(memory) and memory.valid_from > moment
    return f"from {shown_at(memory.valid_from, moment).date().isoformat()}" if waits else ""


def _merged_from(memory: Memory, moment: datetime) -> str:
    """Return the first day of a note of several days; empty for others."""
    if FIRST_AT not in memory.metadata or memory.category != "note":
        return ""
    first = shown_at(datetime.fromisoformat(memory.metadata[FIRST_AT]), moment).date()
    if first == shown_at(memory.event_timestamp, moment).date():
        return ""
    return f"told from {first.isoformat()} on, in this order"


def _is_truth(memory: Memory) -> bool:
    """Whether a memory states a truth from a moment on.

    An episode, and a memory that was formed of a whole cell, tell of an event.
    """
    return memory.type is not MemoryType.EPISODIC and memory.category not in STORIES


def origin_of(memory: Memory) -> str:
    """Return a mark for a line whose source is an assistant or a tool.

    Empty if a person is the source, or if the line's speaker shows it.
    """
    if (memory.actor or "").casefold() in _NOBODY or memory.category in STORIES:
        return ""
    role, source = memory.metadata.get("role"), memory.source.casefold()
    if role == "tool" or source == "tool" or source.startswith(("tool:", "tool/")):
        return FROM_TOOL
    return BY_ASSISTANT if role == "assistant" or source in ("agent", "assistant", "mcp") else ""


def said_by(memory: Memory) -> str | None:
    """Return the person whose words a memory tells, "" for the user.

    None for words of an assistant, a tool or a system, and for a story of several speakers.
    """
    return person_of(memory.category, memory.metadata, memory.actor)


def person_of(category: str | None, metadata: Mapping[str, Any], actor: str | None) -> str | None:
    """Return what `said_by` does of a memory with these fields.

    Args:
        category: The category of the memory.
        metadata: Its metadata.
        actor: Its actor.

    """
    if category in STORIES:
        return None
    role = str(metadata.get("role", "user"))
    is_of_role = role != "user" and (actor or "").casefold() in ("", role)
    return None if is_of_role else speaker(actor)


def is_by_assistant(memory: Memory) -> bool:
    """Whether a memory is a turn in an assistant's own words."""
    is_turn = memory.type is MemoryType.EPISODIC and memory.category not in STORIES
    return is_turn and (
        memory.metadata.get("role") == "assistant" or (memory.actor or "").casefold() in ASSISTANTS
    )


def says_nothing(memory: Memory) -> bool:
    """Whether a memory is a turn that only acknowledges.

    A person's "OK." after a question is an answer; an assistant's tells nothing of the person.
    """
    return (
        memory.type is MemoryType.EPISODIC
        and only_acknowledges(memory.content)
        and (is_by_assistant(memory) or not memory.lexical.previous_asks)
    )


def speaker(actor: str | None) -> str | None:
    """Return the person that an actor is, "" for the user or no actor.

    None for an assistant, a tool or a system.
    """
    name = (actor or "").casefold()
    return None if name in _NOBODY else "" if name == "user" else name


def text_for(memory: Memory, terms: Collection[str]) -> str:
    """Return the text of a memory with its speaker.

    For a cell it is the conversation itself if that has more words of the query than the story made
    of it. For a note it is the text without headings, tags and keywords.

    Args:
        memory: The memory.
        terms: The query's terms.

    """
    return spoken(*_said(memory, terms))


def _said(memory: Memory, terms: Collection[str]) -> tuple[str, str | None]:
    """Return the text of `text_for` and its speaker separately."""
    if memory.episode is not None and covered(memory.episode, terms) > covered(
        memory.content, terms
    ):
        return memory.episode, None
    content = memory.content
    if memory.category == "note":
        content = (
            " ".join(text for name, text in parts_of(content).items() if name != FOOTER) or content
        )
    return content, memory.actor


def holds(foresight: Foresight, moment: datetime) -> bool:
    """Whether foresight holds at a moment: it has begun and not ended.

    Foresight without an end holds for `NEWS`.

    Args:
        foresight: The foresight.
        moment: The moment.

    """
    ends = foresight.end_time
    return foresight.start_time <= moment and (
        moment - foresight.start_time <= NEWS if ends is None else moment < ends
    )


def is_ahead(foresight: Foresight, moment: datetime, within: timedelta) -> bool:
    """Whether foresight begins later, but soon.

    Args:
        foresight: The foresight.
        moment: The present.
        within: The longest time until it begins.

    """
    return timedelta(0) < foresight.start_time - moment <= within


def shown_at(moment: datetime, asked: datetime) -> datetime:
    """Return a moment in the caller's time zone.

    Args:
        moment: The moment.
        asked: A time in the caller's time zone; without a zone, the moment stays as it is.

    """
    return moment if asked.tzinfo is None else local(moment, asked.tzinfo)


def expected(foresight: Foresight, moment: datetime) -> str:
    """Return foresight as a line with its days.

    Of what takes a day at most it has the hours.

    Args:
        foresight: The foresight.
        moment: A time in the caller's time zone, which decides the days.

    """
    return f"{_span(foresight, moment)}: {foresight.description}"


def _span(foresight: Foresight, moment: datetime) -> str:
    start = shown_at(foresight.start_time, moment)
    at = f" at {_hour(start)}" if _hour(start) else ""
    if foresight.end_time is None:
        return f"from {start.date().isoformat()}{at}"
    end = shown_at(foresight.end_time, moment)
    last = (end if _hour(end) else end - timedelta(days=1)).date()
    if end - start > timedelta(days=1):
        return f"from {start.date().isoformat()} until {last.isoformat()}"
    until = f" until {_hour(end)}" if _hour(end) else ""
    if start.date() != last:
        return f"from {start.date().isoformat()}{at} until {last.isoformat()} at {_hour(end)}"
    at = at.replace(" at ", " from ") if until else at
    return f"on {last.isoformat()}{at}{until}"


def _hour(moment: datetime) -> str:
    """Return the time of day of a moment; empty at the beginning of a day."""
    return f"{moment:%H:%M}" if (moment.hour, moment.minute) != (0, 0) else ""


def no_longer_true(fact: SupersededFact) -> str:
    """Return a superseded fact as a line, with the present truth in its place."""
    current = None if fact.current is None else fact.current.content
    return remarks.no_longer_true(fact.text, current)


def tells_only_what_has_ended(memory: Memory, moment: datetime) -> bool:
    """Whether a memory tells only foresight, all of which is over at that moment.

    Args:
        memory: The memory.
        moment: The moment.

    """
    if not memory.foresight or any(
        foresight.end_time is None or moment < foresight.end_time for foresight in memory.foresight
    ):
        return False
    return normalised(memory.content) in {
        normalised(foresight.description) for foresight in memory.foresight
    }


# Which of the found memories are quoted where several tell the same.
#
# That is the turns of a cell, or what was formed of them.
#
#     found of a cell                      quoted
#     turns                                the turns, and not the cell nor its note
#     no turn                              the better of the cell and its note
#     a fact and a short turn that says it the turn
#
# A story in place of turns that it tells shorter was left out: told two messages a call, .06 less
# of BEAM's evidence was in contexts. Note: a fact that is in conflict, or that no turn of its cell
# says, is quoted for itself.


FACT = "fact"
SHORT_TURN = 80
"""Tokens up to which a turn is quoted whole.

A fact beside it without a word of its own adds no information.
"""

LEAST_SHARED = 0.75
"""The part of a fact's words that a turn must have to tell it, for a fact without a slot."""


@dataclass(frozen=True, slots=True)
class QuotableMemory:
    """A memory on its way into a context.

    Attributes:
        memory: The memory.
        priority: How much the context wants it.
        relevance: How much of the query it answers.

    """

    memory: Memory
    priority: float
    relevance: float = 0.0

    @property
    def cell(self) -> str:
        """The id of the cell that it came from, or its own id."""
        return self.memory.cell_id or self.memory.id

    @property
    def is_story(self) -> bool:
        """Whether it was formed of a whole cell.

        An agent's memory is, of its messages.
        """
        formed = self.memory.category == AGENT and self.memory.cell_id is not None
        return formed or self.memory.category in STORIES

    @property
    def is_message(self) -> bool:
        """Whether it is a message of a conversation."""
        return self.memory.category == MESSAGE


def choose_quotations(
    quotations: Iterable[QuotableMemory], left: Mapping[str, Memory] | None = None
) -> list[QuotableMemory]:
    """Return the found memories without those that other memories tell better.

    Args:
        quotations: The found memories.
        left: By cell, what is left of its messages that no turn may tell (`Untold`). It is quoted
            in the place of the story, beside the turns.

    """
    ordered = list(quotations)
    turns: dict[str, list[QuotableMemory]] = {}
    stories: dict[str, QuotableMemory] = {}
    for quotation in ordered:
        if quotation.is_message:
            turns.setdefault(quotation.cell, []).append(quotation)
        elif quotation.is_story:
            stories.setdefault(quotation.cell, quotation)

    def is_quoted(quotation: QuotableMemory) -> bool:
        if quotation.is_message:
            return True
        if quotation.is_story:
            return quotation.cell not in turns and stories[quotation.cell] is quotation
        return not said_by_turn(quotation.memory, turns.get(quotation.cell, ()))

    rests = left or {}
    return [
        quotation if quoted else replace(quotation, memory=rests[quotation.cell])
        for quotation in ordered
        if (quoted := is_quoted(quotation))
        or (stories.get(quotation.cell) is quotation and quotation.cell in rests)
    ]


def said_by_turn(fact: Memory, turns: Iterable[QuotableMemory]) -> bool:
    """Whether the turns of a fact's cell say the fact.

    If so, the fact need not be quoted. A short turn must have all words of the fact. If the fact
    fills no slot, any turn with three quarters of its words will do: such a fact is a sentence of a
    turn in the third person, with some words put another way. A disputed fact is always quoted.

    Args:
        fact: The fact.
        turns: The turns of its cell.

    """
    if fact.category != FACT or fact.conflict_state == "pending":
        return False
    words = set(tokens(fact.content)) - set(tokens(f"{fact.subject or ''} {fact.actor or ''} User"))
    for turn in turns:
        shared = words & set(tokens(f"{turn.memory.content} {turn.memory.actor or ''}"))
        if fact.attribute is None and len(shared) >= LEAST_SHARED * len(words):
            return True
        if shared == words and count_tokens(turn.memory.content) <= SHORT_TURN:
            return True
    return False


def superseded_facts_by_turn(
    quotations: Iterable[QuotableMemory], superseded: Mapping[str, Sequence[SupersededFact]]
) -> dict[str, tuple[SupersededFact, ...]]:
    """Return the superseded facts that each turn told, by the id of the turn.

    A fact counts as told by the turn that shares most of its words.

    Args:
        quotations: The memories to quote.
        superseded: The superseded facts by the id of their cell.

    """
    turns: dict[str, list[QuotableMemory]] = {}
    for quotation in quotations:
        if quotation.is_message and quotation.cell in superseded:
            turns.setdefault(quotation.cell, []).append(quotation)
    facts_by_turn: dict[str, tuple[SupersededFact, ...]] = {}
    for cell, of_cell in turns.items():
        words = {turn.memory.id: set(tokens(turn.memory.content)) for turn in of_cell}
        for fact in superseded[cell]:
            fact_terms = set(tokens(fact.text))
            teller = max(words, key=lambda name: len(words[name] & fact_terms))
            if words[teller] & fact_terms:
                facts_by_turn[teller] = (*facts_by_turn.get(teller, ()), fact)
    return facts_by_turn


# The other side of an open conflict: told beside a memory that is in one, so that neither looks as
# if it surely held.
#
# Costs nothing where no conflict is open; else one read of the records and one of the memories.


MOST_CONFLICTS = 3
"""The most open conflicts of a memory that are told, the latest."""
MOST_TOKENS = 30
"""The most tokens of the other side that are told."""


async def open_conflicts(
    store: LongTermStore, owner: Owner, memories: Iterable[Memory]
) -> dict[str, tuple[ConflictRecord, ...]]:
    """Read the open conflicts that memories are in, by the id of a memory.

    Args:
        store: The long-term store.
        owner: Whose memories they are.
        memories: The memories; there is a read only if one is in an open conflict.

    Raises:
        Unavailable: The long-term store is down.

    """
    in_conflict = {
        memory.id: memory.conflict_ids[-MOST_CONFLICTS:]
        for memory in memories
        if memory.conflict_state == "pending"
    }
    names = sorted({name for conflict_ids in in_conflict.values() for name in conflict_ids})
    if not names:
        return {}
    documents = (await store.snapshot(owner, names)).documents
    records = {
        name: ConflictRecord.model_validate(document.body) for name, document in documents.items()
    }
    return {
        name: tuple(
            record
            for conflict_id in conflict_ids
            if (record := records.get(conflict_id)) is not None and record.open
        )
        for name, conflict_ids in in_conflict.items()
    }


def is_other_side(memory: Memory) -> bool:
    """Whether a memory may be named as the other side of a conflict."""
    return memory.status in FOUND_BY_DEFAULT and memory.searchable


async def open_conflict_lines(
    store: LongTermStore,
    owner: Owner,
    memories: Iterable[Memory],
    moment: datetime,
    without_session_id: str | None = None,
) -> dict[str, tuple[str, ...]]:
    """Describe the other sides of the open conflicts that memories are in.

    Args:
        store: The long-term store.
        owner: Whose memories they are.
        memories: The memories; only those in an open conflict cost a read.
        moment: A time in the caller's time zone, which decides the days.
        without_session_id: The session whose memories are no other side; None for none.

    Returns:
        By the id of a memory, a line for each memory on the other side of its conflicts.

    Raises:
        Unavailable: The long-term store is down.

    """
    conflicts = await open_conflicts(store, owner, memories)
    sides = {side for records in conflicts.values() for record in records for side in record.sides}
    read, _ = readable_shown(await store.memories(owner, sorted(sides)) if sides else {})
    return {
        name: tuple(
            _line(other, moment)
            for record in records
            if (other := read.get(record.beside(name) or "")) is not None
            and is_other_side(other)
            and not (without_session_id and other.session_id == without_session_id)
        )
        for name, records in conflicts.items()
    }


def _line(other: Memory, moment: datetime) -> str:
    day = shown_at(other.event_timestamp, moment).date().isoformat()
    return remarks.in_conflict(day, excerpt(other.content, (), MOST_TOKENS))
