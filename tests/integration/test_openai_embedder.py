"""The OpenAI embedder against a server on a real socket: what it asks, what it believes,
when it tries again.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from memory_core.adapters.openai.client import ModelConnection, Retries, Service
from memory_core.adapters.openai.embedder import BATCH_INPUTS, OpenAIEmbedder
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import EmbeddingMismatch, Unavailable
from memory_core.domain.requests.memories import SaveInput
from memory_core.domain.scope import Owner
from tests import managed_identity
from tests.memories import MovableClock
from tests.openai_server import OpenAIServer, answers, hangs, refuses, vector_of

DIMENSIONS = 16


class Pauses:
    """Stands in for sleep: remembers how long it was asked to wait, and does not."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    made = OpenAIServer(DIMENSIONS)
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
async def embedder(
    server: OpenAIServer, pauses: Pauses, clock: MovableClock
) -> AsyncIterator[OpenAIEmbedder]:
    service = Service(base_url=f"{server.root}/v1", api_key="secret-key")
    made = OpenAIEmbedder(
        service,
        "text-embedding-3-small",
        DIMENSIONS,
        clock,
        timeout_s=100,
        retries=Retries(deadline_s=100, sleep=pauses),
    )
    yield made
    await made.close()


def unit(text: str, dimensions: int = DIMENSIONS) -> Any:
    vector = vector_of(text, dimensions)
    return vector / np.linalg.norm(vector)


