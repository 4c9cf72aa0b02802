"""Long texts are found by their best passage and shown with it, on every store alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.candidates import from_memories
from memory_core.domain.ranking.index_terms import analyse
from memory_core.domain.requests.memories import RetrieveInput, SaveInput
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.ports import LongTermStore
from tests.builders import ALICE, NOW, memory, query, save
from tests.messages import best_words, lines, rare_words, results, say
from tests.tasks import finished
from tests.world import WordsEmbedder, World, turn

SENTENCES, WORDS = 125, 12
"""Sentences of a text, and words of each: 1,500 together."""


def prose(first: int = 1000) -> str:
    return ". ".join(lines(SENTENCES, first)) + "."


async def with_short_ones(core: MemoryCore, *, owner: Owner = ALICE) -> None:
    await core.bulk(owner, [turn(text, None) for text in lines(40)])


@pytest.mark.parametrize(
    "number", [0, SENTENCES // 2, SENTENCES - 1], ids=["first", "middle", "last"]
)
async def test_a_text_of_1500_words_is_found_by_one_of_its_sentences(
    words: MemoryCore, number: int
) -> None:
    await with_short_ones(words)
    long = (await words.save(ALICE, SaveInput(content=prose(), type="semantic"))).memory
    assert len(long.content.split()) == WORDS * SENTENCES == 1500
    for asked in (
        lines(1, 1000 + number)[0],
        rare_words(1000 + number),
        f"What were {rare_words(1000 + number, 4)}?",
    ):
        for _ in range(2):  # once by queries, then held where the store holds users
            best = (await results(words, asked))[0]
            assert best.memory.id == long.id
            (passage,) = best.passages
            assert rare_words(1000 + number) in passage.text
            assert len(passage.text) < 0.2 * len(long.content)
            assert (passage.message, passage.relevance_score) == (long.id, best.relevance_score)


async def test_a_text_of_1500_words_is_found_by_rare_words_from_all_over_it(
    words: MemoryCore,
) -> None:
    await with_short_ones(words)
    long = (await words.save(ALICE, SaveInput(content=prose(), type="semantic"))).memory
    asked = " ".join(rare_words(1000 + number, 1) for number in (2, 31, 60, 90, 121))
    (best,) = await results(words, asked)
    assert best.memory.id == long.id
    assert (
        await words.retrieve(ALICE, RetrieveInput(query=asked, answer_threshold=0.39))
    ).results == ()
    assert await results(words, f"{asked} zinc") == (), "a word that it doesn't say"


async def test_explain_says_that_a_passage_answers(words: MemoryCore) -> None:
    await with_short_ones(words)
    await words.save(ALICE, SaveInput(content=prose(), type="semantic"))
    asked = RetrieveInput(query=rare_words(1050), explain=True)
    answer = await words.retrieve(ALICE, asked)
    explanation = answer.results[0].explain or {}
    norm = 0.7 * (
        0.6
        + 0.4
        * explanation["passage"]["length"]
        / min(max((answer.explain or {})["mean_length"], 30), 40)
    )
    assert explanation["passage"]["weight"] == 1.0
    assert explanation["passage"]["terms"] == dict.fromkeys(explanation["terms"], 1.0)
    share = sum(term["worth"] for term in explanation["terms"].values()) / (1.0 + norm)
    assert answer.results[0].lexical_score == pytest.approx(share, abs=1e-4)
    short = await words.retrieve(ALICE, RetrieveInput(query=rare_words(3), explain=True))
    assert (short.results[0].explain or {})["passage"] is None
    assert short.results[0].passages == (), "a short text is read as it is"


async def test_a_long_message_is_found_by_one_of_its_sentences_before_and_after_it_is_formed(
    world: World,
) -> None:
    core = await world.core(embedder=WordsEmbedder())
    (accepted,) = await say(core, [lines(1)[0], prose(), lines(1, 1)[0]])
    for _ in range(2):
        hit = (await results(core, rare_words(1100)))[0]
        assert [rare_words(1100) in passage.text for passage in hit.passages] == [True]
        assert is_message(hit.passages[0].message)
        await finished(world, core, accepted)


async def test_what_is_said_in_a_line_after_long_answers_is_found_by_its_words(
    words: MemoryCore,
) -> None:
    await with_short_ones(words)
    await words.bulk(
        ALICE, [turn(prose(2000), actor="assistant"), turn(prose(3000), actor="assistant")]
    )
    line = (await words.save(ALICE, turn(lines(1, 500)[0], actor="Ana"))).memory
    hit = (await results(words, f"What were {rare_words(500, 3)}?"))[0]
    assert hit.memory.id == line.id


async def test_questions_about_something_else_find_nothing_in_long_texts(words: MemoryCore) -> None:
    # in a small memory a question is answered by what comes nearest
    for first in (0, 100):
        await words.bulk(ALICE, [turn(text, None) for text in lines(100, first)])
    await words.bulk(
        ALICE, [turn(prose(2000), actor="assistant"), turn(prose(3000), actor="assistant")]
    )
    assert (
        await results(
            words, f"Did {rare_words(7000, 3)} see the new {rare_words(7001, 2)} yesterday?"
        )
        == ()
    )


async def test_every_store_knows_where_terms_stand_in_long_texts(store: LongTermStore) -> None:
    def told(number: int, text: str) -> Any:
        return memory(
            text,
            id=f"mem_{number}",
            lexical=analyse(text, actor=None, event_timestamp=NOW),
            session_id=None,
        )

    saved = [told(0, prose()), told(1, lines(1, 1050)[0]), told(2, prose(1050))]
    head = await save(store, *saved)
    terms = tuple(analyse(rare_words(1050), actor=None, event_timestamp=NOW).own)
    for _ in range(3):
        candidates = (await store.search(ALICE, query(" ".join(terms)))).candidates
        by_id = {result.id: result for result in saved}
        expected = from_memories([by_id[name] for name in candidates.ids], terms, None).places
        assert [column.tolist() for column in candidates.places] == [
            column.tolist() for column in expected
        ]
        assert set(candidates.places.row.tolist()) == {
            row for row, name in enumerate(candidates.ids) if name != "mem_1"
        }
    assert head.sequence > 0


class Reads:
    """A store that counts the memories it is asked for by id."""

    def __init__(self, inner: LongTermStore) -> None:
        self.inner = inner
        self.asked: list[str] = []

    async def memories(
        self, owner: Owner, ids: Sequence[str], *more: Any, **options: Any
    ) -> Mapping[str, SerializedMemory]:
        self.asked += ids
        return await self.inner.memories(owner, ids, *more, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


async def test_a_message_that_a_cell_shows_is_read_once(world: World) -> None:
    stores: list[Reads] = []

    def counted(inner: LongTermStore) -> Any:
        stores.append(Reads(inner))
        return stores[-1]

    core = await world.core(embedder=WordsEmbedder(), wrap=counted)
    (accepted,) = await say(core, lines(6))
    await finished(world, core, accepted)
    assert await best_words(core, rare_words(3)) == lines(6)[3]
    stores[0].asked.clear()
    await results(core, rare_words(3))
    assert len(stores[0].asked) == len(set(stores[0].asked))
