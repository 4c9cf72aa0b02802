import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.text import analyzer
from memory_core.domain.text.analyzer import MAX_DISTINCT, MAX_WORD, counts, tokens, words


@pytest.mark.parametrize(
    ("form", "other"),
    [
        ("running shoes", "RUN shoe"),
        ("The museums", "museum"),
        ("Straße", "STRASSE"),
        ("café résumé", "cafe resume"),
        ("İstanbul", "istanbul"),
        ("Ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("e\u0301clair", "éclair"),
        ("co\u00adoperate", "cooperate"),
        ("favourite_colour", "favourite colour"),
        ("well-known", "well known"),
        ("Anna's dog", "anna dog"),
        ("Anna\u2019s dog", "anna dog"),
        ("книги", "книгами"),
        ("किताबें", "किताब"),
        ("👍🏽", "👍"),
        ("❤\ufe0f", "❤"),
    ],
)
def test_two_ways_to_write_the_same_give_the_same_terms(form, other):
    assert tokens(form) == tokens(other) != []


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("C++", "C#"),
        ("C++", "c"),
        ("F#", "f"),
        ("python 2", "python 3"),
        ("日本語", "中国語"),
        ("кофе", "чай"),
        ("🍕", "🍔"),
        ("हिन्दी", "हन्दी"),
    ],
)
def test_different_things_keep_different_terms(word, other):
    assert tokens(word) != tokens(other)


@given(st.text(st.characters(max_codepoint=127), max_size=40) | st.text("abC1_+#- '", max_size=20))
def test_a_text_of_ascii_alone_is_read_like_any_other(plain):
    assert words(f"{plain} é") == [*words(plain), "é"]


def test_stop_words_and_lone_letters_are_dropped_and_lone_digits_stay():
    assert tokens("This is a plan B for the 2 of us, and that's it") == ["plan", "2", "us"]


def test_the_terms_keep_the_order_and_the_repetitions_of_the_text():
    assert tokens("dog cat dog") == ["dog", "cat", "dog"]
    assert list(counts("dog cat dog").items()) == [("dog", 2), ("cat", 1)]


def test_unspaced_scripts_become_pairs_of_characters_and_a_lone_one_stays():
    assert words("東京都") == ["東京", "京都"]
    assert words("猫") == ["猫"]
    assert words("한국어") == ["한국", "국어"]
    assert words("コーヒー") == ["コー", "ーヒ", "ヒー"]


def test_what_is_stored_of_a_text_can_be_found_by_a_word_of_one_character():
    assert tokens("猫") == ["猫"]
    for content in ("私は猫が好きです", "我有一只猫", "黒猫2匹"):
        assert counts(content)["猫"] == 1
    assert counts("猫 と 犬") == {"猫": 1, "と": 1, "犬": 1}, "counted once, when it stands alone"
    assert counts("우리 집에") == {"우리": 1, "집에": 1, "우": 1, "리": 1, "집": 1, "에": 1}
    assert "は" not in counts("私は猫"), "a syllable of Japanese is no word"


def test_a_word_that_mixes_scripts_is_parted_where_they_meet():
    assert words("iPhone15を買う") == ["iphone15", "を買", "買う"]


def test_a_thai_vowel_sign_stays_with_its_consonant():
    assert words("ที่นี่") == ["ที่นี่"]


def test_a_programming_language_with_signs_is_not_its_letter_and_other_words_lose_the_signs():
    assert words("C++, c#; notepad++ and issue#5") == ["c++", "c#", "notepad", "and", "issue", "5"]


def test_text_without_a_word_has_no_terms():
    assert tokens("") == tokens(" … ?! -- ") == []


def test_an_endless_word_is_cut():
    assert words("x" * 10_000) == ["x" * MAX_WORD]
    assert max(map(len, words("é" * 10_000 + "語"))) == MAX_WORD


def test_the_counts_of_a_huge_text_are_bounded_and_go_on_counting_known_terms():
    huge = " ".join(f"w{number}" for number in range(MAX_DISTINCT + 500)) + " w0"
    table = counts(huge)
    assert len(table) == MAX_DISTINCT
    assert table["w0"] == 2


@given(st.text(max_size=200))
def test_any_text_gives_terms_that_are_short_words_without_white_space(value):
    for token in tokens(value):
        assert token
        assert not any(character.isspace() for character in token)
        assert len(token) <= 2 * MAX_WORD


@given(st.text(alphabet=st.characters(max_codepoint=0x7F), max_size=100))
def test_the_case_of_ascii_text_makes_no_difference(value):
    assert tokens(value) == tokens(value.upper())


@given(
    st.lists(
        st.sampled_from(["running", "книги", "東京都", "C++", "2024", "café", "🍕"]), max_size=8
    )
)
def test_the_terms_of_a_text_are_those_of_its_words(parts):
    assert tokens(" ".join(parts)) == [token for part in parts for token in tokens(part)]


def test_threads_that_stem_at_once_get_what_one_alone_gets():
    vocabulary = [
        f"{stem}{ending}"
        for stem in ("walk", "talk", "jump", "paint")
        for ending in ("ing", "ed", "s", "er", "")
    ] * 20
    expected = tokens(" ".join(vocabulary))
    analyzer.term_of.cache_clear()
    answers: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: answers.append(tokens(" ".join(vocabulary))))
        for _ in range(4)
    ]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert answers == [expected] * 4


@pytest.mark.parametrize(
    ("word", "term"),
    [("lenas", "lena"), ("ottos", "otto"), ("glas", "glas"), ("preis", "preis"), ("haus", "haus")],
)
def test_a_german_genitive_of_a_name_has_the_term_of_the_name(word, term):
    assert analyzer.term_of(word, analyzer.GERMAN) == term
