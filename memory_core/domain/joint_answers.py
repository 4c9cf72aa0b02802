"""Several answers of agents in one, for calls that ask for several at once.

What they ask for is flatter and shorter than the separate answers, of which each part becomes
one, checked as that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from memory_core.domain.agent_schemas import (
    MAX_NARRATIVE,
    NOT_AVAILABLE,
    AgentAnswer,
    BehavioralProfile,
    Boundaries,
    ConversationSummary,
    Depth,
    EpisodeAnalysis,
    ExtractedFacts,
    Failed,
    FoundPatterns,
    FutureGuidance,
    GivenTerm,
    GivenValue,
    InteractionInsights,
    KnownWorth,
    ProfileUpdate,
    Query,
    RetrievalHints,
    SaidFact,
    Sentence,
    SummaryMetadata,
    Term,
    Worked,
)

FormationCalls = Literal["separate", "two", "one"]
"""How formation asks a model: a call for each answer, or for several answers."""
MAX_EPISODES = 50


@dataclass(frozen=True, slots=True)
class NotNull:
    """In an annotation: a model is not offered null, since another value means the same."""

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """The schema of the other branch."""
        return next(branch for branch in handler(core_schema)["anyOf"] if branch != _NULL)


_NULL = {"type": "null"}


class JointFact(SaidFact):
    """A fact in a joint answer, with empty texts where it fills no slot."""

    subject: Annotated[GivenTerm, NotNull()] = None
    attribute: Annotated[GivenTerm, NotNull()] = None
    value: Annotated[GivenValue, NotNull()] = None


class JointFacts(ExtractedFacts):
    """Facts, foresight and standing instructions in a joint answer."""

    facts: Annotated[list[JointFact], Field(max_length=40)] = Field(  # type: ignore[assignment]
        default_factory=list
    )


Aspect = Literal[
    "worked", "why_worked", "failed", "why_failed",
    "communication", "learning", "problem_solving", "decision_making",
    "engages_with", "struggles_with", "best_when", "do", "avoid", "key_insight",
]  # fmt: skip


class Observation(AgentAnswer):
    """An observation of how the person works."""

    aspect: Aspect
    text: Sentence


Shown = Annotated[list[Observation], Field(max_length=20)]


class Observations(AgentAnswer):
    """Behaviour in a joint answer; aspects without an observation are left out."""

    behaviour: Shown

    def analysis(self) -> EpisodeAnalysis:
        """The episodic agent's answer with the same content.

        The first observations of an aspect are kept where there are too many.
        """
        by_aspect: dict[str, list[str]] = {}
        for seen in self.behaviour:
            by_aspect.setdefault(seen.aspect, []).append(seen.text)

        def some(aspect: Aspect, most: int) -> list[str]:
            return by_aspect.get(aspect, [])[:most]

        def first(aspect: Aspect) -> str:
            return next(iter(by_aspect.get(aspect, ())), NOT_AVAILABLE)

        return EpisodeAnalysis(
            what_worked=Worked(strategies=some("worked", 3), pattern=first("why_worked")),
            what_failed=Failed(strategies=some("failed", 2), pattern=first("why_failed")),
            behavioral_profile=BehavioralProfile(
                communication=first("communication"),
                learning=first("learning"),
                problem_solving=first("problem_solving"),
                decision_making=first("decision_making"),
            ),
            interaction_insights=InteractionInsights(
                engagement_triggers=first("engages_with"),
                friction_points=first("struggles_with"),
                optimal_approach=first("best_when"),
            ),
            future_guidance=FutureGuidance(
                recommended_approaches=some("do", 3),
                avoid_approaches=some("avoid", 2),
                adaptation_note=first("key_insight"),
            ),
        )


class Story(AgentAnswer):
    """A story in a joint answer: the summariser's fields without their groups."""

    narrative: Annotated[str, Field(min_length=1, max_length=MAX_NARRATIVE)]
    tags: Annotated[list[Term], Field(max_length=8)] = Field(default_factory=list)
    keywords: Annotated[list[Term], Field(max_length=10)] = Field(default_factory=list)
    queries: Annotated[list[Query], Field(max_length=4)] = Field(default_factory=list)
    depth: Depth = "N/A"
    follow_ups: Annotated[list[Sentence], Field(max_length=2)] = Field(default_factory=list)
    worth: Annotated[KnownWorth, NotNull()] = None

    def summary(self) -> ConversationSummary:
        """The summariser's answer with the same content."""
        return ConversationSummary(
            narrative=self.narrative,
            retrieval=RetrievalHints(tags=self.tags, keywords=self.keywords, queries=self.queries),
            metadata=SummaryMetadata(
                depth=self.depth, follow_ups=self.follow_ups, worth=self.worth
            ),
        )


class FormedCell(JointFacts):
    """All of a cell. `behaviour` is empty where the messages show none."""

    behaviour: Shown
    story: Story


class FormedEpisode(AgentAnswer):
    """An episode of a window: the number of its first message, behaviour and story."""

    first: Annotated[int, Field(ge=0)]
    behaviour: Shown
    story: Story


class FormedWindow(JointFacts, Boundaries):
    """All of a window: its boundaries, its facts, and each episode's behaviour and story."""

    episodes: Annotated[list[FormedEpisode], Field(max_length=MAX_EPISODES)] = Field(
        default_factory=list
    )


class Reflection(ProfileUpdate, FoundPatterns):
    """Patterns and traits."""


class EpisodeParts(AgentAnswer):
    """The usable parts of the answer about an episode.

    `first` is the number of its first message. A part of None is not usable.
    """

    first: int
    behaviour: EpisodeAnalysis | None = None
    story: ConversationSummary | None = None


class FormedParts(AgentAnswer):
    """The usable parts of the answer about a window or a cell.

    A part of None is not usable, so that a rule answers it.
    """

    boundaries: Boundaries | None = None
    facts: ExtractedFacts | None = None
    episodes: list[EpisodeParts] = Field(default_factory=list)

    def with_facts(self, facts: ExtractedFacts) -> FormedParts:
        """The same parts with these facts."""
        return self.model_copy(update={"facts": facts})


class ReflectedParts(AgentAnswer):
    """The usable parts of the answer about episodes and scenes.

    A part of None is not usable, so that a rule answers it.

    Attributes:
        episodes_key: A key from the caller that says which episodes the numbers mean.
        scenes_key: A key from the caller that says which scenes the numbers mean.

    """

    patterns: FoundPatterns | None = None
    profile: ProfileUpdate | None = None
    episodes_key: str = ""
    scenes_key: str = ""

    def about(self, episodes_key: str, scenes_key: str) -> ReflectedParts:
        """The same parts, about the episodes and scenes of these keys.

        Args:
            episodes_key: The key of the episodes that were shown.
            scenes_key: The key of the scenes that were shown.

        """
        return self.model_copy(update={"episodes_key": episodes_key, "scenes_key": scenes_key})
