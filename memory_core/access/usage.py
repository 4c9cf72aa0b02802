"""What an app and its users take: bytes of stored memories, within limits, and the day's tokens of a model.

A user's bytes are in their head, where each commit keeps them (`Head.stored_bytes`). An app's are in one document, to which every process
adds what its commits changed: at the latest with the first commit, or question, five seconds after the last time, and before it has a
thousandth of the limit to add. A process that dies takes that much along; once a day the users' heads are added up again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import BaseModel

from memory_core.domain.errors import QuotaExceeded, Unavailable
from memory_core.domain.memory import Head, stored_bytes
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.batch import Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.ids import derived, earlier_result, receipt_id
from memory_core.ledger.readable import readable
from memory_core.ports import STORED_BYTES, TOKENS_OF_DAY, Clock, Document, LongTermStore, Place, kept_of_app, owner_of_app

ADDED_EVERY: Final = timedelta(seconds=5)
COUNTED_EVERY: Final = timedelta(days=1)
ADDED_AT_ONCE: Final = 1_000
"""The part of an app's limit that a process may have yet to add."""
PAGE: Final = 500
TRIES, PAUSE_S = 8, 0.02
_MARK_KEPT: Final = timedelta(hours=1)
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class UsageLimits:
    """The limits of an app and of each user; None = none."""

    bytes_per_app: int | None = None
    bytes_per_user: int | None = None
    tokens_per_app: int | None = None
    tokens_per_user: int | None = None


@dataclass(slots=True)
class _App:
    """What a process knows of an app's bytes. total: as the document had it when it was read. unsent: what it has yet to add."""

    total: int
    unsent: int
    read_at: datetime


