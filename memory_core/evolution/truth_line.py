"""The truths of one slot in the order of their times: which of them holds, and what follows each that does not.

Among values the latest holds and each other is followed by the next. What a reader would get wrong: an ending ("no longer Berlin") is
passed over where another value stands. It says nothing against that value, so it is history at once, and the value is what it leads to.
And a truth that was told again after another one held twice: each time is a memory of its own, the last one under the id that it had.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from memory_core.domain.endings import ends, is_ending
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, Status
from memory_core.domain.versions import base_id, is_version
from memory_core.evolution.tellings import ended, first_telling, following, kept, overruled, tellings
from memory_core.ledger.changes import Change
from memory_core.ledger.ids import derived

MAX_REPLACED = 40
"""Truths that one new truth replaces: each is two documents of a commit's hundred. Of a slot kept more often, the others stand on."""
SPLIT = "split"
"""The event of a memory that holds what another one was in an earlier time."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which one truth holds, and when it was told in it."""

    truth: Memory
    told: list[datetime]


@dataclass(frozen=True, slots=True)
class Line:
    """The times of a slot in their order; and of each ending that was passed over, by its id, in which of them that was, the last."""

    stretches: list[Stretch]
    passed: dict[str, int]

    @classmethod
    def of(cls, truths: Sequence[Memory], until: datetime | None = None) -> Line:
        """The line of these truths, of two that were told at once the later of them last; `until` a moment, by what was told up to it."""
        told = [(moment, one.sequence or math.inf, one.version, place) for place, one in enumerate(truths) for moment in tellings(one)]
        stretches: list[Stretch] = []
        passed: dict[str, int] = {}
        for moment, _, _, place in sorted(told):
            if until is not None and moment > until:
                break
            one, holds = truths[place], stretches[-1].truth if stretches else None
            if holds is not None and holds.id == one.id:
                stretches[-1].told.append(moment)
            elif holds is not None and is_ending(one) and not is_ending(holds) and not ends(one, holds):
                passed[one.id] = len(stretches) - 1
            else:
                stretches.append(Stretch(one, [moment]))
        return cls(stretches, passed)


def time_of_its_own(truth: Memory, told: Sequence[datetime], new: Memory, now: datetime) -> Memory:
    """What a truth was in an earlier time, when it was `told`, as a memory of that time alone; `new` in its present life tells it apart."""
    life = [str(new.revision)] if new.revision else []
    fields: dict[str, Any] = {
        "id": derived("mem", truth.id, str(truth.revision), "until", new.id, told[0].isoformat(), *life),
        "event_timestamp": told[-1],
        "told_at": kept(told),
        "reinforcement_count": len(told) - 1,
        "valid_until": None,
        "sequence": 0,
        "version": 1,
        "pinned": False,
        "conflict_ids": [],
        "created_at": now,
    }
    return truth.model_copy(update=fields)


def superseded_by(old: Memory, new: Memory, now: datetime) -> Memory:
    """The old truth as it is once the new one holds; its validity ends where the new one's begins."""
    fallen = {"status": Status.SUPERSEDED, "status_reason": "contradicted", "next_id": base_id(new.id), "conflict_state": "resolved"}
    return ended(old, new.valid_from).model_copy(update={**fallen, "updated_at": now})


def place_of(memory: Memory) -> tuple[datetime, float]:
    """Where a truth begins among the others of its slot; an ending where it was first told and not passed over."""
    told = first_telling(memory)
    return max(told, memory.valid_from) if is_ending(memory) else told, memory.sequence or math.inf


def holder(truths: Sequence[Memory], moment: datetime) -> Memory | None:
    """What holds by what was told up to a moment."""
    line = Line.of(truths, moment)
    return line.stretches[-1].truth if line.stretches else None


def passed_over(ending: Memory, truths: Sequence[Memory]) -> bool:
    """Whether it is an ending that changes nothing: when it was told, another value held than the one that it ends."""
    return is_ending(ending) and ending.id in Line.of((*truths, ending), ending.event_timestamp).passed


def joined(new: Memory, truths: Sequence[Memory], now: datetime) -> tuple[Memory, list[Change]]:
    """The new member of a slot as it is to be stored, and what becomes of the others: whichever arrives last, the same line results.

    What nobody told later than is settled: then only standing truths change.
    """
    truths = [one for one in truths if not overruled(one)]
    line = _line(truths, new)
    members = _members(line, new, now)
    after = {one.id: members[place + 1] if place + 1 < len(members) else None for place, one in enumerate(members)}
    after |= {name: members[place] for name, place in line.passed.items() if name not in after}
    left_out = {one.id for one in truths} - after.keys()
    if after[new.id] is None and (later := following(new, [one for one in truths if one.id in left_out and not is_version(one.id)])):
        history = superseded_by(new, later, now).model_copy(update={"updated_at": new.updated_at})
        if not _leads_back(history, (), truths):  # who stands says nothing against what was told after the new one
            return history, []
    before = {two.id: one.id for one, two in pairwise(one for one in members if not is_version(one.id))}
    late = any(moment > new.event_timestamp for one in truths for moment in tellings(one))
    fresh = {new.id, *(one.id for one in members)} - {one.id for one in truths}
    placed = new.model_copy(update={"supersedes_id": before.get(new.id), "conflict_state": "resolved"})
    if (follower := after[new.id]) is not None:
        placed = superseded_by(placed, follower, now).model_copy(update={"updated_at": new.updated_at})
    known = {one.id: one for one in truths}
    changes = []
    for one in members:
        if one.id in fresh and one.id != new.id and (next_one := after[one.id]) is not None:
            changes.append(Change(SPLIT, superseded_by(one, next_one, now).model_copy(update={"supersedes_id": before.get(one.id)})))

    late = late or bool(changes)  # who is told twice by now gives up the time that was split off

    def turned_ones(late: bool) -> list[Change]:
        by_id, made = {one.id: one for one in members}, []
        for old in truths:
            if is_version(old.id) or old.id in left_out:
                continue  # where a version ends is not for the truths to say, but for what becomes of its memory
            member = by_id.get(old.id, old)
            turned = _turned(old, member, after[old.id], known, now, late=late, in_vain=old.id not in by_id)
            if before.get(old.id) in fresh:
                turned = turned.model_copy(update={"supersedes_id": before[old.id]})
            if turned is not old:
                made.append(Change(_event(old, turned), turned, old))
        return made

    turned = turned_ones(late)
    if not late and _leads_back(placed, (*changes, *turned), truths):  # of a line that deletions have torn, each is led anew
        turned = turned_ones(late=True)
    changes += turned
    return placed, changes


