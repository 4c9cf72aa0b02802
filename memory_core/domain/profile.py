"""What a profile says at any moment, derived from its memories that are still valid.

Note: a value that ended is no value any more, but it was one once. It is shown at moments when it held, and among what was
before; what was deleted or taken back never is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from memory_core.domain.endings import is_ending
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT, TRUE_ONCE
from memory_core.domain.models import Memory, Status
from memory_core.domain.scene import KnownFact, KnownPerson, KnownTrait, PreviousValue, Profile, ProfileFact, ProfileTrait
from memory_core.domain.slots import folded
from memory_core.domain.versions import base_id, is_of_its_life, is_version

MAX_PREVIOUS: Final = 20
"""Earlier values that are shown of a fact, the latest."""
MIN_CELLS: Final = 3
"""Cells that a trait must show in."""
_LENGTH: Final = re.compile(r"\bwrites (?:short|medium-length|long) messages\b")


def profile_at(person: KnownPerson, memories: Mapping[str, Memory], at: datetime) -> Profile:
    """The profile at a moment. memories: by id those that it names, as far as they are there."""
    truths = ((one.name, [memories[name] for name in one.memory_ids if name in memories]) for one in person.facts)
    facts = [fact for name, told in truths if (fact := _fact(name, told, memories, at)) is not None]
    return Profile(explicit=facts, implicit=[trait for one in person.traits if (trait := _trait(one, memories, at))])


def with_successors(person: KnownPerson, memories: Mapping[str, Memory]) -> KnownPerson:
    """The person with the truths of each name that took the place of those that it rests on, as far as these are there."""
    return person.model_copy(update={"facts": [one.model_copy(update={"memory_ids": _with_next(one, memories)}) for one in person.facts]})


def _with_next(fact: KnownFact, memories: Mapping[str, Memory]) -> list[str]:
    ids = dict.fromkeys(fact.memory_ids)
    for name in fact.memory_ids:
        while (memory := memories.get(name)) is not None and memory.next_id is not None and memory.next_id not in ids:
            name = memory.next_id
            if name in memories and folded(memories[name].attribute or "") == fact.name:
                ids[name] = None
    return list(ids)


def tells_length(trait: str) -> bool:
    """Whether a trait says how long a person's messages are.

    That differs from talk to talk, and a profile shows only one such trait.
    """
    return _LENGTH.search(trait) is not None


def was_true(memory: Memory, memories: Mapping[str, Memory]) -> bool:
    """Whether a memory tells what is true, or was once; old versions of one that was deleted, and endings, do not."""
    if is_ending(memory):
        return False
    if is_version(memory.id):
        return is_of_its_life(memory, memories.get(base_id(memory.id)))
    return memory.status in FOUND_BY_DEFAULT or memory.status_reason in TRUE_ONCE


def value_of(memory: Memory) -> Any:
    """What fills a slot by this memory: its value, or its words where it was saved without one."""
    if memory.value is not None:
        return memory.value
    return memory.value_text or memory.content


def scenes_of(cell_ids: Iterable[str], memories: Mapping[str, Memory]) -> list[str]:
    """The scenes that these cells are in, each once."""
    cells = (memories[name] for name in cell_ids if name in memories)
    return list(dict.fromkeys(one.scene_id for one in cells if one.scene_id is not None and one.status is not Status.DELETED))


def _fact(name: str, truths: Sequence[Memory], memories: Mapping[str, Memory], at: datetime) -> ProfileFact | None:
    told = [one for one in truths if was_true(one, memories) and one.valid_from <= at]
    holding = [one for one in told if (one.valid_until is None or at < one.valid_until) and _stands_at(one)]
    if not holding:
        return None
    held = max(holding, key=lambda one: (one.status in FOUND_BY_DEFAULT, one.event_timestamp, one.sequence, one.id))
    before = [one for one in told if one.valid_until is not None and one.valid_from < one.valid_until <= at and one is not held]
    before.sort(key=lambda one: (one.valid_from, one.id), reverse=True)
    return ProfileFact(
        name=name,
        value=value_of(held),
        confidence=held.confidence,
        since=held.valid_from,
        source_scene_ids=scenes_of(told_in(held), memories),
        previous=[_previous(one) for one in before if value_of(one) != value_of(held)][:MAX_PREVIOUS],
        memory_id=held.id,
    )


def told_in(memory: Memory) -> list[str]:
    """The cells that told a fact, the first one first."""
    return list(dict.fromkeys(name for name in (memory.cell_id, *memory.source_ids) if name is not None and name != memory.id))


def _stands_at(memory: Memory) -> bool:
    """A truth that fell without saying until when it held holds no more."""
    return memory.status in FOUND_BY_DEFAULT or memory.valid_until is not None


def _previous(memory: Memory) -> PreviousValue:
    return PreviousValue(value=value_of(memory), since=memory.valid_from, until=memory.valid_until, memory_id=memory.id)


def _trait(known: KnownTrait, memories: Mapping[str, Memory], at: datetime) -> ProfileTrait | None:
    """The trait while enough of what it shows in is there, and was so at the moment."""
    cells = [one for name in known.cell_ids if (one := memories.get(name)) is not None and one.status is not Status.DELETED]
    shown = [one.id for one in cells if one.event_timestamp <= at]
    if len(shown) < MIN_CELLS:
        return None
    return ProfileTrait(trait=known.trait, confidence=known.confidence, source_scene_ids=scenes_of(shown, memories))
