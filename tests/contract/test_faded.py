"""What fades is no longer offered unasked; what is asked for is found, and being found brings it
back into use.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Foresight, Memory, Outcome, Status
from memory_core.domain.ranking.recipes import FADED_ORDER
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import (
    Context,
    ContextInput,
    CopyInput,
    RetrieveInput,
    SaveInput,
    UpdateInput,
)
from memory_core.domain.results import Hit
from memory_core.functions.triggers import send_for_work
from tests.builders import ALICE, NOW
from tests.contract.test_decay import DAY, decayed, foreseen
from tests.contract.test_profile import user_fact
from tests.contract.test_runs import standing
from tests.runs import QUEUE
from tests.tasks import Hand
from tests.telling import Tellers, tell
from tests.world import WordsEmbedder, World, fact, find, listed, turn

LOCKER = "my locker at the gym is the blue one"
ASKED = "locker at the gym"


async def hour(core: MemoryCore) -> None:
    """All that an hour brings: the timer's work, and that of the queue."""
    await send_for_work(core)
    await Hand(core, QUEUE).work_all()


async def days(core: MemoryCore, world: World, count: int) -> None:
    """So many days go by, in which nothing is asked; then an hour comes."""
    world.clock.forward(count * DAY)
    await hour(core)


async def hits(core: MemoryCore, query: str, **fields: object) -> tuple[Hit, ...]:
    return (
        await core.retrieve(ALICE, RetrieveInput.model_validate({"query": query, **fields}))
    ).results


async def memories_in(core: MemoryCore, context: Context, kind: str = "memories") -> list[str]:
    """What a part of a context says, without reading it by id, which is an access."""
    names = [name for part in context.parts if part.kind == kind for name in part.ids]
    contents = {memory.id: memory.content for memory in await listed(core, status="all")}
    return [contents[name] for name in names]


async def faded(core: MemoryCore, world: World, *items: SaveInput) -> list[Memory]:
    """Memories that have faded, and were marked so by hand."""
    saved = [(await core.save(ALICE, item)).memory for item in items]
    await days(core, world, 150)
    await decayed(core)
    assert {memory.id for memory in await listed(core, status="decayed")} >= {
        memory.id for memory in saved
    }
    return saved


async def status_of(core: MemoryCore, memory: Memory) -> tuple[Status, str]:
    """As a list of all statuses has it: reading it by its id would be an access."""
    stored_memory = next(
        stored_memory
        for stored_memory in await listed(core, status="all")
        if stored_memory.id == memory.id
    )
    return stored_memory.status, stored_memory.status_reason


@pytest.mark.parametrize("asked_after", [150, 400])
async def test_what_was_told_in_may_is_found_in_october_and_a_year_later(
    words: MemoryCore, world: World, asked_after: int
) -> None:
    await words.save(ALICE, turn(LOCKER))
    await words.save(ALICE, turn("the weather is fine today", "s2"))
    await days(words, world, asked_after)
    assert await listed(words) == []
    assert await find(words, ASKED) == [LOCKER]


async def test_a_faded_one_says_so_with_its_age_and_a_fresh_one_does_not(
    words: MemoryCore, world: World
) -> None:
    await faded(words, world, turn(LOCKER))
    await words.save(ALICE, turn("the cat is called Pixel", "s2"))
    (old,) = await hits(words, ASKED)
    assert (old.tier, old.age_days) == ("faded", 150)
    (fresh,) = await hits(words, "the cat is called")
    assert (fresh.tier, fresh.age_days) == ("long", None)


async def test_of_fifty_pairs_that_fit_equally_the_fresh_one_comes_first(
    words: MemoryCore, world: World
) -> None:
    for start in (0, 25):
        await words.bulk(
            ALICE,
            [
                turn(f"kite{n} flew over Lisbon", None, importance=0.5)
                for n in range(start, start + 25)
            ],
        )
    await days(words, world, 150)
    assert await listed(words) == []
    for start in (0, 25):
        await words.bulk(
            ALICE,
            [
                turn(f"kite{n} flew over Porto", None, importance=0.5)
                for n in range(start, start + 25)
            ],
        )
    answers = [await find(words, f"kite{n} flew over", limit=2) for n in range(50)]
    assert all(len(answer) == 2 for answer in answers)
    assert sum("Porto" in first for first, _ in answers) >= 48


