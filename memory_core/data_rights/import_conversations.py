"""Import conversations: each line of a file is saved as POST /api/v1/memories would save it.

A line is saved under an idempotency key of its task and its number, and the operation is moved on
after it. If a worker is killed in between, the next worker saves the line again, and its receipt
shows that it was saved.

Note: the user may be erased between two lines. So a conversation is stored only while its operation
is stored, in the same life of the user.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, cast

import orjson
from pydantic import ValidationError

from memory_core.data_rights.import_parse import ImportRefused, Redact, object_in
from memory_core.domain.chat.read_message import timed
from memory_core.domain.errors import (
    Conflict,
    Invalid,
    QuotaExceeded,
    TooLarge,
    described,
    shown_name,
)
from memory_core.domain.messages import bytes_of_messages
from memory_core.domain.requests.maintenance import ConversationLine
from memory_core.domain.requests.memories import ConverseInput
from memory_core.domain.results import Accepted, Call, Told
from memory_core.domain.scope import Owner
from memory_core.ledger.ids import keyed
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.receipts import receipt_id
from memory_core.ports import Clock
from memory_core.tasks.leases import Lease, RetryLater
from memory_core.tasks.operation_records import Chunk, Operation
from memory_core.tasks.operations import Operations

TURN: Final = timedelta(minutes=4)
"""How long a message of the queue saves conversations.

Azure Functions ends a call after ten minutes.
"""
UNFORMED: Final = 100
"""The most conversations of an import that may wait to be formed before it saves more.

So other users' conversations are formed in between.
"""
PAUSE: Final = timedelta(seconds=2)
MAX_IGNORED: Final = 50
_SAID: Final = {"extra_forbidden": "is not a field of a conversation", "missing": "is required"}


class Converse(Protocol):
    """Stores a conversation and sends it on its way, as `Converser.converse` does."""

    async def __call__(
        self, owner: Owner, request: ConverseInput, call: Call, *, operation_id: str
    ) -> Accepted:
        """Store a conversation; it is durable when the call returns.

        Raises TaskLost if the operation is not pending any more.
        """


class ConversationCheck:
    """Checks all lines of a file before the first of them is saved.

    No message may be much later than `now`.
    """

    def __init__(self, now: datetime, redact: Redact) -> None:
        self._now, self._redact = now, redact
        self._lines = 0
        self.bytes_of_sessions: Counter[str | None] = Counter()
        """The bytes that the messages will count as memories, by session; None for no session."""

    def take(self, line: bytes) -> None:
        """Check the next line.

        Raises ImportRefused.
        """
        self._lines += 1
        read = conversation_in(self._lines, line, self._now, self._redact)
        self.bytes_of_sessions[read.session_id] += bytes_of_messages(
            timed(read.messages, self._now)
        )

    def end(self) -> dict[str, Any]:
        """End the check, and return the fields of the operation's cursor from then on.

        Raises ImportRefused for an empty file.
        """
        if not self._lines:
            raise ImportRefused(None, "the file is empty")
        return {"stage": "telling", "told": ConversationProgress(self._lines).document}


@dataclass(frozen=True, slots=True)
class ConversationProgress:
    """The progress of a file.

    Attributes:
        lines: The number of all lines.
        line: The number of saved lines.
        new: The number of messages that were stored.
        known: The number of messages that were stored before.
        ignored: The unknown fields of messages.
        before: How many tasks of the user were unfinished when the first line was saved.

    """

    lines: int
    line: int = 0
    new: int = 0
    known: int = 0
    ignored: tuple[str, ...] = ()
    before: int | None = None

    @classmethod
    def of(cls, operation: Operation) -> ConversationProgress | None:
        """Return the progress of an operation.

        None if it saves no conversations, or has not checked its file yet.
        """
        stored = (operation.cursor or {}).get("told")
        return None if stored is None else cls(**{**stored, "ignored": tuple(stored["ignored"])})

    def with_line(self, messages: Told | None, ignored: tuple[str, ...]) -> ConversationProgress:
        """Return the progress after the next line.

        Args:
            messages: The numbers of new and known messages; None for none.
            ignored: The unknown fields of the line's messages.

        """
        new, known = messages or (0, 0)
        named = tuple(sorted({*self.ignored, *ignored}))[:MAX_IGNORED]
        return replace(
            self, line=self.line + 1, new=self.new + new, known=self.known + known, ignored=named
        )

    @property
    def document(self) -> dict[str, Any]:
        """The progress as the operation's cursor has it."""
        return {**asdict(self), "ignored": list(self.ignored)}

    @property
    def step(self) -> str:
        """The step that the task shows."""
        return f"conversation {self.line} of {self.lines}"

    @property
    def result(self) -> dict[str, Any]:
        """The progress in the task's result."""
        messages = {"new": self.new, "known": self.known}
        return {
            "conversations": self.line,
            "of": self.lines,
            "messages": messages,
            "ignored": list(self.ignored),
        }


