"""The agents' answers, as typed schemas.

Models are asked for these shapes, and the offline agents build them. Every text and every list is
bounded, so that a schema can be enforced while a model writes, and a chatty model is cut by rule.
Unknown fields are ignored, since models add them. Missing or wrong fields make an answer invalid.
No part of an answer is trusted: ids are small integers that the caller gave, quotes are searched in
the messages, dates are checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, Self, TypedDict, TypeVar, Unpack, get_args

from pydantic import BeforeValidator, ConfigDict, Field

from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.memory import GivenWorth
from memory_core.domain.text.timestamps import Timestamp

NOT_AVAILABLE = "N/A"
MAX_NARRATIVE = 3_000
"""Characters of a story."""
MAX_TERM = 80
"""Characters of a tag, a keyword, or a slot's subject or attribute."""
MAX_VALUE = 200
"""Characters of the value of a slot."""
T_co = TypeVar("T_co", covariant=True)


def one_line(value: Any) -> Any:
    """A text in one line; any other value as it is."""
    return " ".join(value.split()) if isinstance(value, str) else value


def _none_if_empty(value: Any) -> Any:
    return None if value == "" else value


def _known_worth(value: Any) -> Any:
    return value if value in _WORTHS else None


_WORTHS = frozenset(get_args(GivenWorth))
Sentence = Annotated[str, BeforeValidator(one_line), Field(max_length=600)]
Term = Annotated[str, BeforeValidator(one_line), Field(max_length=MAX_TERM)]
Query = Annotated[str, BeforeValidator(one_line), Field(max_length=200)]
GivenTerm = Annotated[Term | None, BeforeValidator(_none_if_empty)]
"""A term or None; an empty text counts as None."""
GivenValue = Annotated[
    Annotated[str, BeforeValidator(one_line), Field(max_length=MAX_VALUE)] | None,
    BeforeValidator(_none_if_empty),
]
Depth = Literal["high", "medium", "low", "N/A"]
KnownWorth = Annotated[GivenWorth | None, BeforeValidator(_known_worth)]
"""The reason to keep a memory; an unknown word counts as not given."""


class AgentAnswer(DeferredModel):
    """The base of all answers: fields that were not asked for are ignored."""

    model_config = ConfigDict(extra="ignore")


class EpisodeContext(AgentAnswer):
    """The data that the episodic agent could see."""

    available_data: Sentence = NOT_AVAILABLE
    user_intent: Sentence = NOT_AVAILABLE
    analysis_limitation: Sentence = NOT_AVAILABLE


class Worked(AgentAnswer):
    """Strategies that worked, and why."""

    strategies: Annotated[list[Sentence], Field(max_length=3)] = Field(default_factory=list)
    pattern: Sentence = NOT_AVAILABLE


class Failed(AgentAnswer):
    """Strategies that failed, and why."""

    strategies: Annotated[list[Sentence], Field(max_length=2)] = Field(default_factory=list)
    pattern: Sentence = NOT_AVAILABLE


class BehavioralProfile(AgentAnswer):
    """How the person communicates, learns, solves problems and decides."""

    communication: Sentence = NOT_AVAILABLE
    learning: Sentence = NOT_AVAILABLE
    problem_solving: Sentence = NOT_AVAILABLE
    decision_making: Sentence = NOT_AVAILABLE


class InteractionInsights(AgentAnswer):
    """Triggers of engagement, points of friction, and the approach that works best."""

    engagement_triggers: Sentence = NOT_AVAILABLE
    friction_points: Sentence = NOT_AVAILABLE
    optimal_approach: Sentence = NOT_AVAILABLE


class FutureGuidance(AgentAnswer):
    """Approaches to take and to avoid next time."""

    recommended_approaches: Annotated[list[Sentence], Field(max_length=3)] = Field(
        default_factory=list
    )
    avoid_approaches: Annotated[list[Sentence], Field(max_length=2)] = Field(default_factory=list)
    adaptation_note: Sentence = NOT_AVAILABLE


class EpisodeAnalysis(AgentAnswer):
    """The episodic agent's answer: patterns of behaviour."""

    context: EpisodeContext = Field(default_factory=EpisodeContext)
    what_worked: Worked = Field(default_factory=Worked)
    what_failed: Failed = Field(default_factory=Failed)
    behavioral_profile: BehavioralProfile = Field(default_factory=BehavioralProfile)
    interaction_insights: InteractionInsights = Field(default_factory=InteractionInsights)
    future_guidance: FutureGuidance = Field(default_factory=FutureGuidance)


class SummaryContext(AgentAnswer):
    """The data that the summariser could see."""

    available_data: Sentence = NOT_AVAILABLE
    content_scope: Sentence = NOT_AVAILABLE


