import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.adapters.offline.thesaurus import NoRelatedWords, RelatedWords
from memory_core.domain.ranking.candidates import Related, listed, nearness
from memory_core.domain.text.analyzer import terms_of, tokens

RELATED = (Related("move", 0, 0.8), Related("travel", 0, 0.5), Related("travel", 1, 0.9))


def test_a_text_is_as_near_to_a_term_as_the_nearest_of_its_words():
    near = nearness([{"travel"}, {"move", "travel"}, {"sleep"}], RELATED, 2)
    assert near.tolist() == [[0.5, 0.9], [0.8, 0.9], [0.0, 0.0]]


def test_without_related_words_everything_is_far():
    assert nearness([], (), 3).shape == (0, 3)
    assert not nearness([{"a"}], (), 2).any()


def test_the_nearest_words_fill_up_the_list_of_terms_once_each():
    assert listed(("reloc", "trip"), RELATED, 4) == ("reloc", "trip", "travel", "move")
    assert listed(("reloc", "trip"), RELATED, 3) == ("reloc", "trip", "travel")
    assert listed(("reloc", "travel"), RELATED, 2) == ("reloc", "travel")
    assert listed(("a", "b", "c"), RELATED, 2) == ("a", "b", "c"), "the query's own are never cut"


@given(
    st.lists(st.sets(st.sampled_from("abcd"))),
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 2), st.floats(0.1, 1.0))),
)
def test_no_text_is_nearer_than_the_likeness_of_its_words(texts, pairs):
    near = nearness(texts, [Related(*pair) for pair in pairs], 3)
    assert near.shape == (len(texts), 3)
    for row, words in enumerate(texts):
        for of in range(3):
            assert near[row, of] == max(
                (likeness for word, to, likeness in pairs if to == of and word in words),
                default=0.0,
            )


def related(text):
    return asyncio.run(RelatedWords().related(tokens(text)))


@pytest.mark.parametrize(
    ("asked", "word"),
    [("relocate", "moved"), ("doctor", "physician"), ("pets", "dog"), ("painting", "artist")],
)
def test_the_table_knows_words_that_mean_nearly_the_same(asked, word):
    assert set(tokens(word)) <= {related_word.word for related_word in related(asked)}


@pytest.mark.parametrize(
    ("asked", "other"),
    [
        ("großmutter", "oma"),
        ("fahrstuhl", "aufzug"),
        ("両親", "実家"),
        ("仕事", "会社"),
        ("sport", "yoga"),
    ],
)
def test_everyday_words_find_others_for_the_same_thing_and_things_of_their_kind(asked, other):
    of_german = terms_of([other], "german")
    words = {word.word for word in asyncio.run(RelatedWords().related(terms_of([asked], "german")))}
    assert words.intersection(of_german)


def test_a_thing_finds_no_other_thing_of_its_kind():
    assert "footbal" not in {word.word for word in related("yoga")}


def test_the_table_knows_no_names_and_no_word_is_near_itself():
    assert related("Anna Monica Hannah London") == ()
    words = related("house car river")
    assert {word.of for word in words} == {0, 1, 2}
    assert not {(word.word, word.of) for word in words} & {("hous", 0), ("car", 1), ("river", 2)}
    assert all(0 < word.likeness <= 1 for word in words)


def test_the_stems_of_the_table_are_those_of_texts():
    words = np.array(
        sorted({word.word for word in related("summer friend cook music garden happy")})
    )
    assert len(words) > 40
    assert sum(tokens(word) == [word] for word in words) > 0.8 * len(words)


def test_words_of_other_languages_and_none_at_all_have_no_related_words():
    assert related("собака 東京 qwzx") == ()
    assert asyncio.run(NoRelatedWords().related(("house",))) == ()
