"""Read chains for the archive, whole, in portions that a single commit can cut.

A chain comes with its vectors and old versions.

Note: the restore needs the room. A stub is small, but chains that were cut together come back in a
single commit, with their text twice (the memory and its event) and their vectors. So a chain that
is too large for such a commit stays in the long-term store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field

import orjson

from memory_core.domain.archival import ArchivedStates, ColdCopy
from memory_core.domain.errors import Damaged, NotFound
from memory_core.domain.event_log import version_id
from memory_core.domain.memory import Event, Memory
from memory_core.domain.scope import Owner
from memory_core.evolution.chains import Family
from memory_core.ledger.archive_files import ColdCopies
from memory_core.ledger.commit import Ledger
from memory_core.ledger.readable import as_memory

MAX_DOCUMENTS = 90
"""Documents of a chain, of the 100 of a batch.

The rest are the head, the operation and its task, a session and a receipt.
"""
MAX_BYTES = 1_500_000
"""Bytes of chains, of the 1.8 MB of a batch."""
_NUMBER_BYTES, _EVENT_BYTES = 13, 700


@dataclass(frozen=True, slots=True)
class ChainMove:
    """A chain that is about to be archived.

    Attributes:
        copy: The content of its cold copy.
        versions: The old versions as they are in the store.
        weight: Its bytes in a commit.

    """

    copy: ColdCopy
    versions: tuple[Memory, ...]
    weight: int

    @property
    def ids(self) -> list[str]:
        """The documents that the cut reads and writes."""
        return [
            *(member.memory.id for member in self.copy.members),
            *(version.id for version in self.versions),
        ]

    @property
    def documents(self) -> int:
        """The number of a batch's documents that it takes.

        These are two for each memory (itself and its event), and the old versions.
        """
        return 2 * len(self.copy.members) + len(self.versions)

    def is_changed_by(self, events: Iterable[Event]) -> bool:
        """Whether any event changed a member, or made a memory lead to a member."""
        members = {member.memory.id for member in self.copy.members}
        return any(
            event.memory_id in members or event.after.get("next_id") in members for event in events
        )


@dataclass(slots=True)
class _Portion:
    """Chains that a single commit can cut."""

    chains: list[ChainMove] = field(default_factory=list)
    documents: int = 0
    weight: int = 0

    def has_room_for(self, moving: ChainMove) -> bool:
        return (
            self.documents + moving.documents <= MAX_DOCUMENTS
            and self.weight + moving.weight <= MAX_BYTES
        )

    def add(self, moving: ChainMove) -> None:
        self.chains.append(moving)
        self.documents += moving.documents
        self.weight += moving.weight


class ChainReader:
    """Reads chains of any owner."""

    def __init__(self, ledger: Ledger, copies: ColdCopies) -> None:
        self._ledger, self._copies = ledger, copies

    async def portions(
        self, owner: Owner, families: Sequence[Family], left: Counter[str]
    ) -> AsyncIterator[tuple[ChainMove, ...]]:
        """Read the chains in their order, in portions.

        Args:
            owner: Whose chains are read.
            families: The chains.
            left: Counts the chains that stay: `too_large`, `damaged` (an original can't be read) or
                `abandoned` (changed meanwhile).

        Raises:
            Unavailable: The long-term store or the archive is down.

        """
        portion = _Portion()
        for batch in _batches(families, left):
            for moving in await self._read(owner, batch, left):
                if moving.weight > MAX_BYTES:
                    left["too_large"] += 1
                    continue
                if portion.chains and not portion.has_room_for(moving):
                    yield tuple(portion.chains)
                    portion = _Portion()
                portion.add(moving)
        if portion.chains:
            yield tuple(portion.chains)

    async def _read(
        self, owner: Owner, families: Sequence[Family], left: Counter[str]
    ) -> list[ChainMove]:
        read_set = await self._ledger.look(
            owner, [name for family in families for name in _documents(family)]
        )
        chains = []
        for family in families:
            members: list[ArchivedStates] = []
            for family_member in family.members:
                memory = read_set.memory(family_member.id)
                if memory is None or memory.revision != family_member.revision:
                    left["abandoned"] += 1
                    break
                old_documents = [
                    (name, read_set.documents.get(name)) for name in _versions(family_member)
                ]
                versions = [
                    as_memory(document, read_set.head)
                    for _, document in old_documents
                    if document is not None and document.kind == "version"
                ]
                try:
                    original = await self._original(owner, memory)
                except Damaged:
                    left["damaged"] += 1
                    break
                members.append(
                    ArchivedStates(
                        memory,
                        tuple(version for version in versions if version is not None),
                        original,
                    )
                )
            else:
                copy = ColdCopy(members[0].memory.epoch, family.last_id, tuple(members))
                chains.append(
                    ChainMove(
                        copy,
                        tuple(version for member in members for version in member.versions),
                        _weight(copy),
                    )
                )
        return chains

    async def _original(self, owner: Owner, memory: Memory) -> Memory | None:
        """Return the memory as it was before it was compressed.

        It is archived too, since no memory names its own cold copy once the memory names another.
        """
        if memory.archival_location is None:
            return None
        try:
            member = (await self._copies.read(owner, memory.archival_location)).member(memory.id)
        except NotFound as error:
            raise Damaged(
                "archive", f"the original of {memory.id} is gone", retry_after_s=30
            ) from error
        if member is None:
            raise Damaged(
                "archive", f"{memory.archival_location} does not hold {memory.id}", retry_after_s=30
            )
        return member.whole


def _batches(families: Sequence[Family], left: Counter[str]) -> list[list[Family]]:
    """Group families whose documents are read together.

    Families that are too large for a commit are counted, and stay.
    """
    batches: list[list[Family]] = []
    room = 0
    for family in families:
        documents = len(_documents(family))
        if family.damaged:
            left["damaged"] += 1
            continue
        if not family.whole or len(family.members) + documents > MAX_DOCUMENTS:
            left["too_large"] += 1
            continue
        if documents > room:
            batches.append([])
            room = MAX_DOCUMENTS
        batches[-1].append(family)
        room -= documents
    return batches


def _documents(family: Family) -> list[str]:
    return [name for member in family.members for name in (member.id, *_versions(member))]


def _versions(memory: Memory) -> list[str]:
    return [version_id(memory.id, number) for number in range(1, memory.version)]


def _weight(copy: ColdCopy) -> int:
    """Return the bytes that the chain takes when it is restored."""
    total = 0
    for member in copy.members:
        total += (
            2 * _size(member.memory)
            + _EVENT_BYTES
            + sum(_size(version) + _vector(version) for version in member.versions)
            + _vector(member.memory)
        )
    return total


def _size(memory: Memory) -> int:
    return len(orjson.dumps(memory.model_dump(mode="json")))


def _vector(memory: Memory) -> int:
    return 0 if memory.embedding is None else _NUMBER_BYTES * len(memory.embedding)
