"""The marks of a sentence: its phrases, punctuation marks, and runs of other words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from memory_core.domain.statements.wish_lexicon import PHRASES
from memory_core.domain.text.analyzer import has_japanese

OTHER_WORDS = "_"
"""The kind of a run of words that are in no list."""
BREAK = ","
"""The kind of a mark of punctuation."""
MAX_PHRASE_WORDS = 5
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|[,;:.!?…–—、。！？]")
_QUOTED = re.compile(
    r"\"[^\"\n]{1,400}+\"|“[^“”\n]{1,400}+”|„[^„“”\n]{1,400}+[“”]|«[^«»\n]{1,400}+»"
    r"|「[^「」\n]{1,400}+」|『[^『』\n]{1,400}+』"
)
_JA_BREAKS = frozenset("、,。；;:：")


@dataclass(frozen=True, slots=True)
class WishMark:
    """A mark of a sentence.

    Attributes:
        kind: The kind of phrase, `OTHER_WORDS` or `BREAK`.
        text: Its words.
        start: Its place in the folded text.
        end: The end of it in the folded text.

    """

    kind: str
    text: str
    start: int
    end: int


def without_quotes(text: str) -> str:
    """The text with blanks in the place of quotations."""
    return _QUOTED.sub(lambda match: " " * len(match.group()), text)


def marks_of(text: str) -> list[WishMark]:
    """The marks of a folded text, in their order."""
    return _japanese_marks(text) if has_japanese(text) else _word_marks(text)


def _phrases() -> tuple[
    dict[tuple[str, ...], list[str]], dict[str, list[str]], dict[str, list[str]]
]:
    """Kinds by phrase, by the beginning of a word, and by Japanese phrase."""
    of_words: dict[tuple[str, ...], list[str]] = defaultdict(list)
    of_beginnings: dict[str, list[str]] = defaultdict(list)
    of_letters: dict[str, list[str]] = defaultdict(list)
    for kind, listed in PHRASES.items():
        for phrase in dict.fromkeys(
            " ".join(written.split()).casefold() for written in listed.split(",")
        ):
            if not phrase:
                continue
            if has_japanese(phrase) or phrase == "ng":
                of_letters[phrase].append(kind)
            elif phrase.endswith("*"):
                of_beginnings[phrase[:-1]].append(kind)
            else:
                of_words[tuple(_WORD.findall(phrase))].append(kind)
    return dict(of_words), dict(of_beginnings), dict(of_letters)


_OF_WORDS, _OF_BEGINNINGS, _OF_LETTERS = _phrases()
_LONGEST: dict[str, int] = {}
"""By the first word of phrases, the number of words of the longest such phrase."""
for _phrase in _OF_WORDS:
    _LONGEST[_phrase[0]] = max(len(_phrase), _LONGEST.get(_phrase[0], 0))
_MAX_LETTERS = max(map(len, _OF_LETTERS))


def _word_marks(text: str) -> list[WishMark]:
    words = list(_WORD.finditer(text))
    written = [word.group() for word in words]
    marks: list[WishMark] = []
    place = 0
    while place < len(words):
        kinds, count = _kinds_at(written, place)
        start, end = words[place].start(), words[place + count - 1].end()
        if not kinds and not written[place][0].isalnum():
            if place < len(words) - 1:
                marks.append(WishMark(BREAK, written[place], start, end))
        elif kinds:
            marks += [WishMark(kind, text[start:end], start, end) for kind in kinds]
        else:
            _go_on(marks, text, start, end)
        place += count
    return marks


def _kinds_at(words: Sequence[str], place: int) -> tuple[Sequence[str], int]:
    """The kinds of the longest phrase at a place, and its number of words."""
    word = words[place]
    longest = min(MAX_PHRASE_WORDS, _LONGEST.get(word, 0), len(words) - place)
    for count in range(longest, 0, -1):
        kinds = _OF_WORDS.get(tuple(words[place : place + count]))
        if kinds:
            return kinds, count
    if word.endswith("'s") and "PERSONAL" in (kinds := _OF_WORDS.get((word[:-2],), [])):
        return kinds, 1
    return next(
        (
            kinds
            for size in range(min(len(word), 16), 2, -1)
            if (kinds := _OF_BEGINNINGS.get(word[:size]))
        ),
        (),
    ), 1


def _japanese_marks(text: str) -> list[WishMark]:
    marks: list[WishMark] = []
    place = 0
    while place < len(text):
        size = next(
            (
                size
                for size in range(min(_MAX_LETTERS, len(text) - place), 0, -1)
                if text[place : place + size] in _OF_LETTERS
            ),
            0,
        )
        phrase = text[place : place + size]
        if size:
            marks += [WishMark(kind, phrase, place, place + size) for kind in _OF_LETTERS[phrase]]
        elif text[place] in _JA_BREAKS:
            marks.append(WishMark(BREAK, text[place], place, place + 1))
        elif text[place].isalnum():
            _go_on(marks, text, place, place + 1)
        place += size or 1
    return marks


def _go_on(marks: list[WishMark], text: str, start: int, end: int) -> None:
    """Add words that are in no list, joined with such words just before."""
    if marks and marks[-1].kind == OTHER_WORDS:
        start = marks.pop().start
    marks.append(WishMark(OTHER_WORDS, text[start:end], start, end))
