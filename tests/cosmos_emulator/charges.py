"""Request units, roughly: they grow with what is read, written, scanned and returned. The true ones
come from a live account only.
"""

from __future__ import annotations

KB = 1024


def read(size: int) -> float:
    """A point read: 1 for 1 KB, about 10 for 100 KB."""
    return round(max(1.0, 0.91 + 0.09 * size / KB), 2)


def write(size: int, vectors: int = 0) -> float:
    """A write: about 5 for 1 KB and 50 for 100 KB; each indexed vector costs more."""
    return round(4.9 + 0.48 * size / KB + 4.0 * vectors, 2)


def query(matched: int, scored: int, rows: int, returned_bytes: int) -> float:
    """A query: a base, then documents that pass the filter, vectors and postings that are compared,
    and what goes out.
    """
    return round(
        2.3 + 0.005 * matched + 0.002 * scored + 0.05 * rows + 0.12 * returned_bytes / KB, 2
    )


REFUSED = 1.24
"""What a request costs that was refused after it was looked at."""