async def test_fading_leaves_relevance_as_it_was_and_explain_shows_the_factor(
    words: MemoryCore, world: World
) -> None:
    await words.save(ALICE, turn(LOCKER))
    (before,) = await hits(words, ASKED, explain=True)
    await days(words, world, 1_000)
    (after,) = await hits(words, ASKED, explain=True)
    assert after.relevance_score == before.relevance_score
    assert before.explain is not None
    assert after.explain is not None
    assert (before.explain["faded"], after.explain["faded"]) == (None, FADED_ORDER)


async def test_being_found_brings_a_faded_memory_back_with_the_next_hour(
    words: MemoryCore, world: World
) -> None:
    (saved,) = await faded(words, world, turn(LOCKER))
    await days(words, world, 3)
    events = len(await world.log())
    assert await find(words, ASKED) == [LOCKER]
    assert await status_of(words, saved) == (Status.DECAYED, "importance_decay"), (
        "a search writes nothing"
    )
    world.clock.forward(3600)
    await hour(words)
    assert await status_of(words, saved) == (Status.ACTIVE, "recalled")
    recalled = (await world.log())[events:]
    assert [(event.event_type, event.memory_id, event.actor) for event in recalled] == [
        ("recalled", saved.id, "consolidation")
    ]
    assert (await hits(words, ASKED))[0].tier == "long"


async def test_a_run_asked_for_by_hand_and_decay_bring_it_back_too(
    words: MemoryCore, world: World
) -> None:
    first, second = await faded(words, world, turn(LOCKER), turn("the cat is called Pixel", "s2"))
    await find(words, ASKED)
    await words.consolidate(ALICE, ConsolidateInput())
    await Hand(words, QUEUE).work_all()
    assert await status_of(words, first) == (Status.ACTIVE, "recalled")
    await find(words, "the cat is called")
    assert (await foreseen(words)).counts == {"recalled": 1, "decayed": 0, "compressed": 0}
    assert (await decayed(words)).result == {
        "counts": {"recalled": 1, "decayed": 0, "compressed": 0},
        "capped": False,
    }
    assert await status_of(words, second) == (Status.ACTIVE, "recalled")
    assert (await decayed(words)).result == {
        "counts": {"recalled": 0, "decayed": 0, "compressed": 0},
        "capped": False,
    }


async def test_what_nobody_asked_for_stays_faded(words: MemoryCore, world: World) -> None:
    asked, other = await faded(words, world, turn(LOCKER), turn("the cat is called Pixel", "s2"))
    await find(words, ASKED)
    await days(words, world, 1)
    assert await status_of(words, asked) == (Status.ACTIVE, "recalled")
    assert await status_of(words, other) == (Status.DECAYED, "importance_decay")


async def test_one_that_is_active_again_fades_again_in_its_own_time(
    words: MemoryCore, world: World
) -> None:
    (saved,) = await faded(words, world, turn(LOCKER))
    await find(words, ASKED)
    await days(words, world, 1)
    await days(words, world, 50)
    assert (await status_of(words, saved))[0] is Status.ACTIVE
    await days(words, world, 150)
    assert await listed(words) == []
    await decayed(words)
    assert (await status_of(words, saved))[0] is Status.DECAYED
    assert [event.event_type for event in await world.log()] == [
        "created",
        "decayed",
        "recalled",
        "decayed",
    ]


