"""Write docs/access.md, the table of who may call what: `python -m deployment.access_table`.

It is made of what each function declares to the gate; a test calls each of them as each of
these callers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memory_core.functions.blueprints import BLUEPRINTS
from memory_core.functions.callers import Right
from memory_core.functions.registered import Door, HttpFunction, http_functions

FILE = Path(__file__).parents[1] / "docs" / "access.md"
YES = "yes"
OWN_APP = "its own app"
Answer = Callable[[Door], str]


def _with_right(right: Right) -> Answer:
    return lambda door: YES if door.right is None or right in ("admin", door.right) else "403"


def _bound(door: Door) -> str:
    """A caller with the rights to read and write that may name one user only,
    and names that user.
    """
    if door.right is None:
        return YES
    return YES if door.scoped and (door.right != "admin" or door.own) else "403"


def _another_app(door: Door) -> str:
    """An admin of another app, who names this one where a call takes `app_id`;
    other calls are about the caller's own app.
    """
    if door.right is None:
        return YES
    return "403" if door.scoped else OWN_APP


COLUMNS: dict[str, Answer] = {
    "no key; an unknown, expired or withdrawn one; a bad token": lambda door: (
        YES if door.right is None else "401"
    ),
    "read": _with_right("read"),
    "write": _with_right("write"),
    "admin": _with_right("admin"),
    "bound to the user": _bound,
    "bound to another user": lambda door: YES if door.right is None else "403",
    "admin of another app": _another_app,
}
"""Caller → what a call answers."""
_INTRODUCTION = """# Who may call what

Made of what each call declares, by `python -m deployment.access_table`; a test sends every call as every caller here and compares the
answers. `yes`: the caller passes the gate. Otherwise the status of the refusal.

- **read**, **write**, **admin**: an API key, or an [application's token of Entra ID](entra.md), with this right alone. `admin` includes the
  others. **write** neither searches nor lists, but the answer to a change has what was changed: a memory that is edited, restored or copied,
  the messages that are taken from a session.
- **bound**: a key that is bound to a user, or a person's token, each with `read` and `write`; in the first column the calls name that
  user, in the second another one.
- **admin of another app**: the calls name this app in `app_id`. A call that takes none is about the caller's own app, whatever is asked.

"""  # noqa: E501


def written() -> str:
    """The page as it is kept."""
    assert BLUEPRINTS, "their import registers the calls"
    rows = [["call", *COLUMNS], ["---"] * (len(COLUMNS) + 1)]
    rows += [
        [f"`{call(function)}`", *(answer(function.door) for answer in COLUMNS.values())]
        for function in in_order()
    ]
    return _INTRODUCTION + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def in_order() -> list[HttpFunction]:
    """All calls by path, then by method."""
    return sorted(http_functions(), key=lambda function: (function.path, function.method))


def call(function: HttpFunction) -> str:
    """A call as callers write it."""
    return f"{function.method} {function.path}"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
