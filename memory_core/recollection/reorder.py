"""Reorder ranked results: by a reranker, repeats behind, and present truths first.

Note: only the order changes. Relevance decided before which memories pass, and the scores that are
shown stay as they were. A reranker that is late changes no order, and the caller is told.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.domain.event_log import base_id
from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.ranking.candidates import CandidateSet, Floats
from memory_core.domain.ranking.repeats import Telling, likeness, repeats
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.sameness import names_in
from memory_core.domain.truth.slots import slot_name
from memory_core.ports import Reranker
from memory_core.recollection.query_round import QueryRound
from memory_core.recollection.row_memories import RowMemories
from memory_core.recollection.updates import asks_of_the_past

RERANKER = "reranker"
"""The name of the reranker in an answer that did without it."""
MOST_RERANKED = 50
"""The most rows that are reranked, the best, before the limit cuts any off."""
_STEP = 1e-9
CHARACTERS = 2_000
"""The characters of each text that are sent; rerankers mostly read 512 tokens."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reranking:
    """A reranker and its deadline in seconds."""

    reranker: Reranker
    deadline_s: float

    async def scores(self, owner: Owner, query: str, texts: Sequence[str]) -> list[float] | None:
        """Score how well each text answers; more is better.

        A single text is not sent.

        Args:
            owner: Whose memories the texts are.
            query: The query.
            texts: The texts, in the order of the scores.

        Returns:
            A score for each text; None if the reranker failed or was late.

        """
        if len(texts) < 2:
            return [0.0] * len(texts)
        try:
            async with asyncio.timeout(self.deadline_s):
                return await self.reranker.rerank(
                    owner, query, [text[:CHARACTERS] for text in texts]
                )
        except TimeoutError:
            log.warning("the reranker gave no answer within %g s", self.deadline_s)
        except (Unavailable, AgentFailed) as error:
            log.warning("going on without the reranker: %s", error.detail)
        return None


def reassign_order(order: Floats, rows: Sequence[int], scores: Sequence[float]) -> Floats:
    """Hand the numbers of some rows out again by the reranker's scores.

    The highest number goes to the row with the highest score; ties keep their order.

    Args:
        order: The number of every row.
        rows: The rows that were reranked, best first.
        scores: The reranker's score of each of `rows`.

    """
    moved = order.copy()
    if rows:
        by_score = np.array(rows)[np.argsort(-np.array(scores), kind="stable")]
        # Equal numbers would let others decide between them again.
        moved[by_score] = np.sort(order[rows])[::-1] - _STEP * np.arange(len(rows))
    return moved


def put_groups_behind(order: Floats, rows: Sequence[int], groups: Sequence[Hashable]) -> Floats:
    """Put the rows of a group behind the row of the group that was reranked.

    Args:
        order: The number of every row.
        rows: The rows that were reranked.
        groups: The group of every row.

    """
    behind = order.copy()
    read = {groups[row]: row for row in rows}
    for row, group in enumerate(groups):
        best = read.get(group, row)
        if row != best:
            behind[row] = min(order[row], np.nextafter(order[best], -np.inf))
    return behind


# The ranked rows with repeats behind: who only repeats a better memory, or only acknowledges, gives
# its place to one that says something else.
#
# Note: it costs a read only where something repeats. Then the next rows are read in the place of
# the repeats, twice at most, and those that were not read keep their order behind.


BEYOND = (25, 75)
"""How many rows behind the limit are read with each further read."""
ON_THE_LOOP = 20_000
"""Characters that are compared in a millisecond or two; more leave the event loop."""
Rank = Callable[[int | None], list[int]]
"""From a number to that many best rows; None for all."""
IsIdle = Callable[[int, SerializedMemory], bool]
"""Whether the memory of a row says nothing that was asked for."""
Read = Callable[[Sequence[int]], Awaitable[Mapping[int, SerializedMemory]]]
"""From rows to the memories that they are shown as; a row whose memory is gone is left out."""


