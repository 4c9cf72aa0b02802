"""The four recipes that turn relevance into a score, and the thresholds of each embedder.

`composite` is always computed, whatever the recipe, with the boosts of the settings: it is the only
score that compares across calls. Thresholds on relevance are applied before, not here. Weights are
not renormalised: with all of them at 1 a `linear` score can reach 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from memory_core.domain.importance import importances_at, recency_half_life, recency_secmsa
from memory_core.domain.ranking.candidates import CandidateSet, Floats

Recipe = Literal["composite", "balanced", "weighted", "linear"]

DEFAULT_WEIGHTS: Mapping[Recipe, Mapping[str, float]] = MappingProxyType(
    {
        "composite": MappingProxyType({"recency": 0.1, "importance": 0.1}),
        "balanced": MappingProxyType({"relevance": 0.7, "importance": 0.3}),
        "weighted": MappingProxyType(
            {"relevance": 0.4, "recency": 0.25, "frequency": 0.15, "confidence": 0.2}
        ),
        "linear": MappingProxyType({"relevance": 0.5, "recency": 0.3, "importance": 0.2}),
    }
)
"""Weights of the designs that Memory Core unites: composite is that of SECMSA (a memory of episodes
and notes for agents), balanced Mosaic's, weighted the LTM Engine's, linear that of OmniMemory.
"""

FADED_ORDER = 0.99
"""The factor of a faded memory's order. Its relevance stays, so that it is found as well as any
other memory.
"""


@dataclass(frozen=True, slots=True)
class ScoringParameters:
    """The settings that scores depend on.

    Attributes:
        recency_boost: The default weight of recency in `composite`.
        importance_boost: The default weight of importance in `composite`.
        max_age_hours: The age by which SECMSA's recency divides.
        half_life_factor: The factor of the age in SECMSA's recency.
        recency_half_life_days: Of the recency in `weighted`.
        decay_half_life_days: Of importance.

    """

    recency_boost: float = 0.1
    importance_boost: float = 0.1
    max_age_hours: float = 43_800.0
    half_life_factor: float = 4.0
    recency_half_life_days: float = 30.0
    decay_half_life_days: float = 30.0


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of candidates, in the order of the set.

    A component that the recipe does not use is None.

    Attributes:
        score: The recipe's.
        composite: That of `composite`, at most 1.2 · relevance by default.
        importance: The base after decay up to the moment of the scores. It is always present,
            because composite needs it.
        recency: By the recipe's formula, at most 1.
        frequency: In [0, 1] (`frequencies`).
        confidence: The memory's.

    """

    score: Floats
    composite: Floats
    importance: Floats
    recency: Floats | None = None
    frequency: Floats | None = None
    confidence: Floats | None = None


def score(
    recipe: Recipe,
    weights: Mapping[str, float] | None,
    relevance: Floats,
    candidates: CandidateSet,
    at_s: float,
    parameters: ScoringParameters,
) -> Scores:
    """Score all candidates.

    Args:
        recipe: The name of the recipe.
        weights: Weights that differ from the recipe's defaults; the caller checks their names.
        relevance: Of each candidate, in [0, 1].
        candidates: The set.
        at_s: The moment of the scores, in seconds since the epoch.
        parameters: The settings.

    """
    importance = importances_at(
        candidates.importance_base, candidates.accessed_at, at_s, parameters.decay_half_life_days
    )
    recency = recency_secmsa(
        candidates.touched_at, at_s, parameters.max_age_hours, parameters.half_life_factor
    )
    boosts = {"recency": parameters.recency_boost, "importance": parameters.importance_boost}
    composite = _boosted(relevance, recency, importance, boosts)
    chosen = weights or {}
    if recipe == "composite":
        total = (
            _boosted(relevance, recency, importance, {**boosts, **chosen}) if chosen else composite
        )
        return Scores(score=total, composite=composite, importance=importance, recency=recency)
    weight = {**DEFAULT_WEIGHTS[recipe], **chosen}
    if recipe == "balanced":
        total = weight["relevance"] * relevance + weight["importance"] * importance
        return Scores(score=total, composite=composite, importance=importance)
    if recipe == "linear":
        total = (
            weight["relevance"] * relevance
            + weight["recency"] * recency
            + weight["importance"] * importance
        )
        return Scores(score=total, composite=composite, importance=importance, recency=recency)
    recent = recency_half_life(candidates.touched_at, at_s, parameters.recency_half_life_days)
    frequency = frequencies(candidates.access_count)
    total = (
        weight["relevance"] * relevance
        + weight["recency"] * recent
        + weight["frequency"] * frequency
        + weight["confidence"] * candidates.confidence
    )
    return Scores(
        score=total,
        composite=composite,
        importance=importance,
        recency=recent,
        frequency=frequency,
        confidence=candidates.confidence,
    )


