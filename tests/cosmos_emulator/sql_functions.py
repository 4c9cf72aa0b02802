"""The functions of the query language: plain values in, a value or UNDEFINED out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tests.cosmos_emulator.fulltext import contains, words
from tests.cosmos_emulator.sql_values import UNDEFINED, equal, kind, plain, same

Function = Callable[..., Any]


def _strings(function: Callable[..., Any]) -> Function:
    """UNDEFINED unless all arguments are strings."""
    return lambda *values: (
        function(*values) if all(isinstance(value, str) for value in values) else UNDEFINED
    )


def _numbers(function: Callable[..., Any]) -> Function:
    return lambda *values: (
        function(*values) if all(kind(value) == "number" for value in values) else UNDEFINED
    )


def _is(*kinds: str) -> Function:
    return lambda value: kind(value) in kinds


def _folding(function: Callable[[str, str], bool]) -> Function:
    """A comparison of two strings with an optional third argument: ignore case."""

    def compare(text: Any, part: Any, ignore_case: Any = False) -> Any:
        if not isinstance(text, str) or not isinstance(part, str):
            return UNDEFINED
        return (
            function(text.casefold(), part.casefold())
            if ignore_case is True
            else function(text, part)
        )

    return compare


def _array_contains(array: Any, value: Any, partial: Any = False) -> Any:
    if type(value) is str and type(array) is list:  # by far the most frequent
        return value in array
    if kind(array) != "array":
        return UNDEFINED
    if partial is True and isinstance(value, dict):
        return any(
            isinstance(member, dict)
            and all(name in member and same(member[name], wanted) for name, wanted in value.items())
            for member in array
        )
    return value is not UNDEFINED and any(same(member, value) for member in plain(array))


def _array_contains_any(array: Any, *values: Any) -> Any:
    return (
        UNDEFINED
        if kind(array) != "array"
        else any(_array_contains(array, value) for value in values)
    )


def _array_contains_all(array: Any, *values: Any) -> Any:
    return (
        UNDEFINED
        if kind(array) != "array"
        else all(_array_contains(array, value) for value in values)
    )


def _array_length(array: Any) -> Any:
    return len(array) if kind(array) == "array" else UNDEFINED


def _substring(text: Any, start: Any, length: Any) -> Any:
    if not isinstance(text, str) or type(start) is not int or type(length) is not int:
        return UNDEFINED
    return text[max(start, 0) : max(start, 0) + max(length, 0)]


def _full_text(text: Any, terms: tuple[Any, ...], decide: Callable[..., bool]) -> Any:
    if not isinstance(text, str) or not all(isinstance(term, str) for term in terms):
        return UNDEFINED
    return decide(contains(text, words(term)) for term in terms)


FUNCTIONS: dict[str, Function] = {
    "IS_DEFINED": lambda value: value is not UNDEFINED,
    "IS_NULL": _is("null"),
    "IS_STRING": _is("string"),
    "IS_NUMBER": _is("number"),
    "IS_BOOL": _is("boolean"),
    "IS_ARRAY": _is("array"),
    "IS_OBJECT": _is("object"),
    "IS_PRIMITIVE": _is("null", "boolean", "number", "string"),
    "ARRAY_CONTAINS": _array_contains,
    "ARRAY_CONTAINS_ANY": _array_contains_any,
    "ARRAY_CONTAINS_ALL": _array_contains_all,
    "ARRAY_LENGTH": _array_length,
    "STARTSWITH": _folding(str.startswith),
    "ENDSWITH": _folding(str.endswith),
    "CONTAINS": _folding(str.__contains__),
    "STRINGEQUALS": _folding(lambda left, right: bool(equal(left, right))),
    "LOWER": _strings(str.lower),
    "UPPER": _strings(str.upper),
    "TRIM": _strings(str.strip),
    "LENGTH": _strings(len),
    "CONCAT": _strings(lambda *parts: "".join(parts)),
    "SUBSTRING": _substring,
    "ABS": _numbers(abs),
    "FLOOR": _numbers(math.floor),
    "CEILING": _numbers(math.ceil),
    "FULLTEXTCONTAINS": lambda text, term: _full_text(text, (term,), all),
    "FULLTEXTCONTAINSALL": lambda text, *terms: _full_text(text, terms, all),
    "FULLTEXTCONTAINSANY": lambda text, *terms: _full_text(text, terms, any),
}

AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG")
