"""What a person expects, by all that they said since.

A memory keeps its foresight as it was told. What was said later moves an appointment, corrects its
time or calls it off, in the same conversation or in another, and this is read when a context is
made: the lines of `Expected:` tell the time that holds now, with the words that changed it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple

from memory_core.domain.fields import local
from memory_core.domain.memory import Foresight, Memory, MemoryType
from memory_core.domain.messages import is_cell, is_message, messages_in
from memory_core.domain.ranking.selection import Grant, Piece
from memory_core.domain.scenes import ProfileFact
from memory_core.domain.statements.announced import time_ahead
from memory_core.domain.statements.appointment_words import CANCELLED, PUT_OFF
from memory_core.domain.statements.attributes import place_of_attribute
from memory_core.domain.statements.change_messages import as_users, read
from memory_core.domain.statements.change_sentences import SaidSentence
from memory_core.domain.statements.corrected import may_answer
from memory_core.domain.statements.rescheduled import Appointment, Rescheduling, rescheduling
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.excerpts import covered, excerpt
from memory_core.domain.text.forward_dates import Ahead
from memory_core.domain.text.spelling import ANY_MONTH
from memory_core.domain.text.text_cache import keep_texts
from memory_core.recollection.gather import Rounds
from memory_core.recollection.quotations import expected, holds, is_ahead, shown_at, speaker
from memory_core.recollection.replaced_lines import MARK_TOKENS, SAME_TALK

SOON = timedelta(days=3)
"""The time from foresight's beginning or end within which a query without a sure answer gets it.

