"""Excerpts of a text for a query, within a number of tokens.

Whole units of the text (`sentences`: sentences, lines, rows of a table, objects of JSON), in their
order, with "…" where some are left out. A word of the query counts by how few of the text's
units have it:

worth of a word = ln(1 + units / units with the word)

The best unit is always shown, cut around its words where it does not fit; then the heading of its
table, then the next best ones. What is worth the same is filled from around the best.

Note: a unit also counts for what its neighbours say of the query, since "What about the budget?" is
answered by the sentence after it; and where no unit has a word of the query,
the first is as good as any.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import log
from types import MappingProxyType

from memory_core.domain.text.analyzer import ENGLISH, language_of, term_of, tokens, words
from memory_core.domain.text.sentences import (
    MAX_LENGTH,
    Sentence,
    Table,
    find_stretches,
    find_tables,
    pieces,
    units,
)
from memory_core.domain.text.text_cache import CachedNumbers
from memory_core.domain.text.token_count import count_tokens, least_tokens, tokens_of_parts

GAP = "…"
AFTER, BEFORE = 0.6, 0.3
"""The share of a term's worth that counts for the unit after the unit with the term, and for the
unit before it.
"""
AGAIN = 1.2
"""The factor of a term's worth in a unit that says it more than once."""
CHARACTERS_A_TOKEN = 2
"""Characters of a unit for each token of the budget: a unit of prose then takes half of the budget,
a unit of JSON all of it.
"""
SURELY_LONGER = 16
"""Characters for each token of a budget. No text within the budget has so many, except for blanks
and endless words.
"""
MOST_MISSED = 40
"""Units without room that are tried. To count the tokens of thousands takes longer than all other
steps.
"""
KEPT_CHARACTERS = 10_000
"""Characters of the longest text whose units are kept for the next query."""
AHEAD_CHARACTERS = 500
"""Characters of the shortest text that is read ahead; a shorter text is hardly ever cut."""
KEPT_BYTES = 2_000_000
"""Of what is kept of all texts: some 3 KB of a turn of 400 words."""
_NUMBERS = 1 << 32
"""The count of numbers for terms: in a single text of ten million two terms share a number."""
_SMALL = 1 << 16
NOTHING: Mapping[str, int] = MappingProxyType({})
_ENDS = frozenset(".!?…。！？」』”\"'’»)")


def excerpt(text: str, terms: Collection[str], most: int) -> str:
    """The text itself if it is short enough, else its best units that fit.

    Args:
        text: Of any length.
        terms: Of the query, as `domain.text` makes them.
        most: Tokens of the excerpt, at least 8.

    """
    return Source(text).excerpt(terms, most)


def read_ahead(text: str) -> None:
    """Read a text that a query may soon find, if reading it takes long."""
    if AHEAD_CHARACTERS <= len(text) <= KEPT_CHARACTERS:
        Source(text).read(MAX_LENGTH)


@dataclass(frozen=True)
class Source:
    """A text to make excerpts of; its units and terms are kept as numbers."""

    text: str

    def excerpt(self, terms: Collection[str], most: int) -> str:
        """As the function `excerpt`.

        Args:
            terms: Of the query.
            most: Tokens of the excerpt, at least 8.

        """
        if not _longer(self.text, most):
            return self.text
        read = self.read(min(MAX_LENGTH, CHARACTERS_A_TOKEN * most))
        if not read.starts:
            return cut(self.text, most)
        wanted, left = frozenset(terms), most - 2
        order = _order(read.worth(wanted))
        chosen = read
        if read.costs[order[0]] >= left:
            smaller, order = _best_that_fits(self.text, read.units(self.text), wanted, left)
            chosen = _Read.of_units(self.text, smaller, read.tables)
        heading = chosen.heading(order[0])
        places, missed = set[int](), 0
        for place in order if heading is None else (order[0], heading, *order[1:]):
            if place in places:
                continue
            if (taken := chosen.costs[place] + 1) <= left:
                places.add(place)
                left -= taken
            elif (missed := missed + 1) == MOST_MISSED:
                break
        return _joined(self.text, chosen, sorted(places))

    def read(self, longest: int) -> _Read:
        """Its units of at most this length; kept units of a short text if possible."""
        if len(self.text) > KEPT_CHARACTERS:
            return _Read.of(self.text, longest)
        read = _READ.get(self.text)
        if read is None or read.longest > longest:
            read = _READ.get(self.text, longest)
        if read is None:
            read = _Read.of(self.text, longest)
            # Where no unit was cut, a longer one is none either.
            more = (longest,) if read.longest > longest else ()
            _READ.put(self.text, *more, value=read, size=read.size)
        return read


