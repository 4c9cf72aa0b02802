"""One text: every secret in it replaced by a mark that says what it was."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from memory_core.domain.redaction.rules import BY_KIND, NAMES, SECRETS, Rule
from memory_core.domain.redaction.values import is_secret_value

LEAST = 6
"""Characters below which no text holds anything that is looked for."""
MOST_OF_A_FIELD = 500
LONG = 4_000
"""Characters from which a text may be near the most that is kept of its field:
it gets short marks where it would become longer.
"""
SHORT_MARK = "***"


def rules_of(kinds: Iterable[str]) -> tuple[Rule, ...]:
    """The rules that kinds of the setting stand for, each once, in the order in which
    they are tried.
    """
    chosen = {id(rule): rule for kind in BY_KIND if kind in set(kinds) for rule in BY_KIND[kind]}
    return tuple(chosen.values())


def mark(kind: str) -> str:
    """The mark in the place of a secret."""
    return f"[redacted: {kind}]"


def redact_text(text: str, rules: Sequence[Rule]) -> tuple[str, Counter[str]]:
    """The text without secrets, and how many of each kind there were. A text that was redacted
    stays as it is.
    """
    redacted, counts = _replace(text, rules, is_short=False)
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


def kind_of_field(name: str, value: str, rules: Sequence[Rule]) -> str | None:
    """The kind of secret that a field's whole value is, as its name says ("db_password",
    "apiKey"); None where it is none.
    """
    if (
        SECRETS[0] not in rules
        or not 4 <= len(value) <= MOST_OF_A_FIELD
        or any(character.isspace() for character in value)
    ):
        return None
    if value.startswith("["):
        return None
    kind = next((kind for kind, expression in NAMES if expression.search(name[-60:])), None)
    return (
        kind
        if kind is not None and is_secret_value(value, quoted=True, chosen=kind == "password")
        else None
    )


def _span(match: re.Match[str], group: int) -> tuple[int, int]:
    """Begin and end of the secret: the whole match, or the first of its groups that took part."""
    return (
        match.span()
        if group == 0
        else next(
            match.span(number)
            for number in range(1, len(match.groups()) + 1)
            if match[number] is not None
        )
    )