class ConversationImporter:
    """Saves the conversations of checked files."""

    def __init__(
        self, converse: Converse, operations: Operations, clock: Clock, redact: Redact
    ) -> None:
        self._converse, self._operations, self._clock, self._redact = (
            converse,
            operations,
            clock,
            redact,
        )

    async def save_lines(
        self, lease: Lease, operation: Operation, lines: AsyncGenerator[list[bytes], None]
    ) -> Operation | RetryLater:
        """Save the lines that are not saved yet, in the file's order.

        Args:
            lease: The lease of the import's task.
            operation: The operation as it is now.
            lines: All lines of the file, some at a time.

        Returns:
            The operation, done or as another worker left it; Later if another message of the queue
            has to save the rest.

        Raises:
            ImportRefused: A line that passed the check can't be stored.
            TaskLost: The task has ended otherwise.
            Unavailable: The store is down.

        """
        begun, number = self._clock.now(), 0
        async with aclosing(lines) as parts:
            async for some in parts:
                for line in some:
                    number += 1
                    progress = ConversationProgress.of(operation)
                    assert progress is not None
                    if number <= progress.line:
                        continue
                    operation, unformed = await self._save_line(lease, operation, progress, line)
                    further = ConversationProgress.of(operation)
                    if further is None or further.line != number or operation.state != "pending":
                        return operation  # another worker is ahead, or the import is cancelled
                    await lease.note(
                        further.step, further.line / further.lines, result=further.result
                    )
                    if unformed > UNFORMED:
                        return RetryLater(PAUSE, {"step": further.step})
                    if self._clock.now() - begun >= TURN:
                        return RetryLater(timedelta(0), {"step": further.step})
        return await self._end(lease, operation)

    async def count_last(self, lease: Lease, operation: Operation) -> ConversationProgress | None:
        """Return the progress with the last saved line.

        The operation may not have been moved on after that line.

        Args:
            lease: The lease of the import's task.
            operation: The operation.

        Returns:
            The progress; None if the operation saves no conversations.

        Raises:
            Unavailable: The store is down.

        """
        progress = ConversationProgress.of(operation)
        if progress is None:
            return None
        call = _call(operation, progress.line + 1)
        name = receipt_id(lease.owner, call)
        receipt = (await self._operations.look(lease.owner, [str(name)])).documents.get(str(name))
        if receipt is None:
            return progress
        return progress.with_line(Told(**receipt.body["result"]["messages"]), ())

    async def _save_line(
        self, lease: Lease, operation: Operation, progress: ConversationProgress, line: bytes
    ) -> tuple[Operation, int]:
        """Save the next line.

        Returns the operation after it, and how many conversations of this file wait to be formed.
        """
        number = progress.line + 1
        read = conversation_in(number, line, self._clock.now(), self._redact)
        request = ConverseInput(
            session_id=read.session_id,
            agent_id=read.agent_id,
            messages=read.messages,
            time_zone=read.time_zone,
        )
        try:
            accepted = await self._converse(
                lease.owner,
                request,
                keyed(_call(operation, number), "import", request),
                operation_id=operation.id,
            )
        except (Invalid, TooLarge, Conflict, QuotaExceeded) as error:
            raise ImportRefused(number, described(error)) from None
        further, unformed = progress.with_line(accepted.messages, read.messages.ignored), 0

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            nonlocal unformed
            pending = 0 if read_set.head is None else read_set.head.pending_tasks
            before = pending if further.before is None else further.before
            unformed = pending - before
            return Chunk(
                cursor={**stored.cursor, "told": replace(further, before=before).document},
                fragile=False,
            )

        return await self._operations.advance(lease, operation, [], decide), unformed

    async def _end(self, lease: Lease, operation: Operation) -> Operation:
        progress = ConversationProgress.of(operation)
        assert progress is not None

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            unfinished = 0 if read_set.head is None else read_set.head.pending_tasks - 1
            result = {**progress.result, "forming": unfinished}
            return Chunk(cursor=stored.cursor, done=True, result=result, counted=False)

        return await self._operations.advance(lease, operation, [], decide)


def conversation_in(number: int, line: bytes, now: datetime, redact: Redact) -> ConversationLine:
    """Return the conversation in a line, without secrets, checked as POST /api/v1/memories does.

    Args:
        number: The number of the line.
        line: The line.
        now: The time that no message may be much later than.
        redact: Takes secrets out.

    Raises:
        ImportRefused: The line is wrong; the error names the field and none of the words.

    """
    try:
        text = orjson.dumps(object_in(number, line))
        line_read = ConversationLine.model_validate_json(text, strict=True, context={"now": now})
        return cast("ConversationLine", redact(line_read))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        # names of fields are texts of the caller, too
        where = redact(".".join(shown_name(part) for part in first["loc"]))
        raise ImportRefused(number, f"{where}: {_SAID.get(first['type'], first['msg'])}") from None
    except (TypeError, RecursionError):
        raise ImportRefused(number, "is nested too deeply") from None


def _call(operation: Operation, number: int) -> Call:
    """Return the call that saves a line, which is the same whenever it is repeated."""
    return replace(
        operation.call,
        idempotency_key=f"{operation.task_id}-{number}",
        route="import of conversations",
    )
