"""Find the sentences of a text, and the units that an excerpt chooses from.

Note: a sentence is an unchanged stretch of the text, so `text[start:end]` is a quotation. Bullets
and heading marks before it are left out. A line end is a sentence's end, because chats have more
line ends than full stops.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from memory_core.domain.text.spelling import ANY_GERMAN_MONTH
from memory_core.domain.text.text_cache import keep_texts

MAX_SENTENCES = 400
"""Sentences of a text that are read; the text after them is a paste, not talk."""
MAX_LENGTH = 500
"""Characters of a sentence: as many as a quotation may have. A longer sentence is cut between its
clauses, or else between words.
"""
LONG = 500
"""Characters of a long text. Sentences of long texts are kept apart, so that short texts don't
displace them.
"""

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
_END = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$)|[。！？]+[」』”]?|\n+"
    r"|(?<=[\u3041-\u30ff\u4e00-\u9fff])[!?]++(?=[\u3041-\u30ff\u4e00-\u9fff])"
)
_BEFORE = re.compile(
    rf"[\s#>*•·–—-]*(?:\d{{1,2}}[.)]\s+(?!(?i:{ANY_GERMAN_MONTH})))?(?:\[[ x]\]\s*)?"
)
_ENDS_OF_PIECE = (
    (", and ", ", but ", ", so ", ", und ", ", aber "),
    (", ", "; ", "、"),
    (" and ", " but ", " und ", " aber "),
    (" ",),
)
"""What a piece of a long sentence may end before or after, the best first."""
_LAST_WORD = re.compile(r"(?<![\w.'’])([\w.]+)\.$")
"""Note: the "s" of "at Tony's." is no initial."""
_DATE = re.compile(r"(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\Z")
_BEFORE_ORDINAL = re.compile(
    r"(?:\A[\s\W]*|\b(?:am|im|ins|zum|zur|beim|vom|ab|seit|bis|und|oder|der|die|das|den|dem|des"
    r"|(?:mein|dein|sein|ihr|unser|euer|eur|jed|ein|dies)(?:e[mnrs]?)?)\s+)\Z",
    re.IGNORECASE,
)
"""What is before the number of a list's item, or before a German ordinal ("am 5. Mai")."""
_MONTH = re.compile(
    rf"\s{{1,3}}(?:{ANY_GERMAN_MONTH}|(?:Woche|Monat|SSW|Klasse|Semester|Stock|Etage|Geburtstag"
    r"|Hochzeitstag|Lebensjahr|Platz|geworden)\b)",
    re.IGNORECASE,
)
"""What follows a German ordinal: a month, or a thing that is counted in order."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a text.

    Attributes:
        text: The slice [start, end) of the whole text.
        start: Its place in the whole text.
        end: The end of it.

    """

    text: str
    start: int
    end: int

    @property
    def asks(self) -> bool:
        """Whether it ends with a question mark."""
        return self.text.rstrip("\"'”’»)] ").endswith(("?", "？"))


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text in order, at most `MAX_SENTENCES`.

    Each has at most `MAX_LENGTH` characters.
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
    """Whether it ends in dots, as a text that continues in the next message."""
    return text.rstrip().endswith(("…", "..."))


def goes_on(text: str) -> bool:
    """Whether it begins with dots, as a text that continues another message."""
    return text.lstrip().startswith(("…", "..."))


def without_dots(text: str) -> str:
    """The text without dots and blanks at either end."""
    return text.strip("…. \t\n")


def spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The bounds of the sentences in a stretch of the text.

    They include the blanks and marks around the sentences, and are not limited in number or length.

    Args:
        text: The whole text.
        start: Of the stretch.
        end: Of the stretch.

    """
    for match in _END.finditer(text, start, end):
        if match.group().startswith(".") and _goes_on(text, start, match):
            continue
        yield start, match.end()
        start = match.end()
    yield start, end


def _goes_on(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether a full stop does not end a sentence.

    It then ends an abbreviation, an initial, the number of a list's item or of a day, or a German
    date ("am 5.12. um fünf").
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
        or (word.isdigit() and len(word) < 3 and _is_ordinal(text, start, last.start(), end.end()))
        or (_DATE.match(word) is not None and text[end.end() : end.end() + 2].strip().islower())
    )


def _is_ordinal(text: str, start: int, place: int, end: int) -> bool:
    """Whether a number with a full stop is an ordinal, or an item's number.

    "I'm 27. I live in Ulm" ends with its number. An item follows the item before it, or a colon.

    Args:
        text: The whole text.
        start: Of the sentence.
        place: Of the number.
        end: Of its full stop.

    """
    before, number = text[start:place], int(text[place : end - 1])
    return (
        _BEFORE_ORDINAL.search(before[-24:]) is not None
        or (before.rstrip().endswith(":") and not before[-2:-1].isdigit())  # no "at 10:00."
        or f"{number - 1}." in before
        or _MONTH.match(text, end) is not None
    )


def _pieces(text: str, start: int, end: int) -> Iterator[Sentence]:
    opening = _BEFORE.match(text, start, end)
    start = opening.end() if opening else start
    while start < end:
        stop = end
        if end - start > MAX_LENGTH:
            stop = _end_of_piece(text, start)
        piece = text[start:stop]
        trimmed = piece.rstrip() if stop == end else piece.rstrip().rstrip(",;、")
        start += len(piece) - len(piece.lstrip())
        if _SAYS_SOMETHING.search(trimmed) is not None:
            yield Sentence(trimmed.strip(), start, start + len(trimmed.strip()))
        start = stop


def _end_of_piece(text: str, start: int) -> int:
    """The best end of a piece of a sentence that is longer than `MAX_LENGTH`."""
    least, most = start + MAX_LENGTH // 2, start + MAX_LENGTH
    for marks in _ENDS_OF_PIECE:
        end = max(text.rfind(mark, least, most) for mark in marks)
        if end >= 0:
            return end + 1
    return most


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
"""Characters of the shortest line whose objects are units of their own."""
MOST_OF_HEADING = 400
"""Characters of a heading row; a longer heading is no help."""
LEAST_ROWS = 2
"""Rows that make the line before them the heading of a table."""
_SEPARATORS = ("\t", ";", ",")
_MARKS = ("}];|\t", ",", " \n")
"""Characters at which a piece of a long unit may end, the best first."""
_BETWEEN_OBJECTS = re.compile(r"(?<=[}\]]),\s*(?=[{\[])|(?<=\}),\s*(?=\")")
_RULE = frozenset("|:- \t\r")
"""Characters of the line below a Markdown heading."""
_LINE = re.compile(r"[^\n]+")
_SAYS_SOMETHING = re.compile(r"[^\W_]")
_NO_HEADING = re.compile(r"[{(=<\[]|^\W*\d")


@dataclass(frozen=True, slots=True)
class Table:
    """Lines of a text that are rows of a table.

    Attributes:
        start: Of the heading.
        heading_end: The end of the heading.
        end: Of the last row.

    """

    start: int
    heading_end: int
    end: int


def units(text: str, longest: int, whole: Sequence[tuple[int, int]]) -> list[Sentence]:
    """The units of a text in order.

    Args:
        text: Of any length.
        longest: Characters of a unit; a longer unit is cut into pieces of at most half as many.
        whole: The bounds of the uncut units, from `find_stretches`.

    """
    return [piece for start, end in whole for piece in pieces(text, start, end, longest)]


def pieces(text: str, start: int, end: int, longest: int) -> Iterator[Sentence]:
    """A stretch of a text as a unit, cut if it is too long.

    Args:
        text: The whole text.
        start: Of the stretch.
        end: Of the stretch.
        longest: Characters of a stretch that is not cut, at least 2.

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
    """The tables of a text in order.

    A table has rows under a Markdown heading, or lines with as many separators as the heading
    before them.
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
    """Find sentences, lines, rows and objects, however long.

    Args:
        text: Of any length.
        tables: Of the text, from `find_tables`.

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
    """The best end of a piece of at most `most` characters."""
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
    """The place of a table's last row; None where its first line is no heading."""
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
    """The place of the last of consecutive lines with enough separators.

    `place` itself where the next line has too few. wanted: the least separators of a line.
    """
    while place + 1 < len(lines) and lines[place + 1][0] <= lines[place][1] + 1:
        if _separators(text[slice(*lines[place + 1])], separator) < wanted:
            break
        place += 1
    return place


def _separators(line: str, separator: str) -> int:
    """How many further parts a line has after the first.

    Note: a comma before a blank is a comma of prose.
    """
    line = line.rstrip(" \r" + separator)
    return line.count(separator) - (line.count(", ") if separator == "," else 0)
