"""A thousand clients at once: `python -m bench.crowd` prints what each was answered, how soon,
and when the host was calm again.

Every client connects, all send at the same moment, and go on for `--seconds`, saving and asking in
turn; one that is refused waits as long as its `Retry-After` says (`--impatient`: it does not).
Beside them one client of another app's size, a single connection, asks once a second; after the
crowd has gone it alone asks until its answers take no longer than before. The exit code is 1 where
an answer is none of 200, 201, 429 and 503, where a refusal does not say when to come again, where a
connection broke, where a save that was answered is not there, or where calm takes longer than
five seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from bench.host import Host
from bench.load import Connection, ask

CALM_S = 5.0
ALLOWED = frozenset({200, 201, 429, 503})
PROBES = 5
"""Answers in a row, each as quick as before the crowd, that count as calm."""
SLACK_S = 0.05


@dataclass
class Tally:
    """What all clients saw. saved: by user, the texts of the saves that were answered."""

    statuses: Counter[int] = field(default_factory=Counter)
    good_s: list[float] = field(default_factory=list)
    refused_s: list[float] = field(default_factory=list)
    broken: Counter[str] = field(default_factory=Counter)
    silent_refusals: int = 0
    saved: dict[str, list[str]] = field(default_factory=dict)


class Client:
    """One client of the crowd."""

    def __init__(self, number: int, tally: Tally, *, is_patient: bool) -> None:
        self.user, self._tally, self._is_patient = f"user-{number}", tally, is_patient
        self._number = 0

    async def run(self, port: int, start: asyncio.Event, until: float) -> None:
        """Connect, wait for the start, and ask until the end."""
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
        except OSError as error:
            self._tally.broken[f"connect: {type(error).__name__}"] += 1
            return
        try:
            await start.wait()
            while time.perf_counter() < until:
                await self._ask_once(reader, writer, until)
        except (OSError, asyncio.IncompleteReadError) as error:
            self._tally.broken[type(error).__name__] += 1
        finally:
            writer.close()

    async def _ask_once(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, until: float
    ) -> None:
        self._number += 1
        text = f"Note {self._number} of {self.user}: the blue boat left at {self._number}"
        if is_save := self._number % 2 == 1:
            request = ask(
                "save",
                "POST",
                "/api/v1/memories/save",
                {"user_id": self.user, "content": text, "type": "semantic"},
            )
        else:
            request = ask(
                "retrieve",
                "POST",
                "/api/v1/memories/retrieve",
                {"user_id": self.user, "query": "When did the blue boat leave?"},
            )
        began = time.perf_counter()
        writer.write(request.wire)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = head.index(b"content-length:") + 15
        await reader.readexactly(int(head[length : head.index(b"\r\n", length)]))
        took, status, tally = time.perf_counter() - began, int(head[9:12]), self._tally
        tally.statuses[status] += 1
        if status not in (429, 503):
            tally.good_s.append(took)
            if is_save and status in (200, 201):
                tally.saved.setdefault(self.user, []).append(text)
            return
        tally.refused_s.append(took)
        if is_save:
            self._number -= 1  # the same again
        place = head.find(b"retry-after:")
        if place < 0:
            tally.silent_refusals += 1
            return
        if self._is_patient:
            wanted = float(head[place + 12 : head.index(b"\r\n", place)])
            await asyncio.sleep(max(0.0, min(wanted, until - time.perf_counter())))


async def probe(connection: Connection) -> tuple[int, float]:
    """Ask once, alone: the status and the seconds."""
    began = time.perf_counter()
    answer = await connection.send(
        ask(
            "retrieve", "POST", "/api/v1/memories/retrieve", {"user_id": "calm", "query": "a boat"}
        ).wire
    )
    return answer.status, time.perf_counter() - began


async def until_calm(port: int, usual_s: float, began: float) -> float:
    """Seconds from `began` until answers are as quick as before, several in a row; counted to the
    beginning of the first of these.
    """
    connection = await Connection.to(port)
    calm_at, in_a_row = began, 0
    while in_a_row < PROBES and time.perf_counter() - began < 60:
        asked_at = time.perf_counter()
        status, took = await probe(connection)
        if status == 200 and took <= usual_s + SLACK_S:
            calm_at, in_a_row = (asked_at if in_a_row == 0 else calm_at), in_a_row + 1
        else:
            in_a_row = 0
            await asyncio.sleep(0.05)
    connection.close()
    return calm_at - began if in_a_row == PROBES else 60.0


async def lost(port: int, saved: dict[str, list[str]]) -> int:
    """How many saves were answered and are not there."""
    connection, missing = await Connection.to(port), 0
    for user, texts in saved.items():
        answer = await connection.send(
            ask("list", "GET", f"/api/v1/memories?user_id={user}&limit=100&status=all").wire
        )
        stored = {memory["content"] for memory in orjson.loads(answer.body)["memories"]}
        missing += len(set(texts) - stored) if len(texts) <= 100 else 0
    connection.close()
    return missing


async def crowd(port: int, clients: int, seconds: float, *, is_patient: bool) -> int:
    """Send them in, print what came of it, and return the exit code."""
    connection = await Connection.to(port)
    await connection.send(
        ask(
            "save",
            "POST",
            "/api/v1/memories/save",
            {"user_id": "calm", "content": "A boat", "type": "semantic"},
        ).wire
    )
    usual_s = sorted([(await probe(connection))[1] for _ in range(20)])[17]
    connection.close()
    tally, start = Tally(), asyncio.Event()
    until = time.perf_counter() + 5 + seconds
    tasks = [
        asyncio.create_task(Client(number, tally, is_patient=is_patient).run(port, start, until))
        for number in range(clients)
    ]
    await asyncio.sleep(max(0.0, until - seconds - time.perf_counter()))
    start.set()
    await asyncio.sleep(max(0.0, until - time.perf_counter()))
    calm_s = await until_calm(port, usual_s, until)
    await asyncio.wait(tasks, timeout=60)
    missing = await lost(port, tally.saved)
    answers = sum(tally.statuses.values())
    print(f"{clients} clients, {seconds:g} s: {answers} answers, {answers / seconds:.0f} a second")
    print(f"statuses       {dict(sorted(tally.statuses.items()))}")
    print(
        f"broken         {dict(tally.broken)}; refusals without Retry-After {tally.silent_refusals}"
    )
    print(f"answered       {_times(tally.good_s)}")
    print(f"refused        {_times(tally.refused_s)}")
    print(f"saves answered {sum(map(len, tally.saved.values()))}, of which missing {missing}")
    print(
        f"calm again     {calm_s:.1f} s after the last request of the crowd (alone before it: "
        f"{usual_s * 1000:.0f} ms)"
    )
    wrong = (
        set(tally.statuses) - ALLOWED
        or tally.broken
        or tally.silent_refusals
        or missing
        or calm_s > CALM_S
    )
    return 1 if wrong else 0


def _times(seconds: list[float]) -> str:
    if not seconds:
        return "none"
    ordered = sorted(seconds)
    shares = [
        (name, ordered[min(len(ordered) - 1, int(len(ordered) * share))])
        for name, share in (("p50", 0.5), ("p99", 0.99))
    ]
    return f"{len(ordered)}: " + ", ".join(
        f"{name} {value:.2f} s" for name, value in [*shares, ("longest", ordered[-1])]
    )


def main() -> int:
    """Run it against a host of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--embedder", choices=["hash", "minilm"], default="minilm")
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="of the host, such as MEMORY_REQUESTS_AT_ONCE=8",
    )
    parser.add_argument(
        "--impatient", action="store_true", help="refused clients ask again at once"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        host = Host(
            Path(folder),
            options.embedder,
            settings=dict(setting.split("=", 1) for setting in options.setting),
        )
        try:
            return asyncio.run(
                crowd(host.port, options.clients, options.seconds, is_patient=not options.impatient)
            )
        finally:
            host.stop()


if __name__ == "__main__":
    sys.exit(main())
