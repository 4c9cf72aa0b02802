"""The document of a session: its times, counts, clears and last two turns.

The next turn is read with the last two turns. A session is active when it receives messages or a
memory is saved in it, not when a task forms these messages or a caller deletes memories. Its
document is written in the batch of the memories that it counts, onto the very state that was read.
Otherwise messages from before a clear could be formed by a commit that had read the session
earlier, since a clear that deletes no memory adds no event. Only episodic memories are turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from datetime import datetime
from typing import Any, Final, NamedTuple

from memory_core.domain.chat.history import (
    CallMessage,
    before_message,
    is_sealed,
    sealed_holes,
    without_message,
    without_messages,
)
from memory_core.domain.chat.read_message import ReadMessage
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.messages import is_message, is_told, was_taken_back
from memory_core.domain.ranking.index_terms import TurnTerms
from memory_core.domain.scope import Owner
from memory_core.ledger.ids import session_document_id
from memory_core.ports import Document

MESSAGES: Final = "messages"
"""The name under which messages are counted."""


class Session:
    """The working copy of a session's document while a batch is decided.

    `document` is written in the batch.
    """

    def __init__(self, owner: Owner, session_id: str, document: Document | None) -> None:
        body: dict[str, Any] = {} if document is None else dict(document.body)
        self._id = session_document_id(owner, session_id)
        self._tag = None if document is None else document.tag
        self._body = body
        body.setdefault("session_id", session_id)
        body["counts"] = dict(body.get("counts", {}))

    def copy(self) -> Session:
        """The same state, which stays as it is when this one is changed."""
        copied = copy(self)
        copied._body = {**self._body, "counts": dict(self._body["counts"])}
        return copied

    @property
    def turns(self) -> int:
        """How many episodic memories were ever saved in it: the ordinal of the next turn."""
        return int(self._body.get("turns", 0))

    @property
    def last_turn_id(self) -> str | None:
        """The id of the previous turn."""
        last_turns = self._body.get("last_turns", [])
        return last_turns[0]["id"] if last_turns else None

    @property
    def last_turns(self) -> tuple[TurnTerms | None, TurnTerms | None]:
        """The previous turn, and the turn before it."""
        # Earlier versions stored the text of a turn, too.
        turns = [
            TurnTerms(turn["id"], turn["counts"], turn["asks"])
            for turn in self._body.get("last_turns", [])
        ]
        return (turns[0] if turns else None, turns[1] if len(turns) > 1 else None)

    def add_turn(self, turn: TurnTerms) -> None:
        """Make `turn` the last turn."""
        # asdict would copy the counts, 0.2 ms
        last_turn = {"id": turn.id, "counts": turn.counts, "asks": turn.asks}
        self._body["last_turns"] = [last_turn, *self._body.get("last_turns", [])][:2]
        self._body["turns"] = self.turns + 1

    def count(self, before: Memory | None, after: Memory, now: datetime) -> None:
        """Count a change of a memory.

        The counts are those of saved memories that are not deleted, by type, and of received
        messages.

        Args:
            before: None for a new memory.
            after: The memory as it becomes.
            now: The present time.

        """
        for memory, sign in ((before, -1), (after, 1)):
            if memory is not None and memory.status is not Status.DELETED:
                counts: dict[str, int] = self._body["counts"]
                name = MESSAGES if is_message(memory.id) else memory.type.value
                counts[name] = counts.get(name, 0) + sign
        began = self._body.get("started_at") or now.isoformat()
        last = datetime.fromisoformat(self._body.get("last_active_at", began))
        is_new = is_told(after) and (before is None or before.created_at < after.created_at)
        # the clock may have been set back
        last = max(now, last) if is_new else last
        self._body |= {"started_at": began, "last_active_at": last.isoformat()}

    def drop(self, memory: Memory, now: datetime, seal_key: bytes) -> None:
        """Count a memory that is deleted for good.

        The session's title is dropped, since it may say the same as the memory.

        Args:
            memory: As it was.
            now: The present time.
            seal_key: Seals the hole that a message leaves in the history.

        """
        self._body.pop("title", None)
        self.count(memory, memory.changed(status=Status.DELETED), now)
        self.forget_turn(memory)
        self._forget_mark(memory, seal_key)

    def _forget_mark(self, memory: Memory, seal_key: bytes) -> None:
        """Leave a hole in the history for a message that is deleted for good.

        The message is not stored again when its history is sent again, and the hole doesn't reveal
        its content.
        """
        history = self._body.get("history")
        if history is not None and is_message(memory.id) and not was_taken_back(memory):
            self._body["history"] = {
                **history,
                "marks": without_message(
                    history["marks"], _as_marked(memory), memory.created_at, seal_key
                ),
            }

    def forget_history(self, seal_key: bytes) -> None:
        """Seal the whole history, because all its messages are deleted for good.

        They are not stored again when the history is sent again, and the marks don't reveal their
        content.
        """
        history = self._body.get("history")
        if history is not None:
            self._body["history"] = {
                **history,
                "marks": without_messages(history["marks"], seal_key),
            }

    def take_back(self, messages: Iterable[Memory]) -> None:
        """Drop messages from the end of the history, the last message first.

        They are unknown when they are sent again.
        """
        history = self._body.get("history")
        if history is None:
            return
        marks = list(history["marks"])
        for memory in messages:
            marks = before_message(marks, _as_marked(memory), memory.created_at)
        self._body["history"] = {**history, "marks": marks}

    def forget_turn(self, memory: Memory) -> None:
        """Drop a removed memory from the last turns.

        The next turn is then not read with its words.
        """
        if memory.type is MemoryType.EPISODIC:
            self._body["last_turns"] = [
                turn for turn in self._body.get("last_turns", []) if turn["id"] != memory.id
            ]

    def keep_history(self, marks: Sequence[str], task_id: str) -> None:
        """Remember the end of the history, to recognise it when it is sent again.

        Args:
            marks: Marks of the messages, the latest last (`domain/chat/history.py`).
            task_id: Id of the call that sent the last message.

        """
        self._body["history"] = {"marks": list(marks), "task_id": task_id}

    def name(self, title: str) -> None:
        """Set the session's title."""
        self._body["title"] = title

    def clear(self, types: Iterable[MemoryType], *, keeps_history: bool = False) -> None:
        """Count a clear of the session by type.

        Messages that came before it and are not formed yet must not be formed.

        Args:
            types: Types of the cleared memories.
            keeps_history: Whether a message that is sent again is recognised, and not stored again.
                Messages that were deleted for good are recognised in any case.

        """
        clears = dict(self._body.get("clears", {}))
        self._body["clears"] = clears | {
            kind.value: clears.get(kind.value, 0) + 1 for kind in types
        }
        history = self._body.get("history")
        if history is not None and not keeps_history:
            self._body["history"] = {**history, "marks": sealed_holes(history["marks"])}
            if not self._body["history"]["marks"]:
                del self._body["history"]

    @property
    def document(self) -> Document:
        """The document to write in the batch; without a tag it is to be created."""
        return Document(self._id, "session", self._body, tag=self._tag)


def _as_marked(message: Memory) -> CallMessage:
    """A message in the form from which its mark is made."""
    read = ReadMessage(
        message.metadata.get("role"),
        message.content,
        message.event_timestamp,
        id=message.metadata.get("message_id"),
    )
    return CallMessage.of(read, message.created_at)


def clears_of(document: Document | None) -> Mapping[str, int]:
    """How often a session was cleared, by type, as its document says it."""
    return {} if document is None else document.body.get("clears", {})


class History(NamedTuple):
    """The end of a session's history.

    Attributes:
        marks: Marks of the messages, the latest last.
        task_id: Id of the call that sent the last message.

    """

    marks: Sequence[str] = ()
    task_id: str | None = None

    @property
    def is_sealed(self) -> bool:
        """Whether the session's key is needed to recognise all its messages."""
        return any(map(is_sealed, self.marks))


def history_of(document: Document | None) -> History:
    """The history that a session's document keeps."""
    history = None if document is None else document.body.get("history")
    return History() if history is None else History(history["marks"], history["task_id"])


def has_begun(document: Document) -> bool:
    """Whether a memory was ever saved in the session.

    A session that was only cleared is in no list of sessions.
    """
    return "started_at" in document.body
