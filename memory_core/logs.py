"""Keep values of users out of the logs.

Messages of our own code are logged. Of other packages, only the place of each warning is logged.
Our code logs with values that it may log. It can't vouch for the text of exceptions and the
messages of other packages, which quote requests, bodies and addresses. A filter on the handlers of
the root logger removes both, at every level.
"""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, TextIO

from memory_core.domain.errors import described

OURS: Final = ("memory_core",)
HOSTS: Final = ("azure_functions_worker", "azure_functions_runtime", "proxy_worker")
"""Loggers of Azure's Python worker.

They name functions and invocations, and the platform needs them.
"""
FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
log = logging.getLogger(__name__)


class Described(Exception):
    """Stand-in for another exception in a traceback: its class and place, without its message."""


class PrivacyFilter(logging.Filter):
    """Let our records and the warnings of other packages through.

    No record keeps the text of an exception. Records of other packages lose their arguments too.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is written.

        The record is changed in place, since other handlers get it too.
        """
        ours = _is_of(record.name, OURS)
        if not ours and not _is_of(record.name, HOSTS):
            if record.levelno < logging.WARNING:
                return False
            _take_values_out(record)
        if isinstance(record.msg, BaseException):
            record.msg = described(record.msg)
        if isinstance(record.args, tuple):
            record.args = tuple(
                described(value) if isinstance(value, BaseException) else value
                for value in record.args
            )
        if (
            record.exc_info
            and record.exc_info[1] is not None
            and not isinstance(record.exc_info[1], Described)
        ):
            stand_in = without_text(record.exc_info[1])
            record.exc_info = (Described, stand_in, stand_in.__traceback__)
            record.exc_text = None
        return True


def protect(level: str) -> None:
    """Set our loggers' level, and keep values of users out of all logs.

    This covers all that this process logs or writes about errors. The function may be called again;
    handlers that were added meanwhile are protected too.
    """
    logging.getLogger(OURS[0]).setLevel(level)
    for handler in logging.getLogger().handlers:
        if not any(isinstance(present, PrivacyFilter) for present in handler.filters):
            handler.addFilter(PrivacyFilter())
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _log_uncaught
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = lambda crash: _log_uncaught(
            crash.exc_type, crash.exc_value, crash.exc_traceback
        )
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = lambda crash: _log_uncaught(
            crash.exc_type, crash.exc_value, crash.exc_traceback
        )
    if warnings.showwarning.__module__ == warnings.__name__:
        warnings.showwarning = _log_warning


def write_to_terminal(level: str) -> None:
    """Log to the standard error output, protected.

    This is for a process that sets up its own logging, as the development host does.
    """
    logging.basicConfig(level=logging.WARNING, format=FORMAT)
    protect(level)


def without_text(error: BaseException, seen: frozenset[int] = frozenset()) -> Described:
    """Copy an error without its text: its class and traceback, with its causes and members.

    Args:
        error: The error, which is not changed.
        seen: Ids of errors that were copied already, for chains that form a circle.

    """
    stand_in = Described(described(error)).with_traceback(error.__traceback__)
    seen |= {id(error)}
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is None and isinstance(error, BaseExceptionGroup):
        cause = error.exceptions[0]
    if cause is not None and id(cause) not in seen:
        stand_in.__cause__ = without_text(cause, seen)
    return stand_in


@contextmanager
def errors_without_text() -> Iterator[None]:
    """Let errors leave as stand-ins without text.

    This is for functions whose errors the platform logs by itself, in logs that are not ours.
    Raises Described.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001 - it goes on, only in another form
        stand_in = without_text(error)
        raise stand_in from stand_in.__cause__


def _is_of(name: str, packages: tuple[str, ...]) -> bool:
    return name.partition(".")[0] in packages


def _take_values_out(record: logging.LogRecord) -> None:
    """Leave only the format of a message, and its place.

    Of a message without arguments only the place is left, since it may already be formatted.
    """
    place = f"{record.module}, line {record.lineno}"
    record.msg = f"{record.msg} ({place})" if record.args else f"a message of {place}"
    record.args = ()


def _log_uncaught(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    if isinstance(error, KeyboardInterrupt):
        return
    log.critical("an error that nothing caught", exc_info=(kind, error or kind(), trace))


def _log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> Any:
    log.warning("a %s at %s, line %d", category.__name__, filename, lineno)
