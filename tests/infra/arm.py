"""What is wrong with the body of a resource, whichever language it is written in,
going by the facts about Azure's types.

Bodies come as plain data: dict, list, text, number, bool; `Choice` where a condition decides,
`OPAQUE` where only Azure will know.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "facts" / "arm.json").read_text(encoding="utf-8")
)
OPAQUE = object()
"""A value that is computed when it is deployed."""
ENVELOPE = {"name", "location", "tags", "sku", "kind", "identity", "properties", "zones"}
"""What is beside `properties` in a resource."""
BESIDE = {"name", "location", "tags", "identity", "zones"}
"""Of these, what can't also be the name of a property."""
ON_THE_WIRE = {
    "Microsoft.Insights/components": {
        "applicationType": "Application_Type",
        "connectionString": "ConnectionString",
        "disableLocalAuth": "DisableLocalAuth",
        "workspaceResourceId": "WorkspaceResourceId",
    },
    "Microsoft.Storage/storageAccounts": {
        "enableHttpsTrafficOnly": "supportsHttpsTrafficOnly",
        "networkRuleSet": "networkAcls",
    },
}
"""The facts have the names of Azure's client libraries; for these properties the
wire has others.
"""
ONLY_ANSWERED = {"endpoint", "vaultUri"}
"""Properties that the facts keep apart in `properties` and that stand in answers only."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these, as a condition decides."""

    of: tuple[Any, ...]


def type_findings(typed: str) -> Iterator[str]:
    """Whether `type@version` is known."""
    kind, _, version = typed.partition("@")
    fact = FACTS["types"].get(kind)
    if fact is None:
        yield f"no facts about the type {kind}"
    elif version not in (fact["version"], *fact["others"]):
        yield f"{kind} has no API version {version}"


def body_findings(
    kind: str,
    body: Mapping[str, Any],
    *,
    whole: bool = True,
    elsewhere: frozenset[str] = frozenset(),
) -> Iterator[str]:
    """What of a body its type does not know; and, of a whole one, what it lacks that does not
    stand elsewhere.
    """
    if kind not in FACTS["types"]:
        return
    known = _on_the_wire(kind)
    for name, value in body.items():
        if name not in ENVELOPE or (
            name not in known and name not in ("name", "tags", "properties")
        ):
            yield f"{name} does not belong there"
        elif name in known and name != "properties":
            yield from _value(known[name], value, name)
    names = {name for properties in objects(body.get("properties", {})) for name in properties}
    if "properties" in known:
        yield from _value(known["properties"], body.get("properties", {}), "properties")
    else:
        lifted = {name: field for name, field in known.items() if name not in BESIDE}
        for properties in objects(body.get("properties", {})):
            yield from _object(lifted, properties, "properties")
    if whole:
        required = {
            name
            for name, field in known.items()
            if field.get("required") and not name.endswith("Name")
        }
        for name in sorted(required - names - body.keys() - elsewhere - {"scope", "resourceUri"}):
            yield f"{name} is missing"


def answers(kind: str) -> frozenset[str]:
    """What a resource says of itself in `properties` or beside it."""
    renamed, fact = ON_THE_WIRE.get(kind, {}), FACTS["types"][kind]
    named = fact["in"].get("properties", {}).get("object")
    nested = ONLY_ANSWERED | FACTS["objects"][named].keys() if named else set()
    return frozenset({renamed.get(name, name) for name in fact["out"]} | nested)


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects that a value may become."""
    if isinstance(value, Mapping):
        yield value
    elif isinstance(value, Choice):
        for choice in value.of:
            yield from objects(choice)
    elif isinstance(value, list):
        for element in value:
            yield from objects(element)


def _on_the_wire(kind: str) -> dict[str, Any]:
    renamed = ON_THE_WIRE.get(kind, {})
    return {renamed.get(name, name): field for name, field in FACTS["types"][kind]["in"].items()}


def _object(known: Mapping[str, Any], given: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, value in given.items():
        if name == "properties" and name not in known:
            for inner in objects(value):
                yield from _object(known, inner, path)  # lifted up in the facts
        elif name not in known:
            yield f"{path}.{name} does not exist"
        else:
            yield from _value(known[name], value, f"{path}.{name}")


def _value(known: Mapping[str, Any], given: Any, path: str) -> Iterator[str]:
    if "enum" in known:
        allowed = {allowed_value.lower() for allowed_value in known["enum"]}
        for value in given.of if isinstance(given, Choice) else (given,):
            if isinstance(value, str) and value.lower() not in allowed:
                yield f"{path} can not be {value!r}, only one of {', '.join(known['enum'])}"
    named = known.get("object") or known.get("list")
    for inner in objects(given):
        if named is not None:
            yield from _object(FACTS["objects"][named], inner, path)
        elif "map" in known:
            for name, value in inner.items():
                yield from _value({"object": known["map"]}, value, f"{path}.{name}")
