"""The way `units`: what one conversation of ten messages costs a store on Cosmos DB,
for this version and for others.

Each made-up conversation is a user's first. The emulator is this version's for all,
and so is the formula (`wire.py`).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.formation import conversations
from bench.host import ROOT
from bench.yardstick.service import DIMENSIONS, Service, running
from bench.yardstick.ways import Measured, progress
from bench.yardstick.wire import Meter, metered
from tests.cosmos_server import KEY, CosmosServer

CONVERSATIONS, SEED = 20, 7
QUIET_S, LOOK_S, ENDS_S = 1.0, 0.05, 120
"""Seconds without a request after which a conversation is taken to be formed; between looks;
and after which it should be.
"""
DATABASE = "memory-core"
SPOKEN = ("role", "content", "timestamp")
"""Of a message: what each version knows."""
_PROVISION = """
import asyncio, sys
from azure.cosmos.aio import CosmosClient
try:
    from memory_core.adapters.cosmos.container import provision
except ImportError:  # what was merged into it before
    from memory_core.adapters.cosmos.policies import provision

async def main(endpoint, key, database, dimensions):
    async with CosmosClient(endpoint, key) as client:
        await provision(client, database, "memories", int(dimensions), "quantizedFlat")

asyncio.run(main(*sys.argv[1:]))
"""
COUNTED = (
    "bytes stored",
    "documents",
    "passing documents",
    "documents written",
    "requests",
    "request units",
    "bytes sent",
    "bytes read",
)


def measure(codes: Sequence[Path], count: int) -> Measured:
    """Measure the version in each folder.

    Args:
        codes: Folders of checkouts, each with `function_app.py` and `memory_core`.
        count: Conversations, each of a user of its own.

    """
    measured = Measured()
    lines, by_name = [], dict[str, dict[str, float]]()
    for code in codes:
        name = version(code)
        made, kinds, spent = _measured(code, name, count)
        measured.figures[name] = {**made, "requests by kind": kinds, "units by kind": spent}
        by_name[name] = spent
        lines.append([name, *(f"{value:,.1f}" for value in made.values())])
    measured.table(
        f"One conversation of 10 messages, mean of {count}, each a user's first",
        ("", *COUNTED),
        lines,
    )
    purposes = sorted(
        {purpose for units in by_name.values() for purpose in units},
        key=lambda purpose: -max(units.get(purpose, 0.0) for units in by_name.values()),
    )
    measured.table(
        "Its request units by what they are for",
        ("", *by_name),
        [
            [purpose, *(f"{units.get(purpose, 0.0):,.1f}" for units in by_name.values())]
            for purpose in purposes
        ],
    )
    return measured


def version(code: Path) -> str:
    """The commit that is checked out in a folder, or the folder's name."""
    asked = ["git", "-C", str(code), "describe", "--always", "--dirty"]
    described = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return f"{described} (this)" if described and code == ROOT else described or code.name


def _measured(
    code: Path, name: str, count: int
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """What one conversation costs, its requests by kind and its units by what they are for."""
    cosmos, meter = CosmosServer(), Meter(DIMENSIONS)
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        try:
            cosmos.start()
            subprocess.run(
                [sys.executable, "-c", _PROVISION, cosmos.endpoint, KEY, DATABASE, str(DIMENSIONS)],
                cwd=code,
                check=True,
            )
            with (
                metered(cosmos.endpoint, meter) as endpoint,
                running(
                    "embedded", Path(folder), app=code, settings=_settings(endpoint)
                ) as service,
            ):
                meter.counting = False
                _tell(service, meter, "warm-up", 1, SEED + 1)
                base = _counted(meter)
                meter.counts.clear()
                meter.spent.clear()
                meter.counting = True
                _tell(service, meter, name, count, SEED)
        finally:
            cosmos.kill()
    after = _counted(meter)
    made = {count_name: (after[count_name] - base[count_name]) / count for count_name in COUNTED}
    return (
        made,
        {kind: number / count for kind, number in sorted(meter.counts.items())},
        {kind: units / count for kind, units in meter.spent.items()},
    )


def _settings(endpoint: str) -> dict[str, str]:
    """Of a host whose memories are in the store behind the meter; all else is on this machine."""
    return {
        "MEMORY_LONG_TERM": "cosmos",
        "MEMORY_COSMOS_ENDPOINT": endpoint,
        "MEMORY_COSMOS_KEY": KEY,
        "MEMORY_COSMOS_DATABASE": DATABASE,
        "MEMORY_WEBHOOK_SECRET": "signs what a bench tells",
    }


def _tell(service: Service, meter: Meter, name: str, count: int, seed: int) -> None:
    """Tell conversations one after the other. Whether a task has ended is asked in a pause of the
    count, once the store is quiet.
    """
    for number, conversation in enumerate(conversations(seed, count)):
        user = f"user-{number}-of-{seed}"
        progress(f"units, {name}: conversation {number + 1} of {count}")
        messages = [
            {name: spoken[name] for name in SPOKEN}
            for spoken in conversation.model_dump(mode="json")["messages"]
        ]
        task = service.tell(user, "monday", messages)
        counting, until = meter.counting, time.monotonic() + ENDS_S
        while True:
            while time.monotonic() - meter.asked_at < QUIET_S:
                time.sleep(LOOK_S)
            meter.counting = False
            status = service.get(f"/api/v1/tasks/{task}?user_id={user}")["status"]
            meter.counting = counting
            if status == "succeeded":
                break
            if time.monotonic() > until:
                raise RuntimeError(f"a conversation is {status} after {ENDS_S} s")


def _counted(meter: Meter) -> dict[str, float]:
    return dict(
        zip(
            COUNTED,
            (
                meter.stored, meter.documents, meter.passing, meter.written, meter.requests,
                meter.units, meter.bytes_in, meter.bytes_out,
            ),
            strict=True,
        )
    )  # fmt: skip