async def test_a_context_that_tells_a_faded_memory_brings_it_back_whatever_process_wrote_it(
    world: World,
) -> None:
    core = await world.core(embedder=WordsEmbedder())
    (saved,) = await faded(core, world, turn(LOCKER))
    context = await core.context(ALICE, ContextInput(query=f"am I {ASKED}?"))
    assert LOCKER in context.context
    await world.end(core)
    other = await world.core(embedder=WordsEmbedder())
    world.clock.forward(3600)
    await hour(other)
    assert await status_of(other, saved) == (Status.ACTIVE, "recalled")
    memory = await other.get(ALICE, saved.id)
    assert memory.access_count == 1


async def test_a_reconstruct_brings_back_what_its_context_tells(
    words: MemoryCore, world: World
) -> None:
    (saved,) = await faded(words, world, turn(LOCKER))
    answer = await words.retrieve(ALICE, RetrieveInput(query=ASKED, mode="reconstruct"))
    assert LOCKER in (answer.context or "")
    await days(words, world, 1)
    assert await status_of(words, saved) == (Status.ACTIVE, "recalled")


async def test_an_agent_that_reads_contexts_alone_sees_nothing_fade_that_it_is_shown(
    words: MemoryCore, world: World
) -> None:
    memory, other = [
        (await words.save(ALICE, item)).memory
        for item in (turn(LOCKER), turn("the cat is called Pixel", "s2"))
    ]
    for _ in range(10):
        await words.context(ALICE, ContextInput(query=f"am I {ASKED}?", parts=["memories"]))
        await days(words, world, 20)
    assert [memory.id for memory in await listed(words)] == [memory.id]
    await decayed(words)
    assert (await status_of(words, memory))[0] is Status.ACTIVE
    assert (await status_of(words, other))[0] is Status.DECAYED


async def test_looking_back_in_time_is_no_access(words: MemoryCore, world: World) -> None:
    (saved,) = await faded(words, world, turn(LOCKER))
    assert await find(words, ASKED, at=world.clock.now()) == [LOCKER]
    await words.context(ALICE, ContextInput(query=ASKED, at=world.clock.now()))
    await days(words, world, 1)
    assert (await status_of(words, saved))[0] is Status.DECAYED


async def test_lists_profile_and_foresight_leave_out_what_has_faded(
    words: MemoryCore, world: World
) -> None:
    diet = Foresight(
        description="Ana is on a keto diet", start_time=NOW, end_time=NOW + timedelta(days=900)
    )
    await words.bulk(
        ALICE, [user_fact("home city", "Oslo"), turn("she began a diet", foresight=[diet])]
    )
    await hour(words)
    assert "keto" in (await words.context(ALICE, ContextInput())).context
    await days(words, world, 150)
    assert [memory.content for memory in await listed(words)] == [
        "The home city of user is Oslo"
    ] or len(await listed(words)) == 1
    unasked = await words.context(ALICE, ContextInput(parts=["profile", "foresight"]))
    assert "Oslo" in unasked.context
    assert "keto" not in unasked.context
    assert (
        "keto"
        in (await words.context(ALICE, ContextInput(query="which diet did she begin?"))).context
    )


async def test_the_last_turns_of_the_last_session_are_told_though_they_have_faded(
    words: MemoryCore, world: World
) -> None:
    await faded(words, world, turn("we stopped at chapter nine", "monday"))
    context = await words.context(ALICE, ContextInput(query="let us go on"))
    assert await memories_in(words, context, "turns") == ["we stopped at chapter nine"]
    named = await words.context(ALICE, ContextInput(session_id="monday"))
    assert await memories_in(words, named, "turns") == ["we stopped at chapter nine"]


async def test_a_request_and_a_setting_hide_what_has_faded_as_strictly_as_before(
    words: MemoryCore, world: World
) -> None:
    (saved,) = await faded(words, world, turn(LOCKER))
    assert await find(words, ASKED, include_decayed=False) == []
    assert (
        await words.context(ALICE, ContextInput(query=ASKED, include_decayed=False))
    ).context == ""
    strict = await world.core(embedder=WordsEmbedder(), forgetting="strict")
    assert await find(strict, ASKED) == []
    assert (await strict.context(ALICE, ContextInput(query=ASKED))).context == ""
    assert await find(strict, ASKED, include_decayed=True) == [LOCKER]
    await hour(strict)
    assert await status_of(strict, saved) == (Status.DECAYED, "importance_decay")
    await strict.restore(ALICE, saved.id)
    assert await find(strict, ASKED) == [LOCKER]


