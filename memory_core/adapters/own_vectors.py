"""Vectors of the configured embedder, apart from those of another one that a store still holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from memory_core.domain.ranking.vectors import VectorKind
from memory_core.ports import Batch, Document, Write

_MEMORY_KINDS: Final = frozenset({"memory", "version"})


def without_others(documents: Mapping[str, Document], kind: VectorKind) -> dict[str, Document]:
    """Documents without vectors of another embedder, which must not be compared with the present one's."""
    return {name: document if _is_comparable(document, kind) else replace(document, vector=None) for name, document in documents.items()}


def with_own_name(batch: Batch, kind: VectorKind) -> Batch:
    """The batch, in which each memory with a vector names the configured embedder.

    No vector of another embedder is ever handed out, so a vector that is written is the present one's. A memory that was read while its
    vector was another's still names that one.
    """
    if not any(_names_another(write.document, kind) for write in batch.writes):
        return batch
    return replace(batch, writes=tuple(_renamed(write, kind) if _names_another(write.document, kind) else write for write in batch.writes))


def _is_comparable(document: Document, kind: VectorKind) -> bool:
    return document.vector is None or kind.fits(document.body, len(document.vector))


def _names_another(document: Document, kind: VectorKind) -> bool:
    if document.kind not in _MEMORY_KINDS or document.vector is None:
        return False
    return document.body.get("embedding_model") is not None and not kind.made(document.body)


def _renamed(write: Write, kind: VectorKind) -> Write:
    body = {**write.document.body, "embedding_model": kind.model, "embedding_dimensions": kind.dimensions}
    return replace(write, document=replace(write.document, body=body))
