"""The learned order over every store: it moves results, shows its shares, and changes
nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from memory_core.domain.ranking.vectors import DIMENSIONS, TokenStates, encoded
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.text.analyzer import words
from tests.builders import ALICE
from tests.tasks import Hand, conversation
from tests.world import WordsEmbedder, World, fact, turn

TEXTS = (
    "red boat at sea",
    "a red hat",
    "my old boat and new car",
    "the boat is red, said Ben",
    "tea with lemon",
)


class TokenEmbedder(WordsEmbedder):
    """Each word's state is a direction of its own; equal words are near."""

    async def token_states(self, texts: Sequence[str]) -> list[TokenStates | None]:
        return [_states(text) for text in texts]


def _states(text: str) -> TokenStates:
    made = np.zeros((len(words(text)), DIMENSIONS), dtype=np.float32)
    for row, word in enumerate(words(text)):
        made[row, sum(word.encode()) % DIMENSIONS] = 1
    return TokenStates(encoded(made), np.ones(len(made), dtype=np.float32))


async def results(
    world: World, embedder: WordsEmbedder, mode: Any = "fast", **settings: Any
) -> list[Any]:
    core = await world.core(embedder=embedder, embedding_provider="minilm", **settings)
    await core.bulk(ALICE, [turn(text, "s1") for text in TEXTS])
    asked = RetrieveInput(query="red boat", similarity_threshold=0.0, explain=True, mode=mode)
    return list((await core.retrieve(ALICE, asked)).results)


@pytest.mark.parametrize(
    "embedder", [TokenEmbedder(), WordsEmbedder()], ids=["with states", "without states"]
)
async def test_results_stand_in_the_order_of_their_shares(
    world: World, embedder: WordsEmbedder
) -> None:
    answer_hits = await results(world, embedder)
    sums = [sum(hit.explain["learned"].values()) for hit in answer_hits]
    assert len(answer_hits) == len(TEXTS)
    assert sums == sorted(sums, reverse=True)
    assert ("tokens" in answer_hits[0].explain["learned"]) == isinstance(embedder, TokenEmbedder)


@pytest.mark.parametrize("query", ["red boat", "Where is the red boat? Who has a red boat?"])
async def test_a_fact_of_a_session_stands_by_its_relevance_and_says_so(
    world: World, query: str
) -> None:
    core = await world.core(embedder=TokenEmbedder(), embedding_provider="minilm")
    plain = await world.core(
        embedder=TokenEmbedder(), embedding_provider="minilm", learned_order=False
    )
    await core.bulk(ALICE, [turn(text, "s1") for text in TEXTS])
    await core.save(ALICE, fact("Ben has a red boat", session_id="s1"))
    asked = RetrieveInput(query=query, similarity_threshold=0.0, explain=True)
    explanations = [
        {hit.memory.content: hit.explain for hit in (await opened.retrieve(ALICE, asked)).results}
        for opened in (core, plain)
    ]
    places = [list(explained).index("Ben has a red boat") for explained in explanations]
    assert places[0] == places[1]
    learned = {
        content: explain["learned"] is not None for content, explain in explanations[0].items()
    }
    assert learned == {**dict.fromkeys(TEXTS, True), "Ben has a red boat": False}


async def test_switched_off_nothing_learned_is_told(world: World) -> None:
    answer_hits = await results(world, TokenEmbedder(), learned_order=False)
    assert [hit.explain["learned"] for hit in answer_hits] == [None] * len(TEXTS)


async def test_states_stay_inside(world: World) -> None:
    answer_hits = await results(world, TokenEmbedder())
    assert answer_hits
    assert all(
        "states" not in str(hit.memory.public(include_embedding=True)) for hit in answer_hits
    )


async def test_a_context_orders_turns_as_a_fast_retrieve_does(world: World) -> None:
    embedder = TokenEmbedder()
    core = await world.core(embedder=embedder, embedding_provider="minilm")
    await core.bulk(ALICE, [turn(text, "s1") for text in TEXTS])
    modes: tuple[Any, ...] = ("fast", "reconstruct")
    asked = [
        RetrieveInput(query="red boat", similarity_threshold=0.0, explain=True, mode=mode)
        for mode in modes
    ]
    fast, context = [(await core.retrieve(ALICE, request)).results for request in asked]
    assert [hit.memory.id for hit in context] == [hit.memory.id for hit in fast]
    assert all(hit.explain is not None and hit.explain["learned"] for hit in context)


async def test_relevance_stays_what_it_is_without_it(world: World) -> None:
    core = await world.core(embedder=TokenEmbedder(), embedding_provider="minilm")
    await core.bulk(ALICE, [turn(text, "s1") for text in TEXTS])
    plain = await world.core(
        embedder=TokenEmbedder(), embedding_provider="minilm", learned_order=False
    )
    asked = RetrieveInput(query="Where is the red boat? Who likes tea?", similarity_threshold=0.0)
    scores = [
        {
            hit.memory.id: hit.relevance_score
            for hit in (await opened.retrieve(ALICE, asked)).results
        }
        for opened in (core, plain)
    ]
    assert scores[0] == scores[1]
    assert scores[0]


@pytest.mark.parametrize("floor", [0.0, 0.3])
async def test_an_episode_has_the_relevance_of_its_best_message_whichever_leads(
    world: World, floor: float
) -> None:
    core = await world.core(embedder=TokenEmbedder(), embedding_provider="minilm")
    plain = await world.core(
        embedder=TokenEmbedder(), embedding_provider="minilm", learned_order=False
    )
    await core.converse(ALICE, conversation(*TEXTS))
    await Hand(core).work_all()
    for query in ("red boat", "boat", "the red car", "my tea"):
        asked = RetrieveInput(query=query, similarity_threshold=floor, answer_threshold=0.0)
        hits, without = [
            {hit.memory.content: hit for hit in (await opened.retrieve(ALICE, asked)).results}
            for opened in (core, plain)
        ]
        assert {content: (hit.relevance_score, hit.score) for content, hit in hits.items()} == {
            content: (hit.relevance_score, hit.score) for content, hit in without.items()
        }
        assert any(hit.passages for hit in hits.values())
        for hit in hits.values():
            of_messages = [passage.relevance_score for passage in hit.passages]
            assert hit.relevance_score >= max(of_messages, default=0.0)
