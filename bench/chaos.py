"""`python -m bench.chaos`: kills hosts and stores under load, then looks for what was lost.

Calls begin at a fixed rate, whatever became of those before: memories of every type, bulks,
conversations, edits, deletions, with and without Idempotency-Key, again whenever an answer is
lost. Meanwhile a seeded disturber kills, freezes and restarts the host and its stores, fills
Redis and the host's disk, cuts and delays connections, lets the store refuse, puts clocks forward,
and runs a second host on the same data. Then everything is let run, and all that was acknowledged
is read back through a host that was started afterwards.

lost: acknowledged, and not there or saying something else. doubled: there twice, though it has a
key, or its fields name it. back: deleted, and shown again. stuck: a task that does not end, also
hours later. poisoned: one that was given up. other 5xx: neither 503 nor 504. refused: another
answer to a right call. crashes: hosts, and workers of them, that ended by themselves.

Note: the seed decides every random choice; how disturbances and calls meet differs from run to run
all the same.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import shutil
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.chaos_clients import MOST_CLIENTS, Notebook
from bench.chaos_load import Load
from bench.chaos_servers import Disturber, System
from bench.chaos_settle import Checker, work_hours_later
from bench.tables import show
from memory_core.localhost.workers import AUTO, number_of

WRONG = ("lost", "doubled", "back", "stuck", "poisoned", "other 5xx", "refused", "crashes")
RATES = {"embedded": 50, "azure": 12}
"""Calls that begin in a second. On two cores the emulators of `azure` answer some 24, and calls
that are sent again while a store is down come on top.
"""
SHOWN = 10
"""Accusations of a kind that are printed."""


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.chaos",
        description="Kills and freezes Memory Core while it is written to.",
    )
    parser.add_argument(
        "--profile",
        choices=("embedded", "azure"),
        default="embedded",
        help="what the host stands on",
    )
    parser.add_argument(
        "--seconds", type=float, default=480.0, help="of traffic and disturbances (default 480)"
    )
    parser.add_argument(
        "--settle",
        type=float,
        default=120.0,
        help="seconds that tasks may take to end afterwards (default 120)",
    )
    parser.add_argument(
        "--rate",
        type=float,
        help="calls that begin in a second (default: "
        f"{', '.join(f'{rate} in {profile}' for profile, rate in RATES.items())})",
    )
    parser.add_argument(
        "--clients",
        type=int,
        default=MOST_CLIENTS,
        metavar="N",
        help="who wait for answers at once, at most; then no call begins (default %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--embedder",
        choices=("hash", "minilm"),
        default="hash",
        help="minilm: the local model (default hash)",
    )
    parser.add_argument(
        "--workers",
        type=number_of,
        default=AUTO,
        metavar="N",
        help="processes of each host; auto, as `make run`: one a core, at most 4 (default auto)",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; 1 when something was lost, doubled, back, stuck, poisoned or wrongly answered,
    130 when it was stopped.
    """
    parser = _options()
    options = parser.parse_args(arguments)
    if options.rate is None:
        options.rate = RATES[options.profile]
    if not 1 <= options.clients <= MOST_CLIENTS or options.rate <= 0:
        parser.error(f"--clients is from 1 to {MOST_CLIENTS}, --rate more than 0")
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}, seed {options.seed}, workers of a host: {options.workers}",
        flush=True,
    )
    folder = Path(tempfile.mkdtemp(prefix="memory-core-chaos-"))
    is_kept = True
    try:
        wrong = asyncio.run(_run(folder, options))
        is_kept = wrong > 0
    except (KeyboardInterrupt, asyncio.CancelledError):
        is_kept = False
        print("Stopped; nothing is left running.", flush=True)
        return 130
    finally:
        if is_kept:
            print(f"\nData and logs are kept in {folder}", flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return int(wrong > 0)


async def _run(folder: Path, options: argparse.Namespace) -> int:
    """The whole run; how much was wrong."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    notebook = Notebook()
    system = System(folder, options.profile, options.embedder, options.workers)
    try:
        await system.start()
        async with Checker(system, notebook) as checker:
            async with system.watched():
                await checker.wait_until_ready()
                disturber = await _disturb(system, notebook, options)
                await checker.wait_until_ready()
                waiting = await checker.settle(options.settle)
            notebook.counts["late"] = len(waiting)
            await _renew(system, checker, waiting, options.settle)
            await checker.check()
    finally:
        await system.stop()
    system.count_ended_workers()
    notebook.accusations["crashes"] += system.crashes
    _report(notebook, disturber, system, options)
    return sum(len(notebook.accusations[name]) for name in WRONG)


async def _disturb(system: System, notebook: Notebook, options: argparse.Namespace) -> Disturber:
    """Traffic and disturbances, until all calls are answered."""
    until = time.monotonic() + options.seconds
    disturber = Disturber(system, options.seed, until)
    load = Load(options.rate, options.clients, options.seed, system, notebook, until)
    async with asyncio.TaskGroup() as group:
        group.create_task(disturber.run())
        group.create_task(load.run())
    notebook.counts["calls at once, at most"] = load.clients
    print(f"{options.seconds:.0f} s of traffic are over; waiting for tasks to end", flush=True)
    return disturber


async def _renew(
    system: System, checker: Checker, waiting: list[dict[str, Any]], seconds: float
) -> None:
    """Stop the host, let the work end that still waits, and start a new host."""
    await system.stop_hosts()
    if waiting:
        print(f"{len(waiting)} tasks still wait after {seconds:.0f} s, as does:", flush=True)
        print(
            "  {kind} {task_id}: {status}, {step}, {updated_at}, {error}".format(**waiting[0]),
            flush=True,
        )
        await work_hours_later(system)
    await asyncio.to_thread(system.hosts[0].start)
    await checker.wait_until_ready()


def _report(
    notebook: Notebook, disturber: Disturber, system: System, options: argparse.Namespace
) -> None:
    counts = notebook.counts
    done = (
        counts["requests"],
        counts["saves"],
        counts["conversations"],
        disturber.kills.total(),
        disturber.freezes.total(),
    )
    wrong = [len(notebook.accusations[name]) for name in WRONG]
    headings = ("", "requests", "saves acknowledged", "conversations", "kills", "freezes", *WRONG)
    line = [
        f"{options.profile}, {options.seconds:.0f} s",
        *(f"{count:,}" for count in (*done, *wrong)),
    ]
    show(f"Chaos, seed {options.seed}", headings, [line])
    details = {
        "kills": disturber.kills,
        "freezes": disturber.freezes,
        "other disturbances": disturber.others,
        "also": counts,
    }
    for name, of_each in details.items():
        print(
            f"{name}: {', '.join(f'{count:,} {kind}' for kind, count in sorted(of_each.items()))}",
            flush=True,
        )
    kinds = {f"kill {name}": count for name, count in disturber.kills.items()}
    kinds |= {f"freeze {name}": count for name, count in disturber.freezes.items()} | dict(
        disturber.others
    )
    rate, answered = counts["requests"] / options.seconds, notebook.answers.total()
    print(
        f"{sum(kinds.values())} disturbances of {len(kinds)} kinds, {rate:.0f} requests a second, "
        f"{answered / options.seconds:.0f} of them answered, load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    silent = max(0.0, options.seconds - len(notebook.answers))
    print(f"seconds in which nobody got an answer: {silent:.0f}", flush=True)
    print(
        f"tasks that still waited after {options.settle:.0f} s of calm: {counts['late']}",
        flush=True,
    )
    print(
        f"starts that a host refused while its stores were down: {system.starts_refused}",
        flush=True,
    )
    for name in WRONG:
        for why in notebook.accusations[name][:SHOWN]:
            print(f"{name}: {why}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
