"""Conversations and their tasks as documents, which change their state together and with the head's count.

One would get wrong: the head counts the conversations that are pending, and nothing else. So a state changes only here and in the last
forming commit, onto the very state that was read, and the count moves in the same batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memory_core.domain.conversation import Conversation, ConversationState
from memory_core.domain.models import Head
from memory_core.domain.task import Task
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Look
from memory_core.ledger.tasks import HeldTask, held_task, written
from memory_core.ports import Document

_OF_THE_STORE = ("epoch", "sequence")


def messages_id(conversation_id: str) -> str:
    """The id of the document that holds a conversation's messages."""
    return f"{conversation_id}_messages"


def documents_of(conversation: Conversation) -> tuple[Document, Document]:
    """The conversation without its messages, which each forming commit writes anew, and the messages, which nobody writes again.

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


@dataclass(frozen=True, slots=True)
class Pair:
    """A task and the conversation that it is about, as one look shows them; no conversation where that is gone."""

    held: HeldTask
    conversation: Document | None

    @classmethod
    def of(cls, look: Look, task_id: str) -> Pair | None:
        """What the look shows; None when there is no such task."""
        held = held_task(look.documents.get(task_id), look.head)
        if held is None:
            return None
        found = look.documents.get(held.task.subject_id)
        known = found is not None and look.head is not None and found.body["epoch"] == look.head.epoch
        return cls(held, found if known else None)

    @property
    def task(self) -> Task:
        """The task."""
        return self.held.task

    def turned(self, state: ConversationState, now: datetime, **fields: Any) -> Changes[Task]:
        """The commit that gives the conversation another state, the task other `fields`, and the head the count that follows."""
        task = self.task.model_copy(update={**fields, "leased_by": None, "leased_until": None, "waiting_for": None, "updated_at": now})
        puts = [written(task, onto=self.held.document)]
        more = 0
        if self.conversation is not None and self.conversation.body["state"] != state:
            more = (state == "pending") - (self.conversation.body["state"] == "pending")
            puts.append(replace(self.conversation, body={**self.conversation.body, "state": state}))

        def head_fields(head: Head) -> Mapping[str, Any]:
            return {"pending_tasks": head.pending_tasks + more}

        return Changes(task, puts=tuple(puts), head_fields=head_fields)
