"""Whether episodes support a pattern, and whether a text repeats another.

A pattern is made by an agent that may invent. So each episode must say a part of it by itself,
together they must say most of it, and every number and name of it must be in some episode. Note:
this is no check of truth. An episode about bad tea also supports "Likes tea". But an order that
hides in a single episode, or an example that a model repeats, has no second episode that says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_core.domain.statements.own_words import own_words
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS, terms_of, tokens, words
from memory_core.domain.text.sameness import differences, names_in
from memory_core.domain.text.spelling import numbers_in

FEWEST = 2
"""Episodes that make a pattern; the content of a single episode is kept in its facts."""
LEAST_EACH = 1 / 3
"""The share of a pattern's informative terms that each of its episodes has."""
LEAST_TOGETHER = 1 / 2
"""The share of a pattern's informative terms that its episodes have together: a summary may use
other words.
"""
LEAST_TOLD = 3 / 4
"""The share of a pattern's informative terms that a fact must have to say it already."""
_FRAME = frozenset(
    tokens(
        "user users person somebody usually often always regularly repeatedly mostly typically "
        "generally frequently sometimes tends tend every again time times go goes going went "
        "speaks speak talks talk said says told like likes prefer prefers enjoy enjoys"
    )
) | frozenset(tokens(" ".join(QUERY_WORDS)))
"""Terms of the wording of patterns, rather than of their topic."""


@dataclass(frozen=True, slots=True)
class SaidTerms:
    """The terms and numbers of an episode, each once, to compare patterns with."""

    terms: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, text: str, speaker: str | None = None) -> SaidTerms:
        """Read the speaker's own words, without quoted, pasted or recalled text.

        Args:
            text: The episode's.
            speaker: A name that the pattern may mention.

        """
        own = own_words(text, is_story=True)
        return cls(frozenset(tokens(f"{speaker or ''} {own}")), frozenset(numbers_in(own)))


def telling(statement: str) -> frozenset[str]:
    """The terms of a pattern that tell its topic."""
    return frozenset(tokens(statement)) - _FRAME


def carriers(statement: str, episodes: Sequence[SaidTerms], fewest: int = FEWEST) -> list[int]:
    """The places of the episodes that support a statement.

    Args:
        statement: The pattern.
        episodes: The candidates.
        fewest: The least number of episodes.

    Returns:
        Empty where they do not support it together, or are fewer than `fewest`.

    """
    terms = telling(statement)
    places = [
        place
        for place, episode in enumerate(episodes)
        if terms and len(terms & episode.terms) >= LEAST_EACH * len(terms)
    ]
    if len(places) < fewest:
        return []
    known = frozenset(term for place in places for term in episodes[place].terms)
    numbers = frozenset(number for place in places for number in episodes[place].numbers)
    invented = (
        not frozenset(numbers_in(statement)) <= numbers
        or not frozenset(tokens(" ".join(names_in(statement)))) - _FRAME <= known
    )
    return [] if invented or len(terms & known) < LEAST_TOGETHER * len(terms) else places


def is_stated_by(statement: str, fact: str) -> bool:
    """Whether a fact says most of a pattern.

    Such a fact is enough without the pattern, and can be superseded.

    Args:
        statement: The pattern.
        fact: The text of a fact that is stored for itself.

    """
    terms = telling(statement)
    return bool(terms) and len(terms & frozenset(tokens(fact))) >= LEAST_TOLD * len(terms)


def same_pattern(first: str, second: str) -> bool:
    """Whether two patterns differ only in words such as "usually" and "often".

    Args:
        first: A pattern.
        second: Another pattern.

    """
    kinds = differences(first, second)
    return not kinds or (
        kinds == {"words"} and _same_feeling(first, second) and telling(first) == telling(second)
    )


def _same_feeling(first: str, second: str) -> bool:
    """Whether both or neither tell of liking: "likes tea" and "drinks tea" differ."""
    return frozenset(tokens(first)) & _FEELING == frozenset(tokens(second)) & _FEELING or bool(
        frozenset(tokens(first)) & _FEELING and frozenset(tokens(second)) & _FEELING
    )


_FEELING = frozenset(tokens("like likes prefer prefers enjoy enjoys love loves"))


# Whether a text says again what another one says.


MOST_PART = 0.5
"""The share of an earlier text's informative words that a repetition without its numbers has."""
LEAST = 2
"""Informative words of the earlier text that a repetition has at least."""


def repeats(text: str, others: Iterable[str]) -> bool:
    """Whether a text repeats a number or most informative words of another text.

    Args:
        text: The text.
        others: The earlier texts.

    """
    terms = _topic_terms(text)
    return any(_repeats(terms, _topic_terms(other)) for other in others)


def _repeats(terms: frozenset[str], others: frozenset[str]) -> bool:
    shared = terms & others
    if any(len(word) > 1 and any(letter.isdigit() for letter in word) for word in shared):
        return True
    return len(shared) >= LEAST and len(shared) >= MOST_PART * len(others)


def _topic_terms(text: str) -> frozenset[str]:
    return frozenset(
        terms_of(word for word in words(text) if word not in FUNCTION_WORDS | QUERY_WORDS)
    )