@dataclass(frozen=True, slots=True)
class _Read:
    """The units of a text, with their tokens and terms as numbers.

    Attributes:
        longest: Characters of the longest unit before any was cut.
        tables: Of the text.
        starts: Of each unit.
        ends: Of each unit.
        costs: Tokens of each unit.
        terms: The number of the term in each pair of a term and a unit that says it, ascending.
        places: The unit of each pair: twice the unit's place, and 1 more where the unit says the
            term more than once.

    """

    longest: int
    tables: tuple[Table, ...]
    starts: array[int]
    ends: array[int]
    costs: array[int]
    terms: array[int]
    places: array[int]

    @classmethod
    def of(cls, text: str, longest: int) -> _Read:
        """Read a text into units of at most `longest` characters.

        Args:
            text: Of any length.
            longest: Characters of a unit.

        """
        tables = tuple(find_tables(text))
        stretches = list(find_stretches(text, tables))
        every = _Units(units(text, longest, stretches))
        before_cut = max((end - start for start, end in stretches), default=0)
        postings = every.postings()
        return cls(
            before_cut,
            tables,
            *_placed(text, every.units),
            array("I", [term for term, _ in postings]),
            _packed([place for _, place in postings], 2 * len(every.units)),
        )

    @classmethod
    def of_units(cls, text: str, every: Sequence[Sentence], tables: tuple[Table, ...]) -> _Read:
        """Place and count these units, without their terms.

        Args:
            text: Of any length.
            every: All units of the text.
            tables: Of the text.

        """
        return cls(0, tables, *_placed(text, every), array("I"), array("H"))

    @property
    def size(self) -> int:
        """The bytes that it takes."""
        columns = (self.starts, self.ends, self.costs, self.terms, self.places)
        return 800 + sum(len(column) * column.itemsize for column in columns)

    def units(self, text: str) -> list[Sentence]:
        """The units themselves."""
        return [
            Sentence(text[start:end], start, end)
            for start, end in zip(self.starts, self.ends, strict=True)
        ]

    def worth(self, wanted: frozenset[str]) -> list[float]:
        """The worth of each unit's own terms, with the share of its neighbours' terms."""
        own = [0.0] * len(self.starts)
        for term in sorted(wanted):
            name = hash(term) % _NUMBERS
            first, last = bisect_left(self.terms, name), bisect_right(self.terms, name)
            if first < last:
                value = log(1 + len(own) / (last - first))
                for place in self.places[first:last]:
                    own[place // 2] += value * (AGAIN if place % 2 else 1)
        return _with_lent(own)

    def heading(self, best: int) -> int | None:
        """The place of the heading of the best unit's table; None outside a table."""
        for table in self.tables:
            if table.start <= self.starts[best] < table.end:
                place = bisect_left(self.starts, table.start)
                return (
                    place
                    if place < len(self.starts) and self.ends[place] <= table.heading_end
                    else None
                )
        return None


def _placed(text: str, every: Sequence[Sentence]) -> tuple[array[int], array[int], array[int]]:
    """The starts, ends and tokens of units."""
    starts, ends = [unit.start for unit in every], [unit.end for unit in every]
    costs, most = tokens_of_parts(text, starts, ends), 2 * len(text)
    return _packed(starts, most), _packed(ends, most), _packed(costs, most)


def _packed(numbers: Sequence[int], most: int) -> array[int]:
    """The numbers, in two bytes each if `most` allows it. most: the highest number."""
    return array("H" if most < _SMALL else "I", numbers)


_READ = CachedNumbers[_Read](KEPT_BYTES)


def _longer(text: str, most: int) -> bool:
    """Whether a text takes more than `most` tokens; often the beginning is enough to decide."""
    if len(text) <= most and text.isascii():  # a character takes a token at most
        return False
    beginning = text[: SURELY_LONGER * most]
    if least_tokens(beginning) > most or count_tokens(beginning) > most:
        return True
    return len(text) > len(beginning) and count_tokens(text) > most


def _best_that_fits(
    text: str, chosen: list[Sentence], wanted: frozenset[str], most: int
) -> tuple[list[Sentence], list[int]]:
    """The units and their places, best first, with a best unit that fits.

    As long as the best unit is too long, the units with words of the query are cut smaller.
    """
    terms = _Units(chosen).terms(wanted)
    while True:
        order = _order(_worth(terms))
        longest = len(chosen[order[0]].text)
        if count_tokens(chosen[order[0]].text) < most:
            return chosen, order
        smaller: list[Sentence] = []
        of_smaller: list[Mapping[str, int]] = []
        for place, unit in enumerate(chosen):
            parts = [unit]
            if 2 * len(unit.text) > longest and (terms[place] or place == order[0]):
                parts = list(pieces(text, unit.start, unit.end, longest // 2))
            smaller += parts
            of_smaller += [terms[place]] if parts == [unit] else _Units(parts).terms(wanted)
        chosen, terms = smaller, of_smaller


@dataclass(frozen=True)
class _Units:
    """Units of a text, and the words of each."""

    units: list[Sentence]

    @cached_property
    def _words(self) -> list[list[str]]:
        return [words(unit.text) for unit in self.units]

    @cached_property
    def _languages(self) -> frozenset[str]:
        return frozenset({ENGLISH, language_of([*chain.from_iterable(self._words)])})

    def postings(self) -> list[tuple[int, int]]:
        """Pairs of a term's number and a unit's place, as `_Read` has them, in order."""
        known: dict[str, tuple[int, ...]] = {}
        postings: list[tuple[int, int]] = []
        for place, unit_words in enumerate(self._words):
            counts: dict[int, int] = {}
            for word in unit_words:
                if (numbers := known.get(word)) is None:
                    terms = {
                        term for language in self._languages if (term := term_of(word, language))
                    }
                    known[word] = numbers = tuple({hash(term) % _NUMBERS for term in terms})
                for number in numbers:
                    counts[number] = counts.get(number, 0) + 1
            postings += [(number, 2 * place + (count > 1)) for number, count in counts.items()]
        postings.sort()
        return postings

    def terms(self, wanted: frozenset[str]) -> list[Mapping[str, int]]:
        """How often each unit has each term of the query.

        Terms are made in English and in the language of all units together.
        """
        if not wanted:
            return [{}] * len(self.units)
        telling: dict[str, set[str]] = {}
        for word in {*chain.from_iterable(self._words)}:
            for language in self._languages:
                if (term := term_of(word, language)) in wanted:
                    telling.setdefault(word, set()).add(term)
        counts: list[Mapping[str, int]] = []
        for unit_words in self._words:
            hits = [word for word in unit_words if word in telling]
            counts.append(
                Counter(term for word in hits for term in telling[word]) if hits else NOTHING
            )
        return counts


def _order(worth: Sequence[float]) -> list[int]:
    """The places of the units, best first.

    Of units of the highest worth the first is the best. Units of equal worth are sorted by their
    distance from it.
    """
    best = worth.index(max(worth))
    ranked = [(-value, _distance(place - best), place) for place, value in enumerate(worth)]
    return [place for _, _, place in sorted(ranked)]


def _worth(terms: Sequence[Mapping[str, int]]) -> list[float]:
    """The worth of each unit's own terms, with the share of its neighbours' terms."""
    spread = Counter(chain.from_iterable(terms))
    worth = {term: log(1 + len(terms) / spread[term]) for term in sorted(spread)}
    return _with_lent(
        [
            sum(
                value * (AGAIN if count[term] > 1 else 1)
                for term, value in worth.items()
                if term in count
            )
            for count in terms
        ]
    )


def _with_lent(own: Sequence[float]) -> list[float]:
    around = [0.0, *own, 0.0]
    return [
        value + AFTER * around[place] + BEFORE * around[place + 2]
        for place, value in enumerate(own)
    ]


def _distance(places: int) -> float:
    """The distance of a unit from the best unit.

    Units after it are nearer than units before it, as they are worth more.
    """
    return places / AFTER if places >= 0 else -places / BEFORE


def cut(text: str, most: int) -> str:
    """The beginning of a text, ended by "…" where it was cut.

    Args:
        text: Of any length.
        most: Tokens of the result, at least 2.

    """
    size = count_tokens(text)
    while size > most:
        text = text[: max(1, (len(text) - 1) * (most - 1) // size)].rstrip(" …") + "…"
        size = count_tokens(text)
    return text


def covered(text: str, terms: Collection[str]) -> int:
    """The number of the terms that the text has.

    Args:
        text: Of any length.
        terms: Of a query.

    """
    return len(set(terms) & set(tokens(text)))


def _joined(text: str, read: _Read, places: Sequence[int]) -> str:
    """The units at these places, with the text's line ends between them."""
    parts: list[str] = []
    last, end = -1, 0
    for place in places:
        blank = _blank(text[end : read.starts[place]])
        if place != last + 1:
            blank = f"{blank or ' '}{GAP}{blank or ' '}" if parts else f"{GAP}{blank or ' '}"
        parts += [blank if parts or place else "", text[read.starts[place] : read.ends[place]]]
        last, end = place, read.ends[place]
    if (
        last + 1 < len(read.starts)
        and text[end - 1] not in _ENDS
        and "\n" not in text[end : read.starts[last + 1]]
    ):
        parts.append(GAP)
    return "".join(parts)


def _blank(between: str) -> str:
    """The blank in the place of the text between two units.

    It is a line end with its indentation, a space, or "".
    """
    if "\n" in between:
        after = between.rpartition("\n")[2]
        return "\n" + after[: len(after) - len(after.lstrip())]
    return " " if between else ""
