"""The calls of MemoryCore about single memories: saving, finding, reading and changing them."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import replace

from memory_core.calls.conversing import NO_CALL
from memory_core.domain.context import Context, ContextInput
from memory_core.domain.errors import Invalid, MemoryCoreError
from memory_core.domain.fading import Fading, explained
from memory_core.domain.lifecycle import BY_HAND
from memory_core.domain.models import Memory, Status
from memory_core.domain.requests import ClearInput, CopyInput, ListInput, RetrieveInput, SaveInput, StatusInput, UpdateInput
from memory_core.domain.results import (
    Call,
    Deleted,
    Evolution,
    MemoryPage,
    MessagePage,
    Retrieved,
    Saved,
    SessionPage,
    SessionView,
    TakenBack,
    VersionView,
)
from memory_core.domain.scope import Owner, check_name, checked
from memory_core.evolution.clear_session import Clearer
from memory_core.evolution.edit import Editor
from memory_core.evolution.restore import Restorer
from memory_core.formation.last_messages import LastMessages
from memory_core.formation.save import Saver
from memory_core.ledger.ids import keyed
from memory_core.recollection.agent_context import Briefing
from memory_core.recollection.history import Direction, GraphFormat, Lineage, Replayer
from memory_core.recollection.read import Reader
from memory_core.recollection.reconstruct import Reconstructor
from memory_core.recollection.retrieve import Retriever
from memory_core.telemetry import Telemetry


class Remembering:
    """A part of `MemoryCore`, which supplies what it needs."""

    _restorer: Restorer
    _briefing: Briefing
    _clearer: Clearer
    _editor: Editor
    _fading: Fading
    _last_messages: LastMessages
    _lineage: Lineage
    _reader: Reader
    _reconstructor: Reconstructor
    _replayer: Replayer
    _retriever: Retriever
    _saver: Saver
    _telemetry: Telemetry

    async def save(self, owner: Owner, item: SaveInput, call: Call = NO_CALL) -> Saved:
        """Save one memory. Durable when it returns. Raises Conflict (idempotency key reused), Invalid, Unavailable, EmbeddingMismatch."""
        with self._telemetry.operation("save"):
            (saved,) = await self._saver.save(checked(owner), [item], keyed(call, "save", item))
            if isinstance(saved, Invalid):
                raise saved
            return saved

    async def bulk(self, owner: Owner, items: Sequence[SaveInput], call: Call = NO_CALL) -> builtins.list[Saved | MemoryCoreError]:
        """Save up to a hundred in order. What concerns one item is its own error; what concerns all is raised."""
        with self._telemetry.operation("bulk"):
            self._telemetry.batch("bulk", len(items))
            return [*await self._saver.save(checked(owner), items, keyed(call, "bulk", *items))]

    async def retrieve(self, owner: Owner, query: RetrieveInput) -> Retrieved:
        """The memories that answer a query, best first; none when none does. Raises Unavailable, EmbeddingMismatch."""
        with self._telemetry.operation("query_memory"):
            ask = self._retriever.retrieve if query.mode == "fast" else self._reconstructor.reconstruct
            if not query.explain:
                return await ask(checked(owner), query)
            with self._telemetry.bill() as charges:
                found = await ask(checked(owner), query)
            charge = round(sum(charges), 2) if charges else None
            results = tuple(
                hit._replace(explain={**(hit.explain or {}), "fading": explained(hit.memory, self._fading)}) for hit in found.results
            )
            return replace(found, results=results, explain={**(found.explain or {}), "request_charge": charge})

    async def context(self, owner: Owner, asked: ContextInput) -> Context:
        """What an agent should know before its turn, in one text. Raises Unavailable, EmbeddingMismatch."""
        with self._telemetry.operation("context"):
            return await self._briefing.brief(checked(owner), asked)

    async def list(self, owner: Owner, query: ListInput) -> MemoryPage:
        """One page of memories, newest first; with `known_at`, as it was then, told from the log. Raises Malformed for a void cursor."""
        with self._telemetry.operation("list"):
            reader = self._reader if query.known_at is None else self._replayer
            return await reader.page(checked(owner), query)

    async def update(self, owner: Owner, memory_id: str, change: UpdateInput, if_match: str | None, call: Call = NO_CALL) -> Memory:
        """The memory's next version. Raises PreconditionFailed without the current ETag, Conflict for an episodic one, NotFound."""
        with self._telemetry.operation("update"):
            return await self._editor.update(checked(owner), memory_id, change, if_match, keyed(call, "update", memory_id, change))

    async def delete(self, owner: Owner, memory_id: str, call: Call = NO_CALL, *, if_match: str | None = None) -> Deleted:
        """Soft-delete a memory; one that is deleted already stays as it is, and the outcome says so.

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
            return await self._editor.delete(checked(owner), memory_id, keyed(call, "delete", memory_id), if_match=if_match)

    async def set_status(self, owner: Owner, memory_id: str, change: StatusInput, call: Call = NO_CALL) -> Memory:
        """Set a status by hand: `deleted`, or `active`, which brings it back from wherever it is, as `restore` does.

        Raises Conflict naming what is allowed, NotFound.
        """
        with self._telemetry.operation("update_memory_status"):
            call = keyed(call, "status", memory_id, change)
            if change.status not in BY_HAND:
                await self._editor.refuse_status(checked(owner), memory_id)
            if change.status is Status.ACTIVE:
                return await self._restorer.activate(checked(owner), memory_id, change, call)
            return (await self._editor.delete(checked(owner), memory_id, call, reason=change.reason)).memory

    async def clear(self, owner: Owner, what: ClearInput, call: Call = NO_CALL) -> int:
        """Soft-delete a session's memories; how many there were."""
        with self._telemetry.operation("clear"):
            cleared = await self._clearer.clear(checked(owner), what, keyed(call, "clear", what))
            self._telemetry.batch("clear", cleared)
            return cleared

    async def copy(self, owner: Owner, memory_id: str, to: CopyInput, call: Call = NO_CALL) -> Memory:
        """Copy a memory to another agent of the same user. Raises NotFound, Conflict, Invalid."""
        with self._telemetry.operation("copy"):
            return await self._editor.copy(checked(owner), memory_id, to, keyed(call, "copy", memory_id, to))

    async def versions(self, owner: Owner, memory_id: str) -> builtins.list[VersionView]:
        """All versions of a memory, the oldest first. Raises NotFound."""
        with self._telemetry.operation("versions"):
            return await self._reader.versions(checked(owner), memory_id)

    async def evolution(self, owner: Owner, memory_id: str, direction: Direction = "forward") -> Evolution:
        """The memory and what replaced it, in order; `backward`: what it replaced, nearest first; `both`: oldest first. Raises NotFound."""
        with self._telemetry.operation("traverse_memory_evolution_chain"):
            return await self._lineage.chain(checked(owner), memory_id, direction)

    async def evolution_graph(self, owner: Owner, memory_id: str, format: GraphFormat = "mermaid") -> str:
        """The tree that the memory belongs to, as source of a drawing or as a page of its own. Raises NotFound."""
        with self._telemetry.operation("generate_evolution_graph"):
            return await self._lineage.drawing(checked(owner), memory_id, format)

    async def procedure(self, owner: Owner, key: str) -> Memory:
        """The procedural memory of a key. Raises NotFound."""
        with self._telemetry.operation("procedure"):
            return await self._reader.procedure(checked(owner), key)

    async def sessions(self, owner: Owner, cursor: str | None = None, limit: int = 20) -> SessionPage:
        """One page of sessions, the one begun last first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("sessions"):
            return await self._reader.sessions(checked(owner), cursor, limit)

    async def session_messages(
        self, owner: Owner, session_id: str, cursor: str | None = None, limit: int = 50, *, newest_first: bool = False
    ) -> MessagePage:
        """One page of the messages of a session, in the order of telling. Raises NotFound, Malformed for a void cursor."""
        with self._telemetry.operation("sessions"):
            return await self._reader.messages(checked(owner), session_id, cursor, limit, newest_first=newest_first)

    async def take_back(self, owner: Owner, session_id: str, count: int | None = None, call: Call = NO_CALL) -> TakenBack:
        """Take back the last messages of a session, with all that came of them alone.

        Args:
            owner: Whose session it is.
            session_id: Which session.
            count: How many messages; None: the last one that a person said and all that came after it.
            call: The caller and the idempotency key.

        Raises:
            NotFound: This user has no such session.
            HeadMoved: Others write to the session faster than this can be decided.

        """
        with self._telemetry.operation("take_back"):
            asked = keyed(replace(call, body_hash=""), "take_back", session_id, str(count))  # a door knows nothing of the count
            return await self._last_messages.take(checked(owner), check_name(session_id), count, asked)

    async def session(self, owner: Owner, session_id: str) -> SessionView:
        """One session. Raises NotFound."""
        with self._telemetry.operation("sessions"):
            return await self._reader.session(checked(owner), session_id)
