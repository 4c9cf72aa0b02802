"""Signs of a wish in a sentence: the kinds and the order of its words.

The features of the linear model (`linear_models`) are kinds of marks, pairs of kinds, and signs of
the order of the marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from memory_core.domain.statements.wish_marks import (
    BREAK,
    OTHER_WORDS,
    WishMark,
    marks_of,
    without_quotes,
)
from memory_core.domain.text.analyzer import has_japanese
from memory_core.domain.text.spelling import GERMAN_NUMBER_WORDS, NUMBER_WORDS

_CAPITAL = re.compile(r"(?<=\s)[A-ZÄÖÜ][^\W\d_]+")
_ADVERB_BEFORE_WANT = re.compile(
    r"\b(i(?:'d| would)? )((?:never|always|don't ever|do not ever) )((?:really )?(?:want|like))"
    r" you to (?=\w)"
)
"""The adverb of what is wanted, before the verb: "I never want you to recommend wine"."""
_CLAUSE_WORDS = frozenset({"so", "but", "aber", "ので", "から", "also"})
_REMOVES = frozenset({"FORGET", "DELETE", "DROP", "VERGESSEN"})
ACTS = frozenset(
    {
        *("ANSWERV", "DO_ANSWER", "SUGGEST", "ADDRESS_ME", "MENTION", "ANSWER", "REPLY"),
        *("MANNER", "LIMITS"),
    }
)
"""Kinds of words for actions of an assistant."""
_BEFORE_IMPERATIVE = frozenset(
    {"PLEASE", "LEAD", "FUNC", "EARLIER", "WISH", "YOU", "STAND", "AGAIN_OK", "MUST"}
)
ARTICLES = frozenset(
    {
        *("the", "a", "an", "my", "our", "this", "that", "der", "dem", "den", "des"),
        *("meinem", "meiner", "unserem", "unserer", "diesem"),
    }
)
_BESIDE_THING = frozenset({"LEAD", "PLEASE", "YOU", "ME", "HELP"})
_FORGETS = _REMOVES | {"GONE", "DONT_KEEP", "PRETEND", "NEVER_TOLD", "KEEP"}
"""Kinds of words of requests to forget."""
_LASTS = frozenset({"STAND", "AGAIN", "AGAIN_OK", "NO_NEED", "RULE", "ADDRESS_ME", "STOP"})
"""Kinds of words with which a request is for more than a single answer."""
_ASKS_FOR = ACTS | {OTHER_WORDS}
_NUMBERS = frozenset((*NUMBER_WORDS[2:], *GERMAN_NUMBER_WORDS[2:]))
_SUPPOSED = re.compile(
    r"(?:and |so |but |und |also )?(?:if|suppose|supposing|what if|imagine|was (?:passiert|wäre),?"
    r" wenn|wenn|falls|angenommen,?) (?:i|ich)\b[^.!]{0,200}\?|(?:could|can|will) you ever\b"
    r"|(?:もし|仮に)[^。！]{0,120}(?:[?？]|か。?)\Z"
)
"""The beginning of a question about a request that is only supposed."""
_REMOVED = frozenset({"FORGET", "DELETE", "DROP", "VERGESSEN", "GONE"})
_NOT_NOW = re.compile(
    r"(?:before|until|till|unless|bevor|ehe) (?:you|du)\b"
    r"|(?:when|wann)(?: (?:do|did|will|would)\b|\Z)"
)
_NO_ONE = re.compile(
    r"(?:never|nie|niemals|i never|we never|nobody|no one|niemand|wehe|stop|quit|hör auf)\b"
)
_NOT_BEHIND = frozenset(
    {
        *("nicht", "nichts", "nie", "niemals", "kein", "keine", "keinen", "nothing", "none"),
        *("ständig", "dauernd"),
    }
)
"""Negations, and words of a complaint, behind their verb."""
_JA_KEPT = re.compile(
    r"(?:忘れ|消[しすさ]?|削除し?|消去し?)(?:な[いくか]|[てで]は?(?:いけ|だめ|ダメ|駄目|なら|困)"
    r"|ちゃ(?:いけ|だめ|ダメ|駄目|困)|て(?:もらって|いただいて)は|て(?:ほし|欲し)くは?な"
    r"|[^、。]{0,8}わけ(?:では|じゃ)な|[るす]?る?必要は?(?:な|あり|ござ)|[るす]?る?の?[はを]?(?:やめ|止め)"
    r"|[^、。]{0,6}たらどう|る?な[よ。!！]{0,3}\Z)"
)
"""A verb that removes with its negation."""


_INFINITIVES = frozenset({"löschen", "vergessen", "entfernen", "streichen"})
_TAKE_BACK = frozenset({"take back", "taking back", "retract", "nehme zurück", "nehm zurück"})
_SECOND_PERSON = frozenset({"löschst", "entfernst", "vergisst", "streichst"})
_JA_PROPOSES = re.compile(
    r"(?<!りがと)(?:[おこごそとのぼろよ]う|飲もう|休もう|楽しもう|ましょう)[よねぜか。!！]{0,3}\Z"
)
"""The end of a sentence that proposes to do something together."""
_TAKEN_OUT = re.compile(
    r"\b(?:take|get|cut|pull|kick|leave|keep|have|want|like) (?:[^\W_][\w'-]{0,30} ){1,6}(?:out"
    r"|off)"
    r"(?= (?:please|pls|again|of there|of your|of it|your|for me)\b|[,.;:!?]|\Z)"
)
"""A verb with its object before "out": "take my address out"."""
_JA_FORBIDS = re.compile(r"ないで|なしで|のはやめて|禁止|NG|タブー|やめて")
_JA_ASKS = re.compile(
    r"[てで](?:ください|下さい|ほしい|欲しい|くれ|ね|よ|もらえ|いただけ)?[^ぁ-ん]{0,8}\Z"
    r"|(?:お願い|ください|ほしい)[^ぁ-ん]{0,8}(?:です|ます|な|ね)?。?\Z"
)


@dataclass(frozen=True)
class MarkedSentence:
    """A sentence with its marks.

    Attributes:
        text: The sentence, case-folded, with plain apostrophes.
        marks: In order.
        capitals: Words that begin with a capital, but for the first word; case-folded.

    """

    text: str
    marks: tuple[WishMark, ...]
    capitals: frozenset[str] = frozenset()

    @property
    def japanese(self) -> bool:
        """Whether it is written in Japanese."""
        return has_japanese(self.text)

    @property
    def asks(self) -> bool:
        """Whether it ends with a question mark."""
        return self.text.rstrip(" \"'”)").endswith(("?", "？"))

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its marks in order."""
        return tuple(mark.kind for mark in self.marks)

    @cached_property
    def kind_set(self) -> frozenset[str]:
        """The kinds of its marks."""
        return frozenset(self.kinds)

    @cached_property
    def signs(self) -> frozenset[str]:
        """Signs of the order of its marks."""
        signs = frozenset(
            (
                *_signs_of_verbs(self),
                *_signs_of_words(self),
                *_signs_of_clauses(self),
                *_signs_of_things(self),
                *_japanese_signs(self),
            )
        )
        return signs | frozenset(_signs_of_requests(self, signs))


