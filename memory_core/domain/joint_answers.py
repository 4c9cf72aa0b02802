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
"""How formation asks a model: for each answer separately, or for several in one call."""
MAX_EPISODES = 50


@dataclass(frozen=True, slots=True)
class NotNull:
    """In an annotation: a model is not offered null, since another value says the same."""

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """The schema of the other branch."""
        return next(branch for branch in handler(core_schema)["anyOf"] if branch != _NULL)


_NULL = {"type": "null"}


class JointFact(SaidFact):
    """A fact as a joint answer has it: an empty text where it fills no slot."""

    subject: Annotated[GivenTerm, NotNull()] = None
    attribute: Annotated[GivenTerm, NotNull()] = None
    value: Annotated[GivenValue, NotNull()] = None


class JointFacts(ExtractedFacts):
    """Facts, foresight and standing instructions as a joint answer has them."""

    facts: Annotated[list[JointFact], Field(max_length=40)] = Field(  # type: ignore[assignment]
        default_factory=list
    )


Aspect = Literal[
    "worked", "why_worked", "failed", "why_failed",
    "communication", "learning", "problem_solving", "decision_making",
    "engages_with", "struggles_with", "best_when", "do", "avoid", "key_insight",
]  # fmt: skip


class Observation(AgentAnswer):
    """One thing that shows of how the person works."""

    aspect: Aspect
    text: Sentence


Shown = Annotated[list[Observation], Field(max_length=20)]


class Observations(AgentAnswer):
    """Behaviour as a joint answer has it: what shows, and nothing for what does not."""

    behaviour: Shown

    def analysis(self) -> EpisodeAnalysis:
        """The episodic agent's answer that says the same. Of an aspect with too many observations
        the first are kept.
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
    """A story as a joint answer has it: the summariser's fields without their groups."""

    narrative: Annotated[str, Field(min_length=1, max_length=MAX_NARRATIVE)]
    tags: Annotated[list[Term], Field(max_length=8)] = Field(default_factory=list)
    keywords: Annotated[list[Term], Field(max_length=10)] = Field(default_factory=list)
    queries: Annotated[list[Query], Field(max_length=4)] = Field(default_factory=list)
    depth: Depth = "N/A"
    follow_ups: Annotated[list[Sentence], Field(max_length=2)] = Field(default_factory=list)
    worth: Annotated[KnownWorth, NotNull()] = None

    def summary(self) -> ConversationSummary:
        """The summariser's answer that says the same."""
        return ConversationSummary(
            narrative=self.narrative,
            retrieval=RetrievalHints(tags=self.tags, keywords=self.keywords, queries=self.queries),
            metadata=SummaryMetadata(
                depth=self.depth, follow_ups=self.follow_ups, worth=self.worth
            ),
        )


class FormedCell(JointFacts):
    """All of one cell. behaviour: empty where the messages show nothing of it."""

    behaviour: Shown
    story: Story


class FormedEpisode(AgentAnswer):
    """One episode of a window: the number of its first message, how people behaved in it,
    and its story.
    """

    first: Annotated[int, Field(ge=0)]
    behaviour: Shown
    story: Story


class FormedWindow(JointFacts, Boundaries):
    """All of a window: where it is cut, the facts of all of it, and behaviour and story of
    each episode.
    """

    episodes: Annotated[list[FormedEpisode], Field(max_length=MAX_EPISODES)] = Field(
        default_factory=list
    )


class Reflection(ProfileUpdate, FoundPatterns):
    """Patterns and traits."""


class EpisodeParts(AgentAnswer):
    """What is usable of the answer about one episode; `first` is the number of its first message.
    None: nothing of that part.
    """

    first: int
    behaviour: EpisodeAnalysis | None = None
    story: ConversationSummary | None = None


class FormedParts(AgentAnswer):
    """What is usable of the answer about a window or a cell. None: nothing of that part,
    so a rule answers it.
    """

    boundaries: Boundaries | None = None
    facts: ExtractedFacts | None = None
    episodes: list[EpisodeParts] = Field(default_factory=list)

    def with_facts(self, facts: ExtractedFacts) -> FormedParts:
        """The same parts with these facts."""
        return self.model_copy(update={"facts": facts})


class ReflectedParts(AgentAnswer):
    """What is usable of the answer about episodes and scenes. None: nothing of that part,
    so a rule answers it.

    episodes_key, scenes_key: given by the asker, who knows by them what the numbers in the
    answer mean.
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
