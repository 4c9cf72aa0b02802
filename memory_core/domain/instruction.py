"""A standing instruction: a procedural memory of what a person wants done, or left, from now on, under a key of its own."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from memory_core.domain.sameness import normalised

INSTRUCTION: Final = "instruction"
"""The category of a standing instruction. One that is saved by hand with it is told in contexts just the same."""


def key_for(text: str) -> str:
    """The key of an instruction: the same for the same words."""
    return f"{INSTRUCTION}/{blake2b(normalised(text).encode(), digest_size=8).hexdigest()}"
