"""Which rows of a round answer its query, and how near the nearest came.

Thresholds cut relevance before boosts. A query is answered if its best memory reaches the answer
threshold; then all memories down to the similarity threshold pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memory_core.domain.event_log import base_id
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.candidates import CandidateSet, Flags
from memory_core.domain.ranking.query_parts import says_all
from memory_core.domain.ranking.questions import asks_directly, asks_of_oneself
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Nearest
from memory_core.recollection.query_round import DECIMALS, QueryRound

NEAR = 0.75
"""The part of the answer threshold that answers a question of a person about that person.

Of 96 such questions about another person 4 reach it, of 28 whose answer is stored 24; 17 reach the
threshold itself. In a context it opens the budget for a question about any person. Hardly any
evidence is lost at .30, much at .40 (LoCoMo .919 and .908, REALTALK .774 and .755, BEAM .648 and
.587).
"""
FEW_MEMORIES, ENOUGH_MEMORIES = 100, 180
"""The sizes of a memory between which the threshold of a question increases to its full value.

Up to the first number of memories the lowest part of the threshold is enough; from the second
number on the whole threshold is needed. The best of few unrelated memories comes less near to a
question than the best of many.
"""
LEAST_ASKED = 0.5
"""The part of the answer threshold that answers a question if there are few memories.

Of 92 questions in three languages about conversations of half a year 86 are answered with it and 70
without; of 92 about another person's conversations 30 and 7. With 0.4 it would be 87 and 47.
"""


@dataclass(frozen=True, slots=True)
class PassingRows:
    """Chooses the rows of a round that answer its query.

    Thresholds are on the embedder's scale.

    Attributes:
        answer_threshold: The relevance that the best memory must reach.
        similarity_threshold: The relevance that every result must reach.
        score_threshold: The least score by the recipe; None if no score is too low.
        default_results: The number of results of a query that names no limit.

    """

    answer_threshold: float
    similarity_threshold: float
    score_threshold: float | None
    default_results: int

    def limit(self, query: RetrieveInput) -> int:
        """The number of results that a query wants."""
        return query.limit or self.default_results

    def thresholds(self, query: RetrieveInput) -> tuple[float, float]:
        """Return the relevance that the best memory must reach, and that each must reach."""
        answer, floor = query.answer_threshold, query.similarity_threshold
        if answer is None:
            answer = self.answer_threshold if floor is None else floor
        return answer, self.similarity_threshold if floor is None else floor

    def needed(self, query: RetrieveInput, look: QueryRound) -> tuple[float, float]:
        """The thresholds for the results of a round.

        They are those of `thresholds`, but a question needs less, in a small memory above all.
        Memories that answer weakly are returned with those that come near to them, and so are
        memories where the caller names an answer threshold under the similarity threshold.

        Args:
            query: As it was asked.
            look: The round that found the candidates.

        Returns:
            The relevance that the best memory must reach, and the relevance that each must reach.

        """
        return self._needed(query, look, _best(look))

    def _needed(self, query: RetrieveInput, look: QueryRound, best: float) -> tuple[float, float]:
        """The thresholds of `needed`, where the best memory has this relevance."""
        answer, floor = self.thresholds(query)
        if query.similarity_threshold is not None:
            return answer, floor
        if query.mode == "fast" and query.answer_threshold is None:
            head = look.search_answer.head
            share = _share_asked(query.query, 0 if head is None else head.lexical_documents)
            answer = round(share * answer, DECIMALS)
        return answer, min(floor, max(answer, NEAR * best))

    def ranked(self, query: RetrieveInput, look: QueryRound, limit: int | None) -> list[int]:
        """Return the rows over the thresholds, best first, a single row for each memory.

        Of the rows of a cell, the best is returned; so is the best of a memory's versions.

        Args:
            query: The query.
            look: Its round.
            limit: The most rows; None for all.

        Returns:
            The rows; none if the best does not reach the answer threshold.

        """
        best: dict[str, int] = {}
        for row in self.rows(query, look):
            if look.candidates.ids[row] in look.left_out:
                continue
            best.setdefault(episode_of(look, row), row)
            if len(best) == limit:
                break
        return list(best.values())

    def rows(self, query: RetrieveInput, look: QueryRound) -> list[int]:
        """Return all rows that pass, best first.

        A row passes if it reaches the thresholds. If the caller names no thresholds, a row passes
        as well that says all of the query's words.

        Args:
            query: The query.
            look: Its round.

        """
        if not len(look.candidates):
            return []
        best = _best(look)
        answer, floor = self._needed(query, look, best)
        passing = look.relevant.score >= floor
        if best < answer:
            passing = np.zeros(len(look.candidates), dtype=np.bool_)
        if not _names_thresholds(query):
            passing |= says_all(look.query_parts, look.candidates)
        return self._best_first(query, look, passing)

    def over(self, query: RetrieveInput, look: QueryRound, floor: float) -> list[int]:
        """Return all rows that reach a relevance, best first.

        Whether any of them answers the query makes no difference.

        Args:
            query: The query.
            look: Its round.
            floor: The relevance that a row must reach.

        """
        return self._best_first(query, look, look.relevant.score >= floor)

    def _best_first(self, query: RetrieveInput, look: QueryRound, passing: Flags) -> list[int]:
        """Return the passing rows whose score reaches the recipe's threshold, best first."""
        candidates, relevant, scores = look.candidates, look.relevant, look.scores
        cut = self.score_threshold if query.score_threshold is None else query.score_threshold
        if cut is not None:
            passing = passing & (scores.score >= cut)
        rows = passing.nonzero()[0]
        ranked: list[int] = rows[
            np.lexsort((-candidates.event_at[rows], -relevant.score[rows], -look.order[rows]))
        ].tolist()
        return ranked

    def nearest(self, query: RetrieveInput, look: QueryRound) -> Nearest | None:
        """Return how near the nearest candidate came; None without a candidate.

        Args:
            query: The query.
            look: Its round.

        """
        row = self.nearest_row(query, look)
        return (
            None
            if row is None
            else Nearest(
                round(float(look.relevant.score[row]), DECIMALS), max(self.needed(query, look))
            )
        )

    def nearest_row(self, query: RetrieveInput, look: QueryRound) -> int | None:
        """Return the row of the candidate that came nearest.

        A candidate that passed and is no result was removed since the search. It is left out, so
        that the answer says no word of it.

        Args:
            query: The query.
            look: Its round.

        """
        removed, deciding = set(self.rows(query, look)), _deciding(look.candidates)
        rows = [
            row
            for row, name in enumerate(look.candidates.ids)
            if deciding[row] and name not in look.left_out and row not in removed
        ]
        return max(rows, key=lambda row: float(look.relevant.score[row]), default=None)


