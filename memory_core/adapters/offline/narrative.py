"""A story of what was said, made only of the most central sentences.

Nothing is in it that was not said. Central is what many other sentences resemble (LexRank, Erkan & Radev 2004: the stationary weights of a
walk over similarities). The similarity is the cosine of vectors where they mean something, else of TF-IDF weighted terms. Note: the
sentences stay in the order they were said, and users' own statements come before what assistants explain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from memory_core.adapters.offline.clauses import without_fillers
from memory_core.adapters.offline.facts import speaker
from memory_core.adapters.offline.threads import checkpoint
from memory_core.adapters.offline.voice import third_person
from memory_core.domain.agent_schemas import MAX_NARRATIVE
from memory_core.domain.conversation import Message
from memory_core.domain.statements.provenance import may_tell, own_words
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.excerpts import beginning
from memory_core.domain.text.sentences import sentences

MAX_WORDS = 180
"""Of a narrative: within the 150 to 200 that are asked for, a last sentence included."""
MAX_FIRST_WORDS = 600
"""Characters of a story that is no more than how a conversation begins."""
MAX_CANDIDATES = 200
"""Sentences that are weighed; of more, every n-th of what an assistant said is left out first."""
USER_SHARE = 2.5
"""How much more a user's sentence weighs than an assistant's: a memory is about the person."""
DAMPING = 0.85
Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence that may be told: its message's number, who said it, its words, its terms."""

    message: int
    by: str
    text: str
    terms: tuple[str, ...]
    by_person: bool
    asks: bool


def candidates(messages: Sequence[Message]) -> list[Said]:
    """The sentences that say something, in order; of systems and tools none, of assistants only where others leave room."""
    found: list[Said] = []
    for number, message in enumerate(messages):
        if message.role in ("system", "tool"):
            continue
        checkpoint()
        own = own_words(message.content)
        for sentence in sentences(own):
            terms = tuple(tokens(sentence.text))
            if len(terms) >= 2 or (terms and not sentence.text.isascii()):
                text = " ".join(sentence.text.split())
                found.append(Said(number, speaker(message), text, terms, may_tell(message), sentence.asks))
    if len(found) <= MAX_CANDIDATES:
        return found
    mine = [one for one in found if one.by_person][:MAX_CANDIDATES]
    others = [one for one in found if not one.by_person]
    step = max(1, -(-len(others) // max(1, MAX_CANDIDATES - len(mine))))
    kept = {id(one) for one in [*mine, *others[::step]]}
    return [one for one in found if id(one) in kept][:MAX_CANDIDATES]


def narrative(messages: Sequence[Message], said: Sequence[Said], vectors: Sequence[npt.NDArray[np.float32]] | None = None) -> str:
    """The story in at most `MAX_WORDS` words and `MAX_NARRATIVE` characters.

    vectors: one a sentence of `said`; None = terms alone decide.
    """
    if not said:
        return _nothing(messages)
    weight = centrality(said if vectors is None else vectors)
    weight = weight * np.array([(USER_SHARE if one.by_person else 1.0) * (0.7 if one.asks else 1.0) for one in said])
    chosen: set[int] = set()
    left, room = MAX_WORDS, MAX_NARRATIVE
    for place in sorted(range(len(said)), key=lambda place: (-float(weight[place]), place)):
        length = len(said[place].text.split()) + 3
        if length > left or any(_doubles(said[place], said[other]) for other in chosen):
            continue
        size = len(_told([said[place]])) + 1  # a name in place of each "I" may make a sentence many times as long
        if size <= room:
            chosen.add(place)
            left, room = left - length, room - size
    if not chosen:  # one endless sentence
        first = int(np.argmax(weight))
        endless = Said(0, said[first].by, " ".join(said[first].text.split()[:MAX_WORDS]), (), said[first].by_person, False)
        return beginning(_told([endless]), MAX_NARRATIVE)
    return _told([said[place] for place in sorted(chosen)])


def first_words(messages: Sequence[Message]) -> str:
    """How the conversation begins, word for word: the story where no other can be told."""
    said = " ".join(f"{speaker(one)} said: {' '.join(one.content.split())}" for one in messages if one.role not in ("system", "tool"))
    return beginning(said or _nothing(messages), MAX_FIRST_WORDS)


def centrality(sentences_or_vectors: Sequence[Said] | Sequence[npt.NDArray[np.float32]]) -> Weights:
    """Weights that sum to 1: how central each sentence is among the others."""
    first = sentences_or_vectors[0]
    rows = _tf_idf(sentences_or_vectors) if isinstance(first, Said) else np.asarray(sentences_or_vectors, dtype=np.float64)  # type: ignore[arg-type]
    near = np.clip(rows @ rows.T, 0.0, None)
    np.fill_diagonal(near, 0.0)
    count = len(near)
    totals = near.sum(axis=1, keepdims=True)
    steps = np.divide(near, totals, out=np.full_like(near, 1.0 / count), where=totals > 0)
    weights = np.full(count, 1.0 / count)
    for _ in range(30):  # within 1e-2 of the limit; the order settles long before
        weights = (1 - DAMPING) / count + DAMPING * (weights @ steps)
    return weights


def _tf_idf(said: Sequence[Said]) -> Weights:
    known: dict[str, int] = {}
    frequency = Counter(term for one in said for term in set(one.terms))
    for one in said:
        for term in one.terms:
            known.setdefault(term, len(known))
    table = np.zeros((len(said), max(1, len(known))))
    for row, one in enumerate(said):
        for term, times in Counter(one.terms).items():
            table[row, known[term]] = times * log(1 + len(said) / frequency[term])
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    scaled: Weights = np.divide(table, lengths, out=table, where=lengths > 0)
    return scaled


def _doubles(one: Said, other: Said) -> bool:
    ours, theirs = set(one.terms), set(other.terms)
    return len(ours & theirs) > 0.8 * min(len(ours), len(theirs)) and len(ours ^ theirs) <= 1


def _told(said: Sequence[Said]) -> str:
    """The sentences as a story.

    In the third person where that is simple, else quoted with their speaker.
    """
    parts: list[str] = []
    quoting: str | None = None
    for one in said:
        told = third_person(without_fillers(one.text), one.by) if one.by_person and not one.asks else None
        if told is not None:
            parts.append(_ended(told))
            quoting = None
            continue
        how = f"{one.by} {'asked' if one.asks else 'said'}:"
        parts.append(_ended(one.text) if quoting == how else f"{how} {_ended(one.text)}")
        quoting = how
    return " ".join(parts)


def _ended(text: str) -> str:
    return text if text[-1] in ".!?…。！？\"'”’»)" else text + "."


def _nothing(messages: Sequence[Message]) -> str:
    """The story where no sentence says anything: who spoke, and no more."""
    spoken = [one for one in messages if one.role not in ("system", "tool")]
    people = list(dict.fromkeys(map(speaker, spoken or messages)))
    words = " ".join(" ".join(one.content.split()) for one in spoken)
    short = words if 0 < len(words) <= 200 else ""
    if messages and not spoken:
        return f"{' and '.join(people)} gave instructions or results, nobody said anything."
    return f"{' and '.join(people) or 'Nobody'} exchanged a few words" + (f": {_ended(short)}" if short else ".")
