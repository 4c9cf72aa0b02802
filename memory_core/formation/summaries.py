"""Summaries of messages, which become no memories.

A summary is given at once, or by a task whose end is sent to a callback address.

Note: fast means that a caller waits. So a model that is down or slow is not waited for; then
rules answer, and the answer says so.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

from memory_core.domain.agent_schemas import Answered, ConversationSummary
from memory_core.domain.conversation import Message, Task
from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.errors import AgentFailed, NotFound, Unavailable
from memory_core.domain.requests.maintenance import SummaryInput
from memory_core.domain.results import Accepted, Call, Summary
from memory_core.domain.scope import Owner
from memory_core.formation.webhooks import Callbacks
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger
from memory_core.ports import Agents, Clock, Document, IdSource
from memory_core.tasks.agent_steps import Steps
from memory_core.tasks.leases import Lease, RetryLater
from memory_core.tasks.lifecycle import TaskFinisher, TaskStarter

FAST_WITHIN_S = 10.0
MAX_READ = 2_000_000
"""Characters that rules read at a time for callers who wait: some ten seconds' work. Further calls
are refused, and can be tried again.
"""
BUSY_S = 5
KEPT = timedelta(days=30)
"""How long the messages of a summary's task are kept; they are no memories."""
Mode = Literal["fast", "full"]
log = logging.getLogger(__name__)


class ToSum(DeferredModel):
    """The stored content of a summary's task."""

    mode: Mode
    messages: list[Message]


class Summaries:
    """Summarises messages. `rules` are the agents without a model; they answer if `agents` fail."""

    def __init__(
        self,
        agents: Agents,
        rules: Agents,
        callbacks: Callbacks,
        starter: TaskStarter,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._agents, self._rules, self._callbacks, self._starter = (
            agents,
            rules,
            callbacks,
            starter,
        )
        self._clock, self._ids = clock, ids
        self._read = 0

    async def at_once(self, owner: Owner, request: SummaryInput) -> Summary:
        """Summarise at once.

        Args:
            owner: Whose tokens are counted; without a user's name if they are the app's alone.
            request: The messages and the mode.

        Raises:
            Unavailable: A full summary is requested and the model is down, or the rules have too
                much to read.

        """
        messages = request.told(self._clock.now(), "user")
        return _seen(
            await self._answer(owner, messages, request.mode, somebody_waits=True), request.mode
        )

    async def later(self, owner: Owner, request: SummaryInput, call: Call) -> Accepted:
        """Begin a task that summarises, and sends the result to the callback address.

        Args:
            owner: Whose task it is.
            request: The messages, the mode and the callback address.
            call: Call with its idempotency key, if any.

        Raises:
            Invalid: The callback address will never be called.
            Conflict: The idempotency key was used for another request.
            TooLarge: The messages are too long.
            Unavailable: The store is down.

        """
        self._callbacks.check(request.callback_url)
        now, task_id = self._clock.now(), self._ids.new("tsk")
        to_sum = ToSum(mode=request.mode, messages=request.told(now, "user"))
        subject = Document(
            f"{task_id}_messages", "messages", to_sum.model_dump(mode="json"), expires_at=now + KEPT
        )
        task = Task(
            task_id=task_id,
            kind="summary",
            created_at=now,
            updated_at=now,
            subject_id=subject.id,
            next_enqueue_at=now,
            callback_url=request.callback_url,
            correlation_id=call.correlation_id,
        )
        return await self._starter.begin(
            owner, task, lambda read_set: Changes(None, creates=(subject,)), call
        )

    async def frozen(self, owner: Owner, task: Task, to_sum: ToSum, steps: Steps) -> Summary:
        """The summary of a task; the agents are asked once.

        Args:
            owner: Whose task it is.
            task: The task.
            to_sum: The stored content of the task.
            steps: Freeze the answer.

        Raises:
            Unavailable: The model or the store is down.

        """

        async def ask() -> Answered[ConversationSummary]:
            return await self._answer(owner, to_sum.messages, to_sum.mode, somebody_waits=False)

        return _seen(
            await steps.frozen(owner, task.task_id, "summary", ask, ConversationSummary),
            to_sum.mode,
        )

    async def _answer(
        self, owner: Owner, messages: Sequence[Message], mode: Mode, *, somebody_waits: bool
    ) -> Answered[ConversationSummary]:
        fast = mode == "fast"
        if self._agents is self._rules:
            return await self._by_rule(owner, messages, fast, somebody_waits)
        try:
            async with asyncio.timeout(FAST_WITHIN_S if fast and somebody_waits else None):
                return await self._agents.summarise(owner, messages, fast=fast)
        except AgentFailed as error:
            log.warning("the summariser failed, rules answer instead: %s", error.detail)
        except (Unavailable, TimeoutError) as error:
            if not (fast and somebody_waits):
                raise
            log.warning("the summariser is not waited for, rules answer instead: %s", error)
        answer = await self._by_rule(owner, messages, fast, somebody_waits)
        return replace(answer, by_rule=True)

    async def _by_rule(
        self, owner: Owner, messages: Sequence[Message], fast: bool, somebody_waits: bool
    ) -> Answered[ConversationSummary]:
        """The rules' answer.

        Raises Unavailable if a caller would wait too long for it; a task waits for its turn.
        """
        characters = sum(len(message.content) for message in messages) if somebody_waits else 0
        if somebody_waits and self._read and self._read + characters > MAX_READ:
            raise Unavailable(
                "agents", "have too much to read for other callers", retry_after_s=BUSY_S
            )
        self._read += characters
        try:
            return await self._rules.summarise(owner, messages, fast=fast)
        finally:
            self._read -= characters


def _seen(answer: Answered[ConversationSummary], mode: Mode) -> Summary:
    """An answer as callers see it, with its structured part in full mode."""
    structured = answer.value.model_dump(mode="json") if mode == "full" else None
    return Summary(answer.value.narrative, structured, ("agents",) if answer.by_rule else ())


class SummingUp:
    """The work on a summary's task."""

    def __init__(
        self, ledger: Ledger, summaries: Summaries, steps: Steps, finisher: TaskFinisher
    ) -> None:
        self._ledger, self._summaries, self._steps, self._finisher = (
            ledger,
            summaries,
            steps,
            finisher,
        )

    async def sum_up(self, lease: Lease) -> RetryLater | None:
        """Summarise and end the task; its callback address gets the result."""
        owner, task = lease.owner, lease.task
        read_set = await self._ledger.look(owner, [task.subject_id])
        document = read_set.documents.get(task.subject_id)
        if (
            document is None
            or read_set.head is None
            or document.body["epoch"] != read_set.head.epoch
        ):
            raise NotFound(f"the messages are gone; they are kept for {KEPT.days} days")
        to_sum = ToSum.model_validate({name: document.body[name] for name in ToSum.model_fields})
        await lease.report("summary", 0.1)
        summary = await self._summaries.frozen(owner, task, to_sum, self._steps)
        result: dict[str, Any] = summary.public()
        await self._finisher.end(
            owner,
            lease.task,
            "formed",
            status="succeeded",
            step=None,
            progress=1.0,
            result=result,
            error=None,
        )
        return None