def _best(look: QueryRound) -> float:
    """Return the relevance that decides whether a query is answered."""
    return float(look.relevant.score[_deciding(look.candidates)].max(initial=0.0))


def _share_asked(query: str, memories: int) -> float:
    """Return the part of the answer threshold that answers a query among this many memories."""
    if not asks_directly(query):
        return 1.0
    of_size = float(np.interp(memories, (FEW_MEMORIES, ENOUGH_MEMORIES), (LEAST_ASKED, 1.0)))
    return min(of_size, NEAR) if asks_of_oneself(query) else of_size


def _deciding(candidates: CandidateSet) -> Flags:
    """Return which candidates decide whether a query is answered.

    These are all candidates but episodes whose messages are candidates themselves. An episode has
    the words of many messages, so it comes near to a question that none of its messages answers.
    """
    episodes = {
        cell
        for name, cell in zip(candidates.ids, candidates.cell, strict=True)
        if cell is not None and is_message(name)
    }
    if not episodes:
        return np.ones(len(candidates), dtype=np.bool_)
    return np.array([name not in episodes for name in candidates.ids], dtype=np.bool_)


def _names_thresholds(query: RetrieveInput) -> bool:
    return query.answer_threshold is not None or query.similarity_threshold is not None


def episode_of(look: QueryRound, row: int) -> str:
    """Return the name that groups rows of which only the best is shown.

    It is the cell that they came from, or the memory whose versions they are.

    Args:
        look: The round that the row is of.
        row: A row of the round.

    """
    return look.candidates.cell[row] or base_id(look.candidates.ids[row])
