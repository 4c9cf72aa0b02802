"""What is struck from that which stays when something else is forgotten for good: every mention, everywhere it may have been written down.

A memory that stays and the events that tell how it became what it is are struck by the same rule, so that the log still tells what is
stored. Note: what was forgotten also lives on in the turns after it, which are found by words of the turns before them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from hashlib import blake2b
from typing import Any

import orjson

from memory_core.domain.indexing import turn_of
from memory_core.domain.lexical import search_text
from memory_core.domain.models import Event, Memory
from memory_core.domain.sameness import normalised
from memory_core.domain.slots import slot_of

_NAMES = ("cell_id", "next_id", "supersedes_id", "copied_from")
_LISTS = ("source_ids", "consolidated_into_ids")


def redacted(event: Event) -> Event:
    """The event of a forgotten memory: that it was there, and when, and nothing else."""
    return event.model_copy(update={"redacted": True, "before": {}, "after": {}, "metadata": {}, "agent_id": None, "session_id": None})


def struck_event(event: Event, gone: Collection[str]) -> Event:
    """The event of a memory that stays, without any mention of those that are gone."""
    kept = {name: value for name, value in event.metadata.items() if not (isinstance(value, str) and value in gone)}
    return event.model_copy(update={"before": struck(event.before, gone), "after": struck(event.after, gone), "metadata": kept})


def struck(fields: Mapping[str, Any], gone: Collection[str]) -> dict[str, Any]:
    """Fields of a memory, as JSON, without any mention of those that are gone.

    A cell keeps what it says itself; a note's list of superseded facts loses those that are gone.
    """
    kept = dict(fields)
    for name in _NAMES:
        if kept.get(name) in gone:
            kept[name] = None
    for name in _LISTS:
        if kept.get(name):
            kept[name] = [one for one in kept[name] if one not in gone]
    if kept.get("links"):
        kept["links"] = [one for one in kept["links"] if one["memory_id"] not in gone]
    if kept.get("atomic_facts"):
        kept["atomic_facts"] = [fact for one in kept["atomic_facts"] if (fact := _struck_fact(one, gone)) is not None]
    return kept


def _struck_fact(fact: Mapping[str, Any], gone: Collection[str]) -> Mapping[str, Any] | None:
    if fact.get("fact_id") not in gone:
        return fact
    return None if fact.get("message") is None else {**fact, "fact_id": None, "superseded_by": None}


def struck_memory(memory: Memory, gone: Collection[str], lent: Collection[str]) -> Memory:
    """The memory without any mention of those that are gone, and without words that the turns before it lent it; itself, if it has none.

    lent: of the turns that are gone, what `lends` says.
    """
    body = memory.model_dump(mode="json")
    kept = struck(body, gone)
    lexical = memory.lexical
    if lexical.previous and lends_from(lexical.previous) in lent:
        lexical = lexical.model_copy(update={"previous": {}, "previous_asks": False})
    if lexical.before_previous and lends_from(lexical.before_previous) in lent:
        lexical = lexical.model_copy(update={"before_previous": {}})
    if kept == body and lexical is memory.lexical:
        return memory
    made = Memory.model_validate({**kept, "lexical": lexical.model_dump(), "search_text": search_text(lexical)})
    made.embedding = memory.embedding
    return made


def is_made_of_others(memory: Memory) -> bool:
    """Whether a memory's text was made of others' texts, which it took the place of."""
    return memory.supersedes_id is not None and memory.supersedes_id in memory.source_ids


def lends(memory: Memory) -> str:
    """A mark of the words that a turn lends to the turns after it.

    The same words have the same mark, and can't be read out of it.
    """
    return lends_from(turn_of(memory).counts)


def lends_from(counts: Mapping[str, int]) -> str:
    """The mark of such words as they stand with a later turn."""
    return blake2b(orjson.dumps(dict(counts), option=orjson.OPT_SORT_KEYS), digest_size=12).hexdigest()


def says(memory: Memory) -> str | None:
    """A mark of what a memory says in its slot, or of its key; None for one without, and for a copy of a key's value, which is none of it.

    A truth's earlier time has the same as the truth.
    """
    place = slot_of(memory) if memory.key is None else (memory.key,)
    if place is None or (memory.key is not None and memory.copied_from is not None):
        return None
    return blake2b(orjson.dumps([memory.type, *place, normalised(memory.content)]), digest_size=12).hexdigest()
