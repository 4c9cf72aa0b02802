"""The agents by rule, without a model.

The same messages give the same answers on every machine. Every word of an answer was said or is in
a table. No text makes the agents fail: an answer that is too long is cut, and where a rule fails a
plainer rule answers. Both are counted. Note: `embedder` is for vectors that have a meaning. With
the `hash` embedder give None, since its similarities are noise.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import TypeVar

from memory_core.adapters.offline import boundaries, summary
from memory_core.adapters.offline.announced_facts import announced_facts, without_announced
from memory_core.adapters.offline.behaviour import episode_analysis
from memory_core.adapters.offline.facts import MAX_FACTS, said_facts
from memory_core.adapters.offline.foresight import said_foresight
from memory_core.adapters.offline.patterns import found_patterns
from memory_core.adapters.offline.reconciliation import decided, merged
from memory_core.adapters.offline.running_rules import (
    RuleThread,
    answer_within_schema,
    checkpoint,
    fitted,
)
from memory_core.adapters.offline.sufficiency import judged
from memory_core.adapters.offline.summary import retrieval_hints
from memory_core.domain.agent_schemas import (
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
    SaidFact,
    SeenTrait,
    Sufficiency,
    SummaryContext,
    SummaryMetadata,
    Synthesis,
)
from memory_core.domain.conversation import Message
from memory_core.domain.errors import AgentFailed
from memory_core.domain.joint_answers import EpisodeParts, FormedParts, ReflectedParts
from memory_core.domain.memory import Vector
from memory_core.domain.profile import MIN_CELLS, is_about_length, topic_trait
from memory_core.domain.scene_assignment import EVERYDAY, PROTOTYPES, about
from memory_core.domain.scope import Owner
from memory_core.domain.statements.own_words import name_of_speaker, own_words
from memory_core.ports import DecisionItem, Embedder, Health, Meter, SceneItem

log = logging.getLogger(__name__)
MODEL = "offline-rules/1"
BOUNDARY_GAP = timedelta(minutes=120)
DEEP_WORDS, SHALLOW_WORDS = 250, 40
"""Words of users and assistants from which a talk is deep, or up to which shallow."""
SHORT = 2_000
"""Characters that are read at once; more are read in a thread.

A rule reads so few in 10 ms at most.
"""
RECENT_CELLS = 8
"""Cells whose facts are kept for their summaries."""
LONG = 50_000
"""Characters from which texts are read in a thread of their own.

