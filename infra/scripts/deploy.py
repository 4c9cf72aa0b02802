"""`azd deploy`, again with growing pauses while it fails: after a first provisioning, mostly for a
role that not all of Azure knows yet.

Another command that deploys, `az functionapp …` after Terraform, is written behind it:
`python3 infra/scripts/deploy.py az functionapp …`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

PAUSES_S = (30.0, 60.0, 120.0, 240.0)
AZD = ("azd", "deploy", "--no-prompt")


def run(command: Sequence[str]) -> int:
    """One try; what the command returned."""
    return subprocess.run(command).returncode  # noqa: S603


def main(attempt: Callable[[], int], sleep: Callable[[float], None] = time.sleep) -> int:
    """0 as soon as one try succeeds, else what the last one returned."""
    for pause in PAUSES_S:
        if (returned := attempt()) == 0:
            return 0
        print(f"it returned {returned}; once more in {pause:.0f} s", file=sys.stderr)
        sleep(pause)
    return attempt()


if __name__ == "__main__":
    sys.exit(main(partial(run, sys.argv[1:] or AZD)))
