"""The chat model as a reranker: it reads all texts at once and names those that help, best first. `MEMORY_RERANK_PROVIDER=llm`.

Note: the scores are places in its list and mean nothing beside those of another query.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.adapters.openai.agents import OpenAIAgents
from memory_core.ports import Health


class ListwiseReranker:
    """Asks the agents' model; the owner of the agents opens and closes them."""

    def __init__(self, agents: OpenAIAgents) -> None:
        self._agents = agents

    async def open(self) -> None:
        """Nothing of its own to open."""

    async def close(self) -> None:
        """Nothing of its own to close."""

    def pool(self) -> tuple[int, int]:
        """The model's."""
        return self._agents.pool()

    async def rerank(self, app_id: str, query: str, texts: Sequence[str]) -> list[float]:
        """The number of texts behind each one's place; 0 for those that were not named. Raises Unavailable, AgentFailed."""
        answer = (await self._agents.rank_texts(app_id, query, texts)).value
        named = list(dict.fromkeys(number for number in answer.ranked if number < len(texts)))
        scores = [0.0] * len(texts)
        for place, number in enumerate(named):
            scores[number] = float(len(texts) - place)
        return scores

    async def check(self) -> Health:
        """The model's."""
        return await self._agents.check()
