"""Rules for sentences that can't be a wish."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_core.domain.statements.wish_marks import BREAK, OTHER_WORDS, WishMark
from memory_core.domain.statements.wish_signs import (
    ACTS,
    MarkedSentence,
    clauses_of,
    is_call_to_act,
)

MAX_MARKS = 45
"""Marks of an instruction; a longer sentence tells a story."""
_REMOVED = frozenset({"FORGET", "DELETE", "DROP", "VERGESSEN", "GONE"})
_NOT_NOW = re.compile(
    r"(?:before|until|till|unless|bevor|ehe) (?:you|du)\b"
    r"|(?:when|wann)(?: (?:do|did|will|would)\b|\Z)"
)
_NO_ONE = re.compile(
    r"(?:never|nie|niemals|i never|we never|nobody|no one|niemand|wehe|stop|quit|hör auf)\b"
)
_NOT_BEHIND = frozenset({"nicht", "nie", "niemals", "keinen", "ständig", "dauernd"})
"""German negations, and words of a complaint, behind their verb."""
_JA_KEPT = re.compile(
    r"(?:忘れ|消[しすさ]?|削除し?|消去し?)(?:な[いくか]|[てで]は?(?:いけ|だめ|ダメ|駄目|なら|困)"
    r"|ちゃ(?:いけ|だめ|ダメ|駄目|困)|て(?:もらって|いただいて)は|て(?:ほし|欲し)くは?な"
    r"|[^、。]{0,8}わけ(?:では|じゃ)な|[るす]?る?必要は?(?:な|あり|ござ)|[るす]?る?の?[はを]?(?:やめ|止め)"
    r"|[^、。]{0,6}たらどう|る?な[よ。!！]{0,3}\Z)"
)
"""A verb that removes with its negation."""


def is_no_request(reading: MarkedSentence) -> bool:
    """Whether a sentence can't ask to forget something, whatever its other words."""
    return not reading.signs.isdisjoint({"neg", "subj"}) or _is_kept(reading)


def _is_kept(reading: MarkedSentence) -> bool:
    """Whether a negation, a time to come or a question governs a verb that removes.

    For example "I didn't ask you to forget it", "lösch mein Gehalt nicht aus deinem Gedächtnis".
    """
    if reading.japanese:
        return _JA_KEPT.search(reading.text) is not None
    return any(
        _governs(reading.marks, place)
        for place, kind in enumerate(reading.kinds)
        if kind in _REMOVED
    )


def _governs(marks: Sequence[WishMark], verb: int) -> bool:
    """Whether the words around a verb that removes keep what it names.

    A negation is in its clause, and before any "please" of it, or ends the clause before "dass" or
    "zu". A question word or a time opens its clause.
    """
    start = next((place + 1 for place in reversed(range(verb)) if _begins_anew(marks, place)), 0)
    end = next(
        (place for place in range(verb, len(marks)) if marks[place].kind == BREAK), len(marks)
    )
    before = marks[start:verb]
    body = [mark for mark in before if mark.kind not in ("LEAD", "FUNC")]
    if body and (body[0].kind == "HOW" or _NOT_NOW.match(" ".join(mark.text for mark in body))):
        return True
    asked = max((place for place, mark in enumerate(before) if mark.kind == "PLEASE"), default=-1)
    if any(map(_negates, before[asked + 1 :])):
        return True
    if any(mark.text in _NOT_BEHIND for mark in marks[verb + 1 : end]):
        return True
    depends = before and (before[0].text == "dass" or before[-1].text == "zu")
    return bool(depends) and any(map(_negates, marks[max(start - 3, 0) : start]))


def _begins_anew(marks: Sequence[WishMark], place: int) -> bool:
    """Whether a clause ends at a mark; "don't go and delete it" is one."""
    joins = marks[place].text in ("and", "und")
    return marks[place].kind == BREAK or (
        joins and place > 0 and not marks[place - 1].text.endswith("go")
    )


def _negates(mark: WishMark) -> bool:
    return mark.kind in ("NOT", "NO_NEED") or _NO_ONE.match(mark.text) is not None


