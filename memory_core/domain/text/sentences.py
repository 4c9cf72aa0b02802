"""Where sentences, and the units that an excerpt chooses from, begin and end.

Note: a sentence is an unchanged stretch of the text, so `text[start:end]` is a quotation. Bullets
and heading marks before it are left out; a line end is a sentence's end, because chats have more of
them than full stops.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from memory_core.domain.text.kept import keep_texts

MAX_SENTENCES = 400
"""Of one text; what comes after them is a paste, not talk."""
MAX_LENGTH = 500
"""Characters of one sentence: as many as a quotation may have. A longer one is cut
between words.
"""
LONG = 500
"""Characters of a text whose sentences short ones must not displace among those that are kept."""

_ABBREVIATIONS = frozenset(
    {
        "dr",
        "mr",
        "mrs",
        "ms",
        "prof",
        "st",
        "vs",
        "etc",
        "e.g",
        "i.e",
        "no",
        "approx",
        "inc",
        "ltd",
        "jr",
        "sr",
        "z.b",
        "d.h",
        "bzw",
        "ca",
    }
)
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$)|[。！？]+[」』”]?|\n+")
_BEFORE = re.compile(r"[\s#>*•·–—-]*(?:\d{1,2}[.)]\s+)?(?:\[[ x]\]\s*)?")
_LAST_WORD = re.compile(r"(?<![\w.'’])([\w.]+)\.$")
"""Note: the "s" of "at Tony's." is no initial."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `text` is the slice [start, end) of the text it was found in."""

    text: str
    start: int
    end: int

    @property
    def asks(self) -> bool:
        """Whether it ends with a question mark."""
        return self.text.rstrip("\"'”’»)] ").endswith(("?", "？"))


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text in order, at most `MAX_SENTENCES`, each of at most
    `MAX_LENGTH` characters.
    """
    return list(_of_short(text) if len(text) < LONG else _of_long(text))


def _sentences(text: str) -> Iterator[Sentence]:
    for start, end in spans(text, 0, len(text)):
        yield from _pieces(text, start, end)


def _first_sentences(text: str) -> tuple[Sentence, ...]:
    return tuple(islice(_sentences(text), MAX_SENTENCES))


# A query, and a message that is formed, is read by several rules, one after the other.
_of_short = keep_texts(128)(_first_sentences)
_of_long = keep_texts(128)(_first_sentences)


def breaks_off(text: str) -> bool:
    """Whether it ends in dots, as a text that continues in a next message."""
    return text.rstrip().endswith(("…", "..."))


def goes_on(text: str) -> bool:
    """Whether it begins with dots, as what goes on where another message broke off."""
    return text.lstrip().startswith(("…", "..."))


def without_dots(text: str) -> str:
    """The text without dots and blanks at either end."""
    return text.strip("…. \t\n")


def spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the sentences of a stretch of the text begin and end, with the blanks and marks around
    them, however many and long.
    """
    for match in _END.finditer(text, start, end):
        if match.group().startswith(".") and _goes_on(text, start, match):
            continue
        yield start, match.end()
        start = match.end()
    yield start, end


