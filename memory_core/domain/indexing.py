"""How a memory becomes findable: which words are its own, which text its vector is made of, what it lends to the next turn."""

from __future__ import annotations

from datetime import datetime

from memory_core.domain.attributes import also_called
from memory_core.domain.lexical import Turn, analyse, as_turn, embedding_text, search_text
from memory_core.domain.messages import is_message
from memory_core.domain.models import Memory
from memory_core.domain.time_zone import ZONE_FIELD, local, zone_of


def with_lexical(memory: Memory, previous: Turn | None = None, before_previous: Turn | None = None, ordinal: int | None = None) -> Memory:
    """The memory with its analysed text; its own words are also tags, slot, key, category and what an agent gave to find it by.

    Of its slot they are all names of the attribute: "What is my job?" asks for an occupation.

    previous, before_previous: the turns before it in its session; ordinal: its place among them (None: not a turn).
    """
    category = None if is_message(memory.id) else memory.category
    extra = [*memory.tags, *(name for name in (memory.subject, memory.attribute, memory.key, category) if name)]
    extra += also_called(memory.attribute) if memory.attribute else ()
    extra += [*memory.keywords, *memory.semantic_queries, *(fact.text for fact in memory.atomic_facts)]
    lexical = analyse(
        memory.content,
        actor=memory.actor,
        event_timestamp=told_at(memory),
        extra=extra,
        previous=previous,
        before_previous=before_previous,
        turn=ordinal,
    )
    return memory.model_copy(update={"lexical": lexical, "search_text": search_text(lexical)})


def reread(memory: Memory) -> Memory:
    """The memory with its present text analysed again.

    The words that the turns before lent it, and its place among them, stay.
    """
    before = memory.lexical
    lexical = with_lexical(memory, ordinal=before.turn).lexical
    around = {"previous": before.previous, "before_previous": before.before_previous, "previous_asks": before.previous_asks}
    lexical = lexical.model_copy(update=around)
    return memory.model_copy(update={"lexical": lexical, "search_text": search_text(lexical)})


def text_to_embed(memory: Memory) -> str:
    """What the vector of a memory is made of."""
    return embedding_text(memory.type, memory.content, actor=memory.actor, event_timestamp=told_at(memory))


def told_at(memory: Memory) -> datetime:
    """When it happened, in the speaker's time zone.

    The day in its date words is the speaker's.
    """
    zone = memory.metadata.get(ZONE_FIELD)
    return local(memory.event_timestamp, zone_of(zone)) if isinstance(zone, str) else memory.event_timestamp


def turn_of(memory: Memory) -> Turn:
    """What the turns after this one need to know of it."""
    return as_turn(memory.id, memory.lexical)
