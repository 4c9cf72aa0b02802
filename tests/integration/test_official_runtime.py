"""Memory Core in Microsoft's own Python worker library: indexed as on Azure, invoked as on Azure,
compared with the development host.

The library has no routing: that a wrong method is a 404, that paths have no letter case and what an
encoded slash becomes is the Functions host's doing, so that is tested on the development host only.
Here each request is handed to the function it is for.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

from deployment.package import build
from memory_core.adapters.cosmos.store import CosmosStore
from tests.builders import StillClock
from tests.cosmos_server import KEY as COSMOS_KEY
from tests.cosmos_server import CosmosServer
from tests.cosmos_server import running as emulated
from tests.host import ROOT, running
from tests.official_runtime.calls import Call, Http, Queued, Tick, invoke
from tests.official_runtime.essence import essence
from tests.official_runtime.expectation import FILE, bad_schedules
from tests.official_runtime.table import ADMIN_KEY, CALLS, IDLE_KEY, ODD, Given, before
from tests.official_runtime.worker import Worker, working

KEY = "mc_shop_w1_0123456789abcdefABCDEF"
KEYS = [
    {
        "id": key.split("_")[2],
        "app": key.split("_")[1],
        "sha256": hashlib.sha256(key.encode()).hexdigest(),
        "rights": rights,
    }
    for key, rights in ((KEY, ["read", "write"]), (ADMIN_KEY, ["admin"]), (IDLE_KEY, ["admin"]))
]
HEADERS = {"X-API-Key": KEY, "X-Correlation-Id": "conformance-1"}
SETTINGS = {
    "EMBEDDING_PROVIDER": "hash",
    # the embedded one is a laptop's: requirements.txt does not bring it
    "MEMORY_SHORT_TERM": "none",
    "MEMORY_API_KEYS": json.dumps(KEYS),
    "MEMORY_SECRET": "signs the cursors of both hosts",
}
NOBODY = Given("nobody", "mem_00000000000000000000000000", '"0"')
HTTP = [name for name, row in CALLS.items() if isinstance(row(NOBODY).well, Http)]
Send = Callable[[str, Call], httpx.Response]


def of_worker(worker: Worker) -> Send:
    """Requests to the official runtime; asserts what the call says of its answer."""

    def send(name: str, call: Call) -> httpx.Response:
        response = invoke(worker, name, call, HEADERS)
        assert response is not None, f"{name} is no HTTP function"
        return response

    return send


def of_host(client: httpx.Client) -> Send:
    """The same requests to the development host."""

    def send(name: str, call: Call) -> httpx.Response:
        assert isinstance(call, Http)
        request = call.request(HEADERS)
        return client.send(
            client.build_request(
                call.method, call.path, headers=request.headers, content=request.read()
            )
        )

    return send


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app out of the zip that Azure gets; its packages are those of the environment here, since
    Azure's are for one Python only.
    """
    folder = tmp_path_factory.mktemp("published")
    with ZipFile(
        build(folder / "app.zip", with_packages=False, with_vocabulary=False, with_bytecode=False)
    ) as archive:
        archive.extractall(folder / "app")
    return folder / "app"


@pytest.fixture(scope="module")
def worker(app: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    folder = tmp_path_factory.mktemp("official")
    with working(app, folder, MEMORY_DATA=str(folder / "data"), **SETTINGS) as worker:
        yield worker


@pytest.fixture(scope="module")
def both(worker: Worker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Send, Send]]:
    """The official runtime and the development host, each with data of its own."""
    with running(tmp_path_factory.mktemp("development"), **SETTINGS) as client:
        yield of_worker(worker), of_host(client)


def given(send: Send, user: str) -> Given:
    """A user with something to ask for."""
    nothing = Given(user, "", "")
    saved = [send(name, call) for name, call in before(nothing)]
    memory, conflict = saved[0].json()["memory"], saved[2].json()["conflict"]
    tasks = saved[-1].json()["tasks"][0]["task_id"], saved[-2].json()["task_id"]
    return Given(user, memory["id"], saved[0].headers["etag"], *tasks, conflict["id"])


def test_what_is_published_runs_without_the_tests_and_the_development_host(
    app: Path, worker: Worker
) -> None:
    assert not (app / "tests").exists()
    assert not (app / "memory_core" / "localhost").exists()
    assert worker.functions


def test_the_functions_and_their_bindings_are_those_that_were_agreed_on(worker: Worker) -> None:
    answers = {
        name: {
            "bindings": function["bindings"],
            **({"retry": function["retry"]} if function["retry"] else {}),
        }
        for name, function in worker.functions.items()
    }
    assert answers == json.loads(FILE.read_text()), (
        f"Azure would see other functions or bindings than {FILE.relative_to(ROOT)} says. If that "
        "is meant, write the file anew and commit it: .venv/bin/python -m tests.official_runtime"
    )
    assert {function["script"] for function in worker.functions.values()} == {"function_app.py"}


def test_every_schedule_can_come_and_none_runs_at_start(worker: Worker) -> None:
    """Indexing takes any text for a schedule; on Azure the timer would silently never fire,
    or fire at every scale-out.
    """
    settings = json.loads((ROOT / "local.settings.json.example").read_text())["Values"]
    assert bad_schedules(worker.functions, settings, datetime.now(timezone.utc)) == {}
    assert not [
        name
        for name, function in worker.functions.items()
        for binding in function["bindings"]
        if binding.get("runOnStartup")
    ]


