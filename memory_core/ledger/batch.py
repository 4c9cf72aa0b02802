"""Make decided changes into one batch, and say how many fit into one.

`Changes` is what a decision wants; `assemble` numbers it against a head. Numbering is separate from
deciding because a head that moved by something unrelated only needs the numbers again,
not the decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, TypeVar

import orjson

from memory_core.domain.errors import Damaged
from memory_core.domain.event_log import version_id
from memory_core.domain.memory import (
    FOUND_BY_DEFAULT,
    UNLOGGED_FIELDS,
    Event,
    Head,
    HeadFields,
    Memory,
    Status,
    check_move,
    stored_bytes,
)
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.candidates import weighted_length
from memory_core.domain.results import Call
from memory_core.domain.truth.codec import renumbered
from memory_core.domain.truth.entries import Entry
from memory_core.domain.truth.slots import Slot, slot_of, with_marks
from memory_core.ledger.ids import event_id
from memory_core.ledger.readable import as_memory, memory_in
from memory_core.ports import Batch, Document, Mark, Write

Result = TypeVar("Result")
HeadChange = Callable[[Head], HeadFields]
"""From the head before a commit to the fields of that head which the commit replaces."""

NONE_KNOWN: Final[Mapping[str, Document]] = MappingProxyType({})
CONSOLIDATION: Final = "consolidation"
"""Who makes the changes of a run, as their events say. They make no further run due,
or there would be one every hour for ever.
"""


def no_change(_: Head) -> HeadFields:
    """No field of the head, for a commit that replaces none."""
    return {}


@dataclass(frozen=True, slots=True)
class Change:
    """One memory's change: `before` is None for a new one. `metadata` goes into the event as it is.

    unsaid: the event says that it happened, not what, because what was taken out must not stand in
    the log. removed: the memory is gone for good after it, `after` being what it was; its event is
    a redacted one. follows: it follows from others of the commit. says: what it adds to the log of
    its slot (an `evolution.slot_log.Act`), where that does not follow from the change itself.
    """

    event_type: str
    after: Memory
    before: Memory | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    unsaid: bool = False
    removed: bool = False
    follows: bool = False
    says: Callable[[Any], Sequence[Entry]] | None = None


@dataclass(frozen=True, slots=True)
class Changes(Generic[Result]):
    """What a decision wants committed, what it answers, and what it was based on.

    reads: ids whose change since would void the decision. sessions: sessions whose growth would.
    types: memory types that were searched for neighbours. Neither changes nor documents = nothing
    to commit, the result stays as it is. Documents alone (a receipt for nothing done) are a commit
    without an event, hence without a marker: the head alone tells that it was applied, until the
    next one. So they must bear being written twice, or be creations that the decision looks for.
    head_fields: from the head that it is put on to the fields of it that change besides; it may be
    put on a newer head than the decision saw. fragile: any other commit voids the decision, because
    it rests on documents that no event tells of. deletes: documents that are to be gone; one that
    is not there does no harm. staged: documents that are written as they are, of an epoch that is
    not the head's (yet). begins: the epoch that starts with this commit; of the head before nothing
    stays, and what `puts` and `creates` bring is of the new epoch. marks: fields of memories, by
    id, that are set beside the log. slots: logs that the decision read already
    (`evolution.slot_log.SlotLog`), by the names of their slots. without_log: names of slots whose
    logs are made of their members by this commit. more_bytes: what memories will
    count that follow from the commit and have to have room with it.
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
    slots: Mapping[tuple[str, ...], Any] = field(default_factory=dict)
    without_log: frozenset[tuple[str, ...]] = frozenset()
    more_bytes: int = 0

    def stand(self, events: Iterable[Event]) -> bool:
        """Whether the decision is still right after these events of other commits:
        they touch nothing that it looked at.
        """
        return not self.fragile and not any(
            event.memory_id in self.reads
            or event.session_id in self.sessions
            or event.memory_type in self.types
            for event in events
        )


ENDED: Final = frozenset({"formed", "cancelled"})
"""States of a conversation of which nothing more is formed."""
MAX_OPERATIONS = 99
"""Of the 100 that a batch holds; the other is the head."""


def surplus_endings(changes: Changes[Any]) -> list[Change]:
    """The changes by which a truth ends because of others, where all changes together are more than
    a batch holds; else none.
    """
    if _documents(changes) <= MAX_OPERATIONS:
        return []
    return [change for change in changes.changes if change.follows and _holds_less(change)]


