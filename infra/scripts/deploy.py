"""`azd deploy`, again with growing pauses while it fails: after a first provisioning, mostly for a role that not all of Azure knows yet."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

PAUSES_S = (30.0, 60.0, 120.0, 240.0)


def azd() -> int:
    """One try; what azd returned."""
    return subprocess.run(["azd", "deploy", "--no-prompt"]).returncode  # noqa: S607


def main(attempt: Callable[[], int] = azd, sleep: Callable[[float], None] = time.sleep) -> int:
    """0 as soon as one try succeeds, else what the last one returned."""
    for pause in PAUSES_S:
        if (returned := attempt()) == 0:
            return 0
        print(f"azd deploy returned {returned}; once more in {pause:.0f} s", file=sys.stderr)
        sleep(pause)
    return attempt()


if __name__ == "__main__":
    sys.exit(main())
