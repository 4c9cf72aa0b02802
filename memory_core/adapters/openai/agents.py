"""The `Agents` over a chat model, within a daily budget of tokens.

One call of the model an answer: what it writes is repaired by code or refused, never asked for
twice. Note: a valid answer is not yet a true one. Numbers, quotes and decisions are checked against
what was shown by those who asked.
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
from memory_core.domain.truth.slots import canonical_attribute, canonical_subject
from memory_core.ports import Clock, DecisionItem, Health, Meter, SceneItem
from memory_core.prompts import Name, prompt

log = logging.getLogger(__name__)
TRUST_S = 60
"""A success this recent answers a readiness check."""
Read = Callable[[str, Echoes], Repaired[Any]]
"""Reads a checked answer out of a text. Raises AgentFailed."""
_JOINT: dict[Name, Read] = {
    "form_cell": cell_parts,
    "form_window": window_parts,
    "reflect": reflected_parts,
}
"""How the answers that have several parts are read."""


class OpenAIAgents:
    """`LLM_PROVIDER=openai` or `azure`."""

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
        """The configured name."""
        return self._model

    async def open(self) -> None:
        """Make the client; nothing is sent."""
        await self._chat.open()

    async def close(self) -> None:
        """Close the client."""
        await self._chat.close()

    def pool(self) -> tuple[int, int]:
        """Calls that may be under way at once, and those that are."""
        return self._chat.pool()

    async def detect_boundary(
        self, owner: Owner, messages: Sequence[Message], previous: str | None
    ) -> Answered[Boundaries]:
        """Where the messages change their topic."""
        return await self._ask("detect_boundary", owner, _after(previous, messages))

    async def analyse_episode(
        self, owner: Owner, messages: Sequence[Message]
    ) -> Answered[EpisodeAnalysis]:
        """The patterns of behaviour in the messages."""
        return await self._ask("analyse_episode", owner, message_entries(messages))

    async def summarise(
        self, owner: Owner, messages: Sequence[Message], *, fast: bool = False
    ) -> Answered[ConversationSummary]:
        """The story of the messages; `fast` asks for the story alone, by a shorter prompt."""
        if not fast:
            return await self._ask("summarise", owner, message_entries(messages))
        answer = await self._ask("summarise_fast", owner, message_entries(messages))
        return Answered(
            ConversationSummary(narrative=answer.value.narrative), answer.provenance, answer.tokens
        )

    async def extract_facts(
        self, owner: Owner, messages: Sequence[Message]
    ) -> Answered[ExtractedFacts]:
        """The facts and the foresight of the messages, slots by their canonical names."""
        answer: Answered[ExtractedFacts] = await self._ask(
            "extract_facts", owner, message_entries(messages)
        )
        return Answered(_with_canonical_slots(answer.value), answer.provenance, answer.tokens)

    async def form(
        self, owner: Owner, messages: Sequence[Message], previous: str | None, *, cut: bool
    ) -> Answered[FormedParts]:
        """Facts, behaviour and story in one call, and where the messages change their topic if they
        are to be cut.
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
        """Patterns and traits in one call."""
        return await self._ask(
            "reflect", owner, [*item_entries("episode", episodes), *scene_entries(scenes, episodes)]
        )

    async def decide_conflicts(
        self, owner: Owner, new: Sequence[DecisionItem], older: Sequence[DecisionItem]
    ) -> Answered[Decisions]:
        """What each held memory becomes beside the new ones."""
        return await self._ask(
            "decide_conflicts", owner, [*item_entries("new", new), *item_entries("held", older)]
        )

    async def synthesise(self, owner: Owner, notes: Sequence[DecisionItem]) -> Answered[Synthesis]:
        """One note out of several."""
        return await self._ask("synthesise", owner, item_entries("note", notes))

    async def find_patterns(
        self, owner: Owner, episodes: Sequence[DecisionItem]
    ) -> Answered[FoundPatterns]:
        """What several episodes have in common."""
        return await self._ask("find_patterns", owner, item_entries("episode", episodes))

    async def judge_sufficiency(
        self, owner: Owner, query: str, asked: Sequence[str], results: Sequence[DecisionItem]
    ) -> Answered[Sufficiency]:
        """Whether what was found answers the query."""
        before = [RecordedText((f"asked {number}",), text) for number, text in enumerate(asked)]
        return await self._ask(
            "judge_sufficiency",
            owner,
            [RecordedText(("query",), query), *before, *item_entries("memory", results)],
        )

    async def rank_texts(self, owner: Owner, query: str, texts: Sequence[str]) -> Answered[Ranking]:
        """The texts that answer the query, best first; for `adapters.openai.rerankers`,
        no call of the port.
        """
        entries = [RecordedText((f"text {number}",), text) for number, text in enumerate(texts)]
        return await self._ask("rank_texts", owner, [RecordedText(("query",), query), *entries])

    async def update_profile(
        self, owner: Owner, scenes: Sequence[SceneItem]
    ) -> Answered[ProfileUpdate]:
        """What shows of the person."""
        return await self._ask("update_profile", owner, scene_entries(scenes))

    async def check(self) -> Health:
        """The last call, when it was well and just now; else whether the service answers at all.

        A process that has called no model yet has it answer one word, once; no other check
        spends tokens.
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
        """One call, counted by how it ended. A caller over budget asks no model."""
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
    """The messages, behind the episode before them if there is one."""
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
