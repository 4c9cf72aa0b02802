"""`python -m bench.scale`: a day of 1,000 to 10,000,000 users, on paper: requests, request units, messages, tokens, storage, time, money.

A sample of users lives a day on the real code, with a store that counts (`bench/day.py`); the counts are scaled by how many users there are,
but for the fan-out, which is gone through for each size (`bench/ticks.py`). What a reader would get wrong: request units are reckoned, tokens
are what a model would be shown by the same prompts, and ALL PRICES ARE EXAMPLES, there to show the formula; give those of your price list
with `--price`. `--ms` takes the times that your machines measured. The same seed prints the same tables.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bench.day import HOURS, Day, day, messages, requests, units
from bench.tables import show
from bench.ticks import Ticked, tick

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
DAYS = 30
GB = 1024**3
RANGE_GB, RANGE_UNITS, USER_GB = 50, 10_000, 20
"""What Cosmos DB documents of a physical partition (GB, request units a second) and of a logical one (GB; the request units are the same)."""
LONE_UNITS = 10_000
PRICES = {
    "ru_million": 0.25,
    "ru_hour_100": 0.012,
    "gb_month": 0.25,
    "gb_second": 0.000026,
    "executions_million": 0.4,
    "queue_10k": 0.0004,
    "prompt_million": 0.4,
    "completion_million": 1.6,
    "embedded_million": 0.02,
}
"""Examples, in dollars, to be replaced. Serverless units; autoscale units by the hour; storage; functions; queue operations; tokens."""
TIMES = {"forming": 60.0, "run": 20.0, "retrieve": 2.0, "store": 5.0, "model": 2_000.0}
"""Milliseconds. Of CPU: a conversation formed, a run, a retrieve (`bench.formation`, `bench.consolidation`, `bench.throughput`); of waiting:
a request to the store, a call of a model. The last two are assumptions.
"""
AT_ONCE = 16
"""Messages an instance works on at once (`batchSize` in host.json)."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """What is given. spread: minutes over which an hour's users are spread. kept_days: of talk that a user has stored by now."""

    price: Mapping[str, float]
    ms: Mapping[str, float]
    instances: int
    spread: float
    kept_days: int


@dataclass(frozen=True, slots=True)
class Load:
    """A day of `users`. *_peak: in the busiest hour. units: of talk (forming and retrieving) and of consolidation."""

    users: int
    conversations: float
    runs: float
    runs_peak: int
    talk_units: float
    run_units: float
    units_a_second: float
    requests: float
    messages: float
    messages_a_second: float
    ticked: Ticked
    ranges: int
    stored_gb: float
    prompt: float
    completion: float
    calls: float
    talk_hours: float
    run_hours: float
    busiest_minutes: float

    @property
    def units(self) -> float:
        """Request units of the day."""
        return self.talk_units + self.run_units


async def load_of(users: int, sample: Day, assumed: Assumed) -> Load:
    """The day of so many users as the sample's, with the fan-out of its busiest hour."""
    times = users / sample.users
    busiest = max(range(HOURS), key=lambda hour: sample.due[hour])
    share = sample.due[busiest] / max(1, sum(sample.due))
    runs, peak = sample.runs * times, round(max(sum(sample.due) * share, 1) * times)
    talk, settled = units(sample.formed) + units(sample.asked), units(sample.settled) - _fanned(sample)
    a_second = talk * times * share / 3600 + settled * times * share / (assumed.spread * 60)
    stored = sample.stored * times * assumed.kept_days / GB
    ranges = max(1, math.ceil(stored / RANGE_GB), math.ceil(a_second / RANGE_UNITS))
    ticked = await tick(ranges, peak, timedelta(minutes=assumed.spread))
    ticks = HOURS * (ticked.ranges + (ranges - ticked.ranges) * (1 - 1 / (HOURS * share)) if peak else ranges)
    tokens = {name: (sample.formed[name] + sample.settled[name]) * times for name in ("prompt_tokens", "completion_tokens", "calls")}
    sent = messages(sample.formed) + messages(sample.settled) - sample.settled["message.consolidation.range"]
    return Load(
        users=users,
        conversations=sample.conversations * times,
        runs=runs,
        runs_peak=peak,
        talk_units=talk * times,
        run_units=settled * times + HOURS * ranges * 2.3,
        units_a_second=a_second,
        requests=(requests(sample.formed) + requests(sample.asked) + requests(sample.settled)) * times,
        messages=sent * times + ticks,
        messages_a_second=2 * ticked.peak + messages(sample.formed) * times * share / 3600,
        ticked=ticked,
        ranges=ranges,
        stored_gb=stored,
        prompt=tokens["prompt_tokens"],
        completion=tokens["completion_tokens"],
        calls=tokens["calls"],
        talk_hours=_hours(sample.conversations * times, sample.formed, times, assumed, "forming"),
        run_hours=_hours(runs, sample.settled, times, assumed, "run"),
        busiest_minutes=60 * share * _hours(runs, sample.settled, times, assumed, "run") / assumed.instances,
    )


