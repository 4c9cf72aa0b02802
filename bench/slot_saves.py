"""`python -m bench.slot_saves [--beside] [--code PATH]`: what one more save into a slot costs, by
how much was said in it before.

Each save brings another value of one slot, said later than all others; with `--beside` it is kept
beside all of them. Measured are processor time, requests to the store and request units, this code
and that of another checkout in turns, each in a process of its own. Note: request units are
reckoned by the formula of `bench.counted`, which counts a page of neighbours by what goes out; an
account's own figures come from `make test-live`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import process_time
from typing import Any

SIZES = (1, 10, 100, 200, 1000)
SIZES_BESIDE = (1, 10, 100, 200)
"""All of these hold at once, so no part of their log can be sealed, and each save costs more than
the one before it.
"""
SAVES = 20
"""Measured at each size; the median is shown."""
HEADER = ("code", "said before", "CPU ms", "requests", "request units")


async def measured(
    folder: Path, sizes: tuple[int, ...] = SIZES, on_conflict: str = "auto"
) -> list[dict[str, float]]:
    """By size: the median of CPU ms, the requests and the request units of a save.

    Args:
        folder: for the store; empty.
        sizes: how many values were said before, ascending.
        on_conflict: of all saves.

    """
    from bench.counted import CountedStore
    from bench.users import Hands, owner
    from memory_core.bootstrap.adapters import Adapters
    from memory_core.config import Settings
    from memory_core.core import MemoryCore
    from memory_core.domain.requests.memories import SaveInput
    from memory_core.telemetry import Telemetry

    given: dict[str, Any] = {
        "embedding_provider": "hash",
        "llm_provider": "offline",
        "data": folder,
        "sqlite_synchronous": "normal",
    }
    settings, clock, telemetry = Settings.model_validate(given), Hands(), Telemetry()
    made, counts = Adapters.of(settings, clock, telemetry.charged, telemetry), Counter[str]()
    store: Any = CountedStore(made.long_term, counts, dimensions=made.embedder.dimensions)
    began = clock.now() - timedelta(days=1000)
    results = []

    async with MemoryCore(settings, clock=clock, adapters=replace(made, long_term=store)) as core:

        async def said(user: int, number: int) -> tuple[float, int, float]:
            fields = {
                "subject": "Ann",
                "attribute": "home",
                "value": f"town {number}",
                "event_timestamp": began + timedelta(hours=number),
            }
            content = {
                "type": "semantic",
                "content": f"Ann lives in town {number}",
                "on_conflict": on_conflict,
            }
            item = SaveInput.model_validate({**content, **fields})
            counts.clear()
            before = process_time()
            await core.save(owner(user), item)
            requests = sum(count for name, count in counts.items() if name.endswith(".requests"))
            units = (
                sum(count for name, count in counts.items() if name.endswith(".milliunits")) / 1000
            )
            return 1000 * (process_time() - before), requests, units

        number = 0
        for size in sizes:
            costs = []
            # a user each, or the slot would be fuller in the end than it is called
            if size < SAVES:
                for user in range(SAVES):
                    for place in range(size):
                        await said(1000 * size + user, place)
                    costs.append(await said(1000 * size + user, size))
            else:
                while number < size:
                    await said(0, number)
                    number += 1
                for _ in range(SAVES):
                    costs.append(await said(0, number))
                    number += 1
            middle = [sorted(each)[SAVES // 2] for each in zip(*costs, strict=True)]
            most = [max(each) for each in zip(*costs, strict=True)]
            results.append(
                {
                    "size": size,
                    "cpu_ms": middle[0],
                    "requests": middle[1],
                    "units": middle[2],
                    "most_units": most[2],
                }
            )
    return results


def main(arguments: list[str] | None = None) -> int:
    """Measure, and print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--code", type=Path, help="another checkout to measure in turns with this one"
    )
    parser.add_argument(
        "--beside", action="store_true", help="keep each value beside the others (keep_both)"
    )
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.here:
        with tempfile.TemporaryDirectory() as folder:
            way = (SIZES_BESIDE, "keep_both") if options.beside else (SIZES, "auto")
            print(json.dumps(asyncio.run(measured(Path(folder), *way))))
        return 0
    root = Path(__file__).parents[1]
    print(" | ".join(HEADER))
    for code in [root, *([options.code.resolve()] if options.code else [])]:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [
            sys.executable,
            str(Path(__file__).resolve()),
            "--here",
            *(["--beside"] if options.beside else []),
        ]
        done = subprocess.run(
            command,
            cwd=code,
            env={**environment, "PYTHONPATH": str(code)},
            stdout=subprocess.PIPE,
            check=True,
        )
        for row in json.loads(done.stdout.splitlines()[-1]):
            cells = (
                row["size"],
                f"{row['cpu_ms']:.1f}",
                int(row["requests"]),
                f"{row['units']:.0f}",
            )
            print(" | ".join(map(str, ("this" if code == root else "other", *cells))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
