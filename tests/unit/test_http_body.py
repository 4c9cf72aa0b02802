from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.errors import (
    Invalid,
    Malformed,
    MemoryCoreError,
    TooLarge,
    UnsupportedMediaType,
)
from memory_core.functions.request_body import MAX_DEPTH, read_object

LIMIT = 1 << 20
JSON = "application/json"


def refusal(body: bytes, content_type: str | None = JSON) -> MemoryCoreError:
    with pytest.raises(MemoryCoreError) as caught:
        read_object(body, content_type, LIMIT)
    return caught.value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b'\xef\xbb\xbf{"a": 1}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"{'a': 1}",
    ],
)
def test_what_is_no_json_is_malformed_and_names_the_body(body: bytes) -> None:
    error = refusal(body)
    assert isinstance(error, Malformed)
    assert error.errors[0].field == "body"


@pytest.mark.parametrize("body", [b"[]", b'[{"user_id": "a"}]', b'"text"', b"1", b"null"])
def test_json_that_is_no_object_is_invalid(body: bytes) -> None:
    error = refusal(body)
    assert isinstance(error, Invalid)
    assert error.errors[0].message == "must be a JSON object"


@pytest.mark.parametrize(
    "body", [b'{"user_id":"a","user_id":"b"}', b'{"x":[{"a":1,"b":{"c":1,"\\u0063":2}}]}']
)
def test_a_name_given_twice_in_one_object_is_malformed(body: bytes) -> None:
    error = refusal(body)
    assert isinstance(error, Malformed)
    assert "twice" in error.detail


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin-1",
    ],
)
def test_another_media_type_is_refused(content_type: str | None) -> None:
    assert isinstance(refusal(b"{}", content_type), UnsupportedMediaType)


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "Application/JSON; charset=UTF-8", 'application/json;charset="utf-8"'],
)
def test_json_in_utf8_is_accepted_however_it_is_written(content_type: str) -> None:
    assert read_object(b'{"a": "\xc3\xa4"}', content_type, LIMIT) == {"a": "ä"}


def test_a_body_may_be_as_long_as_the_limit_and_no_longer() -> None:
    body = b'{"a": "' + b"x" * 91 + b'"}'
    assert len(body) == 100
    assert read_object(body, JSON, 100)
    with pytest.raises(TooLarge):
        read_object(body, JSON, 99)


def test_nesting_is_accepted_up_to_the_limit_and_refused_one_deeper() -> None:
    def nested(depth: int) -> bytes:
        return b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"

    assert read_object(nested(MAX_DEPTH), JSON, LIMIT)
    assert isinstance(refusal(nested(MAX_DEPTH + 1)), Malformed)


def test_brackets_and_colons_inside_texts_are_only_text() -> None:
    value = {"a": "[" * 1000, "b": '":{"', 'c": "d': '\\":', "e": ['"', ":", '":']}
    assert read_object(json.dumps(value).encode(), JSON, LIMIT) == value


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(value=st.dictionaries(st.text(), values, max_size=5), ascii_only=st.booleans())
def test_every_json_object_is_read_as_it_is(value: dict[str, object], ascii_only: bool) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert read_object(body, JSON, LIMIT) == value


@given(body=st.binary(max_size=200))
def test_no_bytes_raise_anything_but_a_refusal(body: bytes) -> None:
    with suppress(Malformed, Invalid):
        read_object(body, JSON, LIMIT)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (b'{"weights": {"recency": NaN}}', "weights.recency"),
        (b'{"a": [1, -Infinity]}', "a.1"),
        (b'{"importance": 1e999}', "importance"),
        (b'{"metadata": {"a": [1, 18446744073709551616]}}', "metadata.a.1"),
        (b'{"value": -9223372036854775809}', "value"),
        (b'{"value": ' + b"9" * 5000 + b"}", "value"),
    ],
)
def test_a_number_that_would_be_read_as_another_is_named_by_its_field(
    text: bytes, field: str
) -> None:
    error = refusal(text)
    assert isinstance(error, Malformed)
    assert [refused.field for refused in error.errors] == [field]


def test_many_digits_are_fine_in_texts_and_fractions() -> None:
    value = {
        "a": "9" * 40,
        "b": [f'"{"1" * 30}"', 1e30, 0.1234567890123456789012345],
        "c": 18_446_744_073_709_551_615,
    }
    assert read_object(json.dumps(value).encode(), JSON, LIMIT) == value
