"""Sends metrics and operations to an OpenTelemetry receiver or Application Insights.

The meters are those of the Prometheus registry, read when they are sent, so that no event is
counted twice. No library is imported before the first operation has ended, and then in a thread. A
span has an operation's name, its times, its outcome and the class of an error. A meter has the
labels that `/metrics` shows. Neither has a user's id or words.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricExporter, MetricsData
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter
    from prometheus_client import CollectorRegistry, Metric

log = logging.getLogger(__name__)
LOAD_AFTER_S = 1.0
"""Seconds from the end of the first operation until libraries are imported.

So its answer is on the way before any import.
"""
SPANS_EVERY_S, METERS_EVERY_S = 5.0, 60.0
MOST_SPANS = 5_000
"""The most spans that wait to be sent. The oldest are dropped beyond it."""
SCOPE: Final = "memory_core"
ASIDE: Final = tuple(
    f"APPLICATIONINSIGHTS_{name}"
    for name in ("STATSBEAT_DISABLED_ALL", "SDKSTATS_DISABLED", "CONTROLPLANE_DISABLED")
)
Labels = tuple[tuple[str, str], ...]
To = Literal["otlp", "azure"]


@dataclass(frozen=True, slots=True)
class Ended:
    """An operation that ended.

    Attributes:
        name: The name of the operation.
        began_ns: When it began, in epoch nanoseconds.
        ended_ns: When it ended, in epoch nanoseconds.
        error: The type of a problem, or the class of another error; None for a success.
        parent: The span in which the host runs the operation.

    """

    name: str
    began_ns: int
    ended_ns: int
    error: str | None
    parent: Any = None


@dataclass(frozen=True, slots=True)
class Receiver:
    """The destination of spans and meters.

    Attributes:
        spans: The exporter of spans.
        meters: The exporter of meters.
        by_difference: Whether it adds up the differences since the last export, as Application
            Insights does.

    """

    spans: SpanExporter
    meters: MetricExporter
    by_difference: bool


class Exporting:
    """A thread that sends spans and meters, started by the first operation's end.

    A process that is killed loses 5 s of spans and 60 s of meters.
    """

    def __init__(
        self, to: To, registry: CollectorRegistry, refresh: Callable[[], None], version: str
    ) -> None:
        """Make the object without a thread. `refresh` updates the gauges of the registry."""
        self._to, self._registry, self._refresh, self._version = to, registry, refresh, version
        self._waiting: deque[Ended] = deque(maxlen=MOST_SPANS)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def ended(self, name: str, began_ns: int, error: str | None) -> None:
        """Note an operation that ended just now. This takes a few microseconds.

        Args:
            name: The name of the operation.
            began_ns: When it began, in epoch nanoseconds.
            error: The type of a problem, or the class of another error; None for a success.

        """
        self._waiting.append(Ended(name, began_ns, time.time_ns(), error, _current_span()))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Send the rest. This may take as long as the receiver does not answer."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        began_ns = time.time_ns()
        self._stop.wait(LOAD_AFTER_S)
        try:
            receiver, resource = receiver_of(self._to), resource_of(self._version)
        except (ImportError, ValueError) as error:  # not installed, or no address that can be used
            log.warning(
                "telemetry goes nowhere: %s",
                error if isinstance(error, ImportError) else type(error).__name__,
            )
            return
        spans, meters = (
            Spans(resource),
            Meters(resource, began_ns, by_difference=receiver.by_difference),
        )
        meters_at = time.monotonic()
        while True:
            stopped = self._stop.wait(SPANS_EVERY_S)
            batch = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if batch:
                receiver.spans.export(spans.made(batch))
            if stopped or time.monotonic() >= meters_at:
                self._refresh()
                receiver.meters.export(meters.read(self._registry.collect(), time.time_ns()))
                meters_at = time.monotonic() + METERS_EVERY_S
            if stopped:
                break
        receiver.spans.shutdown()
        receiver.meters.shutdown()


def receiver_of(to: To) -> Receiver:
    """The exporters, made from the variables of OpenTelemetry or Application Insights.

    Raises ImportError and ValueError.
    """
    if to == "azure":
        # Of its own accord the package reports how it is used, asks its maker for settings, and
        # leaves what it could not send on the disk.
        for extra in ASIDE:
            os.environ.setdefault(extra, "true")
        from azure.monitor.opentelemetry.exporter import (
            AzureMonitorMetricExporter,
            AzureMonitorTraceExporter,
        )

        spans = AzureMonitorTraceExporter(disable_offline_storage=True)
        return Receiver(
            spans, AzureMonitorMetricExporter(disable_offline_storage=True), by_difference=True
        )
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return Receiver(OTLPSpanExporter(), OTLPMetricExporter(), by_difference=False)


def resource_of(version: str) -> Resource:
    """The sender's names.

    OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override the names given here.
    """
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource

    return Resource({"service.name": "memory-core", "service.version": version}).merge(
        OTELResourceDetector().detect()
    )


def _current_span() -> Any:
    """The context of the span that the worker has put around this call, if any.

    This imports no library.
    """
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    context = trace.get_current_span().get_span_context()
    return context if context.is_valid else None


class Spans:
    """Makes spans of operations that have ended."""

    def __init__(self, resource: Resource) -> None:
        from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

        finished: list[ReadableSpan] = []
        self._made = finished

        class Keeping(SpanProcessor):
            def on_end(self, span: ReadableSpan) -> None:
                finished.append(span)

        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        provider.add_span_processor(Keeping())
        self._tracer = provider.get_tracer(SCOPE)

    def made(self, batch: Iterable[Ended]) -> list[ReadableSpan]:
        """A span for each operation, in their order."""
        from opentelemetry.context import Context
        from opentelemetry.trace import NonRecordingSpan, Status, StatusCode, set_span_in_context

        for ended in batch:
            context = (
                Context()
                if ended.parent is None
                else set_span_in_context(NonRecordingSpan(ended.parent), Context())
            )
            span = self._tracer.start_span(ended.name, context=context, start_time=ended.began_ns)
            if ended.error is not None:
                span.set_attribute("error.type", ended.error)
                span.set_status(Status(StatusCode.ERROR))
            span.end(end_time=ended.ended_ns)
        made = self._made[:]
        self._made.clear()
        return made


@dataclass(slots=True)
class _Buckets:
    """A series of a histogram, as Prometheus counts it: each bucket includes those below it."""

    counts: dict[float, float] = field(default_factory=dict)
    sum: float = 0.0


class Meters:
    """Turns the registry's families into OpenTelemetry's metrics.

    The values are sums from the beginning, or differences since the last export.
    """

    def __init__(self, resource: Resource, began_ns: int, *, by_difference: bool) -> None:
        self._resource, self._since_ns, self._by_difference = resource, began_ns, by_difference
        self._before: dict[tuple[str, Labels], float] = {}

    def read(self, families: Iterable[Metric], now_ns: int) -> MetricsData:
        """The present metrics.

        Args:
            families: The families of the registry.
            now_ns: The present moment, in epoch nanoseconds.

        """
        from opentelemetry.sdk.metrics.export import MetricsData, ResourceMetrics, ScopeMetrics
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        metrics = [
            made for family in families if (made := self._metric(family, now_ns)) is not None
        ]
        if self._by_difference:
            self._since_ns = now_ns
        scope = ScopeMetrics(InstrumentationScope(SCOPE), metrics, "")
        return MetricsData([ResourceMetrics(self._resource, [scope], "")])

    def _metric(self, family: Metric, now_ns: int) -> Any:
        from opentelemetry.sdk.metrics.export import (
            AggregationTemporality,
            Gauge,
            Histogram,
            NumberDataPoint,
            Sum,
        )
        from opentelemetry.sdk.metrics.export import Metric as Sent

        temporality = (
            AggregationTemporality.DELTA
            if self._by_difference
            else AggregationTemporality.CUMULATIVE
        )
        unit = "s" if family.name.endswith("_seconds") else "1"
        data: Any
        if family.type == "histogram":
            data = Histogram(self._histogram(family, now_ns), temporality)
        else:
            counts = family.type == "counter"
            points = [
                NumberDataPoint(
                    dict(sample.labels),
                    self._since_ns,
                    now_ns,
                    self._new(sample.name, sample.labels, sample.value, counts),
                )
                for sample in family.samples
                if not counts or sample.name.endswith("_total")
            ]
            data = Sum(points, temporality, is_monotonic=True) if counts else Gauge(points)
        return Sent(family.name, family.documentation, unit, data) if data.data_points else None

    def _histogram(self, family: Metric, now_ns: int) -> list[Any]:
        from opentelemetry.sdk.metrics.export import HistogramDataPoint

        series: dict[Labels, _Buckets] = {}
        for sample in family.samples:
            labels = {name: value for name, value in sample.labels.items() if name != "le"}
            buckets = series.setdefault(tuple(sorted(labels.items())), _Buckets())
            if sample.name.endswith("_bucket"):
                buckets.counts[float(sample.labels["le"])] = self._new(
                    sample.name, sample.labels, sample.value, True
                )
            elif sample.name.endswith("_sum"):
                buckets.sum = self._new(sample.name, sample.labels, sample.value, True)
        points = []
        for labels_of, buckets in series.items():
            bounds = sorted(buckets.counts)
            below = [0.0, *(buckets.counts[bound] for bound in bounds)]
            each = [int(above - under) for under, above in pairwise(below)]
            unknown: Any = None  # Prometheus keeps no least and no greatest value
            times = self._since_ns, now_ns
            points.append(
                HistogramDataPoint(
                    dict(labels_of),
                    *times,
                    sum(each),
                    buckets.sum,
                    each,
                    bounds[:-1],
                    unknown,
                    unknown,
                )
            )
        return points

    def _new(self, name: str, labels: Mapping[str, str], value: float, counts: bool) -> float:
        """The value to send. The given value is remembered for the next difference."""
        if not (counts and self._by_difference):
            return value
        key = name, tuple(sorted(labels.items()))
        before, self._before[key] = self._before.get(key, 0.0), value
        return value - before
