"""Searches of Cosmos DB: the lists that are requested, and their answer.

Note: results that callers see may be a moment old, so the lists are asked for beside the head.
"""

from __future__ import annotations

from collections.abc import Collection, Coroutine, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.client import Answer, CosmosConnection, together
from memory_core.adapters.cosmos.conditions import Query
from memory_core.adapters.cosmos.container import EmbedderRecord
from memory_core.adapters.cosmos.heads import Known
from memory_core.adapters.cosmos.reads import Looks
from memory_core.adapters.cosmos.search_answers import (
    Rows,
    lending_turns,
    lists_of,
    readable,
    search_answer,
    with_similarities,
)
from memory_core.adapters.cosmos.slice_cache import CachedSlices
from memory_core.adapters.cosmos.text_ranking import WAYS, TextRanking, Way
from memory_core.adapters.memory_index.search import find
from memory_core.domain.memory import Head, Status
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner
from memory_core.ports import Filter, Found, Search


def _is_small(head: Head, search: Search) -> bool:
    """Whether a single list returns all memories of a user.

    Two lists by the service would cost twice and return the same.
    """
    return search.where.at is None and 0 < sum(head.counts.values()) <= queries.most_of_small(
        search
    )


def seen_by(where: Filter, head: Head) -> Filter:
    """A filter that counts messages as unformed when the head names them so.

    Args:
        where: The filter of a search.
        head: The head that the search was answered with.

    """
    if not where.hide_formed_messages or not head.unformed:
        return where
    return replace(where, unformed=frozenset(head.unformed_messages))


class Searches:
    """Answers the searches of any owner."""

    def __init__(
        self,
        connection: CosmosConnection,
        looks: Looks,
        held_users: CachedSlices,
        ranking: TextRanking,
        embedder: EmbedderRecord,
        kind: VectorKind,
    ) -> None:
        self._connection, self._looks, self._held = connection, looks, held_users
        self._ranking, self._embedder, self._kind = ranking, embedder, kind

    async def search(self, owner: Owner, search: Search) -> Found:
        """Read the head, the nearest memories and the best by words concurrently.

        The lists are no older than the head. For a user that is cached in memory, only the head and
        the missed events are read. For a user with deleted memories, a further query finds which of
        the turns that lent words to the results are deleted.
        """
        if (
            owner in self._held
            and search.where.at is None
            and not search.where.metadata
            and (answer := await self._find(owner, search)) is not None
        ):
            return answer
        way = await self._ranking.way() if search.terms else WAYS[0]
        known, lists, spent, beside = await self._looks.with_head(
            owner, lambda known: self._asked(owner, search, way, known, None)
        )
        if known is not None and any(
            row["epoch"] != known.head.epoch for ranked in lists for row in ranked.rows
        ):
            lists, beside = (
                await together(*self._asked(owner, search, way, known, known.head.epoch)),
                known,
            )
            spent += sum(ranked.charge for ranked in lists)
        is_small = beside is not None and _is_small(beside.head, search)
        if (
            is_small
            and known is not None
            and lists
            and len(lists[0].rows) > queries.most_of_small(search)
        ):
            lists, is_small = (
                await together(*self._ranked(owner, search, way, known, known.head.epoch)),
                False,
            )
            spent += sum(ranked.charge for ranked in lists)
        apart = Answer()
        if is_small:
            near, worded = lists_of([row for ranked in lists for row in ranked.rows], search)
        else:
            near = [ranked.rows for ranked in lists[: len(search.vectors[: queries.MAX_VECTORS])]]
            worded = lists[-1].rows if search.terms and lists else []
            if not way.beside:
                apart = await self._similarities(
                    owner, search, near, worded, None if known is None else known.token
                )
                worded = with_similarities(worded, [*chain.from_iterable(near), *apart.rows])
        known_head = None if known is None else known.head
        memories = readable(known_head, (row for ranked in lists for row in ranked.rows))
        deleted = await self._deleted_turns(owner, known, lending_turns(search, memories.values()))
        charge = spent + apart.charge + deleted.charge
        self._held.paid(owner, known_head, charge)
        return search_answer(
            known_head, search, near, worded, memories, charge, self._kind, deleted.rows
        )

    async def _similarities(
        self, owner: Owner, search: Search, near: Sequence[Rows], worded: Rows, since: str | None
    ) -> Answer:
        """The similarities of rows by words that lack them and are not among the nearest."""
        nearest = {row["id"] for rows in near for row in rows}
        ids = [row["id"] for row in worded if row["id"] not in nearest]
        if not ids or not search.vectors:
            return Answer()
        return await self._connection.query(
            owner, queries.similarities(owner, ids, search), since=since
        )

    async def _deleted_turns(
        self, owner: Owner, known: Known | None, turns: Collection[tuple[str, int]]
    ) -> Answer:
        """The deleted turns among these turns.

        No query is sent for a user without deleted memories.
        """
        if known is None or not turns or not known.head.counts.get(Status.DELETED.value):
            return Answer()
        asked = queries.deleted_turns(owner, {session for session, _ in turns}, known.head.epoch)
        return await self._connection.query(owner, asked, since=known.token)

    async def _find(self, owner: Owner, search: Search) -> Found | None:
        """The answer from the user's cached slice; None when the slice cannot answer."""
        read = await self._looks.read_head(owner)
        known = self._looks.noted(owner, read)
        user_slice, charge = await self._held.caught_up(owner, known)
        if known is None or user_slice is None:
            return None
        return Found(known.head, *find(user_slice, search), read.charge + charge)

    def _asked(
        self, owner: Owner, search: Search, way: Way, known: Known, epoch: str | None
    ) -> list[Coroutine[Any, Any, Answer]]:
        """The queries of a search.

        All memories of a small user are read at once. Else a list is read for each vector, and a
        list by words.
        """
        if _is_small(known.head, search):
            search = replace(search, where=seen_by(search.where, known.head))
            return [
                self._candidates(owner, queries.of_a_small_user(owner, search, epoch), known.token)
            ]
        return self._ranked(owner, search, way, known, epoch)

    def _ranked(
        self, owner: Owner, search: Search, way: Way, known: Known, epoch: str | None
    ) -> list[Coroutine[Any, Any, Answer]]:
        search = replace(search, where=seen_by(search.where, known.head))
        near = [
            queries.by_vector(owner, search, vector, epoch, self._embedder.only)
            for vector in search.vectors[: queries.MAX_VECTORS]
        ]
        asked = [self._candidates(owner, query, known.token) for query in near]
        if search.terms:
            worded = queries.by_words(owner, search, epoch, with_similarities=way.beside)
            asked.append(self._candidates(owner, worded, known.token, across=not way.by_key))
        return asked

    async def _candidates(
        self, owner: Owner, query: Query, since: str | None, *, across: bool = False
    ) -> Answer:
        answer = await self._connection.query(owner, query, across=across, since=since)
        return replace(answer, rows=[queries.candidate_in(row, owner) for row in answer.rows])
