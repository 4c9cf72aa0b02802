"""MemoryCore: the product as a library. Functions, the development host and embedding programs
all call this.

What its calls use is put together in `bootstrap/services.py`. Open it inside the event loop that
will use it; one a process is enough.
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
from memory_core.domain.memory import BY_HAND, Memory, Status
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
"""Characters from which a request is redacted in a thread: a longer one takes more than 5 ms,
and would hold up everybody else.
"""


def redact_requests(core: Core) -> Core:
    """Have every call of the class see what it is asked without secrets, so that none can be kept,
    embedded, sent or logged.

    An idempotency key's hash that a door made of the request as it came is dropped where something
    was replaced: `keyed` makes another.
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
    """Saves, finds and changes memories; every call names the owner whose memories they are."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        clock: Clock | None = None,
        ids: IdSource | None = None,
        adapters: Adapters | None = None,
    ) -> None:
        """Build, without connecting to anything. `adapters` replaces those that the
        settings name.
        """
        self.settings = settings or Settings.from_env()
        self._services = Services(
            self.settings, clock or SystemClock(), ids or RandomIds(), adapters
        )
        self._telemetry = self._services.telemetry

    async def open(self) -> None:
        """Connect what the first call may need: long term, short term, queue, archive; or nothing,
        when one of the first two fails.

        Raises Unavailable, EmbeddingMismatch.
        """
        await self._services.open()

    async def warm_up(self) -> None:
        """Open, and load embedder and agents too, so that the first request pays for nothing."""
        await self._services.warm_up()

    async def close(self) -> None:
        """Let what is under way finish and release everything."""
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
        """A text as it is kept: secrets replaced by marks, as `MEMORY_REDACT` says."""
        return self._services.redactor.text(text)

    # Single memories: save, find, read and change them.

    async def save(self, owner: Owner, item: SaveInput, call: Call = NO_CALL) -> Saved:
        """Save one memory. Durable when it returns. Raises Conflict (idempotency key reused),
        Invalid, Unavailable, EmbeddingMismatch.
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
        """Save up to a hundred in order. What concerns one item is its own error;
        what concerns all is raised.

        Args:
            owner: Whose memories they are.
            items: The memories to save.
            call: The caller and the idempotency key.
            atomic: Whether all are saved in one commit, or none is.

        Raises:
            Invalid: With atomic, what is wrong with an item; its fields are named as
                `memories.3.…`.
            TooLarge: With atomic, they are more than one commit holds.
            Unavailable: A store or the embedder is down.

        """
        with self._telemetry.operation("bulk"):
            self._telemetry.batch("bulk", len(items))
            asked = (
                keyed(call, "bulk", str(atomic), *items) if atomic else keyed(call, "bulk", *items)
            )
            return [*await self._services.saver.save(checked(owner), items, asked, atomic=atomic)]

    async def retrieve(self, owner: Owner, query: RetrieveInput) -> Retrieved:
        """The memories that answer a query, best first; none when none does.

        Raises Malformed for a void cursor, Unavailable, EmbeddingMismatch.
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
        """What an agent should know before its turn, in one text. Raises Unavailable,
        EmbeddingMismatch.
        """
        with self._telemetry.operation("context"):
            return await self._services.briefing.brief(checked(owner), asked)

    async def list(self, owner: Owner, query: ListInput) -> MemoryPage:
        """One page of memories, newest first; with `known_at`, as it was then, told from the log.
        Raises Malformed for a void cursor.
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
        """The memory's next version. Raises PreconditionFailed without the current ETag, Conflict
        for an episodic one, NotFound.
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
        """Soft-delete a memory; one that is deleted already stays as it is, and the
        outcome says so.

        Args:
            owner: Whose memory it is.
            memory_id: Which memory.
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
        """Up to a hundred memories by id or key, in the order of asking; what is not there is
        named. Raises Unavailable.
        """
        with self._telemetry.operation("get_many"):
            fetched = await self._services.reader.many(checked(owner), wanted)
            self._services.note_access(owner, fetched.memories)
            return fetched

    async def delete_many(
        self, owner: Owner, wanted: NamedInput, call: Call = NO_CALL
    ) -> builtins.list[Deleted | MemoryCoreError]:
        """Soft-delete up to a hundred memories by id, then by key: one after the other,
        each durable by itself.

        What concerns one of them alone (NotFound, Conflict) is its own error.
        Raises KeyReused, Unavailable.
        """
        with self._telemetry.operation("delete_many"):
            self._telemetry.batch("delete", len(wanted.ids) + len(wanted.keys))
            asked, results = keyed(call, "delete_many", wanted), list[Deleted | MemoryCoreError]()
            for place, (name, by_key) in enumerate(
                [*((name, False) for name in wanted.ids), *((key, True) for key in wanted.keys)]
            ):
                alone = (
                    asked
                    if asked.idempotency_key is None
                    else replace(asked, route=f"{asked.route} {place}")
                )
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
        """One page of the tags that the user's memories have. Raises Malformed for a
        void cursor.
        """
        with self._telemetry.operation("tags"):
            return await self._services.reader.tags(checked(owner), query)

    async def set_status(
        self, owner: Owner, memory_id: str, change: StatusInput, call: Call = NO_CALL
    ) -> Memory:
        """Set a status by hand: `deleted`, or `active`, which brings it back from wherever it is,
        as `restore` does.

        Raises Conflict naming what is allowed, NotFound.
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
        """Soft-delete a session's memories; how many there were."""
        with self._telemetry.operation("clear"):
            cleared = await self._services.clearer.clear(
                checked(owner), request, keyed(call, "clear", request)
            )
            self._telemetry.batch("clear", cleared)
            return cleared

    async def copy(
        self, owner: Owner, memory_id: str, to: CopyInput, call: Call = NO_CALL
    ) -> Memory:
        """Copy a memory to another agent of the same user. Raises NotFound, Conflict, Invalid."""
        with self._telemetry.operation("copy"):
            return await self._services.editor.copy(
                checked(owner), memory_id, to, keyed(call, "copy", memory_id, to)
            )

    async def versions(self, owner: Owner, memory_id: str) -> builtins.list[VersionView]:
        """All versions of a memory, the oldest first. Raises NotFound."""
        with self._telemetry.operation("versions"):
            return await self._services.reader.versions(checked(owner), memory_id)

    async def evolution(
        self, owner: Owner, memory_id: str, direction: Direction = "forward"
    ) -> Evolution:
        """The memory and what replaced it, in order; `backward`: what it replaced, nearest first;
        `both`: oldest first. Raises NotFound.
        """
        with self._telemetry.operation("traverse_memory_evolution_chain"):
            return await self._services.lineage.chain(checked(owner), memory_id, direction)

    async def evolution_graph(
        self, owner: Owner, memory_id: str, format: GraphFormat = "mermaid"
    ) -> str:
        """The tree that the memory belongs to, as source of a drawing or as a page of its own.
        Raises NotFound.
        """
        with self._telemetry.operation("generate_evolution_graph"):
            return await self._services.lineage.drawing(checked(owner), memory_id, format)

    async def procedure(self, owner: Owner, key: str) -> Memory:
        """The procedural memory of a key. Raises NotFound."""
        with self._telemetry.operation("procedure"):
            return await self._services.reader.procedure(checked(owner), key)

    async def sessions(
        self, owner: Owner, cursor: str | None = None, limit: int = 20
    ) -> SessionPage:
        """One page of sessions, the one begun last first. Raises Malformed for a void cursor."""
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
        """One page of the messages of a session, in the order of telling. Raises NotFound,
        Malformed for a void cursor.
        """
        with self._telemetry.operation("sessions"):
            return await self._services.reader.messages(
                checked(owner), session_id, cursor, limit, newest_first=newest_first
            )

    async def append(
        self, owner: Owner, session_id: str, request: AppendInput, call: Call = NO_CALL
    ) -> Appended:
        """Append items to a session, in order, as they are; nothing is formed of them unless the
        request says so. Durable when it returns.

        Args:
            owner: Whose session it is.
            session_id: Which session; it begins with its first item.
            request: The items, and whether memories are formed of them.
            call: The caller and the idempotency key.

        Raises:
            Conflict: The idempotency key was used for another request.
            HeadMoved: Others write to the session faster than this can be decided.
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
        """Take back the last messages of a session, with all that came of them alone.

        Args:
            owner: Whose session it is.
            session_id: Which session.
            count: How many messages; None: the last one that a person said and all that
                came after it.
            call: The caller and the idempotency key.

        Raises:
            NotFound: This user has no such session.
            HeadMoved: Others write to the session faster than this can be decided.

        """
        with self._telemetry.operation("take_back"):
            # a door knows nothing of the count
            asked = keyed(replace(call, body_hash=""), "take_back", session_id, str(count))
            return await self._services.last_messages.take(
                checked(owner), check_name(session_id), count, asked
            )

    async def session(self, owner: Owner, session_id: str) -> SessionView:
        """One session. Raises NotFound."""
        with self._telemetry.operation("sessions"):
            return await self._services.reader.session(checked(owner), session_id)

    # What is formed by itself: conversations, batches, summaries, and the tasks that work on them.

    async def converse(
        self, owner: Owner, request: ConverseInput, call: Call = NO_CALL
    ) -> Accepted:
        """Take a conversation in, to be formed into memories by itself. Durable when it returns.

        Raises Invalid (a callback address that is not called), Conflict, TooLarge, Unavailable.
        """
        with self._telemetry.operation("converse"):
            return await self._services.formation.converser.converse(
                checked(owner), request, keyed(call, "converse", request)
            )

    async def agent_memory(
        self, owner: Owner, request: AgentMemoryInput, call: Call = NO_CALL
    ) -> Accepted:
        """Take an agent's own words in, to become one memory by itself. Durable when it returns.
        Raises as `converse` does.
        """
        with self._telemetry.operation("create_agent_memory"):
            return await self._services.formation.converser.remember_words(
                checked(owner), request, keyed(call, "agent_memory", request)
            )

    async def summary(
        self, app_id: str, request: SummaryInput, *, user_id: str | None = None
    ) -> Summary:
        """Sum up messages at once; nothing of them is kept. Raises Unavailable.

        user_id: whose tokens of the day it takes beside the app's; None: the app's alone.
        """
        with self._telemetry.operation("generate_conversation_summary"):
            owner = Owner(check_app_id(app_id), "" if user_id is None else check_name(user_id))
            return await self._services.formation.summaries.at_once(owner, request)

    async def summary_later(
        self, owner: Owner, request: SummaryInput, call: Call = NO_CALL
    ) -> Accepted:
        """Sum up by a task that tells its callback address. Raises as `converse` does."""
        with self._telemetry.operation("generate_conversation_summary"):
            return await self._services.formation.summaries.later(
                checked(owner), request, keyed(call, "summary", request)
            )

    async def batch(self, owner: Owner, request: BatchInput, call: Call = NO_CALL) -> Buffered:
        """Gather messages of a session, to be formed together. Durable when it returns.

        Raises Conflict, TooLarge, HeadMoved, Unavailable.
        """
        with self._telemetry.operation("batch"):
            return await self._services.formation.batches.append(
                checked(owner), request, keyed(call, "batch", request)
            )

    async def batch_state(self, owner: Owner, session_id: str) -> Buffered:
        """What is gathered of a session and waits."""
        with self._telemetry.operation("batch_state"):
            return await self._services.formation.batches.state(
                checked(owner), check_name(session_id)
            )

    async def batch_flush(
        self, owner: Owner, session_id: str, call: Call = NO_CALL
    ) -> Accepted | None:
        """Form what waits, now; None when nothing does. Raises Conflict, HeadMoved, Unavailable."""
        with self._telemetry.operation("batch_flush"):
            return await self._services.formation.batches.flush(
                checked(owner), check_name(session_id), keyed(call, "batch_flush", session_id)
            )

    async def task(self, owner: Owner, task_id: str) -> Task:
        """One task as it is, with the log of deliveries in its result. Raises NotFound."""
        with self._telemetry.operation("tasks"):
            task = await self._services.tasking.tasks.get(checked(owner), task_id)
            return await self._services.formation.deliveries.shown(owner, task)

    async def tasks(self, owner: Owner, query: TasksInput) -> TaskPage:
        """One page of tasks, newest first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("tasks"):
            return await self._services.tasking.tasks.page(
                checked(owner), query.status, query.kind, query.cursor, query.limit
            )

    async def retry(self, owner: Owner, task_id: str, call: Call = NO_CALL) -> Task:
        """Begin again with a task that failed, is poisoned or waits. Raises NotFound, Conflict."""
        with self._telemetry.operation("retry_task"):
            return await self._services.tasking.steering.retry(
                checked(owner), task_id, keyed(call, "retry", task_id)
            )

    async def cancel(self, owner: Owner, task_id: str, call: Call = NO_CALL) -> Task:
        """End a task that is not done; what it has formed stays. Raises NotFound, Conflict."""
        with self._telemetry.operation("cancel_task"):
            return await self._services.tasking.steering.cancel(
                checked(owner), task_id, keyed(call, "cancel", task_id)
            )

    async def work(self, message: str, queue: QueueName = "formation") -> None:
        """Do what a message of a queue asks for. When it raises, the message must come again."""
        with self._telemetry.operation("work"):
            begun: Lease | bool = False
            if queue == "consolidation":
                begun = await self._services.consolidation.fan_out.work(message)
            if not begun:
                await self._services.worker.work(message, queue)
            elif isinstance(begun, Lease):
                await self._services.worker.go_on(begun)

    async def give_up(self, message: str, queue: QueueName = "formation") -> None:
        """A message came too often and ended in the queue's poison queue: say so on its task."""
        with self._telemetry.operation("give_up"):
            await self._services.worker.give_up(message, queue)

    async def sweep(self, *, dry_run: bool = False) -> Swept:
        """Send again what got lost on its way: the hourly timer's work. Raises Unavailable."""
        with self._telemetry.operation("sweep"):
            return await self._services.tasking.sweep.run(dry_run=dry_run)

    # Memories that could not both be true.

    async def conflicts(self, owner: Owner, query: ConflictsInput = EVERY) -> ConflictPage:
        """One page of conflict records, newest first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("conflicts"):
            return await self._services.conflicts.page(checked(owner), query)

    async def conflict(self, owner: Owner, conflict_id: str) -> ConflictRecord:
        """One conflict record. Raises NotFound."""
        with self._telemetry.operation("conflicts"):
            return await self._services.conflicts.get(checked(owner), conflict_id)

    async def resolve_conflict(
        self, owner: Owner, conflict_id: str, asked: ResolveInput, call: Call = NO_CALL
    ) -> ConflictRecord:
        """Decide a pending conflict. Raises NotFound, Conflict (resolved otherwise,
        or a side does not stand any more).
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
        """Take back what was decided about a conflict, which is pending then. Raises NotFound,
        Conflict naming what is in the way.
        """
        with self._telemetry.operation("undo_conflict"):
            return await self._services.conflicts.undo(
                checked(owner), conflict_id, keyed(call, "undo_conflict", conflict_id)
            )

    # What memories add up to: scenes and the profile of a person.

    async def next_run(self, owner: Owner) -> datetime | None:
        """By when the user's next run has begun, which makes scenes and traits;
        None where nothing is due. Raises Unavailable.
        """
        with self._telemetry.operation("scenes"):
            return await self._services.next_run.expected(checked(owner))

    async def scenes(self, owner: Owner, cursor: str | None = None, limit: int = 20) -> ScenePage:
        """One page of scenes, the one begun last first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("scenes"):
            return await self._services.scenes.page(checked(owner), cursor, limit)

    async def scene(self, owner: Owner, scene_id: str) -> SceneView:
        """One scene. Raises NotFound."""
        with self._telemetry.operation("scenes"):
            return await self._services.scenes.get(checked(owner), scene_id)

    async def profile(self, owner: Owner, at: datetime | None = None) -> Profile:
        """What is known of the person: as it holds now, or held at a moment. An empty one of an
        unknown user.
        """
        with self._telemetry.operation("profile"):
            return await self._services.profiles.of(checked(owner), at)

    # The archive: what moves there, and what comes back.

    async def archive(
        self, owner: Owner, asked: ArchiveInput, call: Call = NO_CALL
    ) -> Accepted | Foreseen:
        """Move what was not accessed for years to the archive, by a task.

        A dry run only counts it. Raises Conflict, Unavailable.
        """
        with self._telemetry.operation("archive"):
            archiver = self._services.consolidation.archiver
            if asked.dry_run:
                return await archiver.foresee(checked(owner), asked.session_id)
            return await archiver.begin(
                checked(owner), asked.session_id, keyed(call, "archive", asked)
            )

    async def restore(self, owner: Owner, memory_id: str, call: Call = NO_CALL) -> Memory:
        """Bring a memory into use again: from the archive with its whole chain, or one that was
        deleted, replaced, shortened or decayed.

        One that is in use answers as it is. Raises NotFound, Conflict, Damaged (the cold copy;
        the stub stays), Unavailable.
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
        """One memory, with its embedding; as it was true at `at`, as it was known at `known_at`:
        see `look_at`. Raises NotFound.
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
        """One memory and the sequence of the log that this is the state of. Raises NotFound.

        at: as it was true then. known_at: as it was known then, told from the log, so without its
        vector and what else no event records.
        """
        with self._telemetry.operation("get"):
            if known_at is not None:
                return await self._services.replayer.get(checked(owner), memory_id, known_at, at)
            memory = await self._services.reader.get(checked(owner), memory_id, at)
            if at is None:
                self._services.note_access(owner, [memory.memory])
            return memory

    async def timeline(self, owner: Owner, query: TimelineInput) -> EventPage:
        """One page of the log, oldest first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("timeline"):
            return await self._services.timeline.page(checked(owner), query)

    async def replay(self, owner: Owner, query: ReplayInput) -> MemoryPage:
        """What a list of all statuses answered at a sequence, fields outside the log apart.

        Raises Malformed for a void cursor, Invalid for a sequence yet to come,
        HeadMoved when the user was erased meanwhile.
        """
        with self._telemetry.operation("replay"):
            return await self._services.replayer.replay(checked(owner), query)

    async def write_snapshots(self, owner: Owner) -> int:
        """Write the snapshots of the log that are due, as upkeep does; how many.
        Raises HeadMoved, Unavailable.
        """
        with self._telemetry.operation("write_snapshots"):
            return await self._services.consolidation.snapshots.write_due(checked(owner))

    # The life of memories: time taking its course, forgetting, new vectors.

    async def decay(
        self, owner: Owner, asked: DecayInput, call: Call = NO_CALL
    ) -> Accepted | Foreseen:
        """Take memories that were not looked at for long out of sight, by a task.

        A dry run only counts them. Asked as often as anybody likes: importance is computed when it
        is read, and nothing but a crossing of the floor is written. Raises Conflict, Unavailable.
        """
        with self._telemetry.operation("decay"):
            if asked.dry_run:
                return await self._services.consolidation.decay.foresee(checked(owner), asked)
            return await self._services.consolidation.decay.begin(
                checked(owner), asked, keyed(call, "decay", asked)
            )

    async def reembed(
        self, owner: Owner, asked: ReembedInput, call: Call = NO_CALL
    ) -> Accepted | Foreseen:
        """Make vectors again that another embedder made, by a task.

        A dry run only counts them. As often as anybody likes: where all vectors are of the
        configured embedder, nothing is written. Raises Conflict, Unavailable.
        """
        with self._telemetry.operation("reembed"):
            if asked.dry_run:
                return await self._services.consolidation.reembedder.foresee(checked(owner))
            return await self._services.consolidation.reembedder.begin(
                checked(owner), keyed(call, "reembed", asked)
            )

    async def fan_out(self) -> int:
        """Send for all whose consolidation is due; how many messages. The hourly timer's work.
        Raises Unavailable.
        """
        with self._telemetry.operation("fan_out"):
            return await self._services.consolidation.fan_out.tick()

    async def forget(
        self, owner: Owner, asked: ForgetInput, call: Call = NO_CALL
    ) -> Accepted | Foreseen:
        """Forget what a filter fits, by a task: softly, or for good; a dry run only counts.
        Raises Conflict, Unavailable.
        """
        with self._telemetry.operation("forget"):
            if asked.dry_run:
                return await self._services.consolidation.forgetter.foresee(checked(owner), asked)
            return await self._services.consolidation.forgetter.begin(
                checked(owner), asked, keyed(call, "forget", asked)
            )

    async def foresee_forgotten(
        self, owner: Owner, asked: ForgetInput, limit: int
    ) -> ForeseenMemories:
        """The first memories that forgetting would take now; nothing is forgotten.
        Raises Unavailable.
        """
        with self._telemetry.operation("forget"):
            return await self._services.consolidation.forgetter.foresee_memories(
                checked(owner), asked, limit
            )

    async def consolidate(
        self, owner: Owner, asked: ConsolidateInput, call: Call = NO_CALL
    ) -> Accepted | Foreseen:
        """Settle what has happened since the last run, by a task, as each hour does; a dry run
        counts. Raises Conflict, Unavailable.
        """
        with self._telemetry.operation("consolidate"):
            if asked.dry_run:
                return await self._services.consolidation.consolidator.foresee(
                    checked(owner), asked
                )
            return await self._services.consolidation.consolidator.begin(
                checked(owner), asked, keyed(call, "consolidate", asked)
            )

    # A user's settings and rights: export, import, erasure.

    async def user_settings(self, owner: Owner) -> UserSettings:
        """What the user has set; the defaults where nothing is. Raises Unavailable."""
        with self._telemetry.operation("user_settings"):
            return await self._services.user_settings.get(checked(owner))

    async def set_user_settings(
        self, owner: Owner, settings: SettingsInput, call: Call = NO_CALL
    ) -> UserSettings:
        """Set all settings of a user. Durable when it returns. Raises HeadMoved, Unavailable."""
        with self._telemetry.operation("user_settings"):
            return await self._services.user_settings.put(
                checked(owner), UserSettings(**settings.model_dump()), call
            )

    async def usage(self, owner: Owner) -> dict[str, Any]:
        """What a user takes of bytes and of the day's tokens, and may take. Raises Unavailable."""
        with self._telemetry.operation("usage"):
            return await self._services.usage.of_user(checked(owner))

    async def app_usage(self, app_id: str) -> dict[str, Any]:
        """What all users of an app take together, and may take. Raises Unavailable."""
        with self._telemetry.operation("usage"):
            return await self._services.usage.of_app(check_app_id(app_id))

    async def export(self, owner: Owner, call: Call = NO_CALL) -> Accepted:
        """Begin to put everything that is kept of a user into a file. Raises NotFound,
        Conflict, Unavailable.
        """
        with self._telemetry.operation("export"):
            return await self._services.people.exporter.begin(checked(owner), keyed(call, "export"))

    async def export_part(self, owner: Owner, task_id: str, part: int) -> bytes:
        """A part of an export that is done, counted from 1: JSON Lines. Raises NotFound,
        Conflict, Gone, Unavailable.
        """
        with self._telemetry.operation("export_part"):
            return await self._services.people.exporter.page(checked(owner), task_id, part)

    async def begin_import(
        self, owner: Owner, request: ImportInput = AN_EXPORT, call: Call = NO_CALL
    ) -> Accepted:
        """Begin to gather the parts of a file: an export, for a user who is empty, or
        conversations. Raises Conflict, Unavailable.
        """
        with self._telemetry.operation("import"):
            return await self._services.people.importer.begin(
                checked(owner), request, keyed(call, "import", request)
            )

    async def import_part(
        self, owner: Owner, task_id: str, part: int, data: bytes, call: Call = NO_CALL
    ) -> None:
        """Bring a part; brought again it replaces itself. Durable when it returns.
        Raises NotFound, Conflict, Unavailable.
        """
        with self._telemetry.operation("import_part"):
            await self._services.people.importer.bring(checked(owner), task_id, part, data, call)

    async def commit_import(
        self, owner: Owner, task_id: str, request: ImportCommitInput, call: Call = NO_CALL
    ) -> Accepted:
        """All parts have been brought: begin the work. The same again is no second time. Raises
        NotFound, Conflict, Unavailable.
        """
        with self._telemetry.operation("import_commit"):
            return await self._services.people.importer.commit(
                checked(owner), task_id, request.parts, request.sha256, call
            )

    async def erase(self, owner: Owner, call: Call = NO_CALL) -> Accepted:
        """Erase a user for good. From now on nothing of theirs is read or written;
        the task empties what is left.

        Raises Conflict (idempotency key reused), Unavailable.
        """
        with self._telemetry.operation("erase"):
            return await self._services.people.eraser.begin(checked(owner), keyed(call, "erase"))

    async def erase_again(self, *, dry_run: bool = False) -> int:
        """After a restore of the long term from a backup: erase whom it brought back,
        in every app; how many. Raises Unavailable.

        When it returns nothing of theirs is read any more, as after `erase`.
        With dry_run they are counted only.
        """
        with self._telemetry.operation("erase_again"):
            return await self._services.people.eraser.again(dry_run=dry_run)

    async def erasures(
        self, app_id: str, after: int | None = None, limit: int = 100
    ) -> builtins.list[dict[str, Any]]:
        """The receipts of an app's erasures, the latest first; `after`: the `sequence` of the last
        one seen. They name users by hashes.
        """
        with self._telemetry.operation("erasures"):
            return await self._services.people.eraser.receipts(check_app_id(app_id), after, limit)

    async def sweep_files(self) -> int:
        """Remove exported and brought files whose seven days are over; of how many blobs. The
        hourly timer's work. Raises Unavailable.
        """
        with self._telemetry.operation("sweep_files"):
            return await self._services.people.parts.sweep()

    # For the operator of an app: what concerns all of its users, page by page.
    # These name an app, and no user.

    async def poisoned_tasks(self, app_id: str, query: AcrossInput) -> OwnedTaskPage:
        """One page of the tasks that were given up, of all users of an app, newest first.
        Raises Malformed for a void cursor.
        """
        with self._telemetry.operation("poisoned_tasks"):
            return await self._services.poisoned.page(
                check_app_id(app_id), query.cursor, query.limit
            )

    async def agents(self, app_id: str, query: AcrossInput) -> AgentPage:
        """One page of the agents that an app's users have memories of. Raises Malformed for a
        void cursor.
        """
        with self._telemetry.operation("agents"):
            return await self._services.agent_list.page(
                check_app_id(app_id), query.cursor, query.limit
            )

    async def make_key(self, app_id: str, asked: KeyInput, call: Call = NO_CALL) -> NewKey:
        """A new key of an app, with its secret. Raises Conflict where the idempotency key has
        made one before.
        """
        with self._telemetry.operation("make_key"):
            return await self._services.keys.make(check_app_id(app_id), asked, call)

    async def keys(self, app_id: str, query: KeysInput) -> KeyPage:
        """One page of the keys that an app has made, newest first. Raises Malformed for a
        void cursor.
        """
        with self._telemetry.operation("keys"):
            return await self._services.keys.page(check_app_id(app_id), query)

    async def withdraw_key(self, app_id: str, key_id: str, call: Call = NO_CALL) -> None:
        """Refuse a key from now on: here at once, in other processes within a minute.

        Raises NotFound; Conflict for the admin key that asks, where the app has no other and none
        in the settings.
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
        """A new key in the place of another, which works on for a while. Raises
        NotFound, Conflict.
        """
        with self._telemetry.operation("rotate_key"):
            return await self._services.keys.rotate(check_app_id(app_id), key_id, asked, call)

    async def find_key(self, app_id: str, key_id: str) -> StoredKey | None:
        """A key as it was at most a minute ago. Raises Unavailable where that is not known and the
        store is down.
        """
        return await self._services.key_lookup.find(app_id, key_id)

    def when_keys_change(self, changed: Callable[[], None]) -> None:
        """Have `changed` called after each key that is made, rotated or withdrawn here."""
        self._services.key_lookup.on_change = changed

    def read_keys_anew(self) -> None:
        """Look keys up in the store again, since another process has changed some."""
        self._services.key_lookup.read_anew()

    def place(self, app_id: str) -> AbstractAsyncContextManager[None]:
        """A place at work for a request of an app, for as long as its block runs.
        Raises Overloaded.
        """
        return self._services.admission.place(app_id)

    async def spend_request(self, app_id: str, key_id: str) -> Spent | None:
        """Count a request of a key; None where nothing is limited. Raises TooManyRequests."""
        return await self._services.request_rates.spend(app_id, key_id)

    def note_key_use(self, key: StoredKey) -> None:
        """Write down, beside what is under way and at most once an hour, that a key is used."""
        self._services.key_lookup.note_use(key)

    async def audit(self, app_id: str, query: AuditInput) -> AuditPage:
        """One page of an app's audit log, newest first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("audit"):
            return await self._services.audit_log.page(check_app_id(app_id), query)

    def slot_differences(
        self, app_id: str | None = None, only: Owner | None = None
    ) -> AsyncIterator[str]:
        """A line for every memory whose stored fields differ from the timeline of its slot,
        of an app's users or of one.
        """
        return self._services.slot_check.lines(app_id, only)

    # The process: its timers, its queue, its state.

    async def flush_touches(self) -> int:
        """Write down how often memories were shown, of every user; of how many memories. The hourly
        timer's work. Raises Unavailable.
        """
        with self._telemetry.operation("flush_touches"):
            return await self._services.touches.flush_all()

    @property
    def clock(self) -> Clock:
        """What tells this process the time."""
        return self._services.clock

    @property
    def queue(self) -> TaskQueue:
        """Where work waits: for its senders, and for a host that receives it."""
        return self._services.adapters.queue

    async def ready(self) -> dict[str, Any]:
        """`{"status": ready · degraded · unavailable, "dependencies": {…}}`: without the long term
        nothing works, without others less.
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
        """Counters and timings in Prometheus' text format; of what is counted by app,
        only this one's if it is given.
        """
        return self._telemetry.text(
            self._services.pools(),
            {"short_term": self._services.adapters.short_term.degraded},
            app_id,
        )

    def pool_stats(self) -> dict[str, Any]:
        """Connections or threads held and in use, by dependency, and the requests at
        work or waiting.
        """
        return {
            name: {"size": size, "active": active}
            for name, (size, active) in self._services.pools().items()
        }
