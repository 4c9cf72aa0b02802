"""Patterns of a commit: the episodes that an agent gets, and each pattern's outcome.

Note: a pattern that is known already is no loss. The content of a fact in a slot is left to the
fact, which the next truth replaces; a pattern of the same content would stay.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from memory_core.consolidation.pattern_withdrawal import is_taken_back, is_withdrawn
from memory_core.consolidation.step import Run
from memory_core.domain.agent_schemas import FoundPattern, Provenance
from memory_core.domain.importance import surer
from memory_core.domain.memory import AtomicFact, Memory, MemoryFields, MemoryType, Vector
from memory_core.domain.ranking.index_terms import with_lexical
from memory_core.domain.statements.patterns import SaidTerms, carriers, is_stated_by, same_pattern
from memory_core.domain.statements.worth import worth_of
from memory_core.domain.text.sameness import differences, normalised
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.domain.truth.slots import slot_of
from memory_core.evolution.changeset import ChangeSet
from memory_core.ledger.changes import Change, Portion, size_of
from memory_core.ledger.ids import derived, procedure_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import DecisionItem, LongTermStore, Near
from memory_core.tasks.operation_records import Chunk

CATEGORY = "pattern"
MAX_SOURCES = 40
"""The most episodes that a pattern names as its sources, the latest."""
MARKED_AT_ONCE = 20
"""The most episodes that a pattern takes into a commit, the latest."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pattern that an agent found.

    Attributes:
        pattern: The agent's answer.
        provenance: The agent, its prompt and its model.
        vector: The vector of the summary.
        model: The embedder of the vector.
        episodes: The ids of the episodes that it names.
        into: The ids of memories that these episodes were consolidated into already.
        near: The stored memories near it as (id, cosine), the nearest first.

    """

    pattern: FoundPattern
    provenance: Provenance
    vector: Vector
    model: str
    episodes: tuple[str, ...]
    into: tuple[str, ...]
    near: tuple[tuple[str, float], ...]

    @property
    def key(self) -> str | None:
        """The key of a procedural pattern; None for any other."""
        return (
            self.pattern.key
            if self.pattern.memory_type == "procedural" and self.pattern.key
            else None
        )

    def memory_id(self, run_id: str) -> str:
        """Return the id of the memory that it becomes without a key."""
        return derived("mem", run_id, CATEGORY, normalised(self.pattern.summary))


@dataclass
class PatternPage:
    """A commit in the making.

    Attributes:
        run: The run.
        page: The change set.
        new: The new episodes, of which a pattern needs at least a single episode.
        duplicate: The cosine from which two texts may say the same.
        portion: The room that is left.
        counts: The numbers that the commit adds to the run's.
        made: The new patterns.
        full: Whether there is no more room.

    """

    run: Run
    page: ChangeSet
    new: Collection[str]
    duplicate: float
    portion: Portion = field(default_factory=Portion)
    counts: dict[str, int] = field(default_factory=dict)
    made: list[Memory] = field(default_factory=list)
    full: bool = False

    @classmethod
    def of(cls, run: Run, read_set: ReadSet, new: Collection[str], duplicate: float) -> PatternPage:
        """Begin an empty commit.

        Args:
            run: The run.
            read_set: The documents that it is decided on.
            new: The ids of the new episodes.
            duplicate: The cosine from which two texts may say the same.

        """
        return cls(run, ChangeSet(run.owner, read_set, run.at, weighs=False), new, duplicate)

    def place(self, candidate: Candidate) -> bool:
        """Put a pattern into the commit.

        False if there is no more room.
        """
        episodes = self._carrying(candidate)
        if not episodes:
            self._count("patterns_dropped")
            return True
        if not any(episode.id in self.new for episode in episodes) or _is_stated_by_facts(
            candidate, episodes
        ):
            return True
        existing = self._held(candidate)
        if existing is None:
            return self._create(candidate, episodes)
        fresh = [episode for episode in episodes if episode.id not in existing.source_ids]
        if existing.category != CATEGORY or not _holds(existing) or not fresh:
            return True
        return self._reinforce(existing, candidate, fresh)

    def chunk(self, *, cursor: int, done: bool) -> Chunk:
        """Return the commit.

        Dropped patterns are counted once, by the last commit of a portion.

        Args:
            cursor: The portion with which the step goes on.
            done: Whether it is the step's last chunk.

        """
        counts = {
            name: number
            for name, number in self.counts.items()
            if name != "patterns_dropped" or not self.full
        }
        sessions = tuple(session.document for session in self.page.sessions.values())
        return Chunk(
            tuple(self.page.changes),
            puts=(*self.page.puts.values(), *sessions),
            cursor=cursor,
            counts=counts,
            done=done,
        )

    def _carrying(self, candidate: Candidate) -> list[Memory]:
        """Return the named episodes that are stored and say the pattern, in order of time.

        Empty if together they do not say it.
        """
        read = [
            memory
            for name in candidate.episodes
            if (memory := self.page.memory(name)) is not None and is_episode(memory)
        ]
        ordered = sorted(read, key=in_time)
        places = carriers(
            candidate.pattern.summary,
            [SaidTerms.of(memory.content, memory.actor) for memory in ordered],
        )
        return [ordered[place] for place in places][-MARKED_AT_ONCE:]

    def _held(self, candidate: Candidate) -> Memory | None:
        """Return a memory that says the pattern already.

        It is a pattern of this commit, a memory that its episodes went into, the memory of its key,
        or a memory near it. It may also be a memory that a person deleted, since that person does
        not want to be told it again.
        """
        text = candidate.pattern.summary
        keyed = [] if candidate.key is None else [procedure_id(candidate.key)]
        for name in (*(made.id for made in self.made), *candidate.into, *keyed):
            memory = self.page.memory(name)
            if (
                memory is not None
                and (_holds(memory) or _is_unwanted(memory))
                and same_pattern(memory.content, text)
            ):
                return memory
        for name, similarity in candidate.near:
            memory = self.page.memory(name)
            if memory is None or not _holds(memory) or _is_lasting_fact(memory):
                continue
            alike = same_pattern if memory.category == CATEGORY else _same
            if (memory.category == CATEGORY or similarity >= self.duplicate) and alike(
                memory.content, text
            ):
                return memory
        return None

    def _create(self, candidate: Candidate, episodes: Sequence[Memory]) -> bool:
        memory = self._memory(candidate, episodes)
        # this run's own memory was deleted
        if self.page.memory(memory.id) is not None:
            return True
        marks = [self._marked(episode, memory.id) for episode in episodes]
        return self._apply("patterns", [Change("created", memory), *marks], memory)

    def _reinforce(self, existing: Memory, candidate: Candidate, fresh: Sequence[Memory]) -> bool:
        """Reinforce a stored pattern by further episodes, which become its sources."""
        if not self._takes([existing, *fresh]):
            return False
        sources = list(dict.fromkeys([*existing.source_ids, *(episode.id for episode in fresh)]))[
            -MAX_SOURCES:
        ]
        told_again = existing.changed(**_times(fresh))
        self.page.retell(
            existing, told_again, source_ids=sources, confidence=surer(existing.confidence)
        )
        self.page.apply([self._marked(episode, existing.id) for episode in fresh])
        self._count("patterns_reinforced")
        return True

    def _apply(self, name: str, changes: Sequence[Change], memory: Memory) -> bool:
        if not self._takes([change.after for change in changes]):
            return False
        self.page.apply(changes)
        self.made.append(memory)
        self._count(name)
        return True

    def _takes(self, memories: Sequence[Memory]) -> bool:
        if self.full or not self.portion.takes(2 * len(memories) + 1, 2 * size_of(*memories)):
            self.full = True
        return not self.full

    def _marked(self, episode: Memory, into: str) -> Change:
        """Return the change that an episode gets: it names the pattern that it went into."""
        current = self.page.memory(episode.id) or episode
        names = list(dict.fromkeys([*current.consolidated_into_ids, into]))
        return Change("consolidated", current.changed(consolidated_into_ids=names), current)

    def _memory(self, candidate: Candidate, episodes: Sequence[Memory]) -> Memory:
        key = (
            None
            if candidate.key is None or self.page.memory(procedure_id(candidate.key)) is not None
            else candidate.key
        )
        known = [SaidTerms.of(episode.content, episode.actor) for episode in episodes]
        facts = [
            text
            for text in candidate.pattern.extracted_facts
            if text != candidate.pattern.summary and carriers(text, known, fewest=1)
        ]
        fields: dict[str, Any] = {
            "id": candidate.memory_id(self.run.id) if key is None else procedure_id(key),
            "type": MemoryType.SEMANTIC if key is None else MemoryType.PROCEDURAL,
            "content": candidate.pattern.summary,
            "key": key,
            "value": None if key is None else candidate.pattern.summary,
            "value_text": None if key is None else candidate.pattern.summary,
            "atomic_facts": [AtomicFact(text=text) for text in facts],
            "importance_base": candidate.pattern.importance_score,
            "worth": worth_of(candidate.pattern.summary),
            "confidence": candidate.pattern.confidence,
            "pattern_detected": f"user_{candidate.pattern.pattern}_pattern",
            "tags": [candidate.pattern.pattern],
            "metadata": dict(max(episodes, key=lambda episode: episode.event_timestamp).metadata),
            "source_ids": [episode.id for episode in episodes],
            "session_id": _common([episode.session_id for episode in episodes]),
            "agent_id": _common([episode.agent_id for episode in episodes]),
            "prompt_id": candidate.provenance.prompt_id,
            "prompt_version": candidate.provenance.prompt_version,
            "model": candidate.provenance.model,
            **_times(episodes),
        }
        made = with_lexical(self._blank(fields))
        made.embedding, made.embedding_model, made.embedding_dimensions = (
            candidate.vector,
            candidate.model,
            len(candidate.vector),
        )
        return made

    def _blank(self, fields: dict[str, Any]) -> Memory:
        return Memory(
            app_id=self.run.owner.app_id,
            user_id=self.run.owner.user_id,
            category=CATEGORY,
            source="consolidation",
            importance_basis="consolidation",
            status_reason="consolidated",
            consolidation_run=self.run.at.isoformat().replace("+00:00", "Z"),
            created_at=self.run.at,
            updated_at=self.run.at,
            **fields,
        )

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1


def _is_lasting_fact(memory: Memory) -> bool:
    """Whether a memory is a fact without a slot.

    A pattern that repeats such a fact says more than the fact does.
    """
    return memory.category == "fact" and slot_of(memory) is None


def _is_stated_by_facts(candidate: Candidate, episodes: Sequence[Memory]) -> bool:
    """Whether a fact in a slot, stated by an episode, says most of the pattern.

    The fact may have been superseded since.
    """
    facts = {
        fact.text
        for episode in episodes
        for fact in episode.atomic_facts
        if fact.fact_id is not None and not fact.lasting
    }
    return any(is_stated_by(candidate.pattern.summary, text) for text in sorted(facts))


def _holds(memory: Memory) -> bool:
    return memory.status in FOUND_BY_DEFAULT


def _is_unwanted(memory: Memory) -> bool:
    """Whether a person deleted it, not a run or a successor."""
    return is_taken_back(memory) and not is_withdrawn(memory)


def _same(existing_text: str, text: str) -> bool:
    return not differences(existing_text, text)


def _times(episodes: Sequence[Memory]) -> MemoryFields:
    """Return the times of a pattern: its latest episode, and its first."""
    return {
        "event_timestamp": max(episode.event_timestamp for episode in episodes),
        "valid_from": min(episode.event_timestamp for episode in episodes),
    }


def _common(names: Sequence[str | None]) -> str | None:
    """Return the common name if all are equal, else None."""
    return names[0] if len(set(names)) == 1 else None


# Which episodes an agent gets in a call when it looks for patterns: neighbouring episodes of a
# session, as many as fit.
#
# Note: patterns repeat over days, but a run sees an hour. So new episodes come with some older
# episodes that are near. A pattern still needs a new episode, or every run would find the old
# patterns again.


GAP = timedelta(hours=6)
"""The silence that separates two groups of a session; a group is shown whole if it fits."""
NEW_AT_ONCE, EARLIER_AT_ONCE = 30, 10
"""Episodes of a call: new episodes, and older episodes beside them."""
CALLS_A_RUN = 6
"""The most calls of a run, with the latest new episodes.

