"""Commands that run until they are stopped: serve and mcp.

`serve` is the development host, and `mcp` works over stdin and stdout.
"""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Annotated

import typer

from memory_core.cli.command import EPILOG, DataOption, KeyOption, UrlOption, finish
from memory_core.cli.output import Output
from memory_core.cli.target import (
    DATA_VARIABLE,
    DEFAULT_USER,
    URL_VARIABLE,
    USER_VARIABLE,
    default_data_folder,
    key_of,
)
from memory_core.domain.errors import PlainError

app = typer.Typer()


@app.command(epilog=EPILOG)
def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on (MEMORY_HOST, default 127.0.0.1).")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Port, 0 for any free one (MEMORY_PORT, default 7071)."
        ),
    ] = None,
    data: DataOption = None,
) -> None:
    """Run the service on this machine until Ctrl+C. On 127.0.0.1 it needs no key."""

    def act() -> None:
        given = {"MEMORY_HOST": host, "MEMORY_PORT": port}
        os.environ.update({name: str(value) for name, value in given.items() if value is not None})
        os.environ[DATA_VARIABLE] = (
            data or os.environ.get(DATA_VARIABLE) or str(default_data_folder(os.environ))
        )
        from memory_core.localhost.__main__ import run_host
        from memory_core.localhost.host import packaged_functions

        code = run_host(packaged_functions)
        if code:
            raise typer.Exit(code)

    finish(Output(), act)


@app.command(epilog=EPILOG)
def mcp(
    user: Annotated[
        str | None,
        typer.Option(
            help="Whose memories (default: me; with --url: the key's user, or the address's)."
        ),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="Data folder on this machine (MEMORY_DATA, default .memory).")
    ] = None,
    url: UrlOption = None,
    key: KeyOption = None,
) -> None:
    """Speak the Model Context Protocol over stdin and stdout, for agents."""
    finish(Output(), lambda: _speak_mcp(user, data, url, key))


def _speak_mcp(user: str | None, data: str | None, url: str | None, key: str | None) -> None:
    if url is not None and data is not None:
        raise PlainError("give either --data or --url")
    url = url or (os.environ.get(URL_VARIABLE) or None if data is None else None)
    if url is not None:
        from memory_core.cli.remote import serve_address
        from memory_core.logs import write_to_terminal

        write_to_terminal("WARNING")
        _end_at_ctrl_c()
        asyncio.run(
            serve_address(url, key or key_of(os.environ), user or os.environ.get(USER_VARIABLE))
        )
        return
    if key is not None:
        raise PlainError("--key is for --url: a memory on this machine has none")
    if data is not None:
        os.environ[DATA_VARIABLE] = data
    os.environ["MEMORY_AUTH"] = "off"  # only the process that started this one can ask
    os.environ["MEMORY_HOST"] = "127.0.0.1"
    from memory_core.cli.local import serve_folder
    from memory_core.config import Settings
    from memory_core.functions.callers import LOCAL_APP
    from memory_core.logs import write_to_terminal

    settings = Settings.from_env()
    write_to_terminal(settings.log_level)
    _end_at_ctrl_c()
    asyncio.run(
        serve_folder(settings, LOCAL_APP, user or os.environ.get(USER_VARIABLE) or DEFAULT_USER)
    )


def _end_at_ctrl_c() -> None:
    """Let Ctrl+C end the process at once.

    The thread that reads stdin cannot be stopped, and no acknowledged data is lost.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
