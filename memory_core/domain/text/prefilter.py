r"""Literals that a text must contain for a regular expression to match it.

A text without any of them need not be searched.

    \b(?:tied the knot|(?:got|are) married)\b      {"tied the knot", " married"}

A search through a text of a thousand characters takes 0.1 ms for each expression, a search for its
literals a tenth of that. RE2 does the same (`re2/prefilter.cc`), but does not know lookarounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

Literals = frozenset[str]
sre: Any = re._constants  # type: ignore[attr-defined]
"""The names of the parts of a parsed expression. No public function parses an expression."""
_SMALL_SET = 8
"""The largest character set in an expression whose characters are used as literals."""


def required_literals(pattern: re.Pattern[str]) -> Literals | None:
    """Literals in lower case; every match contains some of them.

    None where there are none. An expression is parsed at the first call, which takes half a
    millisecond.
    """
    known = _known.get(id(pattern))
    if known is None:
        parsed = re._parser.parse(pattern.pattern, pattern.flags)  # type: ignore[attr-defined]
        known = _known[id(pattern)] = pattern, _of_sequence(parsed)
    return known[1]


_known: dict[int, tuple[re.Pattern[str], Literals | None]] = {}
"""By identity, of expressions that are referenced here. Hashing an expression would go through all
of its code.
"""


def may_match(pattern: re.Pattern[str], lower: str) -> bool:
    """Whether an expression might match a text, by the text's lower case.

    Unusual pairs of cases (ſ, İ, ı) are not recognised.

    Args:
        pattern: The expression.
        lower: The text in lower case.

    """
    literals = required_literals(pattern)
    if literals is None:
        return True
    for literal in literals:  # noqa: SIM110 - `any` with a generator takes three times as long
        if literal in lower:
            return True
    return False


def table_of_runs(characters: str) -> bytes:
    """The table of `ascii_runs` for runs of these characters, which are lower-case ASCII."""
    lower = (chr(code).lower() for code in range(128))
    return bytes(ord(each if each in characters else " ") for each in lower).ljust(256)


def ascii_runs(text: str, table: bytes) -> list[str]:
    """The runs of some characters in an ASCII text, in lower case and in order.

    It takes a quarter of the time that an expression takes.

    Args:
        text: Of ASCII alone.
        table: Made by `table_of_runs`.

    """
    return text.encode("ascii").translate(table).decode("ascii").split()


LETTERS_AND_DIGITS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
_WORDS: Final = table_of_runs(LETTERS_AND_DIGITS + "_")


def ascii_words(text: str) -> frozenset[str] | None:
    """The lower-case words of a text, as `re` parts them.

    None for a text that is not ASCII. An expression of whole words need not search a text that has
    none of its words.
    """
    return frozenset(ascii_runs(text, _WORDS)) if text.isascii() else None


def _of_sequence(items: Iterable[tuple[Any, Any]]) -> Literals | None:
    best: Literals | None = None
    literal = ""
    for operator, argument in items:
        if operator is sre.LITERAL:
            literal += chr(argument).lower()
            continue
        best = _better(best, frozenset([literal]) if literal else None)
        literal = ""
        best = _better(best, _of_item(operator, argument))
    return _better(best, frozenset([literal]) if literal else None)


def _of_item(operator: Any, argument: Any) -> Literals | None:
    if operator is sre.SUBPATTERN:
        return _of_sequence(argument[3])
    if operator is sre.ATOMIC_GROUP:
        return _of_sequence(argument)
    if operator is sre.BRANCH:
        branches = [_of_sequence(branch) for branch in argument[1]]
        return (
            frozenset[str]().union(*(branch for branch in branches if branch is not None))
            if None not in branches
            else None
        )
    if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return _of_sequence(argument[2]) if argument[0] else None
    if (
        operator is sre.IN
        and len(argument) <= _SMALL_SET
        and all(kind is sre.LITERAL for kind, _ in argument)
    ):
        return frozenset(chr(code).lower() for _, code in argument)
    return None


def _better(first: Literals | None, second: Literals | None) -> Literals | None:
    """The set whose shortest literal is longer; of two equals the smaller set."""
    if first is None or second is None:
        return second if first is None else first
    return max(first, second, key=lambda literals: (min(map(len, literals)), -len(literals)))
