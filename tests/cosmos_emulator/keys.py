"""Partition keys: read from a document or a header, and hashed to the place that decides which
range holds them.

The client computes the same hashes to find the range of a prefix, so they must agree bit for bit:
MurmurHash3 (x64, 128 bits, public domain) over each component's tagged bytes, the two top bits
cleared. A key travels here as canonical JSON text, since in Python `(1,) == (True,)`.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from itertools import pairwise
from typing import Any

import orjson

from tests.cosmos_emulator.refused import bad_request

MISSING: dict[str, Any] = {}
"""A component that the document does not have, as it is written on the wire."""
MAX_KEY_BYTES = 2048
_MASK = (1 << 64) - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F


class KeyDefinition:
    """Which properties make the key of a container's documents."""

    def __init__(self, definition: dict[str, Any]) -> None:
        paths = definition.get("paths") or []
        self.kind = definition.get("kind", "Hash")
        if (
            self.kind not in ("Hash", "MultiHash")
            or not paths
            or (self.kind == "Hash" and len(paths) > 1)
            or len(paths) > 3
        ):
            raise bad_request(
                "The partition key definition must be Hash with one path or MultiHash with up "
                "to three"
            )
        if definition.get("version", 1) != 2:
            raise bad_request("The emulator knows partition keys of version 2 only")
        self.paths = tuple(tuple(path.strip("/").split("/")) for path in paths)

    def of(self, body: dict[str, Any]) -> str:
        """The full key of a document."""
        return canonical([_component(body, path) for path in self.paths])

    def parse(self, header: str) -> str:
        """The full key in a header; a prefix is refused, as it needs a range of hashes instead."""
        try:
            components = orjson.loads(header)
        except orjson.JSONDecodeError as error:
            raise bad_request(
                f"The partition key supplied in x-ms-documentdb-partitionkey is not JSON: {header}"
            ) from error
        if not isinstance(components, list) or len(components) != len(self.paths):
            raise bad_request(
                "Partition key provided either doesn't correspond to definition in the collection",
                1001,
            )
        return canonical(components)

    def hash(self, key: str) -> str:
        """The place of a full key among the ranges."""
        return _hash(self.kind, key)

    def prefix_hash(self, components: list[Any]) -> str:
        """The place where the keys that begin with these components begin (MultiHash only)."""
        return _hash(self.kind, canonical(components))


def canonical(components: list[Any]) -> str:
    """A key as text: equal keys have equal texts."""
    if any(isinstance(value, list) or (isinstance(value, dict) and value) for value in components):
        raise bad_request(
            "A partition key component must be a string, a number, a boolean, null or absent"
        )
    text = orjson.dumps(
        [float(value) if type(value) is int else value for value in components]
    ).decode()
    if len(text) > MAX_KEY_BYTES:
        raise bad_request(f"Partition key value is larger than {MAX_KEY_BYTES} bytes")
    return text


def range_bounds(count: int) -> list[tuple[str, str]]:
    """The whole space of hashes in `count` equal ranges, [minimum, maximum)."""
    inner = [f"{(0x40 << 120) * number // count:032X}" for number in range(1, count)]
    edges = ["", *inner, "FF"]
    return list(pairwise(edges))


def _component(body: dict[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = body
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return MISSING
        value = value[step]
    return value


@lru_cache(maxsize=100_000)
def _hash(kind: str, key: str) -> str:
    tagged = [_tagged(component) for component in orjson.loads(key)]
    return "".join(
        _murmur(part) for part in (tagged if kind == "MultiHash" else [b"".join(tagged)])
    )


def _tagged(component: Any) -> bytes:
    if component is None:
        return b"\x01"
    if component is False:
        return b"\x02"
    if component is True:
        return b"\x03"
    if isinstance(component, float):
        return b"\x05" + struct.pack("<d", component)
    if isinstance(component, str):
        return b"\x08" + component.encode() + b"\xff"
    return b"\x00"


def _rotate(value: int, by: int) -> int:
    return ((value << by) | (value >> (64 - by))) & _MASK


def _mix(value: int) -> int:
    value = ((value ^ (value >> 33)) * 0xFF51AFD7ED558CCD) & _MASK
    value = ((value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53) & _MASK
    return value ^ (value >> 33)


def _murmur(data: bytes) -> str:
    h1 = h2 = 0
    whole = len(data) // 16 * 16
    for at in range(0, whole, 16):
        k1, k2 = struct.unpack_from("<QQ", data, at)
        h1 = (_rotate(h1 ^ _first(k1), 27) + h2) * 5 + 0x52DCE729 & _MASK
        h2 = (_rotate(h2 ^ _second(k2), 31) + h1) * 5 + 0x38495AB5 & _MASK
    k1, k2 = struct.unpack("<QQ", data[whole:].ljust(16, b"\0"))
    h1 ^= _first(k1) ^ len(data)
    h2 ^= _second(k2) ^ len(data)
    h1 = (h1 + h2) & _MASK
    h2 = (h2 + h1) & _MASK
    h1, h2 = _mix(h1), _mix(h2)
    h1 = (h1 + h2) & _MASK
    h2 = (h2 + h1) & _MASK
    place = bytearray(h2.to_bytes(8, "big") + h1.to_bytes(8, "big"))
    place[0] &= 0x3F
    return place.hex().upper()


def _first(k: int) -> int:
    return _rotate(k * _C1 & _MASK, 31) * _C2 & _MASK


def _second(k: int) -> int:
    return _rotate(k * _C2 & _MASK, 33) * _C1 & _MASK
