"""Near-duplicates: what the news brought is compared with what lies near it, and of two that say one thing one stays.

Only neighbours of what is new are looked at, so an hour costs what it brought, whatever is held. Note: of A near B, either
may be the new one, and both are when both came in one hour; who stays does not depend on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_core.consolidation.near_duplicates import Likeness, Text, in_order, joined, likeness, linked, newest, retired, taking_over
from memory_core.consolidation.run import Proposal, Run
from memory_core.domain.errors import AgentFailed
from memory_core.domain.indexing import with_lexical
from memory_core.domain.models import Event, Memory, MemoryType
from memory_core.domain.sameness import normalised
from memory_core.evolution.page import Page
from memory_core.evolution.synthesise import fits, what_is_lost
from memory_core.evolution.versions import new_version
from memory_core.ledger.batch import Change, Portion, size_of
from memory_core.ledger.commit import Look
from memory_core.ports import Agents, DecisionItem, Embedder, LongTermStore, Near
from memory_core.tasks.operations import Chunk

AT_ONCE = 40
"""New memories whose neighbours are looked for at once."""
NEAREST = 6
_SEMANTIC = frozenset({MemoryType.SEMANTIC.value})
Pair = tuple[str, str]


class Merging:
    """The step. duplicate: the similarity of one and the same. rules: agents without a model, who write one note of two."""

    name = "merge"

    def __init__(self, store: LongTermStore, embedder: Embedder, rules: Agents, duplicate: float) -> None:
        self._store, self._embedder, self._rules, self._duplicate = store, embedder, rules, duplicate

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """The next new memories, from the `cursor`-th on, of which some are near-duplicates."""
        ids, place = _new(run), int(cursor or 0)
        while place < len(ids):
            further = place + AT_ONCE
            pairs, looked = await self._pairs(run, ids[place:further])
            if pairs:
                texts = await self._texts(run, pairs, looked)
                names = list(dict.fromkeys(name for pair in pairs for name in pair))

                def decide(
                    look: Look,
                    pairs: Sequence[Pair] = pairs,
                    texts: Mapping[Pair, Text | None] = texts,
                    names: Sequence[str] = names,
                    place: int = place,
                    further: int = further,
                ) -> Chunk:
                    merge = _Merge(run, Page(run.owner, look, run.at, weighs=False, asked=names), texts, self._duplicate)
                    whole = all(merge.place(*pair) for pair in pairs)
                    return merge.chunk(cursor=further if whole else place, done=whole and further >= len(ids))

                if decide(looked).changes:
                    return Proposal(names, decide)
            place = further
        return None

    async def foresee(self, run: Run) -> Mapping[str, int]:
        """How many pairs of near-duplicates it sees now."""
        ids, count = _new(run), 0
        for place in range(0, len(ids), AT_ONCE):
            count += len((await self._pairs(run, ids[place : place + AT_ONCE]))[0])
        return {"near_duplicates": count}

    async def _pairs(self, run: Run, ids: Sequence[str]) -> tuple[list[Pair], Look]:
        """Pairs that are alike, each once, in order; and both their sides as they were read."""
        seen = await self._store.snapshot(run.owner, ids)
        look = Look(seen.head, dict(seen.documents))
        new = [memory for name in ids if (memory := look.memory(name)) is not None and memory.embedding is not None]
        nears = [Near(memory.embedding, _SEMANTIC, self._duplicate, limit=NEAREST) for memory in new if memory.type is MemoryType.SEMANTIC]
        looks = await asyncio.gather(*(self._store.snapshot(run.owner, (), near) for near in nears))
        pairs: dict[Pair, None] = {}
        for memory, near in zip((memory for memory in new if memory.type is MemoryType.SEMANTIC), looks, strict=True):
            for neighbour in near.near:
                other = neighbour.memory
                pair = (min(memory.id, other.id), max(memory.id, other.id))
                if likeness(memory, other, self._duplicate) is not None:
                    pairs[pair] = None
        wanted = list(dict.fromkeys(name for pair in pairs for name in pair))
        read = await self._store.snapshot(run.owner, wanted) if pairs else seen
        return list(pairs), Look(read.head, dict(read.documents))

    async def _texts(self, run: Run, pairs: Sequence[Pair], look: Look) -> dict[Pair, Text | None]:
        """For each two notes of which each adds to the other, the note that stands for both, by their texts; None where there is none."""
        written: dict[Pair, str | None] = {}
        for names in pairs:
            first, second = (look.memory(name) for name in names)
            if first is not None and second is not None and likeness(first, second, self._duplicate) is Likeness.ADDS:
                written[_texts_of(first, second)] = await self._written(
                    run, sorted((first, second), key=lambda note: (note.event_timestamp, note.sequence))
                )
        made = [text for text in written.values() if text is not None]
        vectors = dict(zip(made, await self._embedder.embed(made), strict=True)) if made else {}
        return {pair: None if text is None else Text(text, vectors[text]) for pair, text in written.items()}

    async def _written(self, run: Run, notes: Sequence[Memory]) -> str | None:
        if not fits(notes):
            return None
        items = [DecisionItem(number, note.content, note.category, note.event_timestamp) for number, note in enumerate(notes)]
        try:
            text = (await self._rules.synthesise(run.owner.app_id, items)).value.consolidated_memory.natural_memory_note
        except AgentFailed:  # rules say that they don't fit into one
            return None
        return None if what_is_lost(text, notes) else text


@dataclass
class _Merge:
    """The commit in the making. texts: what stands for two notes, by their texts."""

    run: Run
    page: Page
    texts: Mapping[Pair, Text | None]
    duplicate: float
    portion: Portion = field(default_factory=Portion)
    counts: dict[str, int] = field(default_factory=dict)

    def place(self, first_id: str, second_id: str) -> bool:
        """Make one of the two, if that is still what they ask for. False: there is no room for it any more."""
        first, second = self.page.memory(first_id), self.page.memory(second_id)
        alike = None if first is None or second is None else likeness(first, second, self.duplicate)
        if first is None or second is None or alike is None:
            return True
        if not self.portion.takes(5, 3 * size_of(first, second)):
            return False
        stays, goes = in_order(first, second)
        if alike is Likeness.SAME:
            self._merge(stays, goes, joined(stays, goes, self._run_at))
            return True
        text = self.texts.get(_texts_of(first, second))
        if _texts_of(first, second) not in self.texts:  # one of them has another text by now: it is news for the next run
            return True
        if text is None or stays.pinned:
            self._link(first, second)
        elif normalised(text.content) == normalised(stays.content):
            self._merge(stays, goes, joined(stays, goes, self._run_at))
        else:
            self._rewrite(stays, goes, text)
        return True

    def chunk(self, *, cursor: int, done: bool) -> Chunk:
        """The commit."""
        return Chunk(tuple(self.page.changes), puts=tuple(self.page.puts.values()), cursor=cursor, counts=self.counts, done=done)

    @property
    def _run_at(self) -> str:
        return self.run.at.isoformat().replace("+00:00", "Z")

    def _merge(self, stays: Memory, goes: Memory, after: Memory, event: str = "reinforced") -> None:
        merged = Change("merged", retired(goes, after, self.run.at), goes, {"into": stays.id})
        self.page.apply([Change(event, after, stays, {"merged_id": goes.id}), merged])
        self._count("merged")

    def _rewrite(self, stays: Memory, goes: Memory, text: Text) -> None:
        """The note that stays says what both said from now on; what it said before is kept as its old version."""
        fields = taking_over(stays, goes) | {"content": text.content, "embedding": text.vector, "consolidation_run": self._run_at}
        fields |= {"change_reason": f"merged with {goes.id}"}
        fields.pop("valid_from")
        updated, old_version = new_version(stays, fields, self.run.at)
        self.page.puts[old_version.id] = old_version
        self._merge(stays, goes, with_lexical(updated), "updated")

    def _link(self, first: Memory, second: Memory) -> None:
        newer, older = newest((first, second))
        after = linked(newer, older)
        if after is not None:
            self.page.apply([Change("linked", after, newer)])
            self._count("linked")

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1


def _new(run: Run) -> list[str]:
    """The ids of the semantic memories that are new, or say something else than before, in order."""
    return list(dict.fromkeys(event.memory_id for event in run.news if event.memory_type is MemoryType.SEMANTIC and _tells(event)))


def _tells(event: Event) -> bool:
    return event.event_type == "created" or not {"content", "status"}.isdisjoint(event.after)


def _texts_of(first: Memory, second: Memory) -> Pair:
    return (min(first.content, second.content), max(first.content, second.content))
