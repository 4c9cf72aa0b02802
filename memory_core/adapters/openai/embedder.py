"""The `Embedder` over the embeddings API of OpenAI, Azure OpenAI or a compatible server.

An answer is checked before its vectors are stored. It has as many vectors as texts. Each vector has
the configured length, and is finite and not zero.
"""

from __future__ import annotations

import asyncio
import base64
import sys
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from memory_core.adapters.openai import tokens
from memory_core.adapters.openai.client import ModelConnection, Retries, Service
from memory_core.domain.errors import EmbeddingMismatch, Unavailable
from memory_core.domain.memory import Vector
from memory_core.domain.ranking.vectors import STANDARD, Chunking, TokenStates, combine
from memory_core.ports import Clock, Health

if TYPE_CHECKING:
    from openai.types import CreateEmbeddingResponse


DEPENDENCY = "embedder"
BATCH_INPUTS = 256
BATCH_CHARACTERS = 100_000
"""Characters of a request.

The API takes 300,000 tokens in a request. Even a script of three tokens a character stays below.
"""
TRUST_S = 60
"""Seconds for which a success answers a readiness check, so that probes cost no tokens."""


class OpenAIEmbedder:
    """The embedder of `EMBEDDING_PROVIDER=openai` or `azure`.

    `model` is the model's name, which is stored with each vector. `deployment` is its name in
    Azure, if that is another. `timeout_s` bounds a call with all its tries. `retries` sets other
    bounds of their number and their time in all.
    """

    def __init__(
        self,
        service: Service,
        model: str,
        dimensions: int,
        clock: Clock,
        *,
        deployment: str | None = None,
        timeout_s: float = 10.0,
        retries: Retries | None = None,
        chunking: Chunking = STANDARD,
        encoding: Literal["base64", "float"] = "base64",
    ) -> None:
        self._service = service
        self._model = model
        self._deployment = deployment or model
        self._dimensions = dimensions
        self._clock = clock
        self._timeout_s = timeout_s
        self._retries = retries or Retries(deadline_s=timeout_s)
        self._chunking = chunking
        self._encoding: Literal["base64", "float"] = encoding
        self._connection = ModelConnection(DEPENDENCY, service, timeout_s)
        self._last_ok: datetime | None = None
        self._failing = False

    @property
    def model(self) -> str:
        """The configured name of the model."""
        return self._model

    @property
    def dimensions(self) -> int:
        """The configured length of a vector."""
        return self._dimensions

    @property
    def whole_query(self) -> int:
        """No limit: a query of any length is read completely."""
        return sys.maxsize

    async def open(self) -> None:
        """Make the client, without sending a request.

        Whether the service answers is for `check`, and a restart should not cost money.
        """
        await self._connection.open()

    async def close(self) -> None:
        """Close the client."""
        await self._connection.close()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed each text as a normalized float32 vector, in order.

        Long texts are embedded in windows. Raises Unavailable if the service fails for longer than
        the retries allow, or answers nonsense. Raises EmbeddingMismatch if its vectors don't have
        the configured length.
        """
        if all(tokens.is_short(text, self._chunking) for text in texts):
            windows = [[text] for text in texts]
        else:
            windows = await asyncio.to_thread(
                lambda: [tokens.pieces(text, self._chunking) for text in texts]
            )
        flat = [piece for of_text in windows for piece in of_text]
        vectors: list[Vector] = []
        for start, end in _batches(flat):
            vectors += await self._asked(self._retries, flat[start:end])
        answers, start = [], 0
        for of_text in windows:
            answers.append(
                combine(vectors[start : start + len(of_text)], self._chunking.edge_weight)
            )
            start += len(of_text)
        return answers

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed as `embed` does; the wrapping embedder decides how long a query waits."""
        return await self.embed(texts)

    async def token_states(self, texts: Sequence[str]) -> list[TokenStates | None]:
        """None for each text, since this model has no token states to offer."""
        return [None] * len(texts)

    async def check(self) -> Health:
        """Report the last request if it is fresh, else embed a single word.

        That request is tried once.
        """
        adapter = self._service.provider
        if (
            not self._failing
            and self._last_ok is not None
            and self._clock.now() - self._last_ok < timedelta(seconds=TRUST_S)
        ):
            return Health(adapter, "ok", last_ok=self._last_ok)
        began = time.perf_counter()
        try:
            await self._asked(Retries(tries=1, deadline_s=self._timeout_s), ["ready"])
        except Unavailable as error:
            return Health(adapter, "unavailable", last_ok=self._last_ok, detail=error.detail)
        return Health(adapter, "ok", (time.perf_counter() - began) * 1000, self._last_ok)

    async def _asked(self, retries: Retries, batch: Sequence[str]) -> list[Vector]:
        try:
            vectors = await retries.run(DEPENDENCY, partial(self._request, batch))
        except Unavailable:
            self._failing = True
            raise
        self._failing, self._last_ok = False, self._clock.now()
        return vectors

    async def _request(self, batch: Sequence[str]) -> list[Vector]:
        client = await self._connection.client()
        # ada-002 is the one model of OpenAI's that refuses the parameter.
        length: dict[str, Any] = (
            {} if self._model.endswith("ada-002") else {"dimensions": self._dimensions}
        )
        answer = await client.embeddings.create(
            model=self._deployment, input=list(batch), encoding_format=self._encoding, **length
        )
        return self._checked(answer, len(batch))

    def _checked(self, answer: CreateEmbeddingResponse, expected: int) -> list[Vector]:
        """Vectors of an answer in the order of the inputs, normalized.

        Raises the errors of `embed` if the answer does not fit the request.
        """
        try:
            rows = sorted(answer.data or [], key=lambda row: row.index)
            vectors = [_decoded(row.embedding) for row in rows]
        except (AttributeError, TypeError, ValueError) as error:
            # The SDK builds its objects from whatever came, so a stranger's answer shows only here.
            raise Unavailable(
                DEPENDENCY, f"{self._model} answered something else than vectors"
            ) from error
        if [row.index for row in rows] != list(range(expected)):
            raise Unavailable(
                DEPENDENCY, f"{self._model} answered {len(rows)} vectors for {expected} texts"
            )
        for vector in vectors:
            if len(vector) != self._dimensions:
                raise EmbeddingMismatch(
                    DEPENDENCY,
                    f"{self._model} answers vectors of {len(vector)} dimensions, "
                    f"{self._dimensions} are configured",
                )
        matrix = np.array(vectors, dtype=np.float64).reshape(expected, self._dimensions)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not (lengths > 0).all():
            raise Unavailable(
                DEPENDENCY, f"{self._model} answered a vector that is zero or not finite"
            )
        return list((matrix / lengths).astype(np.float32))


def _decoded(embedding: Any) -> Vector:
    """Decode a vector from base64 of little-endian float32, or from a list.

    Servers that know no base64 send a list. Raises ValueError for any other value.
    """
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    vector = np.asarray(embedding, dtype=np.float32)
    if vector.ndim != 1:
        raise ValueError("not a list of numbers")
    return vector


def _batches(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Ranges [start, end) of at most BATCH_INPUTS texts and BATCH_CHARACTERS.

    A single text may be longer.
    """
    ranges: list[tuple[int, int]] = []
    start = characters = 0
    for place, text in enumerate(texts):
        if place > start and (
            place - start == BATCH_INPUTS or characters + len(text) > BATCH_CHARACTERS
        ):
            ranges.append((start, place))
            start, characters = place, 0
        characters += len(text)
    if texts:
        ranges.append((start, len(texts)))
    return ranges
