"""Finding what is in the archive: only when it is asked for, by its words and its vector, and what
is said when it can't be read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Status, Vector
from memory_core.domain.ranking.candidates import Related
from memory_core.domain.requests.memories import ListInput, RetrieveInput, UpdateInput
from memory_core.domain.results import Retrieved
from memory_core.recollection import candidate_sources
from tests.archives import Folder, Place
from tests.builders import ALICE, NOW
from tests.cold import Stepping, Steps, archived, blobs, saved, years_go_by
from tests.contract.test_decay import decayed
from tests.world import BOB, WordsEmbedder, World, fact, turn

STORY = "The grey heron stood in the reeds at dawn. " * 12


@pytest.fixture
def world(cold_world: World) -> World:
    return cold_world


async def retrieve(core: MemoryCore, query: str, **fields: Any) -> Retrieved:
    return await core.retrieve(ALICE, RetrieveInput(query=query, include_archived=True, **fields))


async def test_the_archive_is_searched_only_when_it_is_asked_for(
    world: World, words: MemoryCore
) -> None:
    (old,) = await saved(words, turn(STORY, metadata={"place": "lake"}))
    hot = (await words.retrieve(ALICE, RetrieveInput(query="grey heron reeds"))).results[0]
    years_go_by(world)
    await archived(world, words)
    head = await world.head()
    assert (await words.retrieve(ALICE, RetrieveInput(query="grey heron reeds"))).results == ()
    answer = await retrieve(words, "grey heron reeds")
    (hit,) = answer.results
    assert (hit.tier, hit.memory.id, hit.matched_by, answer.degraded) == (
        "cold",
        old.id,
        ("archive",),
        (),
    )
    assert (hit.memory.content, hit.memory.metadata) == (STORY, {"place": "lake"})
    assert hit.memory.status is Status.ARCHIVED
    assert hit.similarity_score == pytest.approx(hot.similarity_score, abs=1e-5)
    assert hit.relevance_score == pytest.approx(hot.relevance_score, abs=0.25)
    assert await world.head() == head
    assert (await words.get(ALICE, old.id)).content != STORY


async def test_archived_facts_are_told_last_of_all_that_is_known(
    world: World, words: MemoryCore
) -> None:
    asked = "What do you know about me?"
    (old,) = await saved(words, fact("Ann keeps bees", category="fact"))
    years_go_by(world)
    await archived(world, words)
    (new,) = await saved(words, fact("Ann collects stamps"))
    hot = (await words.retrieve(ALICE, RetrieveInput(query=asked))).results
    assert [hit.memory.id for hit in hot] == [new.id]
    hits = (await retrieve(words, asked)).results
    assert [(hit.memory.id, hit.tier) for hit in hits] == [(new.id, "long"), (old.id, "cold")]


async def test_a_decayed_one_is_found_in_the_archive_by_a_word_near_one_of_its_own(
    world: World,
) -> None:
    class Birds:
        async def related(self, terms: Sequence[str]) -> tuple[Related, ...]:
            return tuple(
                Related("heron", place, 0.9) for place, term in enumerate(terms) if term == "bird"
            )

    core = await world.core(embedder=WordsEmbedder(), thesaurus=Birds())
    (old,) = await saved(core, turn("the grey heron stood in the reeds"))
    world.clock.forward(400 * 86_400)
    await decayed(core)
    years_go_by(world)
    await archived(world, core)
    answer = await retrieve(core, "bird", similarity_threshold=0.05)
    assert [(hit.memory.id, hit.tier) for hit in answer.results] == [(old.id, "cold")]
    assert answer.results[0].similarity_score is not None, (
        "once found by its words, its vector counts"
    )


async def test_one_is_found_in_the_archive_by_its_vector_alone(world: World) -> None:
    class Meaning(WordsEmbedder):
        """Takes a wading bird and a heron for the same."""

        def _vector(self, text: str) -> Vector:
            return super()._vector(text.replace("a wading bird", "the grey heron"))

    core = await world.core(embedder=Meaning())
    (old,) = await saved(core, turn("the grey heron"))
    years_go_by(world)
    await archived(world, core)
    answer = await retrieve(core, "a wading bird", similarity_threshold=0.1, answer_threshold=0.2)
    assert [(hit.memory.id, hit.tier, hit.memory.content) for hit in answer.results] == [
        (old.id, "cold", "the grey heron")
    ]


async def test_it_is_ranked_among_what_is_hot_by_the_same_measure(
    world: World, words: MemoryCore
) -> None:
    (old,) = await saved(words, turn("the grey heron stood in the reeds"))
    years_go_by(world)
    await archived(world, words)
    (new,) = await saved(words, turn("a heron flew over the house yesterday"))
    hits = (await retrieve(words, "grey heron in the reeds")).results
    assert [(hit.memory.id, hit.tier) for hit in hits] == [(old.id, "cold"), (new.id, "long")]
    assert hits[0].recency_score == pytest.approx(0.01)


async def test_filters_hold_for_the_archive_too(world: World, words: MemoryCore) -> None:
    await saved(
        words, turn("heron one", "s1", tags=["bird"]), turn("heron two", "s2"), fact("heron three")
    )
    await words.save(BOB, turn("heron four"))
    years_go_by(world)
    await archived(world, words)
    await archived(world, words, BOB)

    async def contents(**fields: Any) -> list[str]:
        return sorted(
            hit.memory.content for hit in (await retrieve(words, "heron", **fields)).results
        )

    assert await contents() == ["heron one", "heron three", "heron two"]
    assert await contents(session_id="s1") == ["heron one"]
    assert await contents(tags=["bird"]) == ["heron one"]
    assert await contents(types=["semantic"]) == ["heron three"]


async def test_an_unrelated_query_finds_nothing_there_either(
    world: World, words: MemoryCore
) -> None:
    await saved(words, turn("the grey heron stood in the reeds"))
    years_go_by(world)
    await archived(world, words)
    assert (await retrieve(words, "invoice number of the plumber")).results == ()
    assert (await retrieve(words, "and what of it?")).results == ()


async def test_what_was_true_once_is_found_at_its_time_in_the_archive_and_not_as_present_truth(
    world: World, words: MemoryCore
) -> None:
    slot = {"subject": "Ana", "attribute": "city"}
    (oslo,) = await saved(words, fact("Ana lives in Oslo", **slot))
    world.clock.forward(86_400)
    changed = await words.update(
        ALICE, oslo.id, UpdateInput(content="Ana lives in Oslo, by the sea"), oslo.etag
    )
    world.clock.forward(86_400)
    await saved(words, fact("Ana lives in Bergen", **slot))
    years_go_by(world)
    await archived(world, words)

    async def contents(query: str = "Ana lives", **fields: Any) -> list[str]:
        return [hit.memory.content for hit in (await retrieve(words, query, **fields)).results]

    assert await contents() == ["Ana lives in Bergen"]
    assert await contents(at=NOW + timedelta(hours=1)) == ["Ana lives in Oslo"]
    assert await contents(at=NOW + timedelta(days=1, hours=1)) == ["Ana lives in Oslo, by the sea"]
    assert await contents(at=NOW + timedelta(days=2, hours=1)) == ["Ana lives in Bergen"]
    hits = (await retrieve(words, "Ana lives", at=NOW + timedelta(hours=1))).results
    assert [hit.memory.id for hit in hits] == [changed.id]
    without = await words.retrieve(
        ALICE, RetrieveInput(query="Ana lives", at=NOW + timedelta(hours=1))
    )
    assert without.results == ()


async def test_reading_by_id_and_lists_show_stubs(world: World, words: MemoryCore) -> None:
    (old,) = await saved(words, fact(STORY))
    world.clock.forward(3600)
    changed = await words.update(ALICE, old.id, UpdateInput(content="Herons. " + STORY), old.etag)
    years_go_by(world)
    await archived(world, words)
    stub = await words.get(ALICE, old.id)
    assert stub.content.startswith("Herons.")
    assert len(stub.content) <= 200
    assert (await words.get(ALICE, old.id, at=NOW + timedelta(minutes=1))).content.startswith(
        "The grey"
    )
    assert [
        memory.id
        for memory in (await words.list(ALICE, ListInput(status=Status.ARCHIVED))).memories
    ] == [changed.id]
    assert (await words.list(ALICE, ListInput())).memories == ()
    assert (await words.list(ALICE, ListInput(at=NOW + timedelta(minutes=1)))).memories == ()
    assert [version.version for version in await words.versions(ALICE, old.id)] == [1, 2]


@pytest.fixture
def place(world: World) -> Place:
    return world.cold or Folder(world.folder / "archive")


async def test_what_can_not_be_read_is_answered_from_its_stub_and_said(
    world: World, embedder: WordsEmbedder, place: Place
) -> None:
    archive = Stepping(world.archive())
    core = await world.core(embedder=embedder, archive=archive)
    await saved(core, turn(STORY), turn("another heron"))
    years_go_by(world)
    await archived(world, core)
    archive.down = True
    answer = await retrieve(core, "grey heron reeds")
    assert answer.degraded == ("archive",)
    hits = {hit.memory.content: hit for hit in answer.results}
    assert all(hit.tier == "cold" and hit.similarity_score is None for hit in hits.values())
    assert STORY not in hits
    archive.down = False
    for name in await blobs(world):
        await place.damage(name, b"spoilt")
    assert (await retrieve(core, "grey heron reeds")).degraded == ("archive",)


async def test_a_slow_archive_is_not_waited_for(
    world: World, embedder: WordsEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps()
    core = await world.core(embedder=embedder, archive=Stepping(world.archive(), steps))
    await saved(core, turn(STORY))
    years_go_by(world)
    await archived(world, core)
    monkeypatch.setattr(candidate_sources, "DEADLINE_S", 0.05)

    async def never() -> None:
        await asyncio.Event().wait()

    steps.at, steps.then, steps.asleep = 1, never, False
    answer = await retrieve(core, "grey heron reeds")
    assert answer.degraded == ("archive",)
    assert [hit.tier for hit in answer.results] == ["cold"]


async def test_what_comes_back_while_it_is_looked_for_is_no_damage(
    world: World, embedder: WordsEmbedder
) -> None:
    """Between the search and the fetching it is restored, and its copy swept."""
    steps = Steps(counted=("memories",))
    core = await world.core(embedder=embedder, wrap=lambda store: Stepping(store, steps))
    other = await world.core(embedder=embedder)
    (old,) = await saved(core, turn(STORY))
    years_go_by(world)
    await archived(world, core)

    async def then() -> None:
        await other.restore(ALICE, old.id)
        await archived(world, other)

    steps.then, steps.asleep = then, False
    await retrieve(core, "grey heron reeds")
    steps.at = len(steps.names) + 1
    answer = await retrieve(core, "grey heron reeds")
    assert (answer.results, answer.degraded) == ((), ())
    (hit,) = (await retrieve(core, "grey heron reeds")).results
    assert hit.tier in ("long", "faded"), (
        "from the archive no more; whether asking has woken it by now is another matter"
    )


async def test_vectors_of_another_embedder_are_not_compared_but_words_are(
    world: World, words: MemoryCore, embedder: WordsEmbedder
) -> None:
    """A store opens for one embedder; what is in the archive may be of the one before it."""
    await saved(words, turn(STORY))
    years_go_by(world)
    await archived(world, words)
    embedder.model = "other words"
    answer = await retrieve(words, "grey heron reeds")
    (hit,) = answer.results
    assert (hit.tier, hit.similarity_score, hit.memory.content, answer.degraded) == (
        "cold",
        None,
        STORY,
        (),
    )


async def test_a_vector_of_another_embedder_is_made_anew_when_it_comes_back(
    world: World, words: MemoryCore, embedder: WordsEmbedder
) -> None:
    (old,) = await saved(words, turn(STORY))
    years_go_by(world)
    await archived(world, words)
    embedder.model, embedder.texts = "other words", []
    back = await words.restore(ALICE, old.id)
    assert embedder.texts != []
    assert (back.embedding_model, back.embedding_dimensions) == ("other words", embedder.dimensions)
    (event,) = [
        event
        for event in await world.log(embedder=WordsEmbedder())
        if event.event_type == "restored"
    ]
    assert event.metadata == {"vector": "made_anew"}


async def test_without_the_new_embedder_it_comes_back_to_be_found_by_words(
    world: World, words: MemoryCore, embedder: WordsEmbedder
) -> None:
    (old,) = await saved(words, turn(STORY))
    years_go_by(world)
    await archived(world, words)
    embedder.model, embedder.down = "other words", True
    back = await words.restore(ALICE, old.id)
    assert (back.content, back.embedding, back.embedding_model) == (STORY, None, None)
    (event,) = [
        event
        for event in await world.log(embedder=WordsEmbedder())
        if event.event_type == "restored"
    ]
    assert event.metadata == {"vector": "left_out"}
    answer = await words.retrieve(ALICE, RetrieveInput(query="grey heron reeds dawn stood"))
    assert [hit.memory.id for hit in answer.results] == [old.id]


async def test_no_more_are_fetched_than_a_query_may_wait_for(
    world: World, embedder: WordsEmbedder
) -> None:
    steps = Steps()
    core = await world.core(embedder=embedder, archive=Stepping(world.archive(), steps))
    for start in range(0, 60, 30):
        await core.bulk(
            ALICE,
            [turn(f"heron number {number}", f"s{number}") for number in range(start, start + 30)],
        )
    years_go_by(world)
    await archived(world, core)
    steps.asleep = False
    answer = await retrieve(core, "heron", limit=100)
    assert steps.names == ["get"] * candidate_sources.MOST
    assert len(answer.results) == candidate_sources.MOST
