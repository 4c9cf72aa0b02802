"""What an answer says about itself: thresholds, recipes, explanations, dependencies
that are down.
"""

from __future__ import annotations

from datetime import timedelta
from math import prod
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import EmbeddingMismatch, Unavailable
from memory_core.domain.memory import MemoryType
from memory_core.domain.requests.memories import ClearInput, ListInput, RetrieveInput, SaveInput
from memory_core.domain.results import Nearest
from memory_core.domain.scope import Owner
from tests.builders import ALICE, NOW, memory
from tests.builders import save as put
from tests.world import BOB, Down, Meanwhile, WordsEmbedder, World, fact, find, turn


async def test_the_similarity_threshold_alone_replaces_both(words: MemoryCore) -> None:
    await words.bulk(
        ALICE,
        [
            turn(text, None)
            for text in ("red boat at sea", "a red hat", "old boat and new car and tall tree")
        ],
    )
    ranked = (
        await words.retrieve(
            ALICE, RetrieveInput(query="red boat at sea", similarity_threshold=0.0)
        )
    ).results
    assert len(ranked) == 3
    relevance = [hit.relevance_score for hit in ranked]
    assert relevance == sorted(relevance, reverse=True)
    best, second, last = relevance
    for threshold, count in (
        (last, 3),
        (second, 2),
        ((second + best) / 2, 1),
        (1.0, 0 if best < 1 else 1),
    ):
        answer_hits = (
            await words.retrieve(
                ALICE, RetrieveInput(query="red boat at sea", similarity_threshold=threshold - 1e-6)
            )
        ).results
        assert len(answer_hits) == count
    weak = RetrieveInput(
        query="red chocolate pudding with cherries and cream", similarity_threshold=0.01
    )
    assert (await words.retrieve(ALICE, weak)).results, (
        "below the answer threshold of the settings, yet asked for"
    )
    both = RetrieveInput(query="red boat at sea", similarity_threshold=0.0, answer_threshold=1.0)
    assert len((await words.retrieve(ALICE, both)).results) == (3 if best >= 1 else 0)
    cut = RetrieveInput(
        query="red boat at sea", similarity_threshold=0.0, score_threshold=ranked[0].score - 1e-6
    )
    assert len((await words.retrieve(ALICE, cut)).results) == 1


async def test_a_lower_answer_threshold_alone_answers_with_what_comes_near_to_the_best(
    words: MemoryCore,
) -> None:
    """The similarity threshold of the settings is higher, and the caller names none."""
    await words.bulk(ALICE, [turn(text, None) for text in ("red boat at sea", "a tall tree")])
    weak = "red chocolate pudding with cherries and cream"
    assert (await words.retrieve(ALICE, RetrieveInput(query=weak))).results == ()
    asked = RetrieveInput(query=weak, answer_threshold=0.01)
    (hit,) = (await words.retrieve(ALICE, asked)).results
    assert hit.memory.content == "red boat at sea"
    assert hit.relevance_score is not None
    assert hit.relevance_score < 0.3, "under the similarity threshold of the settings"
    needed = round(hit.relevance_score + 0.001, 5)
    missed = await words.retrieve(ALICE, RetrieveInput(query=weak, answer_threshold=needed))
    assert missed.results == ()
    assert missed.nearest == Nearest(hit.relevance_score, needed)


async def test_an_empty_answer_says_how_near_the_nearest_came(words: MemoryCore) -> None:
    await words.bulk(
        ALICE,
        [turn(text, None) for text in ("red boat at sea", "old boat and new car and tall tree")],
    )
    asked = RetrieveInput(query="red boat at sea", similarity_threshold=0.0, answer_threshold=0.0)
    best = (await words.retrieve(ALICE, asked)).results[0].relevance_score
    assert best < 1
    missed = await words.retrieve(ALICE, asked.model_copy(update={"answer_threshold": 1.0}))
    assert missed.results == ()
    assert missed.nearest == Nearest(best, 1.0)
    assert (await words.retrieve(ALICE, asked)).nearest is None, "there is an answer"
    stricter = await words.retrieve(
        ALICE,
        RetrieveInput(query="red boat at sea", similarity_threshold=1.0, answer_threshold=0.1),
    )
    assert stricter.nearest == Nearest(best, 1.0), "each result has to reach both"
    reconstructed = await words.retrieve(
        ALICE, RetrieveInput(query="red boat at sea", answer_threshold=1.0, mode="reconstruct")
    )
    assert (reconstructed.results, reconstructed.nearest) == ((), Nearest(best, 1.0))