class RetrievalHints(AgentAnswer):
    """Terms and queries by which the note should be found."""

    tags: Annotated[list[Term], Field(max_length=8)] = Field(default_factory=list)
    keywords: Annotated[list[Term], Field(max_length=10)] = Field(default_factory=list)
    queries: Annotated[list[Query], Field(max_length=4)] = Field(default_factory=list)


class SummaryMetadata(AgentAnswer):
    """The summary's depth, its follow-up areas and the reason to keep it.

    An unknown `worth` counts as not given.
    """

    depth: Depth = "N/A"
    follow_ups: Annotated[list[Sentence], Field(max_length=2)] = Field(default_factory=list)
    worth: KnownWorth = None


class ConversationSummary(AgentAnswer):
    """The summariser's answer: the conversation as a story."""

    context: SummaryContext = Field(default_factory=SummaryContext)
    narrative: Annotated[str, Field(min_length=1, max_length=MAX_NARRATIVE)]
    retrieval: RetrievalHints = Field(default_factory=RetrievalHints)
    metadata: SummaryMetadata = Field(default_factory=SummaryMetadata)


class Narrative(AgentAnswer):
    """A fast summary: the story alone."""

    narrative: Annotated[str, Field(min_length=1, max_length=MAX_NARRATIVE)]


class SaidFactFields(TypedDict, total=False):
    """Fields of a statement that a check replaces."""

    text: str
    message: int
    quote: str
    subject: str | None
    attribute: str | None
    value: str | None
    lasting: bool


class _Said(AgentAnswer):
    def in_message(self, message: int) -> Self:
        """The same, said by the message of another number."""
        return self.model_copy(update={"message": message})


class SaidFact(_Said):
    """A statement with the message that makes it and the words that prove it.

    Attributes:
        message: Number of the message among the shown messages.
        quote: Words of that message that prove the statement.
        subject: Subject of the slot ("user").
        attribute: Attribute of the slot ("home city").
        value: The slot's value. A fact fills a slot only with all of subject, attribute and value.
        lasting: Whether a fact that fills no slot is worth a memory of its own.

    """

    text: Annotated[str, BeforeValidator(one_line), Field(min_length=1, max_length=500)]
    message: Annotated[int, Field(ge=0)]
    quote: Annotated[str, Field(min_length=1, max_length=500)]
    subject: GivenTerm = None
    attribute: GivenTerm = None
    value: GivenValue = None
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    lasting: bool = False

    def changed(self, **fields: Unpack[SaidFactFields]) -> SaidFact:
        """The statement with these fields replaced, without validation."""
        return self.model_copy(update=fields)

    def without_slot(self) -> SaidFact:
        """The statement as it fills no slot."""
        return self.changed(subject=None, attribute=None, value=None)


class SaidForesight(_Said):
    """A state that lasts for a while, dated by the time of its message.

    An `end_time` of None means that the end is open.
    """

    description: Annotated[str, BeforeValidator(one_line), Field(min_length=1, max_length=500)]
    message: Annotated[int, Field(ge=0)]
    quote: Annotated[str, Field(min_length=1, max_length=500)]
    start_time: Timestamp
    end_time: Timestamp | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.8

    def described(self, description: str) -> SaidForesight:
        """The same, in these words."""
        return self.model_copy(update={"description": description})


class SaidInstruction(_Said):
    """A wish of the user for every answer from now on, with the message's words."""

    message: Annotated[int, Field(ge=0)]
    quote: Annotated[str, Field(min_length=1, max_length=500)]

    def quoting(self, quote: str) -> SaidInstruction:
        """The same, with these words of its quote."""
        return self.model_copy(update={"quote": quote})


class ExtractedFacts(AgentAnswer):
    """The facts, the foresight and the standing instructions of a cell."""

    facts: Annotated[list[SaidFact], Field(max_length=40)] = Field(default_factory=list)
    foresight: Annotated[list[SaidForesight], Field(max_length=20)] = Field(default_factory=list)
    instructions: Annotated[list[SaidInstruction], Field(max_length=10)] = Field(
        default_factory=list
    )


class Cut(AgentAnswer):
    """A boundary: the message `after` ends a cell."""

    after: Annotated[int, Field(ge=0)]
    reason: Annotated[str, BeforeValidator(one_line), Field(max_length=200)] = "topic changed"


class Boundaries(AgentAnswer):
    """Where the shown messages change their topic.

    The last message is never named. `continues` says whether the first message belongs to the
    previous episode.
    """

    cuts: Annotated[list[Cut], Field(max_length=49)] = Field(default_factory=list)
    continues: bool = False


