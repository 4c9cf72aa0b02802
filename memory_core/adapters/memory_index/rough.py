"""Vectors with a byte for each number, to find near rows.

The search then reads only a quarter of the memory. A vector is its codes times a scale, and an
error. The errors of all vectors and of the query change a product by at most `Approximate.error`
(Cauchy and Schwarz). So the nearest rows are certainly among those that are that near by their
codes, and these rows are compared exactly.

Note: NumPy multiplies bytes more slowly than four-byte numbers, so this needs `simsimd`, which is
installed with the extra `local`. Without it all rows are compared exactly, with the same answers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from memory_core.domain.memory import Vector

Floats32 = npt.NDArray[np.float32]
TOP: Final = 127
_LEAST: Final = 1e-30
ROUNDING: Final = 1e-4
"""A bound above the rounding error of sums of four-byte numbers."""
LEAST_ROWS: Final = 16_384
"""The fewest rows with codes.

Fewer rows are all compared in the time that reading the best rows would take.
"""
_STRIPES: Final = 64


class Coded(NamedTuple):
    """Vectors in codes.

    Attributes:
        codes: The codes, a row for each vector.
        scales: The scale of each vector.
        error: The largest error of a vector.
        length: The greatest length of a vector.

    """

    codes: npt.NDArray[np.int8]
    scales: Floats32
    error: float
    length: float


class Approximate(NamedTuple):
    """Products that are within `error` of the exact products."""

    products: Floats32
    error: float


def coded(vectors: Floats32) -> Coded:
    """Vectors in codes; with an infinite error if a number is NaN or infinite."""
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    if not np.isfinite(largest).all():
        return Coded(np.zeros(vectors.shape, np.int8), np.zeros(len(vectors), np.float32), inf, inf)
    scales = np.maximum(largest, _LEAST) / np.float32(TOP)
    scaled = np.rint(vectors / scales[:, None])
    codes = scaled.astype(np.int8)
    scaled *= scales[:, None]
    scaled -= vectors
    return Coded(codes, scales, _greatest_length(scaled), _greatest_length(vectors))


def approximate(
    vectors: Coded, query: Vector, rows: npt.NDArray[np.int64] | None = None
) -> Approximate:
    """The products of rows with a query. It works only where `is_usable`.

    Args:
        vectors: The vectors in codes.
        query: The vector to multiply with.
        rows: The rows; None for all rows.

    """
    multiplied = _multiply()
    assert multiplied is not None
    codes = vectors.codes if rows is None else vectors.codes[rows]
    scales = vectors.scales if rows is None else vectors.scales[rows]
    of_query = coded(np.ascontiguousarray(query, dtype=np.float32)[None])
    products = np.zeros((1, len(codes)), dtype=np.float32)
    if len(codes):
        multiplied(of_query.codes, codes, "dot", out=products)
    products[0] *= scales
    products[0] *= of_query.scales[0]
    # |q·v - q'·v'| <= |q - q'| |v| + |q'| |v - v'|, and q' is no longer than q and its error
    error = of_query.error * vectors.length + (of_query.length + of_query.error) * vectors.error
    return Approximate(products[0], error + ROUNDING * max(1.0, of_query.length * vectors.length))


def is_usable(vectors: Coded | None) -> bool:
    """Whether codes can be multiplied here and have a finite error."""
    return vectors is not None and np.isfinite(vectors.error) and _multiply() is not None


def kth_greatest(values: Floats32, number: int) -> float:
    """The `number`-th greatest value, or the least value when there are fewer.

    With many values, the greatest of each of some stripes are compared first: no value below these
    can be the result.

    Args:
        values: The values.
        number: The rank, from 1.

    """
    if len(values) >= 2 * _STRIPES * number:
        stripes = values[: len(values) // _STRIPES * _STRIPES].reshape(_STRIPES, -1).max(axis=0)
        values = values[values >= np.partition(stripes, -number)[-number]]
    if len(values) <= number:
        return float(values.min(initial=np.inf))
    return float(np.partition(values, -number)[-number])


def _greatest_length(vectors: Floats32) -> float:
    return float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors).max(initial=0.0)))


@cache
def _multiply() -> Callable[..., Any] | None:
    try:
        import simsimd
    except ImportError:
        return None
    multiply: Callable[..., Any] = simsimd.cdist
    return multiply
