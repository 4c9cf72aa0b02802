"""A stored document, and what the service refuses to store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from tests.cosmos_emulator.refused import Refused, bad_request

MAX_ITEM_BYTES = 2 * 1024 * 1024
MAX_ID_CHARACTERS = 1023
SYSTEM = ("_rid", "_self", "_etag", "_attachments", "_ts")


@dataclass(frozen=True, slots=True)
class Item:
    """One version of a document. Never changed: a write makes another one.

    key: the full partition key, as text. size: bytes of its JSON. expires: seconds since 1970,
    None: never. lsn: the commit that wrote it. rid: its place in the order in which documents were
    created. body: with system properties; vectors are arrays of doubles, a quarter of the memory of
    Python's lists, and written back digit for digit.
    """

    id: str
    key: str
    body: dict[str, Any]
    size: int
    lsn: int
    rid: int
    expires: float | None

    @property
    def etag(self) -> str:
        """The tag of this version, quoted."""
        return str(self.body["_etag"])


def check_id(value: Any) -> str:
    """The id, if the service would take it."""
    if not isinstance(value, str) or not value:
        raise bad_request(
            "The input content is invalid because the required properties - 'id; ' - are missing"
        )
    if any(character in value for character in "/\\#?"):
        raise bad_request(f"The id {value!r} contains one of the characters / \\ # ?")
    if len(value) > MAX_ID_CHARACTERS:
        raise bad_request(f"The id is longer than {MAX_ID_CHARACTERS} characters")
    if value != value.strip(" "):
        raise bad_request("The id begins or ends with a space")
    return value


def check_size(size: int) -> None:
    """Refuse a document over 2 MB."""
    if size > MAX_ITEM_BYTES:
        raise Refused(
            413,
            f"Request size is too large: a document may have {MAX_ITEM_BYTES} bytes, this one "
            f"has {size}",
        )


def check_ttl(body: dict[str, Any]) -> None:
    """`ttl` must be −1 or a positive whole number of seconds."""
    ttl = body.get("ttl")
    if ttl is not None and (type(ttl) is not int or (ttl != -1 and ttl < 1)):
        raise bad_request(f"The value of ttl must be -1 or a positive integer, not {ttl!r}")


def expiry(body: dict[str, Any], default_ttl: int | None) -> float | None:
    """When a document may go: its own ttl, else the container's; a container without one
    switches both off.
    """
    if default_ttl is None:
        return None
    ttl = body.get("ttl") or default_ttl
    return None if ttl == -1 else float(body["_ts"] + ttl)


def dumps(value: Any) -> bytes:
    """JSON, arrays of vectors included."""
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)


def step_into(value: Any, path: tuple[str, ...]) -> Any:
    """The value at a path of property names, None where there is none."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def pack_vector(body: dict[str, Any], path: tuple[str, ...], dimensions: int) -> None:
    """Turn the list at a vector path into an array; refuse one of another length."""
    owner = step_into(body, path[:-1])
    if not isinstance(owner, dict) or owner.get(path[-1]) is None:
        return
    given = owner[path[-1]]
    if isinstance(given, np.ndarray):
        return
    try:
        vector = np.array(given)
    except ValueError:  # lists of unequal lengths
        vector = np.array(None)
    if vector.dtype.kind not in "if" or vector.ndim != 1:
        raise bad_request(
            f"The value at the vector path /{'/'.join(path)} is not an array of numbers"
        )
    if len(given) != dimensions:
        raise bad_request(
            f"The vector at /{'/'.join(path)} has {len(given)} dimensions, the container's policy "
            f"says {dimensions}"
        )
    owner[path[-1]] = vector.astype(np.float64)
