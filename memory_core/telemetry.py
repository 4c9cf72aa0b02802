"""Counters, timings and readiness of a process.

Counters and timings are kept in the process, in the text format of Prometheus, with a registry for
each MemoryCore. The same registry is sent to a receiver.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any, Protocol

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.registry import Collector

from memory_core import __version__
from memory_core.adapters.telemetry_export import Exporting, To
from memory_core.consolidation.throttle import UserCalls
from memory_core.domain.errors import MemoryCoreError, described
from memory_core.ports import Clock, Health

_MOST_APPS = 200
"""Apps that have a label of their own in a process.

Further apps are counted together, so that a flood of apps does not flood the metrics.
"""
_under_way: ContextVar[str] = ContextVar("operation", default="none")
"""The operation on whose behalf the code runs, including tasks that it started."""
_bill: ContextVar[list[float] | None] = ContextVar("bill", default=None)
"""Charges of stores for the call that the code runs for.

None where the caller does not want to know them.
"""
_NOBODY_WAITS = frozenset(
    {
        "work",
        "give_up",
        "fan_out",
        "sweep",
        "sweep_files",
        "flush_accesses",
        "write_snapshots",
        "tasks",
    }
)
"""Operations that no caller waits for: the work of queues and timers.

`tasks` is in the set too: a caller that polls a task waits for the run itself.
"""
_BUCKETS = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    60.0,
)


class _DependencyMetrics:
    """What dependencies hold, and which of them are done without."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.pool_size = Gauge(
            "memory_core_connection_pool_size",
            "Connections or threads held",
            ["dependency"],
            registry=registry,
        )
        self.pool_active = Gauge(
            "memory_core_connection_pool_active",
            "Of these, in use",
            ["dependency"],
            registry=registry,
        )
        self.degraded = Gauge(
            "memory_core_degraded",
            "1 while a dependency is done without",
            ["dependency"],
            registry=registry,
        )


