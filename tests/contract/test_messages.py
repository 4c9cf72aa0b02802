"""What was said is found from the answer on: each message is a memory of its own,
whether or not anything is formed of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from memory_core.adapters.redis.local import NullShortTermStore
from memory_core.domain.errors import NotFound
from memory_core.domain.memory import Vector
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.vectors import DIMENSIONS, TokenStates, encoded
from memory_core.domain.requests.maintenance import AgentMemoryInput, ConsolidateInput
from memory_core.domain.requests.memories import ClearInput, ContextInput, RetrieveInput
from memory_core.domain.results import Accepted, Call
from memory_core.recollection.passages import MOST_PASSAGES
from tests.agents import NEW_TOPIC, ScriptedAgents
from tests.batches import gather
from tests.builders import ALICE, NOW
from tests.cosmos_server import Steered
from tests.messages import (
    MINUTE,
    best_words,
    lines,
    lost,
    messages,
    rare_words,
    results,
    say,
    shown,
)
from tests.tasks import Hand, ended, finished, pending, stored, task_of, told
from tests.telling import Tellers
from tests.world import BOB, WordsEmbedder, World, fact, listed, turn

STATES = encoded(np.ones((1, DIMENSIONS), dtype=np.float32))


class Slow(WordsEmbedder):
    """Makes no vectors of what is told until the gate is open; a query's it makes at once."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.begun = asyncio.Event()
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked += texts
        self.begun.set()
        await self.gate.wait()
        await asyncio.sleep(0)
        return await super().embed(texts)

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        return await super().embed(texts)

    async def token_states(self, texts: Sequence[str]) -> list[TokenStates | None]:
        return [TokenStates(STATES, np.ones(1, dtype=np.float32)) for _ in texts]


@pytest.mark.parametrize(
    "short_term", [None, NullShortTermStore()], ids=["short term", "no short term"]
)
async def test_every_message_is_found_by_its_own_words_before_anything_is_formed(
    world: World, short_term: Any
) -> None:
    core = await world.core(embedder=WordsEmbedder(), short_term=short_term)
    (accepted,) = await say(core, lines(20))
    assert accepted.degraded == ()
    assert await lost(core, 20) == []
    assert await told(core) == [], "nothing is formed"
    assert await pending(world) == 1
    await finished(world, core, accepted)
    assert await told(core) != []
    assert await lost(core, 20) == [], (
        "forming changes what leads to a message, never whether it is found"
    )


async def test_another_process_finds_it_at_once_and_nobody_else_does(world: World) -> None:
    core, other = (
        await world.core(embedder=WordsEmbedder()),
        await world.core(embedder=WordsEmbedder()),
    )
    assert await results(other, rare_words(3)) == (), "who asked before knows it all the same"
    await say(core, lines(5))
    assert await lost(other, 5) == []
    assert await results(other, rare_words(3), BOB) == ()


async def test_a_message_says_who_said_it_when_and_where(world: World) -> None:
    core = await world.core()
    (accepted,) = await say(core, ["I live in Lisbon", "It is warm here"])
    first, second = await messages(core)
    conversation = (await task_of(core, accepted)).subject_id
    for number, memory in enumerate((first, second)):
        assert is_message(memory.id)
        assert (memory.type, memory.category, memory.source, memory.actor) == (
            "episodic",
            "message",
            "conversation",
            "user",
        )
        assert (memory.session_id, memory.conversation_id, memory.event_timestamp) == (
            "s1",
            conversation,
            NOW + number * MINUTE,
        )
        assert memory.metadata == {"role": "user", "message": number}
        assert (await core.get(ALICE, memory.id)).content == memory.content
    with pytest.raises(NotFound):
        await core.get(BOB, first.id)
    assert (await core.session(ALICE, "s1")).counts == {"messages": 2}


