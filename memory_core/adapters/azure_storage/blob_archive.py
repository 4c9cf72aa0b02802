"""`Archive` in a container of Azure Blob Storage.

Each blob has the SHA-256 of its bytes as metadata, and is created only where its name is free.

Note: after a lost answer the call is repeated, so `put` may return False for a blob that it has
just made, and `remove` for a blob that it has just removed. The caller reads back.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from memory_core.adapters.azure_storage.account import (
    CountedCalls,
    StorageAccount,
    code_of,
    credential,
    refused,
)
from memory_core.domain.errors import Damaged, Unavailable, described
from memory_core.ports import Clock, Health
from memory_core.ports.infrastructure import check_blob_name, check_blob_prefix

if TYPE_CHECKING:
    from azure.identity.aio import DefaultAzureCredential
    from azure.storage.blob.aio import ContainerClient


DEPENDENCY: Final = "archive"
DEADLINE_S = 30.0
CHECKSUM = "sha256"
MAX_PAGE = 5000
"""The service's own limit."""
TAKEN: Final = frozenset({"BlobAlreadyExists", "ConditionNotMet"})
Tier = Literal["hot", "cool", "cold"]
T = TypeVar("T")


class BlobArchive:
    """Blobs of a container, which infrastructure makes; on an emulator it is made here.

    An archive that is down when it is opened may be used once it is back.

    Args:
        account: The storage account.
        container: The name of the container.
        clock: The present time.
        tier: The access tier of new blobs. The service's own archive tier is not among them, since
            reading from it takes hours.
        deadline_s: The longest duration of a call in seconds.

    """

    def __init__(
        self,
        account: StorageAccount,
        container: str,
        *,
        clock: Clock,
        tier: Tier = "cool",
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self._account, self._container, self._tier = account, container, tier
        self._clock = clock
        self._calls = CountedCalls(DEPENDENCY, deadline_s=deadline_s)
        self._client: ContainerClient | None = None
        self._credential: DefaultAzureCredential | None = None
        self._is_open = False
        self._last_ok: datetime | None = None

    async def open(self) -> None:
        """Make the container on an emulator; on Azure send no request.

        A cold start should not wait for a service that it may not need.
        """
        self._is_open = True
        if self._account.emulated:
            await self._call(_make)

    async def close(self) -> None:
        """Close the client and its connections."""
        self._is_open = False
        client, credential = self._client, self._credential
        self._client = self._credential = None
        if client is not None:
            await client.close()
        if credential is not None:
            await credential.close()

    async def put(self, name: str, data: bytes) -> bool:
        """Write a blob once. False also when the answer to a first try was lost."""
        from azure.storage.blob import StandardBlobTier

        check_blob_name(name)
        metadata, tier = (
            {CHECKSUM: hashlib.sha256(data).hexdigest()},
            StandardBlobTier(self._tier.capitalize()),
        )

        async def work(container: ContainerClient) -> bool:
            await container.upload_blob(
                name, data, overwrite=False, metadata=metadata, standard_blob_tier=tier
            )
            return True

        return await self._call(work, dict.fromkeys(TAKEN, False))

    async def get(self, name: str) -> bytes | None:
        """Read a blob and verify its checksum."""
        check_blob_name(name)

        async def work(container: ContainerClient) -> tuple[bytes, str | None] | None:
            download = await container.download_blob(name)
            return await download.readall(), (download.properties.metadata or {}).get(CHECKSUM)

        blob = await self._call(work, {"BlobNotFound": None})
        if blob is None:
            return None
        data, checksum = blob
        if hashlib.sha256(data).hexdigest() != checksum:
            raise Damaged(
                DEPENDENCY,
                f"{name} is not what was written: its checksum differs",
                retry_after_s=30,
            )
        return data

    async def remove(self, name: str) -> bool:
        """Remove a blob.

        Copies that the account itself keeps (soft delete, versions) are removed by the account's
        own rules.
        """
        check_blob_name(name)

        async def work(container: ContainerClient) -> bool:
            await container.delete_blob(name, delete_snapshots="include")
            return True

        return await self._call(work, {"BlobNotFound": False})

    async def names(self, prefix: str, after: str | None, limit: int) -> list[str]:
        """A page of names.

        The service begins at `after`. An emulator that does not support this costs the pages before
        it.
        """
        check_blob_prefix(prefix)

        async def work(container: ContainerClient) -> list[str]:
            names: list[str] = []
            size = min(limit + 1, MAX_PAGE)  # `after` itself comes again
            async for name in container.list_blob_names(
                name_starts_with=prefix, start_from=after, results_per_page=size
            ):
                if after is None or name > after:
                    names.append(name)
                if len(names) == limit:
                    break
            return names

        return await self._call(work)

    async def check(self) -> Health:
        """Check readiness by reading the container's properties."""
        begun = time.perf_counter()
        try:
            await self._call(_there)
        except Unavailable as error:
            return Health("blob", "unavailable", last_ok=self._last_ok, detail=error.detail)
        self._last_ok = self._clock.now()
        facts = {"container": self._container, "tier": self._tier}
        return Health(
            "blob", "ok", (time.perf_counter() - begun) * 1000, self._last_ok, facts=facts
        )

    def pool(self) -> tuple[int, int]:
        """The most connections of the transport, and the calls under way."""
        return self._calls.pool()

    async def _call(
        self,
        work: Callable[[ContainerClient], Awaitable[T]],
        answers: Mapping[str, T] | None = None,
    ) -> T:
        """The result of `work`, or the entry of `answers` for a refusal's code.

        Any other refusal is Unavailable.
        """
        from azure.core.exceptions import AzureError

        try:
            return await self._calls.run(lambda: self._once(work))
        except AzureError as error:
            code = code_of(error)
            if answers is not None and code is not None and code in answers:
                return answers[code]
            raise refused(DEPENDENCY, error) from error

    async def _once(self, work: Callable[[ContainerClient], Awaitable[T]]) -> T:
        """Do `work`. An emulator that came back without its container gets it again."""
        from azure.core.exceptions import AzureError

        container = self._connected()
        try:
            return await work(container)
        except AzureError as error:
            if not (self._account.emulated and code_of(error) == "ContainerNotFound"):
                raise
        await _make(container)
        return await work(container)

    def _connected(self) -> ContainerClient:
        """The client of this process, made by the first call without sending a request.

        Raises Unavailable while the archive is closed, also for a call that is tried again: its
        client would stay open.
        """
        from azure.storage.blob.aio import ContainerClient

        if not self._is_open:
            raise Unavailable(DEPENDENCY, "the archive is not open")
        if self._client is None:
            account = self._account
            try:
                if account.connection_string is not None:
                    self._client = ContainerClient.from_connection_string(
                        account.connection_string, self._container, **account.options()
                    )
                else:
                    self._credential = credential(account.identity_client_id)
                    self._client = ContainerClient(
                        account.url or "", self._container, self._credential, **account.options()
                    )
            except ValueError as error:
                raise Unavailable(
                    DEPENDENCY,
                    f"the storage account's address can't be used: {described(error)}",
                    retry_after_s=30,
                ) from error
        return self._client


async def _there(container: ContainerClient) -> None:
    await container.get_container_properties()


async def _make(container: ContainerClient) -> None:
    from azure.core.exceptions import ResourceExistsError

    with suppress(ResourceExistsError):
        await container.create_container()
