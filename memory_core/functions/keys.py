"""API keys: who is asking, and what may they do.

Only hashes are configured (`MEMORY_API_KEYS`). The app is part of the key and of what is hashed, so no header, field or
path can name another. SHA-256 without salt or stretching is enough here, because secrets are random, not chosen by people.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memory_core.domain.errors import Forbidden, Unauthenticated

if TYPE_CHECKING:
    from memory_core.setting_types import ApiKey

Right = Literal["read", "write", "admin"]
LOCAL_APP = "local"
# The app may hold underscores; the key's id and its secret may not, so the last two underscores part them.
_KEY = re.compile(r"mc_([A-Za-z0-9][A-Za-z0-9._-]{0,63})_([A-Za-z0-9]{1,64})_([A-Za-z0-9-]{16,256})")
_NO_KEY = hashlib.sha256(b"").digest()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who passed the gate. user_id: the only user that this caller may name; None for any user of the app."""

    app_id: str
    key_id: str
    rights: frozenset[Right]
    user_id: str | None = None

    @property
    def is_admin(self) -> bool:
        """Whether everything is allowed."""
        return "admin" in self.rights

    def require(self, right: Right) -> None:
        """Raise Forbidden without this right; `admin` includes the others."""
        if right not in self.rights and not self.is_admin:
            raise Forbidden(f"This key does not have the right `{right}`")

    def require_any_user(self) -> None:
        """Raise Forbidden for a key that is bound to one user."""
        if self.user_id is not None:
            raise Forbidden("This key is bound to one user and this call is about the whole app")


LOCAL_CALLER = Caller(LOCAL_APP, LOCAL_APP, frozenset({"admin"}))


class Keyring:
    """The configured keys."""

    def __init__(self, keys: Iterable[ApiKey]) -> None:
        self._known: dict[tuple[str, str], tuple[bytes, Caller]] = {
            (key.app, key.id): (bytes.fromhex(key.sha256), Caller(key.app, key.id, key.rights, key.user)) for key in keys
        }

    def caller(self, headers: Mapping[str, str]) -> Caller:
        """The caller whom the key in `X-API-Key` or `Authorization: Bearer` belongs to. Raises Unauthenticated."""
        given = _presented(headers)
        parts = _KEY.fullmatch(given)
        # A key that is not known costs the same hash and the same comparison as one that is.
        digest, caller = self._known.get((parts[1], parts[2]) if parts else ("", ""), (_NO_KEY, None))
        if not hmac.compare_digest(hashlib.sha256(given.encode()).digest(), digest) or caller is None:
            raise Unauthenticated("The API key is not known")
        return caller


def _presented(headers: Mapping[str, str]) -> str:
    key = headers.get("x-api-key")
    scheme, _, token = headers.get("authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else None
    if key and bearer and key != bearer:
        raise Unauthenticated("X-API-Key and Authorization carry two different keys")
    given = key or bearer
    if not given:
        raise Unauthenticated("An API key is needed, as `X-API-Key: mc_…` or as `Authorization: Bearer mc_…`")
    return given
