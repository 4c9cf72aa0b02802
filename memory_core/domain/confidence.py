"""How sure a memory is: what its source said, and surer each time that it is said again."""

from __future__ import annotations

from typing import Final

GAIN: Final = 0.1
"""Share of the doubt that one more telling takes away: after 7 tellings half of it is left, and it never is none."""


def surer(confidence: float) -> float:
    """The confidence after one more telling of the same: `c + (1 - c) · GAIN`, within [0, 1]."""
    return min(1.0, confidence + (1.0 - confidence) * GAIN)
