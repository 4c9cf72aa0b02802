"""A small server that speaks the embeddings API over real sockets, and misbehaves when told to.

Each request takes the next behaviour from `script`; when that is empty it answers properly. A
vector is derived from its text, so that a test can tell which text it belongs to.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from hashlib import shake_128
from typing import Any

import numpy as np
from aiohttp import web

from tests.served import Served

Behaviour = Callable[[dict[str, Any]], Awaitable[web.StreamResponse]]


def vector_of(text: str, dimensions: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The unnormalised vector that the server makes of a text."""
    return np.frombuffer(shake_128(text.encode()).digest(dimensions), dtype=np.int8).astype(
        np.float32
    ) + np.float32(0.5)


@dataclass
class OpenAIServer(Served):
    """`bodies` and `headers` keep what was asked, in order."""

    dimensions: int = 16
    script: list[Behaviour] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    knows_base64: bool = True

    def routes(self) -> Iterator[web.RouteDef]:
        for path in ("/v1/embeddings", "/openai/v1/embeddings"):
            yield web.post(path, self._answer)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.paths.append(request.path_qs)
        self.headers.append(dict(request.headers))
        if self.script:
            return await self.script.pop(0)(body)
        return await self.well(body)

    async def well(self, body: dict[str, Any]) -> web.StreamResponse:
        """The proper answer, its rows in reverse, since only `index` says which is which."""
        dimensions = body.get("dimensions", self.dimensions)
        return self.rows([vector_of(text, dimensions) for text in body["input"]], body)

    def rows(self, vectors: list[Any], body: dict[str, Any]) -> web.StreamResponse:
        rows = []
        for index, vector in enumerate(vectors):
            array = np.asarray(vector, dtype="<f4")
            as_text = self.knows_base64 and body.get("encoding_format") == "base64"
            embedding = (
                base64.b64encode(array.tobytes()).decode() if as_text else [float(x) for x in array]
            )
            rows.append({"object": "embedding", "index": index, "embedding": embedding})
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return web.json_response(
            {"object": "list", "model": body["model"], "data": rows[::-1], "usage": usage}
        )


def refuses(status: int, code: str | None = None, **headers: str) -> Behaviour:
    """An error as the API sends it; its message quotes what must not be passed on."""

    async def behave(body: dict[str, Any]) -> web.StreamResponse:
        error = {
            "message": f"secret-key and {body['input'][0]}",
            "type": "some_error",
            "code": code,
        }
        return web.json_response(
            {"error": error},
            status=status,
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )

    return behave


def hangs() -> Behaviour:
    """No answer until the client gives up."""

    async def behave(_: dict[str, Any]) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    return behave


def answers(content: bytes) -> Behaviour:
    """HTTP 200 with these bytes."""

    async def behave(_: dict[str, Any]) -> web.StreamResponse:
        return web.Response(body=content, content_type="application/json")

    return behave
