"""Databases and containers, and how a container's documents change: one commit after the other,
then to a copy that lags.

Note: the lagging copy is a real second state, not a filter. A read from it sees the container
exactly as it was some commits or milliseconds ago, whole transactions at a time.
"""

from __future__ import annotations

import heapq
import secrets
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from tests.cosmos_emulator.copies import Copy
from tests.cosmos_emulator.file import Change, File
from tests.cosmos_emulator.items import (
    Item,
    check_id,
    check_size,
    check_ttl,
    dumps,
    expiry,
    pack_vector,
)
from tests.cosmos_emulator.keys import range_bounds
from tests.cosmos_emulator.policies import Policies
from tests.cosmos_emulator.refused import CONTAINER_MISSING, Refused


class Clock:
    """Seconds since 1970; tests may move it forward."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def now(self) -> float:
        """The moment."""
        return time.time() + self.ahead_s


@dataclass(slots=True)
class Lag:
    """How far the second copy is behind: by time, by commits, or by both (then the older of the two
    states is served).
    """

    milliseconds: float = 0.0
    commits: int = 0


class Container:
    """Policies and documents of one container."""

    def __init__(
        self, rid: str, database_rid: str, policies: Policies, file: File, clock: Clock
    ) -> None:
        self.rid = rid
        self.database_rid = database_rid
        self.policies = policies
        self.lsn = 0
        self._boot = secrets.token_hex(4)
        self._rids = 0
        self._file = file
        self._clock = clock
        self._primary = Copy()
        self._expiring: list[tuple[float, str, str, str]] = []
        self._lag: Lag | None = None
        self._behind = Copy()
        self._pending: deque[tuple[float, int, Sequence[Change]]] = deque()

    def load(self, lsn: int) -> None:
        """Take the documents from the file."""
        self.lsn = self._primary.lsn = lsn
        for key, rid, item_lsn, stored in self._file.items(self.rid):
            body = orjson.loads(stored)
            self._pack(body)
            item = Item(
                body["id"],
                key,
                body,
                len(stored),
                item_lsn,
                rid,
                expiry(body, self.policies.default_ttl),
            )
            self._rids = max(self._rids, rid)
            self._put(item)

    def make(self, body: dict[str, Any], replaces: Item | None) -> Item:
        """The next version of a document, checked, with system properties; not stored yet."""
        id_ = check_id(body.get("id"))
        check_ttl(body)
        key = self.policies.key.of(body)
        if replaces is None:
            self._rids += 1
        rid = replaces.rid if replaces else self._rids
        lsn = self.lsn + 1
        name = f"{self.rid}{rid:012x}"
        body = {
            **body,
            "_rid": name,
            "_self": f"dbs/{self.database_rid}/colls/{self.rid}/docs/{name}/",
            "_etag": f'"{self._boot}-0000-0000-0000-{secrets.token_hex(6)}"',
            "_attachments": "attachments/",
            "_ts": int(self._clock.now()),
        }
        self._pack(body)
        size = len(dumps(body))
        check_size(size)
        return Item(id_, key, body, size, lsn, rid, expiry(body, self.policies.default_ttl))

    def apply(self, changes: Sequence[Change]) -> None:
        """One commit: all changes, under one number."""
        if not changes:
            return
        self.lsn += 1
        self._file.commit(self.rid, self.lsn, changes)
        for key, id_, item in changes:
            if item is None:
                self._primary.remove(key, id_)
            else:
                self._put(item)
        self._primary.lsn = self.lsn
        if self._lag is not None:
            self._pending.append((self._clock.now(), self.lsn, changes))

    def current(self) -> Copy:
        """Everything that was acknowledged, without what has expired."""
        now = self._clock.now()
        gone: list[Change] = []
        while self._expiring and self._expiring[0][0] <= now:
            _, key, id_, etag = heapq.heappop(self._expiring)
            item = self._primary.get(key, id_)
            if item is not None and item.etag == etag:
                gone.append((key, id_, None))
        self.apply(gone)
        return self._primary

    def behind(self) -> Copy:
        """What the lagging replica has by now."""
        current = self.current()
        if self._lag is None:
            return current
        seen_until = self._clock.now() - self._lag.milliseconds / 1000
        while self._pending:
            at, lsn, changes = self._pending[0]
            if at > seen_until or lsn > self.lsn - self._lag.commits:
                break
            self._pending.popleft()
            for key, id_, item in changes:
                if item is None:
                    self._behind.remove(key, id_)
                else:
                    self._behind.put(item, self.policies.key.hash(key))
            self._behind.lsn = lsn
        return self._behind

    def set_lag(self, lag: Lag | None) -> None:
        """Let the second copy fall behind from now on; None: it keeps up."""
        if lag is not None and self._lag is None:
            self._pending.clear()
            self._behind = Copy()
            for item in self.current().items():
                self._behind.put(item, self.policies.key.hash(item.key))
            self._behind.lsn = self.lsn
        self._lag = lag

    def redefine(self, policies: Policies) -> None:
        """Take a new definition; every document's expiry follows the new default."""
        self.policies = policies
        self._expiring.clear()
        for item in list(self._primary.items()):
            self._put(
                Item(
                    item.id,
                    item.key,
                    item.body,
                    item.size,
                    item.lsn,
                    item.rid,
                    expiry(item.body, policies.default_ttl),
                )
            )

    def _pack(self, body: dict[str, Any]) -> None:
        for path, embedding in self.policies.embeddings.items():
            pack_vector(body, path, embedding.dimensions)

    def _put(self, item: Item) -> None:
        self._primary.put(item, self.policies.key.hash(item.key))
        if item.expires is not None:
            heapq.heappush(self._expiring, (item.expires, item.key, item.id, item.etag))


