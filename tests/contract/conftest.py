"""The adapters that must behave alike: each supplies a factory, the tests know only the ports."""

from __future__ import annotations

import importlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import pytest

from memory_core.adapters.azure_storage.account import StorageAccount
from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.adapters.sqlite.store import SqliteStore
from memory_core.core import MemoryCore
from memory_core.ports import Archive, LongTermStore
from tests.archives import Folder, OpenArchive, Place, Service
from tests.azurite_server import AzuriteServer
from tests.azurite_server import running as azurite_running
from tests.builders import DIMENSIONS, StillClock
from tests.contract.insistent import Insistent
from tests.cosmos_here import CosmosHere
from tests.cosmos_server import IGNORES_RANK, KEY, REFUSES_DISTANCE, CosmosServer, Steered, running
from tests.cosmos_traffic import check_that_each_names_one_user
from tests.few_cases import leave_to_long
from tests.world import WordsEmbedder, World

StoreFactory = Callable[[], Awaitable[LongTermStore]]
MakeStore = Callable[[str, int], LongTermStore]
"""From an embedder's model and dimensions to a store that is not open yet."""


@pytest.fixture(scope="session")
def cosmos_server() -> Iterator[CosmosServer]:
    """The account of all tests; in the end, whatever they asked for is checked to have named one
    user each time.
    """
    with running(flags=UNRANKED if os.environ.get(ALL_UNRANKED) else ()) as started:
        yield started
        check_that_each_names_one_user(started.requests())


@pytest.fixture(scope="session")
def _cosmos_here() -> CosmosHere:
    # else the first call's deadline would run while the SDK is imported
    importlib.import_module("azure.cosmos.aio")
    return CosmosHere(flags=UNRANKED if os.environ.get(ALL_UNRANKED) else ())


@pytest.fixture
def cosmos_here(_cosmos_here: CosmosHere) -> Iterator[CosmosHere]:
    """The account of the product's tests, within their process; after each, whatever it asked for
    is checked to have named one user each time.
    """
    _cosmos_here.forget_requests()
    yield _cosmos_here
    check_that_each_names_one_user(_cosmos_here.requests())
    _cosmos_here.drop_databases()


@pytest.fixture(scope="session")
def unranked_server() -> Iterator[CosmosServer]:
    """One that ignores ORDER BY RANK in queries with a partition key, and takes no
    similarity beside it.
    """
    with running(flags=UNRANKED) as started:
        yield started
        check_that_each_names_one_user(started.requests())


@pytest.fixture(scope="session")
def stormy_server() -> Iterator[CosmosServer]:
    """One at which every fifth request fails, in every way there is."""
    with running() as started:
        started.storm()
        yield started
        check_that_each_names_one_user(started.requests())


@pytest.fixture
def server(request: pytest.FixtureRequest, adapter: str) -> Steered | None:
    """The emulator behind the test's stores; None where they need none. What tests a store itself
    speaks HTTP with it; what tests the product does without, which is half of the work.
    """
    emulator = STORES[adapter].emulator
    if emulator == "cosmos_server" and "store_factory" not in request.fixturenames:
        emulator = "cosmos_here"
    return None if emulator is None else request.getfixturevalue(emulator)


@pytest.fixture
def maker(adapter: str, server: Steered | None) -> Callable[[Path, StillClock], MakeStore]:
    """How the test's stores are made, over a folder or on the emulator."""
    return lambda folder, clock: STORES[adapter].make(server, folder, clock)


HELD_BYTES = 2**20
"""For users held in memory beside Cosmos DB. Who has as few memories as a test's is held from the
second search or so.
"""
UNRANKED = (IGNORES_RANK, REFUSES_DISTANCE)
ALL_UNRANKED = "MEMORY_TEST_UNRANKED"
"""Set, every test on Cosmos DB runs on an account that ranks as `unranked_server` does."""
ALSO_UNRANKED = {"test_long_term_search"}
"""What a search by words is asked and answers."""
IN_A_STORM_ALWAYS = {"test_long_term_commit", "test_ledger", "test_complaints"}
"""A store's commits, the commit loop and the product as a whole: a minute, most of it waiting.
All that there is takes thirteen.
"""