async def test_an_embedder_that_is_down_delays_the_vectors_and_nothing_else(world: World) -> None:
    embedder = WordsEmbedder()
    core = await world.core(embedder=embedder)
    embedder.down = True
    (accepted,) = await say(core, lines(20))
    assert accepted.degraded == ()
    assert await lost(core, 20) == [], "by words"
    await Hand(core).work_all()
    assert (await task_of(core, accepted)).waiting_for == "embedder"
    assert [
        (await core.get(ALICE, message.id)).embedding for message in (await messages(core))[:3]
    ] == [None] * 3
    embedder.down = False
    await finished(world, core, accepted)
    after = [await core.get(ALICE, message.id) for message in await messages(core)]
    assert [memory.embedding_model for memory in after if memory.embedding is not None] == [
        "words"
    ] * 20
    assert await lost(core, 20) == []


async def test_an_embedder_that_is_slow_is_not_waited_for(world: World) -> None:
    embedder = Slow()
    core = await world.core(embedder=embedder)
    (accepted,) = await say(core, lines(50))
    assert accepted.degraded == ()
    assert await lost(core, 50) == []
    embedder.gate.set()
    await finished(world, core, accepted)
    after = [await core.get(ALICE, message.id) for message in await messages(core)]
    assert [memory.embedding is None for memory in after] == [False] * 50
    assert [memory.lexical.states for memory in after] == [STATES] * 50, (
        "of what is embedded later as of what is embedded at once"
    )


async def test_an_answer_that_waited_in_vain_for_vectors_waits_for_no_more(world: World) -> None:
    embedder = Slow()
    core = await world.core(embedder=embedder)
    await say(core, lines(100))
    assert [content for content in lines(100) if any(map(_tells(content), embedder.asked))] == (
        lines(len(embedder.asked))
    ), "of the first commit alone"
    embedder.gate.set()


async def test_conversations_of_one_user_are_embedded_one_after_the_other(world: World) -> None:
    embedder = Slow()
    core = await world.core(embedder=embedder)
    first, second = lines(100), lines(100, first=200)
    await say(core, first)
    await say(core, second, session="s2")
    asked_at_the_door = len(embedder.asked)
    embedder.begun.clear()
    hand = Hand(core)
    earlier, later = [hand.work(delivery) for delivery in await hand.take()]
    forming = asyncio.create_task(earlier)
    await embedder.begun.wait()
    embedder.gate.set()
    await asyncio.gather(forming, later)
    asked = embedder.asked[asked_at_the_door:]
    places = [
        [
            place
            for place, text in enumerate(asked)
            if any(_tells(content)(text) for content in contents)
        ]
        for contents in (first[20:90], second[20:90])
    ]
    assert [len(each) for each in places] == [70, 70]
    assert max(places[0]) < min(places[1])


def _tells(content: str) -> Callable[[str], bool]:
    """Whether a text that is embedded is the message of this content."""
    return lambda text: text.endswith(f": {content}")


async def test_it_is_found_behind_many_tasks_that_wait(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder())
    await say(core, lines(30, first=100), of=1, session=None)
    await say(core, lines(5), session="s2")
    assert await pending(world) == 31
    assert await lost(core, 5) == []
    assert await best_words(core, rare_words(117)) == lines(1, first=117)[0]


@pytest.mark.parametrize("session", ["s1", None], ids=["session", "no session"])
async def test_however_it_is_cut_the_same_is_said_in_the_same_order_and_found(
    world: World, session: str | None
) -> None:
    core = await world.core(embedder=WordsEmbedder())
    alike, others = [], []
    for of in (1, 2, 10, 50):
        owner = type(ALICE)("app", f"in calls of {of}")
        await say(core, lines(24), of=of, owner=owner, session=session)
        alike.append(
            [
                (message.content, message.actor, message.event_timestamp, message.session_id)
                for message in await messages(core, owner)
            ]
        )
        hits = [await results(core, rare_words(number), owner) for number in (0, 7, 23)]
        others.append(
            [[(hit.memory.content, hit.relevance_score) for hit in group] for group in hits]
        )
    assert [content for content, *_ in alike[0]] == lines(24)
    assert alike[1:] == [alike[0]] * 3
    if session is not None:  # without one, what was said just before is not known to belong to it
        assert others[1:] == [others[0]] * 3
    for of in (1, 2, 10, 50):
        assert await lost(core, 24, type(ALICE)("app", f"in calls of {of}")) == []


