"""Find where a conversation changes its topic, by words, cues, questions and times.

Only a user's message that answers no question and does not point back may begin a topic. It does so
if too few of its terms, and of those of the next messages, are in the messages before (and if
vectors, where there are any, are not near). Note: `after` names the last message of the old topic.
Greetings and thanks are no topic of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
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
from memory_core.domain.statements.appointment_words import EXCUSES
from memory_core.domain.statements.change_messages import read
from memory_core.domain.statements.corrected import with_correction
from memory_core.domain.statements.own_words import own_words
from memory_core.domain.text.sentences import goes_on

AHEAD, BEHIND = 4, 8
"""Messages after and before a possible cut that are compared."""
ENOUGH = 0.08
"""Share of the next messages' terms, by weight, from which the topic continues.

It was measured on conversations of 1 to 4 topics.
"""
ENOUGH_AFTER_CUE = 0.30
"""The same after a cue for a new topic, which only a plain continuation outweighs."""
NEAR = 0.40
"""Cosine from which messages share a topic without a common word.

The cosine is that of MiniLM, where unrelated messages have around 0.1.
"""
CHARACTERS = 1_500
"""Characters of a message that are read for its topic."""

_CUE = re.compile(
    r"\A\W*+(?:(?:oh|ok|okay|so|and|well|great|thanks|right|cool|alright|hey|one more thing"
    r"|perfect)\b[\s,.!:;-]*+)*"
    r"(?:by the way|btw|any\s?ways?\b|changing (?:the )?(?:subject|topics?)"
    r"|(?:on|to) (?:a |an )?(?:\w+ )?(?:different|other|another|unrelated) (?:note|topic|subject"
    r"|matter)"
    r"|(?:completely |totally )?unrelated\b|switch(?:ing)? (?:topics?|gears|subjects?)"
    r"|speaking of something else|let'?s (?:talk about|change|move on|switch|discuss)"
    r"|moving on|before i forget|something (?:else|different)|(?:another|one more|a different"
    r"|next) (?:question|thing|topic)|off topic|new (?:topic|question|subject)"
    r"|that reminds me|can we talk about|i(?:'d| would| also"
    r"| wanted to)(?: like to)? (?:also )?(?:talk|ask) (?:you )?about|übrigens|apropos"
    r"|anderes thema|themenwechsel|mal was anderes|noch (?:eine frage|was|etwas)|au fait"
    r"|autre chose|changeons de sujet|à propos|sinon\b"
    r"|por cierto|a propósito|cambiando de tema|otra cosa|otra pregunta|a proposito"
    r"|cambiando argomento|aliás|mudando de assunto|кстати|другой вопрос|ところで|话说|对了|顺便)",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"\A\W*+(?:(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|night|day)|there"
    r"|how are you(?: doing)?(?: today)?|how(?:'s| is) it going|what'?s up"
    r"|(?:i'?m |i am )?(?:fine|good|great|well|ok|okay|not bad)|and you|thanks?"
    r"|thank you(?: (?:so|very) much)?|thx|cheers|you'?re welcome|welcome|bye|goodbye"
    r"|see you(?: later)?|perfect|cool|nice|lovely|sure|yes|no|yep|awesome|exactly|well done|got it"
    r"|how can i help(?: you)?(?: today)?|hallo|guten (?:tag|morgen|abend)"
    r"|danke|tschüss|wie geht'?s|wie kann ich helfen|bonjour|salut|merci|ça va|au revoir|hola"
    r"|buenos días|buenas|gracias|adiós|qué tal|ciao|grazie|привет|спасибо"
    r"|你好|谢谢|こんにちは|ありがとう)\b[\W_]*+)+",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"\A\W*+(?:(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|there|again"
    r"|how are you(?: doing)?(?: today)?|what'?s up|how can i help(?: you)?(?: today)?"
    r"|hallo|guten (?:tag|morgen|abend)|wie kann ich helfen|bonjour|salut|hola|buenos días|ciao"
    r"|привет|你好|こんにちは)\b[\W_]*+)+",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    rf"\A\W*+(?:(?:{EXCUSES})\W+)?(?:yes|no|yeah|nope|sure|ok|okay|exactly|right|true|maybe|not yet"
    r"|because|but|then|so|and (?:then|it|that|he|she|they|why|how)|good idea|sounds|great"
    r"|that|this|these|those|it|its|it's|they|them|he|she|him|her|too late|twice|both|neither|same"
    r"|also it|which one|how so|why|really|what if|why not"
    r"|the (?:second|first|former|latter|other|same)|ja|nein|doch|dann|oui|non|sí"
    r"|i meant?|ich meinte)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _MessageFeatures:
    """Features of a message that are compared.

    Attributes:
        terms: Its words and themes.
        asks: Whether it ends with a question.
        small_talk: Whether it is only small talk.
        cue: Whether it announces a new topic.
        points_back: Whether it refers to the message before.

    """

    terms: frozenset[str]
    asks: bool
    small_talk: bool
    cue: bool
    points_back: bool


def boundaries(
    messages: Sequence[Message],
    previous: str | None,
    gap: timedelta,
    vectors: Sequence[Vector] | None = None,
) -> Boundaries:
    """Find the boundaries of at most 50 messages.

    Args:
        messages: In their order.
        previous: The text of the previous episode, None for none.
        gap: The time between messages from which a topic always ends.
        vectors: Of each message its vector, None without an embedder.

    Returns:
        The cuts, and whether the first messages continue the previous episode.

    """
    features = [_features_of(message) for message in messages]
    frequency = Counter(term for message in features for term in message.terms)
    cuts: list[Cut] = []
    start = 0
    for place in range(1, len(messages)):
        reason = _cut_before(place, start, messages, features, frequency, gap, vectors)
        if reason is not None:
            start = _before_greetings(place, start, messages)
            cuts.append(Cut(after=start - 1, reason=reason))
    return Boundaries(cuts=cuts[:49], continues=_continues(features, previous))


def text_of(message: Message) -> str:
    """The text of a message that is read, and embedded, for its topic."""
    return " ".join(own_words(message.content[: 2 * CHARACTERS]).split())[:CHARACTERS]


def _features_of(message: Message) -> _MessageFeatures:
    checkpoint()
    text = text_of(message)
    content = content_terms(text)
    terms = frozenset(content) | {
        f"theme:{theme}" for theme, weight in themes(content).items() if weight >= 1
    }
    return _MessageFeatures(
        terms=terms,
        asks=text.rstrip(" \"')").endswith(("?", "？")),
        small_talk=not terms or _SMALL_TALK.fullmatch(text) is not None,
        cue=_CUE.match(text) is not None,
        points_back=goes_on(text) or _POINTS_BACK.match(text) is not None,
    )


def _cut_before(
    place: int,
    start: int,
    messages: Sequence[Message],
    features: Sequence[_MessageFeatures],
    frequency: Mapping[str, int],
    gap: timedelta,
    vectors: Sequence[Vector] | None,
) -> str | None:
    """The reason why the topic changes before a message; None where it continues."""
    if messages[place].timestamp - messages[place - 1].timestamp >= gap:
        return "a long silence"
    before, now = features[place - 1], features[place]
    behind = [
        number
        for number in range(max(start, place - BEHIND), place)
        if not features[number].small_talk
    ]
    if not behind or now.small_talk or messages[place].role in ("tool", "system"):
        return None
    if now.cue:
        return (
            "the subject was changed in so many words"
            if _known_share(place, behind, features, frequency) < ENOUGH_AFTER_CUE
            else None
        )
    answers = before.asks and _speaker(messages[place]) != _speaker(messages[place - 1])
    if answers or messages[place].role != "user" or now.points_back:
        return None
    if _known_share(place, behind, features, frequency) >= ENOUGH:
        return None
    if vectors is not None and _nearness(place, behind, features, vectors) >= NEAR:
        return None
    speaker = _speaker(messages[place])
    own = [messages[number] for number in behind if _speaker(messages[number]) == speaker]
    parts = [sentence.text for message in own[-1:] for sentence in read(text_of(message)).sentences]
    opening = read(text_of(messages[place])).sentences[:1]
    if parts and any(with_correction(parts[-1], first.text) is not None for first in opening):
        return None
    return "nothing of it was spoken of before"


def _before_greetings(place: int, start: int, messages: Sequence[Message]) -> int:
    """The first greeting right before a message, which belongs to its topic."""
    first = place
    while first > start + 1 and _GREETING.fullmatch(text_of(messages[first - 1])):
        first -= 1
    return first


def _speaker(message: Message) -> tuple[str, str | None]:
    return message.role, message.actor


def _numbers_ahead(place: int, features: Sequence[_MessageFeatures]) -> list[int]:
    """The numbers of at most `AHEAD` messages from a place on, up to a cue."""
    numbers = [place]
    for number in range(place + 1, min(place + AHEAD, len(features))):
        if features[number].cue:
            break
        numbers.append(number)
    return numbers


def _known_share(
    place: int,
    behind: Sequence[int],
    features: Sequence[_MessageFeatures],
    frequency: Mapping[str, int],
) -> float:
    """The share of the next messages' terms that are behind, by weight, in [0, 1].

    frequency: In how many of all messages a term is.
    """
    known = frozenset(term for number in behind for term in features[number].terms)
    new_terms = frozenset(
        term for number in _numbers_ahead(place, features) for term in features[number].terms
    )
    worth = {term: log(1 + len(features) / frequency[term]) for term in new_terms}
    total = sum(worth.values())
    return sum(value for term, value in worth.items() if term in known) / total if total else 1.0


def _nearness(
    place: int,
    behind: Sequence[int],
    features: Sequence[_MessageFeatures],
    vectors: Sequence[Vector],
) -> float:
    """The cosine of the summed vectors of the messages behind and ahead."""
    ahead = [
        number for number in _numbers_ahead(place, features) if not features[number].small_talk
    ]
    first, second = (
        np.sum([vectors[number] for number in numbers], axis=0) for numbers in (behind, ahead)
    )
    return float(first @ second / max(1e-9, float(np.linalg.norm(first) * np.linalg.norm(second))))


def _continues(features: Sequence[_MessageFeatures], previous: str | None) -> bool:
    """Whether the first messages continue the previous episode."""
    if not previous or not features:
        return False
    place = next((number for number, message in enumerate(features) if not message.small_talk), 0)
    if features[place].cue:
        return False
    known = frozenset(content_terms(previous[: 4 * CHARACTERS]))
    new_terms = [
        term
        for number in _numbers_ahead(place, features)
        for term in features[number].terms
        if not term.startswith("theme:")
    ]
    return bool(new_terms) and sum(term in known for term in new_terms) >= max(
        1.0, 2 * ENOUGH * len(new_terms)
    )
