"""Import: an uploaded file becomes an empty user, or its conversations are saved.

A file is checked whole first. An export is then stored under an epoch of its own, where no reader
sees it. Then that epoch becomes the user's at a single moment, by a single change of the head. If
the import fails, all of it is removed.

Note: the user may have begun to save meanwhile. Then these memories stay, and the stored file is
removed. Conversations may be imported into any user, and the saved messages stay.
"""

from __future__ import annotations

import asyncio
import codecs
import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping
from datetime import timedelta
from typing import Any, cast

import orjson

from memory_core.data_rights.export_format import COLD
from memory_core.data_rights.import_conversations import (
    ConversationCheck,
    ConversationImporter,
    ConversationProgress,
)
from memory_core.data_rights.import_parse import Entries, ImportedDocument, ImportRefused, Redact
from memory_core.data_rights.import_staging import Staging
from memory_core.data_rights.import_validate import ImportCheck
from memory_core.domain.conversation import TaskStatus
from memory_core.domain.errors import Conflict, QuotaExceeded
from memory_core.domain.memory import BYTES_EACH, Head, HeadFields
from memory_core.domain.requests.maintenance import ImportInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.ledger.archive_files import LIFETIME, ColdCopies, TransferFiles, operation_of
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Clock, Embedder, IdSource, LongTermStore
from memory_core.tasks.leases import Lease, RetryLater, TaskLost
from memory_core.tasks.operation_records import Chunk, Operation, operation_id
from memory_core.tasks.operations import Operations

AT_ONCE, AT_ONCE_BYTES = 80, 1_200_000
BYTES_PER_NUMBER = 13
CLEARED_AT_ONCE = 90
SESSIONS_AT_ONCE = 90
NOT_EMPTY = "this user has memories, or work under way; only an empty user can be imported into"


