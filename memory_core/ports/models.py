"""Ports of models, or of rules in their place: embedder, reranker, thesaurus and agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memory_core.domain.agent_schemas import (
    Answered,
    Boundaries,
    ConversationSummary,
    Decisions,
    EpisodeAnalysis,
    ExtractedFacts,
    FoundPatterns,
    ProfileUpdate,
    Sufficiency,
    Synthesis,
)
from memory_core.domain.conversation import Message
from memory_core.domain.joint_answers import FormedParts, ReflectedParts
from memory_core.domain.memory import Vector
from memory_core.domain.ranking.candidates import Related
from memory_core.domain.ranking.vectors import TokenStates
from memory_core.domain.scope import Owner
from memory_core.ports.infrastructure import Health, Pooled


class Embedder(Protocol):
    """Makes vectors of texts.

    `model` and `dimensions` are stored with every vector and compared on every start.

    Note: a query of up to `whole_query` characters has exactly the vector of the same text saved,
    and both share a cached vector (`tests/contract/test_embedder.py`). A model that needs a prefix
    before queries does not fulfil this port.
    """

    @property
    def model(self) -> str:
        """Name and version of the model that makes the vectors."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    @property
    def whole_query(self) -> int:
        """The longest query, in characters, whose vector is that of the same text saved.

        A longer query need not be read whole.
        """

    async def open(self) -> None:
        """Load the model or connect to it. Raises Unavailable."""

    async def close(self) -> None:
        """Release the model."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A normalised float32 vector for each text, in order. Raises Unavailable."""

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of the sentences of a query, comparable with those of `embed`.

        All sentences get a vector, or the call fails; see `whole_query`. A caller waits for the
        answer and can go on by words alone, so this raises Unavailable sooner than `embed`.
        """

    async def token_states(self, texts: Sequence[str]) -> list[TokenStates | None]:
        """The token states to store for texts that were just embedded.

        Each is None where the embedder has no token states. Raises Unavailable.
        """

    async def check(self) -> Health:
        """Check whether the model answers."""


class Reranker(Pooled, Protocol):
    """Scores how well each text answers a query, by reading both together."""

    async def open(self) -> None:
        """Load the model or connect to it, without sending a request."""

    async def close(self) -> None:
        """Release the model."""

    async def rerank(self, owner: Owner, query: str, texts: Sequence[str]) -> list[float]:
        """A finite score for each text, in order; a higher score answers the query better.

        The scale is the reranker's own. Query and texts are data, never an instruction.

        Args:
            owner: Whose tokens are counted; without a user's name only the app's.
            query: The query.
            texts: The texts to score.

        Raises:
            Unavailable: The model is down, slow or throttled.
            AgentFailed: The model gave no usable answer.

        """

    async def check(self) -> Health:
        """Check whether the model answers."""


class Thesaurus(Protocol):
    """Finds words that are near in meaning.

    It never uses a network, since every query waits for it.
    """

    async def related(self, terms: Sequence[str]) -> tuple[Related, ...]:
        """Words near each of these terms, as stems like the terms.

        A term that it does not know has no near words.
        """


@dataclass(frozen=True, slots=True)
class DecisionItem:
    """A memory as it is shown to agents that compare memories, without its id.

    Attributes:
        number: The number by which the agent names it.
        text: The text of the memory.
        category: The category of the memory.
        said_at: When it was said.
        slot: Its (subject, attribute), if it has a slot.
        actor: The person or agent that said it.
        lead: By how much it answers a query better than the tenth best memory, for rules alone.
            None where it does not surely answer the query.

    """

    number: int
    text: str
    category: str | None
    said_at: datetime
    slot: tuple[str, str] | None = None
    actor: str | None = None
    lead: float | None = None


@dataclass(frozen=True, slots=True)
class SceneItem:
    """A scene as it is shown to the profile agent.

    Attributes:
        number: The number by which the agent names it.
        theme: The theme of the scene.
        lines: A line for each of its episodes.
        shows: The observed behaviour in each of its episodes.
        began_at: When the scene began.

    """

    number: int
    theme: str
    lines: tuple[str, ...]
    shows: tuple[tuple[str, ...], ...]
    began_at: datetime


class Agents(Pooled, Protocol):
    """The typed calls that a model, or rules, answer.

    The arguments are data, never an instruction. `owner` is whose tokens are counted; without a
    user's name only the app's. Messages are numbered from 0 in the order in which they are passed.

    Calls raise Unavailable when the model is down, slow or throttled, so that a later retry may
    succeed. They raise AgentFailed when the answer is not usable, so that a retry would give the
    same.
    """

    @property
    def model(self) -> str:
        """Name of the model or the rules, for provenance."""

    async def open(self) -> None:
        """Load the model or connect to it."""

    async def close(self) -> None:
        """Release all resources."""

    async def detect_boundary(
        self, owner: Owner, messages: Sequence[Message], previous: str | None
    ) -> Answered[Boundaries]:
        """Find where at most 50 messages change their topic.

        Args:
            owner: Whose tokens are counted.
            messages: The messages in order.
            previous: The episode before them, if any.

        """

    async def analyse_episode(
        self, owner: Owner, messages: Sequence[Message]
    ) -> Answered[EpisodeAnalysis]:
        """Find the patterns of behaviour in a cell.

        Args:
            owner: Whose tokens are counted.
            messages: The messages of the cell.

        """

    async def summarise(
        self, owner: Owner, messages: Sequence[Message], *, fast: bool = False
    ) -> Answered[ConversationSummary]:
        """Tell the story of some messages.

        Args:
            owner: Whose tokens are counted.
            messages: The messages in order.
            fast: Only the narrative, for the agent path and quick summaries.

        """

    async def extract_facts(
        self, owner: Owner, messages: Sequence[Message]
    ) -> Answered[ExtractedFacts]:
        """The facts of a cell with their quotes, and its foresight.

        They are dated against each message's own time.

        Args:
            owner: Whose tokens are counted.
            messages: The messages of the cell.

        """

    async def form(
        self, owner: Owner, messages: Sequence[Message], previous: str | None, *, cut: bool
    ) -> Answered[FormedParts]:
        """Facts, behaviour and story of at most 50 messages in a single call.

        Args:
            owner: Whose tokens are counted.
            messages: A window of a conversation, or a single cell.
            previous: The episode before them, if any.
            cut: Whether the messages are a window that must be cut too. The facts are of the whole
                window, with an episode for each stretch between cuts. A cell has a single episode.

        Returns:
            The parts, each checked by itself as the separate answer would be. None for a part that
            is not usable.

        Raises:
            Unavailable: The model is down, slow or throttled.
            AgentFailed: No part is usable.

        """

    async def reflect(
        self, owner: Owner, episodes: Sequence[DecisionItem], scenes: Sequence[SceneItem]
    ) -> Answered[ReflectedParts]:
        """Do `find_patterns` and `update_profile` in a single call, each part checked by itself.

        Args:
            owner: Whose tokens are counted.
            episodes: The episodes for the patterns, the oldest first.
            scenes: The scenes for the profile.

        """

    async def decide_conflicts(
        self, owner: Owner, new: Sequence[DecisionItem], older: Sequence[DecisionItem]
    ) -> Answered[Decisions]:
        """Decide the state of each of the older memories beside the new memories.

        DELETE says that the two exclude each other. The executor then supersedes the memory that
        was said earlier.

        Args:
            owner: Whose tokens are counted.
            new: The new memories.
            older: The memories to decide on.

        """

    async def synthesise(self, owner: Owner, notes: Sequence[DecisionItem]) -> Answered[Synthesis]:
        """Write a single note from several, the oldest first, without losing a statement.

        Args:
            owner: Whose tokens are counted.
            notes: The notes, the oldest first.

        """

    async def find_patterns(
        self, owner: Owner, episodes: Sequence[DecisionItem]
    ) -> Answered[FoundPatterns]:
        """Find patterns that repeat among episodes.

        The caller checks which of the episodes show a pattern.

        Args:
            owner: Whose tokens are counted.
            episodes: The episodes, the oldest first.

        """

    async def judge_sufficiency(
        self, owner: Owner, query: str, asked: Sequence[str], results: Sequence[DecisionItem]
    ) -> Answered[Sufficiency]:
        """Judge whether the results answer the query, and if not, suggest a better query.

        Args:
            owner: Whose tokens are counted.
            query: The query of the caller.
            asked: The queries so far, the first included.
            results: The memories that the queries found.

        """

    async def update_profile(
        self, owner: Owner, scenes: Sequence[SceneItem]
    ) -> Answered[ProfileUpdate]:
        """Find traits of a person in scenes of their life.

        Each trait names the numbers of the scenes in which it shows.

        Args:
            owner: Whose tokens are counted.
            scenes: The scenes to read.

        """

    async def check(self) -> Health:
        """Check whether the model answers, for readiness.

        It costs no tokens, except for those of a single word in a process that has made no call
        yet.
        """
