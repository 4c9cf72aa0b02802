"""The memories that a filter fits, and a session's messages that are not formed yet.

The memories are searched page by page, up to the end of the log at the time of the request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from memory_core.domain.event_log import base_id
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.messages import is_message, messages_of
from memory_core.domain.requests.maintenance import ForgetInput
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import TRUE_ONCE
from memory_core.evolution.clear_session import dropped
from memory_core.evolution.reads import earlier_times
from memory_core.ledger.changes import Changes
from memory_core.ledger.documents import buffer_id
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.readable import readable, readable_shown
from memory_core.ledger.sessions import Session
from memory_core.ports import Document, Filter, LongTermStore, Place

ALL = frozenset(status.value for status in Status)


class SelectedMemory(NamedTuple):
    """A memory that is selected by the filter.

    Attributes:
        place: Its place in lists.
        session_id: Its session, whose own document changes with it.
        messages: For a cell, the ids of its messages.

    """

    place: Place
    session_id: str | None
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """The frozen plan of a forget.

    Attributes:
        mode: `soft` or `hard`.
        until: The end of the log at the time of the request.
        cap: The most memories.
        types: Only memories of these types; empty for all.
        tags: Only memories with any of these tags; empty for all.
        session_id: Only memories of this session; None for all.
        before: Only memories of events before this time; None for all.
        ids: Only memories with these ids; None for all.

    """

    mode: str
    until: int
    cap: int
    types: frozenset[str]
    tags: frozenset[str]
    session_id: str | None
    before: datetime | None
    ids: tuple[str, ...] | None

    @classmethod
    def of(cls, plan: Mapping[str, Any]) -> Selection:
        """Return the plan that `plan_of` wrote."""
        before, ids = plan.get("before"), plan.get("ids")
        return cls(
            mode=plan["mode"],
            until=plan["until"],
            cap=plan["cap"],
            types=frozenset(plan.get("types") or ()),
            tags=frozenset(plan.get("tags") or ()),
            session_id=plan.get("session_id"),
            before=None if before is None else datetime.fromisoformat(before),
            ids=None if ids is None else tuple(ids),
        )

    @property
    def filter(self) -> Filter:
        """The filter for the store."""
        return Filter(
            ALL, types=self.types, tags=self.tags, session_id=self.session_id, until=self.before
        )

    def fits(self, memory: Memory) -> bool:
        """Whether the filter fits the memory itself, not only a memory that takes it along."""
        return (
            memory.sequence <= self.until
            and (self.ids is None or memory.id in self.ids)
            and (not self.types or memory.type.value in self.types)
            and (not self.tags or not self.tags.isdisjoint(memory.tags))
            and self.session_id in (None, memory.session_id)
            and (self.before is None or memory.event_timestamp < self.before)
        )

    def messages_along(self, messages: Sequence[str]) -> list[str]:
        """Return the messages of a cell that a soft deletion takes along.

        They are those that the filter names, or all if it names none of them.

        Args:
            messages: The ids of all messages of the cell.

        """
        named = [name for name in messages if name in (self.ids or ())]
        return named or list(messages)

    def takes(self, memory: Memory) -> bool:
        """Whether there is anything to forget in a memory.

        A soft deletion skips a deleted memory, except for a memory whose truth has only ended:
        reads as of an earlier time still find it.
        """
        return (
            self.mode == "hard"
            or memory.status is not Status.DELETED
            or (memory.status_reason in TRUE_ONCE and memory.valid_until != memory.valid_from)
        )


def plan_of(request: ForgetInput, until: int, cap: int) -> dict[str, Any]:
    """Return the plan as an operation stores it.

    Args:
        request: The filter and the mode.
        until: The end of the log.
        cap: The most memories.

    """
    return {
        "mode": request.mode,
        "until": until,
        "cap": cap,
        **request.chosen.model_dump(mode="json", exclude_none=True),
    }


async def named_facts(store: LongTermStore, owner: Owner, ids: Sequence[str]) -> list[str]:
    """Return ids with those of earlier intervals replaced by those of their memories.

    Args:
        store: The long-term store.
        owner: Whose memories they are.
        ids: The ids.

    """
    memories, _ = readable_shown(await store.memories(owner, ids))
    times = await earlier_times(store, owner, memories.values())
    return list(dict.fromkeys(times.get(name, name) for name in ids))


async def unknown_ids(store: LongTermStore, owner: Owner, request: ForgetInput) -> list[str]:
    """Return the ids of a request that no memory of the owner has.

    Args:
        store: The long-term store.
        owner: Whose memories they are.
        request: The filter.

    """
    ids = list(dict.fromkeys(request.chosen.ids or ()))
    known = await store.memories(owner, ids) if ids else {}
    return [name for name in ids if name not in known or base_id(name) != name]


def not_found(plan: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the part of a plan, and of its result, that names unknown ids."""
    return {"not_found": plan["not_found"]} if plan.get("not_found") else {}


