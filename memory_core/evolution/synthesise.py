"""Whether a merged note has lost nothing: the checks that stand between a model's synthesis and the sources that it would replace.

A model that merges drifts: it drops a number here, a name there, and after ten merges nothing is left but phrases. So what can be
checked by code is checked, and a merge that fails leaves its sources as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.domain.dedup import normalise_token
from memory_core.domain.models import MAX_CONTENT_BYTES, Memory
from memory_core.domain.note import FOOTER, HEADINGS, SUMMARY, parts_of
from memory_core.domain.numerals import numbers_in
from memory_core.domain.sameness import names_in, words_in

CAP = int(0.6 * MAX_CONTENT_BYTES)
"""Bytes of a merged note; a merge that would pass them links instead."""
_NAMED = 8


def fits(sources: Sequence[Memory]) -> bool:
    """Whether these notes may be merged into one at all."""
    return sum(len(one.content.encode()) for one in sources) <= CAP


def what_is_lost(merged: str, sources: Sequence[Memory]) -> list[str]:
    """What a merged note lacks, in words for whoever wrote it; empty when it may stand for its sources.

    Checked: every part that a source has, a length of at least the longest source, every number (dates are numbers and names), name,
    tag and keyword of the sources.
    """
    texts = [one.content for one in sources]
    parts = parts_of(merged)
    wanted = {SUMMARY} | {name for text in texts for name in parts_of(text) if name in HEADINGS or name == FOOTER}
    lost = [f"the part {name} is missing" for name in (*HEADINGS, FOOTER) if name in wanted and name not in parts]
    longest = max(len(text) for text in texts)
    if len(merged) < min(longest, CAP):
        lost.append(f"it has {len(merged)} characters, its longest source {longest}")
    if len(merged.encode()) > CAP:
        lost.append(f"it is longer than {CAP} bytes")
    numbers = frozenset(numbers_in(merged))
    lost += _missing("numbers", frozenset(one for text in texts for one in numbers_in(text)) - numbers)
    words = words_in(merged)
    lost += _missing("names", frozenset(name for text in texts for name in names_in(text)) - names_in(merged) - words)
    folded = normalise_token(merged)
    terms = frozenset(term for one in sources for term in (*one.tags, *one.keywords))
    lost += _missing("tags or keywords", frozenset(term for term in terms if normalise_token(term) not in folded))
    return lost


def _missing(what: str, lost: frozenset[str]) -> list[str]:
    if not lost:
        return []
    named = ", ".join(sorted(lost)[:_NAMED])
    return [f"these {what} of the sources are missing: {named}{' and more' if len(lost) > _NAMED else ''}"]
