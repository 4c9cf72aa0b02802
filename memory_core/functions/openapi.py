"""The OpenAPI 3.1 document of this app, made from its registered functions.

Routes come from the bindings, inputs from the models of the functions. So it can't drift from the
code. The handwritten parts (answers, examples) are in `openapi_parts` and `openapi_schemas`.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel

from memory_core import __version__
from memory_core.domain.fields import NAME_SCHEMA
from memory_core.functions import openapi_parts as parts
from memory_core.functions.openapi_schemas import REF, Schema, answer_schemas, ref
from memory_core.functions.registered import Door, HttpFunction, http_functions
from memory_core.functions.request_parsing import BulkInput


def document() -> Schema:
    """The whole document, JSON-ready."""
    schemas = answer_schemas()
    paths: dict[str, Schema] = {}
    for function in http_functions():
        paths.setdefault(function.path, {})[function.method.lower()] = _operation(function, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Memory Core",
            "version": __version__,
            "summary": "Long-term memory for AI agents",
            "license": parts.LICENSE,
        },
        "tags": parts.TAGS,
        "security": [{"apiKey": []}, {"bearer": []}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "securitySchemes": parts.SECURITY,
            "headers": parts.HEADERS,
            "responses": parts.problem_responses(),
            "schemas": _joined(schemas),
        },
    }


def _joined(schema: Any) -> Any:
    """The schema with the lines of each paragraph of its descriptions joined.

    The descriptions are docstrings: what these say of an attribute becomes the description of that
    property, where it has none.
    """
    if isinstance(schema, list):
        return [_joined(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    text = schema.get("description")
    if not isinstance(text, str):
        return {name: _joined(value) for name, value in schema.items()}
    text, of_attributes = _parted(text)
    described = {**schema, "description": text}
    if "properties" in schema:
        described["properties"] = {
            name: {"description": of_attributes[name], **field} if name in of_attributes else field
            for name, field in schema["properties"].items()
        }
    return {
        name: _paragraphs(value) if name == "description" else _joined(value)
        for name, value in described.items()
    }


def _parted(docstring: str) -> tuple[str, dict[str, str]]:
    """A docstring without its attributes, and the text of each attribute by name."""
    text, _, attributes = docstring.partition("\nAttributes:\n")
    entries = re.findall(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", attributes, re.MULTILINE)
    return text.strip(), {name: " ".join(described.split()) for name, described in entries}


def _paragraphs(text: str) -> str:
    return re.sub(r"(?<!\n)\n(?![\n*|-])", " ", text)


def _operation(function: HttpFunction, schemas: dict[str, Schema]) -> Schema:
    name, method, path, door = function.name, function.method, function.path, function.door
    text = (function.handler.__doc__ or "").strip()
    summary, _, description = text.partition("\n\n")
    operation: Schema = {
        "operationId": name,
        "tags": [parts.tag(path)],
        "summary": " ".join(summary.split()).rstrip("."),
        "parameters": _parameters(door, method, path, name, schemas),
        "responses": {**parts.answers(name), **parts.problems(door, name)},
    }
    if description.strip():
        operation["description"] = re.sub(r"\s+", " ", description).strip()
    if door.right is None:
        operation["security"] = []
    else:
        operation["x-required-right"] = door.right
    if door.has_body:
        operation["requestBody"] = _body(door, method, path, name, schemas)
    elif door.raw is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {door.raw: {"schema": parts.RAW_BODIES.get(name, parts.TEXT_BODY)}},
        }
    return operation


def _parameters(
    door: Door, method: str, path: str, name: str, schemas: dict[str, Schema]
) -> list[Schema]:
    parameters = [
        {
            "name": part,
            "in": "path",
            "required": True,
            "schema": NAME_SCHEMA if part != "key" else parts.KEY_SCHEMA,
        }
        for part in re.findall(r"{(\w+)}", path)
    ]
    if (
        door.scoped
        and "{user_id}" not in path
        and (not door.has_body or method in ("PUT", "PATCH"))
    ):
        parameters += [
            {
                **parameter,
                "in": "query",
                "required": parameter["required"] and not (door.has_body or door.nameless),
            }
            for parameter in parts.SCOPE_PARAMETERS
        ]
    if door.user_header:
        parameters.append(parts.USER_IN_HEADER)
    if not door.has_body:
        schema = _flat(door.takes, schemas)
        required = schema.get("required", [])
        for parameter, field in schema.get("properties", {}).items():
            parameters.append(
                {
                    "name": parameter,
                    "in": "query",
                    "required": parameter in required,
                    "schema": field,
                }
            )
    if door.right is not None and method != "GET" and name != "mcp":
        parameters.append(
            parts.SECRETS_ONCE if name in parts.MAKES_SECRETS else parts.IDEMPOTENCY_KEY
        )
    if path.endswith("/{memory_id}") and method in ("PUT", "DELETE"):
        parameters.append({**parts.IF_MATCH, "required": method == "PUT"})
    parameters.append(parts.CORRELATION_ID)
    return parameters


def _body(door: Door, method: str, path: str, name: str, schemas: dict[str, Schema]) -> Schema:
    """The request body: the input model with the scope's fields beside its own."""
    schema = dict(_flat(door.takes, schemas))
    if door.takes is BulkInput:
        item = dict(_flat(parts.BULK_ITEM, schemas))
        item["properties"] = {**parts.SCOPE_FIELDS, **item["properties"]}
        schemas["BulkItem"] = item
        schema["properties"] = {
            **schema["properties"],
            "memories": {**schema["properties"]["memories"], "items": ref("BulkItem")},
        }
    if door.scoped and "{user_id}" not in path:
        schema["properties"] = {**parts.SCOPE_FIELDS, **schema.get("properties", {})}
        # PUT and PATCH may name the user in the query instead.
        schema["required"] = (
            [] if method in ("PUT", "PATCH") or door.nameless else ["user_id"]
        ) + schema.get("required", [])
    if door.nameless:
        schema["allOf"] = [parts.CALLBACK_NEEDS_A_USER]
    title = f"{door.takes.__name__.removesuffix('Input').removesuffix('View')}Request"
    schemas[title] = {**schema, "title": title}
    content: Schema = {"schema": ref(title)}
    if name in parts.EXAMPLES:
        content["examples"] = {"example": {"value": parts.EXAMPLES[name]}}
    return {"required": True, "content": {"application/json": content}}


def _flat(model: type[BaseModel], schemas: dict[str, Schema]) -> Schema:
    """The model's JSON schema, with the models that it refers to moved into the components."""
    schema = model.model_json_schema(ref_template=REF)
    schemas.update(schema.pop("$defs", {}))
    return schema
