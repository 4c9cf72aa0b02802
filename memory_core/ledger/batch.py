"""Make decided changes into a batch.

`Changes` is the content of a decision; `assemble` numbers it against a head. Numbering is separate
from deciding: if an unrelated commit moved the head, only the numbers are computed again, not the
decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, Literal

from memory_core.domain.errors import Damaged
from memory_core.domain.event_log import version_id
from memory_core.domain.memory import (
    UNLOGGED_FIELDS,
    Event,
    Head,
    HeadFields,
    Memory,
    MemoryFields,
    stored_bytes,
    stored_bytes_of,
)
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.candidates import weighted_length
from memory_core.domain.results import Call
from memory_core.domain.transitions import FOUND_BY_DEFAULT, check_move
from memory_core.domain.truth.codec import renumbered
from memory_core.domain.truth.slots import Slot, slot_of, with_marks
from memory_core.ledger.changes import ENDED, MAX_OPERATIONS, Change, Changes, count_documents
from memory_core.ledger.ids import event_id
from memory_core.ledger.readable import as_memory, memory_in
from memory_core.ports import Batch, Document, Mark, Write

NONE_KNOWN: Final[Mapping[str, Document]] = MappingProxyType({})
CONSOLIDATION: Final = "consolidation"
"""The actor of a run's changes, as their events say. These changes make no further run due:
otherwise a run would follow every hour for ever.
"""


@dataclass(frozen=True, slots=True)
class Assembled:
    """A batch, with the memories in it as they are stored.

    Attributes:
        batch: Batch to send to the store.
        memories: By id, with epoch, sequence and revision set.

    """

    batch: Batch
    memories: dict[str, Memory]

    @property
    def grown(self) -> int:
        """By how many bytes the user's memories grow; 0 if they are not counted."""
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
    """The batch that puts `changes` on top of `head`.

    The first event occurs at max(now, head.last_occurred_at + 1 µs), so that the log's order is the
    order of its times for this owner. Several changes of a memory become several events and a
    single write of its last state.

    Args:
        head: The present head; None before the first write.
        changes: Changes to commit.
        commit_id: Id of the commit.
        epoch: Used when there is no head yet.
        now: The present time.
        call: Call whose actor and correlation id the events carry.
        known: Documents that the decision saw. By them an old version that is written again, or
            deleted, counts the bytes that it counted before.

    Raises:
        Conflict: A change of status is not allowed.

    """
    base = head or Head(epoch=epoch, slots="", messages_backfilled=True, kept_bytes=0)
    if changes.begins is not None:
        base = Head(epoch=changes.begins, slots="", kept_bytes=0)
    logged = _events_and_memories(base, changes.changes, commit_id, _occurred_at(base, now), call)
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
    """The events and the memories that changes lead to.

    Attributes:
        events: A single event for each change.
        stored: By id, the last state of each memory that is there afterwards.
        bodies: The same states, JSON-ready.
        versions: By the id of an old version, the memory as it was.

    """

    events: list[Event] = field(default_factory=list)
    stored: dict[str, Memory] = field(default_factory=dict)
    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)
    versions: dict[str, Memory] = field(default_factory=dict)


def _occurred_at(base: Head, now: datetime) -> datetime:
    """When the first event of a commit occurs: after all events before it."""
    last = base.last_occurred_at
    return now if last is None else max(now, last + timedelta(microseconds=1))


