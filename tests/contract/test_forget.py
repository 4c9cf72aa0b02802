"""Forgetting, as its users see it: what a filter fits, softly or for good, through deaths,
rivals and writers in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from memory_core.adapters.system import RandomIds
from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.errors import Conflict, NotFound
from memory_core.domain.memory import MemoryType, Status
from memory_core.domain.messages import MESSAGE
from memory_core.domain.requests.maintenance import ForgetInput, ReplayInput
from memory_core.domain.requests.memories import (
    ClearInput,
    CopyInput,
    RetrieveInput,
    StatusInput,
    UpdateInput,
)
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import LongTermStore
from tests.agents import ScriptedAgents
from tests.builders import ALICE, NOW
from tests.past import told_by_the_log
from tests.tasks import Hand, converse, finished, task_of, told
from tests.world import (
    BOB,
    DiesAfter,
    Killed,
    Meanwhile,
    WordsEmbedder,
    World,
    fact,
    find,
    listed,
    rule,
    turn,
)


def asked(
    mode: str = "soft", *, dry_run: bool = False, session_id: str | None = None, **filters: Any
) -> ForgetInput:
    return ForgetInput.model_validate(
        {"mode": mode, "dry_run": dry_run, "session_id": session_id, "filter": filters}
    )


async def forgotten(
    core: MemoryCore,
    mode: str = "soft",
    call: Call = Call(),  # noqa: B008
    **filters: Any,
) -> Task:
    accepted = await core.forget(ALICE, asked(mode, **filters), call)
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()
    task = await task_of(core, accepted)
    assert task.status == "succeeded", (task.status, task.step, task.error)
    return task


async def foreseen(core: MemoryCore, mode: str = "soft", **filters: Any) -> Foreseen:
    seen = await core.forget(ALICE, asked(mode, dry_run=True, **filters))
    assert isinstance(seen, Foreseen)
    return seen


async def everything(world: World) -> str:
    """All that the long term holds of Alice, as one text."""
    store = await world.look_on()
    parts: list[str] = []
    for kind in (
        "memory",
        "version",
        "session",
        "conversation",
        "messages",
        "step",
        "conflict",
        "task",
        "operation",
        "receipt",
        "snapshot",
    ):
        parts += [
            str(document.body) for document in await store.page(ALICE, kind, None, None, 10_000)
        ]  # type: ignore[arg-type]
    parts += [event.model_dump_json() for event in await world.log()]
    return "\n".join(parts)


async def no_trace(world: World, *phrases: str) -> None:
    """None of the phrases is in the long term; on SQLite, in no byte of its files.

    Vectors are random bytes: a word of four letters is in a few megabytes of them by chance.
    """
    assert min(len(phrase) for phrase in phrases) > 4, "a shorter word is found by chance"
    text = await everything(world)
    assert [phrase for phrase in phrases if phrase.casefold() in text.casefold()] == []
    for file in world.folder.glob("memory.db*"):
        data = file.read_bytes().lower()
        assert [phrase for phrase in phrases if phrase.casefold().encode() in data] == [], file.name


async def test_an_empty_filter_is_refused_and_a_session_beside_it_is_none() -> None:
    for fields in (
        {},
        {"filter": {}},
        {"filter": {"tags": []}},
        {"filter": {"ids": []}},
        {"session_id": "a", "filter": {"session_id": "b"}},
    ):
        with pytest.raises(ValueError, match=r"filter|session_id|too_short|at least 1"):
            ForgetInput.model_validate(fields)
    assert ForgetInput(session_id="a").chosen.session_id == "a"


async def test_soft_forgets_what_all_of_the_filter_fits_and_nothing_else(
    core: MemoryCore, world: World
) -> None:
    await core.bulk(
        ALICE,
        [
            turn("a", tags=["x"]),
            turn("b", "s2", tags=["x"]),
            turn("c", tags=["y"]),
            fact("d", tags=["x"], session_id="s1"),
            turn("e", tags=["x"], event_timestamp=NOW + timedelta(days=1)),
        ],
    )
    await core.save(BOB, turn("f", tags=["x"]))
    chosen: dict[str, Any] = {
        "types": ["episodic"],
        "tags": ["x", "z"],
        "session_id": "s1",
        "before": NOW + timedelta(hours=1),
    }
    assert await foreseen(core, **chosen) == Foreseen({"forgotten": 1}, capped=False)
    assert len(await listed(core)) == 5
    assert (await forgotten(core, **chosen)).result == {
        "counts": {"forgotten": 1},
        "mode": "soft",
        "capped": False,
    }
    assert {memory.content for memory in await listed(core)} == {"b", "c", "d", "e"}
    (gone,) = await listed(core, status="deleted")
    assert (gone.content, gone.status_reason) == ("a", "forgotten")
    assert (await core.session(ALICE, "s1")).counts == {"episodic": 2, "semantic": 1}
    assert len(await listed(core, BOB)) == 1
    assert (await find(core, "a")) == []
    await told_by_the_log(core, world)


async def test_what_is_forgotten_softly_is_found_at_no_time_whatever_it_was(
    core: MemoryCore,
) -> None:
    """Even a truth that was superseded, and one that a person deleted as contradicted."""
    porto = (
        await core.save(
            ALICE, fact("Ana lives in Porto", subject="Ana", attribute="city", event_timestamp=NOW)
        )
    ).memory
    later = NOW + timedelta(days=10)
    await core.save(
        ALICE, fact("Ana lives in Lisbon", subject="Ana", attribute="city", event_timestamp=later)
    )
    assert await find(core, "Ana lives in Porto", at=NOW + timedelta(days=1)) == [
        "Ana lives in Porto"
    ]
    await forgotten(core, ids=[porto.id, "mem_nobodys", f"{porto.id}.v1"])
    assert await find(core, "Ana lives in Porto", at=NOW + timedelta(days=1)) == []
    assert (await core.get(ALICE, porto.id)).status_reason == "forgotten"
    assert (await forgotten(core, ids=[porto.id])).result == {
        "counts": {"forgotten": 0},
        "mode": "soft",
        "capped": False,
    }


async def test_what_is_saved_after_it_was_asked_for_stays(core: MemoryCore) -> None:
    await core.save(ALICE, turn("early"))
    await core.forget(ALICE, asked(session_id="s1"))
    await core.save(ALICE, turn("late"))
    await Hand(core, "consolidation").work_all()
    assert [memory.content for memory in await listed(core)] == ["late"]


async def test_a_cap_ends_it_and_the_answer_says_so(world: World) -> None:
    core = await world.core(upkeep_cap=60)
    await core.bulk(ALICE, [turn(f"word{n}") for n in range(100)])
    assert await foreseen(core, session_id="s1") == Foreseen({"forgotten": 60}, capped=True)
    assert (await forgotten(core, session_id="s1")).result == {
        "counts": {"forgotten": 60},
        "mode": "soft",
        "capped": True,
    }
    hard = await forgotten(core, "hard", session_id="s1")
    assert hard.result is not None
    assert (hard.result["counts"]["forgotten"], hard.result["capped"]) == (60, True)
    assert len(await listed(core, status="all")) == 40


async def test_what_would_be_forgotten_is_shown_oldest_first_up_to_a_limit(
    core: MemoryCore,
) -> None:
    await core.bulk(ALICE, [turn(f"word{n}") for n in range(100)])
    await core.bulk(ALICE, [turn("elsewhere", "s2")])
    some = await core.foresee_forgotten(ALICE, asked(session_id="s1"), 60)
    assert [memory.content for memory in some.memories] == [f"word{n}" for n in range(60)]
    assert some.more_until == 101
    whole = await core.foresee_forgotten(ALICE, asked(session_id="s1"), 100)
    assert (len(whole.memories), whole.more_until) == (100, None)
    await forgotten(core, ids=[whole.memories[0].id])
    assert (await core.foresee_forgotten(ALICE, asked(session_id="s1"), 1)).memories[
        0
    ].content == "word1"
    assert (await core.foresee_forgotten(ALICE, asked("hard", session_id="s1"), 1)).memories[
        0
    ].content == "word0"


@pytest.mark.parametrize("applied", [False, True], ids=["before the commit", "after the commit"])
@pytest.mark.parametrize("commits", [1, 2, 3, 4])
async def test_killed_in_any_chunk_the_soft_way_goes_on_from_there(
    world: World, commits: int, applied: bool
) -> None:
    first = await world.core()
    await first.bulk(ALICE, [turn(f"word{n}", f"s{n}") for n in range(100)])
    dying = await world.core(wrap=lambda store: DiesAfter(store, commits, applied))
    accepted = await dying.forget(ALICE, asked(types=["episodic"]))
    assert isinstance(accepted, Accepted)
    with pytest.raises(Killed):
        await Hand(dying, "consolidation").work_all()
    world.clock.forward(100)
    await Hand(first, "consolidation").work_all()
    task = await task_of(first, accepted)
    assert (task.status, task.result) == (
        "succeeded",
        {"counts": {"forgotten": 100}, "mode": "soft", "capped": False},
    )
    assert len(await world.log()) == 200


# for good


async def test_for_good_nothing_is_left_of_a_memory_its_versions_and_its_copies(
    core: MemoryCore, world: World
) -> None:
    secret = (
        await core.save(
            ALICE, fact("the vault opens with swordfish", session_id="s1", tags=["quicksilver"])
        )
    ).memory
    changed = await core.update(
        ALICE, secret.id, UpdateInput(content="the vault opens with marlin"), secret.etag
    )
    await core.copy(ALICE, secret.id, CopyInput(to_agent_id="other"))
    stays = (await core.save(ALICE, fact("the garden is large"))).memory
    assert await foreseen(core, "hard", ids=[secret.id]) == Foreseen(
        {"forgotten": 1, "derived": 1}, capped=False
    )
    task = await forgotten(core, "hard", tags=["quicksilver"])
    assert task.result is not None
    assert task.result["counts"]["forgotten"] + task.result["counts"]["derived"] == 2
    assert [memory.id for memory in await listed(core, status="all")] == [stays.id]
    with pytest.raises(NotFound):
        await core.get(ALICE, secret.id)
    assert changed.version == 2
    await no_trace(world, "swordfish", "marlin", "quicksilver", "vault")
    log = await world.log()
    assert [event.sequence for event in log] == list(range(1, len(log) + 1))
    assert {event.redacted for event in log if event.memory_id == secret.id} == {True}
    await told_by_the_log(core, world)
    first = await core.replay(ALICE, ReplayInput(sequence=1))
    assert first.memories == ()


async def test_the_turns_after_it_lend_none_of_its_words_any_more(
    core: MemoryCore, world: World
) -> None:
    memory = (await core.save(ALICE, turn("what about the swordfish"))).memory
    for text in ("a second", "a third", "a fourth"):
        await core.save(ALICE, turn(text))
    assert await find(core, "swordfish", session_id="s1", similarity_threshold=0.0)
    await forgotten(core, "hard", ids=[memory.id])
    await no_trace(world, "swordfish")
    assert [
        hit for hit in await find(core, "swordfish", session_id="s1") if "swordfish" in hit
    ] == []
    after = (await core.save(ALICE, turn("a fifth"))).memory
    assert "swordfish" not in after.search_text
    await told_by_the_log(core, world)
    assert (await core.session(ALICE, "s1")).counts == {"episodic": 4}


async def test_what_it_was_merged_into_goes_and_so_does_what_that_was_made_of(
    core: MemoryCore, world: World
) -> None:
    slot: dict[str, Any] = {"subject": "team", "attribute": "meeting"}
    memory = (await core.save(ALICE, fact("they meet at 9 in the swordfish room", **slot))).memory
    merged = await core.save(
        ALICE, fact("they meet at 10 in the marlin room", on_conflict="merge", **slot)
    )
    assert merged.outcome == "merged"
    assert (await foreseen(core, "hard", ids=[memory.id])).counts == {"forgotten": 1, "derived": 1}
    assert (await foreseen(core, "hard", ids=[merged.memory.id])).counts == {
        "forgotten": 1,
        "derived": 1,
    }
    await forgotten(core, "hard", ids=[memory.id])
    assert await listed(core, status="all") == []
    await no_trace(world, "swordfish", "marlin")


async def test_of_two_that_were_merged_the_one_that_stays_holds_again(
    core: MemoryCore, world: World
) -> None:
    ids = [
        (await core.save(ALICE, fact(text))).memory.id
        for text in ("a note about swordfish", "a note about gardens", "swordfish and gardens")
    ]
    first, second, both = ids

    def merge(look: ReadSet) -> Changes[None]:
        sources = [source for name in (first, second) if (source := look.memory(name)) is not None]
        merged = look.memory(both)
        assert merged is not None
        gone = {
            "status": Status.UPDATED,
            "status_reason": "consolidated",
            "next_id": both,
            "valid_until": NOW,
            "consolidated_into_ids": [both],
        }
        changes = [Change("merged", source.model_copy(update=gone), source) for source in sources]
        changes.append(
            Change(
                "created",
                merged.model_copy(update={"source_ids": [first, second], "supersedes_id": first}),
                merged,
            )
        )
        return Changes(None, tuple(changes))

    await Ledger(await world.look_on(), world.clock, RandomIds()).commit(
        ALICE, merge, ids=ids, call=Call()
    )
    await forgotten(core, "hard", ids=[first])
    (memory,) = await listed(core, status="all")
    assert (
        memory.id,
        memory.status,
        memory.next_id,
        memory.valid_until,
        memory.consolidated_into_ids,
    ) == (second, Status.ACTIVE, None, None, [])
    await no_trace(world, "swordfish")
    await told_by_the_log(core, world)


async def test_a_superseded_truth_goes_and_its_successor_stands(
    core: MemoryCore, world: World
) -> None:
    porto = (
        await core.save(
            ALICE, fact("Ana lives in Porto", subject="Ana", attribute="city", event_timestamp=NOW)
        )
    ).memory
    lisbon = await core.save(
        ALICE,
        fact(
            "Ana lives in Lisbon",
            subject="Ana",
            attribute="city",
            event_timestamp=NOW + timedelta(days=1),
        ),
    )
    assert lisbon.memory.supersedes_id == porto.id
    await forgotten(core, "hard", ids=[porto.id])
    memory = await core.get(ALICE, lisbon.memory.id)
    assert (memory.status, memory.supersedes_id) == (Status.ACTIVE, None)
    await no_trace(world, "Porto", porto.id[:0] + "lives in porto")
    await told_by_the_log(core, world)
    assert [
        memory.id for memory in (await core.evolution(ALICE, lisbon.memory.id, "both")).memories
    ] == [lisbon.memory.id]


async def formed(core: MemoryCore, world: World, *contents: str, **fields: Any) -> Sequence[Any]:
    accepted = await converse(core, *contents, **fields)
    task = await finished(world, core, accepted)
    assert task.status == "succeeded"
    return await told(core)


async def test_a_cell_takes_its_note_its_facts_and_its_words_along_and_leaves_the_other_cell(
    core: MemoryCore, world: World
) -> None:
    made = await formed(core, world)
    cell = next(
        memory for memory in made if memory.category == "cell" and "Lisbon" in memory.content
    )
    other = next(
        memory for memory in made if memory.category == "cell" and "flamenco" in memory.content
    )
    assert (await foreseen(core, "hard", ids=[cell.id])).counts == {
        "forgotten": 1,
        "derived": 3,
        "facts": 1,
        "messages": 2,
    }
    await forgotten(core, "hard", ids=[cell.id])
    assert [memory.id for memory in await listed(core, status="all")] == [other.id]
    await no_trace(world, "Lisbon", "It is warm here")
    await told_by_the_log(core, world)


async def test_a_fact_takes_the_cell_that_told_it_along(core: MemoryCore, world: World) -> None:
    made = await formed(core, world)
    lives = next(memory for memory in made if memory.category == "fact")
    await forgotten(core, "hard", ids=[lives.id])
    left = [memory.content for memory in await listed(core, status="all")]
    assert sum("flamenco" in content for content in left) == 1
    assert "It is warm here" in left
    assert len(left) == 2, "the other cell, and the message beside the one that told it"
    await no_trace(world, "Lisbon")
    await told_by_the_log(core, world)


async def test_a_fact_told_again_elsewhere_stays_without_a_mention_of_the_cell_that_is_gone(
    core: MemoryCore, world: World
) -> None:
    first = await formed(core, world, "I live in Lisbon")
    world.clock.forward(60)
    again = await converse(core, "The harbour is loud", "I live in Lisbon", session="s2")
    await finished(world, core, again)
    cells = [memory for memory in await told(core) if memory.category == "cell"]
    later = next(cell for cell in cells if "harbour" in cell.content)
    lives = next(memory for memory in first if memory.category == "fact")
    assert later.id in (await core.get(ALICE, lives.id)).source_ids
    await forgotten(core, "hard", ids=[later.id])
    memory = await core.get(ALICE, lives.id)
    assert (memory.status, memory.source_ids) == (
        Status.ACTIVE,
        [name for name in memory.source_ids if name != later.id],
    )
    assert later.id not in memory.source_ids
    await no_trace(world, "harbour")
    await told_by_the_log(core, world)


async def test_a_conversation_that_told_the_same_again_goes_with_its_words_too(
    core: MemoryCore, world: World
) -> None:
    """Its cell is the first one's, so no memory names it."""
    made = await formed(core, world, "I live in Lisbon")
    world.clock.forward(60)
    assert {memory.id for memory in await formed(core, world, "I live in Lisbon")} == {
        memory.id for memory in made
    }
    await forgotten(core, "hard", session_id="s1")
    assert await listed(core, status="all") == []
    await no_trace(world, "Lisbon")


