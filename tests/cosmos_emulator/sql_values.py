"""Values as queries see them: JSON, and UNDEFINED for what is not there, which is not null.

Note: a comparison of two types is UNDEFINED, not false, so neither it nor its negation selects a
document.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Undefined:
    """What a missing property is worth; one instance."""

    def __repr__(self) -> str:
        return "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED = Undefined()
KINDS = ("undefined", "null", "boolean", "number", "string", "array", "object")
"""In the order in which ORDER BY puts them."""
_KIND_OF = {
    Undefined: 0,
    type(None): 1,
    bool: 2,
    int: 3,
    float: 3,
    str: 4,
    list: 5,
    np.ndarray: 5,
    dict: 6,
}


def kind(value: Any) -> str:
    """The type of a value."""
    return KINDS[_KIND_OF[type(value)]]


def plain(value: Any) -> Any:
    """The value with vectors as lists."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def equal(left: Any, right: Any) -> Any:
    """True or false; UNDEFINED when either side is."""
    if left is UNDEFINED or right is UNDEFINED:
        return UNDEFINED
    return same(left, right)


def same(left: Any, right: Any) -> bool:
    """Deep equality where 1 is 1.0 but not true."""
    left, right = plain(left), plain(right)
    if _KIND_OF[type(left)] != _KIND_OF[type(right)]:
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(
            same(value, right[name]) for name, value in left.items()
        )
    return bool(left == right)


def less(left: Any, right: Any) -> Any:
    """left < right for two booleans, numbers or strings, UNDEFINED for anything else."""
    rank = _KIND_OF[type(left)]
    if rank != _KIND_OF[type(right)] or not 2 <= rank <= 4:
        return UNDEFINED
    return left < right


def sort_key(value: Any) -> tuple[Any, ...]:
    """A key that orders values of any types; arrays and objects stand last, in no
    particular order.
    """
    rank = _KIND_OF[type(value)]
    return (rank, value) if 2 <= rank <= 4 else (rank,)
