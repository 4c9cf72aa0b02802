"""Check a whole import before any of it is stored.

Note: a file may come from anywhere, and no statement of it is trusted. Ids could name the service's
own bookkeeping, references could lead out of the file, a log could have holes. An error names the
line that is wrong.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast

import orjson
from pydantic import BaseModel, ValidationError

from memory_core.data_rights.export_format import COLD, GONE, KINDS, copy_in, memories_of, name_of
from memory_core.data_rights.import_parse import (
    Entries,
    ImportedDocument,
    ImportRefused,
    Redact,
    SlotBody,
    header_in,
    stored_fields,
)
from memory_core.data_rights.import_slots import SlotLogs
from memory_core.domain.archival import ColdCopy
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.conversation import Conversation
from memory_core.domain.errors import PlainError, described, shown_name
from memory_core.domain.event_log import base_id, is_version
from memory_core.domain.memory import UNLOGGED_FIELDS, Event, Memory, stored_bytes
from memory_core.domain.messages import is_cell, is_message, messages_of
from memory_core.domain.ranking.candidates import weighted_length
from memory_core.domain.scope import check_name
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.domain.truth.slots import slot_name, slot_of, with_marks
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
"""The ids of each kind.

So no document can take the place of a task, an operation, the head or a document of another kind.
"""


class ImportCheck:
    """Checks the lines of a file, and returns the fields of its user's head.

    `waiting` counts the conversations and batches that are not formed yet.
    """

    def __init__(self, now: datetime, redact: Redact) -> None:
        """Begin a check.

        Args:
            now: The time as of which statuses are compared with the logs of slots.
            redact: Takes secrets out.

        """
        self.counts: Counter[str] = Counter()
        self._slots = SlotLogs(now)
        self.waiting = 0
        self._entries = Entries(redact)
        self._header: dict[str, Any] | None = None
        self._line = 0
        self._log = ImportedLog()
        self._memories = _Memories()
        self._seen: dict[tuple[str, str], int] = {}

    def take(self, line: bytes) -> None:
        """Check the next line.

        Raises ImportRefused.
        """
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
            raise ImportRefused(
                entry.line, f"{entry.kind} {shown_name(entry.id)}: {where}: {first['msg']}"
            ) from None
        except (TypeError, KeyError, ValueError) as error:
            raise ImportRefused(
                entry.line, f"{entry.kind} {shown_name(entry.id)}: {described(error)}"
            ) from None
        self.counts[entry.kind] += 1

    @property
    def redacts(self) -> bool:
        """Whether any text of the memories was redacted."""
        return bool(self._entries.gone)

    def end(self) -> dict[str, Any]:
        """End the check, and return the fields of the head, JSON-ready.

        Raises ImportRefused.
        """
        if self._header is None:
            raise ImportRefused(None, "the file is empty")
        self._entries.end(self._line)
        stated = self._header["counts"]
        for kind in KINDS:
            if self.counts[kind] != stated.get(kind, 0):
                counted = (
                    f"{self.counts[kind]} of the kind {kind}; its first line counts "
                    f"{stated.get(kind, 0)}"
                )
                raise ImportRefused(self._line, f"the file ends here with {counted}")
        if self._log.sequence != self._header["sequence"]:
            raise ImportRefused(
                self._line,
                f"the log ends at {self._log.sequence}; the first line says "
                f"{self._header['sequence']}",
            )
        self._memories.follow(self._log)
        self._slots.end(self._log.sequence)
        self._log.end()
        for (seen_kind, name), line in self._seen.items():
            if (
                seen_kind == "messages"
                and ("conversation", name.removesuffix("_messages")) not in self._seen
            ):
                raise ImportRefused(
                    line, f"{shown_name(name)} belongs to a conversation that is not in this file"
                )
        return {**self._log.head(), **self._memories.head()}

    def _name(self, entry: ImportedDocument) -> None:
        pattern = _NAMED.get(entry.kind)
        if pattern is None:
            try:
                check_name(entry.id)
            except ValueError as error:
                raise ImportRefused(
                    entry.line, f"the id {shown_name(entry.id)!r} {error}"
                ) from None
        elif pattern.fullmatch(entry.id) is None:
            raise ImportRefused(entry.line, f"{shown_name(entry.id)!r} is no id of a {entry.kind}")
        if (entry.kind, entry.id) in self._seen:
            raise ImportRefused(entry.line, f"{entry.kind} {shown_name(entry.id)} comes twice")
        self._seen[entry.kind, entry.id] = entry.line
        sequence = entry.body.get("sequence")
        if not isinstance(sequence, int) or isinstance(sequence, bool) or sequence < 0:
            raise ImportRefused(
                entry.line,
                f"{entry.kind} {shown_name(entry.id)}: sequence: should be a whole number",
            )

    def _look(self, entry: ImportedDocument, model: BaseModel) -> None:
        within = getattr(
            model, "session_id" if entry.kind in ("session", "buffer") else "id", entry.id
        )
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
            self._memories.add_conflict(model, entry.line)
        elif isinstance(model, Conversation):
            self.waiting += model.state == "pending"
        elif isinstance(model, Buffer):
            self.waiting += bool(model.messages)

    def _archived(self, memory: Memory) -> None:
        """Check that an archived memory's copy comes before it in the file."""
        place = memory.archival_location
        if (
            place not in (None, GONE)
            and (COLD, str(place).removeprefix(f"{COLD}/")) not in self._seen
        ):
            raise PlainError("archival_location: its cold copy is not in this file")


