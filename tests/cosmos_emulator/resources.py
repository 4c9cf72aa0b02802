"""Requests about the account, databases, containers and their ranges, and the way of all others to
`documents` and `feed`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.cosmos_emulator import documents, feed
from tests.cosmos_emulator.exchange import WRITES, Answer, Asked, answer
from tests.cosmos_emulator.refused import RECREATED, Refused, bad_request
from tests.cosmos_emulator.store import Account, Container

MAX_STALENESS = {"maxStalenessPrefix": 100_000, "maxIntervalInSeconds": 300}


def handle(asked: Asked, account: Account) -> Answer:
    """The answer to any request of the protocol; raises Refused."""
    if "authorization" not in asked.headers:
        raise Refused(
            401,
            "Required Header authorization is missing. Ensure a valid Authorization token "
            "is passed",
        )
    match asked.path:
        case ():
            return answer(200, _account(asked, account))
        case ("dbs", *rest) if len(rest) <= 1:
            return _database(asked, account, *rest)
        case ("dbs", database, "colls", *rest) if len(rest) <= 1:
            return _container(asked, account, database, *rest)
        case ("dbs", database, "colls", container, *rest):
            return _inside(asked, account, account.container(database, container), rest)
    raise Refused(404, f"The emulator serves nothing at /{'/'.join(asked.path)}")


def _account(asked: Asked, account: Account) -> dict[str, Any]:
    here = [{"name": "Emulated Region", "databaseAccountEndpoint": asked.url}]
    return {
        "_self": "",
        "id": "emulator",
        "_rid": "emulator.documents",
        "media": "//media/",
        "addresses": "//addresses/",
        "_dbs": "//dbs/",
        "writableLocations": here,
        "readableLocations": here,
        "enableMultipleWriteLocations": False,
        "userConsistencyPolicy": {"defaultConsistencyLevel": account.consistency, **MAX_STALENESS},
    }


def _database(asked: Asked, account: Account, id_: str | None = None) -> Answer:
    if id_ is None and asked.creates:
        name = asked.json().get("id")
        account.create_database(name)
        return answer(201, _database_body(account, name), 4.95)
    if id_ is None:
        return answer(
            200,
            {
                "_rid": "",
                "Databases": [_database_body(account, name) for name in account.rids],
                "_count": len(account.rids),
            },
        )
    account.database(id_)
    if asked.method == "DELETE":
        account.delete_database(id_)
        return Answer(204, charge=4.95)
    return answer(200, _database_body(account, id_))


def _database_body(account: Account, id_: str) -> dict[str, Any]:
    rid = account.rids[id_]
    return {
        "id": id_,
        "_rid": rid,
        "_self": f"dbs/{rid}/",
        "_etag": f'"{rid}"',
        "_colls": "colls/",
        "_users": "users/",
        "_ts": 0,
    }


def _container(asked: Asked, account: Account, database: str, id_: str | None = None) -> Answer:
    if id_ is None and asked.creates:
        return answer(201, _container_body(account.create_container(database, asked.json())), 4.95)
    if id_ is None:
        bodies = [_container_body(container) for container in account.database(database).values()]
        return answer(
            200,
            {"_rid": account.rids[database], "DocumentCollections": bodies, "_count": len(bodies)},
        )
    container = account.container(database, id_)
    if asked.method == "DELETE":
        account.delete_container(database, id_)
        return Answer(204, charge=4.95)
    if asked.method == "PUT":
        container = account.replace_container(database, id_, asked.json())
    return answer(200, _container_body(container))


def _container_body(container: Container) -> dict[str, Any]:
    link = f"dbs/{container.database_rid}/colls/{container.rid}/"
    system = {
        "_rid": container.rid,
        "_self": link,
        "_etag": f'"{container.rid}"',
        "_ts": 0,
        "_docs": "docs/",
    }
    return {**container.policies.given, **system}


def _inside(asked: Asked, account: Account, container: Container, rest: list[str]) -> Answer:
    intended = asked.headers.get("x-ms-cosmos-intended-collection-rid")
    if intended and intended != container.rid:
        raise bad_request("The container was deleted and created anew", RECREATED)
    operation = asked.operation
    if rest == ["pkranges"]:
        return _ranges(asked, account, container)
    if operation == "plan":
        return feed.query_plan(asked, account, container)
    reading = READING.get(operation)
    if reading is not None:
        return reading(asked, account, container)
    if operation in WRITES:
        return documents.write(asked, account, container)
    raise Refused(404, f"The emulator serves nothing at /{'/'.join(asked.path)}")


READING: dict[str, Callable[[Asked, Account, Container], Answer]] = {
    "query": feed.query,
    "feed": feed.documents,
    "changes": feed.changes,
    "read": documents.read,
    "batch": documents.run_batch,
    "delete_partition": documents.delete_partition,
}


def _ranges(asked: Asked, account: Account, container: Container) -> Answer:
    etag = f'"{len(account.ranges)}"'
    if asked.headers.get("if-none-match") == etag:
        return Answer(304, headers={"etag": etag}, charge=1.0)
    ranges = [
        {
            "_rid": f"{container.rid}{number}",
            "id": str(number),
            "minInclusive": low,
            "maxExclusive": high,
            "status": "online",
            "parents": [],
        }
        for number, (low, high) in enumerate(account.ranges)
    ]
    made = answer(200, {"_rid": container.rid, "PartitionKeyRanges": ranges, "_count": len(ranges)})
    made.headers = {"etag": etag, "x-ms-item-count": str(len(ranges))}
    return made
