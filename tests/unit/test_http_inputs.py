from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from memory_core.domain.errors import Invalid, Malformed
from memory_core.domain.requests.memories import (
    ClearInput,
    ListInput,
    RetrieveInput,
    SaveInput,
    UpdateInput,
)
from memory_core.functions.request_parsing import (
    BulkInput,
    QueryInput,
    from_json,
    from_query,
    query_fields,
)

AHEAD = {"description": "Ana is on a diet", "start_time": "2026-05-08T00:00:00Z"}


def fields_of(model: type[BaseModel], given: dict[str, Any]) -> set[str]:
    with pytest.raises(Invalid) as caught:
        from_json(model, given)
    return {error.field for error in caught.value.errors}


@pytest.mark.parametrize(
    ("model", "given", "field"),
    [
        (SaveInput, {}, "content"),
        (SaveInput, {"content": " "}, "content"),
        (SaveInput, {"content": "é" * 20_000}, "content"),
        (SaveInput, {"content": "a", "type": "semantical"}, "type"),
        (SaveInput, {"type": "procedural", "content": "a"}, "key"),
        (SaveInput, {"content": "a", "subject": "Ana"}, "attribute"),
        (SaveInput, {"content": "a", "event_timestamp": "2026-05-08T13:56:00"}, "event_timestamp"),
        (SaveInput, {"content": "a", "event_timestamp": 1_700_000_000}, "event_timestamp"),
        (
            SaveInput,
            {"content": "a", "event_timestamp": "0001-01-01T00:00:00+14:00"},
            "event_timestamp",
        ),
        (
            SaveInput,
            {"content": "a", "valid_from": "2026-05-08T00:00Z", "valid_until": "2026-05-07T00:00Z"},
            "valid_until",
        ),
        (
            SaveInput,
            {"content": "a", "foresight": [{"description": "x", "start_time": "soon"}]},
            "foresight.0.start_time",
        ),
        (
            SaveInput,
            {"content": "a", "foresight": [{**AHEAD, "description": " "}]},
            "foresight.0.description",
        ),
        (
            SaveInput,
            {"content": "a", "foresight": [AHEAD, {**AHEAD, "description": "a\x00b"}]},
            "foresight.1.description",
        ),
        (
            SaveInput,
            {"content": "a", "foresight": [{**AHEAD, "end_time": "2026-05-08T00:00:00Z"}]},
            "foresight.0.end_time",
        ),
        (
            UpdateInput,
            {"foresight": [{**AHEAD, "description": "\u3000"}]},
            "foresight.0.description",
        ),
        (
            UpdateInput,
            {"foresight": [AHEAD, {**AHEAD, "end_time": "2026-05-08T01:00:00+02:00"}]},
            "foresight.1.end_time",
        ),
        (SaveInput, {"content": "a", "tags": ["x", 1]}, "tags.1"),
        (SaveInput, {"content": "a", "zork": 1}, "zork"),
        (SaveInput, {"content": "a", "metadata": {"app_id": "other"}}, "metadata.app_id"),
        (SaveInput, {"content": "a", "metadata": {"user_id": "other"}}, "metadata.user_id"),
        (SaveInput, {"content": "a", "metadata": {"a": "x" * 9000}}, "metadata"),
        (SaveInput, {"content": "a", "importance": "0.5"}, "importance"),
        (SaveInput, {"content": "a", "pinned": "yes"}, "pinned"),
        (SaveInput, {"content": "a", "session_id": "a/b"}, "session_id"),
        (RetrieveInput, {"query": ""}, "query"),
        (RetrieveInput, {"query": "a", "limit": 0}, "limit"),
        (RetrieveInput, {"query": "a", "limit": 101}, "limit"),
        (RetrieveInput, {"query": "a", "limit": True}, "limit"),
        (RetrieveInput, {"query": "a", "weights": {"recency": 2}}, "weights.recency"),
        (RetrieveInput, {"query": "a", "weights": {"relevance": 1}}, "weights.relevance"),
        (RetrieveInput, {"query": "a", "mode": "deep"}, "mode"),
        (RetrieveInput, {"query": "a", "known_at": "2026-05-08T13:56:00Z"}, "known_at"),
        (RetrieveInput, {"query": "a", "max_tokens": 200}, "max_tokens"),
        (UpdateInput, {"change_reason": "none"}, "content"),
        (ClearInput, {}, "session_id"),
        (BulkInput, {"memories": []}, "memories"),
        (BulkInput, {"memories": [{}] * 101}, "memories"),
    ],
)
def test_a_refused_field_is_named(
    model: type[BaseModel], given: dict[str, Any], field: str
) -> None:
    assert fields_of(model, given) == {field}