async def put_repeats_behind(
    rank: Rank, limit: int, read: Read, is_idle: IsIdle = lambda row, document: False
) -> tuple[list[int], dict[int, SerializedMemory]]:
    """Put memories behind that repeat a better memory, or say nothing.

    They move as far as `limit` results need it. Without a repeat only the first `limit` rows are
    ranked: to rank all candidates takes a tenth of a search.

    Args:
        rank: Ranks the candidates.
        limit: The number of results.
        read: Reads the memories of rows.
        is_idle: Whether a memory says nothing; the last of all are those that do.

    Returns:
        The rows, best first, and the memories that were read.

    """
    ranked = rank(limit)
    documents = dict(await read(ranked))
    rows = ranked
    behind = await _behind(rows, documents, is_idle)
    if not behind:
        return ranked, documents
    ranked = rank(None)
    for beyond in BEYOND:
        if len(rows) - len(behind) >= limit or len(rows) == len(ranked):
            break
        before, rows = len(rows), ranked[: limit + beyond]
        documents |= await read(rows[before:])
        behind = await _behind(rows, documents, is_idle)
    repeating = set(behind)
    return [row for row in rows if row not in repeating] + behind + ranked[len(rows) :], documents


async def _behind(
    rows: Sequence[int], documents: Mapping[int, SerializedMemory], is_idle: IsIdle
) -> list[int]:
    """Return the rows that go behind: first those that repeat, then those that say nothing."""
    idle = [row for row in rows if row in documents and is_idle(row, documents[row])]
    telling = [row for row in rows if row not in set(idle)] if idle else rows
    return await _repeating(telling, documents) + idle


async def _repeating(rows: Sequence[int], documents: Mapping[int, SerializedMemory]) -> list[int]:
    """Return the rows that repeat a better row.

    A row whose memory is gone repeats no row. In most answers no group has two memories.
    """
    chosen = [row for row in rows if row in documents]
    tellings = [_telling(documents[row]) for row in chosen]
    unknown = [telling for telling in tellings if telling not in _GROUPS]
    groups = await _near(unknown, _GROUPS.of_each, tellings)
    grouped = Counter(groups)
    places = [place for place, group in enumerate(groups) if grouped[group] > 1]
    alike = [tellings[place] for place in places]
    return [chosen[places[place]] for place in await _near(alike, repeats, alike)] if alike else []


async def _near(
    read: Sequence[Telling],
    work: Callable[[Sequence[Telling]], list[int]],
    tellings: Sequence[Telling],
) -> list[int]:
    """Do work on tellings, in a thread if the texts that it reads are long."""
    if sum(len(telling.content) for telling in read) <= ON_THE_LOOP:
        return work(tellings)
    return await asyncio.to_thread(work, tellings)


def _telling(document: SerializedMemory) -> Telling:
    body = document.fields
    day = body["event_timestamp"][:10] if body["type"] == MemoryType.EPISODIC.value else None
    return Telling(body["content"], body["actor"], day, body["key"])