def _documents(changes: Changes[Any]) -> int:
    """How many documents a batch of these changes has besides its head."""
    memories = {change.after.id for change in changes.changes}
    beside = (changes.puts, changes.creates, changes.staged, changes.deletes, changes.marks)
    return len(changes.changes) + len(memories) + sum(map(len, beside))


def ended_as(change: Change, memory: Memory | None) -> Change | None:
    """The same ending for the memory as it is now; None where it has ended by then,
    or has become something else.
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


@dataclass(frozen=True, slots=True)
class Assembled:
    """A batch, with the memories in it as they are stored (epoch, sequence and revision set),
    by id.
    """

    batch: Batch
    memories: dict[str, Memory]

    @property
    def grown(self) -> int:
        """By how many bytes the user's memories are more; 0 where they are not counted."""
        before, after = self.batch.expected, self.batch.head.kept_bytes
        if after is None or (before is not None and before.kept_bytes is None):
            return 0
        return after - (0 if before is None else before.kept_bytes or 0)


def assemble(
    head: Head | None,
    changes: Changes[Any],
    *,
    commit_id: str,
    epoch: str,
    now: datetime,
    call: Call,
    known: Mapping[str, Document] = NONE_KNOWN,
) -> Assembled:
    """The batch that puts `changes` on top of `head`. `epoch` is used when there is no head yet.

    known: the documents that the decision was shown, so that an old version which is written again,
    or goes, counts what it did before. occurred_at = max(now, head.last_occurred_at + 1 µs), so
    that the log's order is the clock's order for this owner. Several changes of one memory become
    several events and one write of its last state.
    """
    base = head or Head(epoch=epoch, slots="", messages_backfilled=True, kept_bytes=0)
    if changes.begins is not None:
        base = Head(epoch=changes.begins, slots="", kept_bytes=0)
    logged = _logged(base, changes.changes, commit_id, _occurred_at(base, now), call)
    quiet = call.actor == CONSOLIDATION
    moved = _moved_head(base, changes, logged.events, commit_id, now, quiet=quiet)
    if (
        moved.kept_bytes is not None
        and changes.begins is None
        and (grown := _grown_by_versions(base, changes, logged.versions, known))
    ):
        moved = moved.changed(kept_bytes=moved.kept_bytes + grown)
    marks = {**_unexpected(base, changes), **changes.marks}
    if marks:
        moved = moved.changed(marks=base.marks + 1)
    moved = _without_formed(moved, changes, marks)
    writes = _writes(base, changes, logged)
    return Assembled(
        Batch(commit_id, head, moved, tuple(logged.events), writes, _as_expected(base, marks)),
        logged.stored,
    )


@dataclass(frozen=True, slots=True)
class _Logged:
    """What changes come to.

    Attributes:
        events: One for each change.
        stored: By id, the last state of each memory that is there afterwards.
        versions: By the id of an old version, the memory as it was.

    """

    events: list[Event] = field(default_factory=list)
    stored: dict[str, Memory] = field(default_factory=dict)
    versions: dict[str, Memory] = field(default_factory=dict)


def _occurred_at(base: Head, now: datetime) -> datetime:
    """When the first event of a commit occurs: after all events before it."""
    last = base.last_occurred_at
    return now if last is None else max(now, last + timedelta(microseconds=1))


def _logged(
    base: Head, changes: Sequence[Change], commit_id: str, occurred: datetime, call: Call
) -> _Logged:
    """The events of changes, and the memories that they leave. Raises Conflict."""
    logged = _Logged()
    for number, change in enumerate(changes):
        before, after = change.before, change.after
        if before is not None and before.status is not after.status:
            check_move(before.status, after.status)
        sequence = base.sequence + 1 + number
        earlier = logged.stored.get(after.id)
        if before is not None and after.version > before.version:
            logged.versions[version_id(after.id, before.version)] = earlier or before
        first = earlier or before
        created = 0 if first is None else first.sequence
        after = after.changed(epoch=base.epoch, revision=sequence, sequence=created or sequence)
        if change.removed:
            logged.stored.pop(after.id, None)
        else:
            logged.stored[after.id] = after
        at = occurred + timedelta(microseconds=number)
        logged.events.append(_event(change, after, event_id(commit_id, number), sequence, at, call))
    return logged


