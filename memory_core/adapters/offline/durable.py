"""How likely a sentence tells something durable of its speaker: what still matters after weeks, and is understood by itself.

A linear model over the words of the sentence. The weights stand in `durable_weights.json`; `python -m bench.knowledge.durable_training`
learns them from sentences in three languages that people labelled.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from memory_core.domain.statements.linear_models import linear_model

WEIGHTS = Path(__file__).with_name("durable_weights.json")
LEAST_AFFIX = 5
"""Letters of a word whose beginning and end are features of their own."""
WORDS_A_STEP, MOST_STEPS = 5, 6
"""How the length of a sentence is told: in steps of five words, all long ones alike."""
_TOKEN = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]+(?:'[^\W\d_]+)?|\d+|[\u3040-\u30ff\u3400-\u9fff]|[^\w\s]")
_NAME = re.compile(r"(?<=[a-zà-ÿ,;] )[A-ZÀ-Þ][a-zà-ÿ]+")


def durability(sentence: str) -> float:
    """The probability that a sentence tells something durable."""
    (durable,) = linear_model(WEIGHTS).chances(durable_features(sentence))
    return durable


def durable_features(sentence: str) -> frozenset[str]:
    """What the model sees of a sentence: its words in ones, twos and threes, parts of words, its length, a name, a number."""
    tokens = ["#" if token.isdigit() else token for token in _TOKEN.findall(sentence.casefold().replace("’", "'"))]
    found = ["<", *tokens, ">"]
    threes = zip(found, found[1:], found[2:], strict=False)
    features = {*found, *map(" ".join, pairwise(found)), *map(" ".join, threes)}
    for token in tokens:
        if len(token) >= LEAST_AFFIX and token.isalpha():
            features |= {f"{token[:4]}-", f"-{token[-3:]}"}
    features.add(f"length {min(MOST_STEPS, len(tokens) // WORDS_A_STEP)}")
    if _NAME.search(sentence):
        features.add("a name")
    return frozenset(features)
