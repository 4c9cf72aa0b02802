"""Which of several earlier statements a change is about, by its names.

    "The rent of flat 2 is 850", "The rent of flat 4 is 900" … "The rent of flat 4 went up to 950"

The first shares the rent with the change, the second the rent and the flat. A statement is left to
a closer one if it names something else, and does not name the whole of the changed thing.
"""

from __future__ import annotations

from collections.abc import Iterable

from memory_core.domain.statements.change_sentences import SaidSentence
from memory_core.domain.statements.naming_words import IS_LABEL
from memory_core.domain.statements.same_thing import names_of, shared_names, shared_terms, topic
from memory_core.domain.text.analyzer import has_japanese


def is_left_to_closer(
    before: SaidSentence, now: SaidSentence, others: Iterable[SaidSentence]
) -> bool:
    """Whether a change is about another earlier statement rather than about this one.

    Args:
        before: The earlier statement, or the part of it that the change is about.
        now: The sentence that tells the change.
        others: Further earlier statements of the same person.

    """
    names, words = now.naming_changed, before.text.strip(" .!。")
    shared, thing = shared_names(names, before.naming), topic(now)
    if thing <= shared or not _names_more(before, now):
        return False
    return any(
        shared < closer and thing <= closer
        for other in others
        if words not in other.text and (closer := shared_names(names, other.naming))
    )


def _names_more(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether a statement names a thing that the change does not name."""
    if has_japanese(before.text):
        return bool(before.naming - shared_names(before.naming, now.naming))
    things = (thing for thing in before.named.things if not thing.acts)
    named = frozenset[str]().union(*(names_of(thing, before.naming) for thing in things))
    labels = {name for name in before.naming if name.endswith(IS_LABEL)}
    return bool(named - shared_terms(named, now.terms)) or bool(labels - now.naming)
