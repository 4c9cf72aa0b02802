"""Whether a merged note has lost and invented nothing.

These are the checks between a model's synthesis and the sources that it would replace. A model
that merges drifts: it drops a number here, a name there, adds what it knows from elsewhere, and
after ten merges nothing is left but phrases. So what can be checked by code is checked, and a
merge that fails leaves its sources as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.domain.memory import MAX_CONTENT_BYTES, Memory
from memory_core.domain.note import FOOTER, FRAME_WORDS, HEADINGS, SUMMARY, parts_of
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS
from memory_core.domain.text.fuzzy_dedup import normalise_token
from memory_core.domain.text.sameness import names_in, words_in
from memory_core.domain.text.spelling import numbers_in

CAP = int(0.6 * MAX_CONTENT_BYTES)
"""Bytes of a merged note; instead of a larger merge, the notes are linked."""
MAX_FOREIGN = 0.5
"""Share of a merged note's telling words that its sources need not have, because the writer may use
words of its own.
"""
LEAST_LEFT = 0.5
_NAMED, _SHOWN = 8, 80


def fits(sources: Sequence[Memory]) -> bool:
    """Whether these notes may be merged into a single note at all."""
    return sum(len(source.content.encode()) for source in sources) <= CAP


def what_is_lost(merged: str, sources: Sequence[Memory]) -> list[str]:
    """Complaints about the parts that a merged note lacks, in words for its writer.

    Checked are every part that a source has, a length of at least the longest source, every number
    (dates are numbers and names), name, tag and keyword of the sources, and half of the words that
    only a single source has.

    Args:
        merged: Text of the merged note.
        sources: The notes that it would replace.

    Returns:
        Empty if the merged note may replace its sources.

    """
    texts = [source.content for source in sources]
    parts = parts_of(merged)
    wanted = {SUMMARY} | {
        name for text in texts for name in parts_of(text) if name in HEADINGS or name == FOOTER
    }
    lost = [
        f"the part {name} is missing"
        for name in (*HEADINGS, FOOTER)
        if name in wanted and name not in parts
    ]
    longest = max(len(text) for text in texts)
    if len(merged) < min(longest, CAP):
        lost.append(f"it has {len(merged)} characters, its longest source {longest}")
    if len(merged.encode()) > CAP:
        lost.append(f"it is longer than {CAP} bytes")
    numbers = frozenset(numbers_in(merged))
    lost += _missing(
        "numbers", frozenset(number for text in texts for number in numbers_in(text)) - numbers
    )
    words = words_in(merged)
    lost += _missing(
        "names",
        frozenset(name for text in texts for name in names_in(text)) - names_in(merged) - words,
    )
    folded = normalise_token(merged)
    terms = frozenset(term for source in sources for term in (*source.tags, *source.keywords))
    lost += [f"next to nothing is left of: {text[:_SHOWN]}" for text in _hardly_in(merged, texts)]
    lost += _missing(
        "tags or keywords", frozenset(term for term in terms if normalise_token(term) not in folded)
    )
    return lost


def what_is_invented(merged: str, sources: Sequence[Memory]) -> list[str]:
    """Complaints about additions of a merged note, in words for its writer.

    Checked are numbers and names that no source has, and whether most of the words are new.

    Args:
        merged: Text of the merged note.
        sources: The notes that it would replace.

    """
    texts = [
        text for source in sources for text in (source.content, *source.tags, *source.keywords)
    ]
    known = frozenset(word for text in texts for word in words_in(text)) | FRAME_WORDS
    complaints = _listed(
        "these numbers stand in no source",
        frozenset(numbers_in(merged)) - {number for text in texts for number in numbers_in(text)},
    )
    complaints += _listed("these names stand in no source", names_in(merged) - known)
    words = _telling(merged)
    if len(words - known) > MAX_FOREIGN * len(words):
        complaints.append("most of it stands in no source")
    return complaints


def _hardly_in(merged: str, texts: Sequence[str]) -> list[str]:
    """The texts of whose own words less than half is left.

    A text's own words are the words that no other text has.
    """
    words = [_telling(text) for text in texts]
    left = _telling(merged)
    own = [
        mine
        - frozenset(
            word
            for place, other_words in enumerate(words)
            if place != number
            for word in other_words
        )
        for number, mine in enumerate(words)
    ]
    return [
        text
        for text, mine in zip(texts, own, strict=True)
        if len(mine & left) < LEAST_LEFT * len(mine)
    ]


def _telling(text: str) -> frozenset[str]:
    return words_in(text) - FUNCTION_WORDS - QUERY_WORDS - FRAME_WORDS


def _missing(kind: str, lost: frozenset[str]) -> list[str]:
    return _listed(f"these {kind} of the sources are missing", lost)


def _listed(complaint: str, named: frozenset[str]) -> list[str]:
    names = ", ".join(sorted(named)[:_NAMED])
    return [f"{complaint}: {names}{' and more' if len(named) > _NAMED else ''}"] if named else []
