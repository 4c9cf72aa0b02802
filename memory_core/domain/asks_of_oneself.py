"""Whether a message is a question about the one who asks it: "What is my sister's name?", not "Is a tomato a fruit?"."""

from __future__ import annotations

import re

from memory_core.domain.changes_terms import KIN_IN_JAPANESE
from memory_core.domain.sentences import sentences

MOST_SENTENCES = 2
"""Of a longer message the best sentence comes near to something by chance."""
QUESTION = re.compile(
    r"\W{0,9}(?:what|when|where|which|who|whom|whose|why|how|do|did|is|am|are|was|wann|wo|welche[rsnm]?|wer|wen|wem|warum|wie)\b",
    re.IGNORECASE,
)
"""How a question begins that is typed without its mark."""
_ASKS_IN_JAPANESE = re.compile(r"(?:っけ|かな|ですか|ますか|のか|何|どこ|いつ|誰|いくら|どんな|どう)")
_ONESELF = re.compile(
    r"\b(?:i|me|my|mine|myself|we|us|our|ours|ich|mir|mich|mein\w{0,2}|wir|uns|unser\w{0,2})\b|[\u79c1\u50d5\u4ffa]|わたし|うちの|自分の",
    re.IGNORECASE,
)
_TO_DO = re.compile(
    r"\b(?:find|get|give|help|let|make|send|show|teach|tell|write) me\b|\b(?:should|could|can|may|shall) (?:i|we)\b", re.IGNORECASE
)
"""Speaks of the one who asks, and asks nothing about that one."""


def asks_of_oneself(text: str) -> bool:
    """Whether a message of a sentence or two asks something about its speaker."""
    said = sentences(text)
    return 0 < len(said) <= MOST_SENTENCES and any(
        (one.asks or QUESTION.match(one.text) is not None or _ASKS_IN_JAPANESE.search(one.text) is not None)
        and (_ONESELF.search(_TO_DO.sub("", one.text.replace("’", "'"))) is not None or KIN_IN_JAPANESE.search(one.text) is not None)
        for one in said
    )
