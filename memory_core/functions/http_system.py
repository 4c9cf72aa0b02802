"""The service about itself: version, health, metrics and the description of its API."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import azure.functions as func
import orjson
from azure.functions import HttpRequest, HttpResponse

from memory_core import __version__
from memory_core.domain.errors import (
    Forbidden,
    MethodNotAllowed,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from memory_core.functions import runtime
from memory_core.functions.callers import is_readiness_signature, missing_keys
from memory_core.functions.gate import Admitted, gated, ungated
from memory_core.functions.request_parsing import Nothing
from memory_core.functions.responses import json_response
from memory_core.functions.suggestions import known_calls

blueprint = func.Blueprint()
OPEN_FRESH_S = 10.0
"""Age in seconds of the readiness that callers without a key may get.

So the cost of the checks does not depend on how often such callers ask.
"""


@blueprint.route(route="/", methods=["GET"])
@ungated
async def system_root(req: HttpRequest) -> HttpResponse:
    """Name, version and links."""
    links = {"docs": "/docs", "console": "/console", "openapi": "/openapi.json", "mcp": "/mcp"}
    links |= {"health": "/health", "ready": "/health/ready", "metrics": "/metrics"}
    return json_response({"name": "Memory Core", "version": __version__, "links": links})


@blueprint.route(route="health", methods=["GET"])
@ungated
async def system_health(req: HttpRequest) -> HttpResponse:
    """Liveness: this process answers, without asking any dependency."""
    return json_response({"status": "ok", "version": __version__})


@blueprint.route(route="health/ready", methods=["GET"])
@ungated
async def system_ready(req: HttpRequest) -> HttpResponse:
    """Readiness: the state of each dependency; 503 if saves or retrieves can't work.

    `checked_at` says when they were asked. Without a key only the status is shown, as it was within
    the last ten seconds; `detail` says where the settings have no key.
    """
    try:
        here = await runtime.current()
        if await _may_see_all(here, req):
            return _readiness(await here.readiness.latest())
        state = await here.readiness.latest(within_s=OPEN_FRESH_S)
    except Unavailable as error:
        return _readiness(unready(error), error.retry_after_s)
    status = {name: state[name] for name in ("status", "checked_at")}
    missing = missing_keys(here.core.settings)
    return _readiness(status if missing is None else {**status, "detail": missing})


@blueprint.route(route="metrics", methods=["GET"])
@gated("read", query=Nothing, scoped=False)
async def system_metrics(req: Admitted[Nothing]) -> HttpResponse:
    """Counters and durations of the process in Prometheus's text format.

    Series that are counted by app are those of the caller's app.
    """
    return HttpResponse(req.core.metrics(req.owner.app_id), mimetype="text/plain; version=0.0.4")


@blueprint.route(route="api/v1/system/pool-stats", methods=["GET"])
@gated("read", query=Nothing, scoped=False)
async def system_pool_stats(req: Admitted[Nothing]) -> HttpResponse:
    """State of the connection pools."""
    return json_response(req.core.pool_stats())


@blueprint.route(route="openapi.json", methods=["GET"])
@ungated
async def system_openapi(req: HttpRequest) -> HttpResponse:
    """The whole API as an OpenAPI 3.1 document."""
    return HttpResponse(_openapi(), mimetype="application/json")


def unready(error: Unavailable) -> dict[str, Any]:
    """Readiness of a process that can't open a dependency.

    Only this dependency and the reason are known (as each 503 of this service names them).
    """
    report = {
        "adapter": None,
        "status": "unavailable",
        "latency_ms": None,
        "last_ok": None,
        "detail": error.detail,
    }
    return {"status": "unavailable", "dependencies": {error.dependency: report}}


async def _may_see_all(here: runtime.Runtime, req: HttpRequest) -> bool:
    """Whether a caller has a key, or is a deployment of this app."""
    try:
        await here.caller(req.method, req.url, req.headers)
    except (Unauthenticated, Forbidden, Unavailable):
        secret, given = here.core.settings.secret, req.headers.get("x-readiness", "")
        return secret is not None and is_readiness_signature(
            secret.get_secret_value().encode(), given, here.core.clock.now().timestamp()
        )
    return True


def _readiness(state: Mapping[str, Any], retry_after_s: int | None = None) -> HttpResponse:
    if state["status"] == "unavailable":
        return json_response(state, status=503, headers={"Retry-After": str(retry_after_s or 2)})
    return json_response(state)


@functools.cache
def _openapi() -> bytes:
    # The document is about this module's functions too, so it can't be imported before
    # they are there.
    from memory_core.functions.openapi import document

    return orjson.dumps(document())


# Unknown paths and methods: a 404 that suggests the intended call.
#
# Without this function Azure's host would answer with an empty 404.
#
# Note: Azure's host tries functions in the alphabetical order of their names. The name of this
# function has to be the last, or it would answer for others. Paths that the host reserves
# (`/admin`, `/runtime`) never get here.


@blueprint.route(route="{*path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
@ungated
async def wrong_path(req: HttpRequest) -> HttpResponse:
    """Answer 404, with the call that was probably meant; 405 where MCP asks for it."""
    path = urlsplit(req.url).path
    if path.rstrip("/").lower() == "/mcp":
        raise MethodNotAllowed(
            "/mcp takes POST alone: it keeps no sessions and opens no streams", allowed="POST"
        )
    suggestion = known_calls().suggest(req.method, path)
    detail = "No call has this path and method"
    raise NotFound(
        f"{detail}; did you mean {suggestion}?" if suggestion else detail, did_you_mean=suggestion
    )
