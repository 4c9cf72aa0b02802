"""Times and vectors between the form in which they are stored and the one that is computed with.

Note: a vector from a blob is a view of it, so it can't be written to.
"""

from __future__ import annotations

from datetime import datetime

import numpy as np

from memory_core.domain.memory import Vector


def as_blob(vector: Vector | None) -> bytes | None:
    """A vector as it is stored: little-endian float32."""
    return None if vector is None else np.ascontiguousarray(vector, dtype="<f4").tobytes()


def as_vector(blob: bytes | None) -> Vector | None:
    """The vector in a blob, read-only."""
    return None if blob is None else np.frombuffer(blob, dtype="<f4")


def seconds(text: str | None) -> float | None:
    """Epoch seconds of a stored time."""
    return None if text is None else datetime.fromisoformat(text).timestamp()
