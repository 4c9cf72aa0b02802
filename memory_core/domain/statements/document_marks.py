"""Marks of a document, which the sentences of a person to an assistant lack.

    "HEAD BAKER – Full time"            a title in capitals
    "01/02/2026,Rent,-910.00"           with two more such rows, a table
    "§ 4 The tenant shall …"            with another one, clauses

Each kind counts by how surely it shows a document: `ENOUGH` alone, or 1 of several that are needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from memory_core.domain.text.analyzer import has_japanese, language_of, votes_for, words

ENOUGH = 3
"""The count of a mark that shows a document alone."""
FEWEST_ROWS = 3
LEAST_LANGUAGE_VOTES = 4
LEAST_OWN_VOTES = 2
"""Function words that show a language: of a document, and of the words before it."""
LEAST_LETTERS = 30
"""Letters of a block whose language counts."""
MOST_OF_TITLE = 90
_DATE = r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?"
_STAMP = re.compile(
    rf"\A[ \t]{{0,40}}(?:[\[(]?{_DATE},?[ \t]{{1,2}}{_CLOCK}|\d\d:\d\d:\d\d[ \t]{{1,3}}[^\W\d]"
    rf"|{_CLOCK}\t)"
)
"""The time before a line that a program wrote."""
_CLAUSE = re.compile(
    r"\A[ \t]{0,40}(?:§ ?\d|\d{1,2}\.\d{1,2}(?:\.\d{1,2})?\.?[ \t]+[^\W\d]|第\d{1,3}条)"
)
_MARKUP = re.compile(r"<!--|</?[^\W\d][^<>\n]{0,60}>")
_BRACKET = re.compile(r"\A[ \t]{0,40}(?:[【■□◆●▼★※]|\[[^\[\]\n]{2,40}\])")
_RULE = re.compile(r"\A[ \t]{0,40}(?:[-=_*~#]{3,60}|[—–]{2,60})[ \t]{0,40}\Z")
_ADDRESS = re.compile(r"\b[\w.+-]{1,40}@[\w-]{1,40}\.\w|\bhttps?://|\bwww\.|[ \t][·|•][ \t]")
_SIGNED_QUOTE = re.compile(
    r"[\"”“»」][ \t]{0,2}(?:[–—-][ \t]{0,2}[A-ZÀ-Þ]|[(（][^()（）\n]{2,30}[)）]\Z)"
    r"|[ \t]{12}[–—][ \t]{0,2}[A-ZÀ-Þ]"
)
"""A quotation, which may be blank already, before the name of its speaker."""
_DATE_ALONE = re.compile(
    r"\A[ \t]{0,40}(?:[^\W\d]{2,12},?[ \t]){0,2}(?:\d{1,2}(?:st|nd|rd|th|\.)? [^\W\d]{3,9},? \d{4}"
    rf"|[^\W\d]{{3,9}} \d{{1,2}},? \d{{4}}|{_DATE})(?:[, \t]{{1,2}}[^\n]{{0,20}})?\Z"
)
_CAPITALS = re.compile(
    r"\A[ \t#*]{0,9}(?:[A-ZÀ-Þ&0-9][A-ZÀ-Þ0-9&'’\"“”./-]{0,30}[ \t]{1,3}){1,20}"
    r"[A-ZÀ-Þ0-9&][A-ZÀ-Þ0-9&'’\"./-]{0,30}(?![a-zß-ÿ])"
)
_SENTENCE_END = re.compile(r"[.!?…。！？,;:：、](?:[ \t)\"”»」]{0,3})\Z")
_SALUTATION = re.compile(
    r"\A[ \t]{0,40}(?:(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)|to whom"
    r"|sehr geehrte[rs]?|liebe[rs]?|hallo|guten (?:tag|morgen|abend)|moin)\b[^\n]{0,60}"
    r"|[^\s,]{1,20}様)[ \t　]{0,9}[,、:]?[ \t　]{0,9}\Z",
    re.IGNORECASE,
)
"""The salutation of a letter below other words of the message."""
_FORMAL = re.compile(
    r"\A[ \t]{0,40}(?:(?:dear|liebe[rs]?) (?:mr|mrs|ms|miss|dr|prof|sir|madam|herr|frau)\b"
    r"|sehr geehrte|to whom\b|[^\s,]{1,20}様[ \t　]{0,9}[,、:]?[ \t　]{0,9}\Z)",
    re.IGNORECASE,
)
"""A salutation that is not for an assistant."""
_HEAD = re.compile(
    r"\A[ \t]{0,40}(?:-{2,10} ?(?:forwarded|original|weitergeleitete|ursprüngliche) [^\n]{1,40}"
    r"(?:\n|\Z)"
    r"|(?:from|von): [^\n]{1,120}\n(?:to|sent|date|subject|cc|an|gesendet|datum|betreff): )",
    re.IGNORECASE,
)
"""The head of a mail."""
_CODED = re.compile(
    r"\A[ \t]{0,40}(?://|--[ \t]|/\*|#!|import \w|from \w[\w.]{0,40} import "
    r"|[\w.]{1,40} ?(?:=|\+=|:=) ?[^\s=]|[\w.]{1,40}\([^\n]{0,120}\)?:?\Z"
    r"|(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER) [^\n]{1,200}"
    r"|[^\n]{0,200}[{};]\Z)"
)
_BULLET = re.compile(r"\A[ \t]{0,40}(?:[-–•*・]|\d{1,2}[.)．])[ \t]*\S")
TO_READER = re.compile(
    r"(?:\A|(?<=[.!:] )|(?<=[-–•*] ))(?:You(?:['’](?:re|ll)| (?:are|have|will|live|love|own|speak"
    r"|work|like|prefer|always|must|should))|Sie (?:sind|haben|werden)|Du (?:bist|hast|wirst))\b"
    r"|あなたは"
)
"""Statements for a reader, and not for an assistant: "You have 3 years of experience"."""
_NUMBERED = re.compile(r"\A[ \t#*]{0,4}([^\W\d]{3,15}) (?:\d{1,3}|[A-Z])[:：.)]")


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of a message. start, end: its place there."""

    start: int
    end: int
    text: str


