"""The hourly timer: it only finds what has to be done and sends it on; the work is the queues'."""

from __future__ import annotations

import logging

import azure.functions as func

from memory_core.functions import runtime

blueprint = func.Blueprint()
log = logging.getLogger(__name__)


@blueprint.timer_trigger(arg_name="timer", schedule="0 0 * * * *")
async def timer_hourly(timer: func.TimerRequest) -> None:
    """Send again the tasks whose messages got lost, write down how often memories were shown, and remove files whose time is over."""
    here = await runtime.current()
    swept = await here.core.sweep()
    log.info("sweep: %d users with waiting work, %d tasks overdue, %d sent again", swept.users, swept.due, swept.sent)
    if swept.capped:
        log.warning("the sweep stopped at its limit; the next one goes on")
    log.info("accesses of %d memories written down", await here.core.flush_touches())
    log.info("%d blobs of exports and imports removed", await here.core.sweep_files())
