"""Names of keys in Redis, and how long each lives.

Every part is percent-encoded, so that no id can reach into another owner's names (`a:b` + `c` is not `a` + `b:c`). The braces
are a Redis Cluster hash tag: all keys of one owner live in one slot, which the scripts over several keys need.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

from memory_core.domain.scope import Owner

SESSION_TTL_S = 24 * 3600
"""From the last write; reading does not prolong it."""
VECTOR_TTL_S = 24 * 3600
ERASED_TTL_S = 8 * 24 * 3600
"""Longer than any message in a queue lives, and so any worker that it wakes."""
SESSION_CAP = 500
CHECKED = "mc:checked"
"""What readiness writes, to see that a write is taken."""
CHECKED_TTL_S = 60
TOUCH_TTL_S = 7 * 24 * 3600
"""Accesses that no worker came to write down for so long are forgotten."""


@dataclass(frozen=True, slots=True)
class SessionKeys:
    """The two keys of one session's working set: its entries (a hash) and their order (a sorted set by sequence)."""

    entries: str
    order: str


def session_keys(owner: Owner, session_id: str) -> SessionKeys:
    """`mc:{app:user}:session:<id>:entries` and `…:order`."""
    base = f"mc:{{{_part(owner.app_id)}:{_part(owner.user_id)}}}:session:{_part(session_id)}"
    return SessionKeys(f"{base}:entries", f"{base}:order")


def owner_pattern(owner: Owner) -> str:
    """The pattern of all keys of an owner; nothing in it but the star is special, since encoded parts hold no other letters."""
    return f"mc:{{{_part(owner.app_id)}:{_part(owner.user_id)}}}:*"


def erased_key(owner: Owner) -> str:
    """`mc:{app:user}:erased`: the epochs of which nothing may be written back any more."""
    return f"mc:{{{_part(owner.app_id)}:{_part(owner.user_id)}}}:erased"


@dataclass(frozen=True, slots=True)
class TouchKeys:
    """The accesses of an owner that wait (a hash by memory id), those that are set apart, and the set of all owners who have some."""

    waiting: str
    apart: str


GATHERED = "mc:touched"
"""The owners with accesses that wait."""


def touch_keys(owner: Owner) -> TouchKeys:
    """`mc:{app:user}:touches` and `…:touches:apart`."""
    base = f"mc:{{{_part(owner.app_id)}:{_part(owner.user_id)}}}:touches"
    return TouchKeys(base, f"{base}:apart")


def owner_name(owner: Owner) -> str:
    """An owner as a member of the set of owners."""
    return f"{_part(owner.app_id)}:{_part(owner.user_id)}"


def owner_of(name: str) -> Owner:
    """The owner of such a name."""
    app_id, _, user_id = name.partition(":")
    return Owner(unquote(app_id), unquote(user_id))


def vector_key(key: str) -> str:
    """`mc:vector:<key>`: not an owner's, since `key` is already a hash of the model and the text."""
    return f"mc:vector:{_part(key)}"


def counter_key(app_id: str, name: str) -> str:
    """`mc:{app}:count:<name>`."""
    return f"mc:{{{_part(app_id)}}}:count:{_part(name)}"


def _part(value: str) -> str:
    return quote(value, safe="")
