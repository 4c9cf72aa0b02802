"""Retrieve by reconstructing: gather quotations in rounds.

Widely found candidates → the turns around the best → quotations within a budget of tokens → is that
enough? → at most two more rounds with a rewritten query. Design: EverMemOS, reconstructive
recollection. Note: the context holds every hit that fits, not the ten results alone; and where
nothing surely answers it has the first few, though there are no results.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_core.domain.agent_schemas import Sufficiency
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.domain.event_log import base_id
from memory_core.domain.fields import DEFAULT_MAX_TOKENS
from memory_core.domain.memory import Memory
from memory_core.domain.messages import is_instruction, is_message
from memory_core.domain.ranking.query import asks_of_assistant
from memory_core.domain.ranking.selection import Grant, Packed, Piece, packed
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Hit, Retrieved, SerializedMemory
from memory_core.domain.scope import Owner
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.sentences import Sentence, sentences
from memory_core.ledger.readable import readable_shown
from memory_core.ports import Agents, DecisionItem, LongTermStore
from memory_core.recollection.candidate_sources import EMBEDDER
from memory_core.recollection.passing_rows import NEAR
from memory_core.recollection.quotations import (
    QuotableMemory,
    Surroundings,
    Untold,
    choose_quotations,
    is_by_assistant,
    open_conflict_lines,
    piece,
    superseded_facts_by_turn,
    tells_only_what_has_ended,
    text_for,
)
from memory_core.recollection.reorder import RERANKER
from memory_core.recollection.results import QueryRound
from memory_core.recollection.retrieve import Retriever
from memory_core.recollection.superseded import Fallen, marked, stale_facts

log = logging.getLogger(__name__)
MOST_REWRITTEN = 2


class Reconstructor:
    """Answers queries for any owner with a context. rules: the agents that judge where
    `agents` fail.
    """

    def __init__(
        self, gatherer: Gatherer, retriever: Retriever, agents: Agents, rules: Agents
    ) -> None:
        self._gatherer, self._retriever, self._agents, self._rules = (
            gatherer,
            retriever,
            agents,
            rules,
        )

    async def reconstruct(self, owner: Owner, query: RetrieveInput) -> Retrieved:
        """Results as `retrieve` has them, of all rounds, and the context. Raises Unavailable,
        EmbeddingMismatch.
        """
        rounds, answers = Rounds(), list[Retrieved]()
        degraded: dict[str, None] = {}
        max_tokens = query.max_tokens or DEFAULT_MAX_TOKENS
        asking = query
        while True:
            look = await self._gatherer.look(owner, asking, rounds)
            answers.append(await self._retriever.answer(owner, asking, look))
            degraded |= dict.fromkeys(answers[-1].degraded)
            pieces = await self._gatherer.pieces(owner, rounds)
            context = await asyncio.to_thread(_pack, pieces, max_tokens, rounds)
            verdict = await self._judge(owner, rounds, context, degraded)
            again = verdict.rewritten
            if (
                verdict.sufficient
                or not again
                or again in rounds.asked
                or len(rounds.asked) > MOST_REWRITTEN
            ):
                break
            asking = query.asking(again)
        if query.at is None:
            noted = {
                name
                for answer in answers
                for hit in answer.results
                for name in (hit.memory.id, *(passage.message for passage in hit.passages))
            }
            self._gatherer.note(
                owner,
                rounds,
                [name for piece in context.pieces if (name := base_id(piece.id)) not in noted],
            )
        results = _without_ended_foresight(
            _best(answers, self._retriever.passing.limit(query)), look.moment
        )
        return Retrieved(
            results=results,
            as_of_sequence=answers[0].as_of_sequence,
            degraded=tuple(degraded),
            explain=answers[0].explain,
            context=context.text,
            citations=tuple(base_id(piece.id) for piece in context.pieces),
            rounds=len(rounds.asked),
            sufficient=verdict.sufficient,
            why=verdict.why,
            nearest=None if results else answers[0].nearest,
        )

    async def _judge(
        self, owner: Owner, rounds: Rounds, context: Packed, degraded: dict[str, None]
    ) -> Sufficiency:
        """What the agents say of the context, the best memories first; by rule where they can't."""
        numbered = sorted(enumerate(context.pieces, 1), key=lambda pair: -pair[1].priority)
        lead = rounds.lead
        items = [
            DecisionItem(number, "\n".join(piece.lines), None, piece.at, lead=lead.get(piece.id))
            for number, piece in numbered
        ]
        ask = owner, rounds.asked[0], tuple(rounds.asked), items
        try:
            return (await self._agents.judge_sufficiency(*ask)).value
        except (Unavailable, AgentFailed) as error:
            log.warning("the rules judge whether an answer is sufficient: %s", error.detail)
            degraded["agents"] = None
            return (await self._rules.judge_sufficiency(*ask)).value