async def test_the_same_words_told_after_it_are_remembered_anew(
    core: MemoryCore, world: World
) -> None:
    made = await formed(core, world, "I live in Lisbon")
    await forgotten(core, "hard", ids=[memory.id for memory in made])
    assert await listed(core, status="all") == []
    world.clock.forward(60)
    again = await formed(core, world, "I live in Lisbon")
    assert {memory.id for memory in again} == {memory.id for memory in made}
    assert {memory.status for memory in again} == {Status.ACTIVE}
    await told_by_the_log(core, world)


async def test_what_was_deleted_before_can_be_forgotten_for_good(
    core: MemoryCore, world: World
) -> None:
    memory = (await core.save(ALICE, turn("swordfish"))).memory
    await core.delete(ALICE, memory.id)
    await forgotten(core, "hard", session_id="s1")
    assert await listed(core, status="all") == []
    await no_trace(world, "swordfish")
    head = await world.head()
    assert head is not None
    assert sum(head.counts.values()) == 0


@pytest.mark.parametrize("applied", [False, True], ids=["before the commit", "after the commit"])
@pytest.mark.parametrize("commits", range(1, 12))
async def test_killed_at_any_commit_it_is_finished_by_whoever_comes_next(
    world: World, commits: int, applied: bool
) -> None:
    first = await world.core()
    await formed(first, world)
    await first.bulk(ALICE, [turn(f"swordfish {n}", "s1") for n in range(20)])
    stays = (await first.save(ALICE, turn("the garden is large", "s2"))).memory
    dying = await world.core(wrap=lambda store: DiesAfter(store, commits, applied))
    accepted = await dying.forget(ALICE, asked("hard", session_id="s1"))
    assert isinstance(accepted, Accepted)
    try:
        await Hand(dying, "consolidation").work_all()
    except Killed:
        world.clock.forward(100)
        await Hand(first, "consolidation").work_all()
    task = await task_of(first, accepted)
    assert task.status == "succeeded"
    assert task.result is not None
    assert task.result["counts"]["forgotten"] == 20 + 3 + 4, "turns, what was formed, and messages"
    assert [memory.id for memory in await listed(first, status="all")] == [stays.id]
    await no_trace(world, "swordfish", "Lisbon", "flamenco", "guitar")
    await told_by_the_log(first, world)


