"""One memory as bytes: what a working set holds.

Layout: format byte, little-endian uint16 dimensions (0 = no vector), that many float32, then LZ4 of the document as JSON.
Measured on a chat turn with 384 dimensions: 2.1 KB, of which 1.5 KB vector; 12 µs to write, 12 µs to read. The vector stays
outside the compression, which gains nothing on it, and stays float32: with float16 the same memory would score differently
by the tier that it was found in.
"""

from __future__ import annotations

import struct

import lz4.block
import numpy as np
import orjson

from memory_core.domain.errors import PlainError, described
from memory_core.domain.memory import Memory, Vector

_FORMAT = 1
_HEADER = struct.Struct("<BH")


def to_bytes(memory: Memory) -> bytes:
    """The memory with its embedding. Fields at their default are left out, which halves the JSON."""
    vector = b"" if memory.embedding is None else vector_to_bytes(memory.embedding)
    document = orjson.dumps(memory.model_dump(exclude_defaults=True))
    compressed: bytes = lz4.block.compress(document)
    return _HEADER.pack(_FORMAT, len(vector) // 4) + vector + compressed


def from_bytes(data: bytes) -> Memory:
    """The memory back; ValueError when these bytes are not an entry, or one that another version of the product wrote."""
    if len(data) < _HEADER.size:
        raise ValueError("an entry of the working set is cut short")
    form, dimensions = _HEADER.unpack_from(data)
    start = _HEADER.size + 4 * dimensions
    if form != _FORMAT or len(data) <= start:
        raise PlainError(f"an entry of the working set has the unknown format {form} or is cut short")
    try:
        document = lz4.block.decompress(data[start:])
    except lz4.block.LZ4BlockError as error:
        raise PlainError(f"an entry of the working set can't be decompressed: {described(error)}") from error
    memory = Memory.model_validate_json(document)
    if dimensions:
        memory.embedding = vector_from_bytes(data[_HEADER.size : start])
    return memory


def vector_to_bytes(vector: Vector) -> bytes:
    """Little-endian float32, 4 bytes a dimension."""
    return vector.astype("<f4").tobytes()


def vector_from_bytes(data: bytes) -> Vector:
    """The vector back, read-only, without a copy; ValueError when the length is not a whole number of float32."""
    return np.frombuffer(data, dtype="<f4")
