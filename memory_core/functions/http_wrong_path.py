"""Paths and methods that no call has: a 404 that names what was meant.

Without this function Azure's host would answer them itself, with an empty 404.

Note: Azure's host asks functions in the alphabetical order of their names. This one's name has to come last, or it would answer in the
place of others. What the host keeps for itself (`/admin`, `/runtime`) never gets here.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import azure.functions as func
from azure.functions import HttpRequest, HttpResponse

from memory_core.domain.errors import NotFound
from memory_core.functions.call_names import known_calls
from memory_core.functions.gate import ungated

blueprint = func.Blueprint()


@blueprint.route(route="{*path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
@ungated
async def wrong_path(req: HttpRequest) -> HttpResponse:
    """Answer 404, with the call that was probably meant."""
    suggestion = known_calls().suggest(req.method, urlsplit(req.url).path)
    detail = "No call has this path and method"
    raise NotFound(f"{detail}; did you mean {suggestion}?" if suggestion else detail, did_you_mean=suggestion)
