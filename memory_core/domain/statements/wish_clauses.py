"""The clauses of a long sentence, each read for an instruction by itself.

    "I'm on chapter 4, so I prefer short proofs, can you check mine"     "I prefer short proofs"
    "the cat is fine and from now on please call me Max and today …"     "from now on please call …"

An instruction is the shortest run of clauses that says it, in the words of the person: the clause,
with a condition before it or an exception behind it. In a long sentence it has to say that it
lasts, since most orders there belong to a single request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from memory_core.domain.statements.joined_orders import is_order
from memory_core.domain.statements.reported_speech import SPOKEN, orders_others
from memory_core.domain.statements.sentence_wishes import (
    Wish,
    plain_text,
    preference_in,
    wish_of_sentence,
)
from memory_core.domain.statements.wish_marks import WishMark
from memory_core.domain.statements.wish_signs import ACTS, MarkedSentence, read
from memory_core.domain.text.analyzer import has_japanese
from memory_core.domain.text.sentences import Sentence

LONG: Final = 200
"""Characters of a sentence that is read as a whole; a longer sentence tells a story, too."""
LONG_IN_JAPANESE: Final = 100
MOST_WITHOUT_MARKS: Final = 120
"""Characters of a clause; a longer stretch without a mark is several clauses."""
MOST_OF_ITEM: Final = 4
"""Words of an item of a list: "never suggest wine, dark beer or spirits"."""
MOST_OF_TOPIC: Final = 16
"""Characters of a topic before a Japanese clause: 「私には、」."""
_JOINS: Final = (
    r"(?:and|but|so|oh|also|anyways?|anyhow|because|cause|cos|then|plus|und|aber|jedenfalls|denn"
    r"|übrigens|sondern)"
)
_BEGINS: Final = (
    r"(?:i|i['’]?(?:m|ve|d|ll)|we|he|she|they|it|it['’]s|you|my|our|his|her|their|the|this|that"
    r"|there|then|now|please|pls|from (?:now|here|today) on|in (?:the )?future|going forward"
    r"|when(?:ever)?|if|always|never|do not|don['’]?t|no more|ich|wir|er|sie|es|du|man|mein\w{0,2}"
    r"|unser\w{0,2}|der|die|das|dem|bitte|ab (?:jetzt|sofort|heute)|in zukunft|künftig|immer|nie"
    r"|jetzt|wenn|falls|dann|\w{1,15} mich)"
)
_MARKS: Final = re.compile(r"(?<=[,;:])\s+|\s[–—-]\s|(?<=[、，；：])")
_BETWEEN: Final = re.compile(
    rf"\s(?={_JOINS} (?:(?:{_JOINS}|um|uh|ja|well) )?{_BEGINS}\b|(?:anyways?|anyhow|jedenfalls) )",
    re.IGNORECASE,
)
"""Where a clause begins in speech that has no marks."""
_OPENS: Final = re.compile(
    rf"\W{{0,3}}(?:(?:{_JOINS}|um|uh|well|honestly|okay|ok|by the way|btw|ach|ja|nun)\b"
    r"[\s,]{1,4}){1,5}|(?:あと|それから|それと|ちなみに)(?=.)",
    re.IGNORECASE,
)
"""Words before a clause that only join it."""
_CONDITION: Final = re.compile(
    r"(?P<joins>(?:and|but|so|oh|und|aber|also) )?(?:when(?:ever)?|if|before|after|as soon as|wenn"
    r"|falls|sobald|bevor|nachdem|(?P<except>unless|except|until|as long as|außer|es sei denn"
    r"|sofern|solange))\b",
    re.IGNORECASE,
)
_GOES_ON: Final = re.compile(
    r"(?:dass|ob|ohne|um|damit|was|wie|wo|welche[rsmn]?|(?:die|der|das|den|dem|deren|dessen)"
    r" (?:ich|du|man|wir|sie|er|es|mir|mich|nicht|nur|mehr|keine?n?))\b",
    re.IGNORECASE,
)
"""The beginning of a German clause that belongs to the clause before it."""
_ITEM: Final = re.compile(
    rf"(?P<last>(?:and|or|und|oder) )?(?!{_BEGINS}\b)\S+(?: \S+){{0,{MOST_OF_ITEM - 1}}}[,.]?",
    re.IGNORECASE,
)
_ADJECTIVE: Final = re.compile(r" prefer [a-z][a-z-]{2,20}\Z")
_NOUN: Final = re.compile(
    rf"\s(?!(?:{_JOINS}|{_BEGINS}|how|can|could|would|what|which|who|where|is|are|do|does|a|an"
    r"|some|though|not|thanks?|especially)\b)[a-z]"
)
"""The rest of "I prefer simple," with the noun of the adjective."""
_GOVERNED: Final = re.compile(
    r"(?:(?:and|but|und|aber) )?(?:that|which|who(?:se|m)?|to|than|as (?!a rule)|where|while"
    r"|although|though|how|why|whether|dass|ob|weil|obwohl|während|nachdem|wer|wessen|was"
    r"|welche[rsmn]?)\b",
    re.IGNORECASE,
)
"""The beginning of a clause that another clause governs."""
_GOVERNS: Final = re.compile(
    r"\b(?:that (?!you\b)|why|how|which|who|whose|because|since|where|whether|weil|warum|wieso)\b"
)
_ALL_REPLIES: Final = re.compile(
    r"\b(?:your|all(?: your)?|(?:dein|ihr)e[nr]?|alle[nr]?) (?:[\w-]+ )?\w+\Z"
    r"|\b(?:every|any)thing you write\Z"
)
"""Words for all answers: "your replies"."""
_TOPIC_IN_JAPANESE: Final = re.compile(r"(?:[はも]|とき|時|場合|際)、?\Z")
_REPORTED_IN_JAPANESE: Final = re.compile(
    r"(?:と|って)(?:言|話|書|いう|いっ|頼|教え|聞|注意|伝え|の|思)"
)
_ASKS_IN_JAPANESE: Final = re.compile(
    r"ください|下さい|ほしい|欲しい|くれ|お願い|いただけ|もらえ|頼|[てで][ねよ]\Z"
)
"""Words of a request; 「使わないで、」 within a sentence may only join two clauses."""
_LASTS: Final = frozenset({"STAND", "RULE", "ADDRESS_ME", "NO_NEED", "AGAIN_OK", "LIMITS"})
"""Kinds of words with which a request is for more than a single answer."""
_ONCE: Final = frozenset({"もう", "答え", "mehr", "no more", "なしで", "やめて"})
"""Words of these kinds with which it may be for a single answer, too."""
_BESIDE_ORDER: Final = frozenset({"STAND", "LEAD", "PLEASE", "FUNC"})
_ADDRESSES: Final = frozenset({"PLEASE", "YOU", "WISH", "ADDRESS_ME"})


def is_long(text: str) -> bool:
    """Whether a sentence is read by its clauses."""
    return len(text) > (LONG_IN_JAPANESE if has_japanese(text) else LONG)


def wishes_of_clauses(sentence: Sentence) -> Iterator[Wish]:
    """The instructions in a long sentence, and their ends, with their places in the message."""
    spoken = SPOKEN.search(sentence.text)
    clauses = _Clauses(sentence.text if spoken is None else sentence.text[: spoken.end()])
    place = 0
    while place < len(clauses.bounds):
        wish = clauses.wish(place, place)
        last = place
        if wish is None and clauses.may_join(place):
            wish = clauses.wish(place, place + 1)
            last += wish is not None
        if wish is not None:
            whole, last = clauses.widened(wish, place, last)
            yield replace(whole, start=sentence.start + whole.start, end=sentence.start + whole.end)
        place = last + 1


def _bounds_of_clauses(text: str) -> Iterator[tuple[int, int]]:
    """The bounds of the clauses of a sentence."""
    start = 0
    for mark in (*_MARKS.finditer(text), None):
        stop, begin = (len(text), len(text)) if mark is None else mark.span()
        if mark is not None and _GOES_ON.match(text, begin):
            continue
        if stop - start > MOST_WITHOUT_MARKS:
            for between in _BETWEEN.finditer(text, start, stop):
                if " " in text[start : between.start()].strip():
                    yield start, between.start()
                    start = between.end()
        if text[start:stop].strip():
            yield start, stop
        start = begin


class _Clauses:
    """The clauses of a sentence, and what runs of them wish."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.bounds: Sequence[tuple[int, int]] = [*_bounds_of_clauses(text)]
        self._readings = [read(text[start:end]) for start, end in self.bounds]

    def wish(self, first: int, last: int) -> Wish | None:
        """The instruction that a run of clauses says by itself, or its end."""
        start, end = self._bounds(first, last)
        words = self._words(start, end)
        if not words or is_long(words) or _GOVERNED.match(words) is not None:
            return None
        if _REPORTED_IN_JAPANESE.match(self.text, end) is not None:
            return None
        if (preference := preference_in(words)) is not None:
            wish = Wish("instruction", 0, preference, start, end)
        else:
            reading = read(plain_text(words))
            if not _is_meant(reading, listed=":" in self.text[:start]) or (
                reading.japanese
                and end < len(self.text)
                and _ASKS_IN_JAPANESE.search(words) is None
            ):
                return None
            read_wish = wish_of_sentence(words, reading, None)
            if read_wish is None or read_wish.kind == "forget" or read_wish.surety != "sure":
                return None
            wish = replace(read_wish, start=start, end=end)
        said_before = self.text[self.bounds[max(first - 1, 0)][0] : end]
        return None if orders_others(said_before) else wish

    def may_join(self, place: int) -> bool:
        """Whether a clause and the clause behind it may be a wish only together."""
        if place + 1 >= len(self.bounds) or self.wish(place + 1, place + 1) is not None:
            return False
        both = self.bounds[place : place + 2]
        return (
            self._is_topic(place)
            or any(_CONDITION.match(self.text, start) for start, _ in both)
            or any(map(_only_lasts, self._readings[place : place + 2]))
        )

    def widened(self, wish: Wish, first: int, last: int) -> tuple[Wish, int]:
        """The wish of a run with its conditions and exceptions, and its last clause."""
        words = self._words(wish.start, wish.end)
        if (
            _NOUN.match(self.text, wish.end)
            and _ADJECTIVE.search(wish.text)
            and words.endswith(wish.text)
        ):
            end = self.bounds[last + 1][1]
            noun = self._words(wish.end, end)
            return replace(wish, text=f"{wish.text}, {noun}", end=end), last + 1
        if wish.text != words:  # a preference, or a rule behind a lead
            return wish, last
        while first and self._leads(first - 1):
            first -= 1
        while last + 1 < len(self.bounds) and self._trails(last + 1):
            last += 1
        last = self._end_of_list(last)
        start, end = self._bounds(first, last)
        words = self._words(start, end)
        return (wish if is_long(words) else replace(wish, text=words, start=start, end=end)), last

    def _bounds(self, first: int, last: int) -> tuple[int, int]:
        start, end = self.bounds[first][0], self.bounds[last][1]
        opening = _OPENS.match(self.text, start, end)
        return (start if opening is None else opening.end()), end

    def _words(self, start: int, end: int) -> str:
        return " ".join(self.text[start:end].strip(" ,;:–—-、").split())

    def _is_topic(self, place: int) -> bool:
        start, end = self.bounds[place]
        return end - start <= MOST_OF_TOPIC and bool(
            _TOPIC_IN_JAPANESE.search(self.text[start:end])
        )

    def _leads(self, place: int) -> bool:
        """Whether a clause is a condition of the clause behind it."""
        condition = _CONDITION.match(self.text, self.bounds[place][0])
        return (
            self._is_topic(place)
            or _only_lasts(self._readings[place])
            or (
                condition is not None
                and (
                    place == 0
                    or condition["joins"] is not None
                    or self._readings[place].kinds[:1] == ("STAND",)
                )
            )
        )

    def _trails(self, place: int) -> bool:
        """Whether a clause is a condition of the clause before it, or an exception."""
        condition = _CONDITION.match(self.text, self.bounds[place][0])
        return _only_lasts(self._readings[place]) or (
            condition is not None
            and condition["joins"] is None
            and (
                condition["except"] is not None
                or not self._readings[place].kind_set.isdisjoint({"STAND", "YOU"})
            )
        )

    def _end_of_list(self, last: int) -> int:
        """The clause that ends a list, which begins in a wish."""
        for place in range(last + 1, len(self.bounds)):
            item = _ITEM.fullmatch(self.text, *self.bounds[place])
            if item is None:
                break
            if item["last"] is not None:
                return place
        return last


