"""What Azure will index: the exact set of functions, each behind the gate."""

from __future__ import annotations

import asyncio
import inspect
import json
from itertools import combinations
from pathlib import Path
from typing import Any, get_type_hints

import azure.functions as func
import pytest
from azure.functions.warmup import WarmUpContext

import function_app
from memory_core.functions.registered import door_of
from memory_core.localhost.routing import Route

ROOT = Path(__file__).parents[2]
OPEN_TO_ANYONE = {
    *("system_root", "system_health", "system_ready", "system_openapi"),
    *("docs_page", "docs_file", "console_page", "console_file", "wrong_path"),
}
OF_THE_WHOLE_APP = {
    "poisoned_tasks_list",
    "agents_list",
    "key_make",
    "keys_list",
    "key_withdraw",
    "key_rotate",
    "audit_list",
    "usage_app",
}
EXPECTED = {
    "memories_save": "POST api/v1/memories/save",
    "memories_bulk": "POST api/v1/memories/bulk",
    "memories_converse": "POST api/v1/memories",
    "memories_batch_append": "POST api/v1/memories/batch",
    "memories_batch_state": "GET api/v1/memories/batch",
    "memories_batch_flush": "POST api/v1/memories/batch/flush",
    "agent_memories": "POST api/v1/agent/memories",
    "agent_summaries": "POST api/v1/agent/summaries",
    "memories_retrieve": "POST api/v1/memories/retrieve",
    "memories_query": "GET api/v1/memories/query",
    "memories_clear": "POST api/v1/memories/clear",
    "memories_list": "GET api/v1/memories",
    "memory_get": "GET api/v1/memories/{memory_id}",
    "memory_update": "PUT api/v1/memories/{memory_id}",
    "memory_delete": "DELETE api/v1/memories/{memory_id}",
    "memory_status": "PATCH api/v1/memories/{memory_id}/status",
    "memory_copy": "POST api/v1/memories/{memory_id}/copy",
    "memory_restore": "POST api/v1/memories/{memory_id}/restore",
    "archive": "POST api/v1/archive",
    "consolidate": "POST api/v1/consolidate",
    "decay": "POST api/v1/decay",
    "reembed": "POST api/v1/reembed",
    "forget": "POST api/v1/forget",
    "memory_versions": "GET api/v1/memories/{memory_id}/versions",
    "memory_evolution": "GET api/v1/memories/{memory_id}/evolution",
    "memory_evolution_graph": "GET api/v1/memories/{memory_id}/evolution/graph",
    "conflicts_list": "GET api/v1/conflicts",
    "conflict_get": "GET api/v1/conflicts/{conflict_id}",
    "conflict_resolve": "POST api/v1/conflicts/{conflict_id}/resolve",
    "conflict_undo": "POST api/v1/conflicts/{conflict_id}/undo",
    "scenes_list": "GET api/v1/scenes",
    "scene_get": "GET api/v1/scenes/{scene_id}",
    "profile_get": "GET api/v1/profile",
    "context": "POST api/v1/context",
    "mcp": "POST mcp",
    "timeline_list": "GET api/v1/timeline",
    "replay_memories": "POST api/v1/replay",
    "tasks_list": "GET api/v1/tasks",
    "poisoned_tasks_list": "GET api/v1/tasks/poisoned",
    "agents_list": "GET api/v1/agents",
    "key_make": "POST api/v1/keys",
    "keys_list": "GET api/v1/keys",
    "key_withdraw": "DELETE api/v1/keys/{key_id}",
    "key_rotate": "POST api/v1/keys/{key_id}/rotate",
    "audit_list": "GET api/v1/audit",
    "task_get": "GET api/v1/tasks/{task_id}",
    "task_retry": "POST api/v1/tasks/{task_id}/retry",
    "task_cancel": "POST api/v1/tasks/{task_id}/cancel",
    "usage": "GET api/v1/usage",
    "usage_app": "GET api/v1/usage/app",
    "user_settings": "GET api/v1/users/{user_id}/settings",
    "user_settings_put": "PUT api/v1/users/{user_id}/settings",
    "user_export": "POST api/v1/users/{user_id}/export",
    "user_export_part": "GET api/v1/users/{user_id}/export/{task_id}",
    "user_import": "POST api/v1/users/{user_id}/import",
    "user_import_part": "PUT api/v1/users/{user_id}/import/{task_id}",
    "user_import_commit": "POST api/v1/users/{user_id}/import/{task_id}/commit",
    "user_erase": "DELETE api/v1/users/{user_id}",
    "sessions_list": "GET api/v1/sessions",
    "session_get": "GET api/v1/sessions/{session_id}",
    "session_messages": "GET api/v1/sessions/{session_id}/messages",
    "session_messages_append": "POST api/v1/sessions/{session_id}/messages",
    "session_messages_take_back": "DELETE api/v1/sessions/{session_id}/messages/last",
    "memories_get": "POST api/v1/memories/get",
    "memories_delete": "POST api/v1/memories/delete",
    "tags_list": "GET api/v1/tags",
    "procedure_get": "GET api/v1/procedures/{key}",
    "system_root": "GET /",
    "system_health": "GET health",
    "system_ready": "GET health/ready",
    "system_metrics": "GET metrics",
    "system_pool_stats": "GET api/v1/system/pool-stats",
    "system_openapi": "GET openapi.json",
    "docs_page": "GET docs",
    "docs_file": "GET docs/{file}",
    "console_page": "GET console",
    "console_file": "GET console/{release}/{file}",
}
INNER = {
    "queue_formation": (
        "queueTrigger",
        {"queueName": "formation", "connection": "QueueStorage"},
        func.QueueMessage,
    ),
    "queue_formation_poison": (
        "queueTrigger",
        {"queueName": "formation-poison", "connection": "QueueStorage"},
        func.QueueMessage,
    ),
    "queue_consolidation": (
        "queueTrigger",
        {"queueName": "consolidation", "connection": "QueueStorage"},
        func.QueueMessage,
    ),
    "queue_consolidation_poison": (
        "queueTrigger",
        {"queueName": "consolidation-poison", "connection": "QueueStorage"},
        func.QueueMessage,
    ),
    "queue_webhooks": (
        "queueTrigger",
        {"queueName": "webhooks", "connection": "QueueStorage"},
        func.QueueMessage,
    ),
    "queue_webhooks_poison": (
        "queueTrigger",
        {"queueName": "webhooks-poison", "connection": "QueueStorage"},
        func.QueueMessage,
    ),
    "warmup": ("warmupTrigger", {}, WarmUpContext),
    "timer_hourly": ("timerTrigger", {"schedule": "0 0 * * * *"}, func.TimerRequest),
}
"""What no caller from outside can reach: trigger, its options, the type of the argument."""


