"""The operators of the query language, over a third truth: UNDEFINED is neither true nor false,
and NOT of it is itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.cosmos_emulator.sql_tree import Expression, Literal, Parameter
from tests.cosmos_emulator.sql_values import UNDEFINED, equal, kind, less

Row = dict[str, Any]
Evaluate = Callable[[Row], Any]


def equals_constant(left: Evaluate, wanted: Any) -> Evaluate:
    """left = a constant."""
    if not isinstance(wanted, str):
        return lambda row: equal(left(row), wanted)

    def evaluate(row: Row) -> Any:  # by far the most frequent clause
        value = left(row)
        if type(value) is str:
            return value == wanted
        return UNDEFINED if value is UNDEFINED else False

    return evaluate


def membership(
    operands: list[Evaluate], options: tuple[Expression, ...], constant: Callable[[Expression], Any]
) -> Evaluate:
    """The first operand IN the others; a set of strings when all of them are constant strings."""
    left, *rest = operands
    if all(isinstance(option, Literal | Parameter) for option in options):
        values = [constant(option) for option in options]
        if all(isinstance(value, str) for value in values):
            wanted = frozenset(values)
            return lambda row: _in_strings(left(row), wanted)

    def evaluate(row: Row) -> Any:
        value = left(row)
        return (
            UNDEFINED
            if value is UNDEFINED
            else any(equal(value, option(row)) is True for option in rest)
        )

    return evaluate


def _in_strings(value: Any, wanted: frozenset[str]) -> Any:
    if isinstance(value, str):
        return value in wanted
    return UNDEFINED if value is UNDEFINED else False


def _and(left: Evaluate, right: Evaluate) -> Evaluate:
    def evaluate(row: Row) -> Any:
        first = left(row)
        if first is False:
            return False
        second = right(row)
        if second is False:
            return False
        return True if first is True and second is True else UNDEFINED

    return evaluate


def _or(left: Evaluate, right: Evaluate) -> Evaluate:
    def evaluate(row: Row) -> Any:
        first = left(row)
        if first is True:
            return True
        second = right(row)
        if second is True:
            return True
        return False if first is False and second is False else UNDEFINED

    return evaluate


def _arithmetic(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def evaluate(left: Any, right: Any) -> Any:
        if kind(left) != "number" or kind(right) != "number":
            return UNDEFINED
        try:
            return function(left, right)
        except ZeroDivisionError:
            return UNDEFINED

    return evaluate


def _not(value: Any) -> Any:
    return not value if isinstance(value, bool) else UNDEFINED


def _between(value: Any, low: Any, high: Any) -> Any:
    below, above = less(value, low), less(high, value)
    return UNDEFINED if below is UNDEFINED or above is UNDEFINED else not below and not above


OPERATORS: dict[str, Callable[..., Any]] = {
    "=": equal,
    "!=": lambda left, right: _not(equal(left, right)),
    "<": less,
    ">": lambda left, right: less(right, left),
    "<=": lambda left, right: _not(less(right, left)),
    ">=": lambda left, right: _not(less(left, right)),
    "BETWEEN": _between,
    "NOT": _not,
    "NEGATE": lambda value: -value if kind(value) == "number" else UNDEFINED,
    "||": lambda left, right: (
        left + right if isinstance(left, str) and isinstance(right, str) else UNDEFINED
    ),
    "??": lambda left, right: right if left is UNDEFINED else left,
    "?": lambda condition, yes, no: yes if condition is True else no,
    "+": _arithmetic(lambda left, right: left + right),
    "-": _arithmetic(lambda left, right: left - right),
    "*": _arithmetic(lambda left, right: left * right),
    "/": _arithmetic(lambda left, right: left / right),
    "%": _arithmetic(lambda left, right: left % right),
}
LAZY: dict[str, Callable[[Evaluate, Evaluate], Evaluate]] = {"AND": _and, "OR": _or}
"""Operators that look at their second operand only when they must."""
