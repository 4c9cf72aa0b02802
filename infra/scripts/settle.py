"""After roles were given and before the app is deployed: wait until they are likely to
hold everywhere.

A new role takes up to some minutes to be known to all of Azure, and the first thing that the app's
identity does is to read its package. One would get wrong: that a role is listed does not say that
it holds. So it waits until the newest one is two minutes old.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timezone

AGE_S = 120.0


def newest(group: str) -> datetime | None:
    """When the newest role in a resource group was given; None when that can't be told."""
    command = [
        shutil.which("az") or "az",
        "role",
        "assignment",
        "list",
        "--resource-group",
        group,
        "--query",
        "[].createdOn",
        "--output",
        "json",
    ]
    done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
    times = json.loads(done.stdout or "[]") if done.returncode == 0 else []
    return latest(times)


def latest(times: Sequence[str]) -> datetime | None:
    """The latest of such times as Azure writes them, with seven digits of a second or none."""
    moments = [
        datetime.fromisoformat(one[:19]).replace(tzinfo=timezone.utc) for one in times if one
    ]
    return max(moments, default=None)


def remaining(given: datetime | None, now: datetime) -> float:
    """Seconds to wait; the whole time when it is not known when roles were given."""
    return AGE_S if given is None else min(AGE_S, max(0.0, AGE_S - (now - given).total_seconds()))


def main(group: str, sleep: Callable[[float], None] = time.sleep) -> int:
    """Wait; 0."""
    wait = remaining(newest(group) if group else None, datetime.now(timezone.utc))
    if wait:
        print(f"Waiting {wait:.0f} s for roles to be known everywhere")
        sleep(wait)
    return 0


if __name__ == "__main__":
    sys.exit(main(os.environ.get("AZURE_RESOURCE_GROUP", "")))
