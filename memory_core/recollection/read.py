"""Read without a query: a memory, a list, versions, a procedure by key, sessions."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from memory_core.domain.errors import Damaged, NotFound
from memory_core.domain.event_log import base_id, is_of_its_life, is_version, version_id
from memory_core.domain.fading import Fading
from memory_core.domain.memory import Head, Memory, MemoryType, Status
from memory_core.domain.messages import MESSAGE, is_message, session_message
from memory_core.domain.requests.memories import ListInput, NamedInput, TagsInput
from memory_core.domain.results import (
    AgentPage,
    AgentView,
    Fetched,
    MemoryPage,
    MessagePage,
    SessionPage,
    SessionView,
    Settled,
    TagPage,
    VersionView,
)
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.domain.truth.slots import slot_name
from memory_core.evolution.reads import near_of
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.ids import procedure_id, session_document_id
from memory_core.ledger.readable import as_memory, readable_shown
from memory_core.ledger.sessions import has_begun
from memory_core.ports import Clock, Document, Filter, LongTermStore, Place
from memory_core.recollection.filters import as_it_was, of_list

T = TypeVar("T")
log = logging.getLogger(__name__)
PAGE_READS = 4
"""The most reads of a page because of writes in between.

After that, the page can't say which sequence it shows.
"""
_VERSIONS_READ = 90
_FOUND = frozenset(status.value for status in (*FOUND_BY_DEFAULT, Status.DECAYED))
_EPISODIC = frozenset({MemoryType.EPISODIC.value})


class Reader:
    """Reads for any owner.

    The id of another owner's memory looks like the id of no memory.
    """

    def __init__(
        self, store: LongTermStore, cursors: Cursors, clock: Clock, fading: Fading
    ) -> None:
        self._store, self._cursors, self._clock, self._fading = store, cursors, clock, fading

    async def get(self, owner: Owner, memory_id: str, at: datetime | None = None) -> Settled:
        """Return a memory, whatever its status.

        Args:
            owner: Whose memory it is.
            memory_id: The id of the memory.
            at: Return the version that was true at this time; None for the memory as it is.

        Raises:
            NotFound: There is no such memory, or it was not true at that time.
            Unavailable: The long-term store is down.

        """
        if at is None:
            snapshot = await self._store.snapshot(owner, [memory_id])
            memory = self._memory(snapshot.documents.get(memory_id), snapshot.head)
            if memory is None or snapshot.head is None or "." in memory_id:
                raise NotFound("no memory of this id for this user")
            return Settled(memory, snapshot.head.sequence)

        async def then(_: Head | None) -> Memory:
            memory = (await self.get(owner, memory_id)).memory
            memory_then = as_it_was(memory, await self._versions_of(owner, memory), at)
            if memory_then is None:
                raise NotFound(
                    f"this memory was not true at {at.isoformat()}, or was deleted since"
                )
            return memory_then

        return Settled(*await self._settled(owner, then))

    async def page(self, owner: Owner, query: ListInput) -> MemoryPage:
        """Return a page of a list, newest first unless the query says otherwise.

        The ids of damaged memories are named beside the page.

        Args:
            owner: Whose memories are listed.
            query: The filters, the limit and the cursor.

        Raises:
            Malformed: The cursor is void.
            Unavailable: The long-term store is down.

        """
        bound = {
            "list": "memories",
            **query.model_dump(
                mode="json", exclude={"cursor", "limit"}, exclude_none=True, exclude_defaults=True
            ),
        }

        now = self._clock.now()

        async def read(head: Head | None) -> tuple[list[Memory], str | None, list[str]]:
            place = self._cursors.read(owner, head, bound, query.cursor)
            if head is None:
                return [], None, []
            documents = await self._store.page(
                owner,
                "memory",
                of_list(query, now, self._fading),
                place,
                query.limit + 1,
                newest_first=query.order == "desc",
            )
            documents_shown, more = documents[: query.limit], len(documents) > query.limit
            memories, damaged = self._memories(documents_shown, head)
            cursor = (
                self._cursors.make(owner, head, bound, _place(documents_shown[-1]))
                if more
                else None
            )
            return await self._under_their_own_ids(owner, memories), cursor, damaged

        (memories, cursor, damaged), as_of = await self._settled(owner, read)
        return MemoryPage(tuple(memories), cursor, as_of, tuple(damaged))

    async def _settled(
        self, owner: Owner, read: Callable[[Head | None], Awaitable[T]]
    ) -> tuple[T, int | None]:
        """Read at a known sequence: repeat the read until the log did not grow meanwhile.

        None for the sequence if there were writes during each of several attempts.
        """
        head = (await self._store.snapshot(owner)).head
        for _ in range(PAGE_READS):
            answer = await read(head)
            now = (await self._store.snapshot(owner)).head
            if (
                now is None
                or head is None
                or (now.epoch, now.sequence) == (head.epoch, head.sequence)
            ):
                return answer, now.sequence if now is not None and head is not None else 0
            head = now
        return answer, None

    async def versions(self, owner: Owner, memory_id: str) -> list[VersionView]:
        """Return all versions of a memory, oldest first, the present version last.

        Args:
            owner: Whose memory it is.
            memory_id: The id of the memory.

        Raises:
            NotFound: There is no such memory.

        """
        memory = (await self.get(owner, memory_id)).memory
        older = await self._versions_of(owner, memory)
        return [
            _version_view(version)
            for version in (*sorted(older, key=lambda version: version.version), memory)
        ]

    async def procedure(self, owner: Owner, key: str) -> Memory:
        """Return the procedural memory of a key: the memory that holds the key's value now.

        If none does, a value that is announced is returned.

        Args:
            owner: Whose memory it is.
            key: The key of the procedure.

        Raises:
            NotFound: No memory has this key, or it is deleted or superseded without a successor.

        """
        identity = procedure_id(key)
        snapshot = await self._store.snapshot(owner, [identity])
        memory = self._memory(snapshot.documents.get(identity), snapshot.head)
        if memory is not None and not self._holds(memory):
            near = (await self._store.snapshot(owner, (), near_of(("key", key)))).near
            values = [
                neighbour.memory
                for neighbour in near
                if slot_name(neighbour.memory) == ("key", key) and self._holds(neighbour.memory)
            ]
            memory = max(
                values, key=lambda value: (value.event_timestamp, value.sequence), default=memory
            )
        if (
            memory is None
            or memory.status in (Status.DELETED, Status.SUPERSEDED)
            or self._has_ended(memory)
        ):
            raise NotFound("no procedure of this key for this user")
        return memory

    def _holds(self, memory: Memory) -> bool:
        """Whether a memory is found by default, and holds now."""
        has_begun = memory.valid_from <= self._clock.now()
        return memory.status in FOUND_BY_DEFAULT and has_begun and not self._has_ended(memory)

    def _has_ended(self, memory: Memory) -> bool:
        return memory.valid_until is not None and memory.valid_until <= self._clock.now()

    async def many(self, owner: Owner, wanted: NamedInput) -> Fetched:
        """Return memories by id and by key, in this order.

        A memory that is named by its id is returned whatever its status.

        Args:
            owner: Whose memories they are.
            wanted: The ids and keys.

        Returns:
            The memories, the ids and keys of no memory, and the ids of damaged memories.

        """
        names = {key: procedure_id(key) for key in wanted.keys}
        serialised = await self._store.memories(
            owner, [name for name in (*wanted.ids, *names.values()) if not is_version(name)]
        )
        memories, damaged = readable_shown(serialised)
        fetched, missing = [memories[name] for name in wanted.ids if name in memories], list[str]()
        missing += [name for name in wanted.ids if name not in memories and name not in damaged]
        for key, name in names.items():
            memory = memories.get(name)
            try:
                standing = (
                    memory
                    if memory is not None and self._holds(memory)
                    else await self.procedure(owner, key)
                )
            except NotFound:
                missing.append(key)
                continue
            fetched.append(standing)
        return Fetched(tuple(fetched), tuple(missing), tuple(damaged))

    async def id_of_key(self, owner: Owner, key: str) -> str:
        """Return the id of the memory that holds a key's value.

        If no memory holds a value, return the id that the key's memory has or had.

        Args:
            owner: Whose memory it is.
            key: The key of the procedure.

        """
        try:
            return (await self.procedure(owner, key)).id
        except NotFound:
            return procedure_id(key)

    async def tags(self, owner: Owner, query: TagsInput) -> TagPage:
        """Return a page of the tags of active memories.

        Args:
            owner: Whose tags are listed.
            query: The prefix, the limit and the cursor.

        Raises:
            Malformed: The cursor is void.

        """
        head, bound = (
            (await self._store.snapshot(owner)).head,
            {"list": "tags", "prefix": query.prefix},
        )
        place = self._cursors.read(owner, head, bound, query.cursor)
        if head is None:
            return TagPage((), None)
        tags = await self._store.tags(
            owner, query.prefix, None if place is None else place.id, query.limit + 1
        )
        page = tags[: query.limit]
        following = (
            self._cursors.make(owner, head, bound, Place(0, page[-1]))
            if len(tags) > query.limit
            else None
        )
        return TagPage(tuple(page), following)

    async def sessions(self, owner: Owner, cursor: str | None, limit: int) -> SessionPage:
        """Return a page of sessions, the most recently begun first.

        Args:
            owner: Whose sessions are listed.
            cursor: The end of the last page; None for the first page.
            limit: The most sessions of the page.

        Raises:
            Malformed: The cursor is void.

        """
        head = (await self._store.snapshot(owner)).head
        place = self._cursors.read(owner, head, {"list": "sessions"}, cursor)
        if head is None:
            return SessionPage((), None)
        documents = await self._store.page(owner, "session", None, place, limit + 1)
        following = (
            self._cursors.make(owner, head, {"list": "sessions"}, _place(documents[limit - 1]))
            if len(documents) > limit
            else None
        )
        begun = [
            document
            for document in documents[:limit]
            if document.body["epoch"] == head.epoch and has_begun(document)
        ]
        return SessionPage(tuple(_session_view(document.body) for document in begun), following)

    async def session(self, owner: Owner, session_id: str) -> SessionView:
        """Return a session.

        Args:
            owner: Whose session it is.
            session_id: The name of the session.

        Raises:
            NotFound: There is no such session.

        """
        identity = session_document_id(owner, session_id)
        snapshot = await self._store.snapshot(owner, [identity])
        document = snapshot.documents.get(identity)
        if (
            document is None
            or snapshot.head is None
            or document.body["epoch"] != snapshot.head.epoch
            or not has_begun(document)
        ):
            raise NotFound("no session of this name for this user")
        return _session_view(document.body)

    async def messages(
        self, owner: Owner, session_id: str, cursor: str | None, limit: int, *, newest_first: bool
    ) -> MessagePage:
        """Return a page of a session's messages, in the order in which they were sent.

        Args:
            owner: Whose session it is.
            session_id: The name of the session.
            cursor: The end of the last page; None for the first page.
            limit: The most messages of the page.
            newest_first: Whether the newest message comes first.

        Raises:
            NotFound: There is no such session.
            Malformed: The cursor is void.

        """
        await self.session(owner, session_id)
        head = (await self._store.snapshot(owner)).head
        bound = {"list": "messages", "session_id": session_id, "newest_first": newest_first}
        place = self._cursors.read(owner, head, bound, cursor)
        if head is None:
            return MessagePage((), None)
        where = Filter(
            _FOUND, types=_EPISODIC, categories=frozenset({MESSAGE}), session_id=session_id
        )
        documents = await self._store.page(
            owner, "memory", where, place, limit + 1, newest_first=newest_first
        )
        following = (
            self._cursors.make(owner, head, bound, _place(documents[limit - 1]))
            if len(documents) > limit
            else None
        )
        memories, _ = self._memories(documents[:limit], head)
        return MessagePage(
            tuple(session_message(memory) for memory in memories if is_message(memory.id)),
            following,
        )

    async def _under_their_own_ids(self, owner: Owner, memories: list[Memory]) -> list[Memory]:
        """Give old versions the ids of their memories.

        A query as of an earlier time finds such versions. Those of memories that were deleted since
        are left out.
        """
        bases = [base_id(memory.id) for memory in memories if "." in memory.id]
        if not bases:
            return memories
        snapshot = await self._store.snapshot(owner, bases)
        standing = {
            name: self._memory(snapshot.documents.get(name), snapshot.head) for name in bases
        }
        return [
            memory.shown_as(base_id(memory.id))
            for memory in memories
            if "." not in memory.id or is_of_its_life(memory, standing[base_id(memory.id)])
        ]

    async def _versions_of(self, owner: Owner, memory: Memory) -> list[Memory]:
        older: list[Memory] = []
        numbers = range(memory.version - 1, 0, -1)
        for start in range(0, len(numbers), _VERSIONS_READ):
            ids = [
                version_id(memory.id, number) for number in numbers[start : start + _VERSIONS_READ]
            ]
            snapshot = await self._store.snapshot(owner, ids)
            memories = (
                self._memory(document, snapshot.head) for document in snapshot.documents.values()
            )
            older += [version for version in memories if version is not None]
        return older

    def _memories(
        self, documents: Sequence[Document], head: Head
    ) -> tuple[list[Memory], list[str]]:
        """Parse the memories of these documents, with the ids of those that can't be read.

        A damaged document must not hide the rest.
        """
        memories, damaged = [], []
        for document in documents:
            try:
                memory = self._memory(document, head)
            except Damaged as error:
                log.error("a list leaves it out: %s", error.detail)
                damaged.append(document.id)
                continue
            if memory is not None:
                memories.append(memory)
        return memories, damaged

    @staticmethod
    def _memory(document: Document | None, head: Head | None) -> Memory | None:
        if document is None or document.kind not in ("memory", "version"):
            return None
        return as_memory(document, head)


def _place(document: Document) -> Place:
    return Place(int(document.body["sequence"]), document.id)


def _version_view(memory: Memory) -> VersionView:
    snapshot: dict[str, Any] = {
        "tags": memory.tags,
        "metadata": memory.metadata,
        "category": memory.category,
        "subject": memory.subject,
        "attribute": memory.attribute,
        "key": memory.key,
        "value": memory.value,
        "entities": memory.entities,
        "foresight": [foresight.model_dump(mode="json") for foresight in memory.foresight],
        "importance_base": memory.importance_base,
        "pinned": memory.pinned,
    }
    return VersionView(
        memory.version,
        memory.content,
        memory.confidence,
        memory.valid_from,
        memory.valid_until,
        memory.change_reason,
        snapshot,
        memory.updated_at,
    )


def _session_view(body: dict[str, Any]) -> SessionView:
    return SessionView(
        body["session_id"],
        datetime.fromisoformat(body["started_at"]),
        datetime.fromisoformat(body["last_active_at"]),
        {kind: count for kind, count in body["counts"].items() if count > 0},
        body.get("title"),
    )


# The agents that an app's users have memories of: user by user, each agent counted when it
# is asked for.
#
# Note: nothing keeps these counts. Indexes tell them, an agent at a time, so what a page costs is
# bounded by its limit and by how many users are looked at for it. Where many users have no agent, a
# page is short, or empty, though more follow.


HEADS_AT_ONCE: Final = 25
USER_READS: Final = 4
"""Reads of `HEADS_AT_ONCE` users for a page, so 100 users are read at most."""
_BOUND = {"list": "agents"}
_ALL = ""
"""The mark in a cursor, in the place of an agent's id, that all agents of the user were shown."""


