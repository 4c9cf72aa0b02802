"""The usage of an app and its users: stored bytes within limits, and tokens.

The tokens are those of models on the present day. Each commit that makes a user's memories larger
takes the room for that before it is sent (`Usage.take`). A user's bytes are in the user's head,
which the commit is conditional on, so they never exceed their limit.

An app's bytes are in a single document. A process adds its commits there before a commit that would
bring its unsent bytes to more than a thousandth of the limit. If the document has no room then, the
commit is refused. So processes together may exceed an app's limit by a thousandth of it each. If a
process dies, as much may be missing; once a day the users' heads are added up.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from memory_core.domain.errors import EpochEnded, HeadMoved, QuotaExceeded, Unavailable
from memory_core.domain.memory import Head, stored_bytes
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.batch import CONSOLIDATION
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.commit_hooks import NotCounted
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.readable import readable
from memory_core.ports import (
    STORED_BYTES,
    TOKENS_OF_DAY,
    Clock,
    Document,
    Kind,
    LongTermStore,
    Place,
    kept_of_app,
    kept_without_head,
    owner_of_app,
    owner_of_unknown,
)

ADDED_EVERY: Final = timedelta(seconds=5)
COUNTED_EVERY: Final = timedelta(days=1)
ADDED_AT_ONCE: Final = 1_000
"""The divisor of an app's limit for the bytes that a process may have yet to add."""
PAGE: Final = 500
TRIES, PAUSE_S = 8, 0.02
NEVER: Final = datetime.min.replace(tzinfo=UTC)
LOGGED_EVERY: Final = timedelta(minutes=1)
_MARK_KEPT: Final = timedelta(hours=1)
_COUNTED: Final[tuple[Kind, ...]] = ("memory", "version")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class UsageLimits:
    """The limits of an app and of each user; None for no limit."""

    bytes_per_app: int | None = None
    bytes_per_user: int | None = None
    tokens_per_app: int | None = None
    tokens_per_user: int | None = None


@dataclass(slots=True)
class _App:
    """An app's bytes as a process knows them.

    Attributes:
        total: The bytes of the document when it was read.
        unsent: The bytes that the process has yet to add.
        read_at: When the document was read.

    """

    total: int
    unsent: int
    read_at: datetime


@dataclass(slots=True)
class _Refused:
    """Calls of an app that had no room since the last line of the log."""

    count: int = 0
    logged_at: datetime = NEVER


