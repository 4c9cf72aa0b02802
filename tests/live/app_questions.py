"""Questions 1 and 6 to 10, to a deployment: by Azure's command lines, and by its own API."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.live.questions import Answer, NotAsked

ROOT = Path(__file__).parents[2]
COLD_STARTS, WAIT_S, PAUSE_S, INGESTED_S = 3, 900.0, 2.0, 360.0
LEASE_S = 30
REDIS_CALL_S, REDIS_OPEN_S = 0.1, 2.0
"""What the app waits for a call of Redis, and for the first connection."""


def run(*command: str) -> Any:
    """What a program prints as JSON; its text where it is none. Raises NotAsked with its last words
    where it fails.
    """
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600)
    except FileNotFoundError:
        raise NotAsked(f"needs {command[0]}") from None
    if done.returncode:
        raise NotAsked(
            f"{' '.join(command[:4])} returned {done.returncode}: {done.stderr.strip()[-200:]}"
        )
    try:
        return json.loads(done.stdout or "null")
    except ValueError:
        return done.stdout


@dataclass(frozen=True)
class App:
    """A deployed function app. key: of its API, for questions that send work."""

    group: str
    name: str
    url: str
    key: str = ""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    run: Callable[..., Any] = run

    def az(self, *arguments: str) -> Any:
        """Azure's command line, on this app."""
        return self.run(
            "az",
            *arguments,
            "--resource-group",
            self.group,
            "--name",
            self.name,
            "--output",
            "json",
        )

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Status and JSON; 0 where no server answers."""
        sent = {
            "Content-Type": "application/json",
            **({"X-API-Key": self.key} if self.key else {}),
            **(headers or {}),
        }
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.url}{path}", method=method, data=data, headers=sent
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, None
        except (OSError, ValueError):
            return 0, None

    def wait(self, holds: Callable[[], bool], seconds: float, condition: str) -> float:
        """How long it took until that holds. Raises NotAsked when it does not."""
        began = self.clock()
        while not holds():
            if self.clock() - began > seconds:
                raise NotAsked(f"{condition} within {seconds / 60:.0f} minutes")
            self.sleep(PAUSE_S)
        return self.clock() - began

    def converse(self, messages: int) -> str:
        """Send a conversation; its task."""
        history = [
            {
                "role": ("user", "assistant")[number % 2],
                "content": f"On day {number} I moved to town number {number}.",
            }
            for number in range(messages)
        ]
        status, answer = self.ask(
            "POST", "/api/v1/memories", {"user_id": "live-questions", "messages": history}
        )
        if status != 202:
            raise NotAsked(f"the app answered {status} to a conversation")
        return str(answer["task_id"])

    def state(self, task: str) -> str:
        """A task's status; empty where the app does not answer."""
        return str(
            ((self.ask("GET", f"/api/v1/tasks/{task}?user_id=live-questions"))[1] or {}).get(
                "status", ""
            )
        )


def ask_again(mode: str, run: Callable[..., Any] = run) -> Answer:
    """Question 1. mode: again or rebuild. Runs azd, in the environment that is chosen there."""
    run("azd", "provision", "--no-prompt")
    if mode != "rebuild":
        return Answer(
            "a second `azd provision` passes",
            "`azd down` then `azd up` is not known: MEMORY_LIVE_AZD=rebuild",
        )
    run("azd", "down", "--force", "--no-prompt")
    run("azd", "up", "--no-prompt")
    return Answer(
        "a second `azd provision`, `azd down` and `azd up` pass",
        "names, vault and account come back as preflight.py says",
    )


def ask_python(app: App) -> Answer:
    """Question 6: the runtime's version, and how many functions Azure has found in the package."""
    runtime = (app.az("functionapp", "show")["properties"]["functionAppConfig"] or {})["runtime"]
    listed = app.az("functionapp", "function", "list")
    indexed = {function["name"].rpartition("/")[2] for function in listed}
    wanted = set(
        json.loads((ROOT / "tests/official_runtime/functions.json").read_text(encoding="utf-8"))
    )
    seen = (
        f"{runtime['name']} {runtime['version']}, {len(indexed & wanted)} of "
        f"{len(wanted)} functions"
    )
    if indexed >= wanted:
        return Answer(seen, "the package fits the Python that Azure runs")
    return Answer(
        f"{seen}; missing: {', '.join(sorted(wanted - indexed)[:5])}",
        "the package was made for another Python: APP_PYTHON_VERSION",
    )


