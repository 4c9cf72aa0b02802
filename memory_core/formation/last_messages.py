"""Take back the last messages of a session, with all memories made of them alone.

Facts and notes come first, the latest first: decisions between them and older memories are undone,
then they are deleted, each by the public operations. The messages and their cells are deleted last,
in a single commit with the session's history, its batch and its tasks. So if two callers take back
at once, a message is returned to only a single caller. A process that dies in between leaves the
messages, and a further call takes the same back again. Note: a fact that other messages also stated
stays, and so does a fact that was edited since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Final
from weakref import WeakValueDictionary

from memory_core.domain.errors import HeadMoved, NotFound
from memory_core.domain.memory import Memory, MemoryType, Status
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
from memory_core.domain.results import Call, TakenBack
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.domain.transitions import FOUND_BY_DEFAULT, delete
from memory_core.evolution.conflicts import Conflicts
from memory_core.evolution.deletion import NoteUnmerger, count_along
from memory_core.evolution.edit import Editor
from memory_core.evolution.restore import Restorer
from memory_core.formation.formed_of_messages import FormedOfMessages
from memory_core.formation.message_memories import MOST_TRIES, TOO_FAST, MessageWriter
from memory_core.formation.without_messages import (
    ConversationWrites,
    TakenMessages,
    batch_without,
    conversation_without,
)
from memory_core.ledger.changes import Change, Changes, Portion, size_of
from memory_core.ledger.commit import Ledger
from memory_core.ledger.documents import (
    HeldBuffer,
    buffer_id,
    conversation_of,
    message_ids,
    messages_id,
    state_of,
)
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.receipts import Receipt, earlier_result, receipt_id
from memory_core.ledger.sessions import Session, clears_of, has_begun
from memory_core.ports import Clock, Filter, LongTermStore, Place, TaskQueue
from memory_core.tasks.lifecycle import TaskFinisher, message_for, queue_of, send_task

MOST_AT_ONCE: Final = 20
"""Messages of a commit, each two documents of its hundred, besides its cell and its conversation.
"""
_ROOM: Final = 80
_A_PAGE: Final = 100
_SHOWN: Final = frozenset(status.value for status in (*FOUND_BY_DEFAULT, Status.DECAYED))
_SHOWN_OR_DELETED: Final = _SHOWN | {Status.DELETED.value}
_EPISODIC: Final = frozenset({MemoryType.EPISODIC.value})


class _Changed(Exception):
    """The messages to take back are not as they were read: read again."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The result of a commit.

    Attributes:
        message_ids: Ids of the messages that were taken back, the last first.
        memories: How many memories were deleted with them.
        left: How many messages are still to be taken back.

    """

    message_ids: Sequence[str]
    memories: int
    left: int


@dataclass(frozen=True, slots=True)
class _Plan:
    """The messages that a commit is to take back.

    Attributes:
        messages: The last message first.
        cells: Cells that are deleted, by id.
        left: Ids of the messages of these cells that stay.
        more: How many messages are to be taken back after it.

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
    """Takes back last messages, for any owner."""

    def __init__(
        self,
        store: LongTermStore,
        ledger: Ledger,
        messages: MessageWriter,
        conflicts: Conflicts,
        restorer: Restorer,
        editor: Editor,
        unmerger: NoteUnmerger,
        finisher: TaskFinisher,
        queue: TaskQueue,
        clock: Clock,
    ) -> None:
        self._store, self._ledger, self._messages = store, ledger, messages
        self._finisher, self._queue, self._clock = finisher, queue, clock
        self._formed = FormedOfMessages(store, ledger, conflicts, restorer, editor, unmerger, clock)
        self._turns: WeakValueDictionary[tuple[Owner, str], asyncio.Lock] = WeakValueDictionary()

    async def take(self, owner: Owner, session_id: str, count: int | None, call: Call) -> TakenBack:
        """Take back the last messages of a session.

        Args:
            owner: Whose session it is.
            session_id: Id of the session.
            count: How many messages; None for the last message of a person and all messages after
                it.
            call: Call with its idempotency key, if any.

        Returns:
            The messages, empty for an empty session, and how many memories were deleted with them.

        Raises:
            NotFound: The owner has no such session.
            HeadMoved: Other writers are faster than this can decide.

        """
        parts, left = list[_Part](), count
        # otherwise twenty concurrent callers would mostly read in vain
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
        """Take back as many messages as a commit holds.

        A repeated call returns the same messages.
        """
        key, session = receipt_id(owner, call, part), session_document_id(owner, session_id)
        for _ in range(MOST_TRIES):
            read_set = await self._ledger.look(owner, [session, *([key] if key else [])])
            if (earlier := earlier_result(read_set.documents, owner, call, part)) is not None:
                return _Part(**earlier)
            session_document = read_set.documents.get(session)
            if (
                session_document is None
                or read_set.head is None
                or session_document.body["epoch"] != read_set.head.epoch
                or not has_begun(session_document)
            ):
                raise NotFound("no session of this name for this user")
            await self._write_what_waits(owner, session_id, call)
            plan = await self._plan(owner, session_id, count)
            memories = await self._formed.take(owner, plan.cells, plan.ids, call)
            with suppress(_Changed):
                return await self._commit(owner, session_id, plan, memories, call, part)
        raise HeadMoved(TOO_FAST, retry_after_s=1)

    async def _write_what_waits(self, owner: Owner, session_id: str, call: Call) -> None:
        """Make memories of the messages that have none yet: they are the last messages."""
        read_set, alone = (
            await self._ledger.look(owner, [buffer_id(owner, session_id)]),
            replace(call, idempotency_key=None),
        )
        gathered = HeldBuffer.of(owner, session_id, read_set).conversation(self._clock.now(), {})
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
        """The messages of a session, the last first."""
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
        """The messages that a commit takes back.

        They are the first of the last `count` messages, or of the last turn.
        """
        messages, earlier, after, ended = list[Memory](), list[Memory](), None, False
        while not ended and (count is None or len(messages) < min(count, MOST_AT_ONCE)):
            page = await self._last(owner, session_id, after, _A_PAGE, _SHOWN_OR_DELETED)
            for message in page:
                if message.status is not Status.DELETED:
                    (earlier if message.metadata.get(EARLIER) else messages).append(message)
                elif (
                    count is None and _is_request(message) and not any(map(_begins_turn, messages))
                ):
                    count = len(messages)  # the first message of the turn is deleted already
            if not page:
                messages, ended = [*messages, *earlier], True
            else:
                after = Place(page[-1].sequence, page[-1].id)
            if count is None:
                count = next(
                    (
                        number
                        for number, message in enumerate(messages, start=1)
                        if _begins_turn(message)
                    ),
                    None,
                )
        count = min(1 if count is None else count, len(messages)) if ended else count or 0
        some = _first_that_fit(messages[:count])
        return await self._with_cells(owner, some, more=count - len(some))

    async def _with_cells(self, owner: Owner, messages: Sequence[Memory], more: int) -> _Plan:
        """The plan for these messages, with the cells that were formed of them.

        It also has the remaining messages of these cells.
        """
        names = list(
            dict.fromkeys(message.cell_id for message in messages if message.cell_id is not None)
        )
        read_set, taken = (
            await self._ledger.look(owner, names),
            {message.id: message for message in messages},
        )
        cells = {
            name: memory
            for name in names
            if (memory := read_set.memory(name)) is not None and is_cell(memory)
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
            if {_cell_ids_of(message) for message in messages if message.cell_id == cell.id} <= {
                _cell_ids_of(message) for message in stay
            }:
                del cells[cell.id]  # other messages state it too, so it stays
            else:
                left += [message.id for message in stay]
        return _Plan(messages, cells, left, more)

    async def _commit(
        self, owner: Owner, session_id: str, plan: _Plan, memories: int, call: Call, part: int
    ) -> _Part:
        """Take the messages back. Raises _Changed if a message is gone, or was formed, since."""
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
        batch = HeldBuffer.of(owner, session_id, first)
        ids = [session, buffer, batch.task_id, *plan.ids, *plan.cells, *names]
        ids += message_ids(batch.conversation(self._clock.now(), {}))
        for conversation in conversations:
            ids += [messages_id(conversation.id), conversation.task_id, *message_ids(conversation)]
        ids = list(dict.fromkeys(ids))
        decide = partial(self._decided, owner, session_id, plan, conversation_ids, memories, ids)
        committed = await self._ledger.commit(
            owner,
            decide,
            ids=ids,
            call=call,
            receipt=Receipt(
                lambda result: asdict(result[0]),
                lambda earlier, read_set: (_Part(**earlier), ConversationWrites()),
                part,
            ),
        )
        taken, without = committed.result
        for task in without.ready:
            await send_task(self._queue, queue_of(task.kind), message_for(owner, task))
        for task in without.ended:
            await self._finisher.announce(owner, task)
        return taken

    def _decided(
        self,
        owner: Owner,
        session_id: str,
        plan: _Plan,
        conversation_ids: Sequence[str],
        memories: int,
        asked: Collection[str],
        read_set: ReadSet,
    ) -> Changes[tuple[_Part, ConversationWrites]]:
        without, now = ConversationWrites(), self._clock.now()
        messages = _present(plan.ids, read_set)
        if [(message.id, message.cell_id) for message in messages] != [
            (message.id, message.cell_id) for message in plan.messages
        ]:
            raise _Changed
        session_document = read_set.documents.get(session_document_id(owner, session_id))
        batch = HeldBuffer.of(owner, session_id, read_set)
        if batch.buffer.messages and (
            batch.task_id not in asked or not batch_without(without, read_set, batch, plan.ids, now)
        ):
            raise _Changed
        cut = TakenMessages(plan.ids, plan.left, clears_of(session_document), now)
        _cut_conversations(without, read_set, conversation_ids, asked, cut)
        going = _present(plan.cells, read_set)
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
        if not changes:
            return Changes((taken, without))
        session = Session(owner, session_id, session_document)
        count_along(session, changes, now)
        session.take_back(messages)
        return Changes(
            (taken, without),
            tuple(changes),
            (session.document, *without.puts.values()),
            tuple(without.creates),
            reads=frozenset({*plan.ids, *plan.cells, *plan.left}),
            sessions=frozenset({session_id}),
            head_fields=without.head_fields,
            deletes=tuple(without.deletes),
        )


def _present(names: Iterable[str], read_set: ReadSet) -> list[Memory]:
    """The memories of these ids that are not deleted."""
    memories = (read_set.memory(name) for name in names)
    return [
        memory for memory in memories if memory is not None and memory.status is not Status.DELETED
    ]


def _cut_conversations(
    without: ConversationWrites,
    read_set: ReadSet,
    conversation_ids: Sequence[str],
    asked: Collection[str],
    cut: TakenMessages,
) -> None:
    """Take messages out of conversations. Raises _Changed where a continuation was not read.

    Args:
        without: Takes in how the conversations and their tasks are afterwards.
        read_set: What was read.
        conversation_ids: The conversations that the messages are of.
        asked: The ids of all documents that were read.
        cut: The messages.

    """
    for name in conversation_ids:
        root = state_of(read_set, name)
        if root is not None and root.continued_by is not None and root.continued_by not in asked:
            raise _Changed
        conversation_without(without, read_set, name, cut)


def _first_that_fit(messages: Sequence[Memory]) -> list[Memory]:
    """The first of these messages that a commit takes back.

    Each counts with its cell and its conversation, which it may be the only message of.
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


def _begins_turn(message: Memory) -> bool:
    """Whether a person sent it, so that a turn begins with it."""
    return message.metadata.get("role") == "user"


def _is_request(message: Memory) -> bool:
    """Whether it was a request to forget, whose words are not kept."""
    return message.status_reason == REQUEST and _begins_turn(message)


def _cell_ids_of(message: Memory) -> tuple[Any, ...]:
    return message.metadata.get("role"), message.actor, message.event_timestamp, message.content
