"""Attributes that mean the same meet under one name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.statements.attributes import (
    ATTRIBUTES,
    also_called,
    canonical_attribute,
    canonical_subject,
    family_of,
    place_of_attribute,
)


@pytest.mark.parametrize(
    ("name", "filed"),
    [
        ("home city", "home city"),
        ("Home_City", "home city"),
        ("lives_in", "home city"),
        ("current location", "home city"),
        ("job title", "occupation"),
        ("works at", "employer"),
        ("allergic to peanuts", "allergy to peanuts"),
        ("peanut allergy", "allergy to peanut"),
        ("likes jazz", "opinion of jazz"),
        ("favorite colour", "favourite colour"),
        ("opinion of early mornings", "opinion of early mornings"),
        ("opinion of", "opinion of"),
        ("blood type", "blood type"),
        ("favorite color", "favourite colour"),
        ("favourite Farbe", "favourite colour"),
        ("Blutgruppe", "blood type"),
        ("WLAN-Passwort", "wifi password"),
        ("number of Kinder", "number of children"),
        ("体重", "weight"),
        ("любимый город", "любимый город"),
    ],
)
def test_other_names_of_an_attribute_are_filed_under_its_own(name: str, filed: str) -> None:
    assert canonical_attribute(name) == filed


@given(
    st.one_of(
        st.sampled_from(
            [name for attribute in ATTRIBUTES for name in (attribute.name, *attribute.also)]
        ),
        st.text(max_size=40),
    )
)
def test_a_filed_name_is_filed_under_itself(name: str) -> None:
    filed = canonical_attribute(name.replace("…", "sailing"))
    assert canonical_attribute(filed) == filed


def test_no_name_is_claimed_by_two_attributes() -> None:
    names = [name for attribute in ATTRIBUTES for name in (attribute.name, *attribute.also)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("I", "user"),
        ("the user", "user"),
        ("User", "user"),
        ("User's  sister", "user's sister"),
        ("Ana", "Ana"),
        ("Ana's dog", "Ana's dog"),
    ],
)
def test_who_speaks_without_a_name_is_the_user(name: str, named: str) -> None:
    assert canonical_subject(name) == named


def test_all_names_of_an_attribute_are_known_by_each_of_them() -> None:
    names = also_called("occupation")
    assert {"occupation", "job", "profession"} <= {*names}
    assert all(also_called(name) == names for name in names)
    assert also_called("allergy to peanuts") == also_called("blood type") == ()


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("opinion of tea", "opinion of "),
        ("likes tea", "opinion of "),
        ("speaks German", "speaks "),
        ("home city", None),
        ("tennis club", None),
    ],
)
def test_attributes_of_which_one_may_have_several_are_known_by_how_they_begin(
    name: str, family: str | None
) -> None:
    assert family_of(name) == family


def test_who_one_is_has_a_place_before_what_one_likes_and_unknown_attributes_the_last() -> None:
    names = ["name", "home city", "occupation", "allergy to nuts", "likes tea", "speaks German"]
    places = [place_of_attribute(name) for name in names]
    assert places == sorted(set(places))
    assert place_of_attribute("opinion of tea") == place_of_attribute("likes tea")
    assert place_of_attribute("tennis club") == place_of_attribute(None) == len(ATTRIBUTES)
