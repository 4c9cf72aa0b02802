"""`python -m memory_core.reembed`: replace the vectors of another embedder, of all users.

Run it with the settings of the app after another embedder was set. Each user with vectors of the
former embedder is named, and a task is begun, as by `POST /api/v1/reembed`. A second run reports
the progress of the tasks.

Note: the app or the development host works on the tasks.
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
    """Begin the tasks, and return an exit code.

    0: all users are named. 1: a store did not answer; run it again. 2: wrong settings.
    """
    parser = argparse.ArgumentParser(
        prog="python -m memory_core.reembed",
        description="Replace the vectors that another embedder made, of all users.",
    )
    parser.add_argument("--app", help="only the users of this app")
    parser.add_argument("--dry-run", action="store_true", help="name the users, and begin no task")
    asked = parser.parse_args(arguments)
    try:
        settings = Settings.from_env()
        write_to_terminal(settings.log_level)
        count = asyncio.run(_begin(settings, asked.app, dry_run=asked.dry_run))
    except ValueError as error:
        return _failed(described(error), 2)
    except MemoryCoreError as error:
        return _failed(error, 1)
    users = "user has" if count == 1 else "users have"
    sys.stdout.write(f"{count} {users} vectors of another embedder\n")
    return 0


async def _begin(settings: Settings, app_id: str | None, *, dry_run: bool) -> int:
    """Name each user, and begin missing tasks. Returns the number of users."""
    from memory_core.core import MemoryCore
    from memory_core.domain.requests.maintenance import ReembedInput
    from memory_core.domain.requests.memories import TasksInput
    from memory_core.domain.results import Accepted

    core, count = MemoryCore(settings), 0
    try:
        await core.open()
        async for owner, left in core.foreign_vectors(app_id):
            count += 1
            newest = (await core.tasks(owner, TasksInput(kind="reembed", limit=1))).tasks
            if newest and not newest[0].finished:
                state = f"{newest[0].task_id} is {newest[0].status}, {newest[0].progress:.0%}"
            elif dry_run:
                state = "no task"
            else:
                begun = await core.reembed(owner, ReembedInput())
                assert isinstance(begun, Accepted)
                state = f"{begun.task_id} is begun"
            sys.stdout.write(f"{owner.app_id} {owner.user_id}: {left} vectors to make, {state}\n")
            sys.stdout.flush()
        return count
    finally:
        await core.close()


def _failed(why: object, code: int) -> int:
    sys.stderr.write(f"Not done: {' '.join(str(why).split())}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