async def test_a_statement_told_again_after_it_faded_is_not_doubled(
    words: MemoryCore, world: World
) -> None:
    (saved,) = await faded(words, world, fact("the roof leaks in autumn"))
    again = await words.save(ALICE, fact("the roof leaks in autumn"))
    assert (again.outcome, again.memory.id) == (Outcome.REINFORCED, saved.id)
    assert (again.memory.status, again.memory.status_reason) == (Status.ACTIVE, "recalled")
    assert [memory.id for memory in await listed(words, status="all")] == [saved.id]


async def test_a_turn_sent_again_after_it_faded_is_not_doubled(
    words: MemoryCore, world: World
) -> None:
    (saved,) = await faded(words, world, turn(LOCKER, event_timestamp=NOW))
    again = await words.save(ALICE, turn(LOCKER, event_timestamp=NOW))
    assert (again.outcome, again.memory.id, again.memory.status) == (
        Outcome.REINFORCED,
        saved.id,
        Status.ACTIVE,
    )
    assert len(await listed(words, status="all")) == 1


async def test_a_faded_statement_does_not_contradict_a_new_one(
    words: MemoryCore, world: World
) -> None:
    await faded(words, world, fact("the rent is 900 euros"))
    saved = await words.save(ALICE, fact("the rent is 950 euros"))
    assert (saved.outcome, saved.conflict) == (Outcome.CREATED, None)


async def test_a_conversation_is_quoted_after_a_year_and_comes_back_with_its_cell(
    world: World,
) -> None:
    core = await world.core(embedder=WordsEmbedder(), agents=Tellers(), rules=Tellers())
    await tell(core, LOCKER, "thank you for telling me")
    await days(core, world, 400)
    assert await listed(core, type="episodic") == []
    (hit, *_) = await hits(core, ASKED, types=["episodic"])
    assert (hit.tier, [passage.text for passage in hit.passages][:1]) == ("faded", [LOCKER])
    context = await core.context(ALICE, ContextInput(query=f"am I {ASKED}?", parts=["memories"]))
    assert LOCKER in context.context
    await days(core, world, 1)
    assert hit.memory.id in [
        memory.id for memory in await listed(core, status="active", type="episodic")
    ]
    memories = await listed(core, status="active", category="message")
    assert LOCKER in [memory.content for memory in memories]


async def test_a_session_that_has_faded_is_searched_like_any_other(
    words: MemoryCore, world: World
) -> None:
    await faded(words, world, turn(LOCKER, "may"))
    await words.save(ALICE, turn("lockers are blue", "october"))
    assert await find(words, ASKED, session_id="may") == [LOCKER]


async def test_a_memory_without_any_weight_is_found_and_stays_faded(
    words: MemoryCore, world: World
) -> None:
    (saved,) = await faded(words, world, turn(LOCKER, importance=0.0))
    assert await find(words, ASKED) == [LOCKER]
    await days(words, world, 1)
    assert (await status_of(words, saved))[0] is Status.DECAYED
    assert len(await world.log()) == 2


async def idle(core: MemoryCore, world: World, *items: SaveInput) -> list[Memory]:
    """Memories of a user who then says and asks nothing for 400 days of hourly runs: all have
    faded, and nothing marks them.
    """
    saved = [(await core.save(ALICE, item)).memory for item in items]
    await hour(core)
    written = len(await world.log())
    for _ in range(8):
        await days(core, world, 50)
    assert len(await world.log()) == written
    assert {memory.status for memory in await listed(core, status="all")} == {Status.ACTIVE}
    return saved


