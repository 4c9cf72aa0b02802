"""Text of users between marks that nobody who wrote it could forge.

A mark is derived from the whole text and occurs nowhere in it, however carelessly one reads, so a text can neither end what fences it
nor begin a part of its own. What a reader would get wrong: the mark is no secret. It need only be new to the text, and being derived
keeps equal texts equal.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from memory_core.domain.normal_form import normal_form

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0"
    "\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
"""Controls, marks of direction, spaces without width, fillers, selectors and tag characters: what a person would not see and a model
reads all the same. The joiners, and the selectors of emoji, stay: they make other letters and other pictures."""
_BEYOND_ASCII = re.compile("[^\x00-\x7f]+")


def visible(text: str) -> str:
    """The text without what cannot be seen, and with lone surrogates replaced, which no request can carry."""
    return _INVISIBLE.sub("", text.encode("utf-8", "replace").decode("utf-8"))


def one_line(text: str) -> str:
    """The visible text on one line: it can't look like a line that somebody else wrote."""
    return " ".join(visible(" ".join(text.split())).split())


def mark_for(text: str, length: int = 16) -> str:
    """A mark of `length` hexadecimal digits that does not occur in the text."""
    plain = _plain(text)
    number = 0
    while True:
        mark = hashlib.sha256(f"{number}\n{text}".encode()).hexdigest()[:length]
        if mark not in plain:
            return mark
        number += 1


def _plain(text: str) -> str:
    """As a careless reader sees it: compatible letters made equal, small, nothing invisible in between."""
    folded = normal_form("NFKC", text).casefold()
    return _BEYOND_ASCII.sub(lambda found: "".join(one for one in found[0] if unicodedata.category(one) != "Cf"), folded)
