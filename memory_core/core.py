"""The library interface of Memory Core.

Azure Functions, the development host and embedding programs all call `MemoryCore`.
`bootstrap/services.py` builds the services that its methods use. Open a `MemoryCore` inside the
event loop that will use it. A process needs a single instance.
"""

from __future__ import annotations

import asyncio
import builtins
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar

from memory_core.access.records import AuditPage, KeyPage, NewKey, StoredKey
from memory_core.adapters.system import RandomIds, SystemClock
from memory_core.bootstrap.adapters import Adapters
from memory_core.bootstrap.services import Services
from memory_core.config import Settings
from memory_core.domain.conflict import ConflictPage, ConflictRecord
from memory_core.domain.conversation import Task
from memory_core.domain.errors import Conflict, KeyReused, MemoryCoreError, NotFound
from memory_core.domain.fading import explained
from memory_core.domain.fields import Input
from memory_core.domain.memory import Memory, Status
from memory_core.domain.rate_limits import Spent
from memory_core.domain.redaction.requests import Redactor, text_length
from memory_core.domain.requests.access import AuditInput, KeyInput, KeysInput, RotateInput
from memory_core.domain.requests.maintenance import (
    AgentMemoryInput,
    ArchiveInput,
    BatchInput,
    ConflictsInput,
    ConsolidateInput,
    DecayInput,
    ForgetInput,
    ImportCommitInput,
    ImportInput,
    ReembedInput,
    ReplayInput,
    ResolveInput,
    SettingsInput,
    SummaryInput,
    TimelineInput,
    UserSettings,
)
from memory_core.domain.requests.memories import (
    MOST_IDS,
    AcrossInput,
    AppendInput,
    ClearInput,
    Context,
    ContextInput,
    ConverseInput,
    CopyInput,
    ListInput,
    NamedInput,
    RetrieveInput,
    SaveInput,
    StatusInput,
    TagsInput,
    TasksInput,
    UpdateInput,
)
from memory_core.domain.results import (
    Accepted,
    AgentPage,
    Appended,
    Buffered,
    Call,
    Deleted,
    EventPage,
    Evolution,
    Fetched,
    Foreseen,
    ForeseenMemories,
    MemoryPage,
    MessagePage,
    OwnedTaskPage,
    Retrieved,
    Saved,
    SessionPage,
    SessionView,
    Settled,
    Summary,
    Swept,
    TagPage,
    TakenBack,
    TaskPage,
    VersionView,
)
from memory_core.domain.scenes import Profile, ScenePage, SceneView
from memory_core.domain.scope import Owner, check_app_id, check_name, checked
from memory_core.domain.transitions import BY_HAND
from memory_core.ledger.ids import keyed
from memory_core.ports import Clock, IdSource, QueueName, TaskQueue
from memory_core.recollection.history import Direction, GraphFormat
from memory_core.tasks.leases import Lease
from memory_core.telemetry import readiness

NO_CALL = Call()
EVERY = ConflictsInput()
AN_EXPORT = ImportInput()


Core = TypeVar("Core", bound="type[MemoryCore]")
LONG_REQUEST = 20_000
"""Length in characters from which a request is redacted in a thread.

Redaction of a longer request takes more than 5 ms, which would delay all other requests.
"""


def redact_requests(core: Core) -> Core:
    """Make every call of the class receive its requests without secrets.

    No secret of a request can then be stored, embedded, sent or logged. If a request was changed,
    the hash that the caller made of the original request for its idempotency key is dropped, and
    `keyed` makes another.
    """
    for name, call in vars(core).items():
        if inspect.iscoroutinefunction(call) and not name.startswith("_"):
            setattr(core, name, _redacting(call))
    return core


