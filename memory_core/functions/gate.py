"""The gate that every function passes: authentication, authorization and checked input.

A handler gets an `Admitted` that needs no further check. It calls `MemoryCore` and answers. Scope
never comes from metadata. The app is that of the key. The request names the user, which is compared
with the key's own user, if it has any. Only where a function says so may a header name the user,
for clients that can't change their requests.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import inspect
import logging
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from urllib.parse import urlsplit

import orjson
from azure.functions import HttpRequest, HttpResponse

from memory_core.domain.errors import (
    FieldError,
    Forbidden,
    Malformed,
    MemoryCoreError,
    Overloaded,
    QuotaExceeded,
    Unavailable,
    is_plain_name,
)
from memory_core.domain.fields import Input
from memory_core.domain.redaction.requests import collect_redactions
from memory_core.domain.scope import Owner, check_name
from memory_core.functions import runtime
from memory_core.functions.callers import LOCAL_CALLER, Caller, Right, check_host
from memory_core.functions.registered import Door
from memory_core.functions.request_body import check_raw, read_object
from memory_core.functions.request_parsing import (
    Nothing,
    from_json,
    from_query,
    invalid,
    query_fields,
    unknown_field,
)
from memory_core.functions.responses import problem_response, rate_headers, without_secrets
from memory_core.functions.suggestions import known_calls, suggest_field

if TYPE_CHECKING:
    from memory_core.core import MemoryCore
    from memory_core.domain.results import Call


log = logging.getLogger(__name__)
Asked = TypeVar("Asked", bound=Input)
_SANE_CORRELATION = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_EMPTY_BODY = b"{}"
"""The body that some clients send with a call without fields."""
SCOPE = ("app_id", "user_id")
"""Fields of every call about a user's memories; no input model has them."""
USER_HEADER = "X-Memory-User"
"""Header that names the user, for functions that accept it."""
LONG_BODY = 64 * 1024
"""Bytes from which a body is read in a thread.

A body of 1 MiB takes 20 ms, and twenty of them at once would delay all other requests.
"""
_readers = ThreadPoolExecutor(1, "bodies")


@dataclass(frozen=True, slots=True)
class Admitted(Generic[Asked]):
    """A request that passed the gate.

    Attributes:
        input: The checked input.
        route: Values of the path's parameters.
        call: The caller and the idempotency key. The correlation id is in the answer's headers
            already.
        headers: By name in lower case.
        content: The raw body of a function that takes a body other than a JSON object.

    """

    core: MemoryCore
    owner: Owner
    input: Asked
    route: Mapping[str, str]
    if_match: str | None
    call: Call
    path: str
    caller: Caller
    headers: Mapping[str, str]
    content: bytes = b""


Handler = Callable[[Admitted[Asked]], Awaitable[HttpResponse]]
OpenHandler = Callable[[HttpRequest], Awaitable[HttpResponse]]
AzureFunction = Callable[[HttpRequest], Awaitable[HttpResponse]]


def gated(
    right: Right,
    *,
    body: type[Asked] | None = None,
    query: type[Asked] | None = None,
    scoped: bool = True,
    nameless: bool = False,
    raw: str | None = None,
    own: bool = False,
    user_header: bool = False,
) -> Callable[[Handler[Asked]], AzureFunction]:
    """Call a handler only with `right` and checked input.

    With a body, scope is in the body; PUT, PATCH and DELETE may name `user_id` in the query too.
    Otherwise scope is in the query. A route with `{user_id}` names the user there.

    Args:
        right: The right that the caller needs.
        body: Model of the JSON body; None if the input is in the query.
        query: Model of the query string; None if there is a body, or no input at all.
        scoped: See `Door`.
        nameless: See `Door`.
        raw: See `Door`.
        own: See `Door`.
        user_header: See `Door`.

    """
    takes = body or query or Nothing
    door = Door(right, takes, body is not None, scoped, nameless, raw, own, user_header)

    def around(handler: Handler[Asked]) -> AzureFunction:
        async def pass_gate(
            req: HttpRequest, correlation: str, headers: dict[str, str]
        ) -> HttpResponse:
            here = await runtime.current()
            try:
                async with asyncio.timeout(here.deadline_s) as deadline:
                    caller = await here.caller(req.method, req.url, req.headers)
                    headers |= rate_headers(
                        await here.core.spend_request(caller.app_id, caller.key_id)
                    )
                    # What concerns no user's memories is how an operator looks at a crowd,
                    # so it does not wait.
                    async with here.core.place(caller.app_id) if door.scoped else nullcontext():
                        admit = partial(
                            _admit, here, door, caller, handler.__name__, req, correlation
                        )
                        long = len(req.get_body()) > LONG_BODY
                        admitted = await _in_thread(admit) if long else admit()
                        return await handler(cast("Admitted[Asked]", admitted))
            except TimeoutError:
                if not deadline.expired():
                    raise
                raise Unavailable(
                    "deadline",
                    f"no answer within {here.deadline_s:g} s; the work may still have been done",
                ) from None

        return _as_function(handler, door, pass_gate)

    return around


