"""Quote memories in a context, with what has to be said beside them.

A memory as it is quoted in a context: its own words with who said them, and what must be said
beside them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.fields import local
from memory_core.domain.memory import FOUND_BY_DEFAULT, Foresight, Memory, MemoryType
from memory_core.domain.messages import MESSAGE
from memory_core.domain.note import FOOTER, parts_of
from memory_core.domain.ranking.index_terms import spoken
from memory_core.domain.ranking.learned_order import ASSISTANTS
from memory_core.domain.ranking.selection import Piece
from memory_core.domain.scope import Owner
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.excerpts import covered, excerpt
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.token_count import count_tokens
from memory_core.ledger.readable import readable_shown
from memory_core.ports import LongTermStore
from memory_core.recollection.superseded import Fallen

FALLEN = "no longer true in part"
"""Is on the line of what tells a superseded fact; which one, and what holds now, is below."""
BY_ASSISTANT, FROM_TOOL = "by an assistant", "from a tool"
NEWS = timedelta(days=90)
"""How long something foreseen without an end is told as expected, from its beginning on."""
STORIES = frozenset({"cell", "note"})
"""Categories of what was formed of a whole cell."""
_NOBODY = frozenset({"assistant", "system", "tool", "ai", "developer"})
"""Actors that are no person."""


def piece(
    memory: Memory,
    *,
    priority: float,
    fallen: Sequence[Fallen],
    terms: Collection[str],
    moment: datetime,
) -> Piece | None:
    """The memory as a piece of a context at `moment`, under the day that it was there;
    None where all that it tells has ended.
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
        begins=memory.valid_from
        if _is_truth(memory) and memory.valid_from > memory.event_timestamp
        else None,
        mark="; ".join(
            filter(None, (FALLEN if fallen else "", _begins(memory, moment), origin_of(memory)))
        ),
        notes=(
            *(no_longer_true(fact) for fact in fallen),
            *(expected(foresight, moment) for foresight in standing),
        ),
    )


def _begins(memory: Memory, moment: datetime) -> str:
    """From which day on a truth holds that has not begun; empty for others."""
    waits = _is_truth(memory) and memory.valid_from > moment
    return f"from {shown_at(memory.valid_from, moment).date().isoformat()}" if waits else ""


def _is_truth(memory: Memory) -> bool:
    """Whether it states what holds from a moment on; an episode, and what was made of a whole one,
    tells what happened.
    """
    return memory.type is not MemoryType.EPISODIC and memory.category not in STORIES


def origin_of(memory: Memory) -> str:
    """Whether an assistant or a tool is the source, for its line in a context; "" where a person
    is, or where its speaker shows it.
    """
    if (memory.actor or "").casefold() in _NOBODY or memory.category in STORIES:
        return ""
    role, source = memory.metadata.get("role"), memory.source.casefold()
    if role == "tool" or source == "tool" or source.startswith(("tool:", "tool/")):
        return FROM_TOOL
    return BY_ASSISTANT if role == "assistant" or source in ("agent", "assistant", "mcp") else ""


def said_by(memory: Memory) -> str | None:
    """The person whose words it tells, "" for the user; None for what an assistant, a tool or a
    system said, and for a story of several.
    """
    if memory.category in STORIES:
        return None
    role = str(memory.metadata.get("role", "user"))
    actor = (memory.actor or "").casefold()
    return None if role != "user" and actor in ("", role) else speaker(memory.actor)


def is_by_assistant(memory: Memory) -> bool:
    """Whether it is a turn in an assistant's own words."""
    is_turn = memory.type is MemoryType.EPISODIC and memory.category not in STORIES
    return is_turn and (
        memory.metadata.get("role") == "assistant" or (memory.actor or "").casefold() in ASSISTANTS
    )


def speaker(actor: str | None) -> str | None:
    """Who an actor is: "" for the user, and where none is named; None for an assistant,
    a tool or a system.
    """
    name = (actor or "").casefold()
    return None if name in _NOBODY else "" if name == "user" else name


def text_for(memory: Memory, terms: Collection[str]) -> str:
    """What it says, with its speaker; of a cell the talk itself where that has more words of the
    query than the story made of it.

    Of a note, what it says without its headings, tags and keywords.
    """
    return spoken(*_said(memory, terms))


def _said(memory: Memory, terms: Collection[str]) -> tuple[str, str | None]:
    """As `text_for`, the text and its speaker apart."""
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
    """Whether something foreseen holds at that moment: it has begun and not ended;
    what has no end is no news after a while.
    """
    ends = foresight.end_time
    return foresight.start_time <= moment and (
        moment - foresight.start_time <= NEWS if ends is None else moment < ends
    )