class _Memories:
    """The memories and old versions: the memories that they name, and the head's counts."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._named: dict[str, int] = {}
        self._next: dict[str, tuple[str, int]] = {}
        self._cells: dict[str, tuple[str, int]] = {}
        self._messages: dict[str, frozenset[str]] = {}
        self._latest = 0, 0
        self._statuses: Counter[str] = Counter()
        self._documents, self._length, self._slots, self._bytes = 0, 0.0, "", 0

    def take(self, entry: ImportedDocument, memory: Memory) -> None:
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
            self._bytes += stored_bytes(memory)
            return
        self._places[memory.id] = entry.line
        if is_message(memory.id) and memory.cell_id is not None:
            self._cells[memory.id] = (memory.cell_id, entry.line)
        elif is_cell(memory):
            self._messages[memory.id] = frozenset(messages_of(memory))
        if memory.next_id is not None:
            self._next[memory.id] = (memory.next_id, entry.line)
        self._statuses[memory.status.value] += 1
        self._bytes += stored_bytes(memory)
        if memory.status in FOUND_BY_DEFAULT:
            self._documents += 1
            self._length += weighted_length(memory)
        slot = slot_of(memory)
        if slot is not None:
            self._slots = with_marks(self._slots, [slot])

    def add_conflict(self, record: ConflictRecord, line: int) -> None:
        """Add the references of a conflict's record."""
        for side in record.sides:
            self._named.setdefault(base_id(side), line)

    def follow(self, log: ImportedLog) -> None:
        """Check that all references lead to memories of this file, or to hard-deleted memories.

        No chain may lead back to itself. Raises ImportRefused.
        """
        if self._latest[0] > log.sequence:
            raise ImportRefused(self._latest[1], f"revision: the log ends at {log.sequence}")
        for name, line in self._places.items():
            if name not in log.told_of:
                raise ImportRefused(line, f"no event of the log tells of {shown_name(name)}")
            if not log.tells(name):
                raise ImportRefused(
                    line,
                    f"by the log there is no {shown_name(name)}: it was forgotten for good, or "
                    "never began",
                )
        for reference, line in (
            self._named
            | {name: line for name, line in log.told_of.items() if name not in self._named}
        ).items():
            if reference not in self._places and reference not in log.forgotten:
                raise ImportRefused(
                    line, f"refers to {shown_name(reference)}, which is not in this file"
                )
        for name, (cell_id, line) in self._cells.items():
            if cell_id in self._places and name not in self._messages.get(cell_id, ()):
                raise ImportRefused(
                    line, f"{shown_name(name)}: cell_id: {shown_name(cell_id)} was not formed of it"
                )
        ended: set[str] = set()
        for start in self._next:
            walked, at = set[str](), start
            while at in self._next and at not in ended:
                if at in walked:
                    raise ImportRefused(
                        self._next[at][1],
                        f"{shown_name(at)} is replaced, after some steps, by itself",
                    )
                walked.add(at)
                at = self._next[at][0]
            ended |= walked

    def head(self) -> dict[str, Any]:
        return {
            "counts": dict(self._statuses),
            "lexical_documents": self._documents,
            "lexical_length": round(self._length, 3),
            "slots": self._slots,
            "kept_bytes": self._bytes,
        }


