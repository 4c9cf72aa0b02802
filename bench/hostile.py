"""`python -m bench.hostile`: how long /health waits while clients send the worst texts.

A host of its own, with the embedded stores and the default embedder. Each client sends summaries
and conversations of texts that were made to be slow: long runs of one character or word, with and
without what spoils a match. Another process asks for /health all the while,
and counts how long each answer takes.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from bench.host import Host
from bench.load import Ask, Connection, ask
from bench.tables import percentile
from bench.texts import text

SEED, CLIENTS = 24, 20
BETWEEN_LOOKS_S = 0.05
MESSAGES, MESSAGE, ALONE = 200, 4_900, 31_000
"""Messages of a conversation of 1 MiB, the bytes of each, and the bytes of one that
is sent alone.
"""
PIECES = (
    ".", ". ", "!", "?", "…", ",", ", ", ";", ":", " ", "\t", "\n", " \n", "\n\n", "a", "A", "1",
    "_", "-", "'", '"', "“", "‘", "«", "`",
    "~", "<", ">", "> a\n", "<memory>", "</memory>", "```\n", "{", "{a:", "[", "(", "(1", "*", "#",
    "=", "a=b\n", "/", "\\", "@", "a@b.", "http://a/",
    "é", "e\u0301", "\u200d", "👍🏽", "日", "あ", "한", "ア", "й", "ا", "a.", "a ", "a'", "1,",
    "1.", "1 ", "x9", "aB", "\u0301\u0316", "‘a’",
    "also ", "now ", "do ", "really ", "as at ", "in my ", "I am ", "I meant x not ", "oh no ",
    "my ", "and ", "but ", "not ", "no longer ", "since ", "it, ", "A. ", "I live in Aa. ",
    "I like tea. ", "I prefer a over b. ", "my sister Al ", "said: ", "for example: ", "n't ",
    "in two days ", "on Monday ", "last week ", "2020-01-", "ich wohne seit ", "j'habite ",
    "relevant memories:\n", "system: a\n",
)  # fmt: skip
SPOILERS = ("", "a", "7", "\x01", "\n", "。")


@dataclass(slots=True)
class Sent:
    """What came of the clients' requests: how many answers of each status, and the seconds of each
    kind's answers.
    """

    statuses: Counter[str] = field(default_factory=Counter)
    times: dict[str, list[float]] = field(default_factory=dict)


def hostile(chance: random.Random, length: int) -> str:
    """One of the worst texts, of that many bytes as JSON; one in eight is plain prose."""
    if chance.random() < 0.125:
        return " ".join(text(chance) for _ in range(length // 150 + 1))[:length]
    piece, spoiler = chance.choice(PIECES), chance.choice(SPOILERS)
    room = (length - 8) // len(orjson.dumps(piece).strip(b'"'))
    taken = piece * room + spoiler
    return taken if taken.strip() else taken + "a"


def requests(chance: random.Random, user: str, count: int) -> list[Ask]:
    """A client's requests: short and long summaries, fast and full, and conversations of 1 MiB."""
    asks = []
    for number in range(count):
        kind = chance.choice(
            ("summary of one", "summary of one", "summary of 200", "conversation of 200")
        )
        if kind == "conversation of 200":
            messages: list[Any] = [
                {
                    "role": "user",
                    "content": hostile(chance, MESSAGE),
                    "timestamp": f"2025-01-01T{hour // 60:02d}:{hour % 60:02d}:00Z",
                }
                for hour in range(MESSAGES)
            ]
            asks.append(
                ask(kind, "POST", "/api/v1/memories", {"user_id": user, "messages": messages})
            )
        else:
            texts = (
                [hostile(chance, ALONE)]
                if kind == "summary of one"
                else [hostile(chance, MESSAGE) for _ in range(MESSAGES)]
            )
            body = {"messages": texts, "mode": "full" if number % 2 else "fast"}
            asks.append(ask(kind, "POST", "/api/v1/agent/summaries", body))
    return asks


async def client(port: int, asks: Sequence[Ask], until: float, sent: Sent) -> None:
    """Send the requests over and over until the time has come."""
    connection = await Connection.to(port)
    number = 0
    while time.monotonic() < until:
        kind, wire = asks[number % len(asks)]
        number += 1
        began = time.monotonic()
        try:
            answer = await connection.send(wire)
        except (OSError, asyncio.IncompleteReadError):
            sent.statuses[f"{kind}: connection broken"] += 1
            connection = await Connection.to(port)
            continue
        sent.statuses[f"{kind}: {answer.status}"] += 1
        sent.times.setdefault(kind, []).append(time.monotonic() - began)
        if answer.status in (429, 503):
            await asyncio.sleep(1)
    connection.close()


async def _look(port: int, seconds: float) -> list[float]:
    connection = await Connection.to(port)
    wire = ask("health", "GET", "/health").wire
    until, times = time.monotonic() + seconds, []
    while time.monotonic() < until:
        began = time.monotonic()
        await connection.send(wire)
        times.append(time.monotonic() - began)
        await asyncio.sleep(BETWEEN_LOOKS_S)
    connection.close()
    return times


def look(port: int, seconds: float) -> list[float]:
    """Seconds of each answer of /health, asked for one after the other."""
    return asyncio.run(_look(port, seconds))


async def attack(port: int, seconds: float, clients: int, seed: int) -> tuple[list[float], Sent]:
    """Send the worst texts, and look at /health meanwhile."""
    sent = Sent()
    chances = [random.Random(f"{seed} {number}") for number in range(clients)]
    asks = [requests(chance, f"user{number}", 6) for number, chance in enumerate(chances)]
    with ProcessPoolExecutor(1) as pool:
        looking = asyncio.get_running_loop().run_in_executor(pool, look, port, seconds)
        until = time.monotonic() + seconds
        sending = [
            asyncio.create_task(client(port, client_asks, until, sent)) for client_asks in asks
        ]
        times = await looking
        await asyncio.wait(sending, timeout=60)
        for task in sending:
            task.cancel()
        await asyncio.gather(*sending, return_exceptions=True)
    return times, sent


def report(times: Sequence[float], sent: Sent, host: Host) -> None:
    """Print what was measured."""

    def said(name: str, seconds: Sequence[float]) -> None:
        ordered = sorted(seconds)
        shares = ", ".join(
            f"p{100 * share:.0f} {1000 * percentile(ordered, share):.0f} ms"
            for share in (0.5, 0.95, 0.99)
        )
        print(f"{name}: {len(ordered)} answers, {shares}, max {1000 * ordered[-1]:.0f} ms")

    said("/health", times)
    for kind, seconds in sorted(sent.times.items()):
        said(kind, seconds)
    for status, count in sorted(sent.statuses.items()):
        print(f"  {status} × {count}")
    print(f"resident memory: {host.rss_mb() or 0:.0f} MB")


def main() -> None:
    """Run the attack and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        host = Host(Path(folder), embedder="minilm")
        try:
            report(*asyncio.run(attack(host.port, given.seconds, given.clients, given.seed)), host)
        finally:
            host.kill()


if __name__ == "__main__":
    main()
