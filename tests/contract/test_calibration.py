"""The local embedder's thresholds, measured: they separate what they are for,
with the pairs of `statement_pairs`.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from memory_core.adapters.embedders.minilm import MiniLMEmbedder
from memory_core.domain.ranking.recipes import CALIBRATIONS
from tests.statement_pairs import CONTRADICTED, ONE_TOPIC, REWORDED, Pairs

CALIBRATION = CALIBRATIONS["minilm"]


@pytest.fixture
async def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


async def similarities(embedder: MiniLMEmbedder, pairs: Pairs) -> npt.NDArray[np.float32]:
    left = np.array(await embedder.embed([pair[0] for pair in pairs]))
    right = np.array(await embedder.embed([pair[1] for pair in pairs]))
    return np.asarray((left * right).sum(axis=1))


async def test_what_is_said_again_in_passing_is_a_duplicate_and_other_statements_are_not(
    embedder: MiniLMEmbedder,
) -> None:
    assert (
        await similarities(embedder, REWORDED) >= CALIBRATION.duplicate_threshold
    ).mean() >= 0.95
    assert (
        await similarities(embedder, CONTRADICTED + ONE_TOPIC) < CALIBRATION.duplicate_threshold
    ).all()
    await embedder.close()


async def test_contradictions_are_looked_at_and_nearly_nothing_unrelated_is(
    embedder: MiniLMEmbedder,
) -> None:
    assert (await similarities(embedder, CONTRADICTED) >= CALIBRATION.contradiction_floor).all()
    assert (
        await similarities(embedder, unrelated()) >= CALIBRATION.contradiction_floor
    ).mean() <= 0.02
    await embedder.close()


async def test_most_statements_about_one_topic_are_linked_and_nearly_nothing_unrelated_is(
    embedder: MiniLMEmbedder,
) -> None:
    assert (await similarities(embedder, ONE_TOPIC) >= CALIBRATION.link_threshold).mean() >= 0.5
    assert (await similarities(embedder, unrelated()) >= CALIBRATION.link_threshold).mean() <= 0.01
    await embedder.close()


def unrelated() -> Pairs:
    """First statements paired with each other, where they share no word of more than
    three letters.
    """
    statements = sorted({first for first, _ in REWORDED + CONTRADICTED + ONE_TOPIC})
    return [
        (statement, other)
        for statement, other in combinations(statements, 2)
        if not words(statement) & words(other)
    ]


def words(statement: str) -> set[str]:
    return {
        word.strip(".,").removesuffix("'s").casefold()
        for word in statement.split()
        if len(word) > 3
    }