def _fanned(sample: Day) -> float:
    """Request units of the sample's ticks, which are not scaled."""
    return (sample.settled["due.milliunits"] + sample.settled["ranges.milliunits"]) / 1000


def _hours(count: float, counted: Mapping[str, int], times: float, assumed: Assumed, cpu: str) -> float:
    """Hours that one instance is at it: its CPU, or the waiting for store and model of `AT_ONCE` at once, whichever is more."""
    asked = sum(number for name, number in counted.items() if name.endswith(".requests"))
    waiting = (asked * assumed.ms["store"] + counted.get("calls", 0) * assumed.ms["model"]) * times / AT_ONCE
    return max(count * assumed.ms[cpu], waiting) / 3_600_000


def dollars(one: Load, assumed: Assumed) -> dict[str, float]:
    """What a month of such days costs, by meter, by the formulas of docs/deploy.md. The units are what is less: serverless or autoscale."""
    price, days = assumed.price, DAYS
    by_use = one.units * days / 1e6 * price["ru_million"]
    high = max(1_000.0, 1.5 * one.units_a_second)
    mean = max(high / 10, one.units / 86_400 * 1.5)
    reserved = mean / 100 * 24 * days * price["ru_hour_100"]
    compute = (one.talk_hours + one.run_hours) * 3_600 * days * 2 * price["gb_second"]
    executed = (one.messages + one.conversations * 4) * days / 1e6 * price["executions_million"]
    return {
        "Cosmos DB, serverless": by_use,
        "Cosmos DB, autoscale": reserved,
        "Cosmos DB, stored": one.stored_gb * price["gb_month"],
        "Functions": compute + executed,
        "queues": 3 * one.messages * days / 1e4 * price["queue_10k"],
        "model": (one.prompt * price["prompt_million"] + one.completion * price["completion_million"]) * days / 1e6,
    }


def _million(number: float) -> str:
    return f"{number / 1e6:,.2f} M" if number >= 1e6 else f"{number:,.0f}"