def read(sentence: str) -> MarkedSentence:
    """Read a sentence; its quotations are left blank.

    "I never want you to recommend wine" is read as "I want you to never recommend wine", which is
    as long, if an action of an assistant follows.
    """
    text = without_quotes(sentence.casefold().replace("’", "'"))
    capitals = () if has_japanese(text) else _CAPITAL.findall(sentence)
    names = frozenset(word.casefold() for word in capitals)
    moved = _ADVERB_BEFORE_WANT.sub(r"\1\3 you to \2", text)
    if moved != text and is_call_to_act(
        asked := MarkedSentence(moved, tuple(marks_of(moved)), names)
    ):
        return asked
    return MarkedSentence(text, tuple(marks_of(text)), names)


def features(reading: MarkedSentence, before: MarkedSentence | None) -> frozenset[str]:
    """The features of a sentence for the linear model.

    Args:
        reading: The sentence.
        before: The sentence before it in its message; None for the first sentence.

    """
    kinds = [kind for kind in reading.kinds if kind not in ("FUNC", "LEAD", BREAK)]
    kinds = [
        kind for place, kind in enumerate(kinds) if kind != "HOW" or place == 0 or reading.japanese
    ]
    end = "?" if reading.asks else "."
    features = {f"s:{sign}" for sign in reading.signs} | {f"u:{kind}" for kind in kinds}
    features |= {
        f"e:{end}",
        "g:yes" if _may_instruct(reading) else "g:no",
        f"n:{_length(len(kinds))}",
    }
    framed = ["^", *kinds, end]
    features |= {
        f"b:{first}>{second}"
        for first, second in pairwise(framed)
        if _is_informative(first, second)
    }
    known = sorted(set(kinds) - {OTHER_WORDS})
    features |= {
        f"q:{first}+{second}" for place, first in enumerate(known) for second in known[place + 1 :]
    }
    features |= {f"x:{kind}{end}" for kind in known}
    features |= {
        f"i:{sign}+{kind}"
        for sign in reading.signs & {"imp", "late", "jask", "jforbid"}
        for kind in known
    }
    if before is not None:
        told_kinds = before.kind_set & {"TOLD", "REGRET", "MEMORY", "KEEP", "KNOW", "LAST"}
        features |= {f"c:{kind}" for kind in told_kinds}
        if told_kinds & {"TOLD", "REGRET", "KNOW", "KEEP"}:
            features.add("c:any")
        features |= {f"c:{kind}" for kind in before.kind_set & {"THING", "YOU"}}
        asked = {f"c:{sign}" for sign in before.signs if sign.startswith("thing:")}
        if asked and _LASTS.isdisjoint(before.kind_set | reading.kind_set):
            features |= asked | {"c:asked"}
        if before.kind_set & {"PERSONAL", "MY"} and "THING" not in before.kind_set:
            features.add("c:life")
    return frozenset(features)


