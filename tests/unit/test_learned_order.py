import json
from dataclasses import replace
from datetime import datetime, timezone

import numpy as np
import pytest

from memory_core.domain.memory import Lexical
from memory_core.domain.ranking.candidates import Statistics, from_memories, joined
from memory_core.domain.ranking.learned_order import (
    WEIGHTS,
    decreasing_order,
    learned_order,
    order_logits,
    order_shares,
    shared_order,
)
from memory_core.domain.ranking.query_parts import _placed_between, parts_relevance, query_parts_of
from memory_core.domain.ranking.relevance import RelevanceParameters
from memory_core.domain.ranking.vectors import DIMENSIONS, TokenStates, encoded
from tests.builders import memory, unit

NOW = datetime(2026, 5, 20, tzinfo=timezone.utc)
LEARNED = RelevanceParameters(learned=True)
TEXTS = (
    "Dee sails her red boat in Porto",
    "The dishwasher broke on Tuesday",
    "I like tea, said Ben",
    "Dee has a boat",
)


def token(*places):
    made = np.zeros((len(places), DIMENSIONS), dtype=np.float32)
    made[np.arange(len(places)), list(places)] = 1
    return encoded(made)


def asked(
    query,
    parameters,
    states=("", "", "", ""),
    tokens=(),
    texts=TEXTS,
    kind="msg",
    names=(),
    actors=(),
):
    message = query_parts_of(query, NOW)
    vectors = tuple(unit(place) for place in range(len(message.sentences)))
    names = names or [f"{kind}_{place}" for place in range(len(texts))]
    memories = [
        memory(text, id=name, embedding=unit(place))
        for place, (name, text) in enumerate(zip(names, texts, strict=True))
    ]
    for stored_memory, state in zip(memories, states, strict=False):
        stored_memory.lexical = stored_memory.lexical.model_copy(update={"states": state})
    for stored_memory, actor in zip(memories, actors, strict=False):
        stored_memory.actor = actor
    candidates = from_memories(
        memories, message.whole.terms, vectors[0] if message.is_plain else np.stack(vectors)
    )
    frequency = dict(zip(message.whole.terms, candidates.own.sum(axis=0).tolist(), strict=True))
    statistics = Statistics(len(memories), float(candidates.length.mean()), frequency)
    return parts_relevance(message, vectors, candidates, statistics, parameters, tokens)


def test_only_the_order_is_learned():
    query = "Where does Dee sail her boat? What broke on Tuesday?"
    learned, plain = asked(query, LEARNED), asked(query, replace(LEARNED, learned=False))
    np.testing.assert_array_equal(learned.best.score, plain.best.score)
    assert learned.part.tolist() == plain.part.tolist()
    assert learned.order.tolist() != plain.order.tolist()
    assert (learned.order > 0).all()


def test_what_is_no_turn_keeps_the_order_of_its_relevance():
    query = "Where does Dee sail her boat?"
    learned, plain = (
        asked(query, LEARNED, kind="mem"),
        asked(query, replace(LEARNED, learned=False), kind="mem"),
    )
    np.testing.assert_array_equal(learned.order, plain.order)


def test_what_is_no_turn_keeps_the_order_of_its_relevance_in_a_query_of_two_questions():
    query = "Where does Dee sail her boat? What broke on Tuesday?"
    learned, plain = (
        asked(query, LEARNED, kind="mem"),
        asked(query, replace(LEARNED, learned=False), kind="mem"),
    )
    np.testing.assert_array_equal(learned.order, plain.order)


def test_of_two_questions_the_best_turns_stand_as_high_as_what_is_no_turn_allows():
    query = "Where does Dee sail her boat? What broke on Tuesday?"
    mixed = asked(query, LEARNED, names=("msg_0", "msg_1", "msg_2", "mem_3"))
    plain = asked(query, replace(LEARNED, learned=False))
    places = [np.argsort(-verdict.order).tolist().index(3) for verdict in (mixed, plain)]
    assert places[0] == places[1]
    assert mixed.order.max() <= plain.order.max()


@pytest.mark.parametrize(
    "by_relevance", [(0.9, 0.5, 0.3, 0.6), (0.2, 0.2, 0.0, 0.4), (0, 0, 0, 0.1)]
)
def test_what_is_no_turn_has_as_many_turns_before_it_as_by_relevance(by_relevance):
    turns = np.array([True, True, True, False])
    for learned in ((0.9, 0.85, 0.8), (0.1, 0.9, 0.88), (0.05, 0.9, 0.02)):
        order = np.array([[*learned, by_relevance[3]]])
        placed = _placed_between(np.array([by_relevance]), order, turns)[0]
        assert placed[:3].tolist() == list(learned)
        before = sum(number > by_relevance[3] for number in by_relevance[:3])
        assert sum(number > placed[3] for number in learned) == before


