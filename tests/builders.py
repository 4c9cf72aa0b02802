"""Small makers of what tests store: memories, events, batches; a clock that does not move and a
store that loses answers.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from hashlib import shake_128
from typing import Any

import numpy as np

from memory_core.adapters.system import SystemClock
from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import Event, Head, Lexical, Memory, MemoryType, Vector
from memory_core.domain.ranking.index_terms import search_text
from memory_core.domain.scope import Owner
from memory_core.ledger.waiting_accesses import WaitingAccesses
from memory_core.ports import AccessCount, Batch, Document, Filter, LongTermStore, Search, Write

NOW = datetime(2026, 5, 8, 12, 0, tzinfo=timezone.utc)
ALICE = Owner("app", "alice")
DIMENSIONS = 8
FOUND = frozenset({"active", "compressed"})


@dataclass
class StillClock(SystemClock):
    """A clock that moves only when told to; who sleeps on it sleeps in real time."""

    moment: datetime = NOW

    def now(self) -> datetime:
        return self.moment

    def forward(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


class RunningClock(StillClock):
    """A clock that is a millisecond later each time it is read, as real ones are."""

    def now(self) -> datetime:
        self.forward(0.001)
        return self.moment


@dataclass
class CountedIds:
    """Ids by count, the same in every world that asks for the same ones in the same order.
    seed: tells several sources apart.
    """

    seed: str = "a"
    made: int = 0

    def new(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}_{shake_128(f'{self.seed} {self.made}'.encode()).hexdigest(16)}"


def unit(seed: int, dimensions: int = DIMENSIONS) -> Vector:
    """A random unit vector, the same for the same seed."""
    vector = np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
    return vector / np.linalg.norm(vector)


def tokens(text: str) -> dict[str, int]:
    """Token counts of a text whose words are its tokens."""
    words = text.lower().split()
    return {word: words.count(word) for word in words}


def memory(content: str = "green tea", *, owner: Owner = ALICE, **fields: Any) -> Memory:
    """A memory with sensible defaults; its own tokens are the words of its content.
    `fields` overrides any field.

    As formation does, the text for full-text indexes is made of the tokens.
    """
    defaults: dict[str, Any] = {
        "id": f"mem_{uuid.uuid4().hex}",
        "app_id": owner.app_id,
        "user_id": owner.user_id,
        "type": MemoryType.EPISODIC,
        "content": content,
        "lexical": Lexical(own=tokens(content)),
        "epoch": "epoch-1",
        "created_at": NOW,
        "updated_at": NOW,
        "event_timestamp": NOW,
        "valid_from": NOW - timedelta(days=1),
    }
    given = defaults | fields
    return Memory(**({"search_text": search_text(given["lexical"])} | given))


def document(stored_memory: Memory, kind: Any = "memory") -> Document:
    """A memory as the store keeps it."""
    return Document(
        stored_memory.id, kind, stored_memory.model_dump(mode="json"), stored_memory.embedding
    )


def event(
    commit_id: str, number: int, sequence: int, memory_id: str = "mem_x", **fields: Any
) -> Event:
    """The `number`-th event of a commit."""
    defaults: dict[str, Any] = {
        "id": f"evt_{commit_id}_{number}",
        "sequence": sequence,
        "event_type": "created",
        "memory_id": memory_id,
        "memory_type": MemoryType.EPISODIC,
        "occurred_at": NOW,
    }
    return Event(**(defaults | fields))


def batch(
    expected: Head | None,
    writes: Sequence[Write] = (),
    *,
    commit_id: str | None = None,
    events: int = 1,
    head: Mapping[str, Any] | None = None,
) -> Batch:
    """A commit on top of `expected`: `events` events, the writes, and the head moved by as many.
    `head`: fields to change in it.

    The events name the memories that are written, in order; a test that writes several asks for as
    many events.
    """
    commit_id = commit_id or uuid.uuid4().hex
    before = expected or Head(epoch="epoch-1")
    after = before.model_copy(update={"sequence": before.sequence + events, **(head or {})})
    names = [write.document.id for write in writes if write.document.kind == "memory"][:events]
    names += ["mem_x"] * (events - len(names))
    made = tuple(
        event(commit_id, number, before.sequence + 1 + number, name, epoch=after.epoch)
        for number, name in enumerate(names)
    )
    return Batch(commit_id, expected, after, made, tuple(writes))


def saving(
    expected: Head | None, *memories: Memory, commit_id: str | None = None, mode: Any = "create"
) -> Batch:
    """A commit that saves memories, one event each; they get the sequences of their events."""
    commit_id = commit_id or uuid.uuid4().hex
    head = expected or Head(epoch="epoch-1")
    placed = [
        memory.model_copy(
            update={
                "epoch": head.epoch,
                "sequence": head.sequence + 1 + number,
                "revision": head.sequence + 1 + number,
            }
        )
        for number, memory in enumerate(memories)
    ]
    events = tuple(
        event(commit_id, number, memory.sequence, memory.id, epoch=head.epoch)
        for number, memory in enumerate(placed)
    )
    moved = head.model_copy(update={"sequence": head.sequence + len(placed)})
    return Batch(
        commit_id,
        expected,
        moved,
        events,
        tuple(Write(mode, document(memory)) for memory in placed),
    )


@dataclass
class AnswerLost:
    """A store whose next `lost` commits answer Unavailable, as after a cut connection: applied
    before the cut, or (`apply` false) never arrived. `meanwhile` runs between the commit and its
    lost answer: a rival's chance.
    """

    inner: LongTermStore
    lost: int = 1
    apply: bool = True
    meanwhile: Callable[[], Awaitable[None]] | None = None
    commits: list[str] = field(default_factory=list)

    async def commit(self, owner: Owner, batch: Batch) -> None:
        cut = self.lost > 0
        if self.apply or not cut:
            await self.inner.commit(owner, batch)
            self.commits.append(batch.commit_id)
        if cut:
            self.lost -= 1
            if self.meanwhile is not None:
                await self.meanwhile()
            raise Unavailable("long_term", "the connection was cut before the answer came")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


async def commit(store: LongTermStore, owner: Owner, *writes: Write, **options: Any) -> Head:
    """Commit writes on top of the owner's present head; the new head."""
    made = batch((await store.snapshot(owner)).head, writes, **options)
    await store.commit(owner, made)
    return made.head


async def accessed(store: LongTermStore, owner: Owner, counts: Mapping[str, AccessCount]) -> int:
    """Write accesses down and add them to the memories; of how many."""
    waiting = WaitingAccesses(store, StillClock())
    await waiting.merge(owner, f"mrk_{uuid.uuid4().hex}", counts)
    return await waiting.add(owner)


async def save(store: LongTermStore, *memories: Memory, mode: Any = "create") -> Head:
    """Save memories of one owner in one commit on top of the present head; the new head."""
    owner = memories[0].owner
    made = saving((await store.snapshot(owner)).head, *memories, mode=mode)
    await store.commit(owner, made)
    return made.head


def where(**fields: Any) -> Filter:
    """A filter over what is found by default, with `fields` on top."""
    return Filter(**({"statuses": FOUND} | fields))


def query(terms: str = "", vector: Vector | None = None, limit: int = 50, **fields: Any) -> Search:
    """A search for words and a vector, filtered by `fields`."""
    return Search(vector, tuple(dict.fromkeys(terms.lower().split())), limit, where(**fields))
