"""Whether an answer repeats what it was asked with.

That is an example's made-up content, the instructions, or the mark of the record. Models repeat it when there is little to say or when a
text asked them to, and it would become a user's memory. A few equal words prove nothing, so only texts of several words are compared: with
an example's as a whole, with the instructions' sentences as parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memory_core.prompts import Prompt

_FEWEST_WORDS = 3
_SHORTEST_SENTENCE = 50
_MADE_UP = re.compile(r"<example>.*?(?:</example>|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Echoes:
    """What must not come back. mark: of the record that was sent, "" for none."""

    texts: frozenset[str]
    sentences: tuple[str, ...]
    mark: str = ""

    @classmethod
    def of(cls, prompt: Prompt[Any]) -> Echoes:
        """Everything in a prompt's examples and instructions that is long enough to be known again."""
        texts = {_folded(text) for example in prompt.examples for text in _texts(example)}
        rules = re.split(r"(?<=[.:;!?])\s+|\n+", _MADE_UP.sub("", prompt.text))
        return cls(
            frozenset(text for text in texts if len(text.split()) >= _FEWEST_WORDS),
            tuple(dict.fromkeys(sentence for rule in rules if len(sentence := _folded(rule)) >= _SHORTEST_SENTENCE)),
        )

    def without(self, value: dict[str, Any]) -> tuple[dict[str, Any] | None, int]:
        """The answer without the list items that repeat, and how many these were; None when a field of its own repeats."""
        dropped = 0

        def kept(inner: Any) -> Any:
            nonlocal dropped
            if isinstance(inner, list):
                good = [item for item in inner if not any(self._repeats(text) for text in _texts(item))]
                dropped += len(inner) - len(good)
                return good
            if isinstance(inner, dict):
                return {name: kept(field_value) for name, field_value in inner.items()}
            return inner

        cleaned: dict[str, Any] = kept(value)
        return (None if any(self._repeats(text) for text in _texts(cleaned)) else cleaned), dropped

    def _repeats(self, text: str) -> bool:
        folded = _folded(text)
        if folded in self.texts or (self.mark and self.mark in folded):
            return True
        return len(folded) >= _SHORTEST_SENTENCE and any(sentence in folded for sentence in self.sentences)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _folded(text: str) -> str:
    return " ".join(re.sub(r"[`*\"'_]", " ", text).casefold().split()).rstrip(" .,:;!")
