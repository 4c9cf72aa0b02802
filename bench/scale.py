"""`python -m bench.scale`: a day of 1,000 to 10,000,000 users, on paper: requests, request units,
messages, tokens, storage, time, money.

A sample of users lives a day on the real code, with a store that counts (`bench/day.py`); the
counts are scaled by how many users there are, but for the fan-out, which is gone through for each
size (`bench/ticks.py`). `--ms` takes the times that your machines measured. The same seed prints
the same tables.

Note: request units are reckoned, tokens are what a model would be shown by the same prompts, and
ALL PRICES ARE EXAMPLES, there to show the formula; give those of your price list with `--price`.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from bench.day import RETRIEVES, Day, day
from bench.loads import GB, PRICES, RANGE_GB, RANGE_UNITS, TIMES, Assumed, Load, dollars, load_of
from bench.tables import show

SIZES = (0, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
USER_GB, USER_UNITS, QUEUE_MESSAGES = 20, 10_000, 2_000
"""Limits that Azure documents: of a logical partition in Cosmos DB, GB and request units a second;
of one queue, messages a second.
"""


def _number(number: float) -> str:
    return f"{number / 1e6:,.2f} M" if number >= 1e6 else f"{number:,.0f}"


def tables(loads: Sequence[Load], sample: Day, assumed: Assumed) -> None:
    """Print all."""
    heads = [f"{load.users:,} users" if load.users else "idle" for load in loads]
    lines = [
        ["a conversation of 10 messages", *_one(sample.formed, sample.conversations)],
        ["a retrieve", *_one(sample.asked, RETRIEVES * sample.conversations)],
        [
            "… its part in writing access counts",
            *_one(sample.noted, RETRIEVES * sample.conversations),
        ],
        [
            "… its part in adding them to the memories",
            *_one(sample.added, RETRIEVES * sample.conversations),
        ],
        ["a run", *_one(sample.settled, sample.runs)],
    ]
    show(
        "What one costs",
        ("", "requests", "RU", "messages", "model calls", "prompt tokens", "answer tokens"),
        lines,
    )
    counts: dict[str, list[float]] = {
        "conversations": [load.conversations for load in loads],
        "runs": [load.runs for load in loads],
        "runs begun in the busiest hour": [load.runs_peak for load in loads],
        "requests to the store": [load.requests for load in loads],
        "request units, talk": [load.talk_units for load in loads],
        "request units, consolidation": [load.run_units for load in loads],
        "ranges (physical partitions)": [load.ranges for load in loads],
        "range messages of the busiest tick": [load.ticked.ranges for load in loads],
        "pages of due users of the busiest tick": [load.ticked.pages for load in loads],
        "queue messages": [load.messages for load in loads],
        "model calls": [load.calls for load in loads],
        "tokens, prompts": [load.prompt for load in loads],
        "tokens, answers": [load.completion for load in loads],
        "tokens a minute, busiest hour": [load.tokens_a_minute for load in loads],
    }
    shares = {
        "request units a second, busiest hour": [load.units_a_second for load in loads],
        "… of each range": [load.units_a_second / load.ranges for load in loads],
        "queue messages a second, busiest": [load.messages_a_second for load in loads],
        f"stored after {assumed.kept_days} such days, GB": [load.stored_gb for load in loads],
        "instance hours, forming": [load.talk_hours for load in loads],
        "instance hours, consolidation": [load.run_hours for load in loads],
        f"busiest hour's runs on {assumed.instances} instances, minutes": [
            load.busiest_minutes for load in loads
        ],
    }
    rows = [[name, *map(_number, numbers)] for name, numbers in counts.items()]
    show(
        "A day",
        ("a day", *heads),
        [
            *rows,
            *(
                [name, *(f"{number:,.1f}" for number in numbers)]
                for name, numbers in shares.items()
            ),
        ],
    )
    show("Where limits are", ("", "limit", "reached at"), limits(loads[-1], sample, assumed))
    costs = [dollars(load, assumed) for load in loads]
    months = [[meter, *(f"{cost[meter]:,.2f}" for cost in costs)] for meter in costs[0]]
    show("A month of such days in dollars, at EXAMPLE prices", ("", *heads), months)


def _one(counted: Mapping[str, int], by: float) -> list[str]:
    made = [
        sum(number for name, number in counted.items() if name.endswith(".requests")),
        sum(number for name, number in counted.items() if name.endswith(".milliunits")) / 1000,
        sum(number for name, number in counted.items() if name.startswith("message.")),
        *(counted.get(name, 0) for name in ("calls", "prompt_tokens", "completion_tokens")),
    ]
    return [f"{number / max(1, by):,.1f}" for number in made]


def limits(of: Load, sample: Day, assumed: Assumed) -> list[list[str]]:
    """Each limit with the users, or one user's conversations, that reach it: in proportion to
    the load given.
    """
    a_talk = (
        sum(number for name, number in sample.formed.items() if name.endswith(".milliunits"))
        / 1000
        / max(1, sample.conversations)
    )
    stored = sample.stored / max(1, sample.conversations)

    def users(limit: float, at: float) -> str:
        return f"{_number(limit / at * of.users)} users" if at else "–"

    return [
        [
            "the model's tokens a minute",
            _number(assumed.tokens),
            users(assumed.tokens, of.tokens_a_minute),
        ],
        [
            "the database's request units a second",
            _number(assumed.throughput),
            users(assumed.throughput, of.units_a_second),
        ],
        [
            "one queue's messages a second",
            _number(QUEUE_MESSAGES),
            users(QUEUE_MESSAGES, of.messages_a_second),
        ],
        [
            f"{assumed.instances} instances in the spread's minutes",
            _number(assumed.spread),
            users(assumed.spread, of.busiest_minutes),
        ],
        [
            "one range's request units a second",
            _number(RANGE_UNITS),
            f"{users(RANGE_UNITS, of.units_a_second)} in it",
        ],
        [
            f"one range's GB, after {assumed.kept_days} days",
            _number(RANGE_GB),
            f"{users(RANGE_GB, of.stored_gb)} in it",
        ],
        ["one user's GB", _number(USER_GB), f"{_number(USER_GB * GB / stored)} conversations"],
        [
            "one user's request units a second",
            _number(USER_UNITS),
            f"{USER_UNITS / a_talk:,.0f} conversations a second",
        ],
    ]


def _settings(given: Sequence[str], known: Mapping[str, float]) -> dict[str, float]:
    """`name=number` over what is known. Raises SystemExit for another name."""
    values = dict(known)
    for setting in given:
        name, _, number = setting.partition("=")
        if name not in known:
            raise SystemExit(f"{name!r} is none of {', '.join(known)}")
        values[name] = float(number)
    return values


async def simulated(
    sizes: Sequence[int],
    sample: int,
    mean: float,
    seed: int,
    dimensions: int,
    assumed: Assumed,
    *,
    before: bool = False,
    embedder: Literal["hash", "minilm"] = "hash",
    token_states: bool = True,
) -> tuple[list[Load], Day]:
    """The sample's day, and the loads of all sizes."""
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        lived = await day(
            Path(folder),
            sample,
            mean,
            seed,
            dimensions,
            before=before,
            embedder=embedder,
            token_states=token_states,
        )
    return [await load_of(users, lived, assumed) for users in sizes], lived


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.scale", description="Simulates a day of many users."
    )
    parser.add_argument(
        "--users", type=lambda text: [int(size) for size in text.split(",")], default=list(SIZES)
    )
    parser.add_argument(
        "--sample", type=int, default=200, help="users who live the day on the real code"
    )
    parser.add_argument(
        "--mean", type=float, default=1.0, help="conversations a user and day, in the mean"
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--dimensions", type=int, default=512)
    parser.add_argument(
        "--embedder",
        choices=("hash", "minilm"),
        default="hash",
        help="only minilm has token states",
    )
    parser.add_argument(
        "--no-token-states", action="store_true", help="as with MEMORY_TOKEN_STATES=false"
    )
    parser.add_argument("--kept-days", type=int, default=365)
    parser.add_argument(
        "--instances",
        type=int,
        default=10,
        help="of the group that consolidates: the default of maximumInstances",
    )
    parser.add_argument(
        "--spread",
        type=float,
        default=45.0,
        help="minutes, see MEMORY_CONSOLIDATION_SPREAD_MINUTES",
    )
    parser.add_argument(
        "--tokens", type=float, default=50_000, help="the model's capacity, tokens a minute"
    )
    parser.add_argument(
        "--throughput",
        type=float,
        default=4_000,
        help="most request units a second of the database",
    )
    parser.add_argument(
        "--price",
        action="append",
        default=[],
        metavar="NAME=DOLLARS",
        help=f"one of {', '.join(PRICES)}",
    )
    parser.add_argument(
        "--ms", action="append", default=[], metavar="NAME=MS", help=f"one of {', '.join(TIMES)}"
    )
    parser.add_argument(
        "--before",
        action="store_true",
        help="reckon every read as Strong, and two lists for every search",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate and print."""
    given = _options().parse_args(arguments)
    prices, times = _settings(given.price, PRICES), _settings(given.ms, TIMES)
    assumed = Assumed(
        prices,
        times,
        given.instances,
        given.spread,
        given.kept_days,
        given.tokens,
        given.throughput,
    )
    loads, sample = asyncio.run(
        simulated(
            given.users,
            given.sample,
            given.mean,
            given.seed,
            given.dimensions,
            assumed,
            before=given.before,
            embedder=given.embedder,
            token_states=not given.no_token_states,
        )
    )
    print(
        f"seed {given.seed}; {sample.users} users lived a day on the real code: "
        f"{sample.conversations} conversations,"
    )
    print(
        f"{sample.runs} runs, {sample.memories} memories with vectors. Scaled from there; request "
        "units are reckoned, prices are examples."
    )
    tables(loads, sample, assumed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