class _ModelMetrics:
    """What calls of models and of rules took, and how they ended."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.tokens = Counter(
            "memory_core_llm_tokens",
            "Tokens of language models",
            ["app", "model", "kind"],
            registry=registry,
        )
        self.reasoning = Counter(
            "memory_core_llm_reasoning_tokens",
            "Of the completion tokens, those of reasoning",
            ["app", "model"],
            registry=registry,
        )
        self.agent_calls = Counter(
            "memory_core_agent_calls",
            "Calls of a model's agents",
            ["call", "outcome"],
            registry=registry,
        )
        self.cut = Counter(
            "memory_core_rule_answers_cut",
            "Fields of rules' answers cut to size",
            ["call", "field"],
            registry=registry,
        )


class Telemetry:
    """Count operations, their times and failures, and the dependencies that are degraded."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each, of when it was begun, which no dashboard asks for
        self._registry = CollectorRegistry()
        self._total = Counter(
            "memory_core_operations", "Operations", ["operation", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "memory_core_operations_duration_seconds",
            "Duration",
            ["operation"],
            registry=self._registry,
            buckets=_BUCKETS,
        )
        self._errors = Counter(
            "memory_core_operations_errors",
            "Failed operations",
            ["operation", "error"],
            registry=self._registry,
        )
        self._batched = Counter(
            "memory_core_batch_operations",
            "Items of bulk operations",
            ["operation"],
            registry=self._registry,
        )
        self._charge = Counter(
            "memory_core_request_charge",
            "Request units that stores charged",
            ["operation"],
            registry=self._registry,
        )
        self._dependencies = _DependencyMetrics(self._registry)
        self._models = _ModelMetrics(self._registry)
        self._consolidated = Counter(
            "memory_core_consolidation",
            "What runs of consolidation did",
            ["what"],
            registry=self._registry,
        )
        # 0 is said, not left out: an alert on runs that stay away needs a number
        self._consolidated.labels("runs")
        self._apps: set[str] = set()
        self._called = self._answered = 0
        self._ended_well: dict[str, tuple[Counter, Histogram]] = {}
        self._exporting: Exporting | None = None

    @contextmanager
    def operation(self, name: str) -> Iterator[None]:
        """Time an operation and count how it ended."""
        began, entered = time.perf_counter(), _under_way.set(name)
        began_ns, problem = 0 if self._exporting is None else time.time_ns(), None
        called = name not in _NOBODY_WAITS
        self._called += called
        try:
            yield
        except BaseException as error:
            self._total.labels(name, "error").inc()
            problem = error.type if isinstance(error, MemoryCoreError) else type(error).__name__
            self._errors.labels(name, problem).inc()
            raise
        else:
            self._of(name)[0].inc()
        finally:
            _under_way.reset(entered)
            self._answered += called
            self._of(name)[1].observe(time.perf_counter() - began)
            if self._exporting is not None:
                self._exporting.ended(name, began_ns, problem)

    def export(
        self,
        to: To,
        pools: Callable[[], Mapping[str, tuple[int, int]]],
        degraded: Callable[[], Mapping[str, bool]],
    ) -> None:
        """Send all metrics and spans to a receiver from now on.

        No library is imported for it before an operation has ended.

        Args:
            to: Kind of the receiver.
            pools: Returns the pools by dependency: (size, active).
            degraded: Returns by dependency whether it is degraded.

        """
        self._exporting = Exporting(
            to, self._registry, lambda: self._refresh(pools(), degraded()), __version__
        )

    async def close(self) -> None:
        """Send the metrics and spans that have not been sent yet."""
        if self._exporting is not None:
            await asyncio.to_thread(self._exporting.close)
            self._exporting = None

    def calls(self) -> UserCalls:
        """Calls of users that are under way and the total, in this process."""
        return UserCalls(self._called - self._answered, self._called)

    def _of(self, name: str) -> tuple[Counter, Histogram]:
        """Counter and histogram of an operation that ends well.

        They are looked up once for each name, since the lookup costs more than the counting.
        """
        if name not in self._ended_well:
            self._ended_well[name] = self._total.labels(name, "ok"), self._seconds.labels(name)
        return self._ended_well[name]

    def batch(self, operation: str, items: int) -> None:
        """Count the items of a bulk operation.

        Args:
            operation: Name of the operation.
            items: How many items there were.

        """
        self._batched.labels(operation).inc(items)

    def tokens(
        self, app_id: str, model: str, prompt: int, completion: int, reasoning: int = 0
    ) -> None:
        """Count the tokens that a call of a model took for an app.

        Args:
            app_id: The app; after the first 200 apps, further apps are counted together.
            model: Name of the model.
            prompt: Tokens of the prompt.
            completion: Tokens of the completion, with those of reasoning.
            reasoning: How many tokens of the completion no answer shows.

        """
        if len(self._apps) < _MOST_APPS:
            self._apps.add(app_id)
        app = app_id if app_id in self._apps else "(others)"
        self._models.tokens.labels(app, model, "prompt").inc(prompt)
        self._models.tokens.labels(app, model, "completion").inc(completion)
        if reasoning:
            self._models.reasoning.labels(app, model).inc(reasoning)

    def agent_call(self, call: str, outcome: str) -> None:
        """Count how a call of an agent ended.

        Args:
            call: Name of the call.
            outcome: `ok`, `repaired`, `failed`, `unavailable` or `over_budget`.

        """
        self._models.agent_calls.labels(call, outcome).inc()

    def answer_cut(self, call: str, field: str) -> None:
        """Count a field of an answer by rules that was cut to its schema.

        Args:
            call: Name of the call.
            field: The field that was cut; `answer` where a plainer rule answered all of it.

        """
        self._models.cut.labels(call, field).inc()

    def consolidated(self, counts: Mapping[str, int]) -> None:
        """Count the work of a run.

        The counts are the run itself (`runs`), the events that it read, and those of its steps.
        """
        for counted, count in counts.items():
            self._consolidated.labels(counted).inc(count)

    def charged(self, units: float) -> None:
        """Add the request units of a store's answer to the operation under way."""
        self._charge.labels(_under_way.get()).inc(units)
        if (bill := _bill.get()) is not None:
            bill.append(units)

    @staticmethod
    @contextmanager
    def bill() -> Iterator[list[float]]:
        """Collect every charge from here on, including those of tasks that are started here.

        The list stays empty where no store charges.
        """
        charges: list[float] = []
        entered = _bill.set(charges)
        try:
            yield charges
        finally:
            _bill.reset(entered)

    def text(
        self,
        pools: Mapping[str, tuple[int, int]],
        degraded: Mapping[str, bool],
        app_id: str | None = None,
    ) -> bytes:
        """Return all metrics in the text format of Prometheus.

        Args:
            pools: By dependency: (size, active).
            degraded: By dependency whether it is degraded.
            app_id: Leave out the series of other apps; None for all apps.

        """
        self._refresh(pools, degraded)
        return generate_latest(
            self._registry if app_id is None else _OfOneApp(self._registry, app_id)
        )

    def _refresh(self, pools: Mapping[str, tuple[int, int]], degraded: Mapping[str, bool]) -> None:
        for dependency, (size, active) in pools.items():
            self._dependencies.pool_size.labels(dependency).set(size)
            self._dependencies.pool_active.labels(dependency).set(active)
        for dependency, is_degraded in degraded.items():
            self._dependencies.degraded.labels(dependency).set(float(is_degraded))


class _OfOneApp(Collector):
    """A registry without the series of other apps.

    An app's name and its use of models concern the app alone.
    """

    def __init__(self, registry: CollectorRegistry, app_id: str) -> None:
        self._registry, self._app_id = registry, app_id

    def collect(self) -> Iterator[Metric]:
        """The metrics; a sample without the label `app` belongs to all apps."""
        for metric in self._registry.collect():
            metric.samples = [
                sample
                for sample in metric.samples
                if sample.labels.get("app", self._app_id) == self._app_id
            ]
            yield metric


# Readiness: which dependencies of this process answer now, and what that means for callers.
#
# A load balancer checks every few seconds. So a dependency that hangs is soon reported as
# unavailable, whatever the deadlines of its calls are.


log = logging.getLogger(__name__)
WAIT_S = 3.0
FRESH_S = 1.0


class Checked(Protocol):
    """A dependency that says whether it answers."""

    async def check(self) -> Health:
        """Check the dependency; see the ports."""


class SharedReadiness:
    """A run of the checks for all callers that ask at the same time.

    A run also answers callers of the second after it, or of a longer time if they accept that.
    """

    def __init__(self, check: Callable[[], Awaitable[dict[str, Any]]], clock: Clock) -> None:
        self._check, self._clock = check, clock
        self._run: asyncio.Task[dict[str, Any]] | None = None
        self._checked_at: datetime | None = None

    async def latest(self, within_s: float = FRESH_S) -> dict[str, Any]:
        """Result of a run of the last `within_s` seconds.

        `checked_at` in it is the time when the run ended.

        Raises the errors of the checks.
        """
        if self._run is None or (self._run.done() and not self._is_fresh(within_s)):
            self._run, self._checked_at = asyncio.ensure_future(self._checked()), None
        # shield: a caller that goes away must not end a run that others wait for.
        return await asyncio.shield(self._run)

    async def _checked(self) -> dict[str, Any]:
        state = await self._check()
        self._checked_at = self._clock.now()
        return {**state, "checked_at": self._checked_at}

    def _is_fresh(self, within_s: float) -> bool:
        """Return whether the last run succeeded a moment ago.

        A run that lies in the future is not fresh: the clock has been set back since.
        """
        return (
            self._checked_at is not None
            and 0 <= (self._clock.now() - self._checked_at).total_seconds() < within_s
        )


async def readiness(
    dependencies: Mapping[str, tuple[str, Checked]], wait_s: float = WAIT_S
) -> dict[str, Any]:
    """Check all dependencies at the same time and return the readiness.

    Args:
        dependencies: By name, the adapter's name and the adapter.
        wait_s: The most seconds that each check may take.

    Returns:
        `{"status": ready · degraded · unavailable, "dependencies": {…}}`. Without the long-term
        store the status is `unavailable`. Without any other dependency it is `degraded`.

    """
    checks = await asyncio.gather(
        *(_checked(adapter, dependency, wait_s) for adapter, dependency in dependencies.values())
    )
    seen = dict(zip(dependencies, checks, strict=True))
    status = "ready"
    if any(health.status in ("degraded", "unavailable") for health in checks):
        status = "degraded"
    if seen["long_term"].status == "unavailable":
        status = "unavailable"
    return {
        "status": status,
        "dependencies": {name: _shown(health) for name, health in seen.items()},
    }


async def _checked(adapter: str, dependency: Checked, wait_s: float) -> Health:
    try:
        async with asyncio.timeout(wait_s):
            return await dependency.check()
    except TimeoutError:
        return Health(adapter, "unavailable", detail=f"did not answer within {wait_s:g} s")
    except Exception as error:
        log.exception("the check of %s failed", adapter)
        return Health(adapter, "unavailable", detail=described(error))


def _shown(health: Health) -> Mapping[str, Any]:
    return {
        "adapter": health.adapter,
        "status": health.status,
        "latency_ms": None if health.latency_ms is None else round(health.latency_ms, 3),
        "last_ok": None if health.last_ok is None else health.last_ok.isoformat(),
        "detail": health.detail,
        **({"facts": dict(health.facts)} if health.facts else {}),
    }
