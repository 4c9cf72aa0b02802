"""What the pictures of docs/ranking.md draw: parts that add up to the scores,
and places that differ by recipe.
"""

from __future__ import annotations

import numpy as np

from bench.pictures import MEMORIES, RECIPES, _contributions, _scored


async def test_the_parts_of_a_bar_add_up_to_the_recipes_score_and_each_recipe_has_an_order_of_its_own() -> (  # noqa: E501
    None
):
    texts, relevances, scores = await _scored()
    assert sorted(texts) == sorted(memory.text for memory in MEMORIES)
    assert list(relevances) == sorted(relevances, reverse=True)
    for recipe in RECIPES:
        np.testing.assert_allclose(
            sum(_contributions(recipe, relevances, scores[recipe]).values()), scores[recipe].score
        )
    assert len({tuple(np.argsort(-score.score).tolist()) for score in scores.values()}) == len(
        RECIPES
    )
