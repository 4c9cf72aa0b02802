"""Keep a person's profile in a run: the memories of its facts, and traits.

Note: only ids are written. So a rival's write between reading and writing does no harm, since a
reader of the profile reads the memories themselves.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from memory_core.consolidation.reflection import (
    TOLD,
    JointReflection,
    latest_scenes,
    scene_items,
    shows_more,
)
from memory_core.consolidation.step import Proposal, Run
from memory_core.domain.agent_schemas import Answered, ProfileUpdate, SeenTrait
from memory_core.domain.errors import AgentFailed
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.profile import BY_RULE, Seen, cells_in, subjects, with_facts, with_traits
from memory_core.domain.scenes import PROFILE_ID, KnownPerson, Scene, person_in
from memory_core.domain.statements.provenance import unknown_names
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.spelling import numbers_in
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Agents, Document
from memory_core.tasks.agent_steps import Steps
from memory_core.tasks.operation_records import Chunk

log = logging.getLogger(__name__)


class ProfileStep:
    """The step that keeps profiles.

    The agent `rules` works without a model, and answers if `agents` give no usable answer. With
    `reflecting`, patterns and traits are asked for in a single call.
    """

    name = "profile"

    def __init__(
        self, agents: Agents, rules: Agents, steps: Steps, reflecting: JointReflection | None = None
    ) -> None:
        self._rules, self._steps, self._reflecting = rules, steps, reflecting
        self._model = None if agents is rules else agents

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """Return the profile after the run's new events; None if they do not change it.

        Args:
            run: The run.
            cursor: Not used, since the step has a single chunk.

        Raises:
            Unavailable: The long-term store or an agent is down.

        """
        changed = await self._changed(run)
        if not changed:
            return None
        known, memories, person = await self._facts(run, changed)
        dropped = 0
        if any(
            memory.type is MemoryType.EPISODIC and memory.status is not Status.DELETED
            for memory in changed.values()
        ):
            seen, dropped = await self._traits(run, changed)
            cells = await run.reads.memories(
                name for trait in seen for name in trait.cell_ids if name not in memories
            )
            person = with_traits(person, seen, {**memories, **cells})
        if person == known:
            return None
        counts = {"profile_facts": _changed(known, person), "traits_dropped": dropped}

        def decide(read_set: ReadSet) -> Chunk:
            return Chunk(puts=(_document(read_set, person),), cursor=1, counts=counts, done=True)

        return Proposal([PROFILE_ID], decide, waits=True)

    async def dry_run(self, run: Run) -> Mapping[str, int]:
        """Count the facts of the profile that would change now."""
        changed = await self._changed(run)
        if not changed:
            return {"profile_facts": 0}
        known, _, person = await self._facts(run, changed)
        return {"profile_facts": _changed(known, person)}

    async def _changed(self, run: Run) -> dict[str, Memory]:
        return await run.reads.memories(
            [
                *run.changed_ids(MemoryType.SEMANTIC.value),
                *run.changed_ids(MemoryType.EPISODIC.value),
            ]
        )

    async def _facts(
        self, run: Run, changed: Mapping[str, Memory]
    ) -> tuple[KnownPerson, dict[str, Memory], KnownPerson]:
        """Return the stored person, the memories, and the person with their facts.

        The memories are those of the stored person and the changed memories.
        """
        stored, read = await self._read(run)
        memories = {**read, **changed}
        memories |= await self._followed(run, memories)
        known = stored or KnownPerson()
        subject_names = subjects(memories.values(), run.owner.user_id)
        new = [
            memory
            for name, memory in memories.items()
            if (name in changed or name not in read) and memory.type is MemoryType.SEMANTIC
        ]
        return known, memories, with_facts(known, new, subject_names, memories)

    async def _read(self, run: Run) -> tuple[KnownPerson | None, dict[str, Memory]]:
        """Return the stored profile and the memories of its facts."""
        read_set = await run.reads.look([PROFILE_ID])
        document = read_set.documents.get(PROFILE_ID)
        if (
            document is None
            or read_set.head is None
            or document.body["epoch"] != read_set.head.epoch
        ):
            return None, {}
        person = person_in(document.body)
        return person, await run.reads.memories(
            name for fact in person.facts for name in fact.memory_ids
        )

    async def _followed(self, run: Run, memories: Mapping[str, Memory]) -> dict[str, Memory]:
        """Return the memories that facts were merged into.

        A run ignores its own changes, so a profile learns of them here.
        """
        merged: dict[str, Memory] = {}
        missing = [
            memory.next_id
            for memory in memories.values()
            if memory.status is Status.UPDATED and memory.next_id not in memories
        ]
        while missing:
            more = await run.reads.memories(name for name in missing if name is not None)
            merged |= more
            missing = [
                memory.next_id
                for memory in more.values()
                if memory.status is Status.UPDATED and memory.next_id not in {**memories, **merged}
            ]
        return merged

    async def _traits(self, run: Run, changed: Mapping[str, Memory]) -> tuple[list[Seen], int]:
        """Return traits from the latest scenes and from patterns, and the number of dropped traits.

        A trait is dropped if its scenes do not support it.
        """
        scenes = await latest_scenes(run)
        answer, by = await self._answer(run, scenes) if scenes else (ProfileUpdate(), BY_RULE)
        seen: list[Seen] = []
        for trait in answer.traits:
            cited = [
                scenes[number] for number in dict.fromkeys(trait.scenes) if number < len(scenes)
            ]
            if cited and _has_evidence(trait, cited):
                seen.append(Seen(trait, cells_in(cited, trait), by))
        dropped = len(answer.traits) - len(seen)
        return [*seen, *await self._patterns(run, changed)], dropped

    async def _patterns(self, run: Run, changed: Mapping[str, Memory]) -> list[Seen]:
        """Return active patterns that have episodes of this run."""
        names = sorted(
            {
                name
                for memory in changed.values()
                for name in memory.consolidated_into_ids
                if memory.type is MemoryType.EPISODIC
            }
        )
        patterns = await run.reads.memories(names)
        standing = [
            pattern
            for pattern in patterns.values()
            if pattern.category == "pattern" and pattern.status is Status.ACTIVE
        ]
        return [
            Seen(
                SeenTrait(trait=pattern.content[:300], scenes=[], confidence=pattern.confidence),
                tuple(pattern.source_ids),
            )
            for pattern in sorted(standing, key=lambda pattern: pattern.id)
        ]

    async def _answer(self, run: Run, scenes: Sequence[Scene]) -> tuple[ProfileUpdate, str]:
        items = scene_items(scenes)
        if self._reflecting is not None:
            if not shows_more(run, scenes):
                return ProfileUpdate(), BY_RULE
            if (joint := await self._reflecting.about(run, scenes)) is not None:
                if joint.value.profile is not None:
                    return joint.value.profile, joint.provenance.model
                return (await self._rules.update_profile(run.owner, items)).value, BY_RULE
        if self._model is not None:
            model = self._model

            async def ask() -> Answered[ProfileUpdate]:
                return await model.update_profile(run.owner, items)

            try:
                answer = await self._steps.frozen(
                    run.owner, run.id, f"{self.name}:0", ask, ProfileUpdate
                )
                return answer.value, answer.provenance.model
            except AgentFailed as error:
                log.warning("a profile is kept by rules: %s", error.detail)
        return (await self._rules.update_profile(run.owner, items)).value, BY_RULE


def _has_evidence(trait: SeenTrait, scenes: Sequence[Scene]) -> bool:
    """Whether each name and number of a trait is in its scenes."""
    words = " ".join(
        text
        for scene in scenes
        for member in scene.members[-TOLD:]
        for text in (scene.theme, member.line, *member.shows)
    )
    return (
        not unknown_names(trait.trait, tokens(words))
        and not numbers_in(trait.trait).keys() - numbers_in(words).keys()
    )


def _changed(known: KnownPerson, person: KnownPerson) -> int:
    """Count the facts that were added, removed, or rest on other memories."""
    before, after = ({fact.name: fact for fact in each.facts} for each in (known, person))
    return sum(before.get(name) != after.get(name) for name in before.keys() | after.keys())


def _document(read_set: ReadSet, person: KnownPerson) -> Document:
    """Return the stored profile's document; the store's own fields stay as they were."""
    read, epoch = (
        read_set.documents.get(PROFILE_ID),
        None if read_set.head is None else read_set.head.epoch,
    )
    if read is None or read.body["epoch"] != epoch:
        return Document(PROFILE_ID, "profile", person.model_dump(mode="json"))
    store_fields = {name: read.body[name] for name in ("epoch", "sequence")}
    return Document(
        PROFILE_ID, "profile", {**store_fields, **person.model_dump(mode="json")}, tag=read.tag
    )
