"""One format of a secret or of personal data, as a rule that finds it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Check = Callable[[re.Match[str]], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """One format.

    kind: what the mark calls it. hints: the text holds one of them, in lower case, if the
    expression can match; none: it is always tried. group: the part of the match that is replaced;
    the first group that matched, where it is 1. check: decides what no expression can. least:
    characters without a blank between them that a match has at least. also: what the text holds
    beside a hint.
    """

    kind: str
    hints: tuple[str, ...]
    expression: re.Pattern[str]
    group: int = 0
    check: Check | None = None
    least: int = 0
    also: str = ""


def any_case(*alternatives: str) -> str:
    """The alternatives in capitals or not, each of which begins with a plain letter.

    `re` skips what begins with no letter of a set five times as fast as what is compared in
    any case.
    """
    rests: dict[str, list[str]] = {}
    for alternative in alternatives:
        rests.setdefault(alternative[0], []).append(alternative[1:])
    return "|".join(
        f"{first}(?i:{'|'.join(of_first)})"
        for letter, of_first in rests.items()
        for first in dict.fromkeys((letter, letter.upper()))
    )