async def test_vectors_come_normalised_and_in_the_order_of_the_texts(
    embedder: OpenAIEmbedder, server: OpenAIServer
) -> None:
    texts = ["one", "two", "кофе", "日本語"]
    vectors = await embedder.embed(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert vector.dtype == np.float32
        np.testing.assert_allclose(vector, unit(text), atol=1e-6)
    assert server.bodies == [
        {
            "model": "text-embedding-3-small",
            "input": texts,
            "dimensions": DIMENSIONS,
            "encoding_format": "base64",
        }
    ]
    assert server.headers[0]["Authorization"] == "Bearer secret-key"


async def test_a_server_that_knows_no_base64_is_understood(
    embedder: OpenAIEmbedder, server: OpenAIServer
) -> None:
    server.knows_base64 = False
    np.testing.assert_allclose((await embedder.embed(["one"]))[0], unit("one"), atol=1e-6)


async def test_nothing_to_embed_asks_nobody(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    assert await embedder.embed([]) == []
    assert server.bodies == []


async def test_a_closed_embedder_makes_no_client_until_it_is_opened_again(
    embedder: OpenAIEmbedder,
) -> None:
    """A call under way, or one that comes late, left a client open."""
    await embedder.embed(["one"])
    await embedder.close()
    with pytest.raises(Unavailable, match="it is closed"):
        await embedder.embed(["one"])
    assert (await embedder.check()).status == "unavailable"
    await embedder.open()
    await embedder.embed(["one"])


async def test_a_connection_that_is_closed_while_it_makes_its_client_leaves_none_open(
    server: OpenAIServer,
) -> None:
    service = Service(base_url=f"{server.root}/v1", api_key="secret-key")
    connection = ModelConnection("embedder", service, 1.0)
    opening = asyncio.create_task(connection.client())
    await asyncio.sleep(0)  # it begins
    await connection.close()
    assert (await opening).is_closed()


async def test_a_call_that_waits_for_its_next_try_ends_with_a_close(
    server: OpenAIServer, clock: MovableClock
) -> None:
    server.script = [refuses(503)]
    service = Service(base_url=f"{server.root}/v1", api_key="k")
    embedder: OpenAIEmbedder

    async def close_meanwhile(_: float) -> None:
        await embedder.close()

    embedder = OpenAIEmbedder(
        service, "m", DIMENSIONS, clock, retries=Retries(sleep=close_meanwhile)
    )
    with pytest.raises(Unavailable, match="it is closed"):
        await embedder.embed(["one"])


async def test_a_memory_that_was_closed_and_opened_again_embeds(
    server: OpenAIServer, tmp_path: Path
) -> None:
    """Its embedder and its agents load at their first call, which a close forbids."""
    settings = Settings.from_env(
        {
            "MEMORY_DATA": str(tmp_path),
            "EMBEDDING_PROVIDER": "openai",
            "EMBEDDING_MODEL": "m",
            "EMBEDDING_DIMENSIONS": str(DIMENSIONS),
            "EMBEDDING_BASE_URL": f"{server.root}/v1",
            "EMBEDDING_API_KEY": "k",
        }
    )
    core, owner = MemoryCore(settings), Owner("app", "ana")
    for text in ("Ana likes green tea", "Ana lives in Oslo"):
        async with core:
            await core.save(owner, SaveInput(content=text))
    assert len(server.bodies) == 2


@pytest.mark.parametrize("endpoint", ["", "/", "/openai/v1", "/openai/v1/"])
async def test_azure_is_asked_without_a_version_by_the_name_of_the_deployment(
    server: OpenAIServer, clock: MovableClock, endpoint: str
) -> None:
    service = Service(provider="azure", base_url=f"{server.root}{endpoint}", api_key="azure-key")
    embedder = OpenAIEmbedder(
        service, "text-embedding-3-small", DIMENSIONS, clock, deployment="my-deployment"
    )
    np.testing.assert_allclose((await embedder.embed(["one"]))[0], unit("one"), atol=1e-6)
    await embedder.close()
    assert server.paths == ["/openai/v1/embeddings"]
    assert server.headers[0]["Authorization"] == "Bearer azure-key"
    assert (server.bodies[0]["model"], embedder.model) == (
        "my-deployment",
        "text-embedding-3-small",
    )


async def test_azure_is_signed_in_to_with_a_token_of_the_apps_identity(
    server: OpenAIServer, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with managed_identity.running() as identity:
        for name, value in identity.environment.items():
            monkeypatch.setenv(name, value)
        service = Service(provider="azure", base_url=server.root, identity_client_id="app-1")
        embedder = OpenAIEmbedder(service, "text-embedding-3-small", DIMENSIONS, clock)
        await embedder.embed(["one"])
        await embedder.embed(["two"])
        await embedder.close()
    assert identity.asked == [
        ("https://cognitiveservices.azure.com", "app-1", managed_identity.SECRET)
    ]
    assert [header["Authorization"].count(".") for header in server.headers] == [2, 2]


async def test_ada_is_not_asked_for_dimensions_that_it_would_refuse(
    server: OpenAIServer, clock: MovableClock
) -> None:
    embedder = OpenAIEmbedder(
        Service(base_url=f"{server.root}/v1", api_key="k"),
        "text-embedding-ada-002",
        DIMENSIONS,
        clock,
    )
    await embedder.embed(["one"])
    await embedder.close()
    assert "dimensions" not in server.bodies[0]


async def test_many_texts_go_in_several_requests(
    embedder: OpenAIEmbedder, server: OpenAIServer
) -> None:
    texts = [f"text {number}" for number in range(2 * BATCH_INPUTS + 3)]
    vectors = await embedder.embed(texts)
    assert [len(body["input"]) for body in server.bodies] == [BATCH_INPUTS, BATCH_INPUTS, 3]
    np.testing.assert_allclose(vectors[-1], unit(texts[-1]), atol=1e-6)


async def test_a_busy_service_is_asked_again_after_the_pause_it_names(
    embedder: OpenAIEmbedder, server: OpenAIServer, pauses: Pauses
) -> None:
    server.script = [refuses(429, retry_after="3"), refuses(429, retry_after_ms="1500")]
    assert len(await embedder.embed(["one"])) == 1
    assert len(server.bodies) == 3
    assert 3 <= pauses.asked[0] <= 3 * 1.25
    assert 1.5 <= pauses.asked[1] <= 1.5 * 1.25


async def test_a_failing_service_is_asked_again_after_growing_pauses(
    embedder: OpenAIEmbedder, server: OpenAIServer, pauses: Pauses
) -> None:
    server.script = [refuses(500), refuses(503), answers(b"<html>gateway</html>")]
    assert len(await embedder.embed(["one"])) == 1
    assert [round(math.log2(pause)) for pause in pauses.asked] == [-1, 0, 1]


async def test_a_pause_beyond_the_deadline_is_passed_on_instead_of_waited_for(
    embedder: OpenAIEmbedder, server: OpenAIServer, pauses: Pauses
) -> None:
    server.script = [refuses(429, retry_after="120")]
    with pytest.raises(Unavailable) as caught:
        await embedder.embed(["one"])
    assert caught.value.retry_after_s == 120
    assert pauses.asked == []


async def test_a_service_that_keeps_failing_is_unavailable_after_the_last_try(
    embedder: OpenAIEmbedder, server: OpenAIServer
) -> None:
    server.script = [refuses(500)] * 10
    with pytest.raises(Unavailable, match="embedder: it answered HTTP 500") as caught:
        await embedder.embed(["one"])
    assert caught.value.dependency == "embedder"
    assert len(server.bodies) == Retries().tries


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "bad_input"),
        (401, "invalid_api_key"),
        (403, None),
        (404, None),
        (429, "insufficient_quota"),
    ],
)
async def test_what_will_not_get_better_is_not_tried_again(
    embedder: OpenAIEmbedder, server: OpenAIServer, status: int, code: str | None
) -> None:
    server.script = [refuses(status, code)]
    with pytest.raises(Unavailable, match=f"HTTP {status}") as caught:
        await embedder.embed(["the user's own words"])
    assert len(server.bodies) == 1
    assert "secret-key" not in caught.value.detail
    assert "own words" not in caught.value.detail