WRONG_PATH = {"wrong_path": ("{*path}", ["DELETE", "GET", "PATCH", "POST", "PUT"])}
"""What answers where no other function does. Azure's host would let it answer for every function
whose name sorts after its own.
"""


@pytest.fixture(scope="module")
def everything() -> dict[str, Any]:
    # An app can be asked only once in a process: no other test may do it.
    return {function.get_function_name(): function for function in function_app.app.get_functions()}


@pytest.fixture(scope="module")
def functions(everything: dict[str, Any]) -> dict[str, Any]:
    """Those that answer requests, each on one route."""
    return {
        name: function
        for name, function in everything.items()
        if function.is_http_function() and name not in WRONG_PATH
    }


def bound(function: Any) -> dict[str, Any]:
    binding: dict[str, Any] = function.get_trigger().get_dict_repr()
    return binding


def test_every_function_passes_the_gate_and_only_these_are_open_to_anyone(
    everything: dict[str, Any],
) -> None:
    doors = {
        name: door_of(function.get_user_function())
        for name, function in everything.items()
        if function.is_http_function()
    }
    assert not [name for name, door in doors.items() if door is None]
    assert {name for name, door in doors.items() if door and door.right is None} == OPEN_TO_ANYONE


def test_whatever_changes_something_needs_the_right_to_write(functions: dict[str, Any]) -> None:
    for name, function in functions.items():
        door = door_of(function.get_user_function())
        assert door is not None
        method = EXPECTED[name].split()[0]
        reads = method == "GET" or name in (
            "memories_retrieve",
            "memories_get",
            "replay_memories",
            "user_export",
            "context",
            "mcp",
        )
        if name == "user_erase":
            assert (door.right, door.own) == ("admin", True), (
                "but for a key that is bound to the user, who may be given `write` only"
            )
        elif name == "reembed":
            assert (door.right, door.own) == ("admin", False), (
                "it is the app that pays for the vectors"
            )
        elif name in OF_THE_WHOLE_APP:
            assert (door.right, door.own, door.scoped) == ("admin", False, False), (
                "no key that is bound to a user"
            )
        else:
            assert door.right in (("read", None) if reads else ("write",)), name


