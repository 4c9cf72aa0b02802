"""`python -m bench.year [SET.json…]`: a year of memories in minutes; `--cost`: what faded memories
and idle users cost; `--moved`: the same questions after the clock was moved on.

SET is a file of conversations in a form that `bench.locomo_data` reads; the first one of each is a
life beside the made-up daily chats and beside a silent one, which is told for a month only. Tables
go to stdout, progress to stderr, the picture to `--chart`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench.locomo_data import read
from bench.yardstick.service import DIMENSIONS
from bench.year import cost, daily, lives, moved
from bench.year.jobs import Job, lived_all, settings_of
from bench.year.lived import Lived
from bench.year.lives import Life
from bench.year.report import Told, report

SHORT_EVERY_DAYS = 6
SILENT = 1
"""Months in which the silent life is told."""
SILENT_NAME = "a silent life"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 when something that must hold does not."""
    options = _options(arguments)
    began = time.perf_counter()
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}, profile {options.profile}",
        flush=True,
    )
    with tempfile.TemporaryDirectory(
        prefix="memory-core-bench-", ignore_cleanup_errors=True
    ) as folder:
        broken = (_cost if options.cost else _moved if options.moved else _year)(
            options, Path(folder)
        )
    print(f"\ntook {time.perf_counter() - began:.0f} s", flush=True)
    return int(broken)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.year",
        description="Tells lives of a year and asks about them each month.",
    )
    parser.add_argument(
        "data", type=Path, nargs="*", help="conversations in a form that bench.locomo_data reads"
    )
    parser.add_argument(
        "--limit", type=int, default=1, help="conversations of each set, from the first (default 1)"
    )
    parser.add_argument(
        "--profile",
        choices=("embedded", "azure"),
        default="embedded",
        help="the stores (default embedded)",
    )
    parser.add_argument("--embedder", choices=("minilm", "hash"), default="minilm")
    parser.add_argument(
        "--short",
        action="store_true",
        help=f"daily chats every {SHORT_EVERY_DAYS} days only, no twin",
    )
    parser.add_argument(
        "--no-twin", action="store_true", help="without the twins in which nothing fades"
    )
    parser.add_argument("--only-sets", action="store_true", help="without the made-up lives")
    parser.add_argument(
        "--jobs", type=int, default=2, help="lives at once, a process each (default 2; azure: 1)"
    )
    parser.add_argument("--seed", type=int, default=7, help="of the made-up lives")
    parser.add_argument("--chart", type=Path, help="a PNG for the picture (needs matplotlib)")
    parser.add_argument(
        "--json", type=Path, help="a file for all figures and what each question came to"
    )
    parser.add_argument(
        "--cost", action="store_true", help="measure faded memories and an idle user instead"
    )
    parser.add_argument(
        "--moved",
        action="store_true",
        help="move the clock on by days and months instead, nobody saying anything",
    )
    parser.add_argument(
        "--memories", type=int, default=100_000, help="of each user of --cost (default 100,000)"
    )
    options = parser.parse_args(arguments)
    if options.only_sets and not options.data:
        parser.error("--only-sets needs a file of conversations")
    return options


def _cost(options: argparse.Namespace, folder: Path) -> bool:
    asked = asyncio.run(cost.faded_beside_active(folder / "faded", options.memories))
    months = asyncio.run(cost.idle(folder / "idle"))
    broken = cost.report(asked, months)
    _write(
        options.json,
        {
            "asked": [asked_user.plain() for asked_user in asked],
            "idle": [month.plain() for month in months],
        },
    )
    print(*(f"BROKEN: {complaint}" for complaint in broken), sep="\n")
    return bool(broken)


