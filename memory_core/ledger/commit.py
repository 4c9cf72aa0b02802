"""Commit changes: the one way in which memories reach the store.

A store's "it failed" may be the echo of one's own success (a connection cut after the commit was
applied, resent silently by an SDK). So after any failure the commit's marker, its first event, is
read, and the head, which names the commit that wrote it: either is ours → it was applied; else the
identical batch is sent again; only a head that moved without us permits a new decision,
under the same commit id.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

from memory_core.domain.errors import AlreadyExists, HeadMoved, TooLarge, Unavailable
from memory_core.domain.memory import Event, Head, Memory
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.acyclic_chains import without_circles
from memory_core.ledger.batch import (
    CONSOLIDATION,
    Assembled,
    Change,
    Changes,
    assemble,
    ended_as,
    surplus_endings,
)
from memory_core.ledger.ids import marker_id, slot_document_id
from memory_core.ledger.open_conflicts import SETTLED, followed, left_open, settled, unsettled
from memory_core.ledger.readable import as_memory
from memory_core.ledger.recent import RecentCommits
from memory_core.ports import Clock, Document, IdSource, LongTermStore, Near, Neighbour, Stamp

Result = TypeVar("Result")
_EVENTS_PAGE = 500
MAX_ENDED_AHEAD = 40
"""Past truths that one commit ends before the decision that ends them; each is two documents of a
commit's hundred.
"""


@dataclass(frozen=True, slots=True)
class ReadSet:
    """What a decision was shown: the head, the documents, one tuple of neighbours for each `Near`.

    asked: the ids that were asked for; of those without a document there is none. empty_slots:
    names of slots without a log that turned out to have no members either.
    """

    head: Head | None
    documents: dict[str, Document]
    near: tuple[tuple[Neighbour, ...], ...] = ()
    asked: frozenset[str] = frozenset()
    empty_slots: frozenset[tuple[str, ...]] = frozenset()

    def memory(self, memory_id: str) -> Memory | None:
        """The memory of this id, with its vector; None when there is none in the head's epoch."""
        document = self.documents.get(memory_id)
        return (
            None
            if document is None or document.kind != "memory"
            else as_memory(document, self.head)
        )


@dataclass(frozen=True, slots=True)
class Committed(Generic[Result]):
    """A decision that is durable now: its result, the memories as stored and their documents,
    by id, and the stamp for caches.

    fresh: how many memories had been made since the last consolidation before it, and how many have
    after it. settled_at: when that was.
    """

    result: Result
    memories: dict[str, Memory] = field(default_factory=dict)
    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)
    changes: Changes[Any] | None = None
    stamp: Stamp | None = None
    previous_removal: int = 0
    fresh: tuple[int, int] = (0, 0)
    settled_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class _InTheWay:
    head: Head
    decide_again: bool


Gathered = Callable[[Owner, int, int, datetime | None], Awaitable[None]]
"""Told after each commit how many memories had been made since the last consolidation,
before it and after.
"""


class WithoutLog(Exception):
    """A slot may have members of an earlier version, and has no log: that is made first, in a
    commit of its own.
    """

    def __init__(self, name: tuple[str, ...]) -> None:
        super().__init__("a slot has no log yet")
        self.name = name


class NotCounted(Exception):
    """What a user's memories take is not known: the head is of an earlier version."""


class StorageRoom(Protocol):
    """The bytes that memories may take: each commit takes what it adds, before it is sent."""

    async def take(
        self, owner: Owner, used: int | None, grown: int, more: int, *, limited: bool
    ) -> None:
        """Let a commit in, and count what it adds.

        Args:
            owner: Whose memories they are.
            used: What they take by the head that the commit is put on; None where that
                does not say.
            grown: By how much the commit makes that more, or less.
            more: What follows from it, and must have room with it.
            limited: Whether it is refused where there is no room.

        Raises:
            QuotaExceeded: It makes them more, and there is no room for it.
            NotCounted: There is a limit, and what is used has to be counted first.
            Unavailable: What the app's other users take can't be known.

        """

    def give_back(self, owner: Owner, grown: int) -> None:
        """What was taken was not committed."""

    async def check(self, owner: Owner, head: Head | None, size: int) -> None:
        """Whether there is room for memories that follow from what is written without a commit.
        Raises QuotaExceeded, Unavailable.
        """

    async def count(self, owner: Owner) -> int:
        """Count what a user's memories take, and have their head say so. Raises
        Unavailable, HeadMoved.
        """


