"""The wish of a sentence: an instruction, its end, or to forget something.

A sentence is read with the one before it. A linear model says how likely it is a wish
(`linear_models`); rules say what can't be one (`wish_rules`). The topic of a request to forget is
in `forget_topics`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from memory_core.domain.statements.exclusive_instructions import ONCE_MORE, wants_value_again
from memory_core.domain.statements.forget_topics import names_all, topic_of
from memory_core.domain.statements.joined_orders import leaves_out
from memory_core.domain.statements.linear_models import Likely, likely
from memory_core.domain.statements.reported_speech import orders_others
from memory_core.domain.statements.wide_requests import asks_for_all
from memory_core.domain.statements.wish_forms import fact_named, plain_request
from memory_core.domain.statements.wish_rules import (
    asks_for_each_time,
    is_no_instruction,
    is_no_request,
)
from memory_core.domain.statements.wish_signs import ACTS, MarkedSentence, features, read
from memory_core.domain.statements.work_rules import rule_of_work
from memory_core.domain.text.spelled_out import spelled_out

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
_ENDS = frozenset(
    {"STOP", "DROP", "DELETE", "GONE", "FORGET", "VERGESSEN", "NO_NEED", "LIMITS", "NOT", "STAND"}
    | {"AGAIN", "AGAIN_OK", "YOU", "PLEASE"}
)
"""Kinds of words of which an end has a word: "this example explains the rule" is none."""
MAY_INSTRUCT = 0.008
"""Least probability of what a model takes for an instruction."""
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


def may_instruct(sentence: str) -> bool:
    """Whether a sentence has any chance to be an instruction, or the end of one.

    Nearly all instructions have it, and a quarter of the sentences that only sound like one.
    """
    chances = likely(features(read(sentence), None))
    return chances.instruct + chances.lift >= MAY_INSTRUCT


def wish_of_sentence(
    text: str, reading: MarkedSentence, before: MarkedSentence | None
) -> Wish | None:
    """The wish of a sentence; its place is given as 0.

    Args:
        text: The sentence as it was said.
        reading: The same, read.
        before: The sentence before it in its message.

    """
    if _lifts_all(reading):
        return Wish("withdrawal", 0, text, 0, 0, extent="all_instructions")
    if asks_for_all(reading):
        return Wish("forget", 0, text, 0, 0, surety="asks", extent="all_memories")
    chances = likely(features(reading, before))
    if _FORGETS_ASKING.search(reading.text) is not None:
        return Wish("withdrawal", 0, text, 0, 0)
    if (request := _request(reading, before, chances.forget)) is not None:
        return replace(request, text=text)
    is_for_others = orders_others(reading.text)
    if not is_for_others and (work := rule_of_work(reading)) is not None:
        return Wish("instruction", 0, text[work:], 0, 0)
    if not is_for_others and (
        asks_for_each_time(reading) or leaves_out(reading) or wants_value_again(reading)
    ):
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
    if (preference := preference_in(text)) is not None:
        return Wish("instruction", 0, preference, 0, 0)
    about = topic_of(reading) if chances.forget >= PERHAPS else ""
    if about and not is_no_request(reading):
        return Wish("forget", 0, text, 0, 0, about, surety="perhaps")
    if (allowed := _ALLOWS.search(plain_text(text))) is not None and not reading.asks:
        return Wish("withdrawal", 0, allowed["what"], 0, 0, surety="perhaps")
    if (returns := _RETURNS.match(plain_text(text))) is not None and not reading.asks:
        thing = returns[returns.lastgroup or 0]
        return Wish("withdrawal", 0, thing, 0, 0, surety="perhaps", extent="instead")
    at_hand = _is_at_hand(reading) or "THING" in reading.kind_set
    may_end = chances.lift >= LIFTS_PERHAPS and not reading.kind_set.isdisjoint(_ENDS)
    if may_end and not at_hand and not is_no_instruction(reading):
        return Wish("withdrawal", 0, text, 0, 0, surety="perhaps")
    return None


def preference_in(text: str) -> str | None:
    """The words of a sentence with which a person says what they prefer."""
    match = _PREFERS.search(plain_text(text))
    return None if match is None else _GOES_ON.split(match.group(), maxsplit=1)[0].strip()


def _is_at_hand(reading: MarkedSentence) -> bool:
    """Whether a sentence is about a text at hand.

    For example "turn this text back into German".
    """
    manner = {mark.start for mark in reading.marks if mark.kind == "MANNER"}
    return "STAND" not in reading.kind_set and any(
        mark.kind in ("ONEOFF", "HERE") and mark.start not in manner for mark in reading.marks
    )


def is_instruction(reading: MarkedSentence) -> bool:
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
            return to_forget(plain.about, surety, _extent_of(reading))
        if plain.about and plain.polite and "FORGET" in reading.kind_set:
            return to_forget(plain.about, "known")
    if chance < ASKS or is_no_request(reading):
        return None
    about = topic_of(reading)
    if about:
        return to_forget(about, surety, _extent_of(reading))
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
            return to_forget(about, surety, _extent_of(before))
    if (
        before is not None
        and before.kind_set & {"MY", "PERSONAL"}
        and "THING" not in before.kind_set
    ):
        return to_forget(topic_of(before), "asks")
    if reading.kind_set & {"LAST", "TOLD", "MEMORY", "KEEP", "DONT_KEEP", "ABOUT_JA", "REGRET"}:
        return to_forget("", surety if "LAST" in reading.kind_set else "asks")
    return None


def to_forget(about: str, surety: Surety, extent: Extent = "single") -> Wish:
    """A request to forget; its text and place are still to be given.

    Args:
        about: Its topic.
        surety: How sure it is.
        extent: How much it is about.

    """
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


def plain_text(text: str) -> str:
    """A sentence as the rules for wishes read it, with its short forms spelled out."""
    plain = spelled_out(text.replace("’", "'").strip())
    return _SCRATCH_THAT.sub("forget that", plain)


_SCRATCH_THAT = re.compile(
    r"\A(?:(?:no|oh|wait|sorry|actually),? ){0,2}(?:scratch|strike) that[.! ]*\Z", re.I
)
