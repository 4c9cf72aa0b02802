"""Tells conversations to a host, and has the model answer and judge, question by question."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import httpx

from bench.answers.model import Model
from bench.answers.plan import Item
from bench.answers.state import State
from bench.knowledge.service import Service
from bench.locomo_data import Conversation
from bench.yardstick.contexts import packed
from bench.yardstick.peers import BM25, bm25
from bench.yardstick.told import calls_of, sessions
from bench.yardstick.turns import OURS
from bench.yardstick.ways import progress
from memory_core.domain.errors import AgentFailed, MemoryCoreError

A_CALL = "50"
"""Messages that are told in a call."""
AT_ONCE = 8
"""Questions under way; the calls of the model among them are bounded by LLM_CONCURRENCY."""


@dataclass(slots=True)
class Run:
    """What a run works with. failed: questions and ways to which the model gave no usable answer,
    with what was wrong.
    """

    service: Service
    model: Model
    state: State
    ways: Sequence[str]
    failed: dict[tuple[str, str], str] = field(default_factory=dict)

    async def ask(self, conversations: Sequence[Conversation], items: Sequence[Item]) -> None:
        """Answer and judge what is left. Raises Unavailable, HTTPError; what was paid for until
        then is kept.
        """
        for place, conversation in enumerate(conversations):
            mine = [item for item in items if item.conversation == place]
            left = [
                (item, way)
                for item in mine
                for way in self.ways
                if (item.key, way) not in self.state.verdicts
            ]
            if not left:
                continue
            user = await self._told(conversation)
            progress(
                f"conversation {place + 1} of {len(conversations)} ({conversation.name}): "
                f"{len(left)} answers to go"
            )
            await self._all(left, self._contexts(conversation, user))

    async def _told(self, conversation: Conversation) -> str:
        """The user who holds a conversation. One whose telling was stopped is not gone on with: a
        new one is told it from the start.
        """
        if conversation.name not in self.state.users:
            progress(f"telling {conversation.name}, {len(conversation.turns)} messages")
            user = f"answers-{conversation.name}-{uuid.uuid4().hex[:8]}"
            for session, turns in sessions(conversation.turns):
                for messages in calls_of(turns, A_CALL):
                    await asyncio.to_thread(self.service.tell, user, session, messages)
            self.state.tell(conversation.name, user)
        return self.state.users[conversation.name]

    def _contexts(self, conversation: Conversation, user: str) -> dict[str, Callable[[str], str]]:
        """By way, what makes the context for a question."""
        texts, scores = [turn.text for turn in conversation.turns], bm25(conversation.turns)
        lines = [
            f"[{turn.at[:10]}] {turn.actor}: {text}"
            for turn, text in zip(conversation.turns, texts, strict=True)
        ]
        return {
            OURS: lambda query: self.service.context(user, query),
            BM25: lambda query: packed(scores(query), lines),
        }

    async def _all(
        self, left: Sequence[tuple[Item, str]], contexts: dict[str, Callable[[str], str]]
    ) -> None:
        """Once one can't be asked, no further one is begun; those under way are paid for,
        and waited for.
        """
        free, broken = asyncio.Semaphore(AT_ONCE), asyncio.Event()

        async def one(item: Item, way: str) -> None:
            async with free:
                if broken.is_set():
                    return
                try:
                    await self._ask(item, way, contexts[way])
                except (MemoryCoreError, httpx.HTTPError):
                    broken.set()
                    raise

        done = await asyncio.gather(*(one(item, way) for item, way in left), return_exceptions=True)
        for error in filter(None, done):
            raise error

    async def _ask(self, item: Item, way: str, context: Callable[[str], str]) -> None:
        key, question = (item.key, way), item.question.text
        try:
            if key not in self.state.answers:
                evidence = await asyncio.to_thread(context, question)
                answered = await self.model.answer(question, evidence)
                self.state.answer(key, answered.value, answered.tokens)
            judged = await self.model.judge(question, item.reference, self.state.answers[key])
            self.state.judge(key, judged.value.right, judged.value.why, judged.tokens)
        except AgentFailed as error:
            self.failed[key] = error.detail
