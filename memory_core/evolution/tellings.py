"""When a truth was told, and so between which others of its slot it stands.

Truth follows event time, not arrival. A truth that is told again keeps one memory, so one memory has several tellings; another value may
turn out, late, to have held between two of them. One would get wrong: `event_timestamp` is the last telling only, and `valid_from` may
be given by hand; neither alone says where a truth begins among the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime

from memory_core.domain.endings import is_ending
from memory_core.domain.models import Memory, Status

MAX_TELLINGS = 40
"""Moments that a memory remembers to have been told at: the first and the latest of them."""


def tellings(memory: Memory) -> list[datetime]:
    """The event times at which it was told, in order; at least one."""
    return sorted({*memory.told_at, memory.event_timestamp})


def first_telling(memory: Memory) -> datetime:
    """Where it begins among the truths of its slot."""
    return tellings(memory)[0]


def next_telling(memory: Memory, moment: datetime) -> datetime | None:
    """When it was first told after a moment."""
    return next((told for told in tellings(memory) if told > moment), None)


def overruled(one: Memory) -> bool:
    """Whether it turned out to hold at no moment, since what was told after it holds from before it on; its telling counts no more.

    An ending that was passed over holds at no moment either, but counts: what it ends is settled by all that is told.
    """
    return one.status is Status.SUPERSEDED and one.valid_until == one.valid_from and not is_ending(one)


def following(memory: Memory, truths: Iterable[Memory]) -> Memory | None:
    """The truth that was told next after `memory`: entirely later, or before it as well; None when that one is the latest.

    Of two that were told at once the one that was written later is the later.
    """
    counted, moment = [one for one in truths if not overruled(one)], memory.event_timestamp
    later = [(told, one.sequence, one.id, one) for one in counted if (told := next_telling(one, moment)) is not None]
    at_once = [one for one in counted if one.sequence > (memory.sequence or math.inf) and moment in tellings(one)]
    later += [(moment, one.sequence, one.id, one) for one in at_once]
    return min(later, key=lambda each: each[:3])[3] if later else None


def interrupted(memory: Memory, truths: Iterable[Memory]) -> Memory | None:
    """The truth that was told before `memory` and next after it: of another value, it held twice."""
    later = following(memory, truths)
    return later if later is not None and first_telling(later) <= memory.event_timestamp else None


def preceding(successor: Memory, truths: Iterable[Memory]) -> list[Memory]:
    """The truths that a successor took over from, the latest first."""
    return sorted((one for one in truths if one.next_id == successor.id), key=lambda one: (first_telling(one), one.sequence), reverse=True)


def over(old: Memory, new: Memory) -> bool:
    """Whether the old one had ended when the new one begins: then it neither says the same nor stands against it."""
    return old.valid_until is not None and old.valid_until <= new.valid_from


def kept(moments: Iterable[datetime]) -> list[datetime]:
    """As many of the moments as a memory remembers; none where there is but one, which `event_timestamp` holds."""
    told = sorted(set(moments))
    if len(told) == 1:
        return []
    return told if len(told) <= MAX_TELLINGS else [told[0], *told[1 - MAX_TELLINGS :]]


def ended(old: Memory, moment: datetime) -> Memory:
    """A past truth that ends at `moment` at the latest, though never before it began."""
    until = max(moment, old.valid_from)
    return old.model_copy(update={"valid_until": until if old.valid_until is None else min(old.valid_until, until)})
