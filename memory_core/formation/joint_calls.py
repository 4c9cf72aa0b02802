"""Ask a model for several answers about a conversation in a single call.

The answer of a call is stored as a whole, without its unusable parts. For each of these the rules
answer, and their answer is stored as well. So no model is asked twice, and the usable parts of an
answer are used.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise
from typing import TypeVar

from pydantic import BaseModel

from memory_core.domain.agent_schemas import (
    Answered,
    Boundaries,
    ConversationRulings,
    ConversationSummary,
    EpisodeAnalysis,
    ExtractedFacts,
    Provenance,
    SaidFact,
    SaidForesight,
    SaidInstruction,
)
from memory_core.domain.conversation import Cell, Conversation, Message
from memory_core.domain.errors import AgentFailed
from memory_core.domain.joint_answers import EpisodeParts, FormationCalls, FormedParts
from memory_core.domain.scope import Owner
from memory_core.domain.statements.wishes import only_asks_to_forget
from memory_core.evolution.agent_rulings import Questions, Rulings, pair_key, ruled_pairs
from memory_core.formation.agent_calls import UNANSWERED, AgentCalls, story_fault
from memory_core.formation.boundaries import WINDOW_MESSAGES
from memory_core.formation.cells import CellAnswers
from memory_core.ports import Agents
from memory_core.tasks.agent_steps import Steps

log = logging.getLogger(__name__)
T = TypeVar("T", bound=BaseModel)
SHORT_CONVERSATION = 15
"""Messages from which a model is asked for the topics of a conversation, in calls for each cell.

