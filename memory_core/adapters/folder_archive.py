"""`Archive` in a folder: blobs as files.

Note: a cancelled caller does not stop its call, which may still write or remove its blob.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from memory_core.domain.errors import Damaged, Unavailable
from memory_core.ports import Clock, Health
from memory_core.ports.infrastructure import check_blob_name, check_blob_prefix

DEPENDENCY: Final = "archive"
THREADS = 2
P = ParamSpec("P")
T = TypeVar("T")


class FolderArchive:
    """Blobs as files below `folder`, readable by their owner only.

    An archive that is down when it is opened may be used once it is back.
    """

    def __init__(self, folder: Path, *, clock: Clock) -> None:
        self._files = Files(folder)
        self._clock = clock
        self._threads: ThreadPoolExecutor | None = None
        self._last_ok: datetime | None = None
        self._is_prepared = False
        self._under_way = 0

    async def open(self) -> None:
        """Make the folder, and clean up after writers that died."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS, "archive")
        self._is_prepared = False
        await self._run(self._files.check)

    async def close(self) -> None:
        """Wait for running calls."""
        threads, self._threads = self._threads, None
        if threads is not None:
            await asyncio.to_thread(threads.shutdown)

    async def put(self, name: str, data: bytes) -> bool:
        """Write a blob once. It is on the disk when the call returns."""
        return await self._run(self._files.create, check_blob_name(name), data)

    async def get(self, name: str) -> bytes | None:
        """Read a blob and verify its checksum."""
        return await self._run(self._files.read, check_blob_name(name))

    async def remove(self, name: str) -> bool:
        """Remove a blob. Its name is gone from the disk when the call returns."""
        return await self._run(self._files.remove, check_blob_name(name))

    async def names(self, prefix: str, after: str | None, limit: int) -> list[str]:
        """A page of names.

        Each folder on the way is read whole. This is quick while a folder holds some thousands.
        """
        return await self._run(self._files.names, check_blob_prefix(prefix), after, limit)

    async def check(self) -> Health:
        """Check that the folder exists, and report the free bytes."""
        begun = time.perf_counter()
        try:
            free = await self._run(self._files.check)
        except Unavailable as error:
            return Health("folder", "unavailable", last_ok=self._last_ok, detail=error.detail)
        self._last_ok = self._clock.now()
        return Health(
            "folder",
            "ok",
            (time.perf_counter() - begun) * 1000,
            self._last_ok,
            facts={"free_bytes": free},
        )

    def pool(self) -> tuple[int, int]:
        """The number of threads, and the calls under way.

        Calls that wait for a thread are not counted.
        """
        return THREADS, min(self._under_way, THREADS)

    async def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `work` in a thread.

        A folder that could not be prepared when it was opened is prepared by the first call that
        can.
        """

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
            raise Damaged(
                DEPENDENCY,
                f"{spoilt} is not what was written: its checksum differs",
                retry_after_s=30,
            ) from spoilt
        except OSError as error:
            raise Unavailable(DEPENDENCY, f"the folder can't be used: {error.strerror}") from error
        finally:
            self._under_way -= 1


# Blobs as files: written whole or not at all, on disk when a call returns, and never overwritten.
#
# The functions block; `FolderArchive` runs them in threads.
#
# A blob is written under `drafts`, synced to the disk, and then linked under its name. A link,
# unlike a rename, fails if the name is taken; that decides between two processes. Note: a process
# that dies in between leaves its draft. No call can read it, but it contains personal data. So the
# next start removes drafts whose writers are gone.


SUFFIX = "+blob"
"""The end of every file's name.

