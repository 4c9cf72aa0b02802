"""Agent calls about a cell, with rules that answer if a model's answer is unusable.

Each answer for which a model is asked is stored before it is used. If a model is down or slow,
Unavailable is raised, and the work waits. A model that gives an unusable answer would give it
again, so the rules answer instead, and their answer is stored. No model is asked twice. Facts that
the rules extract without a model, or in addition to a model's facts, are not stored: repeating them
costs nearly no time, and a cell is committed whole or not at all. Their boundaries are stored with
the conversation when it is accepted, because the numbers of its cells depend on them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pydantic import BaseModel

from memory_core.domain.agent_schemas import (
    Answered,
    Boundaries,
    ConversationSummary,
    Decisions,
    EpisodeAnalysis,
    ExtractedFacts,
    Provenance,
    Synthesis,
)
from memory_core.domain.conversation import Cell, Conversation, Message
from memory_core.domain.errors import AgentFailed
from memory_core.domain.memory import Memory
from memory_core.domain.scope import Owner
from memory_core.domain.statements.provenance import in_another_language, invents_names, tells_of
from memory_core.evolution.agent_rulings import ConflictPrompt, Rulings
from memory_core.evolution.synthesis_checks import fits, what_is_invented, what_is_lost
from memory_core.formation.boundaries import as_shown
from memory_core.formation.cells import CellAnswers
from memory_core.ports import Agents, DecisionItem
from memory_core.tasks.agent_steps import Steps

log = logging.getLogger(__name__)
T = TypeVar("T", bound=BaseModel)
Given = TypeVar("Given")
UNANSWERED = "nobody"
"""The name of the model in a stored answer if the conflict agent failed."""


@dataclass(frozen=True, slots=True)
class AgentCalls:
    """The agents for the work on a conversation.

    Attributes:
        owner: Whose conversation it is.
        conversation: The conversation.
        agents: Agents that are asked.
        rules: Rules that answer if `agents` fail.
        steps: Stores the answers.

    """

    owner: Owner
    conversation: Conversation
    agents: Agents
    rules: Agents
    steps: Steps

    async def boundaries(
        self, window: int, messages: Sequence[Message], previous: str | None
    ) -> Boundaries:
        """The places where a window of messages changes its topic.

        Args:
            window: Its number, from 0.
            messages: Messages of the window.
            previous: The episode before it; None for the first window.

        """
        owner, messages_in_zone = self.owner, self._shown(messages)
        answer = await self._frozen(
            f"boundary {window}",
            Boundaries,
            lambda agents: agents.detect_boundary(owner, messages_in_zone, previous),
        )
        return answer.value

    async def about(self, cell: Cell) -> CellAnswers:
        """The three agents' answers about a cell, asked together."""
        owner, messages, name = (
            self.owner,
            self._shown(cell.messages),
            f"cell {cell.first}-{cell.last}",
        )
        # All answers are awaited, even if one fails: the others were paid for, and are stored.
        facts, episode, summary = await asyncio.gather(
            self._answered(
                f"{name} facts",
                ExtractedFacts,
                lambda agents: agents.extract_facts(owner, messages),
            ),
            self._answered(
                f"{name} episode",
                EpisodeAnalysis,
                lambda agents: agents.analyse_episode(owner, messages),
            ),
            self._answered(
                f"{name} summary",
                ConversationSummary,
                lambda agents: self._summarised(agents, cell),
            ),
            return_exceptions=True,
        )
        extracted = _result_or_raise(facts)
        return CellAnswers(
            extracted,
            _result_or_raise(episode),
            _result_or_raise(summary),
            await self._read_by_rules(messages, extracted),
        )

    async def fast_summary(self, cell: Cell) -> Answered[ConversationSummary]:
        """A short summary, for an agent's own words."""
        name = f"cell {cell.first}-{cell.last} fast summary"
        return await self._answered(
            name, ConversationSummary, lambda agents: self._summarised(agents, cell, fast=True)
        )

    async def _read_by_rules(
        self, messages: Sequence[Message], facts: Answered[ExtractedFacts]
    ) -> Answered[ExtractedFacts] | None:
        """The facts that the rules extract in addition to a model's facts.

        None if the facts are those of the rules already.
        """
        if self.agents is self.rules or facts.by_rule:
            return None
        return await self.rules.extract_facts(self.owner, messages)

    async def _summarised(
        self, agents: Agents, cell: Cell, *, fast: bool = False
    ) -> Answered[ConversationSummary]:
        """A summary of the cell.

        A model's summary about something else, or in another language, is unusable.
        """
        given = await agents.summarise(self.owner, self._shown(cell.messages), fast=fast)
        if agents is not self.rules and (
            wrong := await asyncio.to_thread(story_fault, given.value.narrative, cell.messages)
        ):
            raise AgentFailed(f"the story {wrong}")
        return given

    def _shown(self, messages: Sequence[Message]) -> list[Message]:
        return as_shown(messages, self.conversation)

    async def rulings(self, prompt: ConflictPrompt) -> Rulings:
        """The conflict agent's decisions.

        If the agent fails, no pair is decided: what the rules see in facts counts, and notes stay
        as they are.
        """
        if not prompt.older:
            return Rulings({})

        answer = await self.steps.frozen(
            self.owner,
            self.conversation.id,
            f"conflicts {prompt.key}",
            lambda: self._decisions(prompt),
            Decisions,
        )
        if answer.provenance.model == UNANSWERED:
            return Rulings({})
        return Rulings.of(
            prompt, answer.value, answer.provenance.model, by_rule=self.agents is self.rules
        )

    async def _decisions(self, prompt: ConflictPrompt) -> Answered[Decisions]:
        """The conflict agent's answer; without a decision if the agent fails."""
        new, older = prompt.items()
        try:
            return await self.agents.decide_conflicts(self.owner, new, older)
        except AgentFailed as error:
            log.warning("the conflict agent failed, so the rules alone decide: %s", error.detail)
            return Answered(Decisions(), Provenance(UNANSWERED))

    async def synthesis(
        self, note: Memory, sources: Sequence[Memory], shown_key: str
    ) -> str | None:
        """Merge notes by a model, or by the rules if its text is faulty.

        A text is faulty if it loses or invents content.

        Args:
            note: The new note.
            sources: The notes to merge into it.
            shown_key: Names the notes, so that the stored answer is found again.

        Returns:
            The merged note, or None.

        """
        together = sorted(
            [note, *sources], key=lambda note_or_source: note_or_source.event_timestamp
        )
        if not fits(together):
            return None
        items = [
            DecisionItem(number, memory.content, memory.category, memory.event_timestamp)
            for number, memory in enumerate(together)
        ]
        asked = [(self.agents, "synthesis")]
        if self.agents is not self.rules:
            asked.append((self.rules, "synthesis by rule"))
        for agents, name in asked:
            text = await self._synthesised(f"{name} {shown_key}", agents, items)
            if text is None:
                continue
            wrong = [*what_is_lost(text, together), *what_is_invented(text, together)]
            if not wrong:
                return text
            # the part after the colon quotes notes
            log.info(
                "a synthesis is refused: %s",
                "; ".join(reason.partition(":")[0] for reason in wrong),
            )
        return None

    async def _synthesised(
        self, step: str, agents: Agents, items: Sequence[DecisionItem]
    ) -> str | None:
        async def ask() -> Answered[Synthesis]:
            return await agents.synthesise(self.owner, items)

        try:
            answer = await self.steps.frozen(self.owner, self.conversation.id, step, ask, Synthesis)
        except AgentFailed as error:
            log.warning("the synthesis agent failed: %s", error.detail)
            return None
        return answer.value.consolidated_memory.natural_memory_note

    async def _answered(
        self, step: str, kind: type[T], call: Callable[[Agents], Awaitable[Answered[T]]]
    ) -> Answered[T]:
        """An answer about a cell; a model's answer is stored before it is used."""
        return (
            await call(self.rules)
            if self.agents is self.rules
            else await self._frozen(step, kind, call)
        )

    async def _frozen(
        self, step: str, kind: type[T], call: Callable[[Agents], Awaitable[Answered[T]]]
    ) -> Answered[T]:
        async def ask() -> Answered[T]:
            try:
                return await call(self.agents)
            except AgentFailed as error:
                log.warning("an agent failed at %s, rules answer instead: %s", step, error.detail)
                return replace(await call(self.rules), by_rule=True)

        return await self.steps.frozen(self.owner, self.conversation.id, step, ask, kind)


def story_fault(story: str, messages: Sequence[Message]) -> str | None:
    """Why a model's story must not be remembered, in words without any of it.

    Args:
        story: Story of the model.
        messages: Messages that it is about.

    Returns:
        None if it may be remembered.

    """
    if not tells_of(story, messages):
        return "has almost no word of its messages"
    if invents_names(story, messages):
        return "has names that the messages do not have"
    words = "\n".join(message.content for message in messages)
    return "is in another language than the messages" if in_another_language(words, story) else None


def _result_or_raise(answer: Given | BaseException) -> Given:
    """The answer of a gathered call; raises the call's error."""
    if isinstance(answer, BaseException):
        raise answer
    return answer
