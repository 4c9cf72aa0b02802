"""`memory-core import` of a long chat history: killed, resumed, counted and timed.

    python -m bench.history_import --messages 50000

A host of its own, an export as ChatGPT writes it, the command as people type it. It is killed
(SIGKILL) after the share KILL_AT, begun again, and then every message is looked for: each has to be
there once, in its place. Exit code 1 where one is missing or doubled.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from bench.host import Host

ROOT = Path(__file__).resolve().parents[1]
KILL_AT = 0.4
TURNS = 10
"""Messages a conversation."""
BEGINNING, SECONDS_APART = 1_700_000_000, 60
WORDS = [
    "tea",
    "rain",
    "garden",
    "train",
    "letter",
    "bridge",
    "violin",
    "market",
    "winter",
    "harbour",
    "bicycle",
    "lantern",
    "orchard",
    "recipe",
    "museum",
    "ferry",
]


def conversations(count: int) -> Iterator[dict[str, Any]]:
    """Conversations in the form of ChatGPT's export, each message with a text of its own."""
    rng = random.Random(1)
    for number in range(count):
        mapping: dict[str, Any] = {
            "root": {"id": "root", "message": None, "parent": None, "children": ["n0"]}
        }
        for turn in range(TURNS):
            text = f"{number}-{turn}: {' '.join(rng.choices(WORDS, k=12))}"
            moment = BEGINNING + (number * TURNS + turn) * SECONDS_APART
            mapping[f"n{turn}"] = {
                "id": f"n{turn}",
                "parent": f"n{turn - 1}" if turn else "root",
                "children": [f"n{turn + 1}"] if turn + 1 < TURNS else [],
                "message": {
                    "id": f"m{number}-{turn}",
                    "author": {"role": ("user", "assistant")[turn % 2]},
                    "create_time": moment,
                    "content": {"content_type": "text", "parts": [text]},
                },
            }
        yield {
            "id": f"c{number}",
            "title": f"Conversation {number}",
            "create_time": BEGINNING + number * TURNS * SECONDS_APART,
            "mapping": mapping,
            "current_node": f"n{TURNS - 1}",
        }


def calls_sent(states: Path) -> int:
    """The calls that the command has written down as acknowledged; one a conversation."""
    return sum(json.loads(file.read_bytes())["calls"] for file in states.glob("*.json"))


def main() -> int:
    """Import, kill, resume, compare; prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=50_000, help=f"a multiple of {TURNS}")
    parser.add_argument("--embedder", choices=["hash", "minilm"], default="hash")
    options = parser.parse_args()
    count = options.messages // TURNS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "conversations.json"
        file.write_text(json.dumps(list(conversations(count))), encoding="utf-8")
        host = Host(folder / "data", options.embedder)
        try:
            return _measure(host, folder, file, count)
        finally:
            host.kill()


def _measure(host: Host, folder: Path, file: Path, count: int) -> int:
    address = f"http://127.0.0.1:{host.port}"
    environment = {
        **os.environ,
        "MEMORY_CORE_URL": address,
        "MEMORY_CORE_USER": "ana",
        "XDG_STATE_HOME": str(folder / "state"),
    }
    command = [sys.executable, "-m", "memory_core.cli", "import", str(file), "--no-wait"]
    states = folder / "state" / "memory-core" / "imports"
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    while process.poll() is None and calls_sent(states) < KILL_AT * count:
        time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    killed = calls_sent(states)
    first_s = time.perf_counter() - began
    began = time.perf_counter()
    report = json.loads(
        subprocess.run(
            [*command, "--json"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True
        ).stdout
    )
    second_s = time.perf_counter() - began
    texts: Counter[str] = Counter()
    with httpx.Client(base_url=address, timeout=60) as client:
        for number in range(count):
            answer = client.get(
                f"/api/v1/sessions/chatgpt-c{number}/messages",
                params={"user_id": "ana", "limit": 100},
            )
            texts.update(message["content"] for message in answer.json().get("messages", ()))
    missing = count * TURNS - len(texts)
    doubled = sum(times - 1 for times in texts.values())
    print(f"messages {count * TURNS}, file {file.stat().st_size / 1e6:.1f} MB")
    print(
        f"killed after {killed * TURNS} messages in {first_s:.0f} s; the rest in {second_s:.0f} s"
    )
    print(
        f"rate {count * TURNS / (first_s + second_s):.0f} messages a second; reported "
        f"{report['new']} new, {report['known']} known"
    )
    print(f"missing {missing}, doubled {doubled}")
    return int(bool(missing or doubled))


if __name__ == "__main__":
    sys.exit(main())
