"""API keys that an admin makes, and entries of the audit log: what is kept of them and
what is shown.

Note: apart from the words in `domain.access`, since making these models would cost every cold
start 15 ms.
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
    """One key as it is kept: never its secret, only a salted hash of the whole key.

    user_id: the only user that the key may name; None for any user of the app. replaced_by: the key
    that it was rotated to. last_used_at: when it was used, at most an hour behind.
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
        """Whether it is accepted at a moment, and if not, why."""
        if self.withdrawn_at is not None:
            return "withdrawn"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"

    def is_admin(self, now: datetime) -> bool:
        """Whether it may make and withdraw keys at a moment."""
        return "admin" in self.rights and self.user_id is None and self.status(now) == "active"

    def fits(self, text: str) -> bool:
        """Whether a key is this key. Takes as long for a wrong one as for the right one."""
        return hmac.compare_digest(key_digest(self.salt, text), self.digest)

    def public(self, now: datetime) -> dict[str, Any]:
        """The key as lists show it."""
        return {**{name: getattr(self, name) for name in _SHOWN}, "status": self.status(now)}


def key_digest(salt: str, text: str) -> str:
    """HMAC-SHA256 of a whole key under its own salt, in hex.

    Keys have 256 random bits, so nothing slower is needed. Note: the salt is the key's own and no
    secret of the settings, since such a secret is changed one day, and every key would be void at
    that moment, those of the admins first.
    """
    return hmac.new(salt.encode(), text.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made. text: the whole key, which is nowhere else. replaces:
    the key that it was rotated from.
    """

    key: StoredKey
    text: str
    replaces: str | None = None

    def public(self, now: datetime) -> dict[str, Any]:
        """The key with its secret, for the one answer that has it."""
        replaced = {} if self.replaces is None else {"replaces": self.replaces}
        return {"key": self.text, **self.key.public(now), **replaced}


@dataclass(frozen=True, slots=True)
class KeyPage:
    """One page of keys, newest first."""

    keys: tuple[StoredKey, ...]
    next_cursor: str | None


_PLAIN_ID: Final = re.compile(r"[0-9a-fA-F-]{8,64}")


def plain_correlation(correlation_id: str | None) -> str | None:
    """A correlation id without words: a hash of one that has more than hexadecimal digits, since
    callers may have put a person's name into it.
    """
    if correlation_id is None or _PLAIN_ID.fullmatch(correlation_id):
        return correlation_id
    return derived("cor", correlation_id)


class AuditEntry(DeferredModel):
    """One act: who did what to whom, and what came of it. Names ids and counts, never content.

    target: ids by what they are of (`key_id`, `user_id`, `task_id`); `user` is the keyed hash that
    stands for an erased user. outcome: `done`, or the status of the act's task. mode: `hard` or
    `soft`, of what was forgotten.
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
        """The entry as it is shown: without counts and mode where it has none."""
        fields = self.model_dump()
        return {
            name: value
            for name, value in fields.items()
            if value is not None or name not in ("counts", "mode")
        }


@dataclass(frozen=True, slots=True)
class AuditPage:
    """One page of the audit log, newest first."""

    entries: tuple[AuditEntry, ...]
    next_cursor: str | None
