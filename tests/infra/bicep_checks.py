"""What is wrong with Bicep files, without Bicep: the same findings that its compiler would have, as far as data and syntax tell.

It does not compute types and runs no linter; the workflow in .github does, with the real compiler.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from tree_sitter import Node

from tests.infra import bicep
from tests.infra.bicep import Declared, File

FACTS: dict[str, Any] = json.loads((Path(__file__).parent / "facts" / "arm.json").read_text(encoding="utf-8"))
FUNCTIONS = {
    "concat", "contains", "empty", "filter", "first", "guid", "items", "last", "length", "loadJsonContent", "loadTextContent",
    "resourceGroup", "split", "string", "subscription", "subscriptionResourceId", "take", "tenant", "toLower", "union", "uniqueString", "utcNow",
}  # fmt: skip
ENVELOPE = {"name", "location", "tags", "sku", "kind", "identity", "parent", "scope", "dependsOn", "properties", "zones"}
"""What stands beside `properties` in a resource."""
BESIDE = {"name", "location", "tags", "identity", "zones"}
"""Of these, what can't also be the name of a property."""
BICEPS_OWN = {"parent", "scope", "dependsOn"}
ON_THE_WIRE = {
    "Microsoft.Insights/components": {
        "applicationType": "Application_Type",
        "connectionString": "ConnectionString",
        "disableLocalAuth": "DisableLocalAuth",
        "workspaceResourceId": "WorkspaceResourceId",
    },
    "Microsoft.Storage/storageAccounts": {"enableHttpsTrafficOnly": "supportsHttpsTrafficOnly", "networkRuleSet": "networkAcls"},
}
"""The facts have the names of Azure's client libraries; for these properties the wire has others."""
SECRET_FUNCTIONS = ("listKeys", "listSecrets", "listAccountSas", "getSecret")
Sources = Mapping[str, str]
"""Path of each file below infra/, and its text."""


def findings(sources: Sources) -> list[str]:
    """Everything that is wrong, each with its file."""
    files = {path: bicep.parse(text) for path, text in sources.items() if path.endswith(".bicep")}
    found = []
    for path, file in files.items():
        found += [f"{path}:{line}: not Bicep" for line in file.errors]
        for finding in (*_symbols(file), *_resources(file), *_modules(path, file, files), *_references(file), *_secrets(file)):
            found.append(f"{path}: {finding}")
        found += [f"{path}: {name} is not there" for name in _loaded(path, file, sources)]
    return found


def _symbols(file: File) -> Iterator[str]:
    known, used = file.declared, set()
    for one in (*file.declared.values(), *file.outputs.values()):
        mine = bicep.local(one.node)
        for node in (one.value, *(each for each in one.decorators.values())):
            if node is None:
                continue
            for name in (bicep.said(each) for each in bicep.names(node)):
                used.add(name)
                if name not in known and name not in mine:
                    yield f"{one.name}: {name} is not declared"
            for name in bicep.calls(node):
                if node is one.value and name not in FUNCTIONS:
                    yield f"{one.name}: there is no function {name} among those in use here"
    for name, one in (file.params | file.variables).items():
        if name not in used:
            yield f"{one.name} is declared and not used"


def _resources(file: File) -> Iterator[str]:
    for one in file.resources.values():
        kind, _, version = one.type.partition("@")
        fact = FACTS["types"].get(kind)
        if fact is None:
            yield f"{one.name}: no facts about the type {kind}"
            continue
        if version not in (fact["version"], *fact["others"]):
            yield f"{one.name}: {kind} has no API version {version}"
        given = bicep.properties(bicep.body(one.value))
        yield from (f"{one.name}: {finding}" for finding in body_findings(on_the_wire(kind), given, whole=not one.existing))


def on_the_wire(kind: str) -> dict[str, Any]:
    """The facts of a type with the names that a template uses."""
    fact, renamed = FACTS["types"][kind], ON_THE_WIRE.get(kind, {})
    given = {renamed.get(name, name): one for name, one in fact["in"].items()}
    return {**fact, "in": given, "out": [renamed.get(name, name) for name in fact["out"]]}


def body_findings(fact: Mapping[str, Any], given: Mapping[str, Node], *, whole: bool) -> Iterator[str]:
    """What of a resource's body its type does not know, or misses. Azure's `properties` are lifted up in the facts."""
    known = fact["in"]
    inner = given.get("properties")
    top = {name: node for name, node in given.items() if name not in BICEPS_OWN | {"properties"}}
    for name in top:
        if name not in ENVELOPE or (name not in known and name not in ("name", "tags")):
            yield f"{name} does not belong there"
    for name in top.keys() & known.keys():
        yield from _value(known[name], top[name], name)
    held: set[str] = set()
    if inner is not None:
        kept = known["properties"] if "properties" in known else None
        for node in bicep.objects(inner):
            held |= bicep.properties(node).keys()
            if kept is not None:
                yield from _value(kept, node, "properties")
            else:
                yield from _object({name: one for name, one in known.items() if name not in BESIDE}, node, "properties")
    if whole:
        required = {name for name, one in known.items() if one.get("required")}
        parents = {name for name in required if name.endswith("Name") or name in ("scope", "resourceUri")}
        for name in sorted(required - parents - held - top.keys() - ({"properties"} if inner is not None else set())):
            yield f"{name} is missing"


