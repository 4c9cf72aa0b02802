"""Protocol buffers as bytes: split a message into its fields, and write fields.

It covers no more of the format than an ONNX file uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_NUMBER, _BLOCK = 0, 2
_FIXED = {1: 8, 5: 4}
"""Bytes of the kinds of fields that have a fixed length."""


@dataclass(frozen=True)
class Field:
    """A field of a message.

    Attributes:
        number: Its number in the message.
        kind: Its kind on the wire.
        data: Its bytes without their length.

    """

    number: int
    kind: int
    data: bytes

    def written(self) -> bytes:
        """Encode the field as it is written in a message."""
        key = _varint(self.number << 3 | self.kind)
        return key + _varint(len(self.data)) + self.data if self.kind == _BLOCK else key + self.data


def fields(message: bytes) -> Iterator[Field]:
    """Yield the fields of a message in order. Raises ValueError if it is none."""
    place = 0
    while place < len(message):
        key, place = _read_varint(message, place)
        kind, start = key & 7, place
        if kind == _NUMBER:
            _, place = _read_varint(message, place)
        elif kind == _BLOCK:
            length, start = _read_varint(message, place)
            place = start + length
        elif kind in _FIXED:
            place = start + _FIXED[kind]
        else:
            raise ValueError(f"no field of a message has the kind {kind}")
        if place > len(message):
            raise ValueError("the message ends within a field")
        yield Field(key >> 3, kind, message[start:place])


def block(field: int, data: bytes) -> bytes:
    """Encode a field that holds bytes, or a message.

    Args:
        field: Number of the field.
        data: The bytes.

    """
    return Field(field, _BLOCK, data).written()


def text(field: int, value: str) -> bytes:
    """Encode a field that holds a text.

    Args:
        field: Number of the field.
        value: The text.

    """
    return block(field, value.encode())


def number(field: int, value: int) -> bytes:
    """Encode a field that holds a whole number of at most 64 bits.

    Args:
        field: Number of the field.
        value: The number; it may be negative.

    """
    return Field(field, _NUMBER, _varint(value)).written()


def _varint(value: int) -> bytes:
    rest, data = value & (1 << 64) - 1, bytearray()
    while rest > 127:
        data.append(rest & 127 | 128)
        rest >>= 7
    data.append(rest)
    return bytes(data)


def _read_varint(message: bytes, place: int) -> tuple[int, int]:
    """Decode the number at a place, and return it with the place where it ends."""
    value = shift = 0
    while True:
        if place >= len(message) or shift > 63:
            raise ValueError("the message ends within a number")
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
