"""What people ask of the memory itself: instructions, their end, or to forget something.

Each sentence of a user's own words is read with the one before it, in English, German and Japanese.
A linear model says how likely it is a wish (`linear_models`); rules say what can't be one
(`wish_rules`). The topic of a request to forget is in `forget_topics`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from typing import Final, Literal, get_args

from memory_core.domain.conversation import Message
from memory_core.domain.statements.exclusive_instructions import ONCE_MORE, wants_value_again
from memory_core.domain.statements.forget_topics import (
    GENERAL_WORDS,
    names_all,
    person_meant,
    topic_of,
)
from memory_core.domain.statements.joined_orders import leaves_out, separate_orders
from memory_core.domain.statements.linear_models import Likely, likely
from memory_core.domain.statements.provenance import own_words
from memory_core.domain.statements.wide_requests import asks_for_all, points_at_last
from memory_core.domain.statements.wish_forms import (
    fact_named,
    may_take_back,
    plain_request,
    tells_of_else,
)
from memory_core.domain.statements.wish_rules import (
    asks_for_each_time,
    is_no_instruction,
    is_no_request,
)
from memory_core.domain.statements.wish_signs import ACTS, MarkedSentence, features, read
from memory_core.domain.statements.work_rules import rule_of_work
from memory_core.domain.text.analyzer import has_japanese
from memory_core.domain.text.dictation import spoken_sentences
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.sentences import Sentence, sentences
from memory_core.domain.text.spelled_out import spelled_out
from memory_core.domain.text.text_cache import keep_texts

Kind = Literal["instruction", "withdrawal", "forget"]
Surety = Literal["sure", "known", "asks", "perhaps"]
"""Of a request to forget: "sure" may be carried out, "asks" has to be confirmed. "known" may be
carried out, and "perhaps" has to be confirmed, if a memory has the words which it names; else both
are no request.
"""
Extent = Literal["single", "topic", "all_memories", "all_instructions", "instead"]
"""What a request to forget or a withdrawal is about: a single memory or instruction, all memories
about a topic, all that is known of the speaker, all of the speaker's instructions, or those by
which another thing took the place of a thing.
"""
_ASKED_BACK: Final[Mapping[Surety, Surety]] = {"sure": "asks", "known": "perhaps"}
"""What a request is that other sentences of its message may take back."""
MAX_SENTENCE = 400
"""Characters of a sentence that is read; a longer sentence is no wish."""
MAX_WISHES = 20
MAX_SECOND_THOUGHT = 8
"""Words of a sentence that takes back a request in the next message."""
ASKS = 0.6
"""Least probability of a request to forget that has to be confirmed: 89 of 95 requests of the check
part have it, and 3 of 270 further sentences.
"""
PERHAPS = 0.3
"""Least probability of a request to forget that has to be confirmed if a memory has the words which
it names: 92 of these 95 have it, and 4 of the 270.
"""
INSTRUCTS = 0.4
"""Least probability of an instruction, or of its end: 99 of 115 of the check part have it, and 2 of
250 further sentences. `python -m bench.knowledge.wish_training` prints all of these.
"""
LIFTS_PERHAPS = 0.03
"""Least probability of a sentence that ends an instruction of which it has a telling word."""
MAY_INSTRUCT = 0.008
"""Least probability of what a model takes for an instruction."""
REQUESTED = "(The memory was asked to forget something.)"
"""The text in the place of a request to forget, until memories are formed of its message. No formed
memory contains it.
"""
_OF_ANSWERS = ACTS | {*("RULE", "PERSONAL", "AGAIN", "AGAIN_OK", "NO_NEED", "ABOUT_JA", "PLEASE")}
"""Kinds of words of which a wish to the assistant has at least a single word."""
_OF_PEOPLE_TOO = frozenset({"MANNER", "LIMITS", "PERSONAL"})
"""Kinds among them that are said of people as well."""
_ALWAYS = frozenset({"always", "immer", "いつも", "必ず", "常に"})
FORGETTING = frozenset({"FORGET", "VERGESSEN", "DELETE"})
_ALL_OF_THEM = frozenset({"alle", "all", "全部", "すべて", "全て"})
_NAMES_NO_MATTER = _ALL_OF_THEM | {"して"}
_STATES = re.compile(
    r"(?!(?:it|that|this|you)\b)\w{1,40} (?:is|was|has|had|ist|war|hat"
    r"|hatte)\b(?!.*\b(?:you|your|du|dich|dir|deine?n?)\b)"
)
"""A sentence about a person's state or possessions, without a word to the assistant."""
_PERSONAL_ALONE = frozenset({"PERSONAL"})
_WANTS_NO = re.compile(
    r"(?:i(?: really| just)? (?:don't|do not|never) want|ich (?:will|möchte) keine)"
    r" (?!(?:my|any|the)\b)\w{2,20}(?=[,.!]|\Z)(?!.*\b(?:you|your|du|dich|dir|deine?n?)\b)"
)
"""What a person does not want of life: "I don't want kids, never did"."""
_JA_QUESTION = re.compile(r"(?:[?？]|(?:っけ|ですか|ますか|んですか|かな|のかな)。?)\s*\Z")
_PREFERS = re.compile(
    r"\bI(?:'d| would)? (?:(?:really|always|generally|usually|strongly|definitely|much|also|do"
    r"|personally|typically) ){0,2}"
    r"prefer (?!(?:if|it if|not)\b)"
    r"(?:[^,.;:?!]|\.(?=\d)){3,140}"
    r"|\b[Ii]ch (?:bevorzuge (?:[^,.;:?!]|\.(?=\d)){3,100}|ziehe (?:[^,.;:?!]"
    r"|\.(?=\d)){3,100}? vor\b)"
)
_FORGETS_ASKING = re.compile(
    r"\A\W*(?:please |ok(?:ay)?,? ){0,2}forget (?:that )?i (?:once |ever )?(?:(?:asked"
    r"|wanted) you\b|told you (?:to|not|never|always)\b)"
    r"|\A\W*(?:bitte )?vergiss(?: bitte)?,? dass ich (?:dich|dir|von dir) [^.!?]{0,80}"
    r"(?:gebeten|gesagt|verlangt|befohlen)\b"
    r"|\A\W*(?:bitte )?vergiss(?: bitte)?,? dass du [^.!?]{2,80} (?:sollst|solltest)\b"
    r"|(?:って|と)(?:頼んだ|言った|お願いした)(?:こと|の)(?:は|を)(?:もう)?忘れて",
    re.IGNORECASE,
)
"""A sentence that takes back what was once asked of the assistant."""
_STANDING = re.compile(
    r"\b(?:all|every|alle|sämtliche|any)\b[^.!?]{0,20}"
    r"\b(?:standing|permanent|dauerhafte[rn]?|ständige[rn]?|stehenden?)"
    r" (?:instructions?|wishes|rules|orders|anweisung\w{0,2}|wünsche|regeln)\W*\Z"
    r"|(?:常設|永続)の(?:指示|ルール)(?:を|は)(?:すべて|全部|全て)(?:消|削除|忘れ)",
    re.IGNORECASE,
)
"""The speaker's standing instructions, all of them."""
_ALLOWS = re.compile(
    r"(?:\A|[,;] (?:so |and )?|\bso |[,;] (?:also |und )?)(?P<what>\w{2,20}ing\b[^,;.!?]{0,60} is"
    r" (?:(?:totally|perfectly|always) )?(?:fine|ok|okay|allowed|alright)"
    r" (?:again|now|from now on|these days)"
    r"|[^,;.!?]{2,60}\w{2,20}en ist (?:jetzt|ab jetzt|ab sofort|wieder|inzwischen)"
    r" (?:okay|ok|in ordnung|erlaubt))\W*\Z",
    re.IGNORECASE,
)
"""The end of a prohibition, in passing: "…, so pushing to main is fine from now on"."""
_RETURNS = re.compile(
    r"(?:(?:ok|okay|so|nope|sorry),? |(?:we|i)(?:'re| are|'m| am|'ve| have)? ){0,2}"
    r"(?:revert(?:ing|ed)(?: this| it)?,?(?: back)?|(?:switch(?:ing|ed)|roll(?:ing|ed)"
    r"|chang(?:ing|ed))(?: this| it)?,? back) to (?P<what>[^,;.!?]{2,40}?)"
    r"(?: (?:again|now|then))?\W*\Z"
    r"|(?:(?:ok|okay|also),? )?(?:(?:wir|ich) (?:wechseln|wechsle|stellen|stelle|gehen|gehe)"
    r"(?: das| es)? |rolle zurück, )(?:wieder )?zurück (?:zu|auf) (?P<zurueck>[^,;.!?]{2,40}?)"
    r"\W*\Z"
    r"|(?P<modosu>[^、。]{2,20})に戻(?:します|しました|した|そう)[。！]?\Z",
    re.IGNORECASE,
)
"""The end of what took the place of another thing, in passing: "Reverting, back to pnpm"."""
_GOES_ON = re.compile(
    r"\s(?:so|but|and (?:I|can|could|it|that|want|also)|can you|could you|how|which|what|aber"
    r"|und ich|kannst du)\b"
)
"""The beginning of another subject after a preference."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A wish.

    Attributes:
        kind: Of wish.
        message: The number of its message.
        text: The sentence as it was said; of a preference the clause, of two instructions each.
        start: Its place in the message.
        end: The end of it in the message.
        about: The topic to forget; "" for the statement just before, and for all memories.
        instructs: Whether a withdrawal that lifts no instruction is an instruction by itself,
            as "stop using emojis" is.
        surety: How sure it is that a request to forget, or an end, is meant. What is perhaps an end
            ends only an instruction with which it shares a telling word.
        extent: How much a request to forget, or a withdrawal, is about.

    """

    kind: Kind
    message: int
    text: str
    start: int
    end: int
    about: str = ""
    instructs: bool = False
    surety: Surety = "sure"
    extent: Extent = "single"


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
    first = next((each.text for each in sentences(own_words(content))), "")
    return len(first.split()) <= MAX_SECOND_THOUGHT and may_take_back(read(_plain(first)))


