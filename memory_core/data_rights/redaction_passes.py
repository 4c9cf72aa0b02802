"""The passes of a hard delete: over mentions, over the log, and over source texts.

Note: a memory that mentions a forgotten memory stays, and so does its history. Both are redacted by
the same rule (`domain.forgetting`): the memory by an event that says no more than that, the events
in place. So the log still tells the stored memories.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from memory_core.data_rights.forget_plan import ForgetProgress, Step
from memory_core.data_rights.redact_documents import ConversationRedaction, DerivedRedaction
from memory_core.domain.archival import ArchivedStates, ColdCopy
from memory_core.domain.conflict import record_in
from memory_core.domain.errors import Damaged, NotFound
from memory_core.domain.event_log import base_id
from memory_core.domain.forgetting import redacted, struck_event, struck_memory
from memory_core.domain.memory import Event, Memory, Status
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import mark_conflict, reactivate, touch
from memory_core.ledger.archive_files import ColdCopies
from memory_core.ledger.changes import Change, Portion, size_of, size_of_bodies
from memory_core.ledger.history import Snapshots, redacting
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.readable import as_memory, readable, readable_shown
from memory_core.ports import Clock, Document, Kind, LongTermStore, Place
from memory_core.tasks.leases import Lease
from memory_core.tasks.operation_records import Chunk, Operation
from memory_core.tasks.operations import Operations
from memory_core.tasks.store import task_in

PAGE = 100
WRITTEN_AT_ONCE = 40
EVENTS_A_PAGE = 200
DELETED_AT_ONCE = 80
_PASSES: Final[tuple[Step, ...]] = (
    "memories",
    "version",
    "log",
    "conflict",
    "scene",
    "profile",
    "messages",
    "step",
    "copies",
    "last",
)


class RedactionPasses:
    """Does the passes for any owner."""

    def __init__(
        self,
        store: LongTermStore,
        operations: Operations,
        snapshots: Snapshots,
        copies: ColdCopies,
        clock: Clock,
    ) -> None:
        self._store, self._operations, self._snapshots = store, operations, snapshots
        self._copies, self._clock = copies, clock
        self._derived, self._tellings = (
            DerivedRedaction(store, operations),
            ConversationRedaction(store, operations, clock),
        )

    async def sweep(
        self, lease: Lease, operation: Operation, progress: ForgetProgress
    ) -> Operation:
        """Make the next commit of the pass that the operation is in.

        Args:
            lease: The worker's lease of the task.
            operation: The operation.
            progress: Its progress.

        Raises:
            Unavailable: A store is down.
            TaskLost: The task has ended otherwise.

        """
        match progress.step:
            case "memories" | "version":
                return await self._mentions(lease, operation, progress)
            case "log":
                return await self._log(lease, operation, progress)
            case "scene":
                return await self._derived.scenes(lease, operation, progress, _next_pass(progress))
            case "profile":
                return await self._derived.profile(lease, operation, progress, _next_pass(progress))
            case "messages":
                return await self._tellings.messages(
                    lease, operation, progress, _next_pass(progress)
                )
            case "copies":
                return await self._cold(lease, operation, progress)
            case _:
                return await self._texts(lease, operation, progress)

    async def _mentions(
        self, lease: Lease, operation: Operation, progress: ForgetProgress
    ) -> Operation:
        """Read on until a memory mentions the forgotten memories, and redact it.

        A memory that was made of them is put on the list of memories to remove.
        """
        kind: Kind = "memory" if progress.step == "memories" else "version"
        after, names, clean = progress.place, list[str](), progress
        unread = list[str]()
        while not names and not unread:
            clean = clean.at(progress.step, after)
            place = None if after is None else Place(*after)
            documents = await self._store.page(
                lease.owner, kind, None, place, PAGE, newest_first=False
            )
            if not documents:
                break
            memories, damaged = readable(documents)
            names = [memory.id for memory in memories if _concerns(progress, kind, memory)]
            unread = [
                document.id
                for document in damaged
                if kind == "version"
                and progress.is_removed(base_id(document.id), document.body["sequence"])
            ]
            clean = clean.with_unreadable(
                [document.id for document in damaged if document.id not in unread]
            )
            after = documents[-1].body["sequence"], documents[-1].id

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            if unread:
                return Chunk(
                    cursor=clean.document,
                    deletes=tuple(Document(name, kind, {}) for name in unread[:DELETED_AT_ONCE]),
                )
            return self._struck(read_set, clean, kind, names)

        return await self._operations.advance(
            lease, operation, [] if unread else names[:WRITTEN_AT_ONCE], decide
        )

    def _struck(
        self, read_set: ReadSet, progress: ForgetProgress, kind: Kind, names: Sequence[str]
    ) -> Chunk:
        if not names:
            return Chunk(cursor=_next_pass(progress).document)
        portion, changes, puts, deletes = (
            Portion(),
            list[Change](),
            list[Document](),
            list[Document](),
        )
        made: list[str] = []
        for name in names[:WRITTEN_AT_ONCE]:
            memory = _memory_in(read_set, name)
            if memory is None or not _concerns(progress, kind, memory):
                continue
            if not portion.takes(2, size_of(memory)):
                break
            if kind == "version" and progress.is_removed(base_id(name), memory.sequence):
                deletes.append(Document(name, "version", {}))
            elif kind == "version":
                after = struck_memory(memory, progress.gone, progress.lent)
                puts.append(
                    Document(name, "version", after.model_dump(mode="json"), after.embedding)
                )
            elif progress.is_derived_from_removed(memory):
                made.append(name)
            else:
                changes.append(self._change(progress, memory))
        further = progress.with_requested(made, "made")
        return Chunk(
            tuple(changes),
            puts=tuple(puts),
            deletes=tuple(deletes),
            cursor=further.document,
            counts={"struck": len(changes)},
        )

    def _change(self, progress: ForgetProgress, memory: Memory) -> Change:
        """Return a memory without its mentions.

        If it was merged into a removed memory, it is active again.
        """
        after = struck_memory(memory, progress.gone, progress.lent)
        if memory.status is not Status.UPDATED or after.next_id is not None:
            return Change("redacted", after, memory, unsaid=True)
        back = touch(reactivate(after), self._clock.now()).changed(valid_until=None)
        return Change("restored", back, after)

    async def _log(self, lease: Lease, operation: Operation, progress: ForgetProgress) -> Operation:
        after, mentioning = 0 if progress.place is None else progress.place[0], list[Event]()
        while not mentioning:
            events = await self._store.events(lease.owner, after, EVENTS_A_PAGE)
            if not events:
                break
            mentioning = [event for event in events if _rewritten(progress, event) != event]
            after = (mentioning[0].sequence - 1) if mentioning else events[-1].sequence
        mentioning = mentioning[:DELETED_AT_ONCE]

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            return _redacted(read_set, progress, mentioning)

        advanced = await self._operations.advance(
            lease, operation, [event.id for event in mentioning], decide
        )
        if not mentioning and progress.log_from is not None:
            await self._snapshots.drop(lease.owner, progress.log_from)
        return advanced

    async def _texts(
        self, lease: Lease, operation: Operation, progress: ForgetProgress
    ) -> Operation:
        """Remove conflict records, and agents' answers about the conversations."""
        kind: Kind = "conflict" if progress.step == "conflict" else "step"
        place = None if progress.place is None else Place(*progress.place)
        documents = await self._store.page(lease.owner, kind, None, place, PAGE, newest_first=False)
        forming = (
            await self._forming(lease.owner, progress, documents) if kind == "step" else frozenset()
        )
        gone = [
            document for document in documents if _must_be_removed(progress, document, forming)
        ][:DELETED_AT_ONCE]
        last = gone[-1] if len(gone) == DELETED_AT_ONCE else documents[-1] if documents else None
        further = (
            progress.at(progress.step, (last.body.get("sequence", 0), last.id))
            if last is not None
            else _next_pass(progress)
        )
        pending = sum(
            document.kind == "conflict" and document.body["status"] == "pending"
            for document in gone
        )
        asked = [
            name
            for document in gone
            if document.kind == "conflict"
            for name in (document.body["old_id"], document.body["new_id"])
            if name
        ]
        sides = (
            [*readable_shown(await self._store.memories(lease.owner, asked))[0]] if asked else []
        )

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            return Chunk(
                tuple(
                    _without_conflict(read_set, name)
                    for name in dict.fromkeys(sides)
                    if _is_pending(read_set.memory(name))
                ),
                cursor=further.document,
                deletes=tuple(Document(document.id, document.kind, {}) for document in gone),
                head_fields=lambda head: {"pending_count": max(0, head.pending_count - pending)},
            )

        return await self._operations.advance(lease, operation, sides, decide)

    async def _forming(
        self, owner: Owner, progress: ForgetProgress, steps: Sequence[Document]
    ) -> frozenset[str]:
        """Return the conversations of these steps that are still worked on.

        Conversations that tell a forgotten memory are left out. The remaining conversations keep
        their steps: their memories have ids that come from the answers, and another answer would
        make them twice.
        """
        names = sorted({step.body["work_id"] for step in steps} - {*progress.conversations})
        conversations = (await self._store.snapshot(owner, names)).documents
        tasks = {
            name: conversation.body["task_id"]
            for name, conversation in conversations.items()
            if conversation.kind == "conversation"
        }
        seen = await self._store.snapshot(owner, sorted(tasks.values()))
        stored_tasks = {
            name: task_in(seen.documents.get(task_id), seen.head) for name, task_id in tasks.items()
        }
        return frozenset(
            name
            for name, forming_task in stored_tasks.items()
            if forming_task is not None and not forming_task.task.finished
        )

    async def _cold(
        self, lease: Lease, operation: Operation, progress: ForgetProgress
    ) -> Operation:
        """Replace the next cold copy that has removed memories.

        The rest of its chain gets a copy of its own before the old copy is removed.
        """
        locations = (
            await self._copies.holding(lease.owner, list(progress.gone)) if progress.gone else []
        )
        if not locations:
            chunk = Chunk(cursor=_next_pass(progress).document)
            return await self._operations.advance(
                lease, operation, [], lambda read_set, stored: chunk
            )
        left = await self._left(lease, progress, locations[0])
        moved = None if left is None else await self._copies.write(lease.owner, operation.id, left)
        names = (
            []
            if left is None
            else [
                memory.id for member in left.members for memory in (member.memory, *member.versions)
            ]
        )

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            stubs = [
                stub
                for name in names
                if (stub := _memory_in(read_set, name)) is not None
                and stub.archival_location == locations[0]
            ]
            pairs = [(stub, stub.changed(archival_location=moved)) for stub in stubs]
            changes = tuple(
                Change("moved", after, before)
                for before, after in pairs
                if base_id(before.id) == before.id
            )
            versions = [after for before, after in pairs if base_id(before.id) != before.id]
            puts = tuple(
                Document(version.id, "version", version.model_dump(mode="json"), version.embedding)
                for version in versions
            )
            # The cursor changes, so that of two workers only one removes the copy.
            return Chunk(
                changes,
                puts=puts,
                cursor=progress.at("copies", (sum(stored.counts.values()), "")).document,
                counts={"copies": 1},
            )

        advanced = await self._operations.advance(lease, operation, names, decide)
        await self._copies.remove(lease.owner, locations[0])
        return advanced

    async def _left(self, lease: Lease, progress: ForgetProgress, location: str) -> ColdCopy | None:
        """Return the copy at a location without removed memories.

        None if no memory of it stays, or if no memory points to it.
        """
        try:
            copy = await self._copies.read(lease.owner, location)
        except (NotFound, Damaged):
            return None
        members = [
            member
            for member in copy.members
            if not progress.is_removed(member.memory.id, member.memory.sequence)
        ]
        seen = await self._store.snapshot(lease.owner, [member.memory.id for member in members])
        read_set = ReadSet(seen.head, dict(seen.documents))
        stubs = {member.memory.id: read_set.memory(member.memory.id) for member in members}
        members = [
            member
            for member in members
            if (stub := stubs[member.memory.id]) is not None and stub.archival_location == location
        ]
        if not members:
            return None
        last = max(members, key=lambda member: member.memory.sequence).memory.id
        return ColdCopy(
            copy.epoch,
            copy.chain_id if copy.chain_id in stubs else last,
            tuple(_struck_whole(progress, member) for member in members),
        )


