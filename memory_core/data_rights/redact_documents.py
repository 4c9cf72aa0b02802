"""Redact conversations, scenes and the profile after a hard delete.

Note: a memory names the first conversation that stated it; later conversations may repeat it. Then
the later conversation names the memory: its cell became a memory that existed. A conversation whose
formation has not ended is cancelled, as no text is left to form. If its whole session is forgotten,
a conversation of which no memory is formed yet is cancelled as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory_core.data_rights.forget_plan import ForgetProgress
from memory_core.domain.conversation import FINISHED
from memory_core.domain.event_log import base_id
from memory_core.domain.memory import MemoryType, Vector
from memory_core.domain.messages import is_message
from memory_core.domain.profile import without_memories
from memory_core.domain.scene_assignment import Thread, mean
from memory_core.domain.scenes import (
    OF_THE_STORE,
    PROFILE_ID,
    Scene,
    person_in,
    scene_in,
    with_members,
    with_words,
)
from memory_core.domain.scope import Owner
from memory_core.ledger.documents import conversation_of, message_ids, messages_id
from memory_core.ledger.ids import derived, session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.sessions import clears_of
from memory_core.ports import Clock, Document, LongTermStore, Mark, Place
from memory_core.tasks.leases import Lease
from memory_core.tasks.operation_records import Chunk, Operation
from memory_core.tasks.operations import Operations
from memory_core.tasks.store import TaskAndSubject

CONVERSATIONS_A_PAGE = 100
READ_AT_ONCE = 20
"""Conversations that are read with their messages, which are up to 1 MiB each."""
_OVER = FINISHED - {"poisoned"}
"""States of a task that stays as it is; it can't be retried."""


class ConversationRedaction:
    """Does the pass over conversations for any owner."""

    def __init__(self, store: LongTermStore, operations: Operations, clock: Clock) -> None:
        self._store, self._operations, self._clock = store, operations, clock

    async def messages(
        self,
        lease: Lease,
        operation: Operation,
        progress: ForgetProgress,
        following: ForgetProgress,
    ) -> Operation:
        """Remove the messages of the next conversation that states a forgotten memory.

        Args:
            lease: The worker's lease of the task.
            operation: The operation.
            progress: Its progress.
            following: The progress once no such conversation is left.

        Raises:
            Unavailable: The long-term store is down.
            TaskLost: The task has ended otherwise.

        """
        place = None if progress.place is None else Place(*progress.place)
        clears = await self._clears(lease.owner, progress.whole)
        while documents := await self._store.page(
            lease.owner, "conversation", None, place, CONVERSATIONS_A_PAGE, newest_first=False
        ):
            telling_ids = await self._saying(lease.owner, progress, documents)
            concerned = next(
                (
                    document
                    for document in documents
                    if document.id in telling_ids
                    or _states_removed(progress, document.body)
                    or _is_dropped(progress, document.body, clears)
                ),
                None,
            )
            if concerned is not None:
                return await self._without(lease, operation, progress, concerned)
            place = Place(int(documents[-1].body["sequence"]), documents[-1].id)
        return await self._operations.advance(
            lease, operation, [], lambda read_set, stored: Chunk(cursor=following.document)
        )

    async def _saying(
        self, owner: Owner, progress: ForgetProgress, conversations: Sequence[Document]
    ) -> frozenset[str]:
        """Return the conversations that have a removed message.

        The memory of a message names the first conversation that had it.
        """
        gone = {name for name in progress.gone if is_message(name)}
        telling_ids = set[str]()
        for start in range(0, len(conversations) if gone else 0, READ_AT_ONCE):
            some = conversations[start : start + READ_AT_ONCE]
            seen = await self._store.snapshot(
                owner,
                [name for document in some for name in (document.id, messages_id(document.id))],
            )
            read_set = ReadSet(seen.head, dict(seen.documents))
            for document in some:
                conversation = conversation_of(read_set, document.id)
                names = (
                    gone.intersection(message_ids(conversation)) if conversation is not None else ()
                )
                if any(progress.is_removed(name, document.body["sequence"]) for name in names):
                    telling_ids.add(document.id)
        return frozenset(telling_ids)

    async def _clears(self, owner: Owner, session_id: str | None) -> Mapping[str, int]:
        if session_id is None:
            return {}
        name = session_document_id(owner, session_id)
        return clears_of((await self._store.snapshot(owner, [name])).documents.get(name))

    async def _without(
        self, lease: Lease, operation: Operation, progress: ForgetProgress, document: Document
    ) -> Operation:
        name, task_id = document.id, str(document.body["task_id"])
        further = progress.at("messages", (int(document.body["sequence"]), name))

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            messages, pair = (
                Document(messages_id(name), "messages", {}),
                TaskAndSubject.of(read_set, task_id),
            )
            if pair is None or pair.task.status in _OVER or pair.task.subject_id != name:
                return Chunk(cursor=further.document, deletes=(messages,))
            turned = pair.turned(
                "cancelled", self._clock.now(), status="cancelled", next_enqueue_at=None
            )
            return Chunk(
                cursor=further.document,
                deletes=(messages,),
                puts=turned.puts,
                head_fields=turned.head_fields,
            )

        return await self._operations.advance(lease, operation, [name, task_id], decide)


