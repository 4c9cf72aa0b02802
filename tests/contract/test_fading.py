"""What time does to memories that are never read: a store finds exactly those for which something
is due, from both adapters' indexes.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from math import inf
from typing import Any
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_core.domain.fading import Fading, due, half_life_multiplier, has_faded, next_change
from memory_core.domain.importance import importance_at
from memory_core.domain.memory import Lexical, Memory, MemoryType, Status
from memory_core.domain.statements.worth import HALF_LIFE_FACTORS
from memory_core.ports import AccessCount, Filter, LongTermStore, Place, Search, Write
from tests.builders import ALICE, NOW, accessed, commit, document, memory
from tests.world import BOB

RULES = Fading(long_characters=20)
LATER = NOW + timedelta(days=400)


def kept(place: int, **fields: Any) -> Memory:
    return memory(f"text {place}", id=f"mem_{place:03}", sequence=place + 1, **fields)


async def found(
    store: LongTermStore,
    now: datetime,
    session: str | None = None,
    rules: Fading = RULES,
    page: int = 100,
) -> list[str]:
    ids: list[str] = []
    after: Place | None = None
    while places := await store.faded(ALICE, rules, now, session, after, page):
        ids += [place.id for place in places]
        after = places[-1]
    return ids


async def test_only_active_memories_that_time_may_hide_are_found_once_they_are_under_the_floor(
    store: LongTermStore,
) -> None:
    facts: dict[str, Any] = {"type": MemoryType.SEMANTIC, "subject": "Ana", "attribute": "city"}
    versions = [
        kept(0, importance_base=0.4),
        kept(1, importance_base=0.4, pinned=True),
        kept(2, importance_base=0.4, type=MemoryType.PROCEDURAL, key="k"),
        kept(3, importance_base=0.4, **facts),
        kept(4, importance_base=0.4, type=MemoryType.SEMANTIC),
        kept(5, importance_base=0.4, status=Status.SUPERSEDED),
        kept(6, importance_base=0.4, last_accessed_at=NOW + timedelta(days=50)),
        kept(7, importance_base=0.8),
        kept(8, importance_base=0.0, session_id="s1"),
    ]
    await commit(store, ALICE, *(Write("put", document(each)) for each in versions))
    ninety = NOW + timedelta(days=90)  # 0.4 is three halvings over the floor
    assert await found(store, ninety - timedelta(hours=1)) == ["mem_008"]
    assert await found(store, ninety + timedelta(hours=1)) == ["mem_000", "mem_004", "mem_008"]
    assert await found(store, ninety + timedelta(hours=1), page=1) == [
        "mem_000",
        "mem_004",
        "mem_008",
    ]
    assert await found(store, ninety + timedelta(hours=1), "s1") == ["mem_008"]
    assert await found(store, LATER) == ["mem_000", "mem_004", "mem_006", "mem_007", "mem_008"]
    assert await found(store, LATER, rules=Fading(floor=0.0)) == []
    assert await store.faded(BOB, RULES, LATER, None, None, 10) == []


memories = st.builds(
    lambda base, age, idle, length, pinned, worth, uses, tellings, run: memory(
        "x" * length,
        importance_base=base,
        created_at=LATER - timedelta(days=age),
        last_accessed_at=None if idle is None else LATER - timedelta(days=min(idle, age)),
        pinned=pinned,
        worth=worth,
        access_count=uses,
        reinforcement_count=tellings,
        consolidation_run=run,
    ),
    st.floats(0, 1),
    st.floats(0, 4000),
    st.none() | st.floats(0, 4000),
    st.sampled_from([10, 19, 20, 50]),
    st.booleans(),
    st.sampled_from(list(HALF_LIFE_FACTORS)),
    st.integers(0, 30),
    st.integers(0, 5),
    st.sampled_from([None, "run_1"]),
)


def importance_of(stored_memory: Memory) -> float:
    """What is left of a memory's importance by LATER, by its own half-life."""
    return importance_at(
        stored_memory.importance_base,
        stored_memory.last_accessed_at or stored_memory.created_at,
        LATER,
        RULES.half_life_days * half_life_multiplier(stored_memory),
    )


