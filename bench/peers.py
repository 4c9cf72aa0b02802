"""Peers side by side in the same run, where they are installed: mem0 with `infer=False`, its local
qdrant on disk, the same embedder.

Not a dependency of the project: the extra `bench` brings it in, with its version. Note: without a
language model and without its extras mem0 ranks by cosines alone (no words, no entities, no
duplicates found). With `fastembed` beside it, it adds BM25 by itself.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import os
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from bench import library
from bench.tables import Row, show
from bench.texts import loaded, memories, queries
from memory_core.adapters.embedders.hash_embedder import HashEmbedder
from memory_core.domain.memory import Vector

DIMENSIONS = 384
MAX_SAVES = 200
USER = "ana"
MODULES = ("mem0", "qdrant_client")


def why_not(modules: Sequence[str] = MODULES) -> str | None:
    """The reason to skip mem0; None when it can be measured."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if not missing:
        return None
    return f"mem0 is skipped: {', '.join(missing)} not installed here (pip install -e '.[bench]')"


def which() -> str:
    """In a line, the mem0 that is measured, or the reason to skip it."""
    if (reason := why_not()) is not None:
        return reason
    words = (
        "with BM25 by fastembed" if importlib.util.find_spec("fastembed") else "without its extras"
    )
    return (
        f"mem0 {importlib.metadata.version('mem0ai')}: infer=False, {words}, in qdrant on disk, "
        "our embedder"
    )


def flush_ms(folder: Path) -> float:
    """What it takes to have 4 KiB on this disk for good, in ms, the middle of a hundred. An add of
    mem0 2.2.1 waits for it eight times, by its system calls: at 0.23 ms a flush, 1.8 of its 2.2.
    """
    times = []
    with (folder / "flushed").open("wb", buffering=0) as file:
        for _ in range(100):
            file.write(bytes(4096))
            begun = time.perf_counter()
            os.fsync(file.fileno())
            times.append(1000 * (time.perf_counter() - begun))
    return sorted(times)[50]


def measure(folder: Path, sizes: Sequence[int], seconds: float) -> list[Row]:
    """Searches, then saves, at each size; the store grows from one size to the next by mem0's own
    `add`, which has no bulk form.
    """
    embedder, runner = HashEmbedder(DIMENSIONS), asyncio.Runner()
    memory = opened(folder, lambda text: runner.run(embedder.embed([text]))[0])
    stream = (body["content"] for body in loaded(library.SEED, USER))
    rows: list[Row] = []
    stored = 0
    for size in sorted(sizes):
        print(f"mem0: filling up to {size:,} memories …", flush=True)
        for text in islice(stream, size - stored):
            memory.add(text, user_id=USER, infer=False)
        rows += _measured(memory, size, seconds)
        stored = size + rows[-1].operations
    memory.close()
    return rows


def _measured(memory: Any, size: int, seconds: float) -> list[Row]:
    asked = queries(library.SEED, USER, size)
    _, times, took, errors = _timed(
        lambda text: memory.search(
            text, filters={"user_id": USER}, top_k=library.RESULTS, threshold=0.0
        ),
        asked,
        seconds,
    )
    row = Row.of("mem0 search", size, 1, times, took, errors)
    texts = (body["content"] for body in islice(memories(library.SEED + size, USER), MAX_SAVES))
    added, times, took, errors = _timed(
        lambda text: memory.add(text, user_id=USER, infer=False), texts, seconds
    )
    ids = [result["id"] for answer in added for result in answer["results"]]
    lost = sum(memory.get(memory_id) is None for memory_id in ids)
    return [row, Row.of("mem0 add", size, 1, times, took, errors, lost=lost)]


def show_ratios(ours: Sequence[Row], theirs: Sequence[Row]) -> None:
    """How many times mem0's operations a second are ours, at the sizes that both have."""
    lines = []
    for mine, other in (("retrieve", "mem0 search"), ("save", "mem0 add")):
        for row in theirs:
            match = next(
                (
                    row_of_ours
                    for row_of_ours in ours
                    if row_of_ours.name == mine and row_of_ours.memories == row.memories
                ),
                None,
            )
            if row.name == other and match is not None and row.per_second > 0:
                ratio = match.per_second / row.per_second
                lines.append(
                    [
                        mine,
                        f"{row.memories:,}",
                        f"{match.per_second:,.0f}",
                        f"{row.per_second:,.1f}",
                        f"{ratio:.1f}×",
                    ]
                )
    show(
        "Beside mem0, library to library",
        ("", "memories", "ours op/s", "mem0 op/s", "ratio"),
        lines,
    )


def opened(folder: Path, vector: Callable[[str], Vector]) -> Any:
    """A mem0 of this folder whose vectors, of `DIMENSIONS`, this function makes."""
    # Read when mem0 is first imported: no telemetry, and none of its files in the home folder.
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = str(folder)
    from mem0 import Memory

    store = {
        "collection_name": "bench",
        "path": str(folder / "qdrant"),
        "embedding_model_dims": DIMENSIONS,
        "on_disk": True,
    }
    unused = {"api_key": "unused: infer=False asks no model"}
    memory = Memory.from_config({
        "vector_store": {"provider": "qdrant", "config": store},
        "llm": {"provider": "openai", "config": unused},
        "embedder": {"provider": "openai", "config": {**unused, "embedding_dims": DIMENSIONS}},
        "history_db_path": str(folder / "history.db"),
    })  # fmt: skip
    memory.embedding_model = _embedding(memory.embedding_model.config, vector)
    return memory


class StoredTurns:
    """The turns of a conversation in a mem0 of their own."""

    def __init__(
        self, folder: Path, texts: Mapping[str, str], vector: Callable[[str], Vector]
    ) -> None:
        """Add turn by turn, since mem0 has no bulk form.

        Args:
            folder: For mem0's files, with nothing in it yet.
            texts: By the turn's id, its text.
            vector: Makes the vector of a text or a query. mem0 asks for texts without spaces
                around them.

        """
        self._memory = opened(folder, vector)
        for turn, text in texts.items():
            self._memory.add(text, user_id=USER, infer=False, metadata={"turn": turn})

    def search(self, query: str, most: int) -> list[str]:
        """The ids of the turns that mem0 finds without a threshold, best first."""
        answer = self._memory.search(query, filters={"user_id": USER}, top_k=most, threshold=0.0)
        return [result["metadata"]["turn"] for result in answer["results"]]

    def close(self) -> None:
        """Let go of mem0's files."""
        self._memory.close()


def _embedding(config: Any, vector: Callable[[str], Vector]) -> Any:
    """An embedder in the form that mem0 asks for."""
    from mem0.embeddings.base import EmbeddingBase

    class Hashed(EmbeddingBase):  # type: ignore[misc]
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return list(map(float, vector(text)))

    return Hashed(config)


def _timed(
    call: Callable[[str], Any], inputs: Any, seconds: float
) -> tuple[list[Any], list[float], float, int]:
    """Answers, their times, the time in all, and how many calls failed. A peer may fail in any way;
    each kind is printed.
    """
    answers, times, kinds, errors = [], [], set(), 0
    began = time.perf_counter()
    for argument in inputs:
        begun = time.perf_counter()
        try:
            answers.append(call(argument))
            times.append(time.perf_counter() - begun)
        except Exception as error:  # noqa: BLE001
            errors += 1
            if type(error) not in kinds:
                print(f"mem0: {error!r}", flush=True)
            kinds.add(type(error))
        if time.perf_counter() - began >= seconds:
            break
    return answers, times, time.perf_counter() - began, errors
