"""What users of memory systems complain of most, asked of the library: each test is a thing that
went wrong for a user.

| what goes wrong | here | elsewhere |
|---|---|---|
| a model fails, and what was told is lost | | `test_an_agent_that_raises_is_asked_again_and_nobody_else_is`, and all beside it |
| a prompt's example is stored as a fact | | `test_a_fact_of_the_example_among_others_is_dropped_whatever_it_is_dressed_in` |
| | | `test_a_fact_is_dropped_and_counted_when_its_proof_was_not_said_where_it_says` |
| junk, and what was recalled is learnt again | greetings | `test_recalled_memories_in_a_message_are_not_learnt_again` |
| retries and races make doubles | | `test_twenty_at_once_from_two_processes_have_one_effect_and_one_answer` |
| | | `test_twenty_identical_saves_at_once_make_one_memory_reinforced_nineteen_times` |
| what differs is taken for the same | in numbers, "not", order | `test_both_sides_see_the_same_and_agree_on_who_stays` |
| what was corrected comes back | by any door | `test_an_episode_that_told_what_has_fallen_says_so` |
| contradictions stay unseen | in other languages, other sessions | `test_an_uncertain_contradiction_keeps_both_pending` |
| a deletion does not reach everything | | `test_not_a_byte_is_left_whoever_was_about_to_write` |
| | | `test_two_hundred_memories_go_in_chunks_and_are_counted` |
| others' memories are seen | scope in metadata | `test_a_walk_over_all_routes_never_meets_the_victim` |
| | | `test_names_that_would_run_together_stay_apart` |
| a session hides what another one knows | | |
| a job is stuck | | `test_a_message_whose_attempts_were_spent_by_dying_processes_is_poisoned_without_another` |
| | | `test_a_task_that_fails_five_times_is_poisoned_and_a_retry_begins_anew` |
| times lose their zone | | `test_yesterday_is_found_by_its_day_alone_whatever_was_done` |
| another embedder finds nothing, in silence | | `test_vectors_of_another_embedder_are_not_compared_and_made_anew_in_place` |
| a text gives orders | | `test_no_text_changes_what_was_known_before_shows_what_others_know_or_stores_what_a_prompt_shows` |
| | | `test_a_context_keeps_its_budget_and_nothing_in_it_can_end_it` |
| a reranker is waited for, or comes too late | | `test_what_was_behind_the_limit_may_come_first` |
| | | `test_one_that_fails_or_is_late_changes_nothing_and_is_named` |
| a write costs a hundred calls of a model | | `test_each_agent_is_asked_once_a_cell_and_the_boundary_once_in_fifty_messages` |
| | | `test_an_app_that_has_used_up_its_day_costs_nothing_more_until_the_next` |
| decay adds up | | `test_240_hourly_calls_are_as_good_as_one` |
| an outage looks like no memories | | `test_without_the_long_term_reads_are_a_503_and_not_empty` |
| only English works | tags, words | `test_words_alone_find_what_was_asked_for_in_eight_languages` |
| a model's chatter is stored | | `test_what_stands_around_an_answer_is_taken_off` |
| a person's data can't be taken along, or erased | | `test_everything_goes_and_the_receipt_says_how_much` |
| a long run overwrites what came meanwhile | | `test_what_a_user_writes_while_a_run_is_under_way_stands` |
"""  # noqa: E501

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Outcome
from memory_core.domain.requests.maintenance import DecayInput
from memory_core.domain.requests.memories import ListInput, RetrieveInput, SaveInput
from tests.builders import ALICE, NOW
from tests.telling import tell
from tests.world import WordsEmbedder, World, fact, listed, rule, turn

ON_ONE_STORE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
"""For what rules say: stores have no part in it."""


def test_each_of_the_tests_that_are_named_above_is_there() -> None:
    there = "".join(
        file.read_text(encoding="utf-8") for file in Path(__file__).parents[1].rglob("test_*.py")
    )
    named = re.findall(r"`(test_\w+)`", __doc__ or "")
    assert len(named) > 20
    assert [name for name in named if f"def {name}(" not in there] == []