Other foresight is told then only if the query is about it.
"""
COMING = timedelta(days=30)
"""How long before its beginning foresight is told."""
LEAST_QUOTED = 0.5
"""The part of a sentence's words that foresight has if it was made of the sentence."""
_DAY = timedelta(days=1)
_YEARLY = re.compile(
    r"birthday|anniversary|geburtstag|誕生日|jahrestag|hochzeitstag|namenstag|name ?day|記念日"
)
"""Names of days that come again each year."""
_DAY_ALONE = re.compile(
    rf"\d{{1,2}}(?:st|nd|rd|th)? (?:{ANY_MONTH})\b|(?:{ANY_MONTH}) \d", re.IGNORECASE
)
"""A value that begins with a day and its month."""
BIRTHDAY = "birthday"
"""The one date of a profile that no change of plans changes."""
LATEST = 100
"""The newest episodic memories that are searched for foresight.

Foresight of older memories is found only by a query.
"""
LONG_OVER = timedelta(days=14)
"""How long foresight that is over is read: it may have been moved to a day that is still ahead."""
_MAY_CHANGE = re.compile(
    r"\d|(?:day|tag)s?\b|mittwoch|sonnabend|曜|[今明]日|tomorrow|tonight|morgen|heute|noon"
    r"|midnight|mittag|half|halb|\bno\b|kein|mean|sorry|oops|nein|nee|quatsch|mein|いや|すみ|間違"
)
"""Signs of a time, of a correction, or of what does not take place."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """Foresight as it holds now.

    Attributes:
        memory: The memory that has it.
        foresight: The foresight, with the time that holds now.
        said_at: When it was told or changed.
        mark: The words that changed it; empty where nothing did.
        is_off: Whether it was called off, or put off with no new time.
        person: Whose words told it, "" for the user.
        words: The sentence that tells it as it holds now.
        outdated: The sentences that told it otherwise.

    """

    memory: Memory
    foresight: Foresight
    said_at: datetime
    mark: str = ""
    is_off: bool = False
    person: str = ""
    words: str = ""
    outdated: frozenset[str] = frozenset()


def expectations(memories: Iterable[Memory], moment: datetime) -> list[Expectation]:
    """All foresight of memories, changed by what the same person said later.

    Args:
        memories: The memories, in any order.
        moment: The time of the context, in the caller's time zone.

    """
    ordered = sorted(
        {memory.id: memory for memory in memories}.values(),
        key=lambda memory: (memory.event_timestamp, memory.sequence),
    )
    first = next((place for place, memory in enumerate(ordered) if foreseen(memory, moment)), None)
    if first is None:
        return []
    statements = [*_sentences(ordered[first:], moment)]
    entries = [
        entry for memory in ordered[first:] for entry in _entries(memory, statements, moment)
    ]
    for statement in statements:
        if may_change(statement.sentence.text):
            _change(entries, statement)
    return [entry.expectation for entry in entries if not entry.is_gone]


@keep_texts(8_192)
def may_change(text: str) -> bool:
    """Whether a sentence has signs of a change; without any, it is not read."""
    return any(cue.search(text.lower()) is not None for cue in (_MAY_CHANGE, CANCELLED, PUT_OFF))


def foreseen(memory: Memory, moment: datetime) -> list[Foresight]:
    """The foresight of a memory that is not long over.

    Args:
        memory: The memory.
        moment: The time at which it is asked for.

    """
    return [
        foresight
        for foresight in memory.foresight
        if foresight.end_time is None or moment - foresight.end_time < LONG_OVER
    ]


class _Statement(NamedTuple):
    """A sentence of a person.

    Attributes:
        line: The number of its message, counted by persons' messages of all memories.
        place: Its place in the message.
        person: Whose words it is, "" for the user.
        memory: The memory that tells it.
        at: When it was said, in the caller's time zone.
        follows: The number of the person's message before it, in the same talk.
        sentence: The sentence.

    """

    line: int
    place: int
    person: str
    memory: Memory
    at: datetime
    follows: int | None
    sentence: SaidSentence


@dataclass(slots=True)
class _Entry:
    """Foresight while later sentences are laid beside it."""

    expectation: Expectation
    appointment: Appointment
    person: str
    line: int
    place: int
    touched: int
    keys: frozenset[str]
    is_gone: bool = False

    def takes(self, change: Rescheduling, statement: _Statement) -> None:
        """Change the foresight by what a sentence says."""
        day = statement.at.date().isoformat()
        words = excerpt(change.statement, (), MARK_TOKENS)
        still_open = ", new time open" if change.effect == "put off" else ""
        foresight = self.expectation.foresight
        if change.start is not None:
            foresight = Foresight(
                description=foresight.description,
                start_time=change.start,
                end_time=change.end,
                confidence=foresight.confidence,
            )
            self.appointment = replace(self.appointment, start=change.start, end=change.end)
        self.expectation = replace(
            self.expectation,
            foresight=foresight,
            mark=f"{change.effect} on {day}{still_open}: {words}",
            said_at=statement.memory.event_timestamp,
            is_off=change.start is None,
            words=change.statement,
            outdated=self.expectation.outdated | {self.expectation.words, foresight.description},
        )
        self.touched = statement.line


def _sentences(memories: Sequence[Memory], moment: datetime) -> Iterator[_Statement]:
    """The sentences of persons in the order in which they were said.

    A message is read in its cell where that is among the memories.
    """
    line, asked = 0, ""
    cells = {memory.id for memory in memories if is_cell(memory)}
    last: dict[tuple[str, str | None], tuple[int, datetime, str]] = {}
    for memory in memories:
        if memory.type is not MemoryType.EPISODIC or (
            is_message(memory.id) and memory.cell_id in cells
        ):
            continue
        at = shown_at(memory.event_timestamp, moment)
        for actor, text in messages_in(memory):
            person = speaker(actor)
            if person is None:
                asked = text if text.rstrip().endswith(("?", "？")) else ""
                continue
            before = last.get((person, memory.session_id))
            follows = before[0] if before and at - before[1] <= SAME_TALK else None
            if before and asked and may_answer(text, asked, before[2]):
                follows = None
            last[person, memory.session_id] = line, at, text
            asked = ""
            if foreseen(memory, moment) or may_change(text):
                for place, sentence in enumerate(read(text).sentences):
                    yield _Statement(line, place, person, memory, at, follows, sentence)
            line += 1


def _entries(
    memory: Memory, statements: Sequence[_Statement], moment: datetime
) -> Iterator[_Entry]:
    """The foresight of a memory, each with the sentence that it was made of."""
    ahead = foreseen(memory, moment)
    own = [statement for statement in statements if statement.memory is memory] if ahead else []
    for foresight in ahead:
        source = _source(foresight, own)
        if source is None:
            name = memory.actor if speaker(memory.actor) else ""
            sentence = read(as_users(foresight.description, name or "")).sentences[:1]
            if not sentence:
                continue
            line = own[-1].line if own else -1
            person, place, before = speaker(memory.actor) or "", 999, sentence[0]
        else:
            line, person, place, before = source.line, source.person, source.place, source.sentence
        end = foresight.end_time
        appointment = Appointment(
            before,
            shown_at(foresight.start_time, moment),
            None if end is None else shown_at(end, moment),
        )
        expectation = Expectation(
            memory, foresight, memory.event_timestamp, person=person, words=before.text
        )
        yield _Entry(expectation, appointment, person, line, place, line, _keys(before))


def _source(foresight: Foresight, statements: Sequence[_Statement]) -> _Statement | None:
    """The sentence that foresight was made of: that with most of its words in it."""
    described = {word for part in read(foresight.description).sentences for word in part.words}
    shares = [
        (len(described & statement.sentence.words) / len(statement.sentence.words), statement)
        for statement in statements
        if statement.sentence.words
    ]
    share, best = max(shares, key=lambda pair: pair[0], default=(0.0, None))
    return best if share >= LEAST_QUOTED else None


def _keys(sentence: SaidSentence) -> frozenset[str]:
    """Sentences about the same thing have some of these in common."""
    return sentence.keys | frozenset(word[:4] for word in sentence.words if len(word) > 2)


def _change(entries: Sequence[_Entry], statement: _Statement) -> None:
    """Change the foresight that a sentence speaks of.

    That is the foresight with the most words in common, of equals the latest. Foresight that was
    made of the sentence itself is the same appointment again, and is left out.
    """
    keys, matches = _keys(statement.sentence), list[tuple[int, int, Rescheduling]]()
    for number, entry in enumerate(entries):
        if (
            entry.is_gone
            or entry.person != statement.person
            or (entry.line, entry.place) >= (statement.line, statement.place)
        ):
            continue
        follows = entry.touched in (statement.follows, statement.line)
        if not follows and entry.keys.isdisjoint(keys):
            continue
        change = rescheduling(entry.appointment, statement.sentence, statement.at, follows=follows)
        if change is not None:
            matches.append((len(change.shared), number, change))
    if not matches:
        return
    _, number, change = max(matches, key=lambda match: match[:2])
    was = entries[number].appointment.start
    for _, other, _ in matches:
        if entries[other].appointment.start == was:
            entries[other].takes(change, statement)
    for entry in entries:
        if (entry.line, entry.place) == (statement.line, statement.place):
            entry.is_gone = True


def foreseeing(latest: Sequence[Memory], rounds: Rounds, moment: datetime) -> list[Expectation]:
    """Return what is expected by the newest memories and those that a query finds.

    Args:
        latest: The newest memories.
        rounds: The query's findings.
        moment: The time of the context.

    """
    return expectations([*latest, *_found(rounds)], moment)


def _found(rounds: Rounds) -> list[Memory]:
    return [hit.memory for hit in rounds.hits.values() if hit.memory.category != "fact"]


def granted(
    every: Sequence[Expectation],
    latest: Sequence[Memory],
    rounds: Rounds,
    grant: Grant,
    moment: datetime,
) -> list[Expectation]:
    """Return what is expected and may be told.

    If no memory surely answers, only what is soon or has a word of the query is told.

    Args:
        every: All that is expected.
        latest: The newest memories.
        rounds: The query's findings.
        grant: The grant that the query has earned.
        moment: The time of the context.

    """
    if grant is not Grant.PERHAPS:
        return [*every]
    recent = {memory.id for memory in latest}
    matching = {memory.id for memory in _found(rounds)}
    return [
        expectation
        for expectation in every
        if (expectation.memory.id in recent and _is_soon(expectation.foresight, moment))
        or (
            expectation.memory.id in matching
            and covered(expectation.foresight.description, rounds.terms)
        )
    ]


def _is_soon(foresight: Foresight, moment: datetime) -> bool:
    """Whether foresight began or ends within `SOON` of the moment."""
    ends = foresight.end_time
    return abs(moment - foresight.start_time) <= SOON or (
        ends is not None and abs(ends - moment) <= SOON
    )


def mark_outdated(pieces: Sequence[Piece], every: Sequence[Expectation]) -> list[Piece]:
    """Mark the words of a person that told something expected otherwise than it holds now.

    A line has the mark of the expectation. Words that were said again since, and hold, have none.

    Args:
        pieces: The lines of messages and memories.
        every: All that is expected.

    """
    standing = {(expectation.person, expectation.words) for expectation in every}
    marks = {
        (expectation.person, words): expectation.mark
        for expectation in every
        for words in expectation.outdated
        if (expectation.person, words) not in standing
    }
    if not marks:
        return [*pieces]
    return [
        replace(piece, mark=mark) if not piece.mark and (mark := _mark_of(piece, marks)) else piece
        for piece in pieces
    ]


def _mark_of(piece: Piece, marks: Mapping[tuple[str, str], str]) -> str:
    person = piece.said_by
    if person is None:
        return ""
    sentences = (sentence.text for sentence in read(piece.text).sentences)
    return next((marks[person, text] for text in sentences if (person, text) in marks), "")


def facts_changed_since(
    facts: Iterable[ProfileFact], every: Sequence[Expectation]
) -> frozenset[str]:
    """The memories of facts that tell an appointment otherwise than it holds now.

    The words of such a fact are in a sentence of the user's that was moved or called off since, and
    in no sentence that holds.

    Args:
        facts: Facts of the user's profile.
        every: All that is expected.

    """
    own = [expectation for expectation in every if not expectation.person]
    standing = {expectation.words for expectation in own if not expectation.is_off}
    outdated = {text for expectation in own for text in expectation.outdated} - standing
    return frozenset(
        fact.memory_id
        for fact in facts
        if fact.name != BIRTHDAY
        and any(_tells(text, fact) for text in outdated)
        and not any(_tells(text, fact) for text in standing)
    )


def facts_that_are_over(
    facts: Iterable[ProfileFact], memories: Mapping[str, Memory], moment: datetime, zone: tzinfo
) -> frozenset[str]:
    """The memories of facts that tell an appointment whose day has passed.

    A birthday or an anniversary comes again, and so does what is "on Tuesdays".

    Args:
        facts: Facts of the user's profile.
        memories: Their memories, by id.
        moment: The time that is asked for.
        zone: The user's time zone.

    """
    once = [
        memories[fact.memory_id]
        for fact in facts
        if place_of_attribute(fact.name) == place_of_attribute(None)
        and _YEARLY.search(fact.name) is None
    ]
    days = [(fact.id, _day_of(fact, local(fact.event_timestamp, zone))) for fact in once]
    return frozenset(name for name, day in days if day is not None and day.end <= moment)


def _day_of(fact: Memory, said_at: datetime) -> Ahead | None:
    """The day ahead that a fact names.

    It is in its words, or is its value alone: "20 November at 9".
    """
    named = time_ahead(fact.content, said_at)
    if named is not None or _DAY_ALONE.match(str(fact.value)) is None:
        return named
    return time_ahead(f"on {fact.value}", said_at)


def _tells(text: str, fact: ProfileFact) -> bool:
    """Whether a sentence has all words of a fact's value, and one of its name."""
    sentence, value = {*tokens(text)}, {*tokens(str(fact.value))}
    return bool(value) and value <= sentence and not sentence.isdisjoint(tokens(fact.name))