class Usage:
    """Counts, and refuses what there is no room for."""

    def __init__(self, store: LongTermStore, ledger: Ledger, clock: Clock, limits: UsageLimits) -> None:
        self._store, self._ledger, self._clock, self._limits = store, ledger, clock, limits
        self._apps: dict[str, _App] = {}
        self._adding: dict[str, asyncio.Lock] = {}

    async def check(self, owner: Owner, call: Call, asked: Sequence[BaseModel] = (), *, size: int = 0) -> None:
        """Let a call in that stores more.

        Args:
            owner: Whose memories grow.
            call: One that was answered before, by its idempotency key, is let in: it stores nothing more.
            asked: What the call brings.
            size: Bytes that it brings besides.

        Raises:
            QuotaExceeded: With it, the bytes of the user or of the app would be over their limit.
            Unavailable: The store is down.

        """
        limits = self._limits
        if limits.bytes_per_user is None and limits.bytes_per_app is None:
            return
        size += sum(len(part.model_dump_json(exclude_unset=True).encode()) for part in asked)
        if limits.bytes_per_user is not None:
            used = await self._of_user(owner)
            if used + max(1, size) > limits.bytes_per_user and not await self._was_answered(owner, call):
                raise _exceeded("user", used, limits.bytes_per_user, size)
        if limits.bytes_per_app is not None:
            used = await self._of_app(owner.app_id)
            if used + max(1, size) > limits.bytes_per_app and not await self._was_answered(owner, call):
                raise _exceeded("app", used, limits.bytes_per_app, size)

    async def changed(self, owner: Owner, change: int) -> None:
        """A commit of this process made a user's bytes more, or fewer. Raises nothing: what can't be added now is added later."""
        limit = self._limits.bytes_per_app
        if limit is None or change == 0:
            return
        known = self._apps.setdefault(owner.app_id, _App(0, 0, datetime.min.replace(tzinfo=self._clock.now().tzinfo)))
        known.unsent += change
        if abs(known.unsent) * ADDED_AT_ONCE < limit and self._clock.now() - known.read_at < ADDED_EVERY:
            return
        try:
            await self._add(owner.app_id)
        except Unavailable as error:
            log.info("an app's bytes are added later: %s", error.detail)

    async def close(self) -> None:
        """Add what is left."""
        for app_id, known in self._apps.items():
            try:
                if known.unsent:
                    await self._add(app_id)
            except Unavailable as error:
                log.warning("an app's bytes were not added; within a day they are counted again: %s", error.detail)

    async def of_user(self, owner: Owner) -> dict[str, Any]:
        """What a user takes, and may take. Raises Unavailable."""
        seen = await self._store.snapshot(owner, [TOKENS_OF_DAY])
        used = 0 if seen.head is None else seen.head.stored_bytes
        used = (await self._counted(owner))[1] if used is None else used
        of_today = seen.documents.get(TOKENS_OF_DAY)
        if of_today is not None and (seen.head is None or of_today.body.get("epoch") != seen.head.epoch):
            of_today = None
        return self._shown(used, of_today, self._limits.bytes_per_user, self._limits.tokens_per_user)

    async def of_app(self, app_id: str) -> dict[str, Any]:
        """What an app takes, and may take. Without a limit of bytes its users are added up. Raises Unavailable."""
        limits = self._limits
        used = await self._sum(app_id) if limits.bytes_per_app is None else await self._of_app(app_id)
        of_today = await kept_of_app(self._store, app_id, TOKENS_OF_DAY)
        return self._shown(used, of_today, limits.bytes_per_app, limits.tokens_per_app)

    def _shown(self, used: int, of_today: Document | None, bytes_limit: int | None, tokens_limit: int | None) -> dict[str, Any]:
        now = self._clock.now()
        tokens = 0 if of_today is None or of_today.body["day"] != now.date().isoformat() else int(of_today.body["taken"])
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        return {
            "stored_bytes": {"used": used, "limit": bytes_limit},
            "model_tokens": {"used": None if tokens_limit is None else tokens, "limit": tokens_limit, "resets_at": midnight},
        }

    async def _of_user(self, owner: Owner) -> int:
        head = (await self._store.snapshot(owner)).head
        if head is None:
            return 0
        return await self._count(owner) if head.stored_bytes is None else head.stored_bytes

    async def _of_app(self, app_id: str) -> int:
        known = self._apps.get(app_id)
        if known is None or self._clock.now() - known.read_at >= ADDED_EVERY:
            known = await self._add(app_id)
        return known.total + known.unsent

    async def _was_answered(self, owner: Owner, call: Call) -> bool:
        name = receipt_id(owner, call)
        if name is None:
            return False
        return earlier_result((await self._store.snapshot(owner, [name])).documents, owner, call) is not None

    async def _add(self, app_id: str) -> _App:
        """Add what this process has not added yet, and read what others have. Raises Unavailable."""
        async with self._adding.setdefault(app_id, asyncio.Lock()):
            for attempt in range(TRIES):
                now, known = self._clock.now(), self._apps.get(app_id)
                unsent = 0 if known is None else known.unsent
                stored = await kept_of_app(self._store, app_id, STORED_BYTES)
                is_counted = stored is not None and now - datetime.fromisoformat(stored.body["counted_at"]) < COUNTED_EVERY
                if stored is not None and is_counted and not unsent:
                    return self._read(app_id, int(stored.body["bytes"]), 0, now)
                body: dict[str, Any]
                if stored is not None and is_counted:
                    body = {**stored.body, "bytes": int(stored.body["bytes"]) + unsent}
                else:
                    body = {"bytes": await self._sum(app_id), "counted_at": now.isoformat()}
                # No two writes are equal: the store takes a document that is there already for one's own.
                document = Document(STORED_BYTES, "marker", {**body, "writer": os.urandom(8).hex()}, tag=stored.tag if stored else None)
                if await self._store.keep(owner_of_app(app_id), document) is not None:
                    return self._read(app_id, body["bytes"], unsent, now)
                await asyncio.sleep(PAUSE_S * 2**attempt * random.uniform(0.5, 1.0))
        raise Unavailable("long_term", "other processes count the app's bytes faster than this one can")

    def _read(self, app_id: str, total: int, added: int, now: datetime) -> _App:
        known = self._apps.setdefault(app_id, _App(total, 0, now))
        known.total, known.unsent, known.read_at = total, known.unsent - added, now
        return known

    async def _sum(self, app_id: str) -> int:
        """The bytes of all users of an app, by their heads."""
        total, after = 0, None
        while owners := await self._store.owners(after, PAGE, app_id):
            for owner, head in owners:
                total += (await self._counted(owner))[1] if head.stored_bytes is None else head.stored_bytes
            after = owners[-1][0]
            if len(owners) < PAGE:
                break
        return total

    async def _count(self, owner: Owner) -> int:
        """Count a user's memories, whose head is of an earlier version, once for ever. Raises Unavailable."""
        for _ in range(TRIES):
            head, total = await self._counted(owner)
            if head is None or head.stored_bytes is not None:
                return total

            def decide(look: Look, seen: Head = head, total: int = total) -> Changes[bool]:
                if look.head is None or (look.head.epoch, look.head.sequence) != (seen.epoch, seen.sequence):
                    return Changes(False)
                now = self._clock.now()
                mark = Document(derived("mrk", seen.epoch, "counted", now.isoformat()), "marker", {}, expires_at=now + _MARK_KEPT)
                return Changes(True, puts=(mark,), head_fields=lambda _: {"stored_bytes": total}, fragile=True)

            if (await self._ledger.commit(owner, decide, ids=[], call=Call())).result:
                return total
        raise Unavailable("long_term", "others write to this user's memories while they are counted; try again")

    async def _counted(self, owner: Owner) -> tuple[Head | None, int]:
        """The head, and the bytes of all memories at that time or later."""
        head = (await self._store.snapshot(owner)).head
        if head is not None and head.stored_bytes is not None:
            return head, head.stored_bytes
        total, after = 0, None
        while documents := await self._store.page(owner, "memory", None, after, PAGE, newest_first=False):
            memories, _ = readable([replace(document, vector=None) for document in documents])
            total += sum(stored_bytes(memory) for memory in memories)
            after = Place(documents[-1].body["sequence"], documents[-1].id)
        return head, total


def _exceeded(whose: str, used: int, limit: int, size: int) -> QuotaExceeded:
    setting = f"MEMORY_STORED_BYTES_PER_{whose.upper()}"
    return QuotaExceeded(
        f"stored bytes of the {whose}: {used} of {limit} are used, and this call brings {size} more. Forget memories for good"
        f' (POST /api/v1/forget with "mode": "hard") or erase a user to make room, or have {setting} raised'
    )