def _states_removed(progress: ForgetProgress, conversation: Mapping[str, Any]) -> bool:
    """Whether a conversation states a removed memory.

    A memory named it, or its cell became a removed memory. A conversation that was told later does
    not count.
    """
    became = [cell["memory_ids"][0] for cell in conversation["formed_cells"] if cell["memory_ids"]]
    return conversation["id"] in progress.conversations or any(
        progress.is_removed(name, conversation["sequence"]) for name in became
    )


def _is_dropped(
    progress: ForgetProgress, conversation: Mapping[str, Any], clears: Mapping[str, int]
) -> bool:
    """Whether a conversation without formed memories is of a wholly forgotten session.

    It was told before the session was cleared. `clears` says how often the session was cleared by
    now; a conversation that is told after another clear knows of that.
    """
    if (
        progress.whole is None
        or conversation["session_id"] != progress.whole
        or conversation["state"] not in ("pending", "poisoned")
    ):
        return False
    became = any(cell["memory_ids"] for cell in conversation["formed_cells"])
    return not became and all(
        clears.get(kind, 0) > conversation.get("clears", {}).get(kind, 0) for kind in MemoryType
    )


# Hard delete in derived documents: remove forgotten memories from scenes and from the profile.
#
# Note: a scene's title and summary may contain words of a forgotten cell, and its centroid the
# cell's vector. So all three are made again without it. A trait that a model derived with a
# forgotten cell is removed, since the share of that cell is unknown.


SCENES_A_PAGE = 50
MOST_DOCUMENTS = 96
"""The most documents of a commit, beside head and operation.

A scene is divided only if all its cells and the new scenes fit.
"""


