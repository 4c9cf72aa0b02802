"""Gather quotations for a context: the hits of all rounds and the turns around them.

With the hits come the facts of theirs that were superseded.

    relevance of the best                                    what is quoted
    ≥ the answer threshold                                   everything down to the floor, as the
                                                             budget allows
    ≥ NEAR of it, and the query is a question, alone or      the same, marked as perhaps
    with one more sentence
    ≥ the floor                                              the first few, marked as perhaps
    below                                                    nothing

The floor is `FLOOR` of the answer threshold, or the caller's `similarity_threshold`. Note: not
only the results that a retrieve shows. A budget of tokens decides here, and no number of results;
and where nothing surely answers, a retrieve has none at all.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_core.domain.event_log import base_id
from memory_core.domain.memory import Memory
from memory_core.domain.messages import is_message, is_system_message
from memory_core.domain.ranking.questions import asks_of_assistant
from memory_core.domain.ranking.selection import Grant, Piece
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.sentences import Sentence, sentences
from memory_core.ledger.readable import readable_shown
from memory_core.ports import LongTermStore
from memory_core.recollection.candidate_sources import EMBEDDER
from memory_core.recollection.passing_rows import NEAR
from memory_core.recollection.query_round import QueryRound
from memory_core.recollection.quotations import (
    QuotableMemory,
    choose_quotations,
    is_by_assistant,
    open_conflict_lines,
    piece,
    said_by,
    says_nothing,
    superseded_facts_by_turn,
    tells_only_what_has_ended,
    text_for,
)
from memory_core.recollection.reorder import (
    RERANKER,
    asks_of_the_future,
    put_present_before_announced,
)
from memory_core.recollection.result_marks import later_messages
from memory_core.recollection.retrieve import Retriever
from memory_core.recollection.superseded_facts import SupersededFact, find_superseded_facts
from memory_core.recollection.surroundings import Surroundings
from memory_core.recollection.untold import Untold

LATER = 0.9
"""The weight of a rewritten query's hit beside a hit of the query that was asked."""
MOST_UNTOLD = 64
"""The most messages below the floor that are read because they may replace a hit."""
MOST_FOUND = 200
"""The most hits of a round that are read."""
_QUESTION = re.compile(
    r"\W{0,9}(?:what|when|where|which|who|whom|whose|why|how|was|wann|wo|welche[rsnm]?|wer|wen|wem"
    r"|warum|wie)\b",
    re.IGNORECASE,
)
"""The beginning of a question that is typed without its mark."""
_REQUEST = re.compile(
    r"\b(?:find|get|give|help|let|make|send|show|teach|tell|write) me\b", re.IGNORECASE
)
_ABOUT_PERSON = re.compile(
    r"(?i:\b(?:i|me|my|mine|myself|we|us|ours?|he|him|his|she|hers?|they|them|theirs?|yours?"
    r"|did you|you (?:mentioned|recommended|said|suggested|told)"
    r"|ich|mi[cr]h?|mein\w{0,2}|wir|uns|unser\w{0,2}|er|ih[mn]|sein\w{0,2}|sie|ihr\w{0,2})\b)"
    r"|(?<=[\w,;:'’)] )(?!I\b)[A-Z]\w*[a-z]|[\u79c1\u50d5\u4ffa\u5f7c]"
)
"""A person or a name.

"Is a tomato a fruit?" asks for no memory, "Where did Ana eat?" does. Of the questions of three sets
13 of 1,324 are about no person.
"""
TENTH = 9
LEAST_STORY, STORY_SAID = 5, 0.75
"""The least number of a story's terms, and the share of them that the caller's texts must have.

The share is below 1 because a story has words of its own ("is planning").
"""
_TELLS = frozenset(tokens("User's Assistant said asked"))
"""Terms by which formed text names its speaker."""
FAR = 0.1
"""The relevance below which no memory is even near to the text."""
FLOOR = 0.4
"""The part of the answer threshold below which a memory is far from the query: .16 of .4."""


