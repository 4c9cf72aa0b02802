"""Checked types of fields: texts, names, labels, numbers, JSON, time zones.

Note: a message that begins with "name: " is about the field of that name within the checked value.
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from datetime import date, datetime, time, timezone, tzinfo
from functools import lru_cache
from typing import Annotated, Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, available_timezones

import orjson
from pydantic import AfterValidator, ConfigDict, Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema

from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.errors import Resembling
from memory_core.domain.memory import (
    MAX_CONTENT_BYTES,
    MAX_METADATA_BYTES,
    MAX_VALUE_BYTES,
    Foresight,
)
from memory_core.domain.scope import check_name
from memory_core.domain.text.unicode_forms import normal_form


def no_nul(value: str) -> str:
    """Return the text if it has no NUL and no lone surrogate; otherwise raise ValueError."""
    if "\x00" in value:
        raise ValueError("must not contain the NUL character")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode text, without lone surrogates") from None
    return value


def not_blank(value: str) -> str:
    """Return the text if it is not blank; otherwise raise ValueError."""
    if not value.strip():
        raise ValueError("must not be empty")
    return value


def _content(value: str) -> str:
    size = len(value.encode("utf-8"))
    if size > MAX_CONTENT_BYTES:
        raise ValueError(
            f"is {size} bytes long; at most {MAX_CONTENT_BYTES} are kept in one memory"
        )
    return value


def _json_size(value: Any) -> Any:
    """Return a value if it is JSON of at most 8 KiB; otherwise raise ValueError.

    Numbers must be finite, integers within 2^53, keys texts, and the depth at most 32.
    """
    return _json_within(value, MAX_METADATA_BYTES)


def value_of_json(value: Any) -> Any:
    """Return a value if it is JSON of at most 256 KiB; otherwise raise ValueError."""
    return _json_within(value, MAX_VALUE_BYTES)


def _json_within(value: Any, most: int) -> Any:
    _check_json(value, 0)
    size = len(orjson.dumps(value))
    if size > most:
        raise ValueError(f"is {size} bytes as JSON; at most {most} are kept")
    return value


def check_value_size(value: Any) -> None:
    """Raise ValueError for a value that is too large unless its memory is procedural."""
    if (size := len(orjson.dumps(value))) > MAX_METADATA_BYTES:
        raise ValueError(
            f"value: is {size} bytes as JSON; at most {MAX_METADATA_BYTES} are kept, "
            f"{MAX_VALUE_BYTES} in a procedural memory"
        )


def _check_json(value: Any, depth: int) -> None:
    if depth > 32:
        raise ValueError("is nested deeper than 32 levels")
    if isinstance(value, str):
        no_nul(value)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if not -(2**53) <= value <= 2**53:
            raise ValueError("holds an integer beyond 2^53, which JSON readers would change")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("holds a number that is not finite")
    elif isinstance(value, list):
        for item in value:
            _check_json(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError("must have text keys only")
            no_nul(key)
            _check_json(item, depth + 1)
    else:
        raise ValueError(f"holds a {type(value).__name__}, which JSON has no form for")


def _no_scope(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse metadata that names an app or a user.

    A reader must not mistake it for the scope.
    """
    for name in ("app_id", "user_id"):
        if name in value:
            raise ValueError(
                f"{name}: metadata can't name an app or a user; scope comes from the key and "
                "the request"
            )
    return value


def _one_form(value: str) -> str:
    """The text in NFC with single spaces.

    A slot is found by its name, so "Ann" and "Ann " must be the same name.
    """
    return " ".join(normal_form("NFC", value).split())


def _callback(value: str) -> str:
    """Return an absolute http or https address with a host and without a password.

    A password would end up in logs.
    """
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("is not a valid address") from None
    if (
        parts.scheme not in ("http", "https")
        or not host
        or any(character.isspace() for character in value)
    ):
        raise ValueError("must be an address that begins with http:// or https:// and names a host")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not contain a user name or a password")
    return value


def _ahead(value: Foresight) -> Foresight:
    for wrong in (no_nul, not_blank):
        try:
            wrong(value.description)
        except ValueError as error:
            raise ValueError(f"description: {error}") from None
    if value.end_time is not None and value.end_time <= value.start_time:
        raise ValueError("end_time: must be later than start_time")
    return value


def without_doubles(values: list[str]) -> list[str]:
    """Each value once, in order."""
    return list(dict.fromkeys(values))


@dataclass(frozen=True, slots=True, eq=False)
class Documented:
    """Adds the meaning of a type's check to its JSON schema, for the OpenAPI document."""

    rules: dict[str, Any]

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(core), **self.rules}


def require_fields(*names: str) -> dict[str, Any]:
    """The JSON schema of an object that has these fields, none of them null."""
    return {"required": [*names], "properties": {name: {"not": {"type": "null"}} for name in names}}


_NOT_IN_NAMES = r"/\\#?\u0000-\u001F\u007F-\u009F\u2028\u2029"
NAME_SCHEMA: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 128,
    "pattern": rf"^[^\s{_NOT_IN_NAMES}]([^{_NOT_IN_NAMES}]*[^\s{_NOT_IN_NAMES}])?$",
}
"""The names that `check_name` accepts, as JSON Schema."""
NOT_BLANK = {"pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"}
"""A text with more than white space in it and without NUL, as JSON Schema."""
_VALUE = {"maxLength": MAX_VALUE_BYTES - 2, "pattern": r"^[^\u0000]*$"}
_METADATA = {"propertyNames": {"not": {"enum": ["app_id", "user_id"]}}}
_CALLBACK = {"pattern": r"^https?://[^\s\u0000/?#@]+([/?#][^\s\u0000]*)?$"}
_CURSOR = {"minLength": 1, "pattern": "^[A-Za-z0-9_-]+$"}