@pytest.mark.parametrize("commits", [0, 3])
async def test_what_has_begun_to_be_forgotten_for_good_is_forgotten_to_the_end(
    world: World, commits: int
) -> None:
    """Cancelled half-way its words would stay in the log, and no filter finds a memory
    that is gone.
    """
    core = await world.core()
    await core.save(ALICE, turn("swordfish in the log", "s1"))
    accepted = await core.forget(ALICE, asked("hard", session_id="s1"))
    assert isinstance(accepted, Accepted)
    if not commits:
        assert (await core.cancel(ALICE, accepted.task_id)).status == "cancelled"
        assert [memory.content for memory in await listed(core, status="all")] == [
            "swordfish in the log"
        ]
        return
    dying = await world.core(wrap=lambda store: DiesAfter(store, commits))
    with pytest.raises(Killed):
        await Hand(dying, "consolidation").work_all()
    with pytest.raises(Conflict, match="half-way"):
        await core.cancel(ALICE, accepted.task_id)
    world.clock.forward(200)
    await Hand(core, "consolidation").work_all()
    assert (await task_of(core, accepted)).status == "succeeded"
    await no_trace(world, "swordfish")


async def test_two_workers_forget_each_once(world: World) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    await cores[0].bulk(ALICE, [turn(f"swordfish {n}") for n in range(50)])
    accepted = [await cores[0].forget(ALICE, asked("hard", session_id="s1")) for _ in range(2)]
    await asyncio.gather(*(Hand(core, "consolidation").work_all() for core in cores))
    for answer in accepted:
        assert isinstance(answer, Accepted)
        await finished_by_somebody(world, cores, answer)
    assert [event.event_type for event in await world.log()].count("forgotten") == 50
    await no_trace(world, "swordfish")