Block = Sequence[TextLine]
_NO_LINE = TextLine(0, 0, "")


def split_into_blocks(text: str) -> Iterator[Block]:
    """The blocks of a message, between its blank lines."""
    lines, start = list[TextLine](), 0
    for line in text.split("\n"):
        lines.append(TextLine(start, start + len(line), line))
        start += len(line) + 1
    for is_blank, block in groupby(lines, lambda line: not line.text.strip()):
        if not is_blank:
            yield [*block]


def opens_document(line: TextLine, after: Block, *, is_first: bool) -> bool:
    """Whether a line alone shows that a document begins with it.

    Args:
        line: The line.
        after: The lines below it.
        is_first: Whether no words of the message are above it.

    """
    text = line.text
    return (
        any(mark.match(text) for mark in (_STAMP, _CLAUSE, _BRACKET))
        or _MARKUP.search(text) is not None
        or _is_in_capitals(line, after)
        or _HEAD.match("\n".join(each.text for each in (line, *after[:1]))) is not None
        or (len(after) >= FEWEST_ROWS - 1 and is_table([line, *after[: FEWEST_ROWS - 1]]))
        or (bool(after) and (_FORMAL if is_first else _SALUTATION).match(text) is not None)
    )


def count_marks(lines: Block, above: str) -> int:
    """Count the marks of a document.

    Args:
        lines: Of the document.
        above: The words before it.

    """
    counts = {
        mark: sum(mark.search(line.text) is not None for line in lines)
        for mark in (_RULE, _ADDRESS, _SIGNED_QUOTE, _MARKUP, TO_READER)
    } | {
        mark: sum(mark.match(line.text) is not None for line in lines)
        for mark in (_BRACKET, _DATE_ALONE, _STAMP, _CLAUSE, _CODED, _BULLET)
    }
    pairs = [*pairwise([*lines, _NO_LINE])]
    weak = (
        *(counts[mark] > 0 for mark in (_RULE, _ADDRESS, _DATE_ALONE, TO_READER)),
        counts[_BULLET] > 1,
        _is_series(lines),
        any(is_signature(pair) for pair in pairs[:-1]),
    )
    strong = (
        *(counts[mark] > 1 for mark in (_STAMP, _CLAUSE, _CODED)),
        *(counts[mark] > 0 for mark in (_MARKUP, _SIGNED_QUOTE)),
        _has_salutation(lines, above),
        any(_is_in_capitals(line, lines[n + 1 : n + 9]) for n, line in enumerate(lines[:-1])),
        any(is_table(lines[n : n + FEWEST_ROWS]) for n in range(len(lines) - FEWEST_ROWS + 1)),
        _is_in_another_language(lines, above),
    )
    heads = any(_HEAD.match(f"{line.text}\n{after.text}") for line, after in pairs)
    return sum(weak) + min(ENOUGH, counts[_BRACKET]) + ENOUGH * sum(strong) + (ENOUGH + 1) * heads


