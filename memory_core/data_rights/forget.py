"""Forget the memories that a filter fits, softly or for good.

A soft deletion can be undone.

Note: the extent is settled by the request, up to the end of the log at that time. A memory that is
saved later stays, even if the filter fits it. Only the memories of a soft deletion are searched
later, by the task, since there may be many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from memory_core.data_rights.forget_selection import (
    SelectedMemory,
    Selection,
    WrittenSince,
    cleared,
    named_facts,
    not_found,
    page,
    plan_of,
    reads_of,
    unknown_ids,
    whole_session,
)
from memory_core.data_rights.hard_forget import HardForgetter
from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import Memory
from memory_core.domain.messages import is_message
from memory_core.domain.requests.maintenance import ForgetInput
from memory_core.domain.results import Accepted, Call, Foreseen, ForeseenMemories
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import delete
from memory_core.evolution.clear_session import buffer_task
from memory_core.evolution.deletion import NoteUnmerger, changes_along, count_along, gone_along
from memory_core.ledger.archive_files import OwnerHashes
from memory_core.ledger.changes import Change, Changes, Portion, size_of
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.instructions import instructions_of
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.readable import readable_shown
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, LongTermStore, Mark, Place
from memory_core.tasks.leases import Lease
from memory_core.tasks.operation_records import Chunk, Operation
from memory_core.tasks.operations import Operations

PAGE = 45
ROUNDS = 20
"""How often a session's content is read again because of other commits in between."""
CAP_FOR_GOOD = 1_000
"""The most requested memories of a hard delete.

With the memories that were made of them, an operation stores the ids of all, some 150 KB.
"""


