"""The keys and the audit log of an app, and the keys of a token issuer: how they are read
and written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, Protocol

from memory_core.domain.scope import Owner
from memory_core.ports.records import Document, Place

KEYS: Final = "#keys"
"""The owner of an app's keys and its audit log: no user is called so, since no user's name
may have a `#`.
"""
AccessKind = Literal["key", "audit"]


def owner_of_keys(app_id: str) -> Owner:
    """Whose documents an app's keys and audit entries are: one partition an app,
    so that a key and its entry go into one batch.
    """
    return Owner(app_id, KEYS)


def sequence_of(moment: datetime) -> int:
    """The microsecond of a moment, by which keys and entries are in order."""
    return int(moment.timestamp() * 1_000_000)


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which audit entries to read: since ≤ at < until, of one action. Empty = all."""

    since: datetime | None = None
    until: datetime | None = None
    action: str | None = None


class KeyStore(Protocol):
    """Keys (`key`) and audit entries (`audit`) as documents of an app, beside its users' memories.
    All calls raise Unavailable.
    """

    async def read(self, app_id: str, identity: str) -> Document | None:
        """One document by a single point read; None when there is none, or its time is over."""

    async def page(
        self,
        app_id: str,
        kind: AccessKind,
        after: Place | None,
        limit: int,
        where: EntryFilter | None = None,
    ) -> list[Document]:
        """One page by (sequence, id), newest first. A document's sequence is the
        microsecond of its act.
        """

    async def about(self, app_id: str, user_id: str, limit: int) -> list[Document]:
        """Audit entries whose target is this user, in no order."""

    async def write(self, app_id: str, documents: Sequence[Document]) -> bool:
        """All of them or none, in one batch of at most 100, each with `sequence` in its body.

        A document without a tag is created; one with a tag replaces that very state. False when
        another writer was faster, unless what is stored of all of them is equal: so it may be sent
        again after Unavailable, when it may have been written.
        """


class SigningKeys(Protocol):
    """The public keys of an issuer of access tokens."""

    async def find(self, key_id: str) -> Mapping[str, Any] | None:
        """The key of this id as a JWK (RFC 7517); None if the issuer has no such key. Raises
        Unavailable if that can't be known.
        """

    async def close(self) -> None:
        """End what is under way."""
