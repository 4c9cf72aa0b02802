"""After a truth has changed: the cell that told the old one does not stand before the new one,
unless it answers by something else.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ContextInput, RetrieveInput
from memory_core.domain.results import Hit
from tests.builders import ALICE, NOW
from tests.contract.test_profile import user_fact
from tests.telling import tell
from tests.world import World

OLD = (
    "Where I live? I live in Berlin, right beside the zoo.",
    ("assistant", "Do you live there alone?"),
    "I live there with a parrot.",
)
NEW = ("I moved from Berlin to Lisbon last week.", "It is warm here.")


@pytest.fixture
async def core(world: World) -> MemoryCore:
    """A user who spoke much of living in Berlin, and ten days later once of Lisbon."""
    core = await world.core(agents=OfflineAgents(), rules=OfflineAgents())
    await tell(core, *OLD)
    world.clock.forward(timedelta(days=10).total_seconds())
    await tell(core, *NEW, at=NOW + timedelta(days=10), session="s2")
    return core


async def hits(core: MemoryCore, query: str, **fields: object) -> list[Hit]:
    return list(
        (
            await core.retrieve(ALICE, RetrieveInput.model_validate({"query": query, **fields}))
        ).results
    )


@pytest.mark.parametrize("query", ["where does the user live?", "Where do I live?"])
async def test_what_answers_by_a_fallen_fact_stands_behind_the_present_truth(
    core: MemoryCore, query: str
) -> None:
    first, *others = await hits(core, query)
    assert (first.stale_facts, [bool(hit.stale_facts) for hit in others]) == ((), [True])
    assert "Lisbon" in first.memory.content
    assert others[0].score > first.score, "its words are nearer to the query, and its score says so"
    assert [hit.rank for hit in (first, *others)] == [1, 2]


async def test_the_persons_own_name_is_no_other_thing_that_it_answers_by(world: World) -> None:
    core = await world.core(agents=OfflineAgents(), rules=OfflineAgents())
    await tell(core, "I am Ana. I live in Oslo and I work as a nurse.")
    await tell(core, "My sister Mia lives in Rome.", session="s3")
    world.clock.forward(timedelta(days=10).total_seconds())
    await tell(core, "I moved to Lisbon last week!", at=NOW + timedelta(days=10), session="s2")
    for query, answer in (
        ("Where does Ana live?", "Lisbon"),
        ("Does Ana live in Oslo?", "Lisbon"),
        ("Does Ana work as a nurse?", "nurse"),
        ("Where did Ana live before?", "Oslo"),
    ):
        assert answer in (await hits(core, query, similarity_threshold=0.0))[0].memory.content, (
            query
        )


@pytest.mark.parametrize(
    ("then", "now", "queries"),
    [
        (
            "Ich wohne in Kassel.",
            "Ich bin im Mai nach Jena gezogen.",
            ("Wo wohne ich?", "In welcher Stadt wohne ich?"),
        ),
        (
            "大阪に住んでいます。",
            "先月、福岡に引っ越しました。",
            ("私はどこに住んでいますか？", "どこに住んでいる？"),
        ),
    ],
)
async def test_it_stands_behind_in_other_languages_too(
    world: World, then: str, now: str, queries: tuple[str, ...]
) -> None:
    core = await world.core_by_rules()
    await tell(core, then)
    world.clock.forward(timedelta(days=10).total_seconds())
    await tell(core, now, at=NOW + timedelta(days=10), session="s2")
    for query in queries:
        first, *others = await hits(core, query)
        assert (first.stale_facts, [bool(hit.stale_facts) for hit in others]) == ((), [True]), query
        assert now.rstrip(".。") in first.memory.content


async def test_the_later_side_of_an_open_conflict_is_told_behind_the_earlier(world: World) -> None:
    core = await world.core()
    await core.save(ALICE, user_fact("car", "a Golf", pinned=True))
    await core.save(ALICE, user_fact("dog", "a poodle"))
    world.clock.forward(timedelta(days=10).total_seconds())
    await core.save(ALICE, user_fact("car", "a Skoda", NOW + timedelta(days=10)))
    query = "Who has a Golf?"
    assert [hit.memory.value for hit in await hits(core, query)] == ["a Golf", "a Skoda"]
    for fields in ({"limit": 1}, {"similarity_threshold": 0.3}, {"at": NOW}):
        (only,) = await hits(core, query, **fields)
        assert only.memory.value == "a Golf"


@pytest.mark.parametrize("query", ["Wo wohne ich?", "In welcher Stadt wohne ich?"])
async def test_a_home_is_found_by_another_verb_of_living(world: World, query: str) -> None:
    core = await world.core_by_rules()
    await tell(core, "Ich lebe in Hamburg.")
    assert "Hamburg" in (await hits(core, query))[0].memory.content


async def test_that_holds_for_the_first_result_alone_too(core: MemoryCore) -> None:
    (only,) = await hits(core, "where does the user live?", limit=1)
    assert "Lisbon" in only.memory.content


@pytest.mark.parametrize(
    "query", ["live in Berlin beside the zoo", "who does live with a parrot?", "Berlin"]
)
async def test_what_answers_by_more_than_that_stays_first(core: MemoryCore, query: str) -> None:
    first = (await hits(core, query, similarity_threshold=0.0))[0]
    assert first.stale_facts


async def test_when_it_still_held_it_stood_first(core: MemoryCore) -> None:
    first = (await hits(core, "where does the user live?", at=NOW + timedelta(days=1)))[0]
    assert first.stale_facts == ()
    assert "Berlin" in first.memory.content


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_beside_what_has_fallen_stands_what_held_at_the_moment_asked_for(
    core: MemoryCore, world: World
) -> None:
    porto = user_fact(
        "home city", "Porto", NOW + timedelta(days=20), valid_until=NOW + timedelta(days=30)
    )
    await core.save(ALICE, porto)
    query = "live in Berlin beside the zoo"
    outdated = {
        days: {
            fact["current"]
            for hit in await hits(core, query, at=NOW + timedelta(days=days))
            for fact in hit.stale_facts
        }
        for days in (1, 15, 25, 31)
    }
    assert outdated == {
        1: set(),
        15: {"User lives in Lisbon"},
        25: {"The user's home city is Porto"},
        31: {None},
    }
    world.clock.forward(timedelta(days=21).total_seconds())
    assert {fact["current"] for hit in await hits(core, query) for fact in hit.stale_facts} == {
        None
    }, "what took its place has expired"
    for asked in (ContextInput(query=query), ContextInput(session_id="s1")):
        context = (await core.context(ALICE, asked)).context
        assert "no longer true: User lives in Berlin" in context
        assert "Porto" not in context
    deep = await core.retrieve(ALICE, RetrieveInput(query=query, mode="reconstruct"))
    assert "Porto" not in (deep.context or "")
