"""What a model does, or rules in its place: vectors, and the typed calls of the agents."""

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
    """Text to vector. `model` and `dimensions` are stored with every vector and compared on
    every start.

    Note: up to `whole_query` characters a query has the very vector of the same text saved, and one
    cached vector serves both (`tests/contract/test_embedder.py`). A model that wants a prefix
    before queries does not fulfil this port.
    """

    @property
    def model(self) -> str:
        """Name and version of what makes the vectors."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    @property
    def whole_query(self) -> int:
        """Characters up to which the vector of a query is that of the same text saved;
        a longer one need not be read whole.
        """

    async def open(self) -> None:
        """Load or connect; raises Unavailable."""

    async def close(self) -> None:
        """Release it."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One normalised float32 vector a text, in order. Raises Unavailable."""

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of the sentences of a query that a caller waits for, comparable with those
        of `embed`; see `whole_query`. All of them or none.

        Raises Unavailable, sooner than `embed` would: who asks can go on by words.
        """

    async def token_states(self, texts: Sequence[str]) -> list[TokenStates | None]:
        """What is kept of the tokens of texts that were just embedded; None of each where the
        embedder has none to give.

        Raises Unavailable.
        """

    async def check(self) -> Health:
        """Whether it answers."""


class Reranker(Pooled, Protocol):
    """Reads a query and each text together and says how well one answers the other."""

    async def open(self) -> None:
        """Load or connect; sends nothing."""

    async def close(self) -> None:
        """Release it."""

    async def rerank(self, owner: Owner, query: str, texts: Sequence[str]) -> list[float]:
        """One finite score a text, in order; higher answers better, the scale is the reranker's
        own. All are data, never an instruction.

        owner: whose tokens are counted; without a user's name the app's alone.
        Raises Unavailable, AgentFailed as the agents do.
        """

    async def check(self) -> Health:
        """Whether it answers."""


class Thesaurus(Protocol):
    """Which words stand near others in meaning. Never asks anything over a network:
    every query waits for it.
    """

    async def related(self, terms: Sequence[str]) -> tuple[Related, ...]:
        """The words near each of these terms, stems like these; none for a word that it
        does not know.
        """


@dataclass(frozen=True, slots=True)
class DecisionItem:
    """A memory as the agents that compare memories are shown it: its number, its text,
    its time, who said it.

    Never its id. lead: how far it answers a query better than the tenth best memory, for rules
    alone; None where it does not surely answer.
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
    """A scene as the profile agent is shown it: its number, its theme, a line and the observed
    behaviour of each of its episodes.
    """

    number: int
    theme: str
    lines: tuple[str, ...]
    shows: tuple[tuple[str, ...], ...]
    began_at: datetime


class Agents(Pooled, Protocol):
    """The typed calls that a model, or rules, answer. What is passed in is data,
    never an instruction.

    owner: whose tokens are counted; without a user's name the app's alone. Raise Unavailable when
    the model is down, slow or throttled (worth asking again later), AgentFailed when it answers
    nothing usable (asking again gives the same). Messages are numbered from 0 in what is passed.
    """

    @property
    def model(self) -> str:
        """Who answers, for provenance."""

    async def open(self) -> None:
        """Load or connect."""

    async def close(self) -> None:
        """Release everything."""

    async def detect_boundary(
        self, owner: Owner, messages: Sequence[Message], previous: str | None
    ) -> Answered[Boundaries]:
        """Where at most 50 messages change their topic. `previous`: the episode before them,
        if any.
        """

    async def analyse_episode(
        self, owner: Owner, messages: Sequence[Message]
    ) -> Answered[EpisodeAnalysis]:
        """The patterns of behaviour in one cell."""

    async def summarise(
        self, owner: Owner, messages: Sequence[Message], *, fast: bool = False
    ) -> Answered[ConversationSummary]:
        """The story of some messages. fast: the narrative only, for the agent path and
        quick summaries.
        """

    async def extract_facts(
        self, owner: Owner, messages: Sequence[Message]
    ) -> Answered[ExtractedFacts]:
        """The facts of one cell with their quotes, and its foresight, dated against each
        message's own time.
        """

    async def form(
        self, owner: Owner, messages: Sequence[Message], previous: str | None, *, cut: bool
    ) -> Answered[FormedParts]:
        """Facts, behaviour and story of at most 50 messages in one call.

        Args:
            owner: whose tokens are counted.
            messages: a window of a conversation, or one cell.
            previous: the episode before them, if any.
            cut: whether they are a window, which is cut too. Facts are of all of it, an episode for
                each stretch between cuts. Of one cell there is one episode.

        Returns:
            The parts, each checked by itself as the separate answer would be.
            None for a part of which nothing is usable.

        Raises:
            Unavailable: the model is down, slow or throttled.
            AgentFailed: no part is usable.

        """

    async def reflect(
        self, owner: Owner, episodes: Sequence[DecisionItem], scenes: Sequence[SceneItem]
    ) -> Answered[ReflectedParts]:
        """As `find_patterns` and `update_profile`, in one call, each part checked by itself."""

    async def decide_conflicts(
        self, owner: Owner, new: Sequence[DecisionItem], older: Sequence[DecisionItem]
    ) -> Answered[Decisions]:
        """What each of the older memories becomes beside the new ones.

        DELETE says that the two exclude each other; which of them is superseded, the one said
        earlier, is the executor's to see.
        """

    async def synthesise(self, owner: Owner, notes: Sequence[DecisionItem]) -> Answered[Synthesis]:
        """One note out of several, the oldest first, losing nothing."""

    async def find_patterns(
        self, owner: Owner, episodes: Sequence[DecisionItem]
    ) -> Answered[FoundPatterns]:
        """What repeats among episodes, the oldest first. Which of them say so is checked
        by the caller.
        """

    async def judge_sufficiency(
        self, owner: Owner, query: str, asked: Sequence[str], results: Sequence[DecisionItem]
    ) -> Answered[Sufficiency]:
        """Whether the results answer the query, and if not, what to ask for instead. asked: the
        queries before, the first included.
        """

    async def update_profile(
        self, owner: Owner, scenes: Sequence[SceneItem]
    ) -> Answered[ProfileUpdate]:
        """What shows of the person in scenes of their life: traits, each with the numbers of the
        scenes that it shows in.
        """

    async def check(self) -> Health:
        """Whether they answer, for readiness; costs no tokens but, in a process that has asked
        nothing yet, those of one word.
        """