class Forgetter:
    """Forgets memories of any owner, at most `cap` in a task."""

    def __init__(
        self,
        store: LongTermStore,
        operations: Operations,
        for_good: HardForgetter,
        unmerger: NoteUnmerger,
        names: OwnerHashes,
        clock: Clock,
        cap: int,
    ) -> None:
        self._unmerger, self._names = unmerger, names
        self._store, self._operations, self._for_good, self._clock, self._cap = (
            store,
            operations,
            for_good,
            clock,
            cap,
        )

    async def begin(self, owner: Owner, request: ForgetInput, call: Call) -> Accepted:
        """Store the work as a task, with its plan frozen.

        Args:
            owner: Whose memories are forgotten.
            request: The filter and the mode.
            call: The call that asked for it.

        Raises:
            Conflict: The idempotency key was used for another request.
            Unavailable: A store is down, or other callers write without a pause.

        """
        session = whole_session(request)
        if session is not None:
            return await self._begin_of_session(owner, request, session, call)
        plan = await self._plan(owner, request)
        if request.mode == "hard":
            hard_plan = await self._for_good.plan(owner, Selection.of(plan))
            plan = {**hard_plan, **not_found(plan)}
        return await self._operations.begin(owner, "forget", plan, call)

    async def _begin_of_session(
        self, owner: Owner, request: ForgetInput, session: str, call: Call
    ) -> Accepted:
        """Begin to forget a whole session, with its messages that are not formed yet.

        The plan is made again after other commits in between.
        """
        seal_key = b""
        for _ in range(ROUNDS):
            plan = await self._plan(owner, request)
            chosen = Selection.of(plan)
            if request.mode == "hard":
                plan = await self._for_good.plan(owner, chosen)
                plan |= {} if chosen.types else {"whole": session}
                seal_key = await self._names.session_key(owner, session)

            def beside(
                read_set: ReadSet, until: int = chosen.until, seal_key: bytes = seal_key
            ) -> Changes[Any]:
                return cleared(owner, session, request, read_set, until, read_set.now, seal_key)

            try:
                return await self._operations.begin(
                    owner,
                    "forget",
                    plan,
                    call,
                    reads=reads_of(owner, session),
                    beside=beside,
                    further=partial(buffer_task, owner, session),
                )
            except WrittenSince:
                continue
        raise Unavailable(
            "long_term",
            "others write to this user's memories all the time; try again",
            retry_after_s=5,
        )

    async def dry_run(self, owner: Owner, request: ForgetInput) -> Foreseen:
        """Count the memories that a task would forget now.

        For a hard delete, the memories are counted as well that would be deleted along.

        Args:
            owner: Whose memories they are.
            request: The filter and the mode.

        """
        plan = await self._plan(owner, request)
        chosen, unknown = Selection.of(plan), tuple(plan.get("not_found", ()))
        if chosen.mode == "hard":
            return replace(await self._for_good.dry_run(owner, chosen), not_found=unknown)
        forgotten, after = 0, None
        while candidates := await page(self._store, owner, chosen, after, PAGE):
            documents = await self._store.memories(
                owner, [candidate.place.id for candidate in candidates]
            )
            forgotten += sum(chosen.takes(document.memory) for document in documents.values())
            if forgotten > chosen.cap:
                return Foreseen({"forgotten": chosen.cap}, capped=True, not_found=unknown)
            after = candidates[-1].place
        return Foreseen({"forgotten": forgotten}, capped=False, not_found=unknown)

    async def dry_run_memories(
        self, owner: Owner, request: ForgetInput, limit: int
    ) -> ForeseenMemories:
        """Return the first memories that a task would forget now.

        Memories that were made of them are left out.

        Args:
            owner: Whose memories they are.
            request: The filter and the mode.
            limit: The most memories.

        """
        chosen = Selection.of(await self._plan(owner, request))
        fitting, after = list[Memory](), None
        while candidates := await page(self._store, owner, chosen, after, PAGE):
            ids = [candidate.place.id for candidate in candidates]
            readable_memories, _ = readable_shown(await self._store.memories(owner, ids))
            fitting += [
                memory
                for name in ids
                if (memory := readable_memories.get(name)) is not None and chosen.takes(memory)
            ]
            if len(fitting) > limit:
                return ForeseenMemories(tuple(fitting[:limit]), chosen.until)
            after = candidates[-1].place
        return ForeseenMemories(tuple(fitting), None)

    async def work(self, lease: Lease) -> None:
        """Forget, in several commits.

        Raises Unavailable, TaskLost.
        """
        operation = await self._operations.of(lease)
        if operation.plan["mode"] == "hard":
            await self._for_good.work(lease, operation)
            return
        while operation.state == "pending":
            operation = await self._chunk(lease, operation)
            if operation.state == "pending":
                await lease.report(
                    "forget", lease.task.progress, result={"counts": operation.counts}
                )

    async def _plan(self, owner: Owner, request: ForgetInput) -> dict[str, Any]:
        head = (await self._store.snapshot(owner)).head
        cap = min(self._cap, CAP_FOR_GOOD) if request.mode == "hard" else self._cap
        plan = plan_of(request, 0 if head is None else head.sequence, cap)
        plan |= not_found({"not_found": await unknown_ids(self._store, owner, request)})
        if plan.get("ids"):
            plan["ids"] = await named_facts(self._store, owner, plan["ids"])
        if messages := {name for name in plan.get("ids") or () if is_message(name)}:
            instructions = await instructions_of(self._store, owner, messages)
            plan["ids"] = list(
                dict.fromkeys([*plan["ids"], *(instruction.id for instruction in instructions)])
            )
        return plan

    async def _chunk(self, lease: Lease, operation: Operation) -> Operation:
        chosen = Selection.of(operation.plan)
        after = None if operation.cursor is None else Place(*operation.cursor)
        candidates = await page(self._store, lease.owner, chosen, after, PAGE)
        more, count, candidates = (
            len(candidates) == PAGE,
            len(candidates),
            _with_few_messages(candidates),
        )
        memories, _ = readable_shown(
            await self._store.memories(
                lease.owner,
                [
                    candidate.place.id
                    for candidate in candidates
                    if not is_message(candidate.place.id)
                ],
            )
        )
        notes = [
            memory
            for memory in memories.values()
            if memory.category == "note" and chosen.takes(memory)
        ]
        await self._unmerger.unmerge_sources(
            lease.owner, notes, operation.call, session_id=chosen.session_id
        )
        sessions = {
            candidate.session_id: session_document_id(lease.owner, candidate.session_id)
            for candidate in candidates
            if candidate.session_id
        }

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            return self._decided(
                lease.owner,
                read_set,
                stored,
                chosen,
                candidates,
                more=more or len(candidates) < count,
            )

        ids = [
            *(
                name
                for candidate in candidates
                for name in (candidate.place.id, *candidate.messages)
            ),
            *sessions.values(),
        ]
        return await self._operations.advance(lease, operation, ids, decide)

    def _decided(
        self,
        owner: Owner,
        read_set: ReadSet,
        operation: Operation,
        chosen: Selection,
        candidates: list[SelectedMemory],
        *,
        more: bool,
    ) -> Chunk:
        deletion, passed = _SoftDeletion(owner, read_set, chosen, self._clock.now()), 0
        left = chosen.cap - operation.counts.get("forgotten", 0)
        for candidate in candidates:
            memory = read_set.memory(candidate.place.id)
            if (
                memory is not None
                and memory.id not in deletion.changed
                and chosen.takes(memory)
                and (deletion.asked >= left or not deletion.add(memory, candidate.messages))
            ):
                break
            passed += 1
        capped = passed < len(candidates) and deletion.asked >= left
        place, along = candidates[passed - 1].place if passed else None, deletion.along
        return Chunk(
            tuple(deletion.changes),
            puts=tuple(session.document for session in deletion.sessions.values()),
            cursor=operation.cursor if place is None else [place.sequence, place.id],
            counts={"forgotten": deletion.asked, **({"messages": along} if along else {})},
            sessions=frozenset(deletion.sessions),
            done=capped or (passed == len(candidates) and not more),
            result={"mode": "soft", "capped": capped, **not_found(operation.plan)},
            marks=deletion.marks,
        )


