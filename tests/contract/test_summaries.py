"""Summaries: given at once, or by a task whose result is told to a callback address;
nothing of them is remembered.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import Answered, ConversationSummary, Provenance
from memory_core.domain.errors import AgentFailed, Conflict, Invalid, Unavailable
from memory_core.domain.requests.maintenance import SummaryInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.formation import summaries
from tests.agents import ScriptedAgents
from tests.builders import ALICE
from tests.couriers import ScriptedCourier
from tests.tasks import Hand, finished, pending, task_of
from tests.world import World, listed

URL = "https://hooks.example/summary"
SAID = ["I have moved to Lisbon", "The flat is in Alfama"]
TOLD = " ".join(SAID)


def asked(mode: str = "fast", messages: Any = SAID, **fields: Any) -> SummaryInput:
    return SummaryInput.model_validate({"messages": messages, "mode": mode, **fields})


async def later(
    core: MemoryCore,
    mode: str = "fast",
    call: Call = Call(),  # noqa: B008
    **fields: Any,
) -> Accepted:
    return await core.summary_later(ALICE, asked(mode, callback_url=URL, **fields), call)


class Model(ScriptedAgents):
    """A model, which says what it was asked for."""

    model = "a model"
    error: Exception | None = None

    async def summarise(
        self, app_id: str, messages: Any, *, fast: bool = False
    ) -> Answered[ConversationSummary]:
        await self._asked("fast summary" if fast else "summary")
        if self.error is not None:
            raise self.error
        return replace(
            await super().summarise(app_id, messages, fast=fast), provenance=Provenance(self.model)
        )


class Brief(ScriptedAgents):
    """Agents whose stories stay short."""

    async def summarise(
        self, app_id: str, messages: Any, *, fast: bool = False
    ) -> Answered[ConversationSummary]:
        return await super().summarise(
            app_id,
            [
                message.model_copy(update={"content": message.content[:50]})
                for message in messages[:2]
            ],
            fast=fast,
        )


async def test_a_summary_takes_the_tokens_of_the_user_whom_it_names(world: World) -> None:
    payers: list[Any] = []

    class Paid(Model):
        async def summarise(
            self, owner: Any, messages: Any, *, fast: bool = False
        ) -> Answered[ConversationSummary]:
            payers.append(owner)
            return await super().summarise(owner, messages, fast=fast)

    core = await world.core(agents=Paid())
    await core.summary("app", asked(), user_id="alice")
    await core.summary("app", asked())
    assert payers == [ALICE, Owner("app", "")]


async def test_a_fast_summary_is_a_text_and_a_full_one_tells_more(world: World) -> None:
    core = await world.core(agents=Model())
    assert (await core.summary("app", asked())).public() == {"summary": TOLD, "degraded": []}
    full = (await core.summary("app", asked("full"))).public()
    assert full["summary"] == TOLD
    assert full["structured"].keys() == {"context", "narrative", "retrieval", "metadata"}
    assert await world.head() is None
    assert await listed(core) == []


async def test_a_text_of_its_own_is_summed_up_too(world: World) -> None:
    core = await world.core()
    assert (await core.summary("app", asked(messages="A long story"))).text == "A long story"


@pytest.mark.parametrize("mode", ["fast", "full"])
async def test_where_a_model_answers_garbage_rules_answer_and_the_answer_says_so(
    world: World, mode: str
) -> None:
    model = Model()
    core = await world.core(agents=model)
    model.error = AgentFailed("garbage")
    summary = await core.summary("app", asked(mode))
    assert (summary.text, summary.degraded) == (TOLD, ("agents",))


async def test_a_full_summary_needs_the_model_and_a_fast_one_does_not_wait_for_it(
    world: World,
) -> None:
    model = Model()
    core = await world.core(agents=model)
    model.error = Unavailable("agents", "do not answer")
    with pytest.raises(Unavailable):
        await core.summary("app", asked("full"))
    assert (await core.summary("app", asked("fast"))).degraded == ("agents",)


async def test_whoever_wants_it_fast_gets_it_in_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model()
    core = await world.core(agents=model)
    monkeypatch.setattr(summaries, "FAST_WITHIN_S", 0.05)

    async def never(name: str) -> None:
        await asyncio.Event().wait()

    model.before = never
    summary = await core.summary("app", asked("fast"))
    assert (summary.text, summary.degraded) == (TOLD, ("agents",))


@pytest.mark.parametrize("mode", ["fast", "full"])
async def test_with_a_callback_address_a_task_sums_up_and_tells_it(world: World, mode: str) -> None:
    model, courier = Model(), ScriptedCourier()
    core = await world.core(agents=model, courier=courier)
    accepted = await later(core, mode)
    assert (await task_of(core, accepted)).kind == "summary"
    assert await pending(world) == 1
    task = await finished(world, core, accepted)
    assert (task.status, task.progress, task.step) == ("succeeded", 1.0, None)
    await Hand(core, "webhooks").work_all()
    (brought,) = courier.brought
    assert brought.url == URL
    assert brought.task["result"]["summary"] == TOLD
    assert ("structured" in brought.task["result"]) == (mode == "full")
    assert await pending(world) == 0
    assert await listed(core) == []
    assert await world.log() == []


async def test_the_model_is_paid_once_and_waited_for(world: World) -> None:
    model = Model(down=True)
    core = await world.core(agents=model, courier=ScriptedCourier())
    accepted = await later(core)
    (delivery,) = await Hand(core).take()
    await Hand(core).work(delivery)
    task = await task_of(core, accepted)
    assert (task.status, task.attempts, task.waiting_for) == ("accepted", 0, "agents")
    model.down = False
    await finished(world, core, accepted)
    await core.work(delivery.body)
    assert model.calls["fast summary"] == 1


async def test_a_summary_that_rules_had_to_give_says_so_to_its_receiver(world: World) -> None:
    model, courier = Model(), ScriptedCourier()
    core = await world.core(agents=model, courier=courier)
    model.error = AgentFailed("garbage")
    await finished(world, core, await later(core))
    await Hand(core, "webhooks").work_all()
    assert courier.brought[0].task["result"]["degraded"] == ["agents"]


async def test_the_same_call_with_the_same_key_is_one_task(world: World) -> None:
    core = await world.core(courier=ScriptedCourier())
    first, second = [await later(core, call=Call(idempotency_key="k1")) for _ in range(2)]
    assert first.task_id == second.task_id
    with pytest.raises(Conflict):
        await later(core, "full", call=Call(idempotency_key="k1"))
    assert await pending(world) == 1


async def test_a_callback_address_of_ours_is_refused(world: World) -> None:
    core = await world.core(courier=ScriptedCourier())
    with pytest.raises(Invalid, match="callback_url"):
        await core.summary_later(ALICE, asked(callback_url="http://127.0.0.1/hook"))


async def test_what_was_summed_up_is_kept_for_a_month_at_most(world: World) -> None:
    core = await world.core(courier=ScriptedCourier(), agents=ScriptedAgents(broken=True))
    accepted = await later(core)
    await finished(world, core, accepted)
    name = (await task_of(core, accepted)).subject_id
    store = await world.look_on()
    assert (await store.snapshot(ALICE, [name])).documents
    world.clock.forward(timedelta(days=31).total_seconds())
    assert not (await store.snapshot(ALICE, [name])).documents
    await core.retry(ALICE, accepted.task_id)
    task = await finished(world, core, accepted)
    assert (task.status, task.error) == (
        "poisoned",
        "the messages are gone; they are kept for 30 days",
    )


async def test_summaries_by_rule_beyond_what_can_be_read_soon_are_refused_and_can_be_tried_again(
    world: World,
) -> None:
    """A caller would wait for minutes, give up and ask again: it is told when to come back instead.
    Short ones are still answered.
    """
    waiting, go_on = asyncio.Event(), asyncio.Event()

    async def wait(name: str) -> None:
        waiting.set()
        await go_on.wait()

    rules = Brief(before=wait)
    core = await world.core(agents=rules, rules=rules)
    many = summaries.MAX_READ // 30_000
    long, half = (
        asked(messages=["a" * 30_000] * many),
        asked(messages=["a" * 30_000] * (many // 2 + 1)),
    )
    first = asyncio.create_task(core.summary("app", long))
    await waiting.wait()
    with pytest.raises(Unavailable) as refused:
        await core.summary("app", half)
    assert refused.value.retry_after_s
    short = asyncio.create_task(core.summary("app", asked()))
    go_on.set()
    assert (await short).text == TOLD
    await first
    assert (await core.summary("app", half)).text


async def test_a_task_waits_for_rules_that_have_much_to_read(world: World) -> None:
    """What no caller waits for is never refused: it takes its turn."""
    waiting, go_on = asyncio.Event(), asyncio.Event()

    async def wait(name: str) -> None:
        waiting.set()
        await go_on.wait()

    rules = Brief(before=wait)
    core = await world.core(agents=rules, rules=rules)
    long = asked(messages=["a" * 30_000] * (summaries.MAX_READ // 30_000))
    first = asyncio.create_task(core.summary("app", long))
    await waiting.wait()
    accepted = await later(core, messages=["a" * 30_000])
    working = asyncio.create_task(Hand(core).work_all())
    go_on.set()
    await working
    await first
    assert (await task_of(core, accepted)).status == "succeeded"
