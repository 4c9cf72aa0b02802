"""The form of a request to forget that is surely one.

Every word of such a sentence has its place: opening words and politeness, a verb of forgetting as
an order or after "can you", words that point at what was told, and the topic. No word joins a
further clause to it but a reason's, and no other sentence of its message speaks of it. Whatever
has another form is asked back, however likely it is a request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memory_core.domain.statements.forget_topics import GENERAL_WORDS, topic_of
from memory_core.domain.statements.wish_marks import BREAK, OTHER_WORDS, marks_of
from memory_core.domain.statements.wish_signs import ARTICLES, MarkedSentence

_POLITE: Final = frozenset({"PLEASE", "LEAD", "AGAIN"})
_JOINS: Final = frozenset({"and", "but", "so", "und", "aber"})
_VERBS: Final = frozenset({"FORGET", "DELETE"})
_OF_THE_MEMORY: Final = frozenset({"TOLD", "KNOW", "MEMORY", "KEEP"})
"""Kinds of words beside which "drop" asks to forget, and a thing is no thing at hand."""
_POINTS: Final = frozenset({"TOLD", "KNOW", "MEMORY", "ALL", "LAST", "YOU", "MY", "ME", "PASTI"})
_CONTENT: Final = frozenset({OTHER_WORDS, "PERSONAL", "MANNER", "ANSWER"})
_NAMES: Final = _CONTENT | {"THING"}
_FACT: Final = _POINTS | {OTHER_WORDS, "PERSONAL", "OTHER", "WISH", "HABIT"}
"""Kinds of the words of "that I have diabetes"."""
_SUBJECT: Final = re.compile(r"\b(?:i|ich|he|she|we|they|er|wir|man)\b")
_LITTLE: Final = ARTICLES | {
    *("of", "to", "in", "on", "at", "from", "about", "abt", "bout", "regarding", "concerning"),
    *("with", "for", "von", "vom", "zu", "zum", "zur", "mit", "über", "aus", "im", "auf", "für"),
    *("bei", "nach", "bezüglich", "thema"),
}
"""Words of a topic that name nothing and join no clause."""
_CLAUSES: Final = frozenset(
    {"that", "dass", "daß", "who", "where", "how", "wer", "wen", "wem", "wo", "wie", "was"}
)
"""The first words of a clause that is the topic."""
_LITTLE_OF_FACTS: Final = _LITTLE | _CLAUSES | {"is", "are", "be", "habe", "hab", "ist", "sind"}
_NAME_NOTHING: Final = GENERAL_WORDS - {"am"}
"""Words that name nothing; "I am allergic" is a fact by what follows."""
_PERSONS: Final = frozenset({"him", "her", "ihn", "ihm", "ihr"})
_ASKED: Final = re.compile(
    r"(?:(?:please|pls|plz|kindly|bitte|(?:can|could|would|will) you|would you mind"
    r"|i(?:'d| would) like you to|i want you to|(?:kannst|könntest|würdest) du)\b ?)+"
)
_ASKS: Final = re.compile(r"\b(?:you|du)\b")
_NOUNS: Final = re.compile(r"(?:ing|ion|al|ure|ung)\Z")
_INFINITIVE: Final = re.compile(r"en\Z")
_LATER: Final = frozenset({"then", "later", "afterwards", "dann", "später", "danach"})
"""Words by which a request may be for another time, wherever they are."""
_BECAUSE: Final = frozenset({"because", "weil", "denn"})
_REASONED: Final = _FACT | {"PRON", "SAYS", "REGRET", "NOT", "EARLIER", "MUST"} | _POLITE
_SAYING: Final = frozenset({"TOLD", "SAYS", "ME"})
_JA_OPENS: Final = frozenset({"LEAD", "PLEASE", "LAST", "EARLIER", "AGAIN", "FUNC", BREAK})
_JA_JUST_NOW: Final = ("さっき", "先ほど", "先程")
_JA_REASON: Final = r"[^、。!！?？]{1,40}[たるいだす](?:から|ので)"
_JA_REQUEST: Final = re.compile(
    rf"(?:{_JA_REASON}、)?(?P<topic>[^。!！?？]{{0,60}}?)"
    r"(?:忘れ|(?:消|消去|削除|抹消)し)(?:て(?:おいて)?|といて)"
    r"(?P<polite>(?:くだ|下)さい(?:ませんか)?|くれ(?:る|ない|ますか|ませんか)?"
    r"|(?:もらえ|いただけ)(?:る|ない|ますか|ませんか)|(?:ほし|欲し)い(?:です)?)?"
    rf"[かなねよ]?(?:、{_JA_REASON})?[。.!！?？]{{0,4}}"
)
_JA_BEFORE_VERB: Final = re.compile(
    r"(?:もう|全部|すべて|全て|ぜんぶ|(?:あなたの)?(?:記憶|メモリー?|データ)から|[をはも、])\Z"
)
_JA_WRITTEN: Final = r"[^\u3041-\u309f、。!！?？\s]+"
_JA_JOINS: Final = r"(?:の|と|さん|くん|ちゃん|に関する|についての)"
_JA_TOPIC: Final = re.compile(
    rf"{_JA_WRITTEN}(?:{_JA_JOINS}{{1,2}}{_JA_WRITTEN}){{0,4}}{_JA_JOINS}{{0,2}}(?:こと)?"
    rf"|{_JA_WRITTEN}(?:[のとにがをはでへ]{_JA_WRITTEN}){{0,4}}"
    r"[\u3041-\u309f]?[ただ](?:こと|話|件|の)"
)
"""A noun with its attributes, or what was or is the case: 「試験に落ちたこと」."""
_JA_REQUESTED: Final = re.compile(r"(?:て|で|さい|くれ|い)[ねよか]?[。!！]{0,2}\Z")
_FEWEST_NAMED: Final = 3
"""Words that a sentence after a request names if it tells something else."""
_SPEAKS: Final = frozenset({"ME", "MY", "PASTI", "TOLD", "REGRET", "WISH", "HABIT"})
_IT_IS: Final = re.compile(r"(?:it's|we|wir)\b")
_POINTERS: Final = frozenset({"PRON", "ONEOFF", "YOU"})
_UNDOES: Final = frozenset({"KEEP", "FORGET", "DELETE", "DROP", "NEVERMIND", "EMAIL", "SAYS"})


@dataclass(frozen=True, slots=True)
class _Place:
    """A place of a sentence, with the kinds of its words."""

    kinds: frozenset[str]
    text: str
    start: int
    end: int

    @property
    def words(self) -> list[str]:
        return self.text.split()


@dataclass(frozen=True, slots=True)
class PlainRequest:
    """A request that is surely one.

    Attributes:
        reading: The request itself, without its opening and its reason.
        about: Its topic, with all words that name anything; "" if it only points.
        polite: Whether it says "please" in any words.

    """

    reading: MarkedSentence
    about: str
    polite: bool


def plain_request(reading: MarkedSentence) -> PlainRequest | None:
    """The request of a sentence that has the form of a sure one.

    None of any other sentence.
    """
    if reading.japanese:
        return _japanese(reading)
    if not _LATER.isdisjoint(word for mark in reading.marks for word in mark.text.split()):
        return None
    segments = _segments(_places(reading))
    while len(segments) > 1 and _is_polite(segments[0]):
        del segments[0]
    if not segments:
        return None
    request, *rest = segments
    while (
        rest
        and all(_CONTENT.isdisjoint(place.kinds) for place in request)
        and rest[0][0].text.split()[0] in _CLAUSES
    ):
        request, rest = [*request, *rest[0]], rest[1:]
    while rest and _is_polite(rest[0]):
        del rest[0]
    if rest and not _is_reason(rest):
        return None
    body = _body(request, asks=reading.asks and reading.marks[-1].end <= request[-1].end)
    if body is None or not _has_its_place(body):
        return None
    text = " " * request[0].start + reading.text[request[0].start : request[-1].end]
    core = MarkedSentence(text, tuple(marks_of(text)), reading.capitals)
    about = _topic(core, body)
    return None if about is None else PlainRequest(core, about, "PLEASE" in reading.kind_set)


def _places(reading: MarkedSentence) -> list[_Place]:
    places: dict[int, _Place] = {}
    for mark in reading.marks:
        before = places.get(mark.start)
        kinds = before.kinds if before is not None else frozenset()
        places[mark.start] = _Place(kinds | {mark.kind}, mark.text, mark.start, mark.end)
    return list(places.values())


def _segments(places: Iterable[_Place]) -> list[list[_Place]]:
    """The places between marks of punctuation."""
    segments: list[list[_Place]] = [[]]
    for place in places:
        if BREAK in place.kinds:
            segments.append([])
        else:
            segments[-1].append(place)
    return [segment for segment in segments if segment]


def _is_polite(places: Iterable[_Place]) -> bool:
    return all(_POLITE & place.kinds for place in places)


def _is_reason(segments: Sequence[Sequence[_Place]]) -> bool:
    """Whether the rest of a sentence says why: "…, she wants to tell it herself"."""
    first, *others = (place for segment in segments for place in segment)
    if first.text in _BECAUSE:
        return True
    return (
        ("sie" in first.words or not {"OTHER", "PRON"}.isdisjoint(first.kinds))
        and not all(_SAYING & place.kinds for place in others)
        and not any(_SUBJECT.match(place.text) for place in others)
        and all(place.text in _LITTLE_OF_FACTS or _REASONED & place.kinds for place in others)
    )


def _body(request: Sequence[_Place], *, asks: bool) -> list[_Place] | None:
    """The places of a request beside its verb and its politeness; None for another sentence."""
    places = list(request)
    opening = ""
    while places and _POLITE & places[0].kinds:
        opening += f"{places[0].text} " if "PLEASE" in places[0].kinds else ""
        del places[0]
    while places and places[-1].kinds & _POLITE:
        opening += f"{places[-1].text} " if "PLEASE" in places[-1].kinds else ""
        places.pop()
    if not places or (opening and _ASKED.fullmatch(opening) is None):
        return None
    if asks and _ASKS.search(opening) is None:
        return None
    of_the_memory = any(place.kinds & _OF_THE_MEMORY for place in places)
    verbs = _VERBS | {"DROP"} if of_the_memory else _VERBS
    if places[0].kinds & verbs:
        if _NOUNS.search(places[0].text) and "mind" not in f"{opening}{places[0].text}":
            return None
        body = places[1:]
    elif places[-1].kinds & {*verbs, "VERGESSEN"} and _INFINITIVE.search(places[-1].text):
        body = places[:-1]
        asked = [place for place in body if "PLEASE" in place.kinds]
        if not opening and not (asked and all(_ASKED.fullmatch(each.text) for each in asked)):
            return None
    else:
        return None
    return [place for place in body if not _is_polite([place]) or place.text in _JOINS]


def _has_its_place(body: Sequence[_Place]) -> bool:
    """Whether all words point, name, or are little."""
    clause = len(body) > 1 and body[0].text.split()[0] in _CLAUSES
    has_pointer = any(place.kinds & {"TOLD", "KNOW"} for place in body)
    kinds, little = (_FACT, _LITTLE_OF_FACTS) if clause else (_POINTS | _CONTENT, _LITTLE)
    if any(place.kinds & _OF_THE_MEMORY for place in body):
        kinds, little = kinds | {"THING"}, little | _PERSONS
    if not clause and not has_pointer:
        kinds = kinds - {"ME", "PASTI"}
    if clause and sum(_SUBJECT.match(place.text) is not None for place in body) > 1:
        return False
    for before, place in zip((None, *body), body, strict=False):
        points = "PRON" in place.kinds and "ONEOFF" not in place.kinds
        said_when = "EARLIER" in place.kinds and before and before.kinds & {"TOLD", "YOU"}
        if not points and not said_when and not _is_of(kinds, little, place):
            return False
    return True


def _is_of(kinds: frozenset[str], little: frozenset[str], place: _Place) -> bool:
    """Whether words are of some kinds, or little.

    Words such as "when" are in no list, and name nothing.
    """
    if place.kinds == {OTHER_WORDS} and not _NAME_NOTHING.isdisjoint(place.words):
        return False
    return place.text in little or bool(kinds & place.kinds)


def _topic(core: MarkedSentence, body: Sequence[_Place]) -> str | None:
    """The topic with all naming words of a request; None if they are apart."""
    named = [place for place in body if place.kinds & _NAMES and not place.kinds & _OF_THE_MEMORY]
    for about in (topic_of(core), fact_named(core)):
        start = core.text.find(about)
        if all(start <= place.start and place.end <= start + len(about) for place in named):
            return about
    first, last = body.index(named[0]), body.index(named[-1])
    if all(place.kinds & (_NAMES | {"FUNC", "MY", "PRON"}) for place in body[first : last + 1]):
        return core.text[named[0].start : named[-1].end]
    return None


def fact_named(request: MarkedSentence) -> str:
    """The fact of the speaker or of a named person to forget, or "".

    For example "Ben is ill" of "forget that Ben is ill". Nothing is forgotten unless a memory has
    all the words.
    """
    that = next((p for p, mark in enumerate(request.marks) if mark.text in ("that", "dass")), 0)
    behind = [mark for mark in request.marks[that + 1 :] if mark.kind not in _POLITE]
    if (
        not that
        or len(behind) < 2
        or not (
            behind[0].kind in ("ME", "MY", "WISH")
            or (behind[0].kind == OTHER_WORDS and behind[0].text.split()[0] in request.capitals)
        )
    ):
        return ""
    return request.text[behind[0].start : behind[-1].end]


def may_take_back(reading: MarkedSentence) -> bool:
    """Whether the user's next message may take a request back: "no wait, keep it".

    Such a sentence names next to nothing, or speaks of keeping or forgetting.
    """
    if reading.asks or reading.text.rstrip().endswith(("?", "？")):
        return False
    is_short = len(_names_in(reading)) < _FEWEST_NAMED
    speaks_of_it = not _UNDOES.isdisjoint(reading.kind_set)
    return (is_short or speaks_of_it) and not tells_of_else(reading, after=True)


def _names_in(reading: MarkedSentence) -> list[str]:
    if reading.japanese:
        return re.findall(_JA_WRITTEN, reading.text)
    return [word for mark in reading.marks if mark.kind in _CONTENT for word in mark.text.split()]


def tells_of_else(reading: MarkedSentence, *, after: bool) -> bool:
    """Whether another sentence of a request's message leaves it as it is.

    It thanks, or tells something of the speaker without pointing at anything. What follows a
    request is also long enough to be no second thought ("I changed my mind"), or says why.

    Args:
        reading: The sentence.
        after: Whether it follows the request.

    """
    kinds = [mark.kind for mark in reading.marks if mark.kind not in ("LEAD", "PLEASE", BREAK)]
    if not kinds:
        return True
    if reading.asks or reading.text.rstrip().endswith((":", "：")):
        return False
    named = _names_in(reading)
    if reading.japanese:
        says_why = re.search(_JA_REASON + "[。!！]?\\Z", reading.text) is not None
        return says_why or (
            (not after or len(named) >= _FEWEST_NAMED)
            and _JA_REQUESTED.search(reading.text) is None
        )
    opens = (
        kinds[0] in _SPEAKS
        or _IT_IS.match(reading.text) is not None
        or (kinds[0] == "FUNC" and _SUBJECT.search(reading.text) is not None)
    )
    goes_on = any(mark.text in _LITTLE - ARTICLES for mark in reading.marks)
    says_why = not {"TOLD", "REGRET"}.isdisjoint(kinds)
    return (
        opens
        and _UNDOES.isdisjoint(kinds)
        and (says_why or _POINTERS.isdisjoint(kinds))
        and (says_why or not after or len(named) + goes_on >= _FEWEST_NAMED)
    )


def _japanese(reading: MarkedSentence) -> PlainRequest | None:
    """The request of a Japanese sentence, which ends with its verb."""
    opening = next(
        (
            mark.start
            for mark in reading.marks
            if mark.kind not in _JA_OPENS and not mark.text.startswith(_JA_JUST_NOW)
        ),
        0,
    )
    text = reading.text[opening:].strip()
    request = _JA_REQUEST.fullmatch(text)
    if request is None:
        return None
    topic = request["topic"]
    while (shorter := _JA_BEFORE_VERB.sub("", topic)) != topic:
        topic = shorter
    if topic and _JA_TOPIC.fullmatch(topic) is None:
        return None
    return PlainRequest(reading, topic_of(reading), bool(request["polite"]))