@pytest.mark.parametrize("of", [1, 2, 10, 50])
async def test_however_it_is_cut_every_message_is_found_once_it_is_formed(
    world: World, of: int
) -> None:
    core = await world.core(embedder=WordsEmbedder())
    await say(core, lines(12), of=of)
    await Hand(core).work_all()
    assert await pending(world) == 0
    assert await lost(core, 12) == []
    assert [message.content for message in await messages(core)] == lines(12)


async def test_more_messages_than_a_commit_holds_are_all_there_with_the_answer(
    world: World,
) -> None:
    core = await world.core(embedder=WordsEmbedder(), agents=Tellers(notes=False))
    (accepted,) = await say(core, lines(200))
    assert accepted.degraded == ()
    assert [message.content for message in await messages(core)] == lines(200)
    for number in (0, 44, 45, 46, 119, 199):
        assert await best_words(core, rare_words(number)) == lines(1, first=number)[0]
    conversation = await stored(world, (await task_of(core, accepted)).subject_id)
    assert conversation.written == 200
    await finished(world, core, accepted)
    assert [message.content for message in await messages(core)] == lines(200)
    cells = {memory.id for memory in await told(core) if memory.category == "cell"}
    assert {message.cell_id for message in await messages(core)} == cells


async def test_long_messages_that_fill_a_call_are_all_there(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder(), agents=Tellers(notes=False))
    long = [
        f"{rare_words(number)} {'something else was said here ' * 1000}" for number in range(33)
    ]
    assert 900_000 < sum(map(len, long)) < 2**20
    (accepted,) = await say(core, long)
    assert accepted.degraded == ()
    assert [message.content for message in await messages(core)] == long
    for number in (0, 16, 32):
        hits = await results(core, rare_words(number), similarity_threshold=0.0)
        assert shown(hits[0])[0].startswith(rare_words(number))
    await finished(world, core, accepted)
    assert len(await messages(core)) == 33


async def test_two_conversations_told_at_once_into_a_session_are_both_there(world: World) -> None:
    cores = [await world.core(embedder=WordsEmbedder()) for _ in range(2)]
    contents = [lines(60), lines(60, first=100)]
    await asyncio.gather(
        *(say(core, part, of=20) for core, part in zip(cores, contents, strict=True))
    )
    formed_contents = [message.content for message in await messages(cores[0])]
    assert sorted(formed_contents) == sorted(contents[0] + contents[1])
    for part in contents:
        assert [content for content in formed_contents if content in set(part)] == part, (
            "each in its order"
        )
    assert (await cores[1].session(ALICE, "s1")).counts == {"messages": 120}


async def test_the_same_call_twice_says_nothing_twice(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder())
    call = Call(idempotency_key="k1")
    first = await say(core, lines(60), call=call)
    again = await say(core, lines(60), call=call)
    assert [answer.task_id for answer in first] == [answer.task_id for answer in again]
    assert [message.content for message in await messages(core)] == lines(60)
    assert await pending(world) == 1


async def test_twenty_equal_calls_at_once_with_one_key_say_it_once(world: World) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    call = Call(idempotency_key="k1")
    answers = await asyncio.gather(
        *(say(cores[number % 2], lines(50), call=call) for number in range(10))
    )
    assert len({answer.task_id for (answer,) in answers}) == 1
    assert sorted(message.content for message in await messages(cores[0])) == sorted(lines(50))


async def test_no_message_comes_back_into_a_session_that_was_cleared(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder())
    (accepted,) = await say(core, lines(60))
    assert await core.clear(ALICE, ClearInput(session_id="s1")) == 60
    assert await results(core, rare_words(3)) == ()
    await finished(world, core, accepted)
    assert await results(core, rare_words(3)) == ()
    assert await listed(core) == []
    assert {message.status for message in await messages(core)} == {"deleted"}


