"""Commit changes: the only way by which memories reach the store.

A store's "it failed" may be the echo of the commit's own success: a connection was cut after the
commit was applied, and an SDK resent it silently. So after any failure two documents are read: the
commit's marker, which is its first event, and the head, which names the commit that wrote it. If
either is of this commit, it was applied. Otherwise the identical batch is sent again. Only a head
that another commit moved permits a new decision, under the same commit id.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar
from weakref import WeakValueDictionary

from memory_core.domain.errors import AlreadyExists, EpochEnded, HeadMoved, TooLarge, Unavailable
from memory_core.domain.memory import Event, Head
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.batch import CONSOLIDATION, Assembled, assemble
from memory_core.ledger.changes import (
    Change,
    Changes,
    count_documents,
    same_ending,
    surplus_endings,
)
from memory_core.ledger.commit_hooks import (
    CommitHook,
    CommitRules,
    Committed,
    FreshMemoriesHook,
    NotCounted,
    StorageRoom,
)
from memory_core.ledger.ids import marker_id, slot_document_id
from memory_core.ledger.read_set import Reads, ReadSet, SealedEntries, WithoutLog, no_further
from memory_core.ledger.receipts import Receipt, earlier_result, receipt_documents, receipt_ids
from memory_core.ledger.recent_commits import RecentCommits
from memory_core.ports import Clock, IdSource, LongTermStore, Near, Stamp

Result = TypeVar("Result")
_EVENTS_PAGE = 500
NO_SEARCH: Final[Mapping[str, Near]] = {}
MAX_ENDED_AHEAD = 40
"""Past truths that a commit ends before the decision that ends them. Each takes two of the hundred
documents of a commit.
"""


@dataclass(frozen=True, slots=True)
class _Command(Generic[Result]):
    """A decision to commit, with the arguments of `Ledger.commit`.

    `is_part` means that it belongs to another commit, which completes the slots.
    """

    owner: Owner
    decide: Callable[[ReadSet], Changes[Result]]
    ids: Sequence[str]
    call: Call
    reads: Reads = no_further
    nears: Mapping[str, Near] = field(default_factory=dict)
    while_erasing: bool = False
    is_part: bool = False
    receipt: Receipt[Result] | None = None

    @property
    def receipt_ids(self) -> list[str]:
        """The id of the call's receipt, if it has an idempotency key."""
        if self.receipt is None:
            return []
        return receipt_ids(self.owner, self.call, self.receipt.part)

    def decided(self, read_set: ReadSet) -> Changes[Result]:
        """The changes, with a receipt; none if the same call was made before."""
        if self.receipt is None:
            return self.decide(read_set)
        part = self.receipt.part
        earlier = earlier_result(read_set.documents, self.owner, self.call, part)
        if earlier is not None:
            return Changes(self.receipt.repeat(earlier, read_set))
        changes = self.decide(read_set)
        if not self.receipt_ids or (fields := self.receipt.fields(changes.result)) is None:
            return changes
        documents = receipt_documents(self.owner, self.call, read_set.now, fields, part)
        return replace(changes, creates=(*changes.creates, *documents))


@dataclass(frozen=True, slots=True)
class _Decision(Generic[Result]):
    """Changes that were decided on a read set.

    `bare` are those without the effects on pending conflicts.
    """

    read_set: ReadSet
    bare: Changes[Result]
    changes: Changes[Result]

    @property
    def head(self) -> Head | None:
        return self.read_set.head


@dataclass(frozen=True, slots=True)
class _InTheWay:
    head: Head
    decide_again: bool


