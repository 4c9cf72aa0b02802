"""The ten questions that only a live account can answer. None fails for what an account does: what
it did is in the table at the end.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from azure.cosmos.aio import CosmosClient, DatabaseProxy
from azure.identity.aio import DefaultAzureCredential

from tests.live import app_questions as app
from tests.live import cosmos_questions as cosmos
from tests.live.account import Live
from tests.live.conftest import ASKED, Asked
from tests.live.questions import Answer, NotAsked

pytestmark = pytest.mark.live
VECTORS, UNITS, MINUTES = "500,5000,50000", "6000000", "50"


@pytest.fixture(scope="session")
def asked(request: pytest.FixtureRequest) -> Asked:
    return request.config.stash.setdefault(ASKED, Asked())


@contextmanager
def kept(asked: Asked, number: int) -> Iterator[list[Answer]]:
    """Takes the answer to one question, or why there is none."""
    answers: list[Answer] = []
    try:
        yield answers
    except NotAsked as reason:
        asked.reasons[number] = str(reason)
    else:
        asked.answers[number] = answers[0]


@pytest.fixture
async def own(live: Live, database: object) -> AsyncIterator[DatabaseProxy]:
    """The run's own database, as asynchronous calls reach it."""
    credential = live.cosmos_key or DefaultAzureCredential()
    async with CosmosClient(live.cosmos_endpoint, credential) as client:
        made = client.get_database_client(database.id)  # type: ignore[attr-defined]
        yield made
        async for container in made.list_containers():
            if container["id"] in ("accepted", "ranking", "sharded", "unsharded", "consistency"):
                await made.delete_container(container["id"])
    if not isinstance(credential, str):
        await credential.close()


@pytest.fixture(scope="session")
def budget() -> cosmos.Budget:
    """What all questions to Cosmos DB may spend together."""
    units, minutes = (
        os.environ.get("MEMORY_LIVE_BUDGET_RU", UNITS),
        os.environ.get("MEMORY_LIVE_MINUTES", MINUTES),
    )
    return cosmos.Budget(float(units), float(minutes) * 60)


@pytest.fixture
def deployment() -> app.App | None:
    """The app that the environment names."""
    environ = os.environ
    names = [environ.get(f"MEMORY_LIVE_{name}", "") for name in ("GROUP", "APP")]
    url = environ.get("MEMORY_LIVE_APP_URL") or f"https://{names[1]}.azurewebsites.net"
    return app.App(*names, url, environ.get("MEMORY_LIVE_API_KEY", "")) if all(names) else None


async def test_2_whether_the_container_is_accepted(own: DatabaseProxy, asked: Asked) -> None:
    with kept(asked, 2) as answers:
        answers.append(await cosmos.ask_container(own))


async def test_3_whether_text_is_ranked(
    own: DatabaseProxy, asked: Asked, budget: cosmos.Budget
) -> None:
    with kept(asked, 3) as answers:
        answers.append(await cosmos.ask_ranking(own, budget))


async def test_5_what_a_relaxed_read_costs(
    own: DatabaseProxy, asked: Asked, budget: cosmos.Budget
) -> None:
    with kept(asked, 5) as answers:
        answers.append(await cosmos.ask_consistency(own, budget))


def test_6_whether_the_package_fits(deployment: app.App | None, asked: Asked) -> None:
    with kept(asked, 6) as answers:
        answers.append(app.ask_python(reached(deployment)))


def test_8_whether_rows_are_written(deployment: app.App | None, asked: Asked) -> None:
    with kept(asked, 8) as answers:
        answers.append(app.ask_requests(reached(deployment, with_key=True)))


async def test_9_how_long_redis_takes(asked: Asked) -> None:
    with kept(asked, 9) as answers:
        (url,) = app.chosen(os.environ, ["REDIS_URL"])
        password = os.environ.get("MEMORY_LIVE_REDIS_PASSWORD")
        answers.append(
            await app.ask_redis(
                url, password, entra=url.startswith("rediss://") and password is None
            )
        )


def test_10_whether_work_is_taken_over(deployment: app.App | None, asked: Asked) -> None:
    with kept(asked, 10) as answers:
        answers.append(app.ask_takeover(reached(deployment, with_key=True)))


def test_7_how_long_a_cold_start_is(
    deployment: app.App | None, asked: Asked, tmp_path: Path
) -> None:
    with kept(asked, 7) as answers:
        package = Path(os.environ.get("MEMORY_LIVE_PACKAGE", app.ROOT / "dist" / "memory-core.zip"))
        answers.append(app.ask_cold_start(reached(deployment), package, tmp_path))


async def test_4_what_a_vector_query_costs(
    own: DatabaseProxy, asked: Asked, budget: cosmos.Budget
) -> None:
    """After the others, since it takes what is left of the budget."""
    with kept(asked, 4) as answers:
        sizes = [int(size) for size in os.environ.get("MEMORY_LIVE_VECTORS", VECTORS).split(",")]
        answers.append(await cosmos.ask_vectors(own, sizes, budget))


def test_1_whether_it_can_be_provisioned_again(asked: Asked) -> None:
    """The last one: a rebuilt deployment is another one."""
    with kept(asked, 1) as answers:
        (mode,) = app.chosen(os.environ, ["AZD"])
        answers.append(app.ask_again(mode))


def reached(deployment: app.App | None, *, with_key: bool = False) -> app.App:
    """The app. Raises NotAsked where none is named, or no key for it."""
    app.chosen(os.environ, ["GROUP", "APP", *(["API_KEY"] if with_key else [])])
    if deployment is None:
        raise NotAsked("needs an app")
    return deployment
