from dataclasses import replace
from datetime import datetime, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.ranking.candidates import CandidateSet, Statistics
from memory_core.domain.ranking.query import analyse_query
from memory_core.domain.ranking.relevance import FusionParameters, RelevanceParameters, long_turns
from tests.measures import measures, ordering, relevance

NOW = datetime(2026, 5, 20, tzinfo=timezone.utc)
PARAMETERS = RelevanceParameters()
NOTHING = Statistics(0, 0.0, {})


def candidates(cosine, tf=None, **columns):
    """A set of memories that stand alone, unless columns say otherwise; `tf` has a row for each."""
    rows = len(cosine)
    tf = np.zeros((rows, 0)) if tf is None else np.array(tf, dtype=np.float64)
    unknown, zeros = np.full(rows, np.nan), np.zeros(rows)
    plain = {
        "ids": [f"m{row}" for row in range(rows)], "cosine": np.array(cosine, dtype=np.float64),
        "previous_cosine": unknown, "next_cosine": unknown, "tf": tf, "own": tf > 0,
        "length": np.full(rows, 10.0), "own_length": np.full(rows, 10.0),
        "before": np.full(rows, -1), "after": np.full(rows, -1), "asks": zeros > 0,
        "tells_time": zeros > 0, "turns": zeros > 0, "actor": [None] * rows, "cell": [None] * rows,
        "event_at": zeros, "touched_at": zeros, "accessed_at": zeros, "importance_base": zeros,
        "access_count": zeros, "confidence": zeros,
    }  # fmt: skip
    return CandidateSet(**(plain | columns))


def score(query, candidates, statistics=NOTHING, parameters=PARAMETERS):
    return relevance(analyse_query(query, NOW), candidates, statistics, parameters).score


def test_one_candidate_scores_what_the_formula_says():
    """Two terms, one known to 3 of 1,000 memories and one to none; a turn with a better neighbour
    on each side.
    """
    dogs = candidates(
        [0.5, 0.8], [[2.0, 0.0], [0.0, 0.0]], length=np.array([8.0, 8.0]),
        previous_cosine=np.array([np.nan, 0.5]), next_cosine=np.array([0.8, 0.1]),
        before=np.array([-1, 0]), after=np.array([1, -1]),
    )  # fmt: skip
    known, unknown = np.log(1 + 997.5 / 3.5), np.log(1 + 1000.5 / 0.5)
    share = known * (2 / (2 + 0.7 * (0.6 + 0.4 * 8 / 30))) / (known + unknown)
    first = 0.35 * (0.5 + 0.8) / 2 + 0.65 * share**0.7
    second = 0.35 * (0.8 + 0.5) / 2
    answer = relevance(
        analyse_query("dogs unicorns", NOW), dogs, Statistics(1_000, 16.0, {"dog": 3}), PARAMETERS
    )
    assert answer.lexical == pytest.approx([share, 0.0])
    assert answer.score == pytest.approx([first, second])
    assert answer.similarity.tolist() == [0.5, 0.8]


def test_the_only_memory_of_a_store_answers_a_question_about_it_and_no_other():
    statistics = Statistics(1, 10.0, {"anna": 1, "paint": 1, "sunris": 1})
    about = score("What did Anna paint?", candidates([0.6], [[1.0, 1.0]]), statistics)
    other = score("Which car did Peter sell?", candidates([0.3], [[0.0, 0.0, 0.0]]), statistics)
    assert about[0] > 0.6
    assert other[0] < 0.2


def test_an_unknown_term_of_the_query_lowers_the_share_that_is_covered():
    statistics = Statistics(500, 10.0, {"dog": 5})
    full = relevance(
        analyse_query("dog", NOW), candidates([0.0], [[1.0]]), statistics, PARAMETERS
    ).lexical
    half = relevance(
        analyse_query("dog unicorn", NOW), candidates([0.0], [[1.0, 0.0]]), statistics, PARAMETERS
    ).lexical
    assert half[0] < full[0] / 2


