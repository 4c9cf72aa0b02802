"""The formats that can be imported, and the detection of a file's format.

A reader yields messages and memories in the order of the file, and the entries that it leaves out,
with a reason. It keeps a single conversation in memory, never the whole file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, Any

from memory_core.cli.import_formats.chatgpt import read_chatgpt
from memory_core.cli.import_formats.claude import read_claude
from memory_core.cli.import_formats.items import Reader
from memory_core.cli.import_formats.json_lines import read_memories, read_messages
from memory_core.cli.import_formats.json_streams import (
    LINE_BYTES,
    UnreadableFile,
    first_character,
    list_elements,
    parse_line,
)
from memory_core.cli.import_formats.mem0 import read_mem0

OWN_EXPORT, EXPORT_FORMAT = "memory-core", "memory-core-export"
"""Name of the format that `memory-core export` writes, here and in its first line."""
FORMATS: Mapping[str, Reader] = {
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "mem0": read_mem0,
    "memories": read_memories,
    "messages": read_messages,
}


def detect_format(stream: IO[bytes]) -> str:
    """The format of a file by its first entry: a name of FORMATS, or OWN_EXPORT.

    Raises UnreadableFile.
    """
    begin = first_character(stream)
    if begin == b"[":
        first = next(list_elements(stream), None)
        if first is None:
            raise UnreadableFile("the file is an empty list")
        return _format_of_entry(first, listed=True)
    if begin == b"{":
        line = stream.readline(LINE_BYTES)
        try:
            first = parse_line(line)
        except ValueError:
            first = None
        if isinstance(first, dict) and first.get("format") == EXPORT_FORMAT:
            return OWN_EXPORT
        if isinstance(first, dict) and not ("results" in first or "memories" in first):
            return _format_of_entry(first, listed=False)
        return "mem0"
    raise UnreadableFile("this is neither JSON nor JSON Lines")


def _format_of_entry(entry: Any, *, listed: bool) -> str:
    fields: Iterable[str] = entry if isinstance(entry, dict) else ()
    if "mapping" in fields and listed:
        return "chatgpt"
    if "chat_messages" in fields and listed:
        return "claude"
    if "role" in fields or "messages" in fields:
        return "messages"
    if "memory" in fields:
        return "mem0"
    if "content" in fields or "value" in fields:
        return "memories"
    raise UnreadableFile(
        "the format can't be told from the first entry; name it with --format "
        f"({', '.join((*FORMATS, OWN_EXPORT))})"
    )
