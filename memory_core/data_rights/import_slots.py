"""Check the slot logs of an imported file against the members of the slots.

A log must say the same of a member as the member says of itself. A file without logs, from an
earlier version, is accepted too: its slots get their logs from their members at their first write.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memory_core.data_rights.import_parse import ImportedDocument, ImportRefused, SlotBody
from memory_core.domain.errors import PlainError, shown_name
from memory_core.domain.memory import Memory, MemoryFields
from memory_core.domain.truth import codec
from memory_core.domain.truth.entries import Entry as Said
from memory_core.domain.truth.entries import Hiding, Merge, Pair, Statement
from memory_core.domain.truth.resolve import resolve
from memory_core.domain.truth.slots import slot_name
from memory_core.evolution.slot_check import differences_in
from memory_core.evolution.truth_projection import project
from memory_core.ledger.ids import slot_document_id, slot_of_part

_UNCOMPARED: MemoryFields = {
    "content": "",
    "search_text": "",
    "embedding": None,
    "metadata": {},
    "atomic_facts": [],
    "links": [],
}


class SlotLogs:
    """The logs and members of all slots, as far as they are compared."""

    def __init__(self, now: datetime) -> None:
        """Begin without logs; statuses are compared as of `now`."""
        self._now = now
        self._lines: dict[str, int] = {}
        self._entries: dict[str, list[Said]] = {}
        self._members: dict[str, dict[str, Memory]] = {}

    def take_member(self, memory: Memory) -> None:
        """Add a memory or an old version."""
        if (name := slot_name(memory)) is not None:
            self._members.setdefault(slot_document_id(*name), {})[memory.id] = memory.changed(
                **_UNCOMPARED
            )

    def take(self, entry: ImportedDocument, body: SlotBody) -> None:
        """Add a log, or a sealed part of a log.

        Args:
            entry: The document of the file.
            body: The parsed body.

        Raises:
            PlainError: It is no log.

        """
        try:
            entries = codec.entries_in(body.entries)
            known = codec.rows(entries) == sorted(
                body.entries, key=lambda row: (row[1], row[2])
            ) and all(map(_is_sound, entries))
            if body.sealed is not None:
                codec.seal_in(body.sealed)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError):
            known = False
        if not known:
            raise PlainError("is no log of a slot")
        name = slot_of_part(entry.id)
        self._entries.setdefault(name, []).extend(entries)
        self._lines[name] = entry.line

    def end(self, sequence: int) -> None:
        """Check all slots at the end of the file.

        `sequence` is the last of the file's log. Raises ImportRefused if a member is not as its
        slot's log says.
        """
        for name, entries in self._entries.items():
            line = self._lines[name]
            if not all(0 < entry.sequence <= sequence for entry in entries) or len(
                {entry.place for entry in entries}
            ) < len(entries):
                raise ImportRefused(
                    line, f"slot {shown_name(name)}: an entry has no place in the log"
                )
            members = self._members.get(name, {})  # an unreadable member is in no file
            differences = differences_in(
                name, project(resolve(entries), self._now), members, self._now
            )
            differing = [
                difference for difference in differences if difference.memory_id in members
            ]
            if differing:
                difference = differing[0]
                fields = ", ".join(difference.fields) or "it is none of its members"
                raise ImportRefused(
                    line,
                    f"slot {shown_name(name)}: {shown_name(difference.memory_id)} is not as the "
                    f"log of its slot says: {fields}",
                )


def _is_sound(entry: Said) -> bool:
    """Whether the fields of an entry have the right types."""
    names: Sequence[Any] = ()
    if isinstance(entry, Statement):
        names = (entry.memory_id, getattr(entry, "value", None) or "")
    elif isinstance(entry, Hiding):
        names = (entry.memory_id,)
    elif isinstance(entry, Pair | Merge):
        names = entry.memory_ids
    numbers = (entry.sequence, entry.part, entry.version if isinstance(entry, Statement) else 1)
    is_named = all(isinstance(name, str) for name in (*names, entry.conflict_id or ""))
    return is_named and all(isinstance(number, int) for number in numbers)
