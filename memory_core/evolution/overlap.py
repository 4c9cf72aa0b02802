"""How no two truths of a slot hold at once, whatever is told late, edited, brought back or undone among them.

Each says what holds from where it begins, whatever was told before it. One would get wrong: what is true at once on purpose stays so, and
it is told by what stands, and by what shared a time before the commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone

from memory_core.domain.endings import is_ending
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, Status
from memory_core.domain.versions import is_version
from memory_core.evolution.tellings import ended, over
from memory_core.evolution.truth_line import place_of
from memory_core.ledger.changes import Change

_NEVER = datetime.max.replace(tzinfo=timezone.utc)


def without_overlap(changes: Sequence[Change], truths: Sequence[Memory], versions: Sequence[Memory] = ()) -> list[Change]:
    """The changes to a slot, so that by them no two of its truths come to share a moment, or a longer time than they did.

    What is past ends where the first begins of those that were told later; an ending that was passed over, where any that stands begins;
    one that stands and has an end of its own, where what is past begins that was told later. Two that both stand do so on purpose; so do,
    for as long as they did, two that shared a time before. truths: the others as they were. versions: old ones that come to hold longer.
    """
    before = {one.id: one for one in truths}
    for change in changes:
        if change.before is not None:
            before.setdefault(change.after.id, change.before)
    after = before | {change.after.id: change.after for change in changes} | {one.id: one for one in versions}
    counted = sorted((one for one in after.values() if _counts(one)), key=place_of, reverse=True)
    standing = [one for one in counted if one.status in FOUND_BY_DEFAULT]
    later, turned = list[Memory](), dict[str, Memory]()
    for one in counted:
        stands = one.status in FOUND_BY_DEFAULT
        if not (stands and one.valid_until is None) and not is_version(one.id):
            rivals = [other for other in later if not (stands and other.status in FOUND_BY_DEFAULT)]
            # What it leads to may have been told again since, of a time before it.
            rivals += [*standing, *(other for other in counted if other.id == one.next_id)] if is_ending(one) and not stands else []
            limits = [_limit(one, other, before) for other in rivals if not over(other, one) and not over(one, other)]
            if limits and (one.valid_until is None or one.valid_until > max(min(limits), one.valid_from)):
                one = turned[one.id] = ended(one, min(limits))
        if one.valid_until is None or one.valid_from < one.valid_until:
            later.append(one)
    last = {change.after.id: place for place, change in enumerate(changes)}
    made = [
        replace(change, after=turned.pop(change.after.id, change.after)) if last[change.after.id] == place else change
        for place, change in enumerate(changes)
    ]
    rest = [Change("preceded" if one.status in FOUND_BY_DEFAULT else "superseded", one, before[one.id]) for one in turned.values()]
    return [*made, *rest]


def _counts(one: Memory) -> bool:
    return one.status is Status.SUPERSEDED or one.status in FOUND_BY_DEFAULT


def _limit(one: Memory, later: Memory, before: Mapping[str, Memory]) -> datetime:
    """Where a past truth ends for one that was told later: where that begins, or where they ceased to share a time before."""
    held = [before.get(each.id) for each in (one, later)]
    if any(each is None or not _counts(each) or each.valid_from == each.valid_until for each in held):
        return later.valid_from
    first, second = (each for each in held if each is not None)
    if over(first, second) or over(second, first):
        return later.valid_from
    return max(later.valid_from, min(each.valid_until or _NEVER for each in (first, second)))


def overruling(one: Memory, others: Sequence[Memory]) -> list[Change]:
    """What becomes of the past of a slot where somebody says now from when on this one holds: all of it ends there."""
    known = {other.id: other for other in others}
    return [Change("superseded", after, known[after.id]) for after in _ending_at(one, others)]


def _ending_at(one: Memory, others: Sequence[Memory]) -> list[Memory]:
    """Those of the past that reach into the time of this one, as they end where it begins."""
    past = [other for other in others if other.status is Status.SUPERSEDED and not is_version(other.id) and not over(one, other)]
    return [ended(other, one.valid_from) for other in past if other.valid_until is None or one.valid_from < other.valid_until]
