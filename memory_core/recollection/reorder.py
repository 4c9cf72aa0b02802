"""Put ranked results in another order: by a reranker, repeats behind, present truths first, later
statements first, turns first.

Note: it only orders. Which memories pass was decided by relevance before, and the scores that are
shown stay what they were; an answer that does not come in time changes nothing,
and the caller is told.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.domain.event_log import base_id
from memory_core.domain.memory import Head, Memory, MemoryType
from memory_core.domain.ranking.candidates import CandidateSet, Floats
from memory_core.domain.ranking.questions import QUESTION
from memory_core.domain.ranking.selection import Telling, likeness, repeats
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.domain.statements.change_messages import read
from memory_core.domain.statements.changes import asked_values, update_closeness
from memory_core.domain.statements.values_said import AskedKind
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.sameness import names_in
from memory_core.domain.text.sentences import sentences
from memory_core.ledger.readable import NONE_AT_HAND, memories_of
from memory_core.ports import LongTermStore, Reranker

RERANKER = "reranker"
"""How an answer names what it did without."""
MOST_RERANKED = 50
"""The best that are read again, before anything is cut off at the limit."""
_STEP = 1e-9
CHARACTERS = 2_000
"""Of each text: what rerankers read is mostly 512 tokens."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reranking:
    """A reranker and how long it may take."""

    reranker: Reranker
    deadline_s: float

    async def scores(self, owner: Owner, query: str, texts: Sequence[str]) -> list[float] | None:
        """How well each text answers, the more the better, in order; None when it failed or was
        late. One text alone is not sent.
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
    """The numbers of `rows` (best first) handed out again, the highest to the row with the highest
    score; ties stay in their order.
    """
    moved = order.copy()
    if rows:
        by_score = np.array(rows)[np.argsort(-np.array(scores), kind="stable")]
        # Equal numbers would let others decide between them again.
        moved[by_score] = np.sort(order[rows])[::-1] - _STEP * np.arange(len(rows))
    return moved


def put_groups_behind(order: Floats, rows: Sequence[int], groups: Sequence[Hashable]) -> Floats:
    """The numbers with those of a group behind the one of `rows` that was read for it, whose place
    is theirs. groups: of every row.
    """
    behind = order.copy()
    read = {groups[row]: row for row in rows}
    for row, group in enumerate(groups):
        best = read.get(group, row)
        if row != best:
            behind[row] = min(order[row], np.nextafter(order[best], -np.inf))
    return behind


# The ranked rows with repeats behind: who only repeats a better memory gives its place to one that
# says something else.
#
# Note: it costs a read only where something repeats. Then the next rows are read in the place of
# the repeats, twice at most, and those that were not read keep their order behind.


BEYOND = (25, 75)
"""How many rows behind the limit are read with each further read."""
ON_THE_LOOP = 50_000
"""Bytes of memories that are compared in a millisecond or two; more leave the event loop."""
Rank = Callable[[int | None], list[int]]
"""The best rows, as many as that; None for all."""
Read = Callable[[Sequence[int]], Awaitable[Mapping[int, SerializedMemory]]]
"""From rows to what is shown of them; a row whose memory is gone is left out."""


async def put_repeats_behind(
    rank: Rank, limit: int, read: Read
) -> tuple[list[int], dict[int, SerializedMemory]]:
    """The best rows, those that repeat a better one behind those that don't as far as `limit`
    results need it; and what was read of them.

    Where nothing repeats, the first `limit` alone: to rank all candidates takes a tenth
    of a search.
    """
    ranked = rank(limit)
    documents = dict(await read(ranked))
    rows = ranked
    behind = await _repeating(rows, documents)
    if not behind:
        return ranked, documents
    ranked = rank(None)
    for beyond in BEYOND:
        if len(rows) - len(behind) >= limit or len(rows) == len(ranked):
            break
        before, rows = len(rows), ranked[: limit + beyond]
        documents |= await read(rows[before:])
        behind = await _repeating(rows, documents)
    repeating = set(behind)
    return [row for row in rows if row not in repeating] + behind + ranked[len(rows) :], documents


async def _repeating(rows: Sequence[int], documents: Mapping[int, SerializedMemory]) -> list[int]:
    """Those that repeat a better one; one whose memory is gone does not."""
    chosen = [row for row in rows if row in documents]
    small = sum(len(documents[row].json) for row in chosen) <= ON_THE_LOOP
    return (
        _compared(chosen, documents)
        if small
        else await asyncio.to_thread(_compared, chosen, documents)
    )


def _compared(rows: Sequence[int], documents: Mapping[int, SerializedMemory]) -> list[int]:
    """Only memories of one group are read and compared: most answers have no two."""
    groups = [_GROUPS.of(documents[row]) for row in rows]
    grouped = Counter(groups)
    alike = [row for row, group in zip(rows, groups, strict=True) if grouped[group] > 1]
    return [alike[place] for place in repeats([_telling(documents[row]) for row in alike])]


def _telling(document: SerializedMemory) -> Telling:
    body = document.fields
    day = body["event_timestamp"][:10] if body["type"] == MemoryType.EPISODIC.value else None
    return Telling(body["content"], body["actor"], day, body["key"])


class _Groups:
    """To which group each memory's JSON belongs, as numbers: none of its text is kept. The same
    memories are found again and again, and to part the words of ten of them takes a tenth of
    a millisecond.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[int, int] = {}

    def of(self, document: SerializedMemory) -> int:
        """Equal for all that might repeat one another."""
        name = hash(document.json)
        group = self._known.get(name)
        if group is None:
            if len(self._known) >= self._most:
                self._known.clear()
            group = self._known[name] = hash(likeness(_telling(document)))
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
    """The ranked rows; the truth that replaced a fact, where it is among them, takes the place of
    the row that answers by that fact.

    A question about what once was leaves the order alone.

    truths: by a row's memory, the truths that hold in the place of those that it told. terms: of
    the query, as the candidates' columns.
    """
    order = list(ranked)
    if _OF_THE_PAST.search(query):
        return order
    names = frozenset(term for name in names_in(query) for term in tokens(name))
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


