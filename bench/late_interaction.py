"""What token states and the learned order cost: `python -m bench.late_interaction SET.json…`.

The turns of all sets are saved as one user's, with the local embedder, once with and once without
both. Each host is then started again over its folder, and asked questions of the sets in turn, so
that a busy machine slows both alike.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.host import Host
from bench.locomo_data import Turn, read
from bench.tables import show
from bench.yardstick.service import Service
from bench.yardstick.ways import milliseconds

USER, SAVED_AT_ONCE = "ana", 500
TURNS, QUESTIONS, WARM_UP = 5_000, 200, 5
SETTINGS = {
    "with": {"MEMORY_TOKEN_STATES": "true", "MEMORY_LEARNED_ORDER": "true"},
    "without": {"MEMORY_TOKEN_STATES": "false", "MEMORY_LEARNED_ORDER": "false"},
}


@dataclass(slots=True)
class Cost:
    """Of one host. turn_bytes: of its folder, a turn; started, first: seconds of a start and
    of the first retrieve after it; asked: seconds of each later retrieve.
    """

    turn_bytes: float = 0.0
    turns_a_second: float = 0.0
    started: float = 0.0
    first: float = 0.0
    rss_mb: float = 0.0
    asked: list[float] = field(default_factory=list)


def measure(turns: Sequence[Turn], questions: Sequence[str], folder: Path) -> dict[str, Cost]:
    """The costs by the names of `SETTINGS`. questions: `WARM_UP` more than are timed."""
    costs: dict[str, Cost] = {}
    hosts: dict[str, Host] = {}
    for name, settings in SETTINGS.items():
        costs[name] = _save(turns, folder / name, settings)
    for name, settings in SETTINGS.items():
        hosts[name] = Host(folder / name, "minilm", settings=settings)
        costs[name].started = hosts[name].started_s
    try:
        services = {name: Service(host.port) for name, host in hosts.items()}
        for number, question in enumerate(questions):
            for name, service in services.items():
                service.retrieve(USER, question)
                if number == 0:
                    costs[name].first = service.seconds
                elif number >= WARM_UP:
                    costs[name].asked.append(service.seconds)
        for name, host in hosts.items():
            costs[name].rss_mb = host.rss_mb() or 0.0
            services[name].close()
    finally:
        for host in hosts.values():
            host.stop()
    return costs


def _save(turns: Sequence[Turn], folder: Path, settings: dict[str, str]) -> Cost:
    """Save the turns in a host of their own, which ends."""
    host = Host(folder, "minilm", settings=settings)
    try:
        service, began = Service(host.port), time.perf_counter()
        for start in range(0, len(turns), SAVED_AT_ONCE):
            service.save(USER, turns[start : start + SAVED_AT_ONCE])
        rate = len(turns) / (time.perf_counter() - began)
        service.close()
    finally:
        host.stop()
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return Cost(turn_bytes=size / len(turns), turns_a_second=rate)


def read_sets(files: Sequence[Path], most: int) -> tuple[list[Turn], list[str]]:
    """At most so many turns of all conversations, and the questions about those that are whole."""
    turns: list[Turn] = []
    questions: list[str] = []
    for file in files:
        for number, conversation in enumerate(read(file)):
            if len(turns) >= most:
                return turns[:most], questions
            named = f"{file.stem} {number}"
            turns += [
                replace(turn, id=f"{named} {turn.id}", session=f"{named} {turn.session}")
                for turn in conversation.turns
            ]
            questions += [question.text for question in conversation.questions]
    return turns, questions


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path, nargs="+")
    parser.add_argument("--turns", type=int, default=TURNS)
    given = parser.parse_args()
    turns, questions = read_sets(given.sets, given.turns)
    step = max(1, len(questions) // (QUESTIONS + WARM_UP))
    with tempfile.TemporaryDirectory() as folder:
        costs = measure(turns, questions[::step][: QUESTIONS + WARM_UP], Path(folder))
    rows = [
        [
            name,
            f"{cost.turn_bytes:,.0f}",
            f"{cost.turns_a_second:.0f}",
            f"{cost.started:.2f}",
            f"{1000 * cost.first:.0f}",
            f"{milliseconds(cost.asked, 0.5):.1f}",
            f"{milliseconds(cost.asked, 0.95):.1f}",
            f"{cost.rss_mb:.0f}",
        ]
        for name, cost in costs.items()
    ]
    columns = ("", "bytes a turn", "turns/s", "start s", "first ms", "p50 ms", "p95 ms", "RSS MB")
    show(f"{len(turns):,} turns of one user, {len(questions[::step])} questions", columns, rows)


if __name__ == "__main__":
    main()
