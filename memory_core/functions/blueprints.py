"""The blueprints that make up the app, and the calls that they answer.

Note: a blueprint that is missing here is not served.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import azure.functions as func

from memory_core.functions import http_conversations, http_maintenance, http_memories, http_people, http_system, triggers
from memory_core.functions.gate import Door, door_of

BLUEPRINTS = (
    http_conversations.blueprint,
    http_memories.blueprint,
    http_people.blueprint,
    http_system.blueprint,
    http_maintenance.blueprint,
    triggers.blueprint,
)


@dataclass(frozen=True, slots=True)
class HttpFunction:
    """One call of the API. path: as callers write it, with names for its parameters: `/api/v1/memories/{memory_id}`."""

    name: str
    method: str
    path: str
    door: Door
    handler: Callable[..., Any]


def http_functions() -> list[HttpFunction]:
    """All calls, by the names of their functions. The one that answers wrong paths is none."""
    # An app of its own: the one that is served can be asked for its functions only once.
    app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
    for blueprint in BLUEPRINTS:
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
            functions += [HttpFunction(name, str(method.value), path, door, handler) for method in binding["methods"]]
    return sorted(functions, key=lambda function: function.name)
