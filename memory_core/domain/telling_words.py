"""The words that tell a fact, as marks: a text with them tells it too.

A mark is a hash of a term, so a task that forgets a fact can keep the marks of its words, and the words can't be read out of the task.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b

from memory_core.domain.models import Memory
from memory_core.domain.numerals import plain_digits
from memory_core.domain.stopwords import QUERY_WORDS
from memory_core.domain.text import counts, terms_of, words

Marks = list[list[str]]
"""Of each part of a value ("peanuts and shellfish" has two), the marks of its words."""

_PARTS = re.compile(r"[,;/&\n](?=\s)|\n|\b(?:and|or|und|oder|et|ou|y)\b", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d)[.,'’_\u00a0\u202f](?=\d{3}(?!\d))")


def marks_of_value(fact: Memory) -> Marks:
    """The marks of a fact's value; of the words beside its subject and attribute, where it has no value in words.

    Empty where the value has none but function words ("yes").
    """
    told = fact.value_text or (str(fact.value) if isinstance(fact.value, str | int | float) and not isinstance(fact.value, bool) else "")
    if not told:
        around = {*_terms(fact.subject or ""), *_terms(fact.attribute or "")}
        return _as_marks([[term for term in _terms(fact.content) if term not in around]])
    return _as_marks(_terms(part) for part in _PARTS.split(told))


def marks_of_quote(quote: str) -> list[str]:
    """The marks of all words of what was said."""
    return _marks(_terms(quote))


def tells(text: str, value: Iterable[Sequence[str]], quotes: Iterable[Sequence[str]] = ()) -> bool:
    """Whether a text has half of the words of any part of a value, or all words of a quote."""
    said = {_mark(term) for term in counts(_plain(text))}
    return any(2 * _shared(part, said) >= len(part) for part in value) or any(_shared(quote, said) == len(quote) for quote in quotes)


def _shared(part: Sequence[str], said: Collection[str]) -> int:
    return sum(mark in said for mark in part)


def _terms(text: str) -> list[str]:
    """English stems, which stand in the counts of a text of any language too."""
    return list(dict.fromkeys(terms_of(word for word in words(_plain(text)) if word not in QUERY_WORDS)))


def _plain(text: str) -> str:
    return _THOUSANDS.sub("", plain_digits(text))


def _as_marks(parts: Iterable[Sequence[str]]) -> Marks:
    return [_marks(part) for part in parts if part]


def _marks(terms: Iterable[str]) -> list[str]:
    return [_mark(term) for term in terms]


def _mark(term: str) -> str:
    return blake2b(term.encode(), digest_size=6).hexdigest()
