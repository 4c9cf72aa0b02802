"""What is measured, and which operations ran, as a receiver gets it: on the wire,
decoded by the official packages.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from memory_core.adapters import telemetry_export
from memory_core.adapters.telemetry_export import Meters, resource_of
from memory_core.domain.errors import NotFound
from memory_core.domain.requests.memories import ConverseInput, RetrieveInput, SaveInput
from memory_core.domain.scope import Owner
from memory_core.functions.triggers import send_for_work
from memory_core.telemetry import Telemetry
from tests.tasks import Hand
from tests.world import World

ROOT = Path(__file__).parents[2]
USER, WORD = Owner("shop", "zaphod-4711"), "heliotrope"


@dataclass
class Receiver:
    """Takes what is posted to it, by path."""

    server: ThreadingHTTPServer
    posted: list[tuple[str, bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def of(self, path: str) -> list[bytes]:
        return [body for at, body in self.posted if at.startswith(path)]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.posted.append(
                (
                    self.path,
                    gzip.decompress(body)
                    if self.headers.get("Content-Encoding") == "gzip"
                    else body,
                )
            )
            count = len(json.loads(received.posted[-1][1])) if "track" in self.path else 0
            answer = (
                json.dumps({"itemsReceived": count, "itemsAccepted": count, "errors": []}).encode()
                if count
                else b""
            )
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    received = Receiver(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
    thread = threading.Thread(target=received.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield received
    received.server.shutdown()
    received.server.server_close()
    thread.join()


async def lived(world: World, to: str) -> bytes:
    """Calls, a message of a queue and the timer, in a process that sends; what its `/metrics`
    say in the end.
    """
    core = await world.core(telemetry=to)
    await core.save(USER, SaveInput(content=f"the {WORD} is in flower", type="episodic"))
    await core.retrieve(USER, RetrieveInput(query=f"where is the {WORD}"))
    with pytest.raises(NotFound):
        await core.get(USER, "mem_none")
    message = {
        "role": "user",
        "content": f"I planted a {WORD}",
        "timestamp": "2026-05-08T12:00:00Z",
    }
    await core.converse(
        USER, ConverseInput.model_validate({"session_id": "s", "messages": [message]})
    )
    await Hand(core).work_all()
    await send_for_work(core)
    core._telemetry.tokens("shop", "gpt-y", 7, 3)
    core._telemetry.charged(2.5)
    text = core.metrics()
    await world.end(core)
    return text


def counted(text: bytes) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """The counters of `/metrics`, and how often durations were seen."""
    families = text_string_to_metric_families(text.decode())
    samples = [
        sample
        for family in families
        for sample in family.samples
        if sample.name.endswith(("_total", "_count"))
    ]
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}


async def test_a_receiver_gets_the_meters_of_metrics_and_a_span_of_each_operation(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
    text = await lived(world, "otlp")
    sent: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    for body in receiver.of("/v1/metrics"):
        (resource,) = ExportMetricsServiceRequest.FromString(body).resource_metrics
        for metric in resource.scope_metrics[0].metrics:
            for point in (*metric.sum.data_points, *metric.histogram.data_points):
                labels = tuple(
                    sorted(
                        (attribute.key, attribute.value.string_value)
                        for attribute in point.attributes
                    )
                )
                is_sum = metric.HasField("sum")
                sent[metric.name + ("_total" if is_sum else "_count"), labels] = (
                    point.as_double if is_sum else point.count
                )
    assert sent == counted(text)
    assert (
        sent[
            "memory_core_llm_tokens_total",
            (("app", "shop"), ("kind", "prompt"), ("model", "gpt-y")),
        ]
        == 7
    )
    spans = [
        span
        for body in receiver.of("/v1/traces")
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for span in resource.scope_spans[0].spans
    ]
    names = {span.name for span in spans}
    assert {"save", "query_memory", "work", "fan_out", "sweep", "flush_accesses"} <= names, (
        "calls, queues and the timer"
    )
    (failed,) = [span for span in spans if span.status.code == 2]
    assert [(attribute.key, attribute.value.string_value) for attribute in failed.attributes] == [
        ("error.type", "not_found")
    ]
    assert all(span.end_time_unix_nano > span.start_time_unix_nano for span in spans)
    raw = b"".join(body for _, body in receiver.posted)
    assert WORD.encode() not in raw
    assert USER.user_id.encode() not in raw


async def test_application_insights_gets_them_too(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "00000000-0000-0000-0000-000000000001"
    monkeypatch.setenv(
        "APPLICATIONINSIGHTS_CONNECTION_STRING",
        f"InstrumentationKey={key};IngestionEndpoint={receiver.url}/",
    )
    for name in telemetry_export.ASIDE:
        monkeypatch.setenv(name, "true")
    await lived(world, "azure")
    items = [item for body in receiver.of("/v2.1/track") for item in json.loads(body)]
    kinds = {item["data"]["baseType"] for item in items}
    assert {"MetricData", "RemoteDependencyData"} <= kinds
    meters = [
        item["data"]["baseData"] for item in items if item["data"]["baseType"] == "MetricData"
    ]
    tokens = [
        meter["metrics"][0]["value"]
        for meter in meters
        if meter["metrics"][0]["name"] == "memory_core_llm_tokens"
    ]
    assert sorted(tokens) == [3, 7]
    raw = json.dumps(items)
    assert WORD not in raw
    assert USER.user_id not in raw


def test_differences_add_up_to_what_was_counted() -> None:
    telemetry, meters = Telemetry(), Meters(resource_of("1"), 1, by_difference=True)
    sums: dict[str, float] = {}
    for turn in range(3):
        with telemetry.operation("save"):
            telemetry.tokens("shop", "gpt-y", 10 * turn, 1)
        for metric in (
            meters.read(telemetry._registry.collect(), 10 + turn)
            .resource_metrics[0]
            .scope_metrics[0]
            .metrics
        ):
            for point in metric.data.data_points:
                sums[metric.name] = sums.get(metric.name, 0) + (
                    point.count if hasattr(point, "count") else point.value
                )
    assert (sums["memory_core_llm_tokens"], sums["memory_core_operations"]) == (33, 3)
    assert sums["memory_core_operations_duration_seconds"] == 3


async def test_what_is_not_installed_is_logged_and_ends_no_call(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.metric_exporter", None)
    await lived(world, "otlp")
    assert "telemetry goes nowhere" in caplog.text


def test_it_costs_nothing_before_the_first_answer(tmp_path: Path) -> None:
    """Though it is on: what it needs is imported after that."""
    script = """
import sys, function_app
from memory_core.config import Settings
from memory_core.core import MemoryCore
MemoryCore(Settings(telemetry="otlp", data=sys.argv[1], embedding_provider="hash"))
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""
    answer = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == "[]"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry_export, "LOAD_AFTER_S", 0.0)


@pytest.fixture
async def world(tmp_path: Path) -> Any:
    made = World(tmp_path)
    yield made
    await made.close()