async def test_a_service_that_hangs_is_unavailable_and_nobody_hangs_with_it(
    server: OpenAIServer, clock: MovableClock, pauses: Pauses
) -> None:
    server.script = [hangs(), hangs()]
    service = Service(base_url=f"{server.root}/v1", api_key="k")
    embedder = OpenAIEmbedder(
        service, "m", DIMENSIONS, clock, timeout_s=1.5, retries=Retries(tries=2, sleep=pauses)
    )
    with pytest.raises(Unavailable, match="did not answer in time"):
        await embedder.embed(["one"])
    assert len(server.bodies) == 2
    await embedder.close()


async def test_the_deadline_holds_however_long_one_request_may_take(
    server: OpenAIServer, clock: MovableClock
) -> None:
    server.script = [hangs()]
    service = Service(base_url=f"{server.root}/v1", api_key="k")
    embedder = OpenAIEmbedder(
        service, "m", DIMENSIONS, clock, timeout_s=600, retries=Retries(deadline_s=0.5)
    )
    await embedder.open()
    with pytest.raises(Unavailable, match="did not answer in time"):
        await embedder.embed(["one"])
    await embedder.close()


async def test_a_call_takes_its_timeout_with_all_tries(
    server: OpenAIServer, clock: MovableClock
) -> None:
    """Each try had it, so a save waited for five of them; more than 30 s had no effect."""
    server.script = [hangs(), hangs()]
    service = Service(base_url=f"{server.root}/v1", api_key="k")
    embedder = OpenAIEmbedder(service, "m", DIMENSIONS, clock, timeout_s=0.5)
    await embedder.open()
    with pytest.raises(Unavailable, match="did not answer in time"):
        await embedder.embed(["one"])
    assert len(server.bodies) <= 1
    await embedder.close()


async def test_a_service_that_is_not_there_is_unavailable(
    embedder: OpenAIEmbedder, server: OpenAIServer
) -> None:
    await server.stop()
    with pytest.raises(Unavailable, match="can't be reached"):
        await embedder.embed(["one"])


