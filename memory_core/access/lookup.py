"""Key look-ups of the gate: from the store, remembered for at most 60 seconds."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from memory_core.access.records import StoredKey
from memory_core.domain.errors import TooManyRequests, Unavailable
from memory_core.domain.rate_limits import Bucket, Rate, spend
from memory_core.ports import Clock, Document, KeyStore, sequence_of

KEPT_FOR: Final = timedelta(seconds=60)
"""How long a process relies on a read.

A key that another process withdraws is refused here after that at the latest.
"""
MISSING_KEPT_FOR: Final = timedelta(seconds=5)
"""How long a process remembers that a key does not exist.

Under Session consistency a new key may be missing for a moment. With 60 seconds it would be refused
here for as long.
"""
KEYS_KEPT: Final = 4096
"""How many keys are remembered, and separately how many missing ids, so guesses displace no key."""
UNTAGGED_RATE: Final = Rate(600, 60)
"""How many ids without a tag of this deployment a process looks up.

Keys that were made here have a tag, so guesses take no room from them. Ids without a tag are
guesses, and keys from before a change of the secret.
"""
USE_NOTED_EVERY: Final = timedelta(hours=1)
log = logging.getLogger(__name__)

TAG_CHARACTERS: Final = 12
"""Hexadecimal digits: 48 bits.

