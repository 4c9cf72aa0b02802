"""A long-term store, a queue and agents that count what they are asked, and reckon what that would be on Azure.

The work itself is done by the real ones behind. What a reader would get wrong: request units and tokens are reckoned by the formulas here,
from the sizes of what goes in and out. They say how cost grows and what dominates; an account's own numbers come from `make test-live`.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from importlib import resources
from typing import Any

import orjson
from pydantic import BaseModel

from memory_core.adapters.cosmos.queries import MAX_VECTORS
from memory_core.adapters.cosmos.reads import POINT_READS
from memory_core.domain.memory import Vector
from memory_core.domain.scope import Owner
from memory_core.ports import Agents, Batch, Document, Embedder, LongTermStore, Near, Search, Snapshot, TaskQueue

KB = 1024
VECTOR_BYTES = 12
"""A number of a vector as JSON has it: nine significant digits."""
LOOKED_UP = 600
"""Bytes of a candidate as a search projects it, without content and vector."""
CHARACTERS_A_TOKEN = 4
_ASIDE = frozenset({"open", "close", "pool", "check", "provision"})
_PROMPTS = (
    "detect_boundary",
    "analyse_episode",
    "summarise",
    "extract_facts",
    "decide_conflicts",
    "synthesise",
    "find_patterns",
    "update_profile",
)


def read_units(size: int) -> float:
    """Of a point read: 1 for 1 KB, 10 for 100 KB."""
    return max(1.0, 0.91 + 0.09 * size / KB)


def write_units(size: int, vectors: int = 0) -> float:
    """Of a document that is written: about 5 for 1 KB, 50 for 100 KB, and 4 for a vector that is indexed."""
    return 4.9 + 0.48 * size / KB + 4.0 * vectors


def query_units(rows: int, size: int, compared: int = 0) -> float:
    """Of a query within one user: a base, the rows that go out with their size, and the vectors that are compared."""
    return 2.3 + 0.05 * rows + 0.12 * size / KB + 0.002 * compared


class CountedStore:
    """Counts calls by name; `name.units`: what they would cost. With sizes also requests, and what is stored.

    dimensions: of the vectors that documents would have, whatever the real embedder's are.
    """

    def __init__(self, inner: LongTermStore, counts: Counter[str], *, dimensions: int | None = None) -> None:
        """dimensions: None counts calls only, which costs the measured nothing."""
        self._inner, self.counts, self._dimensions = inner, counts, dimensions
        self._sizes: dict[tuple[Owner, str], int] = {}
        self._vectors: dict[Owner, set[str]] = {}

    @property
    def vectors(self) -> int:
        """How many memories have one."""
        return sum(map(len, self._vectors.values()))

    @property
    def documents(self) -> int:
        """How many of those that were written stay."""
        return len(self._sizes)

    @property
    def stored(self) -> int:
        """Bytes of all documents that were written and stay: not deleted, and not to expire by themselves."""
        return sum(self._sizes.values())

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name in _ASIDE or not inspect.iscoroutinefunction(found):
            return found

        async def counted(*given: Any, **options: Any) -> Any:
            self.counts[name] += 1
            answer = await found(*given, **options)
            if self._dimensions is not None:
                requests, units = self._reckoned(name, given, answer)
                self.counts[f"{name}.requests"] += requests
                self.counts[f"{name}.milliunits"] += round(1000 * units)
            return answer

        return counted

    def _reckoned(self, name: str, given: Sequence[Any], answer: Any) -> tuple[int, float]:
        """(requests, request units) of one call."""
        if name == "commit":
            return 1, self._committed(given[0], given[1])
        if name == "keep":
            return 1, self._written(given[0], given[1])
        if name == "touch":
            return 1, sum(write_units(LOOKED_UP) for _ in given[2])
        if name == "snapshot":
            return self._looked(given[0], answer, len(given[1]) if len(given) > 1 else 0, given[2] if len(given) > 2 else None)
        if name == "search":
            search: Search = given[1]
            rows, compared = len(answer.candidates.ids), len(self._vectors.get(given[0], ()))
            halves = len(search.vectors[:MAX_VECTORS]) + bool(search.terms)
            return 1 + halves, 1.0 + halves * query_units(rows, rows * LOOKED_UP // 2, compared)
        if name == "memories":
            return 1, query_units(len(answer), sum(len(one.json) for one in answer.values()))
        rows = len(answer) if isinstance(answer, list) else 1
        size = sum(_size(one, 0) if isinstance(one, Document) else LOOKED_UP for one in answer) if isinstance(answer, list) else 0
        return 1, query_units(rows, size)

    def _looked(self, owner: Owner, seen: Snapshot, asked: int, near: Near | None) -> tuple[int, float]:
        sizes = [_size(one, self._dimensions or 0) for one in seen.documents.values()]
        units, requests = read_units(KB), 1
        if 0 < asked <= POINT_READS:
            units, requests = units + sum(map(read_units, sizes)) + (asked - len(sizes)), requests + asked
        elif asked:
            units, requests = units + query_units(len(sizes), sum(sizes)), requests + 1
        if near is not None:
            size = sum(len(orjson.dumps(one.memory.model_dump(mode="json"))) + self._vector for one in seen.near)
            units, requests = units + query_units(len(seen.near), size, len(self._vectors.get(owner, ()))), requests + 1
        return requests, units

    @property
    def _vector(self) -> int:
        return VECTOR_BYTES * (self._dimensions or 0)

    def _committed(self, owner: Owner, batch: Batch) -> float:
        units = write_units(len(batch.head.model_dump_json()))
        for event in batch.events:
            size = len(event.model_dump_json())
            self._sizes[owner, f"event {event.sequence}"] = size
            units += write_units(size)
        for write in batch.writes:
            if write.mode == "delete":
                self._vectors.get(owner, set()).discard(write.document.id)
                units += write_units(self._sizes.pop((owner, write.document.id), KB))
            else:
                units += self._written(owner, write.document)
        for name, mark in batch.marks.items():
            units += write_units(LOOKED_UP + (0 if mark.embedding is None else self._vector))
            mine = self._vectors.setdefault(owner, set())
            if mark.embedding is not None and name not in mine and (owner, name) in self._sizes:
                mine.add(name)
                self._sizes[owner, name] += self._vector
        return units

    def _written(self, owner: Owner, document: Document) -> float:
        size = _size(document, self._dimensions or 0)
        self._sizes[owner, document.id] = size
        if document.expires_at is not None:
            del self._sizes[owner, document.id]
        if document.vector is not None and document.kind == "memory":
            self._vectors.setdefault(owner, set()).add(document.id)
        return write_units(size, int(document.vector is not None))


def _size(document: Document, dimensions: int) -> int:
    return len(orjson.dumps(document.body)) + (VECTOR_BYTES * dimensions if document.vector is not None else 0)


class CountedQueue:
    """Counts messages by queue and by what they ask for: a range, a user, a task. Each is three operations: sent, received, deleted."""

    def __init__(self, inner: TaskQueue, counts: Counter[str]) -> None:
        self._inner, self.counts = inner, counts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def send(self, queue: str, body: str, *, delay: timedelta = timedelta(0)) -> None:
        """Add a message, counted."""
        self.counts[f"message.{queue}.{kind_of(body)}"] += 1
        await self._inner.send(queue, body, delay=delay)


def kind_of(body: str) -> str:
    """What a message of ours asks for: `range`, `user` or `task`."""
    fields = orjson.loads(body)
    return "range" if "within" in fields else "user" if "tick" in fields else "task"


class CountedAgents:
    """Agents that count what a model would have read and written in their place: prompt, what was passed, and the answer."""

    def __init__(self, inner: Agents, counts: Counter[str]) -> None:
        self._inner, self.counts = inner, counts
        folder = resources.files("memory_core.prompts")
        self._prompts = {name: len((folder / f"{name}.md").read_text()) for name in _PROMPTS}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in self._prompts:
            return found

        async def counted(app_id: str, *given: Any, **options: Any) -> Any:
            answer = await found(app_id, *given, **options)
            read = self._prompts[name] + sum(len(orjson.dumps(one, default=_plain)) for one in given)
            self.counts["calls"] += 1
            self.counts[f"calls.{name}"] += 1
            self.counts["prompt_tokens"] += read // CHARACTERS_A_TOKEN
            self.counts["completion_tokens"] += len(answer.value.model_dump_json()) // CHARACTERS_A_TOKEN
            return answer

        return counted


class CountedEmbedder:
    """An embedder that counts the tokens of what it is given."""

    def __init__(self, inner: Embedder, counts: Counter[str]) -> None:
        self._inner, self.counts = inner, counts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text."""
        self.counts["embedded_tokens"] += sum(map(len, texts)) // CHARACTERS_A_TOKEN
        return await self._inner.embed(texts)

    @property
    def whole_query(self) -> int:
        """As far as the embedder reads a query whole."""
        return self._inner.whole_query

    async def embed_query(self, text: str) -> Vector:
        """A query's vector."""
        self.counts["embedded_tokens"] += len(text) // CHARACTERS_A_TOKEN
        return await self._inner.embed_query(text)

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of a query's sentences."""
        self.counts["embedded_tokens"] += sum(map(len, texts)) // CHARACTERS_A_TOKEN
        return await self._inner.embed_queries(texts)


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)