def _leads_back(placed: Memory, changes: Sequence[Change], truths: Sequence[Memory]) -> bool:
    """Whether one of a slot would come, along `next_id`, back to itself."""
    follows = {one.id: one.next_id for one in (*truths, *(change.after for change in changes), placed)}
    for start in follows:
        step, passed = follows[start], set[str]()
        while step is not None and step not in passed:
            if step == start:
                return True
            passed.add(step)
            step = follows.get(step)
    return False


def _line(truths: Sequence[Memory], new: Memory) -> Line:
    """The line of all of them, but that nothing which stands ends in a past truth that does not rise: what that one led to was told
    earlier, edited or deleted since, and somebody let the other stand.
    """
    line, known = Line.of((*truths, new)), {one.id for one in truths}
    stands = {one.id for one in truths if one.status in FOUND_BY_DEFAULT}
    while stands and (last := line.stretches[-1].truth).id != new.id and last.status not in FOUND_BY_DEFAULT:
        if (is_version(last.id) and base_id(last.id) in stands) or (is_ending(last) and last.next_id in known):
            break
        truths = [one for one in truths if one.id != last.id]
        line = Line.of((*truths, new))
    return line


def _members(line: Line, new: Memory, now: datetime) -> list[Memory]:
    """The memories of a line's times, one each, valid from where it begins. What held more than once keeps its id for the
    last time, an old version for the first.
    """
    last = {one.truth.id: place for place, one in enumerate(line.stretches)}
    last |= {one.truth.id: place for place, one in reversed([*enumerate(line.stretches)]) if is_version(one.truth.id)}
    earlier = {moment for place, one in enumerate(line.stretches) if last[one.truth.id] != place for moment in one.told}
    members = []
    for place, one in enumerate(line.stretches):
        truth, told = one.truth, one.told
        fields: dict[str, Any] = {}
        if told[0] != first_telling(truth) or (is_ending(truth) and truth.valid_from > told[0] and truth.valid_from in tellings(truth)):
            fields["valid_from"] = told[0]
        if last[truth.id] != place:
            truth = time_of_its_own(truth, told, new, now)
        elif not earlier.isdisjoint(tellings(truth)):
            fields["told_at"] = kept(moment for moment in tellings(truth) if moment not in earlier)
        members.append(truth.model_copy(update=fields) if fields else truth)
    return members


def _turned(
    old: Memory, member: Memory, follower: Memory | None, known: Mapping[str, Memory], now: datetime, *, late: bool, in_vain: bool
) -> Memory:
    """A truth as the line wants it: fallen, followed by another one than before, or, an ending that was passed over, in force.

    in_vain: it holds at no time.
    """
    if old.status in FOUND_BY_DEFAULT:
        return member if follower is None else superseded_by(member, follower, now)
    next_one = known.get(old.next_id or "")
    if follower is not None and next_one is None and old.status is Status.SUPERSEDED:  # what it led to is deleted, and may lead back
        return superseded_by(member.model_copy(update={"valid_until": old.valid_until}), follower, now)
    if next_one is None:  # what it led to is deleted, or in another slot
        if member is old or old.valid_until is None:
            return member
        return ended(member.model_copy(update={"valid_until": None}), old.valid_until)
    if not late:
        return old
    if follower is not None:
        until = member.valid_from if in_vain else _given_by_hand(old, next_one)
        fallen = superseded_by(member.model_copy(update={"valid_until": until}), follower, now)
        return old if member is old and (fallen.next_id, fallen.valid_until) == (old.next_id, old.valid_until) else fallen
    risen = {"status": Status.ACTIVE, "status_reason": "restored", "next_id": None, "valid_until": None, "updated_at": now}
    return member.model_copy(update=risen) if is_ending(old) else old


def _given_by_hand(old: Memory, next_one: Memory) -> datetime | None:
    """When a past value ended, where that is not because the next one began. An ending, passed over or not, has no end of its own."""
    if is_ending(old) or old.valid_until is None:
        return None
    return old.valid_until if old.valid_until < max(next_one.valid_from, old.valid_from) else None


def _event(old: Memory, turned: Memory) -> str:
    if turned.next_id == old.next_id:
        return "preceded"
    return "restored" if turned.next_id is None else "superseded"
