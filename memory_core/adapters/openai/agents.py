"""The `Agents` over a chat model, within a daily budget of tokens.

Each answer takes a single call of the model. Code repairs or refuses the text of the model, and
never asks again. Note: a valid answer need not be true. The callers check numbers, quotes and
decisions against the texts that were shown to the model.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from typing import Any

from memory_core.adapters.openai.answers import Repaired, answer_in
from memory_core.adapters.openai.budget import Budget
from memory_core.adapters.openai.chat import Chat
from memory_core.adapters.openai.joint_answers import cell_parts, reflected_parts, window_parts
from memory_core.adapters.openai.prompt_record import (
    Echoes,
    RecordedText,
    fenced,
    item_entries,
    message_entries,
    scene_entries,
)
from memory_core.domain.agent_schemas import (
    Answered,
    Boundaries,
    ConversationSummary,
    Decisions,
    EpisodeAnalysis,
    ExtractedFacts,
    FoundPatterns,
    ProfileUpdate,
    Provenance,
    Ranking,
    Sufficiency,
    Synthesis,
)
from memory_core.domain.conversation import Message
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.domain.joint_answers import FormedParts, ReflectedParts
from memory_core.domain.scope import Owner
from memory_core.domain.statements.attributes import canonical_attribute, canonical_subject
from memory_core.ports import Clock, DecisionItem, Health, Meter, SceneItem
from memory_core.prompts import Name, prompt

log = logging.getLogger(__name__)
TRUST_S = 60
"""Seconds for which a success answers a readiness check."""
Read = Callable[[str, Echoes], Repaired[Any]]
"""Reads a checked answer from a text. Raises AgentFailed."""
_JOINT: dict[Name, Read] = {
    "form_cell": cell_parts,
    "form_window": window_parts,
    "reflect": reflected_parts,
}
"""Readers of the answers that have several parts."""


class OpenAIAgents:
    """The agents of `LLM_PROVIDER=openai` or `azure`."""

    def __init__(
        self, chat: Chat, budget: Budget, clock: Clock, meter: Meter | None = None
    ) -> None:
        self._chat = chat
        self._model = chat.model
        self._provider = chat.provider
        self._budget = budget
        self._clock = clock
        self._meter = meter

    @property
    def model(self) -> str:
        """The configured name of the model."""
        return self._model

    async def open(self) -> None:
        """Make the client, without sending a request."""
        await self._chat.open()

    async def close(self) -> None:
        """Close the client."""
        await self._chat.close()

    def pool(self) -> tuple[int, int]:
        """Calls that may be under way at once, and calls that are."""
        return self._chat.pool()

    async def detect_boundary(
        self, owner: Owner, messages: Sequence[Message], previous: str | None
    ) -> Answered[Boundaries]:
        """Find where the messages change their topic."""
        return await self._ask("detect_boundary", owner, _after(previous, messages))

    async def analyse_episode(
        self, owner: Owner, messages: Sequence[Message]
    ) -> Answered[EpisodeAnalysis]:
        """Find the patterns of behaviour in the messages."""
        return await self._ask("analyse_episode", owner, message_entries(messages))

    async def summarise(
        self, owner: Owner, messages: Sequence[Message], *, fast: bool = False
    ) -> Answered[ConversationSummary]:
        """Summarize the messages; `fast` asks by a shorter prompt for the story alone."""
        if not fast:
            return await self._ask("summarise", owner, message_entries(messages))
        answer = await self._ask("summarise_fast", owner, message_entries(messages))
        return Answered(
            ConversationSummary(narrative=answer.value.narrative), answer.provenance, answer.tokens
        )

    async def extract_facts(
        self, owner: Owner, messages: Sequence[Message]
    ) -> Answered[ExtractedFacts]:
        """Extract facts and foresight from the messages, with canonical names of slots."""
        answer: Answered[ExtractedFacts] = await self._ask(
            "extract_facts", owner, message_entries(messages)
        )
        return Answered(_with_canonical_slots(answer.value), answer.provenance, answer.tokens)

    async def form(
        self, owner: Owner, messages: Sequence[Message], previous: str | None, *, cut: bool
    ) -> Answered[FormedParts]:
        """Extract facts, behaviour and story in a single call.

        With `cut`, the answer also says where the messages change their topic.
        """
        name: Name = "form_window" if cut else "form_cell"
        answer: Answered[FormedParts] = await self._ask(name, owner, _after(previous, messages))
        if (facts := answer.value.facts) is None:
            return answer
        parts = answer.value.with_facts(_with_canonical_slots(facts))
        return Answered(parts, answer.provenance, answer.tokens)

    async def reflect(
        self, owner: Owner, episodes: Sequence[DecisionItem], scenes: Sequence[SceneItem]
    ) -> Answered[ReflectedParts]:
        """Find patterns and traits in a single call."""
        return await self._ask(
            "reflect", owner, [*item_entries("episode", episodes), *scene_entries(scenes, episodes)]
        )

    async def decide_conflicts(
        self, owner: Owner, new: Sequence[DecisionItem], older: Sequence[DecisionItem]
    ) -> Answered[Decisions]:
        """Decide the outcome of each stored memory beside the new memories."""
        return await self._ask(
            "decide_conflicts", owner, [*item_entries("new", new), *item_entries("held", older)]
        )

    async def synthesise(self, owner: Owner, notes: Sequence[DecisionItem]) -> Answered[Synthesis]:
        """Merge several notes into a single note."""
        return await self._ask("synthesise", owner, item_entries("note", notes))

    async def find_patterns(
        self, owner: Owner, episodes: Sequence[DecisionItem]
    ) -> Answered[FoundPatterns]:
        """Find patterns that several episodes have in common."""
        return await self._ask("find_patterns", owner, item_entries("episode", episodes))

    async def judge_sufficiency(
        self, owner: Owner, query: str, asked: Sequence[str], results: Sequence[DecisionItem]
    ) -> Answered[Sufficiency]:
        """Judge whether the results answer the query."""
        before = [RecordedText((f"asked {number}",), text) for number, text in enumerate(asked)]
        return await self._ask(
            "judge_sufficiency",
            owner,
            [RecordedText(("query",), query), *before, *item_entries("memory", results)],
        )

    async def rank_texts(self, owner: Owner, query: str, texts: Sequence[str]) -> Answered[Ranking]:
        """Rank the texts that answer the query, the best first.

        This is for `adapters.openai.rerankers` and no method of the port.

        Args:
            owner: App and user whose tokens are spent.
            query: The query.
            texts: The texts, which the answer names by their numbers from 0.

        Raises:
            Unavailable: The model is down.
            AgentFailed: The answer can't be used, or the budget is used up.

        """
        entries = [RecordedText((f"text {number}",), text) for number, text in enumerate(texts)]
        return await self._ask("rank_texts", owner, [RecordedText(("query",), query), *entries])

    async def update_profile(
        self, owner: Owner, scenes: Sequence[SceneItem]
    ) -> Answered[ProfileUpdate]:
        """Derive traits and facts of the person from scenes."""
        return await self._ask("update_profile", owner, scene_entries(scenes))

    async def check(self) -> Health:
        """Report the last call if it succeeded just now, else check whether the service answers.

        A process that has not called a model yet makes it answer a single word, once. No other
        check spends tokens.
        """
        last_ok, last_error = self._chat.last_ok, self._chat.last_error
        facts = self._budget.exhausted()
        if (
            last_error is None
            and last_ok is not None
            and self._clock.now() - last_ok < timedelta(seconds=TRUST_S)
        ):
            return Health(self._provider, "ok", last_ok=last_ok, facts=facts)
        try:
            await (self._chat.reach() if self._chat.is_proven else self._chat.prove())
        except (Unavailable, AgentFailed) as error:
            return Health(
                self._provider, "unavailable", last_ok=last_ok, detail=error.detail, facts=facts
            )
        detail = None if last_error is None else f"the last call failed: {last_error}"
        return Health(
            self._provider,
            "ok" if detail is None else "degraded",
            last_ok=last_ok,
            detail=detail,
            facts=facts,
        )

    async def _ask(
        self, name: Name, owner: Owner, entries: Sequence[RecordedText]
    ) -> Answered[Any]:
        """Ask the model in a single call and count the outcome.

        A caller over budget asks no model.
        """
        outcome = "over_budget"
        try:
            await self._budget.check(owner)
            outcome = "failed"
            answer, outcome = await self._answered(name, owner, entries)
        except Unavailable:
            outcome = "unavailable"
            raise
        except AgentFailed as error:
            raise AgentFailed(f"{self._model}, asked to {name}: {error.detail}") from error
        finally:
            if self._meter is not None:
                self._meter.agent_call(name, outcome)
        return answer

    async def _answered(
        self, name: Name, owner: Owner, entries: Sequence[RecordedText]
    ) -> tuple[Answered[Any], str]:
        asked = prompt(name)
        record = fenced(entries)
        reply = await self._chat.ask(asked, record.text)
        self._budget.spend(owner, sum(reply.tokens))
        if self._meter is not None:
            self._meter.tokens(owner.app_id, self._model, *reply.tokens, reasoning=reply.reasoning)
        if reply.failure is not None:
            raise AgentFailed(reply.failure)
        try:
            echoes = replace(_echoes(name), mark=record.mark)
            repaired = (
                _JOINT[name](reply.text, echoes)
                if name in _JOINT
                else answer_in(reply.text, asked.answer, echoes)
            )
        except AgentFailed as error:
            raise AgentFailed(
                f"{error.detail}, cut off at its limit of tokens" if reply.cut else error.detail
            ) from error
        if repaired.dropped:
            log.warning(
                "%s, asked to %s: left out %d things that were wrong or repeated its instructions",
                self._model,
                name,
                repaired.dropped,
            )
        answer = Answered(
            repaired.value, Provenance(self._model, asked.id, asked.version), reply.tokens
        )
        return answer, "repaired" if repaired.repaired else "ok"


def _after(previous: str | None, messages: Sequence[Message]) -> list[RecordedText]:
    """Entries of the messages, behind the previous episode if there is any."""
    before = [RecordedText(("previous episode",), previous)] if previous else []
    return [*before, *message_entries(messages)]


def _with_canonical_slots(statements: ExtractedFacts) -> ExtractedFacts:
    facts = [
        fact.changed(
            subject=canonical_subject(fact.subject), attribute=canonical_attribute(fact.attribute)
        )
        if fact.subject and fact.attribute
        else fact
        for fact in statements.facts
    ]
    return ExtractedFacts(
        facts=facts, foresight=statements.foresight, instructions=statements.instructions
    )


@lru_cache
def _echoes(name: Name) -> Echoes:
    return Echoes.of(prompt(name))
