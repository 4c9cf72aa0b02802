"""The probability that a sentence states something durable of its speaker.

Such a statement matters after weeks, and is understood by itself. A linear model over the words of
the sentence says so. The weights are in `durable_weights.json`; `python -m
bench.knowledge.durable_training` learns them from labelled sentences in three languages.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from memory_core.domain.statements.linear_models import linear_model

WEIGHTS = Path(__file__).with_name("durable_weights.json")
LEAST_AFFIX = 5
"""Letters of a word, at least, whose first four and last three letters are features."""
WORDS_A_STEP, MOST_STEPS = 5, 6
"""Steps of the feature of a sentence's length: five words each, at most six."""
_TOKEN = re.compile(
    r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]+(?:'[^\W\d_]+)?|\d+|[\u3040-\u30ff\u3400-\u9fff]|[^\w\s]"
)
_NAME = re.compile(r"(?<=[a-zà-ÿ,;] )[A-ZÀ-Þ][a-zà-ÿ]+")


def durability(sentence: str) -> float:
    """The probability that a sentence states something durable."""
    (durable,) = linear_model(WEIGHTS).chances(durable_features(sentence))
    return durable


def durable_features(sentence: str) -> frozenset[str]:
    """The features of a sentence: word n-grams up to 3, affixes, length, a name."""
    tokens = [
        "#" if token.isdigit() else token
        for token in _TOKEN.findall(sentence.casefold().replace("’", "'"))
    ]
    bounded = ["<", *tokens, ">"]
    threes = zip(bounded, bounded[1:], bounded[2:], strict=False)
    features = {*bounded, *map(" ".join, pairwise(bounded)), *map(" ".join, threes)}
    for token in tokens:
        if len(token) >= LEAST_AFFIX and token.isalpha():
            features |= {f"{token[:4]}-", f"-{token[-3:]}"}
    features.add(f"length {min(MOST_STEPS, len(tokens) // WORDS_A_STEP)}")
    if _NAME.search(sentence):
        features.add("a name")
    return frozenset(features)