A shorter conversation without a pause is cut into cells by the rules.
"""
PAUSE = timedelta(hours=1)
"""A pause between messages after which the topic may be another."""


def agent_calls_of(
    calls: FormationCalls,
    owner: Owner,
    conversation: Conversation,
    agents: Agents,
    rules: Agents,
    steps: Steps,
) -> AgentCalls:
    """The questions about a conversation, separate or joint.

    Rules answer in separate calls, which cost nearly no time.

    Args:
        calls: Separate, or joint for each window or cell.
        owner: Whose conversation it is.
        conversation: The conversation.
        agents: Agents that are asked.
        rules: Rules that answer if `agents` fail.
        steps: Stores the answers.

    """
    if calls == "separate" or agents is rules:
        return AgentCalls(owner, conversation, agents, rules, steps)
    return JointAgentCalls(owner, conversation, agents, rules, steps, calls)


@dataclass(frozen=True, slots=True)
class JointAgentCalls(AgentCalls):
    """The agents for a conversation's work, asked in a call for each window or cell.

    Attributes:
        calls: `one` asks for each window, `two` for each cell.
        read: The answers about windows that were read, by step. A stored answer never changes.

    """

    calls: FormationCalls = "one"
    read: dict[str, Answered[FormedParts]] = field(default_factory=dict, compare=False, repr=False)

    async def boundaries(
        self, window: int, messages: Sequence[Message], previous: str | None
    ) -> Boundaries:
        """The places where a window of messages changes its topic.

        Args:
            window: Its number, from 0.
            messages: Messages of the window.
            previous: The episode before it; None for the first window.

        """
        owner, step = self.owner, f"boundary {window}"
        if self.calls == "two" and not _is_short(self.conversation.messages):
            return await AgentCalls.boundaries(self, window, messages, previous)
        if self.calls == "one" and not only_asks_to_forget(messages):
            answer = await self._formed(f"form {window}", messages, previous, cut=True)
            if answer.value.boundaries is not None:
                return answer.value.boundaries
        in_zone = self._shown(messages)
        return (
            await self._by_rule(
                step, Boundaries, lambda rules: rules.detect_boundary(owner, in_zone, previous)
            )
        ).value

    async def about(self, cell: Cell) -> CellAnswers:
        """Facts, behaviour and story of a cell.

        They come from the answer about its window, or from an answer about the cell.
        """
        answer, offset, total = await self._answer_covering(cell)
        owner, messages, name = (
            self.owner,
            self._shown(cell.messages),
            f"cell {cell.first}-{cell.last}",
        )
        size, by = len(cell.messages), answer.provenance
        episode = _episode_at(answer.value.episodes, offset, size, total)
        facts = (
            None
            if answer.value.facts is None
            else _facts_within(answer.value.facts, offset, size, is_end=offset + size == total)
        )
        story = None if episode.story is None else await self._checked(episode.story, cell)
        extracted = await self._part(
            f"{name} facts",
            ExtractedFacts,
            facts,
            by,
            lambda rules: rules.extract_facts(owner, messages),
        )
        return CellAnswers(
            extracted,
            await self._part(
                f"{name} episode",
                EpisodeAnalysis,
                episode.behaviour,
                by,
                lambda rules: rules.analyse_episode(owner, messages),
            ),
            await self._part(
                f"{name} summary",
                ConversationSummary,
                story,
                by,
                lambda rules: rules.summarise(owner, messages),
            ),
            await self._read_by_rules(messages, extracted),
        )

    async def rulings_at_once(
        self, own: Questions, of_all: Callable[[], Awaitable[Questions]]
    ) -> Rulings:
        """The decisions about the memories that a cell may contradict.

        Args:
            own: The questions of the cell, without the pairs that rules are certain about.
            of_all: Finds the questions of this cell and of all after it. They are asked together,
                once for each conversation.

        Returns:
            The decisions. If the shown memories have changed meanwhile, the cell's own questions
                are asked again.

        """
        return (await self._answer_at_once(own, of_all)).with_repeated(own.repeated)

    async def _answer_at_once(
        self, own: Questions, of_all: Callable[[], Awaitable[Questions]]
    ) -> Rulings:
        wanted = {pair_key(new, old) for new, old in own.pairs}
        if not wanted:
            return Rulings({})

        async def ask() -> Answered[ConversationRulings]:
            questions = await of_all()
            prompt = questions.prompt
            answer = await self._decisions(prompt)
            rulings = Rulings.of(prompt, answer.value, answer.provenance.model)
            return Answered(ruled_pairs(questions, rulings), answer.provenance, answer.tokens)

        answer = await self.steps.frozen(
            self.owner, self.conversation.id, "conflicts of all cells", ask, ConversationRulings
        )
        known = {pair.key for pair in answer.value.pairs}
        if not wanted <= known:
            return await self.rulings(own.prompt)
        if answer.provenance.model == UNANSWERED:
            return Rulings({})
        decisions = {
            (pair.new, pair.old): pair.decision
            for pair in answer.value.pairs
            if pair.decision is not None
        }
        is_asker = answer.value.pairs[0].key in wanted
        return Rulings(
            decisions,
            frozenset((pair.new, pair.old) for pair in answer.value.pairs),
            answer.value.invented if is_asker else 0,
            model=answer.provenance.model,
        )

    async def _answer_covering(self, cell: Cell) -> tuple[Answered[FormedParts], int, int]:
        """The answer that covers a cell, the cell's place in it, and its messages.

        The place and the number of messages are those of the window or cell that was shown.
        """
        window = cell.first // WINDOW_MESSAGES
        if self.calls == "one" and window == cell.last // WINDOW_MESSAGES:
            answer = await self._window(f"form {window}")
            if answer is not None:
                start = window * WINDOW_MESSAGES
                return (
                    answer,
                    cell.first - start,
                    len(self.conversation.messages[start : start + WINDOW_MESSAGES]),
                )
        return (
            await self._formed(
                f"cell {cell.first}-{cell.last} form", cell.messages, None, cut=False
            ),
            0,
            len(cell.messages),
        )

    async def _window(self, step: str) -> Answered[FormedParts] | None:
        """The stored answer about a window, which is read once for all its cells."""
        answer = self.read.get(step)
        if answer is None:
            answer = await self.steps.stored(self.owner, self.conversation.id, step, FormedParts)
            if answer is not None:
                self.read[step] = answer
        return answer

    async def _formed(
        self, step: str, messages: Sequence[Message], previous: str | None, *, cut: bool
    ) -> Answered[FormedParts]:
        """The joint answer about these messages, stored before it is used.

        It has no parts if the model gave no usable answer.
        """
        in_zone = self._shown(messages)

        async def ask() -> Answered[FormedParts]:
            try:
                return await self.agents.form(self.owner, in_zone, previous, cut=cut)
            except AgentFailed as error:
                log.warning(
                    "the joint answer failed at %s, rules answer instead: %s", step, error.detail
                )
                return Answered(FormedParts(), Provenance(self.rules.model))

        return await self.steps.frozen(self.owner, self.conversation.id, step, ask, FormedParts)

    async def _checked(self, story: ConversationSummary, cell: Cell) -> ConversationSummary | None:
        """The story, if it is about this cell; else None."""
        if (wrong := await asyncio.to_thread(story_fault, story.narrative, cell.messages)) is None:
            return story
        log.warning("the rules summarise a cell, because the story of the model %s", wrong)
        return None

    async def _part(
        self,
        step: str,
        kind: type[T],
        value: T | None,
        by: Provenance,
        rule: Callable[[Agents], Awaitable[Answered[T]]],
    ) -> Answered[T]:
        """A part of a joint answer; if it is unusable, the answer of the rules."""
        return Answered(value, by) if value is not None else await self._by_rule(step, kind, rule)

    async def _by_rule(
        self, step: str, kind: type[T], rule: Callable[[Agents], Awaitable[Answered[T]]]
    ) -> Answered[T]:
        async def ask() -> Answered[T]:
            return replace(await rule(self.rules), by_rule=True)

        return await self.steps.frozen(self.owner, self.conversation.id, step, ask, kind)


def _is_short(messages: Sequence[Message]) -> bool:
    """Whether a conversation is so short, without a pause, that rules can cut it."""
    moments = [message.timestamp for message in messages]
    return len(moments) < SHORT_CONVERSATION and all(
        later - before < PAUSE for before, later in pairwise(moments)
    )


def _episode_at(
    episodes: Sequence[EpisodeParts], first: int, size: int, total: int
) -> EpisodeParts:
    """The episode that is exactly the cell of `size` messages from `first` on.

    Without such an episode, it has no parts.
    """
    by_first = {episode.first: episode for episode in reversed(episodes) if episode.first < total}
    ends = dict(pairwise([*sorted(by_first), total]))
    return by_first[first] if ends.get(first) == first + size else EpisodeParts(first=first)


_Statement = TypeVar("_Statement", SaidFact, SaidForesight, SaidInstruction)


def _facts_within(facts: ExtractedFacts, first: int, size: int, *, is_end: bool) -> ExtractedFacts:
    """The statements from the messages of a cell, by their numbers in it.

    `is_end` means that statements about missing messages belong to this cell, too.
    """

    def own(statements: Sequence[_Statement]) -> list[_Statement]:
        places = ((statement, statement.message - first) for statement in statements)
        return [
            statement.in_message(place)
            for statement, place in places
            if place >= 0 and (place < size or is_end)
        ]

    return ExtractedFacts(
        facts=own(facts.facts), foresight=own(facts.foresight), instructions=own(facts.instructions)
    )
