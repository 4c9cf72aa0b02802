"""What a request to forget is about, in the words of its sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memory_core.domain.statements.wish_marks import BREAK, OTHER_WORDS, WishMark
from memory_core.domain.statements.wish_signs import MarkedSentence, read
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS
from memory_core.domain.text.sameness import names_in
from memory_core.domain.text.sentences import sentences

_GENERAL = """
    please always never again now anymore use using answer answers reply replies respond response
    give want need can may longer ok okay fine stop start keep make thing things stuff tell told say
    said mention talk know rule instruction instructions wish request forget ignore after bitte
    immer nie wieder jetzt mehr antworten antworte nutze verwende benutze benutzen kannst darfst
    musst brauchst regel sache doch nicht mein meine meinen meinem meiner dein deine der die das den
    dem des ein eine einen einem einer dass ich du über
"""
GENERAL_WORDS = frozenset(_GENERAL.split()) | QUERY_WORDS | FUNCTION_WORDS
"""Words of a wish that do not belong to its topic."""
_ABOUT = re.compile(
    r"(?:\b(?:about|abt|bout|on|regarding|concerning|of|over|über|zu|zum|zur|von|vom|mit|bezüglich"
    r"|with|at|angeht|to)|(?<=\ba)n)\Z"
)
_POINTS = frozenset(
    {
        "MEMORY",
        "TOLD",
        "KNOW",
        "FORGET",
        "VERGESSEN",
        "DELETE",
        "DROP",
        "ALL",
        "KEEP",
        "DONT_KEEP",
        "NEVER_TOLD",
        "MENTION",
    }
)
"""Kinds after which "about" leads to the topic."""
_REQUEST = frozenset(
    {
        "PLEASE",
        "LEAD",
        "FORGET",
        "VERGESSEN",
        "DELETE",
        "DROP",
        "GONE",
        "PRETEND",
        "NEVER_TOLD",
        "KEEP",
        "DONT_KEEP",
        "TOLD",
        "REGRET",
    }
    | {
        "KNOW",
        "MEMORY",
        "LAST",
        "EARLIER",
        "ALL",
        "PRON",
        "YOU",
        "WISH",
        "MUST",
        "STAND",
        "NOT",
        "STOP",
        "AGAIN",
        "AGAIN_OK",
        "NO_NEED",
    }
    | {
        "ME",
        "ABOUT_JA",
        "NEVERMIND",
        "ONEOFF",
        "OTHER",
        "PASTI",
        "SAYS",
        "DO_ANSWER",
        "ASKS_BACK",
        "HABIT",
        "MENTION",
        "FORGOT",
        BREAK,
    }
)
"""Kinds of the words of a request that are no part of its topic."""
_ENDS = _REQUEST - {
    "ME",
    "STAND",
    "NOT",
    "PASTI",
    "OTHER",
    "MENTION",
    "DO_ANSWER",
    "HABIT",
    "EARLIER",
    "LEAD",
    "FORGOT",
    "PRON",
}
"""Kinds that end the topic after "about" or "that"."""
_SAID = re.compile(r"[^\W_]")
_KANA_ALONE = re.compile(r"\A[\u3040-\u309fー]*\Z")
_TITLE = re.compile(r"(?:さん|くん|君|ちゃん|様|先生)?[\u3040-\u309f]{0,2}\Z")
_THAT = frozenset({"that", "dass", "daß", "the fact that", "the fact"})
_MEMORY_ITSELF = re.compile(
    r"\b(?:your memory|memory|memories|gedächtnis|deinem gedächtnis|deinem speicher|speicher)\Z"
)


_OF_A_PERSON = re.compile(
    r"\b(?:about|of|über|zu|von|mit) (?:him|her|ihn|ihm|sie|ihr)(?: please| bitte)?[\s.!]*\Z",
    re.IGNORECASE,
)
"""The end of "forget everything about him"."""
_PERSON = re.compile(
    r"\b(?:[Ww]ith|[Mm]it) (?P<with>[A-ZÄÖÜ][^\W\d_]+)\b"
    r"|\b(?P<and>[A-ZÄÖÜ][^\W\d_]+) (?:and I|und ich)\b"
)
"""Names of people with whom the speaker is or was."""


class MeantPerson(NamedTuple):
    """The person that a pronoun means.

    Attributes:
        name: The name; "" if it is unknown.
        sure: Whether no other person is named before the pronoun.

    """

    name: str
    sure: bool


def person_meant(request: str, earlier: str) -> MeantPerson | None:
    """The person that "forget everything about him" means, by the words before it.

    Args:
        request: The request.
        earlier: The earlier sentences of its message.

    Returns:
        None if the request has no pronoun for a person.

    """
    if _OF_A_PERSON.search(request) is None:
        return None
    named = {match["with"] or match["and"] for match in _PERSON.finditer(earlier)}
    if len(named) != 1:
        return MeantPerson("", sure=False)
    (name,) = named
    openings = (f"x {sentence.text}" for sentence in sentences(earlier))
    others = {each for text in openings for each in names_in(text)} - {name.casefold()}
    return MeantPerson(name, sure=others <= GENERAL_WORDS)


def topic_of(reading: MarkedSentence) -> str:
    """The topic of a request; "" where it only points, as "forget that" does."""
    marks = _for_topics(reading.marks)
    if not reading.japanese:
        for target in (_after_about(reading, marks), _after_that(reading, marks)):
            if target:
                return target
    tells = reading.kind_set & {"TOLD", "MEMORY", "KNOW", "REGRET", "KEEP", "DONT_KEEP"}
    if not points_only(reading):
        return _longest(reading, marks, frozenset())
    return (
        _longest(reading, marks, frozenset({"PERSONAL", "MY"}))
        if tells or _names_before_verb(marks)
        else ""
    )


def names_all(reading: MarkedSentence) -> bool:
    """Whether a request means all memories of its topic, rather than a single statement."""
    return "ALL" in reading.kind_set or any(
        mark.kind == "MEMORY"
        and re.match(r"(?:everything|all|anything|alles|was|what|nothing|nichts|any)\b", mark.text)
        for mark in reading.marks
    )


def japanese_words_of(topic: str) -> list[str]:
    """The content words of a Japanese topic, without particles and titles.

    A text about the topic has them all.
    """
    marks = [
        mark
        for mark in _for_topics(read(topic).marks)
        if mark.kind not in ("FUNC", BREAK, "ME", "MY")
    ]
    named = (
        (_TITLE.sub("", mark.text) or mark.text) if mark.kind == OTHER_WORDS else mark.text
        for mark in marks
    )
    return list(dict.fromkeys(named))


def points_only(reading: MarkedSentence) -> bool:
    """Whether a request to forget names its topic only by a pronoun.

    For example "forget that", "bitte lösch das wieder", "それ、消して".
    """
    kinds = reading.kinds
    for place, kind in enumerate(kinds):
        if kind in ("FORGET", "DELETE", "DROP", "VERGESSEN"):
            after = [
                other for other in kinds[place + 1 :] if other not in ("PLEASE", "LEAD", "NOT")
            ][:2]
            if after[:1] == ["PRON"] and (
                len(after) == 1 or after[1] in (BREAK, "AGAIN", "STAND", "EARLIER", "FUNC")
            ):
                return True
    return False


def _names_before_verb(marks: Sequence[WishMark]) -> bool:
    """Whether the speaker's own thing is named before the verb that removes.

    For example "my nickname, please delete it".
    """
    verb = next(
        (
            place
            for place, mark in enumerate(marks)
            if mark.kind in ("FORGET", "DELETE", "DROP", "VERGESSEN")
        ),
        0,
    )
    named = [mark.kind for mark in marks[:verb] if mark.kind not in ("LEAD", "FUNC", BREAK)]
    return named[:1] == ["MY"] and named[1:2] in (["PERSONAL"], [OTHER_WORDS])


def _after_about(reading: MarkedSentence, marks: Sequence[WishMark]) -> str:
    """The words after "about", "über" or "mit", if they can be a topic.

    They can be after a mark of a kind in `_POINTS`. At the beginning of the sentence they can be
    after some of these words, too.
    """
    for place, mark in enumerate(marks):
        if not _ABOUT.search(mark.text) or _MEMORY_ITSELF.search(mark.text):
            continue
        pointed = mark.kind in _POINTS or any(before.kind in _POINTS for before in marks[:place])
        opens = mark.text not in ("to", "with", "at", "mit", "von", "on", "of") and place == 0
        if pointed or opens:
            target = _until_end(reading, marks[place + 1 :])
            if target:
                return target
    return ""


def _after_that(reading: MarkedSentence, marks: Sequence[WishMark]) -> str:
    """The clause after "forget that", "vergiss, dass"."""
    for place, mark in enumerate(marks[:-1]):
        follows = any(
            before.kind in ("FORGET", "VERGESSEN", "DELETE", "KEEP", "DONT_KEEP", "DROP")
            for before in marks[:place]
        )
        if (
            mark.text in _THAT
            and follows
            and marks[place + 1].kind in ("ME", "MY", "OTHER", OTHER_WORDS, "PERSONAL", "HABIT")
        ):
            return _until_end(reading, marks[place + 1 :])
    return ""


def _until_end(reading: MarkedSentence, marks: Sequence[WishMark]) -> str:
    end = next((place for place, mark in enumerate(marks) if mark.kind in _ENDS), len(marks))
    words = list(marks[:end])
    while words and words[-1].kind in _REQUEST | {"FUNC"}:
        words.pop()
    return _text(reading, words) if any(_is_content(mark) for mark in words) else ""


def _longest(reading: MarkedSentence, marks: Sequence[WishMark], needed: frozenset[str]) -> str:
    """The run of words with most content, without function words around it.

    The first of several equal runs is taken. needed: kinds of which the run must have a word,
    unless this set is empty.
    """
    runs: list[list[WishMark]] = [[]]
    named: set[int] = set()
    for mark in marks:
        if mark.kind in _REQUEST:
            if mark.kind == "ABOUT_JA":
                named.add(len(runs) - 1)
            runs.append([])
        else:
            runs[-1].append(mark)
    best: list[WishMark] = []
    most = 0
    for place, run in enumerate(runs):
        trimmed = _trimmed(run)
        weight = _weight(trimmed)
        weight += 5 if weight and place in named else 0
        if weight > most and (not needed or any(mark.kind in needed for mark in trimmed)):
            best, most = trimmed, weight
    return _text(reading, best)


def _for_topics(marks: Sequence[WishMark]) -> list[WishMark]:
    """The marks for a topic: of a phrase of several kinds only the personal kind."""
    personal = {mark.start for mark in marks if mark.kind == "PERSONAL"}
    return [mark for mark in marks if mark.kind == "PERSONAL" or mark.start not in personal]


def _trimmed(run: Sequence[WishMark]) -> list[WishMark]:
    words = list(run)
    while words and (words[-1].kind in ("FUNC", "MY") or _is_kana(words[-1])):
        words.pop()
    while words and (words[0].kind == "FUNC" or _is_kana(words[0])):
        words.pop(0)
    return words


def _weight(run: Sequence[WishMark]) -> int:
    return sum((3 if mark.kind == "PERSONAL" else 2) for mark in run if _is_content(mark))


def _is_content(mark: WishMark) -> bool:
    return (
        mark.kind not in _REQUEST | {"FUNC", "MY"}
        and _SAID.search(mark.text) is not None
        and not _is_kana(mark)
    )


def _is_kana(mark: WishMark) -> bool:
    """Whether a mark is only the Japanese ending of another word."""
    return (
        mark.kind == OTHER_WORDS
        and len(mark.text) <= 4
        and _KANA_ALONE.match(mark.text) is not None
    )


def _text(reading: MarkedSentence, marks: Sequence[WishMark]) -> str:
    return reading.text[marks[0].start : marks[-1].end] if marks else ""
