"""What was said again in several episodes, by rule.

These are habits, preferences, and the places and persons that come up again and again.
Extractive: a pattern is a sentence that was said, put in the third person, whose words are in at least one more episode; or it
names a place or a person. Note: what fills a slot (a home, a job, a diet) is no pattern here however often it is said,
because a fact can be replaced by the next one, and a pattern stays; nor is what passes by itself, like a cold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from memory_core.adapters.offline.clauses import third_person, without_fillers
from memory_core.adapters.offline.facts import MAX_NAME
from memory_core.adapters.offline.names import CITIES, COUNTRIES, NOWHERE
from memory_core.adapters.offline.running_rules import checkpoint, fitted
from memory_core.adapters.offline.summary import content_terms
from memory_core.domain.agent_schemas import FoundPattern, FoundPatterns
from memory_core.domain.statements.provenance import own_words
from memory_core.domain.text.analyzer import words
from memory_core.domain.text.excerpts import beginning
from memory_core.domain.text.polarity import NEGATIONS
from memory_core.domain.text.sameness import differences
from memory_core.domain.text.sentences import sentences
from memory_core.domain.text.spelling import ANY_WEEKDAY, WEEKDAYS, numbers_in
from memory_core.ports import DecisionItem

MOST = 20
FEWEST_WITH_A_CUE, FEWEST = 2, 3
"""Episodes that make a pattern: with a stated habit or liking, and without."""
LEAST_SHARED = 0.75
"""Of a sentence's telling words that another one needs to say the same."""
LONGEST_WORDS = 30
_USER = "User"
_NO_PERSON = frozenset({"assistant", "system", "tool", "ai", "bot"})
_QUOTED_SPEAKER = re.compile(r"^(?P<who>[^\W\d_][\w'’.-]*(?: [A-ZÀ-Þ][\w'’.-]*)?) (?:said|asked): ")
_HABIT = re.compile(
    r"\b(?:always|never|usually|often|regularly|normally|mostly|typically|every(?: single| other)? \w+|each \w+|daily|weekly"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun|week)days\b"
    r"|in the (?:mornings?|evenings?)|before (?:bed|work)|after work|tend to|as (?:usual|always)|(?:once|twice|three times) an? \w+)\b",
    re.IGNORECASE,
)
_LIKING = re.compile(
    r"\b(?:love|loves|adore|adores|like|likes|enjoy|enjoys|prefer|prefers|favou?rite|hate|hates|dislike|dislikes|can(?:'t| ?not) stand)\b",
    re.IGNORECASE,
)
_OF_A_SLOT = re.compile(
    r"\b(?:lives?|lived|living|moved?|moving|home|works? (?:as|at|for|in)|worked|working|jobs?|hired|employ\w*|name"
    r"|(?:is|am|are|was) called|born|years old|married|engaged|divorced|single|vegan|vegetarian|diet|keto|allerg\w+|address|phone|email"
    r"|birthday|no longer|used to|any ?more)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:a cold|flu|fever|headache|sick|ill|sore|cough\w*|injur\w+|sprain\w*|tomorrow|tonight|next \w+|until|appointment|trips?|flights?"
    r"|holidays?|vacation|deadline|going to|gonna|will|would|could|might|maybe|perhaps|if)\b|'ll\b|'d\b",
    re.IGNORECASE,
)
_ONE_TIME = re.compile(
    r"(?:,? (?:once )?again\b|,? as (?:usual|always)\b|,? (?:today|yesterday|earlier|just now)\b"
    r"|,? (?:this|last|on|yesterday) (?:morning|afternoon|evening|night|week(?:end)?"
    rf"|{ANY_WEEKDAY})(?: (?:morning|afternoon|evening|night))?\b)",
    re.IGNORECASE,
)
_ABOUT_ANOTHER = frozenset({"order", "opposites"})
"""Tea over coffee is not coffee over tea."""
_NAME = re.compile(r"(?<=[\w,] )[A-ZÀ-Þ][\w'’-]*[^\W_](?: [A-ZÀ-Þ][\w'’-]*[^\W_])?")
_BESIDE_A_PERSON = re.compile(
    r"(?:with|met|meet|meeting|visit(?:ed|ing)?|called?|saw|see|asked|friend|sister|brother|mother|father|son|daughter|wife|husband|partner"
    r"|colleague|boss|neighbou?r|cousin|aunt|uncle|and) $",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(rf"\b({ANY_WEEKDAY})s?\b", re.IGNORECASE)
_WEEKDAYS_SAID = frozenset(content_terms(" ".join(f"{day}s" for day in WEEKDAYS)))
"""Left out as "on Monday" is by itself; each is put back as its day, so that "on Tuesdays" says the same as "every Tuesday"."""
Kind = Literal["preference", "habit"]


@dataclass(frozen=True, slots=True)
class _Statement:
    """One sentence: of which episode, who said it, its words as told of him, and the terms that it is about."""

    number: int
    who: str
    plain: str
    told: str
    terms: frozenset[str]
    turned: bool
    numbers: frozenset[str]
    kind: Kind
    certain: bool


_Told = tuple[DecisionItem, list[tuple[str, str]]]
"""An episode with what persons state in it: (who, sentence)."""


def found_patterns(episodes: Sequence[DecisionItem]) -> FoundPatterns:
    """What repeats in them, the most often said first; the same for the same episodes."""
    said = [(episode, [*_said(episode)]) for episode in episodes]
    found = [*_repeated(said), *_named(said)]
    return FoundPatterns(patterns=sorted(found, key=lambda one: (-len(one.sources), one.summary))[:MOST])


def _repeated(said: Sequence[_Told]) -> Iterator[FoundPattern]:
    """Sentences that were said again. The shortest that was said first is the one whose words the others have."""
    groups: list[list[_Statement]] = []
    for one in sorted(_statements(said), key=lambda one: len(one.terms)):
        group = next((group for group in groups if _repeats(one, group[0])), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    for group in groups:
        numbers = list(dict.fromkeys(sorted(one.number for one in group)))
        certain = any(one.certain for one in group)
        if len(numbers) < (FEWEST_WITH_A_CUE if certain else FEWEST):
            continue
        first = group[0]
        yield _pattern(first.told if first.certain else f"{first.told} again and again", first.kind, numbers)


def _repeats(one: _Statement, first: _Statement) -> bool:
    shared = len(one.terms & first.terms)
    if (one.who, one.turned, one.numbers, one.kind) != (first.who, first.turned, first.numbers, first.kind):
        return False
    if one.kind == "preference" and not _ABOUT_ANOTHER.isdisjoint(differences(one.plain, first.plain)):
        return False
    if len(first.terms) == 1:  # one word alone is said in many ways
        return one.terms == first.terms and one.certain and first.certain
    return shared >= 2 and shared >= LEAST_SHARED * len(first.terms)


def _statements(said: Sequence[_Told]) -> Iterator[_Statement]:
    for episode, sentences_of_it in said:
        for who, text in sentences_of_it:
            plain = _ONE_TIME.sub("", without_fillers(text)).strip().rstrip(" .!…")
            if not 3 <= len(plain.split()) <= LONGEST_WORDS or _OF_A_SLOT.search(plain) or _PASSING.search(plain):
                continue
            told = _told(plain, who)
            if told is None:  # most sentences: their terms are not worth a millisecond
                continue
            terms = frozenset(content_terms(plain)) - _WEEKDAYS_SAID
            terms |= {day.casefold() for day in _WEEKDAY.findall(plain)}
            if terms:
                likes = _LIKING.search(plain) is not None
                yield _Statement(
                    number=episode.number,
                    who=who,
                    plain=plain,
                    told=told,
                    terms=terms,
                    turned=any(word in NEGATIONS for word in words(plain.replace("n't", " not"))),
                    numbers=frozenset(numbers_in(plain)),
                    kind="preference" if likes else "habit",
                    certain=likes or _HABIT.search(text) is not None,
                )


def _told(plain: str, who: str) -> str | None:
    """The sentence in the third person; None for one that is not about who said it."""
    told = third_person(plain, who)
    if told is None and plain.startswith((f"{who} ", f"{who}'s ")):
        told = plain
    return told


def _said(episode: DecisionItem) -> Iterator[tuple[str, str]]:
    """(who, sentence) of what persons state in an episode. A story says itself whom it quotes."""
    by = beginning(" ".join((episode.actor or "").split()), MAX_NAME)
    if by.casefold() in _NO_PERSON:
        return
    who = teller = by if by and by.casefold() != "user" else _USER
    for sentence in sentences(own_words(episode.text)):
        checkpoint()
        text = " ".join(sentence.text.split())
        quoted = _QUOTED_SPEAKER.match(text)
        if quoted is not None:
            teller = quoted["who"]
            text = text[quoted.end() :]
        elif text.startswith(f"{who} "):
            teller = who
        if not sentence.asks and teller.casefold() not in _NO_PERSON:
            yield teller, text


def _named(said: Sequence[_Told]) -> Iterator[FoundPattern]:
    """Places that are known as such, and persons who are spoken of as such, in at least `FEWEST` episodes."""
    found: dict[tuple[str, str], list[int]] = {}
    kinds: dict[tuple[str, str], Literal["place", "person"]] = {}
    for episode, sentences_of_it in said:
        for who, text in sentences_of_it:
            if _OF_A_SLOT.search(text) or _PASSING.search(text):
                continue
            for match in _NAME.finditer(text):
                name = match.group().removesuffix("'s").removesuffix("’s")
                known = name.casefold() in CITIES or name.casefold() in COUNTRIES
                key = (who, name)
                if name.split()[0].casefold() in NOWHERE | {"user", "assistant", who.casefold()}:
                    continue
                found.setdefault(key, []).append(episode.number)
                if known or _BESIDE_A_PERSON.search(text[: match.start()]):
                    kinds.setdefault(key, "place" if known else "person")
    for key, numbers in found.items():
        distinct = list(dict.fromkeys(numbers))
        if key in kinds and len(distinct) >= FEWEST:
            yield _pattern(f"{key[0]} often speaks of {key[1]}", kinds[key], distinct)


def _pattern(summary: str, kind: Literal["preference", "habit", "place", "person"], numbers: Sequence[int]) -> FoundPattern:
    """Surer, and more important, the more often it was said; a liking counts a little more."""
    more = min(len(numbers), 6) - FEWEST_WITH_A_CUE
    return fitted(
        FoundPattern,
        summary=summary,
        pattern=kind,
        importance_score=round(0.55 + 0.05 * more + (0.1 if kind == "preference" else 0.0), 2),
        confidence=round(0.6 + 0.05 * more, 2),
        sources=list(numbers)[:40],
    )
