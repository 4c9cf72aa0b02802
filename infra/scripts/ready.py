"""After the app is deployed: ask it whether it is ready, until it is. Roles may still be on their
way; the first start takes a while.

Ready means that every dependency answers the app in its own identity: its first look makes a real
completion and a real embedding, so that a deployment which is missing, or whose model is retired,
is seen here. CURSOR_SECRET signs the question; without it only the status is shown.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable

DEADLINE_S = 600.0
PAUSE_S = 10.0


def signature(secret: str, seconds: int) -> str:
    """What the app takes for a deployment of its own; `memory_core/functions/callers.py`
    makes the same.
    """
    return f"{seconds}.{hmac.new(secret.encode(), f'memory-core readiness {seconds}'.encode(), hashlib.sha256).hexdigest()}"  # noqa: E501


def ask(url: str, secret: str) -> tuple[int, str]:
    """Status and text of `/health/ready`; 0 when nobody answers."""
    headers = {"X-Readiness": signature(secret, int(time.time()))} if secret else {}
    try:
        request = urllib.request.Request(f"{url}/health/ready", headers=headers)  # noqa: S310 - the address of our own deployment
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        return 0, str(error)


def unwell(status: int, text: str) -> list[str]:
    """What is not as it should be, in lines; nothing when all dependencies answer."""
    try:
        told = json.loads(text)
    except ValueError:
        return [f"it answered {status}: {text}"]
    if status == 200 and told.get("status") == "ready":
        return []
    wrong = {
        name: one
        for name, one in told.get("dependencies", {}).items()
        if one.get("status") not in ("ok", "off")
    }
    lines = [
        f"{name} ({one.get('adapter')}) is {one.get('status')}: {one.get('detail')}"
        for name, one in wrong.items()
    ]
    return lines or [f"it answered {status}: {text}"]


def main(
    url: str,
    secret: str = "",
    answer: Callable[[str, str], tuple[int, str]] = ask,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """0 as soon as all dependencies answer; 1, with what did not, after ten minutes."""
    if not url.startswith("https://"):
        print("SERVICE_API_URL is not set: azd env get-values shows it", file=sys.stderr)
        return 1
    end = clock() + DEADLINE_S
    while True:
        status, text = answer(url, secret)
        lines = unwell(status, text)
        if not lines:
            print(f"Ready: {url}\n{text}")
            return 0
        if clock() >= end:
            print(
                f"{url} is not ready after {DEADLINE_S / 60:.0f} minutes:",
                *lines,
                sep="\n  ",
                file=sys.stderr,
            )
            return 1
        sleep(PAUSE_S)


if __name__ == "__main__":
    sys.exit(main(os.environ.get("SERVICE_API_URL", ""), os.environ.get("CURSOR_SECRET", "")))