def _tells(candidates: CandidateSet, row: int, truth: Memory) -> bool:
    """Whether a row is the truth itself, or stands for the cell that told it."""
    return base_id(candidates.ids[row]) == truth.id or (
        truth.cell_id is not None and candidates.cell[row] == truth.cell_id
    )


def _adds_nothing(
    row: int, truth: Memory, candidates: CandidateSet, terms: Sequence[str], names: Collection[str]
) -> bool:
    """Whether a row has words of the query, and none that the truth has not. Without any it was
    found by its meaning: who knows which.

    A name tells whom the query is about: rules call the person "User", while "I am Ana" is in one
    of their messages only.
    """
    has = {term for term, owned in zip(terms, candidates.own[row].tolist(), strict=True) if owned}
    nameless = has.difference(names)
    return any(bool(words) and words <= truth.lexical.own.keys() for words in (has, nameless))


# Later statements come before those they update, where a question asks how something is.
#
# Such questions ask how many, how much, when. Scores stay what they are; only the order changes,
# and what comes in from behind the limit takes the last place's room. A question about what once
# was ("What did I pay …?") leaves the order alone.


MOST_UPDATED = 10
"""Results, from the best, before which something later may come."""
MOST_BEHIND = 10
"""Statements behind the results that are read."""
MOST_UPDATES = 3
"""Later statements that come before one that they update, the latest first."""
AS_NEAR = 0.8
"""Of several that update one, the part of the best one's relevance that the others must reach."""
LEAST_SHARE = 0.5
"""The part of the best one's relevance that a statement behind the results must reach."""
_OF_THE_PAST = re.compile(
    r"\b(?:did|was|were|had|ago|used to|(?<!the )(?<!my )(?<!our )first|originally|initially|before"
    r"|last|yesterday|hatte|war|waren|damals|früher|zuerst|gestern|letzte\w*)\b"
    r"|(?:ました|でした|かった|った)(?:か|の|っけ)?[?？。]?$|前は|最初",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SaidStatement:
    """What a person said.

    row: of the candidates. result: the row of the result that it is in, or would be in.
    by: who said it. relevance: to the query. leads: whether it is what its result shows first.
    """

    row: int
    result: int
    text: str
    by: str | None
    at: datetime
    relevance: float
    leads: bool = False


def asks_how_it_is(query: str) -> bool:
    """Whether a message is one question, about how something is at the moment asked for."""
    query_sentences = sentences(query)
    return (
        len(query_sentences) == 1
        and (query_sentences[0].asks or QUESTION.match(query_sentences[0].text) is not None)
        and _OF_THE_PAST.search(query) is None
    )


def put_updates_first(
    order: Sequence[int], statements: Sequence[SaidStatement], query: str, asked: Collection[str]
) -> tuple[list[int], dict[int, int]]:
    """The results' rows with what updates one of them before it.

    With it, by row, the statement's row that is to lead there.
    order: rows of the results, best first. statements: what they contain, and what is behind them.
    """
    ordered, leading, kind = list(order), dict[int, int](), AskedKind.of(query, asked)
    leads = {statement.result: statement for statement in statements if statement.leads}
    by_people = [statement for statement in statements if statement.by is not None]
    for row in order[:MOST_UPDATED]:
        lead = leads.get(row)
        if lead is None or lead.by is None or row in leading:
            continue
        ahead = {*ordered[: ordered.index(row)]} if row in ordered else set()
        later = [
            statement
            for statement in by_people
            if statement.at > lead.at
            and statement.by == lead.by
            and statement.row != lead.row
            and statement.result not in ahead
        ]
        before = row
        for update in _updates(lead, later, kind):
            _place(update, before, ordered, leading)
            before = update.result
    return ordered[: len(order)], leading


def _updates(
    earlier: SaidStatement, later: Sequence[SaidStatement], asked: AskedKind
) -> list[SaidStatement]:
    """Those of the later statements that update an earlier one, the latest last: of the relevant
    ones the closest to it. Read from the best on, since a long one takes milliseconds.
    """
    message = read(earlier.text)
    if not asked_values(message, asked):
        return []
    updating: list[tuple[int, SaidStatement]] = []
    for statement in sorted(later, key=lambda statement: -statement.relevance):
        if updating and statement.relevance < AS_NEAR * updating[0][1].relevance:
            break
        if closeness := update_closeness(message, read(statement.text), asked):
            updating.append((closeness, statement))
    closest = max((closeness for closeness, _ in updating), default=0)
    close = [statement for closeness, statement in updating if closeness == closest]
    return sorted(close[:MOST_UPDATES], key=lambda statement: statement.at)


def _place(update: SaidStatement, before: int, ordered: list[int], leading: dict[int, int]) -> None:
    row = update.result
    leading.setdefault(row, update.row)
    if row == before:
        return
    if row in ordered:
        ordered.remove(row)
    ordered.insert(ordered.index(before), row)


# Turns before what was formed of them, where they answer better: a pattern,
# or a note merged of several, follows its sources.
#
# Scores stay what they are; only the order changes. Recency and importance favour what a run made
# last, which may tell less of the query than the turns that it was made of.


_MARK = b'"status_reason":"consolidated"'
"""Only a memory whose JSON has this is parsed: it is what runs make of several others."""
Sources = Mapping[str, frozenset[str]]


async def sources_of(
    store: LongTermStore,
    owner: Owner,
    documents: Mapping[str, SerializedMemory],
    at_hand: Mapping[str, Memory] = NONE_AT_HAND,
    seen: Head | None = None,
) -> Sources:
    """By the id of each memory that was made of several, the ids of what it was made of, and of
    what merged notes among these were.

    Costs nothing where there is no such memory; else one read. Raises Unavailable.
    """
    made = {
        name: document.memory
        for name, document in documents.items()
        if _MARK in document.json and document.memory.status_reason == "consolidated"
    }
    wanted = sorted(
        {
            source
            for memory in made.values()
            for source in memory.source_ids
            if not _is_own_cell(memory, source)
        }
    )
    if not wanted:
        return {}
    read = await memories_of(store, owner, wanted, at_hand, seen)
    return {
        name: _with_theirs(memory.source_ids, read)
        for name, memory in made.items()
        if memory.source_ids
    }


def source_rows(sources: Collection[str], candidates: CandidateSet) -> list[int]:
    """The rows of what a memory was made of, turns of a cell included."""
    return [
        row
        for row, (name, cell) in enumerate(zip(candidates.ids, candidates.cell, strict=True))
        if name in sources or cell in sources
    ]


def put_sources_first(
    ranked: Sequence[int], sources: Sources, candidates: CandidateSet, relevance: Floats
) -> list[int]:
    """The ranked rows, with each that was made of others behind those of its sources whose
    relevance is higher.
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


def _is_own_cell(memory: Memory, source: str) -> bool:
    return source == memory.cell_id


def _with_theirs(source_ids: Sequence[str], read: Mapping[str, Memory]) -> frozenset[str]:
    theirs = [
        name
        for source in source_ids
        if (note := read.get(source)) is not None and note.category == "note"
        for name in note.source_ids
    ]
    return frozenset([*source_ids, *theirs])
