"""The queue `formation`: messages that name tasks, and those that were taken up too often.

Callers are not checked here, since only the host can call a queue's function. A function that returns has ended its message; one
that raises gets it again, and after the last attempt the host moves it to the poison queue.
"""

from __future__ import annotations

import azure.functions as func

from memory_core.functions import runtime
from memory_core.logs import errors_without_text

blueprint = func.Blueprint()
CONNECTION = "QueueStorage"
"""The app setting, or the prefix of those, that says where the host finds the queues: not in the account that it keeps for itself."""


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
