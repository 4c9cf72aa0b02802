"""All memories as they were at an earlier sequence.

Note: a snapshot is several documents, written one by one, and counts only when all are there. Until
then the previous snapshot serves, or the log from its beginning, which is only slower. The same
applies where a snapshot was deleted because some of its content was forgotten.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson

from memory_core.domain.errors import HeadMoved
from memory_core.domain.event_log import LoggedState, States, fold
from memory_core.domain.memory import EVENTS_A_SNAPSHOT, Head, HeadFields
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.ids import begins_commit, snapshot_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Document, EventFilter, LongTermStore, Place

MAX_PART_BYTES = 1_000_000
"""Bytes of a document of a snapshot; a batch holds 1.8 MB."""
PARTS_A_READ = 4
EVENTS_A_PAGE = 500


@dataclass(frozen=True, slots=True)
class TakenSnapshot:
    """A snapshot: all states at `sequence`."""

    sequence: int
    states: States


class Past:
    """Reads the past of any owner."""

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def sequence_at(self, owner: Owner, head: Head, known_at: datetime) -> int:
        """The sequence that the log had reached at a moment; 0 before its first event.

        Note: a commit occurs as a whole at the moment of its first event. The others follow it by a
        microsecond each, so that the log has an order. Without these, two truths of a slot could
        hold at once.

        Args:
            owner: Whose log it is.
            head: Head of the owner.
            known_at: System time.

        """
        if head.last_occurred_at is None or head.last_occurred_at <= known_at:
            return head.sequence
        where, limit = EventFilter(since=known_at + timedelta(microseconds=1)), 1
        after = 0
        while page := await self._store.events(owner, after, limit, where):
            for event in page:
                if begins_commit(event.id):
                    return event.sequence - 1
            after, limit = page[-1].sequence, EVENTS_A_PAGE
        return head.sequence

    async def states(self, owner: Owner, head: Head, sequence: int) -> States:
        """All memories and old versions at a sequence, by id.

        Args:
            owner: Whose memories they are.
            head: Head of the owner.
            sequence: At which the states are wanted.

        Raises:
            HeadMoved: The user was erased meanwhile.

        """
        taken = await self.taken(owner, head, sequence)
        states = await self.after(owner, taken, sequence)
        now = (await self._store.snapshot(owner)).head
        if now is None or now.epoch != head.epoch:
            raise HeadMoved("the user was erased while the log was read", retry_after_s=1)
        return states

    async def memory(self, owner: Owner, memory_id: str, sequence: int) -> States:
        """A memory and its old versions at a sequence, by id.

        They are computed from the memory's own events alone.

        Args:
            owner: Whose memory it is.
            memory_id: Id of the memory.
            sequence: At which the states are wanted.

        """
        states, after = States(), 0
        while page := await self._store.events(
            owner, after, EVENTS_A_PAGE, EventFilter(memory_id=memory_id, up_to=sequence)
        ):
            states, after = fold(states, page), page[-1].sequence
        return states

    async def after(self, owner: Owner, taken: TakenSnapshot, sequence: int) -> States:
        """The states at a sequence, computed from a snapshot and the events after it.

        Args:
            owner: Whose memories they are.
            taken: A snapshot at `sequence` or before.
            sequence: At which the states are wanted.

        """
        states, at = taken.states, taken.sequence
        while at < sequence:
            page = await self._store.events(owner, at, EVENTS_A_PAGE, EventFilter(up_to=sequence))
            if not page:
                break
            states, at = fold(states, page), page[-1].sequence
        return states

    async def taken(self, owner: Owner, head: Head, sequence: int) -> TakenSnapshot:
        """The last whole snapshot at a sequence or before.

        Args:
            owner: Whose memories they are.
            head: Head of the owner; snapshots of other epochs are ignored.
            sequence: Sequence of the wanted state.

        Returns:
            The empty states at sequence 0 if there is no snapshot.

        """
        place = Place(sequence + 1, "")
        while documents := await self._store.page(owner, "snapshot", None, place, 1):
            body = documents[0].body
            if (
                body["epoch"] == head.epoch
                and (states := await self._read(owner, body)) is not None
            ):
                return TakenSnapshot(body["sequence"], states)
            place = Place(body["sequence"], "")
        return TakenSnapshot(0, {})

    async def _read(self, owner: Owner, body: dict[str, Any]) -> States | None:
        """The states of all parts of the snapshot to which the part `body` belongs.

        None if a part is missing, or is of another attempt.
        """
        names = [
            snapshot_id(body["epoch"], body["sequence"], part) for part in range(body["parts"])
        ]
        states = States()
        for start in range(0, len(names), PARTS_A_READ):
            asked = names[start : start + PARTS_A_READ]
            parts = (await self._store.snapshot(owner, asked)).documents
            if len(parts) < len(asked) or any(
                part.body["redactions"] != body["redactions"] for part in parts.values()
            ):
                return None
            states |= {
                name: LoggedState.of_row(row)
                for part in parts.values()
                for name, row in part.body["states"].items()
            }
        return states


def split_snapshot(taken: TakenSnapshot) -> list[list[str]]:
    """The ids of the states in each document of a snapshot.

    All ids are in order, so that every process makes the same documents.
    """
    parts: list[list[str]] = [[]]
    size = 0
    for name, state in sorted(taken.states.items()):
        weight = len(orjson.dumps([name, state.row()]))
        if parts[-1] and size + weight > MAX_PART_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(name)
        size += weight
    return parts


def part_of(
    taken: TakenSnapshot, head: Head, parts: Sequence[Sequence[str]], number: int
) -> Document:
    """A document of a snapshot.

    Args:
        taken: The snapshot.
        head: As it was before the snapshot's states were read.
        parts: As `split_snapshot` returns them.
        number: Number of the part, from 0.

    """
    states = {name: taken.states[name].row() for name in parts[number]}
    common = {
        "epoch": head.epoch,
        "sequence": taken.sequence,
        "redactions": head.redactions,
        "parts": len(parts),
    }
    return Document(
        snapshot_id(head.epoch, taken.sequence, number), "snapshot", {**common, "states": states}
    )


# Snapshots of the log: the states of all memories at a sequence, so that a replay need not begin
# with the first event.
#
# Note: a snapshot must not outlive its content. A memory that is hard-deleted while a snapshot is
# written would come back with it. So each part is committed under the head, and no part of states
# from before a redaction is written after it.


DROPPED_AT_ONCE = 10
"""Documents of up to 1 MB that are read, and deleted, at a time."""
_CALL = Call(actor="upkeep")


class Snapshots:
    """Writes and drops snapshots of any owner."""

    def __init__(self, store: LongTermStore, ledger: Ledger) -> None:
        self._store, self._ledger, self._past = store, ledger, Past(store)

    async def write_due(self, owner: Owner, head: Head | None = None) -> int:
        """Write the snapshots that are due, and return their number.

        If no snapshot is due, this costs a point read, or no read if the head is given. A snapshot
        is due EVENTS_A_SNAPSHOT events after the last, or as many events as the last holds states,
        if these are more. So all snapshots together take no more room than the log. After an error
        it is done later.

        Args:
            owner: Whose log it is.
            head: Head of the owner; None reads it.

        Raises:
            HeadMoved: Other writers are faster than this.
            Unavailable: The store is down.

        """
        head = head or (await self._store.snapshot(owner)).head
        written = 0
        if head is None or head.state == "erasing" or head.sequence < head.snapshot_due:
            return written
        taken = await self._past.taken(owner, head, head.sequence)
        while (due := _due_after(taken)) <= head.sequence:
            taken = TakenSnapshot(due, await self._past.after(owner, taken, due))
            if not await self._write(owner, head, taken):
                break
            written += 1
        return written

    async def drop(self, owner: Owner, since: int) -> int:
        """Delete every snapshot at a sequence or later, complete or not.

        They are written again when they are due next. Call this when events are redacted, after the
        last commit that redacts.

        Args:
            owner: Whose snapshots they are.
            since: The sequence of the first redacted event.

        Returns:
            The number of deleted documents.

        """
        dropped, place = 0, None
        while True:
            page = await self._store.page(owner, "snapshot", None, place, DROPPED_AT_ONCE)
            gone = tuple(
                Document(document.id, "snapshot", {})
                for document in page
                if document.body["sequence"] >= since
            )
            if not gone:
                return dropped
            await self._ledger.commit(
                owner,
                lambda read_set, gone=gone: _dropping(gone, since),  # type: ignore[misc]
                ids=(),
                call=_CALL,
            )
            dropped += len(gone)
            place = Place(page[-1].body["sequence"], page[-1].id)

    async def _write(self, owner: Owner, head: Head, taken: TakenSnapshot) -> bool:
        """Write all parts; the last sets in the head when the next snapshot is due.

        False if events were redacted since `head` was read.
        """
        parts = await asyncio.to_thread(split_snapshot, taken)
        for number in range(len(parts)):
            # one by one, since all parts together would take as much memory as all states
            part = part_of(taken, head, parts, number)
            due = _due_after(taken) if number + 1 == len(parts) else None

            def decide(
                read_set: ReadSet, part: Document = part, due: int | None = due
            ) -> Changes[bool]:
                now, there = read_set.head, read_set.documents.get(part.id)
                if now is None or (now.epoch, now.redactions) != (head.epoch, head.redactions):
                    return Changes(False)
                if (
                    there is not None
                    and there.body == part.body
                    and (due is None or now.snapshot_due >= due)
                ):
                    return Changes(True)
                fields: HeadFields = (
                    {} if due is None else {"snapshot_due": max(now.snapshot_due, due)}
                )
                # Fragile: any commit in between may have redacted events.
                return Changes(True, puts=(part,), head_fields=lambda _: fields, fragile=True)

            if not (await self._ledger.commit(owner, decide, ids=[part.id], call=_CALL)).result:
                return False
        return True


def redacting(head: Head) -> HeadFields:
    """The fields of the head that a commit sets which redacts events.

    After it, no state is written that was read before it.
    """
    return {"redactions": head.redactions + 1}


def _due_after(taken: TakenSnapshot) -> int:
    return taken.sequence + max(EVENTS_A_SNAPSHOT, len(taken.states))


def _dropping(gone: tuple[Document, ...], since: int) -> Changes[None]:
    return Changes(
        None, deletes=gone, head_fields=lambda head: {"snapshot_due": min(head.snapshot_due, since)}
    )
