"""Ask a model for patterns and traits in a single call of a run.

The call is made only if new memories are related to known memories. The step that finds patterns
makes the call; the step that keeps the profile uses its part of the frozen answer.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product

from memory_core.consolidation.step import Run
from memory_core.domain.agent_schemas import Answered, Provenance
from memory_core.domain.errors import AgentFailed
from memory_core.domain.joint_answers import ReflectedParts
from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.profile import MIN_CELLS
from memory_core.domain.scenes import Scene, scene_in
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS
from memory_core.domain.text.sameness import words_in
from memory_core.ports import Agents, DecisionItem, SceneItem
from memory_core.tasks.agent_steps import Steps

log = logging.getLogger(__name__)
SCENES_SHOWN = 16
"""The most scenes that traits are looked for in, the most recently begun."""
TOLD = 20
"""The most episodes of a scene that an agent gets, the latest."""
SHARED = 3
"""The informative words that two episodes of a pattern share if their vectors are apart."""
_STEP = "reflection"
_SPEAKERS = frozenset({"user", "assistant", "said", "asked"})


class JointReflection:
    """The joint question of a run.

    Rules answer a part for which a model gave no usable answer.
    """

    def __init__(self, agents: Agents, rules: Agents, steps: Steps) -> None:
        self._agents, self._rules, self._steps = agents, rules, steps

    async def ask(
        self, run: Run, episodes: Sequence[Memory], items: Sequence[DecisionItem]
    ) -> Answered[ReflectedParts] | None:
        """Ask about these episodes and the latest scenes.

        Args:
            run: The run.
            episodes: The episodes.
            items: The episodes as the agent gets them.

        Returns:
            The answer; None if scenes need no question, or if another question was asked before.

        Raises:
            Unavailable: The long-term store or an agent is down.

        """
        scenes = await latest_scenes(run)
        if not shows_more(run, scenes):
            return None
        episodes_key = key_of(episode.id for episode in episodes)
        scenes_key = _scenes_key(scenes)

        async def ask() -> Answered[ReflectedParts]:
            try:
                answer = await self._agents.reflect(run.owner, items, scene_items(scenes))
            except AgentFailed as error:
                log.warning("patterns and traits are found by rules: %s", error.detail)
                answer = Answered(ReflectedParts(), Provenance(self._rules.model))
            parts = answer.value.about(episodes_key, scenes_key)
            return Answered(parts, answer.provenance, answer.tokens)

        answer = await self._steps.frozen(run.owner, run.id, _STEP, ask, ReflectedParts)
        return answer if answer.value.episodes_key == episodes_key else None

    async def about(self, run: Run, scenes: Sequence[Scene]) -> Answered[ReflectedParts] | None:
        """Return the frozen answer about these scenes.

        Args:
            run: The run.
            scenes: The scenes.

        Returns:
            The answer; None if no question was asked, or if it was about other scenes.

        Raises:
            Unavailable: The long-term store is down.

        """
        answer = await self._steps.stored(run.owner, run.id, _STEP, ReflectedParts)
        return (
            answer
            if answer is not None and answer.value.scenes_key == _scenes_key(scenes)
            else None
        )


def key_of(ids: Iterable[str]) -> str:
    """Return a digest of exactly these ids, in this order."""
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16]


async def latest_scenes(run: Run) -> list[Scene]:
    """Return the most recently begun scenes, in order of time.

    Raises Unavailable.
    """
    scenes = [scene_in(document.body) for document in (await run.reads.scenes())[:SCENES_SHOWN]]
    return sorted(scenes, key=lambda scene: (scene.started_at, scene.id))


def scene_items(scenes: Sequence[Scene]) -> list[SceneItem]:
    """Return the scenes as an agent gets them."""
    return [
        SceneItem(
            number,
            scene.theme,
            tuple(member.line for member in scene.members[-TOLD:]),
            tuple(tuple(member.shows) for member in scene.members[-TOLD:]),
            scene.started_at,
        )
        for number, scene in enumerate(scenes)
    ]


def shows_more(run: Run, scenes: Sequence[Scene]) -> bool:
    """Whether a new episode has a theme with as many episodes as a trait needs.

    Args:
        run: The run.
        scenes: The latest scenes.

    """
    new = frozenset(run.changed_ids(MemoryType.EPISODIC.value))
    counts: Counter[str] = Counter()
    for scene in scenes:
        counts[scene.theme] += len(scene.cell_ids)
    return any(
        counts[scene.theme] >= MIN_CELLS and not new.isdisjoint(scene.cell_ids) for scene in scenes
    )


def has_related_episode(new: Sequence[Memory], episodes: Sequence[Memory], link: float) -> bool:
    """Whether a new episode has to do with another episode, by vectors or by words.

    Args:
        new: The new episodes.
        episodes: All episodes.
        link: The cosine from which two texts have to do with each other.

    """
    words = {
        episode.id: words_in(episode.content) - FUNCTION_WORDS - QUERY_WORDS - _SPEAKERS
        for episode in episodes
    }
    return any(
        len(words[first.id] & words[second.id]) >= SHARED or _similarity(first, second) >= link
        for first, second in product(new, episodes)
        if first.id != second.id
    )


def _similarity(first: Memory, second: Memory) -> float:
    if (
        first.embedding is None
        or second.embedding is None
        or first.embedding_model != second.embedding_model
    ):
        return -1.0
    return float(first.embedding @ second.embedding)


def _scenes_key(scenes: Sequence[Scene]) -> str:
    return key_of(f"{scene.id} {' '.join(scene.cell_ids)}" for scene in scenes)
