from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import azure.functions as func
import pytest

from memory_core.functions.blueprints import BLUEPRINTS
from memory_core.functions.openapi import document
from memory_core.functions.openapi_parts import ANSWERS, EXAMPLES, SCOPE_FIELDS
from memory_core.functions.registered import door_of, http_functions
from memory_core.functions.request_parsing import from_json

METHODS = {"get", "put", "post", "delete", "patch"}


@pytest.fixture(scope="module")
def openapi() -> dict[str, Any]:
    return document()


def operations(openapi: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in openapi["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def test_every_function_is_an_operation_with_answers_of_its_own(openapi: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, _, operation in operations(openapi)]
    assert sorted(names) == sorted(set(names))
    assert set(names) == set(ANSWERS)


def test_only_a_part_of_an_export_can_be_gone(openapi: dict[str, Any]) -> None:
    gone = [
        operation["operationId"]
        for _, _, operation in operations(openapi)
        if "410" in operation["responses"]
    ]
    assert gone == ["user_export_part"]


def test_a_file_of_a_page_may_not_be_there(openapi: dict[str, Any]) -> None:
    for path in ("/docs/{file}", "/console/{release}/{file}"):
        assert openapi["paths"][path]["get"]["responses"].keys() == {"200", "404", "414", "500"}


def test_no_schema_that_is_closed_gets_a_field_from_its_neighbour(openapi: dict[str, Any]) -> None:
    """`allOf` of a schema without other fields and one with another field fits no value."""
    schemas = openapi["components"]["schemas"]
    for name, schema in schemas.items():
        for part in schema.get("allOf", ()):
            closed = schemas[part["$ref"].rpartition("/")[2]] if "$ref" in part else part
            assert closed.get("additionalProperties") is not False, name


def test_every_reference_leads_somewhere(openapi: dict[str, Any]) -> None:
    references_found = set(references(openapi))
    assert references_found
    for reference in references_found:
        place: Any = openapi
        for part in reference.removeprefix("#/").split("/"):
            assert part in place, reference
            place = place[part]


def test_every_component_schema_is_used(openapi: dict[str, Any]) -> None:
    used = {
        reference.rsplit("/", 1)[1] for reference in references(openapi) if "/schemas/" in reference
    }
    assert set(openapi["components"]["schemas"]) == used


def test_the_parameters_of_a_path_are_declared_and_no_parameter_twice(
    openapi: dict[str, Any],
) -> None:
    for path, method, operation in operations(openapi):
        assert method in METHODS
        declared = [(parameter["in"], parameter["name"]) for parameter in operation["parameters"]]
        assert len(declared) == len(set(declared))
        assert {name for place, name in declared if place == "path"} == set(
            re.findall(r"{(\w+)}", path)
        )


def test_whose_memories_are_meant_is_a_required_field_of_every_scoped_operation(
    openapi: dict[str, Any],
) -> None:
    schemas = openapi["components"]["schemas"]
    for path, method, operation in operations(openapi):
        if not path.startswith("/api/v1/") or operation["tags"][0] in ("system", "admin"):
            continue
        required = {
            parameter["name"]
            for parameter in operation["parameters"]
            if parameter["in"] in ("query", "path") and parameter["required"]
        }
        if "application/json" in operation.get("requestBody", {}).get("content", {}):
            schema = schemas[
                operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit(
                    "/", 1
                )[1]
            ]
            required |= set(schema["required"])
            assert ("user_id" in schema["properties"]) != ("{user_id}" in path), "in one place"
            assert schema["additionalProperties"] is False
        if (method not in ("put", "patch") or "{user_id}" in path) and operation[
            "operationId"
        ] != "agent_summaries":  # there with a callback_url only
            assert "user_id" in required, operation["operationId"]


def test_the_examples_are_good_requests() -> None:
    app = func.FunctionApp()
    for blueprint in BLUEPRINTS:
        app.register_functions(blueprint)
    functions = {
        function.get_function_name(): function.get_user_function()
        for function in app.get_functions()
    }
    assert set(EXAMPLES) <= set(functions)
    for name, example in EXAMPLES.items():
        door = door_of(functions[name])
        assert door is not None
        from_json(
            door.takes, {field: value for field, value in example.items() if field != "user_id"}
        )


def test_the_fields_that_a_call_takes_are_those_of_the_document(openapi: dict[str, Any]) -> None:
    for function in http_functions():
        operation, takes = (
            openapi["paths"][function.path][function.method.lower()],
            function.door.takes,
        )
        if function.door.has_body:
            reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            documented = set(
                openapi["components"]["schemas"][reference.rpartition("/")[2]]["properties"]
            )
        else:
            documented = {
                parameter["name"]
                for parameter in operation["parameters"]
                if parameter["in"] == "query"
            }
        fields = {field.alias or name for name, field in takes.model_fields.items()}
        assert fields <= documented <= fields | set(SCOPE_FIELDS), function.name


def test_what_never_leaves_the_product_is_not_in_the_document(openapi: dict[str, Any]) -> None:
    documented = openapi["components"]["schemas"]["Memory"]["properties"]
    assert not {"lexical", "search_text", "epoch", "sequence", "revision"} & set(documented)
    assert "content" in documented


def schemas_named(value: Any, names: set[str]) -> Iterator[dict[str, Any]]:
    """The schemas of parameters and properties of these names; of one that may be null,
    that of what else it may be.
    """
    if isinstance(value, dict):
        asked = (
            [value["schema"]]
            if "in" in value and isinstance(value.get("name"), str) and value["name"] in names
            else []
        )
        asked += [
            inner
            for name, inner in value.items()
            if name in names and isinstance(inner, dict) and "not" not in inner
        ]
        yield from (
            next((kind for kind in schema.get("anyOf", []) if kind["type"] != "null"), schema)
            for schema in asked
        )
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from schemas_named(inner, names)


def test_what_a_name_may_be_is_said_wherever_one_is_asked_for(openapi: dict[str, Any]) -> None:
    asked = [operation["parameters"] for _, _, operation in operations(openapi)]
    asked += [
        schema
        for name, schema in openapi["components"]["schemas"].items()
        if name.endswith("Request")
    ]
    schemas = list(
        schemas_named(
            asked,
            {
                "user_id",
                "session_id",
                "agent_id",
                "memory_id",
                "task_id",
                "scene_id",
                "conflict_id",
                "to_agent_id",
            },
        )
    )
    assert len(schemas) > 50
    for schema in schemas:
        assert (schema["minLength"], schema["maxLength"]) == (1, 128)
        assert [
            name
            for name in ("ana", "日本 1", "a/b", "a#b", "a?b", "a\\b", "a\nb", "")
            if re.search(schema["pattern"], name)
        ] == ["ana", "日本 1"]
