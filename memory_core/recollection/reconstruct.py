"""Retrieve by reconstructing: rounds of quotations, until they are enough.

Widely found candidates → the turns around the best → quotations within a budget of tokens → is that
enough? → at most two more rounds with a rewritten query. Design: EverMemOS, reconstructive
recollection. Note: the context holds every hit that fits, not the ten results alone; and where
nothing surely answers it has the first few, though there are no results.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime

from memory_core.domain.agent_schemas import Sufficiency
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.domain.event_log import base_id
from memory_core.domain.fields import DEFAULT_MAX_TOKENS
from memory_core.domain.ranking.selection import Packed, Piece, packed
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Hit, Retrieved
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.ports import Agents, DecisionItem
from memory_core.recollection.gather import Gatherer, Rounds
from memory_core.recollection.replaced_lines import mark_replaced_pieces
from memory_core.recollection.retrieve import Retriever

log = logging.getLogger(__name__)
MOST_REWRITTEN = 2


class Reconstructor:
    """Answers queries for any owner with a context.

    The agent `rules` judges the context if `agents` fail.
    """

    def __init__(
        self, gatherer: Gatherer, retriever: Retriever, agents: Agents, rules: Agents
    ) -> None:
        self._gatherer, self._retriever, self._agents, self._rules = (
            gatherer,
            retriever,
            agents,
            rules,
        )

    async def reconstruct(self, owner: Owner, query: RetrieveInput) -> Retrieved:
        """Retrieve in rounds, and build a context of the hits.

        Args:
            owner: Whose memories are searched.
            query: The query with its filters, limits and budget of tokens.

        Returns:
            Results as `Retriever.retrieve` has them, of all rounds, and the context.

        Raises:
            Unavailable: The long-term store is down.
            EmbeddingMismatch: The embedder does not fit the stored vectors.

        """
        rounds, answers = Rounds(), list[Retrieved]()
        degraded: dict[str, None] = {}
        max_tokens = query.max_tokens or DEFAULT_MAX_TOKENS
        asking = query
        while True:
            look = await self._gatherer.look(owner, asking, rounds)
            answers.append(await self._retriever.answer(owner, asking, look))
            degraded |= dict.fromkeys(answers[-1].degraded)
            pieces, untold = await asyncio.gather(
                self._gatherer.pieces(owner, rounds), self._gatherer.untold_pieces(owner, rounds)
            )
            context = await asyncio.to_thread(_pack, pieces, untold, max_tokens, rounds)
            verdict = await self._judge(owner, rounds, context, degraded)
            again = verdict.rewritten
            if (
                verdict.sufficient
                or not again
                or again in rounds.asked
                or len(rounds.asked) > MOST_REWRITTEN
            ):
                break
            asking = query.asking(again)
        if query.at is None:
            noted = {
                name
                for answer in answers
                for hit in answer.results
                for name in (hit.memory.id, *(passage.message for passage in hit.passages))
            }
            self._gatherer.note(
                owner,
                rounds,
                [name for piece in context.pieces if (name := base_id(piece.id)) not in noted],
            )
        results = _without_ended_foresight(
            _best(answers, self._retriever.passing.limit(query)), look.moment
        )
        return Retrieved(
            results=results,
            as_of_sequence=answers[0].as_of_sequence,
            degraded=tuple(degraded),
            explain=answers[0].explain,
            context=context.text,
            citations=tuple(base_id(piece.id) for piece in context.pieces),
            rounds=len(rounds.asked),
            sufficient=verdict.sufficient,
            why=verdict.why,
            nearest=None if results else answers[0].nearest,
        )

    async def _judge(
        self, owner: Owner, rounds: Rounds, context: Packed, degraded: dict[str, None]
    ) -> Sufficiency:
        """Ask the agents whether the context is sufficient, or the rules if the agents fail.

        The best memories come first.
        """
        numbered = sorted(enumerate(context.pieces, 1), key=lambda pair: -pair[1].priority)
        lead = rounds.lead
        items = [
            DecisionItem(number, "\n".join(piece.lines), None, piece.at, lead=lead.get(piece.id))
            for number, piece in numbered
        ]
        ask = owner, rounds.asked[0], tuple(rounds.asked), items
        try:
            return (await self._agents.judge_sufficiency(*ask)).value
        except (Unavailable, AgentFailed) as error:
            log.warning("the rules judge whether an answer is sufficient: %s", error.detail)
            degraded["agents"] = None
            return (await self._rules.judge_sufficiency(*ask)).value


def _pack(
    pieces: Sequence[Piece], untold: Sequence[Piece], max_tokens: int, rounds: Rounds
) -> Packed:
    with_marks = mark_replaced_pieces(pieces, rounds.looks[0].moment, untold)
    return packed(with_marks, max_tokens, rounds.terms, rounds.grant)


def _best(answers: Sequence[Retrieved], limit: int) -> tuple[Hit, ...]:
    """Merge the results of all rounds by score.

    The results of the same round keep its order, which a reranker, repeats and present truths
    decide as well.
    """
    if len(answers) == 1:
        return answers[0].results
    placed: list[tuple[float, Hit]] = []
    for answer in answers:
        placed += zip(
            sorted((hit.score for hit in answer.results), reverse=True), answer.results, strict=True
        )
    best: dict[str, Hit] = {}
    for _, hit in sorted(placed, key=lambda pair: -pair[0]):
        best.setdefault(hit.memory.id, hit)
    return tuple(
        hit._replace(rank=place) for place, hit in enumerate(list(best.values())[:limit], 1)
    )


def _without_ended_foresight(hits: Sequence[Hit], moment: datetime) -> tuple[Hit, ...]:
    """Return the results without foresight that has ended."""
    current: list[Hit] = []
    for hit in hits:
        memory = hit.memory
        standing = [
            foresight
            for foresight in memory.foresight
            if foresight.end_time is None or moment < foresight.end_time
        ]
        if len(standing) < len(memory.foresight):
            hit = hit._replace(serialized=SerializedMemory.of(memory.changed(foresight=standing)))
        current.append(hit)
    return tuple(current)
