"""How a profile follows what has happened: which memories it rests on, and which traits show. Pure.

Note: it is only ever told of what was touched. What it says besides stays, and is checked when it is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory_core.domain.agent_answers import SeenTrait
from memory_core.domain.endings import is_ending
from memory_core.domain.models import Memory, MemoryType
from memory_core.domain.profile import MIN_CELLS, tells_length, told_in, was_true
from memory_core.domain.sameness import words_in
from memory_core.domain.scene import KnownFact, KnownPerson, KnownTrait, Scene
from memory_core.domain.slots import folded, slot_of
from memory_core.domain.versions import version_id

MAX_FACTS: Final = 200
MAX_TRAITS: Final = 20
MAX_TRUTHS: Final = 24
"""Memories and old versions that one name of a profile rests on, the latest."""
MAX_CELLS: Final = 12
MAX_TRAIT_CELLS: Final = 30
MAX_VERSIONS: Final = 6
ALIKE: Final = 0.6
"""Share of their words that two traits have in common when they are the same one in other words."""
BY_RULE: Final = "rule"
_SPEAKER = "user"


@dataclass(frozen=True, slots=True)
class Seen:
    """A trait as it was answered, with the cells that it shows in, and by whom."""

    trait: SeenTrait
    cell_ids: tuple[str, ...]
    by: str = BY_RULE


def subjects(memories: Iterable[Memory], user_id: str) -> frozenset[str]:
    """How facts name the person: as the one who speaks, by their id, by the name that they told in one of these memories."""
    told = (str(one.value) for one in memories if slot_of(one) == (_SPEAKER, "name") and one.value is not None and not is_ending(one))
    return frozenset({_SPEAKER, folded(user_id), *map(folded, told)})


def is_about(memory: Memory, who: Collection[str]) -> bool:
    """Whether a memory fills a slot of the person."""
    slot = slot_of(memory)
    return slot is not None and memory.type is MemoryType.SEMANTIC and memory.category in (None, "fact") and slot[0] in who


def with_facts(person: KnownPerson, touched: Iterable[Memory], who: Collection[str], memories: Mapping[str, Memory]) -> KnownPerson:
    """The person after these facts came, fell, were edited or went. memories: by id those that it rests on, and these."""
    facts = {one.name: one for one in person.facts}
    for memory in sorted(touched, key=lambda one: (one.event_timestamp, one.sequence, one.id)):
        versions = [version_id(memory.id, number) for number in range(max(1, memory.version - MAX_VERSIONS), memory.version)]
        own = {memory.id, *versions}
        facts = {name: kept for name, one in facts.items() if (kept := _without(one, own)).memory_ids}
        if not is_about(memory, who) or not was_true(memory, {**memories, memory.id: memory}):
            continue
        name = folded(memory.attribute or "")[:200]
        held = facts.get(name, KnownFact(name=name, memory_ids=[]))
        cells = [*(one for one in held.cell_ids if one not in told_in(memory)), *told_in(memory)[-MAX_CELLS:]]
        ids = [*held.memory_ids, *versions, memory.id][-MAX_TRUTHS:]
        facts[name] = KnownFact(name=name, memory_ids=ids, cell_ids=cells[-2 * MAX_CELLS :])
    return person.model_copy(update={"facts": sorted(facts.values(), key=lambda one: one.name)[:MAX_FACTS]})


def with_traits(person: KnownPerson, seen: Sequence[Seen], cells: Mapping[str, Memory]) -> KnownPerson:
    """The person with these traits; one that is known in much the same words goes on, in the new ones.

    One that says how long messages are takes the place of another that says so.
    """
    traits = [*person.traits]
    for one in seen:
        alike = [known for known in traits if _alike(known, one)]
        ids = dict.fromkeys([*(name for known in alike for name in known.cell_ids), *one.cell_ids])
        there = sorted((cells[name] for name in ids if name in cells), key=lambda cell: (cell.event_timestamp, cell.id))
        if len(there) < MIN_CELLS:
            continue
        first, kept = there[:MIN_CELLS], there[MIN_CELLS:][-(MAX_TRAIT_CELLS - MIN_CELLS) :]
        rivals = [known for known in traits if tells_length(known.trait) and tells_length(one.trait.trait)]
        traits = [known for known in traits if known not in alike and known not in rivals]
        traits.append(
            KnownTrait(
                trait=one.trait.trait,
                confidence=one.trait.confidence,
                cell_ids=[cell.id for cell in (*first, *kept)],
                since=first[-1].event_timestamp,
                by=one.by,
            )
        )
    return person.model_copy(update={"traits": sorted(traits[-MAX_TRAITS:], key=lambda one: (one.since, one.trait))})


def without_memories(person: KnownPerson, gone: Collection[str]) -> KnownPerson:
    """The person without all that rests on memories that are gone: a trait that too few cells bear out goes as well."""
    facts = [kept for one in person.facts if (kept := _without(one, gone)).memory_ids]
    traits = [
        one.model_copy(update={"cell_ids": left})
        for one in person.traits
        if len(left := [name for name in one.cell_ids if name not in gone]) == len(one.cell_ids)
        or (one.by == BY_RULE and len(left) >= MIN_CELLS)
    ]
    return KnownPerson(facts=facts, traits=traits)


def cells_in(scenes: Iterable[Scene], trait: SeenTrait) -> tuple[str, ...]:
    """The cells of scenes that show a trait: those noted with that behaviour, else all."""
    members = [one for scene in scenes for one in scene.members]
    noted = [one.cell_id for one in members if trait.trait in one.shows]
    return tuple(noted or [one.cell_id for one in members])


def _without(fact: KnownFact, gone: Collection[str]) -> KnownFact:
    ids = [name for name in fact.memory_ids if name not in gone]
    return fact.model_copy(update={"memory_ids": ids, "cell_ids": [name for name in fact.cell_ids if name not in gone]})


def _alike(known: KnownTrait, seen: Seen) -> bool:
    """Whether a trait is the known one: what rules see is the same in the same words only, a model may say it in others."""
    if known.trait == seen.trait.trait:
        return True
    if BY_RULE in (known.by, seen.by):
        return False
    ours, theirs = words_in(known.trait), words_in(seen.trait.trait)
    return len(ours & theirs) >= ALIKE * len(ours | theirs)
