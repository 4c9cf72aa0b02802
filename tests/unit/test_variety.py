"""What only repeats a better memory, and what merely sounds like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.ranking.repeats import Telling, repeats

SAID = Telling("I paid 40 euros for the red lamp.", "Ana", "2026-05-08")


@pytest.mark.parametrize(
    "again",
    [
        SAID,
        Telling("i paid 40 Euros for the red lamp", "Ana", "2026-05-08"),
        Telling("I have paid 40 euros for a red lamp", "Ana", "2026-05-08"),
        Telling("I paid 40 euros for the red lamp.", "Ana", None),
    ],
)  # fmt: skip
def test_the_same_words_repeat(again):
    assert repeats([SAID, again]) == [1]
    assert repeats([again, SAID]) == [1]


@pytest.mark.parametrize(
    "other",
    [
        Telling("I paid 50 euros for the red lamp.", "Ana", "2026-05-08"),
        Telling("I never paid 40 euros for the red lamp.", "Ana", "2026-05-08"),
        Telling("I paid 40 euros for the green lamp.", "Ana", "2026-05-08"),
        Telling("I paid 40 euros for the red lamp?", "Ana", "2026-05-08"),
        Telling("I paid 40 euros for the red lamp.", "Bo", "2026-05-08"),
        Telling("I paid 40 euros for the red lamp.", "Ana", "2026-05-09"),
        Telling("I paid 40 euros for the red lamp.", "Ana", "2026-05-08", key="lamp"),
        Telling("Lunch", "Ana", "2026-05-08"),
    ],
)  # fmt: skip
def test_another_number_word_speaker_day_or_key_says_something_else(other):
    assert repeats([SAID, other]) == []


def test_memories_without_words_of_their_own_repeat_nothing():
    assert repeats(
        [Telling("", key="tone"), Telling("", key="tone"), Telling("🙂"), Telling("🙂")]
    ) == [3]


@given(
    st.lists(
        st.sampled_from(["the red boat", "a red boat", "the blue boat", "two boats", "🙂", ""]),
        max_size=8,
    )
)
def test_the_best_of_those_that_repeat_each_other_is_never_among_them(contents):
    tellings = [Telling(content) for content in contents]
    repeated = repeats(tellings)
    assert 0 not in repeated
    assert repeated == sorted(set(repeated))
    left = [repeated_text for place, repeated_text in enumerate(tellings) if place not in repeated]
    assert repeats(left) == []
