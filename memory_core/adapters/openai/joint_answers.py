"""Split the text of a model into the checked parts of a joint answer.

Each part passes the checks of the separate answer. A part that is wrong or missing is None, and has
no effect on the other parts.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from memory_core.adapters.openai.answers import Repaired, answer_of, values_in
from memory_core.adapters.openai.prompt_record import Echoes
from memory_core.domain.agent_schemas import (
    Boundaries,
    EpisodeAnalysis,
    ExtractedFacts,
    FoundPatterns,
    ProfileUpdate,
)
from memory_core.domain.errors import AgentFailed
from memory_core.domain.joint_answers import (
    MAX_EPISODES,
    EpisodeParts,
    FormedCell,
    FormedParts,
    FormedWindow,
    Observations,
    ReflectedParts,
    Reflection,
    Story,
)

log = logging.getLogger(__name__)
T = TypeVar("T", bound=BaseModel)
_NOTHING_RIGHT = "nothing in its JSON was right"


def window_parts(text: str, echoes: Echoes) -> Repaired[FormedParts]:
    """Read the parts of an answer about a window of messages.

    Args:
        text: The text of the model.
        echoes: Texts of the prompt that must not be repeated.

    Raises:
        AgentFailed: No part is usable.

    """
    reader = _Reader.of(text, FormedWindow, echoes)
    boundaries, facts = reader.fields(Boundaries), reader.fields(ExtractedFacts)
    given = reader.value.get("episodes")
    items = given[:MAX_EPISODES] if isinstance(given, list) else []
    episodes = [
        reader.episode(item, item["first"])
        for item in items
        if isinstance(item, dict) and _is_number(item.get("first"))
    ]
    reader.dropped += len(items) - len(episodes)
    return reader.repaired(FormedParts(boundaries=boundaries, facts=facts, episodes=episodes))


def cell_parts(text: str, echoes: Echoes) -> Repaired[FormedParts]:
    """Read the parts of an answer about a single cell.

    Args:
        text: The text of the model.
        echoes: Texts of the prompt that must not be repeated.

    Raises:
        AgentFailed: No part is usable.

    """
    reader = _Reader.of(text, FormedCell, echoes)
    return reader.repaired(
        FormedParts(facts=reader.fields(ExtractedFacts), episodes=[reader.episode(reader.value, 0)])
    )


def reflected_parts(text: str, echoes: Echoes) -> Repaired[ReflectedParts]:
    """Read patterns and traits.

    Args:
        text: The text of the model.
        echoes: Texts of the prompt that must not be repeated.

    Raises:
        AgentFailed: Neither is usable.

    """
    reader = _Reader.of(text, Reflection, echoes)
    return reader.repaired(
        ReflectedParts(patterns=reader.fields(FoundPatterns), profile=reader.fields(ProfileUpdate))
    )


@dataclass(slots=True)
class _Reader:
    """Reads the parts of a JSON object.

    Attributes:
        usable: How many parts are usable.
        dropped: How many items and fields are left out.

    """

    value: Mapping[str, Any]
    echoes: Echoes
    mended: bool
    usable: int = field(default=0, init=False)
    dropped: int = field(default=0, init=False)
    changed: bool = field(default=False, init=False)

    @classmethod
    def of(cls, text: str, kind: type[BaseModel], echoes: Echoes) -> _Reader:
        """Build a reader of the text's first object that has a field of `kind`.

        Raises AgentFailed if there is no such object.
        """
        for value, mended in values_in(text):
            inner = (
                next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else None
            )
            for candidate in (value, inner):
                if isinstance(candidate, dict) and not candidate.keys().isdisjoint(
                    kind.model_fields
                ):
                    return cls(candidate, echoes, mended)
        raise AgentFailed("no JSON object with any of its parts")

    def fields(self, kind: type[T]) -> T | None:
        """Read the part that consists of fields of the object itself."""
        return self._part(
            {name: self.value[name] for name in kind.model_fields if name in self.value}, kind
        )

    def episode(self, item: Mapping[str, Any], first: int) -> EpisodeParts:
        """Read behaviour and story of an episode."""
        story = self._part(item.get("story"), Story)
        return EpisodeParts(
            first=first,
            behaviour=self._behaviour(item),
            story=None if story is None else story.summary(),
        )

    def _behaviour(self, item: Mapping[str, Any]) -> EpisodeAnalysis | None:
        """Read the behaviour in an episode.

        An empty list or null says that no behaviour shows. Note: this does not prove that the model
        understood the request, so it does not count as a usable part.
        """
        if "behaviour" in item and item["behaviour"] in (None, []):
            return EpisodeAnalysis()
        seen = self._part({"behaviour": item.get("behaviour")}, Observations)
        return None if seen is None else seen.analysis()

    def repaired(self, parts: T) -> Repaired[T]:
        """Wrap the parts with the repairs that they needed.

        Raises AgentFailed if no part is usable.
        """
        if not self.usable:
            raise AgentFailed(_NOTHING_RIGHT)
        return Repaired(parts, self.mended or self.changed, self.dropped)

    def _part(self, value: Any, kind: type[T]) -> T | None:
        try:
            read = answer_of(value, kind, self.echoes, mended=self.mended)
        except AgentFailed as error:
            log.warning(
                "of a joint answer the part %s is left to rules: %s", kind.__name__, error.detail
            )
            self.changed = True
            return None
        self.usable += 1
        self.dropped += read.dropped
        self.changed |= read.repaired
        return read.value


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
