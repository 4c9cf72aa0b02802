"""Detects how this account ranks by words, with documents whose order is known.

It is detected once in each process.

Note: FullTextScore cannot be projected, so the score of a row is never visible. Some accounts are
reported to ignore ORDER BY RANK in a query with a partition key: TOP then returns any rows that
contain a word, without an error. The way that was documented first, a query without the key, is
planned by the service and merged by the SDK. The clause still names the key, so the query goes to a
single range.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.client import CosmosConnection
from memory_core.adapters.cosmos.container import NOBODY, TEXT_PATH, VECTOR_PATH
from memory_core.adapters.cosmos.items import Item, addressed, numbers
from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import Vector
from memory_core.ports import Filter, Search

log = logging.getLogger(__name__)
WORD: Final = "marmalade"
OTHER_WORDS: Final = ("stone", "window", "river", "ladder", "copper", "meadow")
TIMES: Final[Mapping[int, int]] = {1: 2, 4: 5, 6: 1, 9: 4, 12: 3}
"""How often a document of this number has the word.

Neither the order of numbers nor the order of writing is the order of scores.
"""
DOCUMENTS: Final = 16
"""The number of documents.

Most lack the word, so that it has a weight by any formula.
"""
LIMIT: Final = 4
EXPECTED: Final = sorted(TIMES, key=lambda number: -TIMES[number])[:LIMIT]
WRITE_TRIES: Final = 4
COSINE_A_TIME: Final = 0.15
TOLERANCE: Final = 0.02


class Way(NamedTuple):
    """A way to query by words.

    Attributes:
        by_key: With the partition key in the request.
        beside: With similarities in the same rows.

    """

    by_key: bool
    beside: bool

    def __str__(self) -> str:
        parts = (
            "with the partition key" if self.by_key else "across partitions",
            "" if self.beside else "similarities apart",
        )
        return ", ".join(filter(None, parts))


WAYS: Final = (Way(True, True), Way(False, True), Way(True, False), Way(False, False))
"""The ways to query, the cheapest first.

The last way is documented without doubt.
"""


class TextRanking:
    """Finds and remembers the way that ranks.

    `dimensions` is the length of the container's vectors.
    """

    def __init__(self, connection: CosmosConnection, dimensions: int) -> None:
        self._connection, self._dimensions = connection, dimensions
        self._lock = asyncio.Lock()
        self._way: Way | None = None

    async def way(self) -> Way:
        """The way to query by words.

        The service is tested until a way has ranked. Raises Unavailable.
        """
        async with self._lock:
            if self._way is None:
                self._way = await self._first_that_ranks()
        return self._way or WAYS[-1]

    async def _first_that_ranks(self) -> Way | None:
        """The first way that ranks the documents in their known order.

        None while the documents cannot all be found, for instance because the text index is not up
        to date.
        """
        if len(await self._present()) < DOCUMENTS:
            await self._write()
        for way in WAYS:
            rows = await self._rows(way)
            if rows is not None and len(rows) < LIMIT:
                return None
            if rows is not None and is_ranked(rows, with_similarity=way.beside):
                if way != WAYS[0]:
                    log.warning(
                        "Cosmos DB does not rank by words as asked with a partition key; it is "
                        "asked %s",
                        way,
                    )
                return way
        log.error(
            "Cosmos DB ranked the documents with a known order in no way; it is asked %s", WAYS[-1]
        )
        return WAYS[-1]

    async def _rows(self, way: Way) -> list[Any] | None:
        """The rows of a way; None where the service rejects such a query."""
        from azure.core.exceptions import HttpResponseError

        search = Search(
            vector=_direction(self._dimensions, 1.0),
            terms=(WORD,),
            limit=LIMIT,
            where=Filter(statuses=frozenset({"active"})),
        )
        query = queries.by_words(NOBODY, search, with_similarities=way.beside)
        try:
            return (await self._connection.query(NOBODY, query, across=not way.by_key)).rows
        except HttpResponseError as error:
            if error.status_code != 400:
                raise
            return None

    async def _present(self) -> list[Any]:
        return (
            await self._connection.query(
                NOBODY, queries.existing(NOBODY, [_name(number) for number in range(DOCUMENTS)])
            )
        ).rows

    async def _write(self) -> None:
        from azure.cosmos.exceptions import CosmosBatchOperationError

        operations = [
            ("upsert", (_document(number, self._dimensions),)) for number in range(DOCUMENTS)
        ]
        for tries_left in reversed(range(WRITE_TRIES)):  # written twice they are the same
            try:
                await self._connection.batch(NOBODY, operations)
            except CosmosBatchOperationError as refused:
                raise Unavailable(
                    "long_term", f"Cosmos DB answered a write with {refused.status_code}"
                ) from refused
            except Unavailable:
                if not tries_left:
                    raise
            else:
                return


def is_ranked(rows: list[Any], *, with_similarity: bool) -> bool:
    """Whether rows are the best documents in descending order.

    Args:
        rows: The rows of the known documents.
        with_similarity: Whether each row must have its similarity.

    """
    if [row["id"] for row in rows] != [_name(number) for number in EXPECTED]:
        return False
    cosines = [row.get(queries.SIMILARITIES[0]) for row in rows]
    wanted = [COSINE_A_TIME * TIMES[number] for number in EXPECTED]
    return not with_similarity or all(
        isinstance(cosine, float) and abs(cosine - right) < TOLERANCE
        for cosine, right in zip(cosines, wanted, strict=True)
    )


def _name(number: int) -> str:
    return f"ranking_{number:02}"


def _document(number: int, dimensions: int) -> Item:
    times = TIMES.get(number, 0)
    item = addressed(NOBODY, _name(number), "memory") | {"sequence": 0, "status": "active"}
    item[TEXT_PATH.removeprefix("/")] = " ".join([*[WORD] * times, *OTHER_WORDS[times:]])
    if times:
        item[VECTOR_PATH.removeprefix("/")] = numbers(_direction(dimensions, COSINE_A_TIME * times))
    return item


def _direction(dimensions: int, cosine: float) -> Vector:
    """A unit vector of this cosine to the first axis."""
    made = np.zeros(dimensions, dtype=np.float32)
    made[0] = cosine
    made[-1] += np.sqrt(1.0 - cosine**2)
    return made
