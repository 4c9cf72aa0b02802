"""`python -m bench.odd_conversations`: tells a host of its own thousands of odd conversations over
HTTP, and says which did not form.

Each seed is one conversation and the same texts in every other call; each 50 of them are one user,
who is consolidated after the last. A conversation counts as formed when its task succeeds at its
first attempt. Note: a failure is printed as soon as it is seen, with its seed;
`--from SEED --count 1` repeats it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from bench.host import Host
from memory_core.adapters.offline.agents import OfflineAgents
from tests.odd_conversations import Request, ask_all, conversation, name, refused, requests

A_USER = 50
"""Conversations of one user."""
AT_ONCE = 4
"""Conversations that are told at the same time."""
END_S = 120
"""Seconds until a task that has not ended counts as stuck."""
_API = "/api/v1/"
_AFTERWARDS = (
    Request("GET", "scenes", statuses=(200,)),
    Request("GET", "profile", statuses=(200,)),
    Request("GET", "sessions", statuses=(200,)),
    Request("GET", "conflicts", statuses=(200,)),
    Request("GET", "agents"),
    Request("GET", "tasks", statuses=(200,)),
    Request("GET", "timeline"),
)


@dataclass(slots=True)
class Tally:
    """What came of a run: how many of what, and each failure with its seed."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def fail(self, kind: str, seed: int, reason: str) -> None:
        """Count a failure and print it."""
        self.counts[kind] += 1
        self.failures.append(f"seed {seed}: {kind}: {reason}")
        print(self.failures[-1], flush=True)


async def tell(
    client: httpx.AsyncClient, seed: int, user_id: str, tally: Tally, *, alone: bool = False
) -> None:
    """Tell one odd conversation and wait until it is formed; unless `alone`, say the same texts in
    every other call.
    """
    body = {
        "user_id": user_id,
        "session_id": name(seed),
        "agent_id": name(seed + 7),
        "messages": conversation(seed),
    }
    await _run(client, Request("POST", "memories", body, statuses=(202,)), seed, user_id, tally)
    if alone:
        return
    for request in requests(seed, user_id):
        await _run(client, request, seed, user_id, tally)
    wrong = await client.post(
        f"{_API}memories",
        content=refused(seed).encode(),
        headers={"content-type": "application/json"},
    )
    if wrong.status_code not in (400, 422):
        tally.fail("not refused", seed, f"{wrong.status_code} for {refused(seed)}")


async def consolidate(client: httpx.AsyncClient, seed: int, user_id: str, tally: Tally) -> None:
    """Consolidate a user, read all that came of it, and move it to another user."""
    for work in ("consolidate", "decay", "archive"):
        await _run(
            client,
            Request("POST", work, {"user_id": user_id}, statuses=(200, 202)),
            seed,
            user_id,
            tally,
        )
    for request in _AFTERWARDS:
        await _send(
            client,
            Request(
                request.method, request.path, query={"user_id": user_id}, statuses=request.statuses
            ),
            seed,
            tally,
        )
    await _send(
        client, Request("POST", "context", {"user_id": user_id}, statuses=(200,)), seed, tally
    )
    listed = await _send(
        client,
        Request("GET", "memories", query={"user_id": user_id, "limit": "5"}, statuses=(200,)),
        seed,
        tally,
    )
    for memory in listed.json()["memories"] if listed is not None else ():
        path = f"memories/{memory['id']}/evolution/graph"
        for form in ("json", "mermaid", "svg", "dot", "graphml", "html"):
            await _send(
                client,
                Request("GET", path, query={"user_id": user_id, "format": form}),
                seed,
                tally,
            )
    await _move(client, seed, user_id, f"{user_id} moved", tally)


async def _move(
    client: httpx.AsyncClient, seed: int, user_id: str, other_id: str, tally: Tally
) -> None:
    """Export a user and import that as another one: what was taken once has to be taken again."""
    user, other = f"users/{quote(user_id, safe='')}", f"users/{quote(other_id, safe='')}"
    exported = await _run(
        client, Request("POST", f"{user}/export", statuses=(202,)), seed, user_id, tally
    )
    begun = await _send(client, Request("POST", f"{other}/import", statuses=(202,)), seed, tally)
    if exported is None or begun is None:
        return
    import_id, parts = begun.json()["task_id"], exported["result"]["parts"]
    for part in range(1, parts + 1):
        file = await client.get(f"{_API}{user}/export/{exported['task_id']}", params={"part": part})
        taken = await client.put(
            f"{_API}{other}/import/{import_id}",
            params={"part": part},
            content=file.content,
            headers={"content-type": file.headers["content-type"]},
        )
        if taken.status_code != 204:
            tally.fail(
                "unexpected",
                seed,
                f"part {part} of an import: {taken.status_code} {taken.text[:300]}",
            )
    commit = Request(
        "POST",
        f"{other}/import/{import_id}/commit",
        {"parts": parts, "sha256": exported["result"]["sha256"]},
        statuses=(202,),
    )
    await _run(client, commit, seed, other_id, tally)


async def _run(
    client: httpx.AsyncClient, request: Request, seed: int, user_id: str, tally: Tally
) -> dict[str, Any] | None:
    """The task of a request, once it has succeeded; None where there is none or it has not."""
    answer = await _send(client, request, seed, tally)
    if answer is None or answer.status_code != 202 or "task_id" not in answer.json():
        return None
    return await _wait(client, answer.json()["task_id"], seed, user_id, tally)


