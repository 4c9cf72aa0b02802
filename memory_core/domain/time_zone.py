"""Time zones by their names in the IANA database: which there are, and what a moment is called in them.

Days and hours that people name ("yesterday", "at 9") are those of their zone. What is stored is always UTC; a moment carries a zone only
on its way to where days are read or written. The database is the system's, else that of the package `tzdata`.
"""

from __future__ import annotations

import difflib
from datetime import date, datetime, time, timezone, tzinfo
from functools import lru_cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, Field

from memory_core.domain.errors import Resembling
from memory_core.domain.fields import Documented

MAX_NAME = 64
ZONE_FIELD = "time_zone"
"""How requests, conversations and the metadata of memories call it."""
_CLOSE = 0.7
"""Least ratio of `difflib` between two names that may be misspellings of each other."""


def _known(name: str) -> str:
    if name in _names():
        return name
    raise Resembling("is no time zone of the IANA database, such as Europe/Berlin", _nearest(name))


_AREAS = "Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Etc|Europe|Indian|Mexico|Pacific|US"
_NAME = rf"^(UTC|GMT|({_AREAS})/[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)?)$"
TimeZone = Annotated[str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(_known), Documented({"pattern": _NAME})]
"""The name of a time zone as callers give it."""


def zone_of(name: str | None) -> tzinfo:
    """The zone of a name; UTC without one, and for one that this machine's database does not know."""
    return timezone.utc if name is None or name not in _names() else ZoneInfo(name)


def local(moment: datetime, zone: tzinfo) -> datetime:
    """The same moment as clocks in the zone show it; unchanged where that lies outside the calendar."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment


def midnight(day: date, zone: tzinfo) -> datetime:
    """When a day begins in a zone, in UTC."""
    try:
        return datetime.combine(day, time.min, zone).astimezone(timezone.utc)
    except OverflowError:  # the first day of the calendar, east of Greenwich
        return datetime.combine(day, time.min, timezone.utc)


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    """Those that name an area; the few without one ("EST", "Japan") are old names of these."""
    return frozenset(name for name in available_timezones() if "/" in name or name in ("UTC", "GMT"))


def _nearest(name: str) -> str | None:
    """What was probably meant: the name in other letters, a city alone, or a misspelling."""
    wanted = "_".join(name.split()).casefold()
    by_name = {known.casefold(): known for known in sorted(_names())}
    by_city = {folded.rpartition("/")[2]: known for folded, known in by_name.items() if "/" in folded and not folded.startswith("etc/")}
    if found := by_name.get(wanted) or by_city.get(wanted.rpartition("/")[2]):
        return found
    near = difflib.get_close_matches(wanted, by_name, n=1, cutoff=_CLOSE)
    return by_name[near[0]] if near else None
