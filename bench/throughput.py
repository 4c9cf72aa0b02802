"""`python -m bench.throughput`: how fast Memory Core is on this machine, as tables.

Four sections: the library in this process; the development host over HTTP, with one client and with
eight; mem0 beside it, where the extra `bench` is installed; start-up. The embedder is `hash`, so
that the product is measured and not a model; everything else is as it is by default. Every retrieve
asks for ten results with a floor of 0, so that none is cheap for finding nothing. `lost` counts
acknowledged saves that could not be read back; over HTTP the host is killed first and another one
asked. Note: client and server share the cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import library, over_http, peers, startup
from bench.tables import Row, show_rows

SIZES = (1_000, 10_000, 100_000)
QUICK_SIZES = (1_000,)
PEER_LIMIT = 10_000
"""mem0 is measured up to this size: at some 170 saves a second, filling it with more
takes too long.
"""
SECTIONS = ("library", "http", "peers", "startup")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 when there were errors or a save was lost, or else 0."""
    options = _options(arguments)
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} "
        f"{platform.machine()}",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        report = _measure(Path(folder), options)
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1))
    rows = [row for name in ("library", "http") for row in report.get(name, [])]
    return int(any(row["errors"] or row["lost"] for row in rows))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.throughput", description="Measures Memory Core on this machine."
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="1,000 memories and one second a measurement: does it work at all?",
    )
    parser.add_argument(
        "--sizes",
        type=lambda text: [int(size) for size in text.split(",") if size],
        help="memories of one user, e.g. 1000,10000",
    )
    parser.add_argument("--seconds", type=float, help="of each measurement (default 5)")
    parser.add_argument(
        "--sections",
        type=lambda text: text.split(","),
        default=SECTIONS,
        help=f"of {','.join(SECTIONS)}",
    )
    parser.add_argument(
        "--workers",
        type=int,
        nargs="+",
        default=[1],
        help="processes that answer eight clients, e.g. 1 2: one after the other",
    )
    parser.add_argument("--rounds", type=int, default=1, help="of these, in turns (default 1)")
    parser.add_argument("--json", help="write all numbers to this file too")
    options = parser.parse_args(arguments)
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"there is no section {', '.join(sorted(unknown))}")
    options.sizes = options.sizes or (QUICK_SIZES if options.quick else SIZES)
    options.seconds = options.seconds or (1.0 if options.quick else 5.0)
    return options


def _measure(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    sections, sizes, seconds = options.sections, options.sizes, options.seconds
    report: dict[str, Any] = {}
    ours: list[Row] = []
    if "library" in sections or "peers" in sections:
        ours = asyncio.run(_library(folder, sizes, seconds))
        show_rows("Library", ours)
        report["library"] = [row.plain() for row in ours]
    if "http" in sections:
        rows = asyncio.run(_http(folder, sizes, seconds, options.workers, options.rounds))
        show_rows("HTTP", rows)
        report["http"] = [row.plain() for row in rows]
    if "peers" in sections:
        report["peers"] = _peers(
            folder / "mem0", [size for size in sizes if size <= PEER_LIMIT], seconds, ours
        )
    if "startup" in sections:
        report["startup"] = startup.measure(folder / "startup")
    return report


async def _library(folder: Path, sizes: Sequence[int], seconds: float) -> list[Row]:
    rows = []
    for size in sizes:
        async with library.opened(_user_of(folder, size)) as core:
            rows.append(await library.load(core, "ana", size))
            rows += await library.measure(core, "ana", size, seconds)
    return rows


async def _http(
    folder: Path, sizes: Sequence[int], seconds: float, workers: Sequence[int], rounds: int
) -> list[Row]:
    """One client after the other size by size, over the library's data where that section ran too;
    then eight clients.
    """
    rows = []
    for size in sizes:
        data = _user_of(folder, size)
        if not data.exists():
            async with library.opened(data) as core:
                await library.load(core, "ana", size)
        rows += await over_http.measure_one(data, "ana", size, seconds)
    return rows + await over_http.measure_many(folder / "many", seconds, workers, rounds)


def _user_of(folder: Path, size: int) -> Path:
    return folder / f"user-of-{size}"


def _peers(
    folder: Path, sizes: Sequence[int], seconds: float, ours: Sequence[Row]
) -> dict[str, Any]:
    if reason := peers.why_not():
        print(f"\n{reason}", flush=True)
        return {"skipped": reason}
    folder.mkdir()
    flush_ms = peers.flush_ms(folder)
    rows = peers.measure(folder, sizes, seconds)
    show_rows("mem0", rows)
    print(
        f"\na flush to this disk takes {flush_ms:.2f} ms: mem0's add waits for eight, Memory "
        "Core's save for none by default",
        flush=True,
    )
    peers.show_ratios(ours, rows)
    return {"mem0": [row.plain() for row in rows], "flush_ms": flush_ms}


if __name__ == "__main__":
    raise SystemExit(main())
