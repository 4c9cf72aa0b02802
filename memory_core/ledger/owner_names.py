"""How an owner is named where no reader should learn who it is: in blobs' names, in receipts of erasures. A keyed hash.

The key lies in the archive itself, made once by the first process that needs it. Note: a secret of the settings would not do. It
is changed one day, and then nothing that was named by it before would be found by an erasure.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final

from memory_core.domain.errors import Unavailable
from memory_core.domain.scope import Owner
from memory_core.ports import Archive

DEPENDENCY: Final = "archive"
KEY_NAME: Final = "names-key"
KEY_BYTES = 32


class OwnerNames:
    """The names of all owners. Every process reads the same key."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._key: bytes | None = None

    async def of(self, owner: Owner) -> str:
        """32 hex digits. Raises Unavailable."""
        return (await self._hash("owner", *owner))[:32]

    async def of_memory(self, owner: Owner, memory_id: str) -> str:
        """8 hex digits: enough to pass over what is another memory's, not to be sure. Raises Unavailable."""
        return (await self._hash("memory", *owner, memory_id))[:8]

    async def _hash(self, *parts: str) -> str:
        """Parts are length-prefixed, so that ("a_b", "c") and ("a", "b_c") differ."""
        raw = [part.encode() for part in parts]
        message = b"".join(len(part).to_bytes(4, "big") + part for part in raw)
        return hmac.new(await self._kept_key(), message, hashlib.sha256).hexdigest()

    async def _kept_key(self) -> bytes:
        if self._key is None:
            key = await self._archive.get(KEY_NAME)
            if key is None:
                await self._archive.put(KEY_NAME, secrets.token_bytes(KEY_BYTES))
                key = await self._archive.get(KEY_NAME)
            if key is None or len(key) != KEY_BYTES:
                raise Unavailable(DEPENDENCY, f"{KEY_NAME}, by which owners are named, is not what was written", retry_after_s=30)
            self._key = key
        return self._key
