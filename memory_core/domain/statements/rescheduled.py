"""Read that a later sentence moves, corrects or calls off what an earlier sentence expects.

    "a haircut on Thursday at 3" … "The haircut is on Friday instead."   Friday at 3
    "an interview at 9 tomorrow" … "The interview was moved to 11."      tomorrow at 11
    "the dentist is on Monday at 9" … "No, I meant Tuesday."             Tuesday at 9
    "I'm flying to Rome on the 5th" … "The flight is cancelled."         called off

What is expected happens once. So a sentence that names the same thing with another time is about
the new time, and it needs no word for a change. It must add nothing else, though: "the exam is on
Tuesday" moves the exam, "the exam results come on Tuesday" does not. A sentence without the thing
counts only as a correction of the words just before it. The day or the hour that is not said again
is that of the earlier sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Literal

from memory_core.domain.statements.announced import time_ahead
from memory_core.domain.statements.appointment_words import PUT_OFF
from memory_core.domain.statements.change_phrases import (
    INSTEAD,
    MOVES,
    NAMED_OLD,
    NOW_INDEED,
    SUPPOSED,
)
from memory_core.domain.statements.change_sentences import SaidSentence
from memory_core.domain.statements.corrected import (
    TIME_WORDS,
    Fate,
    besides_times,
    correction,
    fate_in,
)
from memory_core.domain.statements.said_things import SELF, Thing
from memory_core.domain.statements.same_thing import shared_terms, tells_of_another
from memory_core.domain.statements.things_in_common import in_common
from memory_core.domain.statements.values_said import values_in
from memory_core.domain.text.analyzer import has_japanese, words
from memory_core.domain.text.clock_times import clock
from memory_core.domain.text.spelling import ANY_GERMAN_WEEKDAY, ANY_WEEKDAY

_DAY = timedelta(days=1)
_DAYTIME = 7
"""Earlier hours are those of the afternoon, where neither sentence says it."""
_GENERIC_WORDS = """
    appoint appointment meet meeting session slot book booking reserv reservation lesson class visit
    date time termin
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())
"""Heads that add nothing to the thing before them: haircut, haircut appointment."""
_NONE_OF = re.compile(r"\b(?:no|kein\w{0,2}) (?P<what>[\w-]+(?: [\w-]+)?)", re.IGNORECASE)
"""Words for what does not take place: "so no lesson on Monday"."""
_HAS = re.compile(r"\b(?:have|has|had|got|want|need|haben?|hat|hatte|brauche)\b", re.IGNORECASE)
_ANOTHER = re.compile(
    r"\b(?:an?|another|ein(?:e[nrms]?)?|noch|next time)\b|があり|が入|を(?:予約し|入れ)",
    re.IGNORECASE,
)
"""Words for a further thing."""
_TIME = rf"(?:\d|noon|tomorrow|(?:next )?(?:{ANY_WEEKDAY})|(?:de[nr] )?(?:{ANY_GERMAN_WEEKDAY}))"
_PUT_TO_A_TIME = re.compile(
    rf"\b(?:got|gets?|was|were|is|are|been|being|be) [a-z]{{2,15}}(?:ed|t) to {_TIME}"
    rf"|\bauf {_TIME}[^,;]{{0,30}} (?:ge[a-zß]{{3,12}}t|[a-z]{{2,8}}ge[a-zß]{{3,12}}[tn])\b"
    r"|(?:曜日?|日|時|半|分|週)に[^、。はがを]{0,6}(?:れました|れた|なりました|なった)",
    re.IGNORECASE,
)
"""A participle with the time that a thing is put to: got switched to Friday, auf Freitag gelegt."""
_ANOTHERS_WISH = re.compile(
    r"\b(?:they|he|she) (?:(?:now|just) )?(?:wants? to|would like to|need to|needs to)\b"
    r"|\b(?:they|he|she)'d like to\b|\b(?:sie|er) (?:wollen|will|möchten|möchte)\b"
    r"|てほしい(?:そう|とのこと|と言)",
    re.IGNORECASE,
)
"""Who comes for an appointment, or sees the speaker, wants it at another time."""
_RATHER = re.compile(r"\b(?:instead|lieber|stattdessen)\b|にして", re.IGNORECASE)
_RETURN = re.compile(r"\b(?:return|back from|flight back|rück\w+|heim\w+)\b|帰", re.IGNORECASE)
_ONLY_SUPPOSED_AHEAD = frozenset({"will", "going to", "gonna"})
_BESIDE = re.compile(
    r"\b(?:with|for|to|mit|bei|für|nach|von)\s(?:(?:the|my|our|dr|mr|mrs|ms|dem|der|den)\.?\s)*"
    r"(?P<name>(?-i:[A-ZÀ-Þ])[\w-]+)",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s(?:to|for|of|with|from|about|near|after|before|nach|zum|zur|mit|für|von|vom|bei|beim)"
    r"\s(?!\d|noon|(?:next )?(?:" + ANY_WEEKDAY + "|" + ANY_GERMAN_WEEKDAY + r")\b)"
    r"(?:(?:the|my|our|a|an|der|die|das|dem|den|mein\w{0,2}|unser\w{0,2})\s)?[\w-]+",
    re.IGNORECASE,
)
"""A preposition and the noun after it, which tells which thing is meant."""
_TO_IN_GERMAN = re.compile(r"\bauf\b", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?(?P<half>[ap])?m?\Z"
    r"|(?P<ja>\d{1,2})時(?:(?P<ja_half>半)|(?P<ja_minute>\d{1,2})分)?\Z"
)
_BARE_HOUR = re.compile(
    r"\b(?:to|until|auf|at|um|from|now|is)\s(?P<hour>\d{1,2})"
    r"(?=\s*(?:[.,;!?]|$|(?:on|in|instead|now|not|because|tomorrow|rather)\b))",
    re.IGNORECASE,
)
_NEXT = re.compile(r"\b(?:next|nächste\w*|kommende\w*)\b|来週|再来週", re.IGNORECASE)
_TODAY = re.compile(r"\b(?:today|tonight|heute)\b|今日|今夜|今晩", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Appointment:
    """What a sentence expects.

    Attributes:
        sentence: The sentence.
        start: When it begins, in the speaker's time zone.
        end: When it is over; None for no end.

    """

    sentence: SaidSentence
    start: datetime
    end: datetime | None

    @property
    def is_short(self) -> bool:
        """Whether it takes a day at most, so that it can be moved to another."""
        return self.end is None or self.end - self.start <= _DAY

    @property
    def has_hour(self) -> bool:
        """Whether it begins at an hour, and not with the day."""
        return (self.start.hour, self.start.minute) != (0, 0)


@dataclass(frozen=True, slots=True)
class Rescheduling:
    """The effect of a later sentence on an appointment.

    Attributes:
        effect: What becomes of the appointment.
        statement: The later sentence.
        start: When the appointment begins now; None where that is open or never.
        end: When it is over.
        shared: The words that name the thing in both; empty for a correction without the thing.

    """

    effect: Fate | Literal["changed"]
    statement: str
    start: datetime | None
    end: datetime | None
    shared: frozenset[str]


def rescheduling(
    before: Appointment, now: SaidSentence, said_at: datetime, *, follows: bool
) -> Rescheduling | None:
    """Read what a later sentence says about an appointment.

    Args:
        before: The appointment.
        now: A later sentence of the same person.
        said_at: When it was said, in the speaker's time zone.
        follows: Whether it comes directly after the words about the appointment.

    Returns:
        None where the sentence does not change the appointment, or where that is over.

    """
    if _is_only_supposed(now.text) or (now.asks and not now.corrects) or now.named.adds:
        return None
    if not date.min.year < before.start.year < date.max.year:
        return None  # no day beside it may exist
    if before.end is not None and before.end <= said_at:
        return None
    if tells_of_another(before.sentence, now):
        return None
    for clause in now.clauses:
        part = SaidSentence(clause.text, ends_asking=False)
        shared = frozenset[str]() if clause.asks else _thing_in_both(before.sentence, part)
        if not shared:
            continue
        becomes = _becomes(before, part, shared)
        if becomes != "called off" and _may_move(before, part, now):
            start = _new_start(before, part.text, said_at)
            if start is not None:
                return _moved(before, now, start, shared)
        if becomes is not None:
            return Rescheduling(becomes, now.text, None, None, shared)
    if follows:
        return _corrected(before, now, said_at)
    return None


def _moved(
    before: Appointment, now: SaidSentence, start: datetime, shared: frozenset[str]
) -> Rescheduling | None:
    if not before.is_short:
        return None
    end = before.end
    if end is not None:
        is_day = end == _midnight(before.start) + _DAY
        end = _midnight(start) + _DAY if is_day else start + (end - before.start)
    return Rescheduling("changed", now.text, start, end, shared)


def _corrected(before: Appointment, now: SaidSentence, said_at: datetime) -> Rescheduling | None:
    """Read a sentence that says nothing but another time: "Sorry, not Saturday, Sunday"."""
    read = correction(before.sentence, now)
    if read is None:
        return None
    if read.of == "name":
        return Rescheduling("changed", now.text, before.start, before.end, frozenset())
    if read.of != "time":
        return Rescheduling(read.of, now.text, None, None, frozenset())
    start = _new_start(before, now.text, said_at)
    return None if start is None else _moved(before, now, start, frozenset())


def _is_only_supposed(text: str) -> bool:
    if _RATHER.search(text) is not None:
        text = _ANOTHERS_WISH.sub(" ", text)
    return any(
        match.group().casefold() not in _ONLY_SUPPOSED_AHEAD for match in SUPPOSED.finditer(text)
    )


def _thing_in_both(before: SaidSentence, now: SaidSentence) -> frozenset[str]:
    """The words that name the thing of both sentences.

    Not where the later sentence names a person or place that the earlier one does not, or tells of
    the way back.
    """
    if _RETURN.search(now.text) is not None and _RETURN.search(before.text) is None:
        return frozenset()
    known = frozenset(before.words)
    for match in _BESIDE.finditer(now.text):
        name = match["name"].casefold()
        if name not in known and name not in TIME_WORDS:
            return frozenset()
    if has_japanese(now.text):
        shared = shared_terms(before.terms, now.terms)
        return in_common(before.named, now.named.things, shared, shared_terms)
    core = SaidSentence(_TAIL.sub(" ", now.text), ends_asking=False)
    theirs, ours = _named_in(before.named.things), _named_in(core.named.things)
    shared = shared_terms(theirs, ours) | shared_terms(ours, theirs)
    things = [
        thing if thing.words <= _GENERIC else replace(thing, pre=frozenset())
        for thing in now.named.things
    ]
    return in_common(before.named, things, shared, shared_terms)


def _named_in(things: tuple[Thing, ...]) -> frozenset[str]:
    return frozenset(
        term
        for thing in things
        for term in thing.words | thing.pre
        if term not in TIME_WORDS or thing.pre or thing.owner not in ("", SELF)
    )


def _becomes(before: Appointment, now: SaidSentence, shared: frozenset[str]) -> Fate | None:
    """What a sentence says to become of the appointment; None where it takes place."""
    fate = fate_in(now.text)
    if fate is None and now.values.whens and (none := _NONE_OF.search(now.text)) is not None:
        fate = None if shared.isdisjoint(words(none["what"])) else "called off"
    return fate if fate is not None and _agrees(before, now.text) else None


def _may_move(before: Appointment, part: SaidSentence, now: SaidSentence) -> bool:
    """Whether a sentence that names the thing may tell its new time."""
    if now.corrects or _PUT_TO_A_TIME.search(part.text) is not None:
        return True
    if _ANOTHER.search(part.text) is not None:
        return False
    old = [match["old"] or match["alt"] for match in NAMED_OLD.finditer(now.text)]
    if (
        part.moves
        or INSTEAD.search(part.text) is not None
        or (_ANOTHERS_WISH.search(part.text) and _RATHER.search(part.text))
        or NOW_INDEED.search(part.text) is not None
        or any(value and values_in(value) for value in old)
    ):
        return True
    return not _HAS.search(part.text) and not besides_times(part.text, before.sentence)


def _agrees(before: Appointment, text: str) -> bool:
    """Whether the day that a text names, if any, is that of the appointment."""
    whens = values_in(text).whens
    ours = {
        "weekday": str(before.start.weekday()),
        "date": str(before.start.day),
        "month": str(before.start.month),
    }
    return all(kind not in whens or value in whens[kind] for kind, value in ours.items())


def _new_start(before: Appointment, text: str, said_at: datetime) -> datetime | None:
    """When the appointment begins by a text with a new time.

    None if it names no other time.
    """
    new_time = _new_time_in(before, text)
    if new_time is None:
        return None
    new_time = NAMED_OLD.sub(" ", new_time)
    ahead = time_ahead(new_time, said_at)
    day = _new_day(before, new_time, said_at)
    if day is None and ahead is not None and ahead.end - ahead.start <= _DAY and ahead.intrinsic:
        day = ahead.start.date()
    hours = _new_clock(before, new_time)
    if hours is None and ahead is not None and ahead.start != said_at:
        of_ahead = (ahead.start.hour, ahead.start.minute)
        hours = None if of_ahead == (0, 0) else of_ahead
    if day is None and hours is None:
        return None
    hour, minute = hours or (before.start.hour, before.start.minute)
    on = day or before.start.date()
    start = before.start.replace(year=on.year, month=on.month, day=on.day, hour=hour, minute=minute)
    return None if start == before.start or start.date() < said_at.date() else start


def _new_time_in(before: Appointment, text: str) -> str | None:
    """The part of a text that tells the new time.

    A time before "moved" or "verschoben auf" tells which thing is meant: "my haircut on Friday was
    moved to 3". None where that is another thing.
    """
    german = list(_TO_IN_GERMAN.finditer(text))
    match = german[-1] if german else None if has_japanese(text) else MOVES.search(text)
    if match is None or not values_in(text[: match.start()]).whens:
        return text
    rest = text[match.start() :]
    if values_in(rest).whens or _BARE_HOUR.search(rest):
        return rest if _agrees(before, text[: match.start()]) else None
    return text if PUT_OFF.search(text) is None else None


def _new_day(before: Appointment, text: str, said_at: datetime) -> date | None:
    """The day that a text names instead of the appointment's; None for no such day."""
    was, today = before.start.date(), said_at.date()
    whens = values_in(text).whens
    numbers = {int(number) for number in whens.get("date", ())} - {was.day}
    if len(whens.get("date", ())) == 1 and len(whens.get("month", ())) == 1:
        numbers = {int(number) for number in whens["date"]}
    if len(numbers) == 1:
        months = {int(month) for month in whens.get("month", ())}
        days = [
            on
            for offset in range(-200, 201)
            if (on := was + timedelta(offset)).day in numbers
            and (not months or on.month in months)
            and on >= today
        ]
        return min(days, key=lambda on: abs(on - was), default=None)
    weekdays = {int(day) for day in whens.get("weekday", ())} - {was.weekday()}
    if len(weekdays) == 1 and _NEXT.search(text) is None:
        days = [
            on
            for offset in range(-3, 11)
            if (on := was + timedelta(offset)).weekday() in weekdays and on > today
        ]
        return min(days, key=lambda on: abs(on - was), default=None)
    if _TODAY.search(text) is not None:
        return today
    return None


def _new_clock(before: Appointment, text: str) -> tuple[int, int] | None:
    """The hour and minute that a text names instead of the appointment's."""
    named = [*values_in(text).whens.get("time", ())]
    if not named and (bare := _BARE_HOUR.search(text)) is not None:
        named = [bare["hour"]]
    elif not named and (in_words := clock(text)) is not None:
        named = [f"{in_words.start // 60}:{in_words.start % 60:02}"]
    clocks = {new for value in named if (new := _clock(before, value, text)) is not None}
    clocks -= {(before.start.hour, before.start.minute)}
    return clocks.pop() if len(clocks) == 1 else None


def _clock(before: Appointment, value: str, text: str) -> tuple[int, int] | None:
    """A time of day, as hour and minute.

    Of two halves of the day it is in the one nearer to the appointment's hour.
    """
    if value in ("noon", "mittag", "mittags"):
        return 12, 0
    match = _CLOCK.match(value)
    if match is None:
        return None
    hour = int(match["hour"] or match["ja"])
    minute = int(match["minute"] or match["ja_minute"] or (30 if match["ja_half"] else 0))
    if hour > 23 or minute > 59:
        return None
    half = match["half"] or ("p" if "午後" in text else "a" if "午前" in text else None)
    if half:
        return hour % 12 + (12 if half == "p" else 0), minute
    if before.has_hour and 0 < hour <= 12:
        was = before.start.hour
        halves = ((hour + 12) % 24, hour % 24)
        hour = min(halves, key=lambda half: (abs(half - was), half < _DAYTIME))
    elif 0 < hour < _DAYTIME:
        hour += 12
    return hour, minute


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
