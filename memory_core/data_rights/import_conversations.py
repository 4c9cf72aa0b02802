"""Import of conversations: the lines of a file are told one after the other, as POST
/api/v1/memories is.

A line is told under an idempotency key of its task and its number, and the operation is moved on
after it. A worker that was killed in between tells the line again, which is known by its receipt.
Note: the user may be erased between two lines. A conversation is therefore stored only while the
operation that tells it is there, in the same life of the user.
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
from memory_core.ledger.commit import ReadSet
from memory_core.ledger.ids import keyed, receipt_id
from memory_core.ports import Clock
from memory_core.tasks.leases import Later, Lease
from memory_core.tasks.operation_records import Chunk, Operation
from memory_core.tasks.operations import Operations

TURN: Final = timedelta(minutes=4)
"""How long one message of the queue tells conversations. Azure Functions ends a call after
ten minutes.
"""
UNFORMED: Final = 100
"""Conversations of an import that may wait to be formed before it tells more,
so that other users' are formed in between.
"""
PAUSE: Final = timedelta(seconds=2)
MAX_IGNORED: Final = 50
_SAID: Final = {"extra_forbidden": "is not a field of a conversation", "missing": "is required"}


class Converse(Protocol):
    """Stores a conversation and sends it on its way, as `Converser.converse` does."""

    async def __call__(
        self, owner: Owner, request: ConverseInput, call: Call, *, operation_id: str
    ) -> Accepted:
        """Durable when it returns. Raises TaskLost where the operation is not pending any more."""


class ConversationCheck:
    """Takes the lines of a file, one after the other, before the first of them is told. now:
    nothing was said long after it.
    """

    def __init__(self, now: datetime, redact: Redact) -> None:
        self._now, self._redact = now, redact
        self._lines = 0
        self.bytes_of_sessions: Counter[str | None] = Counter()
        """What the messages will count as memories, by session; None: those without one."""

    def take(self, line: bytes) -> None:
        """The next line. Raises Refused."""
        self._lines += 1
        read = conversation_in(self._lines, line, self._now, self._redact)
        self.bytes_of_sessions[read.session_id] += bytes_of_messages(
            timed(read.messages, self._now)
        )

    def end(self) -> dict[str, Any]:
        """The file is whole: what the operation's cursor says from then on. Raises Refused."""
        if not self._lines:
            raise ImportRefused(None, "the file is empty")
        return {"stage": "telling", "told": ConversationProgress(self._lines).document}


@dataclass(frozen=True, slots=True)
class ConversationProgress:
    """How far a file is told: lines of all lines, their messages, and fields of messages that
    are not known.

    before: how many tasks of the user were unfinished when the first line was told.
    """

    lines: int
    line: int = 0
    new: int = 0
    known: int = 0
    ignored: tuple[str, ...] = ()
    before: int | None = None

    @classmethod
    def of(cls, operation: Operation) -> ConversationProgress | None:
        """The progress of an operation; None for one that tells no conversations,
        or has not looked through its file.
        """
        stored = (operation.cursor or {}).get("told")
        return None if stored is None else cls(**{**stored, "ignored": tuple(stored["ignored"])})

    def with_line(self, messages: Told | None, ignored: tuple[str, ...]) -> ConversationProgress:
        """The progress after the next line."""
        new, known = messages or (0, 0)
        named = tuple(sorted({*self.ignored, *ignored}))[:MAX_IGNORED]
        return replace(
            self, line=self.line + 1, new=self.new + new, known=self.known + known, ignored=named
        )

    @property
    def document(self) -> dict[str, Any]:
        """The progress as the operation's cursor holds it."""
        return {**asdict(self), "ignored": list(self.ignored)}

    @property
    def step(self) -> str:
        """What the task says of it."""
        return f"conversation {self.line} of {self.lines}"

    @property
    def result(self) -> dict[str, Any]:
        """What the task's result says of it."""
        messages = {"new": self.new, "known": self.known}
        return {
            "conversations": self.line,
            "of": self.lines,
            "messages": messages,
            "ignored": list(self.ignored),
        }


class ConversationTeller:
    """Tells the conversations of files that were looked through."""

    def __init__(
        self, converse: Converse, operations: Operations, clock: Clock, redact: Redact
    ) -> None:
        self._converse, self._operations, self._clock, self._redact = (
            converse,
            operations,
            clock,
            redact,
        )

    async def tell(
        self, lease: Lease, operation: Operation, lines: AsyncGenerator[list[bytes], None]
    ) -> Operation | Later:
        """Tell what is not told yet, in the file's order.

        Args:
            lease: of the import's task.
            operation: as it is now.
            lines: of the whole file, some at a time.

        Returns:
            The operation, done or as another worker left it; Later where the rest is told by
            another message.

        Raises:
            Refused: a line that was fine by itself can't be stored.
            TaskLost: the task has ended otherwise.
            Unavailable: the store is down.

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
                    operation, unformed = await self._tell_line(lease, operation, progress, line)
                    further = ConversationProgress.of(operation)
                    if further is None or further.line != number or operation.state != "pending":
                        return operation  # another worker is further, or the import is cancelled
                    await lease.note(
                        further.step, further.line / further.lines, result=further.result
                    )
                    if unformed > UNFORMED:
                        return Later(PAUSE, {"step": further.step})
                    if self._clock.now() - begun >= TURN:
                        return Later(timedelta(0), {"step": further.step})
        return await self._end(lease, operation)

    async def count_last(self, lease: Lease, operation: Operation) -> ConversationProgress | None:
        """The progress with the line that was told last, should the operation not have been moved
        on after it.
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

    async def _tell_line(
        self, lease: Lease, operation: Operation, progress: ConversationProgress, line: bytes
    ) -> tuple[Operation, int]:
        """Tell the next line: the operation after it, and how many conversations of this file wait
        to be formed.
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

        def decide(look: ReadSet, stored: Operation) -> Chunk:
            nonlocal unformed
            pending = 0 if look.head is None else look.head.pending_tasks
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

        def decide(look: ReadSet, stored: Operation) -> Chunk:
            unfinished = 0 if look.head is None else look.head.pending_tasks - 1
            result = {**progress.result, "forming": unfinished}
            return Chunk(cursor=stored.cursor, done=True, result=result, counted=False)

        return await self._operations.advance(lease, operation, [], decide)


def conversation_in(number: int, line: bytes, now: datetime, redact: Redact) -> ConversationLine:
    """The conversation in a line, without secrets, by the rules of POST /api/v1/memories.

    Raises Refused, with the field and none of the words.
    """
    try:
        text = orjson.dumps(object_in(number, line))
        line_read = ConversationLine.model_validate_json(text, strict=True, context={"now": now})
        return cast("ConversationLine", redact(line_read))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        # a field's name is a caller's text, too
        where = redact(".".join(shown_name(part) for part in first["loc"]))
        raise ImportRefused(number, f"{where}: {_SAID.get(first['type'], first['msg'])}") from None
    except (TypeError, RecursionError):
        raise ImportRefused(number, "is nested too deeply") from None


def _call(operation: Operation, number: int) -> Call:
    """The call that tells a line: the same one whenever it is told again."""
    return replace(
        operation.call,
        idempotency_key=f"{operation.task_id}-{number}",
        route="import of conversations",
    )
