"""The log of one slot as a decision has it: read from its document, and added to.

Note: what a commit adds has no sequence yet. It has one that no entry has,
and gets its own when the commit is assembled.
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
from memory_core.domain.truth.account import Account
from memory_core.domain.truth.entries import Entry, Statement
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
from memory_core.evolution.reads import LookedElsewhere
from memory_core.evolution.truth_projection import Projection, project
from memory_core.ledger.commit import ReadSet, WithoutLog
from memory_core.ledger.ids import procedure_id, slot_document_id, slot_part_id
from memory_core.ports import Document

Act = Callable[["SlotLog"], Sequence[Entry]]
"""What an operation adds to the log of a slot. `SlotLog.added` numbers it."""
MAX_STATEMENTS = 200
"""Of a log in its document. Of more, the oldest are sealed, but the last `MAX_STATEMENTS` / 2."""
_PART_ENTRIES = 1000
_SALT_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class SlotLog:
    """The log of a slot while a commit is decided.

    pending: the sequence of what this commit adds. now: the moment of the commit. stored: its
    document as it was read. seal: what stands for sealed entries that were not read. parts: the
    documents of those that were.
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
    def read(
        cls,
        name: SlotName,
        look: ReadSet,
        now: datetime,
        document: Callable[[str], Document | None] | None = None,
    ) -> SlotLog:
        """The log in a document of this life of the user; an empty one where there is none, and
        nothing in the slot either.

        Args:
            name: the slot.
            look: what the decision was shown.
            now: the moment of the commit.
            document: finds what was read: `documents_of` it, and perhaps its sealed parts.

        Raises:
            WithoutLog: there may be members, of a version before logs.

        """
        document, head = document or look.documents.get, look.head
        stored = document(slot_document_id(*name))
        if stored is None or head is None or stored.body.get("epoch") != head.epoch:
            if name not in look.empty_slots and _may_have_members(name, head, document):
                raise WithoutLog(name)
            return cls.of_members(name, head, now, stored)
        names = sealed_parts(stored)
        parts = [part for name_ in names if (part := document(name_)) is not None]
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
        """The log of a slot without a document, made of its members; by default there are none.

        stored: its document of an earlier life of the user, if any. versions: old ones of members.
        """
        salt = secrets.token_hex(_SALT_BYTES)
        log = log_of_members(members, versions, lambda memory: value_hash(memory, salt))
        known = 0 if head is None else head.sequence
        pending = 1 + max((known, *(entry.sequence for entry in log)))
        return cls(
            name=name, salt=salt, entries=tuple(log), pending=pending, now=now, stored=stored
        )

    @property
    def id(self) -> str:
        """The id of its document."""
        return slot_document_id(*self.name)

    @cached_property
    def account(self) -> Account:
        """What counts in it."""
        return Account.of(self.entries)

    @cached_property
    def timeline(self) -> Timeline:
        """What holds when by this log; where some is sealed, since its horizon. Raises
        LookedElsewhere for the sealed parts.
        """
        timeline = sealed_timeline_of(self.account, self.seal)
        if self.seal is not None and not suffices(self.seal, timeline):
            raise self.sealed()
        return timeline

    @cached_property
    def rows(self) -> dict[str, Projection]:
        """What is to be stored of its members, by id."""
        return project(self.timeline, self.now)

    def active(self) -> frozenset[str]:
        """The ids of the memories that hold now, or are announced."""
        return frozenset(name for name, row in self.rows.items() if row.status is Status.ACTIVE)

    def said_by(self, memory_id: str) -> list[Statement]:
        """The statements of a memory that count, in the order of saying. Raises KeyError where
        there are none.
        """
        if not (statements := self.account.said_by(memory_id)):
            raise KeyError(memory_id)
        return statements

    def sealed(self) -> LookedElsewhere:
        """What says that the sealed parts have to be read."""
        return LookedElsewhere(sealed_parts(self.stored))

    def knows(self, memory_id: str) -> bool:
        """Whether it has a statement of a memory; one that has none here may have sealed ones."""
        return any(
            isinstance(entry, Statement) and entry.memory_id == memory_id for entry in self.entries
        )

    def _unknown(self, memory_id: str) -> Exception:
        """What is raised about a memory that has no statement in it."""
        if self.seal is not None:
            return self.sealed()
        if (row := self.rows.get(memory_id)) is not None and row.part:
            return earlier_time(row)
        return Conflict(f"{memory_id} holds at no time any more")

    def added(self, act: Act) -> SlotLog:
        """The log with what an act adds; the same object where it was asked for the same last.

        Raises:
            LookedElsewhere: sealed parts have to be read for it.
            Conflict: it is about a memory that says nothing in this slot.

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
        self._added[:] = [self.with_entries(entries)]
        return self._added[0]

    def with_entries(self, entries: Sequence[Entry]) -> SlotLog:
        """The same with other entries. Note: only forgetting for good changes any,
        all else adds.
        """
        return replace(self, entries=tuple(entries), _added=[])

    def value_of(self, memory: Memory) -> str | None:
        """What the log compares a memory by."""
        return value_hash(memory, self.salt)

    def next_part(self) -> int:
        """The place of the next entry among those of this commit."""
        return 1 + max(
            (entry.part for entry in self.entries if entry.sequence == self.pending), default=-1
        )

    def documents(self) -> tuple[list[Document], list[Document]]:
        """The documents to write in the batch, and those to delete: of a log that is too long the
        oldest are sealed.
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
    """The ids of what has to be read of a slot: its log, and the memory that every key has."""
    return [slot_document_id(*name), *([procedure_id(name[1])] if name[0] == "key" else [])]


def _may_have_members(
    name: SlotName, head: Head | None, document: Callable[[str], Document | None]
) -> bool:
    if head is None:
        return False
    if name[0] == "key":
        return document(procedure_id(name[1])) is not None
    return head.slots is None or marked(head.slots, (name[1], name[2]))


def old_version_ids(members: Iterable[Memory]) -> list[str]:
    """The ids of the old versions of some memories."""
    return [
        version_id(member.id, number) for member in members for number in range(1, member.version)
    ]


def earlier_time(row: Projection) -> Conflict:
    """What is raised about a memory that is but an earlier time of another."""
    return Conflict(
        f"{row.id} is an earlier time of {row.memory_id}; what is done to that is done "
        "to all of its times"
    )


def sealed_parts(slot_document: Document | None) -> list[str]:
    """The ids of the documents of what is sealed of a log."""
    if slot_document is None:
        return []
    number = slot_document.body.get("sealed", {}).get("parts", 0)
    return [slot_part_id(slot_document.id, each) for each in range(1, 1 + number)]


def value_hash(memory: Memory, salt: str) -> str | None:
    """What a log with this salt compares a memory by; None for a retraction of whatever held."""
    form = value_form(memory)
    return None if form is None else hashed(form, salt)
