"""The way `units`: what one conversation of ten messages costs a store on Cosmos DB, and a run
of consolidation after one, for this version and for others, without a model or with one.

Each made-up conversation is a user's first. The emulator is this version's for all,
and so is the formula (`wire.py`). The model is a server on this machine that answers as the rules
do, so that each answer is frozen as that of a real one is.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.formation import conversations
from bench.formation_calls import CountingModel
from bench.host import ROOT
from bench.yardstick import bills
from bench.yardstick.bills import Cost
from bench.yardstick.service import DIMENSIONS, Service, running
from bench.yardstick.ways import Measured, progress
from bench.yardstick.wire import Meter, metered
from memory_core.domain.joint_answers import FormationCalls
from tests.chat_server import ChatServer
from tests.cosmos_server import KEY, CosmosServer
from tests.served import serving

CONVERSATIONS, SEED, AGAIN = 20, 7, 100
QUIET_S, LOOK_S, ENDS_S = 1.0, 0.05, 120
"""Seconds without a request after which a conversation is taken to be formed; between looks;
and after which it should be.
"""
DATABASE = "memory-core"
RUN = "/api/v1/consolidate"
LATER = ("MEMORY_CONSOLIDATION_FIRST_MINUTES", "MEMORY_FORMATION_CALLS")
"""Settings that the first versions don't have."""
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
ASKED = ("model calls", "tokens read", "tokens written")
"""Of a model, where one is asked."""


def measure(
    codes: Sequence[Path], count: int, calls: Sequence[FormationCalls | None] = (None,)
) -> Measured:
    """Measure the version in each folder.

    Args:
        codes: Folders of checkouts, each with `function_app.py` and `memory_core`.
        count: Conversations, each of a user of its own.
        calls: In which calls a model is asked; None asks no model.

    """
    measured = Measured()
    formed, settled = dict[str, Cost](), dict[str, Cost]()
    for code in codes:
        for mode in calls:
            name = version(code) + (f", {mode}" if mode is not None else "")
            formed[name], settled[name] = _measured(code, name, count, mode)
            measured.figures[name] = {**formed[name].figures, "run": settled[name].figures}
    titles = (
        (f"One conversation of 10 messages, mean of {count}, each a user's first", formed),
        ("A run of consolidation after one more conversation, each a user's second", settled),
    )
    for title, by_name in titles:
        _show(measured, title, by_name)
    bills.show(measured, formed, settled)
    return measured


def _show(measured: Measured, title: str, by_name: dict[str, Cost]) -> None:
    lines = [
        [name, *(f"{value:,.1f}" for value in cost.counted.values())]
        for name, cost in by_name.items()
    ]
    measured.table(title, ("", *COUNTED, *ASKED), lines)
    purposes = sorted(
        {purpose for cost in by_name.values() for purpose in cost.spent},
        key=lambda purpose: -max(cost.spent.get(purpose, 0.0) for cost in by_name.values()),
    )
    measured.table(
        "Its request units by what they are for",
        ("", *by_name),
        [
            [purpose, *(f"{cost.spent.get(purpose, 0.0):,.1f}" for cost in by_name.values())]
            for purpose in purposes
        ],
    )


def version(code: Path) -> str:
    """The commit that is checked out in a folder, or the folder's name."""
    asked = ["git", "-C", str(code), "describe", "--always", "--dirty"]
    described = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return f"{described} (this)" if described and code == ROOT else described or code.name


def _measured(code: Path, name: str, count: int, calls: FormationCalls | None) -> tuple[Cost, Cost]:
    """What one conversation costs, and a run after a further one."""
    cosmos, meter, model = CosmosServer(), Meter(DIMENSIONS), CountingModel()
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
                _model(model, calls) as chosen,
                running(
                    "embedded",
                    Path(folder),
                    app=code,
                    settings=_known_to(code, _settings(endpoint) | chosen),
                ) as service,
            ):
                meter.counting = False
                _tell(service, meter, "warm-up", 1, SEED + 1)
                formed = _cost(
                    meter, model, count, lambda: _tell(service, meter, name, count, SEED)
                )
                _settle(service, meter, name, count, SEED)
                _tell(service, meter, f"{name}, again", count, SEED, AGAIN)
                return formed, _cost(
                    meter, model, count, lambda: _settle(service, meter, name, count, SEED)
                )
        finally:
            cosmos.kill()