class Ledger:
    """Commits decisions of owners.

    Within this process decisions of an owner are committed in sequence; across processes the
    commits are optimistic.
    """

    def __init__(
        self,
        store: LongTermStore,
        clock: Clock,
        ids: IdSource,
        *,
        deadline_s: float = 10.0,
        fresh_memories_hook: FreshMemoriesHook | None = None,
        rules: CommitRules | None = None,
        commit_hook: CommitHook | None = None,
    ) -> None:
        self.room: StorageRoom | None = None
        self._store, self._clock, self._ids, self._deadline_s = store, clock, ids, deadline_s
        self._rules = rules
        self._fresh_memories_hook, self._commit_hook = fresh_memories_hook, commit_hook
        self._queues: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()
        self._recent = RecentCommits()

    async def look(
        self, owner: Owner, ids: Sequence[str], nears: Mapping[str, Near] = NO_SEARCH
    ) -> ReadSet:
        """Read the head, documents and neighbours; none are older than the head.

        So no commit comes in between without being noticed.

        Args:
            owner: Whose documents they are.
            ids: Ids of the documents.
            nears: Searches for neighbours, by the id of the new memory.

        Raises:
            Unavailable: The store is down.

        """
        searches = [*nears.values()]
        if len(searches) <= 1:
            first, others = await self._store.snapshot(owner, ids, *searches), []
        else:
            first, *others = await asyncio.gather(
                self._store.snapshot(owner, ids, searches[0]),
                *(self._store.snapshot(owner, (), near) for near in searches[1:]),
            )
        if any(other.head != first.head for other in others):  # a commit came in between
            others = await asyncio.gather(
                *(self._store.snapshot(owner, (), near) for near in searches[1:])
            )
        groups = (snapshot.near for snapshot in (first, *others))
        # without a search the first snapshot has no name, and no neighbours
        near = {name: tuple(group) for name, group in zip(nears, groups, strict=False)}
        return ReadSet(first.head, dict(first.documents), near, frozenset(ids))

    async def read_further(
        self, owner: Owner, read_set: ReadSet, reads: Reads, nears: Mapping[str, Near] = NO_SEARCH
    ) -> ReadSet:
        """Read the documents that a decision needs besides, until nothing is missing.

        Args:
            owner: Whose documents they are.
            read_set: What was read so far.
            reads: Names the documents.
            nears: The searches of the read set.

        Returns:
            The read set with these documents. All are as under one head, which may be a later one.

        Raises:
            Unavailable: The store is down.

        """
        read_set = replace(read_set, now=self._clock.now())
        while missing := read_set.unread(reads(read_set)):
            read_set = await self._with_documents(owner, read_set, missing, nears)
        return read_set

    async def _with_documents(
        self, owner: Owner, read_set: ReadSet, ids: Sequence[str], nears: Mapping[str, Near]
    ) -> ReadSet:
        """The read set with further documents, read again if the head was moved since."""
        more = await self._store.snapshot(owner, ids)
        if more.head == read_set.head:
            return read_set.with_documents(more.documents, ids)
        newer = await self.look(owner, sorted({*read_set.asked, *read_set.documents, *ids}), nears)
        return replace(newer, empty_slots=read_set.empty_slots, now=read_set.now)

    async def check_room(self, owner: Owner, head: Head | None, size: int) -> None:
        """Check that more bytes have room, by a head that was read.

        Args:
            owner: Whose memories they are.
            head: As it was read; None before the first write.
            size: Bytes of the memories that are to come.

        Raises:
            QuotaExceeded: There is no room.
            Unavailable: The used bytes can't be known.

        """
        if self.room is not None:
            await self.room.check(owner, head, size)

    async def commit(
        self,
        owner: Owner,
        decide: Callable[[ReadSet], Changes[Result]],
        *,
        ids: Sequence[str],
        reads: Reads = no_further,
        nears: Mapping[str, Near] = NO_SEARCH,
        basis: ReadSet | None = None,
        call: Call,
        receipt: Receipt[Result] | None = None,
        while_erasing: bool = False,
    ) -> Committed[Result]:
        """Decide on the state of the store, and commit the decision.

        Args:
            owner: Whose memories are changed.
            decide: Makes changes of a read set. It is called again if the state that it saw has
                changed.
            ids: Ids of the documents that `decide` needs.
            reads: Names the documents that `decide` needs besides, by what was read.
            nears: Searches whose neighbours `decide` needs, by the id of the new memory.
            basis: A read set that the caller read already; None reads it first.
            call: Call whose actor and correlation id the events carry.
            receipt: How a call with an idempotency key is answered again, without `decide`. None
                commits without a receipt.
            while_erasing: `decide` checks by itself whether its work is still wanted, as only
                changes of tasks do. Without it, a commit is refused while the user is erased, or
                once another epoch has begun.

        Raises:
            HeadMoved: Other writers moved the head until the deadline.
            QuotaExceeded: The changes add memories that have no room.
            TooLarge: The changes don't fit into a batch, though they were reduced.
            EpochEnded: The user is being erased, or another epoch began.
            Unavailable: The store stays down.
            Exception: Any error that `reads` or `decide` raises.

        """
        command = _Command(owner, decide, ids, call, reads, nears, while_erasing, receipt=receipt)
        queue = self._queues.setdefault(owner, asyncio.Lock())
        while True:
            try:
                async with queue, asyncio.timeout(self._deadline_s):
                    committed = await self._commit(command, basis)
                break
            except TimeoutError:
                raise HeadMoved(
                    "the commit did not get through in time; try again", retry_after_s=1
                ) from None
            except NotCounted:
                assert self.room is not None
                await self.room.count(owner)
                basis = None
        if self._commit_hook is not None and committed.changes is not None:
            degraded = await self._commit_hook(owner, committed)
            committed = replace(committed, degraded=degraded) if degraded else committed
        if self._fresh_memories_hook is not None and committed.fresh[1] > committed.fresh[0]:
            await self._fresh_memories_hook(owner, *committed.fresh, committed.settled_at)
        return committed

    async def _commit(
        self, command: _Command[Result], basis: ReadSet | None = None
    ) -> Committed[Result]:
        owner, call, commit_id = command.owner, command.call, self._ids.new("cmt")
        read_set = basis or await self._look(command)
        decision = await self._decision(command, read_set, read_set.head)
        changes, head = decision.changes, decision.head
        in_the_way, postponing, refused = self._newer_head(owner, head), False, 0
        while changes.writes:
            is_outdated = False
            if in_the_way is not None:
                refused += in_the_way.decide_again
                # A store in this process answers at once. Without a pause, the deadline and other
                # work would never get the event loop.
                await asyncio.sleep(random.uniform(0.0, 0.02) * refused)
                is_outdated = in_the_way.decide_again or not await self._is_still_right(
                    owner, changes, head, in_the_way.head
                )
                head, in_the_way = head if is_outdated else in_the_way.head, None
            if not is_outdated and (surplus := surplus_endings(changes)):
                is_outdated = bool(await self._end_ahead(owner, surplus, call))
            if is_outdated:
                decision = await self._decision(command, await self._look(command), head)
                changes, head, postponing = decision.changes, decision.head, False
                continue
            epoch = self._ids.new("ep") if head is None else head.epoch
            assembled = assemble(
                head,
                changes,
                commit_id=commit_id,
                epoch=epoch,
                now=self._clock.now(),
                call=call,
                known=decision.read_set.documents,
            )
            try:
                in_the_way = await self._send_within_room(command, assembled, changes.more_bytes)
            except TooLarge:
                if self._rules is None or postponing:
                    raise
                bare, whole = decision.bare, changes
                changes = await self._rules.settle(self._store, owner, bare, is_reduced=True)
                if count_documents(changes) >= count_documents(whole):
                    raise
                postponing = True
                continue
            if in_the_way is None:
                committed = self._committed(owner, assembled, changes)
                for ending in self._rules.endings(changes) if self._rules is not None else ():
                    await self._commit(_Command(owner, ending.decide, [ending.memory_id], call))
                return committed
        return Committed(changes.result)

    async def _look(self, command: _Command[Any]) -> ReadSet:
        ids = list(dict.fromkeys([*command.ids, *command.receipt_ids]))
        return await self.look(command.owner, ids, command.nears)

    async def _decision(
        self, command: _Command[Result], read_set: ReadSet, before: Head | None
    ) -> _Decision[Result]:
        """The decision on a read set, after everything that it needs was read.

        `before` is the head of the decision before it.
        """
        owner, nears = command.owner, command.nears

        def reads(read_set: ReadSet) -> list[str]:
            return [*command.receipt_ids, *command.reads(read_set)]

        while True:
            try:
                read_set = await self.read_further(owner, read_set, reads, nears)
                return await self._decided(command, read_set, before)
            except WithoutLog as slot:
                names = {slot.name, *_without_log(read_set, nears)}
                empty = read_set.empty_slots | await self._make_logs(owner, names, command.call)
                read_set = replace(await self._look(command), empty_slots=empty)
            except SealedEntries as sealed:
                read_set = await self._with_documents(owner, read_set, sealed.ids, nears)

    async def _decided(
        self, command: _Command[Result], read_set: ReadSet, before: Head | None
    ) -> _Decision[Result]:
        """Decide on a read set, and add what follows by the rules."""
        _check_life(before, read_set.head, command.while_erasing)
        bare = changes = command.decided(read_set)
        if (rules := self._rules) is not None:
            store, owner = self._store, command.owner
            bare = await rules.complete(store, owner, bare, read_set, is_part=command.is_part)
            changes = await rules.settle(store, owner, bare)
        return _Decision(read_set, bare, changes)

    async def _make_logs(
        self, owner: Owner, names: Collection[tuple[str, ...]], call: Call
    ) -> frozenset[tuple[str, ...]]:
        """Commit the logs of slots without a log; return the names of slots without members."""
        wanted = Changes(None, without_log=frozenset(names))
        made = await self._commit(_Command(owner, lambda read_set: wanted, (), call))
        written = {document.id for document in made.changes.puts} if made.changes else set()
        return frozenset(name for name in names if slot_document_id(*name) not in written)

    async def _end_ahead(self, owner: Owner, endings: Sequence[Change], call: Call) -> list[Change]:
        """Commit, before the decision itself, that past truths end earlier; return these changes.

        If this process dies after it, fewer truths hold than the decision wants, never more. A
        repeated decision finds them ended.
        """
        done = list[Change]()
        for start in range(0, len(endings), MAX_ENDED_AHEAD):
            part = endings[start : start + MAX_ENDED_AHEAD]
            names = [change.after.id for change in part]

            def ending(
                read_set: ReadSet, part: Sequence[Change] = part, names: Sequence[str] = names
            ) -> Changes[list[Change]]:
                changes = [
                    again
                    for change in part
                    if (again := same_ending(change, read_set.memory(change.after.id))) is not None
                ]
                return Changes(changes, tuple(changes), reads=frozenset(names))

            command = _Command(owner, ending, names, call, is_part=True)
            done += (await self._commit(command)).result
        return done

    async def _send_within_room(
        self, command: _Command[Any], assembled: Assembled, more: int
    ) -> _InTheWay | None:
        """Send a batch as `_send` does, once there is room for its bytes.

        A run's changes are always let in. If a limit stopped a run, it would never reach the steps
        that make room. Raises QuotaExceeded, NotCounted.
        """
        room, grown, before = self.room, assembled.grown, assembled.batch.expected
        owner, call, while_erasing = command.owner, command.call, command.while_erasing
        used = 0 if before is None else before.kept_bytes
        if room is None or (used is not None and not grown and not more):
            return await self._send(owner, assembled, while_erasing)
        await room.take(owner, used, grown, more, limited=call.actor != CONSOLIDATION)
        is_in = False
        try:
            in_the_way = await self._send(owner, assembled, while_erasing)
            is_in = in_the_way is None
            return in_the_way
        finally:
            if not is_in:
                room.give_back(owner, grown)

    async def _send(
        self, owner: Owner, assembled: Assembled, while_erasing: bool
    ) -> _InTheWay | None:
        """Send a batch, again after every unclear answer.

        Returns None once the batch is written, else the head that is in its way.
        """
        batch, attempt = assembled.batch, 0
        while True:
            failure: Exception
            try:
                await self._store.commit(owner, batch)
                return None
            except (HeadMoved, AlreadyExists) as refused:
                failure = refused
            except Unavailable as unclear:
                failure = unclear
                attempt += 1
                if attempt > 4:
                    raise
                await asyncio.sleep(random.uniform(0.01, 0.05) * 2**attempt)
            seen = await self._store.snapshot(owner, [marker_id(batch.commit_id)])
            if seen.documents or (seen.head is not None and seen.head.commit_id == batch.commit_id):
                return None
            if isinstance(failure, Unavailable):
                continue
            _check_life(batch.expected, seen.head, while_erasing)
            if seen.head is None:
                raise HeadMoved("the user vanished during the commit; try again", retry_after_s=1)
            return _InTheWay(seen.head, decide_again=isinstance(failure, AlreadyExists))

    def _committed(
        self, owner: Owner, assembled: Assembled, changes: Changes[Result]
    ) -> Committed[Result]:
        batch = assembled.batch
        self._recent.add(owner, batch.head, batch.events)
        previous = batch.expected.last_removal_sequence if batch.expected else 0
        stamp = Stamp(batch.head.epoch, batch.head.sequence, batch.head.last_removal_sequence)
        bodies = {
            write.document.id: write.document.body
            for write in batch.writes
            if write.document.kind == "memory"
        }
        fresh = batch.expected.fresh_count if batch.expected else 0, batch.head.fresh_count
        return Committed(
            changes.result,
            assembled.memories,
            bodies,
            changes,
            stamp,
            previous,
            fresh,
            batch.head.settled_at,
        )

    def _newer_head(self, owner: Owner, head: Head | None) -> _InTheWay | None:
        """The head of this process's last commit, if it is ahead of `head`.

        That head was read before the commit waited in the queue.
        """
        known = self._recent.head(owner)
        if known is None or head is None:
            return None
        if known.epoch != head.epoch:
            self._recent.forget(owner)  # commits of an erased epoch must not be kept
            return None
        return _InTheWay(known, decide_again=False) if known.sequence > head.sequence else None

    async def _is_still_right(
        self, owner: Owner, changes: Changes[Any], head: Head | None, newer: Head
    ) -> bool:
        """Whether a decision is still right on a newer head.

        It is right within the same epoch, if events since then concern no part of its read set.
        Marks have no events: writing a memory as it was read before would lose the marks that were
        set since.
        """
        if (
            any(change.before is not None for change in changes.changes)
            and head is not None
            and head.marks != newer.marks
        ):
            return False
        return not _is_new_epoch(head, newer) and changes.are_right_after(
            await self._events_between(owner, head, newer)
        )

    async def _events_between(self, owner: Owner, head: Head | None, newer: Head) -> list[Event]:
        """Events after `head` up to `newer`.

        They come from this process's memory if it has all of them, else from the store.
        """
        start = head.sequence if head is not None and head.epoch == newer.epoch else 0
        if self._recent.head(owner) is not None:
            mine = [
                event
                for event in self._recent.events(owner)
                if start < event.sequence <= newer.sequence
            ]
            if len(mine) == newer.sequence - start:
                return mine
        events: list[Event] = []
        while page := await self._store.events(owner, start, _EVENTS_PAGE):
            events += page
            start = page[-1].sequence
            if len(page) < _EVENTS_PAGE:
                break
        return events


def _is_new_epoch(head: Head | None, newer: Head | None) -> bool:
    """Whether the user was erased or imported between the two heads.

    A decision from before that must not be written after it.
    """
    if newer is None or head is None:
        return newer is not None and newer.expires_at is not None
    return head.epoch != newer.epoch


def _check_life(before: Head | None, now: Head | None, while_erasing: bool) -> None:
    """Raise EpochEnded if the user is being erased, or another epoch began since `before`."""
    if while_erasing:
        return
    if now is not None and now.state == "erasing":
        raise EpochEnded(
            "this user is being erased, and nothing of this call is kept; the user may begin again "
            "once the erasure has ended"
        )
    if _is_new_epoch(before, now):
        raise EpochEnded(
            "this user was erased or imported during the call, and nothing of the call is kept"
        )


def _without_log(read_set: ReadSet, nears: Mapping[str, Near]) -> Iterator[tuple[str, ...]]:
    """The names of slots that were read and have no log."""
    names = (("slot", *near.slot) for near in nears.values() if near.slot is not None)
    return (name for name in names if slot_document_id(*name) not in read_set.documents)
