"""The clauses of a sentence: their telling terms, and the terms that are over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_core.domain.statements.change_phrases import (
    ALTERED,
    ANY_MORE,
    DENIED,
    ENDS_IN_GERMAN,
    ENDS_IN_JAPANESE,
    ENDS_OF_OBJECT,
    ENDS_OF_SUBJECT,
    EVENTS,
    LEFT,
    OF_OTHERS,
    ONLY_WITH_ANY_MORE,
    SPLIT_END,
)
from memory_core.domain.statements.change_topics import ALIKE, WEAK, WEAK_IN_JAPANESE
from memory_core.domain.statements.denied_states import (
    HALTS,
    NOT_OF_SPEAKER,
    TIMES_LAST,
    denies_since,
)
from memory_core.domain.text.analyzer import has_japanese, terms_of, words

NEAREST = 5
"""Words beside a verb of ending that may name the thing that is over."""
LEAST_COMPOUND = 4
"""Letters of a word with which a compound of the same matter may begin: Chor, Chorprobe."""
_NAME_IN_JAPANESE = re.compile(r"(?:^|[、。「はのが])([ぁ-んー]{2,5}?)(?=が|は|も|を|、)")
_THING_IN_JAPANESE = re.compile(
    r"(?:(?<=[匹羽頭])|(?<![一-龯]))[猫犬車薬傘鍵膝腕庭歯](?![一-龯])"
    r"|(?<![一-龯\d])(?![私僕俺妻夫父母兄姉弟妹娘孫人方事時日月年週朝昼夜晩今前後次])[一-龯](?=[はがをに])"
)
_PARTICLES_IN_JAPANESE = frozenset("はがをにでとのもへや")
"""Signs between words: a pair of signs with one of these is no part of a word."""
_PREPOSITION = re.compile(
    r"(?<=\w)\s(?:of|in|on|at|around|near|under|behind|from|for|with|beside|to|between|inside"
    r"|outside)\s",
    re.IGNORECASE,
)
_UNTIL_PREPOSITION = re.compile(
    r"(?<=\w)\s(?:in|on|to|for|with|because|after|since|as)\s", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ChangeClause:
    """A part of a sentence.

    Attributes:
        text: As written.
        words: Case-folded, in order.
        terms: The telling terms.
        asks: Whether it asks or requests.

    """

    text: str
    words: tuple[str, ...]
    terms: frozenset[str]
    asks: bool


def clause_of(text: str, language: str, *, asks: bool) -> ChangeClause:
    """Read a part of a sentence.

    Args:
        text: The part.
        language: The language by which its words are stemmed.
        asks: Whether it asks or requests.

    """
    tokens = tuple(words(text))
    return ChangeClause(
        text,
        tokens,
        telling(tokens, language)
        | frozenset((*_NAME_IN_JAPANESE.findall(text), *_THING_IN_JAPANESE.findall(text))),
        asks,
    )


def telling(tokens: Iterable[str], language: str) -> frozenset[str]:
    """The terms of words by which two messages may be about the same thing.

    Args:
        tokens: The words, case-folded.
        language: The language by which they are stemmed.

    """
    terms: set[str] = set()
    for word in tokens:
        if has_japanese(word):
            if (
                word not in WEAK_IN_JAPANESE
                and not all("\u3041" <= sign <= "\u309f" for sign in word)
                and len(word) > 1
                and _PARTICLES_IN_JAPANESE.isdisjoint((word[0], word[-1]))
            ):
                terms.add(word)
        elif word not in WEAK and not word[0].isdigit():
            terms.update(term for term in terms_of([word], language) if term not in WEAK)
    return frozenset(terms)


def keys_of(terms: frozenset[str]) -> frozenset[str]:
    """The terms, their beginnings, and the numbers of their matters.

    Two sets of terms without a key in common share no term.
    """
    begun = (
        f"{term[:LEAST_COMPOUND]}…"
        for term in terms
        if len(term) >= LEAST_COMPOUND and term[:LEAST_COMPOUND].isalpha()
    )
    alike = (f"{ALIKE[term]}…" for term in terms if term in ALIKE)
    return frozenset([*terms, *begun, *alike])


def ended_terms(clause: ChangeClause, language: str) -> frozenset[str]:
    """The terms of a clause that it says are over.

    Args:
        clause: The clause.
        language: The language of the sentence.

    """
    text = clause.text
    if has_japanese(text):
        return clause.terms if ENDS_IN_JAPANESE.search(text) else frozenset()
    if language == "german":
        return _ended_in_german(clause)
    if OF_OTHERS.search(text):
        return frozenset()
    ended: set[str] = set()
    stops = HALTS.search(text) is None
    for match in ENDS_OF_OBJECT.finditer(text):
        if not stops and _STOPS.match(match.group()) is not None:
            continue
        if match.group().casefold() in ONLY_WITH_ANY_MORE and _does_end(match, text):
            of_speaker = NOT_OF_SPEAKER.search(text) is not None
            ended |= (of_speaker and _object(text[match.end() :], language)) or clause.terms
        elif ALTERED.search(match.group()) is not None and _does_end(match, text):
            phrase = words(_head(_UNTIL_PREPOSITION.split(text[match.end() :])[0]))
            ended |= telling(phrase[-1:], language)
        elif _does_end(match, text):
            rest = text[match.end() :]
            denies = _NO_LONGER.match(match.group()) or _DOING.match(rest)
            after = TIMES_LAST.sub("", rest) if denies else _UNTIL_PREPOSITION.split(rest)[0]
            ended |= (denies and _object(rest, language)) or telling(
                words(after)[:NEAREST], language
            )
    for match in SPLIT_END.finditer(text):
        if DENIED.search(text, 0, match.start()) is None:
            ended |= telling(words(_head(match[match.lastgroup or 0])), language)
    for match in ENDS_OF_SUBJECT.finditer(text):
        before, verb = words(text[: match.start()]), match.group().casefold()
        if verb in _OFF and not (before and before[-1] in EVENTS):
            continue
        if not stops and _STOPS.match(verb) is not None:
            continue
        if DENIED.search(text, 0, match.start()) is None:
            ended |= _subject(before, language)
            if match.group().casefold().endswith("up"):  # both sides of it name whom it ends for
                ended |= clause.terms
    for match in _RELATION_OVER.finditer(text):
        if DENIED.search(text, 0, match.start("over")) is None:
            ended |= telling(words(match["party"]), language)
    return frozenset(ended)


def _object(denied: str, language: str) -> frozenset[str]:
    """The terms of the object in the words of what a person no longer does.

    Spanish of "learn Spanish in Bonn", and none of "work at Otto".
    """
    return telling(words(_BEFORE_PLACE.split(TIMES_LAST.sub("", denied))[0])[1:NEAREST], language)


_NO_LONGER = re.compile(r"no longer\Z", re.IGNORECASE)
_BEFORE_PLACE = re.compile(
    r"(?<=\w)\s(?:in|on|at|to|for|with|from|by|because|after|since|as)\s", re.IGNORECASE
)
_STOPS = re.compile(
    r"(?:has |have )?(?:stopped|quit|ended)\b|ha(?:ve|s)(?:n't| not) |aufgehört|.{0,90} endeten?",
    re.IGNORECASE,
)
"""Verbs of an end that may be one of a day, with a time of day."""
_DOING = re.compile(r" [a-z]{3,20}ing\b")
_RELATION_OVER = re.compile(
    r"\b(?:my|our|user's) (?:\w{2,20} ){0,2}(?:contract|job|employment|position|role|internship"
    r"|apprenticeship|lease|tenancy|membership|subscription|account|plan|marriage|engagement"
    r"|relationship|treatment|prescription)"
    r" (?:with|at|of|to|on|for|in|from) (?P<party>[^,;.!?]{2,40}?)"
    r" (?:has |have |was |is |got |just |finally |now ){0,3}(?P<over>ended|expired|lapsed|ran out"
    r"|run out|over|terminated|cancell?ed|came to an end|dissolved|annulled)\b",
    re.IGNORECASE,
)
"""The end of what ties a person to someone or something, which itself is over for them then."""


def _ended_in_german(clause: ChangeClause) -> frozenset[str]:
    """The terms that a German clause says are over; of "kein Bier mehr" those between."""
    stops = HALTS.search(clause.text) is None
    ends = (match.group() for match in ENDS_IN_GERMAN.finditer(clause.text))
    matches = [words for words in ends if stops or _STOPS.match(words) is None]
    denied = [match for match in matches if _NO_MORE_IN_GERMAN.match(match) is not None]
    if not matches or len(denied) < len(matches):
        return clause.terms if matches else frozenset()
    terms = telling((word for text in denied for word in words(text)[1:-1]), "german")
    return terms or clause.terms


_NO_MORE_IN_GERMAN = re.compile(r"kein", re.IGNORECASE)
_OFF = frozenset({"is off", "are off", "'s off", "is all off"})
"""Words for an end that are said of events only."""


def _does_end(match: re.Match[str], text: str) -> bool:
    verb = match.group().casefold()
    if verb in ONLY_WITH_ANY_MORE:
        return ANY_MORE.search(text) is not None or denies_since(text)
    if verb == "left" and LEFT.match(text, match.end()) is None:
        return False
    return DENIED.search(text, 0, match.start()) is None


def _head(phrase: str) -> str:
    """The phrase without the part after a preposition.

    Of "the fence around the house" it is "the fence".
    """
    return _PREPOSITION.split(phrase, maxsplit=1)[0]


def _subject(before: Sequence[str], language: str) -> frozenset[str]:
    head = tuple(_head(" ".join(before[-NEAREST:])).split())
    return telling(head, language)