def _pack(pieces: Sequence[Piece], max_tokens: int, rounds: Rounds) -> Packed:
    return packed(marked(pieces, rounds.looks[0].moment), max_tokens, rounds.terms, rounds.grant)


def _best(answers: Sequence[Retrieved], limit: int) -> tuple[Hit, ...]:
    """The results of all rounds, by score; those of one round in its order, which a reranker,
    repeats and present truths decide as well.
    """
    if len(answers) == 1:
        return answers[0].results
    placed: list[tuple[float, Hit]] = []
    for answer in answers:
        placed += zip(
            sorted((hit.score for hit in answer.results), reverse=True), answer.results, strict=True
        )
    best: dict[str, Hit] = {}
    for _, hit in sorted(placed, key=lambda pair: -pair[0]):
        best.setdefault(hit.memory.id, hit)
    return tuple(
        hit._replace(rank=place) for place, hit in enumerate(list(best.values())[:limit], 1)
    )


def _without_ended_foresight(hits: Sequence[Hit], moment: datetime) -> tuple[Hit, ...]:
    """The results without foresight that has ended."""
    current: list[Hit] = []
    for hit in hits:
        memory = hit.memory
        standing = [
            foresight
            for foresight in memory.foresight
            if foresight.end_time is None or moment < foresight.end_time
        ]
        if len(standing) < len(memory.foresight):
            hit = hit._replace(serialized=SerializedMemory.of(memory.changed(foresight=standing)))
        current.append(hit)
    return tuple(current)


# From a query to quotations for a context.
#
# These are the hits of one round or several and what is beside them, with the facts of theirs that
# were superseded.
#
#     relevance of the best                                    what is quoted
#     ≥ the answer threshold                                   everything down to the floor, as the budget allows  # noqa: E501
#     ≥ NEAR of it, and the query is a question, alone or      the same, marked as perhaps
#     with one more sentence
#     ≥ the floor                                              the first few, marked as perhaps
#     below                                                    nothing
#
# The floor is `FLOOR` of the answer threshold, or the caller's `similarity_threshold`. Note: not
# only the results that a retrieve shows. A budget of tokens decides here, and no number of results;
# and where nothing surely answers, a retrieve has none at all.


LATER = 0.9
"""What a hit of a rewritten query is worth beside one of the query itself, which is
what was asked.
"""
MOST_FOUND = 200
"""Hits of one round that are read."""
_QUESTION = re.compile(
    r"\W{0,9}(?:what|when|where|which|who|whom|whose|why|how|was|wann|wo|welche[rsnm]?|wer|wen|wem"
    r"|warum|wie)\b",
    re.IGNORECASE,
)
"""How a question begins that is typed without its mark."""
_REQUEST = re.compile(
    r"\b(?:find|get|give|help|let|make|send|show|teach|tell|write) me\b", re.IGNORECASE
)
_ABOUT_PERSON = re.compile(
    r"(?i:\b(?:i|me|my|mine|myself|we|us|ours?|he|him|his|she|hers?|they|them|theirs?|yours?"
    r"|did you|you (?:mentioned|recommended|said|suggested|told)"
    r"|ich|mi[cr]h?|mein\w{0,2}|wir|uns|unser\w{0,2}|er|ih[mn]|sein\w{0,2}|sie|ihr\w{0,2})\b)"
    r"|(?<=[\w,;:'’)] )(?!I\b)[A-Z]\w*[a-z]|[\u79c1\u50d5\u4ffa\u5f7c]"
)
"""A person, or a name: "Is a tomato a fruit?" asks nothing of a memory, "What did Ana eat?" does.
Of the questions of three sets 13 of 1,324 are about no person.
"""
TENTH = 9
LEAST_STORY, STORY_SAID = 5, 0.75
"""Terms that a story has at least, and the share of them by which it tells what the asker said: it
has words of its own ("is planning").
"""
_TELLS = frozenset(tokens("User's Assistant said asked"))
"""Terms by which formed text says who told it."""
FAR = 0.1
"""The relevance below which nothing is even near to what is named."""
FLOOR = 0.4
"""The part of the answer threshold below which a memory is far from the query:
.16 where that is .4.
"""