def test_what_the_turn_after_says_counts_a_little_where_it_is_a_candidate_too():
    before = candidates([0.0, 0.0], [[0.0], [1.0]], after=np.array([1, -1]))
    apart = candidates([0.0, 0.0], [[0.0], [1.0]])
    assert score("dog", apart)[0] == 0.0
    assert 0.0 < score("dog", before)[0] < score("dog", before)[1] == score("dog", apart)[1]
    assert score("dog", before, parameters=replace(PARAMETERS, next_weight=0.0))[0] == 0.0


def test_a_word_near_the_terms_counts_for_less_than_the_term_and_for_nothing_beside_it():
    near = np.array([[0.0], [0.9], [0.9], [0.0]])
    dogs = candidates([0.0] * 4, [[1.0], [1.0], [0.0], [0.0]], near=near)
    scores = score("dog", dogs)
    assert scores[0] == scores[1] > scores[2] > scores[3] == 0.0
    assert score("dog", dogs, parameters=replace(PARAMETERS, near_weight=0.0))[2] == 0.0


def test_a_memory_that_stands_alone_is_not_weighed_down_by_neighbours_it_cannot_have():
    turn = candidates([0.9], [[1.0]], previous_cosine=np.array([0.0]))
    alone = candidates([0.9], [[1.0]])
    assert score("dog", alone)[0] > score("dog", turn)[0]


def test_a_neighbour_that_points_the_other_way_counts_as_none_at_all():
    away = candidates([0.9], [[1.0]], previous_cosine=np.array([-0.8]))
    assert score("dog", away) == pytest.approx(
        score("dog", candidates([0.9], [[1.0]], previous_cosine=np.array([0.0])))
    )


def test_a_query_without_terms_is_decided_by_the_vectors_alone():
    assert score("???", candidates([0.9, 0.1])) == pytest.approx([0.9, 0.1])


def test_an_empty_set_has_empty_scores():
    answer = relevance(
        analyse_query("When was Ann in Rome in 2020?", NOW),
        candidates([], np.zeros((0, 3))),
        NOTHING,
        PARAMETERS,
    )
    assert answer.score.shape == answer.lexical.shape == answer.similarity.shape == (0,)


def test_an_unknown_cosine_counts_as_the_lowest_of_the_vector_list_and_is_shown_as_unknown():
    dogs = candidates(
        [0.8, 0.3, np.nan, 0.1], [[0.0]] * 4, lists={"vector": ["m0", "m1"], "lexical": ["m3"]}
    )
    answer = relevance(analyse_query("dog", NOW), dogs, NOTHING, PARAMETERS)
    assert answer.score[2] == answer.score[1] > answer.score[3]
    assert np.isnan(answer.similarity[2])


def test_without_any_vector_words_still_count():
    dogs = candidates([np.nan, np.nan], [[1.0], [0.0]])
    assert score("dog", dogs)[0] > 0.3
    assert score("dog", dogs)[1] == 0.0


@pytest.mark.parametrize(
    ("query", "column", "name", "factor"),
    [
        ("cook pasta", {"asks": np.array([True, False])}, "question", 0.85),
        ("When did they cook pasta?", {"tells_time": np.array([True, False])}, "time", 1.2),
        (
            "Did they cook pasta in 1970?",
            {"event_at": np.array([86_400.0 * 40, np.nan])},
            "window",
            1.2,
        ),
        ("What pasta did Ann cook?", {"actor": ["Ann", "Bob"]}, "actor", 1.175),
    ],
)
def test_a_boost_applies_to_the_candidate_it_is_for_and_its_number_switches_it_off(
    query, column, name, factor
):
    width = len(analyse_query(query, NOW).terms)
    boosted = candidates([0.5, 0.5], np.zeros((2, width)), **column)
    answer = relevance(analyse_query(query, NOW), boosted, NOTHING, PARAMETERS)
    assert answer.boosts[name] == pytest.approx([factor, 1.0])
    assert answer.score[0] / answer.score[1] == pytest.approx(factor)
    off = replace(
        PARAMETERS, question_penalty=0.0, time_boost=0.0, window_boost=0.0, actor_boost=0.0
    )
    plain = relevance(analyse_query(query, NOW), boosted, NOTHING, off)
    assert plain.boosts == {}
    assert plain.score[0] == plain.score[1]


