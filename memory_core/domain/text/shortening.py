"""Make a long text short without losing its numbers, dates and names.

These are what people ask for later. Note: no summary of any agent is trusted to keep them. What
it lost is put behind it, in the sentences that said it where there is room, else as bare words;
and a text that would not get much shorter by that stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import regex

from memory_core.domain.text.sameness import names_in
from memory_core.domain.text.sentences import sentences, spans
from memory_core.domain.text.spelling import numbers_in

MOST_SHARE = 0.7
"""The share of the original's length that a shortened text may have; a smaller saving is not worth
an archive.
"""
_WORD = re.compile(r"[^\s,;()\[\]\"“”]+")
_EDGES = ".!?:'’"
_SPEAKER_CHARACTERS = 40


def shortened(original: str, summary: str) -> str | None:
    """The summary with the numbers and names that it lost.

    Args:
        original: The text.
        summary: In any words. A speaker before it ("Ana said:") that the original does not have is
            removed.

    Returns:
        At most 70 % of the original's length; None when that can't be done.

    """
    text = _without_speaker(original, summary.strip())
    lost = _is_statement(original) - _is_statement(text)
    if not lost:
        return _if_short(original, text)
    added = [
        sentence.text.strip()
        for sentence in sentences(original)
        if _is_statement(sentence.text) & lost
    ]
    return _if_short(original, "\n".join((text, *added))) or _if_short(
        original, f"{text}\n{', '.join(_spelled(original, lost))}"
    )


def _is_statement(text: str) -> frozenset[str]:
    return names_in(text) | numbers_in(text).keys()


def _if_short(original: str, text: str) -> str | None:
    whole = not _is_statement(original) - _is_statement(text)
    return text if text and whole and len(text) <= MOST_SHARE * len(original) else None


def _spelled(original: str, lost: Iterable[str]) -> list[str]:
    """The lost words as the original spells them, in its order."""
    wanted, spellings = set(lost), dict[str, None]()
    for match in _WORD.finditer(original):
        word = match.group().strip(_EDGES)
        if {word.casefold(), *numbers_in(word)} & wanted:
            spellings.setdefault(word)
    return list(spellings)


def _without_speaker(original: str, summary: str) -> str:
    speaker, colon, rest = summary.partition(": ")
    if (
        colon
        and len(speaker) <= _SPEAKER_CHARACTERS
        and speaker not in original
        and rest[:_SPEAKER_CHARACTERS] in original
    ):
        return rest
    return summary


LEAST_SHARE = 0.6
"""The share of the allowed characters that a sentence or word must reach to end the text there; an
earlier end would waste too many characters.
"""
_LONGEST_CHARACTER = 64
"""Code points of a character as readers see it; longer heaps of marks are cut anywhere."""
_CHARACTER = regex.compile(r"\X")


def beginning(text: str, limit: int) -> str:
    """The first characters of a text, cut at a good place.

    It is cut at the end of a sentence, else of a word, where such an end is near, else of a
    character. A family of emoji, or a letter with its accents, is a single character to a reader
    and is not split.

    Args:
        text: Of any length.
        limit: Code points of the result at most.

    """
    if len(text) <= limit:
        return text
    head, least = text[:limit], int(limit * LEAST_SHARE)
    sentence_ends = [end for _, end in spans(text, 0, limit + 1) if least < end <= limit]
    if sentence_ends:
        return head[: sentence_ends[-1]].rstrip() or head
    words = [head] if text[limit].isspace() else head.rsplit(None, 1)[:-1]
    if words and len(words[0].rstrip()) > least:
        return words[0].rstrip()
    start = max(0, limit - _LONGEST_CHARACTER)
    ends = [
        start + match.end()
        for match in _CHARACTER.finditer(text[start : limit + _LONGEST_CHARACTER])
    ]
    return text[: max((end for end in ends if end <= limit), default=limit)].rstrip() or head
