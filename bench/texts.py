"""Made-up memories and queries: varied text with the word frequencies of a language,
the same in every run.

The words are invented but for the hundred most frequent ones, so that stop words, stemming and long
posting lists cost what they cost in English.

Note: a query is made of words of a memory that is there. Queries that find nothing would skip the
dearest part of a search, reading the winners.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import Any

_FREQUENT_TEXT = (
    "the of and to a in that is was he for it with as his on be at by i this had not are but from "
    "or have an they which one you were her all she there would their we him been has when who "
    "will more no if out so said what up its about into than them can only other new some could "
    "time these two may then do first any my now such like our over man me even most made after "
    "also did many before must through back years where much your way well down should because "
    "each just those people too little state good very"
)
FREQUENT = _FREQUENT_TEXT.split()
VOCABULARY = 20_000
ACTORS = ("Ana", "Bruno", "Chidi", "Dora", "Elif", "Farid")
TAGS = ("work", "family", "travel", "health", "music", "food", "money", "garden")
SESSION_TURNS = 20


@cache
def _vocabulary() -> tuple[list[str], list[float]]:
    """The words, the most frequent first, and their cumulative weights after Zipf:
    the word of rank r weighs 1 / r.
    """
    chance = random.Random(7)
    onsets, vowels, codas = "bdfgklmnprstvz", "aeiou", ("", "", "n", "r", "s")
    words = dict.fromkeys(FREQUENT)
    while len(words) < VOCABULARY:
        words[
            "".join(
                chance.choice(onsets) + chance.choice(vowels) + chance.choice(codas)
                for _ in range(chance.choice((2, 3, 3)))
            )
        ] = None
    return list(words), list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))


def text(chance: random.Random) -> str:
    """One memory's text: three sentences, 25 to 40 words in all."""
    words, weights = _vocabulary()
    drawn = chance.choices(words, cum_weights=weights, k=chance.randint(25, 40))
    third = len(drawn) // 3
    return " ".join(
        " ".join(part).capitalize() + "."
        for part in (drawn[:third], drawn[third : 2 * third], drawn[2 * third :])
    )


def memories(seed: int, name: str, facts: float = 0.2) -> Iterator[dict[str, Any]]:
    """Save bodies without end: `facts` of them semantic, a tenth episodes of no session, the rest
    turns of sessions; a third has tags.

    name: goes into the names of the sessions, so that two streams of one user do not share them.
    """
    chance = random.Random(seed)
    turns = 0
    while True:
        body: dict[str, Any] = {"content": text(chance)}
        kind = chance.random()
        if kind < facts:
            body["type"] = "semantic"
        elif kind < 0.9:
            body |= {
                "session_id": f"{name}-{turns // SESSION_TURNS}",
                "actor": chance.choice(ACTORS),
            }
            turns += 1
        if chance.random() < 0.33:
            body["tags"] = chance.sample(TAGS, 2)
        yield body


def loaded(seed: int, name: str) -> Iterator[dict[str, Any]]:
    """What users are filled with before anything is measured. No facts: each is compared with all
    that is there, in bulk too.
    """
    return memories(seed, name, facts=0.0)


def queries(seed: int, name: str, known: int) -> Iterator[str]:
    """Questions without end about the first memories of the stream that `known` were loaded from:
    see `loaded`.
    """
    contents = [
        body["content"]
        for body, _ in zip(loaded(seed, name), range(min(known, 2_000)), strict=False)
    ]
    chance = random.Random(seed + 1)
    frequent = frozenset(FREQUENT)
    while True:
        words = [word.strip(".").lower() for word in chance.choice(contents).split()]
        telling = [word for word in words if word not in frequent]
        yield (
            f"What did {chance.choice(ACTORS)} say about "
            f"{' '.join(chance.sample(telling, min(4, len(telling))))}?"
        )
