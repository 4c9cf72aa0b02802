"""What conversations and runs cost, and what a month of them comes to in money.

Note: prices are the examples of `bench/loads.py`, there to show the formula; retrieves, which cost
each version its own, are not in it, and neither are executions, queues and what is paid by the
hour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.loads import AT_ONCE, DAYS, GB, INSTANCE_GB, PRICES, TIMES
from bench.yardstick.ways import Measured

USERS = (1_000, 100_000)
RUNS = 0.88
"""Runs for each conversation: of a user who talks twice within an hour there is one
(`bench.scale`).
"""
KEPT_DAYS = 365


@dataclass(frozen=True, slots=True)
class Cost:
    """What conversations or runs cost in the mean: by what is counted, the requests by kind, and
    the request units by what they are for.
    """

    counted: dict[str, float]
    kinds: dict[str, float]
    spent: dict[str, float]

    @property
    def figures(self) -> dict[str, object]:
        """All of it."""
        return {**self.counted, "requests by kind": self.kinds, "units by kind": self.spent}


def month(conversation: Cost, run: Cost, users: int) -> dict[str, float]:
    """Dollars of a month by meter, of users who have one conversation a day.

    What is stored is that of a year.
    """
    times = users * DAYS
    both = {
        name: conversation.counted[name] + RUNS * run.counted[name] for name in conversation.counted
    }
    waiting_ms = both["requests"] * TIMES["store"] + both["model calls"] * TIMES["model"]
    seconds = max(waiting_ms / AT_ONCE, TIMES["forming"] + RUNS * TIMES["run"]) / 1000
    tokens = (
        both["tokens read"] * PRICES["prompt_million"]
        + both["tokens written"] * PRICES["completion_million"]
    )
    return {
        "request units": times * both["request units"] / 1e6 * PRICES["ru_million"],
        "stored": users * KEPT_DAYS * both["bytes stored"] / GB * PRICES["gb_month"],
        "Functions": times * seconds * INSTANCE_GB * PRICES["gb_second"],
        "models": times * tokens / 1e6,
    }


def show(measured: Measured, formed: Mapping[str, Cost], settled: Mapping[str, Cost]) -> None:
    """The bills of all versions as tables, one for each number of users."""
    for users in USERS:
        lines = []
        for name, cost in formed.items():
            bill = month(cost, settled[name], users)
            parts = [*bill.values(), sum(bill.values())]
            lines.append([name, *(f"{part:,.2f}" for part in parts)])
        measured.table(
            f"A month of {users:,} users, a conversation a day each, in dollars at EXAMPLE prices",
            ("", *bill, "together"),
            lines,
        )
