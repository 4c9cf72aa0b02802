"""The changes that a decision wants committed, and how many fit into a commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

import orjson

from memory_core.domain.memory import Event, EventType, Head, HeadFields, Memory, Status
from memory_core.domain.truth.entries import Entry
from memory_core.ports import Document, Mark

Result = TypeVar("Result")
HeadChange = Callable[[Head], HeadFields]
"""From the head before a commit to the fields of that head which the commit replaces."""


def no_change(_: Head) -> HeadFields:
    """No field of the head, for a commit that replaces none."""
    return {}


def both_changes(first: HeadChange, second: HeadChange) -> HeadChange:
    """The change of a head by both, the second on what the first leaves.

    Args:
        first: A change of the head.
        second: Another change, whose fields prevail.

    """

    def head_fields(head: Head) -> HeadFields:
        fields = first(head)
        return {**fields, **second(head.changed(**fields))}

    return head_fields


@dataclass(frozen=True)
class Change:
    """A change of a memory.

    Attributes:
        event_type: Type of its event.
        after: The memory as it becomes; if `removed`, as it was.
        before: None for a new memory.
        metadata: Goes into the event as it is.
        unsaid: The event says that a change happened, without its content, because removed content
            must not be in the log.
        removed: The memory is deleted for good; its event is redacted.
        follows: The change follows from other changes of the commit.
        says: Act (`evolution.slot_log.Act`) that makes the entries for the log of its slot, if they
            don't follow from the change itself. It is ignored for a memory without a slot.

    """

    event_type: EventType
    after: Memory
    before: Memory | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    unsaid: bool = False
    removed: bool = False
    follows: bool = False
    says: Callable[[Any], Sequence[Entry]] | None = None

    @cached_property
    def body(self) -> dict[str, Any]:
        """The memory as it becomes, JSON-ready."""
        return self.after.model_dump(mode="json")

    @cached_property
    def body_before(self) -> dict[str, Any]:
        """The memory as it was, JSON-ready; empty for a new memory."""
        return {} if self.before is None else self.before.model_dump(mode="json")


@dataclass(frozen=True, slots=True)
class Changes(Generic[Result]):
    """The changes that a decision wants committed, its result, and its basis.

    Without changes and documents there is no commit, and the result is returned as it is. Documents
    alone (such as the receipt of a call without effect) are a commit without an event, hence
    without a marker: only the head shows that it was applied, until the next commit. So these
    documents must bear being written twice, or be creations that the decision looks for.

    Attributes:
        result: Result of the decision.
        changes: Changes of memories.
        puts: Documents to write.
        creates: Documents to create.
        reads: Ids whose change by another commit voids the decision.
        sessions: Sessions whose growth voids the decision.
        types: Memory types that were searched for neighbours.
        head_fields: Makes further fields of the head from the head that the commit is put on, which
            may be newer than the head that the decision saw.
        fragile: Any other commit voids the decision, because it rests on documents without events.
        deletes: Documents to delete; a missing document does no harm.
        staged: Documents that are written as they are, of an epoch that is not (yet) the head's.
        begins: The epoch that starts with this commit. No field of the old head is kept, and `puts`
            and `creates` belong to the new epoch.
        marks: Fields of memories that are set without an event, by memory id.
        without_log: Names of slots whose logs this commit makes of their members.
        more_bytes: Bytes of memories that follow from the commit, and must have room with it.

    """

    result: Result
    changes: tuple[Change, ...] = ()
    puts: tuple[Document, ...] = ()
    creates: tuple[Document, ...] = ()
    reads: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    head_fields: HeadChange = no_change
    fragile: bool = False
    deletes: tuple[Document, ...] = ()
    staged: tuple[Document, ...] = ()
    begins: str | None = None
    marks: Mapping[str, Mark] = field(default_factory=dict)
    without_log: frozenset[tuple[str, ...]] = frozenset()
    more_bytes: int = 0

    @property
    def writes(self) -> bool:
        """Whether there is anything to commit."""
        return any((self.changes, self.puts, self.creates, self.deletes, self.marks))

    def counting(self, more: int) -> HeadChange:
        """The change of the head, with so many more pending conflicts; negative for fewer."""

        def head_fields(head: Head) -> HeadFields:
            fields = self.head_fields(head)
            count = fields.get("pending_count", head.pending_count) + more
            return {**fields, "pending_count": max(0, count)}

        return head_fields if more else self.head_fields

    def are_right_after(self, events: Iterable[Event]) -> bool:
        """Whether the decision is still right after these events of other commits.

        It is right if they concern no part of its read set.
        """
        return not self.fragile and not any(
            event.memory_id in self.reads
            or event.session_id in self.sessions
            or event.memory_type in self.types
            for event in events
        )


ENDED: Final = frozenset({"formed", "cancelled"})
"""States of a conversation of which no more cells are formed."""
MAX_OPERATIONS = 99
"""Operations of a batch besides the head; a batch holds 100."""


def surplus_endings(changes: Changes[Any]) -> list[Change]:
    """The endings of truths that must be committed ahead, because a batch can't hold all.

    They are the changes that follow from other changes; the list is empty if all changes fit.
    """
    if count_documents(changes) <= MAX_OPERATIONS:
        return []
    return [change for change in changes.changes if change.follows and _holds_less(change)]


def count_documents(changes: Changes[Any]) -> int:
    """How many documents a batch of these changes has besides its head."""
    memories = {change.after.id for change in changes.changes}
    beside = (changes.puts, changes.creates, changes.staged, changes.deletes, changes.marks)
    return len(changes.changes) + len(memories) + sum(map(len, beside))


def same_ending(change: Change, memory: Memory | None) -> Change | None:
    """The same ending for the memory as it is now.

    Args:
        change: An ending of a truth.
        memory: As it is now; None if it is gone.

    Returns:
        None if the memory has ended by then, or its status has changed.

    """
    assert change.before is not None
    if (
        memory is None
        or memory.status is not change.before.status
        or memory.valid_until == change.after.valid_until
    ):
        return None
    ended = ("status", "status_reason", "valid_until", "next_id", "updated_at")
    return replace(change, after=memory.with_fields_of(change.after, ended), before=memory)


def _holds_less(change: Change) -> bool:
    before, after = change.before, change.after
    if (
        before is None
        or change.removed
        or after.status not in (Status.SUPERSEDED, before.status)
        or after.valid_from != before.valid_from
    ):
        return False
    return after.valid_until is not None and (
        before.valid_until is None or after.valid_until < before.valid_until
    )


# The budget of an operation's commit: how many changed memories fit, each with its event.


DOCUMENTS = 90
"""Documents, of the hundred of a batch. The remaining documents are the head, the operation, its
task and the webhooks' announcement of its end.
"""
BYTES = 1_400_000
"""Bytes of memories, of the 1.8 MB of a batch. An operation with the ids of all its memories takes
some of the rest.
"""
_NUMBER_BYTES, _EVENT_BYTES = 13, 700


class Portion:
    """The room that is left in a commit."""

    def __init__(self, documents: int = DOCUMENTS, size: int = BYTES) -> None:
        self._documents, self._size, self._empty = documents, size, True

    def takes(self, documents: int, size: int) -> bool:
        """Take room, if there is enough of it; the first call always succeeds.

        Otherwise a memory that is too large would block the operation for ever.

        Args:
            documents: Documents that are to be written.
            size: Their bytes.

        """
        if not self._empty and (documents > self._documents or size > self._size):
            return False
        self._documents, self._size, self._empty = (
            self._documents - documents,
            self._size - size,
            False,
        )
        return True


def size_of(*memories: Memory) -> int:
    """About how many bytes memories, their vectors and their events take in a batch."""
    numbers = sum(len(memory.embedding) for memory in memories if memory.embedding is not None)
    return (
        sum(len(memory.model_dump_json()) for memory in memories)
        + _NUMBER_BYTES * numbers
        + _EVENT_BYTES * len(memories)
    )


def size_of_bodies(bodies: Iterable[object]) -> int:
    """The bytes of these bodies as JSON."""
    return sum(len(orjson.dumps(body)) for body in bodies)