WEAKLY = "Where is the red boat of the old harbour master moored?"


async def test_a_question_in_a_small_memory_is_answered_by_its_best_candidates(
    words: MemoryCore,
) -> None:
    texts = ("red boat at sea", "a tall tree", "chocolate pudding with cherries")
    saved = await words.bulk(ALICE, [turn(text, None) for text in texts])
    (best,) = (await words.retrieve(ALICE, RetrieveInput(query=WEAKLY))).results
    assert best.memory.content == texts[0]
    opened = RetrieveInput(query=WEAKLY, similarity_threshold=0.0)
    assert len(saved) == len((await words.retrieve(ALICE, opened)).results)
    for other in (
        "The red boat of the old harbour master is moored.",
        f"I slept badly. The tall tree fell over. My head hurts. {WEAKLY}",
    ):
        assert not (await words.retrieve(ALICE, RetrieveInput(query=other))).results, other
    named = RetrieveInput(query=WEAKLY, answer_threshold=0.4)
    missed = await words.retrieve(ALICE, named)
    assert (missed.results, missed.nearest) == ((), Nearest(best.relevance_score, 0.4))


async def test_the_same_question_in_a_large_memory_needs_the_whole_threshold(
    words: MemoryCore,
) -> None:
    await words.save(ALICE, turn("red boat at sea", None))
    await words.bulk(ALICE, [turn(f"number {number} of the list", None) for number in range(100)])
    await words.bulk(ALICE, [turn(f"entry {number} of the list", None) for number in range(100)])
    missed = await words.retrieve(ALICE, RetrieveInput(query=WEAKLY))
    assert missed.results == ()
    assert missed.nearest is not None
    assert missed.nearest.answer_threshold == 0.4


async def test_an_explained_empty_answer_names_the_nearest_and_what_it_lacked(
    words: MemoryCore,
) -> None:
    saved = await words.save(ALICE, fact("Ana plays the cello"))
    asked = RetrieveInput(
        query="the cello of Ulrike", answer_threshold=1.0, similarity_threshold=0.0, explain=True
    )
    missed = await words.retrieve(ALICE, asked)
    assert missed.results == ()
    assert missed.explain is not None
    assert missed.nearest is not None
    near = missed.explain["nearest"]
    assert (near["memory_id"], near["content"]) == (saved.memory.id, "Ana plays the cello")
    assert (near["relevance_score"], near["answer_threshold"]) == (
        missed.nearest.relevance_score,
        1.0,
    )
    assert near["lacks"] == ["similarity", "words"]
    assert near["missing_terms"] == ["ulrik"]
    cut = asked.model_copy(update={"answer_threshold": 0.0, "score_threshold": 1.0})
    answer = await words.retrieve(ALICE, cut)
    assert answer.explain is not None
    assert answer.explain["nearest"]["lacks"] == ["score"]
    answered = await words.retrieve(ALICE, asked.model_copy(update={"answer_threshold": 0.0}))
    assert answered.explain is not None
    assert "nearest" not in answered.explain, "there is an answer"
    of_another_user = await words.retrieve(BOB, asked)
    assert of_another_user.explain is not None
    assert of_another_user.explain["nearest"] is None


async def test_the_nearest_is_one_that_the_filters_let_through_and_never_of_another_user(
    words: MemoryCore,
) -> None:
    await words.save(BOB, turn("red boat at sea", None))
    asked = RetrieveInput(query="red boat at sea", answer_threshold=1.0)
    assert (await words.retrieve(ALICE, asked)).nearest is None, "there is no candidate"
    gone = (await words.save(ALICE, turn("red boat at sea today", None))).memory
    await words.delete(ALICE, gone.id)
    assert (await words.retrieve(ALICE, asked)).nearest is None
    await words.save(ALICE, turn("red boat at sea now", "s1", tags=["far"]))
    assert (await words.retrieve(ALICE, asked)).nearest is not None
    for other in (
        {"tags": ["near"]},
        {"session_id": "s2"},
        {"types": [MemoryType.SEMANTIC]},
        {"at": NOW - timedelta(days=9)},
    ):
        assert (await words.retrieve(ALICE, asked.model_copy(update=other))).nearest is None, other


