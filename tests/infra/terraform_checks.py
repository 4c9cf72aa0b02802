"""What is wrong with Terraform's files, without its providers: arguments, blocks,
references, bodies of azapi, secrets.

`terraform validate` in the workflow sees more, types above all; here the providers can't be had.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.infra import arm, terraform
from tests.infra.terraform import Block

_FOLDER = Path(__file__).parent / "facts"
PROVIDERS: dict[str, Any] = {
    name: json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("azurerm", "azapi")
}
META = {"count", "for_each", "depends_on", "lifecycle", "provider"}
SECRETS = ("_key", "_connection_string", "shared_key", "instrumentation_key")
ALWAYS_THERE = {"id", "output"}


def findings(sources: Mapping[str, str]) -> list[str]:
    """Everything that is wrong, each with its file."""
    try:
        blocks = terraform.blocks(sources)
    except ValueError as error:
        return [str(error)]
    there = _there(blocks)
    all_findings = []
    for block in blocks:
        for finding in (
            *_arguments(block),
            *_references(block, there),
            *_body(block),
            *_secrets(block, blocks),
        ):
            all_findings.append(f"{block.path}: {block.name}: {finding}")
    return all_findings + list(_unused(blocks)) + list(_versions(blocks))


def _fact(kind: str, name: str) -> dict[str, Any] | None:
    provider = PROVIDERS.get(name.split("_")[0], {})
    if kind == "provider":
        return {"in": provider["provider"]} if provider else None
    fact: dict[str, Any] | None = provider.get("data" if kind == "data" else "resources", {}).get(
        name
    )
    return fact


def _arguments(block: Block) -> Iterator[str]:
    if block.kind not in ("resource", "data", "provider"):
        return
    fact = _fact(block.kind, block.labels[0])
    if fact is None:
        yield f"no facts about {block.labels[0]}"
        return
    yield from _within(
        fact["in"],
        {name: argument for name, argument in block.body.items() if name not in META},
        "",
    )


def _within(known: Mapping[str, Any], given: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, value in given.items():
        if name == "dynamic":
            for generator in value:
                for made, body in terraform.arguments(generator).items():
                    yield from _nested(known, made, terraform.arguments(body)["content"], path)
        elif name not in known:
            yield f"{path}{name} does not exist"
        elif "block" in known[name] and isinstance(value, list):
            yield from _nested(known, name, value, path)
    dynamic = {
        made for generator in given.get("dynamic", []) for made in terraform.arguments(generator)
    }
    for name, field in known.items():
        if field.get("required") and name not in given and name not in dynamic:
            yield f"{path}{name} is missing"


def _nested(known: Mapping[str, Any], name: str, given: list[Any], path: str) -> Iterator[str]:
    if name not in known or "block" not in known[name]:
        yield f"{path}{name} is no block"
        return
    for nested in given:
        yield from _within(known[name]["block"], terraform.arguments(nested), f"{path}{name}.")


def _there(blocks: list[Block]) -> set[tuple[str, ...]]:
    addresses: set[tuple[str, ...]] = set()
    for block in blocks:
        if block.kind == "resource":
            addresses.add(block.labels)
        elif block.kind == "data":
            addresses.add(("data", *block.labels))
        elif block.kind == "variable":
            addresses.add(("var", *block.labels))
        elif block.kind == "locals":
            addresses |= {("local", name) for name in block.body}
    return addresses


def _references(block: Block, there: set[tuple[str, ...]]) -> Iterator[str]:
    for text in terraform.expressions(block.body):
        for chain in terraform.references(text):
            if chain[0] in ("each", "count"):
                if "for_each" not in block.body and "count" not in block.body:
                    yield f"{'.'.join(chain)} where nothing is repeated"
                continue
            length = 3 if chain[0] == "data" else 2
            if tuple(chain[:length]) not in there:
                yield f"{'.'.join(chain[:length])} is not declared"
            elif chain[0] not in ("var", "local") and len(chain) > length:
                fact = _fact("data" if chain[0] == "data" else "resource", chain[length - 2])
                if fact is not None and chain[length] not in {
                    *fact["out"],
                    *fact["in"],
                    *ALWAYS_THERE,
                }:
                    yield f"{chain[length - 2]} has no attribute {chain[length]}"


def _body(block: Block) -> Iterator[str]:
    if not block.labels or not block.labels[0].startswith("azapi_"):
        return
    typed = str(terraform.value(block.body.get("type", "")))
    yield from arm.type_findings(typed)
    body = terraform.value(block.body.get("body", {}))
    also = terraform.value(block.body.get("sensitive_body", {}))
    merged = {
        **body,
        **also,
        "properties": {**body.get("properties", {}), **also.get("properties", {})},
    }
    elsewhere = frozenset(
        {"parent_id", "resource_id", "name", "location", "tags", "identity"} & block.body.keys()
    )
    yield from arm.body_findings(typed.partition("@")[0], merged, elsewhere=elsewhere)


def _secrets(block: Block, blocks: list[Block]) -> Iterator[str]:
    """No output may show a secret; a variable that is one says so and has no default."""
    sensitive = {
        block.labels[0]
        for block in blocks
        if block.kind == "variable" and block.body.get("sensitive") is True
    }
    if block.kind == "output":
        hidden = _hidden(blocks, sensitive)
        for text in terraform.expressions(block.body.get("value")):
            for chain in terraform.references(text):
                if chain[-1].endswith(SECRETS) or tuple(chain[:2]) in hidden:
                    yield "shows a secret"
    if block.kind == "variable":
        if (
            block.labels[0].endswith(("_secret", "_password", "api_keys"))
            and block.labels[0] not in sensitive
        ):
            yield "is named like a secret and is not sensitive"
        if block.labels[0] in sensitive and "default" in block.body:
            yield "is a secret and has a default"


def _hidden(blocks: list[Block], sensitive: set[str]) -> set[tuple[str, ...]]:
    """The sensitive variables, and the locals that are made of them."""
    made = {
        name: value
        for block in blocks
        if block.kind == "locals"
        for name, value in block.body.items()
    }
    named = {
        name: {
            tuple(chain[:2])
            for text in terraform.expressions(value)
            for chain in terraform.references(text)
        }
        for name, value in made.items()
    }
    hidden: set[tuple[str, ...]] = {("var", name) for name in sensitive}
    while more := {("local", name) for name, chains in named.items() if chains & hidden} - hidden:
        hidden |= more
    return hidden


def _unused(blocks: list[Block]) -> Iterator[str]:
    """Variables and locals that nothing reads; a variable's own validation is no reading."""
    used = set()
    for block in blocks:
        for text in terraform.expressions(block.body):
            chains = {tuple(chain[:2]) for chain in terraform.references(text)}
            used |= chains - ({("var", *block.labels)} if block.kind == "variable" else set())
    for block in blocks:
        declared = [("var", *block.labels)] if block.kind == "variable" else []
        declared += [("local", name) for name in block.body] if block.kind == "locals" else []
        yield from (
            f"{block.path}: {'.'.join(address)} is declared and not used"
            for address in declared
            if address not in used
        )


def _versions(blocks: list[Block]) -> Iterator[str]:
    """The providers that are asked for have to be those that the facts are of,
    or what is checked is another thing.
    """
    for block in blocks:
        if block.kind == "terraform":
            wanted = terraform.arguments(block.body["required_providers"][0])
            for name, facts in PROVIDERS.items():
                minor = ".".join(facts["version"].split(".")[:2])
                version = terraform.value(wanted[name])["version"]
                if version != f"~> {minor}":
                    yield (
                        f"{block.path}: {name} is asked for as {version!r}, and the facts are of "
                        f"{facts['version']}"
                    )
