"""What users of memory systems complain of most, asked of the library: each test is a thing that went wrong for somebody."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from pydantic import ValidationError

from memory_core.core import MemoryCore
from memory_core.domain.models import Memory, Outcome
from memory_core.domain.requests import ListInput, RetrieveInput, SaveInput
from tests.builders import ALICE, NOW
from tests.world import WordsEmbedder, World, fact, listed, rule, turn


@pytest.fixture
async def words(world: World) -> MemoryCore:
    return await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.5)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the server listens on port 8080", "the server listens on port 8081"),
        ("Ana does eat fish at home", "Ana does not eat fish at home"),
        ("Ana prefers tea over coffee", "Ana prefers coffee over tea"),
        ("the meeting is before lunch today", "the meeting is after lunch today"),
        ("the budget is 1,000 dollars", "the budget is 1,000 euros"),
        ("the script needs python 2 here", "the script needs python 3 here"),
        ("we write it in C++ now", "we write it in C# now"),
        ("кофе стоит на столе", "чай стоит на столе"),
    ],
)
async def test_near_equal_statements_that_differ_in_what_counts_are_both_kept(words: MemoryCore, one: str, other: str) -> None:
    for text in (one, other, one, other):
        await words.save(ALICE, fact(text))
    assert sorted(memory.content for memory in await listed(words)) == sorted([one, other])


async def test_equal_statements_in_other_dress_are_kept_once(words: MemoryCore) -> None:
    texts = ["Ana lives in Oslo", "ana lives in oslo.", "  Ana  lives in Oslo!", "Ana lives in the Oslo"]
    done = [await words.save(ALICE, fact(text)) for text in texts]
    assert [one.outcome for one in done] == [Outcome.CREATED] + [Outcome.REINFORCED] * 3


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("お茶は日本語で緑茶と言います", "緑茶"),
        ("私は猫が好きです", "猫"),
        ("Она пьёт кофе по утрам", "кофе"),
        ("تشرب القهوة كل صباح", "القهوة"),
        ("Sie trinkt grünen Tee", "grünen Tee"),
        ("written in C++ by hand", "C++"),
        ("the party was 🎉 great", "party"),
    ],
)
async def test_every_language_is_found_by_its_own_words(core: MemoryCore, text: str, query: str) -> None:
    await core.bulk(ALICE, [turn(text, None), turn("the boat sank at noon", None), turn("昨日は雨でした", None)])
    found = await core.retrieve(ALICE, RetrieveInput(query=query))
    assert [hit.memory.content for hit in found.results] == [text]


async def test_tags_of_every_script_stay_themselves(core: MemoryCore) -> None:
    tags = ["日本語", "кофе", "C++", "C#", "C", "python 2", "python 3", "🎉", "Straße"]
    saved = await core.save(ALICE, turn("tagged", tags=tags))
    assert saved.memory.tags == tags
    for tag in tags:
        assert len((await core.list(ALICE, ListInput(tag=tag))).memories) == 1
    assert (await core.list(ALICE, ListInput(tag="python"))).memories == ()


async def test_a_moment_without_a_zone_is_refused_and_one_with_a_zone_is_kept_as_the_moment_it_is(core: MemoryCore) -> None:
    with pytest.raises(ValidationError, match="time zone"):
        SaveInput(content="x", event_timestamp=datetime(2026, 5, 8, 12, 0))  # noqa: DTZ001
    tokyo = timezone(timedelta(hours=9))
    saved = await core.save(ALICE, turn("breakfast", event_timestamp=datetime(2026, 5, 9, 0, 30, tzinfo=tokyo)))
    assert saved.memory.event_timestamp == datetime(2026, 5, 8, 15, 30, tzinfo=timezone.utc)
    assert saved.memory.public()["event_timestamp"].endswith("Z")


@pytest.mark.parametrize("name", ["app_id", "user_id"])
async def test_metadata_can_name_no_scope(name: str) -> None:
    with pytest.raises(ValidationError, match="scope"):
        SaveInput(content="x", metadata={name: "bob"})


async def test_what_one_session_said_is_known_in_the_next(core: MemoryCore) -> None:
    saved = await core.save(ALICE, turn("the red boat sank", "yesterday"))
    found = await core.retrieve(ALICE, RetrieveInput(query="red boat"))
    assert [hit.memory.id for hit in found.results] == [saved.memory.id]
    assert (await core.get(ALICE, saved.memory.id)).session_id == "yesterday"
    assert [one.id for one in await listed(core)] == [saved.memory.id]


async def test_a_contradiction_in_another_session_is_seen(core: MemoryCore) -> None:
    slot = {"subject": "Ana", "attribute": "city"}
    await core.save(ALICE, fact("Ana lives in Oslo", session_id="s1", agent_id="a1", **slot))
    new = await core.save(ALICE, fact("Ana lives in Bergen", session_id="s2", agent_id="a2", **slot))
    assert new.outcome is Outcome.SUPERSEDED


async def test_a_corrected_fact_comes_back_by_no_door(core: MemoryCore, world: World) -> None:
    slot = {"subject": "Ana", "attribute": "city", "session_id": "s1"}
    await core.save(ALICE, fact("Ana lives in Oslo", **slot))
    world.clock.forward(60)
    new = await core.save(ALICE, fact("Ana lives in Bergen", **slot))
    for asked in (RetrieveInput(query="where Ana lives"), RetrieveInput(query="where Ana lives", session_id="s1")):
        assert [hit.memory.id for hit in (await core.retrieve(ALICE, asked)).results] == [new.memory.id]
    assert [one.id for one in await listed(core)] == [new.memory.id]
    assert [one.content for one in await listed(core, at=NOW)] == ["Ana lives in Oslo"], "it was true, and stays so for its time"


async def test_importance_halves_with_time_and_not_with_looking(core: MemoryCore, world: World) -> None:
    saved = await core.save(ALICE, turn("the red boat sank", importance=0.8))

    async def importance(**asked: Any) -> float:
        (hit,) = (await core.retrieve(ALICE, RetrieveInput(query="red boat", **asked))).results
        return round(hit.importance_score, 6)

    assert [await importance() for _ in range(5)] == [0.8] * 5
    world.clock.forward(30 * 86_400)
    then = world.clock.now()
    assert [await importance(at=then) for _ in range(5)] == [0.4] * 5
    assert await importance() == 0.4
    await core.flush_touches()
    assert await importance() == 0.8  # somebody asked for it, so it begins to fade anew, from the very base
    stored: Memory = await core.get(ALICE, saved.memory.id)
    assert (stored.importance_base, stored.etag) == (0.8, saved.memory.etag)


async def test_a_value_is_not_lost_in_equal_words(core: MemoryCore) -> None:
    for limit in (8080, 8081):
        await core.save(ALICE, fact("the limit is set", value={"limit": limit}))
    assert sorted(one.value["limit"] for one in await listed(core)) == [8080, 8081]
    await core.save(ALICE, rule("limit", {"limit": 8080}))
    assert (await core.procedure(ALICE, "limit")).value == {"limit": 8080}
