"""What a person asks of the memory itself in a message: a standing instruction, the end of one, or to forget something.

Each sentence of a user's own words is read with the one before it, in English, German and Japanese. A linear model says how likely it is
a wish (`wish_model`); rules say what can't be one (`wish_signs`), and what a request to forget is about (`wish_topic`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from memory_core.domain.conversation import Message
from memory_core.domain.languages import has_japanese
from memory_core.domain.own_words import own_words
from memory_core.domain.sentences import sentences
from memory_core.domain.wish_model import likely
from memory_core.domain.wish_signs import Reading, features, is_no_instruction, is_no_request, read
from memory_core.domain.wish_topic import GENERAL_WORDS, names_all, topic_of

Kind = Literal["instruction", "withdrawal", "forget"]
Surety = Literal["sure", "asks"]
"""Of a request to forget: it may be acted upon, or it is asked back."""
MAX_SENTENCE = 400
"""Characters of a sentence that is read; a longer one is no wish."""
MAX_WISHES = 20
ASKS = 0.6
"""Least probability of a request to forget that is asked back: 88 of 95 requests of the check part have it, and 3 of 270 others."""
SURE = 0.7
"""Least probability of one that is carried out: 88 of these 95 have it, and 3 of the 270."""
INSTRUCTS = 0.4
"""Least probability of an instruction, or of its end: 95 of 115 of the check part have it, and 2 of 250 others."""
REQUESTED = "(The memory was asked to forget something.)"
"""Stands in the place of a request to forget, in what is formed of its message."""
_OF_ANSWERS = frozenset(
    {
        *("ANSWERV", "DO_ANSWER", "SUGGEST", "ADDRESS_ME", "MENTION", "ANSWER", "REPLY", "MANNER", "LIMITS"),
        *("RULE", "PERSONAL", "AGAIN", "AGAIN_OK", "NO_NEED", "ABOUT_JA", "PLEASE"),
    }
)
"""Kinds of words of which one stands in whatever is wanted of the assistant."""
_OF_PEOPLE_TOO = frozenset({"MANNER", "LIMITS", "PERSONAL"})
"""Those of them that are said of people as well."""
_STATES = re.compile(
    r"(?!(?:it|that|this|you)\b)\w{1,40} (?:is|was|has|had|ist|war|hat|hatte)\b(?!.*\b(?:you|your|du|dich|dir|deine?n?)\b)"
)
"""A sentence that states how somebody is or what they have, without a word to the assistant."""
_JA_QUESTION = re.compile(r"(?:[?？]|(?:っけ|ですか|ますか|んですか|かな|のかな)。?)\s*\Z")
_PREFERS = re.compile(
    r"\bI(?:'d| would)? (?:(?:really|always|generally|usually|strongly|definitely|much|also|do|personally|typically) ){0,2}"
    r"prefer (?!(?:if|it if|not)\b)"
    r"(?:[^,.;:?!]|\.(?=\d)){3,140}"
    r"|\b[Ii]ch (?:bevorzuge|ziehe) (?:[^,.;:?!]|\.(?=\d)){3,100}"
)
_GOES_ON = re.compile(r"\s(?:so|but|and (?:I|can|could|it|that|want|also)|can you|could you|how|which|what|aber|und ich|kannst du)\b")
"""Where something else begins after a preference."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One wish.

    message: its number. text: the sentence, of a preference the clause, as it was said. about: what is to be forgotten; "" for what was
    said just before. start, end: where it stands. instructs: whether a withdrawal that lifts nothing is an instruction by itself, as "stop
    using emojis" is. surety: how surely a request to forget is one. whole: whether everything about it is to be forgotten.
    """

    kind: Kind
    message: int
    text: str
    start: int
    end: int
    about: str = ""
    instructs: bool = False
    surety: Surety = "sure"
    whole: bool = False


@dataclass(frozen=True, slots=True)
class _Request:
    about: str
    surety: Surety
    whole: bool


def said_wishes(messages: Sequence[Message]) -> list[Wish]:
    """The wishes in what users themselves say, in order; none where people talk with each other, for they ask nothing of the memory."""
    found: list[Wish] = []
    if _is_among_people(messages):
        return found
    for number, message in enumerate(messages):
        if message.role != "user":
            continue
        before = None
        for sentence in sentences(own_words(message.content)):
            text = " ".join(sentence.text.split())
            if 0 < len(text) <= MAX_SENTENCE:
                reading = read(_plain(text))
                wish = _wish(text, reading, before, number, sentence.start, sentence.end)
                found += [wish] if wish is not None else []
                before = reading
    return found[:MAX_WISHES]


def _is_among_people(messages: Sequence[Message]) -> bool:
    """Whether several people speak, and no assistant."""
    people = {(message.actor or "").casefold() for message in messages if message.role == "user"}
    return len(people) > 1 and all(message.role == "user" for message in messages)


def without_requests(messages: Sequence[Message], wishes: Sequence[Wish]) -> list[Message]:
    """The messages without requests to forget, and without what else in the same message has the words that these name."""
    kept = list(messages)
    for number in {wish.message for wish in wishes if wish.kind == "forget"}:
        asked = [wish for wish in wishes if wish.message == number and wish.kind == "forget"]
        named = frozenset(word for wish in asked for word in _telling_words(wish.about))
        content = messages[number].content
        gone = [(wish.start, wish.end) for wish in asked]
        gone += [(part.start, part.end) for part in sentences(content) if not named.isdisjoint(_telling_words(part.text))]
        for start, end in sorted(set(gone), reverse=True):
            content = content[:start] + REQUESTED + content[end:]
        kept[number] = messages[number].model_copy(update={"content": content})
    return kept


def only_requests(message: Message) -> bool:
    """Whether nothing but requests to forget is left of a message, as `without_requests` gives it."""
    return not message.content.replace(REQUESTED, "").strip(" .,;:!?-")


def _wish(text: str, reading: Reading, before: Reading | None, number: int, start: int, end: int) -> Wish | None:
    chances = likely(features(reading, before))
    if chances.forget >= ASKS and not is_no_request(reading):
        request = _request(reading, before, chances.forget)
        if request is not None:
            return Wish("forget", number, text, start, end, request.about, surety=request.surety, whole=request.whole)
    if chances.instruct + chances.lift >= INSTRUCTS and not is_no_instruction(reading) and not _tells_of_life(reading):
        stops = _stops(reading)
        kind: Kind = "withdrawal" if stops or chances.lift > chances.instruct else "instruction"
        return Wish(kind, number, text, start, end, instructs=stops)
    match = _PREFERS.search(_plain(text))
    return None if match is None else Wish("instruction", number, _GOES_ON.split(match.group(), maxsplit=1)[0].strip(), start, end)


def _request(reading: Reading, before: Reading | None, chance: float) -> _Request | None:
    """What is to be forgotten; None where a sentence only points and nothing says that something told is meant."""
    surety: Surety = "sure" if chance >= SURE and "THING" not in reading.kind_set else "asks"
    about = topic_of(reading)
    if about:
        return _Request(about, surety, names_all(reading))
    if (
        before is not None
        and "THING" in before.kind_set
        and not before.kind_set & {"YOU", "KNOW", "REGRET", "MEMORY"}
        and _only_points(reading)
    ):
        return None
    points_at_memory = reading.kind_set & {"MEMORY", "KEEP", "DONT_KEEP"}
    if before is not None and (points_at_memory or before.kind_set & {"TOLD", "REGRET", "KNOW", "MEMORY", "ABOUT_JA", "KEEP"}):
        about = topic_of(before)
        if about:
            return _Request(about, surety, names_all(before))
    if before is not None and chance >= SURE and before.kind_set & {"MY", "PERSONAL"} and "THING" not in before.kind_set:
        return _Request(topic_of(before), "asks", whole=False)
    if reading.kind_set & {"LAST", "TOLD", "MEMORY", "KEEP", "DONT_KEEP", "ABOUT_JA", "REGRET"}:
        return _Request("", surety if "LAST" in reading.kind_set else "asks", whole=False)
    return None


def _tells_of_life(reading: Reading) -> bool:
    """Whether a sentence tells or asks how things are, and wants nothing of the assistant: "I don't like olives anymore"."""
    if reading.japanese:
        wants = bool(reading.signs & {"jask", "jforbid"})
        return not wants and (
            _JA_QUESTION.search(reading.text) is not None or ("STOP" in reading.kind_set and "MENTION" not in reading.kind_set)
        )
    if "imp" in reading.signs or _stops(reading):
        return False
    acts = any(sign.startswith(("do0:", "no0:", "st0:")) for sign in reading.signs)
    wanted = reading.kind_set & _OF_ANSWERS
    return not wanted or (wanted <= _OF_PEOPLE_TOO and not acts and _STATES.match(reading.text) is not None)


def _only_points(reading: Reading) -> bool:
    """Whether a sentence says neither what was told nor where it is kept."""
    return not reading.kind_set & {"TOLD", "MEMORY", "KNOW", "KEEP", "DONT_KEEP", "LAST"}


def _stops(reading: Reading) -> bool:
    """Whether it ends something by saying "stop": something instructed, or a habit of the assistant."""
    first = next((kind for kind in reading.kinds if kind not in ("LEAD", ",", "PLEASE", "FUNC")), "")
    return first == "STOP" and not reading.kind_set & {"AGAIN", "AGAIN_OK"}


def _telling_words(text: str) -> frozenset[str]:
    """The longer words of a text, and of Japanese its pairs of letters that are no mere endings."""
    plain = text.casefold()
    if has_japanese(plain):
        return frozenset(pair for pair in map("".join, pairwise(plain)) if re.fullmatch(r"[\u30a0-\u30ff\u4e00-\u9fff]{2}", pair))
    return frozenset(re.findall(r"[^\W\d_]{4,}", plain)) - GENERAL_WORDS


def _plain(text: str) -> str:
    return text.replace("’", "'").strip()
