"""Where a conversation changes its topic, by what can be seen: words in common, cues, questions, the clock between two messages.

A cut is looked for only where one can be: before a message that opens something, after one that does not wait for an answer. There
the talk goes on when enough of what comes next was there before (or means something near, where vectors mean anything).
Note: `after` names the last message of the old topic, and greetings and thanks never stand alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import log

import numpy as np

from memory_core.adapters.offline.running_rules import checkpoint
from memory_core.adapters.offline.summary import content_terms
from memory_core.domain.agent_schemas import Boundaries, Cut
from memory_core.domain.conversation import Message
from memory_core.domain.memory import Vector
from memory_core.domain.scene_assignment import themes
from memory_core.domain.statements.provenance import own_words
from memory_core.domain.text.sentences import goes_on

AHEAD, BEHIND = 4, 8
"""Messages that are looked at after and before a possible cut."""
ENOUGH = 0.08
"""Share of what comes next that must have been there before; measured on conversations of one to four topics."""
ENOUGH_AFTER_CUE = 0.30
"""The same when a speaker announces a change of subject.

Then only a plain continuation outweighs the cue.
"""
NEAR = 0.40
"""Cosine from which two stretches are of one topic although they share no word (MiniLM; unrelated ones lie around 0.1)."""
CHARACTERS = 1_500
"""Of a message that are read for its topic."""

_CUE = re.compile(
    r"\A\W*+(?:(?:oh|ok|okay|so|and|well|great|thanks|right|cool|alright|hey|one more thing|perfect)\b[\s,.!:;-]*+)*"
    r"(?:by the way|btw|any\s?ways?\b|changing (?:the )?(?:subject|topics?)|(?:on|to) (?:a |an )?(?:\w+ )?(?:different|other|another"
    r"|unrelated) (?:note|topic|subject|matter)"
    r"|(?:completely |totally )?unrelated\b|switch(?:ing)? (?:topics?|gears|subjects?)|speaking of something else|let'?s (?:talk about"
    r"|change|move on|switch|discuss)"
    r"|moving on|before i forget|something (?:else|different)|(?:another|one more|a different|next) (?:question|thing|topic)|off topic"
    r"|new (?:topic|question|subject)"
    r"|that reminds me|can we talk about|i(?:'d| would| also| wanted to)(?: like to)? (?:also )?(?:talk|ask) (?:you )?about"
    r"|übrigens|apropos|anderes thema|themenwechsel|mal was anderes|noch (?:eine frage|was|etwas)|au fait|autre chose|changeons de sujet"
    r"|à propos|sinon\b"
    r"|por cierto|a propósito|cambiando de tema|otra cosa|otra pregunta|a proposito|cambiando argomento|aliás|mudando de assunto"
    r"|кстати|другой вопрос|ところで|话说|对了|顺便)",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"\A\W*+(?:(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|night|day)|there|how are you(?: doing)?(?: today)?|how(?:'s"
    r"| is) it going|what'?s up"
    r"|(?:i'?m |i am )?(?:fine|good|great|well|ok|okay|not bad)|and you|thanks?|thank you(?: (?:so|very) much)?|thx|cheers"
    r"|you'?re welcome|welcome|bye|goodbye"
    r"|see you(?: later)?|perfect|cool|nice|lovely|sure|yes|no|yep|awesome|exactly|well done|got it|how can i help(?: you)?(?: today)?"
    r"|hallo|guten (?:tag|morgen|abend)"
    r"|danke|tschüss|wie geht'?s|wie kann ich helfen|bonjour|salut|merci|ça va|au revoir|hola|buenos días|buenas|gracias|adiós|qué tal"
    r"|ciao|grazie|привет|спасибо"
    r"|你好|谢谢|こんにちは|ありがとう)\b[\W_]*+)+",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"\A\W*+(?:(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|there|again|how are you(?: doing)?(?: today)?|what'?s up"
    r"|how can i help(?: you)?(?: today)?"
    r"|hallo|guten (?:tag|morgen|abend)|wie kann ich helfen|bonjour|salut|hola|buenos días|ciao|привет|你好|こんにちは)\b[\W_]*+)+",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\A\W*+(?:(?:yes|no|yeah|nope|sure|ok|okay|exactly|right|true|maybe|not yet|because|but|then|so|and (?:then|it|that|he|she|they|why"
    r"|how)|good idea|sounds|great"
    r"|that|this|these|those|it|its|it's|they|them|he|she|him|her|too late|twice|both|neither|same|also it|which one|how so|why|really"
    r"|what if|why not"
    r"|the (?:second|first|former|latter|other|same)|ja|nein|doch|dann|oui|non|sí|dann)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Read:
    """What one message shows: its terms, whether it waits for an answer, and whether it is small talk."""

    terms: frozenset[str]
    asks: bool
    small_talk: bool
    cue: bool
    points_back: bool


def boundaries(messages: Sequence[Message], previous: str | None, gap: timedelta, vectors: Sequence[Vector] | None = None) -> Boundaries:
    """The cuts of at most 50 messages. gap: a silence that always parts; vectors: one a message, None when they mean nothing."""
    read = [_read(message) for message in messages]
    cuts: list[Cut] = []
    start = 0
    for place in range(1, len(messages)):
        reason = _cut_before(place, start, messages, read, gap, vectors)
        if reason is not None:
            start = _before_greetings(place, start, messages)
            cuts.append(Cut(after=start - 1, reason=reason))
    return Boundaries(cuts=cuts[:49], continues=_continues(read, previous))


def text_of(message: Message) -> str:
    """What of a message is read, and embedded, for its topic."""
    return " ".join(own_words(message.content[: 2 * CHARACTERS]).split())[:CHARACTERS]


def _read(message: Message) -> _Read:
    checkpoint()
    text = text_of(message)
    found = content_terms(text)
    terms = frozenset(found) | {f"theme:{theme}" for theme, weight in themes(found).items() if weight >= 1}
    return _Read(
        terms=terms,
        asks=text.rstrip(" \"')").endswith(("?", "？")),
        small_talk=not terms or _SMALL_TALK.fullmatch(text) is not None,
        cue=_CUE.match(text) is not None,
        points_back=goes_on(text) or _POINTS_BACK.match(text) is not None,
    )


def _cut_before(
    place: int, start: int, messages: Sequence[Message], read: Sequence[_Read], gap: timedelta, vectors: Sequence[Vector] | None
) -> str | None:
    """Why the topic changes before this message; None when it goes on."""
    if messages[place].timestamp - messages[place - 1].timestamp >= gap:
        return "a long silence"
    before, now = read[place - 1], read[place]
    behind = [number for number in range(max(start, place - BEHIND), place) if not read[number].small_talk]
    if not behind or now.small_talk or messages[place].role in ("tool", "system"):
        return None
    if now.cue:
        return "the subject was changed in so many words" if _share(place, behind, read) < ENOUGH_AFTER_CUE else None
    answers = before.asks and _speaker(messages[place]) != _speaker(messages[place - 1])
    if answers or messages[place].role != "user" or now.points_back:
        return None
    if _share(place, behind, read) >= ENOUGH:
        return None
    if vectors is not None and _nearness(place, behind, read, vectors) >= NEAR:
        return None
    return "nothing of it was spoken of before"


def _before_greetings(place: int, start: int, messages: Sequence[Message]) -> int:
    """A greeting opens what comes after it: the first of those right before this message, if any."""
    first = place
    while first > start + 1 and _GREETING.fullmatch(text_of(messages[first - 1])):
        first -= 1
    return first


def _speaker(message: Message) -> tuple[str, str | None]:
    return message.role, message.actor


def _ahead(place: int, read: Sequence[_Read]) -> list[int]:
    """The messages that show what the talk is about from here on, up to the next cue."""
    found = [place]
    for number in range(place + 1, min(place + AHEAD, len(read))):
        if read[number].cue:
            break
        found.append(number)
    return found


def _share(place: int, behind: Sequence[int], read: Sequence[_Read]) -> float:
    """How much of the information of what comes next was there before, in [0, 1]."""
    frequency = Counter(term for one in read for term in one.terms)
    known = frozenset(term for number in behind for term in read[number].terms)
    coming = frozenset(term for number in _ahead(place, read) for term in read[number].terms)
    worth = {term: log(1 + len(read) / frequency[term]) for term in coming}
    total = sum(worth.values())
    return sum(value for term, value in worth.items() if term in known) / total if total else 1.0


def _nearness(place: int, behind: Sequence[int], read: Sequence[_Read], vectors: Sequence[Vector]) -> float:
    ahead = [number for number in _ahead(place, read) if not read[number].small_talk]
    first, second = (np.sum([vectors[number] for number in numbers], axis=0) for numbers in (behind, ahead))
    return float(first @ second / max(1e-9, float(np.linalg.norm(first) * np.linalg.norm(second))))


def _continues(read: Sequence[_Read], previous: str | None) -> bool:
    """Whether the first messages go on with the previous episode."""
    if not previous or not read:
        return False
    place = next((number for number, one in enumerate(read) if not one.small_talk), 0)
    if read[place].cue:
        return False
    known = frozenset(content_terms(previous[: 4 * CHARACTERS]))
    coming = [term for number in _ahead(place, read) for term in read[number].terms if not term.startswith("theme:")]
    return bool(coming) and sum(term in known for term in coming) >= max(1.0, 2 * ENOUGH * len(coming))