The other episodes are still found later beside similar episodes.
"""
TEXT = 1_500
"""The characters of an episode that are shown."""
LOOKED_BACK_FROM, NEAREST = 5, 12
"""New episodes, the last, whose neighbours are searched, and how many of each.

A search takes 0.4 ms on SQLite.
"""
_EPISODIC = frozenset({MemoryType.EPISODIC.value})


async def read_episodes(run: Run, ids: Sequence[str]) -> list[Memory]:
    """Read the episodes of these ids that are found by default, with their vectors.

    Args:
        run: The run.
        ids: The ids of memories.

    Raises:
        Unavailable: The long-term store is down.

    """
    read_set = await run.reads.look(ids)
    read = [read_set.memory(name) for name in ids]
    return [memory for memory in read if memory is not None and is_episode(memory)]


def is_episode(memory: Memory) -> bool:
    """Whether a memory is an episode that a read would show."""
    return memory.type is MemoryType.EPISODIC and memory.status in FOUND_BY_DEFAULT


def in_parts(episodes: Sequence[Memory]) -> list[list[Memory]]:
    """Divide the episodes into portions of a call each.

    Groups are in order of time, and a group is divided only if it is larger than a call. Of more
    than `CALLS_A_RUN` portions the last are returned.
    """
    parts: list[list[Memory]] = []
    for group in grouped(episodes):
        for start in range(0, len(group), NEW_AT_ONCE):
            piece = group[start : start + NEW_AT_ONCE]
            if parts and len(parts[-1]) + len(piece) <= NEW_AT_ONCE:
                parts[-1] += piece
            else:
                parts.append(piece)
    return parts[-CALLS_A_RUN:]


def grouped(episodes: Sequence[Memory]) -> list[list[Memory]]:
    """Group the episodes of a session without a silence longer than `GAP`.

    Each group and all groups are in order of time.
    """
    groups: list[list[Memory]] = []
    for episode in sorted(
        episodes, key=lambda episode: (episode.session_id or "", *in_time(episode))
    ):
        last = groups[-1][-1] if groups else None
        if (
            last is not None
            and last.session_id == episode.session_id
            and episode.event_timestamp - last.event_timestamp <= GAP
        ):
            groups[-1].append(episode)
        else:
            groups.append([episode])
    return sorted(groups, key=lambda group: in_time(group[0]))


def in_time(memory: Memory) -> tuple[object, ...]:
    """Return the sort key of episodes: their event time, then their order in the conversation."""
    return memory.event_timestamp, memory.sequence, memory.id


async def earlier(
    store: LongTermStore, run: Run, part: Sequence[Memory], floor: float
) -> list[Memory]:
    """Find older episodes that are near the last new episodes, the nearest `EARLIER_AT_ONCE`.

    In a run of a single session, only episodes of that session are returned.

    Args:
        store: The long-term store.
        run: The run.
        part: The new episodes.
        floor: The least cosine.

    Raises:
        Unavailable: The long-term store is down.

    """
    asking = [episode for episode in part if episode.embedding is not None][-LOOKED_BACK_FROM:]
    nears = [Near(episode.embedding, _EPISODIC, floor, limit=NEAREST) for episode in asking]
    part_ids, nearest = {episode.id for episode in part}, dict[str, float]()
    for near in await store.nearest(run.owner, nears) if nears else []:
        for name in near.keys() - part_ids:
            nearest[name] = max(near[name], nearest.get(name, -1.0))
    ranked = sorted(nearest, key=lambda name: (-nearest[name], name))
    if run.session_id is None:  # otherwise most may be of other sessions
        ranked = ranked[:EARLIER_AT_ONCE]
    return [
        episode
        for episode in await read_episodes(run, ranked)
        if run.session_id in (None, episode.session_id)
    ][:EARLIER_AT_ONCE]


def as_items(episodes: Sequence[Memory]) -> list[DecisionItem]:
    """Return the episodes as an agent gets them, numbered in their order.

    A cell's story names its speakers itself.
    """
    return [
        DecisionItem(
            number,
            episode.content[:TEXT],
            episode.category,
            episode.event_timestamp,
            None,
            None if episode.cell_id else episode.actor,
        )
        for number, episode in enumerate(episodes)
    ]
