"""Merge near-duplicates.

Only neighbours of new memories are looked at, so a run costs as much as its new events bring,
whatever is stored.

Note: of two near memories either may be new, and both are if both came within the hour. The memory
that stays does not depend on that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np

from memory_core.consolidation.step import Proposal, Run
from memory_core.domain.errors import AgentFailed
from memory_core.domain.memory import (
    Event,
    EventType,
    Link,
    Memory,
    MemoryFields,
    MemoryType,
    Status,
    Vector,
)
from memory_core.domain.ranking.index_terms import with_lexical
from memory_core.domain.statements.patterns import same_pattern
from memory_core.domain.statements.worth import most_lasting
from memory_core.domain.text.fuzzy_dedup import fuzzy_dedup
from memory_core.domain.text.sameness import differences, normalised
from memory_core.domain.transitions import retire
from memory_core.domain.truth.slots import slot_of
from memory_core.evolution.apply_rulings import MAX_NOTE_SOURCES, MAX_QUERIES, MAX_SOURCES
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.links import MAX_LINKS
from memory_core.evolution.succession import first_telling, kept, latest_end, over, tellings
from memory_core.evolution.synthesis_checks import fits, what_is_lost
from memory_core.evolution.versions import new_version
from memory_core.ledger.changes import Change, Portion, size_of
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Agents, DecisionItem, Embedder, LongTermStore, Near
from memory_core.tasks.operation_records import Chunk

# Whether two memories say the same, which of them is kept, and which fields it takes over.
#
# Note: equal vectors decide nothing. Digits, negations, names, order and values do
# (`domain/text/sameness.py`). Two truths of a slot are never merged here, since their times decide
# which of them holds.


NOTE, PATTERN = "note", "pattern"
MAX_TERMS = 50
_KINDS = (NOTE, PATTERN)
_WORDING = frozenset({"words", "order"})
"""Differences of two notes that leave room for both texts in a single note."""


class Likeness(StrEnum):
    """The likeness of two memories.

    With `SAME`, either of them says it all. With `ADDS`, they are notes about the same thing, each
    with words of its own.
    """

    SAME = "same"
    ADDS = "adds"


def likeness(first: Memory, second: Memory, duplicate: float) -> Likeness | None:
    """Return the likeness of two memories; None if both stay as they are.

    Args:
        first: A memory.
        second: Another memory.
        duplicate: The cosine from which two texts may say the same.

    """
    if (
        first.id == second.id
        or not (_may_merge(first) and _may_merge(second))
        or _must_stay_separate(first, second)
    ):
        return None
    if normalised(first.content) == normalised(second.content):
        return Likeness.SAME
    if similarity(first, second) < duplicate:
        return None
    wording_differences = differences(first.content, second.content)
    if not wording_differences or (
        first.category == PATTERN and same_pattern(first.content, second.content)
    ):
        return Likeness.SAME
    ends = first.valid_until is not None or second.valid_until is not None
    return (
        Likeness.ADDS
        if first.category == NOTE and wording_differences <= _WORDING and not ends
        else None
    )


def _may_merge(memory: Memory) -> bool:
    """Whether a memory may be merged at all.

    A memory in a conflict may not: the conflict's decision comes first. Nor may a memory that was
    merged and then restored by a caller: an hourly run does not have the last word.
    """
    brought_back = memory.status_reason == "restored" and memory.consolidated_into_ids
    return (
        memory.type is MemoryType.SEMANTIC
        and memory.status is Status.ACTIVE
        and not memory.conflict_ids
        and not brought_back
    )


def _must_stay_separate(first: Memory, second: Memory) -> bool:
    """Whether two memories are kept apart for a reason beside their texts.

    A pinned memory stays, and so does a truth in its slot.
    """
    kinds = [each.category if each.category in _KINDS else None for each in (first, second)]
    entities = [frozenset(name.casefold() for name in each.entities) for each in (first, second)]
    return (
        kinds[0] != kinds[1]
        or first.agent_id != second.agent_id
        or (slot_of(first) is not None and slot_of(second) is not None)
        or (first.value is not None and second.value is not None and first.value != second.value)
        or (all(entities) and entities[0] != entities[1])
        or over(first, second)
        or over(second, first)
        or (first.pinned and (second.pinned or slot_of(second) is not None))
        or (second.pinned and slot_of(first) is not None)
    )


def similarity(first: Memory, second: Memory) -> float:
    """Return the cosine of two memories' vectors; 0 if a vector is missing.

    Args:
        first: A memory.
        second: Another memory.

    """
    if first.embedding is None or second.embedding is None:
        return 0.0
    return float(np.dot(first.embedding, second.embedding))


def survivor_and_other(first: Memory, second: Memory) -> tuple[Memory, Memory]:
    """Return the memory that stays and the memory that goes, in this order.

    A pinned memory stays, then a memory in a slot, then the surer, then the earlier asserted. The
    order of the arguments has no influence.

    Args:
        first: A memory.
        second: Another memory.

    """
    stays, goes = sorted((first, second), key=_rank)
    return stays, goes


def _rank(memory: Memory) -> tuple[Any, ...]:
    return (
        not memory.pinned,
        slot_of(memory) is None,
        -memory.confidence,
        first_telling(memory),
        memory.sequence,
        memory.id,
    )


@dataclass(frozen=True, slots=True)
class Text:
    """A note that says the content of two notes, with its vector."""

    content: str
    vector: Vector


def fields_taken_over(stays: Memory, goes: Memory) -> MemoryFields:
    """Return the fields that the remaining memory takes over from the other.

    These are its times, how often and how surely it was said, its terms and its sources.

    Args:
        stays: The memory that stays.
        goes: The memory that goes.

    """
    most = MAX_NOTE_SOURCES if stays.category == NOTE else MAX_SOURCES
    taken: MemoryFields = {
        "reinforcement_count": stays.reinforcement_count + goes.reinforcement_count + 1,
        "confidence": max(stays.confidence, goes.confidence),
        "worth": most_lasting([stays.worth, goes.worth]),
        "importance_base": max(stays.importance_base, goes.importance_base),
        "access_count": stays.access_count + goes.access_count,
        "last_accessed_at": _latest(stays.last_accessed_at, goes.last_accessed_at),
        "last_used_at": _latest(stays.last_used_at, goes.last_used_at),
        "tags": fuzzy_dedup([*stays.tags, *goes.tags])[:MAX_TERMS],
        "keywords": fuzzy_dedup([*stays.keywords, *goes.keywords])[:MAX_TERMS],
        "semantic_queries": list(dict.fromkeys([*stays.semantic_queries, *goes.semantic_queries]))[
            :MAX_QUERIES
        ],
        "entities": list(dict.fromkeys([*stays.entities, *goes.entities]))[:MAX_TERMS],
        "value": stays.value if stays.value is not None else goes.value,
        "value_text": stays.value_text if stays.value is not None else goes.value_text,
        "source_ids": list(dict.fromkeys([*stays.source_ids, *goes.source_ids, goes.id]))[-most:],
        "links": _links(stays, goes),
    }
    return _times(stays, goes) | taken


def _times(stays: Memory, goes: Memory) -> MemoryFields:
    """Return the times of both together.

    A truth in a slot keeps its own times, which say where it is in the slot's timeline.
    """
    if slot_of(stays) is not None:
        return {}
    return {
        "event_timestamp": max(stays.event_timestamp, goes.event_timestamp),
        "told_at": kept([*tellings(stays), *tellings(goes)]),
        "valid_from": min(stays.valid_from, goes.valid_from)
        if stays.version == 1
        else stays.valid_from,
        "valid_until": latest_end(stays, goes),
    }


def merge_fields(stays: Memory, goes: Memory, run: str) -> Memory:
    """Return the memory that stays with the fields of the other.

    Its text stays as it was.

    Args:
        stays: The memory that stays.
        goes: The memory that goes.
        run: When the run began that merges them.

    """
    return with_lexical(
        stays.changed(**(fields_taken_over(stays, goes) | {"consolidation_run": run}))
    )


def supersede(goes: Memory, stays: Memory, now: datetime) -> Memory:
    """Return the memory that goes, superseded by the memory that stays.

    Its validity ends where the other's begins, or at its own beginning if that is later.

    Args:
        goes: The memory that goes.
        stays: The memory that stays.
        now: The time of the change.

    """
    return retire(goes, stays, Status.UPDATED, "consolidated", now)


def add_link(newer: Memory, older: Memory) -> Memory | None:
    """Return the newer memory with a link to the older.

    None if it has such a link.

    Args:
        newer: The newer memory.
        older: The older memory.

    """
    if any(known_link.memory_id == older.id for known_link in newer.links):
        return None
    score = round(similarity(newer, older), 6)
    link = Link(
        memory_id=older.id,
        similarity_score=score,
        composite_score=score,
        link_strength=score,
        relationship_type="duplicate",
    )
    return newer.changed(links=[link, *newer.links][:MAX_LINKS])


def _links(stays: Memory, goes: Memory) -> list[Link]:
    links = {
        link.memory_id: link
        for link in (*goes.links, *stays.links)
        if link.memory_id not in (stays.id, goes.id)
    }
    return sorted(links.values(), key=lambda link: (-link.composite_score, link.memory_id))[
        :MAX_LINKS
    ]


def _latest(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)


def newest(pair: Sequence[Memory]) -> tuple[Memory, Memory]:
    """Return the newer and the older of two memories, as they were first stored."""
    older, newer = sorted(pair, key=lambda memory: (memory.sequence, memory.id))
    return newer, older


AT_ONCE = 40
"""New memories whose neighbours are searched at once."""
NEAREST = 6
_SEMANTIC = frozenset({MemoryType.SEMANTIC.value})
Pair = tuple[str, str]


class Merging:
    """The step that merges near-duplicates.

    The cosine `duplicate` is that from which two texts may say the same. The agent `rules` works
    without a model and writes a single note of two.
    """

    name = "merge"

    def __init__(
        self, store: LongTermStore, embedder: Embedder, rules: Agents, duplicate: float
    ) -> None:
        self._store, self._embedder, self._rules, self._duplicate = (
            store,
            embedder,
            rules,
            duplicate,
        )

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """Return the next chunk of new memories with near-duplicates.

        Args:
            run: The run.
            cursor: The place among the new memories; None for the beginning.

        Raises:
            Unavailable: The long-term store or the embedder is down.

        """
        ids, place = _new_or_changed_ids(run), int(cursor or 0)
        while place < len(ids):
            further = place + AT_ONCE
            pairs, looked = await self._pairs(run, ids[place:further])
            if pairs:
                texts = await self._texts(run, pairs, looked)
                names = list(dict.fromkeys(name for pair in pairs for name in pair))

                def decide(
                    read_set: ReadSet,
                    pairs: Sequence[Pair] = pairs,
                    texts: Mapping[Pair, Text | None] = texts,
                    names: Sequence[str] = names,
                    place: int = place,
                    further: int = further,
                ) -> Chunk:
                    merge = _Merge(
                        run,
                        ChangeSet(run.owner, read_set, run.at, weighs=False),
                        texts,
                        self._duplicate,
                    )
                    whole = all(merge.place(*pair) for pair in pairs)
                    return merge.chunk(
                        cursor=further if whole else place, done=whole and further >= len(ids)
                    )

                if decide(looked).changes:
                    return Proposal(names, decide)
            place = further
        return None

    async def dry_run(self, run: Run) -> Mapping[str, int]:
        """Count the pairs of near-duplicates."""
        ids, count = _new_or_changed_ids(run), 0
        for place in range(0, len(ids), AT_ONCE):
            count += len((await self._pairs(run, ids[place : place + AT_ONCE]))[0])
        return {"near_duplicates": count}

    async def _pairs(self, run: Run, ids: Sequence[str]) -> tuple[list[Pair], ReadSet]:
        """Return the pairs that are alike, each once, in order, with their memories."""
        read_set = await run.reads.look(ids)
        new = [
            memory
            for name in ids
            if (memory := read_set.memory(name)) is not None and memory.embedding is not None
        ]
        nears = [
            Near(memory.embedding, _SEMANTIC, self._duplicate, limit=NEAREST)
            for memory in new
            if memory.type is MemoryType.SEMANTIC
        ]
        likely = await self._store.nearest(run.owner, nears) if nears else []
        read_set = await run.reads.look([*ids, *(name for near in likely for name in near)])
        pairs: dict[Pair, None] = {}
        for memory, near in zip(
            (memory for memory in new if memory.type is MemoryType.SEMANTIC), likely, strict=True
        ):
            for other in map(read_set.memory, near):
                if other is None or likeness(memory, other, self._duplicate) is None:
                    continue
                pairs[min(memory.id, other.id), max(memory.id, other.id)] = None
        return list(pairs), await run.reads.look(name for pair in pairs for name in pair)

    async def _texts(
        self, run: Run, pairs: Sequence[Pair], read_set: ReadSet
    ) -> dict[Pair, Text | None]:
        """Write a note for each pair of notes that add to each other.

        The result is by the pair's texts; None if there is no such note.
        """
        written: dict[Pair, str | None] = {}
        for names in pairs:
            first, second = (read_set.memory(name) for name in names)
            if (
                first is not None
                and second is not None
                and likeness(first, second, self._duplicate) is Likeness.ADDS
            ):
                written[_texts_of(first, second)] = await self._written(
                    run,
                    sorted((first, second), key=lambda note: (note.event_timestamp, note.sequence)),
                )
        made = [text for text in written.values() if text is not None]
        vectors = dict(zip(made, await self._embedder.embed(made), strict=True)) if made else {}
        return {
            pair: None if text is None else Text(text, vectors[text])
            for pair, text in written.items()
        }

    async def _written(self, run: Run, notes: Sequence[Memory]) -> str | None:
        if not fits(notes):
            return None
        items = [
            DecisionItem(number, note.content, note.category, note.event_timestamp)
            for number, note in enumerate(notes)
        ]
        try:
            text = (
                await self._rules.synthesise(run.owner, items)
            ).value.consolidated_memory.natural_memory_note
        except AgentFailed:  # the rules refuse: the texts don't fit into one
            return None
        return None if what_is_lost(text, notes) else text


@dataclass
class _Merge:
    """A commit in the making.

    `texts` has the joint note of each pair of notes, by the pair's texts.
    """

    run: Run
    page: ChangeSet
    texts: Mapping[Pair, Text | None]
    duplicate: float
    portion: Portion = field(default_factory=Portion)
    counts: dict[str, int] = field(default_factory=dict)

    def place(self, first_id: str, second_id: str) -> bool:
        """Merge or link two memories if they are still alike.

        False if the commit has no more room.

        Args:
            first_id: The id of a memory.
            second_id: The id of another memory.

        """
        first, second = self.page.memory(first_id), self.page.memory(second_id)
        alike = None if first is None or second is None else likeness(first, second, self.duplicate)
        if first is None or second is None or alike is None:
            return True
        if not self.portion.takes(5, 3 * size_of(first, second)):
            return False
        stays, goes = survivor_and_other(first, second)
        if alike is Likeness.SAME:
            self._merge(stays, goes, merge_fields(stays, goes, self._run_at))
            return True
        text = self.texts.get(_texts_of(first, second))
        # a text has changed; the next run gets it as a new event
        if _texts_of(first, second) not in self.texts:
            return True
        if text is None or stays.pinned:
            self._link(first, second)
        elif normalised(text.content) == normalised(stays.content):
            self._merge(stays, goes, merge_fields(stays, goes, self._run_at))
        else:
            self._rewrite(stays, goes, text)
        return True

    def chunk(self, *, cursor: int, done: bool) -> Chunk:
        """Return the commit.

        Args:
            cursor: The place where the next chunk begins.
            done: Whether it is the step's last chunk.

        """
        return Chunk(
            tuple(self.page.changes),
            puts=tuple(self.page.puts.values()),
            cursor=cursor,
            counts=self.counts,
            done=done,
        )

    @property
    def _run_at(self) -> str:
        return self.run.at.isoformat().replace("+00:00", "Z")

    def _merge(
        self, stays: Memory, goes: Memory, after: Memory, event: EventType = "reinforced"
    ) -> None:
        merged = Change("merged", supersede(goes, after, self.run.at), goes, {"into": stays.id})
        self.page.apply([Change(event, after, stays, {"merged_id": goes.id}), merged])
        self._count("merged")

    def _rewrite(self, stays: Memory, goes: Memory, text: Text) -> None:
        """Make the note that stays say both texts from now on.

        Its earlier text is kept as its old version.
        """
        fields = fields_taken_over(stays, goes) | {
            "content": text.content,
            "embedding": text.vector,
            "consolidation_run": self._run_at,
        }
        fields |= {"change_reason": f"merged with {goes.id}"}
        fields.pop("valid_from")
        updated, old_version = new_version(stays, fields, self.run.at)
        self.page.puts[old_version.id] = old_version
        self._merge(stays, goes, with_lexical(updated), "updated")

    def _link(self, first: Memory, second: Memory) -> None:
        newer, older = newest((first, second))
        after = add_link(newer, older)
        if after is not None:
            self.page.apply([Change("linked", after, newer)])
            self._count("linked")

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1


def _new_or_changed_ids(run: Run) -> list[str]:
    """Return the ids of semantic memories that are new or say something else, in order."""
    return list(
        dict.fromkeys(
            event.memory_id
            for event in run.news
            if event.memory_type is MemoryType.SEMANTIC and _is_new_text(event)
        )
    )


def _is_new_text(event: Event) -> bool:
    return event.event_type == "created" or not {"content", "status"}.isdisjoint(event.after)


def _texts_of(first: Memory, second: Memory) -> Pair:
    return (min(first.content, second.content), max(first.content, second.content))
