"""The log of a slot while a decision reads and extends it.

Note: the entries that a commit adds have no sequence yet. They have a provisional sequence that no
other entry has, and get their own when the commit is assembled.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from memory_core.domain.errors import Conflict
from memory_core.domain.event_log import version_id
from memory_core.domain.memory import Head, Memory, Status
from memory_core.domain.truth import codec
from memory_core.domain.truth.entries import Account, Entry, Statement
from memory_core.domain.truth.rebuilt import log_of_members
from memory_core.domain.truth.sealing import (
    Seal,
    reaches_back,
    seal_oldest,
    sealed_timeline_of,
    suffices,
)
from memory_core.domain.truth.slots import SlotName, hashed, marked, value_form
from memory_core.domain.truth.timeline import Timeline
from memory_core.evolution.truth_projection import Projection, project
from memory_core.ledger.ids import procedure_id, slot_document_id, slot_part_id
from memory_core.ledger.read_set import ReadSet, SealedEntries, WithoutLog
from memory_core.ports import Document

Act = Callable[["SlotLog"], Sequence[Entry]]
"""Makes the entries that an operation adds to the log of a slot. `SlotLog.added` numbers them."""
MAX_STATEMENTS = 200
"""Statements of a log in its document. If there are more, the oldest are sealed, except for the
last `MAX_STATEMENTS` / 2.
"""
_PART_ENTRIES = 1000
_LOGS_KEPT = 2
"""Longer logs that a log remembers. A decision compares what a statement would change if it were of
a memory of its own with what it changes, and does so when it reads and again when it decides.
"""
_SALT_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class SlotLog:
    """The log of a slot while a commit is decided.

    Attributes:
        name: Name of the slot.
        salt: Salt for the hashes of values.
        entries: In order.
        pending: The provisional sequence of this commit's entries.
        now: The time of the commit.
        stored: Its document as it was read; None if there was none.
        seal: The summary of sealed entries that were not read; None if all were read.
        parts: The documents of sealed entries that were read.

    """

    name: SlotName
    salt: str
    entries: tuple[Entry, ...]
    pending: int
    now: datetime
    stored: Document | None = None
    seal: Seal | None = None
    parts: tuple[Document, ...] = ()
    _added: list[SlotLog] = field(default_factory=list, compare=False)

    @classmethod
    def read(cls, name: SlotName, read_set: ReadSet) -> SlotLog:
        """The log in a document of the present epoch; empty for an empty slot.

        Args:
            name: Name of the slot.
            read_set: The read set of the decision, with `documents_of` the slot, and perhaps its
                sealed parts.

        Raises:
            WithoutLog: The slot may have members from a version before logs.

        """
        known: SlotLog | None = read_set.logs.get(name)
        if known is None or known.now != read_set.now or not known.is_of(read_set):
            known = read_set.logs[name] = cls._read(name, read_set)
        return known

    @classmethod
    def _read(cls, name: SlotName, read_set: ReadSet) -> SlotLog:
        head, now = read_set.head, read_set.now
        stored = read_set.documents.get(slot_document_id(*name))
        if stored is None or head is None or stored.body.get("epoch") != head.epoch:
            if name not in read_set.empty_slots and _may_have_members(name, read_set):
                raise WithoutLog(name)
            return cls.of_members(name, head, now, stored)
        names = sealed_parts(stored)
        parts = [part for each in names if (part := read_set.documents.get(each)) is not None]
        is_whole = len(parts) == len(names)
        sources = [*parts, stored] if is_whole else [stored]
        entries = codec.entries_in(row for source in sources for row in source.body["entries"])
        return cls(
            name=name,
            salt=stored.body["salt"],
            entries=tuple(entries),
            pending=1 + max((head.sequence, *(entry.sequence for entry in entries))),
            now=now,
            stored=stored,
            seal=None if is_whole else codec.seal_in(stored.body["sealed"]),
            parts=tuple(parts) if is_whole else (),
        )

    @classmethod
    def of_members(
        cls,
        name: SlotName,
        head: Head | None,
        now: datetime,
        stored: Document | None = None,
        members: Iterable[Memory] = (),
        versions: Iterable[Memory] = (),
    ) -> SlotLog:
        """The log of a slot without a document, made of its members.

        Args:
            name: Name of the slot.
            head: Head of the owner; None before the first write.
            now: The time of the commit.
            stored: Its document of an earlier epoch, if any.
            members: Members of the slot; by default there are none.
            versions: Old versions of the members.

        """
        salt = secrets.token_hex(_SALT_BYTES)
        log = log_of_members(members, versions, lambda memory: value_hash(memory, salt))
        known = 0 if head is None else head.sequence
        pending = 1 + max((known, *(entry.sequence for entry in log)))
        return cls(
            name=name, salt=salt, entries=tuple(log), pending=pending, now=now, stored=stored
        )

    def is_of(self, read_set: ReadSet) -> bool:
        """Whether a read set shows this log, with no more of its sealed entries."""
        has_more = self.seal is not None and all(
            part in read_set.documents for part in sealed_parts(self.stored)
        )
        return self.stored is read_set.documents.get(self.id) and not has_more

    @property
    def id(self) -> str:
        """The id of its document."""
        return slot_document_id(*self.name)

    @cached_property
    def account(self) -> Account:
        """The entries that count."""
        return Account.of(self.entries)

    @cached_property
    def timeline(self) -> Timeline:
        """Which values hold when by this log; with sealed entries, since its horizon.

        Raises SealedEntries if they are needed.
        """
        timeline = sealed_timeline_of(self.account, self.seal)
        if self.seal is not None and not suffices(self.seal, timeline):
            raise self.sealed()
        return timeline

    @cached_property
    def rows(self) -> dict[str, Projection]:
        """The stored fields of its members, by id."""
        return project(self.timeline, self.now)

    def active(self) -> frozenset[str]:
        """The ids of the memories that hold now, or will hold later."""
        return frozenset(name for name, row in self.rows.items() if row.status is Status.ACTIVE)

    def said_by(self, memory_id: str) -> list[Statement]:
        """The statements of a memory that count, in the order of assertion.

        Raises KeyError if there are none.
        """
        if not (statements := self.account.said_by(memory_id)):
            raise KeyError(memory_id)
        return statements

    def sealed(self) -> SealedEntries:
        """The error by which the sealed entries are requested."""
        return SealedEntries(sealed_parts(self.stored))

    def knows(self, memory_id: str) -> bool:
        """Whether it has a statement of a memory; a sealed statement is not seen."""
        return any(
            isinstance(entry, Statement) and entry.memory_id == memory_id for entry in self.entries
        )

    def _unknown(self, memory_id: str) -> Exception:
        """The error about a memory that has no statement in it."""
        if self.seal is not None:
            return self.sealed()
        if (row := self.rows.get(memory_id)) is not None and row.part:
            return earlier_time_conflict(row)
        return Conflict(f"{memory_id} holds at no time any more")

    def added(self, act: Act) -> SlotLog:
        """The log with the entries of an act.

        A call with the entries of one of the last two calls returns the same object.

        Raises:
            SealedEntries: They must be read for it.
            Conflict: The act is about a memory without a statement in this slot.

        """
        try:
            made = act(self)
        except KeyError as error:
            raise self._unknown(str(error.args[0])) from None
        if not made:
            return self
        new = [
            replace(entry, sequence=self.pending, part=part)
            for part, entry in enumerate(made, self.next_part())
        ]
        if self.seal is not None and reaches_back(self.seal, self.entries, new):
            raise self.sealed()
        entries = (*self.entries, *new)
        for known in self._added:
            if known.entries == entries:
                return known
        self._added[:] = [*self._added[1 - _LOGS_KEPT :], self.with_entries(entries)]
        return self._added[-1]

    def with_entries(self, entries: Sequence[Entry]) -> SlotLog:
        """The same log with other entries.

        Note: only a hard delete changes entries; all other operations add entries.
        """
        return replace(self, entries=tuple(entries), _added=[])

    def value_of(self, memory: Memory) -> str | None:
        """The hash by which the log compares a memory's value."""
        return value_hash(memory, self.salt)

    def next_part(self) -> int:
        """The place of the next entry among the entries of this commit."""
        return 1 + max(
            (entry.part for entry in self.entries if entry.sequence == self.pending), default=-1
        )

    def documents(self) -> tuple[list[Document], list[Document]]:
        """The documents to write in the batch, and the documents to delete.

        Of a log that is too long, the oldest entries are sealed.
        """
        entries: Sequence[Entry] = self.entries
        seal, made = self.seal, list[Document]()
        number = 0 if seal is None else len(sealed_parts(self.stored))
        if sum(isinstance(entry, Statement) for entry in entries) > MAX_STATEMENTS:
            parted = seal_oldest(entries, MAX_STATEMENTS // 2, self.pending - 1, seal)
            if parted is not None:
                seal, part, entries = parted
                part = sorted(part, key=lambda entry: entry.place)
                for start in range(0, len(part), _PART_ENTRIES):
                    number += 1
                    made.append(self._part(number, codec.rows(part[start : start + _PART_ENTRIES])))
        body: dict[str, Any] = {
            "salt": self.salt,
            "pending": self.pending,
            "entries": codec.rows(entries),
        }
        if seal is not None:
            body["sealed"] = {**codec.seal_row(seal), "parts": number}
        if self.stored is None:
            made.append(Document(self.id, "slot", body))
        else:
            store_fields = {
                name: self.stored.body[name] for name in {"sequence"} & self.stored.body.keys()
            }
            made.append(replace(self.stored, body={**store_fields, **body}))
        names = {part.id for part in made}
        return made, [part for part in self.parts if part.id not in names]

    def _part(self, number: int, rows: Sequence[Any]) -> Document:
        name = slot_part_id(self.id, number)
        known = next((part for part in self.parts if part.id == name), None)
        body = {"pending": self.pending, "entries": [*rows]}
        return Document(name, "slot", body) if known is None else replace(known, body=body)


def documents_of(name: SlotName) -> list[str]:
    """The ids of a slot's documents: its log, and of a key the procedural memory."""
    return [slot_document_id(*name), *([procedure_id(name[1])] if name[0] == "key" else [])]


def _may_have_members(name: SlotName, read_set: ReadSet) -> bool:
    if read_set.head is None:
        return False
    if name[0] == "key":
        return procedure_id(name[1]) in read_set.documents
    return read_set.head.slots is None or marked(read_set.head.slots, (name[1], name[2]))


def old_version_ids(members: Iterable[Memory]) -> list[str]:
    """The ids of the old versions of some memories."""
    return [
        version_id(member.id, number) for member in members for number in range(1, member.version)
    ]


def earlier_time_conflict(row: Projection) -> Conflict:
    """The error about a memory that is only an earlier interval of another memory."""
    return Conflict(
        f"{row.id} is an earlier time of {row.memory_id}; what is done to that is done "
        "to all of its times"
    )


def sealed_parts(slot_document: Document | None) -> list[str]:
    """The ids of the documents with sealed entries of a log."""
    if slot_document is None:
        return []
    number = slot_document.body.get("sealed", {}).get("parts", 0)
    return [slot_part_id(slot_document.id, each) for each in range(1, 1 + number)]


def value_hash(memory: Memory, salt: str) -> str | None:
    """The hash by which a log with this salt compares a memory's value.

    Args:
        memory: Memory of the slot.
        salt: Salt of the log.

    Returns:
        None for a retraction of any value.

    """
    form = value_form(memory)
    return None if form is None else hashed(form, salt)