class AgentList:
    """Lists the agents of a whole app."""

    def __init__(self, store: LongTermStore, cursors: Cursors) -> None:
        self._store, self._cursors = store, cursors

    async def page(self, app_id: str, cursor: str | None, limit: int) -> AgentPage:
        """Return a page of agents by (user_id, agent_id).

        Users that are being erased have no agents.

        Args:
            app_id: The app.
            cursor: The end of the last page; None for the first page.
            limit: The most agents of the page.

        Raises:
            Malformed: The cursor is void.

        """
        # one more than is shown: it tells whether more follow
        after, agents = await self._rest_of_user(app_id, cursor, limit + 1)
        for _ in range(USER_READS):
            if len(agents) > limit:
                break
            heads = await self._store.owners(after, HEADS_AT_ONCE, app_id)
            for owner, head in heads:
                if len(agents) > limit:
                    break
                if _is_to_count(head):
                    agents += await self._of_user(owner, None, limit + 1 - len(agents))
                after = owner
            if len(heads) < HEADS_AT_ONCE and len(agents) <= limit:
                return AgentPage(tuple(agents), None)
        if len(agents) > limit:
            return AgentPage(
                tuple(agents[:limit]),
                self._cursor(app_id, agents[limit - 1].user_id, agents[limit - 1].agent_id),
            )
        return AgentPage(tuple(agents), self._cursor(app_id, after.user_id, _ALL))

    async def _rest_of_user(
        self, app_id: str, cursor: str | None, limit: int
    ) -> tuple[Owner, list[AgentView]]:
        """Return the user at which the last page ended, with the agents not shown.

        For a first page, the user is an empty name before all users.
        """
        user_id, agent_id = self._cursors.read_for_app(app_id, _BOUND, cursor) or ("", _ALL)
        owner = Owner(app_id, user_id)
        if agent_id == _ALL:
            return owner, []
        head = (await self._store.snapshot(owner)).head
        return owner, [] if head is None or not _is_to_count(head) else await self._of_user(
            owner, agent_id, limit
        )

    async def _of_user(self, owner: Owner, after: str | None, limit: int) -> list[AgentView]:
        counted = await self._store.agents(owner, after, limit)
        return [
            AgentView(owner.user_id, count.agent_id, count.memories, count.last_active_at)
            for count in counted
        ]

    def _cursor(self, app_id: str, user_id: str, agent_id: str) -> str:
        return self._cursors.make_for_app(app_id, _BOUND, (user_id, agent_id))


def _is_to_count(head: Head) -> bool:
    """Whether the stored data is the user's own.

    It is not during an erasure, nor without a log, which means that an import is under way.
    """
    return head.state == "live" and head.sequence > 0
