"""What callers of the API rely on, and which of it a change takes away:
`python -m deployment.api_changes`.

`api_baseline.json` is the surface of the last release, or of the last breaking change that was
decided: `--record` writes it again. Calls, fields, types, values and limits are compared.
Conditions between fields (`if`, `not`) are not: tests of the inputs have those.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deployment.openapi import FILE

BASELINE = Path(__file__).with_name("api_baseline.json")
REFERENCE = "#/components/schemas/"
UPPER = ("maxLength", "maximum", "maxItems", "exclusiveMaximum")
LOWER = ("minLength", "minimum", "minItems", "exclusiveMinimum")
RIGHTS = ("", "read", "write", "admin")
Json = dict[str, Any]
Surface = dict[str, Json]
"""Place → what is there. A place is a call, what it takes or answers, or a field of a schema in
one of these two directions.
"""


def surface(document: Mapping[str, Any]) -> Surface:
    """All that callers can rely on."""
    places: Surface = {}
    schemas = document["components"]["schemas"]
    for path, item in document["paths"].items():
        for method, operation in item.items():
            _add_call(places, f"{method.upper()} {path}", operation)
    for direction in ("takes", "answers"):
        waiting, added = _named(places, direction), set[str]()
        while waiting:
            name = waiting.pop()
            added.add(name)
            _add(places, f"{direction} {name}", schemas[name], direction, required=True)
            waiting = _named(places, direction) - added
    return dict(sorted(places.items()))


def breaking_changes(old: Surface, new: Surface) -> list[str]:
    """What a caller who kept to the old surface can no longer rely on, a line each."""
    return sorted({*_removed(old, new), *_changed(old, new), *_demanded(old, new)})


def _add_call(places: Surface, call: str, operation: Mapping[str, Any]) -> None:
    places[call] = {"direction": "call", "right": operation.get("x-required-right", "")}
    for parameter in operation.get("parameters", ()):
        place = f"{call} {parameter['in']} {parameter['name']}"
        _add(places, place, parameter["schema"], "takes", required=parameter.get("required", False))
    body = operation.get("requestBody", {})
    for media, content in body.get("content", {}).items():
        _add(
            places,
            f"{call} body {media}",
            content["schema"],
            "takes",
            required=body.get("required", False),
        )
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            places[f"{call} {status}"] = {"direction": "answers"}
            for media, content in response.get("content", {}).items():
                _add(
                    places, f"{call} {status} {media}", content["schema"], "answers", required=True
                )


def _add(
    places: Surface, place: str, schema: Mapping[str, Any], direction: str, *, required: bool
) -> None:
    """Add a schema and all within it; what is named elsewhere is a type here."""
    branches = list(_branches(schema))
    types = sorted({kind for branch in branches for kind in _types(branch)})
    entry: Json = {"direction": direction, "types": types, "required": required}
    values = [list(_values(branch)) for branch in branches if _types(branch) != ["null"]]
    if values and all(values):
        entry["values"] = sorted(
            {json.dumps(value) for some in values for value in some} - {"null"}
        )
    limits = {
        name: branch[name]
        for branch in branches
        for name in (*UPPER, *LOWER, "pattern", "format")
        if name in branch
    }
    places[place] = {**entry, **({"limits": limits} if limits else {})}
    for branch in branches:
        needed = branch.get("required", ())
        for name, field in branch.get("properties", {}).items():
            _add(places, f"{place}.{name}", field, direction, required=name in needed)
        for name, inner in (
            ("[]", branch.get("items")),
            (".*", branch.get("additionalProperties")),
        ):
            if isinstance(inner, Mapping):
                _add(places, f"{place}{name}", inner, direction, required=False)


def _branches(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices and "properties" not in schema:
        for choice in choices:
            yield from _branches(
                {
                    **{
                        name: value
                        for name, value in schema.items()
                        if name not in ("anyOf", "oneOf")
                    },
                    **choice,
                }
            )
    else:
        yield schema


def _types(schema: Mapping[str, Any]) -> list[str]:
    if "$ref" in schema:
        return [str(schema["$ref"])]
    kind = schema.get("type", "any")
    return [kind] if isinstance(kind, str) else list(kind)


def _values(schema: Mapping[str, Any]) -> list[Any]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def _named(places: Surface, direction: str) -> set[str]:
    types = {
        kind
        for place in places.values()
        if place["direction"] == direction
        for kind in place.get("types", ())
    }
    return {kind.removeprefix(REFERENCE) for kind in types if kind.startswith(REFERENCE)}


def _removed(old: Surface, new: Surface) -> Iterator[str]:
    """The outermost places that are gone."""
    for place in old.keys() - new.keys():
        if not any(place != other and place.startswith(other) for other in old.keys() - new.keys()):
            yield f"removed: {place}"


def _changed(old: Surface, new: Surface) -> Iterator[str]:
    for place in old.keys() & new.keys():
        before, after = old[place], new[place]
        if before["direction"] == "call":
            if RIGHTS.index(after["right"]) > RIGHTS.index(before["right"]):
                yield f"needs the right {after['right']!r}: {place}"
        elif before["direction"] == "takes":
            yield from _narrowed(place, before, after)
        elif "types" in before:
            yield from _widened(place, before, after)


def _narrowed(place: str, before: Json, after: Json) -> Iterator[str]:
    """What was taken and is no longer."""
    if lost := _beyond(before["types"], after["types"]):
        yield f"no longer takes {', '.join(lost)}: {place}"
    if "values" in after:
        lost = (
            sorted(set(before["values"]) - set(after["values"]))
            if "values" in before
            else ["other values"]
        )
        if lost:
            yield f"no longer takes {', '.join(lost)}: {place}"
    if after["required"] and not before["required"]:
        yield f"must now be given: {place}"
    was, now = before.get("limits", {}), after.get("limits", {})
    for name in now:
        if name in UPPER and now[name] < was.get(name, float("inf")):
            yield f"{name} is lower: {place}"
        elif name in LOWER and now[name] > was.get(name, float("-inf")):
            yield f"{name} is higher: {place}"
        elif name in ("pattern", "format") and now[name] != was.get(name):
            yield f"{name} is another: {place}"


def _widened(place: str, before: Json, after: Json) -> Iterator[str]:
    """What an answer may now hold, or lack, and could not."""
    if more := _beyond(after["types"], before["types"]):
        yield f"may now be {', '.join(more)}: {place}"
    if before["required"] and not after["required"]:
        yield f"may now be absent: {place}"


def _demanded(old: Surface, new: Surface) -> Iterator[str]:
    """New fields that a request can't do without, in what was there before."""
    for place in new.keys() - old.keys():
        within, call = place.rpartition(".")[0], place.rsplit(" ", 2)[0]
        if (
            new[place]["direction"] == "takes"
            and new[place]["required"]
            and (within in old or call in old)
        ):
            yield f"must now be given: {place}"


def _beyond(types: list[str], allowed: list[str]) -> list[str]:
    """The types that others do not include."""
    return [
        kind
        for kind in types
        if "any" not in allowed
        and kind not in allowed
        and not (kind == "integer" and "number" in allowed)
    ]


def main() -> int:
    """Print what breaks: 1 when something does."""
    parser = argparse.ArgumentParser(
        description="Compare docs/openapi.json with the surface of the last release."
    )
    parser.add_argument(
        "--record", action="store_true", help="take the surface of now as the one to compare with"
    )
    current = surface(json.loads(FILE.read_bytes()))
    if parser.parse_args().record:
        lines = ",\n".join(
            f"{json.dumps(place)}: {json.dumps(entry)}" for place, entry in current.items()
        )
        BASELINE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    broken = breaking_changes(json.loads(BASELINE.read_text(encoding="utf-8")), current)
    for line in broken:
        print(line)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
