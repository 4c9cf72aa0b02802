"""Retrieve, the reconstructive way: what was found is put back into the scenes it came from, judged, and asked for again in other words.

Widely found candidates → the scenes of the best → the cells around each hit, within a budget of tokens → is that enough? → at most two
more rounds with a rewritten query. Design: EverMemOS, reconstructive recollection. What a reader would get wrong: the context holds every
hit that fits, not the ten results alone; a scene only says what stands beside them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory_core.domain.agent_answers import Answered, Sufficiency
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.domain.models import Memory
from memory_core.domain.packing import Packed, Piece, packed
from memory_core.domain.requests import DEFAULT_MAX_TOKENS, RetrieveInput
from memory_core.domain.results import Hit, Retrieved
from memory_core.domain.scope import Owner
from memory_core.domain.shown import Shown
from memory_core.domain.versions import base_id
from memory_core.ports import Agents, DecisionItem, LongTermStore
from memory_core.recollection.retrieve import Look, Retriever
from memory_core.recollection.stale import Fallen, stale_facts
from memory_core.recollection.surroundings import Found, Setting, Surroundings
from memory_core.recollection.telling import piece

log = logging.getLogger(__name__)
MOST_REWRITTEN = 2
LATER = 0.9
"""What a hit of a rewritten query is worth beside one of the query itself, which is what was asked."""
MOST_FOUND = 200
"""Hits of one round that are read."""


@dataclass(slots=True)
class _Rounds:
    """What the rounds so far have found. looks: with the query of each; found: by memory id; answers: the results of each."""

    query: RetrieveInput
    looks: list[Look] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    found: dict[str, Found] = field(default_factory=dict)
    answers: list[Retrieved] = field(default_factory=list)
    degraded: dict[str, None] = field(default_factory=dict)

    def add(self, query: RetrieveInput, look: Look, answer: Retrieved, found: Sequence[Found]) -> None:
        """One more round."""
        self.looks.append(look)
        self.asked.append(query.query)
        self.answers.append(answer)
        self.degraded |= dict.fromkeys(answer.degraded)
        for one in found:
            held = self.found.get(one.memory.id)
            if held is None or held.priority < one.priority:
                self.found[one.memory.id] = one

    @property
    def terms(self) -> frozenset[str]:
        """Of all queries."""
        return frozenset(term for look in self.looks for term in look.analysis.terms)


class Reconstructor:
    """Answers queries for any owner with a context. rules: the agents that judge where `agents` fail."""

    def __init__(self, store: LongTermStore, retriever: Retriever, surroundings: Surroundings, agents: Agents, rules: Agents) -> None:
        self._store, self._retriever, self._surroundings = store, retriever, surroundings
        self._agents, self._rules = agents, rules

    async def reconstruct(self, owner: Owner, query: RetrieveInput) -> Retrieved:
        """Results as `retrieve` has them, of all rounds, and the context. Raises Unavailable, EmbeddingMismatch."""
        rounds = _Rounds(query)
        asking = query
        while True:
            await self._round(owner, asking, rounds)
            context = await self._context(owner, rounds)
            verdict = await self._judged(owner, rounds, context)
            again = verdict.rewritten
            if verdict.sufficient or not again or again in rounds.asked or len(rounds.asked) > MOST_REWRITTEN:
                break
            asking = query.model_copy(update={"query": again})
        return Retrieved(
            results=_best(rounds.answers, self._retriever.limit(query)),
            as_of_sequence=rounds.looks[0].sequence,
            degraded=tuple(rounds.degraded),
            explain=rounds.answers[0].explain,
            context=context.text,
            citations=tuple(base_id(one.id) for one in context.pieces),
            rounds=len(rounds.asked),
            sufficient=verdict.sufficient,
            why=verdict.why,
        )

    async def _round(self, owner: Owner, query: RetrieveInput, rounds: _Rounds) -> None:
        """Look once, and keep every hit over the thresholds: of a cell and the note about it, the better one."""
        look = await self._retriever.look(owner, query)
        answer = await self._retriever.answer(owner, query, look)
        rows = self._retriever.passing(query, look)[:MOST_FOUND]
        shown = await self._retriever.shown(owner, look, rows)
        worth = 1.0 if not rounds.looks else LATER
        found: dict[str, Found] = {}
        for row in rows:
            one = shown.get(look.candidates.ids[row])
            if one is not None:
                hit = Found(one.memory, worth * float(look.order[row]))
                found.setdefault(_story(hit), hit)
        rounds.add(query, look, answer, list(found.values()))

    async def _context(self, owner: Owner, rounds: _Rounds) -> Packed:
        """The best of what was found and of what stands beside it, packed."""
        hits = list(rounds.found.values())
        if not hits:
            return Packed("", (), 0)
        look = rounds.looks[0]
        missing = sorted({one.cell for one in hits} - rounds.found.keys())
        cells = {name: one.memory for name, one in (await self._store.memories(owner, missing) if missing else {}).items()}
        settings = await self._surroundings.settings(owner, hits, cells)
        placed = [(one, settings[one.memory.id]) for one in hits]
        known = {_story(one) for one in hits}
        beside = await self._surroundings.beside(owner, look.found.head, look.where, hits, settings)
        placed += [(one, setting) for one, setting in beside if _story(one) not in known]
        fallen = await self._fallen(owner, [one.memory for one, _ in placed], cells, look)
        max_tokens = rounds.query.max_tokens or DEFAULT_MAX_TOKENS
        # Some 10 ms of counting for 2,000 tokens: too much for the event loop.
        return await asyncio.to_thread(lambda: packed(_pieces(placed, fallen, rounds, max_tokens), max_tokens))

    async def _fallen(
        self, owner: Owner, memories: Sequence[Memory], cells: Mapping[str, Memory], look: Look
    ) -> Mapping[str, tuple[Fallen, ...]]:
        """By memory, the facts that it tells and that have fallen; a note tells what its cell told."""
        told = {one.id: Shown.of(one) for one in memories if one.atomic_facts}
        notes = {one.id: one.cell_id for one in memories if one.category == "note" and one.cell_id is not None}
        told |= {name: Shown.of(cells[name]) for name in notes.values() if name in cells}
        stale = await stale_facts(self._store, owner, told, look.moment)
        return stale | {name: stale[cell] for name, cell in notes.items() if cell in stale}

    async def _judged(self, owner: Owner, rounds: _Rounds, context: Packed) -> Sufficiency:
        """What the agents say of the context, the best memories first; by rule where they can't."""
        numbered = sorted(enumerate(context.pieces, 1), key=lambda pair: -pair[1].priority)
        items = [DecisionItem(number, "\n".join(one.lines), None, one.at) for number, one in numbered]
        ask = owner.app_id, rounds.query.query, tuple(rounds.asked), items
        answer: Answered[Sufficiency]
        try:
            answer = await self._agents.judge_sufficiency(*ask)
        except (Unavailable, AgentFailed) as error:
            log.warning("the rules judge whether an answer is sufficient: %s", error.detail)
            rounds.degraded["agents"] = None
            answer = await self._rules.judge_sufficiency(*ask)
        return answer.value


