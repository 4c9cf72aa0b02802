"""`Archive` in a folder of this machine; processes may share it.

Note: a cancelled caller does not stop its call, which may still write or remove its blob.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from memory_core.adapters.folder.files import Files, Spoilt
from memory_core.domain.errors import Damaged, Unavailable
from memory_core.domain.scope import check_blob_name, check_blob_prefix
from memory_core.ports import Clock, Health

DEPENDENCY: Final = "archive"
THREADS = 2
P = ParamSpec("P")
T = TypeVar("T")


class FolderArchive:
    """Blobs as files below `folder`, readable by their owner only. What is down when it is opened may be used once it is back."""

    def __init__(self, folder: Path, *, clock: Clock) -> None:
        self._files = Files(folder)
        self._clock = clock
        self._threads: ThreadPoolExecutor | None = None
        self._last_ok: datetime | None = None
        self._is_prepared = False
        self._under_way = 0

    async def open(self) -> None:
        """Make the folder, clean up after writers that died."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS, "archive")
        self._is_prepared = False
        await self._run(self._files.check)

    async def close(self) -> None:
        """Let running calls end."""
        threads, self._threads = self._threads, None
        if threads is not None:
            await asyncio.to_thread(threads.shutdown)

    async def put(self, name: str, data: bytes) -> bool:
        """Write once; on the disk when it returns."""
        return await self._run(self._files.create, check_blob_name(name), data)

    async def get(self, name: str) -> bytes | None:
        """What is there, its checksum verified."""
        return await self._run(self._files.read, check_blob_name(name))

    async def remove(self, name: str) -> bool:
        """Remove it; gone from the disk's names when it returns."""
        return await self._run(self._files.remove, check_blob_name(name))

    async def names(self, prefix: str, after: str | None, limit: int) -> list[str]:
        """A page of names. Reads each folder on its way whole: quick while a folder holds some thousands."""
        return await self._run(self._files.names, check_blob_prefix(prefix), after, limit)

    async def check(self) -> Health:
        """That the folder is there, and how many bytes are free."""
        begun = time.perf_counter()
        try:
            free = await self._run(self._files.check)
        except Unavailable as error:
            return Health("folder", "unavailable", last_ok=self._last_ok, detail=error.detail)
        self._last_ok = self._clock.now()
        return Health("folder", "ok", (time.perf_counter() - begun) * 1000, self._last_ok, facts={"free_bytes": free})

    def pool(self) -> tuple[int, int]:
        """Threads; calls under way, those that wait for a thread not counted."""
        return THREADS, min(self._under_way, THREADS)

    async def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `work` in a thread. A folder that could not be prepared when it was opened is prepared by the first call that can."""

        def call() -> T:
            if not self._is_prepared:
                self._files.prepare()
                self._is_prepared = True
            return work(*args, **kwargs)

        if self._threads is None:
            raise Unavailable(DEPENDENCY, "the archive is not open")
        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        except Spoilt as spoilt:
            raise Damaged(DEPENDENCY, f"{spoilt} is not what was written: its checksum differs", retry_after_s=30) from spoilt
        except OSError as error:
            raise Unavailable(DEPENDENCY, f"the folder can't be used: {error.strerror}") from error
        finally:
            self._under_way -= 1
