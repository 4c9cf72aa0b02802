"""What time alone brings to a user's memories, and when: a memory fades, grows old enough for the archive, its foresight ends.

Pure: what of a memory a store keeps beside it, so that it can say from an index when the next of these comes. Note: only
moments after a given one count. A memory may be past its time and stay all the same (a text that does not get shorter, a chain of which
one is younger); were it named again and again, its user would be due every hour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memory_core.domain.archival import NEVER
from memory_core.domain.models import MemoryType
from memory_core.domain.worth import kept_for_good

_LAST_S = 253_402_300_799.0
"""The end of the year 9999: what comes later never comes."""


@dataclass(frozen=True, slots=True)
class Coming:
    """The first moment of each kind after a given one; None where nothing comes.

    fades: a memory is under the floor, or its long text may become short. ages: one is old enough for the archive. foresight: the last
    foresight of one ends, which is counted by the next run and starts no run.
    """

    fades: datetime | None = None
    ages: datetime | None = None
    foresight: datetime | None = None

    @property
    def first(self) -> datetime | None:
        """The earliest of those for which something is to be done."""
        return min((one for one in (self.fades, self.ages) if one is not None), default=None)


def told_by(body: Mapping[str, Any]) -> dict[str, float]:
    """What a store keeps beside a memory, in epoch seconds; nothing of one that this does nothing to.

    ages_from: since when it is as it is, where the archive may take it; an access may have put that off. foresees_until: when the last of
    its foresight ends, where it is active.
    """
    made: dict[str, float] = {}
    may_go = body["status"] not in NEVER and not body["pinned"] and body["type"] != MemoryType.PROCEDURAL
    if may_go and not kept_for_good(body.get("worth")):
        made["ages_from"] = max(_seconds(body["created_at"]), _seconds(body["updated_at"]))
    ends = [one["end_time"] for one in body.get("foresight") or () if one.get("end_time") is not None]
    if ends and body["status"] == "active":
        made["foresees_until"] = max(_seconds(end) for end in ends)
    return made


def moment_in(seconds: float | None, later: timedelta = timedelta(0)) -> datetime | None:
    """The moment of epoch seconds, `later` than that, aware UTC; None for none, and for one that no calendar has."""
    if seconds is None or seconds + later.total_seconds() > _LAST_S:
        return None
    return datetime.fromisoformat("1970-01-01T00:00:00+00:00") + timedelta(seconds=seconds) + later


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
