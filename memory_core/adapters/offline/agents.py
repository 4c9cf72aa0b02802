"""The agents by rule: `LLM_PROVIDER=offline`, and what steps in when a model fails.

Deterministic and without a model: the same messages give the same answers on every machine, and every word of an answer was said
or stands in a table. What a reader would get wrong: `embedder` is for vectors that mean something; with the `hash` embedder give
None, for its similarities are noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import ParamSpec, TypeVar

from memory_core.adapters.offline import boundary, narrative
from memory_core.adapters.offline.behaviour import episode_analysis
from memory_core.adapters.offline.conflicts import decided
from memory_core.adapters.offline.facts import said_facts, speaker
from memory_core.adapters.offline.foresight import said_foresight
from memory_core.adapters.offline.keywords import retrieval_hints
from memory_core.adapters.offline.patterns import found_patterns
from memory_core.adapters.offline.sufficiency import judged
from memory_core.adapters.offline.synthesis import merged
from memory_core.adapters.offline.threads import RuleThread, checkpoint
from memory_core.adapters.offline.traits import seen_traits
from memory_core.domain.agent_answers import (
    NOT_AVAILABLE,
    Answered,
    Boundaries,
    ConversationSummary,
    Decisions,
    EpisodeAnalysis,
    ExtractedFacts,
    FoundPatterns,
    ProfileUpdate,
    Provenance,
    RetrievalHints,
    Sufficiency,
    SummaryContext,
    SummaryMetadata,
    Synthesis,
)
from memory_core.domain.conversation import Message
from memory_core.domain.models import Vector
from memory_core.domain.own_words import own_words
from memory_core.ports import DecisionItem, Embedder, Health, SceneItem

MODEL = "offline-rules/1"
BOUNDARY_GAP = timedelta(minutes=120)
DEEP_WORDS, SHALLOW_WORDS = 250, 40
"""Words that users and assistants said from which a talk is deep, and up to which it is shallow."""
SHORT = 2_000
"""Characters that a rule reads in 10 ms at most: so few are read at once, more in a thread."""
LONG = 50_000
"""Characters from which texts are read in a thread of their own, so that shorter ones don't wait for them."""
P = ParamSpec("P")
T = TypeVar("T")


