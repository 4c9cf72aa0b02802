"""All that is known of a person, as a round, the most important first.

No memory is compared with the query. What is known are the facts that hold, and what the person's
own messages state that is durable and of which no fact was formed. Their order is the profile's
(`place_of`): a name and an allergy, then a home, then a taste.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

import numpy as np

from memory_core.domain.conversation import Message
from memory_core.domain.fields import local
from memory_core.domain.memory import Head, Memory, MemoryType, Status
from memory_core.domain.messages import MESSAGE
from memory_core.domain.profile import place_of
from memory_core.domain.ranking.candidates import (
    CandidateSet,
    Floats,
    Statistics,
    from_memories,
    joined,
)
from memory_core.domain.ranking.index_terms import analyse
from memory_core.domain.ranking.query_parts import PartsRelevance, query_parts_of
from memory_core.domain.ranking.recipes import ScoringParameters, score
from memory_core.domain.ranking.relevance import Relevance
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.scope import Owner
from memory_core.domain.statements.durability import durability
from memory_core.domain.statements.provenance import is_text_to_work_on, own_words
from memory_core.domain.statements.wishes import said_wishes
from memory_core.domain.text.analyzer import has_japanese, tokens
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.sentences import sentences
from memory_core.ledger.ids import note_id
from memory_core.ledger.readable import readable, readable_shown
from memory_core.ports import Filter, Found, LongTermStore, Search
from memory_core.recollection.candidate_sources import MOST, ColdFound, ColdSearch, Zones
from memory_core.recollection.passing_rows import PassingRows
from memory_core.recollection.query_round import QueryRound
from memory_core.recollection.quotations import FACT, said_by

MOST_FACTS = 200
"""The most facts that are read, the newest; if there are more, as many of the oldest.

People introduce themselves first. Of a name, an allergy and a home that 350 facts followed, a
search for the words of the question found one, and none of those that 900 followed.
"""
MOST_MESSAGES = 200
"""The most messages that are read, the newest."""
MOST_CHARACTERS = 260
"""Characters of a message that states something by itself, at most."""
SURELY_DURABLE = 0.8
"""The probability that a sentence of a message must have.

