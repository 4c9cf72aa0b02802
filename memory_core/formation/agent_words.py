"""The agent path: an agent's own words become one memory, after one fast summary; it is compared with nothing and replaces nothing."""

from __future__ import annotations

from datetime import datetime

from memory_core.domain.agent_answers import Answered, ConversationSummary
from memory_core.domain.conversation import Cell, Conversation
from memory_core.domain.importance import importance_by_type
from memory_core.domain.indexing import with_lexical
from memory_core.domain.messages import zone_told
from memory_core.domain.models import MAX_CONTENT_BYTES, Memory, MemoryType
from memory_core.domain.scope import Owner
from memory_core.domain.worth import worth_of_messages
from memory_core.formation.boundary import as_text
from memory_core.formation.cell_memories import MAX_EPISODE_BYTES, cell_id, within
from memory_core.ledger.documents import message_ids

CATEGORY = "agent"


def words_memory(owner: Owner, conversation: Conversation, cell: Cell, summary: Answered[ConversationSummary], now: datetime) -> Memory:
    """The memory, analysed but without its vector: the summary, and beside it the words themselves (`episode`).

    Its id is the cell's, which derives from who said what and when: the same words told again are the same memory.
    """
    identity = cell_id(conversation, cell)
    content = within(summary.value.narrative, MAX_CONTENT_BYTES)
    made = Memory(
        id=identity,
        app_id=owner.app_id,
        user_id=owner.user_id,
        session_id=conversation.session_id,
        agent_id=conversation.agent_id,
        cell_id=identity,
        conversation_id=conversation.id,
        type=MemoryType.EPISODIC,
        category=CATEGORY,
        content=content,
        episode=within(as_text(cell.messages), MAX_EPISODE_BYTES),
        entities=list(dict.fromkeys(message.actor for message in cell.messages if message.actor))[:50],
        source="agent",
        source_ids=message_ids(conversation)[cell.first : cell.last + 1],
        importance_base=importance_by_type(MemoryType.EPISODIC, content, CATEGORY),
        importance_basis="type",
        worth=worth_of_messages(cell.messages),
        created_at=now,
        updated_at=now,
        event_timestamp=cell.ended_at,
        valid_from=cell.started_at,
        prompt_id=summary.provenance.prompt_id,
        prompt_version=summary.provenance.prompt_version,
        model=summary.provenance.model,
        correlation_id=conversation.correlation_id,
        metadata={**zone_told(conversation)},
    )
    return with_lexical(made)
