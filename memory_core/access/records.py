"""Stored and shown forms of API keys that an admin makes, and of audit entries.

Note: they are separate from the names in `domain.access`, since making these models would add 15 ms
to every cold start.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypedDict, Unpack

from pydantic import ConfigDict

from memory_core.domain.access import Action, KeyStatus, Right
from memory_core.domain.deferred_model import DeferredModel
from memory_core.ledger.ids import derived

_SHOWN: Final = (
    "key_id",
    "app_id",
    "name",
    "rights",
    "user_id",
    "created_at",
    "expires_at",
    "last_used_at",
)


class KeyFields(TypedDict, total=False):
    """Fields of a key that a change replaces."""

    name: str | None
    expires_at: datetime | None
    withdrawn_at: datetime | None
    replaced_by: str | None
    last_used_at: datetime | None


class StoredKey(DeferredModel):
    """A key as it is stored: a salted hash of the whole key, no secret.

    Attributes:
        user_id: The only user that the key may name; None for any user of the app.
        replaced_by: The key that it was rotated to.
        last_used_at: When it was last used, at most an hour behind.

    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    key_id: str
    app_id: str
    name: str | None = None
    rights: tuple[Right, ...]
    user_id: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    withdrawn_at: datetime | None = None
    replaced_by: str | None = None
    last_used_at: datetime | None = None
    salt: str
    digest: str

    def changed(self, **fields: Unpack[KeyFields]) -> StoredKey:
        """The key with these fields replaced, without validation."""
        return self.model_copy(update=fields)

    def withdrawn(self, now: datetime, *, keeps_name: bool = True) -> StoredKey:
        """The key as it is refused from now on; its first withdrawal counts.

        Args:
            now: The moment of the withdrawal.
            keeps_name: Whether it goes on having its name.

        """
        withdrawn = self.changed(withdrawn_at=self.withdrawn_at or now)
        return withdrawn if keeps_name else withdrawn.changed(name=None)

    def rotated(self, to: str, until: datetime) -> StoredKey:
        """The key as another key takes its place.

        Args:
            to: The id of the other key.
            until: When this key ends.

        """
        return self.changed(expires_at=until, replaced_by=to)

    def status(self, now: datetime) -> KeyStatus:
        """Return whether the key is accepted at a moment, and if not, why."""
        if self.withdrawn_at is not None:
            return "withdrawn"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"

    def is_admin(self, now: datetime) -> bool:
        """Whether the key may make and withdraw keys at a moment."""
        return "admin" in self.rights and self.user_id is None and self.status(now) == "active"

    def fits(self, text: str) -> bool:
        """Whether a text is this key.

        The comparison takes as long for a wrong key as for the right key.
        """
        return hmac.compare_digest(key_digest(self.salt, text), self.digest)

    def public(self, now: datetime) -> dict[str, Any]:
        """Return the key as lists show it."""
        return {**{name: getattr(self, name) for name in _SHOWN}, "status": self.status(now)}


def key_digest(salt: str, text: str) -> str:
    """Return the HMAC-SHA256 of a whole key under its own salt, in hex.

    Keys have 256 random bits, so no slower hash is needed. Note: the salt is the key's own and no
    secret of the settings. Such a secret is changed some day, and every key would be void at that
    moment, those of the admins first.

    Args:
        salt: The key's salt.
        text: The whole key.

    """
    return hmac.new(salt.encode(), text.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made.

    Attributes:
        key: The key as it is stored.
        text: The whole key, which is stored nowhere.
        replaces: The key that it was rotated from.

    """

    key: StoredKey
    text: str
    replaces: str | None = None

    def public(self, now: datetime) -> dict[str, Any]:
        """Return the key with its secret, for the only answer that has it."""
        replaced = {} if self.replaces is None else {"replaces": self.replaces}
        return {"key": self.text, **self.key.public(now), **replaced}


@dataclass(frozen=True, slots=True)
class KeyPage:
    """A page of keys, newest first."""

    keys: tuple[StoredKey, ...]
    next_cursor: str | None


_PLAIN_ID: Final = re.compile(r"[0-9a-fA-F-]{8,64}")


def plain_correlation(correlation_id: str | None) -> str | None:
    """Return a correlation id without words.

    An id with other characters than hexadecimal digits and hyphens becomes a hash, since callers
    may have put a person's name into it.
    """
    if correlation_id is None or _PLAIN_ID.fullmatch(correlation_id):
        return correlation_id
    return derived("cor", correlation_id)


class AuditEntry(DeferredModel):
    """An act: its actor, its target and its outcome, with ids and counts, never content.

    Attributes:
        target: Ids by their kind (`key_id`, `user_id`, `task_id`); `user` is the keyed hash of an
            erased user.
        outcome: `done`, or the status of the act's task.
        mode: `hard` or `soft`, for forgotten memories.

    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    at: datetime
    actor: str
    action: Action
    target: Mapping[str, str]
    outcome: str
    correlation_id: str | None = None
    counts: Mapping[str, int] | None = None
    mode: str | None = None

    def ended(self, outcome: str, counts: Mapping[str, int] | None) -> AuditEntry:
        """The entry with the outcome of its act.

        Args:
            outcome: The status of the act's task.
            counts: The task's counts; None without such counts.

        """
        return self.model_copy(update={"outcome": outcome, "counts": counts})

    def public(self) -> dict[str, Any]:
        """Return the entry as it is shown, without counts and mode if it has none."""
        fields = self.model_dump()
        return {
            name: value
            for name, value in fields.items()
            if value is not None or name not in ("counts", "mode")
        }


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of the audit log, newest first."""

    entries: tuple[AuditEntry, ...]
    next_cursor: str | None
