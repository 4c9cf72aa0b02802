"""Terraform's files as a test sees them: blocks, their arguments, and the names in their
expressions. Parsed by python-hcl2.

Note: an expression comes as its text within `${…}`, a plain text within quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import hcl2

from tests.infra.arm import OPAQUE

FOLDER = "infra/terraform/"
_REFERENCE = re.compile(
    r"(?<![\w.\"-])(var|local|data|each|count|azurerm_\w+|azapi_\w+)((?:\.\w+|\[[^\[\]]*\])+)"
)
_OWN = ("__is_block__", "__comments__", "__inline_comments__", "__start_line__", "__end_line__")


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level block: `resource`, `data`, `variable`, `output`, `locals` …, its labels,
    and what is in it.
    """

    path: str
    kind: str
    labels: tuple[str, ...]
    body: Mapping[str, Any]

    @property
    def name(self) -> str:
        """How its file's readers call it."""
        return ".".join(self.labels) or self.kind


def blocks(sources: Mapping[str, str]) -> list[Block]:
    """All blocks of all files. Raises ValueError for a file that is not HCL, with its path."""
    blocks_of_all = []
    for path, text in sources.items():
        if path.startswith(FOLDER) and path.endswith(".tf"):
            blocks_of_all += list(_blocks(path, text))
    return blocks_of_all


@cache
def _blocks(path: str, text: str) -> tuple[Block, ...]:
    try:
        parsed = hcl2.loads(text)
    except Exception as error:  # lark has many kinds, with nothing in common but that
        raise ValueError(f"{path}: not HCL: {str(error)[:200]}") from error
    blocks_of_file: list[Block] = []
    for kind, several in parsed.items():
        if kind not in _OWN:
            for body_of_block in several:
                labels, body = _unwrapped(body_of_block)
                blocks_of_file.append(Block(path, kind, labels, body))
    return tuple(blocks_of_file)


def _unwrapped(mapping: Mapping[str, Any]) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    labels: tuple[str, ...] = ()
    while "__is_block__" not in mapping:
        ((name, mapping),) = ((key, value) for key, value in mapping.items() if key not in _OWN)
        labels += (plain(name),)
    return labels, arguments(mapping)


def arguments(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a block was given."""
    return {plain(name): value for name, value in body.items() if name not in _OWN}


def plain(text: str) -> str:
    """A name without its quotes."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def value(given: Any) -> Any:
    """An expression as plain data: see `arm`."""
    if isinstance(given, Mapping):
        return {
            plain(name): value(argument) for name, argument in given.items() if name not in _OWN
        }
    if isinstance(given, list):
        return [value(element) for element in given]
    if isinstance(given, str):
        return OPAQUE if "${" in given else plain(given)
    return given


def expressions(given: Any) -> Iterator[str]:
    """Every text in a value that may name something."""
    if isinstance(given, Mapping):
        for name, argument in given.items():
            if name not in _OWN:
                yield name
                yield from expressions(argument)
    elif isinstance(given, list):
        for element in given:
            yield from expressions(element)
    elif isinstance(given, str):
        yield given


def references(text: str) -> Iterator[list[str]]:
    """The chains `var.x`, `azurerm_y.z[0].id` in an expression, as names; indexes are left out."""
    if "${" not in text and text[:1] == '"':
        return
    for root, rest in _REFERENCE.findall(text):
        yield [root, *re.findall(r"\.(\w+)", re.sub(r"\[[^\[\]]*\]", "", rest))]
    for inside in re.findall(r"\[([^\[\]]*)\]", text):
        for root, rest in _REFERENCE.findall(inside):
            yield [root, *re.findall(r"\.(\w+)", rest)]
