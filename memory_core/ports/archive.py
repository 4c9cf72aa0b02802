"""The cold: blobs that are written once."""

from __future__ import annotations

from typing import Protocol

from memory_core.ports.common import Health, Pooled


class Archive(Pooled, Protocol):
    """The cold: named blobs that are written once, read and removed, never changed. All calls raise Unavailable when it is down.

    Names are made of `[A-Za-z0-9._-]` parts joined by `/`, none ending with a dot; ValueError for others (`domain.blob_names`).
    """

    async def open(self) -> None:
        """Connect; the container is there, or is made where the adapter is an embedded or an emulated one.

        After Unavailable it may be used all the same: once it is back, the calls work.
        """

    async def close(self) -> None:
        """Release everything."""

    async def put(self, name: str, data: bytes) -> bool:
        """Write once; durable when it returns. False when the name is taken, whatever it holds, be it by a first try of this very
        call whose answer was lost; the caller reads back to see what.
        """

    async def get(self, name: str) -> bytes | None:
        """What is there, whole and with its checksum verified; None when nothing is. Raises Damaged when it is not what was written."""

    async def remove(self, name: str) -> bool:
        """Remove it for good; False when it was not there, or when a first try had removed it and its answer was lost."""

    async def names(self, prefix: str, after: str | None, limit: int) -> list[str]:
        """A page of names that start with `prefix`, in order, those later than `after`."""

    async def check(self) -> Health:
        """A cheap round trip, for readiness."""