def is_ahead(foresight: Foresight, moment: datetime, within: timedelta) -> bool:
    """Whether something foreseen begins later, though so soon."""
    return moment < foresight.start_time <= moment + within


def shown_at(moment: datetime, asked: datetime) -> datetime:
    """A moment by the asker's clocks."""
    return moment if asked.tzinfo is None else local(moment, asked.tzinfo)


def expected(foresight: Foresight, moment: datetime) -> str:
    """Something foreseen, with its dates, which are days where it is asked for."""
    until = (
        ""
        if foresight.end_time is None
        else f" until {shown_at(foresight.end_time, moment).date().isoformat()}"
    )
    return (
        f"from {shown_at(foresight.start_time, moment).date().isoformat()}{until}: "
        f"{foresight.description}"
    )


def no_longer_true(fallen: Fallen) -> str:
    """A superseded fact, with what is true in its place."""
    now = "" if fallen.current is None else f"; now: {fallen.current.content}"
    return f"no longer true: {fallen.text}{now}"


def tells_only_what_has_ended(memory: Memory, moment: datetime) -> bool:
    """Whether a memory says nothing but what was foreseen, all of which is over at that moment."""
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
"""Tokens up to which a turn is quoted whole, and a fact beside it that has no word of its own says
nothing more.
"""

LEAST_SHARED = 0.75
"""The part of its words that a turn has which tells a fact without a slot."""


@dataclass(frozen=True, slots=True)
class QuotableMemory:
    """A memory on its way into a context. priority: how much it is wanted there. relevance:
    how much of the query it answers.
    """

    memory: Memory
    priority: float
    relevance: float = 0.0

    @property
    def cell(self) -> str:
        """The id of the cell that it came from, its own for what came from none."""
        return self.memory.cell_id or self.memory.id

    @property
    def is_story(self) -> bool:
        """Whether it was formed of a whole cell."""
        return self.memory.category in STORIES

    @property
    def is_message(self) -> bool:
        """Whether it is one turn of a conversation that was told."""
        return self.memory.category == MESSAGE


def choose_quotations(quotations: Iterable[QuotableMemory]) -> list[QuotableMemory]:
    """The found memories without those that others tell better; the best first, as they came."""
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

    return [quotation for quotation in ordered if is_quoted(quotation)]


def said_by_turn(fact: Memory, turns: Iterable[QuotableMemory]) -> bool:
    """Whether the turns of its cell say what an undisputed fact says.

    That is, a short turn has all words of the fact, or, where the fact fills no slot, any turn
    three quarters of them: such a fact is a sentence of one of these turns in the third person,
    whose words are put another way in places.
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
    quotations: Iterable[QuotableMemory], fallen: Mapping[str, Sequence[Fallen]]
) -> dict[str, tuple[Fallen, ...]]:
    """By the id of a turn, the superseded facts of its cell that it told.

    A fact counts as told by the turn that shares most of its words.

    Args:
        quotations: What is to be quoted.
        fallen: By the id of a cell, its superseded facts.

    """
    turns: dict[str, list[QuotableMemory]] = {}
    for quotation in quotations:
        if quotation.is_message and quotation.cell in fallen:
            turns.setdefault(quotation.cell, []).append(quotation)
    facts_by_turn: dict[str, tuple[Fallen, ...]] = {}
    for cell, of_cell in turns.items():
        words = {turn.memory.id: set(tokens(turn.memory.content)) for turn in of_cell}
        for fact in fallen[cell]:
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
"""Open conflicts of one memory that are told, the latest."""
MOST_TOKENS = 30
"""Tokens of the other side that are told."""


async def open_conflict_lines(
    store: LongTermStore, owner: Owner, memories: Iterable[Memory], moment: datetime
) -> dict[str, tuple[str, ...]]:
    """By the id of a memory that is in an open conflict, a line for each memory on its other side,
    dated as at `moment`.
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
    sides = {
        side
        for record in records.values()
        if record.status == "pending"
        for side in (record.old_id, record.new_id)
        if side
    }
    read, _ = readable_shown(await store.memories(owner, sorted(sides)) if sides else {})
    return {
        name: tuple(
            _line(other, moment)
            for conflict_id in conflict_ids
            if (record := records.get(conflict_id)) is not None
            and record.status == "pending"
            and (other := read.get(record.new_id or "" if record.old_id == name else record.old_id))
            is not None
            and other.status in FOUND_BY_DEFAULT
            and other.searchable
        )
        for name, conflict_ids in in_conflict.items()
    }


def _line(other: Memory, moment: datetime) -> str:
    day = shown_at(other.event_timestamp, moment).date().isoformat()
    return f"in conflict with what was said on {day}: {excerpt(other.content, (), MOST_TOKENS)}"