No name of a blob has a plus, so the blob `a` and the folder of the blob `a/b` are distinct.
"""
RACES = 100
"""The most attempts to make a blob whose folder other processes remove."""


class Spoilt(Exception):
    """Raised when a file's content is not as it was written.

    Its text is the blob's name.
    """


class Files:
    """All blobs below a folder. Every method may raise OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._blobs, self._drafts = folder, folder / "blobs", folder / "drafts"

    def prepare(self) -> None:
        """Make the folders that are missing, and remove the drafts of writers that died."""
        for folder in (self._folder.parent, self._folder, self._blobs, self._drafts):
            # no other account of this machine may read what people told
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _sync(folder.parent)
        for draft in self._drafts.iterdir():
            with suppress(FileNotFoundError), draft.open("rb") as file, suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                draft.unlink()

    def create(self, name: str, data: bytes) -> bool:
        """Write a new blob.

        Args:
            name: The name of the blob.
            data: The content.

        Returns:
            False when the blob exists already.

        """
        target = self._path(name)
        with self._draft(data) as draft:
            for _ in range(RACES):
                try:
                    self._make_folders(target.parent)
                    os.link(draft, target)
                    made = True
                except FileExistsError:
                    made = False
                except FileNotFoundError:
                    self.check()
                    # a folder was empty, and a rival that removed the last blob took it away
                    continue
                # also when a rival made it: our caller is told that it is there,
                # and it must stay so
                self._sync_up(target.parent)
                return made
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    def read(self, name: str) -> bytes | None:
        """The blob's bytes, or None. Raises Spoilt when they do not match their checksum."""
        try:
            content = self._path(name).read_bytes()
        except FileNotFoundError:
            self.check()
            return None
        head, _, data = content.partition(b"\n")
        if head != _head(data):
            raise Spoilt(name)
        return data

    def remove(self, name: str) -> bool:
        """Remove the blob, and folders that are empty now. False when it did not exist."""
        target = self._path(name)
        try:
            target.unlink()
        except FileNotFoundError:
            self.check()
            return False
        for folder in self._up(target.parent):
            if folder == self._blobs:
                break
            try:
                folder.rmdir()
            except OSError:
                break  # not empty; or a rival was faster
        self._sync_up(target.parent)
        return True

    def names(self, prefix: str, after: str | None, limit: int) -> list[str]:
        """Up to `limit` names in order."""
        self.check()
        return list(islice(_walk(self._blobs, "", prefix, after or ""), limit))

    def check(self) -> int:
        """The free bytes.

        A folder that is gone raises an error, since it is not an archive without blobs.
        """
        if not os.access(self._blobs, os.R_OK | os.W_OK | os.X_OK):
            raise FileNotFoundError(
                errno.ENOENT, "the folder is not there, or not ours to read and write"
            )
        disk = os.statvfs(self._blobs)
        return disk.f_bavail * disk.f_frsize

    def _path(self, name: str) -> Path:
        return self._blobs / (_escaped(name) + SUFFIX)

    @contextmanager
    def _draft(self, data: bytes) -> Iterator[Path]:
        """A file with the data, on the disk, for as long as the block runs.

        It is locked, which shows that its writer is alive.
        """
        while True:
            draft = self._drafts / secrets.token_hex(16)
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if os.fstat(descriptor).st_nlink == 0:
                    # a process that is starting took it for a dead writer's before it was locked
                    continue
                try:
                    file.writelines((_head(data), b"\n", data))
                    file.flush()
                    os.fsync(descriptor)
                    yield draft
                finally:
                    draft.unlink()
                return

    def _make_folders(self, folder: Path) -> None:
        """Make the folders between the root, which must exist, and `folder`."""
        for parent in reversed([*self._up(folder)][:-1]):
            with suppress(FileExistsError):
                parent.mkdir(mode=0o700)

    def _sync_up(self, folder: Path) -> None:
        """Write the names in `folder`, and in all folders above it, to the disk."""
        for parent in self._up(folder):
            with suppress(FileNotFoundError):
                _sync(parent)

    def _up(self, folder: Path) -> Iterator[Path]:
        """The folder, those above it, and at last the root."""
        yield folder
        while folder != self._blobs:
            folder = folder.parent
            yield folder


def _head(data: bytes) -> bytes:
    """The first line of a file."""
    return b"sha256:" + hashlib.sha256(data).hexdigest().encode()


def _escaped(name: str) -> str:
    """`Ab` as `^ab`: on some file systems `Ab` and `ab` are the same file."""
    return re.sub("[A-Z]", lambda letter: f"^{letter[0].lower()}", name)


def _unescaped(name: str) -> str:
    return re.sub(r"\^(.)", lambda letter: letter[1].upper(), name)


def _walk(folder: Path, before: str, prefix: str, after: str) -> Iterator[str]:
    """Names in order below a folder, whose own names begin with `before`.

    A folder's place in the order is that of its `name/`.
    """
    try:
        entries = [
            (entry.name, entry.is_dir(follow_symlinks=False)) for entry in os.scandir(folder)
        ]
    except FileNotFoundError:
        return  # removed meanwhile, with the last blob in it
    folders = [(f"{_unescaped(name)}/", name) for name, is_folder in entries if is_folder]
    folders += [
        (_unescaped(name.removesuffix(SUFFIX)), "")
        for name, is_folder in entries
        if not is_folder and name.endswith(SUFFIX)
    ]
    for own, inside in sorted(folders):
        full = before + own
        if not inside and full.startswith(prefix) and full > after:
            yield full
        elif (
            inside
            and (full.startswith(prefix) or prefix.startswith(full))
            and (full > after or after.startswith(full))
        ):
            yield from _walk(folder / inside, full, prefix, after)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
