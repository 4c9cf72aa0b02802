"""From what a caller sent to a memory in the making: defaults, importance, identity. No I/O; text and vector come next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory_core.domain.errors import FieldError, Invalid
from memory_core.domain.importance import importance_by_type
from memory_core.domain.models import MAX_CONTENT_BYTES, Memory, MemoryType, OnConflict
from memory_core.domain.requests import SaveInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.value import text_of_value
from memory_core.domain.worth import worth_of
from memory_core.ledger.ids import derived, procedure_id
from memory_core.ports import IdSource

NO_PERSONS = frozenset({"assistant", "system", "tool"})
"""Actors whose words tell nothing of the person."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory before it is analysed, embedded and compared; `place` is its item's in the call, from 0."""

    place: int
    memory: Memory
    on_conflict: OnConflict

    @property
    def is_turn(self) -> bool:
        """Whether it is a turn of a session, read together with the turns before it."""
        return self.memory.type is MemoryType.EPISODIC and self.memory.session_id is not None


def draft(owner: Owner, place: int, item: SaveInput, now: datetime, ids: IdSource, call: Call) -> Draft:
    """The memory that the `place`-th item asks for. Raises Invalid where defaults and given fields contradict each other."""
    value_text = text_of_value(item.value)
    content = item.content if item.content is not None else f"{item.key}: {value_text}"
    if len(content.encode()) > MAX_CONTENT_BYTES:
        message = f"key and value make {len(content.encode())} bytes of text; at most {MAX_CONTENT_BYTES} are kept in one memory"
        raise Invalid("the value is too long", errors=(FieldError("value", message),))
    event = item.event_timestamp or now
    valid_from = item.valid_from or event
    if item.valid_until is not None and item.valid_until <= valid_from:
        raise Invalid("the validity is empty", errors=(FieldError("valid_until", f"must be later than {valid_from.isoformat()}"),))
    given = item.importance is not None
    memory = Memory(
        id=_identity(item, content, event, ids),
        app_id=owner.app_id,
        user_id=owner.user_id,
        session_id=item.session_id,
        agent_id=item.agent_id,
        type=item.type,
        category=item.category,
        content=content,
        subject=item.subject,
        attribute=item.attribute,
        key=item.key,
        value=item.value,
        value_text=value_text,
        foresight=item.foresight,
        entities=item.entities,
        actor=item.actor,
        action_type=item.action_type,
        source=item.source,
        metadata=item.metadata,
        tags=item.tags,
        importance_base=item.importance
        if item.importance is not None
        else importance_by_type(item.type, content, item.category, item.tags),
        importance_basis="given" if given else "type",
        confidence=item.confidence,
        pinned=item.pinned,
        worth=worth_of(content, by_assistant=item.actor in NO_PERSONS),
        created_at=now,
        updated_at=now,
        event_timestamp=event,
        valid_from=valid_from,
        valid_until=item.valid_until,
        correlation_id=call.correlation_id,
    )
    return Draft(place, memory, item.on_conflict)


def _identity(item: SaveInput, content: str, event: datetime, ids: IdSource) -> str:
    """Procedural: by key. Episodic: by content, session, actor and event time. Semantic: fresh, neighbours decide."""
    if item.type is MemoryType.PROCEDURAL:
        return procedure_id(item.key or "")
    if item.type is MemoryType.EPISODIC:
        return derived("mem", "episode", item.session_id or "", item.actor or "", event.isoformat(), content)
    return ids.new("mem")
