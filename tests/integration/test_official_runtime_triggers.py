"""The driver of the official runtime itself, on a sample app with one function of each trigger,
and on apps that must be refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest

from tests.host import ROOT
from tests.official_runtime.calls import Call, Http, Queued, Row, Tick, invoke
from tests.official_runtime.expectation import as_text, bad_schedules
from tests.official_runtime.worker import Worker, working

SAMPLE = ROOT / "tests" / "official_runtime" / "sample_app"
NOW = datetime(2026, 5, 8, 13, 56, tzinfo=timezone.utc)
CALLS = {
    "take": Row(
        Queued("an order"), Queued("broken", fails="can't take this, try 5", dequeue_count=5)
    ),
    "sweep": Row(Tick(), Tick(past_due=True, fails="RuntimeError('too late')")),
    "seen": Row(Http("GET", "/seen", 200), None),
    "nothing": Row(Http("GET", "/nothing", 500), None),
}
IMPORTS = "import azure.functions as func\n"
REFUSED = {
    "a parameter that no binding fills": (
        (
            "app = func.FunctionApp()\n@app.route(route='x')\nasync def ask(req: func.HttpRequest, "
            "more: int = 1) -> str: return ''\n"
        ),
        "more",
    ),
    "a parameter of another name than the binding's": (
        (
            "app = func.FunctionApp()\n@app.route(route='x')\nasync def ask(request: "
            "func.HttpRequest) -> str: return ''\n"
        ),
        "request",
    ),
    "a type that the trigger does not give": (
        (
            "app = func.FunctionApp()\n@app.queue_trigger('message', 'orders', 'C')\nasync def "
            "take(message: func.HttpRequest) -> None: ...\n"
        ),
        "message",
    ),
    "two apps": ("one = func.FunctionApp()\ntwo = func.FunctionApp()\n", "More than one"),
    "an import that requirements.txt does not bring": (
        "import onnxruntime\napp = func.FunctionApp()\n",
        "onnxruntime",
    ),
}


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    with working(SAMPLE, tmp_path_factory.mktemp("sample")) as worker:
        yield worker


def test_each_trigger_shows_the_bindings_that_the_host_would_get(worker: Worker) -> None:
    (take,) = worker.functions["take"]["bindings"]
    assert take == {
        "direction": "IN",
        "type": "queueTrigger",
        "name": "message",
        "queueName": "orders",
        "connection": "AzureWebJobsStorage",
    }
    (sweep,) = worker.functions["sweep"]["bindings"]
    assert (sweep["type"], sweep["schedule"], sweep["runOnStartup"]) == (
        "timerTrigger",
        "%SWEEP%",
        False,
    )
    assert [
        binding["authLevel"]
        for binding in worker.functions["seen"]["bindings"]
        if "authLevel" in binding
    ] == ["FUNCTION"]
    assert worker.functions["sweep"]["retry"] == {
        "max_retry_count": "2",
        "retry_strategy": "fixed_delay",
        "delay_interval": "0:00:05",
    }
    assert worker.functions["take"]["retry"] is None


def test_the_text_of_an_expectation_reads_back_as_what_it_was_written_from(worker: Worker) -> None:
    read = json.loads(as_text(worker.functions))
    assert {name: function["bindings"] for name, function in read.items()} == {
        name: function["bindings"] for name, function in worker.functions.items()
    }
    assert read["sweep"]["retry"] == worker.functions["sweep"]["retry"]


@pytest.mark.parametrize(
    ("name", "call"),
    [(name, call) for name, row in CALLS.items() for call in (row.well, row.failing) if call],
)
def test_a_call_of_each_trigger_succeeds_and_fails_as_its_line_says(
    worker: Worker, name: str, call: Call
) -> None:
    invoke(worker, name, call, {})


def test_a_message_and_a_tick_arrive_with_all_that_the_host_knows_of_them(worker: Worker) -> None:
    invoke(worker, "take", Queued("zoë's order", dequeue_count=3), {})
    invoke(worker, "sweep", Tick(), {})
    seen = invoke(worker, "seen", Http("GET", "/seen", 200), {})
    assert seen is not None
    message, tick = seen.json()[-2:]
    assert (message["text"], message["dequeue_count"], message["inserted"]) == (
        "zoë's order",
        3,
        "2026-05-08T13:56:00+00:00",
    )
    assert len(message["id"]) == 36
    assert tick["last"] == "2026-05-08T13:00:00+00:00"


def test_what_an_app_prints_goes_to_its_log(worker: Worker) -> None:
    invoke(worker, "take", Queued("a printed order"), {})
    assert "taking a printed order" in worker.terminal


def test_a_schedule_that_never_comes_is_found(worker: Worker) -> None:
    assert bad_schedules(worker.functions, {"SWEEP": "0 5 * * * *"}, NOW) == {}
    assert bad_schedules(worker.functions, {"SWEEP": "5 * * * *"}, NOW).keys() == {"sweep"}
    assert "SWEEP" in bad_schedules(worker.functions, {}, NOW)["sweep"]


@pytest.mark.parametrize("case", REFUSED)
def test_an_app_that_azure_could_not_index_is_refused_with_the_reason(
    tmp_path: Path, case: str
) -> None:
    source, says = REFUSED[case]
    (tmp_path / "function_app.py").write_text(IMPORTS + source)
    with pytest.raises(AssertionError, match="can't index") as refused:
        Worker(tmp_path, tmp_path / "log")
    assert says in str(refused.value)
