"""Patterns: what several episodes say together becomes a memory of its own, which names them; they stay what they were.

Agents find them, code checks them: a pattern whose episodes do not say it is dropped and counted. Note: all of it is
decided within the commit, on the episodes as they are then. One that somebody deleted meanwhile supports nothing any more.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_core.consolidation.episodes import (
    CALLS_A_RUN,
    NEW_AT_ONCE,
    as_items,
    earlier,
    in_parts,
    in_time,
    read_episodes,
)
from memory_core.consolidation.pattern_page import Candidate, PatternPage
from memory_core.consolidation.run import Proposal, Run
from memory_core.domain.agent_answers import Answered, FoundPattern, FoundPatterns, Provenance
from memory_core.domain.errors import AgentFailed
from memory_core.domain.models import Event, Memory, MemoryType, Status, Vector
from memory_core.ledger.commit import Look
from memory_core.ledger.ids import procedure_id, session_document_id
from memory_core.ledger.operations import Chunk
from memory_core.ledger.steps import Steps
from memory_core.ports import Agents, Embedder, LongTermStore, Near, Neighbour

log = logging.getLogger(__name__)
NEAREST = 5
"""Held memories that a found pattern is compared with, beside those that its episodes went into."""
_HELD = frozenset({MemoryType.SEMANTIC.value})


@dataclass(frozen=True, slots=True)
class Closeness:
    """Similarities on the embedder's scale: from where two statements may be one, have to do with each other, may be about the same."""

    duplicate: float
    link: float
    floor: float


class Patterns:
    """The step. `rules` are the agents without a model, which answer where `agents` give nothing usable."""

    name = "patterns"

    def __init__(self, store: LongTermStore, embedder: Embedder, agents: Agents, rules: Agents, steps: Steps, closeness: Closeness) -> None:
        self._store, self._embedder, self._rules = store, embedder, rules
        self._model = None if agents is rules else agents
        self._steps, self._closeness = steps, closeness

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """What the next portion of new episodes, from the `cursor`-th on, brings; portions that bring nothing are passed over."""
        ids = _told(run)
        if not ids:
            return None
        parts = in_parts(await read_episodes(self._store, run.owner, ids[-CALLS_A_RUN * NEW_AT_ONCE :]))
        for number in range(int(cursor or 0), len(parts)):
            proposal = await self._about(run, parts[number], number, last=number == len(parts) - 1)
            if proposal is not None:
                return proposal
        return None

    async def foresee(self, run: Run) -> Mapping[str, int]:
        """How many new episodes it would look at; what is in them only an agent can tell."""
        return {"episodes": min(len(_told(run)), CALLS_A_RUN * NEW_AT_ONCE)}

    async def _about(self, run: Run, part: Sequence[Memory], number: int, *, last: bool) -> Proposal | None:
        older = await earlier(self._store, run.owner, part, run.session_id, self._closeness.floor)
        shown = sorted([*part, *older], key=in_time)
        if len(shown) < 2:
            return None
        answer = await self._asked(run, number, shown)
        if not answer.value.patterns:
            return None
        candidates = await self._candidates(run, answer, shown)
        new = frozenset(one.id for one in part)
        ids = _named(run, candidates)

        def decide(look: Look) -> Chunk:
            page = PatternPage.of(run, look, ids, new, self._closeness.duplicate)
            whole = all(page.place(one) for one in candidates)
            return page.chunk(cursor=number + 1 if whole else number, done=whole and last)

        seen = await self._store.snapshot(run.owner, ids)
        chunk = decide(Look(seen.head, dict(seen.documents)))
        return Proposal(ids, decide) if chunk.changes or chunk.counts else None

    async def _asked(self, run: Run, number: int, shown: Sequence[Memory]) -> Answered[FoundPatterns]:
        """The answer about exactly these episodes: a model's is frozen, the rules say the same whenever they are asked."""
        items = as_items(shown)
        if self._model is not None:
            model = self._model
            key = hashlib.sha256("\n".join(one.id for one in shown).encode()).hexdigest()[:16]

            async def ask() -> Answered[FoundPatterns]:
                return await model.find_patterns(run.owner.app_id, items)

            try:
                return await self._steps.frozen(run.owner, run.id, f"patterns {number} {key}", ask, FoundPatterns)
            except AgentFailed as error:
                log.warning("patterns are found by rules: %s", error.detail)
        return await self._rules.find_patterns(run.owner.app_id, items)

    async def _candidates(self, run: Run, answer: Answered[FoundPatterns], shown: Sequence[Memory]) -> list[Candidate]:
        """What was found, each with its vector, the episodes that it names, and what is held near it."""
        found = answer.value.patterns
        vectors = await self._embedder.embed([one.summary for one in found])
        looks = await asyncio.gather(
            *(self._store.snapshot(run.owner, (), Near(vector, _HELD, self._closeness.link, limit=NEAREST)) for vector in vectors)
        )
        return [
            self._candidate(one, answer.provenance, vector, look.near, _cited(one, shown))
            for one, vector, look in zip(found, vectors, looks, strict=True)
        ]

    def _candidate(
        self, found: FoundPattern, provenance: Provenance, vector: Vector, near: Sequence[Neighbour], named: Sequence[Memory]
    ) -> Candidate:
        into = dict.fromkeys(name for episode in named for name in episode.consolidated_into_ids)
        nearest = tuple((one.memory.id, one.similarity) for one in near)
        return Candidate(found, provenance, vector, self._embedder.model, tuple(one.id for one in named), tuple(into), nearest)


def _cited(found: FoundPattern, shown: Sequence[Memory]) -> list[Memory]:
    """The shown episodes that a pattern names, each once; a number that none was shown under names none."""
    return [shown[place] for place in dict.fromkeys(found.sources) if place < len(shown)]


def _told(run: Run) -> list[str]:
    """The ids of the episodes that the news brought, or brought back after they were deleted, in order."""
    return list(dict.fromkeys(one.memory_id for one in run.news if one.memory_type is MemoryType.EPISODIC and _comes(one)))


def _comes(event: Event) -> bool:
    return event.event_type == "created" or (event.event_type == "restored" and event.before.get("status") == Status.DELETED.value)


def _named(run: Run, candidates: Sequence[Candidate]) -> list[str]:
    """Ids of all that may be looked at, or written, when these are placed."""
    ids = [name for one in candidates for name in (one.memory_id(run.id), *one.episodes, *one.into, *(near for near, _ in one.near))]
    ids += [procedure_id(key) for one in candidates if (key := one.key) is not None]
    ids += [session_document_id(run.owner, one) for one in dict.fromkeys(event.session_id for event in run.news) if one is not None]
    return list(dict.fromkeys(ids))
