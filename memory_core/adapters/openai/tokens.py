"""Long texts in windows of tokens, cut out of the text itself.

The tokenizer's vocabulary is taken from the folder that tiktoken's own variable TIKTOKEN_CACHE_DIR
names, and only when it is there: tiktoken would else download it, at every cold start. Without it a
token is taken to be 4 characters, which is logged once.
"""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from memory_core.domain.ranking.vectors import STANDARD, Chunking

if TYPE_CHECKING:
    from tiktoken import Encoding

log = logging.getLogger(__name__)

CHARACTERS_A_TOKEN = 4
_CACHED_AS = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
}
"""Names of tiktoken's cached vocabularies: the SHA-1 of the address.

The first is the embedding models' own; the second cuts in the same way.
"""


def is_short(text: str, chunking: Chunking = STANDARD) -> bool:
    """Whether the text surely fits a window, as no token is shorter than a byte.

    Args:
        text: The text.
        chunking: The size of windows.

    """
    return len(text.encode("utf-8", "replace")) <= chunking.size


def pieces(text: str, chunking: Chunking = STANDARD) -> list[str]:
    """Cut a text into the windows that are embedded; a short text remains whole.

    Args:
        text: The text.
        chunking: The size of windows and their overlap.

    """
    if is_short(text, chunking):
        return [text]
    tokenizer = encoding()
    if tokenizer is None:
        size, overlap = chunking.size * CHARACTERS_A_TOKEN, chunking.overlap * CHARACTERS_A_TOKEN
        return [
            text[start:end]
            for start, end in replace(chunking, size=size, overlap=overlap).cut(len(text))
        ]
    # What it decodes to is the text again, but for lone surrogates; the offsets are of that.
    decoded, offsets = tokenizer.decode_with_offsets(tokenizer.encode_ordinary(text))
    ends = [*offsets, len(decoded)]
    return [decoded[ends[start] : ends[end]] for start, end in chunking.cut(len(offsets))]


@lru_cache(maxsize=1)
def encoding() -> Encoding | None:
    """The tokenizer, loaded once (0.3-0.8 s); None if no vocabulary is cached."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR")
    for name, file in _CACHED_AS.items():
        if folder and (Path(folder) / file).is_file():
            try:
                import tiktoken
            except ImportError:
                break
            return tiktoken.get_encoding(name)
    log.warning(
        "No tokenizer vocabulary in TIKTOKEN_CACHE_DIR: long texts are cut at %d characters "
        "a token",
        CHARACTERS_A_TOKEN,
    )
    return None
