"""Where the sentences of a text begin and end.

Note: a sentence is an unchanged stretch of the text, so `text[start:end]` is a quotation. Bullets and
heading marks before it are left out; a line end is a sentence's end, because chats have more of them than full stops.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_SENTENCES = 400
"""Of one text; what comes after them is a paste, not talk."""
MAX_LENGTH = 500
"""Characters of one sentence: as many as a quotation may have. A longer one is cut between words."""

_ABBREVIATIONS = frozenset(
    {"dr", "mr", "mrs", "ms", "prof", "st", "vs", "etc", "e.g", "i.e", "no", "approx", "inc", "ltd", "jr", "sr", "z.b", "d.h", "bzw", "ca"}
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
    """The sentences of a text in order, at most `MAX_SENTENCES`, each of at most `MAX_LENGTH` characters."""
    found: list[Sentence] = []
    for start, end in spans(text, 0, len(text)):
        for one in _pieces(text, start, end):
            found.append(one)
            if len(found) == MAX_SENTENCES:
                return found
    return found


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
    """Where the sentences of a stretch of the text begin and end, with the blanks and marks around them, however many and long."""
    for match in _END.finditer(text, start, end):
        if match.group().startswith(".") and _goes_on(text, start, match):
            continue
        yield start, match.end()
        start = match.end()
    yield start, end


def _goes_on(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether the full stop ends an abbreviation, an initial, or the number of a list's item or of a day."""
    if end.group() != ".":
        return False
    last = _LAST_WORD.search(text, max(start, end.start() - 12), end.end())
    if last is None:
        return False
    word = last.group(1).casefold()
    return word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word != "i") or (word.isdigit() and len(word) < 3)


def _pieces(text: str, start: int, end: int) -> Iterator[Sentence]:
    opening = _BEFORE.match(text, start, end)
    start = opening.end() if opening else start
    while start < end:
        stop = end
        if end - start > MAX_LENGTH:
            space = text.rfind(" ", start + MAX_LENGTH // 2, start + MAX_LENGTH)
            stop = space if space > 0 else start + MAX_LENGTH
        piece = text[start:stop]
        kept = piece.rstrip()
        start += len(piece) - len(piece.lstrip())
        if kept.strip() and any(character.isalnum() for character in kept):
            yield Sentence(kept.strip(), start, start + len(kept.strip()))
        start = stop