ON_COSMOS_WHEN_THERE_IS_TIME = {
    "test_odd_queries.test_what_is_nearest_answers_a_query_without_words",
    "test_odd_queries.test_fifty_tags_are_a_filter_like_one",
    "test_batch_races.test_killed_between_any_two_writes_and_asked_again_nothing_is_lost_or_doubled",
    "test_webhooks.test_killed_between_any_two_steps_of_a_delivery_it_is_delivered_at_least_once",
    "test_task_failures.test_ten_minutes_without_agents_poison_none_of_many_tasks",
    "test_tasks.test_killed_between_any_two_steps_and_delivered_again_it_is_formed_once",
    "test_forming_faults.test_a_store_that_fails_at_any_write_makes_one_set_of_memories",
    "test_forget_cold.test_killed_at_any_write_what_stays_is_whole",
    "test_archiving_faults.test_killed_at_any_write_it_goes_on_and_nothing_is_lost",
    "test_archiving_faults.test_overtaken_at_any_step_what_changed_stays_and_nothing_is_lost",
    "test_export_import.test_a_worker_that_is_killed_at_any_write_is_followed_by_one_that_ends_it",
    "test_import_conversations.test_a_worker_that_is_killed_at_any_write_is_followed_by_one_that_ends_it",
    "test_compress.test_killed_at_any_write_the_text_is_long_or_its_original_is_safe",
    "test_truths_in_any_order.test_told_in_any_order_a_truth_that_returns_is_right_at_every_moment",
    "test_life_changes.test_an_end_and_what_came_before_and_after_it_are_one_chain_in_whatever_order_they_are_told",
}
"""A quarter or half of a minute each on Cosmos DB, of logic that knows no store: always on SQLite,
on Cosmos DB with `make test-long`.
"""

DECIDED_BY_WORDS = {
    "test_an_actor_called_user", "test_announced_order", "test_context", "test_facts_taken_back",
    "test_forget_that", "test_instructions_lifted", "test_instructions_of_people", "test_overview",
    "test_present_truth", "test_reconstruct", "test_result_marks", "test_retrieve_messages",
    "test_slots_in_every_language", "test_stories_of_slots", "test_summaries", "test_time_zones",
    "test_times_told", "test_wishes_heeded", "test_worth",
}  # fmt: skip
"""Modules about rules that read words, times and memories, and no store: on SQLite always whole, on
Cosmos DB a few cases, and the others with `make test-long`.
"""
CASES_ON_COSMOS = 6
"""Of such a module."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what tests the product on Cosmos DB, and not the adapter: `make test-cosmos` runs it."""
    on_cosmos_db = [
        item
        for item in items
        if isinstance(item, pytest.Function) and _is_of_the_product_on_cosmos(item)
    ]
    for item in on_cosmos_db:
        item.add_marker(pytest.mark.cosmos)
    leave_to_long(on_cosmos_db, DECIDED_BY_WORDS, CASES_ON_COSMOS)


def _is_of_the_product_on_cosmos(item: pytest.Function) -> bool:
    """Whether it runs on an emulator, and knows the store through the product alone."""
    adapter = item.callspec.params.get("adapter") if hasattr(item, "callspec") else None
    return (
        adapter in STORES
        and STORES[str(adapter)].emulator is not None
        and "store_factory" not in item.fixturenames
    )


class SharedClock(StillClock):
    """A clock that the service's own goes forward with: it is the service that drops
    what expires.
    """

    def __init__(self, server: Steered) -> None:
        super().__init__()
        self._server = server

    def forward(self, seconds: float) -> None:
        super().forward(seconds)
        if seconds > 0:
            self._server.advance(seconds)


@pytest.fixture
def adapter(request: pytest.FixtureRequest) -> str:
    """Which long-term store the test runs on; tests that take `store_factory` run on each."""
    return str(getattr(request, "param", "sqlite"))