def test_what_a_features_shares_come_to_is_what_orders():
    verdict = asked("Where does Dee sail her boat?", LEARNED)
    total = order_logits(verdict.features_of(0), 0.0, (4,), learned_order())
    shares = [order_shares(verdict.features_of(0), 0.0, row, learned_order()) for row in range(4)]
    np.testing.assert_allclose(total, [sum(share.values()) for share in shares])
    assert np.argsort(-total).tolist() == np.argsort(-verdict.order).tolist()


def test_a_token_like_one_of_the_query_moves_a_memory_up():
    tokens = (TokenStates(token(0, 1), np.ones(2, dtype=np.float32)),)
    far, near = token(9, 10), token(0, 1)
    without = asked("Where does Dee sail her boat?", LEARNED, (far,) * 4, tokens)
    moved = asked("Where does Dee sail her boat?", LEARNED, (far, far, far, near), tokens)
    ratio = [measured.order[3] / measured.order[0] for measured in (without, moved)]
    assert ratio[1] > ratio[0]


def test_memories_without_states_keep_their_order_among_themselves():
    tokens = (TokenStates(token(0, 1), np.ones(2, dtype=np.float32)),)
    plain = asked("Where does Dee sail her boat?", LEARNED)
    mixed = asked("Where does Dee sail her boat?", LEARNED, (token(0), "", "", ""), tokens)
    assert np.argsort(-mixed.order[1:]).tolist() == np.argsort(-plain.order[1:]).tolist()
    logits, without = (
        order_logits(measured.features_of(0), 0.0, (4,), learned_order())
        for measured in (mixed, plain)
    )
    assert np.isfinite(logits).all()
    np.testing.assert_allclose(np.diff(logits[1:]), np.diff(without[1:]))


def test_a_memory_of_before_that_says_nothing_of_its_speaker_is_ordered():
    old = memory("Dee has a boat", id="mem_9", embedding=unit(0))
    old.lexical = Lexical(own={"dee": 1, "boat": 1})
    candidates = from_memories([old], ("dee", "boat"), unit(0))
    assert np.isnan(candidates.says_i).all()
    both = joined(
        candidates, from_memories([memory("I have a boat", id="mem_8")], ("dee", "boat"), unit(0))
    )
    verdict = parts_relevance(
        query_parts_of("Dee's boat", NOW),
        (unit(0),),
        both,
        Statistics(2, 5.0, {"boat": 2}),
        LEARNED,
    )
    assert np.isfinite(verdict.order).all()


def test_nothing_at_all_is_ordered():
    candidates = from_memories([], ("boat",), unit(0))
    assert (
        parts_relevance(
            query_parts_of("boat", NOW), (unit(0),), candidates, Statistics(0, 0.0, {}), LEARNED
        ).order.tolist()
        == []
    )


def test_the_best_keeps_the_highest_and_each_other_has_less():
    fallen = decreasing_order(np.array([1.0, 3.0, -500.0]), 0.8, learned_order())
    assert fallen[1] == 0.8
    assert 0 < fallen[2] < fallen[0] < 0.8


def test_a_question_that_is_sure_of_its_answer_leaves_places_to_one_that_is_not():
    sure, unsure = (
        shared_order(np.array([9.0, 1.0, 0.5, 0.0])),
        shared_order(np.array([1.0, 0.9, 0.8, 0.7])),
    )
    assert sure.argmax() == unsure.argmax() == 0
    assert sure[1] < unsure[3]


def test_of_answers_that_are_equally_likely_each_further_place_counts_less():
    first, second, third = shared_order(np.zeros(3))
    assert 1 >= first > second > third


def test_the_weights_say_what_they_were_learned_of():
    record = json.loads(WEIGHTS.read_text())["record"]
    assert {"learned of", "questions", "split", "date", "recall@10"} <= record.keys()


def test_what_was_asked_of_an_assistant_moves_its_answers_up():
    texts = ("How do I seal the boat?", "Sand it, then three coats of epoxy.", *TEXTS)
    names = [f"msg_{place}" for place in range(len(texts))]
    actors = ("Dee", "Assistant", "Dee", "Dee", "Ben", "Dee")

    def distance(query):
        """How far the assistant's answer is above the best line of a person."""
        verdict = asked(query, LEARNED, texts=texts, names=names, actors=actors)
        logits = order_logits(verdict.features_of(0), 1.0, (len(texts),), learned_order())
        return logits[1] - np.delete(logits, 1).max()

    assert distance("What did you recommend for the boat?") > distance("What did I do to the boat?")