class Decision(AgentAnswer):
    """The operation on a shown memory because of a new memory.

    Both memories are named by the numbers under which they were shown.
    """

    new: Annotated[int, Field(ge=0)]
    memory: Annotated[int, Field(ge=0)]
    operation: Literal["UPDATE", "DELETE", "SKIP", "KEEP"]
    confidence_score: Annotated[float, Field(ge=0, le=1)]
    reasoning: Annotated[str, BeforeValidator(one_line), Field(max_length=500)] = ""


class Decisions(AgentAnswer):
    """The conflict agent's answer.

    A shown memory that the answer does not name stays as it is, and so does the new memory.
    """

    decisions: Annotated[list[Decision], Field(max_length=200)] = Field(default_factory=list)


class ConsolidatedMemory(AgentAnswer):
    """The merged note."""

    natural_memory_note: Annotated[str, Field(min_length=1, max_length=32_000)]


class SynthesisMetadata(AgentAnswer):
    """The synthesis agent's description of its own work, on which no code relies."""

    memories_merged: int | None = None
    new_information_added: Literal["high", "medium", "low"] | None = None
    deduplication_count: int | None = None
    quality_check: Literal["pass", "warning"] | None = None
    notes: Sentence = NOT_AVAILABLE


class Synthesis(AgentAnswer):
    """The synthesis agent's answer."""

    consolidated_memory: ConsolidatedMemory
    synthesis_metadata: SynthesisMetadata = Field(default_factory=SynthesisMetadata)


class FoundPattern(AgentAnswer):
    """A feature that several shown episodes have in common.

    Attributes:
        pattern: The kind of the pattern.
        memory_type: `procedural` for a habit or a how-to, held under `key`.
        extracted_facts: Particulars of the pattern.
        sources: Numbers of the episodes that show it.

    """

    summary: Annotated[str, BeforeValidator(one_line), Field(min_length=1, max_length=500)]
    pattern: Literal["preference", "habit", "decision", "place", "person", "interest", "procedure"]
    memory_type: Literal["semantic", "procedural"] = "semantic"
    key: Term | None = None
    importance_score: Annotated[float, Field(ge=0, le=1)] = 0.7
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.7
    extracted_facts: Annotated[list[Sentence], Field(max_length=5)] = Field(default_factory=list)
    sources: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=40)]


class FoundPatterns(AgentAnswer):
    """Patterns that repeat among the shown episodes; an empty list is a good answer."""

    patterns: Annotated[list[FoundPattern], Field(max_length=20)] = Field(default_factory=list)


class Sufficiency(AgentAnswer):
    """Whether the shown memories answer a query, and why.

    `rewritten` is the query to try next, when another query may find more.
    """

    sufficient: bool
    why: Sentence = NOT_AVAILABLE
    rewritten: Annotated[str, BeforeValidator(one_line), Field(max_length=500)] | None = None


class Ranking(AgentAnswer):
    """Numbers of the texts that answer a query, best first.

    Texts that are not named do not answer it.
    """

    ranked: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=50)] = Field(
        default_factory=list
    )


class SeenTrait(AgentAnswer):
    """A trait that the person shows in the scenes of these numbers."""

    trait: Annotated[str, BeforeValidator(one_line), Field(min_length=1, max_length=300)]
    scenes: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=20)]
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.5


class ProfileUpdate(AgentAnswer):
    """The profile agent's answer: traits that appear in the shown scenes."""

    traits: Annotated[list[SeenTrait], Field(max_length=12)] = Field(default_factory=list)


class RuledPair(AgentAnswer):
    """A new memory and a stored memory that an agent was shown, by ids.

    `key` is a key of both texts. A `decision` of None means that the agent did not name the pair.
    """

    new: str
    old: str
    key: str
    decision: Decision | None = None


class ConversationRulings(AgentAnswer):
    """An agent's decisions about all cells of a conversation at once.

    `invented` counts decisions about pairs that it was not shown.
    """

    pairs: list[RuledPair] = Field(default_factory=list)
    invented: int = 0


@dataclass(frozen=True, slots=True)
class Provenance:
    """The model or the rules that answered.

    It is stamped on all that is made of the answer. The prompt fields are None for rules.
    """

    model: str
    prompt_id: str | None = None
    prompt_version: str | None = None


@dataclass(frozen=True, slots=True)
class Answered(Generic[T_co]):
    """A checked answer and its source.

    Attributes:
        value: The answer.
        provenance: The model or the rules that gave it.
        tokens: Prompt and completion; 0 for rules.
        by_rule: Whether rules gave it in the place of a model.

    """

    value: T_co
    provenance: Provenance
    tokens: tuple[int, int] = (0, 0)
    by_rule: bool = False
