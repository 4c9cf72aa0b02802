"""A memory on this machine over stdin and stdout, in this process.

It has queues and timers, as in the development host. Several such processes, and a development
host, may work on the same data folder.
"""

from __future__ import annotations

import os
from datetime import timedelta

from memory_core.cli.stdio import answered_stdio
from memory_core.config import Settings
from memory_core.domain.errors import PlainError
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner, check_name
from memory_core.functions import runtime
from memory_core.functions.callers import LOCAL_CALLER
from memory_core.functions.mcp.callers import ToolCaller
from memory_core.functions.mcp.server import build_server
from memory_core.localhost.host import GRACE_S, packaged_functions, sorted_by_trigger
from memory_core.localhost.triggers import Queues


async def serve_folder(settings: Settings, app_id: str, user_id: str) -> None:
    """Serve a data folder until stdin ends.

    Args:
        settings: The settings of this process.
        app_id: The app of the user.
        user_id: The user.

    Raises:
        ValueError: A setting or the user is wrong.
        Unavailable: A store cannot be opened.

    """
    try:
        owner = Owner(app_id, check_name(user_id))
    except ValueError as error:
        raise PlainError(f"--user {error}") from None
    app, options = packaged_functions()
    served = sorted_by_trigger(app, os.environ)
    queues = Queues(served.queues, options, timedelta(seconds=settings.queue_visibility_s))
    try:
        here = await runtime.start(settings)
        served.timers.start()
        queues.start(here.core.queue)
        server = build_server(ToolCaller(here.core, owner, LOCAL_CALLER, Call(actor="mcp")))
        async with answered_stdio() as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())
    finally:
        await served.timers.stop()
        await queues.stop(GRACE_S)
        await runtime.close()
