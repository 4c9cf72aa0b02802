"""Functions that no caller starts: queues, the hourly timer, and the warm-up of a new instance.

Callers are not checked here, since only the host can call a queue's function. A function that
returns has ended its message; one that raises gets it again, and after the last attempt the host
moves it to the poison queue.
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
"""The app setting, or the prefix of those, that says where the host finds the queues: not in the
account that it keeps for itself.
"""


@blueprint.queue_trigger(arg_name="msg", queue_name="formation", connection=CONNECTION)
async def queue_formation(msg: func.QueueMessage) -> None:
    """Form the conversation of one task, or see to it that its message comes again."""
    with errors_without_text():
        here = await runtime.current()
        await here.core.work(msg.get_body().decode())


@blueprint.queue_trigger(arg_name="msg", queue_name="formation-poison", connection=CONNECTION)
async def queue_formation_poison(msg: func.QueueMessage) -> None:
    """Mark the task of a message that came too often as poisoned, unless it went on without it."""
    with errors_without_text():
        here = await runtime.current()
        await here.core.give_up(msg.get_body().decode())


# The queue `consolidation`: messages that name operations over many memories,
# and those that were taken up too often.


@blueprint.queue_trigger(arg_name="msg", queue_name="consolidation", connection=CONNECTION)
async def queue_consolidation(msg: func.QueueMessage) -> None:
    """Do the operation of one task, or see to it that its message comes again."""
    with errors_without_text():
        here = await runtime.current()
        await here.core.work(msg.get_body().decode(), "consolidation")


@blueprint.queue_trigger(arg_name="msg", queue_name="consolidation-poison", connection=CONNECTION)
async def queue_consolidation_poison(msg: func.QueueMessage) -> None:
    """Mark the task of a message that came too often as poisoned, unless it went on without it."""
    with errors_without_text():
        here = await runtime.current()
        await here.core.give_up(msg.get_body().decode(), "consolidation")


# The queue `webhooks`: messages that name deliveries to callback addresses,
# and those that were taken up too often.
#
# A receiver that fails is no failure of the function: it sends its message again itself. Only what
# was not foreseen ends in the poison queue.


@blueprint.queue_trigger(arg_name="msg", queue_name="webhooks", connection=CONNECTION)
async def queue_webhooks(msg: func.QueueMessage) -> None:
    """Try one delivery, or see to it that its message comes again."""
    with errors_without_text():
        here = await runtime.current()
        await here.core.work(msg.get_body().decode(), "webhooks")


@blueprint.queue_trigger(arg_name="msg", queue_name="webhooks-poison", connection=CONNECTION)
async def queue_webhooks_poison(msg: func.QueueMessage) -> None:
    """Mark the delivery of a message that came too often as poisoned, unless it went
    on without it.
    """
    with errors_without_text():
        here = await runtime.current()
        await here.core.give_up(msg.get_body().decode(), "webhooks")


@blueprint.warm_up_trigger(arg_name="context")
async def warmup(context: WarmUpContext) -> None:
    """Open the clients of an instance that was added, and load the embedder, before its
    first request.

    A dependency that is down is left to that request, which says so to its caller.
    """
    with errors_without_text():
        try:
            here = await runtime.current()
            await here.core.warm_up()
        except Unavailable as error:
            log.warning("this instance is not warm: %s", error)


# The hourly timer: it only finds what has to be done and sends it on; the work is the queues'.
#
# Each of its parts is tried, whatever became of the others. Note: that it raises in the end makes
# nothing be done again. The host counts it as failed, so that an operator looks;
# the next hour does what this one could not.


@blueprint.timer_trigger(arg_name="timer", schedule="0 0 * * * *")
async def timer_hourly(timer: func.TimerRequest) -> None:
    """Write accesses down, send for the users whose consolidation is due, send lost messages again,
    remove files whose time is over: in this order.
    """
    with errors_without_text():
        await send_for_work((await runtime.current()).core)


async def send_for_work(core: MemoryCore) -> None:
    """All parts of the hour. Raises ExceptionGroup as `each` does."""

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

    async def touches() -> str:
        return f"accesses of {await core.flush_touches()} memories written down"

    async def files() -> str:
        return f"{await core.sweep_files()} blobs of exports and imports removed"

    await each(touches, due, sweep, files)  # accesses first: they make users due


async def each(*parts: Callable[[], Awaitable[str]]) -> None:
    """Do all of them, one after the other, and log what they say. Raises ExceptionGroup of what
    those that failed have raised.
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