TOLD_IN_DAYS_TO_COME = {
    "test_an_actor_called_user", "test_backfill", "test_bringing_back", "test_forming_faults",
    "test_conflicts", "test_conflicts_model", "test_conflicts_open",
    "test_conflicts_undone", "test_disjoint_lives", "test_disjoint_truths",
    "test_edited_into_a_slot", "test_forget_beside", "test_forget_earlier_times",
    "test_forming_limits", "test_forming_orders", "test_forming_rulings", "test_keys_brought_back",
    "test_keys_in_any_order", "test_keys_never_refused", "test_keys_told_anew",
    "test_instruction_conflicts", "test_last_messages", "test_life_changes", "test_lives_of_keys",
    "test_lives_of_slots",
    "test_lives_of_slots_closed", "test_no_circles", "test_note_marks", "test_one_truth_a_moment",
    "test_pinned_truths", "test_profile", "test_restoring", "test_run_conflicts",
    "test_save_turns_and_bulks", "test_scene_conflicts", "test_truths_in_any_order",
    "test_versions_given_back",
}  # fmt: skip
"""Modules that tell things on the days after NOW. What is said of a day ahead of the clock counts
as said when it arrives.
"""


@pytest.fixture
def clock(server: Steered | None, request: pytest.FixtureRequest) -> StillClock:
    made = StillClock() if server is None else SharedClock(server)
    if request.module.__name__.rpartition(".")[2] in TOLD_IN_DAYS_TO_COME:
        made.forward(400 * 86400)
    return made


