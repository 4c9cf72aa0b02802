"""Former: from a stored conversation to its cells, and from a cell to one forming commit.

Nothing is searchable before that commit, and the commit advances the conversation in the same batch; so whoever repeats this work, at
any point, finds either nothing done or all of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memory_core.domain.conversation import Cell, Conversation, FormedCell
from memory_core.domain.errors import HeadMoved
from memory_core.domain.indexing import text_to_embed
from memory_core.domain.models import Head, Memory
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.slots import slot_of
from memory_core.evolution.execute import LookedElsewhere, Merged, Ruled
from memory_core.evolution.links import CANDIDATES, LinkRules
from memory_core.evolution.shown import Rulings, Shown
from memory_core.formation.agent_words import words_memory
from memory_core.formation.asking import Asking
from memory_core.formation.boundary import BoundaryRules, cut_into_cells
from memory_core.formation.cell_memories import CellMemories, cell_memories
from memory_core.formation.cell_plan import CellOutcome, ReadyCell, links_of, merge_wanted, plan_cell
from memory_core.formation.pair import counted, unfinished
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.steps import Steps
from memory_core.ports import Agents, Clock, Document, Embedder, Near

MAX_LOOKS = 5
"""How often a cell is compared anew because others wrote meanwhile; then the task waits and comes back."""


@dataclass(frozen=True, slots=True)
class FormingRules:
    """Thresholds on the embedder's scale, and when a silence ends a cell."""

    links: LinkRules
    contradiction_floor: float
    boundary: BoundaryRules = field(default_factory=BoundaryRules)


@dataclass(frozen=True, slots=True)
class Formed:
    """One cell's result: where it is, what it became, and what that did, counted; `last`: the conversation is formed."""

    cell: FormedCell
    last: bool
    counts: Mapping[str, int]


Finish = Callable[[Conversation, Formed], tuple[Document, ...]]
Report = Callable[[str, float], Awaitable[None]]


class Former:
    """Forms conversations. `rules` are the agents without a model, which answer where `agents` fail."""

    def __init__(
        self, ledger: Ledger, mirror: Mirror, embedder: Embedder, agents: Agents, rules: Agents, clock: Clock, forming: FormingRules
    ) -> None:
        self._ledger, self._mirror, self._embedder, self._clock = ledger, mirror, embedder, clock
        self._agents, self._rules, self._forming = agents, rules, forming

    async def cells(self, owner: Owner, conversation: Conversation, steps: Steps) -> list[Cell]:
        """The conversation's cells; the same whenever it is asked again, because the boundaries are frozen."""
        if conversation.path == "agent":
            return [Cell(0, 0, tuple(conversation.messages), "an agent's own words")]
        asking = Asking(owner, conversation, self._agents, self._rules, steps)
        return await cut_into_cells(conversation.messages, asking.boundaries, self._forming.boundary)

    async def form(
        self, owner: Owner, conversation: Conversation, cell: Cell, total: int, steps: Steps, call: Call, *, finish: Finish, report: Report
    ) -> Formed | None:
        """Make the cell's memories and advance the conversation, once. None when it was cancelled, or erased, meanwhile.

        Raises Unavailable while a dependency is down, HeadMoved when others write faster than this can decide.
        """
        asking = Asking(owner, conversation, self._agents, self._rules, steps)
        told = await self._ledger.look(owner, [conversation.id])
        done, earlier = _formed_before(told, conversation.id, cell)
        if done:
            return earlier
        await report("agents", 0.1)
        made = await self._made(owner, conversation, cell, asking)
        await report("embedding", 0.5)
        ready = await self._embedded(ReadyCell(made.cell, made.note, made.facts))
        await report("evolution", 0.7)
        for _ in range(MAX_LOOKS):
            try:
                formed = await self._commit(owner, conversation, cell, total, ready, asking, call, finish)
            except LookedElsewhere:
                continue
            if formed is not None and made.dropped:
                formed = replace(formed, counts={**formed.counts, "without_proof": made.dropped})
            return formed
        raise HeadMoved("this user's memories change faster than a cell can be compared with them", retry_after_s=2)

    async def _made(self, owner: Owner, conversation: Conversation, cell: Cell, asking: Asking) -> CellMemories:
        """What the agents make of a cell; an agent's own words become one memory, which is compared with nothing."""
        if conversation.path == "agent":
            words = words_memory(owner, conversation, cell, await asking.fast_summary(cell), self._clock.now())
            return CellMemories(words, None, (), 0)
        return cell_memories(owner, conversation, cell, await asking.about(cell), self._clock.now())

    async def _embedded(self, ready: ReadyCell) -> ReadyCell:
        """All memories of the cell embedded in one call."""
        memories = [ready.cell, *ready.compared]
        vectors = await self._embedder.embed([text_to_embed(one) for one in memories])
        for one, vector in zip(memories, vectors, strict=True):
            one.embedding = vector
            one.embedding_model = self._embedder.model
            one.embedding_dimensions = self._embedder.dimensions
        return ready

    async def _commit(
        self, owner: Owner, conversation: Conversation, cell: Cell, total: int, ready: ReadyCell, asking: Asking, call: Call, finish: Finish
    ) -> Formed | None:
        """Compare, ask, commit. Raises LookedElsewhere when what was compared has changed before the commit."""
        ids = [conversation.id, *(one.id for one in (ready.cell, *ready.compared))]
        if conversation.session_id is not None:
            ids.append(session_document_id(owner, conversation.session_id))
        nears = [self._near(one) for one in ready.compared]
        look = await self._ledger.look(owner, ids, nears)
        ids = [*ids, *_cells_of(look, ready)]
        ruled = await self._ruled(ready, look, asking)
        now = self._clock.now()

        def decide(seen: Look) -> Changes[Formed | None]:
            done, earlier = _formed_before(seen, conversation.id, cell)
            if done:
                return Changes(earlier)
            planned = plan_cell(owner, ready, seen, ids, ruled, self._forming.links, now)
            return _advanced(planned, seen, conversation.id, cell, total, finish)

        committed = await self._ledger.commit(owner, decide, ids=ids, nears=nears, call=call)
        await self._mirror.follow(owner, committed)
        return committed.result

    async def _ruled(self, ready: ReadyCell, look: Look, asking: Asking) -> Ruled:
        """What the agents say about what this look shows."""
        linked = links_of(ready, look, self._forming.links, self._clock.now())
        shown = Shown.of(linked)
        if not shown.held or look.memory(ready.cell.id) is not None:
            return Ruled(shown.key if shown.held else None, Rulings({}))
        rulings = await asking.rulings(shown)
        sources = merge_wanted(ready, linked, rulings)
        if not sources or ready.note is None:
            return Ruled(shown.key, rulings)
        text, complaint = await asking.synthesis(ready.note, sources, shown.key)
        vector = None if text is None else (await self._embedder.embed([text]))[0]
        return Ruled(shown.key, rulings, Merged(tuple(one.id for one in sources), text, vector, complaint))

    def _near(self, memory: Memory) -> Near:
        slot = slot_of(memory)
        floor = self._forming.contradiction_floor if slot else self._forming.links.link_threshold
        return Near(memory.embedding, frozenset({"semantic"}), floor, slot, limit=CANDIDATES)


