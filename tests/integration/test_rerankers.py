"""Both rerankers over a real socket: the service behind /rerank, and the chat model that
reads a list.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from memory_core.adapters.openai.client import Service
from memory_core.adapters.openai.rerankers import EndpointReranker, ListwiseReranker
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.domain.scope import Owner
from tests.builders import StillClock
from tests.chat_server import ChatServer, says
from tests.model_calls import Made
from tests.served import Served

TEXTS = ["lunch", "the red boat", "boats"]


class RerankServer(Served):
    """Answers `answer`, or `raw` where that is given, or refuses with `status`;
    `bodies` and `keys` keep what was asked.
    """

    def __init__(self) -> None:
        self.answer: Any = {
            "results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": -2.5}]
        }
        self.raw: bytes | None = None
        self.status = 200
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/rerank", self._answer)]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.json())
        self.keys.append(request.headers["Authorization"])
        if self.raw is not None:
            return web.Response(body=self.raw, content_type="application/json")
        return web.json_response(self.answer, status=self.status)


@pytest.fixture
async def service() -> AsyncIterator[RerankServer]:
    made = RerankServer()
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def endpoint(service: RerankServer) -> AsyncIterator[EndpointReranker]:
    made = EndpointReranker(
        Service(base_url=f"http://127.0.0.1:{service.port}/v1", api_key="key"),
        "reader-1",
        StillClock(),
        timeout_s=5.0,
    )
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def chat() -> AsyncIterator[Made]:
    server = ChatServer()
    await server.start()
    made = Made(server)
    yield made
    await made.close()
    await server.stop()


async def test_a_service_is_asked_for_all_texts_and_answers_by_number(
    endpoint: EndpointReranker, service: RerankServer
) -> None:
    assert await endpoint.rerank(Owner("shop", "ana"), "red boat", TEXTS) == [-2.5, 0.9, -3.5]
    assert service.bodies == [
        {"model": "reader-1", "query": "red boat", "documents": TEXTS, "top_n": 3}
    ]
    assert service.keys == ["Bearer key"]
    assert (await endpoint.check()).status == "ok"
    assert len(service.bodies) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        {"results": []},
        {"results": None},
        {"results": [{"index": 3, "relevance_score": 1}]},
        {"results": [{"index": -1, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": "high"}]},
        {"results": [{"index": 0}]},
        {"results": ["first"]},
    ],
)
async def test_nonsense_of_a_service_is_its_being_away(
    endpoint: EndpointReranker, service: RerankServer, answer: Any
) -> None:
    service.answer = answer
    with pytest.raises(Unavailable, match="reranker"):
        await endpoint.rerank(Owner("shop", "ana"), "red boat", TEXTS)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<html>",
        b'{"results": [',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"results": [{"index": 0, "relevance_score": NaN}]}',
        b'{"results": [{"index": Infinity, "relevance_score": 1}]}',
        b'{"results": [{"index": 0, "relevance_score": 1' + b"0" * 400 + b"}]}",
        b'{"results": [{"index": 1' + b"0" * 5000 + b', "relevance_score": 1}]}',
    ],
    ids=[
        "nothing",
        "a page",
        "cut",
        "no text",
        "deep",
        "no number",
        "infinite place",
        "huge score",
        "huge place",
    ],
)
async def test_bytes_that_are_no_scores_are_its_being_away(
    endpoint: EndpointReranker, service: RerankServer, raw: bytes
) -> None:
    service.raw = raw
    with pytest.raises(Unavailable, match="reranker"):
        await endpoint.rerank(Owner("shop", "ana"), "red boat", TEXTS)


async def test_a_service_that_refuses_is_away_and_readiness_says_so(
    endpoint: EndpointReranker, service: RerankServer
) -> None:
    service.status = 500
    with pytest.raises(Unavailable, match="HTTP 500"):
        await endpoint.rerank(Owner("shop", "ana"), "red boat", TEXTS)
    assert len(service.bodies) == 1
    assert (await endpoint.check()).status == "unavailable"
    service.status, service.answer = 200, {"results": [{"index": 0, "relevance_score": 1.0}]}
    assert (await endpoint.check()).status == "ok"


async def test_a_model_names_the_texts_that_help(chat: Made) -> None:
    reranker = ListwiseReranker(chat.agents())
    chat.server.script = [says('{"ranked": [2, 1, 2, 7]}')]
    assert await reranker.rerank(Owner("shop", "ana"), "red boat", TEXTS) == [0.0, 2.0, 3.0]
    (message,) = [
        message["content"]
        for message in chat.server.bodies[0]["messages"]
        if message["role"] == "user"
    ]
    assert all(text in message for text in ("red boat", *TEXTS))


async def test_a_model_that_answers_nothing_usable_failed(chat: Made) -> None:
    chat.server.script = [says("no idea")]
    with pytest.raises(AgentFailed):
        await ListwiseReranker(chat.agents()).rerank(Owner("shop", "ana"), "red boat", TEXTS)
