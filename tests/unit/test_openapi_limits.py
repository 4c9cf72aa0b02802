"""The OpenAPI document refuses what the code refuses, and takes what it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import memory_core.functions.blueprints  # noqa: F401  (registers the calls)
from memory_core.domain.errors import Invalid
from memory_core.domain.requests.memories import UpdateInput
from memory_core.functions.openapi import document
from memory_core.functions.openapi_parts import EXAMPLES
from memory_core.functions.registered import HttpFunction, http_functions
from memory_core.functions.request_parsing import BulkInput, from_json
from tests.chat_forms import FORMS, ChatForm
from tests.json_schema import fits

DOCUMENT = document()
WITH_BODY = {function.name: function for function in http_functions() if function.door.has_body}
MOMENT = "2026-05-08T13:56:00Z"
CANDIDATES: list[Any] = [
    None, True, 0, 1, -1, 99, 100, 101, 16_001, 1.5, 2**60,
    "", " ", "\u3000", "a", "a\x00b", " a", "a/b", "a\nb", "maybe", "x" * 128, "x" * 129,
    "x" * 200, "x" * 201, "x" * 10_000, "x" * 10_001, "x" * 40_000,
    MOMENT, "2026-05-08T13:56:00", "http://", "ftp://example.org", "https://example.org/done",
    [], ["a"], [""], [" "], ["a/b"], [1], ["x" * 201], ["a"] * 50, ["a"] * 51, ["a"] * 200,
    ["a"] * 201, ["a"] * 1001,
    {}, {"a": 1}, {"app_id": "b"}, {"user_id": "b"}, {"recency": 1}, {"recency": 2},
    {"tags": ["a"]}, {"tags": []},
    [{}], [{"content": "a"}], [{"content": " "}], [{"content": "a", "zork": 1}],
    [{"role": "human", "content": "a", "timestamp": MOMENT}],
    [{"role": "bot", "content": "a", "timestamp": MOMENT}],
    [{"role": "user", "content": "a"}], [{"role": "user", "content": None}],
    [{"role": "user", "content": []}], [{"role": "user"}],
    [{"role": "user", "content": [{"type": "text", "text": "a"}], "id": "m1", "foo": 1}],
    [{"role": "user", "content": "a", "id": "a/b"}],
    [{"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f",
        "arguments": "{}"}}]}], [{"role": 3, "content": "a"}],
    [{"role": "user", "content": "a", "timestamp": 3}], [{"role": "user", "content": 3}],
    [{"role": "user", "content": [{}]}],
    [{"role": "user", "content": "a", "name": ""}], [{"role": "user", "content": [3]}],
    [{"type": "function_call", "name": "f", "arguments": "{}"}],
    [{"role": "developer", "content": "a", "timestamp": None}],
    [{"role": "user", "content": "a", "timestamp": 1_777_629_600_000}],
    [{"role": "user", "content": {"type": "text", "text": "a"}}], [{"role": "user", "content": {}}],
    [{"role": {"type": "role", "value": "user"}, "contents": [{"type": "text", "text": "a"}]}],
    [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "a"}]}],
    [{"role": "user", "content": "", "images": ["AAAA"]}], [{"role": "user", "images": []}],
    {"a.b": 1}, {"a b": 1}, {"a": {"gte": 1}}, {"a": {"gte": None}}, {"a": {"like": 1}},
    {"a": {"in": []}}, {"a": [1]}, {"a": {}},
    [{"description": "a", "start_time": MOMENT}], [{"description": " ", "start_time": MOMENT}],
    "active", "deleted", "semantic", "procedural", "reconstruct", "full", "hard", "merge",
]  # fmt: skip


def taken_by_the_document(function: HttpFunction, body: dict[str, Any]) -> bool:
    operation = DOCUMENT["paths"][function.path][function.method.lower()]
    return fits(body, operation["requestBody"]["content"]["application/json"]["schema"], DOCUMENT)


def taken_by_the_code(function: HttpFunction, body: dict[str, Any]) -> bool:
    try:
        from_json(
            function.door.takes,
            {
                name: value
                for name, value in body.items()
                if name != "user_id" or not function.door.scoped
            },
        )
    except Invalid:
        return False
    return True


def bodies(function: HttpFunction) -> Iterator[dict[str, Any]]:
    """The call's example, and the example with each field left out, or holding each candidate. What
    a cursor is, only a list knows.
    """
    scope = {} if "{user_id}" in function.path or not function.door.scoped else {"user_id": "ana"}
    example = {**scope, **EXAMPLES.get(function.name, {})}
    yield example
    for field in function.door.takes.model_fields:
        yield {name: value for name, value in example.items() if name != field}
        yield from ({**example, field: candidate} for candidate in CANDIDATES if field != "cursor")
    yield {**example, "zork": 1}


@pytest.mark.parametrize("name", WITH_BODY)
def test_the_document_takes_a_body_exactly_where_the_code_does(name: str) -> None:
    function = WITH_BODY[name]
    differ = []
    for body in bodies(function):
        if function.door.takes is UpdateInput and None in body.values():
            continue  # which fields of a memory can be cleared is decided when it is read
        if (
            function.door.takes is BulkInput
            and isinstance(body.get("memories"), list)
            and body["memories"]
        ):
            continue  # a bad item has a result of its own
        if body.get("value") == 2**60:
            continue  # to JSON Schema, a whole number and a fraction of the same size are one
        if taken_by_the_document(function, body) != taken_by_the_code(function, body):
            differ.append(
                {
                    key: value if len(str(value)) < 60 else f"{str(value)[:40]}…"
                    for key, value in body.items()
                }
            )
    assert differ == []


@pytest.mark.parametrize(
    "name",
    ["memories_converse", "memories_batch_append", "agent_memories", "agent_summaries", "context"],
)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_the_document_takes_messages_in_each_form(name: str, form: ChatForm) -> None:
    assert taken_by_the_document(
        WITH_BODY[name], {"user_id": "ana", **EXAMPLES[name], "messages": form.messages}
    )


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("agent_memories", {"messages": []}),
        ("agent_summaries", {"messages": ["a"], "callback_url": "https://example.org/done"}),
        ("memories_save", {"type": "procedural", "content": "a"}),
        ("memories_save", {"content": "a", "subject": "Ana"}),
        ("memories_save", {"key": "a"}),
        ("memories_retrieve", {"query": "a", "max_tokens": 200}),
        ("memories_retrieve", {"query": "a", "recipe": "linear", "weights": {"confidence": 1}}),
        ("memory_update", {"change_reason": "a"}),
        ("memory_update", {"content": None}),
        ("memory_status", {"status": "archived"}),
        ("replay_memories", {"known_at": MOMENT, "sequence": 1}),
        ("forget", {"filter": {}}),
        ("forget", {"filter": {"types": None}, "session_id": None}),
    ],
)
def test_rules_between_fields_are_in_the_document(name: str, body: dict[str, Any]) -> None:
    scope = {} if name == "agent_summaries" else {"user_id": "ana"}
    assert not taken_by_the_document(WITH_BODY[name], {**scope, **body})


def parameters(name: str) -> dict[str, dict[str, Any]]:
    operations = {
        operation["operationId"]: operation
        for path in DOCUMENT["paths"].values()
        for operation in path.values()
    }
    return {parameter["name"]: parameter for parameter in operations[name]["parameters"]}


@pytest.mark.parametrize(
    ("name", "parameter", "refused", "taken"),
    [
        (
            "memory_update",
            "If-Match",
            ["", " ", "ep_1.1", '"a', '"a" "b"'],
            ['"ep_1.1"', "*", 'W/"ep_1.1"', '"a", "b"'],
        ),
        ("memory_delete", "If-Match", ["", "ep_1.1"], ['"ep_1.1"', "*"]),
        ("memories_list", "cursor", ["", "ab=", "a b", "x" * 1001], ["UkwHh3yf-_"]),
        ("memories_list", "session_id", ["", " a", "a "], ["a", "a b"]),
        ("memories_list", "tag", ["", " ", "x" * 201], ["a b"]),
        ("memories_query", "query", ["", "  ", "x" * 10_001], ["a b"]),
        ("procedure_get", "key", ["", "x" * 201], ["style/language"]),
        ("memories_list", "user_id", ["", " a", "a "], ["ana"]),
    ],
)
def test_headers_paths_and_query_strings_have_their_limits_too(
    name: str, parameter: str, refused: list[str], taken: list[str]
) -> None:
    schema = parameters(name)[parameter]["schema"]
    assert [value for value in refused if fits(value, schema, DOCUMENT)] == []
    assert [value for value in taken if not fits(value, schema, DOCUMENT)] == []


def test_only_an_edit_has_to_name_the_version_that_it_replaces() -> None:
    assert parameters("memory_update")["If-Match"]["required"]
    assert not parameters("memory_delete")["If-Match"]["required"]
    assert "If-Match" not in parameters("user_erase")
