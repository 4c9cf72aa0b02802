"""The literals that a text must have for an expression to match it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.domain.statements import own_words, pasted_text
from memory_core.domain.statements.change_topics import MATTERS
from memory_core.domain.statements.first_person import names_speaker
from memory_core.domain.text.dates import tells_time
from memory_core.domain.text.prefilter import ascii_words, may_match, required_literals

OLD_LETTERS = "ſİı"
"""They match s and i whatever the case, but are not these letters in lower case."""
PATTERNS = [pattern for matter in MATTERS for pattern in (matter.holds, matter.changes)] + [
    own_words._HEADED,
    own_words._EXAMPLE,
    pasted_text._TO_WORK_ON,
    pasted_text._INTRODUCED,
    pasted_text._SAID_BY_OTHERS,
    pasted_text.SPOKEN,
    own_words._LINES,
    own_words._LOGGED,
    own_words._OBJECT,
]


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"\b(?:tied the knot|(?:got|are) married)\b", {"tied the knot", " married"}),
        (r"(?i)New\s+(?:BOSS|manager)", {"boss", "manager"}),
        (r"a?[xy]\d{2,}", {"x", "y"}),
        (r"(?:abc)+d*", {"abc"}),
        (r"(?!not)\w+", None),
        (r"left|\d", None),
        (r"(?P<quote>`).*?(?P=quote)", {"`"}),
    ],
)
def test_one_of_the_literals_stands_in_every_match(pattern: str, literals: set[str] | None) -> None:
    """The longest that is certain is taken; what may be left out, and what looks ahead,
    gives none.
    """
    assert required_literals(re.compile(pattern)) == literals


@settings(max_examples=300)
@given(st.data(), st.sampled_from(PATTERNS))
def test_a_text_that_matches_is_never_ruled_out(
    data: st.DataObject, pattern: re.Pattern[str]
) -> None:
    """Whatever matches an expression of the product has one of its literals, in either case."""
    text = data.draw(st.from_regex(pattern))
    if pattern.search(text) is not None and set(text).isdisjoint(OLD_LETTERS):
        assert may_match(pattern, text.lower())


def test_a_text_without_any_of_the_literals_is_ruled_out() -> None:
    """So that it need not be searched."""
    assert not may_match(re.compile(r"\b(?:retired|new job)\b"), "we went to the lake")


WORDS_OF_FLAGS = (
    "My", "me", "mine", "myself", "we", "US", "our", "ours", "Ich", "mic", "mir", "mich", "mirh",
    "mein", "meinem", "meinesgl", "wir", "uns", "unser", "unserer", "unserigem", "je", "moi", "mon",
    "ma", "mes", "nous", "yo", "mi", "nosotros", "I", "i", "I'm", "yesterday", "Today", "ago",
    "just", "last", "a couple of", "three", "12", "2019", "20199", "weeks", "day", "weekdays",
    "summer", "Fridays", "tuesday", "June", "may", "May 8th", "in", "8th", "tea", "_me", "x_may_",
    "我", "ſince", "İch",
)  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(WORDS_OF_FLAGS), st.sampled_from((" ", "-", ". ", "_", "", "\n"))
        ),
        max_size=6,
    ).map(lambda pairs: "".join(word + between for word, between in pairs))
)
def test_a_text_is_read_alike_whether_its_words_are_known_or_not(text: str) -> None:
    known_words = ascii_words(text)
    assert (known_words is None) == (not text.isascii())
    assert tells_time(text, known_words) == tells_time(text)
    assert names_speaker(text, known_words) == names_speaker(text, None)


@given(st.text(st.characters(max_codepoint=127)))
def test_the_words_of_ascii_text_are_those_that_an_expression_parts(text: str) -> None:
    assert ascii_words(text) == frozenset(re.findall(r"\w+", text.lower()))
