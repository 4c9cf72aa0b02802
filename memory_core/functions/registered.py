"""The calls of the app, as its functions were registered.

Each has its name and its requirements. Note: this module knows the blueprints only after
`blueprints` was imported, which registers them. So it imports none of them, and modules that
describe all calls (`openapi`, `suggestions`) need not import them either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import azure.functions as func

from memory_core.domain.fields import Input
from memory_core.functions.callers import Right


@dataclass(frozen=True, slots=True)
class Door:
    """Requirements of a function for its callers.

    Attributes:
        right: The right that a caller needs; None if any client may call it.
        takes: Model of the input.
        has_body: Whether the input is a JSON body, not the query string.
        scoped: Whether it reads or writes the memories of a single user.
        nameless: Whether it may be about no user in particular. The owner's user_id is then the
            key's own, or empty.
        raw: The media type of a body that is no JSON object.
        own: Whether a key that is bound to the user needs only the right to write.
        user_header: Whether `X-Memory-User` may name the user, too.

    """

    right: Right | None
    takes: type[Input]
    has_body: bool
    scoped: bool
    nameless: bool = False
    raw: str | None = None
    own: bool = False
    user_header: bool = False


def door_of(function: Callable[..., Any]) -> Door | None:
    """The door of a function that passes the gate.

    None for a function that does not pass it, which a test forbids.
    """
    return getattr(function, "door", None)


_registered: list[func.Blueprint] = []
"""Blueprints that `register` was called with in this process."""


def register(*blueprints: func.Blueprint) -> tuple[func.Blueprint, ...]:
    """Register the blueprints of the app, once, for modules that describe or suggest its calls."""
    _registered.extend(blueprints)
    return blueprints


@dataclass(frozen=True, slots=True)
class HttpFunction:
    """A call of the API.

    Attributes:
        name: Name of the function.
        method: The HTTP method.
        path: As callers write it, with names for its parameters: `/api/v1/memories/{memory_id}`.
        door: Requirements for its callers.
        handler: The function itself.

    """

    name: str
    method: str
    path: str
    door: Door
    handler: Callable[..., Any]


def http_functions() -> list[HttpFunction]:
    """All calls, by the names of their functions, without the function that answers wrong paths."""
    # An app of its own: the one that is served can be asked for its functions only once.
    app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
    for blueprint in _registered:
        app.register_functions(blueprint)
    functions: list[HttpFunction] = []
    for function in app.get_functions():
        trigger, handler = function.get_trigger(), function.get_user_function()
        door = door_of(handler)
        if trigger is None or door is None or not function.is_http_function():
            continue
        binding = trigger.get_dict_repr()
        if "*" not in binding["route"]:
            name, path = function.get_function_name() or "", "/" + binding["route"].strip("/")
            functions += [
                HttpFunction(name, str(method.value), path, door, handler)
                for method in binding["methods"]
            ]
    return sorted(functions, key=lambda function: function.name)