@pytest.mark.parametrize("recipe", ["composite", "balanced", "weighted", "linear"])
async def test_every_recipe_ranks_by_its_own_score_and_reports_the_composite_too(
    words: MemoryCore, recipe: str
) -> None:
    await words.bulk(
        ALICE,
        [
            turn(
                "red boat",
                None,
                importance=0.1,
                confidence=0.2,
                event_timestamp=NOW - timedelta(days=1),
            ),
            turn("red boat", None, importance=0.9, confidence=1.0),
        ],
    )
    answer = await words.retrieve(ALICE, RetrieveInput(query="red boat", recipe=recipe))
    scores = [hit.score for hit in answer.results]
    assert scores == sorted(scores, reverse=True)
    assert [hit.rank for hit in answer.results] == [1, 2]
    assert answer.results[0].memory.importance_base == 0.9
    for hit in answer.results:
        assert hit.composite_score <= 1.2 * hit.relevance_score + 1e-6
        assert (hit.score == hit.composite_score) is (recipe == "composite")
        assert (hit.confidence_score is None) is (recipe != "weighted")
        assert (hit.frequency_score is None) is (recipe != "weighted")
        assert (hit.recency_score is None) is (recipe == "balanced")


async def test_weights_of_zero_leave_relevance_alone(words: MemoryCore) -> None:
    await words.save(ALICE, turn("red boat", None, importance=0.9))
    query = RetrieveInput(query="red boat", weights={"recency": 0, "importance": 0})
    (hit,) = (await words.retrieve(ALICE, query)).results
    assert hit.score == hit.relevance_score


async def test_explain_tells_every_list_rank_and_factor(words: MemoryCore) -> None:
    await words.save(ALICE, turn("when did the red boat sink?", actor="Ana"))
    await words.save(ALICE, turn("yesterday at noon", actor="Ben"))
    plain = await words.retrieve(ALICE, RetrieveInput(query="red boat sink", session_id="s1"))
    assert plain.explain is None
    assert plain.results[0].explain is None
    answer = await words.retrieve(
        ALICE, RetrieveInput(query="red boat sink", session_id="s1", explain=True)
    )
    assert answer.explain is not None
    assert answer.explain["recipe"] == "composite"
    assert answer.explain["documents"] == 2
    assert set(answer.explain["candidates"]) == {"vector", "lexical", "short"}
    explanations = {hit.memory.content: hit.explain or {} for hit in answer.results}
    assert {explanation["ranks"]["lexical"] for explanation in explanations.values()} == {1, 2}
    assert {explanation["ranks"]["short"] for explanation in explanations.values()} == {1, 2}
    assert (
        explanations["when did the red boat sink?"]["boosts"]["question"]
        < 1
        == explanations["yesterday at noon"]["boosts"]["question"]
    )


async def test_relevance_can_be_worked_out_from_what_explain_tells(words: MemoryCore) -> None:
    contents = [
        "Has anybody seen the red boat?",
        "It sank yesterday near Porto",
        "The boat, really?",
    ]
    await words.bulk(
        ALICE,
        [
            turn(text, actor=name)
            for text, name in zip(contents, ("Ana", "Ben", "Ana"), strict=True)
        ],
    )
    answer = await words.retrieve(
        ALICE,
        RetrieveInput(
            query="When did Ben's boat sink near Porto?", explain=True, similarity_threshold=0.0
        ),
    )
    assert answer.explain is not None
    assert len(answer.results) == 3
    for hit in answer.results:
        explanation = hit.explain or {}
        norm = 0.7 * (
            0.6 + 0.4 * explanation["length"] / min(max(answer.explain["mean_length"], 30), 40)
        )
        counts = {
            term: counts_of_term["frequency"] + 0.25 * counts_of_term["next"]
            for term, counts_of_term in explanation["terms"].items()
        }
        shares = {
            term: counts_of_term["worth"]
            * (counts[term] / (counts[term] + norm) + 0.6 * counts_of_term["near"])
            for term, counts_of_term in explanation["terms"].items()
        }
        beside = [
            similarity
            for similarity in (explanation["previous_similarity"], explanation["next_similarity"])
            if similarity is not None
        ]
        cosine = max((explanation["similarity"] + max(*beside, 0.0)) / 2, 0.0)
        relevance = (0.35 * cosine + 0.65 * sum(shares.values()) ** 0.7) * prod(
            explanation["boosts"].values()
        )
        assert hit.relevance_score == pytest.approx(min(1.0, relevance), abs=1e-4)
    assert {name for hit in answer.results for name in (hit.explain or {})["boosts"]} == {
        "question",
        "actor",
        "time",
    }


