"""Find patterns of several episodes by rule: habits, preferences, and recurring names.

The names are those of places and persons. A pattern is extractive: a sentence of an episode, in the
third person, whose words are in other episodes too. Or it names a place or a person.

Note: a statement that fills a slot (a home, a job, a diet) is no pattern, however often it is said.
The next fact supersedes a fact, but not a pattern. A state that passes by itself, like a cold, is
no pattern either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from memory_core.adapters.offline.clauses import without_fillers
from memory_core.adapters.offline.names import CITIES, COUNTRIES, NOWHERE
from memory_core.adapters.offline.running_rules import checkpoint, fitted
from memory_core.adapters.offline.summary import content_terms
from memory_core.adapters.offline.voice import third_person
from memory_core.domain.agent_schemas import FoundPattern, FoundPatterns
from memory_core.domain.statements.own_words import name_of_actor, own_sentences
from memory_core.domain.text.analyzer import words
from memory_core.domain.text.polarity import NEGATIONS
from memory_core.domain.text.sameness import differences
from memory_core.domain.text.spelling import ANY_WEEKDAY, WEEKDAYS, numbers_in
from memory_core.ports import DecisionItem

MOST = 20
"""Patterns that are found at once."""
FEWEST_WITH_A_CUE, FEWEST = 2, 3
"""Episodes that make a pattern: of a stated habit or liking, and of other statements."""
LEAST_SHARED = 0.75
"""Share of a sentence's terms that another sentence needs to repeat it."""
LONGEST_WORDS = 30
_USER = "User"
_NO_PERSON = frozenset({"assistant", "system", "tool", "ai", "bot"})
_QUOTED_SPEAKER = re.compile(r"^(?P<who>[^\W\d_][\w'’.-]*(?: [A-ZÀ-Þ][\w'’.-]*)?) (?:said|asked): ")
_HABIT = re.compile(
    r"\b(?:always|never|usually|often|regularly|normally|mostly|typically"
    r"|every(?: single| other)? \w+|each \w+|daily|weekly|(?:mon|tues|wednes|thurs|fri|satur|sun"
    r"|week)days\b"
    r"|in the (?:mornings?|evenings?)|before (?:bed|work)|after work|tend to|as (?:usual|always)"
    r"|(?:once|twice|three times) an? \w+)\b",
    re.IGNORECASE,
)
_LIKING = re.compile(
    r"\b(?:love|loves|adore|adores|like|likes|enjoy|enjoys|prefer|prefers|favou?rite|hate|hates"
    r"|dislike|dislikes|can(?:'t| ?not) stand)\b",
    re.IGNORECASE,
)
_OF_A_SLOT = re.compile(
    r"\b(?:lives?|lived|living|moved?|moving|home|works? (?:as|at|for|in)|worked|working|jobs?"
    r"|hired|employ\w*|name|(?:is|am|are|was) called|born|years old|married|engaged|divorced|single"
    r"|vegan|vegetarian|diet|keto|allerg\w+|address|phone|email|birthday|no longer|used to"
    r"|any ?more)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:a cold|flu|fever|headache|sick|ill|sore|cough\w*|injur\w+|sprain\w*|tomorrow|tonight"
    r"|next \w+|until|appointment|trips?|flights?|holidays?|vacation|deadline|going to|gonna|will"
    r"|would|could|might|maybe|perhaps|if)\b|'ll\b|'d\b",
    re.IGNORECASE,
)
_ONE_TIME = re.compile(
    r"(?:,? (?:once )?again\b|,? as (?:usual|always)\b|,? (?:today|yesterday|earlier|just now)\b"
    r"|,? (?:this|last|on|yesterday) (?:morning|afternoon|evening|night|week(?:end)?"
    rf"|{ANY_WEEKDAY})(?: (?:morning|afternoon|evening|night))?\b)",
    re.IGNORECASE,
)
_ABOUT_ANOTHER = frozenset({"order", "opposites"})
"""Differences by which two likings are different: "tea over coffee" is not "coffee over tea"."""
_NAME = re.compile(r"(?<=[\w,] )[A-ZÀ-Þ][\w'’-]*[^\W_](?: [A-ZÀ-Þ][\w'’-]*[^\W_])?")
_BESIDE_A_PERSON = re.compile(
    r"(?:with|met|meet|meeting|visit(?:ed|ing)?|called?|saw|see|asked|friend|sister|brother|mother"
    r"|father|son|daughter|wife|husband|partner|colleague|boss|neighbou?r|cousin|aunt|uncle|and) $",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(rf"\b({ANY_WEEKDAY})s?\b", re.IGNORECASE)
_WEEKDAYS_SAID = frozenset(content_terms(" ".join(f"{day}s" for day in WEEKDAYS)))
"""Terms of weekdays, which are replaced by their days.

So "on Tuesdays" has the same terms as "every Tuesday".
"""
Kind = Literal["preference", "habit"]


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence that may be a habit or a liking.

    Attributes:
        number: Of its episode.
        speaker: The speaker of the sentence.
        plain: Its words, without fillers and words for a single time.
        summary: The same in the third person.
        terms: Terms of its content.
        negated: Whether it has a negation.
        numbers: The numbers in it.
        kind: Of its pattern.
        certain: Whether it states a habit or a liking.

    """

    number: int
    speaker: str
    plain: str
    summary: str
    terms: frozenset[str]
    negated: bool
    numbers: frozenset[str]
    kind: Kind
    certain: bool


_EpisodeSentences = tuple[DecisionItem, list[tuple[str, str]]]
"""An episode with the sentences that persons state in it: (speaker, sentence)."""


def found_patterns(episodes: Sequence[DecisionItem]) -> FoundPatterns:
    """Find the patterns of episodes, those of most episodes first. Deterministic."""
    episode_sentences = [(episode, [*_stated_sentences(episode)]) for episode in episodes]
    patterns = [*_patterns_of_sentences(episode_sentences), *_patterns_of_names(episode_sentences)]
    return FoundPatterns(
        patterns=sorted(patterns, key=lambda pattern: (-len(pattern.sources), pattern.summary))[
            :MOST
        ]
    )


def _patterns_of_sentences(episodes: Sequence[_EpisodeSentences]) -> Iterator[FoundPattern]:
    """Find repeated sentences. The pattern of a group is its shortest, of equals the earliest."""
    groups: list[list[_Statement]] = []
    for statement in sorted(_statements(episodes), key=lambda statement: len(statement.terms)):
        group = next((group for group in groups if _repeats(statement, group[0])), None)
        if group is None:
            groups.append([statement])
        else:
            group.append(statement)
    for group in groups:
        numbers = list(dict.fromkeys(sorted(statement.number for statement in group)))
        certain = any(statement.certain for statement in group)
        if len(numbers) < (FEWEST_WITH_A_CUE if certain else FEWEST):
            continue
        first = group[0]
        yield _pattern(
            first.summary if first.certain else f"{first.summary} again and again",
            first.kind,
            numbers,
        )


def _repeats(statement: _Statement, first: _Statement) -> bool:
    """Whether a statement says the same as the first of a group."""
    shared = len(statement.terms & first.terms)
    if (statement.speaker, statement.negated, statement.numbers, statement.kind) != (
        first.speaker,
        first.negated,
        first.numbers,
        first.kind,
    ):
        return False
    if statement.kind == "preference" and not _ABOUT_ANOTHER.isdisjoint(
        differences(statement.plain, first.plain)
    ):
        return False
    if len(first.terms) == 1:  # one word alone is said in many ways
        return statement.terms == first.terms and statement.certain and first.certain
    return shared >= 2 and shared >= LEAST_SHARED * len(first.terms)


def _statements(episodes: Sequence[_EpisodeSentences]) -> Iterator[_Statement]:
    """The sentences that are about their speaker, fill no slot and don't pass by themselves."""
    for episode, texts in episodes:
        for speaker, text in texts:
            plain = _ONE_TIME.sub("", without_fillers(text)).strip().rstrip(" .!…")
            if (
                not 3 <= len(plain.split()) <= LONGEST_WORDS
                or _OF_A_SLOT.search(plain)
                or _PASSING.search(plain)
            ):
                continue
            summary = _in_third_person(plain, speaker)
            if summary is None:  # most sentences: no time is spent on their terms
                continue
            terms = frozenset(content_terms(plain)) - _WEEKDAYS_SAID
            terms |= {day.casefold() for day in _WEEKDAY.findall(plain)}
            if terms:
                likes = _LIKING.search(plain) is not None
                yield _Statement(
                    number=episode.number,
                    speaker=speaker,
                    plain=plain,
                    summary=summary,
                    terms=terms,
                    negated=any(word in NEGATIONS for word in words(plain.replace("n't", " not"))),
                    numbers=frozenset(numbers_in(plain)),
                    kind="preference" if likes else "habit",
                    certain=likes or _HABIT.search(text) is not None,
                )


def _in_third_person(plain: str, speaker: str) -> str | None:
    """The sentence in the third person; None where it is not about its speaker."""
    summary = third_person(plain, speaker)
    if summary is None and plain.startswith((f"{speaker} ", f"{speaker}'s ")):
        summary = plain
    return summary


def _stated_sentences(episode: DecisionItem) -> Iterator[tuple[str, str]]:
    """Yield (speaker, sentence) of the statements of persons in an episode.

    A narrative names the speakers that it quotes.
    """
    by = name_of_actor(episode.actor)
    if by.casefold() in _NO_PERSON:
        return
    narrator = speaker = by if by and by.casefold() != "user" else _USER
    for sentence in own_sentences(episode.text, is_story=True):
        checkpoint()
        text = " ".join(sentence.text.split())
        quoted = _QUOTED_SPEAKER.match(text)
        if quoted is not None:
            speaker = quoted["who"]
            text = text[quoted.end() :]
        elif text.startswith(f"{narrator} "):
            speaker = narrator
        if not sentence.asks and speaker.casefold() not in _NO_PERSON:
            yield speaker, text


def _patterns_of_names(episodes: Sequence[_EpisodeSentences]) -> Iterator[FoundPattern]:
    """Find known places, and names beside words for persons, in at least `FEWEST` episodes."""
    mentions: dict[tuple[str, str], list[int]] = {}
    kinds: dict[tuple[str, str], Literal["place", "person"]] = {}
    for episode, texts in episodes:
        for speaker, text in texts:
            if _OF_A_SLOT.search(text) or _PASSING.search(text):
                continue
            for match in _NAME.finditer(text):
                name = match.group().removesuffix("'s").removesuffix("’s")
                known = name.casefold() in CITIES or name.casefold() in COUNTRIES
                key = (speaker, name)
                if name.split()[0].casefold() in NOWHERE | {
                    "user",
                    "assistant",
                    speaker.casefold(),
                }:
                    continue
                mentions.setdefault(key, []).append(episode.number)
                if known or _BESIDE_A_PERSON.search(text[: match.start()]):
                    kinds.setdefault(key, "place" if known else "person")
    for key, numbers in mentions.items():
        distinct = list(dict.fromkeys(numbers))
        if key in kinds and len(distinct) >= FEWEST:
            yield _pattern(f"{key[0]} often speaks of {key[1]}", kinds[key], distinct)


def _pattern(
    summary: str, kind: Literal["preference", "habit", "place", "person"], numbers: Sequence[int]
) -> FoundPattern:
    """Build a pattern.

    Confidence and importance grow with its episodes. A preference is more important.
    """
    more = min(len(numbers), 6) - FEWEST_WITH_A_CUE
    return fitted(
        FoundPattern,
        summary=summary,
        pattern=kind,
        importance_score=round(0.55 + 0.05 * more + (0.1 if kind == "preference" else 0.0), 2),
        confidence=round(0.6 + 0.05 * more, 2),
        sources=list(numbers)[:40],
    )