class _Groups:
    """The group of each telling, as a number; no text is kept.

    The same memories are found repeatedly, and to split the words of ten memories takes a tenth of
    a millisecond. The rest of a memory may change meanwhile, as its accesses do.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[int, int] = {}

    def knows(self, document: SerializedMemory) -> bool:
        """Whether the group of a memory is known without reading its text."""
        return hash(_telling(document)) in self._known

    def __contains__(self, telling: Telling) -> bool:
        return hash(telling) in self._known

    def of_each(self, tellings: Sequence[Telling]) -> list[int]:
        """Return the groups, which are equal for all tellings that might repeat each other."""
        return [self._of(telling) for telling in tellings]

    def _of(self, telling: Telling) -> int:
        name = hash(telling)
        group = self._known.get(name)
        if group is None:
            if len(self._known) >= self._most:
                self._known.clear()
            group = self._known[name] = hash(likeness(telling))
        return group


_GROUPS = _Groups(32_768)  # 4 MB when full


# Present truths come before past ones: the truth that holds now takes the place of a cell that
# answers by the fact it replaced.
#
# Scores stay what they are; only the order changes, and only there. Note: a cell with a superseded
# fact may well be the best answer, by what else it tells. So it gives way only where it has no word
# of the query that the present truth has not.


def put_present_truths_first(
    ranked: Sequence[int],
    truths: Mapping[str, Sequence[Memory]],
    candidates: CandidateSet,
    terms: Sequence[str],
    query: str,
) -> list[int]:
    """Put present truths in the place of rows that answer by a replaced fact.

    The truth has to be among the ranked rows. A question about the past leaves the order alone.

    Args:
        ranked: The rows, best first.
        truths: By the id of a row's memory, the present truths that replaced its facts.
        candidates: The candidates.
        terms: The query's terms, as the candidates' columns.
        query: The query.

    """
    order = list(ranked)
    if asks_of_the_past(query):
        return order
    names = terms_of_names(query)
    for row in ranked:
        for truth in truths.get(candidates.ids[row], ()):
            place = next(
                (at for at, other_row in enumerate(order) if _tells(candidates, other_row, truth)),
                -1,
            )
            if place > (earned := order.index(row)) and _adds_nothing(
                row, truth, candidates, terms, names
            ):
                order.insert(earned, order.pop(place))
    return order


def terms_of_names(query: str) -> frozenset[str]:
    """The terms of the names in a query."""
    return frozenset(term for name in names_in(query) for term in tokens(name))


def _tells(candidates: CandidateSet, row: int, truth: Memory) -> bool:
    """Whether a row is the truth itself or is shown as its cell."""
    return base_id(candidates.ids[row]) == truth.id or (
        truth.cell_id is not None and candidates.cell[row] == truth.cell_id
    )


def _adds_nothing(
    row: int, truth: Memory, candidates: CandidateSet, terms: Sequence[str], names: Collection[str]
) -> bool:
    """Whether the truth has all words of the query that a row has.

    A row without such words was found by its meaning, so it may add some information: False. A name
    tells whom the query is about: rules call the person "User", while "I am Ana" is in a single
    message only.
    """
    has = {term for term, owned in zip(terms, candidates.own[row].tolist(), strict=True) if owned}
    nameless = has.difference(names)
    return any(bool(words) and words <= truth.lexical.own.keys() for words in (has, nameless))


# What holds comes before what is only announced, of one slot or key. A question about the future
# keeps its order.


_OF_THE_FUTURE = re.compile(
    r"\b(?:will (?:i|you|he|she|it|we|they|be|my|our|the)"
    r"|(?:i|you|he|she|it|we|they|user)(?:'ll| will)"
    r"|going to|gonna|soon|next (?:week|month|year|spring|summer|autumn|winter|\w{1,6}day)"
    r"|in (?:the )?future|upcoming|tomorrow|bald|künftig\w*|zukünftig\w*|demnächst"
    r"|nächste\w? (?:woche|monat|jahr|frühjahr|sommer|herbst|winter)|ab morgen|werde|werden|wird)\b"
    r"|今度|来週|来月|来年|予定|これから",
    re.IGNORECASE,
)


def begins_later(document: SerializedMemory, moment: datetime) -> bool:
    """Whether a memory's validity begins after a moment.

    Args:
        document: The memory.
        moment: The moment; parts of a second do not count.

    """
    now = moment.astimezone(UTC).isoformat()[:_TO_THE_SECOND]
    return str(document.fields["valid_from"])[:_TO_THE_SECOND] > now


_TO_THE_SECOND = len("2026-01-01T00:00:00")


def asks_of_the_future(query: str) -> bool:
    """Whether a query asks for what is to come."""
    return _OF_THE_FUTURE.search(query) is not None


def put_present_before_announced(
    rows: Sequence[int], memories: Mapping[int, Memory], moment: datetime
) -> list[int]:
    """Put the member of a slot that holds before a member that begins later.

    Args:
        rows: The rows, best first.
        memories: The memories of rows; rows without one stay where they are.
        moment: The moment of the query.

    """
    order = list(rows)
    for row in rows:
        memory = memories.get(row)
        if memory is None or memory.valid_from <= moment:
            continue
        name = slot_name(memory)
        holding = next(
            (
                other
                for other in order[order.index(row) :]
                if name is not None
                and (present := memories.get(other)) is not None
                and slot_name(present) == name
                and present.valid_from <= moment
                and (present.valid_until is None or present.valid_until > moment)
            ),
            None,
        )
        if holding is not None:
            order.remove(holding)
            order.insert(order.index(row), holding)
    return order


# Turns before what was formed of them, where they answer better: a pattern,
# or a note merged of several, follows its sources.
#
# Scores stay what they are; only the order changes. Recency and importance favour what a run made
# last, which may tell less of the query than the turns that it was made of.


_MARK = b'"status_reason":"consolidated"'
"""The mark of memories that runs make of several memories; only their JSON is parsed."""
Sources = Mapping[str, frozenset[str]]


async def sources_of(
    row_memories: RowMemories,
    owner: Owner,
    look: QueryRound,
    documents: Mapping[str, SerializedMemory],
) -> Sources:
    """Find the sources of memories that were made of several memories.

    Without such a memory there is no read, else a single read.

    Args:
        row_memories: Reads the sources.
        owner: Whose memories they are.
        look: The round that found the results.
        documents: The results' memories.

    Returns:
        By the id of each such memory, the ids of its sources, and of the sources of merged notes
        among them.

    Raises:
        Unavailable: The long-term store is down.

    """
    made = {
        name: document.fields
        for name, document in documents.items()
        if _MARK in document.json and document.fields["status_reason"] == "consolidated"
    }
    wanted = sorted(
        {
            source
            for fields in made.values()
            for source in fields["source_ids"]
            if source != fields["cell_id"]
        }
    )
    if not wanted:
        return {}
    read = await row_memories.read_named(owner, look, wanted)
    return {
        name: _with_theirs(fields["source_ids"], read)
        for name, fields in made.items()
        if fields["source_ids"]
    }


def source_rows(sources: Collection[str], candidates: CandidateSet) -> list[int]:
    """Return the rows of a memory's sources, including the turns of source cells.

    Args:
        sources: The ids of the sources.
        candidates: The candidates.

    """
    return [
        row
        for row, (name, cell) in enumerate(zip(candidates.ids, candidates.cell, strict=True))
        if name in sources or cell in sources
    ]


def put_sources_first(
    ranked: Sequence[int], sources: Sources, candidates: CandidateSet, relevance: Floats
) -> list[int]:
    """Put memories that were made of several memories behind their more relevant sources.

    Args:
        ranked: The rows, best first.
        sources: The ids of the sources, by the id of the memory that was made of them.
        candidates: The candidates.
        relevance: The relevance of every candidate.

    """
    order = list(ranked)
    for row in ranked:
        made_of = sources.get(candidates.ids[row])
        if made_of is None:
            continue
        better = {
            source
            for source in source_rows(made_of - {candidates.ids[row]}, candidates)
            if relevance[source] > relevance[row]
        }
        place = max((at for at, other_row in enumerate(order) if other_row in better), default=-1)
        if place > order.index(row):
            order.remove(row)
            order.insert(place, row)
    return order


def _with_theirs(source_ids: Sequence[str], read: Mapping[str, SerializedMemory]) -> frozenset[str]:
    theirs = [
        name
        for source in source_ids
        if (note := read.get(source)) is not None and note.fields["category"] == "note"
        for name in note.fields["source_ids"]
    ]
    return frozenset([*source_ids, *theirs])
