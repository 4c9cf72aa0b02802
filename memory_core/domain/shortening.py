"""A long text made short without losing its numbers, dates and names.

These are what people ask for later. Note: no summary of any agent is trusted to keep them. What it lost is put behind it, in the sentences
that said it where there is room, else as bare words; and a text that would not get much shorter by that stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memory_core.domain.numerals import numbers_in
from memory_core.domain.sameness import names_in
from memory_core.domain.sentences import sentences

MOST_SHARE = 0.7
"""Of the original's length; what saves less is not worth an archive."""
_WORD = re.compile(r"[^\s,;()\[\]\"“”]+")
_EDGES = ".!?:'’"
_SPEAKER_CHARACTERS = 40


def shortened(original: str, summary: str) -> str | None:
    """The summary with what it lost, at most 70 % of the original's length.

    None when that can't be done.
    summary: in any words. A speaker before it ("Ana said:") that the original does not have is taken off.
    """
    text = _without_speaker(original, summary.strip())
    lost = _told(original) - _told(text)
    if not lost:
        return _if_short(original, text)
    kept = [one.text.strip() for one in sentences(original) if _told(one.text) & lost]
    return _if_short(original, "\n".join((text, *kept))) or _if_short(original, f"{text}\n{', '.join(_spelled(original, lost))}")


def _told(text: str) -> frozenset[str]:
    return names_in(text) | numbers_in(text).keys()


def _if_short(original: str, text: str) -> str | None:
    whole = not _told(original) - _told(text)
    return text if text and whole and len(text) <= MOST_SHARE * len(original) else None


def _spelled(original: str, lost: Iterable[str]) -> list[str]:
    """The lost words as the original spells them, in its order."""
    wanted, found = set(lost), dict[str, None]()
    for match in _WORD.finditer(original):
        word = match.group().strip(_EDGES)
        if {word.casefold(), *numbers_in(word)} & wanted:
            found.setdefault(word)
    return list(found)


def _without_speaker(original: str, summary: str) -> str:
    speaker, colon, said = summary.partition(": ")
    if colon and len(speaker) <= _SPEAKER_CHARACTERS and speaker not in original and said[:_SPEAKER_CHARACTERS] in original:
        return said
    return summary
