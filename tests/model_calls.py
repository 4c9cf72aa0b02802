"""The calls of the agents with something to ask about, and agents over a wire whose pauses and
clock a test holds.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from memory_core.adapters.openai.agents import OpenAIAgents
from memory_core.adapters.openai.budget import Budget
from memory_core.adapters.openai.chat import Chat
from memory_core.adapters.openai.client import Retries, Service
from memory_core.domain.agent_schemas import Answered
from memory_core.domain.conversation import Message
from memory_core.domain.scope import Owner
from memory_core.ports import Agents, DecisionItem, SceneItem
from memory_core.telemetry import Telemetry
from tests.chat_server import ChatServer
from tests.memories import NOON, MovableClock

APP = Owner("shop", "ana")
MESSAGES = [
    Message(
        role="user", content="I moved to Lisbon, and I have a cold.", timestamp=NOON, actor="Ana"
    ),
    Message(role="assistant", content="Get well soon!", timestamp=NOON + timedelta(minutes=1)),
    Message(
        role="user",
        content="Shall we plan a dinner? Кофе, 日本語 🙂",
        timestamp=NOON + timedelta(minutes=2),
        actor="Ana",
    ),
]
ITEMS = [
    DecisionItem(0, "Ana lives in Lisbon", "fact", NOON, ("ana", "home city")),
    DecisionItem(1, "Ana sails", "fact", NOON),
]
SCENES = [
    SceneItem(
        0,
        "nature",
        ("Ana sailed", "Ana sailed again", "Ana mended a sail"),
        (("Ana asks why.",), (), ()),
        NOON,
    )
]
CALLS: dict[str, Callable[[Agents], Awaitable[Answered[Any]]]] = {
    "detect_boundary": lambda agents: agents.detect_boundary(
        APP, MESSAGES, "Ana spoke of her boat."
    ),
    "analyse_episode": lambda agents: agents.analyse_episode(APP, MESSAGES),
    "summarise": lambda agents: agents.summarise(APP, MESSAGES),
    "summarise_fast": lambda agents: agents.summarise(APP, MESSAGES, fast=True),
    "extract_facts": lambda agents: agents.extract_facts(APP, MESSAGES),
    "form_cell": lambda agents: agents.form(APP, MESSAGES, None, cut=False),
    "form_window": lambda agents: agents.form(APP, MESSAGES, "Ana spoke of her boat.", cut=True),
    "reflect": lambda agents: agents.reflect(APP, ITEMS, SCENES),
    "decide_conflicts": lambda agents: agents.decide_conflicts(APP, ITEMS, ITEMS),
    "synthesise": lambda agents: agents.synthesise(APP, ITEMS),
    "find_patterns": lambda agents: agents.find_patterns(APP, ITEMS),
    "update_profile": lambda agents: agents.update_profile(APP, SCENES),
    "rank_texts": lambda agents: agents.rank_texts(
        APP, "Where does Ana live?", ["Ana sails", "Ana lives in Lisbon"]
    ),  # type: ignore[attr-defined]
    "judge_sufficiency": lambda agents: agents.judge_sufficiency(
        APP, "Where does Ana live?", ["Where does Ana live?"], ITEMS
    ),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())


PATIENCE_S = 100.0
"""A call's deadline runs on the real clock even where pauses are held. Of 5 s a busy machine left
no room for a pause of 3.
"""


class Pauses:
    """Stands in for sleep: remembers how long it was asked to wait, and does not."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)


class Made:
    """Agents, and what they were made with."""

    def __init__(self, server: ChatServer) -> None:
        self.server = server
        self.pauses, self.clock, self.telemetry = Pauses(), MovableClock(), Telemetry()
        self._closing: list[OpenAIAgents] = []

    def agents(
        self,
        *,
        service: Service | None = None,
        timeout_s: float = PATIENCE_S,
        cap: int | None = None,
        **given: Any,
    ) -> OpenAIAgents:
        service = service or Service(base_url=f"{self.server.root}/v1", api_key="secret-key")
        retries = given.pop("retries", Retries(tries=3, deadline_s=timeout_s, sleep=self.pauses))
        budget = Budget(cap, self.clock, given.pop("store", None))
        chat = Chat(service, "gpt-x", self.clock, timeout_s=timeout_s, retries=retries, **given)
        made = OpenAIAgents(chat, budget, self.clock, self.telemetry)
        self._closing.append(made)
        return made

    def counted(self, line: str) -> bool:
        return line in self.telemetry.text({}, {}).decode()

    async def close(self) -> None:
        for agents in self._closing:
            await agents.close()
