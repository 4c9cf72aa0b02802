"""The parts of a message's content are kept as lengths, and are whatever is joined to the
content again.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.chat.message_content import (
    MAX_PARTS,
    lengths_of_parts,
    parts_sent,
    split_content,
)
from memory_core.domain.chat.messages import read_messages
from memory_core.domain.chat.read_message import timed
from memory_core.domain.conversation import Message
from tests.builders import NOW


@given(st.lists(st.text(min_size=1), min_size=2, max_size=8))
def test_parts_are_split_as_they_were_joined(parts: list[str]) -> None:
    content = "\n".join(parts)
    assert split_content(content, lengths_of_parts(content, parts)) == parts


@given(st.text(), st.lists(st.integers(), max_size=8))
def test_whatever_the_lengths_say_no_word_is_lost_and_none_is_made_up(
    content: str, lengths: list[int]
) -> None:
    assert "\n".join(split_content(content, lengths)) == content


@pytest.mark.parametrize(
    "lengths",
    [
        None,
        [],
        [3],
        [3, 4],
        [4, 4],
        [3, 3, 0],
        [0, 7],
        [7, 0],
        [-1, 8],
        ["3", "4"],
        [True, 6],
        {"3": 4},
        7,
    ],
)
def test_lengths_that_do_not_fit_leave_the_content_whole(lengths: Any) -> None:
    """The content is two parts of three characters each, said with one seam."""
    assert split_content("one two", lengths) == ["one two"]


def test_a_changed_text_of_the_same_length_is_one_part() -> None:
    assert split_content("one two", lengths_of_parts("one\ntwo", ["one", "two"])) == ["one two"]


def test_nothing_said_has_no_parts() -> None:
    assert split_content("", [1, 2]) == []


@pytest.mark.parametrize("parts", [["one"], ["a"] * (MAX_PARTS + 1), ["one", "other"]])
def test_no_lengths_are_kept_of_one_part_too_many_or_another_content(parts: list[str]) -> None:
    content = "one\ntwo" if parts[1:] == ["other"] else "\n".join(parts)
    assert lengths_of_parts(content, parts) == []


def test_a_message_of_one_part_is_stored_as_before() -> None:
    """Only a message of several parts has a field more: its stored form is read by an earlier
    version too.
    """
    (message, several) = timed(
        read_messages([{"role": "user", "content": "a"}, {"role": "user", "content": ["a", "b"]}])[
            0
        ],
        NOW,
    )
    assert "part_lengths" not in message.model_dump()
    assert several.model_dump()["part_lengths"] == [1, 1]
    assert Message.model_validate_json(several.model_dump_json()) == several


def test_a_tools_result_is_one_part_with_the_tools_name_in_front() -> None:
    called = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}],
    }
    result = {
        "role": "tool",
        "tool_call_id": "c1",
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
    }
    messages, _ = read_messages([called, result])
    assert (messages[1].content, messages[1].parts, messages[1].unnamed) == (
        "look: a\nb",
        ("look: a\nb",),
        ("a", "b"),
    )


@pytest.mark.parametrize(
    ("item", "parts"),
    [
        ({"role": "user", "content": "a"}, None),
        ({"role": "user", "content": None}, None),
        ({"type": "reasoning", "summary": []}, None),
        ({"role": "user", "content": []}, []),
        (
            {"role": "user", "content": ["a", {"type": "text", "text": "b", "more": 1}, 7]},
            ["a", {"type": "text", "text": "b", "more": 1}],
        ),
        ({"role": "user", "parts": [{"text": "a"}]}, [{"text": "a"}]),
        ({"type": "human", "data": {"content": ["a"]}}, ["a"]),
        (
            {
                "lc": 1,
                "type": "constructor",
                "id": ["m", "HumanMessage"],
                "kwargs": {"content": ["a"]},
            },
            ["a"],
        ),
    ],
)
def test_an_items_own_parts_are_found_in_each_form(
    item: dict[str, Any], parts: list[Any] | None
) -> None:
    expected = (
        None
        if parts is None
        else [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    )
    assert parts_sent(item) == expected
