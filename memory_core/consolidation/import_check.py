"""Whether a file is one that can be brought in whole: looked at line by line, before anything of it is stored.

Note: a file may come from anywhere. What it says of itself is believed nowhere: ids could name our own bookkeeping,
references could lead out of the file, a log could have holes. Whatever is wrong is said with the line that it is in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from memory_core.consolidation.cold_lines import COLD, GONE, copy_in, name_of
from memory_core.consolidation.export_file import KINDS
from memory_core.consolidation.import_lines import Entries, Entry, Refused, SlotBody, header_in
from memory_core.consolidation.import_log import Log
from memory_core.consolidation.import_slots import SlotLogs
from memory_core.domain.candidates import weighted_length
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.conversation import Conversation
from memory_core.domain.described import described, shown_name
from memory_core.domain.errors import PlainError
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.messages import is_cell, is_message, messages_of
from memory_core.domain.models import Event, Memory
from memory_core.domain.scope import check_name
from memory_core.domain.slots import slot_of, with_marks
from memory_core.domain.versions import base_id
from memory_core.ledger.documents import Buffer

_NAMED: Final[Mapping[str, re.Pattern[str]]] = {
    "cold": re.compile(r"(?:mem|msg)_[A-Za-z0-9_-]{1,120}-[1-9][0-9]{0,15}"),
    "memory": re.compile(r"(?:mem|msg)_[A-Za-z0-9_-]{1,120}"),
    "version": re.compile(r"(?:mem|msg)_[A-Za-z0-9_-]{1,120}\.v[1-9][0-9]{0,6}"),
    "event": re.compile(r"evt_[A-Za-z0-9_-]{1,120}"),
    "conversation": re.compile(r"cnv_[A-Za-z0-9-]{1,100}"),
    "messages": re.compile(r"cnv_[A-Za-z0-9-]{1,100}_messages"),
    "conflict": re.compile(r"cft_[A-Za-z0-9_-]{1,120}"),
    "scene": re.compile(r"scn_[A-Za-z0-9_-]{1,120}"),
    "profile": re.compile(r"prf_profile"),
    "settings": re.compile(r"set_settings"),
    "slot": re.compile(r"slt_[0-9a-f]{1,64}(?:\.[1-9][0-9]{0,3})?"),
    "run": re.compile(r"run_[A-Za-z0-9_-]{1,120}"),
}
"""The ids of each kind, so that no document can take the place of a task, an operation, the head or one of another kind."""


class Check:
    """Takes the lines of a file, one after the other, and at the end says what its user's head has to be.

    waiting: how many conversations and buffers are to be formed yet.
    """

    def __init__(self, now: datetime) -> None:
        """Now: the moment at which statuses are compared with the logs of slots."""
        self.counts: Counter[str] = Counter()
        self._slots = SlotLogs(now)
        self.waiting = 0
        self._entries = Entries()
        self._header: dict[str, Any] | None = None
        self._line = 0
        self._log = Log()
        self._memories = _Memories()
        self._seen: dict[tuple[str, str], int] = {}

    def take(self, line: bytes) -> None:
        """The next line. Raises Refused."""
        self._line += 1
        if self._header is None:
            self._header = header_in(line)
            return
        entry = self._entries.of(self._line, line)
        if entry is None:
            return
        self._name(entry)
        try:
            self._look(entry, entry.model())
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            where = ".".join(shown_name(part) for part in first["loc"])
            raise Refused(entry.line, f"{entry.kind} {shown_name(entry.id)}: {where}: {first['msg']}") from None
        except (TypeError, KeyError, ValueError) as error:
            raise Refused(entry.line, f"{entry.kind} {shown_name(entry.id)}: {described(error)}") from None
        self.counts[entry.kind] += 1

    def end(self) -> dict[str, Any]:
        """The file is whole: the fields of the head that it needs, JSON-ready. Raises Refused."""
        if self._header is None:
            raise Refused(None, "the file is empty")
        self._entries.end(self._line)
        stated = self._header["counts"]
        for kind in KINDS:
            if self.counts[kind] != stated.get(kind, 0):
                counted = f"{self.counts[kind]} of the kind {kind}; its first line counts {stated.get(kind, 0)}"
                raise Refused(self._line, f"the file ends here with {counted}")
        if self._log.sequence != self._header["sequence"]:
            raise Refused(self._line, f"the log ends at {self._log.sequence}; the first line says {self._header['sequence']}")
        self._memories.follow(self._log)
        self._slots.end(self._log.sequence)
        self._log.end()
        for (seen_kind, name), line in self._seen.items():
            if seen_kind == "messages" and ("conversation", name.removesuffix("_messages")) not in self._seen:
                raise Refused(line, f"{shown_name(name)} belongs to a conversation that is not in this file")
        return {**self._log.head(), **self._memories.head()}

    def _name(self, entry: Entry) -> None:
        pattern = _NAMED.get(entry.kind)
        if pattern is None:
            try:
                check_name(entry.id)
            except ValueError as error:
                raise Refused(entry.line, f"the id {shown_name(entry.id)!r} {error}") from None
        elif pattern.fullmatch(entry.id) is None:
            raise Refused(entry.line, f"{shown_name(entry.id)!r} is no id of a {entry.kind}")
        if (entry.kind, entry.id) in self._seen:
            raise Refused(entry.line, f"{entry.kind} {shown_name(entry.id)} comes twice")
        self._seen[entry.kind, entry.id] = entry.line
        sequence = entry.body.get("sequence")
        if not isinstance(sequence, int) or isinstance(sequence, bool) or sequence < 0:
            raise Refused(entry.line, f"{entry.kind} {shown_name(entry.id)}: sequence: should be a whole number")

    def _look(self, entry: Entry, model: BaseModel) -> None:
        within = getattr(model, "session_id" if entry.kind in ("session", "buffer") else "id", entry.id)
        if within != entry.id:
            raise PlainError(f"is called {shown_name(within)} within")
        if entry.kind == COLD:
            copy = copy_in(entry.body)[0]
            if name_of(copy) != entry.id:
                raise PlainError(f"is called {shown_name(name_of(copy))} within")
            self._log.claim_copy(copy, entry.line)
        if isinstance(model, Memory):
            self._archived(model)
            self._log.claim(model, entry.line)
            self._memories.take(entry, model)
            self._slots.take_member(model)
        elif isinstance(model, SlotBody):
            self._slots.take(entry, model)
        elif isinstance(model, Event):
            self._log.take(entry, model)
        elif isinstance(model, ConflictRecord):
            self._memories.asked_about(model, entry.line)
        elif isinstance(model, Conversation):
            self.waiting += model.state == "pending"
        elif isinstance(model, Buffer):
            self.waiting += bool(model.messages)

    def _archived(self, memory: Memory) -> None:
        """What lies in the archive comes before it in the file."""
        place = memory.archival_location
        if place not in (None, GONE) and (COLD, str(place).removeprefix(f"{COLD}/")) not in self._seen:
            raise PlainError("archival_location: its cold copy is not in this file")


class _Memories:
    """The memories and their old versions: whom they name, and what the head has to count."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._named: dict[str, int] = {}
        self._next: dict[str, tuple[str, int]] = {}
        self._cells: dict[str, tuple[str, int]] = {}
        self._messages: dict[str, frozenset[str]] = {}
        self._latest = 0, 0
        self._statuses: Counter[str] = Counter()
        self._documents, self._length, self._slots = 0, 0.0, ""

    def take(self, entry: Entry, memory: Memory) -> None:
        if not 0 < memory.sequence <= memory.revision:
            raise PlainError("sequence and revision: should be places in the log")
        self._latest = max(self._latest, (memory.revision, entry.line))
        for reference in _references(memory):
            self._named.setdefault(reference, entry.line)
        if entry.kind == "version":
            base, _, number = memory.id.rpartition(".v")
            if int(number) != memory.version:
                raise PlainError(f"is version {memory.version} of {shown_name(base)}")
            self._named.setdefault(base, entry.line)
            return
        self._places[memory.id] = entry.line
        if is_message(memory.id) and memory.cell_id is not None:
            self._cells[memory.id] = (memory.cell_id, entry.line)
        elif is_cell(memory):
            self._messages[memory.id] = frozenset(messages_of(memory))
        if memory.next_id is not None:
            self._next[memory.id] = (memory.next_id, entry.line)
        self._statuses[memory.status.value] += 1
        if memory.status in FOUND_BY_DEFAULT:
            self._documents += 1
            self._length += weighted_length(memory)
        slot = slot_of(memory)
        if slot is not None:
            self._slots = with_marks(self._slots, [slot])

    def asked_about(self, record: ConflictRecord, line: int) -> None:
        """The record of a conflict names them too."""
        for side in record.sides:
            self._named.setdefault(base_id(side), line)

    def follow(self, log: Log) -> None:
        """All references lead to memories of this file, or to ones that were forgotten for good; no chain comes back to itself."""
        if self._latest[0] > log.sequence:
            raise Refused(self._latest[1], f"revision: the log ends at {log.sequence}")
        for name, line in self._places.items():
            if name not in log.told_of:
                raise Refused(line, f"no event of the log tells of {shown_name(name)}")
            if not log.tells(name):
                raise Refused(line, f"by the log there is no {shown_name(name)}: it was forgotten for good, or never began")
        for reference, line in (self._named | {name: line for name, line in log.told_of.items() if name not in self._named}).items():
            if reference not in self._places and reference not in log.forgotten:
                raise Refused(line, f"refers to {shown_name(reference)}, which is not in this file")
        for name, (cell_id, line) in self._cells.items():
            if cell_id in self._places and name not in self._messages.get(cell_id, ()):
                raise Refused(line, f"{shown_name(name)}: cell_id: {shown_name(cell_id)} was not formed of it")
        ended: set[str] = set()
        for start in self._next:
            walked, at = set[str](), start
            while at in self._next and at not in ended:
                if at in walked:
                    raise Refused(self._next[at][1], f"{shown_name(at)} is replaced, after some steps, by itself")
                walked.add(at)
                at = self._next[at][0]
            ended |= walked

    def head(self) -> dict[str, Any]:
        return {
            "counts": dict(self._statuses),
            "lexical_documents": self._documents,
            "lexical_length": round(self._length, 3),
            "slots": self._slots,
        }


def _references(memory: Memory) -> Iterator[str]:
    """The memories that a memory names and that have to be there."""
    yield from (name for name in (memory.next_id, memory.supersedes_id, memory.copied_from) if name is not None)
    yield from (link.memory_id for link in memory.links)
    yield from memory.source_ids
    yield from memory.consolidated_into_ids
    yield from (fact.superseded_by for fact in memory.atomic_facts if fact.superseded_by is not None)