def _next_pass(progress: ForgetProgress) -> ForgetProgress:
    """Return the progress at the next pass.

    Memories that were made of removed memories, and were found in this pass, are removed first;
    then all memories are looked through again.
    """
    if progress.step == "memories" and progress.todo:
        return progress.at("remove")
    return progress.at(_PASSES[_PASSES.index(progress.step) + 1])


def _concerns(progress: ForgetProgress, kind: Kind, memory: Memory) -> bool:
    if kind == "version" and progress.is_removed(base_id(memory.id), memory.sequence):
        return True
    if (memory.id, "made") in progress.todo:
        return False
    made = kind == "memory" and progress.is_derived_from_removed(memory)
    return made or struck_memory(memory, progress.gone, progress.lent) is not memory


def _memory_in(read_set: ReadSet, name: str) -> Memory | None:
    document = read_set.documents.get(name)
    return None if document is None else as_memory(document, read_set.head)


def _struck_whole(progress: ForgetProgress, member: ArchivedStates) -> ArchivedStates:
    def strike(memory: Memory) -> Memory:
        return struck_memory(memory, progress.gone, progress.lent)

    return ArchivedStates(
        strike(member.memory),
        tuple(map(strike, member.versions)),
        None if member.original is None else strike(member.original),
    )


def _rewritten(progress: ForgetProgress, event: Event) -> Event:
    if progress.is_removed(event.memory_id, event.sequence):
        return event if event.redacted and not event.session_id else redacted(event)
    return struck_event(event, progress.gone)


