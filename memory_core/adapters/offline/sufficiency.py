"""Whether what was found is enough, by the words: the share of the query's information that stands in it.

    covered = Σ idf(t) of the terms found / Σ idf(t) of all terms, idf counted over what was found

What a reader would get wrong: a term that nothing has stays in the sum, it is what is missing. And a rewritten query that only repeats
the old one with other words finds much the same; so there is one, and it goes on with what the best memories are about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timezone

from memory_core.adapters.offline.fitting import fitted
from memory_core.domain.agent_answers import Sufficiency
from memory_core.domain.beginning import beginning
from memory_core.domain.bm25 import idf
from memory_core.domain.query import analyse_query
from memory_core.domain.stopwords import QUERY_WORDS
from memory_core.domain.text import terms_of, tokens, words
from memory_core.ports import DecisionItem

ENOUGH = 0.7
BEST = 3
"""Memories whose words go into the rewritten query."""
FEEDBACK_WORDS = 8
_NO_DATES = datetime(2000, 1, 1, tzinfo=timezone.utc)
"""The terms of a query do not depend on when it is asked."""


def judged(query: str, asked: Sequence[str], found: Sequence[DecisionItem]) -> Sufficiency:
    """The verdict; `rewritten` only the first time, and only when something was found."""
    terms = analyse_query(query, _NO_DATES).terms
    if not found:
        return Sufficiency(sufficient=False, why="Nothing was found.")
    if not terms:
        return Sufficiency(sufficient=True, why="The query has no words to look for; what is nearest was found.")
    held = [set(tokens(one.text)) for one in found]
    frequency = Counter(term for one in held for term in one)
    worth = idf([frequency[term] for term in terms], len(found))
    missing = [term for term in terms if not frequency[term]]
    share = float(sum(value for term, value in zip(terms, worth, strict=True) if frequency[term]) / worth.sum())
    why = f"{len(terms) - len(missing)} of {len(terms)} words of the query were found, {round(100 * share)} % of what it says"
    why += f"; not found: {', '.join(missing[:5])}." if missing else "."
    if share >= ENOUGH:
        return fitted(Sufficiency, sufficient=True, why=why)
    return fitted(Sufficiency, sufficient=False, why=why, rewritten=_rewritten(query, terms, found, frequency) if len(asked) == 1 else None)


def _rewritten(query: str, terms: Sequence[str], found: Sequence[DecisionItem], frequency: Counter[str]) -> str | None:
    """The query with the rarest words of the best memories that it does not have; None when they have no others."""
    said = [word for one in found[:BEST] for word in words(one.text) if word not in QUERY_WORDS and not word.isdigit()]
    term_of = {word: term[0] for word in dict.fromkeys(said) if (term := terms_of([word])) and term[0] not in terms}
    rarest = sorted(term_of, key=lambda word: (frequency[term_of[word]], said.index(word)))[:FEEDBACK_WORDS]
    return f"{beginning(query, 400)} {' '.join(rarest)}" if rarest else None
