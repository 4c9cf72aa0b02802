"""`python -m bench.backfill`: how long a year of conversations takes until it is told,
and until it is formed, over HTTP.

Made-up conversations of ten messages are brought as one import of one user; with `--posts`, as many
calls at once instead, one a conversation. Told: the last message is found. Formed: no task of the
user's conversations is left. Agents by rule, everything else as it is by default. Progress goes to
stderr. Note: client and host share the cores, so the load at both ends is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.formation import conversations
from bench.host import Host

USER = "ana"
PART_BYTES = 1_048_576
LOOK_S = 0.25
MOST_S = 3_600
ENDED = ("succeeded", "failed", "poisoned", "cancelled")


@dataclass(frozen=True, slots=True)
class Measured:
    """What came out. load: of the last minute, at the beginning and at the end. succeeded: tasks of
    conversations that ended well.
    """

    conversations: int
    way: str
    embedder: str
    told_s: float
    formed_s: float
    succeeded: int
    load_before: float
    load_after: float


class Client:
    """Calls one host."""

    def __init__(self, port: int) -> None:
        self._port = port

    def call(
        self, method: str, path: str, body: bytes = b"", media: str = "application/json"
    ) -> Any:
        """The answer's JSON. Raises RuntimeError when the call is refused."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        try:
            connection.request(method, path, body, {"Content-Type": media})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status >= 300:
            raise RuntimeError(
                f"{method} {path} is answered with {answer.status}: {text.decode()[:300]}"
            )
        return json.loads(text) if text else None

    def unfinished(self) -> int:
        """How many tasks of conversations are not finished, counted up to a hundred a status."""
        query = f"/api/v1/tasks?user_id={USER}&kind=converse&limit=100&status="
        return sum(
            len(self.call("GET", f"{query}{status}")["tasks"]) for status in ("accepted", "running")
        )

    def succeeded(self) -> int:
        """How many tasks of conversations succeeded."""
        count, cursor = 0, ""
        while True:
            page = self.call(
                "GET",
                f"/api/v1/tasks?user_id={USER}&kind=converse&status=succeeded&limit=100{cursor}",
            )
            count += len(page["tasks"])
            if page["next_cursor"] is None:
                return count
            cursor = f"&cursor={page['next_cursor']}"


def bring(client: Client, lines: Sequence[bytes]) -> None:
    """Import the lines and wait until all are told. Raises RuntimeError when that fails."""
    file, path = b"".join(lines), f"/api/v1/users/{USER}/import"
    task_id = client.call("POST", f"{path}?of=conversations")["task_id"]
    parts = [file[at : at + PART_BYTES] for at in range(0, len(file), PART_BYTES)]
    for number, part in enumerate(parts, 1):
        client.call("PUT", f"{path}/{task_id}?part={number}", part, "application/x-ndjson")
    upload = {"parts": len(parts), "sha256": hashlib.sha256(file).hexdigest()}
    client.call("POST", f"{path}/{task_id}/commit", json.dumps(upload).encode())
    while (task := client.call("GET", f"/api/v1/tasks/{task_id}?user_id={USER}"))[
        "status"
    ] not in ENDED:
        _say(f"{task['progress']:4.0%} {task['step'] or ''}")
        time.sleep(LOOK_S)
    if task["status"] != "succeeded":
        raise RuntimeError(f"the import is {task['status']}: {task['error']}")
    _say(f"told: {json.dumps(task['result'])}", last=True)


def post(client: Client, lines: Sequence[bytes]) -> None:
    """Send each conversation by a call of its own, all at once."""
    bodies = [json.dumps({"user_id": USER, **json.loads(line)}).encode() for line in lines]
    with ThreadPoolExecutor(len(bodies)) as pool:
        for _ in pool.map(lambda body: client.call("POST", "/api/v1/memories", body), bodies):
            pass


def measure(folder: Path, count: int, embedder: str, *, posts: bool) -> Measured:
    """Tell `count` conversations to a host of its own, and wait until all are formed."""
    inputs = (
        conversation.model_copy(update={"session_id": f"c{number}"})
        for number, conversation in enumerate(conversations(7, count))
    )
    lines = [
        conversation.model_dump_json(exclude_none=True).encode() + b"\n" for conversation in inputs
    ]
    host = Host(folder, embedder)
    try:
        client, load = Client(host.port), os.getloadavg()[0]
        begun = time.perf_counter()
        (post if posts else bring)(client, lines)
        told_s = time.perf_counter() - begun
        while left := client.unfinished():
            _say(f"to be formed: {left}{' or more' if left >= 100 else ''}")
            if time.perf_counter() - begun > MOST_S:
                raise RuntimeError(f"{left} conversations are not formed after {MOST_S} s")
            time.sleep(LOOK_S)
        formed_s = time.perf_counter() - begun
        _say("formed", last=True)
        way = "posts at once" if posts else "import"
        return Measured(
            count,
            way,
            embedder,
            round(told_s, 1),
            round(formed_s, 1),
            client.succeeded(),
            round(load, 1),
            round(os.getloadavg()[0], 1),
        )
    finally:
        host.stop()


def _say(text: str, *, last: bool = False) -> None:
    """Write over the line before, where stderr is a terminal."""
    terminal = sys.stderr.isatty()
    print(
        f"\r\033[K{text}" if terminal else text,
        end="\n" if last or not terminal else "",
        file=sys.stderr,
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 when a conversation was not formed."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.backfill",
        description="Measures the import of a year of conversations.",
    )
    parser.add_argument("--conversations", type=int, default=500)
    parser.add_argument("--embedder", choices=("hash", "minilm"), default="hash")
    parser.add_argument(
        "--posts", action="store_true", help="send each by POST /api/v1/memories, all at once"
    )
    parser.add_argument("--json", help="write the numbers to this file too")
    options = parser.parse_args(arguments)
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} "
        f"{platform.machine()}",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        measured = measure(
            Path(folder), options.conversations, options.embedder, posts=options.posts
        )
    for name, value in asdict(measured).items():
        print(f"{name.replace('_', ' '):14} {value}")
    if options.json:
        Path(options.json).write_text(json.dumps(asdict(measured), indent=1))
    return int(measured.succeeded != measured.conversations)


if __name__ == "__main__":
    raise SystemExit(main())