def _asked_back(wish: Wish) -> Wish:
    if wish.kind != "forget":
        return wish
    return replace(wish, surety=_ASKED_BACK.get(wish.surety, wish.surety))


def may_instruct(sentence: str) -> bool:
    """Whether a sentence has any chance to be an instruction, or the end of one.

    Nearly all instructions have it, and a quarter of the sentences that only sound like one.
    """
    chances = likely(features(read(sentence), None))
    return chances.instruct + chances.lift >= MAY_INSTRUCT


@keep_texts(256)
def _wishes_in(content: str) -> tuple[Wish, ...]:
    """The wishes in a message, whose number is given as 0.

    They are kept, since the facts of a message are checked against them, too.
    """
    split = [
        (sentence, " ".join(sentence.text.split()))
        for sentence in spoken_sentences(own_words(content), corrections=False)
    ]
    whole = " ".join(text for _, text in split)
    if len(whole) <= MAX_SENTENCE and points_at_last(read(_plain(whole))):
        return (Wish("forget", 0, whole, 0, len(content)),)
    readings = [
        (sentence, text, read(_plain(text)))
        for sentence, text in split
        if len(text) <= MAX_SENTENCE
    ]
    wishes: list[Wish] = []
    begun = {sentence.start for sentence in sentences(own_words(content))}
    for each in _wishes_in_order(readings, whole=len(readings) == len(split)):
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


