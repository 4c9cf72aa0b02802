"""Export all data of a user as a file in parts, as of a moment.

The user may write meanwhile.

Note: the moment is not the time of the request. Writes during the export are included: the parts
that they concern are made again, until no part was written to while the last of them were made. So
no write is torn, and no writer has to wait.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_core.data_rights.export_format import (
    COLD,
    FORMAT,
    GROWING,
    MAX_PART_BYTES,
    SMALL,
    VERSION,
    fields_of,
    header,
    in_parts,
    in_pieces,
    line_id,
    lines_of,
    name_of,
)
from memory_core.domain.errors import Conflict, Gone, NotFound, Unavailable
from memory_core.domain.memory import Head, Status
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.ledger.access_counts import AccessCounts
from memory_core.ledger.archive_files import LIFETIME, ColdCopies, TransferFiles
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.readable import readable
from memory_core.ports import Clock, Document, Filter, Kind, LongTermStore, Place
from memory_core.tasks.leases import Lease, TaskLost
from memory_core.tasks.operation_records import Chunk, Operation
from memory_core.tasks.operations import Operations

PAGE = 100
ROUNDS = 20
"""The most rounds of a single attempt.

Each round takes in the writes of the round before, which become fewer.
"""
MOST_CHANGED = 2_000
"""The most memories that changed since the last round; for more, all parts are made again."""
READ_AT_ONCE = 90
MEMORY_KINDS = frozenset({"memory", "version"})
POINTING = frozenset(
    status.value for status in (Status.ARCHIVED, Status.COMPRESSED, Status.DELETED)
)
"""Statuses of memories that may have a copy in the archive."""


@dataclass(frozen=True, slots=True)
class ExportPiece:
    """A finished stretch of the file: documents of the same kind up to a place.

    Attributes:
        names: The names of its parts; a single long document has several.
        last: The place of its last document.
        documents: The number of its documents.
        damaged: Ids of its memories that can't be read and have no line.

    """

    names: tuple[str, ...]
    last: Place
    documents: int
    damaged: tuple[str, ...] = ()

    @classmethod
    def of(cls, stored: list[Any]) -> ExportPiece:
        """Return the piece that an operation stores."""
        return cls(tuple(stored[0]), Place(stored[1], stored[2]), stored[3], tuple(*stored[4:]))

    @property
    def kept(self) -> list[Any]:
        """The piece as an operation stores it."""
        return [
            list(self.names),
            self.last.sequence,
            self.last.id,
            self.documents,
            list(self.damaged),
        ]


Pieces = dict[str, list[ExportPiece]]
Lines = AsyncIterator[tuple[bytes | None, Document]]
"""Lines of the file with their document; None for a memory that can't be read."""