Of sentences of authors whose own the model has not seen, 62 to 100 % that reach it are durable.
"""
TELLS_FACT = 0.5
"""The share of its words that a clause has of a fact that it tells, or the fact of the clause."""
_CLAUSES = re.compile(
    r"[,;、，]\s?(?:(?:and|but|und|aber)\s)?|\s(?:and|but|und|aber)\s", re.IGNORECASE
)
_SUPPOSES = re.compile(
    r"\b(?:if|suppose|imagine|wenn|falls)\b[^.!?]{0,200}?"
    r"(?:['’]d|\b(?:would|could|might|würden?|wär\w{0,2}|hätten?|könnten?))\b|もし",
    re.IGNORECASE,
)
"""What is said of another world: "If I lived in Tokyo I'd …", not "If I eat nuts my throat …"."""
_OBJECT = re.compile(r"(?:mein|unser)e[mnr]\b", re.IGNORECASE)
"""The beginning of a clause that is the end of another: "… und unseren Kindern in Kassel"."""
_USER = frozenset(tokens("User's"))


class Overview:
    """Reads all that is known, for any owner."""

    def __init__(
        self,
        store: LongTermStore,
        cold: ColdSearch,
        passing: PassingRows,
        scoring: ScoringParameters,
    ) -> None:
        self._store, self._cold, self._zones = store, cold, Zones(store)
        self._passing, self._scoring = passing, scoring

    async def look(
        self, owner: Owner, query: RetrieveInput, where: Filter, now: datetime
    ) -> QueryRound:
        """Return a round of which every candidate answers, in the order of its importance.

        It costs two bounded pages, a third where there are many facts, and a read of the cells of
        messages. Facts of the archive come last, if the query includes it.

        Args:
            owner: Whose memories are read.
            query: The query, with its limits.
            where: The filter of the query.
            now: The time of the call.

        Raises:
            Unavailable: The long-term store is down.

        """
        (zone, head), facts, messages = await asyncio.gather(
            self._zones.with_head(owner, query.time_zone),
            self._facts(owner, where),
            self._messages(owner, where),
        )
        known = _in_order(_of_life([*facts, *messages], head))
        moment = local(query.at or now, zone)
        search = Search(None, (), MOST, where)
        cold = await self._archived(owner, search) if query.include_archived and head else None
        candidates = _each_for_itself(known, where)
        if cold is not None:
            candidates = joined(candidates, cold.candidates)
        relevance = np.full(len(candidates), self._passing.thresholds(query)[0])
        order = np.arange(len(candidates), 0, -1, dtype=np.float64)
        return QueryRound(
            query_parts_of("", moment),
            (),
            where,
            now,
            moment,
            Found(head, candidates, Statistics(len(known), 0.0, {})),
            candidates,
            _judged(relevance, order),
            score(
                query.recipe,
                query.weights,
                relevance,
                candidates,
                moment.timestamp(),
                self._scoring,
            ),
            order,
            frozenset(),
            frozenset() if cold is None else cold.ids,
            () if cold is None else cold.degraded,
        )

    async def _facts(self, owner: Owner, where: Filter) -> list[Memory]:
        """Return the newest facts, and the oldest, without the notes of cells."""
        newest = await self._page(owner, where, MemoryType.SEMANTIC, MOST_FACTS)
        oldest = (
            await self._page(owner, where, MemoryType.SEMANTIC, MOST_FACTS, newest_first=False)
            if len(newest) == MOST_FACTS
            else []
        )
        facts = {fact.id: fact for fact in (*newest, *oldest)}
        return [fact for fact in facts.values() if fact.id != note_id(fact.cell_id or "")]

    async def _messages(self, owner: Owner, where: Filter) -> list[Memory]:
        """Return what the newest messages state of which no fact was formed."""
        if where.categories and MESSAGE not in where.categories:
            return []
        where = replace(where, categories=frozenset({MESSAGE}))
        messages = await self._page(owner, where, MemoryType.EPISODIC, MOST_MESSAGES)
        stated = await asyncio.to_thread(
            lambda: [message for message in messages if _states_something_durable(message)]
        )
        names = sorted({message.cell_id for message in stated if message.cell_id is not None})
        cells, _ = readable_shown(await self._store.memories(owner, names) if names else {})
        return await asyncio.to_thread(_without_facts, stated, cells)

    async def _page(
        self,
        owner: Owner,
        where: Filter,
        kind: MemoryType,
        limit: int,
        *,
        newest_first: bool = True,
    ) -> list[Memory]:
        """Return the newest or oldest searchable memories of a type, if the filter allows it."""
        if where.types and kind.value not in where.types:
            return []
        where = replace(where, types=frozenset({kind.value}))
        memories, _ = readable(
            await self._store.page(owner, "memory", where, None, limit, newest_first=newest_first)
        )
        return memories

    async def _archived(self, owner: Owner, search: Search) -> ColdFound:
        """Return the newest facts of the archive."""
        where = replace(search.where, statuses=frozenset({Status.ARCHIVED.value}))
        stubs = await self._page(owner, where, MemoryType.SEMANTIC, MOST)
        return await self._cold.fetch(
            owner, [stub for stub in stubs if stub.category == FACT], search
        )


def _of_life(memories: Iterable[Memory], head: Head | None) -> list[Memory]:
    """Return the searchable memories of the owner's present life; none for an unknown owner."""
    return [
        memory
        for memory in memories
        if head is not None and memory.epoch == head.epoch and memory.searchable
    ]