async def page(
    store: LongTermStore, owner: Owner, chosen: Selection, after: Place | None, limit: int
) -> list[SelectedMemory]:
    """Return the next memories that the filter fits, oldest first.

    Memories for earlier intervals are left out: they go with the memory that held then.

    Args:
        store: The long-term store.
        owner: Whose memories they are.
        chosen: The plan.
        after: The end of the last page; None for the first page.
        limit: The most memories; the last page has fewer.

    Raises:
        Unavailable: The long-term store is down.

    """
    selected = list[SelectedMemory]()
    while len(selected) < limit:
        fitting, past = await (
            _fitting(store, owner, chosen, after, limit)
            if chosen.ids is None
            else _named(store, owner, chosen, chosen.ids, after, limit)
        )
        times = await earlier_times(store, owner, past)
        selected += (each for each in fitting if each.place.id not in times)
        if len(fitting) < limit:
            break
        after = fitting[-1].place
    return selected[:limit]


_Fitting = tuple[list[SelectedMemory], list[Memory]]
"""Memories that the filter fits, and those among them that may keep an earlier interval."""


async def _fitting(
    store: LongTermStore, owner: Owner, chosen: Selection, after: Place | None, limit: int
) -> _Fitting:
    documents = await store.page(owner, "memory", chosen.filter, after, limit, newest_first=False)
    candidates = [
        SelectedMemory(
            Place(document.body["sequence"], document.id),
            document.body.get("session_id"),
            _messages(document),
        )
        for document in documents
    ]
    fitting = [candidate for candidate in candidates if candidate.place.sequence <= chosen.until]
    past, _ = readable(document for document in documents if _may_be_past(document))
    return fitting, past


async def _named(
    store: LongTermStore,
    owner: Owner,
    chosen: Selection,
    ids: tuple[str, ...],
    after: Place | None,
    limit: int,
) -> _Fitting:
    documents = await store.memories(
        owner, [name for name in ids if base_id(name) == name], chosen.filter
    )
    memories = sorted(
        (document.memory for document in documents.values()),
        key=lambda memory: (memory.sequence, memory.id),
    )
    beyond = (0, "") if after is None else (after.sequence, after.id)
    left = [
        memory
        for memory in memories
        if beyond < (memory.sequence, memory.id) and memory.sequence <= chosen.until
    ]
    fitting = [
        SelectedMemory(
            Place(memory.sequence, memory.id), memory.session_id, tuple(messages_of(memory))
        )
        for memory in left[:limit]
    ]
    return fitting, [memory for memory in left[:limit] if memory.session_id is None]


def _may_be_past(document: Document) -> bool:
    body = document.body
    return (
        not document.damaged
        and body.get("session_id") is None
        and body.get("status") != Status.ACTIVE.value
    )


def _messages(document: Document) -> tuple[str, ...]:
    if document.body.get("cell_id") != document.id:
        return ()
    return tuple(name for name in document.body["source_ids"] if is_message(name))


# Forgetting a whole session includes its messages that are not formed yet.
#
# It is counted as a clear of the session, so later forming commits skip messages from before it.
# Note: this happens when the call is acknowledged, not when its task is worked on, so that messages
# in between are kept.


def whole_session(request: ForgetInput) -> str | None:
    """Return the session that is forgotten as a whole, or its memories of some types.

    None if the filter says more.
    """
    chosen = request.chosen
    says = chosen.model_dump(exclude_none=True).keys()
    return chosen.session_id if says <= {"session_id", "types"} else None


def reads_of(owner: Owner, session_id: str) -> list[str]:
    """Return the ids that `cleared` needs, as far as the session's id tells.

    Args:
        owner: Whose session it is.
        session_id: The session.

    """
    return [session_document_id(owner, session_id), buffer_id(owner, session_id)]


class WrittenSince(Exception):
    """Memories were written since the request was planned; it has to be planned again."""


def cleared(
    owner: Owner,
    session_id: str,
    forgetting: ForgetInput,
    read_set: ReadSet,
    until: int,
    now: datetime,
    seal_key: bytes,
) -> Changes[Any]:
    """Return the writes of a request that forgets a session, beside its task.

    For all types, the waiting batch of the session is discarded, too.

    Args:
        owner: Whose session it is.
        session_id: The session.
        forgetting: The request.
        read_set: The documents that it is decided on.
        until: The end of the log when the memories were found that are forgotten.
        now: The time of the request.
        seal_key: The key that seals the session's history for a hard delete.

    Raises:
        WrittenSince: Memories were written since.

    """
    if read_set.head is None:
        return Changes(None)
    if read_set.head.sequence != until:
        raise WrittenSince
    session = Session(
        owner, session_id, read_set.documents.get(session_document_id(owner, session_id))
    )
    chosen = forgetting.chosen
    session.clear(chosen.types or MemoryType, keeps_history=True)
    if forgetting.mode == "hard" and not chosen.types:
        session.forget_history(seal_key)
    gathered = None if chosen.types else dropped(owner, session_id, read_set, now)
    made = gathered or Changes(None)
    return replace(made, puts=(*made.puts, session.document))