async def finished_by_somebody(
    world: World, cores: Sequence[MemoryCore], accepted: Accepted
) -> None:
    for _ in range(20):
        for core in cores:
            await Hand(core, "consolidation").work_all()
        if (await task_of(cores[0], accepted)).finished:
            break
        world.clock.forward(31)
    assert (await task_of(cores[0], accepted)).status == "succeeded"


@pytest.mark.parametrize("call", ["page", "memories", "snapshot", "events"])
async def test_whoever_writes_between_any_two_steps_brings_nothing_back(
    world: World, call: str
) -> None:
    """Edited, copied and told of between the search and the commit, each time."""
    first = await world.core()
    secret = (
        await first.save(ALICE, fact("the vault opens with swordfish", tags=["quicksilver"]))
    ).memory
    await first.save(ALICE, fact("the garden is large"))
    done: list[str] = []

    async def meddle() -> None:
        done.append("tried")
        with suppress(NotFound):  # it was gone before the other one looked
            memory = await first.get(ALICE, secret.id)
            edited = UpdateInput(
                content="the vault opens with swordfish and marlin", tags=["other"]
            )
            await first.update(ALICE, secret.id, edited, memory.etag)
            await first.copy(ALICE, secret.id, CopyInput(to_agent_id="other"))

    meddled = Meanwhile(None, call, meddle)  # type: ignore[arg-type]

    def between(store: LongTermStore) -> Any:
        meddled.inner = store
        return meddled

    core = await world.core(wrap=between)
    meddled.then = None
    accepted = await core.forget(ALICE, asked("hard", tags=["quicksilver"]))
    meddled.then = meddle
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()
    await finished_by_somebody(world, [first], accepted)
    assert done
    await no_trace(world, "swordfish", "marlin", "quicksilver")
    await told_by_the_log(first, world)


