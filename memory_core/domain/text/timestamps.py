"""Timestamps as callers write them: ISO 8601 with a time zone, stored in UTC.

Note: a number, or a text without a zone, is refused and not guessed at.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

MAX_AHEAD = timedelta(hours=24)
"""How far a sender's clock may be ahead, a wrong time zone included."""


def aware_utc(value: datetime) -> datetime:
    """The same moment in UTC; raises ValueError for a moment without a time zone.

    A moment outside the years 1 to 9999 is a ValueError too.
    """
    if value.tzinfo is None or value.utcoffset() is None:
        raise ValueError("must carry a time zone, for example 2026-05-08T13:56:00Z")
    try:
        return value.astimezone(timezone.utc)
    except OverflowError:
        raise ValueError("lies outside the years 1 to 9999") from None


_LOST_PLUS = re.compile(r"T[0-9:.]{4,15} [0-9]{2}:?[0-9]{2}\Z", re.IGNORECASE)
"""The end of a moment whose "+" became a space on its way through a URL."""


def _from_text(value: Any) -> Any:
    """Read a moment from a text of ISO 8601.

    Numbers are refused: 1700000000 may be seconds, milliseconds or a mistake.
    """
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.upper())
        except ValueError:
            hint = '; in a URL, "+" is written "%2B"' if _LOST_PLUS.search(value) else ""
            raise ValueError(
                f"must be an ISO 8601 moment, for example 2026-05-08T13:56:00Z{hint}"
            ) from None
    if isinstance(value, (int, float)):
        raise ValueError("must be an ISO 8601 text with a time zone, not a number")
    return value


def _not_ahead(value: datetime, info: ValidationInfo) -> datetime:
    now = (info.context or {}).get("now")
    if now is not None and value > now + MAX_AHEAD:
        raise ValueError(
            "lies more than 24 hours ahead of this service's clock, which says "
            f"{now:%Y-%m-%dT%H:%MZ}"
        )
    return value


Timestamp = Annotated[datetime, AfterValidator(aware_utc), BeforeValidator(_from_text)]
EventTimestamp = Annotated[Timestamp, AfterValidator(_not_ahead)]
"""When something was said or happened.

A validation with a context of `now` refuses a moment that is long after it: a truth of the year
9999 would be the latest in its slot for good. A statement that is to be true from some later day on
says so in `valid_from`.
"""
