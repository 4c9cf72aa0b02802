"""Rules for sentences that can't be a wish, and for pieces of work."""

from __future__ import annotations

import re

from memory_core.domain.statements.wish_marks import BREAK, OTHER_WORDS
from memory_core.domain.statements.wish_signs import (
    ACTS,
    ARTICLES,
    MarkedSentence,
    clauses_of,
    is_call_to_act,
)
from memory_core.domain.text.spelling import NUMBER_WORDS

MAX_MARKS = 45
"""Marks of a sentence; a longer sentence tells a story."""
_TELL = frozenset({"explain", "describe", "tell me", "give me", "list", "name", "show me"})
_TELL_IN_GERMAN = frozenset({"erklär mir", "erkläre mir", "nenn", "gib mir", "zeig mir"})
_OF_ONE = ARTICLES | {*NUMBER_WORDS[2:], "ein", "eine", "einen", "das", "die"}
"""The first word of a phrase for a single thing, or for a number of things."""
_LASTS = frozenset(
    {
        "STAND",
        "NOT",
        "STOP",
        "AGAIN",
        "AGAIN_OK",
        "NO_NEED",
        "MUST",
        "WISH",
        "RULE",
        "REPLY",
        "ADDRESS_ME",
        "MENTION",
    }
)
"""Kinds of words with which a request is for more than a single answer."""
_FOR_A_WHILE = frozenset({"for a second", "for a moment", "for now", "mal kurz", "一旦"})
_ALL_KNOWN = re.compile(r"forget (?:all|everything) you know about [^,;.!?]{1,60}, ")
"""Common knowledge that a new matter is contrasted with."""
_OF_THINGS = frozenset(
    {"DONT_KEEP", "PLEASE", "FUNC", "NOT", "LEAD", "STAND", "THING", "LIMITS", OTHER_WORDS, BREAK}
)


def is_no_request(reading: MarkedSentence) -> bool:
    """Whether a sentence can't ask to forget something, whatever its other words."""
    kinds, signs = reading.kind_set, reading.signs
    if not _removes(reading) or len(reading.kinds) > MAX_MARKS:
        return True
    if signs & {"neg", "says", "supposes", "email", "subj", "thingonly", "elsewhere"}:
        return True
    if any(mark.text in _FOR_A_WHILE for mark in reading.marks):
        return True
    if not reading.japanese and not reading.capitals and _is_of_the_world(reading):
        return True
    return ("how0" in signs and "PLEASE" not in kinds) or ("lets" in signs and "FORGET" in kinds)


def _is_of_the_world(reading: MarkedSentence) -> bool:
    """Whether a request is not about the speaker's own data.

    For example "don't store the eggs in the door", "forget all you know about tea, this is new".
    """
    kinds = reading.kind_set
    if _ALL_KNOWN.match(reading.text) and not kinds & {"ME", "MY", "PLEASE"}:
        return True
    return "DONT_KEEP" in kinds and kinds <= _OF_THINGS


def _removes(reading: MarkedSentence) -> bool:
    """Whether a sentence may ask to forget something, or not to keep it."""
    kinds = reading.kind_set
    if kinds & {"FORGET", "DELETE", "VERGESSEN", "PRETEND", "NEVER_TOLD", "DONT_KEEP"}:
        return True
    if "takeout" in reading.signs:
        return True
    if "DROP" in kinds and kinds & {"TOLD", "MEMORY", "KNOW", "PRON", "ABOUT_JA", "PLEASE", "GONE"}:
        return True
    first = next(
        (kind for kind in reading.kinds if kind not in ("LEAD", BREAK, "FUNC", "PLEASE")), ""
    )
    tells = first in ("ME", "OTHER", "HABIT", "PASTI")
    if "GONE" in kinds and (
        kinds & {"TOLD", "MEMORY", "KNOW", "MUST", "WISH", "PLEASE", "ABOUT_JA", "PRON"}
        or ("PERSONAL" in kinds and not tells)
    ):
        return True
    keeps_not = kinds & {"KEEP", "MEMORY", "KNOW"} and kinds & {"NOT", "STOP", "NO_NEED"}
    return bool(
        keeps_not
        and kinds & {"PLEASE", "WISH", "MUST", "STOP", "NO_NEED", "ABOUT_JA"}
        and not tells
    )