def foresight_pieces(now_expected: Collection[Expectation], moment: datetime) -> list[Piece]:
    """Make a line for all that holds at the moment or begins within `COMING`.

    What ends first comes first, and last what was called off or put off.

    Args:
        now_expected: What is expected.
        moment: The time of the context, in the caller's time zone.

    """
    pieces: dict[str, Piece] = {}
    for expectation in now_expected:
        foresight = expectation.foresight
        if holds(foresight, moment) or is_ahead(foresight, moment, COMING):
            left = (
                (foresight.end_time - moment).total_seconds()
                if foresight.end_time is not None and not expectation.is_off
                else float("inf")
            )
            line = Piece(
                expectation.memory.id,
                shown_at(foresight.start_time, moment),
                expectation.memory.sequence,
                expected(foresight, moment),
                -left,
                mark=expectation.mark or _said_on(expectation, moment),
                said_by="",
                said_at=expectation.said_at,
                begins=foresight.start_time if foresight.start_time > expectation.said_at else None,
            )
            pieces.setdefault(line.text, line)
    return list(pieces.values())


def _said_on(expectation: Expectation, moment: datetime) -> str:
    """The day on which foresight was told, if its words depend on it.

    "tomorrow at 9" does, "on Monday at 9" does not.
    """
    text = expectation.foresight.description
    start = shown_at(expectation.foresight.start_time, moment)
    try:
        times = [time_ahead(text, start - days * _DAY) for days in (1, 3)]
    except OverflowError:
        return ""
    days = {None if time is None else time.start.date() for time in times}
    if days in ({None}, {start.date()}):
        return ""
    return f"said on {shown_at(expectation.said_at, moment).date().isoformat()}"
