from datetime import datetime, timezone

import pytest

from memory_core.domain.ranking.query import analyse_query
from memory_core.domain.ranking.query_parts import MOST_SENTENCES, WHOLE, query_parts_of

NOW = datetime(2026, 5, 20, tzinfo=timezone.utc)


def texts(query):
    return [part.analysis.text for part in query_parts_of(query, NOW).parts]


@pytest.mark.parametrize(
    "query",
    [
        "Where does Dee sail her boat?",
        "red boat",
        "",
        "?!",
        "When Ann moved, where did she live?",
        "日本語",
    ],
)
def test_a_query_of_one_sentence_is_asked_for_as_it_is(query):
    message = query_parts_of(query, NOW)
    assert message.is_plain
    assert message.whole == analyse_query(query, NOW)
    assert message.sentences == (query,)


def test_each_sentence_its_neighbouring_pairs_and_the_whole_are_parts():
    query = "The dishwasher broke. My brother came over. Where did Dee sail?"
    message = query_parts_of(query, NOW)
    assert set(message.sentences) == {
        "The dishwasher broke.",
        "My brother came over.",
        "Where did Dee sail?",
    }
    pairs = {
        "The dishwasher broke. My brother came over.",
        "My brother came over. Where did Dee sail?",
    }
    assert set(texts(query)) == {*message.sentences, *pairs, query}
    assert message.parts[-1].analysis.text == query
    assert message.parts[-1].weight == WHOLE


def test_two_sentences_have_no_pair_beside_the_whole():
    assert len(texts("Tomas opens his shop. Which month was that?")) == 3


def test_the_columns_are_the_terms_of_all_parts():
    message = query_parts_of("The red boat sank. Which boat did Ben buy in Porto?", NOW)
    assert set(message.whole.terms) == {"red", "boat", "sank", "ben", "buy", "porto"}
    for part in message.parts:
        assert tuple(message.whole.terms[place] for place in part.places) == part.analysis.terms


def test_a_part_of_few_terms_counts_less_and_a_question_counts_in_full():
    weights = {
        part.analysis.text: part.weight
        for part in query_parts_of("Long day. Who painted sunsets in Porto? Which boat?", NOW).parts
    }
    assert weights["Long day."] == pytest.approx(2 / 4)
    assert weights["Which boat?"] == 1
    assert weights["Who painted sunsets in Porto?"] == 1


def test_a_sentence_without_a_telling_word_is_no_part():
    message = query_parts_of("How are you? Where does Dee sail her boat? It was.", NOW)
    assert message.is_plain
    assert message.sentences == ("Where does Dee sail her boat?",)


@pytest.mark.parametrize(
    "before", ["My phone is nearly dead, so a quick one: ", "The tests pass now. Before I push, "]
)
def test_what_leads_up_to_a_question_is_cut_off(before):
    assert "where did Dee sail?" in query_parts_of(f"{before}where did Dee sail?", NOW).sentences


def test_of_a_long_message_the_most_telling_sentences_are_asked_for_and_every_question_before_them():  # noqa: E501
    chatter = [
        f"The {word} lay on the table beside the window all day."
        for word in ("map", "key", "cup", "pen", "book", "lamp", "coin")
    ]
    message = query_parts_of(" ".join([*chatter, "Where did Dee sail?", *chatter]) * 20, NOW)
    assert len(message.sentences) == MOST_SENTENCES
    assert message.sentences[0] == "Where did Dee sail?"


def test_the_most_telling_sentence_comes_first():
    message = query_parts_of("Long day. The red boat sank near the old pier at Porto.", NOW)
    assert message.sentences[0].startswith("The red boat")


def test_a_time_told_later_goes_to_the_parts_that_say_it():
    message = query_parts_of("I had soup. What did Ann do the day after the wedding?", NOW)
    window = analyse_query("yesterday", NOW).windows[0]
    parts_with_times = message.with_times([(window, "the day after the wedding", "mem_1")])
    by = {
        part.analysis.text: [time.by for time in part.analysis.dated]
        for part in parts_with_times.parts
    }
    assert by["I had soup."] == []
    assert by["What did Ann do the day after the wedding?"] == ["mem_1"]


def test_the_whole_of_two_questions_leads_neither_of_them() -> None:
    assert (
        query_parts_of("Where does Dee sail her red boat? Which lemons does Ben grow?", NOW)
        .parts[-1]
        .weight
        == 1.0
    )
    assert (
        query_parts_of("My train to Porto was late. Which lemons does Ben grow?", NOW)
        .parts[-1]
        .weight
        == WHOLE
    )
