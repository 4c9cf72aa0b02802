from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from deployment.api_changes import BASELINE, breaking_changes, surface
from deployment.openapi import FILE

SAVE = "POST /save"
DOCUMENT: dict[str, Any] = {
    "paths": {
        "/save": {
            "post": {
                "x-required-right": "read",
                "parameters": [
                    {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}}
                ],
                "requestBody": {
                    "required": True,
                    "content": {"json": {"schema": {"$ref": "#/components/schemas/Save"}}},
                },
                "responses": {
                    "200": {
                        "content": {"json": {"schema": {"$ref": "#/components/schemas/Memory"}}}
                    },
                    "404": {},
                },
            }
        }
    },
    "components": {
        "schemas": {
            "Save": {
                "type": "object",
                "required": ["content"],
                "properties": {
                    "content": {"type": "string", "minLength": 1, "maxLength": 100},
                    "kind": {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]},
                    "importance": {"type": "number"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
            },
            "Memory": {
                "type": "object",
                "required": ["id"],
                "properties": {"id": {"type": "string"}, "kind": {"enum": ["a"]}},
            },
        }
    },
}
OPERATION, SCHEMAS = ("paths", "/save", "post"), ("components", "schemas")


def changed(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """The document with another value at a path; without it where the value is None."""
    document = deepcopy(DOCUMENT)
    *parents, last = path
    place: Any = document
    for name in parents:
        place = place[name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("paths", "/save"), None, "removed: POST /save"),
        ((*OPERATION, "responses", "200"), None, "removed: POST /save 200"),
        ((*OPERATION, "x-required-right"), "write", "needs the right 'write': POST /save"),
        ((*OPERATION, "parameters", 0), None, "removed: POST /save query limit"),
        (
            (*OPERATION, "parameters", 0, "required"),
            True,
            "must now be given: POST /save query limit",
        ),
        (
            (*OPERATION, "parameters", 0, "schema", "maximum"),
            50,
            "maximum is lower: POST /save query limit",
        ),
        ((*SCHEMAS, "Memory", "properties", "kind"), None, "removed: answers Memory.kind"),
        ((*SCHEMAS, "Memory", "required"), [], "may now be absent: answers Memory.id"),
        (
            (*SCHEMAS, "Memory", "properties", "id", "type"),
            ["string", "null"],
            "may now be null: answers Memory.id",
        ),
        ((*SCHEMAS, "Save", "properties", "tags"), None, "removed: takes Save.tags"),
        ((*SCHEMAS, "Save", "required"), ["content", "tags"], "must now be given: takes Save.tags"),
        (
            (*SCHEMAS, "Save", "properties", "content", "maxLength"),
            50,
            "maxLength is lower: takes Save.content",
        ),
        (
            (*SCHEMAS, "Save", "properties", "content", "pattern"),
            "x",
            "pattern is another: takes Save.content",
        ),
        (
            (*SCHEMAS, "Save", "properties", "content", "enum"),
            ["x"],
            "no longer takes other values: takes Save.content",
        ),
        (
            (*SCHEMAS, "Save", "properties", "kind", "anyOf", 0, "enum"),
            ["a"],
            'no longer takes "b": takes Save.kind',
        ),
        (
            (*SCHEMAS, "Save", "properties", "importance", "type"),
            "integer",
            "no longer takes number: takes Save.importance",
        ),
    ],
)
def test_what_callers_rely_on_can_not_go_unseen(
    path: tuple[str | int, ...], value: Any, line: str
) -> None:
    assert line in breaking_changes(surface(DOCUMENT), surface(changed(path, value)))


def test_a_new_field_that_a_request_can_not_do_without_breaks_it() -> None:
    fields = {**DOCUMENT["components"]["schemas"]["Save"], "required": ["content", "new"]}
    fields["properties"] = {**fields["properties"], "new": {"type": "string"}}
    assert breaking_changes(surface(DOCUMENT), surface(changed((*SCHEMAS, "Save"), fields))) == [
        "must now be given: takes Save.new"
    ]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*SCHEMAS, "Memory", "properties", "new"), {"type": "string"}),
        (
            (*SCHEMAS, "Save", "properties", "new"),
            {"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}}},
        ),
        ((*SCHEMAS, "Save", "properties", "kind", "anyOf", 0, "enum"), ["a", "b", "c"]),
        ((*SCHEMAS, "Save", "required"), []),
        ((*SCHEMAS, "Save", "properties", "content", "maxLength"), 200),
        (
            ("paths", "/new"),
            {
                "get": {
                    "responses": {"200": {}},
                    "parameters": [{"name": "x", "in": "query", "required": True, "schema": {}}],
                }
            },
        ),
    ],
)
def test_what_only_adds_breaks_nothing(path: tuple[str | int, ...], value: Any) -> None:
    assert breaking_changes(surface(DOCUMENT), surface(changed(path, value))) == []


def test_the_api_keeps_what_callers_rely_on() -> None:
    baseline, current = json.loads(BASELINE.read_bytes()), surface(json.loads(FILE.read_bytes()))
    assert breaking_changes(baseline, current) == [], (
        "a decided break: `python -m deployment.api_changes --record`, and CHANGELOG.md"
    )