@dataclass(slots=True)
class Rounds:
    """What the rounds so far have found. looks: of each; asked: their queries; found:
    the hits by memory id.

    grant: the most that a round's best hit has earned. most: what any may earn. unsaid: texts that
    are not to be quoted, `normalised`. terms_of_unsaid: the terms of these texts.
    """

    looks: list[QueryRound] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    hits: dict[str, QuotableMemory] = field(default_factory=dict)
    grant: Grant = Grant.PERHAPS
    most: Grant = Grant.SURE
    unsaid: frozenset[str] = frozenset()
    terms_of_unsaid: frozenset[str] = frozenset()

    def add(
        self, query: str, look: QueryRound, hits: Sequence[QuotableMemory], grant: Grant
    ) -> None:
        """One more round. What is only perhaps related is forgotten once something is nearer,
        and not added to that.
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
        """Whether the asker has the words of a memory already; of a story that was formed nearly
        all that it says, of a fact all.
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
        """By memory, how far its relevance is above that of the tenth best; nothing where nothing
        surely answers.
        """
        if self.grant is not Grant.SURE:
            return {}
        ranked = sorted((hit.relevance for hit in self.hits.values()), reverse=True)
        rest = ranked[TENTH] if len(ranked) > TENTH else 0.0
        return {name: hit.relevance - rest for name, hit in self.hits.items()}

    @property
    def terms(self) -> frozenset[str]:
        """Of all queries."""
        return frozenset(term for look in self.looks for term in look.analysis.terms)


class Gatherer:
    """Gathers for any owner."""

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
        """One round: look, and keep every hit over the floor. What tells only of what has ended is
        left out of the look's results.
        """
        silent = (
            {EMBEDDER, RERANKER}.intersection(rounds.looks[-1].degraded) if rounds.looks else ()
        )
        look = await self._retriever.look(owner, query, without=silent)
        answer, _ = self._retriever.passing.thresholds(query)
        floor = FLOOR * answer if query.similarity_threshold is None else query.similarity_threshold
        rows = self._retriever.passing.over(query, look, floor)[:MOST_FOUND]
        memories, _ = readable_shown(await self._retriever.read_memories(owner, look, rows))
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
            and not is_instruction(memory)
        ]
        rounds.add(
            query.query,
            look,
            hits,
            grant_for(query, answer, max((hit.relevance for hit in hits), default=0.0)),
        )
        return replace(look, left_out=ended | look.left_out)

    async def nearest(self, owner: Owner, text: str) -> list[tuple[Memory, float]]:
        """What a text finds, best first, each with its relevance as a part of the answer threshold.
        Nothing is noted as an access.
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
        """All hits, and the neighbours of what answers, ready to be packed into a context."""
        hits = choose_quotations(sorted(rounds.hits.values(), key=lambda hit: -hit.priority))
        if not hits:
            return []
        look = rounds.looks[0]
        quotations = list(hits)
        if rounds.grant > Grant.PERHAPS:
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
                    or is_instruction(neighbour.memory)
                )
            ]
        fallen = await self.fallen(owner, quotations, look.moment)
        conflicts = await open_conflict_lines(
            self._store, owner, (quotation.memory for quotation in quotations), look.moment
        )
        pieces = await asyncio.to_thread(_pieces, quotations, fallen, conflicts, rounds)
        asked_for = _asked_for(hits, rounds)
        return [
            replace(quoted, is_asked_for=True) if quoted.id == asked_for else quoted
            for quoted in pieces
        ]

    def note(self, owner: Owner, rounds: Rounds, quoted_ids: Collection[str]) -> None:
        """Note as accesses the hits that a context tells, with the cells of turns;
        none where nothing comes near the query.
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

    async def fallen(
        self, owner: Owner, quotations: Sequence[QuotableMemory], moment: datetime
    ) -> Mapping[str, tuple[Fallen, ...]]:
        """By memory, superseded facts that it tells; a note and a turn tell their cell's."""
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
        stale = await stale_facts(
            self._store,
            owner,
            {
                name: SerializedMemory.of(memory)
                for name, memory in tellers.items()
                if memory.atomic_facts
            },
            moment,
        )
        notes = {
            quotation.memory.id: stale[quotation.cell]
            for quotation in quotations
            if quotation.memory.category == "note" and quotation.cell in stale
        }
        return {**stale, **notes, **superseded_facts_by_turn(quotations, stale)}


def grant_for(query: RetrieveInput, answer: float, best: float) -> Grant:
    """What a query has earned by its best hit; a threshold that the caller names is
    meant as it is.
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
    """The id of the best turn of an assistant where that is what the query asks for; None for other
    queries. hits: the best first.
    """
    if rounds.grant is Grant.PERHAPS or not asks_of_assistant(rounds.asked[0]):
        return None
    return next((hit.memory.id for hit in hits if is_by_assistant(hit.memory)), None)


def _pieces(
    quotations: Sequence[QuotableMemory],
    fallen: Mapping[str, tuple[Fallen, ...]],
    conflicts: Mapping[str, tuple[str, ...]],
    rounds: Rounds,
) -> list[Piece]:
    moment, terms = rounds.looks[0].moment, rounds.terms
    pieces = (
        piece(
            quotation.memory,
            priority=quotation.priority,
            fallen=fallen.get(quotation.memory.id, ()),
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
