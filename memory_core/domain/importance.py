"""How important and how sure a memory is, and how both fade with time.

The stored importance is the base value; `importance_at` gives its rest at a later time. The cue
phrases are English. A text in another language gets its type's score, and a boost only through its
category and tags, where the indicator's name works in any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from memory_core.domain.memory import MemoryType
from memory_core.domain.text.prefilter import ascii_words

TYPE_SCORES: Mapping[MemoryType, float] = MappingProxyType(
    {MemoryType.EPISODIC: 0.6, MemoryType.SEMANTIC: 0.8, MemoryType.PROCEDURAL: 0.7}
)

BOOSTS: Mapping[str, float] = MappingProxyType(
    {
        "user_preference": 0.2,
        "critical_decision": 0.3,
        "error_resolution": 0.25,
        "learning_outcome": 0.15,
    }
)

CUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "user_preference": (
            "preference", "preferences", "prefer", "prefers", "preferred", "favourite",
            "favourites", "favorite", "favorites", "likes", "loves", "dislikes", "hates", "i like",
            "i love", "i hate", "i dislike", "don't like", "doesn't like", "would rather",
            "always use", "always uses", "never use", "never uses", "always want", "always wants",
            "go-to",
        ),
        "critical_decision": (
            "critical decision", "decision", "decisions", "decided", "we agreed", "agreed to",
            "agreed on", "settled on", "chose", "chosen", "signed off", "approved", "committed to",
            "final choice", "made up my mind", "go/no-go",
        ),
        "error_resolution": (
            "error resolution", "bug fix", "bugfix", "hotfix", "fixed the", "fixed a", "fixed it",
            "fixed by", "was fixed", "is fixed", "fix for", "resolved", "solved", "root cause",
            "workaround", "troubleshooting", "debugged", "rolled back", "the problem was",
            "the issue was", "the solution was",
        ),
        "learning_outcome": (
            "learning outcome", "learned", "learnt", "lesson", "lessons", "takeaway", "takeaways",
            "insight", "realised", "realized", "figured out", "found out", "turned out",
            "turns out", "discovered", "now know", "now knows", "now understand", "now understands",
        ),
    }
)  # fmt: skip

_WORD = re.compile(r"\w+")

QUALITY_SCORES: Mapping[str | None, float] = MappingProxyType(
    {"high": 1.0, "medium": 0.6, "low": 0.2, None: 0.5}
)
FOLLOW_UP_STEPS = ((3, 1.0), (2, 0.8), (1, 0.6), (0, 0.3))
RICHNESS_STEPS = ((10, 1.0), (5, 0.8), (2, 0.6), (0, 0.3))
QUALITY_WEIGHT, FOLLOW_UP_WEIGHT, RICHNESS_WEIGHT = 0.5, 0.3, 0.2


def indicators(
    content: str, category: str | None = None, tags: Iterable[str] = ()
) -> frozenset[str]:
    """The keys of `BOOSTS` that a memory shows, by their names or by a cue.

    Names and cues count as whole words in content, category or a tag. Case does not count, nor
    whether a space, a hyphen or an underscore joins the words.

    Args:
        content: The memory's text.
        category: Its category.
        tags: Its tags.

    """
    parts = (content, category or "", *tags)
    words = frozenset[str]().union(*map(_words, parts))
    likely = [name for name in BOOSTS if not words.isdisjoint(_longest_words(name))]
    if not likely:
        return frozenset()
    text = "\n".join(map(_flat, parts))
    return frozenset(name for name in likely if _pattern(name).search(text))


def importance_by_type(
    type: MemoryType, content: str, category: str | None = None, tags: Iterable[str] = ()
) -> float:
    """Mosaic's importance in [0.6, 1]: the type's score plus a boost for each indicator.

    The sum is capped at 1.

    Args:
        type: The memory's type.
        content: Its text.
        category: Its category.
        tags: Its tags.

    """
    return min(
        1.0, TYPE_SCORES[type] + sum(BOOSTS[name] for name in indicators(content, category, tags))
    )


def importance_by_interaction(
    quality: str | None, follow_ups: int, tags_and_keywords: int
) -> float:
    """SECMSA's importance in [0.25, 1]: 0.5·quality + 0.3·follow-ups + 0.2·richness.

    Each of the three is read from its table.

    Args:
        quality: high, medium, low, or None when it was not judged.
        follow_ups: Number of follow-up areas.
        tags_and_keywords: Number of tags and keywords.

    """
    return (
        QUALITY_WEIGHT * QUALITY_SCORES[quality]
        + FOLLOW_UP_WEIGHT * _step(FOLLOW_UP_STEPS, follow_ups)
        + RICHNESS_WEIGHT * _step(RICHNESS_STEPS, tags_and_keywords)
    )


def _step(steps: tuple[tuple[int, float], ...], count: int) -> float:
    return next(score for least, score in steps if count >= least)


def _flat(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").replace("_", " ").replace("-", " ").split())


def _words(text: str) -> Iterable[str]:
    """The words of the flat text."""
    of_ascii = ascii_words(text.replace("_", " "))
    return _WORD.findall(_flat(text)) if of_ascii is None else of_ascii


@cache
def _longest_words(indicator: str) -> frozenset[str]:
    """The longest word of each phrase.

    Most texts have none of these words and need no search.
    """
    return frozenset(
        max(_WORD.findall(_flat(phrase)), key=len) for phrase in (indicator, *CUES[indicator])
    )


@cache
def _pattern(indicator: str) -> re.Pattern[str]:
    phrases = "|".join(re.escape(_flat(phrase)) for phrase in (indicator, *CUES[indicator]))
    return re.compile(rf"(?<!\w)(?:{phrases})(?!\w)")


GAIN: Final = 0.1
"""Share of the doubt that each repetition of a statement takes away.

