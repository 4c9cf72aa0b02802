"""Delete memories for good, with derived memories, all mentions, and the log's events.

The work has steps, each in several commits. The memories are removed first, so that none is found
any more and no memory is made of them. Then come, in a pass each, the documents that mention them,
the log, and the texts that they came from.

Note: a worker decides by the documents within the commit, never by an earlier read. Memories are
merged, edited and reinforced meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory_core.data_rights.forget_plan import ForgetProgress, Role, counted
from memory_core.data_rights.forget_selection import Selection, not_found, page
from memory_core.data_rights.redaction_passes import RedactionPasses
from memory_core.domain.errors import Unavailable
from memory_core.domain.event_log import version_id
from memory_core.domain.memory import Memory, Status
from memory_core.domain.messages import is_message
from memory_core.domain.results import Foreseen
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import SlotName
from memory_core.evolution.reads import earlier_times, earlier_times_in, slots_of
from memory_core.evolution.slot_log import documents_of
from memory_core.ledger.archive_files import OwnerHashes, TransferFiles
from memory_core.ledger.changes import Change, Portion, size_of
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.readable import as_memory, readable, readable_shown
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, LongTermStore, Place, ShortTermStore, Stamp
from memory_core.tasks.leases import Lease
from memory_core.tasks.operation_records import Chunk, Operation
from memory_core.tasks.operations import Operations

FOUND_AT_ONCE = 200
LOOKED_AT = 30
SCRUBS = 5
PAGE = 100
EVER = 2**53
"""A sequence that no log reaches.

