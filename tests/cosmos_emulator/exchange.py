"""One request and its answer, free of the web server's types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.cosmos_emulator.items import dumps
from tests.cosmos_emulator.refused import bad_request

KEY = "x-ms-documentdb-partitionkey"
CONSISTENCY = "x-ms-consistency-level"
RANGE = "x-ms-documentdb-partitionkeyrangeid"


@dataclass(frozen=True, slots=True)
class Asked:
    """method, path (unquoted parts), headers (names in lower case), body.

    behind: it came in by the lagging replica's port. url: of the account, as the client names it.
    """

    method: str
    path: tuple[str, ...]
    headers: Mapping[str, str]
    body: bytes
    behind: bool
    url: str

    def flag(self, name: str) -> bool:
        """Whether a header says true."""
        return self.headers.get(name, "").casefold() == "true"

    def json(self) -> Any:
        """The body; 400 when it is not JSON."""
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            raise bad_request(f"The request payload is invalid: {error}") from error

    @property
    def creates(self) -> bool:
        """Whether a POST to a list makes a new entry, rather than query the list."""
        return self.method == "POST" and not self.flag("x-ms-documentdb-isquery")

    @property
    def operation(self) -> str:
        """What kind of request it is: the word that fault rules and the request log use."""
        if self.path[4:5] == ("pkranges",):
            return "ranges"
        if self.path[4:5] == ("operations",):
            return "delete_partition"
        if self.path[4:5] != ("docs",):
            return "container" if "colls" in self.path else "database" if self.path else "account"
        if len(self.path) == 6:
            return {"GET": "read", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}.get(
                self.method, "unknown"
            )
        if self.method == "GET":
            return "changes" if "a-im" in self.headers else "feed"
        for header, operation in POSTS:
            if self.flag(header):
                return operation
        return "create"


POSTS = (
    ("x-ms-cosmos-is-query-plan-request", "plan"),
    ("x-ms-documentdb-isquery", "query"),
    ("x-ms-cosmos-is-batch-request", "batch"),
    ("x-ms-documentdb-is-upsert", "upsert"),
)
READS = ("read", "query", "plan", "feed", "changes")
WRITES = ("create", "upsert", "replace", "patch", "delete", "batch", "delete_partition")


@dataclass(slots=True)
class Answer:
    """What goes back. charge: request units."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    charge: float = 0.0


def answer(status: int, value: Any, charge: float = 1.0, **headers: str) -> Answer:
    """An answer of JSON."""
    return Answer(
        status,
        dumps(value),
        {name.replace("_", "-"): text for name, text in headers.items()},
        charge,
    )
