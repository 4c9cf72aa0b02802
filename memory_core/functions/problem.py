"""Errors as `application/problem+json` (RFC 9457), the only form in which this product says no.

An unexpected error says nothing about itself but its correlation id: the log has the rest.
"""

from __future__ import annotations

from typing import Any

import orjson
from azure.functions import HttpResponse

from memory_core.domain.errors import FieldError, MemoryCoreError

PROBLEM_TYPE = "application/problem+json"
_DEFAULT_RETRY_S = 1


def problem(error: MemoryCoreError, instance: str, correlation_id: str) -> dict[str, Any]:
    """The members of the problem. `instance` is the path of the request, without its query (a query may hold what is private)."""
    fields: dict[str, Any] = {
        "type": f"urn:memory-core:problem:{error.type}",
        "title": error.title,
        "status": error.status,
        "detail": error.detail,
        "instance": instance,
        "correlation_id": correlation_id,
        "errors": [_field_problem(field) for field in error.errors],
    }
    if suggestion := error.did_you_mean or ", ".join(field.did_you_mean for field in error.errors if field.did_you_mean):
        fields["did_you_mean"] = suggestion
    return fields


def _field_problem(error: FieldError) -> dict[str, str]:
    suggestion = {} if error.did_you_mean is None else {"did_you_mean": error.did_you_mean}
    return {"field": error.field, "message": error.message, **suggestion}


def problem_response(error: MemoryCoreError, instance: str, correlation_id: str) -> HttpResponse:
    """The answer to a request that failed with `error`."""
    headers = {"X-Correlation-Id": correlation_id}
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="memory-core"'
    if error.status in (429, 503):
        headers["Retry-After"] = str(error.retry_after_s or _DEFAULT_RETRY_S)
    return HttpResponse(
        orjson.dumps(problem(error, instance, correlation_id)), status_code=error.status, headers=headers, mimetype=PROBLEM_TYPE
    )