class OfflineAgents:
    """The `Agents` port by rule. boundary_gap: the silence that always parts two cells.

    embedder: whose vectors say what sentences and messages have in common; None = their words alone decide. Only
    `Unavailable` of the embedder is ever raised by the first four calls.
    """

    def __init__(self, embedder: Embedder | None = None, *, boundary_gap: timedelta = BOUNDARY_GAP) -> None:
        self._embedder = embedder
        self._gap = boundary_gap
        self._thread, self._thread_for_long = RuleThread(), RuleThread()

    @property
    def model(self) -> str:
        """Name and version of the rules."""
        return MODEL

    async def open(self) -> None:
        """Nothing to load; the embedder is opened by its owner."""

    async def close(self) -> None:
        """Let the rules that run finish."""
        await self._thread.close()
        await self._thread_for_long.close()

    def pool(self) -> tuple[int, int]:
        """No connections."""
        return 0, 0

    async def detect_boundary(self, app_id: str, messages: Sequence[Message], previous: str | None) -> Answered[Boundaries]:
        """Where the topic changes."""
        vectors = None
        if self._embedder is not None:
            vectors = await self._vectors(await self._read(messages, _topics, messages))
        return _answered(await self._read(messages, boundary.boundaries, messages, previous, self._gap, vectors))

    async def analyse_episode(self, app_id: str, messages: Sequence[Message]) -> Answered[EpisodeAnalysis]:
        """How the people behaved, by cues."""
        return _answered(await self._read(messages, episode_analysis, messages))

    async def summarise(self, app_id: str, messages: Sequence[Message], *, fast: bool = False) -> Answered[ConversationSummary]:
        """The most central sentences; fast: by their words alone, and without hints for retrieval."""
        said = await self._read(messages, narrative.candidates, messages)
        vectors = None if fast else await self._vectors([one.text for one in said])
        return _answered(await self._read(messages, _summary, messages, said, vectors, fast))

    async def extract_facts(self, app_id: str, messages: Sequence[Message]) -> Answered[ExtractedFacts]:
        """What users asserted, and what holds for a while."""
        return _answered(await self._read(messages, _extracted, messages))

    async def decide_conflicts(self, app_id: str, new: Sequence[DecisionItem], held: Sequence[DecisionItem]) -> Answered[Decisions]:
        """By slot, negation, number and words in common."""
        return _answered(await self._run((item.text for item in (*new, *held)), decided, new, held))

    async def synthesise(self, app_id: str, notes: Sequence[DecisionItem]) -> Answered[Synthesis]:
        """The notes merged part by part. Raises AgentFailed when they do not fit."""
        return _answered(await self._run((note.text for note in notes), merged, notes))

    async def find_patterns(self, app_id: str, episodes: Sequence[DecisionItem]) -> Answered[FoundPatterns]:
        """What was said again in several of them."""
        return _answered(await self._run((episode.text for episode in episodes), found_patterns, episodes))

    async def judge_sufficiency(
        self, app_id: str, query: str, asked: Sequence[str], found: Sequence[DecisionItem]
    ) -> Answered[Sufficiency]:
        """By the share of the query's words that stand in what was found; one other query, with the words of the best."""
        return _answered(await self._run((item.text for item in found), judged, query, asked, found))

    async def update_profile(self, app_id: str, scenes: Sequence[SceneItem]) -> Answered[ProfileUpdate]:
        """Themes that come up again and again, and habits that do."""
        return _answered(seen_traits(scenes))

    async def check(self) -> Health:
        """Always ready."""
        return Health("offline", "ok", 0.0, facts={"model": MODEL})

    async def _read(self, messages: Sequence[Message], rule: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a rule that reads these messages."""
        return await self._run((message.content for message in messages), rule, *args, **kwargs)

    async def _run(self, texts: Iterable[str], rule: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a rule that reads these texts: at once when they are short, else in a thread."""
        characters = sum(map(len, texts))
        if characters <= SHORT:
            return rule(*args, **kwargs)
        thread = self._thread if characters < LONG else self._thread_for_long
        return await thread.run(rule, *args, **kwargs)

    async def _vectors(self, texts: Sequence[str]) -> list[Vector] | None:
        if self._embedder is None or not texts:
            return None
        return await self._embedder.embed([text or " " for text in texts])


def _answered(value: T) -> Answered[T]:
    return Answered(value, Provenance(MODEL))


def _topics(messages: Sequence[Message]) -> list[str]:
    """What is embedded of each message for its topic."""
    return [boundary.text_of(message) for message in messages]


def _extracted(messages: Sequence[Message]) -> ExtractedFacts:
    return ExtractedFacts(facts=said_facts(messages), foresight=said_foresight(messages))


def _summary(
    messages: Sequence[Message], said: Sequence[narrative.Said], vectors: Sequence[Vector] | None, fast: bool
) -> ConversationSummary:
    story = narrative.narrative(messages, said, vectors)
    if fast:
        return ConversationSummary(narrative=story)
    actors = [speaker(message) for message in messages]
    texts = []
    for message in messages:
        checkpoint()
        if message.role in ("user", "assistant"):
            texts.append(own_words(message.content))
    hints = retrieval_hints(texts, said_facts(messages), actors) if said else RetrievalHints()
    return ConversationSummary(
        context=SummaryContext(
            available_data=f"{len(messages)} messages.",
            content_scope=f"About {', '.join(hints.tags[:4])}." if hints.tags else NOT_AVAILABLE,
        ),
        narrative=story,
        retrieval=hints,
        metadata=SummaryMetadata(depth=_depth(said), follow_ups=_follow_ups(messages, said)),
    )


def _depth(said: Sequence[narrative.Said]) -> str:
    words = sum(len(one.text.split()) for one in said)
    return "high" if words >= DEEP_WORDS else "low" if words <= SHALLOW_WORDS else "medium"


def _follow_ups(messages: Sequence[Message], said: Sequence[narrative.Said]) -> list[str]:
    """The questions of the last message: nobody has answered them yet."""
    last = len(messages) - 1
    return [f"{one.by} asked: {one.text}"[:600] for one in said if one.message == last and one.asks][:2]
