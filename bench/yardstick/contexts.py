"""What is in a context, and the context that a few lines of code would pack."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from memory_core.domain.fields import DEFAULT_MAX_TOKENS

LEAST_SHARE = 0.8
"""The share of a turn's long words that must be in a context for the turn to count as there."""
PERHAPS = "Perhaps related:"
"""The line under which a context tells what may be beside the point."""
CHARACTERS_A_TOKEN, MARK_TOKENS, SHORTEST, MOST_PACKED = 4.2, 8, 40, 200
BUDGET = DEFAULT_MAX_TOKENS
_LONG_WORD = re.compile(r"\w{4,}")


def long_words(text: str) -> set[str]:
    """The words of four or more letters, in lower case."""
    return set(_LONG_WORD.findall(text.lower()))


def share_standing(context: str, evidence: Sequence[str]) -> float:
    """The share of the turns that count as being in the context, by `LEAST_SHARE`;
    0 without turns.
    """
    there = long_words(context)
    standing = [
        len(long_words(text) & there) >= LEAST_SHARE * len(long_words(text)) for text in evidence
    ]
    return sum(standing) / len(standing) if standing else 0.0


def packed(scores: Sequence[float], texts: Sequence[str], budget: float = BUDGET) -> str:
    """Whole turns within a budget of tokens, the best score by the square root of its
    tokens first.
    """
    order = sorted(
        range(len(texts)),
        key=lambda place: -scores[place] / math.sqrt(max(SHORTEST, _tokens(texts[place]))),
    )
    return packed_in_order([texts[place] for place in order], budget)


def packed_in_order(texts: Sequence[str], budget: float = BUDGET) -> str:
    """Whole turns within a budget of tokens, the first first; a turn too long for what is left is
    skipped.
    """
    packed_texts: list[str] = []
    for text in texts[:MOST_PACKED]:
        if _tokens(text) <= budget:
            budget -= _tokens(text)
            packed_texts.append(text)
    return "\n".join(packed_texts)


def _tokens(text: str) -> float:
    return len(text) / CHARACTERS_A_TOKEN + MARK_TOKENS


def is_marked(context: str) -> bool:
    """Whether the context says that it is only perhaps related."""
    return PERHAPS in context.splitlines()