def _each_for_itself(known: list[Memory], where: Filter) -> CandidateSet:
    """Return memories as candidates that belong to no cell, with what is shown of each."""
    candidates = from_memories(known, (), None, faded=where.has_faded)
    candidates.cell = [None] * len(known)
    candidates.memories = {memory.id: memory for memory in known}
    return candidates


def _judged(relevance: Floats, order: Floats) -> PartsRelevance:
    """Return the verdict that gives all candidates this relevance."""
    nothing = np.zeros(len(relevance))
    return PartsRelevance(
        Relevance(relevance, nothing, np.full(len(relevance), np.nan), {}),
        nothing.astype(np.int64),
        order,
    )


def _in_order(memories: Iterable[Memory]) -> list[Memory]:
    """Return the memories, the most important first, each text once."""
    by_text = dict[str, Memory]()
    for memory in sorted(memories, key=place_of):
        by_text.setdefault(normalised(memory.content), memory)
    return list(by_text.values())


def _states_something_durable(message: Memory) -> bool:
    """Whether a message is the user's own, about the user, and surely durable.

    Not so a message that asks, wishes, supposes or has a text to work on, nor one of a day or an
    hour; words that it quotes do not count. A Japanese sentence about its speaker need not name
    them.
    """
    content, lexical = message.content, message.lexical
    return (
        len(content) <= MOST_CHARACTERS
        and not (lexical.asks or lexical.tells_time)
        and said_by(message) == ""
        and (bool(lexical.says_i) or has_japanese(content))
        and not is_text_to_work_on(content)
        and any(map(_is_durable, (sentence.text for sentence in sentences(own_words(content)))))
        and not said_wishes(
            [Message(role="user", content=content, timestamp=message.event_timestamp)]
        )
    )


def _without_facts(messages: Iterable[Memory], cells: Mapping[str, Memory]) -> list[Memory]:
    """Return what these messages say of which no fact was formed.

    Such a fact is told itself, or is over.
    """
    stated = list[Memory]()
    for message in messages:
        cell = cells.get(message.cell_id or "")
        number = message.metadata.get("message")
        facts = [
            frozenset(tokens(fact.text)) - _USER
            for fact in (() if cell is None else cell.atomic_facts)
            if fact.fact_id is not None and fact.message == number
        ]
        if text := _rest(message, facts):
            stated.append(message.changed(content=text))
    return stated


def _rest(message: Memory, facts: Collection[frozenset[str]]) -> str:
    """Return what is durable in a message beside its facts.

    A message without a fact is returned whole. A clause that tells a fact is left out, and so is
    a clause that does not name its speaker.

    Args:
        message: Of a person, durable as a whole.
        facts: The words of each fact that was formed of it.

    """
    if not facts:
        return message.content
    rest = list[str]()
    for sentence in sentences(message.content):
        clauses = [clause for clause in _CLAUSES.split(sentence.text) if clause.strip(" .!")]
        left = [clause for clause in clauses if not _tells(clause, facts)]
        rest += [sentence.text] if len(left) == len(clauses) else left
    return " ".join(
        part[:1].upper() + part[1:]
        for part in rest
        if _is_durable(part) and _is_about_its_speaker(part, message)
    )


def _is_durable(part: str) -> bool:
    """Whether a sentence or clause surely states something durable, and supposes nothing."""
    return (
        durability(part) >= SURELY_DURABLE
        and _SUPPOSES.search(part) is None
        and _OBJECT.match(part) is None
    )


def _tells(clause: str, facts: Iterable[frozenset[str]]) -> bool:
    """Whether a clause tells one of these facts, or has no word of its own."""
    words = frozenset(tokens(clause))
    return not words or any(
        len(words & fact) >= TELLS_FACT * min(len(words), len(fact)) for fact in facts if fact
    )


def _is_about_its_speaker(part: str, message: Memory) -> bool:
    analysed = analyse(part, actor=None, event_timestamp=message.event_timestamp)
    return bool(analysed.says_i) or has_japanese(part)
