from datetime import datetime, timezone

import numpy as np
import pytest

from memory_core.domain.ranking.candidates import Statistics, from_memories, joined
from memory_core.domain.ranking.query_parts import (
    part_of,
    parts_relevance,
    query_parts_of,
    says_all,
)
from memory_core.domain.ranking.relevance import RelevanceParameters
from tests.builders import memory, unit
from tests.measures import ordering, relevance

NOW = datetime(2026, 5, 20, tzinfo=timezone.utc)
PARAMETERS = RelevanceParameters()
TEXTS = ("Dee sails her red boat in Porto", "The dishwasher broke on Tuesday", "Ben likes tea")


def judged(query, vectors=None, texts=TEXTS):
    message = query_parts_of(query, NOW)
    vectors = vectors or tuple(unit(place) for place in range(len(message.sentences)))
    memories = [
        memory(text, id=f"mem_{place}", embedding=unit(place)) for place, text in enumerate(texts)
    ]
    candidates = from_memories(
        memories, message.whole.terms, vectors[0] if message.is_plain else np.stack(vectors)
    )
    frequency = dict(zip(message.whole.terms, candidates.own.sum(axis=0).tolist(), strict=True))
    statistics = Statistics(len(memories), float(candidates.length.mean()), frequency)
    return (
        message,
        candidates,
        statistics,
        parts_relevance(message, vectors, candidates, statistics, PARAMETERS),
    )


def test_a_query_of_one_sentence_has_the_relevance_that_it_had():
    message, candidates, statistics, verdict = judged("Where does Dee sail her boat?")
    np.testing.assert_array_equal(
        verdict.best.score, relevance(message.whole, candidates, statistics, PARAMETERS).score
    )
    np.testing.assert_array_equal(
        verdict.order, ordering(message.whole, candidates, statistics, PARAMETERS)
    )
    assert verdict.part.tolist() == [0, 0, 0]


def test_a_memory_counts_as_its_best_part_does():
    question = "Where does Dee sail her red boat?"
    _, _, _, alone = judged(question)
    message, _, _, inside = judged(f"My train was late and nobody told us anything. {question}")
    assert message.parts[inside.part[0]].analysis.text == question
    assert inside.best.score[0] > 0.9 * alone.best.score[0]
    whole = relevance(
        message.whole,
        *judged(f"My train was late and nobody told us anything. {question}")[1:3],
        PARAMETERS,
    ).score
    assert inside.best.score[0] > whole[0]


def test_the_vector_of_a_pair_and_of_the_whole_is_the_mean_of_its_sentences():
    message, candidates, _, _ = judged("The red boat sank. Where is the blue hat?")
    vectors = (unit(0), unit(1))
    mean = (vectors[0] + vectors[1]) / np.linalg.norm(vectors[0] + vectors[1])
    view = part_of(candidates, message.parts[-1], vectors)
    np.testing.assert_allclose(view.cosine, [unit(place) @ mean for place in range(3)], atol=1e-6)


def test_two_questions_share_the_first_places():
    texts = [*(f"Dee sails her red boat to harbour {n}" for n in range(12)), "Ben grows lemons"]
    _, _, _, verdict = judged(
        "Where does Dee sail her red boat? Which lemons does Ben grow?", (unit(0), unit(12)), texts
    )
    assert verdict.best.score[-1] < verdict.best.score[:12].max()
    assert np.argsort(-verdict.order).tolist().index(12) <= 1


def test_two_questions_about_long_texts_share_the_first_places_with_all_that_orders():
    message = query_parts_of("Where does Dee sail her red boat? Which lemons does Ben grow?", NOW)
    memories = [
        memory("Dee sails her red boat in Porto", id="boat", embedding=unit(0)),
        memory(
            "Ben grows lemons",
            id="lemons",
            embedding=(unit(1) + unit(2) + unit(3)) / np.float32(np.sqrt(3)),
        ),
    ]
    candidates = from_memories(memories, message.whole.terms, np.stack([unit(0), unit(1)]))
    statistics = Statistics(
        2,
        8.0,
        dict(zip(message.whole.terms, candidates.own.sum(axis=0).tolist(), strict=True)),
        turn_log_length=5.0,
    )
    verdict = parts_relevance(message, (unit(0), unit(1)), candidates, statistics, PARAMETERS)
    assert verdict.order[1] == pytest.approx(verdict.order[0])
    assert verdict.best.score[1] < verdict.best.score[0]


def test_a_memory_says_all_of_a_query_that_has_enough_words():
    message, candidates, _, _ = judged("Dee's red boat in Porto")
    assert says_all(message, candidates).tolist() == [True, False, False]
    message, candidates, _, _ = judged("Dee's red boat")
    assert not says_all(message, candidates).any()
    message, candidates, _, _ = judged("Dee's red boat in Lisbon")
    assert not says_all(message, candidates).any()


def test_a_memory_says_all_of_one_sentence_of_a_message():
    message, candidates, _, _ = judged("My train was late. Where is the red boat of Dee in Porto?")
    assert says_all(message, candidates).tolist() == [True, False, False]


def test_without_vectors_words_decide():
    message = query_parts_of("My train was late. Where does Dee sail her red boat?", NOW)
    candidates = from_memories([memory(text, id=text) for text in TEXTS], message.whole.terms, None)
    verdict = parts_relevance(message, (), candidates, Statistics(3, 5.0, {}), PARAMETERS)
    assert int(np.argmax(verdict.best.score)) == 0
    assert np.isnan(verdict.best.similarity).all()


def test_sets_of_several_sentences_are_joined_with_all_their_cosines():
    vectors = np.stack([unit(1), unit(2)])
    memories = [
        memory(text, id=f"mem_{place}", embedding=unit(place)) for place, text in enumerate(TEXTS)
    ]
    whole, first, second = (
        from_memories(part, ("boat",), vectors) for part in (memories, memories[:1], memories[1:])
    )
    both = joined(first, second)
    assert both.cosines is not None
    assert whole.cosines is not None
    np.testing.assert_allclose(both.cosines, whole.cosines)
    np.testing.assert_allclose(both.cosine, whole.cosines[0].max(axis=1))