@dataclass(slots=True)
class Rounds:
    """The findings of the rounds so far.

    Attributes:
        looks: The rounds.
        asked: Their queries.
        hits: The hits by memory id.
        grant: The highest grant that a round's best hit has earned.
        most: The highest grant that any hit may earn.
        unsaid: Texts that are not to be quoted, `normalised`.
        terms_of_unsaid: The terms of these texts.
        rests: The hits that are quoted only with what no turn may tell (`Untold`).

    """

    looks: list[QueryRound] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    hits: dict[str, QuotableMemory] = field(default_factory=dict)
    grant: Grant = Grant.PERHAPS
    most: Grant = Grant.SURE
    unsaid: frozenset[str] = frozenset()
    terms_of_unsaid: frozenset[str] = frozenset()
    rests: frozenset[str] = frozenset()

    def add(
        self, query: str, look: QueryRound, hits: Sequence[QuotableMemory], grant: Grant
    ) -> None:
        """Add a round.

        Hits that are only perhaps related are dropped when a round finds nearer hits, and are not
        added after such a round.

        Args:
            query: The query of the round.
            look: The round.
            hits: Its hits.
            grant: The grant that its best hit has earned.

        """
        grant = min(grant, self.most)
        self.looks.append(look)
        self.asked.append(query)
        if grant > Grant.PERHAPS and self.grant is Grant.PERHAPS:
            self.hits.clear()
        if grant > Grant.PERHAPS or self.grant is Grant.PERHAPS:
            for hit in hits:
                earlier = self.hits.get(hit.memory.id)
                if earlier is None or earlier.priority < hit.priority:
                    self.hits[hit.memory.id] = hit
        self.grant = max(self.grant, grant)

    def has_said(self, memory: Memory) -> bool:
        """Whether the caller's own texts already say a memory.

        They have to say all of a fact, and nearly all of a story that was formed.
        """
        if not self.unsaid:
            return False
        if normalised(memory.content) in self.unsaid:
            return True
        is_story = QuotableMemory(memory, 0.0).is_story
        if not is_story and (memory.cell_id is None or is_message(memory.id)):
            return False
        terms = set(tokens(text_for(memory, ()) if is_story else memory.content)) - _TELLS
        least = STORY_SAID if is_story else 1.0
        return len(terms) >= LEAST_STORY and len(terms & self.terms_of_unsaid) >= least * len(terms)

    @property
    def lead(self) -> dict[str, float]:
        """By memory, how far its relevance is above that of the tenth best.

        Empty if no memory surely answers.
        """
        if self.grant is not Grant.SURE:
            return {}
        ranked = sorted((hit.relevance for hit in self.hits.values()), reverse=True)
        rest = ranked[TENTH] if len(ranked) > TENTH else 0.0
        return {name: hit.relevance - rest for name, hit in self.hits.items()}

    @property
    def terms(self) -> frozenset[str]:
        """The terms of all queries."""
        return frozenset(term for look in self.looks for term in look.analysis.terms)


