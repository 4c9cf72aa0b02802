"""An entry of the working set is the memory, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.adapters.redis import protocol
from memory_core.domain.memory import Lexical, MemoryType
from tests.memories import turn, unit_vector

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)


@given(
    TEXT,
    st.dictionaries(
        TEXT,
        st.integers(-(2**53), 2**53) | TEXT | st.floats(allow_nan=False, allow_infinity=False),
        max_size=5,
    ),
    st.integers(0, 40),
)
def test_a_memory_survives_the_round_trip(
    content: str, metadata: dict[str, object], dimensions: int
) -> None:
    vector = unit_vector(3, dimensions) if dimensions else None
    memory = turn(
        4,
        content=content,
        metadata=metadata,
        embedding=vector,
        lexical=Lexical(own={content: 2}, asks=True, turn=9),
    )
    back = protocol.from_bytes(protocol.to_bytes(memory))
    assert back == memory.model_copy(update={"embedding": back.embedding})
    if vector is None:
        assert back.embedding is None
    else:
        assert back.embedding is not None
        np.testing.assert_array_equal(back.embedding, vector)


def test_values_of_any_json_kind_keep_their_kind() -> None:
    for value in (None, False, 0, 0.5, "", [], [1, {"a": None}], {"k": [True]}):
        memory = turn(1, type=MemoryType.PROCEDURAL, key="k", value=value)
        assert protocol.from_bytes(protocol.to_bytes(memory)).value == value


@pytest.mark.parametrize("cut", [0, 2, 3, 20, -1])
def test_a_cut_entry_is_refused(cut: int) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - several messages, one class
        protocol.from_bytes(protocol.to_bytes(turn(1))[:cut])


@given(st.binary(max_size=200))
def test_any_bytes_are_a_memory_or_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        protocol.from_bytes(data)
