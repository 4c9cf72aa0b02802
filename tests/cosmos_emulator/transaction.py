"""Writing documents: each operation against what the transaction has staged so far,
then all of it in one commit.

A single write is a transaction of one operation, so batches and single writes can not differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.cosmos_emulator import charges
from tests.cosmos_emulator.items import Item, check_id
from tests.cosmos_emulator.patch import patched
from tests.cosmos_emulator.refused import KEY_MISMATCH, Refused, bad_request
from tests.cosmos_emulator.store import Container


@dataclass(frozen=True, slots=True)
class Condition:
    """If-Match and If-None-Match."""

    match: str | None = None
    none_match: str | None = None

    def check(self, item: Item | None) -> None:
        """412 unless the stored version is the one that was asked for."""
        if self.match is not None and item is not None and self.match not in ("*", item.etag):
            raise Refused(
                412,
                "Operation cannot be performed because one of the specified precondition is "
                "not met",
            )
        if self.none_match is not None and item is not None and self.none_match in ("*", item.etag):
            raise Refused(
                412,
                "Operation cannot be performed because one of the specified precondition is "
                "not met",
            )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one operation did. item: what is there now, None after a delete."""

    status: int
    item: Item | None
    charge: float


class Transaction:
    """Operations on documents of one partition key; `commit` makes them true."""

    def __init__(self, container: Container, key: str) -> None:
        self._container = container
        self._key = key
        self._copy = container.current()
        self._staged: dict[str, Item | None] = {}

    def get(self, id_: str) -> Item | None:
        """What is there, staged changes included."""
        return self._staged[id_] if id_ in self._staged else self._copy.get(self._key, id_)

    def commit(self) -> None:
        """Apply everything that was staged."""
        self._container.apply([(self._key, id_, item) for id_, item in self._staged.items()])

    def create(self, body: dict[str, Any]) -> Outcome:
        """A document that must not exist."""
        if self.get(check_id(body.get("id"))) is not None:
            raise Refused(409, "Resource with specified id or name already exists")
        return self._stage(body, None, 201)

    def upsert(self, body: dict[str, Any], condition: Condition) -> Outcome:
        """A document, whether it exists or not."""
        existing = self.get(check_id(body.get("id")))
        condition.check(existing)
        return self._stage(body, existing, 200 if existing else 201)

    def replace(self, id_: str, body: dict[str, Any], condition: Condition) -> Outcome:
        """A new body for a document that must exist; its id can not change."""
        existing = self.existing(id_)
        condition.check(existing)
        if body.get("id") != id_:
            raise bad_request("The id of a document can not be changed")
        return self._stage(body, existing, 200)

    def patch(self, id_: str, body: dict[str, Any], condition: Condition) -> Outcome:
        """Some changes to a document that must exist."""
        existing = self.existing(id_)
        condition.check(existing)
        changed = patched(existing.body, body, self._container.policies)
        return self._stage(changed, existing, 200)

    def delete(self, id_: str, condition: Condition) -> Outcome:
        """The end of a document that must exist."""
        existing = self.existing(id_)
        condition.check(existing)
        self._staged[id_] = None
        return Outcome(204, None, charges.write(existing.size))

    def read(self, id_: str, condition: Condition) -> Outcome:
        """A document that must exist; 304 when it is the version that the reader has."""
        existing = self.existing(id_)
        if condition.none_match is not None and condition.none_match in ("*", existing.etag):
            return Outcome(304, existing, charges.read(0))
        return Outcome(200, existing, charges.read(existing.size))

    def existing(self, id_: str) -> Item:
        """What is there, or 404."""
        item = self.get(id_)
        if item is None:
            raise Refused(404, "Entity with the specified id does not exist in the system")
        return item

    def _stage(self, body: dict[str, Any], existing: Item | None, status: int) -> Outcome:
        made = self._container.make(body, existing)
        if made.key != self._key:
            raise bad_request(
                "PartitionKey extracted from document doesn't match the one specified in "
                "the header",
                KEY_MISMATCH,
            )
        self._staged[made.id] = made
        return Outcome(
            status, made, charges.write(made.size, len(self._container.policies.embeddings))
        )