def ungated(handler: OpenHandler) -> AzureFunction:
    """Let any client call this handler, which must not answer data of a user.

    Errors and headers are those of a gated function.
    """

    async def pass_by(req: HttpRequest, correlation: str, headers: dict[str, str]) -> HttpResponse:
        return await handler(req)

    return _as_function(handler, Door(None, Nothing, has_body=False, scoped=False), pass_by)


def correlation_id(headers: Mapping[str, str]) -> str:
    """The caller's `X-Correlation-Id` if it is safe to log and return, else a new id.

    An id that looks like a secret is not safe.
    """
    given = headers.get("x-correlation-id", "")
    if not _SANE_CORRELATION.fullmatch(given) or without_secrets(given) != given:
        return os.urandom(16).hex()
    return given


Answer = Callable[[HttpRequest, str, dict[str, str]], Awaitable[HttpResponse]]
"""From a request, its correlation id and the headers of every answer, to an answer.

The function may add headers.
"""


def _as_function(handler: Callable[..., Any], door: Door, answer: Answer) -> AzureFunction:
    """Wrap a handler into the function that Azure indexes.

    It has a single parameter `req`, and the handler's name and docstring. Errors become problems,
    and all answers have a correlation id.
    """

    @functools.wraps(handler)
    async def function(req: HttpRequest) -> HttpResponse:
        correlation = correlation_id(req.headers)
        path, headers = "", dict[str, str]()
        try:
            check_host(req.headers)  # before anything reads the URL, which is made of it
            path = urlsplit(req.url).path
            with collect_redactions():
                response = await answer(req, correlation, headers)
        except MemoryCoreError as error:
            if error.status in (404, 422) and error.did_you_mean is None and req.route_params:
                error.did_you_mean = known_calls().suggest_other_method(req.method, path)
            # a crowd would fill the log
            if error.status >= 500 and not isinstance(error, (Overloaded, QuotaExceeded)):
                log.warning(
                    "%s is answered with %d: %s, correlation id %s",
                    handler.__name__,
                    error.status,
                    error.detail,
                    correlation,
                )
            response = problem_response(error, path, correlation)
        except Exception:
            log.exception("%s failed, correlation id %s", handler.__name__, correlation)
            response = problem_response(
                MemoryCoreError("Something failed here; the log tells what"), path, correlation
            )
        response.headers["X-Correlation-Id"] = correlation
        response.headers.update(headers)
        return response

    # `wraps` would show Azure the handler's own parameter type, which is not a request.
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    vars(function).update(
        door=door,
        __signature__=inspect.Signature(
            [inspect.Parameter("req", kind, annotation=HttpRequest)], return_annotation=HttpResponse
        ),
    )
    function.__annotations__ = {"req": HttpRequest, "return": HttpResponse}
    return function


async def _in_thread(admit: Callable[[], Admitted[Any]]) -> Admitted[Any]:
    return await asyncio.get_running_loop().run_in_executor(_readers, copy_context().run, admit)


def _admit(
    here: runtime.Runtime, door: Door, caller: Caller, name: str, req: HttpRequest, correlation: str
) -> Admitted[Any]:
    """Authorize a known caller, then read the request.

    In this order, no unknown caller makes this process parse a body.
    """
    if door.right is not None:
        caller.require("write" if door.own and caller.user_id is not None else door.right)
    content = req.get_body()
    query = query_fields(req.url)
    body: dict[str, Any] = {}
    if door.has_body:
        body = read_object(content, req.headers.get("content-type"), here.body_limit_bytes)
    elif door.raw is not None:
        check_raw(content, req.headers.get("content-type"), door.raw, here.body_limit_bytes)
    elif content and content.strip() != _EMPTY_BODY:
        raise Malformed(
            "body: this call takes none; its fields belong into the query: ?user_id=…",
            errors=(FieldError("body", "must be empty for this call"),),
        )
    call = _call(req, f"{req.method} {name}", body or query, correlation, caller.key_id)
    route = {field: _route_value(field, text) for field, text in req.route_params.items()}
    scope = SCOPE if door.scoped and "user_id" not in route else ()
    named_elsewhere = _user_in_header(req.headers) if door.user_header else route.get("user_id")
    owner = _owner(door, caller, req.method, body, query, named_elsewhere)
    if door.has_body:
        if query:
            raise invalid(*(_misplaced_parameter(door, field) for field in query))
        checked = from_json(door.takes, body, now=here.core.clock.now(), also=scope)
    else:
        checked = from_query(door.takes, query, scope)
    raw = b"" if door.raw is None else content
    if_match, path = req.headers.get("if-match"), urlsplit(req.url).path
    return Admitted(
        here.core, owner, checked, route, if_match, call, path, caller, req.headers, raw
    )