class DerivedRedaction:
    """Does the passes over scenes and the profile for any owner."""

    def __init__(self, store: LongTermStore, operations: Operations) -> None:
        self._store, self._operations = store, operations

    async def scenes(
        self,
        lease: Lease,
        operation: Operation,
        progress: ForgetProgress,
        following: ForgetProgress,
    ) -> Operation:
        """Remove the forgotten cells from the next scene that has any.

        Args:
            lease: The worker's lease of the task.
            operation: The operation.
            progress: Its progress.
            following: The progress once no such scene is left.

        Raises:
            Unavailable: The long-term store is down.
            TaskLost: The task has ended otherwise.

        """
        place = None if progress.place is None else Place(*progress.place)
        while documents := await self._store.page(
            lease.owner, "scene", None, place, SCENES_A_PAGE, newest_first=False
        ):
            concerned = next(
                (document for document in documents if _names(progress, scene_in(document.body))),
                None,
            )
            if concerned is not None:
                return await self._without(lease, operation, progress, concerned)
            place = Place(int(documents[-1].body["sequence"]), documents[-1].id)
        return await self._operations.advance(
            lease, operation, [], lambda read_set, stored: Chunk(cursor=following.document)
        )

    async def profile(
        self,
        lease: Lease,
        operation: Operation,
        progress: ForgetProgress,
        following: ForgetProgress,
    ) -> Operation:
        """Remove the forgotten memories from the profile, in a single commit.

        Args:
            lease: The worker's lease of the task.
            operation: The operation.
            progress: Its progress.
            following: The progress afterwards.

        Raises:
            Unavailable: The long-term store is down.
            TaskLost: The task has ended otherwise.

        """

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            document = read_set.documents.get(PROFILE_ID)
            if (
                document is None
                or read_set.head is None
                or document.body["epoch"] != read_set.head.epoch
            ):
                return Chunk(cursor=following.document)
            person = person_in(document.body)
            named = {name for fact in person.facts for name in fact.memory_ids}
            gone = {*progress.gone, *(name for name in named if base_id(name) in progress.gone)}
            left = without_memories(person, gone)
            body = {**document.body, **left.model_dump(mode="json")}
            puts = (
                () if left == person else (Document(PROFILE_ID, "profile", body, tag=document.tag),)
            )
            return Chunk(puts=puts, cursor=following.document)

        return await self._operations.advance(lease, operation, [PROFILE_ID], decide)

    async def _without(
        self, lease: Lease, operation: Operation, progress: ForgetProgress, document: Document
    ) -> Operation:
        cells = scene_in(document.body).cell_ids

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            # The count changes, so that of two workers only one handles a scene.
            further = progress.at("scene", (int(document.body["sequence"]), document.id)).document
            scene_document = read_set.documents.get(document.id)
            if scene_document is None:
                return Chunk(cursor=further)
            scene = scene_in(scene_document.body)
            members = [member for member in scene.members if member.cell_id not in progress.gone]
            if not members:
                return Chunk(
                    deletes=(Document(scene_document.id, "scene", {}),),
                    cursor=further,
                    counts={"scenes": 1},
                )
            vectors = {
                name: memory.embedding
                for name in cells
                if (memory := read_set.memory(name)) is not None
            }
            vectors = {} if scene_document.vector is None else vectors
            left, *parted = _split_parts(
                Thread(with_members(scene, members), mean(members, vectors)), vectors, operation.id
            )
            body = {name: scene_document.body[name] for name in OF_THE_STORE}
            puts = [
                _document(left, body, scene_document.tag),
                *(_document(thread, {}, None) for thread in parted),
            ]
            marks = {
                name: Mark.of_scene(thread.scene.id)
                for thread in parted
                for name in thread.scene.cell_ids
                if read_set.memory(name) is not None
            }
            return Chunk(puts=tuple(puts), marks=marks, cursor=further, counts={"scenes": 1})

        return await self._operations.advance(lease, operation, [document.id, *cells], decide)


def _split_parts(
    thread: Thread, vectors: Mapping[str, Vector | None], operation_id: str
) -> list[Thread]:
    """Return the scene's parts that are too far apart without the removed cells.

    The first is the scene itself. As many are divided as fit a commit.
    """
    cells, parted = thread.scene.count, [thread]
    while cells + len(parted) < MOST_DOCUMENTS:
        later = parted[-1].part(derived("scn", operation_id, parted[-1].scene.id), vectors)
        if later is None:
            break
        parted.append(later)
    return parted


def _document(thread: Thread, stored: Mapping[str, Any], tag: str | None) -> Document:
    scene = with_words(thread.scene)
    return Document(
        scene.id, "scene", {**stored, **scene.model_dump(mode="json")}, thread.centroid, tag=tag
    )


def _names(progress: ForgetProgress, scene: Scene) -> bool:
    return any(name in progress.gone for name in scene.cell_ids)
