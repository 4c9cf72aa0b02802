"""What people ask of the memory itself: instructions, their end, or to forget something.

The messages are read here: the sentences of a user's own words, each with the sentence before it,
in English, German and Japanese; what other sentences take back; and what is left of a message
without its requests. The wish of a sentence is in `sentence_wishes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise
from typing import Final, get_args

from memory_core.domain.conversation import Message
from memory_core.domain.statements.forget_topics import GENERAL_WORDS, person_meant
from memory_core.domain.statements.joined_orders import separate_orders
from memory_core.domain.statements.own_words import own_sentences, own_statements
from memory_core.domain.statements.sentence_wishes import (
    Surety,
    Wish,
    is_instruction,
    plain_text,
    to_forget,
    wish_of_sentence,
)
from memory_core.domain.statements.wide_requests import points_at_last
from memory_core.domain.statements.wish_clauses import is_long, wishes_of_clauses
from memory_core.domain.statements.wish_forms import may_take_back, tells_of_else
from memory_core.domain.statements.wish_signs import MarkedSentence, read
from memory_core.domain.text.analyzer import has_japanese
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.sentences import Sentence, sentences
from memory_core.domain.text.text_cache import keep_texts

_ASKED_BACK: Final[Mapping[Surety, Surety]] = {"sure": "asks", "known": "perhaps"}
"""What a request is that other sentences of its message may take back."""
MAX_SENTENCE = 400
"""Characters of a sentence that may be a request to forget as a whole."""
MAX_IN_CLAUSES = 50
"""Sentences of a message among which long sentences are read; the text after them is a paste."""
MAX_WISHES = 20
MAX_SECOND_THOUGHT = 8
"""Words of a sentence that takes back a request in the next message."""
REQUESTED = "(The memory was asked to forget something.)"
"""The text in the place of a request to forget, until memories are formed of its message. No formed
memory contains it.
"""


def said_wishes(messages: Sequence[Message]) -> list[Wish]:
    """The wishes in users' own words, in order, at most `MAX_WISHES`.

    None where several people talk with each other and no assistant speaks, because such words are
    not addressed to the memory.
    """
    accepted: list[Wish] = []
    if _is_among_people(messages):
        return accepted
    by_users = [(number, each) for number, each in enumerate(messages) if each.role == "user"]
    for place, (number, message) in enumerate(by_users):
        wishes = _wishes_in(message.content)
        if any(wish.kind == "forget" for wish in wishes) and any(
            _is_second_thought(later.content) for _, later in by_users[place + 1 : place + 2]
        ):
            wishes = tuple(_asked_back(wish) for wish in wishes)
        accepted += (replace(wish, message=number) for wish in wishes)
    return accepted[:MAX_WISHES]


def _is_second_thought(content: str) -> bool:
    """Whether a user's next message may take back a request: "no wait, keep it"."""
    first = next((each.text for each in own_sentences(content)), "")
    return len(first.split()) <= MAX_SECOND_THOUGHT and may_take_back(read(plain_text(first)))


def _asked_back(wish: Wish) -> Wish:
    if wish.kind != "forget":
        return wish
    return replace(wish, surety=_ASKED_BACK.get(wish.surety, wish.surety))


@keep_texts(256)
def _wishes_in(content: str) -> tuple[Wish, ...]:
    """The wishes in a message, whose number is given as 0.

    They are kept, since the facts of a message are checked against them, too.
    """
    split = [
        (sentence, " ".join(sentence.text.split()))
        for sentence in own_statements(content, corrections=False)
    ]
    whole = " ".join(text for _, text in split)
    if len(whole) <= MAX_SENTENCE and points_at_last(read(plain_text(whole))):
        return (Wish("forget", 0, whole, 0, len(content)),)
    readings = [
        (sentence, text, read(plain_text(text)) if len(text) <= MAX_SENTENCE else None)
        for sentence, text in split
    ]
    wishes: list[Wish] = []
    begun = {sentence.start for sentence in own_sentences(content)}
    for each in _wishes_in_order(readings):
        # What is asked within a dictated sentence may be the words of another.
        wish = _with_person(each if each.start in begun else _asked_back(each), content)
        same = next((other for other in wishes if _is_repeated(wish, other)), None)
        if same is None:
            wishes.append(wish)
        else:
            surest = min(same, wish, key=lambda each: get_args(Surety).index(each.surety))
            wishes[wishes.index(same)] = surest
    return tuple(wishes)


def _is_repeated(wish: Wish, earlier: Wish) -> bool:
    """Whether a request to forget names the topic of an earlier one."""
    return wish.kind == earlier.kind == "forget" and wish.about == earlier.about != ""


def _with_person(wish: Wish, content: str) -> Wish:
    """The wish; of a request to forget with the person that its pronoun means."""
    if wish.kind != "forget" or (meant := person_meant(wish.text, content[: wish.start])) is None:
        return wish
    if not meant.sure and wish.surety == "sure":
        wish = replace(wish, surety="asks")
    return replace(wish, about=meant.name, extent="topic") if meant.name else wish