def test_exactly_these_functions_answer_on_exactly_these_routes(functions: dict[str, Any]) -> None:
    routes = {}
    for name, function in functions.items():
        binding = bound(function)
        (method,) = binding["methods"]
        routes[name] = f"{method.value} {binding['route']}"
        assert binding["authLevel"] == func.AuthLevel.ANONYMOUS
    assert routes == EXPECTED


def test_what_answers_wrong_paths_is_asked_after_all_others_by_its_name_and_by_its_place(
    everything: dict[str, Any],
) -> None:
    (name,) = WRONG_PATH
    binding = bound(everything[name])
    assert (binding["route"], sorted(method.value for method in binding["methods"])) == WRONG_PATH[
        name
    ]
    assert binding["authLevel"] == func.AuthLevel.ANONYMOUS
    assert max(everything, key=str.lower) == [*everything][-1] == name


def test_azure_can_index_every_function(everything: dict[str, Any]) -> None:
    """Its worker refuses other parameters than the binding's and types that it has no
    converter for.
    """
    for function in (
        candidate for candidate in everything.values() if candidate.is_http_function()
    ):
        call = function.get_user_function()
        assert asyncio.iscoroutinefunction(call)
        assert list(inspect.signature(call).parameters) == [bound(function)["name"]]
        assert get_type_hints(call) == {"req": func.HttpRequest, "return": func.HttpResponse}
        assert call.__doc__


def test_exactly_these_functions_are_called_by_the_host_alone(
    everything: dict[str, Any], functions: dict[str, Any]
) -> None:
    assert everything.keys() - functions.keys() - WRONG_PATH.keys() == INNER.keys()
    for name, (trigger, options, argument) in INNER.items():
        binding, call = bound(everything[name]), everything[name].get_user_function()
        assert binding["type"] == trigger
        assert options.items() <= binding.items()
        assert asyncio.iscoroutinefunction(call)
        assert get_type_hints(call) == {binding["name"]: argument, "return": type(None)}
        assert call.__doc__


def test_names_differ_in_more_than_case(everything: dict[str, Any]) -> None:
    assert len({name.lower() for name in everything}) == len(everything)


def test_where_two_routes_fit_one_path_the_literal_one_has_the_name_that_sorts_first(
    functions: dict[str, Any],
) -> None:
    """Azure's host asks functions in the order of their names, whatever their routes look like."""
    routes = [Route.parse(name, *EXPECTED[name].split(), call=print) for name in functions]
    overlaps = 0
    for route, other in combinations(sorted(routes, key=lambda route: route.function), 2):
        if route.method != other.method or len(route.parts) != len(other.parts):
            continue
        if all(
            a == b or a_is or b_is
            for (a, a_is), (b, b_is) in zip(route.parts, other.parts, strict=True)
        ):
            overlaps += 1
            assert [is_parameter for _, is_parameter in route.parts] < [
                is_parameter for _, is_parameter in other.parts
            ], (route, other)
    assert overlaps


def test_every_module_of_functions_is_registered(everything: dict[str, Any]) -> None:
    folder = ROOT / "memory_core" / "functions"
    modules = {
        path.stem
        for path in folder.glob("*.py")
        if path.stem == "triggers" or path.stem.startswith("http_")
    }
    assert {
        function.get_user_function().__module__.rsplit(".", 1)[1]
        for function in everything.values()
    } == modules


def test_the_host_settings_leave_the_paths_as_they_are_written() -> None:
    settings = json.loads((ROOT / "host.json").read_text())
    assert settings["extensions"]["http"]["routePrefix"] == ""
    assert settings["extensionBundle"]["version"] == "[4.*, 5.0.0)"
    assert settings["telemetryMode"] == "OpenTelemetry"