@dataclass(frozen=True, slots=True)
class Ranking:
    """What the account makes of ORDER BY RANK: `ignores_with_key`, and `refuses_distance` beside
    it, are what live accounts may do.
    """

    ignores_with_key: bool = False
    refuses_distance: bool = False


class Account:
    """All databases. `ranges`: in how many physical ranges each container lies."""

    def __init__(
        self, file: File, clock: Clock, consistency: str, ranges: int, ranking: Ranking
    ) -> None:
        self.clock = clock
        self.consistency = consistency
        self.ranges = range_bounds(ranges)
        self.ranking = ranking
        self.lag: Lag | None = None
        self.rids: dict[str, str] = dict(file.databases())
        self._file = file
        self._containers: dict[str, dict[str, Container]] = {id_: {} for id_ in self.rids}
        for rid, database, definition, lsn in file.containers():
            self._add(database, rid, Policies(definition)).load(lsn)

    def database(self, id_: str) -> dict[str, Container]:
        """A database's containers by id, or 404."""
        if id_ not in self._containers:
            raise Refused(404, f"The database {id_!r} does not exist", CONTAINER_MISSING)
        return self._containers[id_]

    def container(self, database: str, id_: str) -> Container:
        """A container, or 404 with the sub-status that says that it is the container."""
        container = self.database(database).get(id_)
        if container is None:
            raise Refused(
                404, f"The container {id_!r} does not exist in {database!r}", CONTAINER_MISSING
            )
        return container

    def create_database(self, id_: str) -> None:
        """A new, empty database."""
        if check_id(id_) in self._containers:
            raise Refused(409, f"The database {id_!r} exists")
        self.rids[id_] = secrets.token_hex(4)
        self._containers[id_] = {}
        self._file.add_database(id_, self.rids[id_])

    def delete_database(self, id_: str) -> None:
        """A database with all in it."""
        for container in list(self.database(id_)):
            self.delete_container(id_, container)
        del self._containers[id_], self.rids[id_]
        self._file.remove_database(id_)

    def create_container(self, database: str, definition: dict[str, Any]) -> Container:
        """A new, empty container."""
        policies = Policies(definition)
        if policies.id in self.database(database):
            raise Refused(409, f"The container {policies.id!r} exists")
        rid = secrets.token_hex(8)
        self._file.put_container(rid, database, policies.given)
        return self._add(database, rid, policies)

    def copy_container(self, of: Sequence[str], to: Sequence[str]) -> None:
        """A new, empty container with the policies of another, in a database that it may make;
        each is named by its database and itself.
        """
        definition = {**self.container(*of).policies.given, "id": to[1]}
        if to[0] not in self._containers:
            self.create_database(to[0])
        self.create_container(to[0], definition)

    def replace_container(self, database: str, id_: str, definition: dict[str, Any]) -> Container:
        """Another definition for a container, its documents kept."""
        container = self.container(database, id_)
        container.redefine(container.policies.replaced_by({**definition, "id": id_}))
        self._file.put_container(container.rid, database, container.policies.given)
        return container

    def delete_container(self, database: str, id_: str) -> None:
        """A container with all in it."""
        self._file.remove_container(self.container(database, id_).rid)
        del self._containers[database][id_]

    def set_lag(self, lag: Lag | None) -> None:
        """The lag of every container's second copy, of those made later too."""
        self.lag = lag
        for containers in self._containers.values():
            for container in containers.values():
                container.set_lag(lag)

    def _add(self, database: str, rid: str, policies: Policies) -> Container:
        made = Container(rid, self.rids[database], policies, self._file, self.clock)
        made.set_lag(self.lag)
        self._containers[database][policies.id] = made
        return made