@pytest.mark.parametrize("is_embedded", [True, False], ids=["with vectors", "before its vector"])
async def test_a_message_that_is_deleted_before_it_is_formed_stays_deleted(
    world: World, is_embedded: bool
) -> None:
    embedder = WordsEmbedder()
    core = await world.core(embedder=embedder)
    embedder.down = not is_embedded
    (accepted,) = await say(core, lines(6))
    await core.delete(ALICE, (await messages(core))[3].id)
    embedder.down = False
    assert rare_words(3) not in str([shown(hit) for hit in await results(core, rare_words(3))])
    await finished(world, core, accepted)
    after = await messages(core)
    assert [memory.status.value for memory in after] == ["active"] * 3 + ["deleted"] + [
        "active"
    ] * 2
    assert rare_words(3) not in str([shown(hit) for hit in await results(core, rare_words(3))])
    assert await best_words(core, rare_words(4)) == lines(5)[4]


async def test_a_message_that_is_deleted_after_it_was_formed_is_no_passage(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder())
    (accepted,) = await say(core, lines(6))
    await finished(world, core, accepted)
    await core.delete(ALICE, (await messages(core))[3].id)
    assert rare_words(3) not in str([shown(hit) for hit in await results(core, rare_words(3))])


async def test_gathered_messages_are_found_once_they_are_handed_over(world: World) -> None:
    core = await world.core(
        embedder=WordsEmbedder(), batch_messages=6, agents=ScriptedAgents(down=True)
    )
    assert (await gather(core, *lines(3))).task_id is None
    full = await gather(core, *lines(3, first=3))
    assert (full.degraded, full.task_id is None) == ((), False)
    assert await lost(core, 6) == []
    await gather(core, *lines(2, first=6))
    flushed = await core.batch_flush(ALICE, "s1")
    assert flushed is not None
    assert await lost(core, 8) == []
    assert [message.content for message in await messages(core)] == lines(8)
    assert await told(core) == []


async def test_gathered_messages_are_found_once_nothing_more_comes(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder(), agents=ScriptedAgents(down=True))
    await gather(core, *lines(3))
    world.clock.forward(61)
    await Hand(core).work_all()
    assert await lost(core, 3) == []
    assert await told(core) == []


async def test_an_agents_own_words_are_found_before_they_are_summed_up(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder())
    item = AgentMemoryInput.model_validate(
        {"messages": lines(1)[0], "agent_id": "planner", "session_id": "s1"}
    )
    accepted = await core.agent_memory(ALICE, item)
    assert await best_words(core, rare_words(0)) == lines(1)[0]
    (message,) = await messages(core)
    assert (message.agent_id, message.metadata) == ("planner", {"role": "assistant", "message": 0})
    await finished(world, core, accepted)
    assert await best_words(core, rare_words(0)) == lines(1)[0]


async def test_a_cell_shows_what_was_said_best_first_and_three_at_most(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder())
    sent = [
        "The ferry to Oslo was late",
        "The ferry to Oslo",
        "The ferry",
        "The ferry to Oslo was late again",
        "It rained",
        "Soup",
    ]
    (accepted,) = await say(core, sent)
    await finished(world, core, accepted)
    (hit,) = [hit for hit in await results(core, "ferry to Oslo") if hit.memory.category == "cell"]
    scores = [passage.relevance_score for passage in hit.passages]
    assert len(hit.passages) == MOST_PASSAGES == 3
    assert scores == sorted(scores, reverse=True)
    assert {passage.text for passage in hit.passages} < set(sent[:4])
    by_id = {message.id: message for message in await messages(core)}
    for passage in hit.passages:
        source = by_id[passage.message]
        assert (passage.text, passage.actor, passage.at) == (
            source.content,
            source.actor,
            source.event_timestamp,
        )
    assert set(hit.memory.source_ids) == by_id.keys()
    assert not any(is_message(other) for other in hit.also)


async def test_a_list_shows_messages_until_their_cell_is_there(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder())
    (accepted,) = await say(
        core, ["I live in Lisbon", "It is warm here", f"{NEW_TOPIC} soup", "And bread"]
    )
    assert {memory.category for memory in await listed(core)} == {"message"}
    assert len(await listed(core)) == 4
    await finished(world, core, accepted)
    after = await listed(core)
    assert {memory.category for memory in after} == {"cell", "fact"}
    cells = {memory.id: memory for memory in after if memory.category == "cell"}
    memories = await messages(core)
    assert [memory.content for memory in memories] == [
        "I live in Lisbon",
        "It is warm here",
        f"{NEW_TOPIC} soup",
        "And bread",
    ]
    for memory in memories:
        assert memory.cell_id is not None
        assert memory.id in cells[memory.cell_id].source_ids
        assert (await core.get(ALICE, memory.id)).content == memory.content
    assert (await core.session(ALICE, "s1")).counts == {"messages": 4, "episodic": 2, "semantic": 1}


