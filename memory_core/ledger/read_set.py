"""The read set of a decision, and how a decision names its reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from memory_core.domain.errors import NotFound
from memory_core.domain.memory import Head, Memory
from memory_core.domain.scope import Owner
from memory_core.ledger.readable import as_memory
from memory_core.ports import Document, LongTermStore, Neighbour

_BEFORE_COMMITS = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ReadSet:
    """The head, the documents and the neighbours that a decision was based on.

    Attributes:
        head: Head of the owner; None before the first write.
        documents: By id.
        near: The neighbours of new memories, by the new memory's id.
        asked: Requested ids; an id without a document is in here only.
        empty_slots: Names of slots that have no log, and no members either.
        now: The time of the decision on it; the least time before a commit.
        logs: Logs of slots that were read from it, by name (`evolution.slot_log.SlotLog`).

    """

    head: Head | None
    documents: dict[str, Document]
    near: Mapping[str, Sequence[Neighbour]] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    empty_slots: frozenset[tuple[str, ...]] = frozenset()
    now: datetime = _BEFORE_COMMITS
    logs: dict[tuple[str, ...], Any] = field(default_factory=dict, repr=False, compare=False)

    def neighbours(self) -> Iterator[Neighbour]:
        """The neighbours of all new memories."""
        return (each for group in self.near.values() for each in group)

    def unread(self, ids: Iterable[str]) -> list[str]:
        """Those of some ids that were not requested."""
        return [
            name
            for name in dict.fromkeys(ids)
            if name not in self.asked and name not in self.documents
        ]

    def with_documents(self, documents: Mapping[str, Document], ids: Iterable[str]) -> ReadSet:
        """The read set with further documents.

        Args:
            documents: As they are under the same head, by id.
            ids: Their requested ids, also of missing documents.

        """
        return replace(self, documents={**self.documents, **documents}, asked=self.asked.union(ids))

    def memory(self, memory_id: str) -> Memory | None:
        """The memory of this id, with its vector; None if the head's epoch has none."""
        document = self.documents.get(memory_id)
        return (
            None
            if document is None or document.kind != "memory"
            else as_memory(document, self.head)
        )

    def existing_memory(self, memory_id: str) -> Memory:
        """The memory of this id, with its vector.

        Raises:
            NotFound: The head's epoch has none.

        """
        memory = self.memory(memory_id)
        if memory is None:
            raise NotFound("no memory of this id for this user")
        return memory


@dataclass(slots=True)
class Shelf:
    """The read set of a decision, which grows while the decision is completed.

    Attributes:
        store: Store to read further documents from.
        owner: Whose documents they are.
        read_set: All that was read so far.

    """

    store: LongTermStore
    owner: Owner
    read_set: ReadSet
    _near: dict[str, Memory] = field(init=False)

    def __post_init__(self) -> None:
        self._near = {near.memory.id: near.memory for near in self.read_set.neighbours()}

    async def read(self, ids: Iterable[str]) -> None:
        """Read documents that were not requested before. Raises Unavailable."""
        if wanted := [name for name in self.read_set.unread(ids) if name not in self._near]:
            documents = (await self.store.snapshot(self.owner, wanted)).documents
            self.read_set = self.read_set.with_documents(documents, wanted)

    def document(self, name: str) -> Document | None:
        """A document that was read."""
        return self.read_set.documents.get(name)

    def memory(self, name: str) -> Memory | None:
        """A memory, or an old version, that was read."""
        document = self.document(name)
        if document is None:
            return self._near.get(name)
        is_memory = document.kind in ("memory", "version")
        return as_memory(document, self.read_set.head) if is_memory else None


Reads = Callable[[ReadSet], Collection[str]]
"""Names the documents that a decision needs, by what was read so far. It is asked until it names no
further document.
"""


def no_further(read_set: ReadSet) -> Collection[str]:
    """The reads of a decision whose documents are all known by id."""
    return ()


class WithoutLog(Exception):
    """A slot may have members of an earlier version, but has no log.

    The log is made first, in a commit of its own.
    """

    def __init__(self, name: tuple[str, ...]) -> None:
        super().__init__("a slot has no log yet")
        self.name = name


class SealedEntries(Exception):
    """A change reaches back to the sealed entries of a slot's log.

    The commit reads the documents `ids` that hold them, and decides again.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        super().__init__("sealed entries of a slot's log have to be read")
        self.ids = tuple(ids)
