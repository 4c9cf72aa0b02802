"""The part of a long text that a query is about, within a budget: a giant memory must not push all others out of a context.

Whole sentences, in their order, with "…" where some are left out. A word of the query counts by how few of the text's sentences have it:

    worth of a word = ln(1 + sentences / sentences with the word)

Note: a sentence also counts for what its neighbours say of the query, since "What about the budget?" is answered by the sentence after it;
and where no sentence has a word of the query, the first is as good as any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from math import log

from memory_core.domain.sentences import Sentence, sentences
from memory_core.domain.text import tokens
from memory_core.domain.tokens import count_tokens

GAP = " … "
AFTER, BEFORE = 0.6, 0.3
"""What a term counts for the sentence after the one that has it, and for the one before it."""


def excerpt(text: str, terms: Collection[str], most: int) -> str:
    """The text itself when it is at most `most` tokens (≥ 8) long, else its best sentences that fit.

    terms: of the query, as `domain.text` gives them.
    """
    if count_tokens(text) <= most:
        return text
    said = sentences(text)
    worth = _worth(said, set(terms))
    order = sorted(range(len(said)), key=lambda place: (-worth[place], place))
    kept, left = [], most - 2
    for place in order:
        cost = count_tokens(said[place].text) + 1
        if cost <= left:
            kept.append(place)
            left -= cost
    return _joined(said, sorted(kept)) if kept else cut(said[order[0]].text if said else text, most)


def _worth(said: Sequence[Sentence], wanted: set[str]) -> list[float]:
    """What the terms of each sentence are worth, and what its neighbours lend it."""
    terms = [wanted & set(tokens(one.text)) for one in said]
    spread = Counter(term for few in terms for term in few)
    own = [sum(log(1 + len(said) / spread[term]) for term in sorted(few)) for few in terms]
    around = [0.0, *own, 0.0]
    return [count + AFTER * around[place] + BEFORE * around[place + 2] for place, count in enumerate(own)]


def cut(text: str, most: int) -> str:
    """The beginning of a text, at most `most` tokens (≥ 2) of it, ended by "…" where it was cut."""
    size = count_tokens(text)
    while size > most:
        text = text[: max(1, (len(text) - 1) * (most - 1) // size)].rstrip(" …") + "…"
        size = count_tokens(text)
    return text


def covered(text: str, terms: Collection[str]) -> int:
    """How many of the terms the text has."""
    return len(set(terms) & set(tokens(text)))


def _joined(said: Sequence[Sentence], places: Sequence[int]) -> str:
    parts: list[str] = []
    last = -1
    for place in places:
        if parts:
            parts.append(" " if place == last + 1 else GAP)
        parts.append(said[place].text)
        last = place
    return "".join(parts) if places[0] == 0 else f"…{GAP[-1]}" + "".join(parts)
