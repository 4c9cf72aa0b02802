"""A run's reads of its user: each document once between two commits.

A run's steps are about the same memories. Their reads are kept with the head that they were read
with; if the head has moved, they are read again. So a commit may rest on them: it is refused if the
head has moved since. On top are the steps' decisions that are not committed yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from memory_core.domain.archival import NextDue
from memory_core.domain.fading import Fading
from memory_core.domain.memory import Head, Memory, MemoryFields
from memory_core.domain.scope import Owner
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Document, LongTermStore
from memory_core.tasks.operation_records import Chunk

LATEST: Final = 32
"""The most scenes that are looked at, the most recently begun.

A long scene is split repeatedly, and so is among them.
"""
READ_AT_ONCE: Final = 200
_MOST_HELD: Final = 400
"""The most documents that are kept; each may have a vector of 12 KB."""
_LOOKS: Final = 8


@dataclass
class RunReads:
    """Reads of a user for a run.

    All methods that read raise Unavailable.
    """

    store: LongTermStore
    owner: Owner
    head: Head | None = None
    _read: dict[str, Document | None] = field(default_factory=dict)
    _shown: dict[str, Memory | None] = field(default_factory=dict)
    _scenes: list[Document] | None = None
    _coming: tuple[datetime, NextDue] | None = None
    _decided: list[Chunk] = field(default_factory=list)

    async def look(self, ids: Iterable[str]) -> ReadSet:
        """Return documents as they are with the head and the decisions so far."""
        written = {document.id for chunk in self._decided for document in chunk.puts}
        stored = await self.stored(name for name in ids if name not in written)
        read_set = with_chunks(stored, self._decided)
        return replace(read_set, asked=read_set.asked | written)

    async def stored(self, ids: Iterable[str]) -> ReadSet:
        """Return documents as they are with the head."""
        wanted = list(dict.fromkeys(ids))
        if len(self._read) + len(wanted) > _MOST_HELD:
            self._read.clear()
        for _ in range(_LOOKS):
            missing = [name for name in wanted if name not in self._read]
            if self.head is not None and not missing:
                break
            seen = await self.store.snapshot(self.owner, missing)
            if seen.head != self.head:
                self._forget()
            self.head = seen.head
            self._read |= {name: seen.documents.get(name) for name in missing}
            if seen.head is None:
                break
        documents = {
            name: document for name in wanted if (document := self._read.get(name)) is not None
        }
        return ReadSet(self.head, documents, asked=frozenset(wanted))

    async def memories(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return memories by id; memories that have to be read for it come without vectors."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        if self.head is None:
            await self.stored([])
        missing = [name for name in wanted if name not in self._read and name not in self._shown]
        for start in range(0, len(missing), READ_AT_ONCE):
            part = missing[start : start + READ_AT_ONCE]
            read = await self.store.memories(self.owner, part, seen=self.head)
            self._shown |= {name: read[name].memory if name in read else None for name in part}
        read_set = await self.look([name for name in wanted if name in self._read])
        memories = {name: read_set.memory(name) or self._shown.get(name) for name in wanted}
        return {
            name: self._marked(memory) for name, memory in memories.items() if memory is not None
        }

    def _marked(self, memory: Memory) -> Memory:
        fields = MemoryFields()
        for chunk in self._decided:
            if mark := chunk.marks.get(memory.id):
                fields |= mark.fields
        return memory.changed(**fields)

    async def scenes(self) -> list[Document]:
        """Return the most recently begun scenes, newest first; vectors only if they were read."""
        if self._scenes is None:
            self._scenes = await self.store.page(self.owner, "scene", None, None, LATEST)
        stored = {document.id: document for document in self._scenes}
        read_set = with_chunks(ReadSet(self.head, stored), self._decided)
        scenes = {
            name: document
            for name, document in read_set.documents.items()
            if document.kind == "scene"
        }
        begun = [name for name in scenes if name not in stored]
        return [scenes[name] for name in (*reversed(begun), *stored) if name in scenes]

    async def coming(self, rules: Fading, archive_after: timedelta, after: datetime) -> NextDue:
        """Return the changes that time alone brings next after a moment.

        An earlier answer is kept until a change of it has come.

        Args:
            rules: The rules by which memories fade.
            archive_after: The age from which memories are archived.
            after: The moment.

        """
        known = self._coming
        if known is None or known[0] > after or known[1].has_come(after):
            coming = await self.store.coming(self.owner, rules, archive_after, after)
            known = self._coming = after, coming
        return known[1]

    def wrote(self, document: Document) -> None:
        """Remember a document that this worker wrote before its first read."""
        if self.head is not None:
            self._read[document.id] = document

    def decided(self, chunk: Chunk) -> None:
        """Let later reads show a step's decision before it is committed."""
        self._decided.append(chunk)

    def committed(self) -> None:
        """Forget all reads after a commit, since other writers may have written before it."""
        self._decided.clear()
        self._forget()
        self.head = None

    def _forget(self) -> None:
        self._read.clear()
        self._shown.clear()
        self._scenes = self._coming = None


def with_chunks(read_set: ReadSet, chunks: Sequence[Chunk]) -> ReadSet:
    """Return the read set with the writes of these chunks.

    Such chunks change no memory but by marks.

    Args:
        read_set: The read set.
        chunks: The chunks.

    """
    if not chunks or read_set.head is None:
        return read_set
    epoch, documents = {"epoch": read_set.head.epoch}, dict(read_set.documents)
    for chunk in chunks:
        for document in chunk.deletes:
            documents.pop(document.id, None)
        for document in (*chunk.puts, *chunk.creates):
            documents[document.id] = replace(document, body={**document.body, **epoch})
        for name, mark in chunk.marks.items():
            if (marked := documents.get(name)) is not None:
                documents[name] = replace(marked, body={**marked.body, **mark.fields})
    return replace(read_set, documents=documents)
