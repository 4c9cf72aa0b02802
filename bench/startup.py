"""How long it takes until something can be asked: the import of the functions,
and a host over data that is already there.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.host import ROOT, Host
from bench.load import ask, drive
from bench.tables import show

REPEATS = 5


def measure(folder: Path) -> dict[str, float]:
    """Seconds by what was measured; also printed."""
    figures = {
        "import function_app, cumulative": statistics.median(imported() for _ in range(REPEATS))
    }
    for embedder in ("hash", "minilm"):
        try:
            first_answer(folder / embedder, embedder)
            figures[f"second start to first retrieve, {embedder} embedder"] = first_answer(
                folder / embedder, embedder
            )
        except RuntimeError as error:
            print(f"the {embedder} embedder is skipped: {error}", flush=True)
    show(
        "Start-up", ("", "s"), [[heading, f"{seconds:.2f}"] for heading, seconds in figures.items()]
    )
    return figures


def imported() -> float:
    """Seconds that `import function_app` takes in a fresh interpreter, by its own account."""
    command = [sys.executable, "-X", "importtime", "-c", "import function_app"]
    report = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stderr
    line = next(line for line in reversed(report.splitlines()) if line.endswith("| function_app"))
    return int(line.split("|")[1]) / 1_000_000


def first_answer(data: Path, embedder: str) -> float:
    """Seconds from the start of a host's process to its first retrieve. Saves one memory,
    so that the next start finds data.
    """
    began = time.perf_counter()
    host = Host(data, embedder)
    try:
        retrieve = ask(
            "retrieve",
            "POST",
            "/api/v1/memories/retrieve",
            {"user_id": "ana", "query": "Where did Ana move?"},
        )
        save = ask(
            "save",
            "POST",
            "/api/v1/memories/save",
            {"user_id": "ana", "content": "Ana moved to Lisbon in May"},
        )
        answered = asyncio.run(drive(host.port, [[retrieve]], 60.0))
        took = time.perf_counter() - began
        saved = asyncio.run(drive(host.port, [[save]], 60.0))
    finally:
        host.stop()
    if answered.errors or saved.errors:
        raise RuntimeError("the host answered with an error")
    return took