class Usage:
    """Counts stored bytes, and refuses commits without room."""

    def __init__(
        self, store: LongTermStore, ledger: Ledger, clock: Clock, limits: UsageLimits
    ) -> None:
        self._store, self._ledger, self._clock, self._limits = store, ledger, clock, limits
        self._apps: dict[str, _App] = {}
        self._adding: dict[str, asyncio.Lock] = {}
        self._first_counts: dict[str, asyncio.Task[int]] = {}
        self._recounts: dict[str, asyncio.Task[None]] = {}
        self._refused: dict[str, _Refused] = {}

    async def take(
        self, owner: Owner, used: int | None, grown: int, more: int, *, limited: bool
    ) -> None:
        """Let a commit in, and count its bytes; see `ledger.commit.StorageRoom`.

        Args:
            owner: Whose memories they are.
            used: The bytes by the head that the commit is put on; None if the head does not say.
            grown: The bytes that the commit adds, negative if it removes bytes.
            more: Bytes that follow from the commit, and must have room with it.
            limited: Whether the commit is refused if there is no room.

        Raises:
            QuotaExceeded: There is no room.
            NotCounted: The user has a limit, and the used bytes have to be counted first.
            Unavailable: The app's bytes can't be known.

        """
        limit = self._limits.bytes_per_user
        if limited and limit is not None:
            if used is None:
                raise NotCounted
            if grown + more > 0 and used + grown + more > limit:
                raise self._refusal(owner.app_id, "user", used, limit, grown + more)
        if self._limits.bytes_per_app is not None and (grown or more):
            await self._take_of_app(
                owner.app_id,
                grown,
                more,
                self._limits.bytes_per_app if limited and grown + more > 0 else None,
            )

    def give_back(self, owner: Owner, grown: int) -> None:
        """Give back the bytes of a commit that failed.

        Args:
            owner: Whose memories they are.
            grown: The bytes that were taken.

        """
        if (known := self._apps.get(owner.app_id)) is not None:
            known.unsent -= grown

    async def check(self, owner: Owner, head: Head | None, size: int) -> None:
        """Check that there is room for further bytes; see `ledger.commit.StorageRoom`.

        Args:
            owner: Whose memories they are.
            head: The owner's head; None for an unknown owner.
            size: The bytes.

        Raises:
            QuotaExceeded: There is no room.
            Unavailable: The app's bytes can't be known.

        """
        limits, used = self._limits, 0 if head is None else head.kept_bytes or 0
        if limits.bytes_per_user is not None and size > 0 and used + size > limits.bytes_per_user:
            raise self._refusal(owner.app_id, "user", used, limits.bytes_per_user, size)
        if limits.bytes_per_app is not None and size > 0:
            await self._take_of_app(owner.app_id, 0, size, limits.bytes_per_app)

    async def _take_of_app(self, app_id: str, grown: int, more: int, limit: int | None) -> None:
        """Count bytes that are added to an app's.

        They are refused beyond `limit`, unless it is None. Raises QuotaExceeded, Unavailable.
        """
        if self._take_here(app_id, grown, more, limit):
            return
        async with self._adding.setdefault(app_id, asyncio.Lock()):
            if self._take_here(app_id, grown, more, limit):
                return
            try:
                await self._add(app_id, grown, more, limit)
            except Unavailable as error:
                known = self._known(app_id)
                if limit is not None and (
                    known.read_at == NEVER or self._is_much(known.unsent + grown)
                ):
                    raise
                log.info("an app's bytes are added later: %s", error.detail)
                known.unsent += grown

    def _take_here(self, app_id: str, grown: int, more: int, limit: int | None) -> bool:
        """Take bytes without asking the store; False if the store has to be asked.

        Raises QuotaExceeded by the bytes that were read a moment ago.
        """
        known = self._known(app_id)
        if self._clock.now() - known.read_at >= ADDED_EVERY:
            return False
        used = known.total + known.unsent
        if limit is not None and used + grown + more > limit:
            raise self._refusal(app_id, "app", used, limit, grown + more)
        if self._is_much(known.unsent + grown):
            return False
        known.unsent += grown
        return True

    def _is_much(self, unsent: int) -> bool:
        return abs(unsent) * ADDED_AT_ONCE > (self._limits.bytes_per_app or 0)

    def _known(self, app_id: str) -> _App:
        return self._apps.setdefault(app_id, _App(0, 0, NEVER))

    async def close(self) -> None:
        """Add the bytes that are left to the apps' documents."""
        for task in (counts := [*self._first_counts.values(), *self._recounts.values()]):
            task.cancel()
        await asyncio.gather(*counts, return_exceptions=True)
        for app_id, known in self._apps.items():
            try:
                if known.unsent:
                    await self._add(app_id)
            except Unavailable as error:
                log.warning(
                    "an app's bytes were not added; within a day they are counted again: %s",
                    error.detail,
                )

    async def of_user(self, owner: Owner) -> dict[str, Any]:
        """Return the used bytes and tokens of a user, with their limits.

        Raises Unavailable.
        """
        seen = await self._store.snapshot(owner, [TOKENS_OF_DAY])
        used = 0 if seen.head is None else seen.head.kept_bytes
        used = (await self._counted(owner))[1] if used is None else used
        if seen.head is None:
            unknown = owner_of_unknown(owner)
            of_today = await kept_without_head(self._store, unknown, TOKENS_OF_DAY)
        else:
            of_today = seen.documents.get(TOKENS_OF_DAY)
            if of_today is not None and of_today.body.get("epoch") != seen.head.epoch:
                of_today = None
        return self._shown(
            used, of_today, self._limits.bytes_per_user, self._limits.tokens_per_user
        )

    async def of_app(self, app_id: str) -> dict[str, Any]:
        """Return the used bytes and tokens of an app, with their limits.

        Without a limit of bytes, the bytes of the app's users are added up. Raises Unavailable.
        """
        limits = self._limits
        used = (
            await self._sum(app_id) if limits.bytes_per_app is None else await self._of_app(app_id)
        )
        of_today = await kept_of_app(self._store, app_id, TOKENS_OF_DAY)
        return self._shown(used, of_today, limits.bytes_per_app, limits.tokens_per_app)

    def _shown(
        self,
        used: int,
        of_today: Document | None,
        bytes_limit: int | None,
        tokens_limit: int | None,
    ) -> dict[str, Any]:
        now = self._clock.now()
        tokens = (
            0
            if of_today is None or of_today.body["day"] != now.date().isoformat()
            else int(of_today.body["taken"])
        )
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        return {
            "stored_bytes": {"used": used, "limit": bytes_limit},
            "model_tokens": {
                "used": None if tokens_limit is None else tokens,
                "limit": tokens_limit,
                "resets_at": midnight,
            },
        }

    async def _of_app(self, app_id: str) -> int:
        """Return an app's bytes by the store and this process.

        They are counted from the users' heads if that is due.
        """
        async with self._adding.setdefault(app_id, asyncio.Lock()):
            if self._clock.now() - self._known(app_id).read_at >= ADDED_EVERY:
                await self._add(app_id)
        if (recount := self._recounts.get(app_id)) is not None:
            await asyncio.shield(recount)
        known = self._known(app_id)
        return known.total + known.unsent

    async def _add(
        self, app_id: str, grown: int = 0, more: int = 0, limit: int | None = None
    ) -> None:
        """Add the unsent bytes of this process, and `grown` if it has room.

        The bytes of other processes are read at the same time. Raises QuotaExceeded, Unavailable.
        """
        known = self._known(app_id)
        for attempt in range(TRIES):
            now, unsent = self._clock.now(), known.unsent
            stored = await kept_of_app(self._store, app_id, STORED_BYTES)
            used = (
                await self._first_count(app_id)
                if stored is None
                else int(stored.body["bytes"]) + unsent
            )
            fits = limit is None or used + grown + more <= limit
            total = used + grown if fits else used
            is_due = (
                stored is None
                or now - datetime.fromisoformat(stored.body["counted_at"]) >= COUNTED_EVERY
            )
            if stored is None or is_due or total != int(stored.body["bytes"]):
                counted_at = (
                    now.isoformat() if stored is None or is_due else stored.body["counted_at"]
                )
                # Each write differs: the store takes an equal document as the same write.
                body = {"bytes": total, "counted_at": counted_at, "writer": os.urandom(8).hex()}
                document = Document(
                    STORED_BYTES, "marker", body, tag=stored.tag if stored else None
                )
                if await self._store.keep(owner_of_app(app_id), document) is None:
                    await asyncio.sleep(PAUSE_S * 2**attempt * random.uniform(0.5, 1.0))
                    continue
            known.total, known.unsent, known.read_at = total, known.unsent - unsent, now
            self._first_counts.pop(app_id, None)
            if stored is not None and is_due and app_id not in self._recounts:
                self._recounts[app_id] = asyncio.create_task(self._recount(app_id, total))
            if not fits:
                assert limit is not None
                raise self._refusal(app_id, "app", used, limit, grown + more)
            return
        raise Unavailable(
            "long_term", "other processes count the app's bytes faster than this one can"
        )

    async def _first_count(self, app_id: str) -> int:
        """Add up the bytes of an app's users for the first time.

        A caller that can't wait finds it done at the next call.
        """
        task = self._first_counts.get(app_id)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._first_counts[app_id] = asyncio.create_task(self._sum(app_id))
        return await asyncio.shield(task)

    async def _recount(self, app_id: str, counted: int) -> None:
        """Add up the users' heads once more, and correct the app's bytes by the difference.

        `counted` is the document's number when that began.
        """
        try:
            self._known(app_id).unsent += await self._sum(app_id) - counted
        except (Unavailable, HeadMoved) as error:
            log.warning("an app's bytes are counted again tomorrow: %s", error.detail)
        finally:
            del self._recounts[app_id]

    async def _sum(self, app_id: str) -> int:
        """Return the bytes of all users of an app, by their heads.

        A user whose head does not say so is counted once.
        """
        total, after = 0, None
        while owners := await self._store.owners(after, PAGE, app_id):
            for owner, head in owners:
                if head.kept_bytes is None and head.state == "live":
                    total += await self.count(owner)
                else:
                    total += head.kept_bytes or 0
            after = owners[-1][0]
            if len(owners) < PAGE:
                break
        return total

    async def count(self, owner: Owner) -> int:
        """Count and store the bytes of a user whose head is of an earlier version.

        Raises Unavailable, HeadMoved.
        """
        for _ in range(TRIES):
            head, total = await self._counted(owner)
            if head is None or head.state != "live" or head.kept_bytes is not None:
                return total

            def decide(read_set: ReadSet, seen: Head = head, total: int = total) -> Changes[bool]:
                if read_set.head is None or (read_set.head.epoch, read_set.head.commit_id) != (
                    seen.epoch,
                    seen.commit_id,
                ):
                    return Changes(False)
                now = self._clock.now()
                mark = Document(
                    derived("mrk", seen.epoch, "counted", now.isoformat()),
                    "marker",
                    {},
                    expires_at=now + _MARK_KEPT,
                )
                return Changes(
                    True, puts=(mark,), head_fields=lambda _: {"kept_bytes": total}, fragile=True
                )

            with suppress(EpochEnded):
                call = Call(actor=CONSOLIDATION)
                if (await self._ledger.commit(owner, decide, ids=[], call=call)).result:
                    return total
        raise Unavailable(
            "long_term", "others write to this user's memories while they are counted; try again"
        )

    async def _counted(self, owner: Owner) -> tuple[Head | None, int]:
        """Return the head, and the bytes of all memories and versions.

        The bytes are as of the head or later.
        """
        head = (await self._store.snapshot(owner)).head
        if head is not None and head.kept_bytes is not None:
            return head, head.kept_bytes
        total = 0
        for kind in _COUNTED if head is not None else ():
            after = None
            while documents := await self._store.page(
                owner, kind, None, after, PAGE, newest_first=False
            ):
                memories, _ = readable([replace(document, vector=None) for document in documents])
                total += sum(stored_bytes(memory) for memory in memories)
                after = Place(documents[-1].body["sequence"], documents[-1].id)
        return head, total

    def _refusal(self, app_id: str, whose: str, used: int, limit: int, size: int) -> QuotaExceeded:
        """Return the error of a call without room.

        The log has a line a minute for each app, since a loop of calls would fill it.
        """
        setting = f"MEMORY_STORED_BYTES_PER_{whose.upper()}"
        error = QuotaExceeded(
            f"stored bytes of the {whose}: {used} of {limit} are used, and this needs {size} more. "
            "Forget memories for good"
            ' (POST /api/v1/forget with "mode": "hard") or erase a user to make room, or have '
            f"{setting} raised"
        )
        refused, now = self._refused.setdefault(app_id, _Refused()), self._clock.now()
        refused.count += 1
        if now - refused.logged_at >= LOGGED_EVERY:
            log.warning(
                "%d calls of the app %s had no room since the last such line; now: %s",
                refused.count,
                app_id,
                error.detail,
            )
            refused.count, refused.logged_at = 0, now
        return error