After 7 repetitions half of the doubt is left, and some doubt always remains.
"""


def surer(confidence: float) -> float:
    """The confidence after a repetition: `c + (1 - c) · GAIN`, within [0, 1]."""
    return min(1.0, confidence + (1.0 - confidence) * GAIN)


# Decay of importance and recency, as functions of a base value and two timestamps alone.
#
# The decayed value is never stored. If it were written back, it would decay again from there: an
# hourly job over ten idle days would leave 0.4 % of an importance that should have kept 79 %.
#
# Times are aware datetimes in the scalar function and epoch seconds (UTC) in the others. A time in
# the future, or an unknown time (NaN), has age zero.


Floats = npt.NDArray[np.float64]

HOUR_S = 3600.0
DAY_S = 86_400.0
LEAST_RECENCY = 0.01


def importance_at(
    base: float, since: datetime, now: datetime, half_life_days: float = 30.0
) -> float:
    """An importance at a later time: `base · 2^(-days since / half-life)`.

    It is the whole base at age zero, and half of it after a half-life.

    Args:
        base: The stored importance.
        since: When the memory was last accessed, else created.
        now: The later time.
        half_life_days: Idle days that halve the importance.

    """
    days = max(0.0, (now - since) / timedelta(days=1))
    return float(base * 2.0 ** (-days / half_life_days))


def importances_at(
    base: Floats, since_s: Floats, now_s: float, half_life_days: float = 30.0
) -> Floats:
    """`importance_at` for arrays of the same length.

    Args:
        base: The stored importances.
        since_s: Epoch seconds of the last accesses, else of the creations.
        now_s: Epoch seconds of the later time.
        half_life_days: Idle days that halve the importance.

    """
    return base * _halvings(since_s, now_s, half_life_days)


def recency_half_life(last_used_s: Floats, at_s: float, half_life_days: float = 30.0) -> Floats:
    """LTM Engine's recency in [0, 1]: `2^(-age in days / half-life)`.

    Args:
        last_used_s: Epoch seconds of the last accesses or changes.
        at_s: Epoch seconds of the moment.
        half_life_days: Days that halve the recency.

    """
    return _halvings(last_used_s, at_s, half_life_days)


def recency_secmsa(
    last_used_s: Floats, at_s: float, max_age_hours: float = 43_800.0, half_life_factor: float = 4.0
) -> Floats:
    """SECMSA's recency in [0.01, 1]: `exp(-age in hours · factor / max age)`.

    By default it is `exp(-age / 10 950 h)`. SECMSA calls 10 950 hours a half-life. By the formula
    it is the age at which 1/e = 37 % is left.

    Args:
        last_used_s: Epoch seconds of the last accesses or changes.
        at_s: Epoch seconds of the moment.
        max_age_hours: The maximum age.
        half_life_factor: The factor.

    """
    hours = _age_s(last_used_s, at_s) / HOUR_S
    return np.maximum(LEAST_RECENCY, np.exp(-hours * half_life_factor / max_age_hours))


def _halvings(since_s: Floats, now_s: float, half_life_days: float) -> Floats:
    return np.exp2(-_age_s(since_s, now_s) / (DAY_S * half_life_days))


def _age_s(since_s: Floats, now_s: float) -> Floats:
    # fmax, unlike maximum, takes the zero where the other is NaN.
    return np.fmax(0.0, now_s - since_s)
