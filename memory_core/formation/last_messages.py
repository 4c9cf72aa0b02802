"""Taking back what was told last in a session: its messages go, with all that came of them alone.

First the facts and notes, the latest first: what was decided between them and older ones is undone,
then they are deleted, each by the calls that anybody has for it. The messages and their cells go
last, in one commit with the session's history, its batch and its tasks. So of two that take back at
once only one gets a message; and who dies in between leaves the messages, and takes the same back
again. Note: a fact that others told too stays, and so does one that was edited since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final
from weakref import WeakValueDictionary

from memory_core.domain.conflict import record_in
from memory_core.domain.errors import Conflict, HeadMoved, NotFound
from memory_core.domain.memory import FOUND_BY_DEFAULT, Memory, MemoryType, Status
from memory_core.domain.messages import (
    EARLIER,
    MESSAGE,
    REQUEST,
    TAKEN_BACK,
    is_cell,
    is_message,
    messages_of,
    session_message,
)
from memory_core.domain.results import Call, SerializedMemory, TakenBack
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import delete
from memory_core.domain.truth.slots import slot_name
from memory_core.evolution.conflicts import Conflicts
from memory_core.evolution.deletion import NoteUnmerger, count_along
from memory_core.evolution.edit import Editor
from memory_core.evolution.restore import Restorer
from memory_core.formation.message_memories import MOST_TRIES, TOO_FAST, MessageWriter
from memory_core.formation.without_messages import (
    TakenMessages,
    Without,
    batch_without,
    conversation_without,
)
from memory_core.ledger.batch import Change, Changes, Portion, size_of
from memory_core.ledger.commit import Ledger, Mirror, ReadSet
from memory_core.ledger.documents import (
    HeldBuffer,
    buffer_id,
    conversation_of,
    message_ids,
    messages_id,
    state_of,
)
from memory_core.ledger.ids import (
    conflict_record_ids,
    earlier_result,
    note_id,
    receipt,
    receipt_id,
    session_document_id,
)
from memory_core.ledger.instructions import instructions_of
from memory_core.ledger.sessions import Session, clears_of, has_begun
from memory_core.ports import Clock, Filter, LongTermStore, Place, TaskQueue
from memory_core.tasks.lifecycle import Ends, message_for, queue_of, tell

MOST_AT_ONCE: Final = 20
"""Messages of one commit, each two documents of its hundred, besides its cell and its
conversation.
"""
_ROOM: Final = 80
_A_PAGE: Final = 100
_SHOWN: Final = frozenset(status.value for status in (*FOUND_BY_DEFAULT, Status.DECAYED))
_SHOWN_OR_DELETED: Final = _SHOWN | {Status.DELETED.value}
_REPLACED: Final = frozenset(
    status.value for status in (Status.SUPERSEDED, Status.UPDATED, Status.DELETED)
)
_EPISODIC: Final = frozenset({MemoryType.EPISODIC.value})


class _Changed(Exception):
    """What was to be taken back is not as it was read: look again."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What one commit took back, the last message first; left: how many messages are still
    to be taken.
    """

    message_ids: Sequence[str]
    memories: int
    left: int


@dataclass(frozen=True, slots=True)
class _Plan:
    """What one commit is to take back, the last message first.

    cells: those that go; left: ids of the messages of these that stay; more:
    how many messages are to be taken after it.
    """

    messages: Sequence[Memory]
    cells: Mapping[str, Memory]
    left: Sequence[str]
    more: int

    @property
    def ids(self) -> list[str]:
        """The ids of the messages."""
        return [message.id for message in self.messages]


class LastMessages:
    """Takes back what was told last, for any owner."""

    def __init__(
        self,
        store: LongTermStore,
        ledger: Ledger,
        mirror: Mirror,
        messages: MessageWriter,
        conflicts: Conflicts,
        restorer: Restorer,
        editor: Editor,
        unmerger: NoteUnmerger,
        ends: Ends,
        queue: TaskQueue,
        clock: Clock,
    ) -> None:
        self._store, self._ledger, self._mirror, self._messages = store, ledger, mirror, messages
        self._conflicts, self._restorer, self._editor = conflicts, restorer, editor
        self._unmerger, self._ends, self._queue, self._clock = unmerger, ends, queue, clock
        self._turns: WeakValueDictionary[tuple[Owner, str], asyncio.Lock] = WeakValueDictionary()

    async def take(self, owner: Owner, session_id: str, count: int | None, call: Call) -> TakenBack:
        """Take back the last messages of a session.

        Args:
            owner: Whose session it is.
            session_id: Which session.
            count: How many messages; None: the last one that a person said and all that
                came after it.
            call: The caller and the idempotency key.

        Returns:
            The messages, none of a session that is empty, and how many memories went with them.

        Raises:
            NotFound: This user has no such session.
            HeadMoved: Others write faster than this can be decided.

        """
        parts, left = list[_Part](), count
        # else twenty who pop at once mostly look in vain
        async with self._turns.setdefault((owner, session_id), asyncio.Lock()):
            while left is None or left > 0:
                parts.append(await self._part(owner, session_id, left, call, len(parts)))
                left = parts[-1].left
        names = [name for part in parts for name in part.message_ids][::-1]
        serialised = dict[str, SerializedMemory]()
        for start in range(0, len(names), _A_PAGE):
            serialised |= await self._store.memories(owner, names[start : start + _A_PAGE])
        return TakenBack(
            tuple(session_message(serialised[name].memory) for name in names if name in serialised),
            sum(part.memories for part in parts),
        )

    async def _part(
        self, owner: Owner, session_id: str, count: int | None, call: Call, part: int
    ) -> _Part:
        """Take back as many messages as one commit holds, or what this very call took
        back before.
        """
        key, session = receipt_id(owner, call, part), session_document_id(owner, session_id)
        for _ in range(MOST_TRIES):
            look = await self._ledger.look(owner, [session, *([key] if key else [])])
            if (earlier := earlier_result(look.documents, owner, call, part)) is not None:
                return _Part(**earlier)
            session_document = look.documents.get(session)
            if (
                session_document is None
                or look.head is None
                or session_document.body["epoch"] != look.head.epoch
                or not has_begun(session_document)
            ):
                raise NotFound("no session of this name for this user")
            await self._write_what_waits(owner, session_id, call)
            plan = await self._plan(owner, session_id, count)
            memories = await self._take_what_came(owner, plan, call)
            with suppress(_Changed):
                return await self._commit(owner, session_id, plan, memories, call, part)
        raise HeadMoved(TOO_FAST, retry_after_s=1)

    async def _write_what_waits(self, owner: Owner, session_id: str, call: Call) -> None:
        """Make memories of the messages that were told and have none yet: they are
        the last ones.
        """
        look, alone = (
            await self._ledger.look(owner, [buffer_id(owner, session_id)]),
            replace(call, idempotency_key=None),
        )
        gathered = HeldBuffer.of(owner, session_id, look).conversation(self._clock.now(), {})
        if names := message_ids(gathered):
            there = await self._ledger.look(owner, names)
            first = next(
                (number for number, name in enumerate(names) if there.memory(name) is None), None
            )
            if first is not None and await self._messages.write_ahead(
                owner, gathered, first, alone
            ):
                raise HeadMoved(
                    "not all messages of this session are written yet; try again", retry_after_s=1
                )
        for last in await self._last(owner, session_id, None, 1):
            if last.conversation_id is not None:
                conversation_look = await self._ledger.look(
                    owner, [last.conversation_id, messages_id(last.conversation_id)]
                )
                conversation = conversation_of(conversation_look, last.conversation_id)
                if conversation is not None and conversation.state == "pending":
                    await self._messages.complete(owner, conversation, alone, at_the_door=True)

    async def _last(
        self,
        owner: Owner,
        session_id: str,
        after: Place | None,
        limit: int,
        statuses: frozenset[str] = _SHOWN,
    ) -> list[Memory]:
        """The messages of a session, the last one first."""
        where = Filter(
            statuses, types=_EPISODIC, categories=frozenset({MESSAGE}), session_id=session_id
        )
        documents = await self._store.page(owner, "memory", where, after, limit)
        serialised = await self._store.memories(owner, [document.id for document in documents])
        return [
            serialised[document.id].memory
            for document in documents
            if document.id in serialised and is_message(document.id)
        ]

    async def _plan(self, owner: Owner, session_id: str, count: int | None) -> _Plan:
        """What one commit is to take back of the last `count` messages, or of the last turn."""
        messages, earlier, after, ended = list[Memory](), list[Memory](), None, False
        while not ended and (count is None or len(messages) < min(count, MOST_AT_ONCE)):
            page = await self._last(owner, session_id, after, _A_PAGE, _SHOWN_OR_DELETED)
            for message in page:
                if message.status is not Status.DELETED:
                    (earlier if message.metadata.get(EARLIER) else messages).append(message)
                elif count is None and _is_request(message) and not any(map(_asks, messages)):
                    count = len(messages)  # the turn began with it, and it is gone already
            if not page:
                messages, ended = [*messages, *earlier], True
            else:
                after = Place(page[-1].sequence, page[-1].id)
            if count is None:
                count = next(
                    (number for number, message in enumerate(messages, start=1) if _asks(message)),
                    None,
                )
        count = min(1 if count is None else count, len(messages)) if ended else count or 0
        some = _that_fit(messages[:count])
        return await self._with_cells(owner, some, more=count - len(some))

    async def _with_cells(self, owner: Owner, messages: Sequence[Memory], more: int) -> _Plan:
        """The plan for these messages: with the cells that were formed of them,
        and the other messages of these.
        """
        names = list(
            dict.fromkeys(message.cell_id for message in messages if message.cell_id is not None)
        )
        look, taken = (
            await self._ledger.look(owner, names),
            {message.id: message for message in messages},
        )
        cells = {
            name: memory
            for name in names
            if (memory := look.memory(name)) is not None and is_cell(memory)
        }
        there = await self._ledger.look(
            owner,
            [name for cell in cells.values() for name in messages_of(cell) if name not in taken],
        )
        left = list[str]()
        for cell in [*cells.values()]:
            stay = [
                memory
                for name in messages_of(cell)
                if name not in taken and (memory := there.memory(name)) is not None
            ]
            stay = [
                message
                for message in stay
                if message.status is not Status.DELETED and message.cell_id in (None, cell.id)
            ]
            if {_telling(message) for message in messages if message.cell_id == cell.id} <= {
                _telling(message) for message in stay
            }:
                del cells[cell.id]  # it was told again, or before, and that stays
            else:
                left += [message.id for message in stay]
        return _Plan(messages, cells, left, more)

    async def _take_what_came(self, owner: Owner, plan: _Plan, call: Call) -> int:
        """Delete the facts and notes that came of these cells alone, the latest first;
        how many there were.
        """
        cells, count, alone = plan.cells, 0, replace(call, idempotency_key=None)
        conversation_look = await self._ledger.look(
            owner,
            list(
                dict.fromkeys(
                    cell.conversation_id for cell in cells.values() if cell.conversation_id
                )
            ),
        )
        became = [
            formed_cell.memory_ids
            for name in conversation_look.documents
            if (state := state_of(conversation_look, name)) is not None
            for formed_cell in state.formed_cells
        ]
        # notes that said it already are others' too
        joined = [name for ids in became if not cells.keys().isdisjoint(ids) for name in ids]
        names = list(
            dict.fromkeys([*(name for cell in cells.values() for name in _made_of(cell)), *joined])
        )
        for given in await instructions_of(self._store, owner, plan.ids):
            if given.status is not Status.DELETED and given.version == 1:
                await self._editor.delete(owner, given.id, alone, reason=TAKEN_BACK)
                count += 1
        look = await self._ledger.look(owner, names)
        made = {memory.id: memory for name in names if (memory := look.memory(name)) is not None}
        for memory in sorted(
            made.values(),
            key=lambda made_memory: (made_memory.event_timestamp, made_memory.sequence),
            reverse=True,
        ):
            if (
                cells.keys().isdisjoint(_tellers(memory))
                or memory.cell_id == memory.id
                or memory.status is Status.DELETED
                or memory.version > 1
            ):
                continue
            replaced = (
                [] if slot_name(memory) is not None else await self._replaced_by(owner, memory)
            )
            other_tellers = [
                name
                for name in _tellers(memory)
                if name not in cells and name not in {old.id for old in replaced}
            ]
            look = await self._ledger.look(owner, other_tellers)
            if all(
                teller is None or teller.status is Status.DELETED
                for teller in map(look.memory, other_tellers)
            ):
                await self._unmerger.unmerge_sources(owner, [memory], alone)
                await self._undone(owner, memory, replaced, alone)
                await self._editor.delete(
                    owner,
                    memory.id,
                    alone,
                    reason=TAKEN_BACK,
                    never_so=slot_name(memory) is not None,
                )
                if memory.status is Status.SUPERSEDED and memory.next_id is not None:
                    await self._closed_up(
                        owner, memory, memory.next_id, [old.id for old in replaced], alone
                    )
                count += 1
        return count

    async def _replaced_by(self, owner: Owner, memory: Memory) -> list[Memory]:
        """What a memory replaced, the latest first."""
        where = Filter(_REPLACED, next_ids=frozenset({memory.id}))
        documents = await self._store.page(owner, "memory", where, None, _A_PAGE)
        serialised = await self._store.memories(owner, [document.id for document in documents])
        return sorted(
            (document.memory for document in serialised.values()),
            key=lambda replaced_memory: (replaced_memory.event_timestamp, replaced_memory.sequence),
            reverse=True,
        )

    async def _undone(
        self, owner: Owner, memory: Memory, replaced: Sequence[Memory], call: Call
    ) -> None:
        """Undo what the memory did to others: by the record of that where there is one,
        else by making them active again.
        """
        for old in replaced:
            records = conflict_record_ids(old.id, memory.id)
            look = await self._ledger.look(owner, [old.id, memory.id, *records])
            now, by = look.memory(old.id), look.memory(memory.id)
            if now is None or by is None or now.next_id != memory.id:
                continue  # it came back with another one
            decided = [
                record_in(record_document.body)
                for name in records
                if (record_document := look.documents.get(name)) is not None
            ]
            record = next(
                (
                    decided_record
                    for decided_record in decided
                    if not decided_record.open and decided_record.new_id == memory.id
                ),
                None,
            )
            if record is not None:
                with suppress(Conflict):
                    await self._conflicts.undo(owner, record.id, call)
                    continue
            if by.status in FOUND_BY_DEFAULT and now.status in (Status.SUPERSEDED, Status.UPDATED):
                with suppress(Conflict):
                    await self._restorer.undo(owner, old.id, TAKEN_BACK, call)

    async def _closed_up(
        self, owner: Owner, gone: Memory, next_id: str, replaced: Sequence[str], call: Call
    ) -> None:
        """Let what a truth of the past had replaced lead on to what replaced that truth,
        and hold until then.
        """
        ids = [gone.id, next_id, *replaced]

        def decide(look: ReadSet) -> Changes[None]:
            follows, middle, now = look.memory(next_id), look.memory(gone.id), self._clock.now()
            if (
                follows is None
                or middle is None
                or middle.status is not Status.DELETED
                or follows.status is Status.DELETED
            ):
                return Changes(None)
            memories = (look.memory(name) for name in replaced)
            olds = [
                old
                for old in memories
                if old is not None and old.status is Status.SUPERSEDED and old.next_id == gone.id
            ]
            changes = [
                Change(
                    "superseded", _followed_by(follows, old, gone, now), old, {"reason": TAKEN_BACK}
                )
                for old in olds
            ]
            if olds and follows.supersedes_id == gone.id:
                after = follows.changed(supersedes_id=olds[0].id, updated_at=now)
                changes.append(Change("superseded", after, follows, {"reason": TAKEN_BACK}))
            return Changes(None, tuple(changes), reads=frozenset(ids))

        if replaced:
            await self._mirror.follow(
                owner, await self._ledger.commit(owner, decide, ids=ids, call=call)
            )

    async def _commit(
        self, owner: Owner, session_id: str, plan: _Plan, memories: int, call: Call, part: int
    ) -> _Part:
        """Take the messages back. Raises _Changed where one of them is gone, or formed, since."""
        session, buffer = session_document_id(owner, session_id), buffer_id(owner, session_id)
        await self._messages.part(owner, plan.left, call)
        conversation_ids = list(
            dict.fromkeys(
                message.conversation_id
                for message in plan.messages
                if message.conversation_id is not None
            )
        )
        first = await self._ledger.look(owner, [buffer, *conversation_ids])
        again = [
            conversation.continued_by
            for name in conversation_ids
            if (conversation := state_of(first, name)) is not None
            and conversation.continued_by is not None
        ]
        names = [*conversation_ids, *again]
        there = await self._ledger.look(
            owner, [part for name in names for part in (name, messages_id(name))]
        )
        conversations = [
            conversation
            for name in names
            if (conversation := conversation_of(there, name)) is not None
        ]
        key = receipt_id(owner, call, part)
        batch = HeldBuffer.of(owner, session_id, first)
        ids = [
            session,
            buffer,
            batch.task_id,
            *([key] if key else []),
            *plan.ids,
            *plan.cells,
            *names,
        ]
        ids += message_ids(batch.conversation(self._clock.now(), {}))
        for conversation in conversations:
            ids += [messages_id(conversation.id), conversation.task_id, *message_ids(conversation)]
        ids = list(dict.fromkeys(ids))
        decide = partial(
            self._decided, owner, session_id, plan, conversation_ids, memories, call, part, ids
        )
        committed = await self._ledger.commit(owner, decide, ids=ids, call=call)
        await self._mirror.follow(owner, committed)
        taken, without = committed.result
        for task in without.ready:
            await tell(self._queue, queue_of(task.kind), message_for(owner, task))
        for task in without.ended:
            await self._ends.announce(owner, task)
        return taken

    def _decided(
        self,
        owner: Owner,
        session_id: str,
        plan: _Plan,
        conversation_ids: Sequence[str],
        memories: int,
        call: Call,
        part: int,
        asked: Collection[str],
        look: ReadSet,
    ) -> Changes[tuple[_Part, Without]]:
        without, now, cells = Without(), self._clock.now(), plan.cells
        if (earlier := earlier_result(look.documents, owner, call, part)) is not None:
            return Changes((_Part(**earlier), without))
        messages = [
            memory
            for name in plan.ids
            if (memory := look.memory(name)) is not None and memory.status is not Status.DELETED
        ]
        if [(message.id, message.cell_id) for message in messages] != [
            (message.id, message.cell_id) for message in plan.messages
        ]:
            raise _Changed
        batch = HeldBuffer.of(owner, session_id, look)
        if batch.buffer.messages and (
            batch.task_id not in asked or not batch_without(without, look, batch, plan.ids, now)
        ):
            raise _Changed
        session_document = look.documents.get(session_document_id(owner, session_id))
        cut = TakenMessages(plan.ids, plan.left, clears_of(session_document), now)
        for name in conversation_ids:
            root = state_of(look, name)
            if (
                root is not None
                and root.continued_by is not None
                and root.continued_by not in asked
            ):
                raise _Changed
            conversation_without(without, look, name, cut)
        going = [
            cell
            for name in cells
            if (cell := look.memory(name)) is not None and cell.status is not Status.DELETED
        ]
        changes = [
            Change(
                "deleted",
                delete(memory, "manual_delete", now, change_reason=TAKEN_BACK),
                memory,
                {"reason": TAKEN_BACK},
            )
            for memory in (*going, *messages)
        ]
        taken = _Part(plan.ids, memories + len(going), plan.more)
        receipts = receipt(owner, call, now, asdict(taken), part)
        if not changes:
            return Changes((taken, without), creates=receipts)
        session = Session(owner, session_id, session_document)
        count_along(session, changes, now)
        session.take_back(messages)
        return Changes(
            (taken, without),
            tuple(changes),
            (session.document, *without.puts.values()),
            (*without.creates, *receipts),
            reads=frozenset({*plan.ids, *cells, *plan.left}),
            sessions=frozenset({session_id}),
            head_fields=without.head_fields,
            deletes=tuple(without.deletes),
        )


def _that_fit(messages: Sequence[Memory]) -> list[Memory]:
    """The first of these messages that one commit takes back, each with what it may be the
    only one of.
    """
    portion, known, some = Portion(_ROOM), set[Any](), list[Memory]()
    for message in messages[:MOST_AT_ONCE]:
        names = {message.cell_id, message.conversation_id} - known
        documents = (
            2
            + 2 * (message.cell_id in names and message.cell_id is not None)
            + 4 * (message.conversation_id in names)
        )
        if not portion.takes(documents, size_of(message)):
            break
        some.append(message)
        known |= names
    return some


def _asks(message: Memory) -> bool:
    """Whether a person said it, so that a turn begins with it."""
    return message.metadata.get("role") == "user"


def _is_request(message: Memory) -> bool:
    """Whether it was a request to forget, whose words are not kept."""
    return message.status_reason == REQUEST and _asks(message)


def _telling(message: Memory) -> tuple[Any, ...]:
    return message.metadata.get("role"), message.actor, message.event_timestamp, message.content


def _followed_by(follows: Memory, old: Memory, gone: Memory, now: datetime) -> Memory:
    """A truth of the past with another successor; it holds until that began, where the one that is
    gone had ended it.
    """
    ended_by_it = old.valid_until == max(gone.valid_from, old.valid_from)
    until = max(follows.valid_from, old.valid_from) if ended_by_it else old.valid_until
    return old.changed(next_id=follows.id, valid_until=until, updated_at=now)


def _tellers(memory: Memory) -> list[str]:
    """The cells, and the notes merged into it, that told what was formed; none of
    what was saved.
    """
    if memory.source != "conversation":
        return []
    return list(
        dict.fromkeys(name for name in (memory.cell_id, *memory.source_ids) if name is not None)
    )


def _made_of(cell: Memory) -> list[str]:
    return [
        note_id(cell.id),
        *(fact.fact_id for fact in cell.atomic_facts if fact.fact_id is not None),
    ]