A dry run asks which memories would be deleted now, whenever they began.
"""


@dataclass(frozen=True, slots=True)
class _Looked:
    """The next memories to look at, and the documents that were requested with them.

    Attributes:
        names: The ids of the memories, with the reason of each.
        sessions: The keys of the histories of their sessions.
        versions: The ids of their old versions.
        tellers: The ids of the cells that state facts.
        slots: The slots whose logs were requested.

    """

    names: Sequence[tuple[str, Role]]
    sessions: Mapping[str, bytes]
    versions: frozenset[str]
    tellers: frozenset[str]
    slots: frozenset[SlotName]

    def suffices_for(self, memory: Memory) -> bool:
        """Whether all documents were requested that the removal of a memory needs."""
        session = memory.session_id is None or memory.session_id in self.sessions
        return (
            session
            and self.slots.issuperset(slots_of([memory]))
            and self.versions.issuperset(_version_ids(memory))
            and self.tellers.issuperset(_cell_ids_of(memory))
        )


@dataclass(slots=True)
class _Removal:
    """The removals of a single commit, in the order of the memories to look at.

    Attributes:
        changes: The changes of removed memories, and of facts that other cells still tell.
        sessions: By session, its document, with less content.
        going: The removed memories.
        staying: Requested memories that stay because another cell asserts them.
        left: Messages that stay.
        facts: The ids of memories of which an earlier interval was requested, with the reason.
        seen: The ids of the changed memories.
        has_messages: Whether messages beside a forgotten fact were looked at.

    """

    owner: Owner
    read_set: ReadSet
    progress: ForgetProgress
    looked: _Looked
    now: datetime
    portion: Portion = field(default_factory=Portion)
    changes: list[Change] = field(default_factory=list)
    sessions: dict[str, Session] = field(default_factory=dict)
    going: list[tuple[Memory, Role]] = field(default_factory=list)
    staying: list[Memory] = field(default_factory=list)
    left: list[Memory] = field(default_factory=list)
    facts: list[tuple[str, Role]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    has_messages: bool = False

    def chunk(self) -> Chunk:
        """Return the commit: as many memories as it holds, and where to go on."""
        passed = 0
        while passed < len(self.looked.names) and self._takes(*self.looked.names[passed]):
            passed += 1
        asked = sum(role == "asked" for _, role in self.going)
        along: dict[str, int] = {}
        for memory, role in self.going:
            along = along if role == "asked" else counted(along, memory)
        return Chunk(
            tuple(self.changes),
            puts=tuple(session.document for session in self.sessions.values()),
            cursor=self._further(passed).document,
            counts={"forgotten": asked, "derived": len(self.going) - asked, **along},
            sessions=frozenset(self.sessions),
        )

    def _takes(self, name: str, role: Role) -> bool:
        """Whether the next memory has been handled; if not, another read begins with it."""
        memory = None if name in self.seen else self.read_set.memory(name)
        if memory is None:
            return True
        if self.looked.suffices_for(memory) and (fact := self._times(memory).get(name)):
            self.facts.append((fact, role))
            return True
        goes = self.progress.must_be_deleted(memory, role)
        if role == "beside":
            if is_message(name):
                self.has_messages = True
                self.left += [] if goes else [memory]
            elif self.has_messages:
                return False  # the next read says which of them stay
        if goes:
            return self._removes(memory, role)
        return role != "beside" or memory.category != "fact" or self._keeps_fact(memory)

    def _keeps_fact(self, fact: Memory) -> bool:
        """Whether a fact has been kept for the remaining messages that state it."""
        change = _kept_by_messages(fact, self.progress, self.now)
        if change is None:
            return True
        if not self.portion.takes(2, size_of(change.after)):
            return False
        self.changes.append(change)
        self.seen.add(fact.id)
        return True

    def _removes(self, memory: Memory, role: Role) -> bool:
        """Whether a memory has been removed, or given to another cell that states it."""
        if not self.looked.suffices_for(memory):
            # it was written after the read; the next read includes them
            return False
        teller = self.progress.remaining_cell(memory, role, _cells(self.read_set, memory))
        change = (
            Change("forgotten", memory, memory, removed=True)
            if teller is None
            else _moved_to_cell(teller, memory, self.now)
        )
        states = (memory, change.after)
        fresh = {
            state.session_id for state in states if state.session_id is not None
        } - self.sessions.keys()
        if not self.portion.takes(2 + len(fresh), size_of(memory)):
            return False
        for session in fresh:
            document = self.read_set.documents.get(session_document_id(self.owner, session))
            self.sessions[session] = Session(self.owner, session, document)
        if memory.session_id is not None:
            key = self.looked.sessions[memory.session_id]
            self.sessions[memory.session_id].drop(memory, self.now, key)
        if teller is not None and change.after.session_id is not None:
            deleted = memory.changed(status=Status.DELETED)
            self.sessions[change.after.session_id].count(deleted, change.after, self.now)
        self.changes.append(change)
        if teller is None:
            self.going.append((memory, role))
        elif role == "asked":
            self.staying.append(memory)
        self.seen.add(memory.id)
        return True

    def _times(self, memory: Memory) -> Mapping[str, str]:
        """Return the earlier intervals in a memory's slot, each with its memory."""
        return earlier_times_in(slots_of([memory]), self.read_set)

    def _further(self, passed: int) -> ForgetProgress:
        """Return the progress after this commit, which has handled the first `passed` memories."""
        head = self.read_set.head
        by = (head.sequence if head is not None else 0) + len(self.changes)
        further = self.progress.changed(todo=self.progress.todo[passed:])
        for memory in self.staying:
            further = further.with_kept_fact(memory)
        for fact, role in self.facts:
            further = further.with_requested([fact], role)
        for memory, role in self.going:
            further = further.without(memory, role, by, _versions(self.read_set, memory))
            further = further.with_requested(_times_of(memory, self._times(memory)), "made")
        for memory in self.left:
            further = further.with_remaining_message(memory)
        further = further if further.todo else further.with_doubtful_messages()
        if further.todo:
            return further
        return further.at(
            "memories" if further.gone else "last" if further.whole is None else "messages"
        )