@settings(max_examples=300, deadline=None)
@given(memories, st.floats(0, 200))
def test_what_is_due_does_not_depend_on_how_often_it_is_asked(
    stored_memory: Memory, step: float
) -> None:
    """Asked every `step` days until the first answer, or once: the same."""
    at_once = due(stored_memory, LATER, RULES)
    moments = (
        [stored_memory.created_at + timedelta(days=step * n) for n in range(200)]
        if step > 1
        else []
    )
    first = next(
        (
            change
            for moment in moments
            if moment <= LATER and (change := due(stored_memory, moment, RULES))
        ),
        None,
    )
    assert first in (None, at_once)
    if at_once is Status.DECAYED:
        assert importance_of(stored_memory) < RULES.floor
    if at_once is Status.COMPRESSED:
        assert importance_of(stored_memory) < RULES.long_floor
        assert len(stored_memory.content) >= 20
        assert stored_memory.consolidation_run is not None
    if (
        at_once is None
        and not stored_memory.pinned
        and HALF_LIFE_FACTORS[stored_memory.worth] is not None
        and (stored_memory.last_accessed_at or stored_memory.created_at) < LATER
    ):
        assert importance_of(stored_memory) >= RULES.floor - 1e-12


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(memories, min_size=1, max_size=30))
async def test_a_store_finds_what_is_due(
    store: LongTermStore, given_memories: list[Memory]
) -> None:
    # of this example alone: the store outlives it
    owner = ALICE._replace(user_id=f"alice-{uuid4().hex}")
    each = [
        memory.model_copy(update={"app_id": owner.app_id, "user_id": owner.user_id})
        for memory in given_memories
    ]
    await commit(store, owner, *(Write("put", document(memory)) for memory in each))
    places = await store.faded(owner, RULES, LATER, None, None, 100)
    wanted = {memory.id for memory in each if due(memory, LATER, RULES)}
    early = {memory.id for memory in each if due(memory, LATER + timedelta(seconds=2), RULES)}
    assert wanted <= {place.id for place in places} <= early


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(memories, min_size=1, max_size=20))
async def test_a_store_knows_when_the_next_is_due(
    store: LongTermStore, given_memories: list[Memory]
) -> None:
    """The moment by which a user's next run is planned is the earliest that the rule gives."""
    owner = ALICE._replace(user_id=f"alice-{uuid4().hex}")
    short = {"app_id": owner.app_id, "user_id": owner.user_id, "content": "tea"}
    each = [memory.model_copy(update=short) for memory in given_memories]
    await commit(store, owner, *(Write("put", document(memory)) for memory in each))
    moments = [next_change(memory, RULES)[0] for memory in each]
    expected = min((moment for moment in moments if LATER.timestamp() < moment < inf), default=None)
    coming = (await store.coming(owner, RULES, timedelta(days=9000), LATER)).fades
    if expected is None or coming is None:
        assert (expected is None) == (coming is None)
    else:
        assert abs(coming.timestamp() - expected) < 1


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(memories, min_size=1, max_size=20))
async def test_a_list_and_a_search_leave_out_what_has_faded_by_now(
    store: LongTermStore, given_memories: list[Memory]
) -> None:
    """Both say by their own columns what the rule says of a whole memory; a search that may show it
    says which it is.
    """
    owner = ALICE._replace(user_id=f"alice-{uuid4().hex}")
    place = {
        "app_id": owner.app_id,
        "user_id": owner.user_id,
        "content": "tea",
        "lexical": Lexical(own={"tea": 1}),
        "search_text": "tea",
    }
    each = [memory.model_copy(update=place) for memory in given_memories]
    await commit(store, owner, *(Write("put", document(memory)) for memory in each))
    sure = {memory.id for memory in each if has_faded(memory, LATER - timedelta(seconds=2), RULES)}
    perhaps = {
        memory.id for memory in each if has_faded(memory, LATER + timedelta(seconds=2), RULES)
    }
    every = {memory.id for memory in each}
    hidden = Filter(frozenset({"active", "compressed"}), now=LATER, fading=RULES)
    page = {document.id for document in await store.page(owner, "memory", hidden, None, 100)}
    assert every - perhaps <= page <= every - sure
    assert (
        set((await store.search(owner, Search(None, ("tea",), 100, hidden))).candidates.ids) == page
    )
    both = Filter(frozenset({"active", "compressed", "decayed"}), now=LATER, fading=RULES)
    candidates = (await store.search(owner, Search(None, ("tea",), 100, both))).candidates
    assert set(candidates.ids) == every
    assert candidates.faded is not None
    assert {
        name for name, faded in zip(candidates.ids, candidates.faded, strict=True) if faded
    } == every - page


