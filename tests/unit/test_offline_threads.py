"""Rules over long texts run in threads, which stop when their result is not waited for any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import pytest

from memory_core.adapters.offline.agents import LONG, OfflineAgents
from memory_core.adapters.offline.behaviour import episode_analysis
from memory_core.adapters.offline.boundaries import boundaries
from memory_core.adapters.offline.facts import said_facts
from memory_core.adapters.offline.foresight import said_foresight
from memory_core.adapters.offline.patterns import found_patterns
from memory_core.adapters.offline.reconciliation import decided
from memory_core.adapters.offline.running_rules import RuleThread, RuleTurns, Stopped, checkpoint
from memory_core.adapters.offline.summary import candidates, retrieval_hints
from memory_core.domain.conversation import Message
from memory_core.ports import DecisionItem

WHEN = datetime(2025, 1, 1, tzinfo=timezone.utc)
PATIENCE_S = 60
MESSAGES = [Message(role="user", content="I live in Rome. I like tea.", timestamp=WHEN)]
ITEMS = [DecisionItem(number=0, text="User likes tea.", said_at=WHEN, category="fact")]


class Endless:
    """A rule that goes on until it is stopped."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.begun.set()
        try:
            while True:
                checkpoint()
        finally:
            self.ended.set()


async def until(event: threading.Event) -> bool:
    return await asyncio.to_thread(event.wait, PATIENCE_S)


async def test_a_rule_ends_when_the_task_that_waits_for_it_is_cancelled() -> None:
    rule, thread = Endless(), RuleThread()
    waiting = asyncio.create_task(thread.run(rule))
    assert await until(rule.begun)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await until(rule.ended)
    await thread.close()


async def test_a_rule_that_waits_for_a_thread_does_not_begin_when_it_is_cancelled() -> None:
    first, second, thread = Endless(), Endless(), RuleThread()
    running, waiting = (
        asyncio.create_task(thread.run(first)),
        asyncio.create_task(thread.run(second)),
    )
    assert await until(first.begun)
    for task in (waiting, running):
        task.cancel()
    await asyncio.gather(running, waiting, return_exceptions=True)
    await thread.close()
    assert first.ended.is_set()
    assert not second.begun.is_set()


async def test_a_rule_stops_for_its_own_task_only() -> None:
    stopped, thread = Endless(), RuleThread()
    waiting = asyncio.create_task(thread.run(stopped))
    assert await until(stopped.begun)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert await thread.run(said_facts, MESSAGES)
    await thread.close()


@pytest.mark.parametrize(
    "rule",
    [
        lambda: said_facts(MESSAGES),
        lambda: said_foresight(MESSAGES),
        lambda: candidates(MESSAGES),
        lambda: episode_analysis(MESSAGES),
        lambda: boundaries(MESSAGES, None, timedelta(hours=2)),
        lambda: retrieval_hints(["I like tea"], [], []),
        lambda: decided(ITEMS, ITEMS),
        lambda: found_patterns(ITEMS),
    ],
    ids=[
        "facts",
        "foresight",
        "candidates",
        "episode",
        "boundaries",
        "hints",
        "conflicts",
        "patterns",
    ],
)
def test_every_rule_looks_whether_it_is_to_stop(rule: Callable[[], object]) -> None:
    turns = RuleTurns()

    def stopped() -> object:
        turns.stop.set()
        return rule()

    assert RuleTurns().run(rule) is not None
    with pytest.raises(Stopped):
        turns.run(stopped)


async def test_a_shorter_text_does_not_wait_for_a_long_one() -> None:
    agents, first, second = OfflineAgents(), Endless(), Endless()
    long = [asyncio.create_task(agents._run(["a" * LONG], rule)) for rule in (first, second)]
    assert await until(first.begun)
    assert (
        await agents.extract_facts(
            "app", [Message(role="user", content="I live in Rome. " * 250, timestamp=WHEN)]
        )
    ).value.facts
    assert not second.begun.is_set()
    for task in long:
        task.cancel()
    await asyncio.gather(*long, return_exceptions=True)
    await agents.close()


async def test_agents_read_long_texts_beside_the_event_loop() -> None:
    """While a long conversation is read, the loop goes on: it would not turn once if the
    rules ran in it.
    """
    agents = OfflineAgents()
    long = [
        Message(role="user", content="I live in Rome. " * 250, timestamp=WHEN) for _ in range(20)
    ]
    reading = asyncio.create_task(agents.extract_facts("app", long))
    turns = 0
    while not reading.done():
        await asyncio.sleep(0)
        turns += 1
    assert (await reading).value.facts
    assert turns > 10
    await agents.close()
