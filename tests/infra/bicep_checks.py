"""What is wrong with Bicep files, without Bicep: the same findings that its compiler would have,
as far as data and syntax tell.

It does not compute types and runs no linter; the workflow in .github does, with the real compiler.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from tree_sitter import Node

from tests.infra import arm, bicep
from tests.infra.bicep import Declared, File

FUNCTIONS = {
    "base64ToString", "concat", "contains", "empty", "filter", "guid", "items", "last",
    "loadJsonContent", "loadTextContent",
    "replace", "resourceGroup", "split", "startsWith", "string",
    "subscription", "subscriptionResourceId", "tenant", "union", "uniqueString", "utcNow",
}  # fmt: skip
BICEPS_OWN = {"parent", "scope", "dependsOn"}
SECRET_FUNCTIONS = ("listKeys", "listSecrets", "listAccountSas", "getSecret")
Sources = Mapping[str, str]
"""Path of each file below infra/, and its text."""


def findings(sources: Sources) -> list[str]:
    """Everything that is wrong, each with its file."""
    files = {path: bicep.parse(text) for path, text in sources.items() if path.endswith(".bicep")}
    all_findings = []
    for path, file in files.items():
        all_findings += [f"{path}:{line}: not Bicep" for line in file.errors]
        for finding in (
            *_symbols(file),
            *_resources(file),
            *_modules(path, file, files),
            *_references(file),
            *_secrets(file),
        ):
            all_findings.append(f"{path}: {finding}")
        all_findings += [f"{path}: {name} is not there" for name in _loaded(path, file, sources)]
    return all_findings


def _symbols(file: File) -> Iterator[str]:
    known, used = file.declared, set()
    for declaration in (*file.declared.values(), *file.outputs.values()):
        mine = bicep.local(declaration.node)
        yield from (
            f"{declaration.name}: {name} is declared twice"
            for name in set(mine)
            if mine.count(name) > 1 or name in known
        )
        for node in (declaration.value, *(each for each in declaration.decorators.values())):
            if node is None:
                continue
            for name in (bicep.said(each) for each in bicep.names(node)):
                used.add(name)
                if name not in known and name not in mine:
                    yield f"{declaration.name}: {name} is not declared"
            for name in bicep.calls(node):
                if node is declaration.value and name not in FUNCTIONS:
                    yield f"{declaration.name}: there is no function {name} among those in use here"
    for name, parameter in (file.params | file.variables).items():
        if name not in used:
            yield f"{parameter.name} is declared and not used"


def _resources(file: File) -> Iterator[str]:
    for resource in file.resources.values():
        yield from (f"{resource.name}: {finding}" for finding in arm.type_findings(resource.type))
        body = bicep.value(resource.value)
        given = (
            {name: value for name, value in body.items() if name not in BICEPS_OWN}
            if isinstance(body, dict)
            else {}
        )
        kind = resource.type.partition("@")[0]
        yield from (
            f"{resource.name}: {finding}"
            for finding in arm.body_findings(kind, given, whole=not resource.existing)
        )


def _modules(path: str, file: File, files: Mapping[str, File]) -> Iterator[str]:
    for used in file.modules.values():
        target = files.get(str(PurePosixPath(path).parent / used.type))
        if target is None:
            yield f"{used.name}: there is no {used.type}"
            continue
        body = bicep.properties(bicep.body(used.value))
        given = bicep.properties(body.get("params"))
        for name in given.keys() - target.params.keys():
            yield f"{used.name}: {used.type} has no parameter {name}"
        for name, param in target.params.items():
            if name not in given and param.value is None:
                yield f"{used.name}: the parameter {name} of {used.type} is missing"
            elif name in given and not param.secure and _is_secret(file, given[name]):
                yield f"{used.name}: a secret goes to {name} of {used.type}, which is not @secure()"
    for declaration in (*file.declared.values(), *file.outputs.values()):
        for chain in bicep.members(declaration.node):
            module = file.modules.get(chain[0])
            if module is not None and len(chain) > 2 and chain[1] == "outputs":
                target = files.get(str(PurePosixPath(path).parent / module.type))
                if target is not None and chain[2] not in target.outputs:
                    yield f"{declaration.name}: {module.type} has no output {chain[2]}"


def _references(file: File) -> Iterator[str]:
    """`symbol.properties.x` must be something that the resource says of itself."""
    for declaration in (*file.declared.values(), *file.outputs.values()):
        for chain in bicep.members(declaration.node):
            resource = file.resources.get(chain[0])
            if resource is None or len(chain) < 2:
                continue
            kind = resource.type.partition("@")[0]
            if kind not in arm.FACTS["types"] or chain[1] in ("id", "name", "type", "apiVersion"):
                continue
            wanted = chain[2] if chain[1] == "properties" and len(chain) > 2 else chain[1]
            if wanted not in arm.answers(kind):
                yield f"{declaration.name}: {resource.type} says nothing of {wanted}"


def _is_secret(file: File, node: Node) -> bool:
    """Whether a parameter that is a secret is in it, by way of variables too."""
    waiting, seen = [node], set()
    while waiting:
        for name in (bicep.said(name) for name in bicep.names(waiting.pop())):
            if name in file.params and file.params[name].secure:
                return True
            variable = file.variables.get(name)
            if variable is not None and variable.value is not None and name not in seen:
                seen.add(name)
                waiting.append(variable.value)
    return False


def _secrets(file: File) -> Iterator[str]:
    """No output may carry a secret, and no secret may have a default: both can be read in the
    deployment's history.
    """
    for output in file.outputs.values():
        if output.value is not None and _leads_to_secret(file, output):
            yield f"the output {output.name} shows a secret"
    for parameter in file.params.values():
        if parameter.secure and parameter.value is not None:
            yield f"the secret {parameter.name} has a default"
        if (
            not parameter.secure
            and parameter.type in ("string", "object")
            and parameter.name.lower().endswith(("secret", "password", "apikeys"))
        ):
            yield f"{parameter.name} is named like a secret and is not @secure()"


def _leads_to_secret(file: File, declaration: Declared) -> bool:
    waiting, seen = [declaration], set()
    while waiting:
        node = waiting.pop().value
        if node is None:
            continue
        if _is_secret(file, node) or any(
            call.split(".")[-1] in SECRET_FUNCTIONS for call in _every_call(node)
        ):
            return True
        for name in (bicep.said(each) for each in bicep.names(node)):
            if name in file.variables and name not in seen:
                seen.add(name)
                waiting.append(file.variables[name])
    return False


def _every_call(node: Node) -> Iterator[str]:
    yield from bicep.calls(node)
    for inner in bicep.every(node):
        if inner.type == "property_identifier":
            yield bicep.said(inner)


def _loaded(path: str, file: File, sources: Sources) -> Iterator[str]:
    """Files that are loaded and are not there; those outside infra/ are looked for in
    the project.
    """
    for declaration in file.declared.values():
        for node in bicep.every(declaration.node):
            if node.type == "call_expression" and bicep.said(node.named_children[0]).startswith(
                "load"
            ):
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
