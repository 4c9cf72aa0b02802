"""The two archives as tests need them: several processes over the same blobs, and a hand that spoils what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol
from uuid import uuid4

from azure.storage.blob.aio import ContainerClient

from memory_core.adapters.blob.archive import BlobArchive, Tier
from memory_core.adapters.folder.archive import FolderArchive
from memory_core.adapters.storage.account import Account
from memory_core.ports import Archive
from tests.azurite_server import AzuriteServer
from tests.builders import StillClock


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
    """A container of its own in an emulated account. It is made when an archive is opened."""

    def __init__(self, azurite: AzuriteServer) -> None:
        self.container = f"archive-{uuid4().hex}"
        self._connection = azurite.connection_string

    def process(self, *, tier: Tier = "cool", deadline_s: float = 30.0) -> BlobArchive:
        return BlobArchive(Account(self._connection), self.container, clock=StillClock(), tier=tier, deadline_s=deadline_s)

    def client(self) -> ContainerClient:
        """The SDK's own client of the container."""
        return ContainerClient.from_connection_string(self._connection, self.container)

    async def damage(self, name: str, data: bytes) -> None:
        async with self.client() as container:
            blob = container.get_blob_client(name)
            metadata = (await blob.get_blob_properties()).metadata
            await blob.upload_blob(data, overwrite=True, metadata=metadata)
