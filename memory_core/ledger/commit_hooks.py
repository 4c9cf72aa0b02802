"""What the ledger calls around a commit: rules, room for bytes, and hooks after it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from memory_core.domain.memory import Head, Memory
from memory_core.domain.messages import is_message
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.ledger.changes import Changes
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import LongTermStore, ShortTermStore, Stamp

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Committed(Generic[Result]):
    """A decision that is durable now.

    Attributes:
        result: Result of the decision.
        memories: As they are stored, by id.
        bodies: Bodies of their documents, by id.
        changes: The committed changes; None if there was no need to commit.
        stamp: Stamp for caches; None if there was no need to commit.
        previous_removal: The head's `last_removal_sequence` before this commit.
        fresh: How many memories had been made since the last consolidation, before this commit and
            after it.
        settled_at: When the last consolidation was.
        degraded: The parts that are down, by which the commit could not be followed.

    """

    result: Result
    memories: dict[str, Memory] = field(default_factory=dict)
    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)
    changes: Changes[Any] | None = None
    stamp: Stamp | None = None
    previous_removal: int = 0
    fresh: tuple[int, int] = (0, 0)
    settled_at: datetime | None = None
    degraded: tuple[str, ...] = ()


class PostponedDecision(NamedTuple):
    """A decision that a commit had no room for, about one memory."""

    memory_id: str
    decide: Callable[[ReadSet], Changes[None]]


class CommitRules(Protocol):
    """What follows from a decision, which its commit writes as well.

    The ledger itself knows no such rule (`evolution.commit_rules.MemoryRules`).
    """

    async def complete(
        self,
        store: LongTermStore,
        owner: Owner,
        changes: Changes[Result],
        read_set: ReadSet,
        *,
        is_part: bool,
    ) -> Changes[Result]:
        """The changes, with what follows from them in other memories.

        Args:
            store: Where further documents are read.
            owner: Whose memories they are.
            changes: As they were decided.
            read_set: The read set of the decision.
            is_part: Whether they belong to another commit, which completes the slots.

        Raises:
            Conflict: A rule refuses the changes.
            HeadMoved: Other commits changed what was read.
            SealedEntries: Sealed entries have to be read first.
            Unavailable: The store is down.
            WithoutLog: A slot needs a log first.

        """

    async def settle(
        self,
        store: LongTermStore,
        owner: Owner,
        changes: Changes[Result],
        *,
        is_reduced: bool = False,
    ) -> Changes[Result]:
        """The completed changes, with effects that may be left to a later commit.

        Args:
            store: Where further documents are read.
            owner: Whose memories they are.
            changes: As `complete` returned them.
            is_reduced: Whether as few of these effects are added as possible.

        Raises:
            Unavailable: The store is down.

        """

    def endings(self, changes: Changes[Result]) -> Iterable[PostponedDecision]:
        """The decisions for the effects that were left out of a commit."""


class NotCounted(Exception):
    """The size of a user's memories is unknown: the head is of an earlier version."""


class StorageRoom(Protocol):
    """The bytes that memories may take.

    Each commit takes the bytes that it adds before it is sent.
    """

    async def take(
        self, owner: Owner, used: int | None, grown: int, more: int, *, limited: bool
    ) -> None:
        """Let a commit in, and count the bytes that it adds.

        Args:
            owner: Whose memories they are.
            used: Bytes of the owner's memories by the head that the commit is put on; None if that
                head doesn't say.
            grown: By how many bytes the commit makes that more; negative if it makes them less.
            more: Bytes that follow from the commit, and must have room with it.
            limited: Whether the commit is refused if there is no room.

        Raises:
            QuotaExceeded: The commit adds bytes, and there is no room for them.
            NotCounted: There is a limit, and the used bytes have to be counted first.
            Unavailable: The bytes that the app's other users take can't be known.

        """

    def give_back(self, owner: Owner, grown: int) -> None:
        """Return bytes that were taken, because their commit failed.

        Args:
            owner: Whose memories they are.
            grown: As in `take`.

        """

    async def check(self, owner: Owner, head: Head | None, size: int) -> None:
        """Check that memories have room that follow from a write without a commit.

        Args:
            owner: Whose memories they are.
            head: Head of the owner; None before the first write.
            size: Bytes of the memories.

        Raises:
            QuotaExceeded: There is no room.
            Unavailable: The used bytes can't be known.

        """

    async def count(self, owner: Owner) -> int:
        """Count the bytes of a user's memories, and write them into the user's head.

        Raises Unavailable, HeadMoved.
        """


FreshMemoriesHook = Callable[[Owner, int, int, datetime | None], Awaitable[None]]
"""Receives after each commit how many memories had been made since the last consolidation: before
the commit, and after it.
"""


CommitHook = Callable[[Owner, Committed[Any]], Awaitable[tuple[str, ...]]]
"""Lets caches follow each commit; returns the parts that are down."""


class WorkingSetWriter:
    """Writes each commit through to the working sets of sessions in the short-term store.

    New memories are added and changed memories are removed, after the commit was acknowledged.
    Note: a lost write harms nothing, because the head's `last_removal_sequence` voids older copies.
    """

    def __init__(self, short_term: ShortTermStore) -> None:
        self._short_term = short_term

    async def write(self, owner: Owner, committed: Committed[Any]) -> tuple[str, ...]:
        """Write a commit to the short-term store.

        Args:
            owner: Whose memories were committed.
            committed: The commit.

        Returns:
            The degraded parts: `("short_term",)` if that store is down, else none.

        """
        if committed.changes is None or committed.stamp is None:
            return ()
        changed = [
            change.before
            for change in committed.changes.changes
            if change.before is not None and change.before.session_id
        ]
        if changed:
            sessions = sorted({memory.session_id for memory in changed if memory.session_id})
            await self._short_term.drop(
                owner,
                sessions,
                [memory.id for memory in changed],
                committed.stamp,
                committed.previous_removal,
            )
        active = [
            memory
            for memory in committed.memories.values()
            if memory.status in FOUND_BY_DEFAULT and memory.searchable and not is_message(memory.id)
        ]
        in_sessions = [memory for memory in active if memory.session_id]
        if in_sessions:
            await self._short_term.remember_all(in_sessions, committed.stamp)
        return ("short_term",) if self._short_term.degraded else ()
