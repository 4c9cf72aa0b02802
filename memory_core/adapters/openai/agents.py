"""The `Agents` over a chat model, within a daily budget of tokens.

One call of the model an answer: what it writes is repaired by code or refused, never asked for twice. Note: a
valid answer is not yet a true one. Numbers, quotes and decisions are checked against what was shown by those who asked.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from typing import Any

from memory_core.adapters.openai.answers import answer_in
from memory_core.adapters.openai.chat import Chat
from memory_core.adapters.openai.prompt_record import Echoes, Entry, fenced, item_entries, message_entries, scene_entries
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
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import canonical_attribute, canonical_subject
from memory_core.ports import Clock, DecisionItem, Document, Health, LongTermStore, Meter, SceneItem
from memory_core.prompts import Name, prompt

log = logging.getLogger(__name__)
TRUST_S = 60
"""A success this recent answers a readiness check."""


class OpenAIAgents:
    """`LLM_PROVIDER=openai` or `azure`."""

    def __init__(self, chat: Chat, budget: Budget, clock: Clock, meter: Meter | None = None) -> None:
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

    async def detect_boundary(self, app_id: str, messages: Sequence[Message], previous: str | None) -> Answered[Boundaries]:
        """Where the messages change their topic."""
        before = [Entry(("previous episode",), previous)] if previous else []
        return await self._ask("detect_boundary", app_id, [*before, *message_entries(messages)])

    async def analyse_episode(self, app_id: str, messages: Sequence[Message]) -> Answered[EpisodeAnalysis]:
        """The patterns of behaviour in the messages."""
        return await self._ask("analyse_episode", app_id, message_entries(messages))

    async def summarise(self, app_id: str, messages: Sequence[Message], *, fast: bool = False) -> Answered[ConversationSummary]:
        """The story of the messages; `fast` asks for the story alone, by a shorter prompt."""
        if not fast:
            return await self._ask("summarise", app_id, message_entries(messages))
        answer = await self._ask("summarise_fast", app_id, message_entries(messages))
        return Answered(ConversationSummary(narrative=answer.value.narrative), answer.provenance, answer.tokens)

    async def extract_facts(self, app_id: str, messages: Sequence[Message]) -> Answered[ExtractedFacts]:
        """The facts and the foresight of the messages, slots by their canonical names."""
        answer: Answered[ExtractedFacts] = await self._ask("extract_facts", app_id, message_entries(messages))
        facts = [
            fact.model_copy(update={"subject": canonical_subject(fact.subject), "attribute": canonical_attribute(fact.attribute)})
            if fact.subject and fact.attribute
            else fact
            for fact in answer.value.facts
        ]
        return Answered(answer.value.model_copy(update={"facts": facts}), answer.provenance, answer.tokens)

    async def decide_conflicts(self, app_id: str, new: Sequence[DecisionItem], held: Sequence[DecisionItem]) -> Answered[Decisions]:
        """What each held memory becomes beside the new ones."""
        return await self._ask("decide_conflicts", app_id, [*item_entries("new", new), *item_entries("held", held)])

    async def synthesise(self, app_id: str, notes: Sequence[DecisionItem]) -> Answered[Synthesis]:
        """One note out of several."""
        return await self._ask("synthesise", app_id, item_entries("note", notes))

    async def find_patterns(self, app_id: str, episodes: Sequence[DecisionItem]) -> Answered[FoundPatterns]:
        """What several episodes have in common."""
        return await self._ask("find_patterns", app_id, item_entries("episode", episodes))

    async def judge_sufficiency(
        self, app_id: str, query: str, asked: Sequence[str], found: Sequence[DecisionItem]
    ) -> Answered[Sufficiency]:
        """Whether what was found answers the query."""
        before = [Entry((f"asked {number}",), text) for number, text in enumerate(asked)]
        return await self._ask("judge_sufficiency", app_id, [Entry(("query",), query), *before, *item_entries("memory", found)])

    async def rank_texts(self, app_id: str, query: str, texts: Sequence[str]) -> Answered[Ranking]:
        """The texts that answer the query, best first; for `adapters.openai.reranking`, no call of the port."""
        entries = [Entry((f"text {number}",), text) for number, text in enumerate(texts)]
        return await self._ask("rank_texts", app_id, [Entry(("query",), query), *entries])

    async def update_profile(self, app_id: str, scenes: Sequence[SceneItem]) -> Answered[ProfileUpdate]:
        """What shows of the person."""
        return await self._ask("update_profile", app_id, scene_entries(scenes))

    async def check(self) -> Health:
        """The last call, when it was well and just now; else whether the service answers at all.

        A process that has called no model yet has it answer one word, once; no other check spends tokens.
        """
        last_ok, last_error = self._chat.last_ok, self._chat.last_error
        exhausted = self._budget.exhausted()
        facts = {"apps_over_daily_tokens": exhausted} if exhausted else {}
        if last_error is None and last_ok is not None and self._clock.now() - last_ok < timedelta(seconds=TRUST_S):
            return Health(self._provider, "ok", last_ok=last_ok, facts=facts)
        try:
            await (self._chat.reach() if self._chat.is_proven else self._chat.prove())
        except (Unavailable, AgentFailed) as error:
            return Health(self._provider, "unavailable", last_ok=last_ok, detail=error.detail, facts=facts)
        detail = None if last_error is None else f"the last call failed: {last_error}"
        return Health(self._provider, "ok" if detail is None else "degraded", last_ok=last_ok, detail=detail, facts=facts)

    async def _ask(self, name: Name, app_id: str, entries: Sequence[Entry]) -> Answered[Any]:
        """One call, counted by how it ended. A caller over budget asks no model."""
        outcome = "over_budget"
        try:
            await self._budget.check(app_id)
            outcome = "failed"
            answer, outcome = await self._answered(name, app_id, entries)
        except Unavailable:
            outcome = "unavailable"
            raise
        except AgentFailed as error:
            raise AgentFailed(f"{self._model}, asked to {name}: {error.detail}") from error
        finally:
            if self._meter is not None:
                self._meter.agent_call(name, outcome)
        return answer

    async def _answered(self, name: Name, app_id: str, entries: Sequence[Entry]) -> tuple[Answered[Any], str]:
        asked = prompt(name)
        record = fenced(entries)
        reply = await self._chat.ask(asked, record.text)
        self._budget.spend(app_id, sum(reply.tokens))
        if self._meter is not None:
            self._meter.tokens(app_id, self._model, *reply.tokens, reasoning=reply.reasoning)
        if reply.failure is not None:
            raise AgentFailed(reply.failure)
        try:
            repaired = answer_in(reply.text, asked.answer, replace(_echoes(name), mark=record.mark))
        except AgentFailed as error:
            raise AgentFailed(f"{error.detail}, cut off at its limit of tokens" if reply.cut else error.detail) from error
        if repaired.dropped:
            log.warning(
                "%s, asked to %s: left out %d things that were wrong or repeated its instructions", self._model, name, repaired.dropped
            )
        answer = Answered(repaired.value, Provenance(self._model, asked.id, asked.version), reply.tokens)
        return answer, "repaired" if repaired.repaired else "ok"


@lru_cache
def _echoes(name: Name) -> Echoes:
    return Echoes.of(prompt(name))


# How many tokens an app may spend in a day, by all processes together.
#
# A process takes a block of tokens out of the day before it asks a model, in one document of the app in the long-term store, and takes the
# next when it is used up: two requests a block. What is under way when the day is used up is finished, so a day may pass its cap by that;
# what a process has left of its block when it ends is not spent.


LEAST_BLOCK = 5_000
"""Tokens taken at once, about two calls of a model; more where a thousandth of the day is more."""
_BLOCKS_A_DAY = 1_000
_KEPT = timedelta(hours=36)
_TRIES, _PAUSE_S = 8, 0.02
_DAY_ID = "mrk_tokens_of_the_day"


class Budget:
    """`daily_tokens` for each app and UTC day, prompt and completion together; None = no cap, and nothing is counted."""

    def __init__(self, daily_tokens: int | None, clock: Clock, store: LongTermStore | None = None) -> None:
        """store: where processes share the day; None = the cap is of this process alone."""
        self._cap, self._clock, self._store = daily_tokens, clock, store
        self._day = ""
        self._left: dict[str, int] = {}
        self._used_up: set[str] = set()
        self._taking = asyncio.Lock()

    async def check(self, app_id: str) -> None:
        """Raises AgentFailed when the app has used up its day, Unavailable when that can't be asked."""
        if self._cap is None:
            return
        async with self._taking:
            self._turn_of_day()
            if self._left.get(app_id, 0) <= 0 and app_id not in self._used_up:
                await self._take_block(app_id, self._cap)
            if self._left.get(app_id, 0) <= 0:
                raise AgentFailed(f"the app's {self._cap} tokens for {self._day} (UTC) are used up")

    def spend(self, app_id: str, tokens: int) -> None:
        """Count what a call took."""
        if self._cap is not None:
            self._turn_of_day()
            self._left[app_id] = self._left.get(app_id, 0) - tokens

    def exhausted(self) -> int:
        """How many apps have used up their day, as far as this process knows."""
        self._turn_of_day()
        return sum(self._left.get(app_id, 0) <= 0 for app_id in self._used_up)

    async def _take_block(self, app_id: str, cap: int) -> None:
        """Add a block to what this process may spend; calls that took more than there was are paid for first."""
        day, block = self._day, max(LEAST_BLOCK, cap // _BLOCKS_A_DAY)
        wanted = block - self._left.get(app_id, 0)
        taken = min(cap, wanted) if self._store is None else await _taken(self._store, app_id, day, cap, wanted, self._clock)
        if day != self._day:  # what was taken was yesterday's
            return
        self._left[app_id] = self._left.get(app_id, 0) + taken
        if taken < wanted or self._store is None:
            self._used_up.add(app_id)

    def _turn_of_day(self) -> None:
        today = self._clock.now().date().isoformat()
        if today != self._day:
            self._day, self._left, self._used_up = today, {}, set()


async def _taken(store: LongTermStore, app_id: str, day: str, cap: int, wanted: int, clock: Clock) -> int:
    """How many of the wanted tokens the day still had, now taken out of it for all processes. Raises Unavailable."""
    app = Owner(app_id, "#app")  # no user: the name of a user may have no #
    for attempt in range(_TRIES):
        stored = next(iter(await store.page(app, "marker", None, None, 1)), None)  # a snapshot reads nothing where there is no head
        before = 0 if stored is None or stored.body["day"] != day else int(stored.body["taken"])
        granted = min(wanted, cap - before)
        if granted <= 0:
            return 0
        # `taker` makes no two writes equal: the store takes a document that is there already for one's own.
        body = {"day": day, "taken": before + granted, "taker": os.urandom(8).hex()}
        document = Document(_DAY_ID, "marker", body, expires_at=clock.now() + _KEPT, tag=None if stored is None else stored.tag)
        if await store.keep(app, document) is not None:
            return granted
        await asyncio.sleep(_PAUSE_S * 2**attempt * random.uniform(0.5, 1.0))
    raise Unavailable("long_term", "other processes count the day's tokens faster than this one can")
