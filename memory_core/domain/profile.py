"""The profile of a person at any moment, and how new memories change it.

Note: a value that ended is no value any more, but was a value once. The profile shows it at moments
when it held, and among the previous values. A memory that was deleted or taken back is never shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from memory_core.domain.agent_schemas import SeenTrait
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.event_log import base_id, is_of_its_life, is_version, version_id
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.messages import MESSAGE
from memory_core.domain.scene_assignment import PROTOTYPES, about
from memory_core.domain.scenes import (
    Dispute,
    KnownFact,
    KnownPerson,
    KnownTrait,
    PreviousValue,
    Profile,
    ProfileFact,
    ProfileTrait,
    Scene,
)
from memory_core.domain.statements.attributes import canonical_subject, place_of_attribute
from memory_core.domain.statements.worth import place_of_worth
from memory_core.domain.text.sameness import words_in
from memory_core.domain.transitions import FOUND_BY_DEFAULT, TRUE_ONCE
from memory_core.domain.truth.slots import folded, is_retraction, slot_of

MAX_PREVIOUS: Final = 20
"""The most previous values that a fact shows: the latest."""
MIN_CELLS: Final = 3
"""Cells that a trait must show in."""
OF_THE_USER: Final = {"speaker": "user"}
"""Metadata of a fact about the only person who spoke as the user in its conversation."""
_TOPIC: Final = re.compile(r"Often talks about (\w+)\.")
_LENGTH: Final = re.compile(r"\bwrites (?:short|medium-length|long) messages\b")


def profile_at(person: KnownPerson, memories: Mapping[str, Memory], at: datetime) -> Profile:
    """The profile at a moment.

    The most important names come first (`place_of`). All truths of a name that hold are in it:
    first the pinned, then the latest, which also has the values before them. Whether a statement
    disputes one of them is for the caller to find out.

    Args:
        person: The stored profile.
        memories: The memories that it names by their ids, as far as they exist.
        at: The moment.

    """
    truths = (
        (fact.name, [memories[name] for name in fact.memory_ids if name in memories])
        for fact in person.facts
    )
    by_name = [facts for name, of_name in truths if (facts := _facts(name, of_name, memories, at))]
    by_name.sort(key=lambda facts: place_of(memories[facts[0].memory_id]))
    return Profile(
        explicit=[fact for facts in by_name for fact in facts],
        implicit=[
            trait for known_trait in person.traits if (trait := _trait(known_trait, memories, at))
        ],
    )


def place_of(memory: Memory) -> tuple[int, bool, int, bool, int]:
    """The place of a memory among all that is known: a lower one comes first.

    A memory comes first by its worth (a name, an allergy), then if it is about the person, then by
    its attribute's place in the table of attributes (a home before a taste), then if it is no
    message; the newest comes first among equals.
    """
    return (
        place_of_worth(memory.worth),
        canonical_subject(memory.subject or _SPEAKER) != _SPEAKER,
        place_of_attribute(memory.attribute),
        memory.category == MESSAGE,
        -memory.sequence,
    )


def with_successors(person: KnownPerson, memories: Mapping[str, Memory]) -> KnownPerson:
    """The person with the successors of the truths that the facts rest on.

    Args:
        person: The stored profile.
        memories: Memories by id. Chains are followed as far as these memories reach.

    """
    facts = [
        KnownFact(name=fact.name, memory_ids=_with_next(fact, memories), cell_ids=fact.cell_ids)
        for fact in person.facts
    ]
    return KnownPerson(facts=facts, traits=person.traits)


def _with_next(fact: KnownFact, memories: Mapping[str, Memory]) -> list[str]:
    ids = dict.fromkeys(fact.memory_ids)
    for name in fact.memory_ids:
        while (
            (memory := memories.get(name)) is not None
            and memory.next_id is not None
            and memory.next_id not in ids
        ):
            name = memory.next_id
            if name in memories and folded(memories[name].attribute or "") == fact.name:
                ids[name] = None
    return list(ids)


def topic_trait(theme: str) -> str:
    """The trait of a person who often talks about a theme."""
    return f"Often talks about {theme}."


def is_about_length(trait: str) -> bool:
    """Whether a trait says how long a person's messages are.

    That differs from talk to talk, and a profile shows only a single such trait.
    """
    return _LENGTH.search(trait) is not None


def was_true(memory: Memory, memories: Mapping[str, Memory]) -> bool:
    """Whether a memory states a truth of today or of an earlier time.

    A retraction does not, and neither do old versions of a memory that was deleted or taken back.

    Args:
        memory: A memory or an old version.
        memories: Memories by id, with the current memory of an old version.

    """
    if is_retraction(memory):
        return False
    if is_version(memory.id):
        return is_of_its_life(memory, memories.get(base_id(memory.id)))
    return memory.status in FOUND_BY_DEFAULT or memory.status_reason in TRUE_ONCE


def value_of(memory: Memory) -> Any:
    """The value that a memory puts into its slot, or else its words."""
    if memory.value is not None:
        return memory.value
    return memory.value_text or memory.content


def scenes_of(cell_ids: Iterable[str], memories: Mapping[str, Memory]) -> list[str]:
    """The scenes of these cells, each once.

    Args:
        cell_ids: Ids of cells.
        memories: Memories by id. Deleted cells and cells that are missing here count for no scene.

    """
    cells = (memories[name] for name in cell_ids if name in memories)
    return list(
        dict.fromkeys(
            cell.scene_id
            for cell in cells
            if cell.scene_id is not None and cell.status is not Status.DELETED
        )
    )


def _facts(
    name: str, truths: Sequence[Memory], memories: Mapping[str, Memory], at: datetime
) -> list[ProfileFact]:
    begun = [truth for truth in truths if was_true(truth, memories) and truth.valid_from <= at]
    holding = [
        truth
        for truth in begun
        if (truth.valid_until is None or at < truth.valid_until) and _may_hold(truth)
    ]
    active = [truth for truth in holding if truth.status in FOUND_BY_DEFAULT]
    ranked = sorted(
        active or holding,
        key=lambda truth: (truth.pinned, truth.event_timestamp, truth.sequence, truth.id),
        reverse=True,
    )
    sources = {base_id(truth.id) for truth in ranked}
    current: list[Memory] = []
    for truth in ranked if active else ranked[:1]:
        if truth.copied_from not in sources and all(
            value_of(truth) != value_of(other) for other in current
        ):
            current.append(truth)
    before = [
        truth
        for truth in begun
        if truth.valid_until is not None
        and truth.valid_from < truth.valid_until <= at
        and all(value_of(truth) != value_of(other) for other in current)
    ]
    before.sort(key=lambda truth: (truth.valid_from, truth.id), reverse=True)
    return [
        ProfileFact(
            name=name,
            value=value_of(truth),
            confidence=truth.confidence,
            since=truth.valid_from,
            source_scene_ids=scenes_of(cell_ids_of(truth), memories),
            previous=[] if place else [_previous(old) for old in before[:MAX_PREVIOUS]],
            memory_id=truth.id,
        )
        for place, truth in enumerate(current)
    ]


def without_rivals(facts: Iterable[ProfileFact]) -> list[ProfileFact]:
    """The facts without those that dispute an earlier fact of the same name.

    They are named by its `disputed_by` or name it by theirs.

    Args:
        facts: The facts of a profile, with the statements that dispute them.

    """
    by_name: dict[str, list[ProfileFact]] = {}
    for fact in facts:
        same_name = by_name.setdefault(fact.name, [])
        if not any(_dispute_each_other(fact, earlier) for earlier in same_name):
            same_name.append(fact)
    return [fact for same_name in by_name.values() for fact in same_name]


def _dispute_each_other(fact: ProfileFact, other: ProfileFact) -> bool:
    return any(dispute.memory_id == other.memory_id for dispute in fact.disputed_by) or any(
        dispute.memory_id == fact.memory_id for dispute in other.disputed_by
    )


def disputes_of(
    memory_id: str, records: Iterable[ConflictRecord], statements: Mapping[str, Memory]
) -> list[Dispute]:
    """The statements that open conflicts set against a memory, the latest first.

    Args:
        memory_id: The memory that is disputed.
        records: Open conflicts.
        statements: By id, the memories that may be named as the other side.

    """
    others = [
        (record.id, name)
        for record in records
        if memory_id in record.sides
        for name in record.sides
        if name != memory_id
    ]
    disputes = [
        Dispute(
            conflict_id=conflict_id,
            memory_id=name,
            text=statements[name].content,
            at=statements[name].event_timestamp,
        )
        for conflict_id, name in others
        if name in statements
    ]
    return sorted(disputes, key=lambda dispute: (dispute.at, dispute.memory_id), reverse=True)


def cell_ids_of(memory: Memory) -> list[str]:
    """The cells that contain a fact, the first cell first."""
    return list(
        dict.fromkeys(
            name
            for name in (memory.cell_id, *memory.source_ids)
            if name is not None and name != memory.id
        )
    )


def _may_hold(memory: Memory) -> bool:
    """Whether a memory may count as true: a superseded truth without an end does not."""
    return memory.status in FOUND_BY_DEFAULT or memory.valid_until is not None


def _previous(memory: Memory) -> PreviousValue:
    return PreviousValue(
        value=value_of(memory),
        since=memory.valid_from,
        until=memory.valid_until,
        memory_id=memory.id,
    )


def _trait(known: KnownTrait, memories: Mapping[str, Memory], at: datetime) -> ProfileTrait | None:
    """The trait if enough of its cells exist and had happened by the moment."""
    cells = [
        cell
        for name in known.cell_ids
        if (cell := memories.get(name)) is not None and cell.status is not Status.DELETED
    ]
    shown_ids = [cell.id for cell in cells if cell.event_timestamp <= at]
    if len(shown_ids) < MIN_CELLS:
        return None
    return ProfileTrait(
        trait=known.trait,
        confidence=known.confidence,
        source_scene_ids=scenes_of(shown_ids, memories),
    )


# Update a stored profile: the memories that it rests on, and its traits. Pure.
#
# Note: the functions get only changed memories. The rest of the profile stays, and is checked when
# it is read.


MAX_FACTS: Final = 200
MAX_TRAITS: Final = 20
MAX_TRUTHS: Final = 24
"""The most memories and old versions that a fact of a profile rests on."""
MAX_CELLS: Final = 12
MAX_TRAIT_CELLS: Final = 30
MAX_VERSIONS: Final = 6
ALIKE: Final = 0.6
"""Least share of common words at which two traits mean the same."""
BY_RULE: Final = "rule"
_SPEAKER = "user"


@dataclass(frozen=True, slots=True)
class Seen:
    """A trait as it was answered, with its cells and its source.

    `by` names the rule or the model that saw it.
    """

    trait: SeenTrait
    cell_ids: tuple[str, ...]
    by: str = BY_RULE


def subjects(memories: Iterable[Memory], user_id: str) -> frozenset[str]:
    """Names that facts use for the person.

    They are "user" for the speaker, the user's id, the names that the person states in these
    memories, and the name by which the person alone spoke to an assistant (`OF_THE_USER`). If
    several people did so, as in a team, none of them is the person.

    Args:
        memories: Memories that may state a name.
        user_id: The person's id.

    """
    names = {_SPEAKER, folded(user_id)}
    spoken = set[str]()
    for memory in memories:
        if OF_THE_USER.items() <= memory.metadata.items():
            spoken.add(folded(memory.subject or ""))
        if (
            slot_of(memory) == (_SPEAKER, "name")
            and memory.value is not None
            and not is_retraction(memory)
        ):
            names.add(folded(str(memory.value)))
    return frozenset(names | spoken if len(spoken) == 1 else names)


def is_about(memory: Memory, names: Collection[str]) -> bool:
    """Whether a memory fills a slot of the person.

    Args:
        memory: Any memory.
        names: The person's names, from `subjects`.

    """
    slot = slot_of(memory)
    return (
        slot is not None
        and memory.type is MemoryType.SEMANTIC
        and memory.category in (None, "fact")
        and slot[0] in names
    )


def with_facts(
    person: KnownPerson,
    changed_memories: Iterable[Memory],
    names: Collection[str],
    memories: Mapping[str, Memory],
) -> KnownPerson:
    """The person after facts were added, superseded, edited or removed.

    Args:
        person: The stored profile.
        changed_memories: The memories that changed.
        names: The person's names, from `subjects`.
        memories: By id, the memories that the profile rests on, and the changed memories.

    """
    facts = {fact.name: fact for fact in person.facts}
    for memory in sorted(
        changed_memories,
        key=lambda changed: (changed.event_timestamp, changed.sequence, changed.id),
    ):
        versions = [
            version_id(memory.id, number)
            for number in range(max(1, memory.version - MAX_VERSIONS), memory.version)
        ]
        own = {memory.id, *versions}
        facts = {
            name: rest for name, fact in facts.items() if (rest := _without(fact, own)).memory_ids
        }
        if not is_about(memory, names) or not was_true(memory, {**memories, memory.id: memory}):
            continue
        name = folded(memory.attribute or "")[:200]
        fact = facts.get(name, KnownFact(name=name, memory_ids=[]))
        cells = [
            *(cell_id for cell_id in fact.cell_ids if cell_id not in cell_ids_of(memory)),
            *cell_ids_of(memory)[-MAX_CELLS:],
        ]
        ids = [*fact.memory_ids, *versions, memory.id][-MAX_TRUTHS:]
        facts[name] = KnownFact(name=name, memory_ids=ids, cell_ids=cells[-2 * MAX_CELLS :])
    return KnownPerson(facts=_most_important(facts.values(), memories), traits=person.traits)


def _most_important(
    facts: Collection[KnownFact], memories: Mapping[str, Memory]
) -> list[KnownFact]:
    """The facts by name, without the least important ones if there are too many."""

    def place(fact: KnownFact) -> tuple[Any, ...]:
        latest = next((memories[name] for name in fact.memory_ids[::-1] if name in memories), None)
        return (True,) if latest is None else (False, *place_of(latest))

    most = sorted(facts, key=place)[:MAX_FACTS] if len(facts) > MAX_FACTS else facts
    return sorted(most, key=lambda fact: fact.name)


def with_traits(
    person: KnownPerson, seen: Sequence[Seen], cells: Mapping[str, Memory]
) -> KnownPerson:
    """The person with these traits.

    A known trait in much the same words takes the new words and keeps its cells. A trait about the
    length of messages replaces any other such trait.

    Args:
        person: The stored profile.
        seen: Traits as they were answered.
        cells: Cells by id. A trait with fewer than `MIN_CELLS` of them is dropped.

    """
    traits = [*person.traits]
    for observed in seen:
        alike = [known for known in traits if _alike(known, observed)]
        ids = dict.fromkeys(
            [*(name for known in alike for name in known.cell_ids), *observed.cell_ids]
        )
        there = sorted(
            (cells[name] for name in ids if name in cells),
            key=lambda cell: (cell.event_timestamp, cell.id),
        )
        if len(there) < MIN_CELLS:
            continue
        first, recent = there[:MIN_CELLS], there[MIN_CELLS:][-(MAX_TRAIT_CELLS - MIN_CELLS) :]
        rivals = [
            known
            for known in traits
            if is_about_length(known.trait) and is_about_length(observed.trait.trait)
        ]
        traits = [known for known in traits if known not in alike and known not in rivals]
        traits.append(
            KnownTrait(
                trait=observed.trait.trait,
                confidence=observed.trait.confidence,
                cell_ids=[cell.id for cell in (*first, *recent)],
                since=first[-1].event_timestamp,
                by=observed.by,
            )
        )
    latest = sorted(traits[-MAX_TRAITS:], key=lambda trait: (trait.since, trait.trait))
    return KnownPerson(facts=person.facts, traits=latest)


def without_memories(person: KnownPerson, gone: Collection[str]) -> KnownPerson:
    """The person without facts and traits that rest on removed memories.

    A trait by rule stays while enough cells show it. A trait by a model goes as soon as it loses a
    cell.

    Args:
        person: The stored profile.
        gone: Ids of the memories that are removed.

    """
    facts = [rest for fact in person.facts if (rest := _without(fact, gone)).memory_ids]
    traits = [
        KnownTrait(
            trait=trait.trait,
            confidence=trait.confidence,
            cell_ids=left,
            since=trait.since,
            by=trait.by,
        )
        for trait in person.traits
        if len(left := [name for name in trait.cell_ids if name not in gone]) == len(trait.cell_ids)
        or (trait.by == BY_RULE and len(left) >= MIN_CELLS)
    ]
    return KnownPerson(facts=facts, traits=traits)


def cells_in(scenes: Iterable[Scene], trait: SeenTrait) -> tuple[str, ...]:
    """The cells of scenes that show a trait: cells with that noted behaviour, else all.

    A trait that says what a person often talks about has the cells that are about that.

    Args:
        scenes: The scenes that the answer names.
        trait: The trait.

    """
    members = [member for scene in scenes for member in scene.members]
    topic = _TOPIC.fullmatch(trait.trait)
    if topic is not None and topic[1] in PROTOTYPES:
        places = about(topic[1], [member.line for member in members])
        return tuple(members[place_of_member].cell_id for place_of_member in places)
    noted = [member.cell_id for member in members if trait.trait in member.shows]
    return tuple(noted or [member.cell_id for member in members])


def _without(fact: KnownFact, gone: Collection[str]) -> KnownFact:
    ids = [name for name in fact.memory_ids if name not in gone]
    cell_ids = [name for name in fact.cell_ids if name not in gone]
    return KnownFact(name=fact.name, memory_ids=ids, cell_ids=cell_ids)


def _alike(known: KnownTrait, seen: Seen) -> bool:
    """Whether a seen trait is the known trait.

    Traits by rule must have the same words. A model may say the same in other words.
    """
    if known.trait == seen.trait.trait:
        return True
    if BY_RULE in (known.by, seen.by):
        return False
    ours, theirs = words_in(known.trait), words_in(seen.trait.trait)
    return len(ours & theirs) >= ALIKE * len(ours | theirs)