def _references(memory: Memory) -> Iterator[str]:
    """Return the ids that a memory names and that must be in the file."""
    yield from (
        name
        for name in (memory.next_id, memory.supersedes_id, memory.copied_from)
        if name is not None
    )
    yield from (link.memory_id for link in memory.links)
    yield from memory.source_ids
    yield from memory.consolidated_into_ids
    yield from (
        fact.superseded_by for fact in memory.atomic_facts if fact.superseded_by is not None
    )


# Check the log of an imported file: it has no gap, and it leads to the memories of the file.
#
# This detects a memory that was changed in a file, unless the log was changed to match. Note: a
# memory is not only compared with the end of the log. Archived memories and old versions are
# compared with the log at their revision. To save memory, each field is kept as eight bytes of its
# hash: some 400 bytes for a memory, however long its text is.


_UNTOLD: Final = UNLOGGED_FIELDS | {"app_id", "user_id", "archival_location"}
"""Fields that the log does not have, or that were right only where the file comes from."""
_FIELDS: Final = tuple(sorted(Memory.model_fields.keys() - _UNTOLD))
_PLACES: Final = {name: slice(8 * number, 8 * number + 8) for number, name in enumerate(_FIELDS)}
_OF_A_VERSION: Final = ("id", "status", "status_reason", "next_id", "valid_until")
"""Fields in which a version differs from the memory of that time (`versions.kept_version`)."""
_OF_A_SLOTS_VERSION: Final = (*_OF_A_VERSION, "valid_from", "supersedes_id")
"""The same in a slot, whose log is compared with it separately (`import_slots`)."""
_NONE: Final = bytes(8)
_DEFAULTS: Final = {
    name: orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    for name, value in cast(Any, Memory)
    .model_construct()
    .model_dump(mode="json", exclude=set(UNLOGGED_FIELDS))
    .items()
}


