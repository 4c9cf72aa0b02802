"""Partial updates: the operations of PATCH and their condition."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cosmos_emulator.items import SYSTEM
from tests.cosmos_emulator.policies import Policies
from tests.cosmos_emulator.refused import Refused, bad_request
from tests.cosmos_emulator.sql_eval import Compiler
from tests.cosmos_emulator.sql_parser import parse

MAX_OPERATIONS = 10


def patched(stored: dict[str, Any], request: dict[str, Any], policies: Policies) -> dict[str, Any]:
    """A copy of the stored body with all operations done; 412 when the condition does not
    hold for it.
    """
    operations = request.get("operations")
    if not isinstance(operations, list) or not 1 <= len(operations) <= MAX_OPERATIONS:
        raise bad_request(f"A patch has 1 to {MAX_OPERATIONS} operations")
    if condition := request.get("condition"):
        _check(condition, stored, policies)
    body = copy.deepcopy(stored)
    for operation in operations:
        _do(body, operation, policies)
    return body


def _check(condition: str, stored: dict[str, Any], policies: Policies) -> None:
    query = parse(f"SELECT * {condition}")
    holds = query.where is None or Compiler(query, {}, policies).predicate(query.where)(
        {query.alias: stored}
    )
    if not holds:
        raise Refused(412, "The condition of the patch does not hold")


def _do(body: dict[str, Any], operation: dict[str, Any], policies: Policies) -> None:
    kind, path = operation.get("op"), operation.get("path")
    action = ACTIONS.get(str(kind))
    if action is None:
        raise bad_request(f"Unknown patch operation {kind!r}")
    owner, step = _find(body, path, policies)
    if kind == "move":
        source, source_step = _find(body, operation.get("from"), policies)
        value = _remove(source, source_step, None)
        owner, step = _find(body, path, policies)
    else:
        value = operation.get("value")
    action(owner, step, value)


def _find(body: dict[str, Any], path: Any, policies: Policies) -> tuple[Any, Any]:
    if not isinstance(path, str) or not path.startswith("/") or path == "/":
        raise bad_request(f"{path!r} is not the path of a property")
    steps = tuple(path[1:].split("/"))
    if steps[0] in (*SYSTEM, "id") or any(
        steps == fixed[: len(steps)] for fixed in policies.key.paths
    ):
        raise bad_request(
            f"{path} can not be patched: it is a system property, the id or part of the "
            "partition key"
        )
    owner: Any = body
    for at, step in enumerate(steps[:-1]):
        try:
            owner = owner[int(step)] if isinstance(owner, list) else owner[step]
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise bad_request(f"The parent of {path} does not exist") from error
        if isinstance(owner, np.ndarray):
            raise bad_request(
                f"/{'/'.join(steps[: at + 1])} is a vector: the emulator patches it as a whole only"
            )
    if not isinstance(owner, dict | list):
        raise bad_request(f"The parent of {path} is neither an object nor an array")
    return owner, steps[-1]


def _position(owner: list[Any], step: str, most: int) -> int:
    at = len(owner) if step == "-" else int(step) if step.isdigit() else -1
    if not 0 <= at <= most:
        raise bad_request(f"{step} is not a position of the array")
    return at


def _set(owner: Any, step: str, value: Any) -> None:
    if isinstance(owner, dict):
        owner[step] = value
    elif step == "-":
        owner.append(value)
    else:
        owner[_position(owner, step, len(owner) - 1)] = value


def _add(owner: Any, step: str, value: Any) -> None:
    if isinstance(owner, dict):
        owner[step] = value
    else:
        owner.insert(_position(owner, step, len(owner)), value)


def _replace(owner: Any, step: str, value: Any) -> None:
    if isinstance(owner, dict) and step not in owner:
        raise bad_request(f"There is no {step} to replace")
    _set(owner, step, value)


def _remove(owner: Any, step: str, _: Any) -> Any:
    if isinstance(owner, list):
        return owner.pop(_position(owner, step, len(owner) - 1))
    if step not in owner:
        raise bad_request(f"There is no {step} to remove")
    return owner.pop(step)


def _increase(owner: Any, step: str, by: Any) -> None:
    present = (
        owner.get(step, 0)
        if isinstance(owner, dict)
        else owner[_position(owner, step, len(owner) - 1)]
    )
    if type(present) not in (int, float) or type(by) not in (int, float):
        raise bad_request(f"{step} can not be increased: it is not a number")
    _set(owner, step, present + by)


ACTIONS: dict[str, Callable[[Any, str, Any], Any]] = {
    "add": _add, "set": _set, "replace": _replace, "remove": _remove, "incr": _increase,
    "move": _set,
}  # fmt: skip
