"""A store or queue of the host is killed in the middle of traffic: nothing acknowledged is lost,
and it recovers by itself.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.azure_stores import AzureStores
from tests.azure_stores import running as azure_stores_running
from tests.host import DIMENSIONS, RECOVERED_S, memories, problem, running, save, until

WRITERS = 8
STORAGE = ("queue", "archive")
PATIENCE = {"MEMORY_COMMIT_DEADLINE_S": "2", "MEMORY_REDIS_BREAKER_REST_S": "0.2"}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AzureStores]:
    """Servers that keep what they hold, for these tests alone."""
    with azure_stores_running(tmp_path_factory.mktemp("stores")) as started:
        yield started


@pytest.fixture(scope="module")
def standing(
    stores: AzureStores, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """A client of one host, which is never started again."""
    asyncio.run(stores.provision(DIMENSIONS))
    with running(tmp_path_factory.mktemp("host"), **stores.settings(), **PATIENCE) as client:
        yield client


class Traffic:
    """Writers who save one note after another, each with a key of its own and again until it is
    acknowledged.
    """

    def __init__(self, url: str, user: str) -> None:
        self._client = httpx.AsyncClient(base_url=url, timeout=60)
        self._user = user
        self._stopped = False
        self.acknowledged: dict[str, str] = {}
        """Ids of the memories by what they say."""
        self.refused = 0

    async def __aenter__(self) -> Traffic:
        self._writers = [asyncio.create_task(self._write(number)) for number in range(WRITERS)]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._stopped = True
        await asyncio.gather(*self._writers)
        await self._client.aclose()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Let the traffic go on until something holds."""
        async with asyncio.timeout(RECOVERED_S):
            while not holds():
                assert not any(writer.done() for writer in self._writers), (
                    "a writer saw something that was neither 201 nor 503"
                )
                await asyncio.sleep(0.01)

    async def _write(self, writer: int) -> None:
        count = 0
        while not self._stopped:
            note = {
                "user_id": self._user,
                "content": f"note {writer}-{count}",
                "session_id": f"s{writer}",
            }
            key = {"Idempotency-Key": uuid.uuid4().hex}
            while (
                answer := await self._client.post("/api/v1/memories/save", json=note, headers=key)
            ).status_code != 201:
                assert problem(answer, 503)
                self.refused += 1
            self.acknowledged[note["content"]] = answer.json()["memory"]["id"]
            count += 1


def state(client: httpx.Client, *names: str) -> tuple[str, ...]:
    """The status of all and of each dependency named, as readiness says."""
    readiness = client.get("/health/ready").json()
    return (readiness["status"], *(readiness["dependencies"][name]["status"] for name in names))


def everything(client: httpx.Client, user: str) -> dict[str, list[str]]:
    """Ids of all that a user has, by what they say."""
    states: dict[str, list[str]] = {}
    query = {"user_id": user, "status": "all", "limit": "100"}
    while True:
        page = client.get("/api/v1/memories", params=query).json()
        for memory in page["memories"]:
            states.setdefault(memory["content"], []).append(memory["id"])
        if page["next_cursor"] is None:
            return states
        query["cursor"] = page["next_cursor"]


@pytest.mark.parametrize("times", [1, pytest.param(10, marks=pytest.mark.long)])
async def test_a_long_term_killed_in_traffic_loses_and_doubles_nothing(
    standing: httpx.Client, stores: AzureStores, user: str, times: int
) -> None:
    async with Traffic(str(standing.base_url), user) as traffic:
        for _ in range(times):
            saved, refused = len(traffic.acknowledged), traffic.refused
            await traffic.until(lambda enough=saved + 30: len(traffic.acknowledged) >= enough)
            await asyncio.to_thread(stores.cosmos.kill)
            await traffic.until(lambda enough=refused + WRITERS: traffic.refused >= enough)
            await asyncio.to_thread(stores.cosmos.start)
        saved = len(traffic.acknowledged)
        await traffic.until(lambda: len(traffic.acknowledged) >= saved + 30)
    assert everything(standing, user) == {
        note: [memory_id] for note, memory_id in traffic.acknowledged.items()
    }
    until(lambda: state(standing, "long_term"), ("ready", "ok"))


async def test_without_the_long_term_reads_are_a_503_and_not_empty(
    standing: httpx.Client, stores: AzureStores, user: str
) -> None:
    memory = save(standing, user, "Ana moved to Lisbon", session_id="s")
    stores.cosmos.kill()
    scope = {"user_id": user}
    await asyncio.to_thread(
        until, lambda: state(standing, "long_term"), ("unavailable", "unavailable")
    )
    async with httpx.AsyncClient(base_url=standing.base_url, timeout=60) as client:
        ready, alive, *reads = await asyncio.gather(
            client.get("/health/ready"),
            client.get("/health"),
            client.post(
                "/api/v1/memories/retrieve", json={**scope, "query": "Lisbon", "session_id": "s"}
            ),
            client.get("/api/v1/memories", params=scope),
            client.get(f"/api/v1/memories/{memory['id']}", params=scope),
        )
    for read in reads:
        assert problem(read, 503)
    assert (ready.status_code, ready.json()["status"]) == (503, "unavailable")
    assert int(ready.headers["retry-after"]) > 0
    assert alive.status_code == 200
    stores.cosmos.start()
    until(lambda: state(standing, "long_term"), ("ready", "ok"))
    assert [memory["id"] for memory in memories(standing, user)] == [memory["id"]]


async def test_redis_killed_in_traffic_is_done_without_and_taken_up_again(
    standing: httpx.Client, stores: AzureStores, user: str
) -> None:
    def kept_in_short_term() -> bool:
        return (
            "short_term"
            not in standing.post(
                "/api/v1/memories/save", json={"user_id": user, "content": uuid.uuid4().hex}
            ).json()["degraded"]
        )

    async with Traffic(str(standing.base_url), user) as traffic:
        await traffic.until(lambda: len(traffic.acknowledged) >= 10)
        await asyncio.to_thread(stores.redis.kill)
        before = len(traffic.acknowledged)
        await traffic.until(lambda: len(traffic.acknowledged) >= before + 30)
        assert traffic.refused == 0
        response = await asyncio.to_thread(
            standing.post,
            "/api/v1/memories/retrieve",
            json={"user_id": user, "query": "note", "session_id": "s1"},
        )
        assert (response.status_code, response.json()["degraded"]) == (200, ["short_term"])
        await asyncio.to_thread(
            until, lambda: state(standing, "short_term"), ("degraded", "unavailable")
        )
        await asyncio.to_thread(stores.redis.start)
        await asyncio.to_thread(until, lambda: state(standing, "short_term"), ("ready", "ok"))
        await asyncio.to_thread(until, kept_in_short_term, True)
    assert traffic.refused == 0


async def test_storage_killed_in_traffic_is_said_and_stops_nothing(
    standing: httpx.Client, stores: AzureStores, user: str
) -> None:
    async with Traffic(str(standing.base_url), user) as traffic:
        await traffic.until(lambda: len(traffic.acknowledged) >= 10)
        await asyncio.to_thread(stores.azurite.kill)
        before = len(traffic.acknowledged)
        await asyncio.to_thread(
            until, lambda: state(standing, *STORAGE), ("degraded", "unavailable", "unavailable")
        )
        await traffic.until(lambda: len(traffic.acknowledged) >= before + 30)
        await asyncio.to_thread(stores.azurite.start)
        await asyncio.to_thread(until, lambda: state(standing, *STORAGE), ("ready", "ok", "ok"))
    assert traffic.refused == 0