class Exporter:
    """Exports users."""

    def __init__(
        self,
        store: LongTermStore,
        access_counts: AccessCounts,
        copies: ColdCopies,
        parts: TransferFiles,
        operations: Operations,
        clock: Clock,
    ) -> None:
        self._store, self._access_counts, self._copies, self._parts = (
            store,
            access_counts,
            copies,
            parts,
        )
        self._operations, self._clock = operations, clock

    async def begin(self, owner: Owner, call: Call) -> Accepted:
        """Begin an export.

        Args:
            owner: The user.
            call: The call that asked for it.

        Raises:
            NotFound: The user is unknown.
            Conflict: The idempotency key was used for another request.
            Unavailable: The long-term store is down.

        """

        def refuse(read_set: ReadSet) -> None:
            if read_set.head is None:
                raise NotFound("no such user")

        return await self._operations.begin(owner, "export", {}, call, refuse=refuse)

    async def page(self, owner: Owner, task_id: str, number: int) -> bytes:
        """Return a part of a finished export.

        Args:
            owner: The user.
            task_id: The task of the export.
            number: The number of the part, from 1.

        Raises:
            NotFound: There is no such export or part, or its parts have expired.
            Conflict: The export is not finished.
            Gone: A hard delete has removed the file.
            Unavailable: A store is down.

        """
        task, operation = await self._operations.task_and_operation(owner, task_id, "export")
        if task.status != "succeeded":
            raise Conflict(
                f"this export is {task.status}; its parts can be fetched once it has succeeded"
            )
        parts = operation.cursor["parts"]
        if not 1 <= number <= len(parts):
            raise NotFound(f"this export has the parts 1 to {len(parts)}")
        if self._clock.now() > operation.created_at + LIFETIME:
            raise NotFound("the parts of this export are gone; they are kept for seven days")
        data = b""
        for name in parts[number - 1]:
            piece = await self._parts.find(owner, task_id, name)
            if piece is None:
                raise Gone(
                    "this file was removed, as something in it was forgotten for good since; "
                    "export again"
                )
            data += piece
        return data

    async def export(self, lease: Lease) -> None:
        """Make the file.

        Raises Unavailable, also if the user writes faster than the export can read; TaskLost if the
        export was cancelled or the user erased.
        """
        operation = await self._operations.of(lease)
        if operation.state == "cancelling":
            await self._cancelled(lease, operation)
            return
        await self._access_counts.flush(lease.owner)
        # each memory has its own access count
        await self._access_counts.settle(lease.owner)
        await self._parts.announce(lease.owner, lease.task.task_id, operation.created_at)
        try:
            await self._made(lease, operation)
        except TaskLost:
            await self._clear_up(lease)
            raise

    async def _made(self, lease: Lease, operation: Operation) -> None:
        for _ in range(ROUNDS):
            head = await self._head(lease.owner)
            cursor = await self._round(lease, operation.cursor, head)
            operation = await self._operations.advance(
                lease,
                operation,
                [],
                lambda read_set, stored, at=cursor: Chunk(cursor=at),  # type: ignore[misc]
            )
            if operation.state != "pending":
                raise TaskLost
            # Every commit of several documents changes another field of the head than its own name,
            # which our commit has just set.
            if (
                operation.cursor == cursor
                and (await self._head(lease.owner)).changed(commit_id=head.commit_id) == head
            ):
                await self._finish(lease, operation)
                return
        raise Unavailable(
            "long_term",
            "this user writes without a pause; the export goes on later",
            retry_after_s=5,
        )

    async def _round(self, lease: Lease, cursor: Any, head: Head) -> dict[str, Any]:
        """Make all pieces that changed since the last round, whose end is in the cursor."""
        before = _pieces(cursor)
        same_log = bool(before) and cursor["redactions"] == head.redactions
        places = (
            await self._changed_places(lease.owner, cursor["as_of"], head) if same_log else None
        )
        if places is None:
            before, places = {}, frozenset()
        as_of = 0 if not before else int(cursor["as_of"])
        made: Pieces = {}
        made[COLD], cold = await self._cold(lease)
        for number, kind in enumerate((*GROWING, *SMALL)):
            if kind in SMALL:
                made[kind] = await self._small(lease, kind, cold)
            else:
                made[kind] = await self._growing(
                    lease, kind, before.get(kind, []), places, as_of, cold
                )
            await lease.report("exporting", 0.9 * (number + 1) / len((*GROWING, *SMALL)))
        return {
            "as_of": head.sequence,
            "redactions": head.redactions,
            "pieces": {kind: [piece.kept for piece in pieces] for kind, pieces in made.items()},
        }

    async def _changed_places(self, owner: Owner, as_of: int, head: Head) -> frozenset[int] | None:
        """Return the places in the log of memories that changed since.

        None if so much has changed that all pieces have to be made again.
        """
        ids: set[str] = set()
        after = as_of
        while after < head.sequence and (events := await self._store.events(owner, after, PAGE)):
            ids |= {event.memory_id for event in events if event.sequence <= head.sequence}
            after = events[-1].sequence
            if len(ids) > MOST_CHANGED:
                return None
        places: set[int] = set()
        wanted = sorted(ids)
        for start in range(0, len(wanted), READ_AT_ONCE):
            asked = wanted[start : start + READ_AT_ONCE]
            documents = (await self._store.snapshot(owner, asked)).documents
            if len(documents) < len(asked):
                return None  # hard-deleted: its lines have to go too
            places |= {int(document.body["sequence"]) for document in documents.values()}
        return frozenset(places)

    async def _cold(self, lease: Lease) -> tuple[list[ExportPiece], dict[str, str]]:
        """Write the archive's copies that memories point to.

        The second value has their names in the file, by location.
        """
        names: dict[str, str] = {}
        return await self._gathered(lease, self._copies_of(lease.owner, names)), names

    async def _copies_of(self, owner: Owner, names: dict[str, str]) -> Lines:
        """Return each copy once, with the first memory that points to it.

        The copies' names are added to `names`.
        """
        async for document in self._documents(
            owner, "memory", None, None, Filter(statuses=POINTING)
        ):
            if not _can_be_read(document):
                continue
            location = document.body["archival_location"]
            if location is None or location in names:
                continue
            try:
                copy = await self._copies.read(owner, location)
            except NotFound:
                # It was restored and its copy removed since the page was read. The next round sees
                # that.
                continue
            names[location] = f"{COLD}/{name_of(copy)}"
            yield in_pieces(*fields_of(copy)), document

    async def _growing(
        self,
        lease: Lease,
        kind: Kind,
        before: list[ExportPiece],
        changed_places: Collection[int],
        as_of: int,
        cold: Mapping[str, str],
    ) -> list[ExportPiece]:
        """Keep unchanged pieces, make changed pieces again, and add new documents."""
        made: list[ExportPiece] = []
        after: Place | None = None
        for piece in before:
            begins = 0 if after is None else after.sequence
            changed = kind in ("memory", "version") and any(
                begins <= place <= piece.last.sequence for place in changed_places
            )
            # A message without a memory has the place of the log's next event. Further messages
            # may get the same place.
            if changed or (kind == "messages" and piece.last.sequence > as_of):
                made += await self._rendered(lease, kind, after, piece.last, cold)
            else:
                made.append(piece)
            after = piece.last
        return made + await self._rendered(lease, kind, after, None, cold)

    async def _rendered(
        self,
        lease: Lease,
        kind: Kind,
        after: Place | None,
        until: Place | None,
        cold: Mapping[str, str],
    ) -> list[ExportPiece]:
        """Make new pieces of the documents between two places."""
        documents = self._documents(lease.owner, kind, after, until)
        return await self._gathered(
            lease,
            (
                (lines_of(document, cold) if _can_be_read(document) else None, document)
                async for document in documents
            ),
        )

    async def _gathered(self, lease: Lease, pairs: Lines) -> list[ExportPiece]:
        """Write as many lines to a piece as fit a part.

        A file of thousands of parts would need a request for each.
        """
        made: list[ExportPiece] = []
        gathered, damaged, size = list[bytes](), list[str](), 0
        last: Document | None = None
        async for lines, document in pairs:
            if lines is None:
                damaged.append(document.id)
                last = document
                continue
            if last is not None and size + len(lines) > MAX_PART_BYTES:
                made.append(await self._written(lease, gathered, last, damaged))
                gathered, damaged, size = [], [], 0
            gathered.append(lines)
            size, last = size + len(lines), document
        return (
            made if last is None else [*made, await self._written(lease, gathered, last, damaged)]
        )

    async def _small(self, lease: Lease, kind: Kind, cold: Mapping[str, str]) -> list[ExportPiece]:
        """Write all documents of a kind, in an order independent of their owner.

        A piece has so many that hundreds of documents are few parts.
        """
        documents = [document async for document in self._documents(lease.owner, kind, None, None)]
        documents.sort(key=lambda document: (document.body["sequence"], line_id(document)))
        groups = [documents[at : at + PAGE] for at in range(0, len(documents), PAGE)]
        return [
            await self._written(lease, [lines_of(document, cold) for document in group], group[-1])
            for group in groups
        ]

    async def _written(
        self, lease: Lease, lines: list[bytes], last: Document, damaged: Sequence[str] = ()
    ) -> ExportPiece:
        names = [
            await self._parts.write(lease.owner, lease.task.task_id, part)
            for part in in_parts(b"".join(lines))
            if part
        ]
        return ExportPiece(tuple(names), _place(last), len(lines), tuple(damaged))

    async def _documents(
        self,
        owner: Owner,
        kind: Kind,
        after: Place | None,
        until: Place | None,
        where: Filter | None = None,
    ) -> AsyncIterator[Document]:
        while True:
            page = await self._store.page(owner, kind, where, after, PAGE, newest_first=False)
            for document in page:
                place = _place(document)
                if until is not None and (place.sequence, place.id) > (until.sequence, until.id):
                    return
                # other documents that expire belong to tasks
                if document.expires_at is None or kind == "run":
                    yield document
            if len(page) < PAGE:
                return
            after = _place(page[-1])

    async def _head(self, owner: Owner) -> Head:
        head = (await self._store.snapshot(owner)).head
        if head is None or head.state == "erasing":
            raise TaskLost
        return head

    async def _finish(self, lease: Lease, operation: Operation) -> None:
        """Write the first line, hash the file, and remove the files of earlier rounds.

        A part is as many stored files as it has room for.
        """
        owner, task_id = lease.owner, lease.task.task_id
        pieces = _pieces(operation.cursor)
        counts: Counter[str] = Counter(
            {kind: sum(piece.documents for piece in some) for kind, some in pieces.items()}
        )
        sequence, now = int(operation.cursor["as_of"]), self._clock.now()
        first = await self._parts.write(owner, task_id, header(owner, counts, sequence, now))
        names = [
            first,
            *(name for some in pieces.values() for piece in some for name in piece.names),
        ]
        digest, size, parts, filled = hashlib.sha256(), 0, list[list[str]](), MAX_PART_BYTES
        for name in names:
            data = await self._parts.read(owner, task_id, name)
            digest.update(data)
            size += len(data)
            if filled + len(data) > MAX_PART_BYTES:
                parts.append([])
                filled = 0
            parts[-1].append(name)
            filled += len(data)
        result = {
            "format": FORMAT,
            "version": VERSION,
            "parts": len(parts),
            "bytes": size,
            "sha256": digest.hexdigest(),
            "sequence": sequence,
            "expires_at": (operation.created_at + LIFETIME).isoformat(),
        }
        if damaged := sorted(
            name for some in pieces.values() for piece in some for name in piece.damaged
        ):
            result["damaged"] = damaged
        last = Chunk(cursor={"parts": parts}, counts=+counts, done=True, result=result)
        await self._operations.advance(lease, operation, [], lambda read_set, stored: last)
        await self._parts.remove_all(owner, task_id, but=frozenset(names))

    async def _cancelled(self, lease: Lease, operation: Operation) -> None:
        await self._parts.remove_all(lease.owner, lease.task.task_id)
        end = Chunk(cursor=operation.cursor, done=True, status="cancelled")
        await self._operations.advance(lease, operation, [], lambda read_set, stored: end)

    async def _clear_up(self, lease: Lease) -> None:
        """Remove parts that no caller will ask for, after an erasure or a cancelled task.

        Parts that another worker needs are made again by that worker.
        """
        operation = await self._operations.current(lease.owner, lease.task.task_id)
        if operation is None or operation.state in ("cancelling", "cancelled"):
            await self._parts.remove_all(lease.owner, lease.task.task_id)


def _can_be_read(document: Document) -> bool:
    return document.kind not in MEMORY_KINDS or bool(readable([document])[0])


def _place(document: Document) -> Place:
    return Place(int(document.body["sequence"]), document.id)


def _pieces(cursor: Any) -> Pieces:
    return (
        {}
        if cursor is None
        else {
            kind: [ExportPiece.of(stored) for stored in some]
            for kind, some in cursor["pieces"].items()
        }
    )
