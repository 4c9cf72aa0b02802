"""The redaction of a text: a mark replaces each secret and names its kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from memory_core.domain.redaction.issued_keys import LEAST_OF_A_TOKEN
from memory_core.domain.redaction.named_secrets import (
    LEAST_OF_A_NUMBER,
    NAMES,
    NAMES_OF_NUMBERS,
    WEAK_NAME,
)
from memory_core.domain.redaction.rule import Rule
from memory_core.domain.redaction.rules import BY_KIND, SECRETS
from memory_core.domain.redaction.values import is_measure, is_secret_value
from memory_core.domain.text.text_cache import CachedNumbers, keep_texts

LEAST = 6
"""Characters below which no text holds a secret."""
MOST_OF_A_FIELD = 500
MOST_OF_A_NAME = 60
LONG = 4_000
"""Characters from which a text may be near the limit of its field.

Such a text gets short marks where it would become longer.
"""
SHORT_MARK = "***"
SHORT = 64
"""Characters of a text that often repeats, such as a field's name or an id."""
_clean = CachedNumbers[bool](16_384)
"""Short texts without a secret, by the rules that searched them."""


@lru_cache
def rules_of(kinds: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules of kinds of the setting, each once, in the order of trying."""
    chosen = {id(rule): rule for kind in BY_KIND if kind in set(kinds) for rule in BY_KIND[kind]}
    return tuple(chosen.values())


def mark(kind: str) -> str:
    """The mark that replaces a secret."""
    return f"[redacted: {kind}]"


def redact_text(text: str, rules: Sequence[Rule]) -> tuple[str, Counter[str]]:
    """The text without secrets, and their number for each kind.

    A text that was redacted already stays as it is.

    Args:
        text: The text.
        rules: The rules in force, from `rules_of`.

    """
    is_repeated = len(text) <= SHORT
    if is_repeated and _clean.get(text, id(rules)):
        return text, Counter()
    redacted, counts = _replace(text, rules, is_short=False)
    if is_repeated and not counts:
        _clean.put(text, id(rules), value=True)
    if len(redacted) > len(text) >= LONG:
        redacted, counts = _replace(text, rules, is_short=True)
    return redacted, counts


def _replace(text: str, rules: Sequence[Rule], *, is_short: bool) -> tuple[str, Counter[str]]:
    counts: Counter[str] = Counter()
    if len(text) < LEAST:
        return text, counts
    lower, longest = text.lower(), max(map(len, text.split()), default=0)
    for rule in rules:
        if longest < rule.least or rule.also not in lower:
            continue
        # a loop, as `any` with a generator takes three times as long: most texts are short,
        # most rules hint
        for hint in rule.hints:
            if hint in lower:
                break
        else:
            if rule.hints:
                continue
        pieces, end, place = [], 0, 0
        while (match := rule.expression.search(text, place)) is not None:
            begins, ends = _span(match, rule.group)
            if rule.check is not None and not rule.check(match):
                # a value may begin with the name of another one
                place = match.end() if rule.group == 0 else begins
                continue
            pieces += [text[end:begins], SHORT_MARK if is_short else mark(rule.kind)]
            end = ends
            place = max(ends, match.end())
        if pieces:
            counts[rule.kind] += len(pieces) // 2
            text = "".join([*pieces, text[end:]])
    return text, counts


def kind_of_name(name: str) -> str | None:
    """The kind of secret that a field's name indicates ("db_password", "apiKey"), or None."""
    kind, _ = _named(name)
    return kind


def kind_of_field(
    name: str, value: str | int, rules: Sequence[Rule], *, is_item: bool = False
) -> str | None:
    """The kind of secret that a field's whole value is, by its name; else None.

    Args:
        name: The field's name.
        value: The field's value. A number counts where it is a password, a PIN or a card's code.
        rules: The rules in force.
        is_item: Whether the value is an item of a list.

    """
    text = str(value)
    if SECRETS[0] not in rules or not 3 <= len(text) <= MOST_OF_A_FIELD or text.startswith("["):
        return None
    if text.isdecimal():
        for kind, expression, least, most in NAMES_OF_NUMBERS:
            if least <= len(text) <= most and expression.search(name[-MOST_OF_A_NAME:]):
                return kind
    kind_named, named = _named(name)
    if kind_named is None or len(text) < 4:
        return None
    if isinstance(value, int):
        is_number = kind_named == "password" and not WEAK_NAME.match(named)
        return kind_named if is_number and len(text) >= LEAST_OF_A_NUMBER else None
    if any(character.isspace() for character in text):
        return None
    if is_item and kind_named == "token" and len(text) < LEAST_OF_A_TOKEN:
        return None
    is_weak = WEAK_NAME.match(named) is not None
    if is_weak and is_measure(text):
        return None
    is_chosen = kind_named == "password" and not is_weak
    return kind_named if is_secret_value(text, quoted=True, chosen=is_chosen) else None


@keep_texts(1_024)
def _named(name: str) -> tuple[str | None, str]:
    """The kind that a field's name indicates, and the part of the name that does."""
    for kind, expression in NAMES:
        if (match := expression.search(name[-MOST_OF_A_NAME:])) is not None:
            return kind, match[0]
    return None, ""


def _span(match: re.Match[str], group: int) -> tuple[int, int]:
    """Begin and end of the secret in a match.

    It is the whole match, or the first of its groups that took part.
    """
    return (
        match.span()
        if group == 0
        else next(
            match.span(number)
            for number in range(1, len(match.groups()) + 1)
            if match[number] is not None
        )
    )
