"""A memory as it is quoted in a context: its own words with who said them, and what must be said beside them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from memory_core.domain.excerpt import covered
from memory_core.domain.lexical import spoken
from memory_core.domain.models import Foresight, Memory
from memory_core.domain.note import FOOTER, parts_of
from memory_core.domain.packing import Piece
from memory_core.domain.sameness import normalised
from memory_core.domain.time_zone import local
from memory_core.recollection.stale import Fallen

FALLEN = "no longer true in part"
"""Is on the line of what tells a superseded fact; which one, and what holds now, is below."""
STORIES = frozenset({"cell", "note"})
"""Categories of what was formed of a whole cell."""
_NOBODY = frozenset({"assistant", "system", "tool", "ai", "developer"})
"""Actors that are no person."""


def piece(memory: Memory, *, priority: float, fallen: Sequence[Fallen], terms: Collection[str], moment: datetime) -> Piece | None:
    """The memory as a piece of a context at `moment`, under the day that it was there; None where all that it tells has ended."""
    if tells_only_what_has_ended(memory, moment):
        return None
    standing = [one for one in memory.foresight if holds(one, moment)]
    text, speaker = _said(memory, terms)
    return Piece(
        id=memory.id,
        at=shown_at(memory.event_timestamp, moment),
        order=memory.sequence,
        text=text,
        priority=priority,
        speaker=speaker,
        said_by=said_by(memory),
        mark=FALLEN if fallen else "",
        notes=(*(no_longer_true(one) for one in fallen), *(expected(one, moment) for one in standing)),
    )


def said_by(memory: Memory) -> str | None:
    """The person whose words it tells, "" for the user; None for what an assistant, a tool or a system said, and for a story of several."""
    if memory.category in STORIES:
        return None
    role = str(memory.metadata.get("role", "user"))
    actor = (memory.actor or "").casefold()
    return None if role != "user" and actor in ("", role) else speaker(memory.actor)


def speaker(actor: str | None) -> str | None:
    """Who an actor is: "" for the user, and where none is named; None for an assistant, a tool or a system."""
    name = (actor or "").casefold()
    return None if name in _NOBODY else "" if name == "user" else name


def text_for(memory: Memory, terms: Collection[str]) -> str:
    """What it says, with its speaker; of a cell the talk itself where that has more words of the query than the story made of it.

    Of a note, what it says without its headings, tags and keywords.
    """
    return spoken(*_said(memory, terms))


def _said(memory: Memory, terms: Collection[str]) -> tuple[str, str | None]:
    """As `text_for`, the text and its speaker apart."""
    if memory.episode is not None and covered(memory.episode, terms) > covered(memory.content, terms):
        return memory.episode, None
    content = memory.content
    if memory.category == "note":
        content = " ".join(text for name, text in parts_of(content).items() if name != FOOTER) or content
    return content, memory.actor


def holds(foresight: Foresight, moment: datetime) -> bool:
    """Whether something foreseen holds at that moment: it has begun and not ended."""
    return foresight.start_time <= moment and (foresight.end_time is None or moment < foresight.end_time)


def is_ahead(foresight: Foresight, moment: datetime, within: timedelta) -> bool:
    """Whether something foreseen begins later, though so soon."""
    return moment < foresight.start_time <= moment + within


def shown_at(moment: datetime, asked: datetime) -> datetime:
    """A moment by the asker's clocks."""
    return moment if asked.tzinfo is None else local(moment, asked.tzinfo)


def expected(foresight: Foresight, moment: datetime) -> str:
    """Something foreseen, with its dates, which are days where it is asked for."""
    until = "" if foresight.end_time is None else f" until {shown_at(foresight.end_time, moment).date().isoformat()}"
    return f"from {shown_at(foresight.start_time, moment).date().isoformat()}{until}: {foresight.description}"


def no_longer_true(fallen: Fallen) -> str:
    """A superseded fact, with what is true in its place."""
    now = "" if fallen.current is None else f"; now: {fallen.current.content}"
    return f"no longer true: {fallen.text}{now}"


def tells_only_what_has_ended(memory: Memory, moment: datetime) -> bool:
    """Whether a memory says nothing but what was foreseen, all of which is over at that moment."""
    if not memory.foresight or any(one.end_time is None or moment < one.end_time for one in memory.foresight):
        return False
    return normalised(memory.content) in {normalised(one.description) for one in memory.foresight}