A guess passes once in 2^48 tries, and then costs a point read.
"""


class KeyTags:
    """Makes and checks tags.

    Note: a tag makes no key valid, and a missing tag makes none void. It decides only which
    look-ups are counted, so keys outlive a change of the secret.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def tagged(self, app_id: str, key_id: str) -> str:
        """Return the id with its tag at the end.

        Args:
            app_id: The app of the key.
            key_id: The id without a tag.

        """
        return key_id + self._tag(app_id, key_id)

    def is_tagged(self, app_id: str, key_id: str) -> bool:
        """Whether an id ends with the tag that it would get here.

        Args:
            app_id: The app of the key.
            key_id: The id with its tag.

        """
        tag = self._tag(app_id, key_id[:-TAG_CHARACTERS])
        return hmac.compare_digest(
            tag.encode(), key_id[-TAG_CHARACTERS:].encode("utf-8", "replace")
        )

    def _tag(self, app_id: str, key_id: str) -> str:
        text = f"memory-core key id\n{app_id}\n{key_id}"
        return hmac.new(self._secret, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[
            :TAG_CHARACTERS
        ]


Name = tuple[str, str]
"""An app and the id of a key."""


def key_document(
    key: StoredKey, onto: Document | None = None, expires_at: datetime | None = None
) -> Document:
    """Return the document of a key.

    Args:
        key: The key.
        onto: The stored document that it replaces; None for a new document.
        expires_at: When the document is deleted; None for never.

    """
    body = {"sequence": sequence_of(key.created_at), **key.model_dump(mode="json")}
    return Document(
        key.key_id, "key", body, expires_at=expires_at, tag=None if onto is None else onto.tag
    )


def key_in(document: Document) -> StoredKey:
    """Return the key in a document."""
    return StoredKey.model_validate(document.body)


@dataclass(frozen=True, slots=True)
class Lookup:
    """A look-up of a key.

    Attributes:
        key: The key; None if it does not exist.
        read_at: When it was read.

    """

    key: StoredKey | None
    read_at: datetime


class KeyCache:
    """The latest look-ups, of the most recently requested ids."""

    def __init__(self, most: int = KEYS_KEPT) -> None:
        self._most = most
        self._keys: OrderedDict[Name, Lookup] = OrderedDict()
        self._missing: OrderedDict[Name, Lookup] = OrderedDict()

    def get(self, name: Name, now: datetime) -> Lookup | None:
        """Return a fresh look-up of a key; None if there is none.

        Args:
            name: The app and the id.
            now: The present.

        """
        for lookups, life in ((self._keys, KEPT_FOR), (self._missing, MISSING_KEPT_FOR)):
            lookup = lookups.get(name)
            # A look-up does not last longer after the clock was set back.
            if lookup is not None and timedelta(0) <= now - lookup.read_at < life:
                lookups.move_to_end(name)
                return lookup
        return None

    def keep(self, name: Name, lookup: Lookup) -> None:
        """Remember a look-up in the place of an earlier look-up.

        Args:
            name: The app and the id.
            lookup: The look-up.

        """
        self._keys.pop(name, None)
        self._missing.pop(name, None)
        lookups = self._missing if lookup.key is None else self._keys
        lookups[name] = lookup
        if len(lookups) > self._most:
            lookups.popitem(last=False)

    def __len__(self) -> int:
        return len(self._keys) + len(self._missing)


class KeyLookup:
    """Finds keys for the gate, and notes that they were used."""

    def __init__(
        self, store: KeyStore, clock: Clock, tags: KeyTags, untagged: Rate = UNTAGGED_RATE
    ) -> None:
        self._store, self._clock, self._tags = store, clock, tags
        self._untagged = Bucket("unknown keys", "untagged", untagged)
        self._untagged_full_at: dict[str, float] = {}
        self._cache = KeyCache()
        self._readings: dict[Name, asyncio.Task[StoredKey | None]] = {}
        self._use_noted: OrderedDict[Name, datetime] = OrderedDict()
        self._notes: set[asyncio.Task[None]] = set()
        self.on_change: Callable[[], None] | None = None

    async def find(self, app_id: str, key_id: str) -> StoredKey | None:
        """Return a key as it was at most 60 seconds ago.

        None if it does not exist.

        Args:
            app_id: The app of the key.
            key_id: The id of the key.

        Raises:
            Unavailable: The key is not remembered, and the store is down.
            TooManyRequests: The id has no tag, and too many such ids were looked up.

        """
        name = (app_id, key_id)
        lookup = self._cache.get(name, self._clock.now())
        if lookup is not None:
            return lookup.key
        reading = self._readings.get(name)
        if reading is None:
            if not self._tags.is_tagged(app_id, key_id):
                self._spend_untagged()
            reading = self._readings[name] = asyncio.ensure_future(self._read(name))
            reading.add_done_callback(lambda task: self._has_read(name, task))
        return await asyncio.shield(reading)

    def _spend_untagged(self) -> None:
        moved, spent = spend(
            self._untagged_full_at, [self._untagged], self._clock.now().timestamp()
        )
        if spent.refused:
            raise TooManyRequests(
                f"too many unknown API keys are tried here: try again in {spent.retry_after_s} s",
                spent,
            )
        self._untagged_full_at = moved

    def changed(self, key: StoredKey) -> None:
        """Let the gate see a key that this process wrote."""
        name = (key.app_id, key.key_id)
        self._readings.pop(name, None)  # a read under way may be older
        self._cache.keep(name, Lookup(key, self._clock.now()))
        if self.on_change is not None:
            self.on_change()

    def reload(self) -> None:
        """Forget all reads, since another process wrote keys."""
        self._readings.clear()  # a read under way may be older
        self._cache = KeyCache()

    def note_use(self, key: StoredKey) -> None:
        """Note that a key is used, beside the request and at most once an hour."""
        name, now = (key.app_id, key.key_id), self._clock.now()
        last = max(
            (at for at in (key.last_used_at, self._use_noted.get(name)) if at is not None),
            default=None,
        )
        if last is not None and now - last < USE_NOTED_EVERY:
            return
        self._use_noted.pop(name, None)
        self._use_noted[name] = now
        if len(self._use_noted) > KEYS_KEPT:
            self._use_noted.popitem(last=False)
        note = asyncio.ensure_future(self._note(name, now))
        self._notes.add(note)
        note.add_done_callback(self._notes.discard)

    async def close(self) -> None:
        """Wait for the notes and reads that are under way."""
        await asyncio.gather(*self._notes, return_exceptions=True)
        await asyncio.gather(*self._readings.values(), return_exceptions=True)

    async def _read(self, name: Name) -> StoredKey | None:
        begun = self._clock.now()
        document = await self._store.read(*name)
        key = None if document is None or document.kind != "key" else key_in(document)
        if self._readings.get(name) is asyncio.current_task():
            self._cache.keep(name, Lookup(key, begun))
        return key

    def _has_read(self, name: Name, task: asyncio.Task[StoredKey | None]) -> None:
        if self._readings.get(name) is task:
            del self._readings[name]
        if not task.cancelled():
            # marks the error as retrieved: waiting callers raise it, and there may be none left
            task.exception()

    async def _note(self, name: Name, now: datetime) -> None:
        try:
            document = await self._store.read(*name)
            if document is None:
                return
            key = key_in(document)
            if key.last_used_at is not None and now - key.last_used_at < USE_NOTED_EVERY:
                return
            used = key.changed(last_used_at=now)
            await self._store.write(
                name[0], [replace(key_document(used, document), expires_at=document.expires_at)]
            )
        except Unavailable as error:
            log.info("the use of a key was not written down: %s", error.detail)