class HardForgetter:
    """Deletes memories of any owner for good."""

    def __init__(
        self,
        store: LongTermStore,
        short_term: ShortTermStore,
        parts: TransferFiles,
        operations: Operations,
        sweeping: RedactionPasses,
        names: OwnerHashes,
        clock: Clock,
    ) -> None:
        self._store, self._short_term, self._parts, self._operations = (
            store,
            short_term,
            parts,
            operations,
        )
        self._sweeping, self._names, self._clock = sweeping, names, clock

    async def work(self, lease: Lease, operation: Operation) -> None:
        """Go on from the operation's progress.

        Args:
            lease: The worker's lease of the task.
            operation: The operation.

        Raises:
            Unavailable: A tier can't be reached.
            TaskLost: The task has ended otherwise.

        """
        while operation.state == "pending":
            progress = ForgetProgress.model_validate(operation.cursor or {})
            if progress.step == "begin":
                operation = await self._begin(lease, operation)
            elif progress.step == "remove":
                operation = await self._remove(lease, operation, progress)
            elif progress.step == "last":
                operation = await self._finish(lease, operation, progress)
            else:
                operation = await self._sweeping.sweep(lease, operation, progress)
            if operation.state == "pending":
                await lease.report(
                    f"forget: {progress.step}",
                    lease.task.progress,
                    result={"counts": operation.counts},
                )

    async def plan(self, owner: Owner, chosen: Selection) -> dict[str, Any]:
        """Return the plan with the ids of the memories that the filter fits.

        Later edits can't take a memory out of the plan, and the plan keeps no word of it.

        Args:
            owner: Whose memories they are.
            chosen: The filter.

        """
        ids, capped = await self._found(owner, chosen)
        named = {} if chosen.session_id is None else {"session": chosen.session_id}
        return {"mode": "hard", "ids": ids, "capped": capped, **named}

    async def dry_run(self, owner: Owner, chosen: Selection) -> Foreseen:
        """Count the memories that would be deleted, and the memories that would be deleted along.

        Args:
            owner: Whose memories they are.
            chosen: The filter.

        """
        ids, capped = await self._found(owner, chosen)
        progress = ForgetProgress(capped=capped, session=chosen.session_id).with_requested(
            ids, "asked"
        )
        staying = set[str]()
        while progress.todo:
            progress = await self._looked_at(owner, progress, staying)
            if not progress.todo:
                progress = await self._made_of_it(owner, progress, staying)
        forgotten = len(progress.gone.keys() & {*ids})
        counts = {
            "forgotten": forgotten,
            "derived": len(progress.gone) - forgotten,
            **progress.along,
        }
        return Foreseen(counts, capped)

    async def _found(self, owner: Owner, chosen: Selection) -> tuple[list[str], bool]:
        ids, after = list[str](), None
        while places := await page(self._store, owner, chosen, after, FOUND_AT_ONCE):
            ids, after = [*ids, *(candidate.place.id for candidate in places)], places[-1].place
            if len(ids) > chosen.cap:
                return ids[: chosen.cap], True
        return ids, False

    async def _begin(self, lease: Lease, operation: Operation) -> Operation:
        plan = operation.plan
        scope = {name: plan.get(name) for name in ("session", "whole")}
        progress = ForgetProgress(step="remove", capped=plan["capped"], **scope).with_requested(
            plan["ids"], "asked"
        )
        chunk = Chunk(
            cursor=progress.document,
            counts={"forgotten": 0, "derived": 0, "struck": 0},
            plan={"mode": "hard", **not_found(plan)},
        )
        return await self._operations.advance(lease, operation, [], lambda read_set, stored: chunk)

    async def _looked_at(
        self, owner: Owner, progress: ForgetProgress, staying: set[str]
    ) -> ForgetProgress:
        """Return the progress after a look at the next memories.

        The ids of memories that another cell keeps are added to `staying`.
        """
        names, left = progress.todo[:PAGE], progress.todo[PAGE:]
        memories, _ = readable_shown(await self._store.memories(owner, [name for name, _ in names]))
        progress = progress.changed(todo=left)
        old, _ = readable_shown(
            await self._store.memories(
                owner, [name for memory in memories.values() for name in _version_ids(memory)]
            )
        )
        times = await earlier_times(self._store, owner, memories.values())
        told_by = {name for memory in memories.values() for name in _cell_ids_of(memory)}
        cells, _ = readable_shown(await self._store.memories(owner, sorted(told_by)))
        for name, role in names:
            if name in progress.gone:
                continue
            if name in times and times[name] not in progress.gone:
                progress = progress.with_requested([times[name]], role)
                continue
            if name in memories and progress.must_be_deleted(memory := memories[name], role):
                if progress.remaining_cell(memory, role, cells.values()) is not None:
                    staying.add(name)
                    progress = progress.with_kept_fact(memory) if role == "asked" else progress
                    continue
                progress = progress.without(
                    memory,
                    role,
                    EVER,
                    [old[version] for version in _version_ids(memory) if version in old],
                ).with_requested(_times_of(memory, times), "made")
            elif name in memories and role == "beside":
                progress = progress.with_remaining_message(memories[name])
        return progress if progress.todo else progress.with_doubtful_messages()

    async def _made_of_it(
        self, owner: Owner, progress: ForgetProgress, staying: Collection[str]
    ) -> ForgetProgress:
        after: Place | None = None
        made: list[str] = []
        while documents := await self._store.page(
            owner, "memory", None, after, PAGE, newest_first=False
        ):
            memories, _ = readable(documents)
            made += [
                memory.id
                for memory in memories
                if memory.id not in progress.gone
                and memory.id not in staying
                and progress.is_derived_from_removed(memory)
            ]
            after = Place(documents[-1].body["sequence"], documents[-1].id)
        return progress.with_requested(made, "made")

    async def _remove(
        self, lease: Lease, operation: Operation, progress: ForgetProgress
    ) -> Operation:
        names = progress.todo[:LOOKED_AT]
        memories, damaged = readable_shown(
            await self._store.memories(lease.owner, [name for name, _ in names])
        )
        tellers = frozenset(name for memory in memories.values() for name in _cell_ids_of(memory))
        cells, _ = readable_shown(await self._store.memories(lease.owner, sorted(tellers)))
        concerned = (*memories.values(), *cells.values())
        sessions = {
            memory.session_id: await self._names.session_key(lease.owner, memory.session_id)
            for memory in concerned
            if memory.session_id is not None
        }
        versions = frozenset(name for memory in memories.values() for name in _version_ids(memory))
        old, _ = readable_shown(await self._store.memories(lease.owner, sorted(versions)))
        looked = _Looked(
            [(name, role) for name, role in names if name not in damaged],
            sessions,
            versions,
            tellers,
            slots_of(memories.values()),
        )
        progress = progress.with_unreadable(damaged)
        progress = progress.changed(todo=[*looked.names, *progress.todo[LOOKED_AT:]])

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            removal = _Removal(lease.owner, read_set, progress, looked, self._clock.now())
            return removal.chunk()

        ids = [
            *(name for name, _ in looked.names),
            *(session_document_id(lease.owner, session) for session in sessions),
            *sorted(old),
            *sorted(tellers),
            *(each for slot in looked.slots for each in documents_of(slot)),
        ]
        return await self._operations.advance(lease, operation, ids, decide)

    async def _finish(
        self, lease: Lease, operation: Operation, progress: ForgetProgress
    ) -> Operation:
        """Clean the short-term store and the files, and end the task.

        Both must be clean before the task ends.
        """
        await self._empty_short_term(lease.owner, progress)
        if progress.gone:
            # finished exports contain it too
            await self._parts.remove_all(lease.owner)
        for attempt in range(SCRUBS):
            if await self._store.scrub():
                break
            if attempt == SCRUBS - 1:
                raise Unavailable(
                    "long_term",
                    "what was forgotten is in a file that somebody still reads",
                    retry_after_s=5,
                )
        named = {"damaged": progress.damaged} if progress.damaged else {}
        named |= not_found(operation.plan)
        chunk = Chunk(
            cursor=None, done=True, result={"mode": "hard", "capped": progress.capped, **named}
        )
        return await self._operations.advance(lease, operation, [], lambda read_set, stored: chunk)

    async def _empty_short_term(self, owner: Owner, progress: ForgetProgress) -> None:
        head = (await self._store.snapshot(owner)).head
        if head is None or not progress.sessions:
            return
        stamp = Stamp(head.epoch, head.sequence, head.last_removal_sequence)
        await self._short_term.drop(
            owner, progress.sessions, list(progress.gone), stamp, head.last_removal_sequence
        )
        if self._short_term.degraded:
            raise Unavailable("short_term", "can't be emptied while it is down", retry_after_s=30)


