"""What was told last in a session is taken back, with all that came of it alone:
the facts that it replaced are active again.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, NotFound
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.maintenance import (
    AgentMemoryInput,
    BatchInput,
    ConflictsInput,
    ConsolidateInput,
)
from memory_core.domain.requests.memories import (
    ContextInput,
    ConverseInput,
    ListInput,
    RetrieveInput,
    UpdateInput,
)
from memory_core.domain.results import Call, TakenBack, Told
from memory_core.domain.scope import Owner
from tests.agents import NEW_TOPIC, ScriptedAgents
from tests.builders import ALICE, NOW
from tests.said_and_formed import messages
from tests.tasks import Hand
from tests.telling import Tellers, facts_of, formed, on_all, talk, tell
from tests.world import DiesAfter, Killed, World, find, listed

ANSWER = ("assistant", "Noted, how is the weather there")
LISBON, OSLO = "Ana's city is Lisbon", "Ana's city is Oslo"


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(agents=Tellers(notes=True))


def texts(taken: TakenBack) -> list[str]:
    return [message.content for message in taken.messages]


async def read_back(core: MemoryCore, session: str = "s1") -> list[str]:
    return [
        message.content
        for message in (await core.session_messages(ALICE, session, limit=100)).messages
    ]


async def cities(core: MemoryCore) -> dict[str, str]:
    """The facts by their text and what became of them."""
    return {text: memory.status.value for text, memory in (await facts_of(core)).items()}


async def holding(core: MemoryCore) -> set[str]:
    """The facts that hold."""
    return {memory.content for memory in await left(core) if memory.category == "fact"}


async def left(core: MemoryCore) -> list[Memory]:
    """What is shown of this user."""
    return [memory for memory in await listed(core) if memory.status is Status.ACTIVE]


async def moved(world: World, core: MemoryCore) -> None:
    """Ana lives in Lisbon, then moves to Oslo, both told and formed."""
    await tell(core, LISBON, ANSWER)
    world.clock.moment += timedelta(days=1)
    await tell(core, OSLO, ANSWER, at=NOW + timedelta(days=1))
    world.clock.moment += timedelta(hours=1)


async def test_what_a_turn_replaced_holds_again_once_it_is_taken_back(
    core: MemoryCore, world: World
) -> None:
    await moved(world, core)
    assert await cities(core) == {LISBON: "superseded", OSLO: "active"}
    taken = await core.take_back(ALICE, "s1")
    assert texts(taken) == [OSLO, ANSWER[1]]
    assert taken.memories == 3, "the cell, its fact and its note"
    assert await cities(core) == {LISBON: "active", OSLO: "deleted"}
    (lisbon,) = [fact for fact in (await facts_of(core)).values() if fact.status is Status.ACTIVE]
    assert (lisbon.valid_until, lisbon.next_id, lisbon.conflict_state) == (None, None, "none")
    assert (await core.conflicts(ALICE, ConflictsInput(status="pending"))).conflicts == ()
    assert await read_back(core) == [LISBON, ANSWER[1]]
    (memory,) = (await core.list(ALICE, ListInput(category="cell"))).memories
    assert [fact.superseded_by for fact in memory.atomic_facts] == [None]


async def test_what_was_taken_back_is_found_nowhere(core: MemoryCore, world: World) -> None:
    await moved(world, core)
    await core.take_back(ALICE, "s1")
    for query in ("Oslo", "Ana's city", "which city is Ana's now"):
        hits = (
            await core.retrieve(ALICE, RetrieveInput(query=query, include_decayed=True))
        ).results
        contents = [hit.memory.content for hit in hits] + [
            passage.text for hit in hits for passage in hit.passages
        ]
        assert not [text for text in contents if "Oslo" in text]
        for session in (None, "s1", "s2"):
            assert (
                "Oslo"
                not in (
                    await core.context(ALICE, ContextInput(query=query, session_id=session))
                ).context
            )


async def test_what_waits_unformed_is_told_without_what_was_taken_back(
    core: MemoryCore, world: World
) -> None:
    accepted = await core.converse(ALICE, talk(LISBON, ANSWER, OSLO, ANSWER))
    world.clock.moment += timedelta(minutes=1)
    assert texts(await core.take_back(ALICE, "s1")) == [OSLO, ANSWER[1]]
    task = await formed(core, accepted)
    assert task.status == "succeeded"
    assert await cities(core) == {LISBON: "active"}
    assert await read_back(core) == [LISBON, ANSWER[1]]
    assert len(await messages(core)) == 3, "no message is written twice"
    head = await world.head()
    assert head is not None
    assert head.pending_tasks == 0


async def test_a_conversation_of_which_nothing_is_left_is_cancelled(
    core: MemoryCore, world: World
) -> None:
    accepted = await core.converse(ALICE, talk(OSLO, ANSWER))
    assert texts(await core.take_back(ALICE, "s1")) == [OSLO, ANSWER[1]]
    assert (await formed(core, accepted)).status == "cancelled"
    assert await left(core) == []
    head = await world.head()
    assert head is not None
    assert head.pending_tasks == 0


def batch(*contents: str) -> BatchInput:
    return BatchInput.model_validate(
        {
            "session_id": "s1",
            "messages": [{"role": "user", "content": content} for content in contents],
        }
    )


async def test_what_a_batch_has_gathered_is_taken_out_of_it(core: MemoryCore, world: World) -> None:
    await core.batch(ALICE, batch(LISBON))
    world.clock.moment += timedelta(seconds=1)
    await core.batch(ALICE, batch(OSLO))
    world.clock.moment += timedelta(seconds=1)
    assert texts(await core.take_back(ALICE, "s1")) == [OSLO]
    assert (await core.batch_state(ALICE, "s1")).buffered == 1
    await core.batch(ALICE, batch("Ana's job is baker"))
    world.clock.moment += timedelta(seconds=1)
    assert await read_back(core) == [LISBON, "Ana's job is baker"]
    await core.batch_flush(ALICE, "s1")
    await Hand(core).work_all()
    assert await cities(core) == {LISBON: "active", "Ana's job is baker": "active"}
    assert await read_back(core) == [LISBON, "Ana's job is baker"]


async def test_a_batch_that_is_empty_then_has_nothing_to_form(
    core: MemoryCore, world: World
) -> None:
    await core.batch(ALICE, batch(OSLO))
    assert texts(await core.take_back(ALICE, "s1")) == [OSLO]
    assert (await core.batch_state(ALICE, "s1")).buffered == 0
    assert await core.batch_flush(ALICE, "s1") is None
    world.clock.moment += timedelta(hours=1)
    await Hand(core).work_all()
    assert await left(core) == []
    head = await world.head()
    assert head is not None
    assert head.pending_tasks == 0
    world.clock.moment += timedelta(seconds=1)
    await core.batch(ALICE, batch(LISBON))
    assert await read_back(core) == [LISBON]


async def test_messages_are_popped_one_by_one_until_none_is_left(
    core: MemoryCore, world: World
) -> None:
    await moved(world, core)
    popped = []
    while taken := (await core.take_back(ALICE, "s1", 1)).messages:
        popped += [message.content for message in taken]
        world.clock.moment += timedelta(minutes=1)
        await Hand(core).work_all()
    assert popped == [ANSWER[1], OSLO, ANSWER[1], LISBON]
    assert await left(core) == []
    assert await core.take_back(ALICE, "s1") == TakenBack((), 0)


async def test_what_is_left_of_a_cell_is_formed_anew(core: MemoryCore, world: World) -> None:
    await tell(core, LISBON, "Ana's job is baker", "Ana's dog is Rex")
    world.clock.moment += timedelta(hours=1)
    taken = await core.take_back(ALICE, "s1", 1)
    assert texts(taken) == ["Ana's dog is Rex"]
    assert [memory.content for memory in await left(core)] == ["Ana's job is baker", LISBON], (
        "each by itself until it is formed"
    )
    await Hand(core).work_all()
    assert await holding(core) == {LISBON, "Ana's job is baker"}
    (cell,) = [memory for memory in await left(core) if memory.category == "cell"]
    turns = await messages(core)
    assert cell.source_ids == [turns[LISBON].id, turns["Ana's job is baker"].id]
    assert {turns[LISBON].cell_id, turns["Ana's job is baker"].cell_id} == {cell.id}
    assert await read_back(core) == [LISBON, "Ana's job is baker"]


def history(*contents: tuple[str, str], ids: bool = False) -> ConverseInput:
    sent = [
        {"role": role, "content": text, **({"id": f"m{place}"} if ids else {})}
        for place, (role, text) in enumerate(contents)
    ]
    return ConverseInput.model_validate({"session_id": "s1", "messages": sent})


SAID = [("user", LISBON), ANSWER, ("user", OSLO), ("assistant", "Cold up there")]


@pytest.mark.parametrize("ids", [False, True])
async def test_what_was_taken_back_is_new_when_it_is_told_again(
    core: MemoryCore, world: World, ids: bool
) -> None:
    await formed(core, await core.converse(ALICE, history(*SAID, ids=ids)))
    world.clock.moment += timedelta(minutes=1)
    await core.take_back(ALICE, "s1")
    await Hand(core).work_all()
    world.clock.moment += timedelta(minutes=1)
    accepted = await core.converse(ALICE, history(*SAID, ids=ids))
    assert accepted.messages == Told(new=2, known=2)
    await Hand(core).work_all()
    assert await read_back(core) == [text for _, text in SAID]
    assert await holding(core) == {OSLO}


async def test_a_turn_is_taken_back_on_day_four_hundred(core: MemoryCore, world: World) -> None:
    await tell(core, LISBON, ANSWER)
    world.clock.moment += timedelta(days=400)
    await tell(core, OSLO, ANSWER, at=NOW + timedelta(days=400))
    await core.consolidate(ALICE, ConsolidateInput())
    await Hand(core, "consolidation").work_all()
    world.clock.moment += timedelta(days=1)
    assert texts(await core.take_back(ALICE, "s1")) == [OSLO, ANSWER[1]]
    assert await cities(core) == {LISBON: "active", OSLO: "deleted"}
    await core.consolidate(ALICE, ConsolidateInput())
    await Hand(core, "consolidation").work_all()
    assert not await find(core, "Oslo")
    assert "Oslo" not in (await core.context(ALICE, ContextInput(query="Ana's city"))).context


async def test_a_turn_with_tools_goes_from_its_question_on(core: MemoryCore) -> None:
    await tell(
        core,
        LISBON,
        ANSWER,
        OSLO,
        ("tool", "weather: snow"),
        ("assistant", "It snows"),
        ("system", "be kind"),
    )
    assert texts(await core.take_back(ALICE, "s1")) == [
        OSLO,
        "weather: snow",
        "It snows",
        "be kind",
    ]


async def test_a_session_without_a_person_gives_its_last_message(core: MemoryCore) -> None:
    words = {"session_id": "s1", "messages": ["I checked the stove", "I closed the door"]}
    await core.agent_memory(ALICE, AgentMemoryInput.model_validate(words))
    assert texts(await core.take_back(ALICE, "s1")) == ["I closed the door"]
    await Hand(core).work_all()
    assert await read_back(core) == ["I checked the stove"]
    assert [memory.category for memory in await left(core)] != []


async def test_what_others_told_too_stays(core: MemoryCore, world: World) -> None:
    await tell(core, LISBON, session="s2")
    await tell(core, LISBON, at=NOW + timedelta(days=1))
    world.clock.moment += timedelta(days=2)
    await core.take_back(ALICE, "s1")
    assert await cities(core) == {LISBON: "active"}


async def test_a_note_that_was_merged_stands_again_as_it_was(world: World) -> None:
    core = await world.core(
        agents=Tellers(
            rulings=on_all("UPDATE", category="note"),
            merged=lambda notes: " ".join(note.text for note in notes),
        )
    )
    await tell(core, "We climbed the old tower of the castle")
    before = [memory.content for memory in await left(core) if memory.category == "note"]
    await tell(core, "We climbed the old tower of the castle twice", at=NOW + timedelta(days=1))
    assert [memory.content for memory in await left(core) if memory.category == "note"] != before, (
        "or nothing was merged"
    )
    world.clock.moment += timedelta(days=2)
    await core.take_back(ALICE, "s1")
    assert [memory.content for memory in await left(core) if memory.category == "note"] == before


async def test_two_that_take_back_at_once_get_different_messages(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *(f"line {number} of the evening" for number in range(6)))
    other = await world.core(agents=Tellers())
    popped = await asyncio.gather(
        *(core_in_turn.take_back(ALICE, "s1", 1) for core_in_turn in (core, other, core, other))
    )
    popped_texts = [text for taken in popped for text in texts(taken)]
    assert sorted(popped_texts) == [f"line {number} of the evening" for number in (2, 3, 4, 5)]
    assert await read_back(core) == ["line 0 of the evening", "line 1 of the evening"]
    await Hand(core).work_all()
    assert await read_back(core) == ["line 0 of the evening", "line 1 of the evening"]


@pytest.mark.parametrize("count", [None, 30])
async def test_the_same_call_again_takes_nothing_more(
    core: MemoryCore, world: World, count: int | None
) -> None:
    await tell(
        core,
        "first words",
        *(("assistant", f"line {number}") for number in range(5)),
        "last words",
        session="s1",
    )
    await tell(core, *(f"evening {number}" for number in range(40)), at=NOW + timedelta(days=1))
    call = Call(idempotency_key="once")
    taken = await core.take_back(ALICE, "s1", count, call)
    assert len(taken.messages) == (1 if count is None else 30)
    rest = await read_back(core)
    assert await core.take_back(ALICE, "s1", count, call) == taken
    assert await read_back(core) == rest
    with pytest.raises(Conflict):
        await core.take_back(ALICE, "s1", 2, call)


@pytest.mark.parametrize("commits", [1, 2, 3, 4])
async def test_who_dies_half_way_takes_the_same_back_again(
    core: MemoryCore, world: World, commits: int
) -> None:
    await moved(world, core)
    dying = await world.core(agents=Tellers(), wrap=lambda store: DiesAfter(store, commits))
    call = Call(idempotency_key="once")
    try:
        await dying.take_back(ALICE, "s1", None, call)
    except Killed:
        assert await read_back(core) == [LISBON, ANSWER[1], OSLO, ANSWER[1]]
    assert texts(await core.take_back(ALICE, "s1", None, call)) == [OSLO, ANSWER[1]]
    assert await cities(core) == {LISBON: "active", OSLO: "deleted"}
    assert await read_back(core) == [LISBON, ANSWER[1]]


async def test_a_conversation_under_way_keeps_its_formed_cells_and_forms_the_rest(
    world: World,
) -> None:
    core = await world.core(agents=ScriptedAgents())
    accepted = await core.converse(
        ALICE,
        talk(
            "It is warm",
            "So warm",
            f"{NEW_TOPIC} I like flamenco",
            "The guitar above all",
            "And the voice",
        ),
    )
    dying = await world.core(agents=ScriptedAgents(), wrap=lambda store: DiesAfter(store, 4))
    await Hand(dying).work_all()
    world.clock.moment += timedelta(hours=1)
    assert texts(await core.take_back(ALICE, "s1", 2)) == ["The guitar above all", "And the voice"]
    world.clock.moment += timedelta(hours=1)
    await Hand(core).work_all()
    assert (await core.task(ALICE, accepted.task_id)).status == "succeeded"
    cells = [memory.content for memory in await left(core) if memory.category == "cell"]
    assert sorted(cells) == sorted(["It is warm So warm", f"{NEW_TOPIC} I like flamenco"])
    assert len(await read_back(core)) == 3


async def test_the_counts_of_the_session_follow(core: MemoryCore, world: World) -> None:
    await tell(core, LISBON, ANSWER)
    before = dict((await core.session(ALICE, "s1")).counts)
    world.clock.moment += timedelta(days=1)
    await tell(core, OSLO, ANSWER, at=NOW + timedelta(days=1))
    await core.take_back(ALICE, "s1")
    assert dict((await core.session(ALICE, "s1")).counts) == before


async def test_nobody_elses_session_is_known(core: MemoryCore) -> None:
    await tell(core, OSLO)
    for owner, session in ((ALICE, "s2"), (Owner("app", "bob"), "s1")):
        with pytest.raises(NotFound):
            await core.take_back(owner, session)
    assert await read_back(core) == [OSLO]


async def test_messages_are_taken_one_by_one_before_the_rest_is_formed_anew(
    core: MemoryCore, world: World
) -> None:
    sent = [
        f"Ana's {name} is {value}"
        for name, value in (("dog", "Rex"), ("cat", "Tom"), ("cow", "Berta"), ("hen", "Frida"))
    ]
    accepted = await core.converse(ALICE, talk(*sent, session="s1"))
    for number in (3, 2):
        world.clock.moment += timedelta(minutes=1)
        assert texts(await core.take_back(ALICE, "s1", 1)) == [sent[number]]
    assert (await formed(core, accepted)).status == "succeeded"
    assert await holding(core) == {*sent[:2]}
    for number in (1, 0):
        world.clock.moment += timedelta(minutes=1)
        assert texts(await core.take_back(ALICE, "s1", 1)) == [sent[number]]
    await Hand(core).work_all()
    assert await left(core) == []
    head = await world.head()
    assert head is not None
    assert head.pending_tasks == 0


async def test_a_long_turn_goes_whole(core: MemoryCore) -> None:
    tools = [("tool", f"reading {number}") for number in range(45)]
    await core.converse(ALICE, talk(LISBON, OSLO, *tools))
    assert texts(await core.take_back(ALICE, "s1")) == [OSLO, *(text for _, text in tools)]
    assert await read_back(core) == [LISBON]
    await Hand(core).work_all()
    assert await holding(core) == {LISBON}


async def test_what_was_told_elsewhere_since_goes_on_to_hold(
    core: MemoryCore, world: World
) -> None:
    for day, (city, session) in enumerate((("Lisbon", "s1"), ("Oslo", "s2"), ("Bergen", "s3"))):
        await tell(core, f"Ana's city is {city}", at=NOW + timedelta(days=day), session=session)
    world.clock.moment += timedelta(days=4)
    await core.take_back(ALICE, "s2")
    assert await cities(core) == {
        LISBON: "superseded",
        OSLO: "deleted",
        "Ana's city is Bergen": "active",
    }


@pytest.mark.parametrize("order", [("s2", "s3"), ("s3", "s2")])
async def test_the_first_of_three_holds_again_once_both_after_it_are_taken_back(
    core: MemoryCore, world: World, order: tuple[str, str]
) -> None:
    for day, (city, session) in enumerate((("Lisbon", "s1"), ("Oslo", "s2"), ("Bergen", "s3"))):
        await tell(core, f"Ana's city is {city}", at=NOW + timedelta(days=day), session=session)
    world.clock.moment += timedelta(days=4)
    await core.take_back(ALICE, order[0])
    lisbon = (await facts_of(core))[LISBON]
    assert (lisbon.status, lisbon.valid_until) == (
        Status.SUPERSEDED,
        NOW + timedelta(days=2 if order[0] == "s2" else 1),
    )
    await core.take_back(ALICE, order[1])
    lisbon = (await facts_of(core))[LISBON]
    assert (lisbon.status, lisbon.valid_until, lisbon.next_id) == (Status.ACTIVE, None, None)
    assert await holding(core) == {LISBON}


async def test_what_was_edited_since_stays(core: MemoryCore, world: World) -> None:
    await tell(core, OSLO)
    (fact,) = (await facts_of(core)).values()
    await core.update(ALICE, fact.id, UpdateInput(content="Ana's city is Tromsø"), "*")
    world.clock.moment += timedelta(hours=1)
    await core.take_back(ALICE, "s1")
    assert await holding(core) == {"Ana's city is Tromsø"}
