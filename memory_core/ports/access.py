"""Ports for API keys, the audit log and the keys of a token issuer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, Protocol

from memory_core.domain.scope import Owner
from memory_core.ports.records import Document, Place

KEYS: Final = "#keys"
"""The user id under which an app's keys and audit log are stored.

No user can have this id, since a user id cannot contain `#`.
"""
AccessKind = Literal["key", "audit"]


def owner_of_keys(app_id: str) -> Owner:
    """Owner of an app's keys and audit entries.

    They share a partition per app, so that a key and its audit entry can be written in the same
    batch.
    """
    return Owner(app_id, KEYS)


def sequence_of(moment: datetime) -> int:
    """The microsecond of a moment, by which keys and entries are ordered."""
    return int(moment.timestamp() * 1_000_000)


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Audit entries to read. An empty field sets no restriction.

    Attributes:
        since: The earliest moment, included.
        until: The latest moment, excluded.
        action: The only action to read.

    """

    since: datetime | None = None
    until: datetime | None = None
    action: str | None = None


class KeyStore(Protocol):
    """Keys (`key`) and audit entries (`audit`) of an app, stored as documents.

    They are stored beside the memories of the app's users. All calls raise Unavailable.
    """

    async def read(self, app_id: str, identity: str) -> Document | None:
        """Read a document by a point read.

        Args:
            app_id: The app of the key or entry.
            identity: The id of the document.

        Returns:
            The document, or None when it does not exist or has expired.

        """

    async def page(
        self,
        app_id: str,
        kind: AccessKind,
        after: Place | None,
        limit: int,
        where: EntryFilter | None = None,
    ) -> list[Document]:
        """A page of documents by (sequence, id), newest first.

        A document's sequence is the microsecond at which its action happened (`sequence_of`).

        Args:
            app_id: The app of the documents.
            kind: Keys or audit entries.
            after: The last place of the previous page; None for the first page.
            limit: The most documents to return.
            where: Restricts audit entries; None for no restriction.

        """

    async def about(self, app_id: str, user_id: str, limit: int) -> list[Document]:
        """Audit entries whose target is this user, in no order.

        Args:
            app_id: The app of the user.
            user_id: The target of the entries.
            limit: The most entries to return.

        """

    async def write(self, app_id: str, documents: Sequence[Document]) -> bool:
        """Write all of the documents, or none of them, in a single batch.

        A document without a tag is created. A document with a tag replaces exactly the state that
        the tag marks. A repetition after Unavailable is safe, although the first try may have been
        written: stored documents that are all equal to these count as a success.

        Args:
            app_id: The app of the documents.
            documents: At most 100, each with `sequence` in its body.

        Returns:
            False when another writer was faster.

        """


class SigningKeys(Protocol):
    """The public keys of an issuer of access tokens."""

    async def find(self, key_id: str) -> Mapping[str, Any] | None:
        """Find the key with this id, as a JWK (RFC 7517).

        Returns None if the issuer has no such key. Raises Unavailable if that cannot be determined.
        """

    async def close(self) -> None:
        """Release the connections and end the work under way."""
