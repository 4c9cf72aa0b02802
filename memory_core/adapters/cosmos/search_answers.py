"""Two lists of items as one candidate set, with the statistics that relevance needs.

Note: the service's order of the lexical list picks candidates and does nothing else. What a
memory is worth is computed from its own tokens, by the same function as for every other store.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from math import log1p
from typing import Any

from memory_core.adapters.cosmos.items import Item, belonging, memory_of
from memory_core.adapters.cosmos.queries import SIMILARITIES
from memory_core.domain.errors import Damaged
from memory_core.domain.event_log import is_version
from memory_core.domain.memory import Head, Lexical, Memory
from memory_core.domain.ranking.candidates import (
    TURNS_THAT_LEND,
    CandidateSet,
    Statistics,
    from_memories,
    listed,
    mean_log_length,
    own_length,
    without_lent_words,
)
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.ports import Found, Search

log = logging.getLogger(__name__)


Rows = Sequence[Mapping[str, Any]]


def readable(head: Head | None, rows: Iterable[Item]) -> dict[str, Memory]:
    """The memories of the head's epoch by id.

    Memories that cannot be parsed are left out, so that they do not hide the rest.

    Args:
        head: The head; None yields no memory.
        rows: The rows of the memories.

    """
    ours = {
        row["id"]: row
        for row in belonging(rows, head)
        if head is not None and row["epoch"] == head.epoch
    }
    return {name: memory for name, row in ours.items() if (memory := _readable(row)) is not None}


def lending_turns(search: Search, memories: Iterable[Memory]) -> frozenset[tuple[str, int]]:
    """Session and turn of messages that may have lent a term to a memory.

    A term is lent when the memory does not say it itself.

    Args:
        search: The query.
        memories: The memories that it found.

    """
    return frozenset(
        (memory.session_id, turn)
        for memory in memories
        if memory.session_id is not None
        and any(_is_lent(memory.lexical, term) for term in search.terms)
        for turn in _turns_before(memory)
    )


def search_answer(
    head: Head | None,
    search: Search,
    near: Sequence[Rows],
    worded: Rows,
    memories: Mapping[str, Memory],
    charge: float,
    kind: VectorKind,
    deleted: Rows = (),
) -> Found:
    """The answer to a search.

    Args:
        head: The head that it was read at.
        search: The query.
        near: The rows by vector, a list for each sentence.
        worded: The rows by words.
        memories: The memories of those rows that can be parsed, by id.
        charge: The cost of the search, in request units.
        kind: The model and length of the query's vectors. A similarity to a vector of another kind
            is ignored.
        deleted: Session and turn of deleted turns, which lend no words.

    """
    nearest = [row for of_rank in zip_longest(*near) for row in of_rank if row is not None]
    rows = {row["id"]: row for row in (*nearest, *worded) if row["id"] in memories}
    comparable = {
        name for name, row in rows.items() if row.get("embedding_model") in (None, kind.model)
    }
    asked = listed(search.terms, search.related)
    hidden = {(row["session_id"], turn) for row in deleted if (turn := row.get("turn")) is not None}
    alone = {
        name
        for name, memory in memories.items()
        if any((memory.session_id, turn) in hidden for turn in _turns_before(memory))
    }
    lists = {
        "vector": list(dict.fromkeys(row["id"] for row in nearest if row["id"] in comparable)),
        # The service's analyser may take two words for one that ours tells apart ("c++" and "c").
        "lexical": [
            row["id"]
            for row in worded
            if row["id"] in memories
            and _holds_any(memories[row["id"]].lexical, asked, row["id"] in alone)
        ],
    }
    chosen = {
        identity: memories[identity]
        for identity in dict.fromkeys(lists["vector"] + lists["lexical"])
    }
    cosines = {
        identity: similarities
        for identity in chosen
        if identity in comparable and (similarities := _similarities(rows[identity], search))
    }
    apart = [
        _without_turn(memory) if is_version(identity) else memory
        for identity, memory in chosen.items()
    ]
    candidates = from_memories(
        apart, search.terms, search.compared, cosines, search.related, search.where.has_faded
    )
    if alone:
        candidates = without_lent_words(candidates, alone)
    candidates.memories, candidates.lists = chosen, lists
    return Found(head, candidates, _statistics(candidates, search.terms, apart), charge)


def lists_of(rows: Rows, search: Search) -> tuple[list[Rows], Rows]:
    """Divide all memories of a small user into the lists that the service would make.

    Args:
        rows: The rows of all memories.
        search: The query.

    Returns:
        The lists by each vector, and the list by words.

    """
    near: list[Rows] = [
        sorted((row for row in rows if name in row), key=lambda row, name=name: -row[name])[  # type: ignore[misc]
            : search.limit
        ]
        for name in SIMILARITIES[: len(search.vectors)]
    ]
    asked = set(listed(search.terms, search.related))
    mentions = {row["id"]: asked & _words_of(row) for row in rows}
    holders = Counter(term for terms in mentions.values() for term in terms)
    worth = {term: log1p(len(rows) / count) for term, count in holders.items()}
    worded = [row for row in rows if mentions[row["id"]]]
    return near, sorted(worded, key=lambda row: -sum(worth[term] for term in mentions[row["id"]]))[
        : search.limit
    ]


def _words_of(row: Mapping[str, Any]) -> set[str]:
    lexical = row.get("lexical")
    parts = (
        [lexical.get(name) for name in ("own", "date", "previous", "before_previous")]
        if isinstance(lexical, dict)
        else []
    )
    return {word for part in parts if isinstance(part, dict) for word in part}


def with_similarities(rows: Rows, known: Rows) -> Rows:
    """The rows, each with the similarities of another row of the same memory.

    Args:
        rows: The rows to complete.
        known: The rows that have similarities.

    """
    numbered = {
        row["id"]: {name: row[name] for name in SIMILARITIES if name in row} for row in known
    }
    return [{**row, **numbered.get(row["id"], {})} for row in rows]


def _similarities(row: Mapping[str, Any], search: Search) -> list[float]:
    """A similarity for each vector of the search; empty for a memory without a vector."""
    names = SIMILARITIES[: len(search.vectors)]
    return [float(row[name]) for name in names] if all(name in row for name in names) else []


def _readable(row: Mapping[str, Any]) -> Memory | None:
    """The memory in a row.

    None when it cannot be parsed, so that it does not hide the rest.
    """
    try:
        return memory_of(row)
    except Damaged as error:
        log.error("a search leaves it out: %s", error.detail)
        return None


def _turns_before(memory: Memory) -> list[int]:
    """The turns of its session that lent a memory words.

    An old version has none, since it has only kept the words.
    """
    turn = None if is_version(memory.id) else memory.lexical.turn
    return [] if turn is None else [turn - step for step in range(1, TURNS_THAT_LEND + 1)]


def _is_lent(lexical: Lexical, term: str) -> bool:
    is_own = term in lexical.own or term in lexical.date
    return not is_own and (term in lexical.previous or term in lexical.before_previous)


def _holds_any(lexical: Lexical, terms: Sequence[str], alone: bool) -> bool:
    """Whether a memory has any of the terms.

    `alone` says whether only its own words count.
    """
    parts = (
        lexical.own,
        lexical.date,
        *(() if alone else (lexical.previous, lexical.before_previous)),
    )
    return any(term in part for part in parts for term in terms)


def _without_turn(version: Memory) -> Memory:
    """An old version without its turn.

    The memory itself has that place in the session.
    """
    return version.changed(lexical=version.lexical.changed(turn=None))


def _statistics(
    candidates: CandidateSet, terms: Sequence[str], memories: Sequence[Memory]
) -> Statistics:
    """Statistics over the candidates alone: their number, their length, and the holders of a term.

    The frequency of a term among all of a user's memories would need a table of terms. The counts
    over the two lists of 50 cost no recall (.81 either way), as long as all counts are of the same
    set. Against the number of all memories, a term that is frequent among the candidates would look
    rare.
    """
    documents = len(candidates)
    turns = [
        own_length(memory.lexical)
        for memory in memories
        if memory.session_id is not None and memory.lexical.turn is not None
    ]
    return Statistics(
        documents=documents,
        mean_length=float(candidates.length.mean()) if documents else 0.0,
        document_frequency=dict(zip(terms, candidates.own.sum(axis=0).tolist(), strict=True)),
        actors=frozenset(actor for actor in candidates.actor if actor is not None),
        turn_log_length=mean_log_length(turns),
    )