So shorter texts don't wait for them.
"""
T = TypeVar("T")


class OfflineAgents:
    """The `Agents` port by rule.

    boundary_gap: The silence that always separates two cells. embedder: Its vectors measure how
    similar sentences and messages are; None if their words alone decide. meter: Records which
    answers were cut.

    The agents only raise `Unavailable` of the embedder, and `AgentFailed` of `synthesise`.
    """

    def __init__(
        self,
        embedder: Embedder | None = None,
        *,
        boundary_gap: timedelta = BOUNDARY_GAP,
        meter: Meter | None = None,
    ) -> None:
        self._embedder = embedder
        self._gap = boundary_gap
        self._meter = meter
        self._thread, self._thread_for_long, self._thread_for_callers = (
            RuleThread(),
            RuleThread(),
            RuleThread(),
        )
        self._facts = RecentFacts()

    @property
    def model(self) -> str:
        """Name and version of the rules."""
        return MODEL

    async def open(self) -> None:
        """Return at once, since there is no model to load.

        The owner of the embedder opens the embedder.
        """

    async def close(self) -> None:
        """Let the running rules finish."""
        await self._thread.close()
        await self._thread_for_long.close()
        await self._thread_for_callers.close()

    def pool(self) -> tuple[int, int]:
        """Return no connections."""
        return 0, 0

    async def detect_boundary(
        self, owner: Owner, messages: Sequence[Message], previous: str | None
    ) -> Answered[Boundaries]:
        """Find where the topic changes; the plainer rule finds no change."""
        vectors = None
        if self._embedder is not None:
            vectors = await self._vectors(
                await self._run(_messages_of(messages), partial(_topics, messages))
            )
        rule = partial(boundaries.boundaries, messages, previous, self._gap, vectors)
        # a caller waits for it while a conversation is accepted, and it takes milliseconds
        return await self._answer(
            "detect_boundary",
            _messages_of(messages),
            rule,
            Boundaries,
            thread=self._thread_for_callers,
        )

    async def analyse_episode(
        self, owner: Owner, messages: Sequence[Message]
    ) -> Answered[EpisodeAnalysis]:
        """Find how the people behaved, by cues; the plainer rule finds no behaviour."""
        return await self._answer(
            "analyse_episode",
            _messages_of(messages),
            partial(episode_analysis, messages),
            EpisodeAnalysis,
        )

    async def summarise(
        self, owner: Owner, messages: Sequence[Message], *, fast: bool = False
    ) -> Answered[ConversationSummary]:
        """Summarize by the most central sentences; the plainer rule takes the first sentences.

        fast: Choose sentences by their words alone, and give no hints for retrieval.
        """
        sentences = vectors = None
        if self._embedder is not None and not fast:
            sentences = await self._run(
                _messages_of(messages), partial(summary.candidates, messages)
            )
            vectors = await self._vectors([sentence.text for sentence in sentences])
        rule = partial(_summary, messages, sentences, vectors, fast, self._facts)
        return await self._answer(
            "summarise", _messages_of(messages), rule, partial(_plain_summary, messages)
        )

    async def extract_facts(
        self, owner: Owner, messages: Sequence[Message]
    ) -> Answered[ExtractedFacts]:
        """Extract assertions of users, and foresight; the plainer rule finds none."""
        return await self._answer(
            "extract_facts",
            _messages_of(messages),
            partial(_extracted, messages, self._facts),
            ExtractedFacts,
        )

    async def form(
        self, owner: Owner, messages: Sequence[Message], previous: str | None, *, cut: bool
    ) -> Answered[FormedParts]:
        """Combine the answers of the separate rules."""
        boundaries = (await self.detect_boundary(owner, messages, previous)).value if cut else None
        firsts = (
            [0, *(cut_before.after + 1 for cut_before in boundaries.cuts)]
            if boundaries is not None
            else [0]
        )
        stretches = [
            (first, messages[first:end]) for first, end in pairwise([*firsts, len(messages)])
        ]
        episodes = [
            EpisodeParts(
                first=first,
                behaviour=(await self.analyse_episode(owner, stretch)).value,
                story=(await self.summarise(owner, stretch)).value,
            )
            for first, stretch in stretches
        ]
        facts = (await self.extract_facts(owner, messages)).value
        return Answered(
            FormedParts(boundaries=boundaries, facts=facts, episodes=episodes), Provenance(MODEL)
        )

    async def reflect(
        self, owner: Owner, episodes: Sequence[DecisionItem], scenes: Sequence[SceneItem]
    ) -> Answered[ReflectedParts]:
        """Combine the answers of the separate rules."""
        patterns, profile = (
            await self.find_patterns(owner, episodes),
            await self.update_profile(owner, scenes),
        )
        return Answered(
            ReflectedParts(patterns=patterns.value, profile=profile.value), Provenance(MODEL)
        )

    async def decide_conflicts(
        self, owner: Owner, new: Sequence[DecisionItem], older: Sequence[DecisionItem]
    ) -> Answered[Decisions]:
        """Decide by slot, negation, number and shared words.

        By the plainer rule all memories stay as they are.
        """
        return await self._answer(
            "decide_conflicts", _texts([*new, *older]), partial(decided, new, older), Decisions
        )

    async def synthesise(self, owner: Owner, notes: Sequence[DecisionItem]) -> Answered[Synthesis]:
        """Merge notes part by part.

        Raises AgentFailed if the merged note is too long, or the notes can't be merged.
        """
        return await self._answer(
            "synthesise", _texts(notes), partial(merged, notes), _no_synthesis
        )

    async def find_patterns(
        self, owner: Owner, episodes: Sequence[DecisionItem]
    ) -> Answered[FoundPatterns]:
        """Find sentences that several episodes repeat; the plainer rule finds none."""
        return await self._answer(
            "find_patterns", _texts(episodes), partial(found_patterns, episodes), FoundPatterns
        )

    async def judge_sufficiency(
        self, owner: Owner, query: str, asked: Sequence[str], results: Sequence[DecisionItem]
    ) -> Answered[Sufficiency]:
        """Judge by the lead of the best memory and the query's words in the results.

        Another query is never suggested. By the plainer rule no results are enough.
        """
        plainer = partial(Sufficiency, sufficient=False)
        rule = partial(judged, query, results)
        return await self._answer(
            "judge_sufficiency", _texts(results), rule, plainer, thread=self._thread_for_callers
        )

    async def update_profile(
        self, owner: Owner, scenes: Sequence[SceneItem]
    ) -> Answered[ProfileUpdate]:
        """Find themes and habits that recur; the plainer rule finds none."""
        return await self._answer("update_profile", (), partial(seen_traits, scenes), ProfileUpdate)

    async def check(self) -> Health:
        """Always ready."""
        return Health("offline", "ok", 0.0, facts={"model": MODEL})

    async def _run(
        self, texts: Iterable[str], rule: Callable[[], T], thread: RuleThread | None = None
    ) -> T:
        """Run a rule that reads these texts.

        It runs at once if they are short, else in a thread, which their length chooses if none is
        given.
        """
        characters = sum(map(len, texts))
        if characters <= SHORT:
            return rule()
        thread = thread or (self._thread if characters < LONG else self._thread_for_long)
        return await thread.run(rule)

    async def _vectors(self, texts: Sequence[str]) -> list[Vector] | None:
        if self._embedder is None or not texts:
            return None
        return await self._embedder.embed([text or " " for text in texts])

    async def _answer(
        self,
        call: str,
        texts: Sequence[str],
        rule: Callable[[], T],
        plainer: Callable[[], T],
        *,
        thread: RuleThread | None = None,
    ) -> Answered[T]:
        """Answer by a rule, within its schema.

        Cut fields are counted, and so is each answer of a plainer rule.
        """
        answer = await self._run(texts, partial(answer_within_schema, rule, plainer), thread)
        fields = answer.cut
        if answer.failure is not None:
            log.warning("a rule of %s failed with %s, a plainer one answers", call, answer.failure)
            fields = (*fields, "answer")
        if self._meter is not None:
            for field in fields:
                self._meter.answer_cut(call, field)
        return Answered(answer.value, Provenance(MODEL))


def _messages_of(messages: Sequence[Message]) -> list[str]:
    return [message.content for message in messages]


def _texts(items: Sequence[DecisionItem]) -> list[str]:
    return [item.text for item in items]


def _no_synthesis() -> Synthesis:
    raise AgentFailed("the notes can't be merged by rule")


def _topics(messages: Sequence[Message]) -> list[str]:
    """The text of each message that is embedded for its topic."""
    return [boundaries.text_of(message) for message in messages]


class RecentFacts:
    """Facts of the messages that were read last.

    A cell's facts and its summary both need them.
    """

    def __init__(self) -> None:
        self._facts: OrderedDict[tuple[tuple[str, str | None, str], ...], list[SaidFact]] = (
            OrderedDict()
        )

    def of(self, messages: Sequence[Message]) -> list[SaidFact]:
        """The facts of messages, as `said_facts` returns them."""
        key = tuple((message.role, message.actor, message.content) for message in messages)
        facts = self._facts.pop(key, None)
        if facts is None:
            facts = said_facts(messages)
        self._facts[key] = facts
        while len(self._facts) > RECENT_CELLS:
            # several threads share them, and iterate over nothing that another changes
            self._facts.popitem(last=False)
        return list(facts)


def _extracted(messages: Sequence[Message], recent_facts: RecentFacts) -> ExtractedFacts:
    foresight = said_foresight(messages)
    announced = announced_facts(messages, foresight)
    return ExtractedFacts(
        facts=[*announced, *without_announced(recent_facts.of(messages), announced)][:MAX_FACTS],
        foresight=foresight,
    )


def _summary(
    messages: Sequence[Message],
    sentences: Sequence[summary.QuotableSentence] | None,
    vectors: Sequence[Vector] | None,
    fast: bool,
    recent_facts: RecentFacts,
) -> ConversationSummary:
    sentences = summary.candidates(messages) if sentences is None else sentences
    story = summary.narrative(messages, sentences, vectors)
    if fast:
        return fitted(ConversationSummary, narrative=story)
    actors = [name_of_speaker(message) for message in messages]
    texts = []
    for message in messages:
        checkpoint()
        if message.role in ("user", "assistant"):
            texts.append(own_words(message.content))
    hints = (
        retrieval_hints(texts, recent_facts.of(messages), actors) if sentences else RetrievalHints()
    )
    return fitted(
        ConversationSummary,
        context=fitted(
            SummaryContext,
            available_data=f"{len(messages)} messages.",
            content_scope=f"About {', '.join(hints.tags[:4])}." if hints.tags else NOT_AVAILABLE,
        ),
        narrative=story,
        retrieval=hints,
        metadata=fitted(
            SummaryMetadata, depth=_depth(sentences), follow_ups=_follow_ups(messages, sentences)
        ),
    )


def _plain_summary(messages: Sequence[Message]) -> ConversationSummary:
    return ConversationSummary(narrative=summary.first_words(messages))


def _depth(sentences: Sequence[summary.QuotableSentence]) -> str:
    words = sum(len(sentence.text.split()) for sentence in sentences)
    return "high" if words >= DEEP_WORDS else "low" if words <= SHALLOW_WORDS else "medium"


def _follow_ups(
    messages: Sequence[Message], sentences: Sequence[summary.QuotableSentence]
) -> list[str]:
    """The questions of the last message, which are not answered yet."""
    last = len(messages) - 1
    return [
        f"{sentence.by} asked: {sentence.text}"
        for sentence in sentences
        if sentence.message == last and sentence.asks
    ][:2]


# Traits by rule: themes and habits that recur in a person's scenes.
#
# Note: the rules count, and don't judge. A person who often talks about money may have any amount
# of it.


MAX_TRAITS, MAX_SCENES = 12, 20


def seen_traits(scenes: Sequence[SceneItem]) -> ProfileUpdate:
    """Find traits that at least three episodes support, those with most episodes first.

    A theme needs three episodes that are about it by people's own words. Of traits about the length
    of messages, only the trait with most episodes is kept.
    """
    lines: dict[str, list[tuple[int, str]]] = {}
    habits: dict[str, dict[int, int]] = {}
    for scene in scenes:
        if scene.theme in PROTOTYPES and scene.theme != EVERYDAY:
            lines.setdefault(scene.theme, []).extend((scene.number, line) for line in scene.lines)
        for habit in (habit for traits in scene.shows for habit in dict.fromkeys(traits)):
            counted = habits.setdefault(habit, {})
            counted[scene.number] = counted.get(scene.number, 0) + 1
    themes = {
        topic_trait(theme): Counter(
            numbered[place][0] for place in about(theme, [line for _, line in numbered])
        )
        for theme, numbered in lines.items()
    }
    candidates = [
        (sum(of.values()), trait, of)
        for trait, of in (*themes.items(), *habits.items())
        if sum(of.values()) >= MIN_CELLS
    ]
    candidates.sort(key=lambda candidate: (-candidate[0], candidate[1]))
    lengths = [trait for _, trait, _ in candidates if is_about_length(trait)][1:]
    chosen = [candidate for candidate in candidates if candidate[1] not in lengths][:MAX_TRAITS]
    return ProfileUpdate(
        traits=[
            fitted(SeenTrait, trait=trait, scenes=sorted(of)[-MAX_SCENES:], confidence=_sure(times))
            for times, trait, of in chosen
        ]
    )


def _sure(times: int) -> float:
    """Confidence n / (n + 2): 0.6 of three episodes, 0.8 of eight.

    The numerator is 1 less than in Laplace's rule of succession.
    """
    return round(times / (times + 2), 3)