async def test_worth_and_use_move_the_moment_and_a_worth_kept_for_good_takes_it_away(
    store: LongTermStore,
) -> None:
    """0.4 is three halvings over the floor: 90 idle days, 22 of small talk, three years of a health
    matter, 180 after ten accesses.
    """
    each = [
        kept(0, importance_base=0.4),
        kept(1, importance_base=0.4, worth="small_talk"),
        kept(2, importance_base=0.4, worth="health"),
        kept(3, importance_base=0.4, worth="asked_to_keep"),
        kept(4, importance_base=0.4, access_count=10),
        kept(5, importance_base=0.4, reinforcement_count=2),
    ]
    await commit(store, ALICE, *(Write("put", document(memory)) for memory in each))
    assert await found(store, NOW + timedelta(days=22)) == []
    assert await found(store, NOW + timedelta(days=23)) == ["mem_001"]
    assert await found(store, NOW + timedelta(days=91)) == ["mem_000", "mem_001"]
    assert await found(store, NOW + timedelta(days=181)) == [
        "mem_000",
        "mem_001",
        "mem_004",
        "mem_005",
    ]
    assert await found(store, NOW + timedelta(days=1079)) == [
        "mem_000",
        "mem_001",
        "mem_004",
        "mem_005",
    ]
    assert await found(store, NOW + timedelta(days=90_000)) == [
        "mem_000",
        "mem_001",
        "mem_002",
        "mem_004",
        "mem_005",
    ]


async def test_accesses_that_are_written_down_lengthen_the_half_life_in_the_store_too(
    store: LongTermStore,
) -> None:
    await commit(
        store,
        ALICE,
        Write("put", document(kept(0, importance_base=0.4))),
        Write("put", document(kept(1, importance_base=0.4))),
    )
    await accessed(store, ALICE, {"mem_000": AccessCount(4, NOW)})
    assert await found(store, NOW + timedelta(days=91)) == ["mem_001"]
    assert await found(store, NOW + timedelta(days=125)) == ["mem_001"]
    assert await found(store, NOW + timedelta(days=127)) == ["mem_000", "mem_001"]
    for name in ("mem_000", "mem_001"):
        stored_memory = (await store.memories(ALICE, [name]))[name].memory
        assert [due(stored_memory, NOW + timedelta(days=days), RULES) for days in (125, 127)] == [
            None if name == "mem_000" else Status.DECAYED, Status.DECAYED,
        ]  # fmt: skip


async def test_decayed_memories_are_named_once_they_were_accessed_since(
    store: LongTermStore,
) -> None:
    faded: dict[str, Any] = {
        "status": Status.DECAYED,
        "status_reason": "importance_decay",
        "updated_at": NOW,
    }
    versions = [
        kept(0, **faded),
        kept(1, **faded, last_accessed_at=NOW - timedelta(days=40)),
        kept(2, **faded, last_accessed_at=NOW + timedelta(hours=1)),
        kept(3, last_accessed_at=NOW + timedelta(hours=1)),
        kept(4, **faded),
    ]
    await commit(store, ALICE, *(Write("put", document(each)) for each in versions))

    async def named(limit: int = 10) -> list[str]:
        ids: list[str] = []
        after: Place | None = None
        while places := await store.recalled(ALICE, after, limit):
            ids += [place.id for place in places]
            after = places[-1]
        return ids

    assert await named() == ["mem_002"]
    later = AccessCount(1, NOW + timedelta(hours=2))
    await accessed(store, ALICE, dict.fromkeys(("mem_000", "mem_001", "mem_003"), later))
    assert await named() == await named(limit=1) == ["mem_000", "mem_001", "mem_002"]
    assert await found(store, LATER) == ["mem_003"], "what has faded does not fade"
    back = versions[0].model_copy(
        update={
            "status": Status.ACTIVE,
            "status_reason": "recalled",
            "last_accessed_at": NOW + timedelta(hours=2),
        }
    )
    await commit(store, ALICE, Write("put", document(back)))
    assert await named() == ["mem_001", "mem_002"]
    assert await store.recalled(BOB, None, 10) == []