def _goes_on(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether the full stop ends an abbreviation, an initial, or the number of a list's item
    or of a day.
    """
    if end.group() != ".":
        return False
    last = _LAST_WORD.search(text, max(start, end.start() - 12), end.end())
    if last is None:
        return False
    word = last.group(1).casefold()
    return (
        word in _ABBREVIATIONS
        or (len(word) == 1 and word.isalpha() and word != "i")
        or (word.isdigit() and len(word) < 3)
    )


def _pieces(text: str, start: int, end: int) -> Iterator[Sentence]:
    opening = _BEFORE.match(text, start, end)
    start = opening.end() if opening else start
    while start < end:
        stop = end
        if end - start > MAX_LENGTH:
            space = text.rfind(" ", start + MAX_LENGTH // 2, start + MAX_LENGTH)
            stop = space if space > 0 else start + MAX_LENGTH
        piece = text[start:stop]
        trimmed = piece.rstrip()
        start += len(piece) - len(piece.lstrip())
        if _SAYS_SOMETHING.search(trimmed) is not None:
            yield Sentence(trimmed.strip(), start, start + len(trimmed.strip()))
        start = stop


# The units of a long text that an excerpt chooses from: sentences, lines, rows of tables,
# pieces of endless lines.
#
#     prose                              its sentences
#     lines (code, logs, lists)          its lines, and the sentences of each
#     a table's row (CSV, Markdown)      the row, whole
#     JSON on one line                   the objects of its arrays
#     what is longer than `longest`      pieces that end after a brace or bar, else a comma, else a word  # noqa: E501
#
# Unlike `sentences` these keep every mark of the text: a minus is no bullet here. Stretches without
# a letter or digit are no units.


OBJECTS_FROM = 80
"""Characters of a line from which on the objects in it are apart."""
MOST_OF_HEADING = 400
"""Characters of a heading row; a longer one is no help."""
LEAST_ROWS = 2
"""Rows that make a table of the line before them."""
_SEPARATORS = ("\t", ";", ",")
_MARKS = ("}];|\t", ",", " \n")
"""What a piece of a long unit ends after, the best first."""
_BETWEEN_OBJECTS = re.compile(r"(?<=[}\]]),\s*(?=[{\[])|(?<=\}),\s*(?=\")")
_RULE = frozenset("|:- \t\r")
"""What the line below a Markdown heading is made of."""
_LINE = re.compile(r"[^\n]+")
_SAYS_SOMETHING = re.compile(r"[^\W_]")
_NO_HEADING = re.compile(r"[{(=<\[]|^\W*\d")


@dataclass(frozen=True, slots=True)
class Table:
    """Lines of a text that are rows: `start` and `end` of all with the heading,
    and where the heading ends.
    """

    start: int
    heading_end: int
    end: int


def units(text: str, longest: int, whole: Sequence[tuple[int, int]]) -> list[Sentence]:
    """The units of a text in order.

    Args:
        text: Of any length.
        longest: Characters of a unit; a longer one is cut into pieces of at most half as many.
        whole: Those of the text however long, as `find_stretches` gives them.

    """
    return [piece for start, end in whole for piece in pieces(text, start, end, longest)]


def pieces(text: str, start: int, end: int, longest: int) -> Iterator[Sentence]:
    """The stretch of a text as one unit, or as several where it is longer than `longest`
    (≥ 2) characters.
    """
    if end - start <= longest:
        unit = _trimmed(text, start, end)
        if unit is not None:
            yield unit
        return
    while start < end:
        stop = end if end - start <= longest // 2 else _stop(text, start, max(1, longest // 2))
        unit = _trimmed(text, start, stop)
        if unit is not None:
            yield unit
        start = stop


def find_tables(text: str) -> list[Table]:
    """The tables of a text in order: rows under a Markdown heading, or lines with as many
    separators as the heading before them.
    """
    lines = [(match.start(), match.end()) for match in _LINE.finditer(text)]
    tables: list[Table] = []
    place = 0
    while place + LEAST_ROWS < len(lines):
        last = _last_row(text, lines, place)
        if last is not None:
            tables.append(Table(lines[place][0], lines[place][1], lines[last][1]))
            place = last
        place += 1
    return tables


def find_stretches(text: str, tables: Sequence[Table]) -> Iterator[tuple[int, int]]:
    """Sentences, lines, rows and objects, however long. tables: those of the text,
    as `find_tables` gives them.
    """
    place = 0
    for table in (*tables, None):
        for start, end in spans(text, place, len(text) if table is None else table.start):
            yield from _objects(text, start, end)
        if table is not None:
            yield from (
                (row.start(), row.end()) for row in _LINE.finditer(text, table.start, table.end)
            )
            place = table.end


def _objects(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if end - start > OBJECTS_FROM:
        for match in _BETWEEN_OBJECTS.finditer(text, start, end):
            yield start, match.end()
            start = match.end()
    yield start, end


def _stop(text: str, start: int, most: int) -> int:
    """Where a piece of at most `most` characters ends best."""
    for marks in _MARKS:
        end = max(text.rfind(mark, start + most // 2, start + most) for mark in marks)
        if end >= 0:
            return end + 1
    return start + most


def _trimmed(text: str, start: int, end: int) -> Sentence | None:
    piece = text[start:end]
    if _SAYS_SOMETHING.search(piece) is None:
        return None
    start += len(piece) - len(piece.lstrip())
    piece = piece.strip()
    return Sentence(piece, start, start + len(piece))


def _last_row(text: str, lines: Sequence[tuple[int, int]], place: int) -> int | None:
    """The place of the last row below a heading; None where the line at `place` is no heading."""
    start, end = lines[place]
    if end - start > MOST_OF_HEADING:
        return None
    heading = text[start:end]
    after = text[slice(*lines[place + 1])]
    if "|" in heading and "|" in after and "-" in after and _RULE.issuperset(after):
        return _last(text, lines, place + 1, "|", 1)
    if _NO_HEADING.search(heading) is not None:
        return None
    for separator in _SEPARATORS:
        wanted = _separators(heading, separator)
        if wanted and all(cell.strip() for cell in heading.split(separator)):
            last = _last(text, lines, place, separator, wanted)
            if last - place >= LEAST_ROWS:
                return last
    return None


def _last(
    text: str, lines: Sequence[tuple[int, int]], place: int, separator: str, wanted: int
) -> int:
    """The place of the last line after `place`, none between, that has as many separators as are
    wanted; `place` where none has.
    """
    while place + 1 < len(lines) and lines[place + 1][0] <= lines[place][1] + 1:
        if _separators(text[slice(*lines[place + 1])], separator) < wanted:
            break
        place += 1
    return place


def _separators(line: str, separator: str) -> int:
    """How many parts of a line there are beyond the first. Note: a comma before a blank is
    one of prose.
    """
    line = line.rstrip(" \r" + separator)
    return line.count(separator) - (line.count(", ") if separator == "," else 0)
