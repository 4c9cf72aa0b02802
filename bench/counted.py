"""A long-term store, a queue and agents that count what they are asked, and reckon what that would
be on Azure.

The work itself is done by the real ones behind.

Note: request units and tokens are reckoned by the formulas here, from the sizes of what goes in and
out. They say how cost grows and what dominates; an account's own numbers come from
`make test-live`.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from importlib import resources
from typing import Any

import orjson
from pydantic import BaseModel

from memory_core.adapters.cosmos.container import INDEX
from memory_core.adapters.cosmos.event_pages import page_of
from memory_core.adapters.cosmos.items import MEMORY_FIELDS, Item, item_of
from memory_core.adapters.cosmos.neighbours import COMPARED_AT_ONCE, VECTORS_A_QUERY
from memory_core.adapters.cosmos.page_writes import MIN_A_PAGE
from memory_core.adapters.cosmos.queries import MAX_TERMS, MAX_VECTORS, SHORT_NAMES, most_of_small
from memory_core.adapters.cosmos.reads import POINT_READS, split_ids
from memory_core.domain.memory import Vector
from memory_core.domain.scope import Owner
from memory_core.ports import (
    Agents,
    Batch,
    Document,
    Embedder,
    Found,
    LongTermStore,
    Near,
    Search,
    Snapshot,
    TaskQueue,
)

KB = 1024
VECTOR_BYTES = 9.6
"""A number of a vector as JSON has it, with its comma, in the mean: five significant digits."""
LOOKED_UP = 600
"""Bytes of a candidate as a search projects it, without content and vector."""
ACCESSED = 100
"""Bytes of a row that tells when a memory was accessed last."""
PLACED, SIMILARITY = 90, 40
"""Bytes of a row that tells a memory's id and epoch, and of each similarity in it."""
CHARACTERS_A_TOKEN = 4
IDS = 3
"""Values that every document has in the index: both ids and the key."""
NO_MOMENT = datetime(2026, 1, 1, tzinfo=timezone.utc)
INDEXED = tuple(rule["path"] for rule in INDEX["includedPaths"])
_ASIDE = frozenset({"open", "close", "pool", "check", "provision", "prepare"})
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


STRONG = 2.0
"""A read that asks two replicas costs twice: those of Strong and BoundedStaleness,
where no weaker level is asked for.
"""
REPLACED = 2.0
"""A replace or a patch costs twice what an insert of the same document costs."""
UNITS_A_VALUE = 0.1
"""Of each value that the ordinary index takes in."""
UNITS_A_WORD = 0.02
"""Of each different word that the full-text index takes in."""
UNITS_A_TERM = 0.1
"""Of each term that a full-text query asks for, in the counting of words and in the ranking."""


def read_units(size: int) -> float:
    """Of a point read from one replica: 1 for 1 KB, 10 for 100 KB."""
    return max(1.0, 0.91 + 0.09 * size / KB)


def write_units(
    size: int, vectors: int = 0, *, values: int = 0, words: int = 0, replaces: bool = False
) -> float:
    """Of a document that is written: about 5 for 1 KB, 50 for 100 KB, what is indexed of it,
    and 4 for an indexed vector.
    """
    inserted = 4.9 + 0.48 * size / KB + UNITS_A_VALUE * values + UNITS_A_WORD * words
    return inserted * (REPLACED if replaces else 1.0) + 4.0 * vectors


def query_units(rows: int, size: int, compared: int = 0, terms: int = 0) -> float:
    """Of a query within one user, from one replica: a base, the rows that go out with their size,
    vectors compared, terms looked up.
    """
    return 2.3 + 0.05 * rows + 0.12 * size / KB + 0.002 * compared + UNITS_A_TERM * terms


def indexed_values(item: Any, rules: Sequence[str] = INDEXED) -> int:
    """How many values of an item the ordinary index takes in."""
    return sum(_values_at(item, rule.removeprefix("/").split("/")) for rule in rules)