async def test_messages_of_a_cell_that_is_deleted_stand_for_themselves_or_are_gone_but_are_never_found_through_it(  # noqa: E501
    world: World,
) -> None:
    core = await world.core(embedder=WordsEmbedder())
    (accepted,) = await say(core, lines(4))
    await finished(world, core, accepted)
    (cell,) = [memory for memory in await told(core) if memory.category == "cell"]
    await core.delete(ALICE, cell.id)
    for hit in await results(core, rare_words(2)):
        assert hit.memory.id != cell.id


async def test_a_context_quotes_messages_before_and_after_their_cell_is_there(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder())

    async def ids() -> set[str]:
        asked = ContextInput(query="where do I live", session_id="s1")
        context_ids = {
            name for part in (await core.context(ALICE, asked)).parts for name in part.ids
        }
        answer = await core.retrieve(
            ALICE, RetrieveInput(query="I live in Lisbon", mode="reconstruct")
        )
        return context_ids | {*answer.citations}

    (accepted,) = await say(core, ["I live in Lisbon", "It is warm here"])
    turn_ids = {message.id for message in await messages(core)}
    assert await ids() == turn_ids
    await finished(world, core, accepted)
    assert await ids() & turn_ids


async def test_a_working_set_holds_no_messages(world: World) -> None:
    """What a working set holds of a message would not know the cell that the message is
    formed into.
    """
    core = await world.core(embedder=WordsEmbedder())
    await core.save(ALICE, turn("The boat is blue"))
    (accepted,) = await say(core, lines(3))
    for _ in range(3):
        hits = await results(core, f"boat blue {rare_words(1)}", session_id="s1")
        assert not any(is_message(hit.memory.id) and hit.tier == "short" for hit in hits)
        await finished(world, core, accepted)
    assert [shown(hit)[:1] for hit in await results(core, rare_words(1), session_id="s1")] == [
        lines(2)[1:]
    ]


async def test_messages_are_no_neighbours_no_conflicts_and_no_news(world: World) -> None:
    """What is near a message is compared with nothing: neither a save, nor a cell,
    nor a run looks at it.
    """
    core = await world.core(embedder=WordsEmbedder(), link_threshold=0.1, duplicate_threshold=0.5)
    (accepted,) = await say(core, ["Ana lives in Oslo", "Ana lives in Oslo", "Ana lives in Bergen"])
    saved = await core.save(ALICE, fact("Ana lives in Oslo"))
    assert (saved.outcome, saved.conflict) == ("created", None)
    head = await world.head()
    assert head is not None
    assert head.fresh_count == 1, "only what was saved"
    await finished(world, core, accepted)
    run = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(run, Accepted)
    assert (await ended(world, core, run.task_id)).status == "succeeded"
    assert not any(
        is_message(name) for scene in (await core.scenes(ALICE)).scenes for name in scene.cell_ids
    )
    assert not any(is_message(fact.memory_id) for fact in (await core.profile(ALICE)).explicit)
    after = await messages(core)
    assert [
        (memory.content, memory.status.value, memory.reinforcement_count) for memory in after
    ] == [
        ("Ana lives in Oslo", "active", 0), ("Ana lives in Oslo", "active", 0),
        ("Ana lives in Bergen", "active", 0),
    ]  # fmt: skip
    assert not any(memory.scene_id or memory.next_id or memory.links for memory in after)


@pytest.mark.parametrize("adapter", ["cosmos"], indirect=True)
async def test_on_a_store_that_fails_at_every_fifth_request_all_is_said_once(
    world: World, server: Steered
) -> None:
    core = await world.core(embedder=WordsEmbedder())
    server.storm()
    try:
        (accepted,) = await say(core, lines(60))
    finally:
        server.heal()
    await finished(world, core, accepted)
    assert [message.content for message in await messages(core)] == lines(60)
    assert await lost(core, 10) == []
