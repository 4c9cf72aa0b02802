"""Relevance and orders of queries of one part, as `Measures` has them."""

import numpy as np

from memory_core.domain.ranking.measures import Measures
from memory_core.domain.ranking.query import Part


def measures(query, found, statistics, parameters):
    """Of candidates whose columns are the query's terms."""
    return Measures([Part.whole(query)], found, statistics, parameters)


def relevance(query, found, statistics, parameters):
    """The verdict on U candidates."""
    of_part = measures(query, found, statistics, parameters).relevance()
    return of_part.of_parts(np.zeros(len(found), dtype=np.int64))


def ordering(query, found, statistics, parameters):
    """What orders them."""
    made = measures(query, found, statistics, parameters)
    return made.ordering(made.relevance())[0]
