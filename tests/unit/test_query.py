from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.ranking.query import MAX_TERMS, analyse_query, longest
from memory_core.domain.ranking.questions import asks_of_assistant
from memory_core.domain.text.analyzer import counts, tokens

NOW = datetime(2026, 5, 20, tzinfo=timezone.utc)


def test_question_words_are_no_terms_and_the_rest_are_those_of_memories():
    query = analyse_query("When did Anna start painting the kitchen?", NOW)
    assert query.terms == ("anna", "start", "paint", "kitchen")
    assert set(query.terms) <= set(tokens("Anna started to paint her kitchen"))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Can you remind me what my sister is called?", ("sister", "call")),
        ("What was the name of the plumber again?", ("name", "plumber")),
        ("When does the course start again?", ("cours", "start", "again")),
        ("Where did I say we met?", ("met",)),
        ("weißt du noch wie mein Chef heißt", ("chef", "heisst")),
        ("猫の名前覚えてる？", ("猫", "名前")),
        ("うちの娘、何歳だっけ？", ("娘", "歳")),
    ],
)
def test_words_around_a_question_are_no_terms(text, terms):
    assert analyse_query(text, NOW).terms == terms


@pytest.mark.parametrize("text", ["remind me", "覚えてる？", "currently"])
def test_a_query_of_words_around_a_question_alone_keeps_them(text):
    assert analyse_query(text, NOW).terms


def test_terms_are_unique_and_in_order_of_appearance():
    assert analyse_query("dogs or cats, dog or bird?", NOW).terms == ("dog", "cat", "bird")


def test_a_query_of_question_words_alone_keeps_them():
    assert analyse_query("What about you?", NOW).terms == ("what", "about", "you")


@pytest.mark.parametrize("text", ["to be or not to be", "???", "→", "a"])
def test_a_query_of_stop_words_or_signs_alone_has_no_terms(text):
    assert analyse_query(text, NOW).terms == ()


def test_time_and_dates_are_read():
    query = analyse_query("When in May 2023 did it rain?", NOW)
    assert query.asks_time
    assert [window.start.isoformat() for window in query.windows] == ["2023-05-01"]
    plain = analyse_query("Who cooks?", NOW)
    assert (plain.asks_time, plain.windows) == (False, ())


def test_a_long_query_keeps_its_longest_terms_in_their_order():
    many = " ".join([f"w{number}" for number in range(40)] + ["kaleidoscope", "tree"])
    terms = analyse_query(f"metamorphosis {many}", NOW).terms
    assert len(terms) == MAX_TERMS
    assert terms[0] == tokens("metamorphosis")[0]
    assert terms[-2:] == tuple(tokens("kaleidoscope tree"))


@given(st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=50), st.integers(1, 40))
def test_longest_keeps_order_and_drops_nothing_longer_than_what_it_keeps(terms, limit):
    longest_terms = longest(terms, limit)
    assert len(longest_terms) == min(limit, len(terms))
    assert [term for term in terms if term in longest_terms] == list(longest_terms)
    dropped = [len(term) for term in terms if term not in longest_terms]
    assert not dropped or max(dropped) <= min(map(len, longest_terms))


@given(st.text(max_size=300))
def test_any_query_can_be_analysed_twice_alike(text):
    query = analyse_query(text, NOW)
    assert query == analyse_query(text, NOW)
    assert len(set(query.terms)) == len(query.terms) <= MAX_TERMS
    assert set(query.terms) <= counts(text).keys()


def test_may_is_a_term_where_the_query_names_the_month_and_none_where_it_asks_for_leave() -> None:
    now = datetime(2026, 11, 21, tzinfo=timezone.utc)
    assert "may" in analyse_query("What happened in May 2026?", now).terms
    assert "may" not in analyse_query("What may I eat?", now).terms


@pytest.mark.parametrize(
    ("query", "dated"),
    [
        ("how are you doing today?", None),
        ("What happened yesterday?", {"happen", "yesterday"}),
        ("What did Ana say about the boat last week?", {"say", "last", "week"}),
        ("Did the president resign yesterday?", {"yesterday"}),
        ("What did I do last March?", {"last", "march"}),
        ("How are you today?", None),
        ("What did she do on 8 May 2023?", None),
        ("What did she do in March?", None),
    ],
)
def test_a_time_told_from_now_names_the_words_that_nobody_of_then_says(
    query: str, dated: set[str] | None
) -> None:
    dated_parts = analyse_query(query, datetime(2026, 11, 21, tzinfo=timezone.utc)).dated
    assert [set(part.terms) for part in dated_parts] == ([] if dated is None else [dated])


def test_what_somebody_does_for_a_living_is_their_job() -> None:
    assert "job" in analyse_query("What does Ben do for a living?", NOW).terms
    assert "live" not in analyse_query("What does Ben do for a living?", NOW).terms
    assert "live" in analyse_query("Where is Ben living?", NOW).terms


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("How did you recommend structuring my essay?", True),
        ("What approach did you suggest for the garden?", True),
        ("what was the recipe you gave me", True),
        ("Which books have you recommended so far?", True),
        ("I lost my notes. What were your suggestions for the trip?", True),
        ("Was hast du mir für den Garten empfohlen?", True),
        ("Did you tell me where to park?", True),
        ("How do I link the pages, like you mentioned?", False),
        ("What should I plant, as you said it is dry?", False),
        ("You recommended beans.", False),
        ("What do you recommend for the garden?", False),
        ("When did Ana say that you called?", False),
        ("What did Ana recommend to you?", False),
        ("", False),
    ],
)
def test_a_question_for_what_the_assistant_said_is_known_by_its_words(text, asks):
    assert asks_of_assistant(text) is asks
