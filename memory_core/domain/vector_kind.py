"""Which vectors compare with each other: those that one model made, of one length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class VectorKind(NamedTuple):
    """The model that made a vector, and the vector's length."""

    model: str
    dimensions: int

    def fits(self, body: Mapping[str, Any], length: int) -> bool:
        """Whether a stored vector compares with vectors of this kind.

        Args:
            body: the document of the vector; one that names no `embedding_model` is judged by the vector's length alone.
            length: of the stored vector.

        """
        return length == self.dimensions and body.get("embedding_model") in (None, self.model)

    def made(self, body: Mapping[str, Any]) -> bool:
        """Whether a memory's body says that its vector is of this kind."""
        return (body.get("embedding_model"), body.get("embedding_dimensions")) == self

    def __str__(self) -> str:
        return f"{self.model!r} with {self.dimensions} dimensions"