class Importer:
    """Imports users."""

    def __init__(
        self,
        store: LongTermStore,
        embedder: Embedder,
        copies: ColdCopies,
        parts: TransferFiles,
        operations: Operations,
        conversation_importer: ConversationImporter,
        clock: Clock,
        ids: IdSource,
        redact: Redact,
    ) -> None:
        self._redact = redact
        self._store, self._embedder, self._copies = store, embedder, copies
        self._parts, self._operations, self._conversation_importer = (
            parts,
            operations,
            conversation_importer,
        )
        self._clock, self._ids = clock, ids
        self._staging = Staging(embedder, copies, clock)

    async def begin(self, owner: Owner, request: ImportInput, call: Call) -> Accepted:
        """Begin to gather the parts of a file.

        Args:
            owner: The importing owner.
            request: Whether the file is an export or has conversations.
            call: The call that asked for it.

        Raises:
            Conflict: The file is an export and the user is not empty, or the idempotency key was
                used for another request.
            Unavailable: The long-term store is down.

        """
        of_export = request.of == "export"

        def refuse(read_set: ReadSet) -> None:
            if of_export and not _is_empty(read_set.head, tasks=0):
                raise Conflict(NOT_EMPTY)

        due = self._clock.now() + LIFETIME
        return await self._operations.begin(
            owner, "import", {} if of_export else {"of": request.of}, call, due=due, refuse=refuse
        )

    async def bring(self, owner: Owner, task_id: str, number: int, data: bytes, call: Call) -> None:
        """Take a part of the file.

        Parts come in any order; a part that is uploaded again replaces itself.

        Args:
            owner: The importing owner.
            task_id: The task of the import.
            number: The number of the part, from 1.
            data: The part.
            call: The call that brought it.

        Raises:
            NotFound: There is no such import.
            Conflict: The import takes no more parts.
            Unavailable: A store is down.

        """
        _, operation = await self._operations.task_and_operation(owner, task_id, "import")
        _uploaded_parts(operation)
        await self._parts.announce(owner, task_id, operation.created_at)
        name = await self._parts.write(owner, task_id, data)

        def change(stored: Operation) -> Any:
            return {"stage": "gathering", "parts": {**_uploaded_parts(stored), str(number): name}}

        try:
            await self._operations.amend(owner, task_id, change, call)
        except Exception:
            await self._clear_up(owner, task_id)
            raise

    async def commit(
        self, owner: Owner, task_id: str, parts: int, sha256: str, call: Call
    ) -> Accepted:
        """Begin the work on a file whose parts are all uploaded.

        The same call again changes no state. The work itself checks whether the file has room.

        Args:
            owner: The importing owner.
            task_id: The task of the import.
            parts: The number of parts.
            sha256: The SHA-256 of the whole file, in hex.
            call: The call that asked for it.

        Raises:
            NotFound: There is no such import.
            Conflict: Parts are missing, or the work has begun with another statement.
            QuotaExceeded: There is no room for a single memory.
            Unavailable: A store is down.

        """
        stated = {"parts": parts, "sha256": sha256}
        _, operation = await self._operations.task_and_operation(owner, task_id, "import")
        if (operation.cursor or {}).get("said") == stated:
            return Accepted(task_id)
        await self._operations.check_room(owner, BYTES_EACH)

        def change(stored: Operation) -> Any:
            brought_parts = _uploaded_parts(stored)
            missing = [number for number in range(1, parts + 1) if str(number) not in brought_parts]
            if missing:
                raise Conflict(
                    f"the parts {', '.join(map(str, missing[:20]))} have not been brought"
                )
            return {
                "stage": "checking",
                "said": stated,
                "names": [brought_parts[str(number)] for number in range(1, parts + 1)],
            }

        task = await self._operations.amend(owner, task_id, change, call, due=True)
        return Accepted(task_id, await self._operations.send(owner, task))

    async def work(self, lease: Lease) -> RetryLater | None:
        """Do the work from wherever it is.

        Returns Later if it has to wait. Raises Unavailable while the embedder or a store is down,
        and TaskLost if the task has ended otherwise.
        """
        operation = await self._operations.of(lease)
        try:
            return await self._worked(lease, operation)
        except TaskLost:
            await self._clear_up(lease.owner, lease.task.task_id)
            raise

    async def _worked(self, lease: Lease, operation: Operation) -> RetryLater | None:
        while True:
            cursor = operation.cursor or {}
            stage = cursor.get("stage", "gathering")
            if operation.state == "cancelling":
                progress = await self._conversation_importer.count_last(lease, operation)
                await self._cleared(
                    lease, operation, _end_chunk(cursor, progress, status="cancelled")
                )
                return None
            if operation.state != "pending":
                raise TaskLost
            if stage == "gathering":
                left = operation.created_at + LIFETIME - self._clock.now()
                if left > timedelta(0):
                    return RetryLater(left, {"step": "gathering"})
                operation = await self._refused(
                    lease, operation, f"its parts were not committed within {LIFETIME.days} days"
                )
            elif stage == "checking":
                operation = await self._checked(lease, operation)
            elif stage == "staging":
                try:
                    operation = await self._staged(lease, operation)
                except QuotaExceeded as error:
                    operation = await self._refused(
                        lease, await self._operations.of(lease), error.detail
                    )
            elif stage == "telling":
                try:
                    saved_or_later = await self._conversation_importer.save_lines(
                        lease, operation, self._lines(lease.owner, operation)
                    )
                except ImportRefused as refused:
                    operation = await self._refused(
                        lease, await self._operations.of(lease), str(refused)
                    )
                    continue
                if isinstance(saved_or_later, RetryLater):
                    return saved_or_later
                operation = saved_or_later
            else:
                await self._cleared(
                    lease,
                    operation,
                    _end_chunk(
                        cursor,
                        ConversationProgress.of(operation),
                        status="failed",
                        error=cursor["error"],
                    ),
                )
                return None
            if operation.state == "done":
                await self._parts.remove_all(lease.owner, lease.task.task_id)
                return None

    async def _checked(self, lease: Lease, operation: Operation) -> Operation:
        """Check the whole file before any of it is stored."""
        of_conversations = operation.plan.get("of") == "conversations"
        await lease.report("checking", 0.0 if of_conversations else 0.1)
        check = (ConversationCheck if of_conversations else ImportCheck)(
            self._clock.now(), self._redact
        )
        digest = hashlib.sha256()
        try:
            async for lines in self._lines(lease.owner, operation, digest):
                await asyncio.to_thread(_take, check, lines)
            if digest.hexdigest() != operation.cursor["said"]["sha256"].lower():
                raise ImportRefused(
                    None,
                    f"the parts have the SHA-256 {digest.hexdigest()}, not the one that "
                    "was committed",
                )
            result = await asyncio.to_thread(check.end)
            if isinstance(check, ConversationCheck):
                await self._check_conversations(lease.owner, check.bytes_of_sessions)
            else:
                await self._operations.check_room(lease.owner, result["kept_bytes"])
        except ImportRefused as refused:
            return await self._refused(lease, operation, str(refused))
        except QuotaExceeded as error:
            return await self._refused(lease, operation, error.detail)
        cursor = {
            **operation.cursor,
            **(result if isinstance(check, ConversationCheck) else self._to_stage(check, result)),
        }
        return await self._operations.advance(
            lease, operation, [], lambda read_set, stored: Chunk(cursor=cursor)
        )

    async def _check_conversations(
        self, owner: Owner, bytes_of_sessions: Mapping[str | None, int]
    ) -> None:
        """Check that there is room for a file's conversations, or for those of unknown sessions.

        Known messages of the other sessions are not stored again; how many these are is seen when
        they are saved. Raises QuotaExceeded.
        """
        total = sum(bytes_of_sessions.values())
        try:
            await self._operations.check_room(owner, total)
        except QuotaExceeded:
            sessions = {
                session_document_id(owner, name): name
                for name in bytes_of_sessions
                if name is not None
            }
            names = [*sessions]
            for start in range(0, len(names), SESSIONS_AT_ONCE):
                read_set = await self._operations.look(
                    owner, names[start : start + SESSIONS_AT_ONCE]
                )
                epoch = None if read_set.head is None else read_set.head.epoch
                known = [
                    name
                    for name, document in read_set.documents.items()
                    if document.body["epoch"] == epoch
                ]
                total -= sum(bytes_of_sessions[sessions[name]] for name in known)
            await self._operations.check_room(owner, total)

    def _to_stage(self, check: ImportCheck, head: dict[str, Any]) -> dict[str, Any]:
        """Return the cursor's fields for a checked export.

        `head` has the fields of the user's head.
        """
        head = {**head, "pending_tasks": check.waiting}
        return {
            "stage": "staging",
            "epoch": self._ids.new("ep"),
            "line": 0,
            "head": head,
            "documents": sum(check.counts.values()),
            "redacts": check.redacts,
        }

    async def _staged(self, lease: Lease, operation: Operation) -> Operation:
        """Store the documents that are not stored yet, and publish with a last commit."""
        task_id, epoch = lease.task.task_id, operation.cursor["epoch"]
        cold: dict[str, str] = {}
        async for entries in self._entries(lease.owner, operation):
            if entries[0].kind == COLD:
                cold |= await self._staging.frozen(lease.owner, operation, entries)
                await lease.report("storing", 0.2)
                continue
            documents = await self._staging.documents(lease.owner, entries, epoch, cold)
            cursor = {**operation.cursor, "line": entries[-1].line}
            chunk = Chunk(
                staged=tuple(documents),
                cursor=cursor,
                counts=Counter(entry.kind for entry in entries),
            )
            moved = await self._operations.advance(
                lease,
                operation,
                [],
                lambda read_set, stored, it=chunk: _while_empty(read_set, stored, it),  # type: ignore[misc]
            )
            if moved.state != operation.state or moved.cursor != cursor:
                return moved  # another worker is ahead, or the user has other memories
            operation = moved
            await lease.report(
                "storing", 0.2 + 0.7 * sum(operation.counts.values()) / max(1, cursor["documents"])
            )
        head = {**operation.cursor["head"], "due_at": self._clock.now()}
        head["pending_tasks"] += 1  # this task, which its end subtracts
        given = Head.model_validate({**head, "epoch": epoch}).model_dump(include=set(head))
        fields = cast(HeadFields, given)
        last = Chunk(cursor=operation.cursor, done=True, begins=epoch, head_fields=lambda _: fields)
        return await self._operations.advance(
            lease,
            operation,
            [task_id],
            lambda read_set, stored: _while_empty(read_set, stored, last),
        )

    async def _refused(self, lease: Lease, operation: Operation, reason: str) -> Operation:
        cursor = _refusal(operation, reason)
        return await self._operations.advance(
            lease, operation, [], lambda read_set, stored: Chunk(cursor=cursor)
        )

    async def _cleared(self, lease: Lease, operation: Operation, end: Chunk) -> None:
        """Remove all stored and uploaded data of the import, and end."""
        epoch = (operation.cursor or {}).get("epoch")
        while epoch is not None and (
            strays := await self._store.strays(lease.owner, CLEARED_AT_ONCE, epoch=epoch)
        ):
            gone = Chunk(
                deletes=tuple(strays), cursor=operation.cursor, counts={"cleared": len(strays)}
            )
            operation = await self._operations.advance(
                lease,
                operation,
                [],
                lambda read_set, stored, it=gone: it,  # type: ignore[misc]
            )
        if epoch is not None:
            async for name in self._copies.names(lease.owner, epoch):
                await self._copies.remove(lease.owner, name)
        await self._parts.remove_all(lease.owner, lease.task.task_id)
        await self._operations.advance(lease, operation, [], lambda read_set, stored: end)

    async def _clear_up(self, owner: Owner, task_id: str) -> None:
        """Remove the data of an import whose task is gone, perhaps with its user."""
        if await self._operations.current(owner, task_id) is None:
            await self._parts.remove_all(owner, task_id)
            async for name in self._copies.names(owner):
                if operation_of(name) == operation_id(task_id):
                    await self._copies.remove(owner, name)

    async def _lines(
        self, owner: Owner, operation: Operation, digest: Any = None
    ) -> AsyncGenerator[list[bytes], None]:
        """Return the lines of the file, some at a time, without a byte order mark.

        A line may begin in a part and end in the next.
        """
        rest, mark = b"", codecs.BOM_UTF8
        for name in operation.cursor["names"]:
            data = await self._parts.read(owner, operation.task_id, name)
            if digest is not None:
                digest.update(data)
            *lines, rest = (rest + data).split(b"\n")
            if lines:
                lines[0], mark = lines[0].removeprefix(mark), b""
            yield lines
        if rest:
            yield [rest.removeprefix(mark)]

    async def _terms_of_secrets(self, owner: Owner, operation: Operation) -> Collection[str]:
        """Return the terms of all redacted texts.

        A turn has terms of turns that may come later in the file.
        """
        entries, number = Entries(self._redact), 0
        if not operation.cursor.get("redacts"):
            return ()
        async for lines in self._lines(owner, operation):
            for line in lines:
                number += 1
                if number > 1:
                    entries.of(number, line)
        return entries.gone

    async def _entries(
        self, owner: Owner, operation: Operation
    ) -> AsyncIterator[list[ImportedDocument]]:
        """Return the documents that are not stored yet, a commit's worth at a time."""
        entries, number, size = (
            Entries(self._redact, await self._terms_of_secrets(owner, operation)),
            0,
            0,
        )
        gathered: list[ImportedDocument] = []
        bytes_a_vector = self._embedder.dimensions * BYTES_PER_NUMBER
        async for lines in self._lines(owner, operation):
            for line in lines:
                number += 1
                entry = entries.of(number, line) if number > 1 else None
                if entry is None:
                    continue
                if entry.kind != COLD and entry.line <= operation.cursor["line"]:
                    continue
                weight = _stored_size(entry, bytes_a_vector)
                full = len(gathered) == AT_ONCE or size + weight > AT_ONCE_BYTES
                if gathered and (full or (gathered[0].kind == COLD) != (entry.kind == COLD)):
                    yield gathered
                    gathered, size = [], 0
                gathered.append(entry)
                size += weight
        if gathered:
            yield gathered


