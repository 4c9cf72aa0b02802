"""Moments as callers write them: ISO 8601 with a time zone, kept in UTC.

Note: a number is no moment, and neither is a text without a zone. Both are refused, not guessed at.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

MAX_AHEAD = timedelta(hours=24)
"""By how much a sender's clock may be ahead of ours, a wrong time zone included."""


def aware_utc(value: datetime) -> datetime:
    """The same moment in UTC; ValueError for a naive one, whose moment is unknown."""
    if value.tzinfo is None or value.utcoffset() is None:
        raise ValueError("must carry a time zone, for example 2026-05-08T13:56:00Z")
    try:
        return value.astimezone(timezone.utc)
    except OverflowError:
        raise ValueError("lies outside the years 1 to 9999") from None


def _from_text(value: Any) -> Any:
    """Read an ISO 8601 text. Numbers are refused: 1700000000 may be seconds, milliseconds or a mistake."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.upper())
        except ValueError:
            raise ValueError("must be an ISO 8601 moment, for example 2026-05-08T13:56:00Z") from None
    if isinstance(value, (int, float)):
        raise ValueError("must be an ISO 8601 text with a time zone, not a number")
    return value


def _not_ahead(value: datetime, info: ValidationInfo) -> datetime:
    now = (info.context or {}).get("now")
    if now is not None and value > now + MAX_AHEAD:
        raise ValueError(f"lies more than 24 hours ahead of this service's clock, which says {now:%Y-%m-%dT%H:%MZ}")
    return value


Moment = Annotated[datetime, AfterValidator(aware_utc), BeforeValidator(_from_text)]
Happened = Annotated[Moment, AfterValidator(_not_ahead)]
"""When something was said or happened.

A validation with a context of `now` refuses what is said to happen long after it: a truth of the year 9999 would be the latest in its slot
for good. What is to be true from some day on says so in `valid_from`.
"""
