"""Read the command line and run its command."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence

from memory_core import __version__
from memory_core.domain.errors import MemoryCoreError, PlainError, described
from memory_core.functions.callers import LOCAL_APP
from memory_core.logs import write_to_terminal

KEY_VARIABLE = "MEMORYCORE_KEY"
"""Where the key of a remote memory may stand instead of among the arguments, which other processes see."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command: 0 when it is done, 1 when it could not run, 2 for wrong arguments or settings."""
    given = _parser().parse_args(arguments)
    try:
        return _mcp(given)
    except ValueError as error:
        return _failed(described(error), 2)
    except ModuleNotFoundError as error:
        return _failed(f"{error.name} is not installed; a memory on this machine needs pip install '.[local]'", 1)
    except (OSError, MemoryCoreError) as error:
        return _failed(described(error), 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="memory-core", description="Long-term memory for AI agents.")
    parser.add_argument("--version", action="version", version=f"memory-core {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    mcp = commands.add_parser("mcp", help="speak the Model Context Protocol over stdin and stdout")
    mcp.add_argument("--user", help="whose memories (default: me; with --url: the key's user, or the one of the address)")
    mcp.add_argument("--data", help="folder of a memory on this machine (MEMORY_DATA, default .memory)")
    mcp.add_argument("--url", help="address of a memory elsewhere, such as https://your-app.azurewebsites.net; then --data is not used")
    mcp.add_argument("--key", help=f"API key for --url ({KEY_VARIABLE})")
    return parser


def _mcp(given: argparse.Namespace) -> int:
    if given.url is not None:
        if given.data is not None:
            raise PlainError("give either --data or --url")
        from memory_core.cli.remote import serve_address

        write_to_terminal("WARNING")
        _end_at_ctrl_c()
        asyncio.run(serve_address(given.url, given.key or os.environ.get(KEY_VARIABLE), given.user))
        return 0
    if given.key is not None:
        raise PlainError("--key is for --url: a memory on this machine has none")
    if given.data is not None:
        os.environ["MEMORY_DATA"] = given.data
    os.environ["MEMORY_AUTH"] = "off"  # only the process that started this one can ask
    os.environ["MEMORY_HOST"] = "127.0.0.1"
    from memory_core.cli.local import serve_folder
    from memory_core.config import Settings

    settings = Settings.from_env()
    write_to_terminal(settings.log_level)
    _end_at_ctrl_c()
    asyncio.run(serve_folder(settings, LOCAL_APP, given.user or "me"))
    return 0


def _end_at_ctrl_c() -> None:
    """Let Ctrl+C end the process as it ends others: the thread that reads stdin can't be stopped, and nothing acknowledged is lost."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _failed(why: str, code: int) -> int:
    sys.stderr.write(f"memory-core: {' '.join(why.split())}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