Text = Annotated[str, AfterValidator(no_nul)]
Query = Annotated[
    Text, Field(min_length=1, max_length=10_000), AfterValidator(not_blank), Documented(NOT_BLANK)
]
Name = Annotated[str, AfterValidator(check_name), WithJsonSchema(NAME_SCHEMA)]
Label = Annotated[
    str,
    Field(min_length=1, max_length=200),
    AfterValidator(no_nul),
    AfterValidator(not_blank),
    Documented(NOT_BLANK),
]
SlotName = Annotated[Label, AfterValidator(_one_form)]
Labels = Annotated[list[Label], Field(max_length=50), AfterValidator(without_doubles)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Value = Annotated[Any, AfterValidator(value_of_json), Documented(_VALUE)]
Metadata = Annotated[
    dict[str, Any], AfterValidator(_json_size), AfterValidator(_no_scope), Documented(_METADATA)
]
Limit = Annotated[int, Field(ge=1, le=100)]
Cursor = Annotated[str, Field(max_length=1000), Documented(_CURSOR)]
Tokens = Annotated[int, Field(ge=100, le=16_000)]
DEFAULT_MAX_TOKENS = 2000
"""Tokens of a context, where the caller gives no number."""
Content = Annotated[
    Text,
    Field(min_length=1),
    AfterValidator(not_blank),
    AfterValidator(_content),
    Documented({"maxLength": MAX_CONTENT_BYTES, **NOT_BLANK}),
]
Ahead = Annotated[Foresight, AfterValidator(_ahead)]
CallbackUrl = Annotated[
    str,
    Field(max_length=2000),
    AfterValidator(no_nul),
    AfterValidator(_callback),
    Documented(_CALLBACK),
]


class Input(DeferredModel):
    """Base of all input: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")


def check_period(since: datetime | None, until: datetime | None) -> None:
    """Refuse a period that ends before it begins.

    The answer would be an empty list.

    Args:
        since: The beginning; None: there is none.
        until: The end; None: there is none.

    Raises:
        ValueError: The end is before the beginning.

    """
    if since is not None and until is not None and until < since:
        raise ValueError("until: must not be before since")


# Time zones by their names in the IANA database, and times in a zone.
#
# Days and hours that people name ("yesterday", "at 9") are those of their zone. Stored times are
# always UTC; a time has a zone only where days are read or written. The database is the system's,
# or else that of the package `tzdata`.


MAX_NAME = 64
ZONE_FIELD = "time_zone"
"""The name of the time zone in requests, conversations and the metadata of memories."""
_CLOSE = 0.7
"""Least ratio of `difflib` between two names that may be misspellings of each other."""


def _known(name: str) -> str:
    if name in _names():
        return name
    raise Resembling("is no time zone of the IANA database, such as Europe/Berlin", _nearest(name))


_AREAS = (
    "Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Etc|Europe|Indian"
    "|Mexico|Pacific|US"
)
_NAME = rf"^(UTC|GMT|({_AREAS})/[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)?)$"
TimeZone = Annotated[
    str,
    Field(min_length=1, max_length=MAX_NAME),
    AfterValidator(_known),
    Documented({"pattern": _NAME}),
]
"""The name of a time zone as callers give it."""


def zone_of(name: str | None) -> tzinfo:
    """The zone of a name.

    It is UTC without a name, and for a name that this machine's database does not know.
    """
    return timezone.utc if name is None or name not in _names() else ZoneInfo(name)


def local(moment: datetime, zone: tzinfo) -> datetime:
    """The same moment as clocks in the zone show it.

    Args:
        moment: An aware moment.
        zone: The zone. The moment is unchanged where its time there lies outside the calendar.

    """
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment


def midnight(day: date, zone: tzinfo) -> datetime:
    """When a day begins in a zone, in UTC.

    Args:
        day: The day.
        zone: The zone.

    """
    try:
        return datetime.combine(day, time.min, zone).astimezone(timezone.utc)
    except OverflowError:  # the first day of the calendar, east of Greenwich
        return datetime.combine(day, time.min, timezone.utc)


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    """Names of zones that name an area.

    The few names without an area ("EST", "Japan") are old names of these zones.
    """
    return frozenset(
        name for name in available_timezones() if "/" in name or name in ("UTC", "GMT")
    )


def _nearest(name: str) -> str | None:
    """The zone that was probably meant.

    The name may differ in capitals, be a city alone, or be a misspelling.
    """
    wanted = "_".join(name.split()).casefold()
    by_name = {known.casefold(): known for known in sorted(_names())}
    by_city = {
        folded.rpartition("/")[2]: known
        for folded, known in by_name.items()
        if "/" in folded and not folded.startswith("etc/")
    }
    if zone := by_name.get(wanted) or by_city.get(wanted.rpartition("/")[2]):
        return zone
    near = difflib.get_close_matches(wanted, by_name, n=1, cutoff=_CLOSE)
    return by_name[near[0]] if near else None