def without_byte_code(package: Path, target: Path) -> Path:
    """The same package, from which each start has to compile."""
    with (
        zipfile.ZipFile(package) as given,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for entry in given.infolist():
            if not entry.filename.endswith(".pyc"):
                made.writestr(entry, given.read(entry))
    return target


def cold_starts(app: App) -> list[float]:
    """Seconds from a restart to the first answer, several times."""
    times = []
    for _ in range(COLD_STARTS):
        app.az("functionapp", "restart")
        times.append(
            app.wait(
                lambda: app.ask("GET", "/health")[0] == 200,
                WAIT_S,
                "no answer came after a restart",
            )
        )
    return sorted(times)


def ask_cold_start(app: App, package: Path, folder: Path) -> Answer:
    """Question 7. Leaves the app with the package that it had."""
    if not package.is_file():
        raise NotAsked(f"needs {package}: make package")
    bare = without_byte_code(package, folder / "bare.zip")
    deploy = (
        "functionapp",
        "deployment",
        "source",
        "config-zip",
        "--build-remote",
        "false",
        "--src",
    )
    medians = {}
    try:
        app.az(*deploy, str(bare))
        medians["without"] = cold_starts(app)[COLD_STARTS // 2]
    finally:
        app.az(*deploy, str(package))
    medians["with"] = cold_starts(app)[COLD_STARTS // 2]
    gained = medians["without"] - medians["with"]
    seen = (
        f"with byte code {medians['with']:.1f} s, without {medians['without']:.1f} s (median of "
        f"{COLD_STARTS})"
    )
    return Answer(
        seen,
        f"it spares {gained:.1f} s"
        if gained > 0
        else "byte code spares nothing here; see what the platform needs",
    )


def ask_requests(app: App) -> Answer:
    """Question 8: which of the functions that no caller starts write rows that alerts count."""
    keys = app.az("functionapp", "keys", "list")
    app.converse(2)
    status, _ = app.ask(
        "POST",
        "/admin/functions/timer_hourly",
        {"input": ""},
        {"x-functions-key": keys["masterKey"]},
    )
    spaces = app.run(
        "az",
        "monitor",
        "log-analytics",
        "workspace",
        "list",
        "--resource-group",
        app.group,
        "--output",
        "json",
    )
    if not spaces:
        raise NotAsked("needs a workspace in the app's resource group")
    query = (
        "AppRequests | where TimeGenerated > ago(1h) | summarize Rows = count() by OperationName"
    )
    asked = (
        "az",
        "monitor",
        "log-analytics",
        "query",
        "--workspace",
        spaces[0]["customerId"],
        "--analytics-query",
        query,
        "--output",
        "json",
    )
    counted: dict[str, int] = {}

    def both() -> bool:
        counted.update({row["OperationName"]: int(row["Rows"]) for row in app.run(*asked)})
        return any("formation" in name for name in counted) and any(
            "timer" in name for name in counted
        )

    try:
        app.wait(both, INGESTED_S, "no rows came")
    except NotAsked:
        if not counted:
            return Answer(
                f"no rows at all (the timer was started: {status})",
                "server-errors sees nothing: look at telemetryMode",
            )
    has = {name: any(name in operation for operation in counted) for name in ("formation", "timer")}
    seen = ", ".join(f"{name}: {'rows' if there else 'none'}" for name, there in has.items())
    return Answer(
        seen,
        "alerts may count requests of them"
        if all(has.values())
        else "alerts have to read AppTraces for those without",
    )


async def ask_redis(
    url: str, password: str | None, *, entra: bool, identity: str | None = None
) -> Answer:
    """Question 9, with the app's own client."""
    from memory_core.adapters.redis.client import server

    client = server(url, password=password, entra=entra, identity_client_id=identity)()
    try:
        times = []
        for _ in range(2):
            began = time.perf_counter()
            async with asyncio.timeout(30):
                await client.ping()
            times.append(time.perf_counter() - began)
    finally:
        await client.aclose()
    seen = f"first {times[0] * 1000:.0f} ms, then {times[1] * 1000:.1f} ms"
    if times[1] > REDIS_CALL_S:
        return Answer(
            seen, "a call passes MEMORY_REDIS_TIMEOUT_MS: raise it, or Redis is of no use"
        )
    if times[0] > REDIS_OPEN_S:
        return Answer(
            seen, "the first connection outlasts the start, and is made in the background"
        )
    return Answer(seen, "the start waits long enough for it")


def ask_takeover(app: App) -> Answer:
    """Question 10: restart the app while it forms a conversation, and see when that is done."""
    task = app.converse(60)
    app.wait(lambda: app.state(task) in ("running", "succeeded"), WAIT_S, "the task did not begin")
    if app.state(task) == "succeeded":
        raise NotAsked("the task was done before the app could be restarted")
    app.az("functionapp", "restart")
    seconds = app.wait(
        lambda: app.state(task) in ("succeeded", "failed", "poisoned"),
        WAIT_S,
        "the task did not end after a restart",
    )
    seen = f"{app.state(task)} {seconds:.0f} s after the restart"
    if seconds <= LEASE_S:
        return Answer(seen, "work is taken over within its lease")
    return Answer(
        seen, "the message was hidden until then, at most ten minutes: docs/queues.md says so"
    )


def chosen(environ: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """The values of these variables. Raises NotAsked when one is missing."""
    values = [environ.get(f"MEMORY_LIVE_{name}", "") for name in names]
    if missing := [
        f"MEMORY_LIVE_{name}" for name, value in zip(names, values, strict=True) if not value
    ]:
        raise NotAsked(f"needs {', '.join(missing)}")
    return values