def tables(loads: Sequence[Load], sample: Day, assumed: Assumed) -> None:
    """Print all."""
    a_run, a_talk = max(1, sample.runs), max(1, sample.conversations)
    formed, settled, asked = sample.formed, sample.settled, sample.asked
    lines = [
        ["a conversation of 10 messages", *_one(formed, a_talk)],
        ["a retrieve", *_one(asked, 3 * a_talk)],
        ["a run", *_one(settled, a_run)],
    ]
    show("What one costs", ("", "requests", "RU", "messages", "model calls", "prompt tokens", "answer tokens"), lines)
    heads = ("a day", *(f"{one.users:,} users" for one in loads))
    rows: list[tuple[str, list[str]]] = [
        ("conversations", [_million(one.conversations) for one in loads]),
        ("runs", [_million(one.runs) for one in loads]),
        ("runs begun in the busiest hour", [_million(one.runs_peak) for one in loads]),
        ("requests to the store", [_million(one.requests) for one in loads]),
        ("request units, talk", [_million(one.talk_units) for one in loads]),
        ("request units, consolidation", [_million(one.run_units) for one in loads]),
        ("request units a second, busiest", [f"{one.units_a_second:,.1f}" for one in loads]),
        ("ranges (physical partitions)", [f"{one.ranges:,}" for one in loads]),
        ("… of each, request units a second", [f"{one.units_a_second / one.ranges:,.1f}" for one in loads]),
        ("range messages of the busiest tick", [f"{one.ticked.ranges:,}" for one in loads]),
        ("pages of due heads of the busiest tick", [f"{one.ticked.pages:,}" for one in loads]),
        ("queue messages", [_million(one.messages) for one in loads]),
        ("queue messages a second, busiest", [f"{one.messages_a_second:,.1f}" for one in loads]),
        (f"stored after {assumed.kept_days} days, GB", [f"{one.stored_gb:,.1f}" for one in loads]),
        ("model calls", [_million(one.calls) for one in loads]),
        ("tokens, prompts", [_million(one.prompt) for one in loads]),
        ("tokens, answers", [_million(one.completion) for one in loads]),
        ("instance hours, forming", [f"{one.talk_hours:,.2f}" for one in loads]),
        ("instance hours, consolidation", [f"{one.run_hours:,.2f}" for one in loads]),
        (f"busiest hour's runs on {assumed.instances} instances, minutes", [f"{one.busiest_minutes:,.2f}" for one in loads]),
    ]
    show("A day", heads, [[name, *cells] for name, cells in rows])
    costs = [dollars(one, assumed) for one in loads]
    months = [[meter, *(f"{one[meter]:,.2f}" for one in costs)] for meter in costs[0]]
    show("A month of such days in dollars, at EXAMPLE prices", ("", *heads[1:]), months)


def _one(counted: Mapping[str, int], by: float) -> list[str]:
    made = [
        sum(number for name, number in counted.items() if name.endswith(".requests")),
        sum(number for name, number in counted.items() if name.endswith(".milliunits")) / 1000,
        sum(number for name, number in counted.items() if name.startswith("message.")),
        *(counted.get(name, 0) for name in ("calls", "prompt_tokens", "completion_tokens")),
    ]
    return [f"{one / by:,.1f}" for one in made]


def _settings(given: Sequence[str], known: Mapping[str, float]) -> dict[str, float]:
    """`name=number` over what is known. Raises SystemExit for another name."""
    found = dict(known)
    for one in given:
        name, _, number = one.partition("=")
        if name not in known:
            raise SystemExit(f"{name!r} is none of {', '.join(known)}")
        found[name] = float(number)
    return found


async def simulated(sizes: Sequence[int], sample: int, mean: float, seed: int, dimensions: int, assumed: Assumed) -> tuple[list[Load], Day]:
    """The sample's day, and the loads of all sizes."""
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        lived = await day(Path(folder), sample, mean, seed, dimensions)
    return [await load_of(users, lived, assumed) for users in sizes], lived


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description="Simulates a day of many users.")
    parser.add_argument("--users", type=lambda text: [int(one) for one in text.split(",")], default=list(SIZES))
    parser.add_argument("--sample", type=int, default=200, help="users who live the day on the real code")
    parser.add_argument("--mean", type=float, default=1.0, help="conversations a user and day, in the mean")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--dimensions", type=int, default=1536)
    parser.add_argument("--kept-days", type=int, default=365)
    parser.add_argument("--instances", type=int, default=40)
    parser.add_argument("--spread", type=float, default=45.0, help="minutes, see MEMORY_CONSOLIDATION_SPREAD_MINUTES")
    parser.add_argument("--price", action="append", default=[], metavar="NAME=DOLLARS", help=f"one of {', '.join(PRICES)}")
    parser.add_argument("--ms", action="append", default=[], metavar="NAME=MS", help=f"one of {', '.join(TIMES)}")
    options = parser.parse_args(arguments)
    assumed = Assumed(_settings(options.price, PRICES), _settings(options.ms, TIMES), options.instances, options.spread, options.kept_days)
    loads, sample = asyncio.run(simulated(options.users, options.sample, options.mean, options.seed, options.dimensions, assumed))
    print(f"seed {options.seed}; a day of {sample.users} users on the real code: {sample.conversations} conversations, {sample.runs} runs,")
    print(f"{sample.memories} memories with vectors; scaled to the sizes below. Request units are reckoned, prices are examples.")
    tables(loads, sample, assumed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
