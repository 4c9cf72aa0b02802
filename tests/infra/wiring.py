"""What Bicep and Terraform take from the policies is there, and what both write in Azure's own
words is the same.

A misspelt member of a JSON file is nothing to a compiler that sees only `any`: it comes out when it
is deployed. Note: what a loop's variable stands for is not followed, so its members
have to be known somewhere, not in the very list that it runs over.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from tests.infra import bicep, terraform
from tests.infra.arm import OPAQUE, Choice
from tests.infra.bicep import File
from tests.infra.sources import COSMOS, MODELS, PROFILES

POLICY = "infra/policy.json"
OF_THE_LANGUAGE = {"key", "value"}
"""What `items()` and `for_each` call the two halves of an entry."""


def members(sources: Mapping[str, str]) -> Iterator[str]:
    """Each `policy.a.b` has to be in its file; each member of a loop's variable somewhere in both,
    or in an object of the same file.
    """
    files = {path: json.loads(sources[path]) for path in (POLICY, COSMOS, MODELS, PROFILES)}
    known = {name for file in files.values() for name in _keys(file)} | OF_THE_LANGUAGE
    for path, text in sources.items():
        if path.endswith(".bicep"):
            file = bicep.parse(text)
            loaded = {
                name: files[loads]
                for name, variable in file.variables.items()
                for loads in _loads(variable)
                if loads in files
            }
            if "profiles" in loaded:
                loaded["preset"] = loaded["profiles"]["small"]
            yield from (f"{path}: {finding}" for finding in _in_bicep(file, loaded, known))
    roots = {
        "policy": files[POLICY],
        "containers": files[COSMOS],
        "models": files[MODELS],
        "preset": files[PROFILES]["small"],
    }
    made_in = {
        path: set(re.findall(r"(\w+)\s*=", text))
        for path, text in sources.items()
        if path.endswith(".tf")
    }
    for block in terraform.blocks(sources):
        made = made_in[block.path]
        for text in terraform.expressions(block.body):
            for chain in terraform.references(text):
                if (
                    chain[0] == "local"
                    and chain[1] in roots
                    and not _leads(roots[chain[1]], chain[2:])
                ):
                    yield f"{block.path}: {'.'.join(chain)} is not in its file"
                if chain[:2] == ["each", "value"]:
                    yield from (
                        f"{block.path}: each.value.{name} is in no policy"
                        for name in chain[2:]
                        if name not in known | made
                    )


def _loads(declaration: bicep.Declared) -> Iterator[str]:
    """The path of the JSON file that a variable is."""
    text = "" if declaration.value is None else bicep.said(declaration.value)
    if text.startswith("loadJsonContent("):
        yield next(
            (path for path in (COSMOS, MODELS) if path in text),
            PROFILES if "profiles.json" in text else POLICY,
        )


def _in_bicep(file: File, loaded: Mapping[str, Any], known: set[str]) -> Iterator[str]:
    written = {
        name
        for declaration in file.declared.values()
        for node in bicep.every(declaration.node)
        for name in bicep.properties(node)
    }
    for declaration in (*file.declared.values(), *file.outputs.values()):
        mine = set(bicep.local(declaration.node))
        for chain in bicep.members(declaration.node):
            if chain[0] in loaded and not _leads(loaded[chain[0]], chain[1:]):
                yield f"{declaration.name}: {'.'.join(chain)} is not in its file"
            elif chain[0] in mine:
                yield from (
                    f"{declaration.name}: {chain[0]}.{name} is in no policy"
                    for name in chain[1:]
                    if name not in known | written
                )


def _leads(value: Any, chain: list[str]) -> bool:
    """Whether there is such a member; what an index chose is one of all."""
    for at, name in enumerate(chain):
        if isinstance(value, list):
            return all(_leads(element, chain[at:]) for element in value)
        if not isinstance(value, Mapping) or name not in value:
            return False
        value = value[name]
    return True


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield name
            yield from _keys(inner)
    elif isinstance(value, list):
        for element in value:
            yield from _keys(element)


def bodies(sources: Mapping[str, str]) -> Iterator[str]:
    """What azapi sends, and what Bicep sends for the same type: the same properties,
    with the same values where both say them.
    """
    ours, others = defaultdict[str, list[Any]](list), defaultdict[str, list[Any]](list)
    for block in terraform.blocks(sources):
        if block.kind == "resource" and block.labels[0].startswith("azapi_"):
            kind = str(terraform.value(block.body["type"])).partition("@")[0]
            others[kind] += [
                terraform.value(block.body[name])
                for name in ("body", "sensitive_body")
                if name in block.body
            ]
    for path, text in sources.items():
        if path.endswith(".bicep"):
            for resource in bicep.parse(text).resources.values():
                if not resource.existing:
                    ours[resource.type.partition("@")[0]].append(bicep.value(resource.value))
    for kind, written in others.items():
        in_bicep, in_terraform = _flat(ours[kind]), _flat(written)
        for name in sorted(in_bicep.keys() ^ in_terraform.keys()):
            yield f"{kind}: {name} is in one of Bicep and Terraform only"
        for name in sorted(in_bicep.keys() & in_terraform.keys()):
            if (
                OPAQUE not in in_bicep[name] | in_terraform[name]
                and in_bicep[name] != in_terraform[name]
            ):
                yield (
                    f"{kind}: {name} is {in_bicep[name]} in Bicep and {in_terraform[name]} "
                    "in Terraform"
                )


def _flat(values: list[Any]) -> dict[str, set[Any]]:
    """Each property's path, from `kind` or `properties` on, and the values that it has."""
    values_by_path = defaultdict[str, set[Any]](set)
    for value in values:
        for name in ("kind", "properties"):
            if name in value:
                _gather(value[name], name, values_by_path)
    return values_by_path


def _gather(value: Any, path: str, values_by_path: dict[str, set[Any]]) -> None:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _gather(inner, f"{path}.{name}", values_by_path)
    elif isinstance(value, (list, Choice)):
        values_by_path[path].add(OPAQUE)
    else:
        values_by_path[path].add(value)


def findings(sources: Mapping[str, str]) -> list[str]:
    """Everything that is taken from nowhere or said in two ways."""
    return [*members(sources), *bodies(sources)]