def _owner(
    door: Door,
    caller: Caller,
    method: str,
    body: dict[str, Any],
    query: dict[str, str],
    elsewhere: str | None,
) -> Owner:
    """Determine the owner, and take the fields of the scope out of `body` and `query`.

    All places that name the user must agree. elsewhere: The user that the path or a header names.
    """
    if not door.scoped:
        caller.require_any_user()
        return Owner(caller.app_id, "")
    places = [body] if door.has_body else [query]
    if door.has_body and method in ("PUT", "PATCH", "DELETE"):
        places.append(cast("dict[str, Any]", query))
    app_ids, user_ids = (
        [place.pop(field) for place in places if field in place] for field in SCOPE
    )
    for app_id in app_ids:
        if app_id != caller.app_id:
            raise another_app("app_id", caller)
    if elsewhere is not None:
        user_ids.insert(0, elsewhere)
    if not user_ids and door.nameless:
        return Owner(caller.app_id, caller.user_id or "")
    if not user_ids:
        misnamed = [
            unknown_field("", name, ["user_id"])
            for name in places[0]
            if suggest_field(name, ["user_id"]) == "user_id"
        ]
        raise invalid(FieldError("user_id", "is required: whose memories are meant?"), *misnamed)
    if any(user_id != user_ids[0] for user_id in user_ids):
        places_named = (
            f"{USER_HEADER} and the query"
            if door.user_header
            else "the path and the rest"
            if elsewhere
            else "body and query"
        )
        raise invalid(FieldError("user_id", f"differs between {places_named}"))
    return Owner(caller.app_id, _user_id(caller, user_ids[0]))


def _user_in_header(headers: Mapping[str, str]) -> str | None:
    """The user that the header names.

    It must be ASCII. Hosts read further bytes in different ways, so it would name another user.
    """
    user_id = headers.get(USER_HEADER.lower())
    if user_id is not None and not user_id.isascii():
        raise invalid(
            FieldError(
                USER_HEADER,
                "must be ASCII; name other users by ?user_id= in the address, percent-encoded",
            )
        )
    if user_id is not None and "," in user_id:  # hosts join what was sent twice by commas
        raise invalid(
            FieldError(
                USER_HEADER,
                "names several users; one with a comma is named by ?user_id= in the address",
            )
        )
    # else all whose client doesn't fill it in would share one memory
    if user_id is not None and "${" in user_id:
        raise invalid(
            FieldError(USER_HEADER, "has a variable that the client did not fill in: it is not set")
        )
    return user_id


def _misplaced_parameter(door: Door, field: str) -> FieldError:
    if not is_plain_name(field):
        return FieldError("query string", "has a parameter that this call does not take")
    suggestion = f"{field} in the body" if field in door.takes.model_fields else None
    message = "is not a query parameter of this call"
    return FieldError(
        field, f"{message}; did you mean {suggestion}?" if suggestion else message, suggestion
    )


def another_app(field: str, caller: Caller) -> Forbidden:
    """Error for a request that names another app than the caller's.

    Args:
        field: Path of the field that names the app.
        caller: The caller, for the text of the refusal.

    """
    if caller is LOCAL_CALLER:
        message = (
            f"without keys every caller is the app {caller.app_id}: leave it out, or give each app "
            "a key (MEMORY_API_KEYS)"
        )
    else:
        message = f"this {caller.credential} belongs to the app {caller.app_id}"
    return Forbidden(f"{field}: {message}", errors=(FieldError(field, message),))


def _user_id(caller: Caller, given: object) -> str:
    if not isinstance(given, str):
        raise invalid(FieldError("user_id", "should be a text"))
    try:
        user_id = check_name(given)
    except ValueError as error:
        raise invalid(FieldError("user_id", str(error))) from None
    if caller.user_id is not None and caller.user_id != user_id:
        errors = (FieldError("user_id", f"is not the user of this {caller.credential}"),)
        raise Forbidden(
            f"user_id: this {caller.credential} is bound to another user", errors=errors
        )
    return user_id


def _call(
    req: HttpRequest, route: str, request_fields: dict[str, Any], correlation: str, actor: str
) -> Call:
    """Build the call, with a hash of the request if there is an idempotency key.

    The hash tells whether a later request is the same. request_fields: Body or query.
    """
    from memory_core.domain.results import Call  # its module is 7 % of an import of the app

    plain = Call(correlation, actor=actor)
    key = req.headers.get("idempotency-key")
    if key is None:
        return plain
    if not _IDEMPOTENCY_KEY.fullmatch(key):
        raise invalid(FieldError("Idempotency-Key", "must be 1-200 visible ASCII characters"))
    asked = orjson.dumps([dict(req.route_params), request_fields], option=orjson.OPT_SORT_KEYS)
    return replace(
        plain, idempotency_key=key, route=route, body_hash=hashlib.sha256(asked).hexdigest()
    )


def _route_value(field: str, text: str) -> str:
    """Decode a value of the path.

    Hosts decode it, but leave an encoded slash as it is. No id has a slash, but a procedure's key
    may.
    """
    value = re.sub("%2f", "/", text, flags=re.IGNORECASE)
    if field == "key":
        return value
    try:
        return check_name(value)
    except ValueError as error:
        raise invalid(FieldError(field, str(error))) from None