def _moved(options: argparse.Namespace, folder: Path) -> bool:
    sets: dict[str, list[moved.Talk]] = {}
    if not options.only_sets:
        sets["made up"] = [
            moved.Talk.of_life(daily.life(options.seed).first_months(1, "a month of daily chats"))
        ]
    sets |= {
        file.stem: [
            moved.Talk.of_conversation(conversation) for conversation in read(file)[: options.limit]
        ]
        for file in options.data
    }
    figures, broken, place = dict[str, Any](), list[str](), 0
    with ExitStack() as ending:
        stores = _stores(options, folder, ending)
        for name, talks in sets.items():
            talks_with_days = []
            for talk in talks:
                settings = settings_of(
                    folder / f"talk{place}",
                    options.embedder,
                    {} if stores is None else stores.database(place),
                )
                if stores is not None:
                    # A user who is asked about often enough is held, and found by other statistics
                    # than Cosmos DB has: not what time did.
                    settings = settings.model_copy(update={"slice_budget_mb": 0})
                place += 1
                days = asyncio.run(
                    moved.measure(talk, settings)
                    if stores is None
                    else moved.measure(talk, settings, stores.along)
                )
                moved.report(talk.name, len(talk.questions), days)
                talks_with_days.append((talk, days))
                figures[talk.name] = [day.plain() for day in days]
            whole = moved.together(talks_with_days)
            if len(talks_with_days) > 1:
                moved.report(f"all of {name}", sum(len(talk.questions) for talk in talks), whole)
            broken += moved.broken(name, whole)
    _write(options.json, figures)
    print(*(f"BROKEN: {complaint}" for complaint in broken), sep="\n")
    return bool(broken)


def _year(options: argparse.Namespace, folder: Path) -> bool:
    with ExitStack() as ending:
        stores = _stores(options, folder, ending)
        jobs = [
            Job(life, folder / str(place), options.embedder, unfading, {})
            for place, (life, unfading) in enumerate(_wanted(options))
        ]
        if stores is not None:
            jobs = [
                replace(job, stores=stores.database(place), along=stores.along)
                for place, job in enumerate(jobs)
            ]
        lived = lived_all(jobs, 1 if stores is not None else options.jobs)
    paired = _paired(jobs, lived)
    broken = any(verdict.broken for verdict in report(paired))
    _write(options.json, {"arguments": sys.argv[1:], "lives": [life.plain() for life in paired]})
    if options.chart:
        from bench.year.chart import draw

        draw(paired, options.chart)
    return broken


def _wanted(options: argparse.Namespace) -> Iterator[tuple[Life, bool]]:
    """The lives, the longest first, each followed by its twin (True)."""
    twins = (False,) if options.short or options.no_twin else (False, True)
    if not options.only_sets:
        made = daily.life(options.seed, every_days=SHORT_EVERY_DAYS if options.short else 1)
        yield from ((made, unfading) for unfading in twins)
        yield made.first_months(SILENT, SILENT_NAME), False
    for file in options.data:
        for conversation in read(file)[: options.limit]:
            yield from ((lives.of_conversation(conversation), unfading) for unfading in twins)


class _Emulators:
    """The stores of Azure, each life in a database of its own. Their clock goes along:
    it is Cosmos DB that drops what expires.
    """

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        from tests import azure_stores

        (folder / "stores").mkdir()
        self._stores = ending.enter_context(azure_stores.running((folder / "stores").resolve()))

    def database(self, place: int) -> dict[str, str]:
        """Make a database; the environment variables that name it."""
        asyncio.run(self._stores.provision(DIMENSIONS, f"year-{place}"))
        return self._stores.settings(f"year-{place}")

    def along(self, by: timedelta) -> None:
        """Move their clock."""
        if by > timedelta(0):
            self._stores.cosmos.advance(by.total_seconds())


def _stores(options: argparse.Namespace, folder: Path, ending: ExitStack) -> _Emulators | None:
    return None if options.profile == "embedded" else _Emulators(folder, ending)


def _paired(jobs: Sequence[Job], lived: Sequence[Lived]) -> list[Told]:
    twins = {job.life.name: life for job, life in zip(jobs, lived, strict=True) if job.unfading}
    return [
        Told(
            life,
            twins.get(job.life.name),
            even=job.life.name in (daily.NAME, SILENT_NAME),
            silent_after=SILENT - 1 if job.life.name == SILENT_NAME else None,
        )
        for job, life in zip(jobs, lived, strict=True)
        if not job.unfading
    ]


def _write(file: Path | None, figures: dict[str, Any]) -> None:
    if file is not None:
        file.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    raise SystemExit(main())
