"""Passages of long texts: what the best of them covers of a query, beside what the whole does."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.domain.ranking.candidates import Statistics, from_memories
from memory_core.domain.ranking.index_terms import PASSAGE_TERMS, TurnTerms, analyse
from memory_core.domain.ranking.passages import (
    BESIDE_TERMS,
    PassageRules,
    TermWorth,
    best_passages,
    saturation,
)
from memory_core.domain.ranking.query import analyse_query
from memory_core.domain.ranking.relevance import RelevanceParameters
from tests.builders import NOW, memory
from tests.measures import relevance

PARAMETERS = RelevanceParameters()
WHOLE = replace(PARAMETERS, passage_terms=())
RULES = PassageRules((40, 20), 4, 0.7, 0.4, 30.0)
ASKED = ("harbour", "lantern", "copper", "violin", "meadow")
OTHERS = tuple(f"plain{number}" for number in range(30))
STATISTICS = Statistics(500, 30.0, dict.fromkeys(ASKED, 2))


def told(text, *, actor=None, previous=None):
    lexical = analyse(
        text,
        actor=actor,
        event_timestamp=NOW,
        previous=None if previous is None else TurnTerms("m", previous),
    )
    return memory(text, lexical=lexical, actor=actor)


def filler(terms):
    return [OTHERS[number % len(OTHERS)] for number in range(terms)]


def shares(query, *memories):
    analysis = analyse_query(query, NOW)
    candidates = from_memories(memories, analysis.terms, None)
    with_passages, whole = (
        relevance(analysis, candidates, STATISTICS, parameters).lexical
        for parameters in (PARAMETERS, WHOLE)
    )
    return with_passages, whole


def best_of(candidates, terms):
    """The best passages for one query of terms that are worth the same."""
    asked = np.ones((1, len(terms)), dtype=np.bool_)
    return best_passages(
        candidates, terms, asked, TermWorth(asked.astype(np.float64), (None,)), RULES
    )


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(ASKED + OTHERS), max_size=300),
    st.lists(st.sampled_from(ASKED), min_size=1, max_size=5, unique=True),
    st.dictionaries(st.sampled_from(OTHERS), st.integers(1, 60), max_size=10),
)
def test_a_passage_never_takes_from_what_the_whole_covers(text, asked, previous):
    with_passages, whole = shares(" ".join(asked), told(" ".join(text), previous=previous))
    assert 0.0 <= whole[0] <= with_passages[0] <= 1.0


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(ASKED + OTHERS), max_size=PASSAGE_TERMS),
    st.lists(st.sampled_from(ASKED), min_size=1, max_size=5),
)
def test_a_text_that_is_one_passage_is_weighed_as_before(text, asked):
    with_passages, whole = shares(" ".join(asked), told(" ".join(text)))
    np.testing.assert_array_equal(with_passages, whole)


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(ASKED + OTHERS), min_size=PASSAGE_TERMS + 1, max_size=200),
    st.lists(st.sampled_from(ASKED), min_size=1, unique=True),
)
def test_the_best_passage_is_the_best_of_all_that_there_are(text, asked):
    analysis = analyse_query(" ".join(asked), NOW)
    candidates = from_memories([told(" ".join(text))], analysis.terms, None)
    stems = [analyse_query(word, NOW).terms[0] for word in text]
    best = 0.0
    for size in RULES.terms:
        for start in range(len(stems)):
            tf = np.array(
                [[stems[start : start + size].count(term) for term in analysis.terms]],
                dtype=np.float64,
            )
            covered = saturation(
                tf, np.array([size + BESIDE_TERMS]), RULES.mean_length, RULES.k1, RULES.b
            )
            best = max(
                best,
                covered.mean()
                * min(1.0, np.count_nonzero(tf) / min(RULES.enough, len(analysis.terms))),
            )
    assert best_of(candidates, analysis.terms).share[0] == pytest.approx([best])


@pytest.mark.parametrize("before", [0, 400, 1500])
def test_a_sentence_is_covered_the_same_wherever_it_stands_in_a_long_text(before):
    alone = shares(" ".join(ASKED), told(" ".join([*ASKED, *filler(35)])))[0]
    text = [*filler(before), *ASKED, *filler(1500 - before)]
    with_passages, whole = shares(" ".join(ASKED), told(" ".join(text)))
    assert whole[0] < 0.5 * alone[0]
    assert with_passages[0] > 0.95 * alone[0]


def test_words_that_stand_far_apart_make_no_passage():
    near = told(" ".join([*filler(200), *ASKED, *filler(200)]))
    apart = told(" ".join(word for asked in ASKED for word in (asked, *filler(80))))
    with_passages, whole = shares(" ".join(ASKED), near, apart)
    assert with_passages[0] > 2 * with_passages[1]
    assert with_passages[1] == whole[1]


def test_a_passage_that_says_few_of_the_terms_counts_for_less():
    analysis = analyse_query(" ".join(ASKED), NOW)
    texts = [
        told(" ".join([*filler(200), *ASKED[:count], *filler(200)])) for count in (1, 2, 3, 4, 5)
    ]
    best = best_of(from_memories(texts, analysis.terms, None), analysis.terms)
    chosen = [best.passage(0, row) for row in range(5)]
    assert [passage.weight for passage in chosen] == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert [passage.length for passage in chosen] == [20 + BESIDE_TERMS] * 5
    assert [passage.tf.sum() for passage in chosen] == [1, 2, 3, 4, 5]


def test_the_speaker_and_the_day_belong_to_each_passage():
    text = " ".join([*filler(500), "harbour", *filler(100)])
    query = "Ann harbour 20 May"
    by_ann, by_ben = shares(query, told(text, actor="Ann"), told(text, actor="Ben"))[0]
    assert by_ann > by_ben > 0.0


def test_a_line_after_a_long_answer_is_weighed_without_the_answers_words():
    line = " ".join(ASKED)
    answer = dict.fromkeys(OTHERS, 20)
    buried, whole = shares(line, told(line, previous=answer))
    alone = shares(line, told(line))[0]
    assert whole[0] < 0.7 * alone[0]
    assert buried[0] == pytest.approx(alone[0], rel=0.05)
