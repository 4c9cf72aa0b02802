"""The given names of many languages, unlike other words in small letters.

"my daughter lena" has a name, "my daughter just" has none. The table is made of the names of Faker
(MIT), without those that are common words of English or German.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from pathlib import Path

from memory_core.domain.text.towns import form

TABLE = Path(__file__).with_name("given_names.txt.z")


def is_given_name(name: str) -> bool:
    """Whether a word, in any capitals, is a given name."""
    return name.isalpha() and f"\n{form(name)}\n".encode() in _table()


@lru_cache(maxsize=1)
def _table() -> bytes:
    """The names, each between two ends of lines (0.15 MB)."""
    return zlib.decompress(TABLE.read_bytes())