async def _send(
    client: httpx.AsyncClient, request: Request, seed: int, tally: Tally
) -> httpx.Response | None:
    """The answer, or None where it is not one that the request may have."""
    answer = await client.request(
        request.method, _API + request.path, json=request.body, params=request.query
    )
    tally.counts["requests"] += 1
    if answer.status_code >= 500:
        tally.fail(
            "5xx",
            seed,
            f"{request.method} {request.path[:60]}: {answer.status_code} {answer.text[:300]}",
        )
        return None
    if request.statuses and answer.status_code not in request.statuses:
        tally.fail(
            "unexpected",
            seed,
            f"{request.method} {request.path[:60]}: {answer.status_code} {answer.text[:300]}",
        )
        return None
    return answer


async def _wait(
    client: httpx.AsyncClient, task_id: str, seed: int, user_id: str, tally: Tally
) -> dict[str, Any] | None:
    """The task once it has succeeded; a first attempt that failed is a failure,
    because the same text will fail again.
    """
    deadline, pause = time.monotonic() + END_S, 0.01
    task: dict[str, Any] = {}
    while time.monotonic() < deadline:
        task = (await client.get(f"{_API}tasks/{task_id}", params={"user_id": user_id})).json()
        if task["status"] == "succeeded" and task["attempts"] <= 1:
            tally.counts["formed" if task["kind"] == "converse" else "tasks"] += 1
            return task
        if (
            task["status"] not in ("accepted", "running")
            or task["attempts"] > 1
            or task["error"] is not None
        ):
            tally.fail(
                "poisoned",
                seed,
                f"{task['kind']} {task['status']} after {task['attempts']} attempts: "
                f"{json.dumps(task['error'])[:300]}",
            )
            return None
        await asyncio.sleep(pause)
        pause = min(0.2, pause * 1.5)
    tally.fail("stuck", seed, f"{task.get('kind')} {task.get('status')} for {END_S} s")
    return None


async def run(port: int, first: int, count: int, tally: Tally, *, alone: bool = False) -> None:
    """Tell the conversations of these seeds, a user at a time."""
    room = asyncio.Semaphore(AT_ONCE)

    async def told(client: httpx.AsyncClient, seed: int, user_id: str) -> None:
        async with room:
            await tell(client, seed, user_id, tally, alone=alone)

    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        for start in range(first, first + count, A_USER):
            seeds, user_id = (
                range(start, min(start + A_USER, first + count)),
                f"odd {start // A_USER} ёлка",
            )
            await asyncio.gather(*(told(client, seed, user_id) for seed in seeds))
            if not alone:
                await consolidate(client, seeds[-1], user_id, tally)
            print(
                f"{time.strftime('%H:%M:%S')} up to seed {seeds[-1]}: {dict(tally.counts)}",
                flush=True,
            )


class Plainer:
    """Counts what rules cut, as the host's metrics do."""

    def __init__(self) -> None:
        self.cut: Counter[str] = Counter()

    def tokens(
        self, app_id: str, model: str, prompt: int, completion: int, reasoning: int = 0
    ) -> None:
        """Rules take none."""

    def agent_call(self, call: str, outcome: str) -> None:
        """Only models' calls are counted."""

    def answer_cut(self, call: str, field: str) -> None:
        """Count one field."""
        self.cut[f"{call} {field}"] += 1


async def run_agents(first: int, count: int, tally: Tally) -> None:
    """Ask the rules alone about the conversations of these seeds; a plainer rule that had to answer
    is a failure.
    """
    meter = Plainer()
    agents = OfflineAgents(meter=meter)
    plainer = 0
    for seed in range(first, first + count):
        try:
            await ask_all(agents, seed)
        except Exception as error:  # noqa: BLE001 - every failure is what this is looking for
            tally.fail("error", seed, type(error).__name__)
        answered = sum(number for name, number in meter.cut.items() if name.endswith(" answer"))
        if answered > plainer:
            tally.fail("plainer rule", seed, str(answered - plainer))
            plainer = answered
        tally.counts["asked"] += 1
        if (seed - first + 1) % 1_000 == 0:
            print(
                f"{time.strftime('%H:%M:%S')} up to seed {seed}: {dict(tally.counts)}", flush=True
            )
    print("cut:", dict(meter.cut.most_common()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 1 when anything failed."""
    parser = argparse.ArgumentParser(prog="python -m bench.odd_conversations", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument(
        "--from", dest="first", type=int, default=0, metavar="SEED", help="the first seed"
    )
    parser.add_argument("--embedder", default="hash", choices=("hash", "minilm"))
    parser.add_argument(
        "--alone",
        action="store_true",
        help="tell the conversations, and call nothing else with their texts",
    )
    parser.add_argument("--agents", action="store_true", help="ask the rules alone, without a host")
    chosen = parser.parse_args(arguments)
    tally = Tally()
    if chosen.agents:
        asyncio.run(run_agents(chosen.first, chosen.count, tally))
    else:
        with tempfile.TemporaryDirectory() as folder:
            host = Host(Path(folder), chosen.embedder)
            try:
                asyncio.run(run(host.port, chosen.first, chosen.count, tally, alone=chosen.alone))
            finally:
                host.stop()
    print(f"done: {dict(tally.counts)}; failures: {len(tally.failures)}")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