class Gatherer:
    """Gathers hits for any owner."""

    def __init__(
        self, store: LongTermStore, retriever: Retriever, surroundings: Surroundings
    ) -> None:
        self._store, self._retriever, self._surroundings, self._untold = (
            store,
            retriever,
            surroundings,
            Untold(store),
        )

    async def look(self, owner: Owner, query: RetrieveInput, rounds: Rounds) -> QueryRound:
        """Run a single round, and keep every hit over the floor.

        A memory that tells only of ended foresight is left out of the round's results.

        Args:
            owner: Whose memories are searched.
            query: The query of this round.
            rounds: The findings so far; the round is added to them.

        Raises:
            Unavailable: The long-term store is down.
            EmbeddingMismatch: The embedder does not fit the stored vectors.

        """
        silent = (
            {EMBEDDER, RERANKER}.intersection(rounds.looks[-1].degraded) if rounds.looks else ()
        )
        look = await self._retriever.candidates.look(owner, query, without=silent)
        answer, _ = self._retriever.passing.thresholds(query)
        floor = FLOOR * answer if query.similarity_threshold is None else query.similarity_threshold
        rows = self._retriever.passing.over(query, look, floor)[:MOST_FOUND]
        memories, _ = readable_shown(
            await self._retriever.row_memories.read_memories(owner, look, rows)
        )
        ended = frozenset(
            name
            for name, memory in memories.items()
            if tells_only_what_has_ended(memory, look.moment)
        )
        worth = 1.0 if not rounds.looks else LATER
        hits = [
            QuotableMemory(memory, worth * float(look.order[row]), float(look.relevant.score[row]))
            for row in rows
            if (memory := memories.get(name := look.candidates.ids[row])) is not None
            and name not in ended
            and name not in look.left_out
            and not rounds.has_said(memory)
            and not is_system_message(memory)
            and (look.has_all_terms(row) or not says_nothing(memory))
        ]
        rounds.add(
            query.query,
            look,
            hits,
            grant_for(query, answer, max((hit.relevance for hit in hits), default=0.0)),
        )
        return replace(look, left_out=ended | look.left_out)

    async def nearest(self, owner: Owner, text: str) -> list[tuple[Memory, float]]:
        """Find the memories nearest to a text, best first.

        Each comes with its relevance as a part of the answer threshold. No access is noted.

        Args:
            owner: Whose memories are searched.
            text: The text.

        Raises:
            Unavailable: The long-term store is down.
            EmbeddingMismatch: The embedder does not fit the stored vectors.

        """
        query = RetrieveInput(
            query=text, mode="reconstruct", include_decayed=True, similarity_threshold=FAR
        )
        rounds = Rounds()
        await self.look(owner, query, rounds)
        answer, _ = self._retriever.passing.thresholds(query)
        hits = sorted(rounds.hits.values(), key=lambda hit: -hit.relevance)
        return [(hit.memory, hit.relevance / answer if answer else 1.0) for hit in hits]

    async def pieces(self, owner: Owner, rounds: Rounds) -> list[Piece]:
        """Make the pieces of all hits and their neighbours, ready for a context.

        Neighbours come only if a hit is more than perhaps related.

        Args:
            owner: Whose memories are quoted.
            rounds: The findings.

        Raises:
            Unavailable: The long-term store is down.

        """
        if not rounds.hits:
            return []
        look = rounds.looks[0]
        best_first = sorted(rounds.hits.values(), key=lambda hit: -hit.priority)
        if not asks_of_the_future(rounds.asked[0]):
            best_first = _present_first(best_first, look.moment)
        of_turns = {hit.cell for hit in best_first if hit.is_message}
        left = await self._untold.left_of_requests(
            owner,
            look.search_answer.head,
            (hit.cell for hit in best_first if hit.is_story and hit.cell in of_turns),
        )
        hits = choose_quotations(best_first, left)
        rounds.rests = frozenset(hit.memory.id for hit in hits if hit.memory is left.get(hit.cell))
        quotations = list(hits)
        if rounds.grant > Grant.PERHAPS and look.is_search:
            beside = await self._surroundings.beside(
                owner, look.search_answer.head, look.where, hits
            )
            stories = {hit.cell for hit in hits if hit.is_story}
            silenced = await self._untold.among(
                owner, look.search_answer.head, (neighbour.memory for neighbour in beside)
            )
            quotations += [
                neighbour
                for neighbour in beside
                if not (
                    neighbour.cell in stories
                    or neighbour.memory.id in silenced
                    or rounds.has_said(neighbour.memory)
                    or is_system_message(neighbour.memory)
                    or says_nothing(neighbour.memory)
                )
            ]
        superseded = await self.superseded_facts(owner, quotations, look.moment)
        conflicts = await open_conflict_lines(
            self._store,
            owner,
            (quotation.memory for quotation in quotations),
            look.moment,
            look.where.without_session_id,
        )
        pieces = await asyncio.to_thread(_pieces, quotations, superseded, conflicts, rounds)
        asked_for = _asked_for(hits, rounds)
        return [
            replace(quoted, is_asked_for=True) if quoted.id == asked_for else quoted
            for quoted in pieces
        ]

    async def untold_pieces(self, owner: Owner, rounds: Rounds) -> list[Piece]:
        """Make pieces of unquoted candidates that may say a hit holds no more.

        They are messages of people, said after the first hit, and the most relevant of them: "the
        Golf is gone" need not have a word of a question about the car.

        Args:
            owner: Whose memories they are.
            rounds: The findings.

        Raises:
            Unavailable: The long-term store is down.

        """
        if not rounds.hits:
            return []
        look = rounds.looks[0]
        first = min(hit.memory.event_timestamp for hit in rounds.hits.values()).timestamp()
        rows = later_messages(look, first, rounds.hits, MOST_UNTOLD)
        memories, _ = readable_shown(
            await self._retriever.row_memories.read_memories(owner, look, rows)
        )
        pieces = (
            piece(memory, priority=0.0, superseded=(), terms=(), moment=look.moment)
            for memory in memories.values()
            if said_by(memory) is not None
        )
        return [untold for untold in pieces if untold is not None]

    def note(self, owner: Owner, rounds: Rounds, quoted_ids: Collection[str]) -> None:
        """Note the hits that a context tells as accesses, with the cells of turns.

        No access is noted if no memory comes near the query.

        Args:
            owner: Whose memories they are.
            rounds: The findings.
            quoted_ids: The ids of the memories that the context tells.

        """
        if rounds.grant is Grant.PERHAPS:
            return
        names = set(quoted_ids)
        hits = [hit for hit in rounds.hits.values() if base_id(hit.memory.id) in names]
        first, accessed = rounds.looks[0], list[str]()
        faded = list[str]()
        for hit in hits:
            with_cell = [hit.memory.id, hit.cell] if hit.is_message else [hit.memory.id]
            accessed += with_cell
            faded += with_cell if first.where.has_faded(hit.memory) else []
        self._retriever.note_accesses(owner, accessed, first.now, faded)

    async def superseded_facts(
        self, owner: Owner, quotations: Sequence[QuotableMemory], moment: datetime
    ) -> Mapping[str, tuple[SupersededFact, ...]]:
        """Return the superseded facts that each quotation tells.

        A note and a turn tell the facts of their cell.

        Args:
            owner: Whose memories are quoted.
            quotations: The memories to quote.
            moment: The time at which the facts no longer hold.

        Returns:
            The superseded facts by the id of the memory that tells them.

        Raises:
            Unavailable: The long-term store is down.

        """
        known = {quotation.memory.id: quotation.memory for quotation in quotations}
        missing = sorted(
            {
                quotation.cell
                for quotation in quotations
                if quotation.is_story or quotation.is_message
            }
            - known.keys()
        )
        read, _ = readable_shown(await self._store.memories(owner, missing) if missing else {})
        tellers: dict[str, Memory] = known | read
        facts = await find_superseded_facts(
            self._store,
            owner,
            {
                name: SerializedMemory.of(memory)
                for name, memory in tellers.items()
                if any(fact.superseded_by for fact in memory.atomic_facts)
            },
            moment,
        )
        by_memory = facts.by_memory
        notes = {
            quotation.memory.id: by_memory[quotation.cell]
            for quotation in quotations
            if quotation.memory.category == "note" and quotation.cell in by_memory
        }
        return {**by_memory, **notes, **superseded_facts_by_turn(quotations, by_memory)}


