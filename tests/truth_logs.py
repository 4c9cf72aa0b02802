"""Drawn logs of a slot: numbers in, entries out, so that a failing log shrinks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from random import Random
from typing import Any

from memory_core.domain.errors import Conflict
from memory_core.domain.truth.entries import Assertion, Entry, Pair, Retraction
from memory_core.domain.truth.resolve import resolve
from memory_core.domain.truth.timeline import Reference, Timeline
from memory_core.evolution import decisions
from memory_core.evolution import truth_commands as commands
from memory_core.evolution.slot_log import Act as Command
from memory_core.evolution.slot_log import SlotLog
from memory_core.evolution.truth_commands import without_names
from memory_core.evolution.truth_projection import Projection, project

Act = tuple[int, int, int, int]
"""What is done, and three numbers that it makes use of as it likes."""
START = datetime(2024, 1, 1, tzinfo=timezone.utc)
MAX_ACTS, NUMBERS = 26, 12
FIRST = 8
"""The day of the first act; each further act is a day later."""
MOMENTS = [START + timedelta(days=number) for number in range(-2, FIRST + MAX_ACTS + NUMBERS + 4)]
KINDS = 28
PLAIN = (0, 1, 2, 3, 5, 8, 9)
"""Kinds of plain saves, of spans that were over, and of retractions that say nothing
of the future.
"""


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def slot_of(log: Iterable[Entry], sequence: int, now: datetime) -> SlotLog:
    return SlotLog(
        name=("slot", "ana", "city"), salt="00", entries=tuple(log), pending=sequence, now=now
    )


def added(
    log: Iterable[Entry], command: Command, sequence: int, now: datetime = START
) -> list[Entry]:
    """The log with what a command adds at a sequence."""
    return [*slot_of(log, sequence, now).added(command).entries]


def drawn(random: Random, length: int) -> list[Act]:
    return [
        (random.randrange(KINDS), *(random.randrange(NUMBERS) for _ in range(3)))
        for _ in range(length)
    ]  # type: ignore[misc]


def log_of(acts: Iterable[Act]) -> list[Entry]:
    log: list[Entry] = []
    for number, act in enumerate(acts, 1):
        log = after(log, act, number)
    return log


def after(log: list[Entry], act: Act, number: int) -> list[Entry]:
    """The log after an act on the given day of the log."""
    kind, a, b, c = act
    now = day(FIRST + number)
    if kind < 14:
        return _said(log, act, number, now)
    names = sorted(
        {
            entry.memory_id
            for entry in log
            if isinstance(entry, Assertion | Retraction) and not entry.is_forgotten
        }
    )
    if not names:
        return log
    name, other = names[a % len(names)], names[b % len(names)]
    try:
        return _acted(log, kind, name, other, number, now, (a, b, c))
    except Conflict:  # it is withdrawn
        return log


def _said(log: list[Entry], act: Act, number: int, now: datetime) -> list[Entry]:
    kind, a, b, c = act
    asserted_at, value = now, "ABCD"[a % 4]
    begin, end = asserted_at, None
    if kind in (2, 3, 7, 9):  # out of order
        asserted_at = begin = now - timedelta(days=b)
    if kind == 4:  # announced
        begin = now + timedelta(days=1 + b)
    if kind == 5:  # a span that was over
        begin, end = now - timedelta(days=b + 1), now - timedelta(days=c * b // NUMBERS)
    if kind in (6, 7):  # a stated end ahead
        end = asserted_at + timedelta(days=1 + c)
    if kind == 8:  # since before
        begin = now - timedelta(days=b)
    fields: dict[str, Any] = {
        "sequence": number,
        "asserted_at": asserted_at,
        "valid_from": begin,
        "valid_until": end,
    }
    if 9 <= kind <= 12:
        if kind >= 11:
            fields["valid_from"] = asserted_at + timedelta(days=b - 4)
        if kind == 12 and c % 3 == 0:
            fields["valid_until"] = fields["valid_from"] + timedelta(days=1 + c)
        return [
            *log,
            Retraction(memory_id=f"m{number}", value=None if kind == 10 else value, **fields),
        ]
    new = Assertion(memory_id=f"m{number}", value=value, **fields)
    intervals = [
        interval for interval in resolve(log).at(max(asserted_at, begin)) if interval.value == value
    ]
    if intervals and c % 4:
        return [*log, replace(new, memory_id=intervals[0].memory_id, version=intervals[0].version)]
    if kind == 13:
        holders = dict.fromkeys(
            interval.memory_id for interval in resolve(log).at(max(asserted_at, begin))
        )
        return added(log, commands.says(new, beside=holders), number, now)
    return [*log, new]


def _acted(
    log: list[Entry],
    kind: int,
    name: str,
    other: str,
    number: int,
    now: datetime,
    numbers: tuple[int, int, int],
) -> list[Entry]:
    a, b, c = numbers
    value = "ABCDE"[c % 5]
    match kind:
        case 14 | 15:
            return added(log, commands.deletes(name), number, now)
        case 16 | 17:
            return added(log, commands.shows_again(name), number, now)
        case 18:
            return added(log, commands.undoes(name), number, now)
        case 19 | 20:
            start = now - timedelta(days=b) if c % 3 == 0 else None
            end = now + timedelta(days=a - 5) if c % 4 == 0 else None
            return added(
                log, commands.edits(next_version(log, name, value), start, end), number, now
            )
        case 21:
            start = now - timedelta(days=b)
            return added(
                log,
                commands.corrects_times(name, start, start + timedelta(days=c) if a % 2 else None),
                number,
                now,
            )
        case 22:
            pair = (
                []
                if name == other
                else [Pair(sequence=number, memory_ids=(name, other), conflict_id=f"cft_{number}")]
            )
            return [*log, *pair]
        case 23:
            if name == other:
                return log
            conflict = f"decision_{number}"
            if c % 3 == 0:
                return added(log, commands.withdraws(name, conflict), number, now)
            if c % 3 == 1:
                return added(log, decisions.supersedes(other, name, conflict), number, now)
            merged = Assertion(
                sequence=number,
                memory_id=f"m{number}",
                value=value + "+",
                asserted_at=now,
                valid_from=now,
            )
            return added(log, decisions.merges([name, other], merged, conflict), number, now)
        case 24:
            conflicts = sorted(
                {
                    entry.conflict_id
                    for entry in log
                    if entry.conflict_id and entry.conflict_id.startswith("decision")
                }
            )
            return (
                added(log, decisions.undoes_decision(conflicts[a % len(conflicts)]), number, now)
                if conflicts
                else log
            )
        case 25:
            return added(log, commands.withdraws(name), number, now)
        case 26:
            return [*without_names(slot_of(log, number, now), name, f"forgotten_{number}").entries]
        case _:  # a key's new value: the next version of the memory, and no edit
            begin = now + timedelta(days=b) if b % 3 == 0 else now
            return [
                *log,
                replace(
                    next_version(log, name, value),
                    sequence=number,
                    asserted_at=now,
                    valid_from=begin,
                ),
            ]


def next_version(log: Iterable[Entry], memory_id: str, value: str) -> Assertion:
    version = 1 + max(
        entry.version
        for entry in log
        if isinstance(entry, Assertion | Retraction) and entry.memory_id == memory_id
    )
    return Assertion(
        memory_id=memory_id, version=version, value=value, asserted_at=START, valid_from=START
    )


def projections(timeline: Timeline, now: datetime) -> dict[Reference, Projection]:
    """The stored fields by memory, version and part, but for what a sealed log leaves as
    it is stored.
    """
    made = project(timeline, now).values()
    return {
        (projection.memory_id, projection.version, projection.part): replace(
            projection, supersedes_id=None, holds=False, members=frozenset()
        )
        for projection in made
    }