def _wishes_in_order(readings: Sequence[tuple[Sentence, str, MarkedSentence | None]]) -> list[Wish]:
    """The wishes of a message's sentences.

    A request to forget is asked back if another sentence may speak of it.
    """
    by_sentence = [
        [*_wishes_of(place, *each, before=readings[place - 1][2] if place else None)]
        for place, each in enumerate(readings)
    ]
    wishes: list[Wish] = []
    for place, wish in ((place, wish) for place, each in enumerate(by_sentence) for wish in each):
        if wish.kind == "instruction":
            wishes += (
                replace(wish, text=part) for part in separate_orders(wish.text, is_instruction)
            )
        elif (
            wish.kind == "forget"
            and wish.surety in _ASKED_BACK
            and not all(
                number == place
                or any(map(_forgets_too, by_sentence[number]))
                or (other is not None and tells_of_else(other, after=number > place))
                for number, (_, _, other) in enumerate(readings)
            )
        ):
            wishes.append(_asked_back(wish))
        else:
            wishes.append(wish)
    return wishes


def _wishes_of(
    place: int,
    sentence: Sentence,
    text: str,
    reading: MarkedSentence | None,
    before: MarkedSentence | None,
) -> Iterator[Wish]:
    """The wishes of a sentence; a long sentence instructs only in its clauses."""
    wish = None
    if reading is not None:
        wish = (
            to_forget("", "sure")
            if not place and points_at_last(reading)
            else wish_of_sentence(text, reading, before)
        )
    if wish is not None and (wish.kind == "forget" or not is_long(text)):
        yield replace(wish, text=wish.text or text, start=sentence.start, end=sentence.end)
    if is_long(text) and place < MAX_IN_CLAUSES:
        yield from wishes_of_clauses(sentence)


def _forgets_too(wish: Wish) -> bool:
    return wish.kind == "forget" and wish.surety != "perhaps"


def _is_among_people(messages: Sequence[Message]) -> bool:
    """Whether several people speak, and no assistant."""
    people = {(message.actor or "").casefold() for message in messages if message.role == "user"}
    return len(people) > 1 and all(message.role == "user" for message in messages)


def without_requests(messages: Sequence[Message], wishes: Sequence[Wish]) -> list[Message]:
    """The messages without requests to forget, and without sentences about their topics.

    Both are replaced by `REQUESTED`. A sentence of the same message is replaced if it has a telling
    word of a request's topic.

    Args:
        messages: The conversation.
        wishes: Found in these messages (`said_wishes`).

    """
    rest = list(messages)
    for number in {wish.message for wish in wishes if wish.kind == "forget"}:
        asked = [wish for wish in wishes if wish.message == number and wish.kind == "forget"]
        named = frozenset(word for wish in asked for word in _topic_words(wish.about))
        content = messages[number].content
        gone = [(wish.start, wish.end) for wish in asked]
        gone += [
            (part.start, part.end)
            for part in sentences(content)
            if not named.isdisjoint(_topic_words(part.text))
        ]
        for start, end in sorted(set(gone), reverse=True):
            content = content[:start] + REQUESTED + content[end:]
        rest[number] = messages[number].changed(content=content)
    return rest


def _topic_words(text: str) -> frozenset[str]:
    """The words of a text with four letters or more, without general words.

    Of Japanese the pairs of kanji or katakana.
    """
    plain = text.casefold()
    if has_japanese(plain):
        return frozenset(
            pair
            for pair in map("".join, pairwise(plain))
            if re.fullmatch(r"[\u30a0-\u30ff\u4e00-\u9fff]{2}", pair)
        )
    return frozenset(re.findall(r"[^\W\d_]{4,}", plain)) - GENERAL_WORDS


def only_requests(message: Message) -> bool:
    """Whether a message from `without_requests` contains only requests to forget."""
    return not message.content.replace(REQUESTED, "").strip(" .,;:!?-")


def without_marks(messages: Sequence[Message]) -> list[Message]:
    """The messages without the marks of requests.

    A message without further words keeps its marks, since no message may be empty.
    """
    return [
        message
        if REQUESTED not in message.content or asks_only(message)
        else _without_mark(message)
        for message in messages
    ]


def _without_mark(message: Message) -> Message:
    return message.changed(content=message.content.replace(REQUESTED, "").strip())


def asks_only(message: Message) -> bool:
    """Whether a message contains only the marks of requests that were carried out."""
    return REQUESTED in message.content and only_requests(message)


def only_asks_to_forget(messages: Sequence[Message]) -> bool:
    """Whether users said only requests that were carried out.

    The messages are those that `without_requests` returns.
    """
    by_users = [message for message in messages if message.role == "user"]
    return bool(by_users) and all(asks_only(message) for message in by_users)


INSTRUCTION: Final = "instruction"
"""The category of a standing instruction. A memory that is saved explicitly with this category is
put into contexts in the same way.
"""


def key_for(text: str, actor: str | None = None) -> str:
    """The key of an instruction: the same for the same words of the same actor.

    Args:
        text: The instruction, in its words.
        actor: Who gave it, if a name is known.

    """
    written = normalised(f"{actor}: {text}" if actor else text)
    return f"{INSTRUCTION}/{blake2b(written.encode(), digest_size=8).hexdigest()}"