def _is_informative(first: str, second: str) -> bool:
    """Whether a pair of neighbouring kinds carries information.

    Words that are in no list do so only after a kind that calls for words.
    """
    calls = first in ("^", "NOT", "STAND", "STOP", "PLEASE", "AGAIN_OK", "NO_NEED", "WISH")
    return OTHER_WORDS not in (first, second) or calls


def _length(count: int) -> str:
    return "short" if count <= 3 else "mid" if count <= 8 else "long" if count <= 14 else "verylong"


def _signs_of_verbs(reading: MarkedSentence) -> Iterator[str]:
    """Whether each verb that removes is negated, has a subject, or is an imperative."""
    kinds, marks = reading.kinds, reading.marks
    for place, kind in enumerate(kinds):
        if kind == "GONE" and marks[place].text == "out of" and _is_elsewhere(marks[place:]):
            yield "elsewhere"
        if kind not in _REMOVES:
            continue
        if not reading.japanese:
            yield from _signs_of_subject(reading, place)
        if _is_elsewhere(marks[place + 1 :]):
            yield "elsewhere"
        clause = kinds[:place][::-1]
        clause = clause[: clause.index(BREAK)] if BREAK in clause else clause
        yield "imp" if all(before in _BEFORE_IMPERATIVE for before in clause) else "late"


def _is_kept(reading: MarkedSentence) -> bool:
    """Whether a negation, a time to come or a question governs a verb that removes.

    For example "I didn't ask you to forget it", "lösch mein Gehalt nicht aus deinem Gedächtnis".
    """
    if reading.japanese:
        return _JA_KEPT.search(reading.text) is not None
    return any(
        _governs(reading.marks, place)
        for place, kind in enumerate(reading.kinds)
        if kind in _REMOVED
    )


def _governs(marks: Sequence[WishMark], verb: int) -> bool:
    """Whether the words around a verb that removes keep what it names.

    A negation is in its clause, and before any "please" of it, or ends the clause before "dass" or
    "zu". A question word or a time opens its clause.
    """
    start = next((place + 1 for place in reversed(range(verb)) if _begins_anew(marks, place)), 0)
    end = next(
        (place for place in range(verb, len(marks)) if marks[place].kind == BREAK), len(marks)
    )
    before = marks[start:verb]
    body = [mark for mark in before if mark.kind not in ("LEAD", "FUNC")]
    if body and (body[0].kind == "HOW" or _NOT_NOW.match(" ".join(mark.text for mark in body))):
        return True
    asked = max((place for place, mark in enumerate(before) if mark.kind == "PLEASE"), default=-1)
    if any(map(_negates, before[asked + 1 :])):
        return True
    if any(mark.text in _NOT_BEHIND for mark in marks[verb + 1 : end]):
        return True
    depends = before and (before[0].text == "dass" or before[-1].text == "zu")
    return bool(depends) and any(map(_negates, marks[max(start - 3, 0) : start]))