def _stored_size(entry: ImportedDocument, bytes_a_vector: int) -> int:
    """Return about how many bytes a document takes as it is stored.

    A memory also has the analysed text that it is found by, which no file has.
    """
    body = len(orjson.dumps(entry.body))
    return body * (2 if entry.kind in ("memory", "version") else 1) + (
        bytes_a_vector if entry.embedded else 0
    )


def _is_empty(head: Head | None, *, tasks: int) -> bool:
    """Whether no memory was ever saved, and no work is under way but `tasks`."""
    return head is None or (head.sequence, head.pending_tasks, head.state) == (0, tasks, "live")


def _while_empty(read_set: ReadSet, stored: Operation, chunk: Chunk) -> Chunk:
    """Return the chunk, as long as the user is empty but for this very import."""
    return chunk if _is_empty(read_set.head, tasks=1) else Chunk(cursor=_refusal(stored, NOT_EMPTY))


def _refusal(operation: Operation, reason: str) -> dict[str, Any]:
    cursor = operation.cursor or {}
    progress = {"told": cursor["told"]} if "told" in cursor else {}
    return {"stage": "clearing", "error": reason, "epoch": cursor.get("epoch"), **progress}


def _end_chunk(
    cursor: Any,
    progress: ConversationProgress | None,
    *,
    status: TaskStatus,
    error: str | None = None,
) -> Chunk:
    """Return the end of an import that failed or was cancelled.

    An import of conversations keeps its `progress`.
    """
    result = {} if progress is None else progress.result
    return Chunk(
        cursor=cursor,
        done=True,
        status=status,
        error=error,
        result=result,
        counted=progress is None,
    )


def _uploaded_parts(operation: Operation) -> dict[str, str]:
    """Return the uploaded parts; raise Conflict once the work has begun."""
    cursor = operation.cursor or {"stage": "gathering", "parts": {}}
    if operation.state != "pending" or cursor["stage"] != "gathering":
        raise Conflict("this import gathers no more parts")
    parts: dict[str, str] = cursor["parts"]
    return parts


def _take(check: ImportCheck | ConversationCheck, lines: list[bytes]) -> None:
    for line in lines:
        check.take(line)
