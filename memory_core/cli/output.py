"""The output of commands: JSON for programs, tables for people, plain lines for pipes.

Texts of users never control the terminal.
"""

from __future__ import annotations

import json
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from memory_core.cli.service import CallFailed

SHOWN_CHARACTERS = 300
"""The most characters of a text in a table."""
PROGRESS_S = 30
"""Seconds between two lines of progress where no bar is shown."""


class Output:
    """The output of a command.

    With `as_json`, the standard output has a single JSON document and no further text.
    """

    def __init__(
        self, *, as_json: bool = False, seconds_now: Callable[[], float] = time.monotonic
    ) -> None:
        self.as_json = as_json
        self._seconds_now, self._progress_printed_at = seconds_now, seconds_now()
        self._console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._notes = Console(
            stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True
        )

    @property
    def is_terminal(self) -> bool:
        """Whether a person reads the standard output."""
        return self._console.is_terminal

    def document(self, value: Any) -> None:
        """Print a JSON document."""
        sys.stdout.write(json.dumps(value, ensure_ascii=_needs_ascii(sys.stdout), indent=2) + "\n")

    def line(self, text: str = "", style: str = "") -> None:
        """Print a line of the answer.

        Args:
            text: The text, whose control characters are replaced.
            style: The style on a terminal.

        """
        _print(self._console, sys.stdout, printable(text), style)

    def note(self, text: str, style: str = "") -> None:
        """Print a line about the answer, on the standard error output.

        Args:
            text: The text, whose control characters are replaced.
            style: The style on a terminal.

        """
        _print(self._notes, sys.stderr, printable(text), style)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Print rows: aligned on a terminal, else as uncut lines with tabs between fields.

        Args:
            columns: The names of the columns.
            rows: The fields of each row.

        """
        if not self.is_terminal:
            self.line("\t".join(columns))
            for row in rows:
                self.line("\t".join(" ".join(_field(value).split()) for value in row))
            return
        table = Table(box=None, header_style="bold", pad_edge=False)
        for number, column in enumerate(columns, 1):
            table.add_column(column, no_wrap=number < len(columns), overflow="fold")
        for row in rows:
            table.add_row(*(Text(printable(_shortened(_field(value)))) for value in row))
        self._console.print(table, soft_wrap=False)

    def failure(self, detail: str, code: int, error: CallFailed | None = None) -> None:
        """Print why a command failed.

        It prints the message, a suggestion, and the correlation id by which the log names the
        request. With JSON it also prints the errors field by field.

        Args:
            detail: The message.
            code: The exit code.
            error: The failed call, if the failure is of a call.

        """
        problem = error.problem if error is not None else {}
        fields = [item for item in problem.get("errors") or () if isinstance(item, dict)]
        correlation_id = error.correlation_id if error is not None else None
        if self.as_json:
            status = error.status if error is not None else None
            content = {
                "detail": detail,
                "exit_code": code,
                "status": status,
                "errors": fields,
                "correlation_id": correlation_id,
            }
            content["did_you_mean"] = problem.get("did_you_mean")
            sys.stderr.write(json.dumps({"error": content}, ensure_ascii=True) + "\n")
            return
        self.note(f"memory-core: {' '.join(detail.split())}", "red")
        if problem.get("did_you_mean"):
            self.note(f"  did you mean {problem['did_you_mean']}?")
        if correlation_id:
            self.note(f"  correlation id {correlation_id}")

    def progress(self, total: int | None = None) -> Progress:
        """A progress display on the standard error output.

        It is hidden where the output is no terminal, or with JSON.
        """
        bar = (
            (BarColumn(), TaskProgressColumn(), MofNCompleteColumn())
            if total is not None
            else (BarColumn(), TaskProgressColumn())
        )
        return Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            *bar,
            TextColumn("{task.fields[detail]}", markup=False),
            TimeElapsedColumn(),
            console=self._notes,
            disable=self._hides_bars,
            transient=True,
        )

    def progress_line(self, text: str) -> None:
        """Print the progress where its display is hidden, at most twice a minute.

        With JSON nothing is printed, since programs read the standard error output, too.
        """
        now = self._seconds_now()
        if self._hides_bars and not self.as_json and now - self._progress_printed_at >= PROGRESS_S:
            self._progress_printed_at = now
            self.note(text)

    @property
    def _hides_bars(self) -> bool:
        return self.as_json or not self._notes.is_terminal


def _print(console: Console, stream: TextIO, text: str, style: str) -> None:
    """Print a line: with its style on a terminal, else as it is, tabs included."""
    if console.is_terminal:
        console.print(Text(text, style=style))
    else:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")


def printable(text: str) -> str:
    """The text without characters that would control a terminal.

    Line ends and tabs stay.
    """
    return "".join(
        character if character in "\n\t" or not _steers(character) else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def day_of(moment: str | None) -> str:
    """The day of a moment as the API writes it."""
    return (moment or "")[:10]


def _steers(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Cc", "Cs")
        or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def _needs_ascii(stream: TextIO) -> bool:
    return (stream.encoding or "ascii").replace("-", "").lower() != "utf8"