def _begins_anew(marks: Sequence[WishMark], place: int) -> bool:
    """Whether a clause ends at a mark; "don't go and delete it" is one."""
    joins = marks[place].text in ("and", "und")
    return marks[place].kind == BREAK or (
        joins and place > 0 and not marks[place - 1].text.endswith("go")
    )


def _negates(mark: WishMark) -> bool:
    return mark.kind in ("NOT", "NO_NEED") or _NO_ONE.match(mark.text) is not None


def _is_elsewhere(marks: Sequence[WishMark]) -> bool:
    """Whether the thing is to be removed from a place that is no memory.

    For example "from the guest list", "aus dem Wiki".
    """
    for place, mark in enumerate(marks):
        if mark.text in ("from", "out of", "aus"):
            behind = next(
                (other.kind for other in marks[place + 1 :] if other.text not in ARTICLES), ""
            )
            if behind in (OTHER_WORDS, "THING"):
                return True
    return False


def _signs_of_subject(reading: MarkedSentence, place: int) -> Iterator[str]:
    verb, before = reading.marks[place].text, reading.marks[place - 1] if place else None
    if (
        before is None
        or verb in _INFINITIVES
        or (verb in _TAKE_BACK and "DONT_KEEP" in reading.kind_set)
    ):
        return
    if before.kind in ("ME", "OTHER", "HABIT") and verb not in _SECOND_PERSON:
        yield "subj"


def _signs_of_words(reading: MarkedSentence) -> Iterator[str]:
    kinds = reading.kind_set
    first = next((kind for kind in reading.kinds if kind not in ("LEAD", BREAK)), "")
    if first in ("HOW", "ASKS_BACK"):
        yield "how0"
    if _SUPPOSED.match(reading.text.lstrip()):
        yield "supposes"
    if kinds & {"MY", "PRON", "MEMORY"} and _TAKEN_OUT.search(reading.text):
        yield "takeout"
    if _is_kept(reading):
        yield "neg"
    if "EMAIL" in kinds:
        yield "email"
    if "THING" in kinds:
        yield "thing"
        if not kinds & {"MEMORY", "TOLD", "KNOW", "KEEP", "REGRET"}:
            yield "thingonly"


def _signs_of_clauses(reading: MarkedSentence) -> Iterator[str]:
    """The beginnings of clauses: an action of the assistant, its prohibition, or a subject."""
    for clause in clauses_of(reading):
        body = [
            mark.kind for mark in clause if mark.kind not in ("LEAD", "PLEASE", "FUNC", "STAND")
        ]
        if body and body[0] in ACTS:
            yield f"do0:{body[0]}"
        if len(body) > 1 and body[0] in ("NOT", "STOP") and body[1] in ACTS:
            yield f"no0:{body[1]}"
        if body and body[0] in ("ME", "OTHER", "HABIT"):
            yield "subj0"
        for first, second in pairwise(clause):
            if first.kind == "STAND" and second.kind in ACTS:
                yield f"st0:{second.kind}"


def _signs_of_things(reading: MarkedSentence) -> Iterator[str]:
    """The verb that begins each clause, and the first word of what it asks for.

    They tell whether a single thing is asked for ("write a", "make it"), or all things. None of a
    sentence that may ask to forget something.
    """
    if not reading.kind_set.isdisjoint(_FORGETS):
        return
    for clause in clauses_of(reading):
        marks = {mark.start: mark for mark in reversed(clause) if mark.kind not in _BESIDE_THING}
        words = [
            (word, mark.kind)
            for _, mark in sorted(marks.items())
            for word in (mark.text.split() if mark.kind == OTHER_WORDS else (mark.text,))
        ]
        if words and words[0][1] in _ASKS_FOR:
            (verb, kind), (thing, kind_of_thing) = words[0], (*words, ("", BREAK))[1]
            if thing.isdecimal() or thing in _NUMBERS:
                thing = "number"
            elif kind_of_thing != "FUNC" and thing not in ARTICLES:
                thing = kind_of_thing
            yield from (f"thing:{thing}", f"asks:{kind}:{thing}", f"verb:{verb}")