def _wishes_in_order(
    readings: Sequence[tuple[Sentence, str, MarkedSentence]], *, whole: bool
) -> list[Wish]:
    """The wishes of a message's sentences.

    whole: whether these are all of its sentences. A request to forget is asked back if another
    sentence may speak of it.
    """
    by_sentence: list[Wish | None] = []
    for place, (sentence, text, reading) in enumerate(readings):
        before = readings[place - 1][2] if place else None
        wish = (
            _to_forget("", "sure")
            if not place and points_at_last(reading)
            else _wish(text, reading, before)
        )
        by_sentence.append(
            wish and replace(wish, text=wish.text or text, start=sentence.start, end=sentence.end)
        )
    wishes: list[Wish] = []
    for place, wish in enumerate(by_sentence):
        if wish is None:
            continue
        if wish.kind == "instruction":
            wishes += (
                replace(wish, text=part) for part in separate_orders(wish.text, _is_instruction)
            )
        elif (
            wish.kind == "forget"
            and wish.surety in _ASKED_BACK
            and not (
                whole
                and all(
                    number == place
                    or _forgets_too(other)
                    or tells_of_else(readings[number][2], after=number > place)
                    for number, other in enumerate(by_sentence)
                )
            )
        ):
            wishes.append(_asked_back(wish))
        else:
            wishes.append(wish)
    return wishes


def _forgets_too(wish: Wish | None) -> bool:
    return wish is not None and wish.kind == "forget" and wish.surety != "perhaps"


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


