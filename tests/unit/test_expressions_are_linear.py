"""No text stops the process: no regular expression of the package takes more time than its text's
length accounts for.

`re` holds the interpreter's lock while it searches, so one that takes 27 seconds for 16,000 dots is
27 seconds in which no caller is answered. This is the one test that asserts times. They are of this
thread's own work, so that a busy machine does not count.
"""

from __future__ import annotations

import ast
import re
import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from types import FrameType, ModuleType
from typing import Any

import pytest

from tests.expressions import (
    Inline,
    calls_in,
    compiled,
    hostile,
    imported_names,
    inline,
    is_bounded,
    patterns_of,
    repeats_more_than_a_character,
)

SHORTEST, SHORT, MIDDLE, LONG = 250, 1_000, 4_000, 16_000
UNSEEN_S = 0.002
"""Below this a time says nothing."""
MOST_GROWTH = 7.0
"""Times as much for four times the text: n log n has 4.7, n² has 16."""
EVEN_GROWTH = 4.9
"""From 1,000 to 4,000 characters: a·n + b·n² that grows by no more takes at most 6.9 times as long
for 16,000 as for 4,000.
"""
EARLY_GROWTH = 4.2
"""From 250 to 1,000 characters: a·n + b·n² that grows by no more takes at most 6.6 times as long
for 16,000 as for 4,000.
"""
TOO_LONG_S = 0.2
"""For the longest text: linear ones take a fortieth of it."""
TRIES = 3
HOWS = {"match": ("match",), "fullmatch": ("fullmatch",)}
ALL = ("finditer", "fullmatch")
"""`match` is what `finditer` begins with."""

MADE_OF_VALUES = {
    # where the module is imported: what comes of them is found as compiled
    "memory_core.adapters.offline.behaviour._cue": None,
    "memory_core.adapters.offline.fact_patterns.__post_init__": None,
    "memory_core.adapters.offline.clause_facts.__post_init__": None,
    "memory_core.domain.text.foreign_dates._german": None,
    "memory_core.adapters.offline.foresight._row": None,
    "memory_core.domain.statements.change_phrases._cue": None,
    "memory_core.domain.statements.change_sentences._for_lower_case": None,
    "memory_core.domain.statements.change_topics._matter": None,
    "memory_core.domain.statements.short_answers._asking": None,
    "memory_core.domain.statements.short_answers._asking_ja": None,
    # of constants of their modules
    "memory_core.adapters.offline.reconciliation._split_by_label": [
        r"(?:^|(?<=\s))(Do:|Don't:|Key\ insight:)(?=\s+\S)"
    ],
    "memory_core.adapters.openai.chat.after": [r"\btemperature\b"],
    "memory_core.domain.importance._pattern": [r"(?<!\w)(?:allergic|doctor's\ appointment)(?!\w)"],
    # of words that users choose, which are escaped
    "memory_core.domain.statements.slot_facts._is_added": [
        rf"(?<![a-zß-ÿ\d]){re.escape(value)}(?![a-zß-ÿ\d])" for value in ("Asda", "a+a+", "(.*)*")
    ],
    "memory_core.adapters.offline.voice.possessive": [
        rf"\b{re.escape(name)}\b" for name in ("Ana", ". . .", "a+a+", "(.*)*", "   ")
    ],
    "memory_core.domain.scenes._written": [
        rf"(?<=[^\W_]\s){re.escape(word)}\b" for word in ("berlin", "...", "a a", "(a|a)*")
    ],
}
"""Functions that make expressions of their own values, and what such expressions look like."""


class TooLong(Exception):
    """A search went on and on."""


@dataclass(frozen=True)
class Case:
    """One way of using one expression."""

    where: str
    pattern: Any
    how: str


