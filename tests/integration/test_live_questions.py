"""The questions to a live account, asked of the emulator, of redis-server and of stand-ins for
Azure: each runs, each answer counts.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.cosmos_server import KEY, running
from tests.integration.test_live_suite import ran
from tests.live import app_questions
from tests.live.app_questions import App, NotAsked
from tests.live.cosmos_questions import Budget, key_of
from tests.live.questions import QUESTIONS, Answer, table
from tests.redis_server import RedisServer

FUNCTIONS = json.loads(
    (app_questions.ROOT / "tests/official_runtime/functions.json").read_text(encoding="utf-8")
)


def test_a_run_asks_what_it_can_and_names_what_it_lacks(tmp_path: Path) -> None:
    redis = RedisServer()
    redis.start()
    try:
        with running() as cosmos:
            done = ran(
                "-m", "live", "tests/live/test_questions.py",
                MEMORY_LIVE_COSMOS_ENDPOINT=cosmos.endpoint, MEMORY_LIVE_COSMOS_KEY=KEY,
                MEMORY_LIVE_REDIS_URL=redis.url, MEMORY_LIVE_VECTORS="20,60,1000000",
                MEMORY_LIVE_REPORT=str(tmp_path / "units.json"),
            )  # fmt: skip
    finally:
        redis.kill()
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {
        row.split(" | ")[0].strip("| "): row
        for row in done.stdout.splitlines()
        if row.startswith("| ")
    }
    assert [str(number) in rows for number in QUESTIONS] == [True] * 10
    assert "accepted" in rows["2"]
    assert "with the key: ranked; without: ranked" in rows["3"]
    assert "60: " in rows["4"]
    assert "1000000: not asked" in rows["4"]
    assert "relaxed" in rows["5"]
    assert "first " in rows["9"]
    assert all(
        "not asked: needs MEMORY_LIVE_" in rows[number] for number in ("1", "6", "7", "8", "10")
    )


class Deployment:
    """A deployed app that answers HTTP, and what Azure's command line would say of it. busy:
    looks at a task until it has ended.
    """

    def __init__(self, busy: int = 2) -> None:
        self.restarted = 0
        self.deployed: list[str] = []
        self.functions = list(FUNCTIONS)
        self.requests = ["formation", "timer_hourly"]
        self._left = busy
        here = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, body = here.http(self.command, self.path)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            do_GET = do_POST = answer

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, daemon=True).start()

    def http(self, method: str, path: str) -> tuple[int, Any]:
        if path.startswith("/api/v1/tasks/"):
            self._left -= 1
            return 200, {
                "status": "running" if self._left >= 0 or not self.restarted else "succeeded"
            }
        return (
            (202, {"task_id": "tsk_1"}) if path == "/api/v1/memories" else (200, {"status": "ok"})
        )

    def az(self, *command: str) -> Any:
        line = " ".join(command)
        self.restarted += "functionapp restart" in line
        if "config-zip" in line:
            self.deployed.append(command[command.index("--src") + 1])
        answers = {
            "functionapp show": {
                "properties": {
                    "functionAppConfig": {"runtime": {"name": "python", "version": "3.13"}}
                }
            },
            "functionapp function list": [{"name": f"app/{name}"} for name in self.functions],
            "functionapp keys list": {"masterKey": "k"},
            "workspace list": [{"customerId": "w"}],
            "analytics query": [{"OperationName": name, "Rows": "3"} for name in self.requests],
        }
        return next((answer for part, answer in answers.items() if part in line), None)


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    made = Deployment()
    yield made
    made.server.shutdown()
    made.server.server_close()


class Clock:
    """Seconds that pass by being slept."""

    now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def app_of(deployment: Deployment) -> App:
    clock = Clock()
    return App(
        "rg",
        "app",
        f"http://127.0.0.1:{deployment.server.server_address[1]}",
        "key",
        lambda: clock.now,
        clock.sleep,
        deployment.az,
    )


def test_an_app_that_azure_runs_wholly_fits_and_one_that_lacks_functions_does_not(
    deployment: Deployment,
) -> None:
    assert (
        f"{len(FUNCTIONS)} of {len(FUNCTIONS)} functions"
        in app_questions.ask_python(app_of(deployment)).seen
    )
    deployment.functions = []
    assert "made for another Python" in app_questions.ask_python(app_of(deployment)).follows


def test_a_cold_start_is_timed_with_and_without_byte_code_and_the_package_put_back(
    deployment: Deployment, tmp_path: Path
) -> None:
    package = tmp_path / "app.zip"
    with zipfile.ZipFile(package, "w") as made:
        made.writestr("app.py", "x = 1")
        made.writestr("__pycache__/app.cpython-313.pyc", b"code")
    answer = app_questions.ask_cold_start(app_of(deployment), package, tmp_path)
    assert deployment.restarted == 2 * app_questions.COLD_STARTS
    assert deployment.deployed == [str(tmp_path / "bare.zip"), str(package)]
    assert zipfile.ZipFile(io.BytesIO((tmp_path / "bare.zip").read_bytes())).namelist() == [
        "app.py"
    ]
    assert "with byte code 0.0 s" in answer.seen
    with pytest.raises(NotAsked, match="make package"):
        app_questions.ask_cold_start(app_of(deployment), tmp_path / "none.zip", tmp_path)


def test_functions_that_write_no_requests_are_named(deployment: Deployment) -> None:
    assert app_questions.ask_requests(app_of(deployment)) == Answer(
        "formation: rows, timer: rows", "alerts may count requests of them"
    )
    deployment.requests = ["formation"]
    assert "timer: none" in app_questions.ask_requests(app_of(deployment)).seen
    deployment.requests = []
    assert "no rows at all" in app_questions.ask_requests(app_of(deployment)).seen


def test_work_that_a_restart_interrupts_is_timed_until_it_is_done(deployment: Deployment) -> None:
    assert "succeeded " in app_questions.ask_takeover(app_of(deployment)).seen
    assert deployment.restarted == 1


def test_provisioning_is_repeated_and_only_taken_down_when_that_is_asked_for() -> None:
    ran_programs: list[str] = []

    def run(*command: str) -> None:
        ran_programs.append(" ".join(command[:2]))

    assert "is not known" in app_questions.ask_again("again", run).follows
    assert ran_programs == ["azd provision"]
    app_questions.ask_again("rebuild", run)
    assert ran_programs[1:] == ["azd provision", "azd down", "azd up"]


def test_a_program_that_is_missing_or_fails_is_a_reason_and_no_error() -> None:
    with pytest.raises(NotAsked, match="needs no-such-program"):
        app_questions.run("no-such-program")
    with pytest.raises(NotAsked, match="returned 3"):
        app_questions.run("sh", "-c", "exit 3")


def test_the_budget_stops_what_would_pass_it() -> None:
    budget = Budget(100, 10, clock=lambda: 0.0)
    assert budget.allows(100, 10)
    budget.spent = 1
    assert not budget.allows(100, 0)
    assert not budget.allows(0, 11)


def test_a_key_has_the_parts_that_its_paths_name() -> None:
    assert key_of(["/owner"]) == "live|asked"
    assert key_of(["/app_id", "/user_id"]) == ["live", "asked"]


def test_what_was_not_asked_is_in_the_table_with_what_it_needs() -> None:
    text = table({2: Answer("a | b", "c")}, {3: "the reason"})
    assert "| a / b | c |" in text
    assert "not asked: the reason" in text
    assert "not asked: needs MEMORY_LIVE_AZD" in text