def _wish(text: str, reading: MarkedSentence, before: MarkedSentence | None) -> Wish | None:
    """The wish of a sentence; its place is given as 0."""
    if _lifts_all(reading):
        return Wish("withdrawal", 0, text, 0, 0, extent="all_instructions")
    if asks_for_all(reading):
        return Wish("forget", 0, text, 0, 0, surety="asks", extent="all_memories")
    chances = likely(features(reading, before))
    if _FORGETS_ASKING.search(reading.text) is not None:
        return Wish("withdrawal", 0, text, 0, 0)
    if (request := _request(reading, before, chances.forget)) is not None:
        return replace(request, text=text)
    if (work := rule_of_work(reading)) is not None:
        return Wish("instruction", 0, text[work:], 0, 0)
    if asks_for_each_time(reading) or leaves_out(reading) or wants_value_again(reading):
        return Wish("instruction", 0, text, 0, 0)
    if _wants(reading, chances):
        stops = stops_something(reading)
        lifts = (
            stops
            or _forgets(reading)
            or (chances.lift > chances.instruct and not _wants_always_again(reading))
        )
        if lifts and _is_at_hand(reading):
            return None
        kind: Kind = "withdrawal" if lifts else "instruction"
        return Wish(kind, 0, text, 0, 0, instructs=stops)
    match = _PREFERS.search(_plain(text))
    if match is not None:
        preference = _GOES_ON.split(match.group(), maxsplit=1)[0].strip()
        return Wish("instruction", 0, preference, 0, 0)
    about = topic_of(reading) if chances.forget >= PERHAPS else ""
    if about and not is_no_request(reading):
        return Wish("forget", 0, text, 0, 0, about, surety="perhaps")
    if (allowed := _ALLOWS.search(_plain(text))) is not None and not reading.asks:
        return Wish("withdrawal", 0, allowed["what"], 0, 0, surety="perhaps")
    if (returns := _RETURNS.match(_plain(text))) is not None and not reading.asks:
        thing = returns[returns.lastgroup or 0]
        return Wish("withdrawal", 0, thing, 0, 0, surety="perhaps", extent="instead")
    at_hand = _is_at_hand(reading) or "THING" in reading.kind_set
    if chances.lift >= LIFTS_PERHAPS and not at_hand and not is_no_instruction(reading):
        return Wish("withdrawal", 0, text, 0, 0, surety="perhaps")
    return None


def _is_at_hand(reading: MarkedSentence) -> bool:
    """Whether a sentence is about a text at hand.

    For example "turn this text back into German".
    """
    manner = {mark.start for mark in reading.marks if mark.kind == "MANNER"}
    return "STAND" not in reading.kind_set and any(
        mark.kind in ("ONEOFF", "HERE") and mark.start not in manner for mark in reading.marks
    )


def _is_instruction(reading: MarkedSentence) -> bool:
    """Whether a part of a sentence is an instruction by itself."""
    chances = likely(features(reading, None))
    return _wants(reading, chances) and chances.instruct > chances.lift


def _wants(reading: MarkedSentence, chances: Likely) -> bool:
    return (
        chances.instruct + chances.lift >= INSTRUCTS
        and not is_no_instruction(reading)
        and not _is_about_life(reading)
    )


def _request(reading: MarkedSentence, before: MarkedSentence | None, chance: float) -> Wish | None:
    """The topic of a request to forget, and how sure the request is.

    None where a sentence only points, and no sign says that a statement is meant.
    """
    surety: Surety = "asks"
    if (plain := plain_request(reading)) is not None:
        reading, surety = plain.reading, "sure"
        chance = max(chance, likely(features(reading, before)).forget)
        if plain.about and (chance >= ASKS or fact_named(reading)):
            return _to_forget(plain.about, surety, _extent_of(reading))
        if plain.about and plain.polite and "FORGET" in reading.kind_set:
            return _to_forget(plain.about, "known")
    if chance < ASKS or is_no_request(reading):
        return None
    about = topic_of(reading)
    if about:
        return _to_forget(about, surety, _extent_of(reading))
    if (
        before is not None
        and "THING" in before.kind_set
        and not before.kind_set & {"YOU", "KNOW", "REGRET", "MEMORY"}
        and _only_points(reading)
    ):
        return None
    points_at_memory = reading.kind_set & {"MEMORY", "KEEP", "DONT_KEEP"}
    if before is not None and (
        points_at_memory
        or before.kind_set & {"TOLD", "REGRET", "KNOW", "MEMORY", "ABOUT_JA", "KEEP"}
    ):
        about = topic_of(before)
        if about:
            return _to_forget(about, surety, _extent_of(before))
    if (
        before is not None
        and before.kind_set & {"MY", "PERSONAL"}
        and "THING" not in before.kind_set
    ):
        return _to_forget(topic_of(before), "asks")
    if reading.kind_set & {"LAST", "TOLD", "MEMORY", "KEEP", "DONT_KEEP", "ABOUT_JA", "REGRET"}:
        return _to_forget("", surety if "LAST" in reading.kind_set else "asks")
    return None


