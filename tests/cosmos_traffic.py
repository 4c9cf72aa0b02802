"""What requests to the Cosmos emulator may look like, checked over whatever traffic a
test has made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from memory_core.domain.scope import Owner

DOCUMENTS = frozenset(
    {
        "read",
        "query",
        "batch",
        "create",
        "upsert",
        "replace",
        "patch",
        "delete",
        "feed",
        "changes",
        "delete_partition",
    }
)
TEXT_SCORE = "FullTextScore("
"""In a query by words, which may come without a key, planned by the service: its clause confines
it, and finds the range.
"""
STATISTICS = "_FullTextStatistics"
"""In the query by which the SDK counts words before a full-text one: it has no clause,
and is confined by its key alone.
"""
_HEADS = r"""c(\.kind|\["kind"\]) = ['"]head['"]"""
_TASKS = r"""c(\.kind|\["kind"\]) = ['"]task['"]"""
_APP = r"""\(?c(\.|\[.)app_id(.\])? = @app_id\)*"""
_POISONED = r"""\(?c(\.|\[.)body(.\])?(\.|\[.)status(.\])? = ['"]poisoned['"]"""
_DUE = r"""c(\.kind|\["kind"\]) IN \(['"]head['"], ['"]accesses['"]\)"""
ACROSS = (
    re.compile(_HEADS),
    re.compile(_DUE),
    re.compile(rf"WHERE \W*{_TASKS}\)? AND {_APP} AND {_POISONED}"),
)
"""In the queries that are over all users. Those for whose work waits and whose agents are listed
read heads and nothing else; that for who is due reads since when, of heads and of accesses that
wait; that for tasks which were given up reads these, of one app.
"""
CLAUSE = re.compile(
    r"c(\.|\[.)app_id(.\])? = @p0\b.*c(\.|\[.)user_id(.\])? = @p1\b.*c(\.|\[.)owner(.\])? = @p2\b",
    re.DOTALL,
)


def is_by_words(statement: str) -> bool:
    """Whether it is a query by words whose clause names one user, or the count of
    words before it.
    """
    return STATISTICS in statement or (
        TEXT_SCORE in statement and CLAUSE.search(statement) is not None
    )


def check_that_each_names_one_user(requests: Iterable[Mapping[str, Any]]) -> int:
    """Every request for documents has a partition key of two ids, and every query names these and
    the key again. How many there were.
    """
    checked = 0
    for request in requests:
        if request["operation"] not in DOCUMENTS:
            continue
        if not request["key"] and any(query.search(request["statement"] or "") for query in ACROSS):
            continue
        if not request["key"] and is_by_words(request["statement"] or ""):
            checked += 1
            continue
        assert request["key"], f"no partition key: {request}"
        key = json.loads(request["key"])
        assert len(key) == 1, request
        assert all(owner_of(key[0])), request
        statement = request["statement"]
        if statement is not None and STATISTICS not in statement:
            assert CLAUSE.search(statement), request
        checked += 1
    return checked


def owner_of(partition: str) -> Owner:
    """The owner with this partition key. Raises ValueError for any other text."""
    app_id, user_id = (
        part.replace("%2F", "/").replace("%25", "%") for part in partition.split("/")
    )
    return Owner(app_id, user_id)