@dataclass(slots=True)
class _SoftDeletion:
    """The soft deletions of a chunk, as far as a commit holds them.

    Attributes:
        owner: Whose memories they are.
        read_set: The read set.
        chosen: Which memories are forgotten.
        now: The present time.
        asked: How many chosen memories are deleted.
        along: How many messages go along with them.
        changes: In order.
        changed: Ids of deleted memories.
        sessions: Sessions with other counts, by name.
        marks: Messages that leave their cell.
        portion: How much of a commit is used.

    """

    owner: Owner
    read_set: ReadSet
    chosen: Selection
    now: datetime
    asked: int = 0
    along: int = 0
    changes: list[Change] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)
    sessions: dict[str, Session] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)
    portion: Portion = field(default_factory=Portion)

    def add(self, memory: Memory, messages: Sequence[str]) -> bool:
        """Delete a memory with those of its messages that go along.

        Args:
            memory: A chosen memory.
            messages: Ids of all its messages.

        Returns:
            False if only its first messages fit; the others and the memory itself come next.

        """
        along_too = self.chosen.messages_along(messages)
        leaving = _leaving(self.read_set, memory, set(messages) - {*along_too})
        fresh = [name for name in along_too if name not in self.changed]
        gone = [
            *changes_along(self.read_set, fresh, memory, gone_along, self.now),
            Change("forgotten", _soft_delete(memory, self.now), memory),
        ]
        session = memory.session_id
        beside_documents = len(leaving) + (session is not None and session not in self.sessions)
        fits = _first_that_fit(self.portion, gone, beside_documents)
        self.changes += fits
        self.changed |= {change.after.id for change in fits}
        beside = _messages_with(self.chosen, fits, memory)
        self.asked, self.along = self.asked + beside["forgotten"], self.along + beside["messages"]
        if session is not None and fits:
            self._count(session, fits)
        if len(fits) < len(gone):
            return False
        self.marks |= {name: Mark(leaves_cell=True) for name in leaving}
        self.asked += 1
        return True

    def _count(self, name: str, changes: Sequence[Change]) -> None:
        """Count changes in the session that they are in."""
        if name not in self.sessions:
            document = self.read_set.documents.get(session_document_id(self.owner, name))
            self.sessions[name] = Session(self.owner, name, document)
        count_along(self.sessions[name], changes, self.now)


def _leaving(read_set: ReadSet, cell: Memory, messages: Collection[str]) -> list[str]:
    """The messages that stay when their cell is deleted, as independent messages."""
    return [
        name
        for name in sorted(messages)
        if (message := read_set.memory(name)) is not None and message.cell_id == cell.id
    ]


def _soft_delete(memory: Memory, now: datetime) -> Memory:
    return delete(memory, "forgotten", now)


def _messages_with(chosen: Selection, changes: Sequence[Change], memory: Memory) -> Counter[str]:
    """Count the messages that are deleted with a memory.

    Messages that the filter fits, too, are counted separately from the rest.
    """
    return Counter(
        "forgotten" if chosen.fits(change.before) else "messages"
        for change in changes
        if change.before is not None and change.before.id != memory.id
    )


def _with_few_messages(candidates: list[SelectedMemory]) -> list[SelectedMemory]:
    """Return the first candidates, as few as have more messages than a commit holds."""
    count = 0
    for number, candidate in enumerate(candidates, start=1):
        count += len(candidate.messages)
        if count > PAGE:
            return candidates[:number]
    return candidates


def _first_that_fit(portion: Portion, changes: Sequence[Change], beside: int) -> list[Change]:
    """Return the first changes that fit into a commit.

    The first of them has `beside` further documents.
    """
    for number, change in enumerate(changes):
        if not portion.takes(2 + (0 if number else beside), size_of(change.after)):
            return list(changes[:number])
    return list(changes)
