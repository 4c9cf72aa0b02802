"""The parts of a query, as the parser leaves them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; UNDEFINED included."""

    value: Any


@dataclass(frozen=True, slots=True)
class Parameter:
    """@name."""

    name: str


@dataclass(frozen=True, slots=True)
class Reference:
    """An alias and the steps from it: property names, positions, or expressions in brackets."""

    alias: str
    steps: tuple[str | int | Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A function; its name in upper case."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator with its one, two or three operands; IN and BETWEEN have theirs in a row."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """[a, b]."""

    members: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """{"name": a}."""

    members: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """EXISTS(subquery)."""

    query: Query


Expression = Literal | Parameter | Reference | Call | Operation | ArrayOf | ObjectOf | Exists


@dataclass(frozen=True, slots=True)
class Listed:
    """An expression of SELECT with the name it has in the result, or one of ORDER BY with
    its direction.
    """

    expression: Expression
    name: str = ""
    descending: bool = False


@dataclass(slots=True)
class Query:
    """SELECT … FROM … WHERE … ORDER BY … OFFSET … LIMIT ….

    select: empty for `*`. source: the list that the alias runs over (None: the container).
    rank: ORDER BY RANK.
    """

    alias: str = "c"
    source: Expression | None = None
    distinct: bool = False
    top: Expression | None = None
    value: bool = False
    select: list[Listed] = field(default_factory=list)
    joins: list[tuple[str, Expression]] = field(default_factory=list)
    where: Expression | None = None
    order: list[Listed] = field(default_factory=list)
    rank: Expression | None = None
    offset: Expression | None = None
    limit: Expression | None = None
