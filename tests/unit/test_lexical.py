import json
from collections import Counter
from dataclasses import asdict
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.memory import Lexical, MemoryType
from memory_core.domain.ranking.index_terms import (
    EMBEDDED_CHARACTERS,
    MAX_TURN_TERMS,
    TurnTerms,
    analyse,
    as_turn,
    embedding_text,
    search_text,
    text_to_embed,
    with_lexical,
)
from memory_core.domain.ranking.query_parts import query_parts_of
from tests.builders import NOW, memory

MOMENT = datetime(2023, 5, 8, 13, 56, tzinfo=timezone.utc)


def said(content, actor="Ann", **more):
    return analyse(content, actor=actor, event_timestamp=MOMENT, **more)


def test_a_memory_is_found_by_its_words_its_actor_its_date_and_its_labels():
    lexical = said("I painted a sunrise", extra=["hobbies", "wall colour"])
    assert set(lexical.own) == {"ann", "paint", "sunris", "hobbi", "wall", "colour"}
    assert set(lexical.date) == {"8", "may", "2023"}


def test_a_memory_that_stands_alone_has_no_context():
    lexical = said("I painted a sunrise")
    assert (lexical.previous, lexical.before_previous, lexical.previous_asks, lexical.turn) == (
        {},
        {},
        False,
        None,
    )


def test_a_turn_carries_the_two_before_it_apart():
    first = as_turn("mem_1", said("Do you like dogs?", "Bob"))
    second = as_turn("mem_2", said("Which breed?"))
    lexical = said("The big brown ones", "Bob", previous=second, before_previous=first, turn=2)
    assert set(lexical.previous) == {"ann", "which", "breed"}
    assert set(lexical.before_previous) == {"bob", "do", "you", "like", "dog"}
    assert lexical.previous_asks
    assert not lexical.asks
    assert lexical.turn == 2


@pytest.mark.parametrize(
    "content", ["Really?", "Really? 😊", "「本当ですか？」", "هل هذا صحيح؟", "What?!"]
)
def test_a_text_that_ends_with_a_question_mark_asks(content):
    assert said(content).asks


@pytest.mark.parametrize("content", ["Really? Yes.", "Yes", "? no", "Who knows? " + "." * 200])
def test_other_texts_do_not_ask(content):
    assert not said(content).asks


def test_whether_a_text_tells_a_time_does_not_depend_on_its_date():
    assert said("We met yesterday").tells_time
    assert not said("We met").tells_time


def test_a_long_turn_hands_on_its_most_frequent_terms():
    content = "often " * 3 + " ".join(f"w{number}" for number in range(2_000)) + " the end"
    turn = as_turn("mem_1", said(content, None))
    assert len(turn.counts) == MAX_TURN_TERMS
    assert turn.counts["often"] == 3


def test_a_turn_survives_its_way_through_json():
    turn = as_turn("mem_1", said("Do you like dogs?", "Bob"))
    assert TurnTerms(**json.loads(json.dumps(asdict(turn)))) == turn


@given(
    *[st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(1, 4), max_size=5)] * 4
)
def test_the_search_text_holds_every_term_as_often_as_it_was_counted(
    own, date, previous, before_previous
):
    lexical = Lexical(own=own, date=date, previous=previous, before_previous=before_previous)
    assert Counter(search_text(lexical).split()) == Counter(own) + Counter(date) + Counter(
        previous
    ) + Counter(before_previous)


def test_the_vector_of_a_turn_is_made_of_its_date_and_what_was_said_itself():
    text = embedding_text(MemoryType.EPISODIC, "A lot", actor="Ann", event_timestamp=MOMENT)
    assert text == "[8 May 2023] Ann: A lot"
    alone = embedding_text(MemoryType.EPISODIC, "A lot", actor=None, event_timestamp=MOMENT)
    assert alone == "[8 May 2023] A lot"


@pytest.mark.parametrize(
    "of_messages", [{"actor": "Ann", "session_id": "s"}, {"id": "mem_1", "cell_id": "mem_1"}]
)
def test_only_the_beginning_of_what_was_said_or_formed_of_that_is_embedded(of_messages):
    long = "word " * 400
    assert text_to_embed(memory(long, **of_messages)).endswith(long[:EMBEDDED_CHARACTERS])


def test_a_text_that_was_saved_by_itself_is_embedded_as_a_whole():
    assert text_to_embed(memory("word " * 400)).endswith("word " * 400)


@pytest.mark.parametrize("memory_type", [MemoryType.SEMANTIC, MemoryType.PROCEDURAL])
def test_equal_statements_have_equal_texts_to_embed_whoever_made_them_and_whenever(memory_type):
    later = datetime(2026, 1, 1, tzinfo=timezone.utc)
    by_ann = embedding_text(memory_type, "Tea is hot", actor="Ann", event_timestamp=MOMENT)
    assert (
        by_ann
        == embedding_text(memory_type, "Tea is hot", actor=None, event_timestamp=later)
        == "Tea is hot"
    )


def test_the_call_of_a_tool_asks_it_for_something():
    call = 'get_weather({"city": "Leeds"})'
    assert analyse(
        call, actor="tool", event_timestamp=datetime(2026, 5, 8, tzinfo=timezone.utc)
    ).asks
    assert not analyse(
        call, actor="Ana", event_timestamp=datetime(2026, 5, 8, tzinfo=timezone.utc)
    ).asks
    assert not analyse(
        'get_weather: {"rain": true}',
        actor="tool",
        event_timestamp=datetime(2026, 5, 8, tzinfo=timezone.utc),
    ).asks


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("User: Ich arbeite als Krankenschwester", "Was ist mein Beruf?"),
        ("User: 私は東京で看護師として働いています", "私の職業は何ですか"),
        ("User works as a nurse", "What is my job?"),
        ("User: Ich bin gegen Erdnüsse allergisch", "Welche Allergien habe ich?"),
    ],
)
def test_a_fact_is_found_by_what_its_language_calls_the_attribute(content: str, asked: str) -> None:
    attribute = "allergy to erdnüsse" if "Erdnüsse" in content else "occupation"
    stored_memory = memory(
        content, type="semantic", subject="user", attribute=attribute, value="yes"
    )
    assert set(query_parts_of(asked, NOW).whole.terms) & set(
        with_lexical(stored_memory).lexical.own
    )


def test_names_of_an_attribute_in_other_languages_are_no_words_of_an_english_fact() -> None:
    stored_memory = memory(
        "User works as a nurse",
        type="semantic",
        subject="user",
        attribute="occupation",
        value="nurse",
    )
    assert not {"beruf", "職業"} & set(with_lexical(stored_memory).lexical.own)


def test_the_frame_of_a_story_is_no_word_of_it():
    story = memory(content="User said: We use Jest. Ann said so.", category="cell")
    assert with_lexical(story).lexical.own["said"] == 1
    message = memory(content="He said: use Jest.", actor="Ann")
    assert with_lexical(message).lexical.own["said"] == 1
