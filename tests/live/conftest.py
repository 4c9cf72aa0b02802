"""Tests against a real account: `make test-live`. They run only when `-m live` asks for them."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from azure.cosmos import DatabaseProxy

from memory_core.ports import LongTermStore
from tests.builders import DIMENSIONS, StillClock
from tests.contract.conftest import Provisioning, StoreFactory
from tests.live.account import Live, Refused, own_database
from tests.live.clock import PassingClock
from tests.live.questions import Answer, table

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave these tests out unless they are asked for by name; a run that asks for them and names
    no account fails at once.
    """
    is_ours = {path: HERE in path.parents for path in {item.path for item in items}}
    ours = [item for item in items if is_ours[item.path]]
    if re.search(r"(?<!not )\blive\b", config.getoption("-m")):
        if ours:
            _account(config)
        return
    items[:] = [item for item in items if not is_ours[item.path]]
    config.hook.pytest_deselected(items=ours)


def _account(config: pytest.Config) -> Live:
    try:
        return Live.of()
    except Refused as refused:
        raise pytest.UsageError(str(refused)) from None


@dataclass
class Asked:
    """The answers so far, by the number of their question, and why others have none."""

    answers: dict[int, Answer] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)


ASKED = pytest.StashKey[Asked]()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The tables of what was asked and measured."""
    asked = terminalreporter.config.stash.get(ASKED, None)
    if asked is not None:
        terminalreporter.section("what only a live account can answer")
        terminalreporter.write_line(table(asked.answers, asked.reasons))
    for path, rows in terminalreporter.config.stash.get(MEASURED, {}).items():
        terminalreporter.section(f"request units, kept in {path}")
        for row in [
            ("vectors", "operation", "calls", "mean", "most"),
            *(tuple(row.values()) for row in rows),
        ]:
            terminalreporter.write_line(
                "".join(str(cell).rjust(22 if at == 1 else 9) for at, cell in enumerate(row))
            )


MEASURED = pytest.StashKey[dict[Path, list[dict[str, Any]]]]()


@pytest.fixture(scope="session")
def live(request: pytest.FixtureRequest) -> Live:
    return _account(request.config)


@pytest.fixture(scope="session")
def database(live: Live) -> Iterator[DatabaseProxy]:
    """A database of this run's own."""
    try:
        with own_database(live) as made:
            yield made
    except Refused as refused:
        pytest.exit(str(refused), returncode=2)


@pytest.fixture
def report(live: Live, request: pytest.FixtureRequest) -> Iterator[list[dict[str, Any]]]:
    """Rows to keep as JSON and to show at the end."""
    rows: list[dict[str, Any]] = []
    yield rows
    live.report.parent.mkdir(parents=True, exist_ok=True)
    live.report.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    request.config.stash[MEASURED] = {live.report: rows}


@pytest.fixture
def adapter() -> str:
    return "cosmos"


@pytest.fixture
def clock() -> StillClock:
    return PassingClock()


@pytest.fixture
async def store_factory(
    live: Live, database: DatabaseProxy, clock: StillClock
) -> AsyncIterator[StoreFactory]:
    """Opens stores on a container of the test's own, as several processes would;
    closes them and drops it after the test.
    """
    opened: list[LongTermStore] = []
    container = uuid4().hex

    async def opened_store() -> LongTermStore:
        store = Provisioning(
            live.cosmos_endpoint,
            database.id,
            container=container,
            clock=clock,
            embedding_model="test",
            dimensions=DIMENSIONS,
            key=live.cosmos_key,
            deadline_s=30,
        )
        opened.append(store)
        await store.open()
        return store

    yield opened_store
    for store in opened:
        await store.close()
    if opened:
        database.delete_container(container)


@pytest.fixture
async def store(store_factory: StoreFactory) -> LongTermStore:
    return await store_factory()