def _writes(base: Head, changes: Changes[Any], logged: _Logged) -> tuple[Write, ...]:
    """The documents of a commit: memories first, what goes last."""
    memories = [
        Document(memory.id, "memory", memory.model_dump(mode="json"), memory.embedding)
        for memory in logged.stored.values()
    ]
    removed = [change.after.id for change in changes.changes if change.removed]
    logs = bool(logged.events)
    return (
        *(Write("put", document) for document in memories),
        *(
            Write(
                _mode(document),
                _numbered(document, base, logged.versions.get(document.id), logs=logs),
            )
            for document in changes.puts
        ),
        *(Write("create", _numbered(document, base, logs=logs)) for document in changes.creates),
        *(Write("put", document) for document in changes.staged),
        *(Write("delete", document) for document in changes.deletes),
        *(Write("delete", Document(name, "memory", {})) for name in removed),
    )


def _unexpected(base: Head, changes: Changes[Any]) -> dict[str, Mark]:
    """Marks for the messages of a conversation that ends, which no cell was formed of: as many as
    fit; of others the head goes on to say so.
    """
    ended = [
        cell_id
        for document in changes.puts
        if document.kind == "conversation" and document.body["state"] in ENDED
        for cell_id in document.body.get("expected_cells", ())
    ]
    written = {change.after.id for change in changes.changes} | {*changes.marks}
    left = [
        name for cell_id in ended for name in base.unformed.get(cell_id, ()) if name not in written
    ]
    room = MAX_OPERATIONS - _documents(changes)
    return {name: Mark(leaves_cell=True) for name in left[: max(0, room)]}


def _as_expected(base: Head, marks: Mapping[str, Mark]) -> dict[str, Mark]:
    """The marks, with those that say what the head has foretold named as such."""
    unformed = base.unformed_messages
    return {
        name: replace(mark, is_expected=True)
        if mark.cell_id is not None and unformed.get(name) == mark.cell_id
        else mark
        for name, mark in marks.items()
    }


def _without_formed(head: Head, changes: Changes[Any], marks: Mapping[str, Mark]) -> Head:
    """The head without unformed messages that are written again, or whose cell is known now."""
    if not head.unformed:
        return head
    known = {
        change.after.id for change in changes.changes if change.before is not None or change.removed
    }
    known |= {name for name, mark in marks.items() if mark.cell_id or mark.leaves_cell}
    left = {
        cell_id: [name for name in names if name not in known]
        for cell_id, names in head.unformed.items()
    }
    return head.changed(unformed={cell_id: names for cell_id, names in left.items() if names})


def _event(
    change: Change, after: Memory, identity: str, sequence: int, occurred: datetime, call: Call
) -> Event:
    new = after.model_dump(
        mode="json", exclude=set(UNLOGGED_FIELDS), exclude_defaults=change.before is None
    )
    old = (
        {}
        if change.before is None
        else change.before.model_dump(mode="json", exclude=set(UNLOGGED_FIELDS))
    )
    changed = {
        name: value
        for name, value in new.items()
        if change.before is None or old.get(name) != value
    }
    if change.unsaid or change.removed:
        changed = {}
    return Event(
        id=identity,
        sequence=sequence,
        event_type=change.event_type,
        memory_id=after.id,
        memory_type=after.type,
        agent_id=after.agent_id,
        session_id=after.session_id,
        occurred_at=occurred,
        actor=call.actor,
        correlation_id=call.correlation_id,
        before={name: old[name] for name in changed if name in old},
        after=changed,
        metadata=dict(change.metadata),
        redacted=change.removed,
        epoch=after.epoch,
    )