Completed = Callable[[LongTermStore, Owner, Changes[Any], ReadSet], Awaitable[Changes[Any]]]
"""Completes what is decided before each commit. Raises WithoutLog."""


class Ledger:
    """Commits decisions, one after the other per owner within this process, optimistically
    across processes.
    """

    def __init__(
        self,
        store: LongTermStore,
        clock: Clock,
        ids: IdSource,
        *,
        deadline_s: float = 10.0,
        gathered: Gathered | None = None,
        completed: Completed | None = None,
    ) -> None:
        self.room: StorageRoom | None = None
        self._store, self._clock, self._ids, self._deadline_s = store, clock, ids, deadline_s
        self._gathered, self._completed = gathered, completed
        self._queues: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()
        self._recent = RecentCommits()

    async def look(self, owner: Owner, ids: Sequence[str], nears: Sequence[Near] = ()) -> ReadSet:
        """Head, documents and neighbours, none older than the head, so no commit slips in
        between unseen.
        """
        first, *others = await asyncio.gather(
            self._store.snapshot(owner, ids, nears[0] if nears else None),
            *(self._store.snapshot(owner, (), near) for near in nears[1:]),
        )
        if any(other.head != first.head for other in others):  # a commit came in between
            others = await asyncio.gather(
                *(self._store.snapshot(owner, (), near) for near in nears[1:])
            )
        neighbours = [snapshot.near for snapshot in (first, *others)] if nears else []
        near = tuple(tuple(each) for each in neighbours)
        return ReadSet(first.head, dict(first.documents), near, frozenset(ids))

    async def check_room(self, owner: Owner, head: Head | None, size: int) -> None:
        """Whether so many bytes more have room, by a head that was read. Raises QuotaExceeded,
        Unavailable.
        """
        if self.room is not None:
            await self.room.check(owner, head, size)

    async def commit(
        self,
        owner: Owner,
        decide: Callable[[ReadSet], Changes[Result]],
        *,
        ids: Sequence[str],
        nears: Sequence[Near] = (),
        basis: ReadSet | None = None,
        call: Call,
        while_erasing: bool = False,
    ) -> Committed[Result]:
        """Decide on what the store shows and commit it. `basis` is a look that the caller
        took already.

        while_erasing: `decide` looks for itself whether its work is still wanted, as only what is
        done to tasks does. Without it, nothing is committed while the user is erased, nor across
        the beginning of another epoch.
        `decide` may be called again when what it was shown has changed. Raises what `decide`
        raises, HeadMoved when others write faster than we decide until the deadline, QuotaExceeded
        when it adds memories that there is no room for, Unavailable when the store stays down,
        or the user's life ends.
        """
        queue = self._queues.setdefault(owner, asyncio.Lock())
        while True:
            try:
                async with queue, asyncio.timeout(self._deadline_s):
                    committed = await self._commit(
                        owner, decide, ids, nears, basis, call, while_erasing
                    )
                break
            except TimeoutError:
                raise HeadMoved(
                    "the commit did not get through in time; try again", retry_after_s=1
                ) from None
            except NotCounted:
                assert self.room is not None
                await self.room.count(owner)
                basis = None
        if self._gathered is not None and committed.fresh[1] > committed.fresh[0]:
            await self._gathered(owner, *committed.fresh, committed.settled_at)
        return committed

    async def _commit(
        self,
        owner: Owner,
        decide: Callable[[ReadSet], Changes[Result]],
        ids: Sequence[str],
        nears: Sequence[Near],
        basis: ReadSet | None,
        call: Call,
        while_erasing: bool,
        *,
        is_part: bool = False,
    ) -> Committed[Result]:
        commit_id = self._ids.new("cmt")
        look = basis or await self.look(owner, ids, nears)

        async def decided(before: Head | None) -> tuple[Changes[Result], Changes[Result]]:
            nonlocal look
            while True:
                try:
                    return await self._decided(
                        owner, decide, look, before, while_erasing, is_part=is_part
                    )
                except WithoutLog as slot:
                    empty = look.empty_slots | await self._make_logs(
                        owner, {slot.name, *_without_log(look, nears)}, call
                    )
                    look = replace(await self.look(owner, ids, nears), empty_slots=empty)

        bare, changes, head = *await decided(look.head), look.head
        in_the_way, postponing, refused = self._ahead_of(owner, head), False, 0
        while (
            changes.changes or changes.puts or changes.creates or changes.deletes or changes.marks
        ):
            if in_the_way is not None:
                refused += in_the_way.decide_again
                # A store in this process answers at once: should it stay refused, the deadline
                # needs the loop, and so do all others.
                await asyncio.sleep(random.uniform(0.0, 0.02) * refused)
                if in_the_way.decide_again or not await self._stand(
                    owner, changes, head, in_the_way.head
                ):
                    look = await self.look(owner, ids, nears)
                    bare, changes, head = *await decided(head), look.head
                    in_the_way, postponing = None, False
                    continue
                head, in_the_way = in_the_way.head, None
            if (surplus := surplus_endings(changes)) and (
                await self._end_ahead(owner, surplus, call)
            ):
                look = await self.look(owner, ids, nears)
                bare, changes, head = *await decided(head), look.head
                in_the_way, postponing = None, False
                continue
            epoch = self._ids.new("ep") if head is None else head.epoch
            now, known = self._clock.now(), look.documents
            assembled = assemble(
                head, changes, commit_id=commit_id, epoch=epoch, now=now, call=call, known=known
            )
            try:
                in_the_way = await self._send_within_room(
                    owner, assembled, changes.more_bytes, call, while_erasing
                )
            except TooLarge:
                changes = await self._with_less(owner, bare)
                if postponing or not unsettled(changes):
                    raise
                postponing = True
                continue
            if in_the_way is None:
                committed = self._done(owner, assembled, changes)
                await self._settle(owner, left_open(changes), call)
                return committed
        return Committed(changes.result)

    async def _decided(
        self,
        owner: Owner,
        decide: Callable[[ReadSet], Changes[Result]],
        look: ReadSet,
        before: Head | None,
        while_erasing: bool,
        *,
        is_part: bool,
    ) -> tuple[Changes[Result], Changes[Result]]:
        """What is decided on a look, with what follows in slots, and the same with what that does
        to open questions.
        """
        _check_life(before, look.head, while_erasing)
        sequence = 0 if look.head is None else look.head.sequence
        bare = await without_circles(self._store, owner, decide(look), look.documents, sequence)
        if self._completed is not None and not is_part:
            bare = await self._completed(self._store, owner, bare, look)
        return bare, await settled(self._store, owner, bare, self._clock.now())

    async def _make_logs(
        self, owner: Owner, names: Collection[tuple[str, ...]], call: Call
    ) -> frozenset[tuple[str, ...]]:
        """Commit the logs of slots that have none; the names of those that have no members."""
        wanted = Changes(None, without_log=frozenset(names))
        made = await self._commit(
            owner, lambda look: wanted, (), (), None, call, while_erasing=False
        )
        written = {document.id for document in made.changes.puts} if made.changes else set()
        return frozenset(name for name in names if slot_document_id(*name) not in written)

    async def _with_less(self, owner: Owner, bare: Changes[Result]) -> Changes[Result]:
        """What is decided, as it fits a commit: no question ends with it, or, where that alone is
        what it is for, one.
        """
        if all(change.event_type == SETTLED for change in bare.changes):
            return await settled(self._store, owner, bare, self._clock.now(), most=1)
        return followed(bare)

    async def _settle(self, owner: Owner, memory_ids: Sequence[str], call: Call) -> None:
        """End the questions about memories that stopped being active in a commit that had no
        room for it.

        A memory names its open questions until that is done, so the next writer of it does it,
        should this process die here.
        """
        for name in memory_ids:

            def ending(look: ReadSet, name: str = name) -> Changes[None]:
                memory = look.memory(name)
                changes = () if memory is None else (Change(SETTLED, memory, memory),)
                wanted = Changes(None, changes, reads=frozenset({name}))
                return wanted if left_open(wanted) else Changes(None)

            await self._commit(owner, ending, [name], (), None, call, while_erasing=False)

    async def _end_ahead(self, owner: Owner, endings: Sequence[Change], call: Call) -> list[Change]:
        """Commit, before the decision itself, that these past truths end earlier; what was changed.

        Should this process die after it, less holds than the decision wants, never more;
        deciding again finds them ended.
        """
        done = list[Change]()
        for start in range(0, len(endings), MAX_ENDED_AHEAD):
            part = endings[start : start + MAX_ENDED_AHEAD]
            names = [change.after.id for change in part]

            def ending(
                look: ReadSet, part: Sequence[Change] = part, names: Sequence[str] = names
            ) -> Changes[list[Change]]:
                changes = [
                    again
                    for change in part
                    if (again := ended_as(change, look.memory(change.after.id))) is not None
                ]
                return Changes(changes, tuple(changes), reads=frozenset(names))

            done += (
                await self._commit(
                    owner, ending, names, (), None, call, while_erasing=False, is_part=True
                )
            ).result
        return done

    async def _send_within_room(
        self, owner: Owner, assembled: Assembled, more: int, call: Call, while_erasing: bool
    ) -> _InTheWay | None:
        """As `_send`, once there is room for what the batch adds. Raises QuotaExceeded, NotCounted.

        What a run derives is let in: stopped by a limit, it would not come to what makes room.
        """
        room, grown, before = self.room, assembled.grown, assembled.batch.expected
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
        """None once the batch is in; what is in its way otherwise. Resends after every
        unclear answer.
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

    def _done(
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

    def _ahead_of(self, owner: Owner, head: Head | None) -> _InTheWay | None:
        """The head of this process's last commit, when it is ahead of the one that was read
        before queueing.
        """
        known = self._recent.head(owner)
        if known is None or head is None:
            return None
        if known.epoch != head.epoch:
            self._recent.forget(owner)  # what an erased user did must not be remembered
            return None
        return _InTheWay(known, decide_again=False) if known.sequence > head.sequence else None

    async def _stand(
        self, owner: Owner, changes: Changes[Any], head: Head | None, newer: Head
    ) -> bool:
        """Whether a decision is still right on a newer head: one of the same life, whose events
        since touch nothing that it looked at.

        Marks are told by no event: a memory written as it was read before would lose those that
        it got since.
        """
        if (
            any(change.before is not None for change in changes.changes)
            and head is not None
            and head.marks != newer.marks
        ):
            return False
        return not _begun_anew(head, newer) and changes.stand(
            await self._events_between(owner, head, newer)
        )

    async def _events_between(self, owner: Owner, head: Head | None, newer: Head) -> list[Event]:
        """Events after `head` up to `newer`: from this process's memory where it has them all,
        else from the store.
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


def _begun_anew(head: Head | None, newer: Head | None) -> bool:
    """Whether the user was erased, or imported, between the two. What was decided before that must
    not be written after it.
    """
    if newer is None or head is None:
        return newer is not None and newer.expires_at is not None
    return head.epoch != newer.epoch


def _check_life(before: Head | None, now: Head | None, while_erasing: bool) -> None:
    """Raise Unavailable where this user's life is over, or another one has begun since `before`."""
    if while_erasing:
        return
    if now is not None and now.state == "erasing":
        raise Unavailable("long_term", "this user is being erased", retry_after_s=30)
    if _begun_anew(before, now):
        raise Unavailable(
            "long_term",
            "this user was erased or imported during the call; ask again",
            retry_after_s=1,
        )


def _without_log(look: ReadSet, nears: Sequence[Near]) -> Iterator[tuple[str, ...]]:
    """The names of slots that were looked at and have no log."""
    names = (("slot", *near.slot) for near in nears if near.slot is not None)
    return (name for name in names if slot_document_id(*name) not in look.documents)
