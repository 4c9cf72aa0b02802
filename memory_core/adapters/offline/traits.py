"""What the scenes of a person's life show of them, by rule.

That is: themes that come up again and again, and habits that do.
Note: this counts, it does not judge. That a person often talks about money says nothing of whether they have any.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.adapters.offline.fitting import fitted
from memory_core.domain.agent_schemas import ProfileUpdate, SeenTrait
from memory_core.domain.profile import MIN_CELLS, tells_length
from memory_core.domain.scene_assignment import EVERYDAY, PROTOTYPES
from memory_core.ports import SceneItem

MAX_TRAITS, MAX_SCENES = 12, 20


def seen_traits(scenes: Sequence[SceneItem]) -> ProfileUpdate:
    """The traits that at least three episodes bear out, those with most of them first; of how long messages are, the one with most."""
    themes: dict[str, dict[int, int]] = {}
    habits: dict[str, dict[int, int]] = {}
    for scene in scenes:
        if scene.theme in PROTOTYPES and scene.theme != EVERYDAY:
            themes.setdefault(f"Often talks about {scene.theme}.", {})[scene.number] = len(scene.lines)
        for habit in (habit for shown in scene.shows for habit in dict.fromkeys(shown)):
            counted = habits.setdefault(habit, {})
            counted[scene.number] = counted.get(scene.number, 0) + 1
    found = [(sum(of.values()), trait, of) for trait, of in (*themes.items(), *habits.items()) if sum(of.values()) >= MIN_CELLS]
    found.sort(key=lambda one: (-one[0], one[1]))
    lengths = [trait for _, trait, _ in found if tells_length(trait)][1:]
    kept = [one for one in found if one[1] not in lengths][:MAX_TRAITS]
    return ProfileUpdate(
        traits=[fitted(SeenTrait, trait=trait, scenes=sorted(of)[-MAX_SCENES:], confidence=_sure(times)) for times, trait, of in kept]
    )


def _sure(times: int) -> float:
    """How sure, n / (n + 2): 0.6 of three, 0.8 of eight; one less than Laplace's rule of succession."""
    return round(times / (times + 2), 3)
