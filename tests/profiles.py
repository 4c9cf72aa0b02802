"""The two profiles that the same tests run in: everything embedded, and everything as on Azure."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.azurite_server import running as azurite_running
from tests.host import DIMENSIONS, running

if TYPE_CHECKING:
    from tests.azure_stores import AzureStores

REDIS_PATIENCE = {"MEMORY_REDIS_TIMEOUT_MS": "2000"}
"""Servers, hosts and tests share few cores, and exact answers are compared: one that waited for a
core for a tenth of a second would say that it was done without Redis.
"""


@dataclass(frozen=True, slots=True)
class Profile:
    """What hosts stand on. stores: None where all is in the host's own process and folder."""

    stores: AzureStores | None

    def settings(self) -> dict[str, str]:
        """The settings of hosts that share one long term with each other and no other host."""
        if self.stores is None:
            return {}
        database = uuid.uuid4().hex
        asyncio.run(self.stores.provision(DIMENSIONS, database))
        return self.stores.settings(database) | REDIS_PATIENCE


@pytest.fixture(scope="session")
def azure_stores() -> Iterator[AzureStores]:
    """Those of all tests; in the end, whatever was asked of Cosmos DB is checked to have named one
    user each time.
    """
    # the SDKs of Azure, which few tests need
    from tests.azure_stores import running as azure_stores_running
    from tests.cosmos_traffic import check_that_each_names_one_user

    with azure_stores_running() as started:
        yield started
        check_that_each_names_one_user(started.cosmos.requests())


@pytest.fixture(scope="session", params=["embedded", "azure"])
def profile(request: pytest.FixtureRequest) -> Profile:
    """A test that uses it, or `host`, is run in both."""
    return Profile(request.getfixturevalue("azure_stores") if request.param == "azure" else None)


@pytest.fixture(scope="session")
def embedded_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of one host of the embedded profile, which lives as long as the tests do.

    `profile`, and what is made of it, is made again whenever the next test has another one:
    twice a file.
    """
    with running(tmp_path_factory.mktemp("host")) as client:
        yield client


@pytest.fixture(scope="session")
def azure_host(
    azure_stores: AzureStores, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """The same of the azure profile.

    Its storage account is its own: hosts on the account of `azure_stores` have the same queues,
    and take each other's work.
    """
    with azurite_running() as storage:
        own = {
            "MEMORY_QUEUE_CONNECTION": storage.connection_string,
            "MEMORY_ARCHIVE_CONNECTION": storage.connection_string,
        }
        with running(
            tmp_path_factory.mktemp("host"), **Profile(azure_stores).settings() | own
        ) as client:
            yield client


@pytest.fixture(scope="session")
def host(request: pytest.FixtureRequest, profile: Profile) -> httpx.Client:
    """A client of one host for all tests that need nothing special; each test has
    users of its own.
    """
    client: httpx.Client = request.getfixturevalue(
        "embedded_host" if profile.stores is None else "azure_host"
    )
    return client