def _moved_to_cell(cell: Memory, fact: Memory, now: datetime) -> Change:
    """Return a fact as it belongs to another cell that states it.

    It gets the session and the conversation of that cell.
    """
    given = fact.changed(
        session_id=cell.session_id,
        conversation_id=cell.conversation_id,
        agent_id=cell.agent_id,
        cell_id=cell.id,
        updated_at=now,
    )
    return Change("redacted", given, fact)


def _kept_by_messages(fact: Memory, progress: ForgetProgress, now: datetime) -> Change | None:
    """Return a fact that stays without its cell, with the messages that state it.

    None if no such message is left.
    """
    sources = list(dict.fromkeys([*fact.source_ids, *progress.remaining_messages(fact)]))
    return (
        None
        if sources == fact.source_ids
        else Change("redacted", fact.changed(source_ids=sources, updated_at=now), fact)
    )


def _cell_ids_of(memory: Memory) -> Sequence[str]:
    """Return the cells that state a fact; empty for other memories."""
    return memory.source_ids if memory.category == "fact" else ()


def _cells(read_set: ReadSet, fact: Memory) -> list[Memory]:
    """Return the stored cells that state a fact."""
    return [cell for name in _cell_ids_of(fact) if (cell := read_set.memory(name)) is not None]


def _times_of(memory: Memory, times: Mapping[str, str]) -> list[str]:
    return [name for name, fact in times.items() if fact == memory.id]


def _version_ids(memory: Memory) -> list[str]:
    return [version_id(memory.id, number) for number in range(1, memory.version)]


def _versions(read_set: ReadSet, memory: Memory) -> list[Memory]:
    """Return the stored old versions of a memory."""
    documents = (read_set.documents.get(name) for name in _version_ids(memory))
    return [
        version
        for document in documents
        if document is not None and (version := as_memory(document, read_set.head)) is not None
    ]
