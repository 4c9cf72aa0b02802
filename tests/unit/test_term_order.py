from base64 import b64encode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.ranking.index_terms import (
    NO_PLACES,
    PASSAGE_TERMS,
    analyse,
    encoded_order,
    of_terms,
    order_bytes,
    places_of,
)
from memory_core.domain.text.analyzer import counts, counts_and_order
from tests.builders import NOW

TERMS = tuple(f"term{number}" for number in range(12))


@given(
    st.lists(st.lists(st.sampled_from(TERMS), min_size=PASSAGE_TERMS + 1, max_size=120), max_size=3)
)
def test_every_place_of_every_term_is_known(texts):
    asked = TERMS[:5]
    own = np.array([[term in text for term in asked] for text in texts], dtype=np.bool_).reshape(
        len(texts), len(asked)
    )
    places = places_of(
        {row: order_bytes(encoded_order(text)) for row, text in enumerate(texts)}, asked, own
    )
    expected = [
        (row, place, asked.index(term)) for row, text in enumerate(texts) for place,
        term in enumerate(text) if term in asked
    ]  # fmt: skip
    assert list(zip(*(column.tolist() for column in places), strict=True)) == expected


def test_a_text_of_one_passage_keeps_no_order():
    assert encoded_order(["term"] * PASSAGE_TERMS) == ""
    assert encoded_order(["term"] * (PASSAGE_TERMS + 1)) != ""
    assert analyse("We moved to Lisbon in May", actor="Ann", event_timestamp=NOW).order == ""


def test_a_term_that_the_text_has_not_is_nowhere_in_it():
    order = order_bytes(encoded_order(["dog"] * 100))
    assert len(places_of({0: order}, ["dog"], np.array([[True]])).row) == 100
    assert len(places_of({0: order}, ["dog"], np.array([[False]])).row) == 0


@pytest.mark.parametrize(
    "damaged", ["no letters of it: ü", "QUJD", "====", b64encode(b"abc").decode()]
)
def test_a_damaged_order_is_none(damaged):
    assert order_bytes(damaged) == b""


def test_columns_are_chosen_as_a_part_of_a_query_chooses_them():
    own = np.ones((1, 3), dtype=np.bool_)
    places = places_of({0: order_bytes(encoded_order(["a", "b", "c"] * 30))}, ["a", "b", "c"], own)
    part = of_terms(places, (2, 0))
    assert part.term[:4].tolist() == [1, 0, 1, 0]
    assert part.place[:4].tolist() == [0, 2, 3, 5]
    assert len(of_terms(places, ()).row) == 0
    assert of_terms(NO_PLACES, (1,)) is NO_PLACES


def test_the_order_has_the_terms_that_are_counted():
    for text in (
        "The old harbour and the old boat",
        "Der grüne Tee ist nicht für die Katze, und die Tasse auch nicht",
        "猫が好き",
        "",
    ):
        number, order = counts_and_order(text)
        assert number == counts(text)
        assert set(order) <= number.keys()


def test_a_german_text_is_in_order_for_a_query_that_does_not_say_its_language():
    _, order = counts_and_order("Der grüne Tee und die schönen Katzen sind nicht für die Kinder")
    assert order[1:4] == ["grun", "grune", "tee"]
