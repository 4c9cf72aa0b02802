"""`python -m memory_core.verify`: find memories that differ from their slots' timelines.

It names every memory whose stored fields differ from the timeline of its slot. It only reads. Run
it with the settings of the app. Note: data of earlier versions has no slot logs yet; a slot gets
its log at its next write.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

from memory_core.config import Settings
from memory_core.domain.errors import MemoryCoreError, described
from memory_core.domain.scope import Owner
from memory_core.logs import write_to_terminal


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the differences, and return an exit code.

    0: no difference. 1: a difference, or a store did not answer. 2: wrong settings.
    """
    parser = argparse.ArgumentParser(
        prog="python -m memory_core.verify",
        description="Compare stored truths with the logs of their slots.",
    )
    parser.add_argument("--app", help="only the users of this app")
    parser.add_argument("--user", help="only this user of the app")
    asked = parser.parse_args(arguments)
    try:
        settings = Settings.from_env()
        write_to_terminal(settings.log_level)
        lines = asyncio.run(_differences(settings, asked.app, asked.user))
    except ValueError as error:
        return _failed(described(error), 2)
    except MemoryCoreError as error:
        return _failed(error, 1)
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.write(f"{len(lines)} {'difference' if len(lines) == 1 else 'differences'}\n")
    return 1 if lines else 0


async def _differences(settings: Settings, app: str | None, user: str | None) -> list[str]:
    from memory_core.core import MemoryCore

    core = MemoryCore(settings)
    try:
        await core.open()
        only = Owner(app, user) if app is not None and user is not None else None
        return [line async for line in core.slot_differences(app, only)]
    finally:
        await core.close()


def _failed(why: object, code: int) -> int:
    sys.stderr.write(f"Not done: {' '.join(str(why).split())}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
