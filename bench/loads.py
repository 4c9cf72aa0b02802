"""What a day costs for so many users: the counts of a sample's day, scaled, with the fan-out of
that size; and what that costs in money.

Note: prices and the times of store and model are inputs. The defaults are examples that make the
formula visible, and no provider's price list.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from bench.day import HOURS, RETRIEVES, Day, messages, requests, units
from bench.ticks import Ticked, tick

DAYS = 30
GB = 1024**3
RANGE_GB, RANGE_UNITS = 50, 10_000
"""What Azure documents of a physical partition of Cosmos DB: GB and request units a second.
A user lies in one of them.
"""
RANGE_READ = 4.6
"""Request units of one range in a tick where no user is due: its message's query,
and its part of the list of ranges.
"""
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
"""EXAMPLES in dollars, to be replaced: serverless units; autoscale units by the hour; storage;
functions; queue operations; tokens.
"""
TIMES = {"forming": 30.0, "run": 20.0, "store": 5.0, "model": 2_000.0}
"""Milliseconds. Of CPU, as `bench.formation` and `bench.consolidation` measure it: a conversation
formed, a run. Of waiting, assumed: a request to the store, a call of a model.
"""
AT_ONCE = 16
"""Messages an instance works on at once (`batchSize` in host.json)."""
INSTANCE_GB = 2


@dataclass(frozen=True, slots=True)
class Assumed:
    """What is given. spread: minutes over which an hour's users are spread. kept_days:
    for how long everybody has talked by now.

    tokens: the model's a minute; throughput: the database's request units a second.
    """

    price: Mapping[str, float]
    ms: Mapping[str, float]
    instances: int = 10
    spread: float = 45.0
    kept_days: int = 365
    tokens: float = 50_000
    throughput: float = 4_000


@dataclass(frozen=True, slots=True)
class Load:
    """A day of `users`. units are of talk (forming and retrieving) and of runs; by_hour:
    request units a second of each hour.
    """

    users: int
    conversations: float
    runs: float
    runs_peak: int
    talk_units: float
    run_units: float
    by_hour: tuple[float, ...]
    requests: float
    messages: float
    messages_a_second: float
    ticked: Ticked
    ranges: int
    stored_gb: float
    prompt: float
    completion: float
    embedded: float
    calls: float
    tokens_a_minute: float
    talk_hours: float
    run_hours: float
    busiest_minutes: float

    @property
    def units_a_second(self) -> float:
        """Request units a second in the busiest hour."""
        return max(self.by_hour)


async def load_of(users: int, sample: Day, assumed: Assumed) -> Load:
    """The day of so many users, who do what the sample's did; the fan-out of its busiest hour is
    gone through.
    """
    times, all_due = users / sample.users, max(1, sum(sample.due))
    shares = [due / all_due for due in sample.due]
    share = max(shares)
    talking = sample.formed + sample.asked + sample.noted + sample.added
    talk, settled = units(talking) * times, (units(sample.settled) - _fanned(sample)) * times
    by_hour = tuple(
        talk * share_of_hour / 3600 + settled * share_of_hour / (assumed.spread * 60)
        for share_of_hour in shares
    )
    stored = sample.stored * times * assumed.kept_days / GB
    ranges = max(1, math.ceil(stored / RANGE_GB), math.ceil(max(by_hour) / RANGE_UNITS))
    ticked = await tick(ranges, round(max(sample.due) * times), timedelta(minutes=assumed.spread))
    tick_messages = HOURS * ranges + (ticked.ranges - ranges) / share
    tokens = {
        name: (sample.formed[name] + sample.settled[name]) * times
        for name in ("prompt_tokens", "completion_tokens", "calls")
    }
    of_users = (
        messages(sample.formed)
        + messages(sample.settled)
        - sample.settled["message.consolidation.range"]
    ) * times
    run_hours = _hours(sample.runs * times, sample.settled, times, assumed, "run")
    return Load(
        users=users,
        conversations=sample.conversations * times,
        runs=sample.runs * times,
        runs_peak=ticked.users,
        talk_units=talk,
        run_units=settled + HOURS * ranges * RANGE_READ,
        by_hour=by_hour,
        requests=(requests(talking) + requests(sample.settled)) * times,
        messages=of_users + tick_messages,
        messages_a_second=ticked.peak,
        ticked=ticked,
        ranges=ranges,
        stored_gb=stored,
        prompt=tokens["prompt_tokens"],
        completion=tokens["completion_tokens"],
        embedded=(
            sample.formed["embedded_tokens"]
            + sample.settled["embedded_tokens"]
            + sample.asked["embedded_tokens"]
        )
        * times,
        calls=tokens["calls"],
        tokens_a_minute=(tokens["prompt_tokens"] + tokens["completion_tokens"]) * share / 60,
        talk_hours=_hours(sample.conversations * times, sample.formed, times, assumed, "forming"),
        run_hours=run_hours,
        busiest_minutes=60 * share * run_hours / assumed.instances,
    )


def _fanned(sample: Day) -> float:
    """Request units of the sample's ticks, which are not scaled: they go by ranges."""
    return (sample.settled["due.milliunits"] + sample.settled["ranges.milliunits"]) / 1000


def _hours(
    count: float, counted: Mapping[str, int], times: float, assumed: Assumed, cpu: str
) -> float:
    """Hours that one instance is at it: its CPU, or the waiting for store and model of `AT_ONCE` at
    once, whichever is more.
    """
    asked = sum(number for name, number in counted.items() if name.endswith(".requests"))
    waiting = (
        (asked * assumed.ms["store"] + counted.get("calls", 0) * assumed.ms["model"])
        * times
        / AT_ONCE
    )
    return max(count * assumed.ms[cpu], waiting) / 3_600_000


def dollars(load: Load, assumed: Assumed) -> dict[str, float]:
    """What a month of such days costs, by meter, by the formulas of docs/deploy.md.
    Of the first two one has one or the other.

    Autoscale is set to one and a half of the busiest hour's mean, at least 1,000, and each hour is
    charged for at least a tenth of that.
    """
    price = assumed.price
    highest = max(1_000.0, 1.5 * load.units_a_second)
    reserved = sum(max(1.5 * rate, highest / 10) for rate in load.by_hour) / 100
    executions = load.messages + load.conversations * (1 + RETRIEVES) + HOURS
    tokens = (
        load.prompt * price["prompt_million"]
        + load.completion * price["completion_million"]
        + load.embedded * price["embedded_million"]
    )
    seconds = (load.talk_hours + load.run_hours) * 3600
    return {
        "Cosmos DB, serverless": (load.talk_units + load.run_units)
        * DAYS
        / 1e6
        * price["ru_million"],
        "or Cosmos DB, autoscale": reserved * DAYS * price["ru_hour_100"],
        "Cosmos DB, stored": load.stored_gb * price["gb_month"],
        "Functions": DAYS
        * (
            seconds * INSTANCE_GB * price["gb_second"]
            + executions / 1e6 * price["executions_million"]
        ),
        "queues, messages": 3 * load.messages * DAYS / 1e4 * price["queue_10k"],
        "models": tokens * DAYS / 1e6,
    }