@pytest.mark.parametrize(
    ("query", "boosted"),
    [
        ("What does Ann Lee cook?", [True, False, False]),
        ("What does ann cook?", None),
        ("What does Bob's dog eat?", [False, False, True]),
        ("What do Ann Lee and Bob cook?", None),
        ("What does the Duke of York cook?", None),
        ("Who cooks?", None),
    ],
)
def test_exactly_one_named_actor_is_preferred(query, boosted):
    speakers = candidates(
        [0.5] * 3,
        np.zeros((3, len(analyse_query(query, NOW).terms))),
        actor=["Ann Lee", "Ann Fox", "Bob of Rye"],
    )
    boosts = relevance(analyse_query(query, NOW), speakers, NOTHING, PARAMETERS).boosts
    assert (
        boosts.get("actor") is None
        if boosted is None
        else (boosts["actor"] > 1).tolist() == boosted
    )


def test_an_actor_who_is_known_but_has_no_candidate_counts_as_named():
    speakers = candidates([0.5], np.zeros((1, 3)), actor=["Ann"])
    boosts = relevance(
        analyse_query("Did Ann meet Bob?", NOW),
        speakers,
        Statistics(9, 10.0, {}, frozenset({"Ann", "Bob"})),
        PARAMETERS,
    ).boosts
    assert "actor" not in boosts


def test_the_embedders_own_scale_of_cosines_is_respected():
    scaled = replace(PARAMETERS, fusion=FusionParameters(cosine_low=0.7, cosine_high=0.9))
    assert score("???", candidates([0.6, 0.7, 0.8, 0.9, 1.0]), parameters=scaled) == pytest.approx(
        [0.0, 0.0, 0.5, 1.0, 1.0]
    )


@pytest.mark.parametrize("wrong", [{"vector_weight": 1.1}, {"gamma": 0.0}, {"cosine_low": 1.0}])
def test_a_fusion_that_could_leave_its_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        FusionParameters(**wrong)


COSINES = st.floats(-1.0, 1.0) | st.just(float("nan"))
QUERIES = st.sampled_from(
    [
        "When did Ann see the dog in May 2023?",
        "dog",
        "dog cat bird unicorn",
        "What?",
        "!!",
        "Which year did Ann and Bob meet?",
    ]
)


@st.composite
def anything(draw):
    """A query with a set of 0-6 candidates of any content, and statistics that need not
    agree with it.
    """
    query = analyse_query(draw(QUERIES), NOW)
    rows, width = draw(st.integers(0, 6)), len(query.terms)

    def column(values):
        return np.array(draw(st.lists(values, min_size=rows, max_size=rows)), dtype=np.float64)

    drawn = candidates(
        column(COSINES), np.array(draw(st.lists(st.floats(0, 50), min_size=rows * width,
            max_size=rows * width))).reshape(rows, width),
        previous_cosine=column(COSINES), next_cosine=column(COSINES),
        length=column(st.floats(0, 1e4)),
        before=column(st.integers(-1, rows - 1)).astype(np.int64),
        after=column(st.integers(-1, rows - 1)).astype(np.int64),
        asks=column(st.booleans()) > 0, tells_time=column(st.booleans()) > 0,
        event_at=column(st.floats(-1e11, 1e11) | st.just(float("nan"))),
        actor=draw(st.lists(st.sampled_from(["Ann", "Bob", None]), min_size=rows, max_size=rows)),
        lists={"vector": [f"m{row}" for row in range(rows) if draw(st.booleans())]},
    )  # fmt: skip
    frequency = {term: draw(st.integers(0, 2_000)) for term in query.terms if draw(st.booleans())}
    return (
        query,
        drawn,
        Statistics(
            draw(st.integers(0, 10_000)), draw(st.just(0.0) | st.floats(0.5, 1e4)), frequency
        ),
    )