@pytest.fixture
async def words(world: World) -> MemoryCore:
    return await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.5)


@pytest.mark.parametrize(
    ("first", "other"),
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
async def test_near_equal_statements_that_differ_in_what_counts_are_both_kept(
    words: MemoryCore, first: str, other: str
) -> None:
    for text in (first, other, first, other):
        await words.save(ALICE, fact(text))
    assert sorted(memory.content for memory in await listed(words)) == sorted([first, other])


@ON_ONE_STORE
@pytest.mark.parametrize(
    "lines",
    [
        ("Hello!",),
        ("Hi there", ("assistant", "Hello!")),
        ("hey", ("assistant", "Hi! 👋")),
        ("Good morning!", ("assistant", "Good morning! How can I help you today?")),
        ("thanks!", ("assistant", "You're welcome! Let me know if you need anything else.")),
        ("Hallo, wie geht's?", ("assistant", "Hallo! Wie kann ich dir heute helfen?")),
        ("こんにちは", ("assistant", "こんにちは！今日はどのようなご用件でしょうか？")),
        ("Merci beaucoup",),
    ],
)
async def test_from_a_greeting_nothing_is_learnt(world: World, lines: tuple[Any, ...]) -> None:
    """That it was said is an episode; no fact, note, pattern or preference comes of it."""
    core = await world.core(agents=OfflineAgents(), rules=OfflineAgents())
    assert (await tell(core, *lines)).status == "succeeded"
    (episode,) = await listed(core, status="all")
    assert (episode.type, episode.atomic_facts, episode.foresight) == ("episodic", [], [])
    assert (episode.worth, episode.follow_up_potential) == ("small_talk", [])


@ON_ONE_STORE
@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("Ana isst Fisch zu Hause", "Ana isst keinen Fisch zu Hause"),
        ("Ana come pescado en casa", "Ana no come pescado en casa"),
        ("Анна ест рыбу дома каждый день", "Анна не ест рыбу дома каждый день"),
        ("会議は8時に始まります", "会議は9時に始まります"),
        ("她喜欢喝茶", "她不喜欢喝茶"),
    ],
)
async def test_a_contradiction_in_another_language_is_kept_open_for_all_to_see(
    words: MemoryCore, first: str, other: str
) -> None:
    await words.save(ALICE, fact(first))
    saved = await words.save(ALICE, fact(other))
    assert saved.conflict is not None
    assert (saved.outcome, saved.conflict.status) == (Outcome.KEPT_BOTH, "pending")
    assert {memory.conflict_state for memory in await listed(words)} == {"pending"}


async def test_equal_statements_in_other_dress_are_kept_once(words: MemoryCore) -> None:
    texts = [
        "Ana lives in Oslo",
        "ana lives in oslo.",
        "  Ana  lives in Oslo!",
        "Ana lives in the Oslo",
    ]
    done = [await words.save(ALICE, fact(text)) for text in texts]
    assert [result.outcome for result in done] == [Outcome.CREATED] + [Outcome.REINFORCED] * 3


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
async def test_every_language_is_found_by_its_own_words(
    core: MemoryCore, text: str, query: str
) -> None:
    await core.bulk(
        ALICE, [turn(text, None), turn("the boat sank at noon", None), turn("昨日は雨でした", None)]
    )
    answer = await core.retrieve(ALICE, RetrieveInput(query=query))
    assert [hit.memory.content for hit in answer.results] == [text]


async def test_tags_of_every_script_stay_themselves(core: MemoryCore) -> None:
    tags = ["日本語", "кофе", "C++", "C#", "C", "python 2", "python 3", "🎉", "Straße"]
    saved = await core.save(ALICE, turn("tagged", tags=tags))
    assert saved.memory.tags == tags
    for tag in tags:
        assert len((await core.list(ALICE, ListInput(tag=tag))).memories) == 1
    assert (await core.list(ALICE, ListInput(tag="python"))).memories == ()


