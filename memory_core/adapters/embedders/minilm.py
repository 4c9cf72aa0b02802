"""The `Embedder` over MiniLM, with threads for short texts and for long texts.

There is a thread for each core for queries and short texts, and as many for long texts. So the
event loop never waits for the model, and a query never waits for a long text. A call is cut into
small batches. As many batches as there are cores are worked on or queued, so calls take turns.

Single texts of concurrent calls are not gathered into batches. Eight turns of 30 tokens cost 3.4 ms
each together and 4.4 ms each alone. That is too little to make every call wait for company.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from hashlib import sha256
from threading import Lock
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from memory_core.adapters.embedders.minilm_model import (
    DIMENSIONS,
    MAX_TOKENS,
    MiniLM,
    Reducer,
    sampled_places,
)
from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import Vector
from memory_core.domain.ranking import vectors
from memory_core.domain.ranking.vectors import States, TokenStates
from memory_core.ports import Health

T = TypeVar("T")


QUERY_WINDOWS = 4
"""The most windows of a query that are embedded.

Each takes 60 ms of two idle cores, and 10,000 Chinese characters are 49 windows. Of 180 questions,
placed at the start, in the middle or at the end of 9,400 characters about something else, four
windows find as much as all (recall@10 .053 and .058, @20 .092 and .097). Pasted talks find as many
of their own turns (.600 and .587).
"""
SHORT_CHARACTERS = 1_000
"""Characters of all texts of a call, above which its texts count as long."""
BATCH_TEXTS = 8
BATCH_TOKENS = 256
"""Padded tokens of a batch.

A larger batch is no faster for each token, and takes memory that onnxruntime keeps.
"""
SHARE_TOKENS = 32
"""Padded tokens that a thread's share of a query's sentences has at least.

Two batches take as much work in all as a single batch, and half as long.
"""
MOST_WAITING = 1_000
"""Windows of long texts that wait in all calls: 1 to 2 minutes of work.

The largest bulk has 800.
"""
RETRY_S = 30
KEPT_STATES = 1_024
"""Texts whose token states are kept for their caller, some 3 KB each."""
MOST_THREADS = 4
"""The most threads of each kind, however many cores there are.

