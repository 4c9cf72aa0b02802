"""What BM25 is made of: how much a term is worth, and how well a text covers it.

Their product only ORDERS the lexical list of candidates; it has no scale that means the same for two queries. Relevance takes the same
parts but makes a share of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import log1p

import numpy as np

from memory_core.domain.candidates import Floats

IDF_FLOOR = 400
"""Documents a store counts as having at least. Without it a store of one memory weighs a matched term .29 and an unknown
one 1.39, so that nothing would ever be relevant enough."""

ORDER_K1, ORDER_B = 1.2, 0.75
"""The textbook's saturation and length, for ordering the lexical list."""

ORDER_NEAR = 0.3
"""What a word near a term counts in that list, beside 1 for the term that is there again and again."""

_TINY = np.finfo(np.float64).tiny


def idf(document_frequency: Iterable[int], documents: int, floor: int = IDF_FLOOR) -> Floats:
    """ln(1 + (N − df + 0.5) / (df + 0.5)) with N = max(documents, floor): above 0 always, largest for an unknown term (df 0)."""
    least = max(documents, floor)
    # Statistics may be a commit behind the candidates: a frequency above the count must not make a negative worth.
    # One by one: the few terms of a query are too few for arrays.
    return np.array([log1p((max(least, df) - df + 0.5) / (df + 0.5)) for df in document_frequency])


def saturation(tf: Floats, length: Floats, mean_length: float, k1: float, b: float) -> Floats:
    """How well each of U texts covers each of T terms: tf / (tf + k1·(1 − b + b·length / mean_length)), in [0, 1), U × T.

    tf: U × T, length: U; or U frequencies, one a length. A mean_length that is not positive counts as "every text is of mean length".
    """
    norm = k1 * (1.0 - b) + (k1 * b / mean_length) * length if mean_length > 0 else np.full(len(length), k1)
    # The least number there is keeps 0 / 0 a 0.
    return tf / np.maximum(tf + (norm[:, None] if tf.ndim == 2 else norm), _TINY)