@given(anything())
def test_scores_and_shares_are_within_zero_and_one_and_the_same_each_time(case):
    query, drawn, statistics = case
    answer = relevance(query, drawn, statistics, PARAMETERS)
    assert ((answer.score >= 0) & (answer.score <= 1)).all()
    assert ((answer.lexical >= 0) & (answer.lexical <= 1)).all()
    again = relevance(query, drawn, statistics, PARAMETERS)
    assert answer.score.tolist() == again.score.tolist()


@given(anything())
def test_a_query_that_shares_no_term_and_is_near_to_nothing_answers_nothing(case):
    query, drawn, statistics = case

    def low(cosine):
        return np.minimum(cosine, 0.39 if query.terms == () else 0.6)

    unrelated = replace(
        drawn, tf=np.zeros_like(drawn.tf), own=drawn.own & False, cosine=low(drawn.cosine),
        previous_cosine=low(drawn.previous_cosine), next_cosine=low(drawn.next_cosine),
    )  # fmt: skip
    plain = analyse_query("!!", NOW) if query.terms == () else query
    assert (relevance(plain, unrelated, statistics, PARAMETERS).score < 0.4).all()


@given(anything(), st.integers(0, 5), st.floats(0, 1))
def test_a_higher_cosine_never_lowers_any_score(case, row, raise_by):
    query, drawn, statistics = case
    if row >= len(drawn) or np.isnan(drawn.cosine[row]):
        return
    nearer = drawn.cosine.copy()
    nearer[row] = min(1.0, nearer[row] + raise_by)
    before = relevance(query, drawn, statistics, PARAMETERS).score
    after = relevance(query, replace(drawn, cosine=nearer), statistics, PARAMETERS).score
    assert (after >= before - 1e-12).all()
    assert after[row] >= before[row]


@given(anything())
def test_the_order_of_the_candidates_changes_no_score(case):
    query, drawn, statistics = case
    rows = len(drawn)
    flip = np.arange(rows)[::-1]

    def moved(column):
        return np.where(column[flip] >= 0, rows - 1 - column[flip], -1)

    arrays = (
        "cosine",
        "previous_cosine",
        "next_cosine",
        "tf",
        "own",
        "length",
        "own_length",
        "asks",
        "tells_time",
        "event_at",
    )
    flipped = replace(
        drawn, ids=drawn.ids[::-1], actor=drawn.actor[::-1], before=moved(drawn.before),
        after=moved(drawn.after), **{name: getattr(drawn, name)[flip] for name in arrays},
    )  # fmt: skip
    scores = relevance(query, drawn, statistics, PARAMETERS).score
    assert relevance(query, flipped, statistics, PARAMETERS).score == pytest.approx(scores[flip])


def test_a_question_is_worth_less_only_where_the_memory_says_little_else():
    questions = candidates(
        [0.5] * 3, asks=np.array([True, True, False]), own_length=np.array([22.0, 23.0, 5.0])
    )
    short, long, plain = score("…", questions)
    assert short == pytest.approx(0.85 * plain)
    assert long == plain


def test_a_long_text_among_long_ones_is_a_long_text_all_the_same():
    texts = candidates(
        [0.0, 0.0],
        [[1.0], [1.0]],
        length=np.array([40.0, 400.0]),
        own_length=np.array([40.0, 400.0]),
    )
    among_long = score("dog", texts, Statistics(500, 400.0, {"dog": 5}))
    assert among_long[1] < 0.7 * among_long[0]
    np.testing.assert_array_equal(
        among_long, score("dog", texts, Statistics(500, 40.0, {"dog": 5}))
    )
    as_it_is = score(
        "dog",
        texts,
        Statistics(500, 400.0, {"dog": 5}),
        replace(PARAMETERS, most_mean_length=np.inf),
    )
    assert as_it_is[1] > among_long[1]


def test_among_short_texts_one_of_a_hundred_words_is_not_buried():
    texts = candidates([0.0, 0.0], [[1.0], [1.0]], length=np.array([6.0, 70.0]))
    assert score("dog", texts, Statistics(500, 6.0, {"dog": 5}))[1] > 0.35
    np.testing.assert_array_equal(
        score("dog", texts, Statistics(500, 6.0, {"dog": 5})),
        score("dog", texts, Statistics(500, 30.0, {"dog": 5})),
    )