def ends_with_stamp(lines: Block) -> bool:
    """Whether the last line begins with a time, as a program writes it."""
    return _STAMP.match(lines[-1].text) is not None


def _is_series(lines: Sequence[TextLine]) -> bool:
    """Whether lines begin with a word and numbers: "Candidate A:", "Candidate B:"."""
    names = [match[1] for line in lines if (match := _NUMBERED.match(line.text))]
    return len(names) > len(frozenset(names))


def _has_salutation(lines: Sequence[TextLine], above: str) -> bool:
    """Whether a letter begins among lines, with own words above or below it."""
    if above:
        return any(_SALUTATION.match(line.text) for line in lines[:-1])
    return len(lines) > 1 and _FORMAL.match(lines[0].text) is not None and not is_signature(lines)


def is_in_other_style(above: str, block: Block) -> bool:
    """Whether words lack a capital or a stop, and a text has both.

    Args:
        above: The words.
        block: The beginning of the text below them.

    """
    line = block[0].text.strip()
    return (above[:1].islower() or above[-1:].isalnum()) and (
        line[:1].isupper() and any(_SENTENCE_END.search(each.text) for each in block)
    )


def is_titled(block: Block) -> bool:
    """Whether a block begins with a title and goes on in sentences."""
    title = block[0].text.strip()
    return (
        len(block) > 1
        and len(title) <= MOST_OF_TITLE
        and _SENTENCE_END.search(title) is None
        and (title[:1].isupper() or has_japanese(title))
        and any(len(line.text) > len(title) and _SENTENCE_END.search(line.text) for line in block)
    )


def is_title_alone(block: Block) -> bool:
    """Whether a block is a single line that looks like a title."""
    title = block[0].text.strip()
    return (
        len(block) == 1
        and len(title) <= MOST_OF_TITLE
        and (_SENTENCE_END.search(title) is None and title[:1].isupper())
    )


def _is_in_capitals(line: TextLine, after: Sequence[TextLine]) -> bool:
    """Whether a line is a title in capitals above lines of small letters."""
    match = _CAPITALS.match(line.text)
    if match is None or sum(map(str.isalpha, match.group())) < 8:
        return False
    below = "".join(each.text for each in after[:8])
    small, large = sum(map(str.islower, below)), sum(map(str.isupper, below))
    return small > 2 * large and _SENTENCE_END.search(line.text) is None


def is_table(rows: Sequence[TextLine]) -> bool:
    """Whether rows have the same columns."""
    for separator in ("\t", "|", ";", ","):
        counts = {row.text.count(separator) for row in rows}
        if (
            len(counts) == 1
            and counts.pop() > 1
            and not any(f"{separator} " in row.text and separator in ",;" for row in rows)
        ):
            return True
    return False


def _is_in_another_language(lines: Sequence[TextLine], above: str) -> bool:
    """Whether a document is surely in another language than the words before it."""
    text = " ".join(line.text for line in lines)
    if not above or sum(map(str.isalpha, text)) < LEAST_LETTERS:
        return False
    if _is_in_japanese(above) != _is_in_japanese(text):
        return True
    ours, theirs = ([word.casefold() for word in words(part)] for part in (above, text))
    own, other = language_of(ours), language_of(theirs)
    return own != other and all(
        votes_for(right, part) >= max(least, 2 * votes_for(wrong, part) + 1)
        for right, wrong, part, least in (
            (own, other, ours, LEAST_OWN_VOTES),
            (other, own, theirs, LEAST_LANGUAGE_VOTES),
        )
    )


def _is_in_japanese(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(letter > "\u3040" for letter in letters) > len(letters)


def is_signature(lines: Sequence[TextLine]) -> bool:
    """Whether lines end with a name as the signature of a letter."""
    if len(lines) < 2:
        return False
    greeting, name = lines[-2].text.rstrip(), lines[-1].text.strip()
    return (
        len(name.split()) <= 4
        and (name[:1].isupper() or has_japanese(name))
        and _SENTENCE_END.search(name) is None
        and len(greeting.split()) <= 5
        and ":" not in f"{greeting}{name}"
        and _SENTENCE_END.search(greeting.rstrip(",!")) is None
    )
