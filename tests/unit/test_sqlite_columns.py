"""The columns of a slice: blocks of vectors, the lexical index, and the ties between turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.adapters.memory_index.columns import MAX_TURNS, Slice
from memory_core.adapters.memory_index.postings import BLOCK_ROWS, FIRST_ROWS, LexicalIndex, Vectors
from memory_core.domain.memory import Lexical
from tests.builders import memory, tokens, unit


@pytest.mark.parametrize(
    "rows",
    [
        0,
        1,
        FIRST_ROWS,
        FIRST_ROWS + 1,
        BLOCK_ROWS - 1,
        BLOCK_ROWS,
        BLOCK_ROWS + 1,
        2 * BLOCK_ROWS + 3,
    ],
)
def test_products_are_those_of_one_matrix_over_any_number_of_blocks(rows: int) -> None:
    matrix = np.random.default_rng(rows).standard_normal((rows, 5)).astype(np.float32)
    vectors = Vectors(5)
    for number, row in enumerate(matrix):
        vectors.append(None if number % 7 == 3 else row)
    matrix[3::7] = 0
    query = unit(1, 5)
    assert len(vectors) == rows
    np.testing.assert_allclose(vectors.products(query), matrix @ query, atol=1e-5)
    for asked in (np.arange(rows)[::2], np.arange(rows)[::50], np.arange(rows)[-3:], np.arange(0)):
        np.testing.assert_array_equal(
            vectors.products(query, asked), vectors.products(query)[asked]
        )


def test_equal_vectors_get_equal_products_wherever_they_stand() -> None:
    vectors = Vectors(384)
    for _ in range(BLOCK_ROWS + 37):
        vectors.append(unit(1, 384))
    assert len(set(vectors.products(unit(2, 384)).tolist())) == 1


def test_a_vector_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        Vectors(5).append(unit(1, 4))


@given(
    st.lists(st.dictionaries(st.sampled_from("abcde"), st.sampled_from([0.3, 0.7, 1.0, 2.5]))),
    st.sets(st.sampled_from("abcde")),
)
def test_the_index_tells_each_rows_weight_and_whose_word_it_is(
    rows: list[dict[str, float]], own: set[str]
) -> None:
    index = LexicalIndex()
    for row, weights in enumerate(rows):
        index.append(row, weights, own)
    together = index.find(list("abcdef"))
    for place, token in enumerate("abcdef"):
        postings = index.find([token])
        assert together.rows[together.term == place].tolist() == postings.rows.tolist()
        assert postings.rows.tolist() == [
            row for row, weights in enumerate(rows) if token in weights
        ]
        np.testing.assert_allclose(
            postings.tf, [weights[token] for weights in rows if token in weights], rtol=1e-6
        )
        assert postings.own.tolist() == [token in own] * len(postings.rows)


def put(user_slice: Slice, identity: str, text: str, turn: int | None, **fields: Any) -> None:
    stored_memory = memory(
        id=identity, session_id="s", lexical=Lexical(own=tokens(text), turn=turn), **fields
    )
    user_slice.put(
        stored_memory.id, "memory", stored_memory.model_dump(mode="json"), unit(1).tobytes()
    )


def beside(user_slice: Slice, identity: str) -> tuple[str | None, str | None]:
    row = user_slice.row(identity)
    rows = int(user_slice.column("previous")[row]), int(user_slice.column("next")[row])
    return (
        user_slice.ids[rows[0]] if rows[0] >= 0 else None,
        user_slice.ids[rows[1]] if rows[1] >= 0 else None,
    )


def test_turns_are_tied_in_whatever_order_they_come() -> None:
    user_slice = Slice(8)
    for turn in (2, 0, 1, 4):
        put(user_slice, f"m{turn}", "tea", turn)
    assert [beside(user_slice, f"m{turn}") for turn in (0, 1, 2, 4)] == [
        (None, "m1"),
        ("m0", "m2"),
        ("m1", None),
        (None, None),
    ]


def test_a_changed_text_keeps_its_place_between_its_turns() -> None:
    user_slice = Slice(8)
    for turn in range(3):
        put(user_slice, f"m{turn}", "tea", turn)
    put(user_slice, "m1", "coffee", 1)
    assert user_slice.fallen == 1
    assert (beside(user_slice, "m0"), beside(user_slice, "m1"), beside(user_slice, "m2")) == (
        (None, "m1"),
        ("m0", "m2"),
        ("m1", None),
    )


def test_of_two_memories_with_one_turn_the_later_stands_even_when_the_earlier_changes() -> None:
    user_slice = Slice(8)
    for identity, turn in (("m0", 0), ("first", 1), ("second", 1)):
        put(user_slice, identity, "tea", turn)
    assert beside(user_slice, "m0") == (None, "second")
    put(user_slice, "first", "coffee", None)
    assert beside(user_slice, "m0") == (None, "second")


@pytest.mark.parametrize("turn", [MAX_TURNS, 10**15, -1])
def test_a_forged_turn_has_no_neighbours_and_takes_no_memory(turn: int) -> None:
    user_slice = Slice(8)
    put(user_slice, "m0", "tea", 0)
    put(user_slice, "forged", "tea", turn)
    assert beside(user_slice, "forged") == beside(user_slice, "m0") == (None, None)
    assert user_slice.nbytes < 100_000


def test_a_status_changes_in_place_a_text_in_a_new_row() -> None:
    user_slice = Slice(8)
    for number in range(200):
        put(user_slice, f"m{number}", "tea", None)
    put(user_slice, "m7", "tea", None, status="deleted", access_count=3)
    assert (len(user_slice), user_slice.fallen) == (200, 0)
    assert user_slice.column("access_count")[user_slice.row("m7")] == 3
    put(user_slice, "m7", "tea", None, tags=["new"])
    assert (len(user_slice), user_slice.fallen, user_slice.row("m7")) == (201, 1, 200)
    assert user_slice.tagged("new").tolist() == [200]
    assert not user_slice.column("alive")[7]