def _to_forget(about: str, surety: Surety, extent: Extent = "single") -> Wish:
    return Wish("forget", 0, "", 0, 0, about, surety=surety, extent=extent)


def _extent_of(request: MarkedSentence) -> Extent:
    return "topic" if names_all(request) else "single"


def _is_about_life(reading: MarkedSentence) -> bool:
    """Whether a sentence tells or asks about life, without a wish to the assistant.

    For example "I don't like olives anymore".
    """
    if reading.japanese:
        wants = bool(reading.signs & {"jask", "jforbid"})
        return not wants and (
            _JA_QUESTION.search(reading.text) is not None
            or ("STOP" in reading.kind_set and "MENTION" not in reading.kind_set)
        )
    if "imp" in reading.signs or stops_something(reading):
        return False
    acts = any(sign.startswith(("do0:", "no0:", "st0:")) for sign in reading.signs)
    wanted = reading.kind_set & _OF_ANSWERS
    if wanted <= _PERSONAL_ALONE and _WANTS_NO.match(reading.text) is not None:
        return True
    return not wanted or (
        wanted <= _OF_PEOPLE_TOO and not acts and _STATES.match(reading.text) is not None
    )


def _only_points(reading: MarkedSentence) -> bool:
    """Whether a sentence names neither a statement nor a place where it is kept."""
    return not reading.kind_set & {"TOLD", "MEMORY", "KNOW", "KEEP", "DONT_KEEP", "LAST"}


_NO_MORE = re.compile(
    r"(?:(?:ok(?:ay)?|and|but|please|bitte|also),? ){0,2}(?:no more (?!than\b)[^.!?]{2,60}"
    r"|keine?n? [^.!?]{2,60} mehr\b(?! als\b))",
    re.IGNORECASE,
)


def stops_something(reading: MarkedSentence) -> bool:
    """Whether a sentence ends an instruction or a habit of the assistant: "stop", "no more"."""
    stops = _first(reading) == "STOP" or _NO_MORE.match(reading.text.strip()) is not None
    return stops and not reading.kind_set & {"AGAIN", "AGAIN_OK"}


def _forgets(reading: MarkedSentence) -> bool:
    """Whether a sentence asks to forget a wish: "forget that I want brief answers"."""
    if _FORGETS_ASKING.search(reading.text) is not None:
        return True
    return _first(reading) in ("FORGET", "VERGESSEN") and "STAND" not in reading.kind_set


def _wants_always_again(reading: MarkedSentence) -> bool:
    """Whether a sentence says what is always wanted, once more: "always answer briefly again"."""
    texts = {mark.text for mark in reading.marks}
    back = {mark.text for mark in reading.marks if mark.kind == "AGAIN"}
    return (
        not texts.isdisjoint(_ALWAYS)
        and back <= ONCE_MORE
        and not reading.kind_set & {"AGAIN_OK", "NO_NEED", "NOT", "STOP"}
    )


def _lifts_all(reading: MarkedSentence) -> bool:
    """Whether a sentence ends all instructions of the speaker: "forget all my instructions"."""
    kinds = reading.kind_set
    if _STANDING.search(reading.text) is not None:
        return not kinds.isdisjoint(FORGETTING)
    rest = {mark.kind for mark in reading.marks if mark.text not in _NAMES_NO_MATTER}
    return (
        {"MY", "RULE"} <= kinds
        and not reading.text.rstrip().endswith(("?", "？"))
        and not kinds.isdisjoint(FORGETTING)
        and ("ALL" in kinds or any(mark.text in _ALL_OF_THEM for mark in reading.marks))
        and rest <= FORGETTING | {"MY", "RULE", "ALL", "PLEASE", "LEAD", "FUNC", ","}
    )


def _first(reading: MarkedSentence) -> str:
    """The kind of the first word that is not only an opening."""
    return next((kind for kind in reading.kinds if kind not in ("LEAD", ",", "PLEASE", "FUNC")), "")


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


def _plain(text: str) -> str:
    return spelled_out(text.replace("’", "'").strip())


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
