"""Compressing: a long text that was formed and not asked for in months gives way to a short one, after the original is safe in the archive.

What was told stays word for word, whatever its age: a narrative, a note or a pattern leads to it.

Note: the original is written, read back and verified before the text is cut, and the cut rests on the very revision that
was archived. A memory that was changed meanwhile stays long; the copy that was written in vain is swept with others of its kind.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime

from memory_core.domain.agent_answers import Answered, ConversationSummary
from memory_core.domain.cold_copy import ColdCopy, Kept
from memory_core.domain.conversation import Message
from memory_core.domain.errors import AgentFailed, Damaged
from memory_core.domain.fading import Fading, due
from memory_core.domain.grounding import tells_of
from memory_core.domain.indexing import reread, text_to_embed
from memory_core.domain.models import Memory, Status
from memory_core.domain.scope import Owner
from memory_core.domain.shortening import shortened
from memory_core.ledger.archive_files import ColdCopies
from memory_core.ledger.batch import Change
from memory_core.ports import Agents, Embedder
from memory_core.tasks.agent_steps import Steps

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Short:
    """A memory as it may become, made of its revision `of`; its original is in the archive."""

    of: int
    memory: Memory


class Compressor:
    """Makes short texts of long ones. `rules` are the agents without a model, which answer where `agents` give nothing usable."""

    def __init__(self, copies: ColdCopies, embedder: Embedder, agents: Agents, rules: Agents, steps: Steps) -> None:
        self._copies, self._embedder, self._agents, self._rules, self._steps = copies, embedder, agents, rules, steps

    async def short(self, owner: Owner, operation_id: str, memory: Memory) -> Short | None:
        """The memory with a short text, its original archived for this operation; None for a text that does not get shorter.

        Raises Unavailable while agents, embedder or archive are away.
        """
        text = await self._text(owner, memory)
        if text is None:
            return None
        try:
            location = await self._copies.write(owner, operation_id, ColdCopy(memory.epoch, memory.id, (Kept(memory),)))
        except Damaged as error:
            log.error("a long text stays as it is: %s", error.detail)
            return None
        made = with_short_text(memory, text, location)
        (made.embedding,) = await self._embedder.embed([text_to_embed(made)])
        made.embedding_model, made.embedding_dimensions = self._embedder.model, self._embedder.dimensions
        return Short(memory.revision, made)

    async def _text(self, owner: Owner, memory: Memory) -> str | None:
        messages = [Message(role="user", content=memory.content, timestamp=memory.event_timestamp, actor=memory.actor)]
        for name, agents in (("model", self._agents), ("rules", self._rules)):

            async def ask(agents: Agents = agents) -> Answered[ConversationSummary]:
                return await agents.summarise(owner.app_id, messages, fast=True)

            try:
                answer = await self._steps.frozen(owner, memory.id, f"compress {memory.version} {name}", ask, ConversationSummary)
            except AgentFailed as error:
                log.warning("a long text is shortened by rules: %s", error.detail)
                continue
            text = shortened(memory.content, answer.value.narrative)
            if text is not None and tells_of(text, messages):
                return text
        return None


def with_short_text(memory: Memory, text: str, location: str) -> Memory:
    """The memory with a short text in its long one's place, found by the words of that."""
    return reread(memory.model_copy(update={"content": text, "episode": None, "archival_location": location}))


def compressed(memory: Memory, short: Short, now: datetime) -> Change | None:
    """The cut, on top of the memory as it is now; None when it has changed since its original was archived."""
    if memory.revision != short.of:
        return None
    fields = {"status": Status.COMPRESSED, "status_reason": "compressed", "updated_at": now}
    unlogged_fields = {"access_count": memory.access_count, "last_accessed_at": memory.last_accessed_at, "links": memory.links}
    return Change("compressed", short.memory.model_copy(update={**fields, **unlogged_fields}), memory)


def stays_long(memory: Memory, at: datetime, rules: Fading) -> Status | None:
    """What is due of a memory whose text does not get shorter: it fades like any other."""
    return due(memory, at, replace(rules, long_floor=0.0))
