"""Conversations as documents: two for each, because one of them is never written again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from memory_core.domain.conversation import Conversation
from memory_core.domain.messages import PREFIX
from memory_core.domain.models import MemoryType
from memory_core.domain.scope import Owner
from memory_core.ledger.commit import Look
from memory_core.ledger.ids import derived, session_document_id
from memory_core.ledger.sessions import clears_of
from memory_core.ports import Document

_OF_THE_STORE = ("epoch", "sequence")


def messages_id(conversation_id: str) -> str:
    """The id of the document that holds a conversation's messages."""
    return f"{conversation_id}_messages"


def documents_of(conversation: Conversation) -> tuple[Document, Document]:
    """The conversation without its messages, which each forming commit writes again, and the messages, which nothing writes again.

    A conversation may be 1 MiB long; a commit holds 1.8 MB.
    """
    body = conversation.model_dump(mode="json")
    messages = {"messages": body.pop("messages")}
    return Document(conversation.id, "conversation", body), Document(messages_id(conversation.id), "messages", messages)


def conversation_of(look: Look, conversation_id: str) -> Conversation | None:
    """The whole conversation, out of its two documents; None when it is not there in the head's epoch."""
    state, messages = look.documents.get(conversation_id), look.documents.get(messages_id(conversation_id))
    if state is None or messages is None or look.head is None or state.body["epoch"] != look.head.epoch:
        return None
    fields = {name: value for name, value in state.body.items() if name not in _OF_THE_STORE}
    return Conversation.model_validate({**fields, "messages": messages.body["messages"]})


def unread(conversation: Mapping[str, Any]) -> tuple[Document, ...]:
    """The messages of an ended conversation that nothing was made of, to be deleted; none where something was.

    They are not read again, and as no memory names the conversation, no filter of what is to be forgotten would find them.
    """
    if any(cell["memory_ids"] for cell in conversation["formed_cells"]):
        return ()
    return (Document(messages_id(conversation["id"]), "messages", {}),)


def state_of(look: Look, conversation_id: str) -> Conversation | None:
    """The conversation as it is stored in the head's epoch, without its messages; None when it is not there."""
    document = look.documents.get(conversation_id)
    if document is None or look.head is None or document.body.get("epoch") != look.head.epoch:
        return None
    return Conversation.model_validate({name: value for name, value in document.body.items() if name not in ("epoch", "sequence")})


def cleared_since(look: Look, owner: Owner, conversation: Conversation) -> frozenset[MemoryType]:
    """The types of memories that its session was cleared of since a conversation was accepted; the look shows the session."""
    if conversation.session_id is None:
        return frozenset()
    clears = clears_of(look.documents.get(session_document_id(owner, conversation.session_id)))
    return frozenset(MemoryType(kind) for kind, count in clears.items() if count > conversation.clears.get(kind, 0))


def message_ids(conversation: Conversation) -> list[str]:
    """The ids of the memories of a conversation's messages, in order.

    A message with an id of its own is known by it within its session. Without a session, the very same told again, with the same times, is
    the same messages. One that an earlier conversation has written keeps the id that it got there.
    """
    seen = Counter[tuple[str, ...]]()
    ids = []
    for number, message in enumerate(conversation.messages):
        if message.memory_id is not None:
            ids.append(message.memory_id)
            continue
        if message.id is not None:
            parts: tuple[str, ...] = ("by id", conversation.session_id or "", message.id)
        elif conversation.session_id is not None:
            parts = ("of", conversation.id, str(number))
        else:
            parts = (conversation.agent_id or "", message.role, message.actor or "", message.timestamp.isoformat(), message.content)
        seen[parts] += 1
        ids.append(derived(PREFIX, *parts, str(seen[parts])))
    return ids