@pytest.mark.parametrize(("mode", "weight"), [("fast", 0.1), ("reconstruct", 0.0)])
async def test_what_the_turns_around_say_moves_a_result_and_nothing_of_a_context(
    words: MemoryCore, mode: Any, weight: float
) -> None:
    """A context quotes the turns around a hit anyway."""
    await words.bulk(
        ALICE,
        [
            turn(text)
            for text in ("The red boat is here", "It came at noon", "From Porto with red sails")
        ],
    )
    asked = RetrieveInput(
        query="red boat Porto",
        mode=mode,
        weights={"recency": 0, "importance": 0},
        explain=True,
        similarity_threshold=0.0,
    )
    results = (await words.retrieve(ALICE, asked)).results
    explanations = {hit.memory.content: hit.explain or {} for hit in results}
    assert explanations["The red boat is here"]["around"] == pytest.approx(1.0), (
        "with what comes after it, it says all of the query"
    )
    assert [explanation["order"] for explanation in explanations.values()] == sorted(
        (explanation["order"] for explanation in explanations.values()), reverse=True
    )
    for hit in results:
        of_hit = hit.explain or {}
        assert of_hit["order"] == pytest.approx(
            hit.relevance_score + weight * of_hit["around"], abs=1e-4
        )


async def test_memories_of_one_cell_are_one_result_that_names_the_others(
    words: MemoryCore, world: World, embedder: WordsEmbedder
) -> None:
    core = await world.core(embedder=embedder)
    await core.save(ALICE, turn("hello", None))
    store = world.store(embedder)
    await store.open()
    try:  # cells are made by conversations, a part of their own
        texts = ["red boat", "red boat sank", "red boat rose"]
        vectors = await embedder.embed(texts)
        made = [
            memory(
                text,
                cell_id="mem_cell" if n < 2 else None,
                embedding=vector,
                type=MemoryType.SEMANTIC,
            )
            for n, (text, vector) in enumerate(zip(texts, vectors, strict=True))
        ]
        await put(store, *made)
    finally:
        await store.close()
    results = (await core.retrieve(ALICE, RetrieveInput(query="red boat"))).results
    assert len(results) == 2
    cell = next(hit for hit in results if hit.memory.cell_id)
    assert cell.also == tuple(memory.id for memory in made[:2] if memory.id != cell.memory.id)


async def test_the_limit_is_kept_and_defaults_to_the_settings(world: World) -> None:
    core = await world.core(default_n_results=3)
    await core.bulk(ALICE, [turn(f"red boat {n}", None) for n in range(60)])
    assert len(await find(core, "red boat")) == 3
    assert len(await find(core, "red boat", limit=50)) == 50


async def test_without_the_embedder_words_answer_and_the_answer_says_so(
    words: MemoryCore, embedder: WordsEmbedder
) -> None:
    await words.bulk(ALICE, [turn("the red boat sank", None), turn("lunch", None)])
    embedder.down = True
    answer = await words.retrieve(ALICE, RetrieveInput(query="red boat sank"))
    assert [hit.memory.content for hit in answer.results] == ["the red boat sank"]
    assert answer.degraded == ("embedder",)
    assert answer.results[0].similarity_score is None
    assert (await words.ready())["status"] == "degraded"
    with pytest.raises(Unavailable, match="embedder"):
        await words.save(ALICE, turn("not without a vector"))


async def test_without_the_long_term_nothing_answers_and_never_with_nothing(world: World) -> None:
    down: list[Down] = []

    def wrap(store: Any) -> Down:
        down.append(Down(store))
        return down[0]

    core = await world.core(wrap=wrap)
    stored_memory = (await core.save(ALICE, turn("red boat"))).memory
    down[0].down = True
    for call in (
        core.retrieve(ALICE, RetrieveInput(query="red boat")),
        core.retrieve(ALICE, RetrieveInput(query="red boat", session_id="s1")),
        core.list(ALICE, ListInput()),
        core.get(ALICE, stored_memory.id),
        core.sessions(ALICE),
        core.versions(ALICE, stored_memory.id),
        core.delete(ALICE, stored_memory.id),
        core.clear(ALICE, ClearInput(session_id="s1")),
    ):
        with pytest.raises(Unavailable, match="long_term"):
            await call
    down[0].down = False
    assert await find(core, "red boat") == ["red boat"]


