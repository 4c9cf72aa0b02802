"""What any embedder must do. OpenAI's is asked through a real socket; MiniLM's runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest

from memory_core.adapters.embedders.cached import CachedEmbedder
from memory_core.adapters.embedders.hash_embedder import HashEmbedder
from memory_core.adapters.embedders.minilm import MiniLMEmbedder
from memory_core.adapters.openai.client import Service
from memory_core.adapters.openai.embedder import OpenAIEmbedder
from memory_core.adapters.redis.local import EmbeddedShortTermStore
from memory_core.domain.errors import Unavailable
from memory_core.domain.ranking.vectors import Chunking
from memory_core.ports import Embedder
from tests.memories import MovableClock
from tests.openai_server import OpenAIServer


@pytest.fixture(params=["hash", "minilm", "openai", "cached"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    server = OpenAIServer(16)
    await server.start()
    short_term = EmbeddedShortTermStore(MovableClock())
    openai = OpenAIEmbedder(
        Service(base_url=f"{server.root}/v1", api_key="k"), "m", 16, MovableClock()
    )
    made: Embedder = {
        "hash": HashEmbedder,
        "minilm": MiniLMEmbedder,
        "openai": lambda: openai,
        "cached": lambda: CachedEmbedder(openai, short_term, MovableClock()),
    }[request.param]()
    await made.open()
    yield made
    await made.close()
    await short_term.close()
    await server.stop()


async def test_each_text_gets_a_normalised_float32_vector_in_order(embedder: Embedder) -> None:
    texts = [
        "a cat",
        "The deployment uses port 8080.",
        "кофе",
        "日本語",
        "🙂",
        "word " * 60,
        "a cat",
    ]
    vectors = await embedder.embed(texts)
    assert [vector.shape for vector in vectors] == [(embedder.dimensions,)] * len(texts)
    assert {vector.dtype for vector in vectors} == {np.dtype(np.float32)}
    np.testing.assert_allclose([np.linalg.norm(vector) for vector in vectors], 1, atol=1e-5)
    np.testing.assert_allclose(vectors[0], vectors[-1], atol=1e-6)
    alone = [(await embedder.embed([text]))[0] for text in texts]
    np.testing.assert_allclose(np.array(alone), np.array(vectors), atol=2e-3)


async def test_no_texts_no_vectors(embedder: Embedder) -> None:
    assert await embedder.embed([]) == []


async def test_concurrent_calls_do_not_mix_their_answers(embedder: Embedder) -> None:
    texts = [f"number {number} of many" for number in range(24)]
    alone = [(await embedder.embed([text]))[0] for text in texts]
    together = await asyncio.gather(*(embedder.embed([text]) for text in texts))
    np.testing.assert_allclose(
        np.array([vectors[0] for vectors in together]), np.array(alone), atol=1e-6
    )


async def test_a_text_of_the_largest_memory_gets_one_vector(embedder: Embedder) -> None:
    text = "The harbour was quiet, and nobody spoke of the storm. " * 600
    assert len(text.encode()) > 32_000
    (vector,) = await embedder.embed([text])
    np.testing.assert_allclose(np.linalg.norm(vector), 1, atol=1e-5)


async def test_what_stands_at_the_end_of_a_long_text_counts(embedder: Embedder) -> None:
    beginning = "The harbour was quiet, and nobody spoke of the storm. " * 60
    first, second = await embedder.embed(
        [beginning + "Anna sold the boat.", beginning + "Quantum chips are cooled with helium."]
    )
    assert float(first @ second) < 0.9999


async def test_a_query_of_ordinary_length_has_the_vector_of_the_same_text(
    embedder: Embedder,
) -> None:
    most = min(embedder.whole_query, 1000)
    for text in (
        "Where does Anna live?",
        "日本語",
        "?",
        "word " * 250,
        "닭" * most,
        "x " * (most // 2),
    ):
        (vector,) = await embedder.embed([text])
        np.testing.assert_array_equal((await embedder.embed_queries([text]))[0], vector)


async def test_it_names_itself_and_answers_its_check(embedder: Embedder) -> None:
    assert embedder.model
    assert (await embedder.check()).status == "ok"


async def test_the_loop_runs_on_while_minilm_works() -> None:
    """A bulk of embeddings is under way; the loop must get its turns all the while."""
    embedder = MiniLMEmbedder()
    await embedder.open()
    bulk = asyncio.create_task(
        embedder.embed([f"a sentence of some length, number {number}" for number in range(40)])
    )
    turns = 0
    while not bulk.done():
        turns += 1
        await asyncio.sleep(0)
    await embedder.close()
    assert turns > 100


async def test_a_question_during_a_bulk_waits_for_a_batch_and_not_for_the_bulk() -> None:
    embedder = MiniLMEmbedder()
    await embedder.open()
    bulk = asyncio.create_task(
        embedder.embed([f"a sentence of some length, number {number}" for number in range(200)])
    )
    await asyncio.sleep(0)
    await embedder.embed(["a question"])
    assert not bulk.done()
    await bulk
    await embedder.close()


async def test_a_query_does_not_wait_for_long_texts_that_were_there_before_it() -> None:
    """Twenty callers save a long text each; none of their batches may stand before the question."""
    embedder = MiniLMEmbedder()
    await embedder.open()
    saves = [
        asyncio.create_task(embedder.embed([f"{number} " + "word " * 220])) for number in range(20)
    ]
    await asyncio.sleep(0)
    (await embedder.embed_queries(["a question"]))[0]
    assert not all(save.done() for save in saves)
    await asyncio.gather(*saves)
    await embedder.close()


async def test_long_texts_beyond_a_minutes_work_are_refused_until_those_before_them_are_done() -> (
    None
):
    embedder = MiniLMEmbedder(chunking=Chunking(20, 5), most_waiting=10)
    await embedder.open()
    text = "The harbour was quiet, and nobody spoke of the storm. " * 40
    first = asyncio.create_task(embedder.embed([text, text + "Anna sold the boat."]))
    while not embedder.waiting:
        await asyncio.sleep(0)
    with pytest.raises(Unavailable) as refused:
        await embedder.embed([text])
    assert refused.value.retry_after_s
    assert len(await first) == 2
    assert len(await embedder.embed([text])) == 1
    await embedder.close()


@pytest.mark.parametrize(
    ("word", "other", "count"),
    [(".", "!", 31_000), ("word ", "wood ", 6_200), ("日本語", "月本語", 3_600)],
)
async def test_of_a_text_however_long_minilm_reads_eight_windows(
    word: str, other: str, count: int
) -> None:
    """The edges always; what is in one of the many others between changes nothing,
    so it cost nothing.
    """
    embedder = MiniLMEmbedder()
    tenth = count // 10
    texts = [
        word * count,
        other + word * (count - 1),
        word * tenth + other + word * (count - tenth - 1),
    ]
    whole, beginning, between = await embedder.embed(texts)
    np.testing.assert_array_equal(whole, between)
    assert not np.array_equal(whole, beginning)
    await embedder.close()


async def test_a_text_has_the_same_minilm_vector_in_any_company() -> None:
    """Neither padding nor a neighbour of other sizes changes it: a stored vector answers the same
    text years later.
    """
    texts = [
        "Ana sold the boat.",
        "yes",
        "the harbour was quiet " * 40,
        "日本語のテキスト",
        "x",
        "I have two dogs, and they are brown.",
    ] * 3
    embedder = MiniLMEmbedder(threads=3)
    together = np.array(await embedder.embed(texts))
    alone = np.array([(await embedder.embed([text]))[0] for text in texts])
    other = MiniLMEmbedder(threads=1)
    short = np.array(await other.embed([texts[0], texts[4]]))
    assert (together * alone).sum(axis=1).min() > 0.99999
    assert (short * alone[[0, 4]]).sum(axis=1).min() > 0.99999
    np.testing.assert_array_equal(
        np.array([(await embedder.embed([text]))[0] for text in texts]), alone
    )
    await embedder.close()
    await other.close()


async def test_minilm_ranks_by_meaning() -> None:
    embedder = MiniLMEmbedder()
    question, near, far = await embedder.embed(
        ["Where does Ana live?", "Her home is in Lisbon.", "The backup runs at two."]
    )
    assert question @ near > question @ far + 0.2
    await embedder.close()


async def test_of_a_very_long_query_minilm_reads_the_edges_and_some_of_what_is_between() -> None:
    """Of a text to be saved more windows are read; a query's answer is waited for."""
    embedder = MiniLMEmbedder(chunking=Chunking(40, 5))
    whole = "The harbour was quiet, and nobody spoke of the storm. " * 40
    middle = len(whole) // 2
    changed = {
        place: whole[:place] + " quantum chips cooled with helium " + whole[place:]
        for place in (0, middle, len(whole))
    }
    asked = (await embedder.embed_queries([whole]))[0]
    saved, saved_changed = await embedder.embed([whole, changed[middle]])
    assert float(asked @ saved) > 0.99
    assert float(saved @ saved_changed) < 0.9999
    assert float(asked @ (await embedder.embed_queries([changed[0]]))[0]) < 0.9999
    assert float(asked @ (await embedder.embed_queries([changed[len(whole)]]))[0]) < 0.9999
    await embedder.close()


async def test_hash_vectors_are_the_same_everywhere_and_unlike_each_other() -> None:
    first, second = await HashEmbedder(384).embed(["one", "two"])
    np.testing.assert_allclose(first[:3], [-0.01797, 0.00946, 0.04206], atol=1e-5)
    assert abs(float(first @ second)) < 0.25
    assert [len(vector) for vector in await HashEmbedder(8).embed(["one"])] == [8]