_TASTE = re.compile(
    r"(?:(?:and|but|well|also|btw|so|hi|hey),? ){0,2}i (?:really |just |absolutely ){0,2}"
    r"(?:love|like|hate|dislike|adore|enjoy) [^.!?]{1,60}\b(?:and|but) i (?:really |just ){0,2}"
    r"(?:love|like|hate|dislike|adore|enjoy)\b|ich (?:liebe|mag|hasse) [^.!?]{1,60}\bund"
    r" (?:ich )?(?:liebe|mag|hasse)\b",
    re.IGNORECASE,
)
"""Two tastes in one sentence: "I love long novels and I hate slides"."""
_TO_ASSISTANT = re.compile(r"\b(?:you|your|please|du|dein\w{0,2}|bitte)\b", re.IGNORECASE)
_IN_YOUR_PLACE = re.compile(
    r"\b(?:if i (?:were|was) (?:you|in your (?:place|shoes))|wenn ich (?:du|sie) wäre?"
    r"|were i you|wäre? ich du|ich an (?:deiner|ihrer) stelle|an (?:deiner|ihrer) stelle"
    r" würde?|in your (?:place|shoes),? i)\b"
    r"|(?:私|僕|俺)(?:が|だったら)(?:あなた|君|きみ)?(?:なら|だったら|の立場)"
)
"""Advice to the assistant as a supposition: "If I were you, I'd only write poems"."""
_TO_NO_ONE = re.compile(r"誰にも(?:言|話|しゃべ|喋|教え|漏ら)")
"""A secret between people, as the reason of a request to forget has it."""
_EACH_TIME = re.compile(
    r"\b(?:at|am|zu) (?:the )?(?:start|beginning|end|anfang|beginn|ende) (?:of )?"
    r"(?:every|each|jede[srmn]?|aller) (?:new )?(?:chat|conversation|session|message|reply|answer"
    r"|response|gespräch|sitzung|antwort|nachricht|unterhaltung)(?:s|es)?\b"
    r"|(?:毎回の?|すべての|各)(?:チャット|会話|返事|回答)の(?:最初|はじめ|始め|最後|終わり)に"
)
_UNTIL_THEN = re.compile(r"(?:until|till|bis) [^,;.!?]{2,40}(?:,|(?= (?:please|pls|bitte)\b))\s?")
_SUBJECT = re.compile(r"\b(?:i|we|he|she|they|it|you|ich|wir|er|es|man)\b")


def asks_for_each_time(reading: MarkedSentence) -> bool:
    """Whether a sentence orders something for each conversation, or each answer.

    For example "quiz me at the start of every chat".
    """
    if reading.asks or _EACH_TIME.search(reading.text) is None:
        return False
    if reading.japanese:
        return "jask" in reading.signs
    order = _UNTIL_THEN.sub("", reading.text.strip(), count=1)
    if _SUBJECT.search(order) is not None or reading.kind_set & {"HOW", "SAYS"}:
        return False
    first = next((mark for mark in reading.marks if order.startswith(mark.text)), None)
    return first is not None and first.kind in {OTHER_WORDS, "PLEASE", "NOT", *ACTS}


def is_no_instruction(reading: MarkedSentence) -> bool:
    """Whether a sentence can neither instruct nor lift an instruction."""
    kinds, signs = reading.kind_set, reading.signs
    if signs & {"email", "how0"} or len(reading.kinds) > MAX_MARKS:
        return True
    if "SAYS" in _until_act(reading):
        return True
    if "HELP" in kinds and not kinds & {"STAND", "LIMITS", "STOP"}:
        return True
    if _TASTE.match(reading.text.strip()) and not _TO_ASSISTANT.search(reading.text):
        return True
    if _wants_to_do(reading) or (_TO_NO_ONE.search(reading.text) and "STAND" not in kinds):
        return True
    if "PLEASE" not in kinds and _IN_YOUR_PLACE.search(reading.text) is not None:
        return True
    first = next(
        (kind for kind in reading.kinds if kind not in ("LEAD", BREAK, "FUNC", "EARLIER")), ""
    )
    tells = first in ("ME", "OTHER", "HABIT", "MY", "PRON", "HELP", OTHER_WORDS, "PASTI")
    asks = kinds & {
        "PLEASE",
        "LIMITS",
        "AGAIN_OK",
        "NO_NEED",
        "ABOUT_JA",
        "RULE",
        "MUST",
        "AGAIN",
    } or signs & {"jask", "jforbid"}
    of_answers = kinds & {"REPLY", "ANSWER", "MANNER", "ANSWERV", "SUGGEST", "MENTION"}
    orders = of_answers and ("WISH" in kinds or (first == OTHER_WORDS and kinds & {"STAND", "NOT"}))
    return tells and not asks and not orders and not is_call_to_act(reading)


def _until_act(reading: MarkedSentence) -> frozenset[str]:
    """The kinds of a sentence up to the clause that orders or forbids.

    That clause is included. If there is no such clause, the kinds of the whole sentence.
    """
    body_kinds: set[str] = set()
    for clause in clauses_of(reading):
        body_kinds |= {mark.kind for mark in clause}
        body = [
            mark.kind for mark in clause if mark.kind not in ("LEAD", "PLEASE", "FUNC", "STAND")
        ]
        starts = bool(body) and (
            body[0] in ACTS or (len(body) > 1 and body[0] in ("NOT", "STOP") and body[1] in ACTS)
        )
        if starts or (reading.japanese and not ACTS.isdisjoint(body)):
            return frozenset(body_kinds)
    return frozenset(body_kinds)


def _wants_to_do(reading: MarkedSentence) -> bool:
    """Whether the speaker wants to do something: "I want to add more tests"."""
    for wish, to, verb in zip(reading.marks, reading.marks[1:], reading.marks[2:], strict=False):
        if (
            wish.kind == "WISH"
            and to.text == "to"
            and verb.kind not in ("MENTION", "ADDRESS_ME", "STAND", "NOT", "LIMITS")
        ):
            return not reading.kind_set & {"STAND", "LIMITS", "STOP", "NOT", "ADDRESS_ME"}
    return False