class ImportedLog:
    """Takes first the file's claims about memories, then the events in their order.

    Attributes:
        sequence: The sequence of the last event.
        told_of: The line of the first event of each memory.
        forgotten: The ids of memories with redacted events.

    """

    def __init__(self) -> None:
        self.sequence = 0
        self.told_of: dict[str, int] = {}
        self.forgotten: set[str] = set()
        self._last: datetime | None = None
        self._states: dict[str, bytearray] = {}
        self._claims: dict[tuple[str, int], list[tuple[bytes, Sequence[str], int]]] = {}
        self._belied: ImportRefused | None = None

    def claim(self, memory: Memory, line: int) -> None:
        """Note the file's claim that a memory was like this at its revision.

        An old version claims that the memory had been like it.

        Args:
            memory: The memory or old version.
            line: Its line.

        Raises:
            PlainError: It comes after the log.

        """
        if self.sequence:
            raise PlainError("comes after the log, and should before")
        old = is_version(memory.id)
        if old and memory.archived_at is not None:
            return  # an archived memory, which is compared with its copy
        fields = memory.model_dump(mode="json", exclude=set(_UNTOLD))
        beside: Sequence[str] = ("cell_id",) if is_message(memory.id) else ()
        if old:
            beside = _OF_A_VERSION if slot_name(memory) is None else _OF_A_SLOTS_VERSION
        claims = self._claims.setdefault((base_id(memory.id), memory.revision), [])
        claims.append((bytes(_changed(bytearray(8 * len(_FIELDS)), fields)), beside, line))

    def claim_copy(self, copy: ColdCopy, line: int) -> None:
        """Note the claims of all memories of a copy in the archive.

        Args:
            copy: The copy.
            line: Its line.

        Raises:
            PlainError: It comes after the log.

        """
        for memory in memories_of(copy):
            self.claim(memory, line)

    def take(self, entry: ImportedDocument, event: Event) -> None:
        """Add the next event, and compare claims with it.

        Args:
            entry: The document of the file.
            event: The parsed event.

        Raises:
            ValueError: It is not the next event.

        """
        if event.sequence != self.sequence + 1:
            raise PlainError(
                f"sequence: is {event.sequence}, where the log goes on with {self.sequence + 1}"
            )
        if self._last is not None and event.occurred_at <= self._last:
            raise PlainError("occurred_at: is not later than that of the event before")
        self.sequence, self._last = event.sequence, event.occurred_at
        self.told_of.setdefault(event.memory_id, entry.line)
        if event.redacted:
            self.forgotten.add(event.memory_id)
            self._states.pop(event.memory_id, None)
        elif event.memory_id in self._states or "id" in event.after:
            state = self._states.setdefault(event.memory_id, bytearray(8 * len(_FIELDS)))
            _changed(state, stored_fields(event.after))
        self._compare(event)

    def end(self) -> None:
        """End the log.

        Raises ImportRefused for a claim that an event contradicts, or that no event supports.
        """
        if self._belied is not None:
            raise self._belied
        for (name, revision), claims in self._claims.items():
            if name not in self.forgotten:
                raise ImportRefused(claims[0][2], f"no event {revision} of the log tells of {name}")

    def tells(self, memory_id: str) -> bool:
        """Whether the log defines a memory at its end.

        It does if it has the memory's beginning, and if the memory was not hard-deleted since.
        """
        return memory_id in self._states

    def head(self) -> dict[str, Any]:
        """Return the fields of the user's head that follow from the log."""
        last = None if self._last is None else self._last.isoformat()
        return {
            "sequence": self.sequence,
            "last_occurred_at": last,
            "last_removal_sequence": self.sequence,
        }

    def _compare(self, event: Event) -> None:
        claims = self._claims.pop((event.memory_id, event.sequence), [])
        state = self._states.get(event.memory_id)
        if state is None or event.memory_id in self.forgotten:
            return
        for claimed, beside, line in claims:
            unlike = _unlike(state, claimed, beside)
            if unlike is not None and self._belied is None:
                self._belied = ImportRefused(
                    line, f"{event.memory_id}: {unlike}: is not what the log tells of it"
                )


def _changed(state: bytearray, fields: Mapping[str, Any]) -> bytearray:
    for name, value in fields.items():
        if name in _PLACES:
            state[_PLACES[name]] = _hash(name, value)
    return state


def _hash(name: str, value: Any) -> bytes:
    """Return a hash of a value; zeros for a default value.

    The log may leave out a default value.
    """
    serialised = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return (
        _NONE
        if serialised == _DEFAULTS.get(name)
        else hashlib.blake2b(serialised, digest_size=8).digest()
    )


def _unlike(state: bytes | bytearray, claimed: bytes, but: Iterable[str]) -> str | None:
    """Return the first field in which the two differ."""
    return next(
        (
            name
            for name, place in _PLACES.items()
            if state[place] != claimed[place] and name not in but
        ),
        None,
    )
