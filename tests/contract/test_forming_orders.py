"""Conversations in any order, at once, and again: the same truth in the end, and nothing twice."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from itertools import permutations
from typing import NamedTuple

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.messages import is_message
from memory_core.domain.requests.memories import SaveInput, StatusInput
from memory_core.domain.results import Accepted, Saved
from memory_core.domain.scope import Owner
from tests.builders import NOW
from tests.tasks import Hand, finished, formed_counts, pending, task_of, told
from tests.telling import Tellers, facts_of, of_category, statuses, talk, tell
from tests.world import World

CITIES = {"Oslo": NOW, "Bergen": NOW + timedelta(days=30), "Turku": NOW + timedelta(days=60)}
"""Where Ana lived, and since when."""


class Link(NamedTuple):
    """One truth of a chain; before and after: the values of its neighbours."""

    text: str
    status: str
    before: object
    after: object
    valid_from: datetime
    valid_until: datetime | None


CHAIN = [
    Link("Ana's city is Oslo", "superseded", None, "Bergen", CITIES["Oslo"], CITIES["Bergen"]),
    Link("Ana's city is Bergen", "superseded", "Oslo", "Turku", CITIES["Bergen"], CITIES["Turku"]),
    Link("Ana's city is Turku", "active", "Bergen", None, CITIES["Turku"], None),
]


async def chain(core: MemoryCore, owner: Owner) -> list[Link]:
    """The truths of a user in the order they held."""
    facts = sorted((await facts_of(core, owner)).values(), key=lambda fact: fact.valid_from)
    values = {fact.id: fact.value for fact in facts}

    def value(name: str | None) -> object:
        return None if name is None else values[name]

    return [
        Link(
            fact.content,
            fact.status.value,
            value(fact.supersedes_id),
            value(fact.next_id),
            fact.valid_from,
            fact.valid_until,
        )
        for fact in facts
    ]


async def tell_of(core: MemoryCore, owner: Owner, city: str) -> None:
    await tell(core, f"Ana's city is {city}", at=CITIES[city], owner=owner, session=f"in {city}")


async def test_every_order_of_three_contradicting_conversations_ends_in_the_same_truth(
    world: World,
) -> None:
    core = await world.core(agents=Tellers())
    for number, order in enumerate(permutations(CITIES)):
        owner = Owner("app", f"user{number}")
        for city in order:
            world.clock.forward(60)
            await tell_of(core, owner, city)
        assert await chain(core, owner) == CHAIN, order
        cells = await of_category(core, "cell", owner)
        ids = {name: fact.id for name, fact in (await facts_of(core, owner)).items()}
        marked = [cell.atomic_facts[0].superseded_by for cell in cells]
        assert marked == [ids["Ana's city is Bergen"], ids["Ana's city is Turku"], None], order


async def test_worked_on_by_two_processes_at_once_they_end_in_the_same_truth(world: World) -> None:
    cores = [await world.core(agents=Tellers(), commit_deadline_s=60) for _ in range(2)]
    for number, order in enumerate(permutations(CITIES)):
        owner = Owner("app", f"user{number}")
        accepted = [
            await cores[0].converse(
                owner, talk(f"Ana's city is {city}", at=CITIES[city], session=city)
            )
            for city in order
        ]
        deliveries = await Hand(cores[0]).take()
        assert len(deliveries) == 3
        await asyncio.gather(
            *(Hand(cores[place % 2]).work(delivery) for place, delivery in enumerate(deliveries))
        )
        # What a store that failed for too long made put off is delivered again.
        assert [(await finished(world, cores[0], answer, owner)).status for answer in accepted] == [
            "succeeded"
        ] * 3
        assert await chain(cores[0], owner) == CHAIN, order
        assert await pending(world, owner) == 0


async def test_what_is_told_again_stands_against_what_was_told_in_between_but_comes_after_it(
    world: World,
) -> None:
    """Oslo in May, Oslo still in July: Bergen in June, which arrives last, was not the
    truth in July.
    """
    core = await world.core(agents=Tellers())
    for number, order in enumerate(permutations([("Oslo", 0), ("Bergen", 30), ("Oslo", 60)])):
        owner = Owner("app", f"user{number}")
        for city, days in order:
            await tell(
                core,
                f"Ana's city is {city}",
                at=NOW + timedelta(days=days),
                owner=owner,
                session=f"{city}{days}",
            )
        standing = [
            fact.value for fact in (await facts(core, owner)) if fact.status.value == "active"
        ]
        assert standing == ["Oslo"], order


async def facts(core: MemoryCore, owner: Owner) -> list[Memory]:
    return [memory for memory in await told(core, owner) if memory.category == "fact"]


async def test_twenty_equal_conversations_make_one_cell_and_reinforce_each_fact(
    world: World,
) -> None:
    agents = Tellers()
    core = await world.core(agents=agents)
    accepted = [await core.converse(OWNER, talk(*EQUAL, session=None)) for _ in range(20)]
    await Hand(core).work_all()
    await told_twenty_times(world, core, accepted)
    assert agents.calls == {"boundary": 20, "facts": 1, "episode": 1, "summary": 1}, (
        "who knows the words need not ask about them"
    )


async def test_twenty_equal_conversations_at_once_make_one_cell_and_reinforce_each_fact(
    world: World,
) -> None:
    cores = [await world.core(agents=Tellers(), commit_deadline_s=60) for _ in range(2)]
    accepted = [await cores[0].converse(OWNER, talk(*EQUAL, session=None)) for _ in range(20)]
    deliveries = await Hand(cores[0]).take()
    await asyncio.gather(
        *(Hand(cores[place % 2]).work(delivery) for place, delivery in enumerate(deliveries))
    )
    await told_twenty_times(world, cores[0], accepted)


OWNER = Owner("app", "ana")
EQUAL = ("Ana's city is Oslo", "Ana's job is baker and Ana's dog is Bo")


async def told_twenty_times(world: World, core: MemoryCore, accepted: list[Accepted]) -> None:
    tasks = [await task_of(core, answer, OWNER) for answer in accepted]
    assert [task.status for task in tasks] == ["succeeded"] * 20
    assert all(task.result is not None and task.result["cells"] for task in tasks)
    assert (
        len(await of_category(core, "cell", OWNER))
        == len(await of_category(core, "note", OWNER))
        == 1
    )
    made = await facts_of(core, OWNER)
    assert statuses(made) == {
        "Ana's city is Oslo": "active",
        "Ana's job is baker": "active",
        "Ana's dog is Bo": "active",
    }
    assert [memory.reinforcement_count for memory in made.values()] == [19] * 3
    written = [event.memory_id for event in await world.log(OWNER) if event.event_type == "created"]
    assert len([name for name in written if not is_message(name)]) == 5
    assert len(written) == len(set(written))
    assert await pending(world, OWNER) == 0


async def test_equal_words_at_another_time_are_another_cell_and_the_same_facts(
    world: World,
) -> None:
    core = await world.core(agents=Tellers())
    for day in range(3):
        await tell(core, *EQUAL, at=NOW + timedelta(days=day), owner=OWNER, session=None)
    assert len(await of_category(core, "cell", OWNER)) == 3
    made = await facts_of(core, OWNER)
    assert [memory.reinforcement_count for memory in made.values()] == [2] * 3
    cells = {memory.id for memory in await of_category(core, "cell", OWNER)}
    assert all({*memory.source_ids} == cells for memory in made.values()), (
        "each fact knows who told it"
    )
    for cell in await of_category(core, "cell", OWNER):
        assert {fact.fact_id for fact in cell.atomic_facts} == {
            memory.id for memory in made.values()
        }


async def test_a_deleted_cell_that_is_told_again_begins_a_new_life(world: World) -> None:
    core = await world.core(agents=Tellers())
    await tell(core, *EQUAL, owner=OWNER, session=None)
    for memory in await told(core, OWNER):
        await core.delete(OWNER, memory.id)
    world.clock.forward(60)
    task = await tell(core, *EQUAL, owner=OWNER, session=None)
    assert task.status == "succeeded"
    assert {memory.status.value for memory in await told(core, OWNER)} == {"active"}
    assert len(await told(core, OWNER)) == 5
    assert await formed_counts(world, core, OWNER) == {"active": 5}


async def test_what_was_deleted_does_not_come_back_with_a_conversation_that_was_told_before(
    world: World,
) -> None:
    """Twice the same was sent; the person deletes what came of the first, and then the second
    is worked on.
    """
    core = await world.core(agents=Tellers())
    await tell(core, *EQUAL, owner=OWNER)
    accepted = await core.converse(OWNER, talk(*EQUAL))
    for memory in await told(core, OWNER):
        await core.delete(OWNER, memory.id)
    await Hand(core).work_all()
    assert (await task_of(core, accepted, OWNER)).status == "succeeded"
    assert {memory.status.value for memory in await told(core, OWNER)} == {"deleted"}
    assert await pending(world, OWNER) == 0


async def test_a_deleted_fact_does_not_come_back_by_itself_but_told_again_it_is_a_new_one(
    world: World,
) -> None:
    core = await world.core(agents=Tellers())
    await tell(core, *EQUAL, owner=OWNER)
    oslo = (await facts_of(core, OWNER))["Ana's city is Oslo"]
    await core.delete(OWNER, oslo.id)
    await tell(core, "Ana's job is baker", at=NOW + timedelta(days=1), owner=OWNER)
    await tell(core, *EQUAL, owner=OWNER)
    assert statuses(await facts_of(core, OWNER))["Ana's city is Oslo"] == "deleted", (
        "the very same conversation sent again tells nothing new"
    )
    await tell(core, "Ana's city is Oslo", at=NOW + timedelta(days=2), owner=OWNER)
    told_of_oslo = [fact for fact in await facts(core, OWNER) if fact.value == "Oslo"]
    assert sorted(memory.status.value for memory in told_of_oslo) == ["active", "deleted"]
    assert next(memory for memory in told_of_oslo if memory.status.value == "active").id != oslo.id


async def test_a_fact_that_was_deleted_in_a_deleted_cell_comes_back_as_history_where_a_newer_truth_stands(  # noqa: E501
    world: World,
) -> None:
    core = await world.core(agents=Tellers())
    await tell(core, "Ana's city is Oslo", owner=OWNER, session=None)
    for memory in await told(core, OWNER):
        await core.delete(OWNER, memory.id)
    await tell(core, "Ana's city is Bergen", at=NOW + timedelta(days=5), owner=OWNER, session="s2")
    world.clock.forward(60)
    task = await tell(core, "Ana's city is Oslo", owner=OWNER, session=None)
    assert (task.status, task.error) == ("succeeded", None)
    made = await facts_of(core, OWNER)
    assert statuses(made) == {"Ana's city is Oslo": "superseded", "Ana's city is Bergen": "active"}
    assert await formed_counts(world, core, OWNER) == {"active": 5, "superseded": 1}


async def test_a_truth_restored_by_hand_stands_until_the_next_one_is_told(world: World) -> None:
    core = await world.core(agents=Tellers())
    await tell(core, "Ana's city is Oslo", owner=OWNER)
    oslo = (await facts_of(core, OWNER))["Ana's city is Oslo"]
    await core.delete(OWNER, oslo.id)
    await core.set_status(OWNER, oslo.id, StatusInput(status="active"))
    await tell(core, "Ana's city is Bergen", at=NOW + timedelta(days=5), owner=OWNER)
    assert statuses(await facts_of(core, OWNER)) == {
        "Ana's city is Oslo": "superseded",
        "Ana's city is Bergen": "active",
    }


async def test_facts_that_contradict_each_other_in_one_conversation_leave_the_one_said_last(
    world: World,
) -> None:
    core = await world.core(agents=Tellers())
    task = await tell(
        core,
        "Ana's city is Oslo",
        "No, sorry: Ana's city is Bergen",
        "Wait, Ana's city is Turku",
        owner=OWNER,
    )
    assert task.status == "succeeded"
    made = await facts_of(core, OWNER)
    assert statuses(made) == {
        "Ana's city is Oslo": "superseded",
        "Ana's city is Bergen": "superseded",
        "Ana's city is Turku": "active",
    }
    (cell,) = await of_category(core, "cell", OWNER)
    order = [made[fact.text].id for fact in cell.atomic_facts]
    assert [fact.superseded_by for fact in cell.atomic_facts] == [order[1], order[2], None]


async def test_a_truth_that_a_saved_one_replaces_is_said_to_have_fallen_where_it_was_told(
    world: World,
) -> None:
    """Not only conversations change the truth: a correction by the API must not leave the old cell
    telling the old story.
    """
    core = await world.core(agents=Tellers())
    await tell(core, *EQUAL, owner=OWNER)
    world.clock.forward(60)
    new = SaveInput(
        type=MemoryType.SEMANTIC,
        content="Ana's city is Bergen",
        subject="Ana",
        attribute="city",
        value="Bergen",
    )
    saved = await core.save(OWNER, new)
    assert saved.outcome == "superseded"
    (cell,), (note,) = (
        await of_category(core, "cell", OWNER),
        await of_category(core, "note", OWNER),
    )
    assert [fact.superseded_by for fact in cell.atomic_facts] == [saved.memory.id, None, None]
    assert [(fact.text, fact.superseded_by) for fact in note.atomic_facts] == [
        ("Ana's city is Oslo", saved.memory.id)
    ]


async def test_a_bulk_that_replaces_what_was_told_marks_it_once(world: World) -> None:
    core = await world.core(agents=Tellers())
    await tell(core, *EQUAL, owner=OWNER)
    world.clock.forward(60)
    slots = {"city": "Bergen", "job": "pilot", "dog": "Rex"}
    items = [
        SaveInput(
            type=MemoryType.SEMANTIC,
            content=f"Ana's {name} is {value}",
            subject="Ana",
            attribute=name,
            value=value,
        )
        for name, value in slots.items()
    ]
    saved = await core.bulk(OWNER, items)
    (cell,) = await of_category(core, "cell", OWNER)
    assert [fact.superseded_by for fact in cell.atomic_facts] == [
        result.memory.id for result in saved if isinstance(result, Saved)
    ]
    assert [event.event_type for event in await world.log(OWNER) if event.memory_id == cell.id] == [
        "created",
        "fact_superseded",
    ]