def _cost(meter: Meter, model: CountingModel, count: int, work: Callable[[], None]) -> Cost:
    """What each of `count` parts of some work costs in the mean."""
    base = _counted(meter)
    model.calls.clear()
    meter.counts.clear()
    meter.spent.clear()
    meter.counting = True
    work()
    meter.counting = False
    after = _counted(meter)
    written = sum(call.answer for call in model.calls)
    asked = len(model.calls), sum(call.tokens for call in model.calls) - written, written
    return Cost(
        {name: (after[name] - base[name]) / count for name in COUNTED}
        | {name: number / count for name, number in zip(ASKED, asked, strict=True)},
        {kind: number / count for kind, number in sorted(meter.counts.items())},
        {kind: units / count for kind, units in meter.spent.items()},
    )


@contextmanager
def _model(model: CountingModel, calls: FormationCalls | None) -> Iterator[dict[str, str]]:
    """The settings of a host that asks a model in these calls, which answers while the block runs;
    no settings for None.
    """
    if calls is None:
        yield {}
        return
    server = ChatServer(model=model)
    with serving(server):
        yield {
            "LLM_PROVIDER": "openai",
            "LLM_BASE_URL": f"{server.root}/v1",
            "LLM_MODEL": "m",
            "MEMORY_FORMATION_CALLS": calls,
        }


def _settings(endpoint: str) -> dict[str, str]:
    """Of a host whose memories are in the store behind the meter; all else is on this machine.
    No run begins by itself before the hour.
    """
    return {
        "MEMORY_LONG_TERM": "cosmos",
        "MEMORY_COSMOS_ENDPOINT": endpoint,
        "MEMORY_COSMOS_KEY": KEY,
        "MEMORY_COSMOS_DATABASE": DATABASE,
        "MEMORY_WEBHOOK_SECRET": "signs what a bench tells",
        "MEMORY_CONSOLIDATION_THRESHOLD": "10000",
        "MEMORY_CONSOLIDATION_FIRST_MINUTES": "0",
    }


def _known_to(code: Path, settings: dict[str, str]) -> dict[str, str]:
    """The settings without those that a version does not have: it does not start with them."""
    documented = (code / "docs" / "settings.md").read_text()
    unknown = {name for name in LATER if name not in documented}
    return {name: value for name, value in settings.items() if name not in unknown}


def _tell(
    service: Service, meter: Meter, name: str, count: int, seed: int, further: int = 0
) -> None:
    """Tell conversations one after the other. further: added to the seed of what is told, not to
    that of the users.
    """
    for number, conversation in enumerate(conversations(seed + further, count)):
        user = _user(number, seed)
        progress(f"units, {name}: conversation {number + 1} of {count}")
        messages = [
            {name: spoken[name] for name in SPOKEN}
            for spoken in conversation.model_dump(mode="json")["messages"]
        ]
        _wait(service, meter, user, service.tell(user, "monday", messages))


def _settle(service: Service, meter: Meter, name: str, count: int, seed: int) -> None:
    """Run consolidation of the users of conversations, one after the other."""
    for number in range(count):
        user = _user(number, seed)
        progress(f"units, {name}: run {number + 1} of {count}")
        _wait(service, meter, user, service.post(RUN, {"user_id": user})["task_id"])


def _user(number: int, seed: int) -> str:
    return f"user-{number}-of-{seed}"


def _wait(service: Service, meter: Meter, user: str, task: str) -> None:
    """Wait for a task. Whether it has ended is asked in a pause of the count, once the store is
    quiet.
    """
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
            raise RuntimeError(f"a task is {status} after {ENDS_S} s")


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
