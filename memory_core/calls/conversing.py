"""The calls of MemoryCore about what is formed by itself: what is told, the tasks that work on it, and those who look after them."""

from __future__ import annotations

from memory_core.bootstrap.phases import Consolidation, Formation
from memory_core.domain.requests import ConverseInput, TasksInput
from memory_core.domain.results import Accepted, Buffered, Call, Summary, Swept, TaskPage
from memory_core.domain.scope import Owner, check_app_id, check_name, checked
from memory_core.domain.spoken import AgentMemoryInput, BatchInput, SummaryInput
from memory_core.domain.task import Task
from memory_core.ledger.ids import keyed
from memory_core.ports import QueueName
from memory_core.tasks.worker import Tasking, Worker
from memory_core.telemetry import Telemetry

NO_CALL = Call()


class Conversing:
    """A part of `MemoryCore`, which supplies what it needs."""

    _formation: Formation
    _consolidation: Consolidation
    _tasking: Tasking
    _worker: Worker
    _telemetry: Telemetry

    async def converse(self, owner: Owner, told: ConverseInput, call: Call = NO_CALL) -> Accepted:
        """Take a conversation in, to be formed into memories by itself. Durable when it returns.

        Raises Invalid (a callback address that is not called), Conflict, TooLarge, Unavailable.
        """
        with self._telemetry.operation("converse"):
            return await self._formation.converser.converse(checked(owner), told, keyed(call, "converse", told))

    async def agent_memory(self, owner: Owner, told: AgentMemoryInput, call: Call = NO_CALL) -> Accepted:
        """Take an agent's own words in, to become one memory by itself. Durable when it returns. Raises as `converse` does."""
        with self._telemetry.operation("create_agent_memory"):
            return await self._formation.converser.remember_words(checked(owner), told, keyed(call, "agent_memory", told))

    async def summary(self, app_id: str, told: SummaryInput) -> Summary:
        """Sum up messages at once; nothing of them is kept. Raises Unavailable."""
        with self._telemetry.operation("generate_conversation_summary"):
            return await self._formation.summaries.at_once(check_app_id(app_id), told)

    async def summary_later(self, owner: Owner, told: SummaryInput, call: Call = NO_CALL) -> Accepted:
        """Sum up by a task that tells its callback address. Raises as `converse` does."""
        with self._telemetry.operation("generate_conversation_summary"):
            return await self._formation.summaries.later(checked(owner), told, keyed(call, "summary", told))

    async def batch(self, owner: Owner, told: BatchInput, call: Call = NO_CALL) -> Buffered:
        """Gather messages of a session, to be formed together. Durable when it returns.

        Raises Conflict, TooLarge, HeadMoved, Unavailable.
        """
        with self._telemetry.operation("batch"):
            return await self._formation.batches.append(checked(owner), told, keyed(call, "batch", told))

    async def batch_state(self, owner: Owner, session_id: str) -> Buffered:
        """What is gathered of a session and waits."""
        with self._telemetry.operation("batch_state"):
            return await self._formation.batches.state(checked(owner), check_name(session_id))

    async def batch_flush(self, owner: Owner, session_id: str, call: Call = NO_CALL) -> Accepted | None:
        """Form what waits, now; None when nothing does. Raises Conflict, HeadMoved, Unavailable."""
        with self._telemetry.operation("batch_flush"):
            return await self._formation.batches.flush(checked(owner), check_name(session_id), keyed(call, "batch_flush", session_id))

    async def task(self, owner: Owner, task_id: str) -> Task:
        """One task as it is, with the log of deliveries in its result. Raises NotFound."""
        with self._telemetry.operation("tasks"):
            found = await self._tasking.tasks.get(checked(owner), task_id)
            return await self._formation.deliveries.shown(owner, found)

    async def tasks(self, owner: Owner, query: TasksInput) -> TaskPage:
        """One page of tasks, newest first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("tasks"):
            return await self._tasking.tasks.page(checked(owner), query.status, query.kind, query.cursor, query.limit)

    async def retry(self, owner: Owner, task_id: str, call: Call = NO_CALL) -> Task:
        """Begin again with a task that failed, is poisoned or waits. Raises NotFound, Conflict."""
        with self._telemetry.operation("retry_task"):
            return await self._tasking.steering.retry(checked(owner), task_id, keyed(call, "retry", task_id))

    async def cancel(self, owner: Owner, task_id: str, call: Call = NO_CALL) -> Task:
        """End a task that is not done; what it has formed stays. Raises NotFound, Conflict."""
        with self._telemetry.operation("cancel_task"):
            return await self._tasking.steering.cancel(checked(owner), task_id, keyed(call, "cancel", task_id))

    async def work(self, message: str, queue: QueueName = "formation") -> None:
        """Do what a message of a queue asks for. When it raises, the message must come again."""
        with self._telemetry.operation("work"):
            if queue == "consolidation" and await self._consolidation.fan_out.work(message):
                return
            await self._worker.work(message, queue)

    async def give_up(self, message: str, queue: QueueName = "formation") -> None:
        """A message came too often and ended in the queue's poison queue: say so on its task."""
        with self._telemetry.operation("give_up"):
            await self._worker.give_up(message, queue)

    async def sweep(self, *, dry_run: bool = False) -> Swept:
        """Send again what got lost on its way: the hourly timer's work. Raises Unavailable."""
        with self._telemetry.operation("sweep"):
            return await self._tasking.sweep.run(dry_run=dry_run)
