"""A second opinion on the order of the best candidates, by a reranker that reads query and text together, if the settings name one.

Note: it only orders. Which memories pass was decided by relevance before, and the scores that are shown stay what
they were; an answer that does not come in time changes nothing, and the caller is told.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from memory_core.domain.candidates import Floats
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.ports import Reranker

RERANKER = "reranker"
"""How an answer names what it did without."""
MOST_RERANKED = 50
"""The best that are read again, before anything is cut off at the limit."""
_STEP = 1e-9
CHARACTERS = 2_000
"""Of each text: what rerankers read is mostly 512 tokens."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reranking:
    """A reranker and how long it may take."""

    reranker: Reranker
    deadline_s: float

    async def scores(self, app_id: str, query: str, texts: Sequence[str]) -> list[float] | None:
        """How well each text answers, the more the better, in order; None when it failed or was late. One text alone is not sent."""
        if len(texts) < 2:
            return [0.0] * len(texts)
        try:
            async with asyncio.timeout(self.deadline_s):
                return await self.reranker.rerank(app_id, query, [text[:CHARACTERS] for text in texts])
        except TimeoutError:
            log.warning("the reranker gave no answer within %g s", self.deadline_s)
        except (Unavailable, AgentFailed) as error:
            log.warning("going on without the reranker: %s", error.detail)
        return None


def reordered(order: Floats, rows: Sequence[int], scores: Sequence[float]) -> Floats:
    """The numbers of `rows` (best first) handed out again, the highest to the row with the highest score; ties stay in their order."""
    moved = order.copy()
    if rows:
        by_score = np.array(rows)[np.argsort(-np.array(scores), kind="stable")]
        # Equal numbers would let others decide between them again.
        moved[by_score] = np.sort(order[rows])[::-1] - _STEP * np.arange(len(rows))
    return moved


def followed(order: Floats, rows: Sequence[int], groups: Sequence[Hashable]) -> Floats:
    """The numbers with those of a group behind the one of `rows` that was read for it, whose place is theirs. groups: of every row."""
    behind = order.copy()
    read = {groups[row]: row for row in rows}
    for row, group in enumerate(groups):
        best = read.get(group, row)
        if row != best:
            behind[row] = min(order[row], np.nextafter(order[best], -np.inf))
    return behind
