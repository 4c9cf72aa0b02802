"""From a query's parts back to its text: what a plan sends to each range is a rewritten query."""

from __future__ import annotations

import orjson

from tests.cosmos_emulator.sql_tree import (
    ArrayOf,
    Call,
    Exists,
    Expression,
    Literal,
    ObjectOf,
    Operation,
    Parameter,
    Query,
    Reference,
)
from tests.cosmos_emulator.sql_values import UNDEFINED


def write(expression: Expression) -> str:
    """An expression that parses to the same parts."""
    match expression:
        case Literal(value):
            return "undefined" if value is UNDEFINED else orjson.dumps(value).decode()
        case Parameter(name):
            return name
        case Reference(alias, steps):
            return alias + "".join(
                f"[{write(Literal(step) if isinstance(step, str | int) else step)}]"
                for step in steps
            )
        case Call(name, arguments):
            return f"{name}({_listed(arguments)})"
        case ArrayOf(members):
            return f"[{_listed(members)}]"
        case ObjectOf(named):
            return (
                "{"
                + ", ".join(
                    f"{orjson.dumps(name).decode()}: {write(member)}" for name, member in named
                )
                + "}"
            )
        case Operation():
            return _operation(expression)
        case Exists(query):
            return f"EXISTS(SELECT VALUE 1 FROM {write_from(query)}{write_where(query)})"


def write_from(query: Query) -> str:
    """What comes after FROM."""
    source = f"{query.alias} IN {write(query.source)}" if query.source is not None else query.alias
    return source + "".join(f" JOIN {alias} IN {write(members)}" for alias, members in query.joins)


def write_where(query: Query) -> str:
    """WHERE with its condition, or nothing."""
    return f" WHERE {write(query.where)}" if query.where is not None else ""


def payload(query: Query) -> Expression:
    """What SELECT makes of one row, as one expression."""
    if not query.select:
        return Reference(query.alias)
    if query.value:
        return query.select[0].expression
    return ObjectOf(
        tuple(
            (listed.name or f"${number}", listed.expression)
            for number, listed in enumerate(query.select, 1)
        )
    )


def _listed(expressions: tuple[Expression, ...]) -> str:
    return ", ".join(write(expression) for expression in expressions)


def _operation(operation: Operation) -> str:
    first, *rest = (write(operand) for operand in operation.operands)
    match operation.operator:
        case "NOT":
            return f"(NOT ({first}))"
        case "NEGATE":
            return f"(-({first}))"
        case "IN":
            return f"({first} IN ({', '.join(rest)}))"
        case "BETWEEN":
            return f"({first} BETWEEN {rest[0]} AND {rest[1]})"
        case "?":
            return f"({first} ? {rest[0]} : {rest[1]})"
    return f"({first} {operation.operator} {rest[0]})"