def test_the_table_of_calls_names_every_function(worker: Worker) -> None:
    assert CALLS.keys() == worker.functions.keys(), (
        "tests/official_runtime/table.py needs a line for each function"
    )


@pytest.mark.parametrize("name", CALLS)
def test_each_function_succeeds_and_fails_as_its_line_says(worker: Worker, name: str) -> None:
    row = CALLS[name](given(of_worker(worker), f"invoked-{name}"))
    for call in (row.well, row.failing):
        if call is not None:
            invoke(worker, name, call, HEADERS)


@pytest.mark.parametrize("name", HTTP)
def test_each_http_function_answers_alike_on_both_hosts_when_called_well_and_when_called_badly(
    both: tuple[Send, Send], name: str
) -> None:
    answers = []
    for send in both:
        row = CALLS[name](given(send, f"compared-{name}"))
        answers.append(
            [essence(send(name, call)) for call in (row.well, row.failing) if call is not None]
        )
    official, development = answers
    assert official == development


@pytest.mark.parametrize("case", ODD)
def test_a_request_that_could_be_read_in_two_ways_is_read_alike_on_both_hosts(
    both: tuple[Send, Send], case: str
) -> None:
    name, odd = ODD[case]
    answers = []
    for send in both:
        call = odd(given(send, "odd-" + hashlib.sha256(case.encode()).hexdigest()[:8]))
        answers.append(essence(send(name, call)))
    official, development = answers
    assert official == development


def test_a_repeated_request_with_an_idempotency_key_has_the_first_answer_on_both_hosts(
    both: tuple[Send, Send],
) -> None:
    body = {"user_id": "again", "content": "Ana bought a bike"}
    call = Http("POST", "/api/v1/memories/save", 201, body, {"Idempotency-Key": "once"})
    for send in both:
        first, second = (send("memories_save", call) for _ in range(2))
        assert (first.status_code, first.content) == (second.status_code, second.content)


@pytest.mark.parametrize("sent", ["", "not safe\tto log"])
def test_without_a_usable_correlation_id_both_hosts_make_a_new_one(
    both: tuple[Send, Send], sent: str
) -> None:
    for send in both:
        call = Http("GET", "/api/v1/sessions", 422, headers={"X-Correlation-Id": sent})
        response = send("sessions_list", call)
        made = response.headers["x-correlation-id"]
        assert made not in ("", sent)
        assert response.json()["correlation_id"] == made


@pytest.fixture(scope="module")
def unable(
    app: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Worker, httpx.Client]]:
    """Both hosts on a container of another embedder's length, which they can't serve."""
    folder = tmp_path_factory.mktemp("unable")
    with emulated() as server:
        asyncio.run(_make_container(server, dimensions=8))
        cosmos = {
            "MEMORY_LONG_TERM": "cosmos",
            "MEMORY_COSMOS_ENDPOINT": server.endpoint,
            "MEMORY_COSMOS_KEY": COSMOS_KEY,
        }
        settings = SETTINGS | cosmos
        with (
            working(
                app, folder / "official", MEMORY_DATA=str(folder / "official" / "data"), **settings
            ) as worker,
            running(folder / "development", ready=False, **settings) as client,
        ):
            yield worker, client


async def _make_container(server: CosmosServer, dimensions: int) -> None:
    maker = CosmosStore(
        server.endpoint,
        "memory-core",
        clock=StillClock(),
        embedding_model="hash-1",
        dimensions=dimensions,
        key=COSMOS_KEY,
    )
    await maker.provision()
    await maker.close()


def test_where_the_store_can_not_be_used_both_hosts_say_so_and_only_what_needs_none_still_answers(
    unable: tuple[Worker, httpx.Client],
) -> None:
    worker, client = unable
    counts: dict[str, int] = {}
    for name in HTTP:
        call = CALLS[name](NOBODY).well
        assert isinstance(call, Http)
        answer = worker.answer(name, call.request(HEADERS))
        counts[name] = answer.status_code
        assert essence(answer) == essence(of_host(client)(name, call)), name
        assert (answer.status_code == 503) == ("retry-after" in answer.headers)
    without_stores = {
        "system_root",
        "system_health",
        "system_openapi",
        "docs_page",
        "docs_file",
        "console_page",
        "console_file",
    }
    assert {name for name, status in counts.items() if status != 503} == {
        *without_stores,
        "wrong_path",
    }
    assert {counts[name] for name in without_stores} == {200}


def test_an_instance_whose_store_can_not_be_used_is_not_warm_and_serves_all_the_same(
    unable: tuple[Worker, httpx.Client],
) -> None:
    invoke(unable[0], "warmup", CALLS["warmup"](NOBODY).well, HEADERS)
    assert "this instance is not warm" in unable[0].terminal


@pytest.mark.parametrize("name", [name for name in CALLS if name not in HTTP and name != "warmup"])
def test_where_the_store_can_not_be_used_a_message_comes_again_and_a_timer_fails(
    unable: tuple[Worker, httpx.Client], name: str
) -> None:
    call = CALLS[name](NOBODY).well
    assert isinstance(call, (Queued, Tick))
    invoke(unable[0], name, replace(call, fails="EmbeddingMismatch"), HEADERS)