async def test_a_conversation_that_is_not_formed_to_its_end_is_given_up_and_its_other_messages_stay(
    world: World,
) -> None:
    core = await world.core()
    dying = await world.core(wrap=lambda store: DiesAfter(store, 1))
    accepted = await converse(core)
    with pytest.raises(Killed):
        await Hand(dying).work_all()
    (cell, *_) = [memory for memory in await told(core) if memory.category == "cell"]
    await forgotten(core, "hard", ids=[cell.id])
    world.clock.forward(200)
    await Hand(core).work_all()
    task = await task_of(core, accepted)
    assert task.status == "cancelled"
    head = await world.head()
    assert head is not None
    assert head.pending_tasks == 0
    left = await listed(core, status="all")
    assert {memory.category for memory in left} == {MESSAGE}
    assert [memory for memory in left if "Lisbon" in memory.content] == []
    assert "flamenco" in " ".join(memory.content for memory in left)
    await no_trace(world, "Lisbon")
    await forgotten(core, "hard", session_id="s1")
    await no_trace(world, "flamenco", "guitar")


@pytest.mark.parametrize("poisoned", [False, True])
async def test_of_a_conversation_that_is_cancelled_before_anything_was_formed_the_messages_stay_and_can_be_forgotten(  # noqa: E501
    world: World, poisoned: bool
) -> None:
    """Nothing is formed of what was said; it stays what it is, until it is forgotten."""
    core = await world.core(agents=ScriptedAgents(broken=poisoned))
    accepted = await converse(core)
    if poisoned:
        assert (await finished(world, core, accepted)).status == "poisoned"
    await core.cancel(ALICE, accepted.task_id)
    assert await (await world.look_on()).page(ALICE, "messages", None, None, 10) == []
    assert {memory.category for memory in await listed(core)} == {MESSAGE}
    await Hand(core).work_all()
    assert (await task_of(core, accepted)).status == "cancelled"
    await forgotten(core, "hard", session_id="s1")
    assert await listed(core, status="all") == []
    await no_trace(world, "Lisbon", "flamenco")


