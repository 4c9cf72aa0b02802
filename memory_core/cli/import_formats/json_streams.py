"""JSON and JSON Lines read piece by piece, never a whole file."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import ijson
from ijson.common import ObjectBuilder

from memory_core.cli.import_formats.items import Json, Skipped

LINE_BYTES = 8 * 2**20
"""The most bytes of a line; a longer line is left out."""
READ_BYTES = 8 * 2**10
"""Bytes that are read at once; the progress of an import is shown by the bytes read."""
MOST_NESTED = 200
"""The most levels of objects and lists in a document."""
_DEPTH_CHANGES = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}


class UnreadableFile(ValueError):
    """Raised for a file that cannot be read further; the text has place and reason."""


@contextmanager
def open_export(path: Path) -> Iterator[IO[bytes]]:
    """The opened file, or conversations.json within it where it is a zip archive.

    Raises UnreadableFile and OSError.
    """
    if not zipfile.is_zipfile(path):
        with path.open("rb") as stream:
            yield stream
        return
    with ExitStack() as opened:
        try:
            archive = opened.enter_context(zipfile.ZipFile(path))
            names = [
                name
                for name in archive.namelist()
                if name.rpartition("/")[2] == "conversations.json"
            ]
            if not names:
                raise UnreadableFile("there is no conversations.json in this archive")
            member = opened.enter_context(archive.open(min(names, key=len)))
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
            # damaged, encrypted, an unknown method
            raise _unreadable(error) from None
        try:
            yield member
        except zipfile.BadZipFile as error:  # found while it is read
            raise _unreadable(error) from None


def _unreadable(error: Exception) -> UnreadableFile:
    return UnreadableFile(f"this archive can't be read ({type(error).__name__})")


def first_character(stream: IO[bytes]) -> bytes:
    """The first character that is no white space, at which the stream is placed.

    A byte order mark is left out.
    """
    stream.seek(0)
    if stream.read(3) != b"\xef\xbb\xbf":
        stream.seek(0)
    while (character := stream.read(1)).isspace():
        pass
    if character:
        stream.seek(-1, 1)
    return character


def list_elements(stream: IO[bytes], key: str | None = None) -> Iterator[Any]:
    """The elements of a JSON list, read singly.

    The list is the document, or is below a key of a JSON object. Note: `ijson.items` would take
    memory that grows with the square of the depth.

    Args:
        stream: The file, placed at the beginning of the JSON.
        key: The key of the list; None where the document itself is a list.

    Raises:
        UnreadableFile: The JSON ends early, is broken, or is nested too deeply.

    """
    count, depth, level, in_list, last_key = 0, 0, 1 if key is None else 2, False, None
    builder: Any = None
    try:
        parsed = ijson.basic_parse(stream, use_float=True, buf_size=READ_BYTES)
        for event, value in parsed:
            change = _DEPTH_CHANGES.get(event, 0)
            depth += change
            if depth > MOST_NESTED:
                raise UnreadableFile(f"the JSON is nested too deeply after entry {count}")
            if builder is None and in_list and change >= 0 and depth - change == level:
                builder = ObjectBuilder()
            if builder is not None:
                builder.event(event, value)
                if depth == level:
                    count += 1
                    yield builder.value
                    builder = None
            elif event == "map_key":
                last_key = value if depth == 1 else last_key
            elif event == "start_array" and depth == level:
                in_list = key is None or last_key == key
            elif depth < level:
                in_list = False
    except (ijson.JSONError, UnicodeError):
        raise UnreadableFile(f"the JSON is broken or ends after entry {count}") from None


def objects_of(stream: IO[bytes]) -> Iterator[tuple[str, Json | Skipped]]:
    """The objects of JSON Lines, or of a JSON list, each with its place.

    An unreadable entry is replaced by the reason.
    """
    if first_character(stream) == b"[":
        for number, element in enumerate(list_elements(stream), 1):
            place = f"entry {number}"
            yield place, element if isinstance(element, dict) else Skipped("not an object", place)
        return
    for number, line in enumerate(_lines(stream), 1):
        place = f"line {number}"
        if line is None:
            yield place, Skipped(f"longer than {LINE_BYTES >> 20} MiB", place)
            continue
        if not line.strip():
            continue
        try:
            entry = parse_line(line)
        except ValueError:
            yield place, Skipped("not JSON", place)
            continue
        yield place, entry if isinstance(entry, dict) else Skipped("not an object", place)


def _lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """The lines; None for a line that is too long."""
    while line := stream.readline(LINE_BYTES + 1):
        if len(line) <= LINE_BYTES:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(LINE_BYTES)
        yield None


def parse_line(line: bytes) -> Any:
    """The JSON of a line. Raises ValueError."""
    try:
        return json.loads(line.decode())
    except RecursionError:
        raise ValueError("nested too deeply") from None
