"""A real account that tests may use, as the environment names it; what they make in it is theirs,
and goes when they end.

Note: nothing that was there before is ever opened. What already has a name that we
would use is a reason to stop, not to go on.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ResourceExistsError
from azure.cosmos import CosmosClient, DatabaseProxy
from azure.identity import DefaultAzureCredential
from azure.storage.queue import QueueServiceClient

from memory_core.adapters.azure_storage.account import StorageAccount
from memory_core.adapters.queue_rules import QUEUES

PREFIX = "memory-live-"
SIZES = "100,1000,10000"


class Refused(Exception):
    """Why the tests don't begin, in words for the person that started them."""


@dataclass(frozen=True, slots=True)
class Live:
    """What the environment says. Cosmos DB is always used; queues and blobs where
    they are named.
    """

    cosmos_endpoint: str
    cosmos_key: str | None = field(repr=False)
    queues: StorageAccount | None
    blobs: StorageAccount | None
    sizes: tuple[int, ...]
    report: Path

    @classmethod
    def of(cls, environ: Mapping[str, str] = os.environ) -> Live:
        """Read the variables. Raises Refused when the account is not named, or a size
        is no number.
        """
        given = {
            name.removeprefix("MEMORY_LIVE_"): value
            for name, value in environ.items()
            if name.startswith("MEMORY_LIVE_") and value
        }
        if "COSMOS_ENDPOINT" not in given:
            raise Refused(
                "MEMORY_LIVE_COSMOS_ENDPOINT is not set: docs/live.md says what these tests need"
            )
        try:
            sizes = tuple(int(size) for size in given.get("SIZES", SIZES).split(","))
        except ValueError:
            raise Refused(
                f"MEMORY_LIVE_SIZES={given['SIZES']}: should be numbers of vectors, like {SIZES}"
            ) from None
        return cls(
            given["COSMOS_ENDPOINT"],
            given.get("COSMOS_KEY"),
            _storage(given, "QUEUE_URL"),
            _storage(given, "BLOB_URL"),
            sizes,
            Path(given.get("REPORT", "build/request-units.json")),
        )


def _storage(given: Mapping[str, str], url: str) -> StorageAccount | None:
    connection = given.get("STORAGE_CONNECTION")
    if connection is not None:
        return StorageAccount(connection)
    return StorageAccount(url=given[url]) if url in given else None


@contextmanager
def own_database(live: Live, name: str | None = None) -> Iterator[DatabaseProxy]:
    """A new database of a random name, dropped at the end. Raises Refused when it can't be made,
    or is there already.
    """
    name = name or PREFIX + secrets.token_hex(6)
    credential: Any = live.cosmos_key or DefaultAzureCredential()
    try:
        with CosmosClient(live.cosmos_endpoint, credential) as client:
            database = _made(client, name)
            try:
                yield database
            finally:
                client.delete_database(name)
    finally:
        if live.cosmos_key is None:
            credential.close()


def _made(client: CosmosClient, name: str) -> DatabaseProxy:
    try:
        return client.create_database(name)
    except ResourceExistsError:
        raise Refused(
            f"the database {name} is there already; these tests touch nothing that they have "
            "not made"
        ) from None
    except ClientAuthenticationError as error:
        raise Refused(f"could not sign in to Cosmos DB: {type(error).__name__}") from error
    except HttpResponseError as error:
        if error.status_code not in (401, 403):
            raise
        raise Refused(
            "Cosmos DB did not let us make a database. No data-plane role may: give a key, see "
            "docs/live.md"
        ) from error


@contextmanager
def own_queues(live: Live) -> Iterator[QueueServiceClient]:
    """The product's queues, made in an account that has none of them, and deleted at the end.
    Raises Refused when it has one.
    """
    with _queues(live.queues or StorageAccount()) as service:
        taken = sorted({queue.name for queue in service.list_queues()} & set(QUEUES))
        if taken:
            raise Refused(
                f"the account has the queues {', '.join(taken)}; these tests touch nothing that "
                "they have not made"
            )
        made: list[str] = []
        try:
            for queue in QUEUES:
                service.create_queue(queue)
                made.append(queue)
            yield service
        finally:
            for queue in made:
                service.delete_queue(queue)


@contextmanager
def _queues(account: StorageAccount) -> Iterator[QueueServiceClient]:
    if account.connection_string is not None:
        with QueueServiceClient.from_connection_string(account.connection_string) as service:
            yield service
    else:
        with (
            DefaultAzureCredential() as identity,
            QueueServiceClient(account.url or "", identity) as service,
        ):
            yield service
