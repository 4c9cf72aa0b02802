"""What an error says of itself without any value that a caller sent or stored.

The message of an exception often quotes its input: pydantic's `input_value`, a missing key, the body that a service sent back. So only
errors of our own tree speak for themselves. Of all others the class is named, and what a fixed list of attributes tells.
"""

from __future__ import annotations

import os
import re
from functools import cache

from pydantic import BaseModel, ValidationError

from memory_core.domain.errors import MemoryCoreError, PlainError

MAX_DETAILS = 5
"""Refused fields that are named of one ValidationError, and members of one group."""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
NOT_SHOWN = "(a name that is not shown)"
_SQLITE = {
    "SQLITE_BUSY": "the database is locked",
    "SQLITE_CANTOPEN": "the file can't be opened",
    "SQLITE_CORRUPT": "the file is damaged",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk does not answer as it should",
    "SQLITE_NOTADB": "the file is not a database",
    "SQLITE_READONLY": "the file is read-only",
}
"""What is wrong, by the name of SQLite's primary result code."""


def described(error: BaseException) -> str:
    """An error as it may be logged, stored and shown.

    Args:
        error: of any kind. The `detail` of our own errors is written for callers and returned as it is.

    Returns:
        One line: the detail, or the class with a status, an errno or the places of what was refused.

    """
    if isinstance(error, MemoryCoreError):
        return error.detail
    if isinstance(error, PlainError):
        return str(error)
    name = type(error).__name__
    detail = _detail_of(error)
    return f"{name}: {detail}" if detail else name


def is_plain_name(name: str) -> bool:
    """Whether a name that a caller gave may be repeated: a short identifier holds none of a user's words."""
    return _IDENTIFIER.fullmatch(name) is not None


def shown_name(name: object) -> str:
    """A name that a caller gave, of a field or a document, if it is a plain one. Numbers stay."""
    text = str(name)
    return text if isinstance(name, int) or is_plain_name(text) else NOT_SHOWN


def _detail_of(error: BaseException) -> str:
    if isinstance(error, ValidationError):
        return _refused_places(error)
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(described(member) for member in error.exceptions[:MAX_DETAILS])
    sqlite_name = getattr(error, "sqlite_errorname", None)  # read so, since who only needs Cosmos DB does not import sqlite3
    if sqlite_name is not None:
        return _sqlite_problem(sqlite_name)
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return f"HTTP {status}"
    if isinstance(error, OSError) and isinstance(error.errno, int):
        return os.strerror(error.errno)
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return described(cause) if isinstance(cause, OSError) and cause is not error else ""


def _refused_places(error: ValidationError) -> str:
    """Where and how each value was wrong.

    A part of a path that is no field of ours is a name that the caller chose: a star is written for it.
    """
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    places = (".".join(str(part) if isinstance(part, int) or part in _field_names() else "*" for part in one["loc"]) for one in problems)
    told = [f"{place or 'all'} {one['type']}" for place, one in zip(places, problems, strict=True)]
    more = f" and {len(told) - MAX_DETAILS} more" if len(told) > MAX_DETAILS else ""
    return f"{', '.join(told[:MAX_DETAILS])}{more}"


@cache
def _field_names() -> frozenset[str]:
    """The names of all fields of all models that are defined in this process."""
    names: set[str] = set()
    models: list[type[BaseModel]] = [BaseModel]
    while models:
        model = models.pop()
        names.update(model.model_fields)
        models.extend(model.__subclasses__())
    return frozenset(names)


def _sqlite_problem(name: str) -> str:
    problem = _SQLITE.get("_".join(name.split("_")[:2]))
    return f"{problem} ({name})" if problem else name
