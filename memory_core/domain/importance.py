"""How important a memory is when it is made: Mosaic's rule for a saved one, SECMSA's tables for a formed one.

What comes out is the base value; `decay` says what is left of it later. The cue phrases are English: a text in another
language gets its type's score, and a boost only through its category and tags, where the indicator's name works anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

from memory_core.domain.models import MemoryType

TYPE_SCORES: Mapping[MemoryType, float] = MappingProxyType({MemoryType.EPISODIC: 0.6, MemoryType.SEMANTIC: 0.8, MemoryType.PROCEDURAL: 0.7})

BOOSTS: Mapping[str, float] = MappingProxyType(
    {"user_preference": 0.2, "critical_decision": 0.3, "error_resolution": 0.25, "learning_outcome": 0.15}
)

CUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "user_preference": (
            "preference", "preferences", "prefer", "prefers", "preferred", "favourite", "favourites", "favorite", "favorites",
            "likes", "loves", "dislikes", "hates", "i like", "i love", "i hate", "i dislike", "don't like", "doesn't like",
            "would rather", "always use", "always uses", "never use", "never uses", "always want", "always wants", "go-to",
        ),
        "critical_decision": (
            "critical decision", "decision", "decisions", "decided", "we agreed", "agreed to", "agreed on", "settled on",
            "chose", "chosen", "signed off", "approved", "committed to", "final choice", "made up my mind", "go/no-go",
        ),
        "error_resolution": (
            "error resolution", "bug fix", "bugfix", "hotfix", "fixed the", "fixed a", "fixed it", "fixed by", "was fixed", "is fixed",
            "fix for", "resolved", "solved", "root cause", "workaround", "troubleshooting", "debugged", "rolled back",
            "the problem was", "the issue was", "the solution was",
        ),
        "learning_outcome": (
            "learning outcome", "learned", "learnt", "lesson", "lessons", "takeaway", "takeaways", "insight", "realised", "realized",
            "figured out", "found out", "turned out", "turns out", "discovered", "now know", "now knows", "now understand",
            "now understands",
        ),
    }
)  # fmt: skip

_WORD = re.compile(r"\w+")

QUALITY_SCORES: Mapping[str | None, float] = MappingProxyType({"high": 1.0, "medium": 0.6, "low": 0.2, None: 0.5})
FOLLOW_UP_STEPS = ((3, 1.0), (2, 0.8), (1, 0.6), (0, 0.3))
RICHNESS_STEPS = ((10, 1.0), (5, 0.8), (2, 0.6), (0, 0.3))
QUALITY_WEIGHT, FOLLOW_UP_WEIGHT, RICHNESS_WEIGHT = 0.5, 0.3, 0.2


def indicators(content: str, category: str | None = None, tags: Iterable[str] = ()) -> frozenset[str]:
    """The keys of BOOSTS that the memory shows: by name, or by a cue, as whole words in content, category or a tag.

    Case does not count, nor whether words are joined by a space, a hyphen or an underscore.
    """
    text = "\n".join(_flat(one) for one in (content, category or "", *tags))
    words = frozenset(_WORD.findall(text))
    return frozenset(name for name in BOOSTS if words & _longest_words(name) and _pattern(name).search(text))


def importance_by_type(type: MemoryType, content: str, category: str | None = None, tags: Iterable[str] = ()) -> float:
    """Mosaic's importance in [0.6, 1]: the type's score and the boost of each indicator, capped at 1."""
    return min(1.0, TYPE_SCORES[type] + sum(BOOSTS[name] for name in indicators(content, category, tags)))


def importance_by_interaction(quality: str | None, follow_ups: int, tags_and_keywords: int) -> float:
    """SECMSA's importance in [0.25, 1]: 0.5·quality + 0.3·follow-ups + 0.2·richness, each read from its table.

    quality: high, medium, low, or None when it was not judged. The other two are counts.
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


@cache
def _longest_words(indicator: str) -> frozenset[str]:
    """The longest word of each phrase: most texts hold none of them, and need no search."""
    return frozenset(max(_WORD.findall(_flat(phrase)), key=len) for phrase in (indicator, *CUES[indicator]))


@cache
def _pattern(indicator: str) -> re.Pattern[str]:
    phrases = "|".join(re.escape(_flat(phrase)) for phrase in (indicator, *CUES[indicator]))
    return re.compile(rf"(?<!\w)(?:{phrases})(?!\w)")
