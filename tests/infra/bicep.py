"""A Bicep file as a test sees it: what it declares, and where each name in it comes from. Parsed by
tree-sitter, and not evaluated.

Note: a lambda (`filter(all, one => one.x == 1)`) comes out of the grammar with its
body torn apart, so that only the names in it can be trusted, not their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import tree_sitter_bicep
from tree_sitter import Language, Node, Parser

from tests.infra.arm import OPAQUE, Choice

_LANGUAGE = Language(tree_sitter_bicep.language())


@dataclass(slots=True)
class Declared:
    """One declaration: its node as a whole, its value, and the decorators before it by name."""

    name: str
    node: Node
    value: Node | None
    decorators: dict[str, Node] = field(default_factory=dict)
    type: str = ""
    """A parameter's or output's type; a resource's `type@version`; a module's path."""
    existing: bool = False

    @property
    def secure(self) -> bool:
        """Whether it is marked as a secret."""
        return "secure" in self.decorators


@dataclass(slots=True)
class File:
    """What one file declares, by kind and name; `errors`: lines that are not Bicep."""

    params: dict[str, Declared] = field(default_factory=dict)
    variables: dict[str, Declared] = field(default_factory=dict)
    resources: dict[str, Declared] = field(default_factory=dict)
    modules: dict[str, Declared] = field(default_factory=dict)
    outputs: dict[str, Declared] = field(default_factory=dict)
    errors: list[int] = field(default_factory=list)

    @property
    def declared(self) -> dict[str, Declared]:
        """Everything that an expression may name."""
        return {**self.params, **self.variables, **self.resources, **self.modules}


@cache
def parse(text: str) -> File:
    """The file's declarations."""
    root = Parser(_LANGUAGE).parse(text.encode()).root_node
    file, waiting = File(), {}
    file.errors.extend(
        node.start_point.row + 1 for node in every(root) if node.type == "ERROR" or node.is_missing
    )
    for node in root.named_children:
        if node.type == "decorators":
            waiting = {
                said(child.named_children[0].named_children[0]): child.named_children[0]
                for child in node.named_children
            }
            continue
        kind = _KINDS.get(node.type)
        if kind is not None:
            declared = _declared(node, waiting)
            getattr(file, kind)[declared.name] = declared
        if node.type != "comment":
            waiting = {}
    return file


_KINDS = {
    "parameter_declaration": "params",
    "variable_declaration": "variables",
    "resource_declaration": "resources",
    "module_declaration": "modules",
    "output_declaration": "outputs",
}


def _declared(node: Node, decorators: dict[str, Node]) -> Declared:
    name, *rest = node.named_children
    kind = ""
    if rest and rest[0].type in ("type", "string") and node.type != "variable_declaration":
        kind = literal(rest[0]) if rest[0].type == "string" else said(rest[0])
        rest = rest[1:]
    existing = any(child.type == "existing" for child in node.children)
    return Declared(said(name), node, rest[-1] if rest else None, decorators, str(kind), existing)


def said(node: Node) -> str:
    """The node's own text."""
    return (node.text or b"").decode()


def every(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield node
    for child in node.children:
        yield from every(child)


def literal(node: Node) -> str | int | bool | Node | None:
    """The value of a string, number or boolean that is written out; else the node."""
    if node.type == "string" and not any(child.type == "interpolation" for child in node.children):
        text = "".join(said(child) for child in node.named_children)
        return text.replace("\\'", "'")
    if node.type == "number":
        return int(said(node))
    if node.type == "boolean":
        return said(node) == "true"
    return None if node.type == "null" else node


def body(node: Node | None) -> Node | None:
    """The object of a declaration, inside its loop and its condition."""
    while node is not None and node.type in ("for_statement", "if_statement"):
        node = node.named_children[-1]
    return node


def properties(node: Node | None) -> dict[str, Node]:
    """An object's properties by name; those with a computed name are left out."""
    properties_by_name = {}
    if node is not None and node.type == "object":
        for child in node.named_children:
            if child.type == "object_property":
                key, value = child.named_children[0], child.named_children[-1]
                name = literal(key) if key.type == "string" else said(key)
                if isinstance(name, str):
                    properties_by_name[name] = value
    return properties_by_name


def value(node: Node | None) -> Any:
    """An expression as plain data: see `arm`. Of a loop, what its body is."""
    node = body(node)
    if node is None:
        return OPAQUE
    if node.type == "object":
        return {name: _listed(value) for name, value in properties(node).items()}
    if node.type == "array":
        return [value(node) for node in node.named_children]
    if node.type == "ternary_expression":
        return Choice(tuple(value(node) for node in node.named_children[1:]))
    if node.type == "call_expression" and said(node.named_children[0]) in ("union", "concat"):
        return Choice(tuple(value(node) for node in node.named_children[1].named_children))
    plain = literal(node)
    return OPAQUE if isinstance(plain, Node) else plain


def _listed(node: Node) -> Any:
    return [value(node)] if node.type == "for_statement" else value(node)


def names(node: Node) -> Iterator[Node]:
    """The identifiers in an expression that stand for something: no property's name, no called
    function's, no declared one's.
    """
    if node.type == "object_property":
        key, *rest = node.named_children
        for child in [*([key] if key.type == "string" else []), *rest]:
            yield from names(child)
        return
    if node.type == "identifier":
        yield node
        return
    skipped = 1 if node.type in ("call_expression",) else 0
    for child in node.named_children[skipped:]:
        yield from names(child)


def calls(node: Node) -> Iterator[str]:
    """The functions that are called in an expression."""
    for inner in every(node):
        if inner.type == "call_expression":
            yield said(inner.named_children[0])


def local(node: Node) -> list[str]:
    """Names that loops and lambdas inside the node declare for themselves, each as often as it
    is declared.
    """
    names_bound = []
    for inner in every(node):
        if inner.type == "for_statement":
            first = inner.named_children[0]
            inside = first.named_children if first.type == "for_loop_parameters" else [first]
            names_bound += [said(each) for each in inside]
        elif inner.type == "lambda_expression":
            names_bound.append(said(inner.named_children[0]))
    return names_bound


def members(node: Node) -> Iterator[list[str]]:
    """The chains `a.b.c` in an expression, each as its names; indexes in between are
    skipped.
    """
    for inner in every(node):
        if inner.type == "member_expression" and (
            inner.parent is None
            or inner.parent.type not in ("member_expression", "subscript_expression")
        ):
            chain = list(_chain(inner))
            if chain:
                yield chain


def _chain(node: Node) -> Iterator[str]:
    if node.type == "identifier":
        yield said(node)
    elif node.type in ("member_expression", "subscript_expression"):
        yield from _chain(node.named_children[0])
        if node.type == "member_expression":
            yield said(node.named_children[-1])
