"""Reads memories as mem0 lists them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from memory_core.cli.import_formats.items import (
    Item,
    Json,
    SavedMemory,
    Skipped,
    iso_moment,
    list_of,
    service_name,
    storable,
)
from memory_core.cli.import_formats.json_streams import (
    LINE_BYTES,
    first_character,
    list_elements,
    objects_of,
    parse_line,
)


def read_mem0(stream: IO[bytes], name: str) -> Iterator[Item]:
    """Memories as mem0 lists them: a list, or a list below `results` or `memories`.

    Only memories of the first user are read.

    Args:
        stream: The opened file.
        name: The name of the file, which is not used.

    """
    first_user: Any = None
    for number, entry in enumerate(_entries(stream), 1):
        place = f"memory {number}"
        text = (
            (entry.get("memory") or entry.get("text") or entry.get("data"))
            if isinstance(entry, dict)
            else None
        )
        if not isinstance(entry, dict) or not isinstance(text, str) or not text.strip():
            yield Skipped("no content", place)
            continue
        user = entry.get("user_id")
        first_user = first_user if first_user is not None else user
        if user is not None and user != first_user:
            yield Skipped("of another user than the first memory", place)
            continue
        own = entry.get("metadata")
        labels = {"mem0_id": entry["id"]} if isinstance(entry.get("id"), str) else {}
        fields: Json = {
            "type": "semantic",
            "source": "mem0",
            "content": text,
            "metadata": {**(own if isinstance(own, dict) else {}), **labels},
        }
        fields["event_timestamp"] = iso_moment(entry.get("created_at"))
        fields["tags"] = [
            tag for tag in list_of(entry.get("categories")) if isinstance(tag, str) and tag.strip()
        ] or None
        fields["agent_id"] = (
            service_name("", entry["agent_id"], place) if entry.get("agent_id") else None
        )
        fields["session_id"] = (
            service_name("", entry["run_id"], place) if entry.get("run_id") else None
        )
        yield SavedMemory(
            storable({field: value for field, value in fields.items() if value is not None}), place
        )


def _entries(stream: IO[bytes]) -> Iterator[Any]:
    if first_character(stream) == b"[":
        yield from list_elements(stream)
        return
    line = stream.readline(LINE_BYTES)
    try:
        first = parse_line(line)
    except ValueError:
        first = None
    first_character(stream)
    if isinstance(first, dict) and "results" not in first and "memories" not in first:
        for _, entry in objects_of(stream):
            yield {} if isinstance(entry, Skipped) else entry
        return
    place = stream.tell()
    yield from list_elements(stream, "results")
    stream.seek(place)
    yield from list_elements(stream, "memories")
