import json

import numpy as np

from memory_core.domain.ranking.vectors import (
    DIMENSIONS,
    VERSION,
    TokenStates,
    decoded,
    encoded,
    nearest_tokens,
    state_bytes,
)

RANDOM = np.random.default_rng(3)


def states(count):
    made = RANDOM.normal(size=(count, DIMENSIONS)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_what_is_kept_is_one_character_a_number_that_json_takes_as_it_is():
    written = encoded(states(50))
    assert len(written) == len(VERSION) + 50 * DIMENSIONS <= 2_500
    assert len(json.dumps(written)) == len(written) + 2


def test_the_nearest_token_is_found_as_exactly_as_it_matters():
    text, query = states(20), states(4)
    near = nearest_tokens(
        [TokenStates(encoded(query), np.ones(4, dtype=np.float32))], [state_bytes(encoded(text))]
    )
    np.testing.assert_allclose(near[:, 0], (text @ query.T).max(axis=0), atol=0.02)


def test_a_text_without_states_is_not_known_and_hides_no_other():
    asked = TokenStates(encoded(states(3)), np.ones(3, dtype=np.float32))
    near = nearest_tokens([asked], [None, state_bytes(encoded(states(5))), state_bytes("")])
    assert np.isnan(near).all(axis=0).tolist() == [True, False, True]


def test_damaged_states_are_none():
    assert state_bytes(encoded(states(2))[:-1]) is None
    assert state_bytes(VERSION + "é" * DIMENSIONS) is None
    assert state_bytes(encoded(states(2))) is not None


def test_several_queries_are_told_apart():
    text, queries = (
        [state_bytes(encoded(states(9)))],
        [TokenStates(encoded(states(count)), np.ones(count, dtype=np.float32)) for count in (2, 3)],
    )
    apart = [nearest_tokens([query], text) for query in queries]
    np.testing.assert_allclose(
        nearest_tokens(queries, text), np.concatenate(apart), rtol=1e-5, atol=1e-6
    )


def test_states_that_another_table_reduced_are_none():
    of_the_first_table = encoded(states(2)).removeprefix(VERSION)
    assert state_bytes(of_the_first_table) is None
    assert state_bytes(VERSION + of_the_first_table[1:]) is None


def test_each_character_is_the_number_that_was_kept_and_others_are_0():
    """A table of bytes decodes them, in which no other character stands for itself."""
    numbers = np.linspace(-46, 46, 96).reshape(2, DIMENSIONS).astype(np.float32)

    stored = encoded(numbers).removeprefix(VERSION).encode()

    assert np.abs(decoded(stored) - numbers).max() <= 0.5
    assert not decoded(b'"' * DIMENSIONS).any()