async def test_a_moment_without_a_zone_is_refused_and_one_with_a_zone_is_kept_as_the_moment_it_is(
    core: MemoryCore,
) -> None:
    with pytest.raises(ValidationError, match="time zone"):
        SaveInput(content="x", event_timestamp=datetime(2026, 5, 8, 12, 0))  # noqa: DTZ001
    tokyo = timezone(timedelta(hours=9))
    saved = await core.save(
        ALICE, turn("breakfast", event_timestamp=datetime(2026, 5, 9, 0, 30, tzinfo=tokyo))
    )
    assert saved.memory.event_timestamp == datetime(2026, 5, 8, 15, 30, tzinfo=timezone.utc)
    assert saved.memory.public()["event_timestamp"].endswith("Z")


@pytest.mark.parametrize("name", ["app_id", "user_id"])
async def test_metadata_can_name_no_scope(name: str) -> None:
    with pytest.raises(ValidationError, match="scope"):
        SaveInput(content="x", metadata={name: "bob"})


async def test_what_one_session_said_is_known_in_the_next(core: MemoryCore) -> None:
    saved = await core.save(ALICE, turn("the red boat sank", "yesterday"))
    answer = await core.retrieve(ALICE, RetrieveInput(query="red boat"))
    assert [hit.memory.id for hit in answer.results] == [saved.memory.id]
    assert (await core.get(ALICE, saved.memory.id)).session_id == "yesterday"
    assert [memory.id for memory in await listed(core)] == [saved.memory.id]


async def test_a_contradiction_in_another_session_is_seen(core: MemoryCore) -> None:
    slot = {"subject": "Ana", "attribute": "city"}
    await core.save(ALICE, fact("Ana lives in Oslo", session_id="s1", agent_id="a1", **slot))
    new = await core.save(
        ALICE, fact("Ana lives in Bergen", session_id="s2", agent_id="a2", **slot)
    )
    assert new.outcome is Outcome.SUPERSEDED


async def test_a_corrected_fact_comes_back_by_no_door(core: MemoryCore, world: World) -> None:
    slot = {"subject": "Ana", "attribute": "city", "session_id": "s1"}
    await core.save(ALICE, fact("Ana lives in Oslo", **slot))
    world.clock.forward(60)
    new = await core.save(ALICE, fact("Ana lives in Bergen", **slot))
    for asked in (
        RetrieveInput(query="where Ana lives"),
        RetrieveInput(query="where Ana lives", session_id="s1"),
    ):
        assert [hit.memory.id for hit in (await core.retrieve(ALICE, asked)).results] == [
            new.memory.id
        ]
    assert [memory.id for memory in await listed(core)] == [new.memory.id]
    assert [memory.content for memory in await listed(core, at=NOW)] == ["Ana lives in Oslo"], (
        "it was true, and stays so for its time"
    )


async def test_importance_halves_with_time_and_not_with_looking(
    core: MemoryCore, world: World
) -> None:
    saved = await core.save(ALICE, turn("the red boat sank", importance=0.8))

    async def importance(**asked: Any) -> float:
        (hit,) = (await core.retrieve(ALICE, RetrieveInput(query="red boat", **asked))).results
        return round(hit.importance_score, 6)

    assert [await importance() for _ in range(5)] == [0.8] * 5
    world.clock.forward(30 * 86_400)
    then = world.clock.now()
    assert [await importance(at=then) for _ in range(5)] == [0.4] * 5
    assert await importance() == 0.4
    await core.flush_accesses()
    # which adds what was written down, as a day does
    await core.decay(ALICE, DecayInput(dry_run=True))
    # it was retrieved, so it begins to fade again, from the very base
    assert await importance() == 0.8
    stored: Memory = await core.get(ALICE, saved.memory.id)
    assert (stored.importance_base, stored.etag) == (0.8, saved.memory.etag)


async def test_a_value_is_not_lost_in_equal_words(core: MemoryCore) -> None:
    for limit in (8080, 8081):
        await core.save(ALICE, fact("the limit is set", value={"limit": limit}))
    assert sorted(memory.value["limit"] for memory in await listed(core)) == [8080, 8081]
    await core.save(ALICE, rule("limit", {"limit": 8080}))
    assert (await core.procedure(ALICE, "limit")).value == {"limit": 8080}