def frequencies(access_count: Floats) -> Floats:
    """`log(1 + n) / log(1 + max n)` within the candidates, in [0, 1].

    All 0 if no candidate was ever accessed.
    """
    most = float(access_count.max(initial=0.0))
    if most <= 0.0:
        return np.zeros_like(access_count)
    shares: Floats = np.log1p(access_count) / np.log1p(most)
    return shares


def _boosted(
    relevance: Floats, recency: Floats, importance: Floats, boosts: Mapping[str, float]
) -> Floats:
    return relevance * (1.0 + boosts["recency"] * recency + boosts["importance"] * importance)


# Each embedder's defaults for thresholds that the settings leave open.
#
# A cosine of 0.95 means "the same" for one embedder and "both are in English" for another. So a
# threshold has no meaning without its embedder. Settings override each number.


@dataclass(frozen=True, slots=True)
class Calibration:
    """The thresholds of an embedder, and the ends of its scale.

    The first two thresholds are on relevance, all further thresholds on the cosine. A threshold of
    1 means that vectors carry no information for that purpose.

    Attributes:
        cosine_low: The cosine that counts as "nothing in common" in relevance.
        cosine_high: The cosine that counts as "the same" in relevance.
        answer_threshold: A query is answered when its best memory reaches this.
        recall_threshold: Memories from this relevance up are returned.
        duplicate_threshold: From here up two statements may be the same.
        contradiction_floor: Below this no statement contradicts another.
        link_threshold: From here up memories are linked.
        scene_threshold: Above this an episode is near to a scene.
        theme_threshold: Above this it is near to the words of a theme.

    """

    cosine_low: float = 0.0
    cosine_high: float = 1.0
    answer_threshold: float = 0.4
    recall_threshold: float = 0.3
    duplicate_threshold: float = 0.98
    contradiction_floor: float = 0.3
    link_threshold: float = 0.7
    scene_threshold: float = 0.7
    theme_threshold: float = 0.3


_OPENAI = Calibration()
# Of 15 pairs of short English paraphrases 4 reach 0.975 and 11 reach 0.95 with the int8 MiniLM, a
# missing "the" alone costs 0.05; the guards of `sameness` keep apart what else reaches 0.95. Its
# scale is lower than OpenAI's for related texts. What passes the first threshold is ordered by what
# was learned, which may put a turn of 0.2 before one of 0.4: at 0.3 recall@10 is 0.006 less on
# LoCoMo and 0.009 on BEAM. Whether anything is found is the first threshold's to say.
_MINILM = Calibration(
    answer_threshold=0.39,
    recall_threshold=0.2,
    duplicate_threshold=0.95,
    contradiction_floor=0.4,
    link_threshold=0.5,
    scene_threshold=0.45,
    theme_threshold=0.2,
)
# Of 40 episodes of 8 themes against the mean of others, 99 % of those of another theme stay under
# 0.45. The nearest of 24 themes is the right one for 32; with words first and 0.2 as the least, 29
# are right, 6 wrong, 5 none; words alone find 20, 3 wrong.
_HASH = Calibration(scene_threshold=1.0, theme_threshold=1.0)

CALIBRATIONS: Mapping[str, Calibration] = MappingProxyType(
    {"openai": _OPENAI, "azure": _OPENAI, "minilm": _MINILM, "hash": _HASH}
)
"""Calibrations by EMBEDDING_PROVIDER. OpenAI's numbers are those of the systems that Memory Core
unites, which were made with its embedder.
"""
