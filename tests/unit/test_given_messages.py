"""The query in the last messages of a chat, and what these messages say."""

from __future__ import annotations

from typing import Any

import pytest

from memory_core.domain.given_messages import GivenMessage
from memory_core.domain.query_in_messages import query_in, texts_said


def messages(*given: tuple[str, Any]) -> list[GivenMessage]:
    return [GivenMessage.model_validate({"role": role, "content": content}) for role, content in given]


def test_the_query_is_what_the_user_said_last() -> None:
    chat = messages(
        ("system", "Be kind."), ("user", "Good morning"), ("assistant", "Hello!"), ("user", "Where does Ana keep the red boat?")
    )
    assert query_in([*chat, *messages(("assistant", None), ("tool", "42"))]) == "Where does Ana keep the red boat?"


@pytest.mark.parametrize("last", ["and hers?", "What was her name again?", "Is it still true that he lives there?", "why?"])
def test_a_message_that_points_back_brings_the_one_before_it(last: str) -> None:
    chat = messages(("user", "I met Tomas' sister in Porto"), ("assistant", "How nice."), ("user", last))
    assert query_in(chat) == f"I met Tomas' sister in Porto\n{last}"


def test_a_message_that_says_what_it_is_about_stands_alone() -> None:
    last = "Which test framework do I prefer for Python projects?"
    assert query_in(messages(("user", "Good morning"), ("user", last))) == last


@pytest.mark.parametrize("chat", [[], [("assistant", "Hello")], [("user", None)], [("user", [])], [("user", " \u200b ")]])
def test_where_the_user_says_nothing_there_is_no_query(chat: list[tuple[str, Any]]) -> None:
    assert query_in(messages(*chat)) is None


def test_text_parts_are_joined_and_other_parts_say_nothing() -> None:
    parts = [
        {"type": "text", "text": "Whose is the red boat"},
        {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
        {"text": "here?"},
    ]
    assert query_in(messages(("human", parts))) == "Whose is the red boat\nhere?"


def test_a_long_message_is_asked_by_its_end_and_odd_characters_do_no_harm() -> None:
    query = query_in(messages(("user", [{"text": "a\x00\ud800 " * 6000 + "whose is the boat?"}])))
    assert query is not None
    assert query.endswith("whose is the boat?")
    assert len(query) <= 10_000
    assert "\x00" not in query


def test_what_stands_in_messages_is_known_without_looking_at_case_and_blanks() -> None:
    said = texts_said(messages(("user", "The Red  boat sank."), ("assistant", [{"text": "Oh no!"}, {"text": "Where?"}]), ("tool", None)))
    assert said == {"the red boat sank", "oh no!\nwhere?", "oh no", "where?"} or "the red boat sank" in said
