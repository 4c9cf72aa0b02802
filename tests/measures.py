"""Relevance and orders of queries of one part, as `Measures` has them."""

import numpy as np

from memory_core.domain.ranking.measures import Measures
from memory_core.domain.ranking.query import QueryPart


def measures(query, candidates, statistics, parameters):
    """Of candidates whose columns are the query's terms."""
    return Measures([QueryPart.whole(query)], candidates, statistics, parameters)


def relevance(query, candidates, statistics, parameters):
    """The verdict on U candidates."""
    of_part = measures(query, candidates, statistics, parameters).relevance()
    return of_part.of_parts(np.zeros(len(candidates), dtype=np.int64))


def ordering(query, candidates, statistics, parameters):
    """What orders them."""
    made = measures(query, candidates, statistics, parameters)
    return made.ordering(made.relevance())[0]
