"""The queue `consolidation`: messages that name operations over many memories, and those that were taken up too often."""

from __future__ import annotations

import azure.functions as func

from memory_core.functions import runtime
from memory_core.functions.queue_formation import CONNECTION
from memory_core.logs import errors_without_text

blueprint = func.Blueprint()


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