def _story(found: Found) -> str:
    """What two memories must share to tell the same: a cell and the note about it do, its facts each for themselves."""
    memory = found.memory
    return found.cell if memory.category in ("cell", "note") else memory.id


def _pieces(
    placed: Sequence[tuple[Found, Setting]], fallen: Mapping[str, tuple[Fallen, ...]], rounds: _Rounds, max_tokens: int
) -> list[Piece]:
    pieces = (
        piece(
            one.memory,
            scene=setting.key,
            title=setting.title,
            priority=one.priority,
            fallen=fallen.get(one.memory.id, ()),
            terms=rounds.terms,
            moment=rounds.looks[0].moment,
            max_tokens=max_tokens,
        )
        for one, setting in placed
    )
    return [one for one in pieces if one is not None]


def _best(answers: Sequence[Retrieved], limit: int) -> tuple[Hit, ...]:
    """The results of all rounds, ranked anew by score; those of a single round as they are."""
    if len(answers) == 1:
        return answers[0].results
    best: dict[str, Hit] = {}
    for hit in sorted((hit for answer in answers for hit in answer.results), key=lambda hit: -hit.score):
        best.setdefault(hit.memory.id, hit)
    return tuple(hit._replace(rank=place) for place, hit in enumerate(list(best.values())[:limit], 1))
