"""One format of a secret or of personal data, as a rule that finds it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Check = Callable[[re.Match[str]], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """A format of a secret or of personal data.

    Attributes:
        kind: The kind as the mark names it.
        hints: A text that the expression matches holds at least a single hint, in lower case. An
            expression without hints is always tried.
        group: The group of the match that is replaced. 1 means the first group that matched.
        check: Decides the cases that an expression can't decide.
        least: Least number of characters without a blank in a match.
        also: A text that the searched text must hold beside a hint.

    """

    kind: str
    hints: tuple[str, ...]
    expression: re.Pattern[str]
    group: int = 0
    check: Check | None = None
    least: int = 0
    also: str = ""


def any_case(*alternatives: str) -> str:
    """The alternatives in small letters and with a capital; each begins with a plain letter.

    `re` skips characters outside a set of letters five times as fast as it compares characters in
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
