"""The same call with the same Idempotency-Key: one effect, one answer; for every writing call and
every outcome.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.errors import Conflict, Invalid, MemoryCoreError
from memory_core.domain.memory import Memory, OnConflict, Outcome
from memory_core.domain.requests.maintenance import ResolveInput
from memory_core.domain.requests.memories import (
    ClearInput,
    CopyInput,
    SaveInput,
    StatusInput,
    UpdateInput,
)
from memory_core.domain.results import Call, Deleted, Saved
from memory_core.domain.scope import Owner
from tests.builders import ALICE, NOW, AnswerLost
from tests.world import BOB, DiesAfter, Killed, WordsEmbedder, World, fact, listed, rule, turn

KEYED = Call(idempotency_key="k1")
OSLO = {"subject": "Ana", "attribute": "city"}
Prepare = Callable[[MemoryCore, Owner], Awaitable[str]]
Act = Callable[[MemoryCore, Owner, str, Call], Awaitable[Any]]


@dataclass(frozen=True)
class Case:
    """A writing call: what must be there before (giving an id), the call, and the outcome
    that it has.
    """

    before: Prepare
    act: Act
    outcome: Outcome | None = None


def saving(item: SaveInput, outcome: Outcome, *stored_items: SaveInput) -> Case:
    async def before(core: MemoryCore, owner: Owner) -> str:
        for stored_item in stored_items:
            await core.save(owner, stored_item)
        return ""

    async def act(core: MemoryCore, owner: Owner, _: str, call: Call) -> Saved:
        return await core.save(owner, item, call)

    return Case(before, act, outcome)


async def nothing(core: MemoryCore, owner: Owner) -> str:
    return ""


async def one_fact(core: MemoryCore, owner: Owner) -> str:
    return (
        await core.save(owner, fact("Ana lives in Oslo", session_id="s1", agent_id="a1"))
    ).memory.id


async def a_deleted_fact(core: MemoryCore, owner: Owner) -> str:
    memory_id = await one_fact(core, owner)
    await core.delete(owner, memory_id)
    return memory_id


async def fifty_turns(core: MemoryCore, owner: Owner) -> str:
    await core.bulk(owner, [turn(f"word{n}") for n in range(50)])
    return ""


async def bulk(core: MemoryCore, owner: Owner, _: str, call: Call) -> Any:
    items = [
        *(turn(f"said{n}") for n in range(60)),
        fact("one"),
        fact("one"),
        rule("tabs", 4),
        fact("over", valid_until=NOW),
    ]
    return await core.bulk(owner, items, call)


async def clear(core: MemoryCore, owner: Owner, _: str, call: Call) -> int:
    return await core.clear(owner, ClearInput(session_id="s1"), call)


async def copy(core: MemoryCore, owner: Owner, memory_id: str, call: Call) -> Memory:
    return await core.copy(owner, memory_id, CopyInput(to_agent_id="a2"), call)


async def update(core: MemoryCore, owner: Owner, memory_id: str, call: Call) -> Memory:
    first = await core.versions(owner, memory_id)
    etag = (await core.get(owner, memory_id)).etag if len(first) == 1 else '"an.old.one"'
    return await core.update(
        owner, memory_id, UpdateInput(content="Ana lives in Bergen"), etag, call
    )


async def delete(core: MemoryCore, owner: Owner, memory_id: str, call: Call) -> Deleted:
    return await core.delete(owner, memory_id, call)


async def restore(core: MemoryCore, owner: Owner, memory_id: str, call: Call) -> Memory:
    return await core.set_status(owner, memory_id, StatusInput(status="active"), call)


async def an_open_conflict(core: MemoryCore, owner: Owner) -> str:
    await core.save(owner, fact("the big server listens on port 8080"))
    made = (await core.save(owner, fact("the big server listens on port 8081"))).conflict
    assert made is not None
    assert made.open
    return made.id


async def a_rejected_fact(core: MemoryCore, owner: Owner) -> str:
    await core.save(owner, fact("Ana lives in Oslo", **OSLO))
    made = (
        await core.save(
            owner, fact("Ana lives in Bergen", on_conflict=OnConflict.REJECT_NEW, **OSLO)
        )
    ).conflict
    assert made is not None
    return made.id


async def resolve(core: MemoryCore, owner: Owner, conflict_id: str, call: Call) -> ConflictRecord:
    return await core.resolve_conflict(owner, conflict_id, ResolveInput(decision="merge"), call)


async def undo(core: MemoryCore, owner: Owner, conflict_id: str, call: Call) -> ConflictRecord:
    return await core.undo_conflict(owner, conflict_id, call)


def different(strategy: OnConflict, outcome: Outcome) -> Case:
    return saving(
        fact("Ana lives in Bergen", on_conflict=strategy, **OSLO),
        outcome,
        fact("Ana lives in Oslo", **OSLO),
    )


CASES = {
    "created episode": saving(turn("we met"), Outcome.CREATED),
    "created fact": saving(fact("Ana lives in Oslo"), Outcome.CREATED),
    "created rule": saving(rule("tabs", 4), Outcome.CREATED),
    "reinforced": saving(fact("Ana lives in Oslo"), Outcome.REINFORCED, fact("Ana lives in Oslo")),
    "superseded": different(OnConflict.AUTO, Outcome.SUPERSEDED),
    "merged": different(OnConflict.MERGE, Outcome.MERGED),
    "kept both": different(OnConflict.KEEP_BOTH, Outcome.KEPT_BOTH),
    "rejected": different(OnConflict.REJECT_NEW, Outcome.REJECTED),
    "kept both, pending": saving(
        fact("the big server listens on port 8081"),
        Outcome.KEPT_BOTH,
        fact("the big server listens on port 8080"),
    ),
    "upserted": saving(rule("tabs", 2), Outcome.UPSERTED, rule("tabs", 4)),
    "bulk": Case(nothing, bulk),
    "clear": Case(fifty_turns, clear),
    "clear of nothing": Case(nothing, clear),
    "copy": Case(one_fact, copy),
    "update": Case(one_fact, update),
    "delete": Case(one_fact, delete),
    "delete of a deleted one": Case(a_deleted_fact, delete),
    "restore": Case(a_deleted_fact, restore),
    "resolve": Case(an_open_conflict, resolve),
    "undo": Case(a_rejected_fact, undo),
}


@pytest.fixture(params=list(CASES.values()), ids=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    requested_case: Case = request.param
    return requested_case


@pytest.fixture
def embedder() -> WordsEmbedder:
    return WordsEmbedder()


async def opened(world: World, embedder: WordsEmbedder, **options: Any) -> MemoryCore:
    return await world.core(
        embedder=embedder, duplicate_threshold=0.7, commit_deadline_s=60, **options
    )


def shown(answer: Any) -> Any:
    """What an answer says, comparable: outcomes, ids, numbers."""
    if isinstance(answer, list):
        return [shown(item) for item in answer]
    if isinstance(answer, Saved):
        return answer.outcome, answer.memory.id, answer.memory.content, answer.conflict
    if isinstance(answer, Deleted):
        return answer.outcome, shown(answer.memory)
    if isinstance(answer, Memory):
        return answer.id, answer.content, answer.status, answer.version
    if isinstance(answer, MemoryCoreError):
        return answer.type, [error.field for error in answer.errors]
    return answer


async def effect(
    world: World, embedder: WordsEmbedder, core: MemoryCore, owner: Owner = ALICE
) -> tuple[list[str], list[Any]]:
    """What the log and the list say now, without ids, which differ between owners."""
    events = [event.event_type for event in await world.log(owner, embedder)]
    memories = [
        (memory.content, memory.status, memory.version, memory.reinforcement_count)
        for memory in await listed(core, owner, status="all")
    ]
    return events, memories


async def expected(
    world: World, embedder: WordsEmbedder, core: MemoryCore, case: Case
) -> tuple[list[str], list[Any]]:
    """The effect of doing it once, shown on another user."""
    identity = await case.before(core, BOB)
    await case.act(core, BOB, identity, Call())
    return await effect(world, embedder, core, BOB)


async def test_repeated_it_has_one_effect_and_one_answer(
    world: World, embedder: WordsEmbedder, case: Case
) -> None:
    core = await opened(world, embedder)
    identity = await case.before(core, ALICE)
    first = await case.act(core, ALICE, identity, KEYED)
    world.clock.forward(60)
    assert shown(await case.act(core, ALICE, identity, KEYED)) == shown(first)
    assert await effect(world, embedder, core) == await expected(world, embedder, core, case)
    if case.outcome is not None:
        assert first.outcome is case.outcome


async def test_repeated_after_the_short_term_was_emptied_it_answers_the_same(
    world: World, embedder: WordsEmbedder, case: Case
) -> None:
    core = await opened(world, embedder)
    identity = await case.before(core, ALICE)
    first = await case.act(core, ALICE, identity, KEYED)
    fresh = await opened(world, embedder)  # its short term is its own, and empty
    assert shown(await case.act(fresh, ALICE, identity, KEYED)) == shown(first)
    assert await effect(world, embedder, fresh) == await expected(world, embedder, core, case)


async def test_twenty_at_once_from_two_processes_have_one_effect_and_one_answer(
    world: World, embedder: WordsEmbedder, case: Case
) -> None:
    cores = [await opened(world, embedder) for _ in range(2)]
    identity = await case.before(cores[0], ALICE)
    answers = await asyncio.gather(
        *(case.act(cores[n % 2], ALICE, identity, KEYED) for n in range(20))
    )
    assert [shown(answer) for answer in answers] == [shown(answers[0])] * 20
    assert await effect(world, embedder, cores[0]) == await expected(
        world, embedder, cores[0], case
    )


@pytest.mark.parametrize("applied", [True, False], ids=["after the commit", "before it"])
async def test_an_answer_lost_on_the_way_to_the_store_changes_nothing(
    world: World, embedder: WordsEmbedder, case: Case, applied: bool
) -> None:
    plain = await opened(world, embedder)
    identity = await case.before(plain, ALICE)
    losing = await opened(
        world, embedder, wrap=lambda store: AnswerLost(store, lost=1, apply=applied)
    )
    first = await case.act(losing, ALICE, identity, KEYED)
    assert shown(await case.act(plain, ALICE, identity, KEYED)) == shown(first)
    assert await effect(world, embedder, plain) == await expected(world, embedder, plain, case)


@pytest.mark.parametrize("commits", [0, 1])
@pytest.mark.parametrize("applied", [True, False], ids=["after the commit", "before it"])
async def test_a_process_that_died_before_it_could_answer_is_no_reason_to_do_it_twice(
    world: World, embedder: WordsEmbedder, case: Case, applied: bool, commits: int
) -> None:
    plain = await opened(world, embedder)
    identity = await case.before(plain, ALICE)
    dying = await opened(world, embedder, wrap=lambda store: DiesAfter(store, commits, applied))
    try:
        await case.act(dying, ALICE, identity, KEYED)
    except Killed:
        world.clock.forward(1)
    await case.act(plain, ALICE, identity, KEYED)
    once = await effect(world, embedder, plain)
    assert once == await expected(world, embedder, plain, case)


async def test_a_key_used_for_something_else_is_refused_and_changes_nothing(
    core: MemoryCore, world: World
) -> None:
    memory = (await core.save(ALICE, turn("we met"), KEYED)).memory
    await core.bulk(ALICE, [turn("one")], Call(idempotency_key="k2"))
    await core.clear(ALICE, ClearInput(session_id="none"), Call(idempotency_key="k3"))
    await core.copy(ALICE, memory.id, CopyInput(to_agent_id="a"), Call(idempotency_key="k4"))
    before = len(await world.log())
    for act in (
        core.save(ALICE, turn("we parted"), KEYED),
        core.bulk(ALICE, [turn("two")], Call(idempotency_key="k2")),
        core.bulk(ALICE, [turn("one"), turn("two")], Call(idempotency_key="k2")),
        core.clear(ALICE, ClearInput(session_id="s1"), Call(idempotency_key="k3")),
        core.copy(ALICE, memory.id, CopyInput(to_agent_id="b"), Call(idempotency_key="k4")),
    ):
        with pytest.raises(Conflict, match="Idempotency-Key"):
            await act
    assert len(await world.log()) == before


async def test_a_key_belongs_to_one_user_and_one_kind_of_call(core: MemoryCore) -> None:
    mine = await core.save(ALICE, turn("we met"), KEYED)
    theirs = await core.save(BOB, turn("we met"), KEYED)
    assert {mine.outcome, theirs.outcome} == {Outcome.CREATED}
    assert (mine.memory.user_id, theirs.memory.user_id, theirs.replayed) == ("alice", "bob", False)
    assert await core.clear(ALICE, ClearInput(session_id="s1"), KEYED) == 1


async def test_a_key_is_forgotten_after_a_day(core: MemoryCore, world: World) -> None:
    await core.save(ALICE, fact("Ana lives in Oslo"), KEYED)
    world.clock.forward(24 * 3600 + 1)
    again = await core.save(ALICE, fact("Ana lives in Bergen"), KEYED)
    assert again.outcome is Outcome.CREATED
    assert not again.replayed


async def test_a_bulk_that_died_halfway_goes_on_where_it_stopped(world: World) -> None:
    plain = await world.core()
    dying = await world.core(wrap=lambda store: DiesAfter(store, 1))
    items = [turn(f"word{n}") if n != 5 else fact("over", valid_until=NOW) for n in range(100)]
    with pytest.raises(Killed):
        await dying.bulk(ALICE, items, KEYED)
    begun = await listed(plain)
    assert 0 < len(begun) < 99
    await plain.save(ALICE, turn("between"))
    world.clock.forward(60)
    answers = await plain.bulk(ALICE, items, KEYED)
    assert isinstance(answers[5], Invalid)
    saved = [answer for answer in answers if isinstance(answer, Saved)]
    assert [result.memory.content for result in saved] == [f"word{n}" for n in range(100) if n != 5]
    assert [result.replayed for result in saved] == [True] * len(begun) + [False] * (
        99 - len(begun)
    )
    memories = sorted(await listed(plain), key=lambda memory: memory.sequence)
    assert [memory.lexical.turn for memory in memories] == list(range(100))
    assert [list(memory.lexical.previous) for memory in memories[1:]] == [
        [memory.content] for memory in memories[:-1]
    ]


async def test_an_item_that_was_good_when_its_bulk_began_stays_good_when_it_is_repeated(
    core: MemoryCore, world: World
) -> None:
    items = [fact("until noon", valid_until=NOW.replace(hour=13)), fact("for good")]
    first = await core.bulk(ALICE, items, KEYED)
    world.clock.forward(3600 * 5)
    again = await core.bulk(ALICE, items, KEYED)
    assert shown(again) == shown(first)


async def test_an_embedder_that_is_down_does_not_hinder_a_repeated_answer(
    world: World, embedder: WordsEmbedder
) -> None:
    core = await opened(world, embedder)
    first = await core.save(ALICE, fact("Ana lives in Oslo"), KEYED)
    embedder.down = True
    assert shown(await core.save(ALICE, fact("Ana lives in Oslo"), KEYED)) == shown(first)
