"""Functions that the host starts: queues, the hourly timer, and the warm-up of an instance.

Callers are not checked here, since only the host can call a queue's function. A function that
returns has ended its message. A function that raises gets it again, and after the last attempt the
host moves the message to the poison queue.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import azure.functions as func
from azure.functions.warmup import WarmUpContext

from memory_core.domain.errors import Unavailable
from memory_core.functions import runtime
from memory_core.logs import errors_without_text

if TYPE_CHECKING:
    from memory_core.core import MemoryCore


log = logging.getLogger(__name__)
blueprint = func.Blueprint()
CONNECTION = "QueueStorage"
"""App setting, or prefix of app settings, for the connection to the queues.

The queues are not in the account that the host keeps for itself.
"""


@blueprint.queue_trigger(arg_name="msg", queue_name="formation", connection=CONNECTION)
async def queue_formation(msg: func.QueueMessage) -> None:
    """Form the conversation of a task, or let its message come again."""
    with errors_without_text():
        here = await runtime.current()
        await here.core.work(msg.get_body().decode())


@blueprint.queue_trigger(arg_name="msg", queue_name="formation-poison", connection=CONNECTION)
async def queue_formation_poison(msg: func.QueueMessage) -> None:
    """Mark the task of a message that came too often as poisoned.

    A task that went on without the message is not marked.
    """
    with errors_without_text():
        here = await runtime.current()
        await here.core.give_up(msg.get_body().decode())


# The queue `consolidation`: messages for operations over many memories, and its poison queue.


@blueprint.queue_trigger(arg_name="msg", queue_name="consolidation", connection=CONNECTION)
async def queue_consolidation(msg: func.QueueMessage) -> None:
    """Do the operation of a task, or let its message come again."""
    with errors_without_text():
        here = await runtime.current()
        await here.core.work(msg.get_body().decode(), "consolidation")


@blueprint.queue_trigger(arg_name="msg", queue_name="consolidation-poison", connection=CONNECTION)
async def queue_consolidation_poison(msg: func.QueueMessage) -> None:
    """Mark the task of a message that came too often as poisoned.

    A task that went on without the message is not marked.
    """
    with errors_without_text():
        here = await runtime.current()
        await here.core.give_up(msg.get_body().decode(), "consolidation")


# The queue `webhooks`: messages for deliveries to callback addresses, and its poison queue.
#
# A receiver that fails is no failure of the function, which sends its message again itself. Only
# unexpected failures end in the poison queue.


@blueprint.queue_trigger(arg_name="msg", queue_name="webhooks", connection=CONNECTION)
async def queue_webhooks(msg: func.QueueMessage) -> None:
    """Try a delivery, or let its message come again."""
    with errors_without_text():
        here = await runtime.current()
        await here.core.work(msg.get_body().decode(), "webhooks")


@blueprint.queue_trigger(arg_name="msg", queue_name="webhooks-poison", connection=CONNECTION)
async def queue_webhooks_poison(msg: func.QueueMessage) -> None:
    """Mark the delivery of a message that came too often as poisoned.

    A delivery that went on without the message is not marked.
    """
    with errors_without_text():
        here = await runtime.current()
        await here.core.give_up(msg.get_body().decode(), "webhooks")


@blueprint.warm_up_trigger(arg_name="context")
async def warmup(context: WarmUpContext) -> None:
    """Open the clients of an added instance and load the embedder, before its first request.

    A dependency that is down is left to that request, which reports it to its caller.
    """
    with errors_without_text():
        try:
            here = await runtime.current()
            await here.core.warm_up()
        except Unavailable as error:
            log.warning("this instance is not warm: %s", error)


# The hourly timer: it finds due work and sends messages for it; the queues' functions do the work.
#
# Each part is tried, even if others fail. Note: an error at the end does not repeat the run. The
# host counts it as failed, so that an operator looks; the next hour does the rest.


@blueprint.timer_trigger(arg_name="timer", schedule="0 0 * * * *")
async def timer_hourly(timer: func.TimerRequest) -> None:
    """Do the work of the hour, in order.

    It stores access counts, queues messages for the users whose consolidation is due, sends lost
    messages again, and removes expired files.
    """
    with errors_without_text():
        await send_for_work((await runtime.current()).core)


async def send_for_work(core: MemoryCore) -> None:
    """Do all parts of the hour. Raises ExceptionGroup as `each` does."""

    async def due() -> str:
        return f"{await core.fan_out()} messages ask for the users who are due"

    async def sweep() -> str:
        swept = await core.sweep()
        report = (
            f"sweep: {swept.users} users with waiting work, {swept.due} tasks overdue, "
            f"{swept.sent} sent again"
        )
        return (
            f"{report}; it stopped at its limit, and the next one goes on"
            if swept.capped
            else report
        )

    async def accesses() -> str:
        return f"accesses of {await core.flush_accesses()} memories written down"

    async def files() -> str:
        return f"{await core.sweep_files()} blobs of exports and imports removed"

    await each(accesses, due, sweep, files)  # accesses first: they make users due


async def each(*parts: Callable[[], Awaitable[str]]) -> None:
    """Run all parts in turn and log their results.

    Raises ExceptionGroup of the errors of the failed parts.
    """
    failures = []
    for part in parts:
        try:
            log.info("%s", await part())
        except Exception as error:
            log.exception("the hour goes on without one of its parts: %s", part.__name__)
            failures.append(error)
    if failures:
        raise ExceptionGroup("parts of the hour failed", failures)