def grant_for(query: RetrieveInput, answer: float, best: float) -> Grant:
    """Return the grant that a query has earned by its best hit.

    If the caller names a threshold, a question gets no lower threshold.

    Args:
        query: The query.
        answer: The answer threshold.
        best: The relevance of the best hit.

    """
    if best >= answer:
        return Grant.SURE
    named = query.answer_threshold is not None or query.similarity_threshold is not None
    query_sentences = sentences(query.query)
    asked = len(query_sentences) <= 2 and any(
        _asks_about_person(sentence) for sentence in query_sentences
    )
    return Grant.NEAR if asked and not named and best >= NEAR * answer else Grant.PERHAPS


def _asks_about_person(sentence: Sentence) -> bool:
    asks = sentence.asks or _QUESTION.match(sentence.text) is not None
    return asks and _ABOUT_PERSON.search(_REQUEST.sub("", sentence.text)) is not None


def _asked_for(hits: Sequence[QuotableMemory], rounds: Rounds) -> str | None:
    """Return the id of an assistant's best turn if the query asks for it.

    None for other queries. The hits come best first.
    """
    if rounds.grant is Grant.PERHAPS or not asks_of_assistant(rounds.asked[0]):
        return None
    return next((hit.memory.id for hit in hits if is_by_assistant(hit.memory)), None)


def _present_first(best_first: Sequence[QuotableMemory], moment: datetime) -> list[QuotableMemory]:
    """Hand out the priorities again: what holds comes before what is announced of its slot."""
    memories = {row: hit.memory for row, hit in enumerate(best_first)}
    order = put_present_before_announced(range(len(best_first)), memories, moment)
    return [
        replace(best_first[row], priority=hit.priority)
        for row, hit in zip(order, best_first, strict=True)
    ]


def _pieces(
    quotations: Sequence[QuotableMemory],
    superseded: Mapping[str, tuple[SupersededFact, ...]],
    conflicts: Mapping[str, tuple[str, ...]],
    rounds: Rounds,
) -> list[Piece]:
    moment, terms = rounds.looks[0].moment, rounds.terms
    pieces = (
        piece(
            quotation.memory,
            priority=quotation.priority,
            superseded=superseded.get(quotation.memory.id, ()),
            terms=terms,
            moment=moment,
        )
        for quotation in quotations
    )
    return [
        replace(quoted, notes=(*quoted.notes, *conflicts.get(quoted.id, ())))
        for quoted in pieces
        if quoted is not None
    ]
