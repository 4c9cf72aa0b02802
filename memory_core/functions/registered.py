"""The calls of the app, as its functions were registered: what each is named,
and what it asks of its callers.

Note: it knows the blueprints only after `blueprints` was imported, which registers them. So it
imports none of them, and what describes all calls (`openapi`, `suggestions`) needs not import
them either.
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
    """What a function asks of its callers. right: None = open to anyone. scoped:
    it reads or writes one user's memories.

    nameless: it may be about no user in particular; then the owner's user_id is the key's own, or
    empty. raw: the media type of a body that is no JSON object. own: a key that is bound to the
    user needs only the right to write. user_header: `X-Memory-User` may name the user, too.
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
    """The door of a function that passed through this module; None for one that did not,
    which a test forbids.
    """
    return getattr(function, "door", None)


_registered: list[func.Blueprint] = []
"""What `register` was given in this process."""


def register(*blueprints: func.Blueprint) -> tuple[func.Blueprint, ...]:
    """Name the blueprints of the app, once, for what describes or suggests its calls."""
    _registered.extend(blueprints)
    return blueprints


@dataclass(frozen=True, slots=True)
class HttpFunction:
    """One call of the API. path: as callers write it, with names for its parameters:
    `/api/v1/memories/{memory_id}`.
    """

    name: str
    method: str
    path: str
    door: Door
    handler: Callable[..., Any]


def http_functions() -> list[HttpFunction]:
    """All calls, by the names of their functions. The one that answers wrong paths is none."""
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
