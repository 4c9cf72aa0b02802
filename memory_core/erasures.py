"""`python -m memory_core.erasures`: erase users again whom a restored database brought back.

Run it with the settings of the app after the long-term store was restored from a backup, and
before any caller is let in. When it has ended, no data of these users is read any more.

Note: it does not empty the stores. Tasks do that as soon as the app or the development host runs.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

from memory_core.config import Settings
from memory_core.domain.errors import MemoryCoreError, described
from memory_core.logs import write_to_terminal


def main(arguments: Sequence[str] | None = None) -> int:
    """Erase the users, and return an exit code.

    0: all users are being erased. 1: a store did not answer; run it again. 2: wrong settings.
    """
    parser = argparse.ArgumentParser(
        prog="python -m memory_core.erasures",
        description="Erase again whom a restored backup brought back.",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say how many there are, and change nothing"
    )
    dry_run = parser.parse_args(arguments).dry_run
    try:
        settings = Settings.from_env()
        write_to_terminal(settings.log_level)
        count = asyncio.run(_again(settings, dry_run=dry_run))
    except ValueError as error:
        return _failed(described(error), 2)
    except MemoryCoreError as error:
        return _failed(error, 1)
    users, verb = ("user", "is") if count == 1 else ("users", "are")
    end = (
        ": nothing was changed"
        if dry_run
        else f", and {verb} being erased again: nothing of theirs is read any more"
    )
    sys.stdout.write(f"{count} {users} of this store had been erased{end}\n")
    return 0


async def _again(settings: Settings, *, dry_run: bool) -> int:
    from memory_core.core import MemoryCore

    core = MemoryCore(settings)
    try:
        await core.open()
        return await core.erase_again(dry_run=dry_run)
    finally:
        await core.close()


def _failed(why: object, code: int) -> int:
    sys.stderr.write(f"Not done: {' '.join(str(why).split())}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
