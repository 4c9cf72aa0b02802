"""Keys of an app and its audit log, for its admins.

An admin key belongs to an app: it makes, lists and withdraws keys of that app alone. A key that is
bound to a user is refused.
"""

from __future__ import annotations

import azure.functions as func
import orjson
from azure.functions import HttpResponse

from memory_core.domain.requests.access import AuditInput, KeyInput, KeysInput, RotateInput
from memory_core.functions.gate import Admitted, gated
from memory_core.functions.request_parsing import Nothing
from memory_core.functions.responses import json_response

blueprint = func.Blueprint()
LINES = "application/x-ndjson"
_KEYS = "api/v1/keys"
_KEY = f"{_KEYS}/{{key_id}}"
_SECRET_HEADERS = {"Cache-Control": "no-store"}


@blueprint.route(route=_KEYS, methods=["POST"])
@gated("admin", body=KeyInput, scoped=False)
async def key_make(req: Admitted[KeyInput]) -> HttpResponse:
    """Make a key of this app.

    `key` is in this answer only; the service stores a hash of it.
    """
    made = await req.core.make_key(req.owner.app_id, req.input, req.call)
    return json_response(made.public(req.core.clock.now()), status=201, headers=_SECRET_HEADERS)


@blueprint.route(route=_KEYS, methods=["GET"])
@gated("admin", query=KeysInput, scoped=False)
async def keys_list(req: Admitted[KeysInput]) -> HttpResponse:
    """List the keys that were made for this app, newest first.

    Withdrawn keys are listed for 90 days. Keys of the settings are not listed.
    """
    page, now = await req.core.keys(req.owner.app_id, req.input), req.core.clock.now()
    return json_response(
        {"keys": [key.public(now) for key in page.keys], "next_cursor": page.next_cursor}
    )


@blueprint.route(route=_KEY, methods=["DELETE"])
@gated("admin", query=Nothing, scoped=False)
async def key_withdraw(req: Admitted[Nothing]) -> HttpResponse:
    """Withdraw a key.

    This instance refuses it at once, every other instance within 60 seconds. A withdrawn key stays
    withdrawn.
    """
    await req.core.withdraw_key(req.owner.app_id, req.route["key_id"], req.call)
    return HttpResponse(status_code=204)


@blueprint.route(route=f"{_KEY}/rotate", methods=["POST"])
@gated("admin", body=RotateInput, scoped=False)
async def key_rotate(req: Admitted[RotateInput]) -> HttpResponse:
    """Make a key that takes the place of another.

    It has the name, rights, user and end of the other key, which works on for `overlap_seconds`.
    """
    made = await req.core.rotate_key(req.owner.app_id, req.route["key_id"], req.input, req.call)
    return json_response(made.public(req.core.clock.now()), status=201, headers=_SECRET_HEADERS)


def prefers_lines(accept: str) -> bool:
    """Whether an `Accept` header prefers lines to JSON (RFC 9110, 12.5.1)."""
    weights: dict[str, float] = {}
    for part in accept.split(","):
        kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
        given = [name[2:] for name in parameters if name.startswith("q=")]
        try:
            weights[kind] = float(given[0]) if given else 1.0
        except ValueError:
            weights[kind] = 1.0
    lines = weights.get(LINES, 0.0)
    return lines > 0 and lines >= weights.get("application/json", 0.0)


@blueprint.route(route="api/v1/audit", methods=["GET"])
@gated("admin", query=AuditInput, scoped=False)
async def audit_list(req: Admitted[AuditInput]) -> HttpResponse:
    """List entries of the audit log, newest first.

    An entry says which key did an action, when, to whom, and with which outcome; it never quotes
    content. With `Accept: application/x-ndjson` each entry is a line, and the cursor of the next
    page is in `X-Next-Cursor`.
    """
    page = await req.core.audit(req.owner.app_id, req.input)
    entries = [entry.public() for entry in page.entries]
    if not prefers_lines(req.headers.get("accept", "")):
        return json_response({"entries": entries, "next_cursor": page.next_cursor})
    lines = b"".join(
        orjson.dumps(entry, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
        for entry in entries
    )
    following = {} if page.next_cursor is None else {"X-Next-Cursor": page.next_cursor}
    return HttpResponse(lines, mimetype=LINES, headers={"Cache-Control": "no-store", **following})
