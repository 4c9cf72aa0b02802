"""Lives lived beside each other, a process each, since a life is one thing after the other.

Note: this is no part of `__main__`, whose functions another process would not find.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path

from bench.year.lived import Lived, azure, embedded, live
from bench.year.lives import Life
from memory_core.config import Settings

UNFADING = {"decay_floor": 0.0}
"""Settings of the twin: importance is under no floor."""


@dataclass(frozen=True, slots=True)
class Job:
    """A life to be lived in a folder of its own.

    unfading: as the twin, which is asked about the beginning alone. stores: environment variables
    that name the stores of Azure; empty for embedded ones. along: told by how much the clock is
    moved, each time; for lives in this process.
    """

    life: Life
    folder: Path
    embedder: str
    unfading: bool
    stores: dict[str, str]
    along: Callable[[timedelta], None] | None = None


def lived_all(jobs: Sequence[Job], at_once: int) -> list[Lived]:
    """Live them all, so many at once; in the order of the jobs."""
    if at_once == 1:
        return [_lived(job) for job in jobs]
    with ProcessPoolExecutor(at_once, mp_context=get_context("spawn")) as pool:
        return list(pool.map(_lived, jobs))


def settings_of(folder: Path, embedder: str, stores: dict[str, str]) -> Settings:
    """Make the folder; the settings of the stores in it, or of those of Azure that the variables
    `stores` name.
    """
    folder.mkdir()
    return azure(folder, embedder, stores) if stores else embedded(folder, embedder)


def _lived(job: Job) -> Lived:
    settings = settings_of(job.folder, job.embedder, job.stores)
    if job.unfading:
        settings = settings.model_copy(update=UNFADING)
    return asyncio.run(
        live(job.life, settings, only_beginning=job.unfading, along=job.along or (lambda by: None))
    )