def cases() -> Iterator[Case]:
    for expression in compiled():
        yield from (Case(expression.where, expression.pattern, how) for how in ALL)
    for call in inline():
        made = (
            [call.pattern]
            if call.pattern is not None
            else [re.compile(text) for text in MADE_OF_VALUES.get(call.where) or ()]
        )
        yield from (
            Case(f"{call.where}()", pattern, how)
            for pattern in made
            for how in HOWS.get(call.call, ("finditer",))
        )


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Break off what takes longer: `re` looks for signals while it searches."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def text_of(pattern: Any, parts: tuple[str, str, str], length: int) -> Any:
    text = repeated(parts, length)
    return text if isinstance(pattern.pattern, str) else text.encode("utf-8", "replace")


@lru_cache(maxsize=512)
def repeated(parts: tuple[str, str, str], length: int) -> str:
    before, pumped, after = parts
    room = max(0, length - len(before) - len(after))
    return before + (pumped * (room // len(pumped) + 1))[:room] + after


def seconds_of(case: Case, parts: tuple[str, str, str], length: int) -> float:
    text = text_of(case.pattern, parts, length)
    began = time.thread_time()
    if case.how == "finditer":
        deque(case.pattern.finditer(text), 0)
    else:
        getattr(case.pattern, case.how)(text)
    return time.thread_time() - began


def growth(case: Case, parts: tuple[str, str, str]) -> float:
    """How many times longer a text of 16,000 characters takes than one of 4,000:
    the best of several tries of each.
    """
    shorter = longer = float("inf")
    for _ in range(TRIES):
        shorter = min(shorter, seconds_of(case, parts, MIDDLE))
        longer = min(longer, seconds_of(case, parts, LONG))
        if (
            shorter < UNSEEN_S / 2
            or longer <= MOST_GROWTH * shorter
            or longer > 1.5 * MOST_GROWTH * shorter
        ):
            break
    return longer / max(shorter, UNSEEN_S / 4)


def breaks_out(case: Case, parts: tuple[str, str, str]) -> str | None:
    """Why the time for such texts is too much; None when it is not."""
    try:
        with limited(TOO_LONG_S):
            middle = seconds_of(case, parts, MIDDLE)
            if middle < UNSEEN_S or middle <= EVEN_GROWTH * min(
                seconds_of(case, parts, SHORT) for _ in range(2)
            ):
                return None
        with limited(2 * TOO_LONG_S):
            grown = growth(case, parts)
    except TooLong:
        return "too long"
    return f"{grown:.1f} times as long for four times the text" if grown > MOST_GROWTH else None


def is_quick(case: Case, parts: tuple[str, str, str]) -> bool:
    """Whether such texts of 4,000 characters take a time that says nothing, or that four times the
    text accounts for.

    The shortest text settles most: a·n + b·n² is at most 16 times as much for four times the
    length, and what grows faster than n² is seen at 1,000 characters.
    """
    short = seconds_of(case, parts, SHORT)
    if short < UNSEEN_S / 16:
        return True
    shortest = min(seconds_of(case, parts, SHORTEST) for _ in range(2))
    if short <= EARLY_GROWTH * shortest:
        return True
    if short >= UNSEEN_S:
        return False
    short = min(short, seconds_of(case, parts, SHORT))
    if short <= EARLY_GROWTH * shortest:
        return True
    middle = seconds_of(case, parts, MIDDLE)
    return middle < UNSEEN_S or middle <= EVEN_GROWTH * short


def suspects(case: Case) -> Iterator[tuple[str, str, str]]:
    """The texts that take a time which may be too long. Note: one timer for many texts, since
    setting it takes as long as searching one.
    """
    texts = list(hostile(case.pattern))[::-1]
    while texts:
        try:
            with limited(TOO_LONG_S):
                while texts and is_quick(case, texts[-1]):
                    texts.pop()
        except TooLong:
            pass  # many quick ones together, or one by itself
        if texts:
            yield texts.pop()


def offence(case: Case) -> str | None:
    """What breaks out, and does so again when it is measured a second time: a busy machine is slow
    for a moment, an expression always.
    """
    for parts in suspects(case):
        if breaks_out(case, parts) is not None and (why := breaks_out(case, parts)) is not None:
            return f"{case.where} ({case.how}): {why} of {parts!r}"
    return None


def test_every_expression_takes_time_in_proportion_to_its_text() -> None:
    offences = [
        complaint
        for case in cases()
        if not is_bounded(case.pattern) and (complaint := offence(case)) is not None
    ]
    assert not offences, "\n".join(offences)


def test_no_expression_repeats_more_than_a_character_possessively() -> None:
    """An atomic group, (?>(?:…)*), is right on every Python."""
    assert [case.where for case in cases() if repeats_more_than_a_character(case.pattern)] == []


@pytest.mark.parametrize(
    ("expression", "refused"),
    [
        (r"a(?:bc)?+", True),
        (r"(?:(?!a)\w)++", True),
        (r"(?:a|(?:bc)*+)", True),
        (r"(a)*+", True),
        (r"(?=(?>x(?:,\d)*+))", True),
        (r"a*+[bc]++\w{1,3}+(?:x)?+", False),
        (r"(?>(?:bc)*)", False),
    ],
)
def test_more_than_a_character_repeated_possessively_is_refused(
    expression: str, refused: bool
) -> None:
    assert repeats_more_than_a_character(re.compile(expression)) is refused


def test_every_expression_made_of_values_is_known() -> None:
    """A new one fails here until an example is added above, with the words that users
    choose escaped.
    """
    made = {call.where for call in inline() if call.pattern is None}
    assert made == MADE_OF_VALUES.keys()
    assert imported_names() == []


@pytest.mark.parametrize(
    "expression",
    [
        r"[.!?…]+[\"'”’»)\]]*(?=\s|$)",  # what D1 of the attack was
        r"\s+(?:now|today)$",
        r"(?:also|now|a)*\s*\bx",
        r"(?:a|a)*b",
        r"\bas\b.+\b(?:at|for)\b",
        r"\{[^{}\n]*:[^{}\n]*\}",
        r"(?:ich )?wohne(?: (?:jetzt|seit [\w ]{3,15}))* in",
    ],
)
def test_an_expression_that_is_not_linear_is_found(expression: str) -> None:
    assert any(offence(Case("", re.compile(expression), how)) for how in ALL)


@dataclass(frozen=True)
class _Row:
    text: str
    expression: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "expression", re.compile(self.text))


def test_expressions_are_found_wherever_a_module_keeps_them() -> None:
    module = ModuleType("memory_core.made_up")
    source = """
import re
from functools import cache

PLAIN = re.compile("plain")
TABLE = {"key": [(re.compile("nested"), 1)]}

class Holder:
    OF_A_CLASS = re.compile("of a class")

def closed():
    inner = re.compile("closed over")
    return lambda text: inner.search(text)

CLOSED = closed()

def given(pattern=re.compile("default")):
    return pattern
"""
    exec(source, vars(module))
    vars(module)["ROW"] = [_Row("of an instance")]
    assert {expression.pattern.pattern for expression in patterns_of(module, set())} == {
        "plain", "nested", "of a class", "closed over", "default", "of an instance",
    }  # fmt: skip


def test_calls_within_functions_are_found() -> None:
    module = ModuleType("memory_core.made_up")
    source = """
import re
WORD = "a+"

def plain(text, word):
    re.sub(r"\\s+", " ", text, flags=re.IGNORECASE)
    re.match(f"{WORD}b", text, re.DOTALL)
    return [re.search(word, line) for line in text]
"""
    exec(source, vars(module))
    calls: list[Inline] = sorted(calls_in(module, ast.parse(source)), key=lambda call: call.call)
    assert [
        (call.call, call.pattern and (call.pattern.pattern, call.pattern.flags & (re.I | re.S)))
        for call in calls
    ] == [("match", ("a+b", re.S)), ("search", None), ("sub", (r"\s+", re.I))]
