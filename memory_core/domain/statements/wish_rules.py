"""Rules for sentences that can't be a wish."""

from __future__ import annotations

import re

from memory_core.domain.statements.reported_speech import narrates, orders_others
from memory_core.domain.statements.wish_marks import BREAK, OTHER_WORDS
from memory_core.domain.statements.wish_signs import (
    ACTS,
    MarkedSentence,
    clauses_of,
    is_call_to_act,
)

MAX_MARKS = 45
"""Marks of an instruction; a longer sentence tells a story."""


def is_no_request(reading: MarkedSentence) -> bool:
    """Whether a sentence can't ask to forget something, whatever its other words."""
    return not reading.signs.isdisjoint({"neg", "subj"}) or narrates(reading.text)


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
    if orders_others(reading.text) or narrates(reading.text):
        return True
    if "SAYS" in _until_act(reading) or _tells_others_permission(reading):
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
    asked = {"PLEASE", "LIMITS", "AGAIN_OK", "NO_NEED", "ABOUT_JA", "RULE", "MUST", "AGAIN"}
    asks = kinds & asked or signs & {"jask", "jforbid"}
    of_answers = kinds & {"REPLY", "ANSWER", "MANNER", "ANSWERV", "SUGGEST", "MENTION"}
    orders = of_answers and ("WISH" in kinds or (first == OTHER_WORDS and kinds & {"STAND", "NOT"}))
    return tells and not asks and not orders and not is_call_to_act(reading)


_REPORTED = re.compile(
    r"\b(?:the|our|their|this|that|his|her|my) (?:[\w'-]{2,20} ){1,3}?(?<!\bi )(?<!\bwe )"
    r"(?:says?|said|states?|stated|writes?|wrote|tells? (?:me|us)|told (?:me|us)|claims?)\b"
    r"(?=.{0,60}\b(?:you|we) (?:can|may|are allowed)\b)"
    r"|\baccording to (?!me\b).{2,60}\b(?:you|we) (?:can|may|are allowed)\b"
    r"|\b(?:laut|gemäß) .{2,60}\b(?:darf|kann)(?:st)?\b"
    r"|\b(?:in|auf|an) \w{2,8} \w{2,30} steht\b.{2,60}\b(?:darf|kann)(?:st)?\b"
    r"|\b(?:der|die|das|unsere?|meine?) \w{2,30} (?:sagt|sagen|schreibt|meint|behauptet)\b"
    r".{2,60}\b(?:darf|kann)(?:st)?\b"
    r"|(?:と書いて|と書かれて|と言って|によると|だそうです)",
    re.IGNORECASE,
)
"""A permission in the words of a text or of another person."""


def _tells_others_permission(reading: MarkedSentence) -> bool:
    """Whether another person or a text permits: "The docs say you can push again"."""
    if _REPORTED.search(reading.text) is not None:
        return True
    for clause in clauses_of(reading):
        kinds = [mark.kind for mark in clause]
        before = kinds[: kinds.index("AGAIN_OK")] if "AGAIN_OK" in kinds else []
        subject = before[: before.index("TOLD")] if "TOLD" in before else []
        if not {OTHER_WORDS, "OTHER"}.isdisjoint(subject) and "ME" not in subject:
            return not clause[len(subject)].text.startswith("i ")
    return False


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
