"""The queue `webhooks`: messages that name deliveries to callback addresses, and those that were taken up too often.

A receiver that fails is no failure of the function: it sends its message again itself. Only what was not foreseen ends in the poison queue.
"""

from __future__ import annotations

import azure.functions as func

from memory_core.functions import runtime
from memory_core.functions.queue_formation import CONNECTION
from memory_core.logs import errors_without_text

blueprint = func.Blueprint()


@blueprint.queue_trigger(arg_name="msg", queue_name="webhooks", connection=CONNECTION)
async def queue_webhooks(msg: func.QueueMessage) -> None:
    """Try one delivery, or see to it that its message comes again."""
    with errors_without_text():
        here = await runtime.current()
        await here.core.work(msg.get_body().decode(), "webhooks")


@blueprint.queue_trigger(arg_name="msg", queue_name="webhooks-poison", connection=CONNECTION)
async def queue_webhooks_poison(msg: func.QueueMessage) -> None:
    """Mark the delivery of a message that came too often as poisoned, unless it went on without it."""
    with errors_without_text():
        here = await runtime.current()
        await here.core.give_up(msg.get_body().decode(), "webhooks")
