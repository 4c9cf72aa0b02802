"""The rules that complete every commit: of chains, of slots, of pending conflicts."""

from __future__ import annotations

from collections.abc import Iterator

from memory_core.domain.scope import Owner
from memory_core.evolution.acyclic_chains import without_circles
from memory_core.evolution.open_conflicts import SETTLED, followed, left_open, settled, unsettled
from memory_core.evolution.reads import Shelf
from memory_core.evolution.slot_commits import with_slots
from memory_core.ledger.changes import Change, Changes, Result
from memory_core.ledger.commit_hooks import PostponedDecision
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Clock, LongTermStore


class MemoryRules:
    """What follows from changes of memories, for any owner (`ledger.commit.CommitRules`)."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def complete(
        self,
        store: LongTermStore,
        owner: Owner,
        changes: Changes[Result],
        read_set: ReadSet,
        *,
        is_part: bool,
    ) -> Changes[Result]:
        """The changes, with what follows from them in chains and slots.

        Args:
            store: Where further documents are read.
            owner: Whose memories they are.
            changes: As they were decided.
            read_set: The read set of the decision.
            is_part: Whether they belong to another commit, which completes the slots.

        Raises:
            Conflict: A chain would lead back to itself, or the log of a slot refuses an operation.
            HeadMoved: Other commits changed a chain since.
            SealedEntries: A change reaches back to sealed entries that were not read.
            Unavailable: The store is down.
            WithoutLog: A slot needs a log first.

        """
        shelf = Shelf(store, owner, read_set)
        bare = await without_circles(shelf, changes)
        return bare if is_part else await with_slots(shelf, bare)

    async def settle(
        self, store: LongTermStore, owner: Owner, changes: Changes[Result]
    ) -> Changes[Result]:
        """The completed changes, with their effects on pending conflicts.

        Args:
            store: Where records and memories are read.
            owner: Whose memories they are.
            changes: As `complete` returned them.

        Raises:
            Unavailable: The store is down.

        """
        return await settled(store, owner, changes, self._clock.now())

    async def reduce(
        self, store: LongTermStore, owner: Owner, changes: Changes[Result]
    ) -> Changes[Result] | None:
        """The completed changes, with fewer effects on pending conflicts.

        No pending conflict is ended; changes that only end some end a single one.

        Args:
            store: Where records and memories are read.
            owner: Whose memories they are.
            changes: As `complete` returned them.

        Returns:
            None if they can't be reduced.

        Raises:
            Unavailable: The store is down.

        """
        if all(change.event_type == SETTLED for change in changes.changes):
            less = await settled(store, owner, changes, self._clock.now(), most=1)
        else:
            less = followed(changes)
        return less if unsettled(less) else None

    def endings(self, changes: Changes[Result]) -> Iterator[PostponedDecision]:
        """Decisions that end pending conflicts for which a commit had no room.

        A memory names its pending conflicts until they are ended. So if this process dies before
        these commits, the next commit that writes the memory ends them.
        """
        for name in left_open(changes):

            def ending(read_set: ReadSet, name: str = name) -> Changes[None]:
                memory = read_set.memory(name)
                marks = () if memory is None else (Change(SETTLED, memory, memory),)
                wanted = Changes(None, marks, reads=frozenset({name}))
                return wanted if left_open(wanted) else Changes(None)

            yield PostponedDecision(name, ending)
