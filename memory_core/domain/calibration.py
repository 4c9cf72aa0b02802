"""What similarities mean with one embedder: the numbers that can't be carried from one model to another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Calibration:
    """Cosine thresholds of one embedder; Settings take them as defaults.

    duplicate: from here up two texts say the same, as far as a vector can tell (numbers and negations are checked apart).
    link: from here up two memories belong together. contradiction: from here up a memory is looked at as a possible
    contradiction. cosine_low, cosine_high: what relevance takes as 0 and as 1.
    """

    duplicate: float
    link: float
    contradiction: float
    cosine_low: float = 0.0
    cosine_high: float = 1.0
