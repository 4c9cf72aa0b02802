"""Limit the tokens that an app and its users may spend in a day.

All processes share the limit. A process takes a block of tokens from the day before it asks a
model. The day is a document of the app or of the user in the long-term store. When the block is
used up, the process takes the next: two requests for each block.

Calls that are under way when the day is used up are finished, so a day may exceed its cap by these.
Tokens that a process has left of its block when it ends are not spent.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from weakref import WeakValueDictionary

from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.domain.scope import Owner
from memory_core.ports import (
    TOKENS_OF_DAY,
    Clock,
    Document,
    LongTermStore,
    kept_of_app,
    kept_without_head,
    owner_of_app,
    owner_of_unknown,
)

LEAST_BLOCK: Final = 5_000
"""Tokens that are taken at once, about two calls of a model.

A block is larger where a thousandth of the day is more, and smaller where a twentieth of the day is
less.
"""
_BLOCKS_A_DAY, _LEAST_BLOCKS = 1_000, 20
PAYERS_KEPT: Final = 16_384
"""Payers whose blocks a process remembers.

Beyond that, the payer that asked longest ago loses the rest of its block.
"""
_KEPT = timedelta(hours=36)
_TRIES, _PAUSE_S = 8, 0.02


@dataclass(frozen=True, slots=True)
class Payer:
    """App or user whose day pays for tokens.

    Attributes:
        cap: Tokens of a day.

    """

    owner: Owner
    cap: int
    is_user: bool

    @property
    def block(self) -> int:
        """How many tokens a process takes at once."""
        return max(1, self.cap // _BLOCKS_A_DAY, min(LEAST_BLOCK, self.cap // _LEAST_BLOCKS))


@dataclass(slots=True)
class Block:
    """Tokens of a payer's day that a process has taken.

    Attributes:
        left: Below 0 where calls took more than the block.
        used_up: Whether the day has no tokens left.
        epoch: The life of the user that the block belongs to; the next life begins with a whole
            day.

    """

    left: int = 0
    used_up: bool = False
    epoch: str | None = None


@dataclass(frozen=True, slots=True)
class _TakenTokens:
    """Tokens that were taken out of a day, of the tokens that were wanted.

    Attributes:
        epoch: The life of the user in which they were taken.

    """

    tokens: int
    wanted: int
    epoch: str | None


class Budget:
    """Tokens of each UTC day, prompt and completion together; without a cap they aren't counted."""

    def __init__(
        self,
        daily_tokens: int | None,
        clock: Clock,
        store: LongTermStore | None = None,
        *,
        user_daily_tokens: int | None = None,
    ) -> None:
        """Build the budgets of all apps and users.

        Args:
            daily_tokens: The cap of each app; None for no cap.
            clock: Tells the day.
            store: Where processes share the days; None if the caps are of this process alone.
            user_daily_tokens: The cap of each user; None for no cap.

        """
        self._cap, self._user_cap, self._clock, self._store = (
            daily_tokens,
            user_daily_tokens,
            clock,
            store,
        )
        self._day = ""
        self._blocks: OrderedDict[Payer, Block] = OrderedDict()
        self._taking: WeakValueDictionary[Payer, asyncio.Lock] = WeakValueDictionary()

    async def check(self, owner: Owner) -> None:
        """Raise AgentFailed if the user or the app has used up the day.

        owner: Without a user's name if the tokens are the app's alone.
        Raises Unavailable if the day can't be read.
        """
        for payer in self._payers(owner):
            async with self._taking.setdefault(payer, asyncio.Lock()):
                self._turn_of_day()
                block = self._block(payer)
                # A user whose day is used up is looked up each time: since then they may have been
                # erased, and have begun another life.
                if block.left <= 0 and (payer.is_user or not block.used_up):
                    await self._take_block(payer)
                if self._block(payer).left <= 0:
                    whose = "user" if payer.is_user else "app"
                    raise AgentFailed(
                        f"the {whose}'s {payer.cap} tokens for {self._day} (UTC) are used up"
                    )

    def spend(self, owner: Owner, tokens: int) -> None:
        """Count the tokens of a call.

        Args:
            owner: App and user that pay.
            tokens: Tokens of prompt and completion together.

        """
        self._turn_of_day()
        for payer in self._payers(owner):
            self._block(payer).left -= tokens

    def exhausted(self) -> dict[str, int]:
        """Count the apps and users that have used up their day, as this process knows.

        Counts of 0 are left out.
        """
        self._turn_of_day()
        spent = [
            payer.is_user
            for payer, block in self._blocks.items()
            if block.used_up and block.left <= 0
        ]
        counts = {
            "apps_over_daily_tokens": spent.count(False),
            "users_over_daily_tokens": spent.count(True),
        }
        return {name: count for name, count in counts.items() if count}

    def _payers(self, owner: Owner) -> list[Payer]:
        payers = []
        if self._user_cap is not None and owner.user_id:
            payers.append(Payer(owner, self._user_cap, is_user=True))
        if self._cap is not None:
            payers.append(Payer(owner_of_app(owner.app_id), self._cap, is_user=False))
        return payers

    def _block(self, payer: Payer) -> Block:
        block = self._blocks.setdefault(payer, Block())
        self._blocks.move_to_end(payer)
        while len(self._blocks) > PAYERS_KEPT:
            self._blocks.popitem(last=False)
        return block

    async def _take_block(self, payer: Payer) -> None:
        """Add a block to the tokens that this process may spend.

        Calls that took more than the block are paid for first.
        """
        if self._store is None:
            self._block(payer).left, self._block(payer).used_up = payer.cap, True
            return
        day, block = self._day, self._block(payer)
        taken = await _take_from_day(self._store, payer, day, block, self._clock)
        if day != self._day:  # what was taken was yesterday's
            return
        block = self._block(payer)
        if taken.epoch != block.epoch:  # what the user spent in another life is gone with that
            block.left, block.epoch = 0, taken.epoch
        block.left += taken.tokens
        block.used_up = taken.tokens < taken.wanted

    def _turn_of_day(self) -> None:
        today = self._clock.now().date().isoformat()
        if today != self._day:
            self._day = today
            self._blocks.clear()


