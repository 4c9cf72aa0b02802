"""Owners of memories: names of apps and users, names of blobs, and moments in UTC."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

APP_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FORBIDDEN_IN_IDS = frozenset("/\\#?")


class Owner(NamedTuple):
    """A user of an app.

    An owner is the boundary that no read crosses, and a logical partition of the store.
    """

    app_id: str
    user_id: str


def check_app_id(value: str) -> str:
    """Return the id of an app if it is valid.

    Raises ValueError unless it is 1-64 letters, digits, `.`, `_` or `-`, and starts with a letter
    or a digit.
    """
    if not APP_ID.fullmatch(value):
        raise ValueError(
            "must be 1-64 characters of A-Z a-z 0-9 . _ - and start with a letter or a digit"
        )
    return value


def check_name(value: str) -> str:
    r"""Return the id of a user, session, agent or memory if it is valid.

    Raises ValueError unless it has 1-128 characters, begins and ends without white space, and has
    none of `/ \ # ?`, control characters, lone surrogates or separators of lines and paragraphs.
    Stores can't use such characters in keys.
    """
    if not 1 <= len(value) <= 128:
        raise ValueError("must be 1-128 characters long")
    if value != value.strip():
        raise ValueError("must not begin or end with white space")
    for character in value:
        if character in _FORBIDDEN_IN_IDS:
            raise ValueError("must not contain / \\ # or ?")
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
            raise ValueError("must not contain control characters")
    return value


def checked(owner: Owner) -> Owner:
    """Return an owner whose ids are valid.

    Raises ValueError for ids that no store could keep apart. Callers of the library come through
    here; HTTP has checked the ids before.
    """
    check_app_id(owner.app_id)
    check_name(owner.user_id)
    return owner


# Valid names of blobs in the archive, and valid prefixes of names.
#
# Note: a part may not end with a dot. `.` and `..` would lead out of a folder, and a service may
# drop the dot of `a.` in an address.


MAX_NAME, MAX_PART = 500, 100
"""Characters of a blob's name, and of each part of it.

A service allows 1,024 characters and 254 parts. A file name may have 255 bytes, and a part may need
two bytes for each character.
"""

_NAME = re.compile(r"\A(?:[A-Za-z0-9._-]*[A-Za-z0-9_-])(?:/[A-Za-z0-9._-]*[A-Za-z0-9_-])*")
_PREFIX = re.compile(r"\A(?:[A-Za-z0-9._-]*[A-Za-z0-9_-]/)*[A-Za-z0-9._-]*")


def check_blob_name(name: str) -> str:
    """Return the name of a blob if every archive can keep it; otherwise raise ValueError."""
    if (
        len(name) > MAX_NAME
        or _NAME.fullmatch(name) is None
        or max(map(len, name.split("/"))) > MAX_PART
    ):
        raise ValueError(
            f"{name!r} is no name of a blob: at most {MAX_NAME} characters, parts of 1-{MAX_PART} "
            "letters, digits or ._- joined by /, none ending with a dot"
        )
    return name


def check_blob_prefix(prefix: str) -> str:
    """Return the prefix of a blob's name if a name can begin with it.

    A prefix may end anywhere in a name and may be empty. Raises ValueError when no name can begin
    so.
    """
    if len(prefix) > MAX_NAME or _PREFIX.fullmatch(prefix) is None:
        raise ValueError(f"no name of a blob begins with {prefix!r}")
    return prefix


# Timestamps as callers write them: ISO 8601 with a time zone, stored in UTC.
#
# Note: a number, or a text without a zone, is refused and not guessed at.


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