@pytest.fixture
async def store_factory(
    adapter: str, maker: Callable[[Path, StillClock], MakeStore], tmp_path: Path, clock: StillClock
) -> AsyncIterator[StoreFactory]:
    """Opens stores over the same data, as several processes would; closes them after the test."""
    opened: list[LongTermStore] = []
    make = maker(tmp_path, clock)

    async def opened_store() -> LongTermStore:
        store = make("test", DIMENSIONS)
        opened.append(store)
        await store.open()
        return Insistent(store) if adapter == "storm" else store

    yield opened_store
    for store in opened:
        await store.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what needs a long-term store on every adapter, and on Cosmos DB in a storm: each time
    some, all of it when there is time.

    A test that names its adapter runs on that one.
    """
    named = any(
        "adapter" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")
    )
    if {"store_factory", "world", "cold_worlds"} & set(metafunc.fixturenames) and not named:
        module = metafunc.module.__name__.rpartition(".")[2]
        later = {
            "storm": module not in IN_A_STORM_ALWAYS,
            "cosmos": f"{module}.{metafunc.function.__name__}" in ON_COSMOS_WHEN_THERE_IS_TIME,
        }
        wanted = metafunc.config.getoption("markexpr")
        stores = [
            pytest.param(store, marks=pytest.mark.long if later.get(store) else ())
            for store in STORES
            if (store != "unranked" or module in ALSO_UNRANKED)
            and not (later.get(store) and "not long" in wanted)  # 2,800 that are not collected
        ]
        metafunc.parametrize("adapter", stores, indirect=True)


class Provisioning(CosmosStore):
    """A store that makes its container, as an app may against an emulator only.
    The first of a database does it for all.
    """

    there: ClassVar[set[tuple[str, str]]] = set()

    async def open(self) -> None:
        if self._names not in self.there:
            await self._make()
            self.there.add(self._names)
        await super().open()

    async def _make(self) -> None:
        await self.provision()


class Copying(Provisioning):
    """One whose container is copied from that which the product has made first on its server."""

    def __init__(self, server: Steered, database: str, *, dimensions: int, **options: Any) -> None:
        super().__init__(server.endpoint, database, dimensions=dimensions, key=KEY, **options)
        if isinstance(server, CosmosHere):
            server.serve(self._connection)
        self._server, self._dimensions = server, dimensions

    async def _make(self) -> None:
        first = self._server.provisioned.get(self._dimensions)
        if first is None:
            await self.provision()
            self._server.provisioned[self._dimensions] = self._names
        else:
            self._server.copy_container(first, self._names)


def on_sqlite(folder: Path, clock: StillClock) -> MakeStore:
    def make(model: str, dimensions: int) -> LongTermStore:
        return SqliteStore(
            folder / "memory.db",
            clock=clock,
            embedding_model=model,
            dimensions=dimensions,
            synchronous="normal",
        )

    return make


def on_cosmos(server: Steered, clock: StillClock) -> MakeStore:
    database = uuid4().hex

    def make(model: str, dimensions: int) -> LongTermStore:
        return Copying(
            server,
            database,
            clock=clock,
            embedding_model=model,
            dimensions=dimensions,
            slice_budget_bytes=HELD_BYTES,
        )

    return make


@dataclass(frozen=True)
class Tested:
    """A long-term store as tests run on it.

    emulator: the fixture with its server; None: it needs none.
    make: of that server, a test's folder and its clock, what makes the stores.
    """

    emulator: str | None
    make: Callable[[Steered | None, Path, StillClock], MakeStore]


def _on_an_emulator(server: Steered | None, _: Path, clock: StillClock) -> MakeStore:
    assert server is not None
    return on_cosmos(server, clock)


STORES = {
    "sqlite": Tested(None, lambda _, folder, clock: on_sqlite(folder, clock)),
    "cosmos": Tested("cosmos_server", _on_an_emulator),
    "storm": Tested("stormy_server", _on_an_emulator),
    "unranked": Tested("unranked_server", _on_an_emulator),
}
"""Every store that a contract test may name in `adapter`. Any other name is a KeyError, so that no
test of a new store passes on another.
"""


@pytest.fixture
async def store(store_factory: StoreFactory) -> LongTermStore:
    return await store_factory()


@pytest.fixture
async def world(
    adapter: str, maker: Callable[[Path, StillClock], MakeStore], tmp_path: Path, clock: StillClock
) -> AsyncIterator[World]:
    made = World(tmp_path, clock, None if adapter == "sqlite" else maker(tmp_path, clock))
    yield made
    await made.close()


@pytest.fixture
async def cold_worlds(
    adapter: str,
    maker: Callable[[Path, StillClock], MakeStore],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> AsyncIterator[Callable[[], World]]:
    """Makes worlds with nothing in them, a clock each, whose archive is of the kind of their store:
    a folder, or blobs.
    """
    made: list[World] = []

    def new() -> World:
        clock, folder = StillClock(), tmp_path / str(len(made))
        if adapter == "sqlite":
            made.append(World(folder, clock))
        else:
            cold = Service(StorageAccount(request.getfixturevalue("azurite").connection_string))
            made.append(World(folder, clock, maker(folder, clock), cold=cold))
        return made[-1]

    yield new
    for opened_world in made:
        await opened_world.close()


@pytest.fixture
def cold_world(cold_worlds: Callable[[], World]) -> World:
    return cold_worlds()


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core()


@pytest.fixture
def embedder() -> WordsEmbedder:
    return WordsEmbedder()


@pytest.fixture
async def words(world: World, embedder: WordsEmbedder) -> MemoryCore:
    """A core that knows what texts have in common."""
    return await world.core(embedder=embedder)


@pytest.fixture(scope="session")
def azurite() -> Iterator[AzuriteServer]:
    with azurite_running() as started:
        yield started


@pytest.fixture(params=["folder", "blob"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return (
        Folder(tmp_path / "archive")
        if request.param == "folder"
        else Service(StorageAccount(request.getfixturevalue("azurite").connection_string))
    )


@pytest.fixture
async def opened(place: Place) -> AsyncIterator[OpenArchive]:
    """Opens archives over the same blobs, as several processes would; closes them
    after the test.
    """
    made: list[Archive] = []

    async def open_() -> Archive:
        opened_archive = place.process()
        made.append(opened_archive)
        await opened_archive.open()
        return opened_archive

    yield open_
    for made_archive in made:
        await made_archive.close()


@pytest.fixture
async def archive(opened: OpenArchive) -> Archive:
    return await opened()
