"""A pattern goes with the episodes that it rests on, unless a person has changed it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.adapters.system import RandomIds
from memory_core.consolidation.duplicates import merge_fields, supersede
from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import ClearInput, StatusInput, UpdateInput
from memory_core.domain.results import Call, Foreseen
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.read_set import ReadSet
from tests.builders import ALICE, NOW
from tests.contract.test_forget import forgotten
from tests.past import told_by_the_log
from tests.patterns import (
    HABIT,
    RUNS,
    Finding,
    consolidated,
    counts,
    deleted_one_by_one,
    patterns,
    told,
    walked,
    walks,
)
from tests.tasks import Hand
from tests.world import WordsEmbedder, World, fact

here = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
"""What is decided without asking what the store is."""


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(embedder=WordsEmbedder(), agents=OfflineAgents(), rules=OfflineAgents())


async def cleared(core: MemoryCore, _: Sequence[Memory]) -> None:
    await core.clear(ALICE, ClearInput(session_id="s1", type=MemoryType.EPISODIC))


async def forgotten_softly(core: MemoryCore, episodes: Sequence[Memory]) -> None:
    await forgotten(core, ids=[episode.id for episode in episodes])


@pytest.mark.parametrize("delete", [deleted_one_by_one, cleared, forgotten_softly])
async def test_a_pattern_goes_with_the_episodes_that_it_rests_on_and_once(
    core: MemoryCore, world: World, delete: Any
) -> None:
    episodes = await told(core, *RUNS)
    await consolidated(core)
    (pattern,) = await patterns(core)
    await delete(core, episodes)
    seen = await core.consolidate(ALICE, ConsolidateInput(dry_run=True))
    assert isinstance(seen, Foreseen)
    assert seen.counts["patterns_withdrawn"] == 1
    assert counts(await consolidated(core)) == {"patterns_withdrawn": 1}
    assert await patterns(core) == []
    gone = await core.get(ALICE, pattern.id)
    assert (gone.status, gone.status_reason, gone.source_ids) == (
        Status.DELETED,
        "forgotten",
        pattern.source_ids,
    )
    await told_by_the_log(core, world)
    session = (await core.session(ALICE, "s1")).counts
    assert {name: number for name, number in session.items() if number} == {}
    before = await world.log()
    assert counts(await consolidated(core)) == {}
    assert await world.log() == before


async def test_a_pattern_stays_while_two_of_its_episodes_are_left(core: MemoryCore) -> None:
    episodes = await told(core, *RUNS)
    await consolidated(core)
    (pattern,) = await patterns(core)
    await core.delete(ALICE, episodes[0].id)
    assert counts(await consolidated(core)) == {}
    assert [pattern.id for pattern in await patterns(core)] == [pattern.id]
    await core.delete(ALICE, episodes[2].id)
    assert counts(await consolidated(core)) == {"patterns_withdrawn": 1}
    assert await patterns(core) == []


async def test_a_pattern_that_was_withdrawn_is_found_anew_when_its_episodes_are_restored(
    core: MemoryCore,
) -> None:
    episodes = await told(core, *RUNS)
    await consolidated(core)
    (once,) = await patterns(core)
    await deleted_one_by_one(core, episodes)
    await consolidated(core)
    for episode in episodes:
        await core.set_status(ALICE, episode.id, StatusInput(status="active"))
    assert counts(await consolidated(core)) == {"patterns": 1}
    (anew,) = await patterns(core)
    assert (anew.content, anew.source_ids) == (once.content, once.source_ids)
    await core.delete(ALICE, anew.id)
    await told(core, "I went running in the park this evening", session="s2", day=5)
    assert counts(await consolidated(core)) == {}


@here
async def test_a_withdrawn_pattern_that_a_user_restored_and_deleted_stays_away(
    core: MemoryCore,
) -> None:
    episodes = await told(core, *RUNS)
    await consolidated(core)
    (pattern,) = await patterns(core)
    await deleted_one_by_one(core, episodes)
    await consolidated(core)
    await core.set_status(ALICE, pattern.id, StatusInput(status="active"))
    assert counts(await consolidated(core)) == {}
    await core.delete(ALICE, pattern.id)
    for episode in episodes:
        await core.set_status(ALICE, episode.id, StatusInput(status="active"))
    assert counts(await consolidated(core)) == {}
    assert await patterns(core) == []


@here
async def test_episodes_restored_before_a_run_keep_their_pattern_as_it_was(
    core: MemoryCore,
) -> None:
    episodes = await told(core, *RUNS)
    await consolidated(core)
    memories = await patterns(core)
    await deleted_one_by_one(core, episodes)
    for episode in episodes:
        await core.set_status(ALICE, episode.id, StatusInput(status="active"))
    assert counts(await consolidated(core)) == {}
    assert await patterns(core) == memories


@here
@pytest.mark.parametrize(
    "change", [{"pinned": True}, {"content": "User runs in the park, whatever comes"}]
)
async def test_a_pattern_that_its_user_pinned_or_edited_stays(
    core: MemoryCore, change: dict[str, Any]
) -> None:
    episodes = await told(core, *RUNS)
    await consolidated(core)
    (pattern,) = await patterns(core)
    await core.update(ALICE, pattern.id, UpdateInput(**change), pattern.etag)
    await deleted_one_by_one(core, episodes)
    assert counts(await consolidated(core)) == {}
    assert [pattern.id for pattern in await patterns(core)] == [pattern.id]


@here
async def test_what_a_user_saved_as_a_pattern_is_never_withdrawn(core: MemoryCore) -> None:
    saved = (await core.save(ALICE, fact(HABIT, category="pattern"))).memory
    episodes = await told(core, *RUNS)
    assert counts(await consolidated(core)) == {"patterns_reinforced": 1}
    await deleted_one_by_one(core, episodes)
    assert counts(await consolidated(core)) == {}
    assert [pattern.id for pattern in await patterns(core)] == [saved.id]


@here
async def test_a_name_that_only_a_deleted_episode_gave_goes_with_it(world: World) -> None:
    agents = Finding(
        {"summary": "User went running in the park with Zebulon", "sources": [0, 1, 2]}
    )
    core = await world.core(embedder=WordsEmbedder(), agents=agents)
    episodes = await told(core, "I went running in the park with Zebulon", RUNS[0], RUNS[2])
    await consolidated(core)
    assert len(await patterns(core)) == 1
    agents.found = []
    await core.delete(ALICE, episodes[0].id)
    assert counts(await consolidated(core)) == {"patterns_withdrawn": 1}
    assert await patterns(core) == []


@here
async def test_news_do_not_keep_up_what_has_lost_its_episodes(core: MemoryCore) -> None:
    episodes = await told(core, *RUNS)
    await consolidated(core)
    (once,) = await patterns(core)
    await deleted_one_by_one(core, episodes)
    more = await told(core, *(RUNS[place] for place in (0, 2, 3)), session="s2", day=5)
    assert counts(await consolidated(core)) == {"patterns": 1, "patterns_withdrawn": 1}
    (anew,) = await patterns(core)
    assert (anew.id != once.id, anew.source_ids) == (True, [memory.id for memory in more])


@here
async def test_what_came_of_each_deleted_episode_is_withdrawn(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_core.consolidation.pattern_withdrawal.EPISODES_AT_ONCE", 1)
    sources_of = {"User went running in the park": [0, 1], "User fed the otters": [2, 3]}
    agents = Finding(
        *({"summary": summary, "sources": sources} for summary, sources in sources_of.items())
    )
    core = await world.core(embedder=WordsEmbedder(), agents=agents)
    episodes = await told(core, RUNS[0], RUNS[2], "I fed the otters", "At noon I fed the otters")
    assert counts(await consolidated(core)) == {"patterns": 2}
    await deleted_one_by_one(core, [episodes[0], episodes[3]])
    assert counts(await consolidated(core)) == {"patterns_withdrawn": 2}
    assert await patterns(core) == []


@here
async def test_a_merged_pattern_rests_on_the_episodes_of_both(world: World) -> None:
    """And who went, which still says at its time what it said, on its own."""
    sources_of = {
        "User went running in the park": [0, 1],
        "User went running in the park at dawn": [2, 3],
    }
    agents = Finding(
        *({"summary": summary, "sources": sources} for summary, sources in sources_of.items())
    )
    core = await world.core(embedder=WordsEmbedder(), agents=agents)
    dawn = "I went running in the park at dawn"
    episodes = await told(core, dawn, f"{dawn} again", f"Today {dawn}", f"Yesterday {dawn}")
    await consolidated(core)
    ids = [
        pattern.id
        for pattern in sorted(await patterns(core), key=lambda pattern: len(pattern.content))
    ]

    def merge(look: ReadSet) -> Changes[None]:
        goes, stays = (pattern for name in ids if (pattern := look.memory(name)) is not None)
        after = merge_fields(stays, goes, "a run")
        return Changes(
            None,
            (
                Change("reinforced", after, stays),
                Change("merged", supersede(goes, after, NOW), goes),
            ),
        )

    await Ledger(await world.look_on(), world.clock, RandomIds()).commit(
        ALICE, merge, ids=ids, call=Call()
    )
    agents.found = []
    await deleted_one_by_one(core, episodes[2:])
    assert counts(await consolidated(core)) == {}
    assert [pattern.id for pattern in await patterns(core)] == ids[1:]
    await core.delete(ALICE, episodes[0].id)
    assert counts(await consolidated(core)) == {"patterns_withdrawn": 2}
    assert {(await core.get(ALICE, name)).status_reason for name in ids} == {"forgotten"}


@here
async def test_of_many_patterns_each_is_withdrawn_though_no_commit_takes_them_all(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = await world.core(embedder=WordsEmbedder(), agents=walks())
    await walked(core)
    await Hand(core, "consolidation").work_all()
    monkeypatch.setattr("memory_core.consolidation.pattern_withdrawal.PATTERNS_AT_ONCE", 3)
    monkeypatch.setattr("memory_core.consolidation.pattern_withdrawal.EPISODES_AT_ONCE", 7)
    await cleared(core, [])
    assert counts(await consolidated(core)) == {"patterns_withdrawn": 4}
    assert await patterns(core) == []