_TASTE = re.compile(
    r"(?:(?:and|but|well|also|btw|so|hi|hey),? ){0,2}i (?:really |just |absolutely ){0,2}"
    r"(?:love|like|hate|dislike|adore|enjoy) [^.!?]{1,60}\b(?:and|but) i (?:really |just ){0,2}"
    r"(?:love|like|hate|dislike|adore|enjoy)\b|ich (?:liebe|mag|hasse) [^.!?]{1,60}\bund"
    r" (?:ich )?(?:liebe|mag|hasse)\b",
    re.IGNORECASE,
)
"""Two tastes in one sentence: "I love long novels and I hate slides"."""
_TO_ASSISTANT = re.compile(r"\b(?:you|your|please|du|dein\w{0,2}|bitte)\b", re.IGNORECASE)


def is_no_instruction(reading: MarkedSentence) -> bool:
    """Whether a sentence can neither instruct nor lift an instruction."""
    kinds, signs = reading.kind_set, reading.signs
    if signs & {"email", "how0"} or len(reading.kinds) > MAX_MARKS:
        return True
    asked = _until_act(reading)
    if "SAYS" in asked or ("ONEOFF" in asked and "STAND" not in kinds):
        return True
    if "HELP" in kinds and not kinds & {"STAND", "LIMITS", "STOP"}:
        return True
    if _TASTE.match(reading.text.strip()) and not _TO_ASSISTANT.search(reading.text):
        return True
    if _wants_to_do(reading) or _asks_for_one_answer(reading):
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


_SUGGESTS = re.compile(
    r"suggest|recommend|propos|schlag|vorschl|empf[ei]\w?hl|おすすめ|お勧め|オススメ|提案|薦め"
)
_HERE = re.compile(
    r"\b(?:here|hier)\W*\Z|\b(?:a bit|a little|slightly|etwas|ein bisschen|ein wenig)"
    r" [a-zäöü]{3,12}er\b|\b(?:make|mach) (?:it|this|that|es|das)\b"
)
"""What is said of one answer: "use bullet points here", "make it a bit shorter"."""
_AMONG = re.compile(
    r"\b(?:only|just|nothing|no|without|not|nur|kein\w{0,2}|nichts|nix|ohne|so|also|because|i'm"
    r"|i am|i have|ich bin|ich habe|weil|da)\b|だけ|のみ|なし|以外|ので|から"
)
"""Words that limit all suggestions, or say why."""


def _asks_for_one_answer(reading: MarkedSentence) -> bool:
    """Whether a sentence asks for a single thing, perhaps with the answer's form.

    For example "can you recommend a soup", "explain the difference between these in two sentences".
    """
    if not reading.kind_set.isdisjoint(_LASTS - {"NOT"}):
        return False
    if _HERE.search(reading.text) is not None:
        return True
    if "NOT" in reading.kind_set:
        return False
    if any(mark.kind == "SUGGEST" and _SUGGESTS.search(mark.text) for mark in reading.marks):
        return _AMONG.search(reading.text) is None
    body = [mark for mark in reading.marks if mark.kind not in ("LEAD", "PLEASE", "YOU", BREAK)]
    form = next(
        (place for place, mark in enumerate(body) if place > 1 and mark.text in ("in", "as")), 0
    )
    if not form or body[0].text not in _TELL | _TELL_IN_GERMAN:
        return False
    named = [mark for mark in body[1:form] if mark.start > body[0].start]
    words = [word for mark in named for word in mark.text.split()]
    names = reading.capitals if body[0].text in _TELL else frozenset[str]()
    single = words[:1] != [] and (words[0] in _OF_ONE or not names.isdisjoint(words))
    return single and any(mark.kind in (OTHER_WORDS, "MANNER") for mark in named)


