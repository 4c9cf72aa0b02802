"""Another embedder: what it can't compare is found by words, until a task has embedded it again,
in place and once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.memory import Memory, Vector
from memory_core.domain.requests.maintenance import ConsolidateInput, ReembedInput
from memory_core.domain.requests.memories import RetrieveInput, UpdateInput
from memory_core.domain.results import Accepted, Foreseen
from memory_core.domain.scope import Owner
from memory_core.ledger.read_set import ReadSet
from tests.builders import ALICE
from tests.tasks import Hand, task_of
from tests.world import BOB, DiesAfter, Killed, Meanwhile, WordsEmbedder, World, fact, turn


class OtherWords(WordsEmbedder):
    """An embedder of another name, whose vectors have nothing in common with those of
    `WordsEmbedder`.
    """

    model = "other words"

    def __init__(self, dimensions: int = WordsEmbedder.dimensions) -> None:
        super().__init__()
        self.dimensions = dimensions

    def _vector(self, text: str) -> Vector:
        return super()._vector(text)[::-1].copy()


async def reembedded(core: MemoryCore, owner: Owner = ALICE) -> Task:
    """Ask for it, work, and what came of it."""
    accepted = await core.reembed(owner, ReembedInput())
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()
    task = await task_of(core, accepted, owner)
    assert task.status == "succeeded", (task.status, task.step, task.error)
    return task


async def foreseen(core: MemoryCore) -> Foreseen:
    seen = await core.reembed(ALICE, ReembedInput(dry_run=True))
    assert isinstance(seen, Foreseen)
    return seen


async def stored(
    world: World, owner: Owner, names: Sequence[str], embedder: WordsEmbedder
) -> list[Memory]:
    """Memories as a process with this embedder reads them."""
    store = await world.look_on(embedder)
    seen = await store.snapshot(owner, names)
    look = ReadSet(seen.head, dict(seen.documents))
    return [memory for name in names if (memory := look.memory(name)) is not None]


async def similarity(core: MemoryCore, text: str, owner: Owner = ALICE) -> float | None:
    query = RetrieveInput(query=text, answer_threshold=0.0, similarity_threshold=0.0, explain=True)
    hits = (await core.retrieve(owner, query)).results
    return next(
        (hit.similarity_score for hit in hits if hit.serialized.memory.content == text), -1.0
    )


TURNS = [
    turn("Ana sings flamenco"),
    turn("the boat is red"),
    turn("a heron stands in the reeds", "s2"),
    fact("Ana lives in Porto"),
]


async def test_vectors_of_another_embedder_are_not_compared_and_made_anew_in_place(
    world: World,
) -> None:
    old = await world.core(embedder=WordsEmbedder())
    saved = [(await old.save(ALICE, item)).memory for item in TURNS]
    embedder = OtherWords()
    core = await world.core(embedder=embedder)
    log = await world.log(embedder=embedder)
    assert await similarity(core, "Ana sings flamenco") is None
    assert await foreseen(core) == Foreseen({"embedded": 4}, capped=False)
    task = await reembedded(core)
    made = {"counts": {"read": 4, "embedded": 4}, "model": "other words", "dimensions": 256}
    assert (task.kind, task.progress, task.result) == ("reembed", 1.0, made)
    assert await world.log(embedder=embedder) == log
    for before, after in zip(
        saved, await stored(world, ALICE, [memory.id for memory in saved], embedder), strict=True
    ):
        assert (after.embedding_model, after.embedding_dimensions, after.etag) == (
            "other words",
            256,
            before.etag,
        )
        assert after.model_dump(exclude={"embedding", "embedding_model"}) == before.model_dump(
            exclude={"embedding", "embedding_model"}
        )
    assert (await similarity(core, "Ana sings flamenco") or 0) > 0.5
    embedder.texts.clear()
    assert await foreseen(core) == Foreseen({"embedded": 0}, capped=False)
    again = await reembedded(core)
    assert again.result == made | {"counts": {"read": 4, "embedded": 0}}
    assert embedder.texts == []


async def test_the_vectors_are_those_that_a_save_would_make(world: World) -> None:
    """A turn's vector is made with the turn before it, also where that is another page,
    or was embedded by another commit.
    """
    old = await world.core(embedder=WordsEmbedder())
    items = [turn(f"word{number} of a session") for number in range(100)] + [
        turn("and a last one"),
        fact("a fact"),
    ]
    for start in (0, 100):
        await old.bulk(ALICE, items[start : start + 100])
    embedder = OtherWords()
    core = await world.core(embedder=embedder)
    await reembedded(core)
    for start in (0, 100):
        await core.bulk(BOB, items[start : start + 100])
    pairs = []
    for owner in (ALICE, BOB):
        documents = await (await world.look_on(embedder)).page(
            owner, "memory", None, None, 200, newest_first=False
        )
        pairs.append(await stored(world, owner, [document.id for document in documents], embedder))
    assert len(pairs[0]) == len(items)
    for mine, other in zip(*pairs, strict=True):
        assert mine.content == other.content
        assert np.array_equal(mine.embedding, other.embedding), mine.content  # type: ignore[arg-type]


async def test_old_versions_get_vectors_too(world: World) -> None:
    old = await world.core(embedder=WordsEmbedder())
    saved = (await old.save(ALICE, fact("Ana lives in Porto"))).memory
    await old.update(ALICE, saved.id, UpdateInput(content="Ana lives in Lisbon"), saved.etag)
    core = await world.core(embedder=OtherWords())
    assert (await reembedded(core)).result == {
        "counts": {"read": 1, "embedded": 2},
        "model": "other words",
        "dimensions": 256,
    }
    assert await foreseen(core) == Foreseen({"embedded": 0}, capped=False)


@pytest.mark.parametrize("applied", [False, True], ids=["before the commit", "after the commit"])
@pytest.mark.parametrize("commits", [1, 2, 3])
async def test_killed_in_any_chunk_the_work_goes_on_from_there(
    world: World, commits: int, applied: bool
) -> None:
    old = await world.core(embedder=WordsEmbedder())
    await old.bulk(ALICE, [turn(f"word{number}") for number in range(100)])
    embedder = OtherWords()
    dying = await world.core(
        embedder=embedder, wrap=lambda store: DiesAfter(store, commits, applied)
    )
    accepted = await dying.reembed(ALICE, ReembedInput())
    assert isinstance(accepted, Accepted)
    with pytest.raises(Killed):
        await Hand(dying, "consolidation").work_all()
    world.clock.forward(100)
    core = await world.core(embedder=embedder)
    await Hand(core, "consolidation").work_all()
    task = await task_of(core, accepted)
    assert (task.status, (task.result or {})["counts"]) == (
        "succeeded",
        {"read": 100, "embedded": 100},
    )
    assert await foreseen(core) == Foreseen({"embedded": 0}, capped=False)


async def test_what_is_saved_and_edited_meanwhile_is_left_as_it_is(world: World) -> None:
    old = await world.core(embedder=WordsEmbedder())
    saved = (await old.save(ALICE, fact("Ana lives in Porto"))).memory
    memory = (await old.save(ALICE, fact("the boat is red"))).memory
    embedder = OtherWords()
    beside = await world.core(embedder=embedder)
    meddled = Meanwhile(None, "page")  # type: ignore[arg-type]

    async def edit() -> None:
        await beside.update(ALICE, saved.id, UpdateInput(content="Ana lives in Lisbon"), saved.etag)
        await beside.save(ALICE, fact("the roof leaks"))

    def between(store: Any) -> Any:
        meddled.inner = store
        return meddled

    core = await world.core(embedder=embedder, wrap=between)
    accepted = await core.reembed(ALICE, ReembedInput())
    assert isinstance(accepted, Accepted)
    meddled.then = edit
    await Hand(core, "consolidation").work_all()
    assert (await task_of(core, accepted)).status == "succeeded"
    for name, text in ((saved.id, "Ana lives in Lisbon"), (memory.id, "the boat is red")):
        (memory,) = await stored(world, ALICE, [name], embedder)
        (vector,) = await embedder.embed([text])
        assert (memory.content, memory.embedding_model) == (text, "other words")
        assert np.allclose(memory.embedding, vector, rtol=1e-4)  # type: ignore[arg-type]
    assert (await similarity(core, "the roof leaks") or 0) > 0.9
    assert await foreseen(core) == Foreseen({"embedded": 0}, capped=False)


async def test_truths_told_before_and_after_meet_while_nothing_is_embedded_anew(
    world: World,
) -> None:
    """A slot needs no vector: a truth of the new embedder supersedes one whose vector can't
    be compared.
    """
    old = await world.core(embedder=WordsEmbedder())
    first = (
        await old.save(ALICE, fact("Ana lives in Porto", subject="Ana", attribute="city"))
    ).memory
    embedder = OtherWords()
    core = await world.core(embedder=embedder)
    await core.save(ALICE, fact("Ana lives in Lisbon", subject="Ana", attribute="city"))
    assert (await core.get(ALICE, first.id)).status == "superseded"
    await core.consolidate(ALICE, ConsolidateInput())
    await Hand(core, "consolidation").work_all()
    await reembedded(core)
    (memory,) = await stored(world, ALICE, [first.id], embedder)
    assert (memory.embedding_model, memory.embedding is None) == ("other words", False)


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_vectors_of_another_length_stand_beside_until_they_are_made_anew(
    world: World,
) -> None:
    old = await world.core(embedder=WordsEmbedder())
    await old.bulk(ALICE, TURNS)
    await old.bulk(BOB, TURNS)
    embedder = OtherWords(128)
    core = await world.core(embedder=embedder)
    health = await core.ready()
    assert health["dependencies"]["long_term"]["status"] == "degraded"
    assert "'words' with 256 dimensions" in health["dependencies"]["long_term"]["detail"]
    assert await similarity(core, "Ana sings flamenco") is None
    await core.save(ALICE, turn("a new one"))
    assert (await similarity(core, "a new one") or 0) > 0.5
    assert (await reembedded(core)).result == {
        "counts": {"read": 5, "embedded": 4},
        "model": "other words",
        "dimensions": 128,
    }
    assert (await core.ready())["dependencies"]["long_term"]["status"] == "degraded"
    await reembedded(core, BOB)
    assert (await core.ready())["dependencies"]["long_term"]["status"] == "ok"
    assert (await similarity(core, "Ana sings flamenco", BOB) or 0) > 0.5
    assert await similarity(old, "Ana sings flamenco") is None, (
        "who still has the old embedder goes on by words"
    )
