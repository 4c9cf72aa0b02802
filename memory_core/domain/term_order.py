"""Where in a long text its terms stand, so that a passage of it can be weighed.

Two bytes a term are kept beside the counts of the text.

Note: two bytes rule other terms out, they don't name one. The places of a term mean something only in a text that has the term.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

PASSAGE_TERMS: Final = 75
"""Terms of the longest text that is a single passage, some 100 words of English; no order of it is kept."""

_CODE: Final = np.dtype("<u2")
_CODES: Final = 1 << 16


class TermPlaces(NamedTuple):
    """Where query terms stand in long texts: of each place the text's row, the place, the term's column.

    Sorted by row and place.
    """

    row: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    term: npt.NDArray[np.int64]


NO_PLACES: Final = TermPlaces(*(np.zeros(0, dtype=np.int64) for _ in TermPlaces._fields))


def encoded_order(terms: Sequence[str]) -> str:
    """The order of a text's terms as it is stored; empty for a single passage."""
    if len(terms) <= PASSAGE_TERMS:
        return ""
    return b64encode(np.array([_code(term) for term in terms], dtype=_CODE).tobytes()).decode()


def order_bytes(order: str) -> bytes:
    """A stored order as two bytes a term; empty for a damaged one, which hides no memory."""
    try:
        found = b64decode(order, validate=True)
    except ValueError:
        return b""
    return found if len(found) % _CODE.itemsize == 0 else b""


def places_of(orders: Mapping[int, bytes], terms: Sequence[str], own: npt.NDArray[np.bool_]) -> TermPlaces:
    """Where the terms stand in these texts.

    Args:
        orders: by row of `own`, ascending, what `order_bytes` gives of its text.
        terms: of the query.
        own: rows × terms, whether the text has the term.

    """
    if not orders or not terms:
        return NO_PLACES
    column = np.full(_CODES, -1, dtype=np.int64)
    column[[_code(term) for term in terms]] = np.arange(len(terms))
    sizes = [len(order) // _CODE.itemsize for order in orders.values()]
    found = column[np.frombuffer(b"".join(orders.values()), dtype=_CODE)]
    at = (found >= 0).nonzero()[0]
    starts = np.cumsum([0, *sizes[:-1]])
    text = np.searchsorted(starts, at, side="right") - 1
    row = np.array(list(orders), dtype=np.int64)[text]
    said = own[row, found[at]]
    return TermPlaces(row[said], (at - starts[text])[said], found[at][said])


def of_terms(places: TermPlaces, columns: Sequence[int]) -> TermPlaces:
    """The places of the terms of these columns, which are the columns from now on."""
    if not len(places.row):
        return places
    new_column = np.full(max(max(columns, default=0), int(places.term.max())) + 1, -1, dtype=np.int64)
    new_column[list(columns)] = np.arange(len(columns))
    term = new_column[places.term]
    kept = term >= 0
    return TermPlaces(places.row[kept], places.place[kept], term[kept])


def _code(term: str) -> int:
    return crc32(term.encode()) & (_CODES - 1)
