"""Two instructions in one sentence, which can end one without the other.

"Call me Max and never use emojis" are two. They are one where a condition or a pronoun joins them,
or where the second is none by itself, or is under a negation: "never swear and use slang". What
a sentence tells before its instruction is no part of it: "I live in Linz and please be brief".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from memory_core.domain.statements.wish_marks import BREAK, OTHER_WORDS
from memory_core.domain.statements.wish_signs import ACTS, MarkedSentence, read
from memory_core.domain.statements.work_rules import rule_of_work

_JOINT: Final = re.compile(r",? (?:and|und) |、")
_CONDITION: Final = re.compile(
    r"\b(?:when|whenever|if|unless|until|while|wenn|falls|sobald|solange|bis)\b"
    r"|とき|時|たら|場合|なら|まで"
)
_TIME: Final = re.compile(r"\b(?:before|after|bevor|nachdem)\b")
"""It is about its own part, unless it opens the sentence or is in the last part."""
_LASTS: Final = frozenset({"STAND", "NOT"})
_TELLS: Final = frozenset({"ME", "MY", "PASTI", "HABIT"})
_BEFORE_ORDER: Final = frozenset({"LEAD", "PLEASE", "FUNC", "STAND", "NOT", "YOU", ","})
_NEGATES: Final = re.compile(r"\b(?:never|not|no|nie|niemals|nicht|keine?n?)\b|n't\b|ない")
_WITHOUT: Final = re.compile(r"(?:please |bitte )?(?:no|keine?n?|don't|do not|dont) ")
_LEAVES_OUT: Final = re.compile(
    r"(?:bitte )?(?:lass|lasst|lassen sie) (?:bitte )?[^,.;]{2,60} (?:weg|sein|bleiben)\b"
    r"|(?:please )?leave (?:out (?:the |all |any )?[^,.;]{2,60}|(?:the |all )?[^,.;]{2,60} out\b)"
)


def separate_orders(text: str, is_instruction: Callable[[MarkedSentence], bool]) -> list[str]:
    """The instructions of a sentence that is an instruction, each in its words.

    The sentence itself if its parts can't stand alone.

    Args:
        text: The sentence.
        is_instruction: Whether a part is an instruction by itself.

    """
    parts = [part.strip() for part in _JOINT.split(text)]
    if _is_conditional([part.casefold() for part in parts]):
        return [text]
    readings = [read(part) for part in parts]
    statements = _count_statements(readings)
    first, *later = readings[statements:]
    negates = _NEGATES.search(first.text) is not None
    if statements and not (_lasts(first) and is_instruction(first)):
        return [text]
    if (
        (statements or later)
        and is_order(first)
        and all(
            is_order(reading)
            and not _refers(reading)
            and (_lasts(reading) or (not negates and is_instruction(reading)))
            for reading in later
        )
    ):
        return parts[statements:]
    return [text]


def leaves_out(reading: MarkedSentence) -> bool:
    """Whether a sentence wants a form of answers left out: "lass die Emojis weg"."""
    return (
        _LEAVES_OUT.match(reading.text) is not None
        and "ANSWER" in reading.kind_set
        and reading.kind_set.isdisjoint({"ONEOFF", "HERE", "THING"})
        and not reading.asks
    )


def _is_conditional(parts: Sequence[str]) -> bool:
    return (
        any(_CONDITION.search(part) for part in parts)
        or _TIME.match(parts[0]) is not None
        or _TIME.search(parts[-1]) is not None
    )


def _count_statements(readings: Sequence[MarkedSentence]) -> int:
    """How many parts only tell something of the speaker, before the first order."""
    count = next((place for place, part in enumerate(readings) if is_order(part)), 0)
    tells = next(
        (mark.kind in _TELLS for mark in readings[0].marks if mark.kind not in ("LEAD", BREAK)),
        False,
    )
    only = all(part.kind_set.isdisjoint(ACTS) for part in readings[:count])
    return count if tells and only and not _refers(readings[count]) else 0


def _lasts(reading: MarkedSentence) -> bool:
    return bool(reading.kind_set & _LASTS) or _LEAVES_OUT.match(reading.text) is not None


def _refers(reading: MarkedSentence) -> bool:
    """Whether a part has a pronoun for what was named before it.

    "die" before a noun is an article.
    """
    for mark, behind in zip(reading.marks, (*reading.marks[1:], None), strict=True):
        if mark.kind == BREAK:
            return False
        is_article = (
            mark.text in ("die", "das")
            and behind is not None
            and behind.kind in ACTS | {OTHER_WORDS}
        )
        if mark.kind == "OTHER" or (mark.kind == "PRON" and not is_article):
            return True
    return False


def is_order(reading: MarkedSentence) -> bool:
    """Whether a part orders an action of the assistant, with its object."""
    if rule_of_work(reading) is not None:
        return True
    if reading.japanese:
        return bool(reading.kind_set & ACTS and reading.signs & {"jask", "jforbid"})
    if _LEAVES_OUT.match(reading.text) is not None:
        return not ACTS.isdisjoint(reading.kind_set)
    order = [mark for mark in reading.marks if mark.kind not in _BEFORE_ORDER]
    if [mark.kind for mark in order[:2]] == ["ME", "ADDRESS_ME"]:  # "magst du mich … duzen"
        order = order[1:]
    verb = [mark for mark in order if mark.start == order[0].start]
    complete = (
        len(order) > len(verb)
        or any(mark.kind == "ADDRESS_ME" for mark in verb)
        or _WITHOUT.match(reading.text) is not None
    )
    return complete and not ACTS.isdisjoint(mark.kind for mark in verb)