def _is_meant(reading: MarkedSentence, *, listed: bool) -> bool:
    """Whether a clause surely asks the assistant for something that lasts.

    Args:
        reading: The clause.
        listed: Whether it may be an item of a list of others' rules, without an address.

    """
    kinds = reading.kind_set
    governed = _GOVERNS.search(reading.text, 1)  # "since I'm Swedish please always …" is none
    end = len(reading.text) if governed is None else governed.start()
    if (reading.asks and "PLEASE" not in kinds) or not any(
        mark.start < end and _lasts(mark, reading) for mark in reading.marks
    ):
        return False
    addresses = not kinds.isdisjoint(_ADDRESSES)
    return (is_order(reading) and not listed) or (
        addresses
        and not kinds.isdisjoint(ACTS | {"REPLY"})
        and (not reading.japanese or not reading.signs.isdisjoint({"jask", "jforbid"}))
    )


def _lasts(mark: WishMark, reading: MarkedSentence) -> bool:
    """Whether a word says that a request is for more than a single answer."""
    if mark.kind == "REPLY" and not reading.japanese:
        return _ALL_REPLIES.search(reading.text, 0, mark.end) is not None
    if mark.kind == "HABIT":
        return mark.text.startswith("you ")
    return (mark.kind in _LASTS or mark.kind == "REPLY") and mark.text not in _ONCE


def _only_lasts(reading: MarkedSentence) -> bool:
    """Whether a clause only makes an order last: "from now on", "always"."""
    kinds = reading.kind_set
    return kinds <= _BESIDE_ORDER and not kinds.isdisjoint({"STAND", "PLEASE"})
