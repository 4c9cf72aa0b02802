"""The names of the world's towns, unlike those of tools and departments.

"We moved to Vitest" says of a home what "We moved to Porto" says. The table has the towns of at
least 5,000 people, regions, districts and countries, most of them by GeoNames (CC BY 4.0).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from unicodedata import combining

from memory_core.domain.text.unicode_forms import normal_form

TABLE = Path(__file__).with_name("towns.txt.z")

MOST_WORDS = 4
"""Words of a name that are looked up."""


def form(name: str) -> str:
    """The form in which a name is in the table: small letters without accents."""
    letters = normal_form("NFKD", name.casefold())
    return "".join(letter for letter in letters if not combining(letter)).replace("’", "'")


def has_town(words: Sequence[str]) -> bool:
    """Whether words that follow each other are the name of a town or a state."""
    return any(
        is_town(" ".join(words[start:end]))
        for start in range(len(words))
        for end in range(start + 1, min(start + MOST_WORDS, len(words)) + 1)
    )


def is_town(name: str) -> bool:
    """Whether a name, in any capitals, is a town's or a state's."""
    return "\n" not in name and f"\n{form(name)}\n".encode() in _table()


@lru_cache(maxsize=1)
def _table() -> bytes:
    """The names, each between two ends of lines (1.1 MB; 5 ms to read)."""
    return zlib.decompress(TABLE.read_bytes())