def _redacted(read_set: ReadSet, progress: ForgetProgress, events: Sequence[Event]) -> Chunk:
    if not events:
        return Chunk(cursor=_next_pass(progress).document)
    portion, staged, last = Portion(), list[Document](), 0
    for event in events:
        document = read_set.documents.get(event.id)
        if document is not None:
            made = _rewritten(progress, Event.model_validate(document.body)).model_dump(mode="json")
            if not portion.takes(1, size_of_bodies([made])):
                break
            staged.append(Document(event.id, "event", made))
        last = event.sequence
    first = progress.log_from if progress.log_from is not None else events[0].sequence
    further = progress.at("log", (last, "")).changed(log_from=first)
    return Chunk(
        cursor=further.document,
        staged=tuple(staged),
        head_fields=redacting,
        counts={"events": len(staged)},
    )


def _must_be_removed(
    progress: ForgetProgress, document: Document, forming: Collection[str]
) -> bool:
    """Whether a document has to be removed.

    A conflict record is removed if it tells a forgotten memory. Agents' answers are removed unless
    a worker has to read them again, as any of them may quote it.
    """
    if document.kind == "conflict":
        return any(name in progress.gone for name in record_in(document.body).memory_ids)
    return document.body["work_id"] not in forming


def _is_pending(memory: Memory | None) -> bool:
    return memory is not None and memory.conflict_state == "pending"


def _without_conflict(read_set: ReadSet, name: str) -> Change:
    memory = read_set.memory(name)
    assert memory is not None
    return Change("conflict_settled", mark_conflict(memory, "none"), memory)
