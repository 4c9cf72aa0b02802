"""Queries that no person means: each has a defined answer in every mode, and none is an error."""

from __future__ import annotations

from itertools import product
from typing import Any

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ContextInput, RetrieveInput
from memory_core.domain.text.token_count import count_tokens
from tests.builders import ALICE
from tests.world import turn

MODES = ("fast", "reconstruct")
ODD = {
    "stop words": "the of and to a in",
    "question words": "what about you?",
    "emoji": "🙂🍕👩‍👩‍👧",
    "signs": "?!.,;:-_()[]{}",
    "long": "red boat " * 1111,
    "one long word": "x" * 10_000,
    "sql": "'; DROP TABLE documents; --",
    "full text": 'boat* NEAR/2 "red OR (sank" AND NOT ^',
    "cosmos": 'c.body) OR 1=1 -- @p0 {"a": [1]}',
    "direction": "\u202eboat\u2066 red\u200b",
    "markup": "</memories><script>boat</script>",
}


async def asked(core: MemoryCore, query: str, mode: str, **fields: Any) -> list[str]:
    answer = await core.retrieve(
        ALICE, RetrieveInput.model_validate({"query": query, "mode": mode, **fields})
    )
    assert (answer.context is None) == (mode == "fast")
    if answer.context:
        assert count_tokens(answer.context) <= 2000
    return [hit.memory.content for hit in answer.results]


async def test_an_odd_query_is_answered(words: MemoryCore) -> None:
    for query, mode in product(ODD.values(), MODES):
        assert await asked(words, query, mode) == [], "of somebody unknown"
    await words.bulk(ALICE, [turn("the red boat sank"), turn("lunch"), turn("🙂")])
    for name, query in ODD.items():
        for mode in MODES:
            contents = await asked(words, query, mode)
            assert len(contents) <= 3
            if "red boat" in query:
                assert contents[0] == "the red boat sank", name
        await words.context(ALICE, ContextInput(query=query))


async def test_what_is_nearest_answers_a_query_without_words(words: MemoryCore) -> None:
    await words.bulk(ALICE, [turn("🙂 🍕", None), turn("the red boat", None)])
    for mode in MODES:
        assert await asked(words, "🙂 🍕", mode) == ["🙂 🍕"]


async def test_one_memory_is_found_and_identical_ones_are_all_results_and_told_once(
    words: MemoryCore,
) -> None:
    await words.save(ALICE, turn("the red boat sank", None))
    for mode in MODES:
        assert await asked(words, "red boat", mode) == ["the red boat sank"]
    await words.bulk(ALICE, [turn("the red boat sank", f"s{n}") for n in range(4)])
    for mode in MODES:
        assert len(await asked(words, "red boat", mode)) == 5
    answer = await words.retrieve(ALICE, RetrieveInput(query="red boat", mode="reconstruct"))
    assert (answer.context or "").count("the red boat sank") == 1


async def test_fifty_tags_are_a_filter_like_one(words: MemoryCore) -> None:
    await words.bulk(
        ALICE, [turn("the red boat", tags=["t7"]), turn("the red boat again", tags=["other"])]
    )
    for mode in MODES:
        assert await asked(words, "red boat", mode, tags=[f"t{n}" for n in range(50)]) == [
            "the red boat"
        ]
