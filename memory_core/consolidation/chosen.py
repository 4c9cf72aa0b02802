"""Which memories a filter means: found page by page, up to where the log stood when they were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from memory_core.domain.lifecycle import TRUE_ONCE
from memory_core.domain.messages import is_message, messages_of
from memory_core.domain.models import Memory, Status
from memory_core.domain.scope import Owner
from memory_core.domain.upkeep_requests import ForgetInput
from memory_core.domain.versions import base_id
from memory_core.ports import Document, Filter, LongTermStore, Place

ALL = frozenset(status.value for status in Status)


class Found(NamedTuple):
    """A memory's place in lists; its session, whose own document changes with it; of a cell, the ids of its messages."""

    place: Place
    session_id: str | None
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """The frozen plan of what to forget. until: the log's end at that time; cap: how many at most."""

    mode: str
    until: int
    cap: int
    types: frozenset[str]
    tags: frozenset[str]
    session_id: str | None
    before: datetime | None
    ids: tuple[str, ...] | None

    @classmethod
    def of(cls, plan: Mapping[str, Any]) -> Chosen:
        """What `plan_of` wrote."""
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
        """What the store is asked."""
        return Filter(ALL, types=self.types, tags=self.tags, session_id=self.session_id, until=self.before)

    def takes(self, memory: Memory) -> bool:
        """Whether there is anything to forget in it: softly, not where it is deleted for good already."""
        return self.mode == "hard" or memory.status is not Status.DELETED or memory.status_reason in TRUE_ONCE


def plan_of(asked: ForgetInput, until: int, cap: int) -> dict[str, Any]:
    """The plan as an operation keeps it."""
    return {"mode": asked.mode, "until": until, "cap": cap, **asked.chosen.model_dump(mode="json", exclude_none=True)}


async def page(store: LongTermStore, owner: Owner, chosen: Chosen, after: Place | None, limit: int) -> list[Found]:
    """The next memories that the filter fits, oldest first; fewer than `limit` on the last page."""
    if chosen.ids is not None:
        return await _named(store, owner, chosen, chosen.ids, after, limit)
    documents = await store.page(owner, "memory", chosen.filter, after, limit, newest_first=False)
    candidates = [
        Found(Place(document.body["sequence"], document.id), document.body.get("session_id"), _messages(document)) for document in documents
    ]
    return [candidate for candidate in candidates if candidate.place.sequence <= chosen.until]


async def _named(store: LongTermStore, owner: Owner, chosen: Chosen, ids: tuple[str, ...], after: Place | None, limit: int) -> list[Found]:
    documents = await store.memories(owner, [name for name in ids if base_id(name) == name], chosen.filter)
    memories = sorted((document.memory for document in documents.values()), key=lambda memory: (memory.sequence, memory.id))
    beyond = (0, "") if after is None else (after.sequence, after.id)
    left = [memory for memory in memories if beyond < (memory.sequence, memory.id) and memory.sequence <= chosen.until]
    return [Found(Place(memory.sequence, memory.id), memory.session_id, tuple(messages_of(memory))) for memory in left[:limit]]


def _messages(document: Document) -> tuple[str, ...]:
    if document.body.get("cell_id") != document.id:
        return ()
    return tuple(name for name in document.body["source_ids"] if is_message(name))