async def test_vectors_of_another_length_are_a_mismatch_that_says_both(
    embedder: OpenAIEmbedder, server: OpenAIServer
) -> None:
    async def other_length(body: dict[str, Any]) -> web.StreamResponse:
        return server.rows([vector_of("x", 24)], body)

    server.script = [other_length]
    with pytest.raises(EmbeddingMismatch, match=r"24 dimensions.*16"):
        await embedder.embed(["one"])
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "vectors",
    [
        [[0.0] * DIMENSIONS],
        [[math.nan] * DIMENSIONS],
        [[math.inf] + [0.0] * 15],
        [],
        [[1.0] * DIMENSIONS] * 2,
    ],
    ids=["zero", "nan", "infinite", "none", "too many"],
)
async def test_a_vector_that_means_nothing_is_refused(
    embedder: OpenAIEmbedder, server: OpenAIServer, vectors: list[list[float]]
) -> None:
    async def useless(body: dict[str, Any]) -> web.StreamResponse:
        return server.rows(vectors, body)

    server.script = [useless]
    with pytest.raises(Unavailable, match="text-embedding-3-small answered"):
        await embedder.embed(["one"])


@pytest.mark.parametrize(
    "body",
    [
        b'{"data": [{"index": 0, "embedding": "AAA"}]}',
        b'{"data": [{"index": 0, "embedding": "AAA="}]}',
        b'{"data": [{"index": 0, "embedding": null}]}',
        b'{"data": [{"index": 0, "embedding": ["a"]}]}',
        b'{"data": [{"index": 0, "embedding": [[1.0]]}]}',
        b'{"data": [{"embedding": [1.0]}]}',
        b'{"data": "none"}',
        b'{"data": [1]}',
        b"{}",
        b"[]",
        b'"a text"',
        b"null",
    ],
)
async def test_an_answer_that_is_no_list_of_vectors_is_refused(
    embedder: OpenAIEmbedder, server: OpenAIServer, body: bytes
) -> None:
    server.script = [answers(body)]
    with pytest.raises(Unavailable, match="text-embedding-3-small answered"):
        await embedder.embed(["one"])


async def test_a_long_text_is_embedded_in_overlapping_windows_with_heavier_edges(
    embedder: OpenAIEmbedder, server: OpenAIServer
) -> None:
    text = " ".join(f"word{number}" for number in range(900))
    vector = (await embedder.embed(["short", text]))[1]
    short, *windows = server.bodies[0]["input"]
    assert short == "short"
    assert len(windows) > 2
    assert text.startswith(windows[0])
    assert text.endswith(windows[-1])
    for before, after in pairwise(windows):
        assert any(before.endswith(after[:size]) for size in range(50, len(after)))
    weights = np.ones(len(windows))
    weights[[0, -1]] = 1.15
    expected = weights @ np.array([unit(window) for window in windows])
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-6)


async def test_check_asks_only_when_nothing_is_known(
    embedder: OpenAIEmbedder, server: OpenAIServer, clock: MovableClock
) -> None:
    assert (await embedder.check()).status == "ok"
    assert (await embedder.check()).status == "ok"
    assert len(server.bodies) == 1
    clock.advance(minutes=2)
    server.script = [refuses(500)]
    health = await embedder.check()
    assert (health.status, health.detail) == (
        "unavailable",
        "embedder: it answered HTTP 500 (some_error)",
    )
    assert (await embedder.check()).status == "ok"


async def test_a_failure_outdates_what_check_knew(
    embedder: OpenAIEmbedder, server: OpenAIServer
) -> None:
    await embedder.embed(["one"])
    server.script = [refuses(401), refuses(401)]
    with pytest.raises(Unavailable):
        await embedder.embed(["one"])
    assert (await embedder.check()).status == "unavailable"


async def test_an_identity_that_cannot_sign_in_is_unavailable(
    server: OpenAIServer, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)
    # AZURE_TOKEN_CREDENTIALS narrows the chain to one link, which fails at once without
    # its variables.
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
    embedder = OpenAIEmbedder(
        Service(provider="azure", base_url=server.root), "m", DIMENSIONS, clock
    )
    with pytest.raises(Unavailable, match="signing in failed"):
        await embedder.embed(["one"])
    assert server.bodies == []
    await embedder.close()