def _object(known: Mapping[str, Any], node: Node, path: str) -> Iterator[str]:
    for name, value in bicep.properties(node).items():
        if name == "properties" and name not in known:
            yield from _object(known, value, path)  # lifted up in the facts
        elif name not in known:
            yield f"{path}.{name} does not exist"
        else:
            yield from _value(known[name], value, f"{path}.{name}")


def _value(known: Mapping[str, Any], node: Node, path: str) -> Iterator[str]:
    if "enum" in known:
        for value in _literals(node):
            if isinstance(value, str) and value.lower() not in {one.lower() for one in known["enum"]}:
                yield f"{path} can not be {value!r}, only one of {', '.join(known['enum'])}"
    named = known.get("object") or known.get("list")
    if named is not None:
        for one in bicep.objects(node):
            yield from _object(FACTS["objects"][named], one, path)
    elif "map" in known:
        for one in bicep.objects(node):
            for name, value in bicep.properties(one).items():
                yield from _value({"object": known["map"]}, value, f"{path}.{name}")


def _literals(node: Node) -> Iterator[Any]:
    if node.type == "ternary_expression":
        for one in node.named_children[1:]:
            yield from _literals(one)
    else:
        yield bicep.literal(node)


def _modules(path: str, file: File, files: Mapping[str, File]) -> Iterator[str]:
    for one in file.modules.values():
        target = files.get(str(PurePosixPath(path).parent / one.type))
        if target is None:
            yield f"{one.name}: there is no {one.type}"
            continue
        body = bicep.properties(bicep.body(one.value))
        given = bicep.properties(body.get("params"))
        for name in given.keys() - target.params.keys():
            yield f"{one.name}: {one.type} has no parameter {name}"
        for name, param in target.params.items():
            if name not in given and param.value is None:
                yield f"{one.name}: the parameter {name} of {one.type} is missing"
            elif name in given and not param.secure and _is_secret(file, given[name]):
                yield f"{one.name}: a secret goes to {name} of {one.type}, which is not @secure()"
    for one in (*file.declared.values(), *file.outputs.values()):
        for chain in bicep.members(one.node):
            module = file.modules.get(chain[0])
            if module is not None and len(chain) > 2 and chain[1] == "outputs":
                target = files.get(str(PurePosixPath(path).parent / module.type))
                if target is not None and chain[2] not in target.outputs:
                    yield f"{one.name}: {module.type} has no output {chain[2]}"


def _references(file: File) -> Iterator[str]:
    """`symbol.properties.x` must be something that the resource says of itself."""
    for one in (*file.declared.values(), *file.outputs.values()):
        for chain in bicep.members(one.node):
            resource = file.resources.get(chain[0])
            if resource is None or len(chain) < 2:
                continue
            kind = resource.type.partition("@")[0]
            if kind not in FACTS["types"] or chain[1] in ("id", "name", "type", "apiVersion"):
                continue
            fact = on_the_wire(kind)
            wanted = chain[2] if chain[1] == "properties" and len(chain) > 2 else chain[1]
            if wanted not in fact["out"] and not ("properties" in fact["out"] and wanted in _nested(fact)):
                yield f"{one.name}: {resource.type} says nothing of {wanted}"


@cache
def _of_properties(named: str) -> frozenset[str]:
    return frozenset(FACTS["objects"][named])


def _nested(fact: Mapping[str, Any]) -> frozenset[str]:
    """What stands in `properties` where the facts keep it apart; what only answers have is added by hand."""
    named = fact["in"].get("properties", {}).get("object")
    return (_of_properties(named) if named else frozenset()) | {"endpoint", "vaultUri"}


def _is_secret(file: File, node: Node) -> bool:
    named = {bicep.said(one) for one in bicep.names(node)}
    return any(name in file.params and file.params[name].secure for name in named)


def _secrets(file: File) -> Iterator[str]:
    """No output may carry a secret, and no secret may have a default: both can be read in the deployment's history."""
    for one in file.outputs.values():
        if one.value is not None and _leads_to_secret(file, one):
            yield f"the output {one.name} shows a secret"
    for one in file.params.values():
        if one.secure and one.value is not None:
            yield f"the secret {one.name} has a default"
        if not one.secure and one.type in ("string", "object") and one.name.lower().endswith(("secret", "password", "apikeys")):
            yield f"{one.name} is named like a secret and is not @secure()"


def _leads_to_secret(file: File, one: Declared) -> bool:
    waiting, seen = [one], set()
    while waiting:
        node = waiting.pop().value
        if node is None:
            continue
        if _is_secret(file, node) or any(call.split(".")[-1] in SECRET_FUNCTIONS for call in _every_call(node)):
            return True
        for name in (bicep.said(each) for each in bicep.names(node)):
            if name in file.variables and name not in seen:
                seen.add(name)
                waiting.append(file.variables[name])
    return False


def _every_call(node: Node) -> Iterator[str]:
    yield from bicep.calls(node)
    for one in bicep.every(node):
        if one.type == "property_identifier":
            yield bicep.said(one)


def _loaded(path: str, file: File, sources: Sources) -> Iterator[str]:
    """Files that are loaded and are not there; those outside infra/ are looked for in the project."""
    for one in file.declared.values():
        for node in bicep.every(one.node):
            if node.type == "call_expression" and bicep.said(node.named_children[0]).startswith("load"):
                named = bicep.literal(node.named_children[1].named_children[0])
                place = _resolved(path, str(named))
                if place not in sources:
                    yield place


def _resolved(path: str, named: str) -> str:
    parts: list[str] = []
    for part in (*PurePosixPath(path).parent.parts, *PurePosixPath(named).parts):
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)
