"""What is said of an error names the class and the place, and never a value that a caller sent."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sqlite3
import warnings
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from memory_core.domain.errors import (
    NOT_SHOWN,
    Invalid,
    PlainError,
    Unavailable,
    described,
    shown_name,
)
from memory_core.logs import Described, PrivacyFilter, errors_without_text

SECRET = "Quillfeather marmalade"


class Told(BaseModel, extra="forbid"):
    """A model whose errors quote what they were given."""

    value: str = Field(max_length=5)
    names: dict[str, int] = {}


def error_of(fails: Any) -> BaseException:
    try:
        fails()
    except BaseException as error:
        return error
    raise AssertionError("it did not fail")


FAILURES: dict[str, tuple[Any, str]] = {
    "a model": (
        lambda: Told.model_validate({"value": SECRET}),
        "ValidationError: value string_too_long",
    ),
    "a stranger's field": (
        lambda: Told(value="a", **{SECRET: 1}),
        "ValidationError: * extra_forbidden",
    ),
    "a stranger's key": (
        lambda: Told(value="a", names={SECRET: "x"}),
        "ValidationError: names.* int_parsing",
    ),
    "a key": (lambda: {}[SECRET], "KeyError"),  # type: ignore[misc]
    "a number": (lambda: int(SECRET), "ValueError"),
    "a pattern": (lambda: re.compile(f"({SECRET}"), re.error.__name__),
    "JSON": (lambda: json.loads(f'"{SECRET}'), "JSONDecodeError"),
    "an encoding": (lambda: f"{SECRET}\ud800".encode(), "UnicodeEncodeError"),
    "a file": (
        lambda: Path(f"/nowhere/{SECRET}").read_text(),
        "FileNotFoundError: No such file or directory",
    ),
    "SQL": (
        lambda: sqlite3.connect(":memory:").execute(f'SELECT "{SECRET}" FROM nothing'),
        "OperationalError: SQLITE_ERROR",
    ),
    "a group": (lambda: _group(), "ExceptionGroup: KeyError; ValueError"),
}


def _group() -> None:
    raise ExceptionGroup(SECRET, [KeyError(SECRET), ValueError(SECRET)])


@pytest.mark.parametrize("failure", FAILURES)
def test_an_error_is_described_by_its_class_and_place(failure: str) -> None:
    fails, expected = FAILURES[failure]
    description = described(error_of(fails))
    assert description == expected
    assert SECRET not in description


def test_errors_of_our_own_speak_for_themselves() -> None:
    assert described(Unavailable("queue", "is down")) == "queue: is down"
    assert described(Invalid("content: must not be empty")) == "content: must not be empty"
    assert described(PlainError("line 3: is no document")) == "line 3: is no document"


def test_a_service_that_answered_badly_is_described_by_its_status() -> None:
    class ServiceError(Exception):
        status_code = 503

    assert described(ServiceError(SECRET)) == "ServiceError: HTTP 503"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("limit", "limit"), (3, "3"), ("a.b_c-1", "a.b_c-1"), (SECRET, NOT_SHOWN), ("", NOT_SHOWN)],
)
def test_a_name_is_repeated_only_where_it_looks_like_one(name: object, expected: str) -> None:
    assert shown_name(name) == expected


@pytest.fixture
def written() -> StringIO:
    return StringIO()


@pytest.fixture
def handler(written: StringIO) -> logging.Handler:
    made = logging.StreamHandler(written)
    made.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    made.addFilter(PrivacyFilter())
    return made


def logger_of(name: str, handler: logging.Handler) -> logging.Logger:
    made = logging.Logger(name)
    made.addHandler(handler)
    return made


def test_a_traceback_keeps_its_places_and_loses_its_messages(
    handler: logging.Handler, written: StringIO
) -> None:
    def fails() -> None:
        try:
            Told.model_validate({"value": SECRET})
        except ValueError as error:
            raise KeyError(SECRET) from error

    log = logger_of("memory_core.somewhere", handler)
    try:
        fails()
    except KeyError as error:
        log.exception("it failed: %s", error)
    text = written.getvalue()
    assert "ERROR memory_core.somewhere: it failed: KeyError\n" in text
    assert "test_described_errors.py" in text
    assert "Described: ValidationError: value string_too_long" in text
    assert SECRET not in text


def test_other_packages_are_heard_from_warnings_on_and_without_their_arguments(
    handler: logging.Handler, written: StringIO
) -> None:
    log = logger_of("httpx", handler)
    log.debug("body: %s", SECRET)
    log.info(f"GET /?query={SECRET}")
    log.warning("retrying %s after %d s", SECRET, 3)
    log.error(f"lost {SECRET}")
    log.error("%(what)s is wrong", {"what": SECRET})
    lines = written.getvalue().splitlines()
    assert [line.split(" (")[0] for line in lines] == [
        "WARNING httpx: retrying %s after %d s",
        f"ERROR httpx: a message of test_described_errors, line {lines[1].split()[-1]}",
        "ERROR httpx: %(what)s is wrong",
    ]
    assert SECRET not in written.getvalue()


async def test_a_lost_task_is_told_without_its_message(
    handler: logging.Handler, written: StringIO
) -> None:
    log = logger_of("asyncio", handler)

    async def fails() -> None:
        raise KeyError(SECRET)

    task = asyncio.ensure_future(fails())
    await asyncio.wait([task])
    log.error(f"Task exception was never retrieved\nfuture: {task!r}", exc_info=task.exception())
    assert "Described: KeyError" in written.getvalue()
    assert SECRET not in written.getvalue()


def test_an_error_leaves_a_function_without_its_text_and_without_what_caused_it() -> None:
    def fails() -> None:
        with errors_without_text():
            try:
                int(SECRET)
            except ValueError as error:
                raise Unavailable("queue", "is down") from error

    error = error_of(fails)
    causes: list[BaseException] = []
    while error is not None:
        causes.append(error)
        error = error.__cause__  # type: ignore[assignment]
    assert [(type(cause), str(cause)) for cause in causes] == [
        (Described, "queue: is down"),
        (Described, "ValueError"),
    ]
    assert causes[0].__suppress_context__


def test_a_warning_is_told_by_its_class_and_place(caplog: pytest.LogCaptureFixture) -> None:
    from memory_core.logs import _log_warning

    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("always")
        warnings.showwarning = _log_warning
        warnings.warn(f"input_value={SECRET}", UserWarning, stacklevel=1)
    assert "a UserWarning at" in caplog.text
    assert SECRET not in caplog.text
