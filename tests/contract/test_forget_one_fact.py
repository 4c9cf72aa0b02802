"""Forgetting one fact for good takes what tells it, and leaves the rest of the conversation as
it was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from memory_core.adapters.system import RandomIds
from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import SaidFact
from memory_core.domain.conversation import Message
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import UpdateInput
from memory_core.domain.results import Call
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.read_set import ReadSet
from tests.builders import ALICE, NOW
from tests.contract.test_forget import everything, foreseen, forgotten, no_trace
from tests.past import told_by_the_log
from tests.said_and_formed import messages
from tests.tasks import Hand
from tests.telling import Tellers, facts_of, of_category, on_all, tell
from tests.world import WordsEmbedder, World, find, listed

BUDGET, CITY, CAR = (
    "Ana's budget is 7340099 euros",
    "Ana's city is Stavanger",
    "Ana's car is a red Volvo",
)
TALK = (
    "hello there",
    BUDGET,
    "the ferry was late",
    f"{CITY}, and it rains",
    ("assistant", "In Stavanger you need an umbrella."),
    CAR,
)
DAY = timedelta(days=1)


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(agents=Tellers())


async def contents(core: MemoryCore, session: str = "s1") -> list[str]:
    return [message.content for message in (await core.session_messages(ALICE, session)).messages]


async def fact_with(core: MemoryCore, word: str) -> Memory:
    return next(memory for text, memory in (await facts_of(core)).items() if word in text)


async def test_a_note_takes_its_episode_with_all_messages_and_facts(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *TALK)
    (note,) = await of_category(core, "note")
    seen = await foreseen(core, "hard", ids=[note.id])
    assert seen.counts == {"forgotten": 1, "derived": 10, "messages": 6, "episodes": 1, "facts": 3}
    result = (await forgotten(core, "hard", ids=[note.id])).result
    assert result is not None
    assert {name: result["counts"][name] for name in seen.counts} == seen.counts
    assert await listed(core, status="all") == []
    await no_trace(world, "Stavanger", "7340099", "Volvo")
    await told_by_the_log(core, world)


async def test_a_note_leaves_the_facts_that_another_episode_told_too(core: MemoryCore) -> None:
    await tell(core, *TALK)
    await tell(core, CITY, at=NOW + DAY, session="s2")
    first = next(note for note in await of_category(core, "note") if note.session_id == "s1")
    await forgotten(core, "hard", ids=[first.id])
    assert [*await facts_of(core)] == [CITY]


async def test_only_the_messages_that_tell_it_go_and_the_others_stay_readable_and_findable(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *TALK)
    stavanger = await fact_with(core, "Stavanger")
    seen = await foreseen(core, "hard", ids=[stavanger.id])
    assert seen.counts == {"forgotten": 1, "derived": 4, "messages": 2, "episodes": 1, "notes": 1}
    result = (await forgotten(core, "hard", ids=[stavanger.id])).result
    assert result is not None
    assert {name: result["counts"][name] for name in seen.counts} == seen.counts
    assert await contents(core) == ["hello there", BUDGET, "the ferry was late", CAR]
    assert sorted(await facts_of(core)) == sorted([BUDGET, CAR])
    assert "the ferry was late" in await find(core, "the ferry was late")
    await no_trace(world, "Stavanger", "umbrella")
    await told_by_the_log(core, world)
    await Hand(core).work_all()
    assert await of_category(core, "cell") == [], "nothing is formed of them again"


async def test_the_other_facts_name_their_messages_and_are_forgotten_with_them(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *TALK, ("assistant", "For 7,340,099 euros you get a lot."))
    await forgotten(core, "hard", ids=[(await fact_with(core, "Stavanger")).id])
    turns, budget = await messages(core), await fact_with(core, "budget")
    assert (budget.status, budget.cell_id, budget.source_ids) == (
        Status.ACTIVE,
        None,
        [turns[BUDGET].id],
    )
    await forgotten(core, "hard", ids=[budget.id])
    assert await contents(core) == ["hello there", "the ferry was late", CAR]
    assert [*await facts_of(core)] == [CAR]
    await no_trace(world, "7340099", "7,340,099", "Stavanger")
    await told_by_the_log(core, world)


async def test_a_fact_that_has_its_words_goes_too_and_one_of_the_same_message_stays(
    core: MemoryCore, world: World
) -> None:
    await tell(
        core,
        "Ana's city is Stavanger and Ana's cat is Mia",
        "Ana's office is in Stavanger",
        "the ferry was late",
    )
    await forgotten(core, "hard", ids=[(await fact_with(core, "city")).id])
    assert await contents(core) == ["the ferry was late"]
    assert [*await facts_of(core)] == ["Ana's cat is Mia"]
    await no_trace(world, "Stavanger")
    await told_by_the_log(core, world)


async def test_a_fact_whose_value_is_not_said_in_words_takes_the_message_that_it_was_taken_from(
    world: World,
) -> None:
    def vague(spoken: Sequence[Message]) -> list[SaidFact]:
        return [
            SaidFact(
                text="Ana says yes",
                message=1,
                quote="zebra crossing",
                subject="Ana",
                attribute="answer",
                value="yes",
            )
        ]

    core = await world.core(agents=Tellers(facts=vague))
    await tell(core, "the ferry was late", "zebra crossing", "a heron stood there")
    (fact,) = (await facts_of(core)).values()
    await forgotten(core, "hard", ids=[fact.id])
    assert await contents(core) == ["the ferry was late", "a heron stood there"]
    await no_trace(world, "zebra")


async def test_where_no_message_can_be_told_to_say_it_all_of_the_cell_go(
    core: MemoryCore, world: World
) -> None:
    """As in a cell that does not say which of its messages a fact was taken from."""
    await tell(core, CITY, "the ferry was late", BUDGET)
    stavanger, (cell,) = await fact_with(core, "Stavanger"), await of_category(core, "cell")

    def unknown(look: ReadSet) -> Changes[None]:
        before, stored = look.memory(stavanger.id), look.memory(cell.id)
        assert before is not None
        assert stored is not None
        facts = [
            fact.model_copy(update={"message": None, "quote": None}) for fact in stored.atomic_facts
        ]
        changes = [
            Change(
                "updated", before.model_copy(update={"value": True, "value_text": "yes"}), before
            ),
            Change("updated", stored.model_copy(update={"atomic_facts": facts}), stored),
        ]
        return Changes(None, tuple(changes))

    await Ledger(await world.look_on(), world.clock, RandomIds()).commit(
        ALICE, unknown, ids=[stavanger.id, cell.id], call=Call()
    )
    await forgotten(core, "hard", ids=[stavanger.id])
    assert await contents(core) == []
    assert [*await facts_of(core)] == [BUDGET]
    await no_trace(world, "Stavanger", "ferry")
    await told_by_the_log(core, world)


@pytest.mark.parametrize("consolidated", [False, True])
async def test_told_in_two_sessions_it_goes_from_both_and_their_other_messages_stay(
    world: World, consolidated: bool
) -> None:
    agents = Tellers(
        rulings=on_all("UPDATE", category="note") if consolidated else lambda new, older: []
    )
    core = await world.core(agents=agents, embedder=WordsEmbedder())
    for session, other, at in (
        ("s", "the ferry was late", NOW),
        ("t", "the harbour is loud", NOW + DAY),
    ):
        await tell(core, CITY, other, session=session, at=at)
        world.clock.forward(60)
    if consolidated:
        await core.consolidate(ALICE, ConsolidateInput())
        await Hand(core, "consolidation").work_all()
    stavanger = await fact_with(core, "Stavanger")
    seen = await foreseen(core, "hard", ids=[stavanger.id])
    assert (seen.counts["messages"], seen.counts["episodes"]) == (2, 2)
    await forgotten(core, "hard", ids=[stavanger.id])
    assert (await contents(core, "s"), await contents(core, "t")) == (
        ["the ferry was late"],
        ["the harbour is loud"],
    )
    await no_trace(world, "Stavanger")
    await told_by_the_log(core, world)


async def test_an_edited_fact_goes_with_what_was_said_and_with_what_it_became(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *TALK)
    stavanger = await fact_with(core, "Stavanger")
    await core.update(
        ALICE, stavanger.id, UpdateInput(content="Ana's city is Bergen"), stavanger.etag
    )
    await forgotten(core, "hard", ids=[stavanger.id])
    assert await contents(core) == ["hello there", BUDGET, "the ferry was late", CAR]
    await no_trace(world, "Stavanger", "Bergen")
    await told_by_the_log(core, world)


async def test_a_fact_that_was_replaced_later_goes_alone_and_so_does_its_successor(
    core: MemoryCore, world: World
) -> None:
    await tell(core, CITY, "the ferry was late")
    world.clock.forward(60)
    await tell(core, "Ana's city is Bergen", "the harbour is loud", session="s2", at=NOW + DAY)
    await forgotten(core, "hard", ids=[(await fact_with(core, "Stavanger")).id])
    assert await contents(core) == ["the ferry was late"]
    assert (await fact_with(core, "Bergen")).status is Status.ACTIVE
    await no_trace(world, "Stavanger")
    await forgotten(core, "hard", ids=[(await fact_with(core, "Bergen")).id])
    assert await contents(core, "s2") == ["the harbour is loud"]
    await no_trace(world, "Bergen")
    assert "harbour" in await everything(world)
    await told_by_the_log(core, world)


async def test_two_facts_forgotten_at_once_take_the_messages_of_both(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *TALK)
    await forgotten(
        core, "hard", ids=[(await fact_with(core, word)).id for word in ("Stavanger", "Volvo")]
    )
    assert await contents(core) == ["hello there", BUDGET, "the ferry was late"]
    assert len(await listed(core, status="all")) == 4
    await no_trace(world, "Stavanger", "Volvo")
