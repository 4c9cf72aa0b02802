"""Absolute fusion: one score in [0, 1] from what the words say and what the vectors say.

Absolute means that nothing is rescaled per query: with min-max scaling the best of nothing looks like a perfect answer
(98 % of unrelated queries pass), here an unrelated query finds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from memory_core.domain.candidates import Floats


@dataclass(frozen=True, slots=True)
class FusionParameters:
    """s = vector_weight·COS + (1 − vector_weight)·LEX^gamma, with COS = (cosine − cosine_low) / (cosine_high − cosine_low).

    cosine_low, cosine_high: the cosines that mean "nothing in common" and "the same" for the embedder in use. The optimum is
    flat: vector_weight .3-.45 and gamma .5-1 stay within .003 of the best.
    """

    vector_weight: float = 0.35
    gamma: float = 0.7
    cosine_low: float = 0.0
    cosine_high: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.vector_weight <= 1.0:
            raise ValueError("vector_weight must be within 0 and 1")
        if not self.gamma > 0.0:
            raise ValueError("gamma must be above 0")
        if not self.cosine_low < self.cosine_high:
            raise ValueError("cosine_low must be below cosine_high")


def rescaled(cosine: Floats, parameters: FusionParameters) -> Floats:
    """Cosines on the embedder's own scale, 0 = nothing in common, 1 = the same; not yet clipped, NaN stays NaN."""
    return (cosine - parameters.cosine_low) / (parameters.cosine_high - parameters.cosine_low)


def fused(similarity: Floats, lexical: Floats, parameters: FusionParameters) -> Floats:
    """Both in [0, 1], U each, to one score in [0, 1]."""
    return parameters.vector_weight * similarity + (1.0 - parameters.vector_weight) * lexical**parameters.gamma
