"""After the app is deployed: ask it whether it is ready, until it is. Roles may still be on their way; the first start takes a while."""

from __future__ import annotations

import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable

DEADLINE_S = 600.0
PAUSE_S = 10.0


def ask(url: str) -> tuple[int, str]:
    """Status and text of `/health/ready`; 0 when nobody answers."""
    try:
        with urllib.request.urlopen(f"{url}/health/ready", timeout=30) as answer:  # noqa: S310 - the address of our own deployment
            return answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        return 0, str(error)


def main(
    url: str,
    answer: Callable[[str], tuple[int, str]] = ask,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """0 as soon as it answers 200; 1, with its last answer, after ten minutes."""
    if not url.startswith("https://"):
        print("SERVICE_API_URL is not set: azd env get-values shows it", file=sys.stderr)
        return 1
    end = clock() + DEADLINE_S
    while True:
        status, text = answer(url)
        if status == 200:
            print(f"Ready: {url}\n{text}")
            return 0
        if clock() >= end:
            print(f"{url} is not ready after {DEADLINE_S / 60:.0f} minutes; it answered {status}: {text}", file=sys.stderr)
            return 1
        sleep(PAUSE_S)


if __name__ == "__main__":
    sys.exit(main(os.environ.get("SERVICE_API_URL", "")))