The other cores are left to other programs.
"""


class MiniLMEmbedder:
    """The embedder of `EMBEDDING_PROVIDER=minilm`: 384 dimensions, no key, no network.

    Texts over 254 tokens are embedded in overlapping windows.
    """

    def __init__(
        self,
        *,
        threads: int | None = None,
        chunking: vectors.Chunking = vectors.STANDARD,
        most_waiting: int = MOST_WAITING,
        reducer: Reducer | None = None,
    ) -> None:
        """Build the embedder, without loading the model.

        Args:
            threads: For short texts, and as many for long texts; None for a thread for each core
                that the process may use, up to MOST_THREADS.
            chunking: How a text that is too long for the model is cut into windows.
            most_waiting: Windows of long texts that may wait. A call that exceeds this is refused,
                unless no other call waits.
            reducer: Reduces the token states that are kept of texts; None to keep no states.

        """
        self._chunking = chunking.within(MAX_TOKENS)
        self._of_queries = replace(self._chunking, most_windows=QUERY_WINDOWS)
        self._threads = threads or min(_cores(), MOST_THREADS)
        self._short, self._long = (
            _Worker("minilm-short", self._threads),
            _Worker("minilm-long", self._threads),
        )
        self._most_waiting, self.waiting = most_waiting, 0
        self._loading = Lock()
        self._model: MiniLM | None = None
        self._reducer = reducer
        self._states: OrderedDict[bytes, TokenStates] = OrderedDict()

    @property
    def model(self) -> str:
        """Name and version; weights and activations of eight bits make vectors of their own."""
        return "all-MiniLM-L6-v2-w8a8"

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return DIMENSIONS

    @property
    def whole_query(self) -> int:
        """Characters that fit into QUERY_WINDOWS windows, whatever the characters are.

        A character makes three tokens at most, in Korean.
        """
        return vectors.covered(QUERY_WINDOWS, self._chunking) // 3

    async def open(self) -> None:
        """Load the model in a thread.

        Raises Unavailable if the extra `local` is not installed, or holds other files.
        """
        self._short.start()
        self._long.start()
        await self._short.run(self._loaded)

    async def close(self) -> None:
        """Release the model, after the running batches have ended."""
        await self._short.stop()
        await self._long.stop()
        self._model = None

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed each text as a normalized float32 vector, in order.

        Loads the model if `open` has not. Raises Unavailable if too many windows of long texts wait
        already.
        """
        if _are_short(texts):
            windows = await self._cut_short(texts, self._chunking)
            return await self._vectors(texts, windows, self._short)
        windows = [
            await self._long.run(partial(self._windows, text, self._chunking)) for text in texts
        ]
        count = sum(map(len, windows))
        if self.waiting and self.waiting + count > self._most_waiting:
            raise Unavailable(
                "embedder",
                f"{self.waiting} windows of long texts wait to be embedded",
                retry_after_s=RETRY_S,
            )
        self.waiting += count
        try:
            return await self._vectors(texts, windows, self._long)
        finally:
            self.waiting -= count

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed as `embed` does, up to QUERY_WINDOWS windows of a text.

        Of a longer text only as many windows are read: the first, the last, and windows evenly
        between.
        """
        windows = await self._cut_short(texts, self._of_queries)
        return await self._vectors(texts, windows, self._short, shared=True)

    async def _cut_short(
        self, texts: Sequence[str], chunking: vectors.Chunking
    ) -> list[list[list[int]]]:
        """Cut texts into windows: short texts here, as a thread takes longer to be woken."""

        def read() -> list[list[list[int]]]:
            return [self._windows(text, chunking) for text in texts]

        is_quick = self._model is not None and _are_short(texts)
        return read() if is_quick else await self._short.run(read)

    async def token_states(self, texts: Sequence[str]) -> list[TokenStates | None]:
        """Token states of the pass that made the vectors.

        If that pass of a text was long ago, the text is embedded again.
        """
        if self._reducer is None:
            return [None] * len(texts)
        if gone := [text for text in dict.fromkeys(texts) if _name(text) not in self._states]:
            await self.embed(gone)
        return [self._states.get(_name(text)) for text in texts]

    def _keep_states(self, text: str, pieces: Sequence[int], states: Sequence[States]) -> None:
        if self._reducer is None:
            return
        name = _name(text)
        self._states[name] = self._reducer.encode_states(pieces, np.concatenate(states))
        self._states.move_to_end(name)
        while len(self._states) > KEPT_STATES:
            self._states.popitem(last=False)

    async def _vectors(
        self,
        texts: Sequence[str],
        windows: Sequence[Sequence[Sequence[int]]],
        worker: _Worker,
        *,
        shared: bool = False,
    ) -> list[Vector]:
        """Embed texts that are given with their windows, and keep their token states.

        Args:
            texts: The texts.
            windows: Of each text its windows, which are tokens.
            worker: Whose threads run the model.
            shared: Whether few windows are split among the threads.

        """
        flat = [window for of_text in windows for window in of_text]
        places = [
            at for of_text in windows for at in sampled_places([len(window) for window in of_text])
        ]
        by_length = sorted(range(len(flat)), key=lambda place: len(flat[place]))
        results: dict[int, tuple[Vector, States]] = {}
        parted = _shares(by_length, flat, self._threads) if shared else _batches(by_length, flat)
        batches = iter(parted)
        await asyncio.gather(
            *(
                self._read_batches(batches, flat, places, results, worker)
                for _ in range(self._threads)
            )
        )
        combined, start = [], 0
        for text, of_text in zip(texts, windows, strict=True):
            every = range(start, start + len(of_text))
            made = [results[place] for place in every]
            combined.append(
                vectors.combine([vector for vector, _ in made], self._chunking.edge_weight)
            )
            self._keep_states(
                text,
                [flat[place][at] for place in every for at in places[place]],
                [states for _, states in made],
            )
            start += len(of_text)
        return combined

    async def _read_batches(
        self,
        batches: Iterator[Sequence[int]],
        windows: Sequence[Sequence[int]],
        sampled: Sequence[npt.NDArray[np.int64]],
        results: dict[int, tuple[Vector, States]],
        worker: _Worker,
    ) -> None:
        """Read the batches that no other task takes.

        Args:
            batches: Places of windows, of which each task takes the next.
            windows: All windows.
            sampled: The tokens of each window that have states.
            results: Filled by the windows' places.
            worker: Whose threads run the model.

        """
        for batch in batches:
            made = await worker.run(
                partial(
                    self._run,
                    [windows[place] for place in batch],
                    [sampled[place] for place in batch],
                )
            )
            results.update(zip(batch, made, strict=True))

    async def check(self) -> Health:
        """Embed a single word."""
        began = time.perf_counter()
        try:
            await self.embed(["ready"])
        except Unavailable as error:
            return Health("minilm", "unavailable", detail=error.detail)
        return Health("minilm", "ok", (time.perf_counter() - began) * 1000)

    def _loaded(self) -> MiniLM:
        """The model, loaded once."""
        with self._loading:
            if self._model is None:
                self._model = MiniLM()
            return self._model

    def _run(
        self, windows: Sequence[Sequence[int]], sampled: Sequence[npt.NDArray[np.int64]]
    ) -> list[tuple[Vector, States]]:
        return self._loaded().read(
            windows, None if self._reducer is None else self._reducer.basis, sampled
        )

    def _windows(self, text: str, chunking: vectors.Chunking) -> list[list[int]]:
        tokens = self._loaded().tokens(text)
        return [tokens[start:end] for start, end in chunking.cut(len(tokens))] or [[]]


class _Worker:
    """Threads that start with the first work; after `stop` they take no work until `start`."""

    def __init__(self, name: str, threads: int) -> None:
        self._name, self._threads = name, threads
        self._pool: ThreadPoolExecutor | None = None
        self._stopped = False

    def start(self) -> None:
        """Take work again."""
        self._stopped = False

    async def run(self, work: Callable[[], T]) -> T:
        """Run work in a thread, after earlier work, and return its result.

        Raises Unavailable after `stop`.
        """
        if self._stopped:
            raise Unavailable("embedder", "it is closed")
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix=self._name)
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def stop(self) -> None:
        """End the threads after the work that they have been given."""
        self._stopped = True
        pool, self._pool = self._pool, None
        if pool is not None:
            await asyncio.to_thread(pool.shutdown)


def _are_short(texts: Sequence[str]) -> bool:
    return sum(map(len, texts)) <= SHORT_CHARACTERS


def _name(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _cores() -> int:
    """Number of cores that the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _shares(
    places: Sequence[int], windows: Sequence[Sequence[int]], threads: int
) -> list[list[int]]:
    """Divide the places as `_batches` does, into a batch for each thread if possible.

    Batches become smaller only where there would be fewer batches than threads, and not below
    SHARE_TOKENS.
    """
    batches = _batches(places, windows)
    padded = sum(len(batch) * (len(windows[batch[-1]]) + 2) for batch in batches)
    most = max(SHARE_TOKENS, padded // threads)
    while len(batches) < threads and most < BATCH_TOKENS:
        shares = _batches(places, windows, most)
        if len(shares) <= threads:
            return shares
        most += most // 8
    return batches


def _batches(
    places: Sequence[int], windows: Sequence[Sequence[int]], most_tokens: int = BATCH_TOKENS
) -> list[list[int]]:
    """Divide the places into batches, the shortest window first.

    A batch has at most BATCH_TEXTS windows and `most_tokens` padded tokens.
    """
    batches: list[list[int]] = []
    for place in places:
        width = len(windows[place]) + 2
        if (
            not batches
            or len(batches[-1]) == BATCH_TEXTS
            or (len(batches[-1]) + 1) * width > most_tokens
        ):
            batches.append([])
        batches[-1].append(place)
    return batches
