"""Texts that are made for questions: messages of six sentences, and the rarest words of a turn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

AROUND = 5
"""Sentences beside the question, of which two come first."""
SHORTEST, LONGEST = 4, 25
"""Words of such a sentence."""
_SENTENCE, _WORD = re.compile(r"(?<=[.!?])\s+"), re.compile(r"\w\w+")


def messages_of_six(questions: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Each question between five sentences of other texts, none of them used twice before
    all were used.

    Args:
        questions: One for each message.
        texts: Where the sentences are from.

    """
    plain = _endless(
        [sentence for text in texts for sentence in _SENTENCE.split(text) if _is_plain(sentence)]
    )
    made = []
    for question in questions:
        around = [next(plain) for _ in range(AROUND)]
        made.append(" ".join([*around[:2], question, *around[2:]]))
    return made


def _is_plain(sentence: str) -> bool:
    return (
        SHORTEST <= len(sentence.split()) <= LONGEST
        and sentence.endswith((".", "!"))
        and "\n" not in sentence
    )


def _endless(sentences: Sequence[str]) -> Iterator[str]:
    if not sentences:
        raise ValueError("these texts have no plain sentences")
    while True:
        yield from sentences


def rarest_words(text: str, texts: Sequence[str], count: int) -> list[str] | None:
    """The words of a text that the fewest texts have, in the text's order; None where it has fewer.

    Args:
        text: One of the texts.
        texts: All of them.
        count: How many words.

    """
    frequency = Counter(word for other in texts for word in set(_words(other)))
    words = list(dict.fromkeys(_words(text)))
    if len(words) < count:
        return None
    rarest = set(sorted(words, key=lambda word: (frequency[word], words.index(word)))[:count])
    return [word for word in words if word in rarest]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