async def test_a_user_who_is_idle_is_not_due_for_what_fades(
    words: MemoryCore, world: World
) -> None:
    await idle(words, world, turn(LOCKER), turn("the cat is called Pixel", "s2"))
    due_at = (await standing(world)).due_at
    assert due_at is not None
    assert due_at > NOW + timedelta(days=3650), "for the archive alone, in ten years"


async def test_lists_and_the_unasked_parts_of_a_context_leave_out_what_faded_unmarked(
    words: MemoryCore, world: World
) -> None:
    diet = Foresight(
        description="Ana is on a keto diet", start_time=NOW, end_time=NOW + timedelta(days=900)
    )
    (saved,) = await idle(words, world, turn("she began a diet", foresight=[diet]))
    assert await listed(words) == []
    assert [memory.id for memory in await listed(words, status="active")] == [saved.id], (
        "as something that has expired is"
    )
    assert (
        "keto"
        not in (await words.context(ALICE, ContextInput(parts=["profile", "foresight"]))).context
    )


async def test_what_faded_unmarked_is_found_marked_hidden_and_brought_back_as_what_is_marked(
    words: MemoryCore, world: World
) -> None:
    (saved, other) = await idle(words, world, turn(LOCKER), turn("the cat is called Pixel", "s2"))
    assert await hits(words, ASKED, include_decayed=False) == ()
    (hit,) = await hits(words, ASKED, explain=True)
    assert (hit.memory.id, hit.tier, hit.age_days) == (saved.id, "faded", 400)
    assert hit.explain is not None
    assert hit.explain["faded"] == FADED_ORDER
    await words.flush_accesses()
    assert [memory.id for memory in await listed(words)] == [saved.id]
    assert [hit.tier for hit in await hits(words, ASKED)] == ["long"]
    assert [
        hit.tier for hit in await hits(words, "the cat called Pixel", include_decayed=True)
    ] == ["faded"]
    assert other.id in {memory.id for memory in await listed(words, status="all")}


async def test_time_alone_writes_nothing(words: MemoryCore, world: World) -> None:
    (saved,) = await idle(words, world, turn(LOCKER))
    await words.save(ALICE, turn("back from the mountains", "s3"))
    await hour(words)
    assert await status_of(words, saved) == (Status.ACTIVE, "created")
    assert [event.event_type for event in await world.log()] == ["created", "created"]


async def test_a_strict_one_marks_what_fades_though_its_user_is_idle(world: World) -> None:
    strict = await world.core(embedder=WordsEmbedder(), forgetting="strict")
    saved = (await strict.save(ALICE, turn(LOCKER))).memory
    await hour(strict)
    await days(strict, world, 150)
    assert (await status_of(strict, saved))[0] is Status.DECAYED


async def test_editing_or_copying_one_that_has_faded_brings_it_into_use(
    words: MemoryCore, world: World
) -> None:
    edited, copied = await faded(words, world, fact("the door is green"), fact("the roof leaks"))
    edited, copied = [await words.get(ALICE, memory.id) for memory in (edited, copied)]
    after = await words.update(
        ALICE, edited.id, UpdateInput(content="the door is blue"), edited.etag
    )
    assert (after.status, after.status_reason) == (Status.ACTIVE, "manual_update")
    copy = await words.copy(ALICE, copied.id, CopyInput(to_agent_id="helper"))
    assert copy.status is Status.ACTIVE
    assert {memory.id for memory in await listed(words)} >= {edited.id, copy.id}


async def test_a_cell_that_never_fades_is_not_told_as_faded_by_a_message_that_has(
    world: World, core: MemoryCore
) -> None:
    await tell(
        core,
        "I'm allergic to penicillin.",
        ("assistant", "Noted."),
        "We had pasta on the terrace with Jonas.",
        ("assistant", "Nice!"),
    )
    await days(core, world, 400)
    answer_hits = await hits(
        core, "With whom did we have pasta on the terrace?", similarity_threshold=0.0
    )
    vital_hits = [hit for hit in answer_hits if hit.memory.worth == "vital"]
    assert vital_hits
    assert {(hit.tier, hit.age_days) for hit in vital_hits} == {("long", None)}
