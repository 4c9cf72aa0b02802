"""Patterns: the common content of several episodes becomes a memory that names them.

The episodes stay as they are. Agents find patterns and code checks them: a pattern that its
episodes do not say is dropped and counted.

Note: all of it is decided within the commit, on the episodes as they are then. An episode that was
deleted meanwhile supports no pattern any more.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_core.consolidation.pattern_commit import (
    CALLS_A_RUN,
    NEW_AT_ONCE,
    Candidate,
    PatternPage,
    as_items,
    earlier,
    in_parts,
    in_time,
    read_episodes,
)
from memory_core.consolidation.reflection import JointReflection, has_related_episode, key_of
from memory_core.consolidation.step import Proposal, Run
from memory_core.domain.agent_schemas import Answered, FoundPattern, FoundPatterns, Provenance
from memory_core.domain.errors import AgentFailed
from memory_core.domain.memory import Event, Memory, MemoryType, Status, Vector
from memory_core.ledger.ids import procedure_id, session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Agents, Embedder, LongTermStore, Near
from memory_core.tasks.agent_steps import Steps
from memory_core.tasks.operation_records import Chunk

log = logging.getLogger(__name__)
NEAREST = 5
"""The most stored memories that a pattern is compared with, beside those of its episodes."""
_HELD = frozenset({MemoryType.SEMANTIC.value})


@dataclass(frozen=True, slots=True)
class Closeness:
    """Cosines on the embedder's scale.

    Attributes:
        duplicate: From it on, two texts may say the same.
        link: From it on, two texts have to do with each other.
        floor: From it on, two texts may be about the same subject.

    """

    duplicate: float
    link: float
    floor: float


class Patterns:
    """The step that finds patterns.

    The agent `rules` works without a model, and answers if `agents` give no usable answer. With
    `reflecting`, patterns and traits are asked for in a single call.
    """

    name = "patterns"

    def __init__(
        self,
        store: LongTermStore,
        embedder: Embedder,
        agents: Agents,
        rules: Agents,
        steps: Steps,
        closeness: Closeness,
        reflecting: JointReflection | None = None,
    ) -> None:
        self._store, self._embedder, self._rules, self._reflecting = (
            store,
            embedder,
            rules,
            reflecting,
        )
        self._model = None if agents is rules else agents
        self._steps, self._closeness = steps, closeness

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """Return the patterns of the next portion of new episodes.

        Portions without a change are skipped.

        Args:
            run: The run.
            cursor: The number of the portion; None for the beginning.

        Raises:
            Unavailable: The long-term store, the embedder or an agent is down.

        """
        ids = _new_episode_ids(run)
        if not ids:
            return None
        parts = in_parts(await read_episodes(run, ids[-CALLS_A_RUN * NEW_AT_ONCE :]))
        for number in range(int(cursor or 0), len(parts)):
            proposal = await self._about(run, parts[number], number, last=number == len(parts) - 1)
            if proposal is not None:
                return proposal
        return None

    async def dry_run(self, run: Run) -> Mapping[str, int]:
        """Count the new episodes that the step would look at.

        Only an agent can tell which patterns they have.
        """
        return {"episodes": min(len(_new_episode_ids(run)), CALLS_A_RUN * NEW_AT_ONCE)}

    async def _about(
        self, run: Run, part: Sequence[Memory], number: int, *, last: bool
    ) -> Proposal | None:
        older = await earlier(self._store, run, part, self._closeness.floor)
        episodes = sorted([*part, *older], key=in_time)
        if len(episodes) < 2:
            return None
        answer = await self._asked(run, number, part, episodes)
        if not answer.value.patterns:
            return None
        candidates = await self._candidates(run, answer, episodes)
        new = frozenset(episode.id for episode in part)
        ids = _named(run, candidates)

        def decide(read_set: ReadSet) -> Chunk:
            page = PatternPage.of(run, read_set, new, self._closeness.duplicate)
            whole = all(page.place(candidate) for candidate in candidates)
            return page.chunk(cursor=number + 1 if whole else number, done=whole and last)

        chunk = decide(await run.reads.look(ids))
        return Proposal(ids, decide) if chunk.changes or chunk.counts else None

    async def _asked(
        self, run: Run, number: int, part: Sequence[Memory], episodes: Sequence[Memory]
    ) -> Answered[FoundPatterns]:
        """Ask an agent about exactly these episodes.

        A model's answer is frozen; rules always answer the same. `part` has the new episodes. With
        a joint call for patterns and traits, the model is asked only about the first part of a run,
        and only if it is related to other episodes.
        """
        items = as_items(episodes)
        if self._reflecting is not None:
            if not has_related_episode(part, episodes, self._closeness.link):
                return await self._rules.find_patterns(run.owner, items)
            joint = await self._reflecting.ask(run, episodes, items) if number == 0 else None
            if joint is not None and joint.value.patterns is not None:
                return Answered(joint.value.patterns, joint.provenance)
            if joint is not None:
                return await self._rules.find_patterns(run.owner, items)
        if self._model is not None:
            model = self._model
            key = key_of(episode.id for episode in episodes)

            async def ask() -> Answered[FoundPatterns]:
                return await model.find_patterns(run.owner, items)

            try:
                return await self._steps.frozen(
                    run.owner, run.id, f"patterns {number} {key}", ask, FoundPatterns
                )
            except AgentFailed as error:
                log.warning("patterns are found by rules: %s", error.detail)
        return await self._rules.find_patterns(run.owner, items)

    async def _candidates(
        self, run: Run, answer: Answered[FoundPatterns], episodes: Sequence[Memory]
    ) -> list[Candidate]:
        """Ask an agent about exactly these episodes.

        A model's answer is frozen; rules always answer the same. `part` has the new episodes. In a
        joint call for patterns and traits, the model is asked only about the first part of a run,
        and only if it is related to other episodes.
        """
        patterns = answer.value.patterns
        vectors = await self._embedder.embed([pattern.summary for pattern in patterns])
        nears = [Near(vector, _HELD, self._closeness.link, limit=NEAREST) for vector in vectors]
        nearest = await self._store.nearest(run.owner, nears)
        return [
            self._candidate(pattern, answer.provenance, vector, near, _cited(pattern, episodes))
            for pattern, vector, near in zip(patterns, vectors, nearest, strict=True)
        ]

    def _candidate(
        self,
        pattern: FoundPattern,
        provenance: Provenance,
        vector: Vector,
        near: Mapping[str, float],
        named: Sequence[Memory],
    ) -> Candidate:
        into = dict.fromkeys(name for episode in named for name in episode.consolidated_into_ids)
        return Candidate(
            pattern,
            provenance,
            vector,
            self._embedder.model,
            tuple(episode.id for episode in named),
            tuple(into),
            tuple(near.items()),
        )


def _cited(pattern: FoundPattern, episodes: Sequence[Memory]) -> list[Memory]:
    """Return the episodes that a pattern names, each once.

    A number without an episode is ignored.
    """
    return [episodes[place] for place in dict.fromkeys(pattern.sources) if place < len(episodes)]


def _new_episode_ids(run: Run) -> list[str]:
    """Return the ids of new or restored episodes, in the order of the events."""
    return list(
        dict.fromkeys(
            event.memory_id
            for event in run.news
            if event.memory_type is MemoryType.EPISODIC and _adds_episode(event)
        )
    )


def _adds_episode(event: Event) -> bool:
    return event.event_type == "created" or (
        event.event_type == "restored" and event.before.get("status") == Status.DELETED.value
    )


def _named(run: Run, candidates: Sequence[Candidate]) -> list[str]:
    """Return the ids of all documents that may be read or written for the candidates."""
    ids = [
        name
        for candidate in candidates
        for name in (
            candidate.memory_id(run.id),
            *candidate.episodes,
            *candidate.into,
            *(near for near, _ in candidate.near),
        )
    ]
    ids += [procedure_id(key) for candidate in candidates if (key := candidate.key) is not None]
    ids += [
        session_document_id(run.owner, session_id)
        for session_id in dict.fromkeys(event.session_id for event in run.news)
        if session_id is not None
    ]
    return list(dict.fromkeys(ids))