def test_a_word_near_a_term_counts_for_less_in_a_long_text_and_for_no_more_in_a_short_one():
    texts = candidates(
        [0.0] * 3, np.zeros((3, 1)), near=np.full((3, 1), 0.9), length=np.array([5.0, 30.0, 300.0])
    )
    short, mean, long = relevance(
        analyse_query("dog", NOW), texts, Statistics(500, 30.0, {"dog": 5}), PARAMETERS
    ).lexical
    assert short == mean == pytest.approx(0.6 * 0.9)
    assert long == pytest.approx(0.6 * 0.9 * 1.7 / (1 + 0.7 * (0.6 + 0.4 * 10)))


@pytest.mark.parametrize(
    ("log_length", "share"), [(0.0, 0.0), (2.75, 0.0), (3.75, 0.5), (4.75, 1.0), (9.0, 1.0)]
)
def test_turns_count_as_long_from_some_twenty_words_on(log_length, share):
    assert long_turns(Statistics(10, 10.0, {}, turn_log_length=log_length)) == pytest.approx(share)


def test_among_long_turns_the_cosine_adds_to_the_order_and_to_nothing_else():
    turns = candidates([0.2, 0.9, np.nan], [[1.0], [0.0], [0.0]])
    short, long = (
        Statistics(500, 10.0, {"dog": 5}),
        Statistics(500, 10.0, {"dog": 5}, turn_log_length=5.0),
    )
    query = analyse_query("dog", NOW)
    of_short, of_long = (
        relevance(query, turns, short, PARAMETERS),
        relevance(query, turns, long, PARAMETERS),
    )
    np.testing.assert_array_equal(of_short.score, of_long.score)
    of_the_words = ordering(query, turns, short, PARAMETERS)
    assert ordering(query, turns, long, PARAMETERS) == pytest.approx(
        of_the_words + np.array([0.4, 1.8, 0.0])
    )


def test_what_the_turns_around_say_of_the_query_adds_to_the_order_and_to_nothing_else():
    query = analyse_query("red boat Porto", NOW)
    tf = np.array([[1.0, 0.0, 0.0], [0.3, 1.0, 0.0], [0.0, 0.3, 1.0], [1.0, 0.0, 0.0]])
    turns = candidates(
        [0.5] * 4,
        tf,
        own=tf == 1.0,
        before=np.array([-1, 0, 1, -1]),
        after=np.array([1, 2, -1, -1]),
    )
    statistics = Statistics(500, 30.0, {"red": 5, "boat": 5, "porto": 5})
    assert measures(query, turns, statistics, PARAMETERS).around[0] == pytest.approx(
        [1.0, 1.0, 2 / 3, 1 / 3]
    )
    relevant = relevance(query, turns, statistics, PARAMETERS)
    order = ordering(query, turns, statistics, PARAMETERS)
    assert order - relevant.score == pytest.approx(
        PARAMETERS.around_weight * np.array([1.0, 1.0, 2 / 3, 1 / 3])
    )
    none = replace(PARAMETERS, around_weight=0.0)
    np.testing.assert_array_equal(ordering(query, turns, statistics, none), relevant.score)


def test_a_query_without_terms_is_ordered_by_its_relevance():
    query = analyse_query("", NOW)
    turns = candidates([0.5, 0.7], np.zeros((2, 0)))
    relevant = relevance(query, turns, Statistics(500, 30.0, {}), PARAMETERS)
    np.testing.assert_array_equal(
        ordering(query, turns, Statistics(500, 30.0, {}), PARAMETERS), relevant.score
    )


def test_the_cosine_of_a_long_text_counts_as_its_passages_would():
    turns = candidates([0.5, 0.5, 0.5], [[0.0]] * 3, own_length=np.array([20.0, 82.0, 820.0]))
    long = Statistics(500, 10.0, {"dog": 5}, turn_log_length=5.0)
    query = analyse_query("dog", NOW)
    order = ordering(query, turns, long, PARAMETERS)
    assert order[0] == order[1]
    assert order[2] - order[1] == pytest.approx(2 * 0.5 * (np.sqrt((1 + 9 * 0.2) / 10) - 1))
