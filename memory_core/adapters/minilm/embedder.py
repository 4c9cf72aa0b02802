"""The `Embedder` over MiniLM: one worker thread, so that the event loop never waits for the model.

A long call is cut into small batches that queue one by one, so a question asked during a bulk save waits for one batch, not for
all. Single texts of concurrent calls are not gathered into batches: measured on two cores, eight turns of 40 tokens cost 5 ms
each together and 8 ms each alone, too little to make everybody wait for company.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from memory_core.adapters.minilm.model import DIMENSIONS, MAX_TOKENS, MiniLM
from memory_core.domain import chunks
from memory_core.domain.errors import Unavailable
from memory_core.domain.models import Vector
from memory_core.ports import Health

T = TypeVar("T")


QUERY_WINDOWS = 4
"""Each takes 60 ms of two idle cores, and 10,000 Chinese characters are 49. Of 180 questions put at the start, in the middle or at the end
of 9,400 characters about something else, four windows find as much as all (recall@10 .053 and .058, @20 .092 and .097); pasted talks find
as many of their own turns (.600 and .587)."""
BATCH_TEXTS = 8
BATCH_TOKENS = 512
"""Padded. Beyond it a batch is no faster for each token, and takes memory that onnxruntime keeps."""


class MiniLMEmbedder:
    """`EMBEDDING_PROVIDER=minilm`: 384 dimensions, no key, no network. Texts over 254 tokens are embedded in overlapping windows."""

    def __init__(self, *, threads: int = 2, chunking: chunks.Chunking = chunks.STANDARD) -> None:
        self._chunking = chunking.within(MAX_TOKENS)
        self._threads = threads
        self._worker: ThreadPoolExecutor | None = None
        self._model: MiniLM | None = None

    @property
    def model(self) -> str:
        """Name and version; the int8 build makes vectors of its own."""
        return "all-MiniLM-L6-v2-int8"

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return DIMENSIONS

    @property
    def whole_query(self) -> int:
        """Characters that are in no more than QUERY_WINDOWS windows, whatever they are: one makes three tokens at most, in Korean."""
        return chunks.covered(QUERY_WINDOWS, self._chunking) // 3

    async def open(self) -> None:
        """Load the model in its thread. Raises Unavailable when the extra `local` is not installed, or holds other files."""
        await self._in_thread(self._loaded)

    async def close(self) -> None:
        """Let the model go; a batch that is running ends first."""
        worker, self._worker, self._model = self._worker, None, None
        if worker is not None:
            await asyncio.to_thread(worker.shutdown)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One normalised float32 vector a text, in order. Loads the model when `open` has not."""
        if not texts:
            return []
        return await self._vectors(await self._in_thread(lambda: [self._windows(text) for text in texts]))

    async def embed_query(self, text: str) -> Vector:
        """As `embed` up to QUERY_WINDOWS windows; of a longer text only as many are read, the first, the last and evenly between."""
        windows = await self._in_thread(lambda: self._windows(text))
        (vector,) = await self._vectors([[windows[place] for place in chunks.spread(len(windows), QUERY_WINDOWS)]])
        return vector

    async def _vectors(self, windows: Sequence[Sequence[Sequence[int]]]) -> list[Vector]:
        """One vector for each text, given as its windows."""
        flat = [window for of_text in windows for window in of_text]
        by_length = sorted(range(len(flat)), key=lambda place: len(flat[place]))
        vectors: dict[int, Vector] = {}
        for batch in _batches(by_length, flat):
            made = await self._in_thread(partial(self._run, [flat[place] for place in batch]))
            vectors.update(zip(batch, made, strict=True))
        answers, start = [], 0
        for of_text in windows:
            answers.append(chunks.combine([vectors[place] for place in range(start, start + len(of_text))], self._chunking.edge_weight))
            start += len(of_text)
        return answers

    async def check(self) -> Health:
        """Embeds one word."""
        began = time.perf_counter()
        try:
            await self.embed(["ready"])
        except Unavailable as error:
            return Health("minilm", "unavailable", detail=error.detail)
        return Health("minilm", "ok", (time.perf_counter() - began) * 1000)

    def _loaded(self) -> MiniLM:
        """The model; only ever called in the one worker thread, so it is loaded once."""
        if self._model is None:
            self._model = MiniLM(self._threads)
        return self._model

    def _run(self, windows: Sequence[Sequence[int]]) -> list[Vector]:
        return self._loaded().vectors(windows)

    def _windows(self, text: str) -> list[list[int]]:
        tokens = self._loaded().tokens(text)
        return [tokens[start:end] for start, end in chunks.windows(len(tokens), self._chunking.size, self._chunking.overlap)] or [[]]

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="minilm")
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)


def _batches(places: Sequence[int], windows: Sequence[Sequence[int]]) -> list[list[int]]:
    """The places, shortest window first, in batches of at most BATCH_TEXTS windows and BATCH_TOKENS padded tokens."""
    batches: list[list[int]] = []
    for place in places:
        width = len(windows[place]) + 2
        if not batches or len(batches[-1]) == BATCH_TEXTS or (len(batches[-1]) + 1) * width > BATCH_TOKENS:
            batches.append([])
        batches[-1].append(place)
    return batches