def test_all_refused_fields_are_named_at_once() -> None:
    assert fields_of(SaveInput, {"content": "", "type": "x", "zork": 1}) == {
        "content",
        "type",
        "zork",
    }


def test_a_prefix_says_which_item_of_a_bulk_is_meant() -> None:
    with pytest.raises(Invalid) as caught:
        from_json(SaveInput, {"type": "procedural", "content": "a"}, "memories.3.")
    assert caught.value.errors[0].field == "memories.3.key"
    assert caught.value.detail.startswith("memories.3.key: ")


def test_a_field_of_a_union_type_is_named_once_without_the_names_of_its_branches() -> None:
    with pytest.raises(Invalid) as caught:
        from_query(ListInput, {"status": "gone"})
    assert [error.field for error in caught.value.errors] == ["status"]
    assert "'active'" in caught.value.errors[0].message
    assert "'all'" in caught.value.errors[0].message


def test_a_very_long_field_name_is_cut_in_the_answer() -> None:
    assert all(len(field) <= 200 for field in fields_of(SaveInput, {"content": "a", "z" * 5000: 1}))


def test_query_strings_may_say_numbers_and_moments_as_text() -> None:
    list_input = from_query(
        ListInput, {"limit": "7", "at": "2026-05-08T15:56:00+02:00", "status": "all"}
    )
    assert list_input.limit == 7
    assert list_input.at is not None
    assert list_input.at.isoformat() == "2026-05-08T13:56:00+00:00"


def test_json_moments_in_every_form_of_iso_8601_mean_the_same() -> None:
    texts = [
        "2026-05-08T13:56:00Z",
        "2026-05-08t13:56:00z",
        "2026-05-08 13:56+00:00",
        "20260508T135600Z",
        "2026-05-08T15:56:00+02:00",
    ]
    assert (
        len(
            {
                from_json(SaveInput, {"content": "a", "event_timestamp": text}).event_timestamp
                for text in texts
            }
        )
        == 1
    )


def test_a_name_given_twice_in_a_query_string_is_refused_by_name() -> None:
    with pytest.raises(Invalid) as caught:
        query_fields("http://localhost/api/v1/memories?user_id=a&limit=1&user_id=b")
    assert [error.field for error in caught.value.errors] == ["user_id"]


@pytest.mark.parametrize("query", ["user_id=%ff", "&".join(f"f{n}=1" for n in range(60))])
def test_a_query_string_that_cannot_be_read_is_malformed(query: str) -> None:
    with pytest.raises(Malformed):
        query_fields(f"http://localhost/?{query}")


def test_empty_values_of_a_query_string_are_kept() -> None:
    assert query_fields("http://localhost/?user_id=&x=%C3%A4+b") == {"user_id": "", "x": "ä b"}
    assert query_fields("http://localhost/") == {}


texts = st.text(st.characters(exclude_categories=["Cs"]))
# Integers as the JSON parser yields them: longer ones become floats.
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(
    model=st.sampled_from([SaveInput, RetrieveInput, UpdateInput, ClearInput, BulkInput]),
    data=st.data(),
)
def test_no_value_of_a_field_raises_anything_but_a_refusal(
    model: type[BaseModel], data: st.DataObject
) -> None:
    names = st.sampled_from(sorted(model.model_fields))
    given_fields = data.draw(st.dictionaries(names, anything, max_size=4))
    with suppress(Invalid):
        from_json(model, given_fields)


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_no_query_string_raises_anything_but_a_refusal(text: str) -> None:
    with suppress(Malformed, Invalid):
        from_query(QueryInput, query_fields("http://localhost/?" + text))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"query": "x" * 10_001}, "query: may have at most 10,000 characters"),
        (
            {"query": "x", "tags": [str(number) for number in range(200)]},
            "tags: may have at most 50 entries",
        ),
        (
            {"query": "x", "categories": ["a" * 201]},
            "categories.0: may have at most 200 characters",
        ),
    ],
)
def test_too_much_is_refused_in_the_words_of_a_caller(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid) as caught:
        from_json(RetrieveInput, given)
    assert caught.value.detail == message
