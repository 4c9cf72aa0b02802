"""Rerankers: a `/rerank` endpoint, and the chat model itself.

Note: the results come in the service's order, and `index` says which text each result is about.
Texts that a service leaves out of its answer come last.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from memory_core.adapters.openai.agents import OpenAIAgents
from memory_core.adapters.openai.client import ModelConnection, Retries, Service
from memory_core.domain.errors import Unavailable
from memory_core.domain.scope import Owner
from memory_core.ports import Clock, Health

DEPENDENCY = "reranker"
TRUST_S = 60
CONCURRENCY = 8


class EndpointReranker:
    """The reranker of `MEMORY_RERANK_PROVIDER=endpoint`.

    `timeout_s` bounds a request. It is tried once, since its caller waits for less than two tries.
    """

    def __init__(self, service: Service, model: str, clock: Clock, *, timeout_s: float) -> None:
        self._model, self._clock, self._timeout_s = model, clock, timeout_s
        self._slots = asyncio.Semaphore(CONCURRENCY)
        self._under_way = 0
        self._connection = ModelConnection(DEPENDENCY, service, timeout_s)
        self._last_ok: datetime | None = None
        self._failing = False

    async def open(self) -> None:
        """Make the client, without sending a request."""
        await self._connection.open()

    async def close(self) -> None:
        """Close the client."""
        await self._connection.close()

    def pool(self) -> tuple[int, int]:
        """Requests that may be under way at once, and requests that are."""
        return CONCURRENCY, self._under_way

    async def rerank(self, owner: Owner, query: str, texts: Sequence[str]) -> list[float]:
        """The service's score of each text, in order. Raises Unavailable."""
        async with self._slots:
            self._under_way += 1
            try:
                answer = await Retries(tries=1, deadline_s=self._timeout_s).run(
                    DEPENDENCY, partial(self._request, query, texts)
                )
                scores = _scores(answer, len(texts))
            except Unavailable:
                self._failing = True
                raise
            finally:
                self._under_way -= 1
        self._failing, self._last_ok = False, self._clock.now()
        return scores

    async def check(self) -> Health:
        """Report the last request if it is fresh, else rank a single word."""
        if (
            self._failing
            or self._last_ok is None
            or self._clock.now() - self._last_ok >= timedelta(seconds=TRUST_S)
        ):
            try:
                await self.rerank(Owner("", ""), "ready", ["ready"])
            except Unavailable as error:
                return Health("endpoint", "unavailable", last_ok=self._last_ok, detail=error.detail)
        return Health("endpoint", "ok", last_ok=self._last_ok)

    async def _request(self, query: str, texts: Sequence[str]) -> Any:
        client = await self._connection.client()
        body = {"model": self._model, "query": query, "documents": list(texts), "top_n": len(texts)}
        return await client.post("/rerank", body=body, cast_to=object)


def _scores(answer: Any, expected: int) -> list[float]:
    """Scores by text.

    Raises Unavailable for an unusable answer: no results, an index beyond the texts, or a score
    that is not a finite number.
    """
    try:
        scored = {
            int(scored_text["index"]): float(scored_text["relevance_score"])
            for scored_text in answer["results"]
        }
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise Unavailable(DEPENDENCY, "it answered something else than scores") from error
    if not scored or not all(
        0 <= place < expected and math.isfinite(score) for place, score in scored.items()
    ):
        raise Unavailable(DEPENDENCY, f"it answered scores that fit no {expected} texts")
    least = min(scored.values())
    return [scored.get(place, least - 1.0) for place in range(expected)]


# The chat model as a reranker (`MEMORY_RERANK_PROVIDER=llm`): it reads all texts at once and names
# those that help, best first.
#
# Note: the scores are ranks in its list, and are not comparable between queries.


class ListwiseReranker:
    """Asks the agents' model; the owner of the agents opens and closes them."""

    def __init__(self, agents: OpenAIAgents) -> None:
        self._agents = agents

    async def open(self) -> None:
        """Do not open the model, which the owner of the agents opens."""

    async def close(self) -> None:
        """Do not close the model, which the owner of the agents closes."""

    def pool(self) -> tuple[int, int]:
        """The pool of the model."""
        return self._agents.pool()

    async def rerank(self, owner: Owner, query: str, texts: Sequence[str]) -> list[float]:
        """Score each text by its place in the model's list.

        The score of the first text is the number of texts, and each further text has 1 less.

        The score is 0 for texts that were not named. Raises Unavailable, AgentFailed.
        """
        answer = (await self._agents.rank_texts(owner, query, texts)).value
        named = list(dict.fromkeys(number for number in answer.ranked if number < len(texts)))
        scores = [0.0] * len(texts)
        for place, number in enumerate(named):
            scores[number] = float(len(texts) - place)
        return scores

    async def check(self) -> Health:
        """Check the model."""
        return await self._agents.check()