_PIECE_OF_WORK = re.compile(
    r"(?:(?:please|hi|hey|hello|ok|okay|so|now|thanks|and|then|also|great"
    r"|perfect)\b[\s,.!]{1,3}){0,3}"
    r"(?:(?:(?:can|could|would|will) you|help me|i(?:'d| would) like you to|i (?:need|want) you to"
    r"|let's) (?:please |to |just ){0,2})?"
    r"(?:(?:write|draft|create|compose|generate|make|build|design|prepare|produce|code|implement"
    r"|refactor|rewrite|rephrase|proofread|edit|fix|debug|translate|summari[sz]e|outline|give|plan"
    r"|convert|explain|turn)(?: me| us)?(?: up| out)?"
    r"|i need|i'm looking for)"
    r" (?:an?|the|this|these|that|my|our|some|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|\d{1,3})\b(?! (?:bit|little|lot)\b)|(?:bitte "
    r"|kannst du (?:mir )?(?:bitte )?){0,2}(?:schreibe?|erstelle?|entwirf|entwerfe|übersetze?"
    r"|formuliere?|mache?|gib|baue?|generiere?|plane?|fasse?|schreiben|erzähle?|nenne?|halte?)"
    r"(?: mir| uns)?(?: bitte| mal| noch| kurz){0,2} (?:ein|eine"
    r"|einen|den|die|das|diesen?|dieses|drei|zwei|\d{1,3})\b"
)
"""Words by which a message asks that a single thing be made."""
_MADE_FOR_ONESELF = re.compile(
    r"(?:please |(?:can|could|would|will) you (?:please )?){0,2}"
    r"(?:(?:write|draft|create|compose|generate|make|build|design|prepare|code|find) (?:me"
    r"|us) (?:up )?an? |(?:schreibe?|erstelle?|mache?|gib|erzähle?|nenne?|halte?)(?: mir| uns)?"
    r"(?: bitte| mal| noch| kurz){0,2} (?:eine?n?|zwei|drei|vier|fünf|\d{1,3}) "
    r"|(?:suggest|recommend) (?:(?:me|us) )?(?:an?|some|two|three|four|five|ten"
    r"|\d{1,3}) )"
)
"""The same words, in a form that shows that the sentence itself is not about later requests."""
_OF_ALL_WORK = re.compile(
    r"\b(?:(?:when|whenever|if) (?:you|i)|(?:your|all) (?:answers|replies|responses|messages|code"
    r"|explanations|emails|texts)|(?<!the )(?:answers|replies|responses)|i(?:'m| am)|i have"
    r"|i (?:always |really |generally |usually )?prefer|generally|usually|normally|wenn (?:du|ich)"
    r"|ich bin|ich habe|deine (?:antworten|texte))\b"
)
"""Words with which a request beside a piece of work is for further requests, too, or is about the
speaker.
"""


def asks_for_one_piece(reading: MarkedSentence) -> bool:
    """Whether a sentence asks for a piece of work: "write me a function"."""
    return (
        "STAND" not in reading.kind_set and _PIECE_OF_WORK.match(reading.text.lstrip()) is not None
    )


def only_asks_for_one_piece(reading: MarkedSentence) -> bool:
    """Whether a sentence asks only for a piece of work.

    For example "write me a function that reverses a list, please add type hints".
    """
    return _MADE_FOR_ONESELF.match(reading.text.lstrip()) is not None and is_of_one_piece(reading)


def is_of_one_piece(reading: MarkedSentence) -> bool:
    """Whether a request beside a piece of work is for this piece only.

    For example "please add type hints".
    """
    lasting = {"STAND", "AGAIN", "AGAIN_OK", "NO_NEED", "RULE", "ADDRESS_ME", "STOP"}
    return reading.kind_set.isdisjoint(lasting) and _OF_ALL_WORK.search(reading.text) is None
