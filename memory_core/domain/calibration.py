"""What similarities mean for each embedder: its own defaults for the thresholds that settings leave open.

A cosine of 0.95 says "the same" for one embedder and "both are in English" for another, so a threshold without its embedder
means nothing. Settings override each number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Calibration:
    """The numbers of one embedder. The first two thresholds are on relevance, the other three on the cosine.

    cosine_low, cosine_high: the cosines that count as "nothing in common" and "the same" in relevance.
    answer_threshold: a query is answered when its best memory reaches it; recall_threshold: from there up memories are returned.
    duplicate_threshold: from there up two statements may be one. contradiction_floor: below it nothing contradicts.
    link_threshold: from there up memories are linked. scene_threshold: above it an episode is near to a scene; theme_threshold: to the
    words of a theme. 1 = vectors say nothing about that.
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
# Of 15 pairs of short English paraphrases 4 reach 0.975 and 11 reach 0.95 with the int8 MiniLM, a missing "the" alone
# costs 0.05; the guards of `sameness` keep apart what else reaches 0.95. Its scale is lower than OpenAI's for related texts.
# What passes the first threshold is ordered by what was learned, which may put a turn of 0.2 before one of 0.4: at 0.3 recall@10 is
# 0.006 less on LoCoMo and 0.009 on BEAM. Whether anything is found is the first threshold's to say.
_MINILM = Calibration(
    answer_threshold=0.39,
    recall_threshold=0.2,
    duplicate_threshold=0.95,
    contradiction_floor=0.4,
    link_threshold=0.5,
    scene_threshold=0.45,
    theme_threshold=0.2,
)
# Of 40 episodes of 8 themes against the mean of others, 99 % of those of another theme stay under 0.45. The nearest of 24 themes is the
# right one for 32; with words first and 0.2 as the least, 29 are right, 6 wrong, 5 none; words alone find 20, 3 wrong.
_HASH = Calibration(scene_threshold=1.0, theme_threshold=1.0)

CALIBRATIONS: Mapping[str, Calibration] = MappingProxyType({"openai": _OPENAI, "azure": _OPENAI, "minilm": _MINILM, "hash": _HASH})
"""By EMBEDDING_PROVIDER. OpenAI's are the numbers of the systems that Memory Core unites, which were made with it."""