def _cells_of(look: Look, ready: ReadyCell) -> list[str]:
    """The cells that told what is near: one of their facts may fall."""
    known = {ready.cell.id}
    found = [name for near in look.near for one in near for name in (one.memory.cell_id, *one.memory.source_ids) if name is not None]
    return [name for name in dict.fromkeys(found) if name not in known]


def _formed_before(look: Look, conversation_id: str, cell: Cell) -> tuple[bool, Formed | None]:
    """Whether there is nothing to do for this cell, and then what it became; None for one that is cancelled or gone."""
    conversation = stored(look, conversation_id)
    if conversation is None or conversation.state in ("cancelled", "poisoned"):
        return True, None
    if len(conversation.formed_cells) > cell.number:
        return True, Formed(conversation.formed_cells[cell.number], conversation.state == "formed", {})
    return False, None


def stored(look: Look, conversation_id: str) -> Conversation | None:
    """The conversation as it is stored in the head's epoch."""
    found = look.documents.get(conversation_id)
    if found is None or look.head is None or found.body.get("epoch") != look.head.epoch:
        return None
    return Conversation.model_validate({name: value for name, value in found.body.items() if name not in ("epoch", "sequence")})


def _advanced(
    planned: Changes[CellOutcome], look: Look, conversation_id: str, cell: Cell, total: int, finish: Finish
) -> Changes[Formed | None]:
    """The plan, and with it the conversation one cell further; with the last cell also what `finish` adds."""
    conversation, found = stored(look, conversation_id), look.documents[conversation_id]
    assert conversation is not None
    formed_cell = FormedCell(first=cell.first, last=cell.last, memory_ids=list(planned.result.memory_ids))
    last = cell.number == total - 1
    further = conversation.model_copy(
        update={
            "cells": total,
            "formed_cells": [*conversation.formed_cells, formed_cell],
            "state": "formed" if last else conversation.state,
        }
    )
    formed = Formed(formed_cell, last, planned.result.counts)
    body = {**found.body, **further.model_dump(mode="json", exclude={"messages"})}
    ended = finish(further, formed) if last else ()
    puts = [*planned.puts, replace(found, body=body), *ended]

    def head_fields(head: Head) -> Mapping[str, Any]:
        fields = dict(planned.head_fields(head))
        fields["last_formed_sequence"] = head.sequence + len(planned.changes)
        if last:
            fields |= counted(unfinished(ended) - 1)(head)
        return fields

    return Changes(
        formed,
        planned.changes,
        tuple(puts),
        planned.creates,
        reads=planned.reads,
        sessions=planned.sessions,
        types=planned.types,
        head_fields=head_fields,
        fragile=True,  # a cancelled conversation is no event
    )
