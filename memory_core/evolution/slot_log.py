"""The log of one slot as a decision has it: read from its document, or rebuilt from members of earlier versions, and added to.

Note: what a commit adds has no sequence yet. It has one that no entry has, and gets its own when the commit is assembled.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memory_core.domain.endings import is_ending
from memory_core.domain.models import Head, Memory
from memory_core.domain.truth import codec
from memory_core.domain.truth.entries import Assertion, Entry, Retraction, asserted_at, numbered
from memory_core.domain.truth.rebuilt import log_of_members
from memory_core.domain.truth.repeats import without_surplus_repeats
from memory_core.domain.truth.resolve import resolve
from memory_core.domain.truth.timeline import Timeline
from memory_core.domain.truth.values import SlotName, hashed, value_form
from memory_core.evolution.slot_rows import Row, rows_of
from memory_core.ledger.ids import slot_document_id
from memory_core.ports import Document

Act = Callable[["SlotLog"], Sequence[Entry]]
"""What an operation adds to the log of a slot. Entries have the sequence `pending`; their parts are numbered by who adds them."""
_SALT_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotLog:
    """The log of a slot while a commit is decided.

    pending: the sequence of what this commit adds. now: the moment of the commit. stored: its document as it was read.
    is_rebuilt: whether there was no document, and it was made of members.
    """

    name: SlotName
    salt: str
    entries: tuple[Entry, ...]
    pending: int
    now: datetime
    stored: Document | None = None
    is_rebuilt: bool = False
    _timelines: list[Timeline] = field(default_factory=list, compare=False)
    _rows: list[dict[str, Row]] = field(default_factory=list, compare=False)
    _added: list[SlotLog] = field(default_factory=list, compare=False)

    @classmethod
    def read(cls, name: SlotName, found: Document | None, head: Head | None, now: datetime) -> SlotLog | None:
        """The log in a document; None where there is none of this life of the user."""
        if found is None or head is None or found.body.get("epoch") != head.epoch:
            return None
        entries = codec.entries_in(found.body["entries"])
        pending = 1 + max((head.sequence, *(one.sequence for one in entries)))
        return cls(name=name, salt=found.body["salt"], entries=tuple(entries), pending=pending, now=now, stored=found)

    @classmethod
    def rebuilt(
        cls, name: SlotName, members: Iterable[Memory], versions: Iterable[Memory], head: Head | None, now: datetime, found: Document | None
    ) -> SlotLog:
        """The log of a slot without a document, made of its members. found: a document of an earlier life of the user, if any."""
        salt = secrets.token_hex(_SALT_BYTES)
        log = log_of_members(members, versions, lambda one: value_hash(one, salt))
        pending = 1 + max((0 if head is None else head.sequence, *(one.sequence for one in log)))
        return cls(name=name, salt=salt, entries=tuple(log), pending=pending, now=now, stored=found, is_rebuilt=True)

    @property
    def id(self) -> str:
        """The id of its document."""
        return slot_document_id(*self.name)

    @property
    def timeline(self) -> Timeline:
        """What holds when by this log."""
        if not self._timelines:
            self._timelines.append(resolve(self.entries))
        return self._timelines[0]

    @property
    def rows(self) -> dict[str, Row]:
        """What is to be stored of its members, by id."""
        if not self._rows:
            self._rows.append(rows_of(self.timeline, self.now))
        return self._rows[0]

    def added(self, act: Act) -> SlotLog:
        """The log with what an act adds; the same object where it was asked for the same last."""
        made = act(self)
        if not made:
            return self
        first = 1 + max((one.part for one in self.entries if one.sequence == self.pending), default=-1)
        entries = (*self.entries, *numbered(made, self.pending, first))
        for known in self._added:
            if known.entries == entries:
                return known
        self._added[:] = [replace(self, entries=entries, _timelines=[], _rows=[], _added=[])]
        return self._added[0]

    def with_entries(self, entries: Sequence[Entry]) -> SlotLog:
        """The same with other entries: only what is forgotten changes any."""
        return replace(self, entries=tuple(entries), _timelines=[], _rows=[], _added=[])

    def without_surplus_repeats(self) -> SlotLog:
        """The same as it is kept: without the middle of long rows of repeats."""
        kept = without_surplus_repeats(self.entries, self.now)
        return self if kept is self.entries else self.with_entries(kept)

    def value_of(self, memory: Memory) -> str | None:
        """What the log compares a memory by."""
        return value_hash(memory, self.salt)

    def statement(self, memory: Memory, **fields: Any) -> Assertion | Retraction:
        """What a memory says, as it is said now. fields: what is otherwise, such as the id of the memory that it is a mention of."""
        made: dict[str, Any] = {
            "sequence": self.pending,
            "memory_id": memory.id,
            "version": memory.version,
            "value": self.value_of(memory),
            "asserted_at": asserted_at(memory.event_timestamp, self.now),
            "valid_from": memory.valid_from,
            "valid_until": memory.valid_until,
        }
        return (Retraction if is_ending(memory) else Assertion)(**(made | fields))

    def members(self) -> frozenset[str]:
        """The ids of all memories that it knows."""
        return frozenset(one.memory_id for one in self.timeline.members)

    @property
    def document(self) -> Document:
        """The document to write in the batch."""
        body: Mapping[str, Any] = {"salt": self.salt, "pending": self.pending, "entries": codec.rows(self.entries)}
        if self.stored is None:
            return Document(self.id, "slot", dict(body))
        kept = {"sequence": self.stored.body["sequence"]} if "sequence" in self.stored.body else {}
        return replace(self.stored, body={**kept, **body})


def value_hash(memory: Memory, salt: str) -> str | None:
    """What a log with this salt compares a memory by; None for a retraction of whatever held."""
    form = value_form(memory)
    return None if form is None else hashed(form, salt)