def _values_at(value: Any, steps: Sequence[str]) -> int:
    if not steps or steps == ["?"]:
        return 0 if value is None or isinstance(value, (dict, list)) else 1
    first, *rest = steps
    if first == "*":
        return (
            sum(_values_at(part, ["*"]) for part in _parts(value))
            if isinstance(value, (dict, list))
            else 1
        )
    if first == "[]":
        return sum(_values_at(part, rest) for part in value) if isinstance(value, list) else 0
    return _values_at(value[first], rest) if isinstance(value, dict) and first in value else 0


def _parts(value: Any) -> Sequence[Any]:
    return list(value.values()) if isinstance(value, dict) else value


class CountedStore:
    """Counts calls by name; `name.units`: what they would cost. With sizes also requests,
    and what is stored.

    dimensions: of the vectors that documents would have, whatever the real embedder's are. before:
    reckon as before the head vouched for what is read from one replica, and before a small user's
    memories came in one list.
    """

    def __init__(
        self,
        inner: LongTermStore,
        counts: Counter[str],
        *,
        dimensions: int | None = None,
        before: bool = False,
    ) -> None:
        """dimensions: None counts calls only, which costs the measured nothing."""
        self._inner, self.counts, self._dimensions, self._before = inner, counts, dimensions, before
        self._vouched = STRONG if before else 1.0
        self._written_once: set[tuple[Owner, str]] = set()
        self._at_hand: dict[Owner, frozenset[str]] = {}
        self._sizes: dict[tuple[Owner, str], int] = {}
        self._rows: dict[tuple[Owner, str], int] = {}
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
        """Bytes of all documents that were written and stay: not deleted, and not to expire
        by themselves.
        """
        return sum(self._sizes.values())

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._inner, name)
        if name in _ASIDE or not inspect.iscoroutinefunction(attribute):
            return attribute

        async def counted(*given: Any, **options: Any) -> Any:
            self.counts[name] += 1
            answer = await attribute(*given, **options)
            if self._dimensions is not None:
                requests, units = self._reckoned(name, given, options, answer)
                self.counts[f"{name}.requests"] += requests
                self.counts[f"{name}.milliunits"] += round(1000 * units)
            return answer

        return counted

    def _reckoned(
        self, name: str, given: Sequence[Any], options: Mapping[str, Any], answer: Any
    ) -> tuple[int, float]:
        """(requests, request units) of one call."""
        if name == "commit":
            return 1, self._committed(given[0], given[1])
        if name == "keep":
            return 1, self._written(given[0], given[1])
        if name == "fold":  # when each was accessed last is looked up before
            patched = sum(self._patched(given[0], memory_id) for memory_id in given[2])
            return 2, patched + self._written(given[0], given[1]) + STRONG * query_units(
                len(given[2]), ACCESSED * len(given[2])
            )
        if name == "snapshot":
            return self._looked(
                given[0],
                answer,
                given[1] if len(given) > 1 else (),
                given[2] if len(given) > 2 else None,
            )
        if name == "nearest":
            return self._compared(given[0], given[1], answer)
        if name == "search":
            return self._searched(given[0], given[1], answer)
        if name == "memories":
            return self._shown(
                given[0], answer, reads_head=options.get("seen") is None or self._before
            )
        if name == "coming":  # four aggregates
            return 4, 4 * self._vouched * query_units(1, 0)
        price = STRONG
        is_scenes = name == "page" and given[1] == "scene"
        is_of_a_run = name == "page" and given[2] is not None and given[2].ended_by is not None
        if name == "events" or is_scenes or is_of_a_run:
            price = self._vouched
        rows = len(answer) if isinstance(answer, list) else 1
        size = (
            sum(_size(item, 0) if isinstance(item, Document) else LOOKED_UP for item in answer)
            if isinstance(answer, list)
            else 0
        )
        return 1, price * query_units(rows, size)

    def _searched(self, owner: Owner, search: Search, answer: Found) -> tuple[int, float]:
        """Of a search that the service answers: memories come whole, but for their vectors,
        and are then at hand to be shown.
        """
        ids, compared = answer.candidates.ids, len(self._vectors.get(owner, ()))
        self._at_hand[owner] = frozenset(ids)
        head = STRONG * read_units(KB)
        known = 0 if answer.head is None else sum(answer.head.counts.values())
        if not self._before and search.where.at is None and 0 < known <= most_of_small(search):
            return 2, head + query_units(len(ids), self._bytes_of(owner, ids), compared)
        by_vector, terms = len(search.vectors[:MAX_VECTORS]), min(len(search.terms), MAX_TERMS)
        lists = ids[: search.limit]
        units = by_vector * query_units(len(lists), self._bytes_of(owner, lists), compared)
        if terms:  # the SDK has the words counted first
            units += query_units(0, 0, terms=terms) + query_units(
                len(lists), self._bytes_of(owner, lists), terms=terms
            )
        return 1 + by_vector + 2 * bool(terms), head + self._vouched * units

    def _compared(
        self, owner: Owner, nears: Sequence[Near], answer: Sequence[Mapping[str, float]]
    ) -> tuple[int, float]:
        """Of ids with similarities: of a user with few memories all of them by one query."""
        compared = len(self._vectors.get(owner, ()))
        if compared <= COMPARED_AT_ONCE * min(len(nears), VECTORS_A_QUERY):
            parts = -(-len(nears) // VECTORS_A_QUERY)
            size = (PLACED * parts + SIMILARITY * len(nears)) * compared
            first = query_units(compared * parts, size, compared * len(nears))
            return parts, self._vouched * (first + (parts - 1) * query_units(0, 0))
        rows = [min(near.limit, compared) for near in nears]
        size = PLACED + SIMILARITY
        return len(nears), self._vouched * sum(
            query_units(number, size * number, compared) for number in rows
        )

    def _shown(
        self, owner: Owner, answer: Mapping[str, Any], *, reads_head: bool
    ) -> tuple[int, float]:
        """Of memories by id; none for those that the last search brought."""
        missing = [name for name in answer if name not in self._at_hand.get(owner, ())]
        if not missing:
            return 0, 0.0
        units = self._vouched * query_units(
            len(missing), sum(len(answer[name].json) for name in missing)
        )
        return 1 + reads_head, units + STRONG * read_units(KB) * reads_head

    def _bytes_of(self, owner: Owner, ids: Sequence[str]) -> int:
        """Of memories as a search projects them, without vectors."""
        return sum(self._rows.get((owner, name), LOOKED_UP) for name in ids)

    def _looked(
        self, owner: Owner, seen: Snapshot, asked: Sequence[str], near: Near | None
    ) -> tuple[int, float]:
        units, requests = STRONG * read_units(KB), 1
        for (names, _), price in zip(split_ids(asked, None), (self._vouched, STRONG), strict=True):
            sizes = [
                _size(document, self._dimensions or 0) if document is not None else 0
                for document in map(seen.documents.get, names)
            ]
            if len(names) <= POINT_READS:
                requests, units = requests + len(names), units + price * sum(map(read_units, sizes))
            else:
                sizes = [size for size in sizes if size]
                requests, units = requests + 1, units + price * query_units(len(sizes), sum(sizes))
        if near is not None:
            size = sum(
                len(orjson.dumps(neighbour.memory.model_dump(mode="json"))) + self._vector
                for neighbour in seen.near
            )
            units += self._vouched * query_units(
                len(seen.near), size, len(self._vectors.get(owner, ()))
            )
            requests += 1
        return requests, units

    @property
    def _vector(self) -> int:
        return _vector_size(self._dimensions or 0)

    def _committed(self, owner: Owner, batch: Batch) -> float:
        head = {
            "kind": "head",
            "body": {"pending_tasks": batch.head.pending_tasks},
            "due_s": batch.head.due_at and 1.0,
        }
        units = write_units(
            len(batch.head.model_dump_json()),
            values=IDS + indexed_values(head),
            replaces=batch.expected is not None,
        )
        events = [event.model_dump(mode="json") for event in batch.events]
        if len(events) >= MIN_A_PAGE:
            units += self._page_written(owner, page_of(owner, events))
        else:
            for event in events:
                units += self._written(owner, Document(event["id"], "event", event))
        for write in batch.writes:
            if write.mode == "delete":
                self._vectors.get(owner, set()).discard(write.document.id)
                units += write_units(self._sizes.pop((owner, write.document.id), KB))
            else:
                units += self._written(owner, write.document)
        for name, mark in batch.marks.items():
            if mark.is_expected:
                continue
            units += self._patched(owner, name) + (0.0 if mark.embedding is None else 4.0)
            mine = self._vectors.setdefault(owner, set())
            if mark.embedding is not None and name not in mine and (owner, name) in self._sizes:
                mine.add(name)
                self._sizes[owner, name] += self._vector
        return units

    def _page_written(self, owner: Owner, page: Item) -> float:
        """Of the events of one commit, which are one document."""
        size = self._sizes[owner, page["id"]] = len(orjson.dumps(page["body"]))
        return write_units(size, values=indexed_values(page))

    def _patched(self, owner: Owner, name: str) -> float:
        """Of a patch, which replaces the whole document; two values of the index change."""
        return write_units(self._sizes.get((owner, name), LOOKED_UP), values=2, replaces=True)

    def _written(self, owner: Owner, document: Document) -> float:
        size, place = _size(document, self._dimensions or 0), (owner, document.id)
        replaces = place in self._written_once
        self._written_once.add(place)
        self._sizes[place] = size
        if document.expires_at is not None:
            del self._sizes[place]
        if document.vector is not None and document.kind == "memory":
            self._vectors.setdefault(owner, set()).add(document.id)
        item = item_of(owner, replace(document, vector=None, expires_at=None), NO_MOMENT)
        if document.kind == "memory":
            fields = {name: name for name in MEMORY_FIELDS} if self._before else SHORT_NAMES
            self._rows[place] = len(
                orjson.dumps({short: item[name] for name, short in fields.items() if name in item})
            )
        words = len(set(str(item.get("search_text", "")).split()))
        return write_units(
            size,
            int(document.vector is not None),
            values=indexed_values(item),
            words=words,
            replaces=replaces,
        )


def _size(document: Document, dimensions: int) -> int:
    return len(orjson.dumps(document.body)) + (
        _vector_size(dimensions) if document.vector is not None else 0
    )


def _vector_size(dimensions: int) -> int:
    return round(VECTOR_BYTES * dimensions)


class CountedQueue:
    """Counts messages by queue and by what they ask for: a range, a user, a task. Each is three
    operations: sent, received, deleted.
    """

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
    """Agents that count what a model would have read and written in their place: prompt,
    what was passed, and the answer.
    """

    def __init__(self, inner: Agents, counts: Counter[str]) -> None:
        self._inner, self.counts = inner, counts
        folder = resources.files("memory_core.prompts")
        self._prompts = {name: len((folder / f"{name}.md").read_text()) for name in _PROMPTS}

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._inner, name)
        if name not in self._prompts:
            return attribute

        async def counted(app_id: str, *given: Any, **options: Any) -> Any:
            answer = await attribute(app_id, *given, **options)
            read = self._prompts[name] + sum(
                len(orjson.dumps(argument, default=_plain)) for argument in given
            )
            self.counts["calls"] += 1
            self.counts[f"calls.{name}"] += 1
            self.counts["prompt_tokens"] += read // CHARACTERS_A_TOKEN
            self.counts["completion_tokens"] += (
                len(answer.value.model_dump_json()) // CHARACTERS_A_TOKEN
            )
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

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of a query's sentences."""
        self.counts["embedded_tokens"] += sum(map(len, texts)) // CHARACTERS_A_TOKEN
        return await self._inner.embed_queries(texts)


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)
