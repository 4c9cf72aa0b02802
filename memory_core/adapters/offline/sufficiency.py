"""Whether the memories that were found answer a query, by rule.

They do if a few memories are much better than the rest, and contain the words of the query.

    covered = Σ idf(t) of the terms found / Σ idf(t) of all terms, idf counted over what was found
    lead    = relevance of the best − relevance of the tenth of all that was found, quoted or not

Note: the words alone say little. A question about hobbies has all its words in any memory of a
hobby, and the other hobbies may be missing; where ten memories are about equally relevant, it is
unknown how many more are. So this says "enough" seldom, and then it mostly is:
docs/recollection.md has the figures. It never asks again: other words of what was found only
lead back to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timezone

from memory_core.adapters.offline.running_rules import fitted
from memory_core.domain.agent_schemas import Sufficiency
from memory_core.domain.ranking.passages import idf
from memory_core.domain.ranking.query import analyse_query
from memory_core.domain.text.analyzer import tokens
from memory_core.ports import DecisionItem

ENOUGH = 0.7
"""Share of the query's meaning that must be in the results."""
LEAD = 0.25
"""Least distance of the best memory's relevance to the tenth."""
_NO_DATES = datetime(2000, 1, 1, tzinfo=timezone.utc)
"""A fixed time, since the terms of a query do not depend on its time."""


def judged(query: str, results: Sequence[DecisionItem]) -> Sufficiency:
    """Judge whether the results answer the query, without suggesting another query.

    Without any `lead` no memory surely answers it.

    Args:
        query: The query.
        results: The memories that were found.

    """
    terms = analyse_query(query, _NO_DATES).terms
    if not results:
        return Sufficiency(sufficient=False, why="Nothing was found.")
    terms_of_each = [set(tokens(result.text)) for result in results]
    frequency = Counter(term for terms in terms_of_each for term in terms)
    missing = [term for term in terms if not frequency[term]]
    share = _share(terms, frequency, len(results))
    leads = [result.lead for result in results if result.lead is not None]
    why = (
        f"{len(terms) - len(missing)} of {len(terms)} words of the query were found, "
        f"{round(100 * share)} % of what it says"
    )
    why += f"; not found: {', '.join(missing[:5])}." if missing else "."
    if not leads:
        return fitted(Sufficiency, sufficient=False, why=f"{why} No memory surely answers it.")
    if max(leads) < LEAD:
        return fitted(
            Sufficiency,
            sufficient=False,
            why=f"{why} Many memories are about as near to it as the best.",
        )
    return fitted(Sufficiency, sufficient=share >= ENOUGH, why=why)


def _share(terms: Sequence[str], frequency: Counter[str], results: int) -> float:
    """Share of the terms' weight that was found; 0 for a query without terms."""
    if not terms:
        return 0.0
    worth = idf([frequency[term] for term in terms], results)
    return float(
        sum(value for term, value in zip(terms, worth, strict=True) if frequency[term])
        / worth.sum()
    )