async def test_of_a_conversation_of_which_all_was_cleared_before_it_was_formed_nothing_is_found(
    core: MemoryCore, world: World
) -> None:
    accepted = await converse(core)
    await core.clear(ALICE, ClearInput(session_id="s1"))
    await finished(world, core, accepted)
    assert {memory.status for memory in await listed(core, status="all")} == {Status.DELETED}
    assert await find(core, "Lisbon") == []
    assert await (await world.look_on()).page(ALICE, "messages", None, None, 10) == []
    await forgotten(core, "hard", session_id="s1")
    assert await told(core) == []
    await no_trace(world, "Lisbon", "flamenco")


async def test_the_short_term_forgets_too(core: MemoryCore) -> None:
    memory = (await core.save(ALICE, turn("swordfish one"))).memory
    assert (await core.retrieve(ALICE, RetrieveInput(query="swordfish", session_id="s1"))).results
    await forgotten(core, "hard", ids=[memory.id])
    assert (
        await core.retrieve(ALICE, RetrieveInput(query="swordfish", session_id="s1"))
    ).results == ()
    short = core._services.adapters.short_term
    _, entries = await short.recall(ALICE, "s1", 10)
    assert entries == []


async def test_a_conflict_that_waited_goes_with_it(world: World) -> None:
    words = await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7)
    memory = (await words.save(ALICE, fact("the big server listens on port 8080"))).memory
    other = await words.save(ALICE, fact("the big server listens on port 8081"))
    assert other.conflict is not None
    assert other.conflict.status == "pending"
    await forgotten(words, "hard", ids=[memory.id])
    left = await words.get(ALICE, other.memory.id)
    assert (left.conflict_state, left.links) == ("none", [])
    head = await world.head()
    assert head is not None
    assert head.pending_count == 0
    assert await (await world.look_on()).page(ALICE, "conflict", None, None, 10) == []
    await told_by_the_log(words, world)


async def test_a_dry_run_writes_nothing(core: MemoryCore, world: World) -> None:
    await core.bulk(ALICE, [turn("a"), rule("k", 1)])
    before = await world.head()
    assert (await foreseen(core, "hard", types=[MemoryType.EPISODIC])).counts == {
        "forgotten": 1,
        "derived": 0,
    }
    assert await world.head() == before


async def test_a_hand_may_restore_what_was_forgotten_softly(core: MemoryCore) -> None:
    memory = (await core.save(ALICE, turn("a"))).memory
    await forgotten(core, ids=[memory.id])
    back = await core.set_status(ALICE, memory.id, StatusInput(status="active"))
    assert (back.status, back.status_reason) == (Status.ACTIVE, "restored")