@pytest.mark.parametrize("adapter", ["cosmos"], indirect=True)
async def test_another_length_than_that_of_the_stored_vectors_is_refused_with_both_named(
    world: World, words: MemoryCore
) -> None:
    await words.save(ALICE, turn("red boat"))
    await world.close()
    world.cores.clear()
    with pytest.raises(EmbeddingMismatch, match="words"):
        await world.core()


async def test_another_user_s_memories_are_never_found(words: MemoryCore) -> None:
    await words.save(BOB, turn("red boat of Bob", "s1", tags=["sea"], agent_id="a1"))
    await words.save(ALICE, turn("red boat of Alice", "s1", tags=["sea"], agent_id="a1"))
    for fields in (
        {},
        {"session_id": "s1"},
        {"tags": ["sea"]},
        {"agent_id": "a1"},
        {"at": NOW},
        {"similarity_threshold": 0.0},
    ):
        assert await find(words, "red boat of Bob", **fields) == ["red boat of Alice"], fields


async def test_names_that_would_run_together_stay_apart(words: MemoryCore) -> None:
    owners = [
        Owner("a_b", "c"),
        Owner("a", "b_c"),
        Owner("a", "b"),
        Owner("A", "b"),
        Owner("a", "B"),
    ]
    for number, owner in enumerate(owners):
        await words.save(owner, turn(f"red boat {number}", "s"))
    for number, owner in enumerate(owners):
        for session in (None, "s"):
            answer = await words.retrieve(
                owner, RetrieveInput(query="red boat", session_id=session)
            )
            assert [hit.memory.content for hit in answer.results] == [f"red boat {number}"]


async def test_a_memory_deleted_between_the_search_and_the_reading_is_not_shown(
    world: World, embedder: WordsEmbedder, adapter: str
) -> None:
    """Where memories come with the search itself (Cosmos DB), nothing is read after it:
    the answer is as of the head it names.
    """
    other = await world.core(embedder=embedder)
    first = (await other.save(ALICE, turn("red boat one", None))).memory
    await other.save(ALICE, turn("red boat two", None))
    core = await world.core(
        embedder=embedder,
        wrap=lambda store: Meanwhile(store, "search", lambda: other.delete(ALICE, first.id)),
    )
    answer = await core.retrieve(ALICE, RetrieveInput(query="red boat"))
    if adapter == "sqlite":
        assert [(hit.rank, hit.memory.content) for hit in answer.results] == [(1, "red boat two")]
    else:
        assert answer.as_of_sequence == 2  # before the deletion
    assert await find(core, "red boat") == ["red boat two"]


async def test_nothing_is_said_of_a_memory_that_was_deleted_while_it_was_looked_for(
    world: World, embedder: WordsEmbedder, adapter: str
) -> None:
    other = await world.core(embedder=embedder)
    first = (await other.save(ALICE, turn("red boat one", None))).memory
    core = await world.core(
        embedder=embedder,
        wrap=lambda store: Meanwhile(store, "search", lambda: other.delete(ALICE, first.id)),
    )
    answer = await core.retrieve(ALICE, RetrieveInput(query="red boat"))
    assert answer.nearest is None
    assert (answer.results == ()) is (adapter == "sqlite")


async def test_reading_writes_nothing(
    words: MemoryCore, world: World, embedder: WordsEmbedder
) -> None:
    stored_memory = (await words.save(ALICE, turn("red boat"))).memory
    before = await world.head(embedder=embedder)
    for _ in range(3):
        await find(words, "red boat", session_id="s1")
        await words.get(ALICE, stored_memory.id)
    assert await world.head(embedder=embedder) == before


async def test_a_truth_is_found_by_any_name_of_its_slot(words: MemoryCore) -> None:
    """People do not ask for an occupation or a home city by these names."""
    for content, attribute in (
        ("Ana sells flowers", "occupation"),
        ("Ana has a flat in Turku", "home city"),
        ("Ana met Ben", "friend"),
    ):
        await words.save(
            ALICE,
            SaveInput(
                type=MemoryType.SEMANTIC, content=content, subject="Ana", attribute=attribute
            ),
        )
    for query, content in (
        ("What is Ana's job?", "Ana sells flowers"),
        ("Where is Ana's residence?", "Ana has a flat in Turku"),
    ):
        answer = await words.retrieve(ALICE, RetrieveInput(query=query))
        assert answer.results[0].memory.content == content, query