def _moved_head(
    base: Head,
    changes: Changes[Any],
    events: list[Event],
    commit_id: str,
    now: datetime,
    *,
    quiet: bool,
) -> Head:
    """The head after these events. A change of something that was there is a "removal" for every
    cache that may hold it.

    quiet: the changes are a run's own, after which nothing is due that was not before.
    """
    if not events:
        unlogged: HeadFields = {
            "expires_at": None,
            **changes.head_fields(base),
            "commit_id": commit_id,
        }
        return base.changed(**unlogged)
    counts = dict(base.counts)
    documents, length, removal = (
        base.lexical_documents,
        base.lexical_length,
        base.last_removal_sequence,
    )
    size = base.kept_bytes
    for change, event in zip(changes.changes, events, strict=True):
        for memory, sign in ((change.before, -1), (None if change.removed else change.after, 1)):
            if memory is None:
                continue
            counts[memory.status.value] = counts.get(memory.status.value, 0) + sign
            if size is not None:
                size += sign * stored_bytes(memory)
            if memory.status in FOUND_BY_DEFAULT:
                documents += sign
                length += sign * weighted_length(memory)
        if change.before is not None:
            removal = event.sequence
    if not quiet:
        first, made = (
            min(events[0].occurred_at, now),  # the log may be ahead of the clock
            sum(
                change.before is None and not is_message(change.after.id)
                for change in changes.changes
            ),
        )
        base = base.changed(
            due_at=min(base.due_at or first, first), fresh_count=base.fresh_count + made
        )
    logged: HeadFields = {
        "sequence": events[-1].sequence,
        "last_occurred_at": events[-1].occurred_at,
        "last_removal_sequence": removal,
        "counts": counts,
        "lexical_documents": documents,
        "lexical_length": round(max(length, 0.0), 3),
        "kept_bytes": size,
        "slots": None if base.slots is None else with_marks(base.slots, _slots_filled(changes)),
        "expires_at": None,
        **changes.head_fields(base),
        "commit_id": commit_id,
    }
    return base.changed(**logged)


def _grown_by_versions(
    base: Head, changes: Changes[Any], made: Mapping[str, Memory], known: Mapping[str, Document]
) -> int:
    """By how many bytes old versions are more. made: those that the commit makes, by id.

    One that is written again without having been shown to the decision has other times only,
    which count nothing.
    """
    grown = 0
    for document in changes.puts:
        if document.kind == "version" and (document.id in made or document.id in known):
            grown += stored_bytes(memory_in(document)) - _counted(known.get(document.id), base)
    return grown - sum(
        _counted(known.get(document.id), base)
        for document in changes.deletes
        if document.kind == "version"
    )


def _counted(document: Document | None, head: Head) -> int:
    """What a stored document counts; 0 for none, one of another epoch, and one that
    can't be read.
    """
    if document is None:
        return 0
    try:
        version = as_memory(document, head)
    except Damaged:
        return 0
    return 0 if version is None else stored_bytes(version)


def _slots_filled(changes: Changes[Any]) -> Iterable[Slot]:
    return (slot for change in changes.changes if (slot := slot_of(change.after)) is not None)


def _mode(document: Document) -> Literal["create", "put"]:
    """A session's or a slot's document that was not there when it was read must not be there now:
    others may have made it meanwhile.
    """
    return "create" if document.kind in ("session", "slot") and document.tag is None else "put"


def _numbered(
    document: Document, base: Head, version_of: Memory | None = None, *, logs: bool
) -> Document:
    """Bookkeeping documents carry the epoch, and the sequence at which they were first written
    (their keyset place): that of the head where the commit `logs` nothing, or a reader would take
    them for newer than the head that they came with.

    An old version carries the numbers of the memory as it was before: in this very commit, where it
    was changed more than once. The entries that a commit adds to a slot's log carry the sequence of
    its first event.
    """
    body = {**document.body, "epoch": base.epoch}
    if document.kind == "slot":
        body = renumbered(body, base.sequence + 1)
    if version_of is not None:
        body |= {"sequence": version_of.sequence, "revision": version_of.revision}
    if not body.get("sequence"):
        body["sequence"] = base.sequence + (1 if logs else 0)
    return replace(document, body=body)


# How much fits into one commit of an operation: memories that it changes one by one,
# each with its event.


DOCUMENTS = 90
"""Of the hundred of a batch; the others are the head, the operation, its task and what an end of
it announces.
"""
BYTES = 1_400_000
"""Of the 1.8 MB of a batch; an operation with the ids of all that it has to do takes some
of the rest.
"""
_NUMBER_BYTES, _EVENT_BYTES = 13, 700


class Portion:
    """The room that is left in a commit."""

    def __init__(self, documents: int = DOCUMENTS, size: int = BYTES) -> None:
        self._documents, self._size, self._empty = documents, size, True

    def takes(self, documents: int, size: int) -> bool:
        """Take so much, if there is room for it; the first always has, or nothing
        would ever go on.
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
    """Bytes that memories, their vectors and an event of each take in a batch, about."""
    numbers = sum(len(memory.embedding) for memory in memories if memory.embedding is not None)
    return (
        sum(len(memory.model_dump_json()) for memory in memories)
        + _NUMBER_BYTES * numbers
        + _EVENT_BYTES * len(memories)
    )


def size_of_bodies(bodies: Iterable[object]) -> int:
    """Bytes of JSON."""
    return sum(len(orjson.dumps(body)) for body in bodies)
