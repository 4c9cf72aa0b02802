"""A process that says who it is and then does what it reads: ends, fails, is silent.
What it says last is not flushed.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import threading


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ignored = [
        which.name
        for which in sorted(signal.valid_signals())
        if signal.getsignal(which) is signal.SIG_IGN
    ]
    child = {
        "pid": os.getpid(), "folder": os.getcwd(), "path": sys.path[0], "arguments": sys.argv[1:],
        "name": __name__, "NUMBER": os.environ.get("NUMBER"), "variables": list(os.environ),
        "threads": threading.active_count(), "ignored": ignored,
        "open": [number for number in range(3, 256) if is_open(number)],
    }  # fmt: skip
    sys.stdout.write(f"{json.dumps(child)}\n")
    sys.stdout.flush()
    atexit.register(sys.stdout.write, "words")
    command, _, code = sys.stdin.readline().strip().partition(" ")
    sys.stdout.write("last ")
    if command == "end":
        sys.exit(int(code))
    if command == "say":
        sys.exit("why it ends")
    if command == "fail":
        raise ValueError("why it fails")


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
