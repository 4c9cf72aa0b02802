"""Vectors and times as they are stored, and vectors of the configured embedder.

A store may still hold vectors of another embedder, which are kept apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

import numpy as np

from memory_core.domain.memory import Vector
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.ports import Batch, Document, Write

_MEMORY_KINDS: Final = frozenset({"memory", "version"})


def without_others(documents: Mapping[str, Document], kind: VectorKind) -> dict[str, Document]:
    """Documents without vectors of another embedder, which must not be compared.

    Args:
        documents: The documents by id.
        kind: The configured embedder.

    """
    return {
        name: document if _is_comparable(document, kind) else replace(document, vector=None)
        for name, document in documents.items()
    }


def with_own_name(batch: Batch, kind: VectorKind) -> Batch:
    """The batch, in which each memory with a vector names the configured embedder.

    No vector of another embedder is ever returned by a read, so a vector that is written is always
    of the configured embedder. A memory that was read while its vector was of another embedder
    still names that embedder.

    Args:
        batch: The batch.
        kind: The configured embedder.

    """
    if not any(_names_another(write.document, kind) for write in batch.writes):
        return batch
    return replace(
        batch,
        writes=tuple(
            _renamed(write, kind) if _names_another(write.document, kind) else write
            for write in batch.writes
        ),
    )


def _is_comparable(document: Document, kind: VectorKind) -> bool:
    return document.vector is None or kind.fits(document.body, len(document.vector))


def _names_another(document: Document, kind: VectorKind) -> bool:
    if document.kind not in _MEMORY_KINDS or document.vector is None:
        return False
    return document.body.get("embedding_model") is not None and not kind.made(document.body)


def _renamed(write: Write, kind: VectorKind) -> Write:
    body = {
        **write.document.body,
        "embedding_model": kind.model,
        "embedding_dimensions": kind.dimensions,
    }
    return replace(write, document=replace(write.document, body=body))


def as_blob(vector: Vector | None) -> bytes | None:
    """A vector as it is stored: little-endian float32."""
    return None if vector is None else np.ascontiguousarray(vector, dtype="<f4").tobytes()


def as_vector(blob: bytes | None) -> Vector | None:
    """The vector in a blob, read-only."""
    return None if blob is None else np.frombuffer(blob, dtype="<f4")


def seconds(text: str | None) -> float | None:
    """Epoch seconds of a stored time."""
    return None if text is None else datetime.fromisoformat(text).timestamp()