def _redacting(call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(call)
    async def redact_first(core: MemoryCore, *given: Any, **named: Any) -> Any:
        requests = [*given, *named.values()]
        redacted = [
            await _redacted(core._services.redactor, value) if _is_request(value) else value
            for value in requests
        ]
        if any(after is not before for before, after in zip(requests, redacted, strict=True)):
            redacted = [
                replace(value, body_hash="") if isinstance(value, Call) else value
                for value in redacted
            ]
        return await call(
            core, *redacted[: len(given)], **dict(zip(named, redacted[len(given) :], strict=True))
        )

    return redact_first


async def _redacted(redactor: Redactor, value: Any) -> Any:
    path = "memories" if isinstance(value, list) else ""
    if text_length(value) < LONG_REQUEST:
        return redactor.value(value, path)
    return await asyncio.to_thread(redactor.value, value, path)


def _is_request(value: Any) -> bool:
    return isinstance(value, Input) or (
        isinstance(value, (list, tuple)) and all(isinstance(item, Input) for item in value)
    )


@redact_requests
class MemoryCore:
    """Save, find and change memories; every call names the owner of the memories."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        clock: Clock | None = None,
        ids: IdSource | None = None,
        adapters: Adapters | None = None,
    ) -> None:
        """Build all services, without connecting to any of them.

        Args:
            settings: None for the settings of the environment.
            clock: None for the clock of the system.
            ids: Source of new ids; None for random ids.
            adapters: Replace the adapters that the settings name.

        """
        self.settings = settings or Settings.from_env()
        self._services = Services(
            self.settings, clock or SystemClock(), ids or RandomIds(), adapters
        )
        self._telemetry = self._services.telemetry

    async def open(self) -> None:
        """Connect to the long-term store, short-term store, queue and archive.

        If the connection to either store fails, no connection stays open.

        Raises:
            Unavailable: A store can't be reached.
            EmbeddingMismatch: The stored vectors are of another embedder.

        """
        await self._services.open()

    async def warm_up(self) -> None:
        """Open, and load embedder and agents too, to spare the first request the wait."""
        await self._services.warm_up()

    async def close(self) -> None:
        """Let the work under way finish, and release all connections and threads."""
        await self._services.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def redact(self, text: str) -> str:
        """Replace the secrets in a text by marks, as `MEMORY_REDACT` says."""
        return self._services.redactor.text(text)

    # Single memories: save, find, read and change them.

    async def save(self, owner: Owner, item: SaveInput, call: Call = NO_CALL) -> Saved:
        """Save a single memory.

        The memory is durable when the call returns.

        Args:
            owner: App and user whose memory it is.
            item: The memory to save.
            call: The caller and the idempotency key.

        Raises:
            Conflict: The idempotency key was used for another request.
            Invalid: A field of the memory is wrong.
            QuotaExceeded: A limit of stored bytes leaves no room.
            Unavailable: A store or the embedder is down.
            EmbeddingMismatch: The stored vectors are of another embedder.

        """
        with self._telemetry.operation("save"):
            asked = keyed(call, "save", item)
            (saved,) = await self._services.saver.save(checked(owner), [item], asked)
            if isinstance(saved, MemoryCoreError):
                raise saved
            return saved

    async def bulk(
        self,
        owner: Owner,
        items: Sequence[SaveInput],
        call: Call = NO_CALL,
        *,
        atomic: bool = False,
    ) -> builtins.list[Saved | MemoryCoreError]:
        """Save up to a hundred memories, in order.

        Args:
            owner: App and user whose memories they are.
            items: The memories to save.
            call: The caller and the idempotency key.
            atomic: Whether all are saved in the same commit, or none of them is.

        Returns:
            For each item the saved memory, or the error that concerns this item alone. An error
            that concerns all items is raised.

        Raises:
            Invalid: With atomic, an item is wrong; its fields are named as `memories.3.…`.
            TooLarge: With atomic, the items are more than a single commit holds.
            QuotaExceeded: There is no room for the first memory, or with atomic for all of them.
            Unavailable: A store or the embedder is down.

        """
        with self._telemetry.operation("bulk"):
            self._telemetry.batch("bulk", len(items))
            asked = (
                keyed(call, "bulk", str(atomic), *items) if atomic else keyed(call, "bulk", *items)
            )
            return [*await self._services.saver.save(checked(owner), items, asked, atomic=atomic)]

    async def retrieve(self, owner: Owner, query: RetrieveInput) -> Retrieved:
        """Find the memories that answer a query, the best first.

        Args:
            owner: App and user whose memories are searched.
            query: The query with its filters, mode and cursor.

        Returns:
            No results where no memory answers the query. With `explain`, each result explains its
            score and fading, and the answer names the request charge.

        Raises:
            Malformed: The cursor is void.
            Unavailable: A store or the embedder is down.
            EmbeddingMismatch: The stored vectors are of another embedder.

        """
        with self._telemetry.operation("query_memory"):
            ask = (
                self._services.pages.page
                if query.mode == "fast"
                else self._services.reconstructor.reconstruct
            )
            if not query.explain:
                return await ask(checked(owner), query)
            with self._telemetry.bill() as charges:
                answer = await ask(checked(owner), query)
            charge = round(sum(charges), 2) if charges else None
            results = tuple(
                hit._replace(
                    explain={
                        **(hit.explain or {}),
                        "fading": explained(hit.memory, self._services.fading),
                    }
                )
                for hit in answer.results
            )
            return replace(
                answer,
                results=results,
                explain={**(answer.explain or {}), "request_charge": charge},
            )

    async def context(self, owner: Owner, asked: ContextInput) -> Context:
        """Write the briefing for an agent's next turn, as a single text.

        Args:
            owner: App and user whose memories are quoted.
            asked: The topic of the turn, its session, and the budget of tokens.

        Raises:
            Unavailable: A store or the embedder is down.
            EmbeddingMismatch: The stored vectors are of another embedder.

        """
        with self._telemetry.operation("context"):
            return await self._services.briefing.brief(checked(owner), asked)

    async def list(self, owner: Owner, query: ListInput) -> MemoryPage:
        """List memories page by page, newest first unless the query's order is `asc`.

        With `known_at`, the page is derived from the log and shows the memories as they were then.

        Args:
            owner: App and user whose memories are listed.
            query: The filters, the order and the cursor.

        Raises:
            Malformed: The cursor is void.

        """
        with self._telemetry.operation("list"):
            reader = self._services.reader if query.known_at is None else self._services.replayer
            return await reader.page(checked(owner), query)

    async def update(
        self,
        owner: Owner,
        memory_id: str,
        change: UpdateInput,
        if_match: str | None,
        call: Call = NO_CALL,
    ) -> Memory:
        """Write the next version of a memory.

        Args:
            owner: App and user whose memory it is.
            memory_id: The memory to change.
            change: The fields to change; all other fields keep their values.
            if_match: The memory's current ETag, which is required.
            call: The caller and the idempotency key.

        Raises:
            PreconditionFailed: `if_match` is missing or is not the current ETag.
            Conflict: The memory is episodic, or its status forbids a change.
            NotFound: This user has no such memory.
            QuotaExceeded: A limit of stored bytes leaves no room.

        """
        with self._telemetry.operation("update"):
            return await self._services.editor.update(
                checked(owner),
                memory_id,
                change,
                if_match,
                keyed(call, "update", memory_id, change),
            )

    async def delete(
        self, owner: Owner, memory_id: str, call: Call = NO_CALL, *, if_match: str | None = None
    ) -> Deleted:
        """Delete a memory softly.

        A memory that is already deleted stays as it is, and the outcome says so.

        Args:
            owner: App and user whose memory it is.
            memory_id: The memory to delete.
            call: The caller and the idempotency key.
            if_match: ETag that the memory must still have; None or `*` for any.

        Raises:
            NotFound: This user has no such memory.
            PreconditionFailed: The memory has another ETag by now.

        """
        with self._telemetry.operation("delete"):
            return await self._services.editor.delete(
                checked(owner), memory_id, keyed(call, "delete", memory_id), if_match=if_match
            )

    async def get_many(self, owner: Owner, wanted: NamedInput) -> Fetched:
        """Read up to a hundred memories by id or key, in the requested order.

        Args:
            owner: App and user whose memories they are.
            wanted: The ids and the keys.

        Returns:
            The memories, and the ids and keys that were not found or can't be read.

        Raises:
            Unavailable: A store is down.

        """
        with self._telemetry.operation("get_many"):
            fetched = await self._services.reader.many(checked(owner), wanted)
            self._services.note_access(owner, fetched.memories)
            return fetched

    async def delete_many(
        self, owner: Owner, wanted: NamedInput, call: Call = NO_CALL
    ) -> builtins.list[Deleted | MemoryCoreError]:
        """Delete up to a hundred memories softly: first those by id, then those by key.

        They are deleted in turn, and each deletion is durable by itself.

        Args:
            owner: App and user whose memories they are.
            wanted: The ids and the keys.
            call: The caller and the idempotency key.

        Returns:
            For each memory the outcome, or the error that concerns this memory alone (NotFound,
            Conflict).

        Raises:
            KeyReused: The idempotency key was used for another request.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("delete_many"):
            self._telemetry.batch("delete", len(wanted.ids) + len(wanted.keys))
            asked, results = keyed(call, "delete_many", wanted), list[Deleted | MemoryCoreError]()
            calls = [replace(asked, route=f"{asked.route} {place}") for place in range(MOST_IDS)]
            await self._services.editor.check_key(checked(owner), calls)
            names = [*((name, False) for name in wanted.ids), *((key, True) for key in wanted.keys)]
            for (name, by_key), alone in zip(names, calls, strict=False):
                try:
                    identity = (
                        await self._services.reader.id_of_key(checked(owner), name)
                        if by_key
                        else name
                    )
                    results.append(
                        await self._services.editor.delete(checked(owner), identity, alone)
                    )
                except KeyReused:
                    raise
                except (NotFound, Conflict) as error:
                    results.append(error)
            return results

    async def tags(self, owner: Owner, query: TagsInput) -> TagPage:
        """List the tags of the user's memories, page by page.

        Args:
            owner: App and user whose tags are listed.
            query: The prefix of the tags, the size of a page and the cursor.

        Raises:
            Malformed: The cursor is void.

        """
        with self._telemetry.operation("tags"):
            return await self._services.reader.tags(checked(owner), query)

    async def set_status(
        self, owner: Owner, memory_id: str, change: StatusInput, call: Call = NO_CALL
    ) -> Memory:
        """Set the status of a memory explicitly to `deleted` or `active`.

        `active` brings the memory back into use from any other status, as `restore` does.

        Args:
            owner: App and user whose memory it is.
            memory_id: The memory to change.
            change: The new status and the reason for it.
            call: The caller and the idempotency key.

        Raises:
            Conflict: The status can't be set explicitly; the error names those that can.
            NotFound: This user has no such memory.
            QuotaExceeded: A limit of stored bytes leaves no room.

        """
        with self._telemetry.operation("update_memory_status"):
            call = keyed(call, "status", memory_id, change)
            if change.status not in BY_HAND:
                await self._services.editor.refuse_status(checked(owner), memory_id)
            if change.status is Status.ACTIVE:
                return await self._services.restorer.activate(
                    checked(owner), memory_id, change, call
                )
            return (
                await self._services.editor.delete(
                    checked(owner), memory_id, call, reason=change.reason
                )
            ).memory

    async def clear(self, owner: Owner, request: ClearInput, call: Call = NO_CALL) -> int:
        """Delete the memories of a session softly, and return how many there were.

        Args:
            owner: App and user whose session it is.
            request: The session, and the type of memories if only this type is deleted.
            call: The caller and the idempotency key.

        """
        with self._telemetry.operation("clear"):
            cleared = await self._services.clearer.clear(
                checked(owner), request, keyed(call, "clear", request)
            )
            self._telemetry.batch("clear", cleared)
            return cleared

    async def copy(
        self, owner: Owner, memory_id: str, to: CopyInput, call: Call = NO_CALL
    ) -> Memory:
        """Copy a memory to another agent of the same user.

        Args:
            owner: App and user whose memory it is.
            memory_id: The memory to copy.
            to: The agent that receives the copy.
            call: The caller and the idempotency key.

        Raises:
            NotFound: This user has no such memory.
            Conflict: The memory's status forbids a copy, or the idempotency key was used for
                another request.
            Invalid: The memory belongs to that agent already.
            QuotaExceeded: A limit of stored bytes leaves no room.

        """
        with self._telemetry.operation("copy"):
            return await self._services.editor.copy(
                checked(owner), memory_id, to, keyed(call, "copy", memory_id, to)
            )

    async def versions(self, owner: Owner, memory_id: str) -> builtins.list[VersionView]:
        """List all versions of a memory, the oldest first.

        Args:
            owner: App and user whose memory it is.
            memory_id: The memory whose versions are listed.

        Raises:
            NotFound: This user has no such memory.

        """
        with self._telemetry.operation("versions"):
            return await self._services.reader.versions(checked(owner), memory_id)

    async def evolution(
        self, owner: Owner, memory_id: str, direction: Direction = "forward"
    ) -> Evolution:
        """Read the chain of a memory along `next_id`.

        Args:
            owner: App and user whose memory it is.
            memory_id: The memory to start from.
            direction: `forward`: the memory and its successors in order. `backward`: the memories
                that it replaced, the nearest first. `both`: the whole chain, the oldest first.

        Raises:
            NotFound: This user has no such memory.

        """
        with self._telemetry.operation("traverse_memory_evolution_chain"):
            return await self._services.lineage.chain(checked(owner), memory_id, direction)

    async def evolution_graph(
        self, owner: Owner, memory_id: str, format: GraphFormat = "mermaid"
    ) -> str:
        """Draw the tree of versions and successors that a memory belongs to.

        Args:
            owner: App and user whose memory it is.
            memory_id: A memory of the tree.
            format: Whether to return the source of a drawing or a complete page.

        Raises:
            NotFound: This user has no such memory.

        """
        with self._telemetry.operation("generate_evolution_graph"):
            return await self._services.lineage.drawing(checked(owner), memory_id, format)

    async def procedure(self, owner: Owner, key: str) -> Memory:
        """Read the procedural memory of a key.

        Args:
            owner: App and user whose memory it is.
            key: The key of the procedure.

        Raises:
            NotFound: This user has no procedure under this key.

        """
        with self._telemetry.operation("procedure"):
            return await self._services.reader.procedure(checked(owner), key)

    async def sessions(
        self, owner: Owner, cursor: str | None = None, limit: int = 20
    ) -> SessionPage:
        """List sessions page by page, the session that began last first.

        Args:
            owner: App and user whose sessions are listed.
            cursor: Where the page begins; None for the first page.
            limit: The most sessions that a page holds.

        Raises:
            Malformed: The cursor is void.

        """
        with self._telemetry.operation("sessions"):
            return await self._services.reader.sessions(checked(owner), cursor, limit)

    async def session_messages(
        self,
        owner: Owner,
        session_id: str,
        cursor: str | None = None,
        limit: int = 50,
        *,
        newest_first: bool = False,
    ) -> MessagePage:
        """List the messages of a session page by page, in the order of sending.

        Args:
            owner: App and user whose session it is.
            session_id: The session to read.
            cursor: Where the page begins; None for the first page.
            limit: The most messages that a page holds.
            newest_first: Whether the order is reversed.

        Raises:
            NotFound: This user has no such session.
            Malformed: The cursor is void.

        """
        with self._telemetry.operation("sessions"):
            return await self._services.reader.messages(
                checked(owner), session_id, cursor, limit, newest_first=newest_first
            )

    async def append(
        self, owner: Owner, session_id: str, request: AppendInput, call: Call = NO_CALL
    ) -> Appended:
        """Append items to a session, in order and unchanged.

        Memories are formed of the items only if the request says so. The items are durable when the
        call returns.

        Args:
            owner: App and user whose session it is.
            session_id: The session, which begins with its first item.
            request: The items, and whether memories are formed of them.
            call: The caller and the idempotency key.

        Raises:
            Conflict: The idempotency key was used for another request.
            HeadMoved: Other writers changed the session faster than this call could be decided.
            QuotaExceeded: A limit of stored bytes leaves no room.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("append"):
            asked = keyed(call, "append", session_id, request)
            return await self._services.appender.append(
                checked(owner), check_name(session_id), request, asked
            )

    async def take_back(
        self, owner: Owner, session_id: str, count: int | None = None, call: Call = NO_CALL
    ) -> TakenBack:
        """Take back a session's last messages, with all memories that came of them alone.

        Args:
            owner: App and user whose session it is.
            session_id: The session to shorten.
            count: How many messages; None: the user's last message and all after it.
            call: The caller and the idempotency key.

        Raises:
            NotFound: This user has no such session.
            HeadMoved: Other writers changed the session faster than this call could be decided.
            QuotaExceeded: A limit of stored bytes leaves no room.

        """
        with self._telemetry.operation("take_back"):
            # a door knows nothing of the count
            asked = keyed(replace(call, body_hash=""), "take_back", session_id, str(count))
            return await self._services.last_messages.take(
                checked(owner), check_name(session_id), count, asked
            )

    async def session(self, owner: Owner, session_id: str) -> SessionView:
        """Read a session.

        Args:
            owner: App and user whose session it is.
            session_id: The session to read.

        Raises:
            NotFound: This user has no such session.

        """
        with self._telemetry.operation("sessions"):
            return await self._services.reader.session(checked(owner), session_id)

    # What is formed by itself: conversations, batches, summaries, and the tasks that work on them.

    async def converse(
        self, owner: Owner, request: ConverseInput, call: Call = NO_CALL
    ) -> Accepted:
        """Accept a conversation, of which a task forms memories.

        The conversation is durable when the call returns.

        Args:
            owner: App and user whose conversation it is.
            request: The messages and the session.
            call: The caller and the idempotency key.

        Raises:
            Invalid: The callback address may not be called.
            Conflict: The idempotency key was used for another request.
            TooLarge: The conversation is over its limit.
            QuotaExceeded: A limit of stored bytes leaves no room.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("converse"):
            return await self._services.formation.converser.converse(
                checked(owner), request, keyed(call, "converse", request)
            )

    async def agent_memory(
        self, owner: Owner, request: AgentMemoryInput, call: Call = NO_CALL
    ) -> Accepted:
        """Accept an agent's own words, of which a task forms a single memory.

        The words are durable when the call returns.

        Args:
            owner: App and user whose memory it becomes.
            request: The agent's messages and the session.
            call: The caller and the idempotency key.

        Raises:
            Invalid: The callback address may not be called.
            Conflict: The idempotency key was used for another request.
            TooLarge: The words are over their limit.
            QuotaExceeded: A limit of stored bytes leaves no room.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("create_agent_memory"):
            return await self._services.formation.converser.store_agent_words(
                checked(owner), request, keyed(call, "agent_memory", request)
            )

    async def summary(
        self, app_id: str, request: SummaryInput, *, user_id: str | None = None
    ) -> Summary:
        """Summarize messages at once, without storing any of them.

        Args:
            app_id: The app that asks.
            request: The messages to summarize.
            user_id: The user whose tokens of the day are spent beside the app's; None: the app's
                alone.

        Raises:
            Unavailable: The model is down.

        """
        with self._telemetry.operation("generate_conversation_summary"):
            owner = Owner(check_app_id(app_id), "" if user_id is None else check_name(user_id))
            return await self._services.formation.summaries.at_once(owner, request)

    async def summary_later(
        self, owner: Owner, request: SummaryInput, call: Call = NO_CALL
    ) -> Accepted:
        """Summarize messages by a task that sends the summary to a callback address.

        Args:
            owner: App and user whose task it is.
            request: The messages to summarize and the callback address.
            call: The caller and the idempotency key.

        Raises:
            Invalid: The callback address may not be called.
            Conflict: The idempotency key was used for another request.
            TooLarge: The messages are over their limit.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("generate_conversation_summary"):
            return await self._services.formation.summaries.later(
                checked(owner), request, keyed(call, "summary", request)
            )

    async def batch(self, owner: Owner, request: BatchInput, call: Call = NO_CALL) -> Buffered:
        """Add messages to the batch of a session, to be formed together later.

        The messages are durable when the call returns.

        Args:
            owner: App and user whose session it is.
            request: The session and the messages.
            call: The caller and the idempotency key.

        Raises:
            Conflict: The idempotency key was used for another request.
            TooLarge: The batch is over its limit.
            HeadMoved: Other writers changed the batch faster than this call could be decided.
            QuotaExceeded: A limit of stored bytes leaves no room.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("batch"):
            return await self._services.formation.batches.append(
                checked(owner), request, keyed(call, "batch", request)
            )

    async def batch_state(self, owner: Owner, session_id: str) -> Buffered:
        """Read the state of the batch that waits in a session.

        Args:
            owner: App and user whose session it is.
            session_id: The session of the batch.

        """
        with self._telemetry.operation("batch_state"):
            return await self._services.formation.batches.state(
                checked(owner), check_name(session_id)
            )

    async def batch_flush(
        self, owner: Owner, session_id: str, call: Call = NO_CALL
    ) -> Accepted | None:
        """Form the batch of a session now.

        Args:
            owner: App and user whose session it is.
            session_id: The session of the batch.
            call: The caller and the idempotency key.

        Returns:
            The task; None where no message waits.

        Raises:
            Conflict: The idempotency key was used for another request.
            HeadMoved: Other writers changed the batch faster than this call could be decided.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("batch_flush"):
            return await self._services.formation.batches.flush(
                checked(owner), check_name(session_id), keyed(call, "batch_flush", session_id)
            )

    async def task(self, owner: Owner, task_id: str) -> Task:
        """Read a task, with the log of deliveries in its result.

        Args:
            owner: App and user whose task it is.
            task_id: The task to read.

        Raises:
            NotFound: This user has no such task.

        """
        with self._telemetry.operation("tasks"):
            task = await self._services.task_services.tasks.get(checked(owner), task_id)
            return await self._services.formation.deliveries.shown(owner, task)

    async def tasks(self, owner: Owner, query: TasksInput) -> TaskPage:
        """List tasks page by page, the newest first.

        Args:
            owner: App and user whose tasks are listed.
            query: The status, the kind, the cursor and the size of a page.

        Raises:
            Malformed: The cursor is void.

        """
        with self._telemetry.operation("tasks"):
            return await self._services.task_services.tasks.page(
                checked(owner), query.status, query.kind, query.cursor, query.limit
            )

    async def retry(self, owner: Owner, task_id: str, call: Call = NO_CALL) -> Task:
        """Restart a task that failed, is poisoned or waits.

        Args:
            owner: App and user whose task it is.
            task_id: The task to restart.
            call: The caller and the idempotency key.

        Raises:
            NotFound: This user has no such task.
            Conflict: The task has succeeded or was cancelled, or a worker has it now.

        """
        with self._telemetry.operation("retry_task"):
            return await self._services.task_services.control.retry(
                checked(owner), task_id, keyed(call, "retry", task_id)
            )

    async def cancel(self, owner: Owner, task_id: str, call: Call = NO_CALL) -> Task:
        """End a task that is not done; the memories that it has formed stay.

        Args:
            owner: App and user whose task it is.
            task_id: The task to end.
            call: The caller and the idempotency key.

        Raises:
            NotFound: This user has no such task.
            Conflict: The task has ended, or it is an erasure or a hard delete that can't be
                stopped.

        """
        with self._telemetry.operation("cancel_task"):
            return await self._services.task_services.control.cancel(
                checked(owner), task_id, keyed(call, "cancel", task_id)
            )

    async def work(self, message: str, queue: QueueName = "formation") -> None:
        """Do the work that a message of a queue asks for.

        Note: if this raises, the message must be delivered again.

        Args:
            message: The body of the message.
            queue: The queue that the message came from.

        """
        with self._telemetry.operation("work"):
            begun: Lease | bool = False
            if queue == "consolidation":
                begun = await self._services.consolidation.fan_out.work(message)
            if not begun:
                await self._services.worker.work(message, queue)
            elif isinstance(begun, Lease):
                await self._services.worker.go_on(begun)

    async def give_up(self, message: str, queue: QueueName = "formation") -> None:
        """Record on a task that its message ended in the poison queue.

        The message had been delivered too often.

        Args:
            message: The body of the message.
            queue: The queue that delivered the message.

        """
        with self._telemetry.operation("give_up"):
            await self._services.worker.give_up(message, queue)

    async def sweep(self, *, dry_run: bool = False) -> Swept:
        """Send the messages of tasks again that were lost on their way.

        This is work of the hourly timer. With dry_run, they are only counted. Raises Unavailable.
        """
        with self._telemetry.operation("sweep"):
            return await self._services.task_services.sweep.run(dry_run=dry_run)

    # Memories that could not both be true.

    async def conflicts(self, owner: Owner, query: ConflictsInput = EVERY) -> ConflictPage:
        """List conflict records page by page, the newest first.

        Args:
            owner: App and user whose conflicts are listed.
            query: The status, the cursor and the size of a page.

        Raises:
            Malformed: The cursor is void.

        """
        with self._telemetry.operation("conflicts"):
            return await self._services.conflicts.page(checked(owner), query)

    async def conflict(self, owner: Owner, conflict_id: str) -> ConflictRecord:
        """Read a conflict record.

        Args:
            owner: App and user whose conflict it is.
            conflict_id: The record to read.

        Raises:
            NotFound: This user has no such record.

        """
        with self._telemetry.operation("conflicts"):
            return await self._services.conflicts.get(checked(owner), conflict_id)

    async def resolve_conflict(
        self, owner: Owner, conflict_id: str, asked: ResolveInput, call: Call = NO_CALL
    ) -> ConflictRecord:
        """Decide a pending conflict.

        Args:
            owner: App and user whose conflict it is.
            conflict_id: The record to decide.
            asked: The decision and its reason.
            call: The caller and the idempotency key.

        Raises:
            NotFound: This user has no such record.
            Conflict: The conflict is resolved in another way, a side of it is no longer active, or
                the decision is not possible.
            QuotaExceeded: A limit of stored bytes leaves no room.

        """
        with self._telemetry.operation("resolve_conflict"):
            return await self._services.conflicts.resolve(
                checked(owner),
                conflict_id,
                asked,
                keyed(call, "resolve_conflict", conflict_id, asked),
            )

    async def undo_conflict(
        self, owner: Owner, conflict_id: str, call: Call = NO_CALL
    ) -> ConflictRecord:
        """Take back the decision about a conflict, which is pending again then.

        Args:
            owner: App and user whose conflict it is.
            conflict_id: The record whose decision is taken back.
            call: The caller and the idempotency key.

        Raises:
            NotFound: This user has no such record.
            Conflict: A later change prevents it; the error names the obstacle.
            QuotaExceeded: A limit of stored bytes leaves no room.

        """
        with self._telemetry.operation("undo_conflict"):
            return await self._services.conflicts.undo(
                checked(owner), conflict_id, keyed(call, "undo_conflict", conflict_id)
            )

    # What memories add up to: scenes and the profile of a person.

    async def next_run(self, owner: Owner) -> datetime | None:
        """Latest time by which the user's next run, which makes scenes and traits, has begun.

        None where no run is due. Raises Unavailable.
        """
        with self._telemetry.operation("scenes"):
            return await self._services.next_run.expected(checked(owner))

    async def scenes(self, owner: Owner, cursor: str | None = None, limit: int = 20) -> ScenePage:
        """List scenes page by page, the scene that began last first.

        Args:
            owner: App and user whose scenes are listed.
            cursor: Where the page begins; None for the first page.
            limit: The most scenes that a page holds.

        Raises:
            Malformed: The cursor is void.

        """
        with self._telemetry.operation("scenes"):
            return await self._services.scenes.page(checked(owner), cursor, limit)

    async def scene(self, owner: Owner, scene_id: str) -> SceneView:
        """Read a scene.

        Args:
            owner: App and user whose scene it is.
            scene_id: The scene to read.

        Raises:
            NotFound: This user has no such scene.

        """
        with self._telemetry.operation("scenes"):
            return await self._services.scenes.get(checked(owner), scene_id)

    async def profile(self, owner: Owner, at: datetime | None = None) -> Profile:
        """Read the profile of a person.

        Args:
            owner: App and user whose profile it is.
            at: The moment at which the profile holds; None for now.

        Returns:
            An empty profile for an unknown user.

        """
        with self._telemetry.operation("profile"):
            return await self._services.profiles.of(checked(owner), at)

    # The archive: what moves there, and what comes back.

    async def archive(
        self, owner: Owner, asked: ArchiveInput, call: Call = NO_CALL
    ) -> Accepted | Foreseen:
        """Move memories that were not accessed for years to the archive, by a task.

        Args:
            owner: App and user whose memories they are.
            asked: The session, if only its memories are moved; with dry_run, they are only counted.
            call: The caller and the idempotency key.

        Raises:
            Conflict: The idempotency key was used for another request.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("archive"):
            archiver = self._services.consolidation.archiver
            if asked.dry_run:
                return await archiver.dry_run(checked(owner), asked.session_id)
            return await archiver.begin(
                checked(owner), asked.session_id, keyed(call, "archive", asked)
            )

    async def restore(self, owner: Owner, memory_id: str, call: Call = NO_CALL) -> Memory:
        """Bring a memory back into use.

        A memory returns from the archive with its whole chain. A memory may also be deleted,
        superseded, compressed or decayed. A memory that is in use is returned unchanged.

        Args:
            owner: App and user whose memory it is.
            memory_id: The memory to restore.
            call: The caller and the idempotency key.

        Raises:
            NotFound: This user has no such memory.
            Conflict: The memory can't be restored, or the idempotency key was used for another
                request.
            Damaged: The archived copy can't be read; the stub stays.
            QuotaExceeded: A limit of stored bytes leaves no room.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("restore"):
            return await self._services.restorer.restore(
                checked(owner), check_name(memory_id), keyed(call, "restore", memory_id)
            )

    # Time past: the log, and what memories were when it was shorter.

    async def get(
        self,
        owner: Owner,
        memory_id: str,
        *,
        at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Memory:
        """Read a memory, with its embedding unless `known_at` is given.

        Args:
            owner: App and user whose memory it is.
            memory_id: The memory to read.
            at: Event time at which the memory was true; None for now.
            known_at: System time at which the memory was known; None for now. See `look_at`.

        Raises:
            NotFound: This user has no such memory, or it was not true or known at that time.

        """
        return (await self.look_at(owner, memory_id, at=at, known_at=known_at)).memory

    async def look_at(
        self,
        owner: Owner,
        memory_id: str,
        *,
        at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Settled:
        """Read a memory, and the sequence of the log of which this is the state.

        Args:
            owner: App and user whose memory it is.
            memory_id: The memory to read.
            at: Event time at which the memory was true; None for now.
            known_at: System time at which the memory was known; None for now. The memory is then
                derived from the log, so it lacks its vector and other fields that no event records.

        Raises:
            NotFound: This user has no such memory, or it was not true or known at that time.

        """
        with self._telemetry.operation("get"):
            if known_at is not None:
                return await self._services.replayer.get(checked(owner), memory_id, known_at, at)
            memory = await self._services.reader.get(checked(owner), memory_id, at)
            if at is None:
                self._services.note_access(owner, [memory.memory])
            return memory

    async def timeline(self, owner: Owner, query: TimelineInput) -> EventPage:
        """List the events of the log page by page, the oldest first.

        Args:
            owner: App and user whose log it is.
            query: The types and times of the events, the cursor and the size of a page.

        Raises:
            Malformed: The cursor is void.

        """
        with self._telemetry.operation("timeline"):
            return await self._services.timeline.page(checked(owner), query)

    async def replay(self, owner: Owner, query: ReplayInput) -> MemoryPage:
        """List the memories of all statuses as they were at a sequence of the log.

        Fields that the log does not record are left out of that.

        Args:
            owner: App and user whose memories are listed.
            query: The sequence or the moment, the cursor and the size of a page.

        Raises:
            Malformed: The cursor is void.
            Invalid: The sequence is yet to come.
            HeadMoved: The user was erased meanwhile.

        """
        with self._telemetry.operation("replay"):
            return await self._services.replayer.replay(checked(owner), query)

    async def write_snapshots(self, owner: Owner) -> int:
        """Write the due snapshots of the log, as upkeep does, and return how many.

        Raises HeadMoved, Unavailable.
        """
        with self._telemetry.operation("write_snapshots"):
            return await self._services.consolidation.snapshots.write_due(checked(owner))

    # The life of memories: time taking its course, forgetting, new vectors.

    async def decay(
        self, owner: Owner, asked: DecayInput, call: Call = NO_CALL
    ) -> Accepted | Foreseen:
        """Mark memories as decayed that were not accessed for long, by a task.

        The call may be repeated at any time: importance is computed when a memory is read, and only
        a crossing of the floor is written.

        Args:
            owner: App and user whose memories they are.
            asked: The session, if only its memories decay; with dry_run, they are only counted.
            call: The caller and the idempotency key.

        Raises:
            Conflict: The idempotency key was used for another request.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("decay"):
            if asked.dry_run:
                return await self._services.consolidation.decay.dry_run(checked(owner), asked)
            return await self._services.consolidation.decay.begin(
                checked(owner), asked, keyed(call, "decay", asked)
            )

    async def reembed(
        self, owner: Owner, asked: ReembedInput, call: Call = NO_CALL
    ) -> Accepted | Foreseen:
        """Replace the vectors that another embedder made, by a task.

        The call may be repeated at any time: where all vectors are of the configured embedder, the
        task writes no vector.

        Args:
            owner: App and user whose memories they are.
            asked: With dry_run, the vectors are only counted.
            call: The caller and the idempotency key.

        Raises:
            Conflict: The idempotency key was used for another request.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("reembed"):
            if asked.dry_run:
                return await self._services.consolidation.reembedder.dry_run(checked(owner))
            return await self._services.consolidation.reembedder.begin(
                checked(owner), keyed(call, "reembed", asked)
            )

    async def fan_out(self) -> int:
        """Queue a message for each user whose consolidation is due, and return how many.

        This is work of the hourly timer. Raises Unavailable.
        """
        with self._telemetry.operation("fan_out"):
            return await self._services.consolidation.fan_out.tick()

    async def forget(
        self, owner: Owner, asked: ForgetInput, call: Call = NO_CALL
    ) -> Accepted | Foreseen:
        """Forget the memories that a filter matches, by a task.

        Args:
            owner: App and user whose memories they are.
            asked: The filter, and whether the deletion is soft or hard; with dry_run, the memories
                are only counted.
            call: The caller and the idempotency key.

        Raises:
            Conflict: The idempotency key was used for another request.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("forget"):
            if asked.dry_run:
                return await self._services.consolidation.forgetter.dry_run(checked(owner), asked)
            return await self._services.consolidation.forgetter.begin(
                checked(owner), asked, keyed(call, "forget", asked)
            )

    async def foresee_forgotten(
        self, owner: Owner, asked: ForgetInput, limit: int
    ) -> ForeseenMemories:
        """List the first memories that `forget` would delete now, without deleting any.

        Args:
            owner: App and user whose memories they are.
            asked: The filter, and whether the deletion is soft or hard.
            limit: The most memories that are listed.

        Raises:
            Unavailable: A store is down.

        """
        with self._telemetry.operation("forget"):
            return await self._services.consolidation.forgetter.dry_run_memories(
                checked(owner), asked, limit
            )

    async def consolidate(
        self, owner: Owner, asked: ConsolidateInput, call: Call = NO_CALL
    ) -> Accepted | Foreseen:
        """Consolidate the changes since the last run, by a task, as the hourly timer does.

        Args:
            owner: App and user whose memories they are.
            asked: The session, if only its memories are consolidated; with dry_run, the changes are
                only counted.
            call: The caller and the idempotency key.

        Raises:
            Conflict: A run of another session is under way, or the idempotency key was used for
                another request.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("consolidate"):
            if asked.dry_run:
                return await self._services.consolidation.consolidator.dry_run(
                    checked(owner), asked
                )
            return await self._services.consolidation.consolidator.begin(
                checked(owner), asked, keyed(call, "consolidate", asked)
            )

    # A user's settings and rights: export, import, erasure.

    async def user_settings(self, owner: Owner) -> UserSettings:
        """Read the settings of a user, with the defaults for unset values. Raises Unavailable."""
        with self._telemetry.operation("user_settings"):
            return await self._services.user_settings.get(checked(owner))

    async def set_user_settings(
        self, owner: Owner, settings: SettingsInput, call: Call = NO_CALL
    ) -> UserSettings:
        """Set all settings of a user.

        They are durable when the call returns.

        Args:
            owner: App and user whose settings they are.
            settings: All settings, which replace the previous settings.
            call: The caller and the idempotency key.

        Raises:
            HeadMoved: Other writers changed the user faster than this call could be decided.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("user_settings"):
            return await self._services.user_settings.put(
                checked(owner), UserSettings(**settings.model_dump()), call
            )

    async def usage(self, owner: Owner) -> dict[str, Any]:
        """Bytes and tokens of the day that a user takes, with their limits. Raises Unavailable."""
        with self._telemetry.operation("usage"):
            return await self._services.usage.of_user(checked(owner))

    async def app_usage(self, app_id: str) -> dict[str, Any]:
        """Bytes and tokens of the day that an app's users take, with their limits.

        Raises Unavailable.
        """
        with self._telemetry.operation("usage"):
            return await self._services.usage.of_app(check_app_id(app_id))

    async def export(self, owner: Owner, call: Call = NO_CALL) -> Accepted:
        """Begin to export all that is stored of a user into a file.

        Args:
            owner: App and user to export.
            call: The caller and the idempotency key.

        Raises:
            NotFound: The user is unknown.
            Conflict: The idempotency key was used for another request.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("export"):
            return await self._services.people.exporter.begin(checked(owner), keyed(call, "export"))

    async def export_part(self, owner: Owner, task_id: str, part: int) -> bytes:
        """Read a part of a finished export, as JSON Lines.

        Args:
            owner: App and user of the export.
            task_id: The task of the export.
            part: Number of the part, counted from 1.

        Raises:
            NotFound: This user has no such export, the export has no such part, or its seven days
                are over.
            Conflict: The export is not done.
            Gone: The file was removed, since a memory in it was hard-deleted meanwhile.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("export_part"):
            return await self._services.people.exporter.page(checked(owner), task_id, part)

    async def begin_import(
        self, owner: Owner, request: ImportInput = AN_EXPORT, call: Call = NO_CALL
    ) -> Accepted:
        """Begin an import, whose file is uploaded in parts.

        Args:
            owner: App and user that receive the memories; for an export the user must be empty.
            request: Whether the file is an export or holds conversations.
            call: The caller and the idempotency key.

        Raises:
            Conflict: The user is not empty, or the idempotency key was used for another request.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("import"):
            return await self._services.people.importer.begin(
                checked(owner), request, keyed(call, "import", request)
            )

    async def import_part(
        self, owner: Owner, task_id: str, part: int, data: bytes, call: Call = NO_CALL
    ) -> None:
        """Upload a part of a file that is imported.

        A part that is uploaded again replaces its earlier content. It is durable when the call
        returns.

        Args:
            owner: App and user that receive the memories.
            task_id: The task of the import.
            part: Number of the part, counted from 1.
            data: The bytes of the part.
            call: The caller and the idempotency key.

        Raises:
            NotFound: This user has no such import.
            Conflict: The import does not accept parts any more.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("import_part"):
            await self._services.people.importer.bring(checked(owner), task_id, part, data, call)

    async def commit_import(
        self, owner: Owner, task_id: str, request: ImportCommitInput, call: Call = NO_CALL
    ) -> Accepted:
        """Begin the work of an import whose parts have all been uploaded.

        The same call again does not repeat the work.

        Args:
            owner: App and user that receive the memories.
            task_id: The task of the import.
            request: The number of parts, and the SHA-256 of all of them together.
            call: The caller and the idempotency key.

        Raises:
            NotFound: This user has no such import.
            Conflict: Parts are missing, or the import accepts no further calls.
            QuotaExceeded: A limit of stored bytes leaves no room.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("import_commit"):
            return await self._services.people.importer.commit(
                checked(owner), task_id, request.parts, request.sha256, call
            )

    async def erase(self, owner: Owner, call: Call = NO_CALL) -> Accepted:
        """Erase a user by a hard delete of all data.

        From this call on, no data of the user is read or written. The task deletes the data that
        remain.

        Args:
            owner: App and user to erase.
            call: The caller and the idempotency key.

        Raises:
            Conflict: The idempotency key was used for another request.
            Unavailable: A store is down.

        """
        with self._telemetry.operation("erase"):
            return await self._services.people.eraser.begin(checked(owner), keyed(call, "erase"))

    async def erase_again(self, *, dry_run: bool = False) -> int:
        """Erase users again whom a restore of the long-term store from a backup brought back.

        It covers every app. When the call returns, no data of these users is read any more, as
        after `erase`. With dry_run, they are only counted. Returns how many users there are. Raises
        Unavailable.
        """
        with self._telemetry.operation("erase_again"):
            return await self._services.people.eraser.erase_again(dry_run=dry_run)

    async def erasures(
        self, app_id: str, after: int | None = None, limit: int = 100
    ) -> builtins.list[dict[str, Any]]:
        """List the receipts of an app's erasures, the latest first; they name users by hashes.

        Args:
            app_id: The app whose receipts are listed.
            after: The `sequence` of the last receipt of the page before; None for the first page.
            limit: The most receipts that are listed.

        """
        with self._telemetry.operation("erasures"):
            return await self._services.people.eraser.receipts(check_app_id(app_id), after, limit)

    async def sweep_files(self) -> int:
        """Remove exported and uploaded files that are older than seven days.

        This is work of the hourly timer. Returns how many blobs were removed. Raises Unavailable.
        """
        with self._telemetry.operation("sweep_files"):
            return await self._services.people.parts.sweep()

    # For the operator of an app: what concerns all of its users, page by page.
    # These name an app, and no user.

    async def poisoned_tasks(self, app_id: str, query: AcrossInput) -> OwnedTaskPage:
        """List the poisoned tasks of an app's users page by page, newest first.

        Args:
            app_id: The app whose tasks are listed.
            query: The cursor and the size of a page.

        Raises:
            Malformed: The cursor is void.

        """
        with self._telemetry.operation("poisoned_tasks"):
            return await self._services.poisoned.page(
                check_app_id(app_id), query.cursor, query.limit
            )

    async def agents(self, app_id: str, query: AcrossInput) -> AgentPage:
        """List the agents of whom an app's users have memories, page by page.

        Args:
            app_id: The app whose agents are listed.
            query: The cursor and the size of a page.

        Raises:
            Malformed: The cursor is void.

        """
        with self._telemetry.operation("agents"):
            return await self._services.agent_list.page(
                check_app_id(app_id), query.cursor, query.limit
            )

    async def make_key(self, app_id: str, asked: KeyInput, call: Call = NO_CALL) -> NewKey:
        """Make a new key of an app, with its secret.

        Args:
            app_id: The app that the key belongs to.
            asked: The rights, the user and the end of the key.
            call: The caller and the idempotency key.

        Raises:
            Conflict: The idempotency key has made a key before.

        """
        with self._telemetry.operation("make_key"):
            return await self._services.keys.make(check_app_id(app_id), asked, call)

    async def keys(self, app_id: str, query: KeysInput) -> KeyPage:
        """List the keys that an app has made, page by page, the newest first.

        Args:
            app_id: The app whose keys are listed.
            query: The status of the keys, the cursor and the size of a page.

        Raises:
            Malformed: The cursor is void.

        """
        with self._telemetry.operation("keys"):
            return await self._services.keys.page(check_app_id(app_id), query)

    async def withdraw_key(self, app_id: str, key_id: str, call: Call = NO_CALL) -> None:
        """Withdraw a key: in this process at once, in other processes within a minute.

        Args:
            app_id: The app that the key belongs to.
            key_id: The key to withdraw.
            call: The caller and the idempotency key.

        Raises:
            NotFound: The app has no such key.
            Conflict: The caller is a key, and the app would have no other admin key left, neither
                stored nor in the settings.

        """
        with self._telemetry.operation("withdraw_key"):
            admins = (
                key
                for key in self.settings.api_keys
                if key.app == app_id and "admin" in key.rights and key.user is None
            )
            has_setting_admin = next(admins, None) is not None
            await self._services.keys.withdraw(
                check_app_id(app_id), key_id, call, has_setting_admin=has_setting_admin
            )

    async def rotate_key(
        self, app_id: str, key_id: str, asked: RotateInput, call: Call = NO_CALL
    ) -> NewKey:
        """Make a new key in the place of another, which stays valid for a while.

        Args:
            app_id: The app that the key belongs to.
            key_id: The key to replace.
            asked: How long the replaced key goes on working.
            call: The caller and the idempotency key.

        Raises:
            NotFound: The app has no such key.
            Conflict: The key is not active, or was rotated before.

        """
        with self._telemetry.operation("rotate_key"):
            return await self._services.keys.rotate(check_app_id(app_id), key_id, asked, call)

    async def find_key(self, app_id: str, key_id: str) -> StoredKey | None:
        """Read a key as it was at most a minute ago.

        Args:
            app_id: The app that the key belongs to.
            key_id: The key to read.

        Raises:
            Unavailable: The key is not cached, and the store is down.

        """
        return await self._services.key_lookup.find(app_id, key_id)

    def when_keys_change(self, changed: Callable[[], None]) -> None:
        """Call `changed` after each key that is made, rotated or withdrawn in this process."""
        self._services.key_lookup.on_change = changed

    def reload_keys(self) -> None:
        """Look keys up in the store again, since another process has changed some."""
        self._services.key_lookup.reload()

    def place(self, app_id: str) -> AbstractAsyncContextManager[None]:
        """Reserve a place for a request of an app while the block runs.

        Raises Overloaded.
        """
        return self._services.admission.place(app_id)

    async def spend_request(self, app_id: str, key_id: str) -> Spent | None:
        """Count a request against the limit of its key; None where no limit is set.

        Args:
            app_id: The app that the key belongs to.
            key_id: The key of the request.

        Raises:
            TooManyRequests: The rate of the key or of its app is used up.

        """
        return await self._services.request_rates.spend(app_id, key_id)

    def note_key_use(self, key: StoredKey) -> None:
        """Record in the background that a key is used, at most once an hour."""
        self._services.key_lookup.note_use(key)

    async def audit(self, app_id: str, query: AuditInput) -> AuditPage:
        """List the entries of an app's audit log page by page, the newest first.

        Args:
            app_id: The app whose log it is.
            query: The times of the entries, the cursor and the size of a page.

        Raises:
            Malformed: The cursor is void.

        """
        with self._telemetry.operation("audit"):
            return await self._services.audit_log.page(check_app_id(app_id), query)

    def slot_differences(
        self, app_id: str | None = None, only: Owner | None = None
    ) -> AsyncIterator[str]:
        """Describe each memory whose stored fields differ from the timeline of its slot.

        Args:
            app_id: The app whose users are checked; None for all apps.
            only: The user to check; None for all users.

        Returns:
            A line for each such memory.

        """
        return self._services.slot_check.lines(app_id, only)

    def foreign_vectors(self, app_id: str | None = None) -> AsyncIterator[tuple[Owner, int]]:
        """The users with vectors that `reembed` would make, each with their number.

        Args:
            app_id: The app whose users are read; None for all apps.

        """
        return self._services.consolidation.reembedder.users(app_id)

    # The process: its timers, its queue, its state.

    async def flush_accesses(self) -> int:
        """Store the access counts of memories of every user, and return for how many memories.

        This is work of the hourly timer. Raises Unavailable.
        """
        with self._telemetry.operation("flush_accesses"):
            return await self._services.access_counts.flush_all()

    @property
    def clock(self) -> Clock:
        """The clock that all work of this process uses."""
        return self._services.clock

    @property
    def queue(self) -> TaskQueue:
        """The queue of this process, for senders and for a host that receives."""
        return self._services.adapters.queue

    async def ready(self) -> dict[str, Any]:
        """Check all dependencies and return the readiness of this process.

        The answer is `{"status": ready · degraded · unavailable, "dependencies": {…}}`. Without the
        long-term store the status is `unavailable`. Without any other dependency it is `degraded`.
        """
        settings, made = self.settings, self._services.adapters
        return await readiness(
            {
                "long_term": (settings.long_term, made.long_term),
                "short_term": (settings.short_term, made.short_term),
                "archive": (settings.archive, made.archive),
                "queue": (settings.queue, made.queue),
                "embedder": (settings.embedding_provider, made.embedder),
                "agents": (settings.llm_provider, made.agents),
                **(
                    {}
                    if made.reranker is None
                    else {"reranker": (settings.rerank_provider, made.reranker)}
                ),
            }
        )

    def metrics(self, app_id: str | None = None) -> bytes:
        """Return counters and timings in the text format of Prometheus.

        With an app, series that are counted by app are those of this app only.
        """
        return self._telemetry.text(
            self._services.pools(),
            {"short_term": self._services.adapters.short_term.degraded},
            app_id,
        )

    def pool_stats(self) -> dict[str, Any]:
        """Count connections or threads by dependency, and the requests at work or waiting."""
        return {
            name: {"size": size, "active": active}
            for name, (size, active) in self._services.pools().items()
        }
