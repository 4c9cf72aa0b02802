"""Drafts become comparable: their text is analysed (turns together with the turns before them) and all are embedded at once."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from memory_core.domain.indexing import turn_of, with_lexical
from memory_core.domain.lexical import Turn
from memory_core.domain.models import Memory, OnConflict
from memory_core.evolution.versions import embed_memories
from memory_core.formation.draft import Draft
from memory_core.ledger.sessions import Session
from memory_core.ports import Embedder

LONG_CHARACTERS = 4_000
"""Of a text that is analysed in a thread: 31,000 characters of base64 take 27 ms."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A memory ready to be decided on. `turn`: what the next turn will need of it; `after`: the turn it was read after."""

    place: int
    memory: Memory
    on_conflict: OnConflict
    turn: Turn | None = None
    after: str | None = None


async def prepare(
    drafts: Sequence[Draft], sessions: Mapping[str, Session], stored_ids: Collection[str], embedder: Embedder
) -> list[Prepared]:
    """Analyse and embed, in order. `sessions` holds the session of every turn among the drafts.

    stored_ids: of the turns that are stored already. One of them told again is no new turn, so none is read after it.
    """
    tails = {name: session.last_turns for name, session in sessions.items()}
    known_ids = set(stored_ids)
    prepared: list[Prepared] = []
    for draft in drafts:
        memory, name = draft.memory, draft.memory.session_id or ""
        previous, before_previous = tails[name] if draft.is_turn else (None, None)
        if len(memory.content) > LONG_CHARACTERS:
            analysed = await asyncio.to_thread(with_lexical, memory, previous, before_previous)
        else:
            analysed = with_lexical(memory, previous, before_previous)
        turn = turn_of(analysed) if draft.is_turn else None
        if turn is not None and memory.id not in known_ids:
            known_ids.add(memory.id)
            tails[name] = (turn, previous)
        prepared.append(Prepared(draft.place, analysed, draft.on_conflict, turn, previous.id if previous else None))
    await embed_memories(embedder, [ready.memory for ready in prepared])
    return prepared
