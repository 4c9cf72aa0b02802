"""The hourly timer: it only finds what has to be done and sends it on; the work is the queues'.

Each of its parts is tried, whatever became of the others. Note: that it raises in the end makes nothing be done again. The
host counts it as failed, so that an operator looks; the next hour does what this one could not.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import azure.functions as func

from memory_core.functions import runtime
from memory_core.logs import errors_without_text

if TYPE_CHECKING:
    from memory_core.core import MemoryCore

blueprint = func.Blueprint()
log = logging.getLogger(__name__)


@blueprint.timer_trigger(arg_name="timer", schedule="0 0 * * * *")
async def timer_hourly(timer: func.TimerRequest) -> None:
    """Send for the users whose consolidation is due, send lost messages again, write accesses down, remove files whose time is over."""
    with errors_without_text():
        await send_for_work((await runtime.current()).core)


async def send_for_work(core: MemoryCore) -> None:
    """All parts of the hour. Raises ExceptionGroup as `each` does."""

    async def due() -> str:
        return f"{await core.fan_out()} messages ask for the users who are due"

    async def sweep() -> str:
        swept = await core.sweep()
        report = f"sweep: {swept.users} users with waiting work, {swept.due} tasks overdue, {swept.sent} sent again"
        return f"{report}; it stopped at its limit, and the next one goes on" if swept.capped else report

    async def touches() -> str:
        return f"accesses of {await core.flush_touches()} memories written down"

    async def files() -> str:
        return f"{await core.sweep_files()} blobs of exports and imports removed"

    await each(touches, due, sweep, files)  # accesses first: they make users due


async def each(*parts: Callable[[], Awaitable[str]]) -> None:
    """Do all of them, one after the other, and log what they say. Raises ExceptionGroup of what those that failed have raised."""
    failures = []
    for part in parts:
        try:
            log.info("%s", await part())
        except Exception as error:
            log.exception("the hour goes on without one of its parts: %s", part.__name__)
            failures.append(error)
    if failures:
        raise ExceptionGroup("parts of the hour failed", failures)