def _events_and_memories(
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
        numbers: MemoryFields = {
            "epoch": base.epoch,
            "revision": sequence,
            "sequence": created or sequence,
        }
        after = after.changed(**numbers)
        if change.removed:
            logged.stored.pop(after.id, None)
            logged.bodies.pop(after.id, None)
        else:
            logged.stored[after.id] = after
            logged.bodies[after.id] = {**change.body, **numbers}
        at = occurred + timedelta(microseconds=number)
        logged.events.append(_event(change, after, event_id(commit_id, number), sequence, at, call))
    return logged


def _writes(base: Head, changes: Changes[Any], logged: _Logged) -> tuple[Write, ...]:
    """The documents of a commit: memories first, deletions last."""
    memories = [
        Document(name, "memory", logged.bodies[name], memory.embedding)
        for name, memory in logged.stored.items()
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
    """Marks for messages of an ended conversation that no cell was formed of.

    There are as many marks as fit; the head keeps naming the remaining messages.
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
    room = MAX_OPERATIONS - count_documents(changes)
    return {name: Mark(leaves_cell=True) for name in left[: max(0, room)]}


def _as_expected(base: Head, marks: Mapping[str, Mark]) -> dict[str, Mark]:
    """The marks, with `is_expected` set if the head foretold the same."""
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
    old: dict[str, Any] = {}
    if change.before is None:
        changed = created_fields(after, change.body)
    else:
        old = change.body_before
        changed = {
            name: value
            for name, value in change.body.items()
            if name not in UNLOGGED_FIELDS and old.get(name) != value
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


_FIELDS_OF_MODELS: Final = {"atomic_facts", "foresight"}
_DEFAULTS: Final[dict[str, Any]] = {
    name: field.get_default(call_default_factory=True)
    for name, field in Memory.model_fields.items()
    if name not in UNLOGGED_FIELDS and not field.is_required()
}


def created_fields(memory: Memory, body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that the event of a new memory records.

    These are the fields that are not at their defaults.

    Args:
        memory: The memory.
        body: The same memory, JSON-ready.

    """
    fields = {name: value for name, value in body.items() if value != _DEFAULTS.get(name, ...)}
    for name in UNLOGGED_FIELDS:
        fields.pop(name, None)
    if not _FIELDS_OF_MODELS.isdisjoint(fields):  # of which the defaults are left out, too
        fields |= memory.model_dump(mode="json", include=_FIELDS_OF_MODELS, exclude_defaults=True)
    return fields


def _moved_head(
    base: Head,
    changes: Changes[Any],
    events: list[Event],
    commit_id: str,
    now: datetime,
    *,
    quiet: bool,
) -> Head:
    """The head after these events.

    A change of an existing memory is a "removal" for every cache that may hold it. `quiet` means
    that the changes are a run's own, after which no more is due than before.
    """
    if not events:
        unlogged: HeadFields = {
            "expires_at": None,
            **changes.head_fields(base),
            "commit_id": commit_id,
        }
        return base.changed(**unlogged)
    removals = [
        event.sequence
        for change, event in zip(changes.changes, events, strict=True)
        if change.before is not None
    ]
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
        "last_removal_sequence": removals[-1] if removals else base.last_removal_sequence,
        **_statistics(base, changes.changes),
        "slots": None if base.slots is None else with_marks(base.slots, _slots_filled(changes)),
        "expires_at": None,
        **changes.head_fields(base),
        "commit_id": commit_id,
    }
    return base.changed(**logged)


def _statistics(base: Head, changes: Iterable[Change]) -> HeadFields:
    """The numbers and lengths of memories in the head after some changes."""
    counts, size = dict(base.counts), base.kept_bytes
    documents, length = base.lexical_documents, base.lexical_length
    for change in changes:
        for memory, body, sign in (
            (change.before, change.body_before, -1),
            (None if change.removed else change.after, change.body, 1),
        ):
            if memory is None:
                continue
            counts[memory.status.value] = counts.get(memory.status.value, 0) + sign
            if size is not None:
                size += sign * stored_bytes_of(body)
            if memory.status in FOUND_BY_DEFAULT:
                documents += sign
                length += sign * weighted_length(memory)
    return {
        "counts": counts,
        "lexical_documents": documents,
        "lexical_length": round(max(length, 0.0), 3),
        "kept_bytes": size,
    }


def _grown_by_versions(
    base: Head, changes: Changes[Any], made: Mapping[str, Memory], known: Mapping[str, Document]
) -> int:
    """By how many bytes old versions are more.

    `made` holds the versions that the commit makes, by id. A version that is written again without
    having been shown to the decision changes only in its times, and times don't count.
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
    """The bytes that a stored document counts.

    It is 0 for None, for a document of another epoch, and for a damaged document.
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
    """Write mode: "create" for a session or slot that was missing when read.

    Another process may have made it meanwhile.
    """
    return "create" if document.kind in ("session", "slot") and document.tag is None else "put"


def _numbered(
    document: Document, base: Head, version_of: Memory | None = None, *, logs: bool
) -> Document:
    """The document with its epoch and sequence.

    The sequence is that of the first write, which is the document's keyset place. If the commit
    `logs` no event, it is the head's sequence, or a reader would take the document for newer than
    its head. An old version carries the numbers of the memory as it was before: within this commit,
    if the memory was changed more than once. The entries that a commit adds to a slot's log carry
    the sequence of its first event.
    """
    body = {**document.body, "epoch": base.epoch}
    if document.kind == "slot":
        body = renumbered(body, base.sequence + 1)
    if version_of is not None:
        body |= {"sequence": version_of.sequence, "revision": version_of.revision}
    if not body.get("sequence"):
        body["sequence"] = base.sequence + (1 if logs else 0)
    return replace(document, body=body)
