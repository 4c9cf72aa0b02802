"""Withdraw patterns whose episodes were deleted.

A memory that a user deletes must not live on in a memory that was made of it. Only the memories of
the new events are looked at: the deleted episodes, the patterns that they name, and the sources of
these patterns.

Note: it matters whether a user or a run deleted a pattern. A pattern that a user deleted stays
away; a pattern that was withdrawn here may be found again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from memory_core.consolidation.step import Proposal, Run
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.scope import Owner
from memory_core.domain.statements.patterns import FEWEST, SaidTerms, carriers
from memory_core.domain.transitions import TRUE_ONCE, delete
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.truth_commands import withdraws
from memory_core.ledger.changes import Change, Portion, size_of
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import LongTermStore
from memory_core.tasks.operation_records import Chunk

WITHDRAWN: Final = "too few of its episodes are left"
"""The `change_reason` of a withdrawn pattern."""
EPISODES_AT_ONCE = 100
PATTERNS_AT_ONCE = 8
"""The most patterns of a commit; each is decided on up to 40 sources."""


class PatternWithdrawal:
    """The step that withdraws patterns."""

    name = "withdrawal"

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """Return the next patterns to withdraw.

        Args:
            run: The run.
            cursor: The place among the deleted episodes; None for the beginning.

        Raises:
            Unavailable: The long-term store is down.

        """
        deleted = _deleted(run)
        for place in range(int(cursor or 0), len(deleted), EPISODES_AT_ONCE):
            patterns = await self._without_ground(
                run.owner, deleted[place : place + EPISODES_AT_ONCE]
            )
            if patterns:
                last = len(patterns) <= PATTERNS_AT_ONCE and place + EPISODES_AT_ONCE >= len(
                    deleted
                )
                return _proposal(run, patterns[:PATTERNS_AT_ONCE], place, last=last)
        return None

    async def dry_run(self, run: Run) -> Mapping[str, int]:
        """Count the patterns that the step would withdraw."""
        deleted, ids = _deleted(run), set[str]()
        for place in range(0, len(deleted), EPISODES_AT_ONCE):
            ids |= {
                pattern.id
                for pattern in await self._without_ground(
                    run.owner, deleted[place : place + EPISODES_AT_ONCE]
                )
            }
        return {"patterns_withdrawn": len(ids)}

    async def _without_ground(self, owner: Owner, episodes: Sequence[str]) -> list[Memory]:
        """Return the patterns of deleted episodes that have too few sources left, in order."""
        gone = [
            episode
            for episode in (await self._read(owner, episodes)).values()
            if is_taken_back(episode)
        ]
        wanted = list(
            dict.fromkeys(name for episode in gone for name in episode.consolidated_into_ids)
        )
        made: dict[str, Memory] = {}
        while wanted:
            read = await self._read(owner, wanted)
            made |= read
            # The earlier text of a merged pattern still holds for its time; the merged pattern
            # rests on its episodes too.
            further = dict.fromkeys(
                pattern.next_id
                for pattern in read.values()
                if pattern.status is Status.UPDATED and pattern.next_id is not None
            )
            wanted = [name for name in further if name not in made]
        patterns = [pattern for pattern in made.values() if _may_be_withdrawn(pattern)]
        sources = await self._read(
            owner, list(dict.fromkeys(name for pattern in patterns for name in pattern.source_ids))
        )
        return [pattern for pattern in patterns if not _rests(pattern, sources)]

    async def _read(self, owner: Owner, ids: Sequence[str]) -> dict[str, Memory]:
        """Read the stored memories of these ids, by id and in their order."""
        memories: dict[str, Memory] = {}
        for start in range(0, len(ids), EPISODES_AT_ONCE):
            part = ids[start : start + EPISODES_AT_ONCE]
            seen = await self._store.snapshot(owner, part)
            memories |= _memories(ReadSet(seen.head, dict(seen.documents)), part)
        return memories


def is_taken_back(memory: Memory) -> bool:
    """Whether a memory was deleted because a person did not want it.

    The other reason is that another memory took its place.
    """
    return memory.status is Status.DELETED and memory.status_reason not in TRUE_ONCE


def is_withdrawn(memory: Memory) -> bool:
    """Whether a run deleted a memory because it had too few episodes."""
    return memory.status is Status.DELETED and memory.change_reason == WITHDRAWN


def _proposal(run: Run, patterns: Sequence[Memory], place: int, *, last: bool) -> Proposal:
    names = [name for pattern in patterns for name in (pattern.id, *pattern.source_ids)]
    sessions = [
        session_document_id(run.owner, pattern.session_id)
        for pattern in patterns
        if pattern.session_id is not None
    ]
    ids = list(dict.fromkeys([*names, *sessions]))

    def decide(read_set: ReadSet) -> Chunk:
        page, sources, portion, whole = (
            ChangeSet(run.owner, read_set, run.at, weighs=False),
            _memories(read_set, names),
            Portion(),
            True,
        )
        for planned in patterns:
            pattern = sources.get(planned.id)
            if pattern is None or not _may_be_withdrawn(pattern) or _rests(pattern, sources):
                continue
            if not portion.takes(3, size_of(pattern)):
                whole = False
                break
            withdrawn, act = _withdrawn(pattern, run), withdraws(pattern.id)
            page.apply([Change("forgotten", withdrawn, pattern, {"reason": WITHDRAWN}, says=act)])
        documents = tuple(session.document for session in page.sessions.values())
        counts = {"patterns_withdrawn": len(page.changes)} if page.changes else {}
        return Chunk(
            tuple(page.changes), puts=documents, cursor=place, counts=counts, done=whole and last
        )

    return Proposal(ids, decide)


def _deleted(run: Run) -> list[str]:
    """Return the ids of the episodes that new events deleted, in order.

    A hard-deleted episode has taken its patterns along.
    """
    news = (event for event in run.news if event.memory_type is MemoryType.EPISODIC)
    return list(
        dict.fromkeys(
            event.memory_id for event in news if event.after.get("status") == Status.DELETED.value
        )
    )


def _may_be_withdrawn(memory: Memory) -> bool:
    """Whether a memory is a run's pattern that no caller deleted, edited or pinned.

    An edit makes another version.
    """
    return memory.pattern_detected is not None and memory.version == 1 and not is_taken_back(memory)


def _rests(pattern: Memory, sources: Mapping[str, Memory]) -> bool:
    """Whether the remaining sources still support a pattern.

    Two episodes do, and so does a memory that a caller saved and that was merged into it. If all
    remaining sources have their own words, these must say the pattern without the deleted sources:
    a name that only a deleted source has goes with it.
    """
    there = (sources[name] for name in pattern.source_ids if name in sources)
    left = [
        source for source in there if not is_taken_back(source) and source.pattern_detected is None
    ]
    if any(source.type is not MemoryType.EPISODIC for source in left):
        return True
    if any(source.status is not Status.ACTIVE for source in left):
        return len(left) >= FEWEST
    return bool(
        carriers(pattern.content, [SaidTerms.of(source.content, source.actor) for source in left])
    )


def _withdrawn(pattern: Memory, run: Run) -> Memory:
    return delete(pattern, "forgotten", run.at, change_reason=WITHDRAWN)


def _memories(read_set: ReadSet, names: Sequence[str]) -> dict[str, Memory]:
    return {name: memory for name in names if (memory := read_set.memory(name)) is not None}