def _signs_of_requests(reading: MarkedSentence, signs: frozenset[str]) -> Iterator[str]:
    """Whether a verb that removes is requested, and which objects it has.

    Its objects are statements, known or personal things.
    """
    kinds = reading.kind_set
    known_kinds = kinds & {"TOLD", "KNOW", "MEMORY", "PERSONAL", "ABOUT_JA", "MY"}
    modal = kinds & {"MUST", "WISH", "PLEASE"} or any(
        mark.text in ("be", "could", "can") for mark in reading.marks
    )
    if "GONE" in kinds and modal and not signs & {"thingonly", "neg"}:
        yield from (f"gone:{about}" for about in known_kinds)
    if "DONT_KEEP" in kinds and "subj0" not in signs and "thingonly" not in signs:
        yield from (f"keepnot:{about}" for about in known_kinds or {"else"})
    removes = kinds & {"FORGET", "DELETE", "VERGESSEN", "DROP"}
    if not removes or signs & {"thingonly", "neg"}:
        return
    asked = "imp" in signs or "PLEASE" in kinds
    strong = "DROP" not in removes or len(removes) > 1
    for about in ("TOLD", "KNOW", "MEMORY", "PERSONAL", "ABOUT_JA", "MY"):
        if asked and about in kinds:
            yield f"ask:{about}" if strong else f"perhaps:{about}"
    marks = reading.marks
    if asked and any(
        mark.kind == OTHER_WORDS and mark.text.split()[0] in reading.capitals for mark in marks
    ):
        yield "ask:NAME" if strong else "perhaps:NAME"


def clauses_of(reading: MarkedSentence) -> list[list[WishMark]]:
    """The marks of each clause, in order."""
    clauses: list[list[WishMark]] = [[]]
    for mark in reading.marks:
        ends = mark.kind == BREAK or (mark.text in _CLAUSE_WORDS and clauses[-1])
        if ends and not (mark.text == "also" and reading.japanese):
            clauses.append([])
        else:
            clauses[-1].append(mark)
    return clauses


def _japanese_signs(reading: MarkedSentence) -> Iterator[str]:
    if not reading.japanese:
        return
    if _JA_FORBIDS.search(reading.text):
        yield "jforbid"
    if _JA_ASKS.search(reading.text):
        yield "jask"
    if _JA_PROPOSES.search(reading.text):
        yield "neg"


def is_call_to_act(reading: MarkedSentence) -> bool:
    """Whether a clause begins with an action that the assistant should do or avoid."""
    return any(sign.startswith(("do0:", "no0:", "st0:")) for sign in reading.signs)


def _may_instruct(reading: MarkedSentence) -> bool:
    """Whether the kinds of a sentence are those of an instruction, or of its end."""
    kinds = reading.kind_set
    if "how0" in reading.signs:
        return False
    about = (ACTS - {"LIMITS"}) | {"RULE", "STAND", "PERSONAL"}
    if kinds & {"AGAIN", "AGAIN_OK", "NO_NEED", "RULE"}:
        return bool(kinds & {*about, "LIMITS", "ABOUT_JA"})
    if kinds & {"LIMITS", "ADDRESS_ME"}:
        return True
    if "STAND" in kinds and kinds & {"NOT", "STOP", "WISH"}:
        return True
    forbids = bool(kinds & {"NOT", "STOP", "STAND"})
    if "MENTION" in kinds and forbids:
        return True
    if "SUGGEST" in kinds and (forbids or "PLEASE" in kinds or is_call_to_act(reading)):
        return True
    wants = {"STAND", "PLEASE", "MUST", "WISH", "NOT", "STOP"} | (
        {OTHER_WORDS} if is_call_to_act(reading) else set()
    )
    if kinds & {"ANSWER", "REPLY", "MANNER"} and kinds & wants:
        return True
    return is_call_to_act(reading) and bool(kinds & {"STAND", "NOT", "STOP", "PLEASE"})
