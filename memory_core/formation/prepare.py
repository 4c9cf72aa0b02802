"""Drafts become comparable: their text is analysed (turns together with the turns before them) and all are embedded at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory_core.domain.indexing import text_to_embed, turn_of, with_lexical
from memory_core.domain.lexical import Turn
from memory_core.domain.models import Memory, OnConflict
from memory_core.formation.draft import Draft
from memory_core.ledger.sessions import Session
from memory_core.ports import Embedder


@dataclass(frozen=True, slots=True)
class Prepared:
    """A memory ready to be decided on. `turn`: what the next turn will need of it; `after`: the turn it was read after."""

    memory: Memory
    on_conflict: OnConflict
    spare_id: str
    turn: Turn | None = None
    after: str | None = None


async def prepare(drafts: Sequence[Draft], sessions: Mapping[str, Session], embedder: Embedder) -> list[Prepared]:
    """Analyse and embed, in order. `sessions` holds the session of every turn among the drafts."""
    tails = {name: session.last_turns for name, session in sessions.items()}
    ordinals = {name: session.turns for name, session in sessions.items()}
    prepared: list[Prepared] = []
    texts: list[str] = []
    for one in drafts:
        memory, previous, before_previous, ordinal = one.memory, None, None, None
        if one.is_turn:
            name = memory.session_id or ""
            (previous, before_previous), ordinal = tails[name], ordinals[name]
            ordinals[name] = ordinal + 1
        analysed = with_lexical(memory, previous, before_previous, ordinal)
        turn = None
        if one.is_turn:
            turn = turn_of(analysed)
            tails[memory.session_id or ""] = (turn, previous)
        texts.append(text_to_embed(analysed, previous))
        prepared.append(Prepared(analysed, one.on_conflict, one.spare_id, turn, previous.id if previous else None))
    vectors = await embedder.embed(texts)
    for ready, vector in zip(prepared, vectors, strict=True):
        ready.memory.embedding = vector
        ready.memory.embedding_model = embedder.model
        ready.memory.embedding_dimensions = embedder.dimensions
    return prepared
