"""The two archives as tests need them: several processes over the same blobs,
and a hand that spoils what is kept.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from azure.storage.blob.aio import ContainerClient

from memory_core.adapters.azure_storage.account import StorageAccount, credential
from memory_core.adapters.azure_storage.blob_archive import BlobArchive, Tier
from memory_core.adapters.folder_archive import FolderArchive
from memory_core.ports import Archive
from tests.builders import StillClock

OpenArchive = Callable[[], Awaitable[Archive]]
"""Opens one more archive over the same blobs."""


class Place(Protocol):
    """Where blobs are kept."""

    def process(self) -> Archive:
        """An archive as another process would have it; not open yet."""

    async def damage(self, name: str, data: bytes) -> None:
        """Put other bytes where those of the blob are, and leave all else of it."""


class Folder:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def process(self) -> FolderArchive:
        return FolderArchive(self.folder, clock=StillClock())

    async def damage(self, name: str, data: bytes) -> None:
        file = self.folder / "blobs" / f"{name}+blob"
        head = file.read_bytes().partition(b"\n")[0]
        file.write_bytes(head + b"\n" + data)


class Service:
    """A container of its own. On an emulator it is made when an archive is opened;
    elsewhere it has to be there.
    """

    def __init__(self, account: StorageAccount, tier: Tier = "cool") -> None:
        self.container = f"archive-{uuid4().hex}"
        self._account, self._tier = account, tier

    def process(self, *, deadline_s: float = 30.0) -> BlobArchive:
        return BlobArchive(
            self._account,
            self.container,
            clock=StillClock(),
            tier=self._tier,
            deadline_s=deadline_s,
        )

    @asynccontextmanager
    async def client(self) -> AsyncIterator[ContainerClient]:
        """The SDK's own client of the container."""
        given = self._account
        if given.connection_string is not None:
            async with ContainerClient.from_connection_string(
                given.connection_string, self.container
            ) as container:
                yield container
        else:
            async with (
                credential(given.identity_client_id) as credential_in_use,
                ContainerClient(given.url or "", self.container, credential_in_use) as container,
            ):
                yield container

    async def damage(self, name: str, data: bytes) -> None:
        async with self.client() as container:
            blob = container.get_blob_client(name)
            metadata = (await blob.get_blob_properties()).metadata
            await blob.upload_blob(data, overwrite=True, metadata=metadata)