async def _take_from_day(
    store: LongTermStore, payer: Payer, day: str, block: Block, clock: Clock
) -> _TakenTokens:
    """Take the wanted tokens out of the day for all processes.

    The day may have fewer tokens left.

    Raises Unavailable.
    """
    for attempt in range(_TRIES):
        stored, epoch = await _read(store, payer)
        wanted = payer.block - (block.left if block.epoch == epoch else 0)
        is_of_today = (
            stored is not None and stored.body["day"] == day and stored.body.get("epoch") == epoch
        )
        before = int(stored.body["taken"]) if stored is not None and is_of_today else 0
        granted = min(wanted, payer.cap - before)
        if granted <= 0:
            return _TakenTokens(0, wanted, epoch)
        # `taker` makes no two writes equal: the store takes a document that is there already
        # for one's own.
        body = {
            "day": day,
            "taken": before + granted,
            "taker": os.urandom(8).hex(),
            **({} if epoch is None else {"epoch": epoch}),
        }
        document = Document(
            TOKENS_OF_DAY,
            "marker",
            body,
            expires_at=clock.now() + _KEPT,
            tag=None if stored is None else stored.tag,
        )
        is_unknown = payer.is_user and epoch is None
        owner = owner_of_unknown(payer.owner) if is_unknown else payer.owner
        if await store.keep(owner, document) is not None:
            return _TakenTokens(granted, wanted, epoch)
        await asyncio.sleep(_PAUSE_S * 2**attempt * random.uniform(0.5, 1.0))
    raise Unavailable(
        "long_term", "other processes count the day's tokens faster than this one can"
    )


async def _read(store: LongTermStore, payer: Payer) -> tuple[Document | None, str | None]:
    """Read the document of a payer's day, and the epoch of a user."""
    if payer.is_user:
        seen = await store.snapshot(payer.owner, [TOKENS_OF_DAY])
        if seen.head is not None:
            return seen.documents.get(TOKENS_OF_DAY), seen.head.epoch
        return await kept_without_head(store, owner_of_unknown(payer.owner), TOKENS_OF_DAY), None
    return await kept_of_app(store, payer.owner.app_id, TOKENS_OF_DAY), None
