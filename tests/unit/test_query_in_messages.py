"""The query in the last messages of a chat, and what these messages say."""

from __future__ import annotations

from typing import Any

import pytest

from memory_core.domain.chat.messages import read_messages
from memory_core.domain.chat.read_message import ReadMessage
from memory_core.domain.ranking.chat_query import is_remark, query_in, texts_said
from memory_core.domain.text.sameness import normalised
from tests.chat_forms import CALL, FORMS, ChatForm


def messages(*given: tuple[str, Any]) -> list[ReadMessage]:
    return read_messages(
        [{"role": role, "content": content} for role, content in given], lenient=True
    )[0]


def test_the_query_is_what_the_user_said_last() -> None:
    chat = messages(
        ("system", "Be kind."),
        ("user", "Good morning"),
        ("assistant", "Hello!"),
        ("user", "Where does Ana keep the red boat?"),
    )
    assert (
        query_in([*chat, *messages(("assistant", None), ("tool", "42"))])
        == "Where does Ana keep the red boat?"
    )


@pytest.mark.parametrize(
    "last",
    ["and hers?", "What was her name again?", "Is it still true that he lives there?", "why?"],
)
def test_a_message_that_points_back_brings_the_one_before_it(last: str) -> None:
    chat = messages(
        ("user", "I met Tomas' sister in Porto"), ("assistant", "How nice."), ("user", last)
    )
    assert query_in(chat) == f"I met Tomas' sister in Porto\n{last}"


@pytest.mark.parametrize(
    "last",
    [
        "thanks, good night",
        "Thank you so much!",
        "ok cool",
        "Danke, gute Nacht",
        "ありがとうございます",
    ],
)
def test_thanks_and_goodbyes_do_not_bring_the_message_before_them(last: str) -> None:
    chat = messages(
        ("user", "Where does Ana keep the red boat?"), ("assistant", "In Porto."), ("user", last)
    )
    assert query_in(chat) == last
    assert is_remark(last)


def test_a_message_that_says_what_it_is_about_stands_alone() -> None:
    last = "Which test framework do I prefer for Python projects?"
    assert query_in(messages(("user", "Good morning"), ("user", last))) == last


@pytest.mark.parametrize(
    "chat", [[], [("assistant", "Hello")], [("user", None)], [("user", [])], [("user", " \u200b ")]]
)
def test_where_the_user_says_nothing_there_is_no_query(chat: list[tuple[str, Any]]) -> None:
    assert query_in(messages(*chat)) is None


def test_text_parts_are_joined_and_pictures_are_named() -> None:
    parts = [
        {"type": "text", "text": "Whose is the red boat"},
        {"type": "image_url", "image_url": {"url": "https://x/boat.png"}},
        {"text": "here?"},
    ]
    assert query_in(messages(("human", parts))) == "Whose is the red boat\n[image: boat.png]\nhere?"


def test_the_result_of_a_tool_in_a_message_of_the_user_is_not_asked() -> None:
    parts = [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "18 degrees"},
        {"type": "text", "text": "Where is the boat now?"},
    ]
    assert query_in(messages(("user", parts))) == "Where is the boat now?"


def test_a_long_message_is_asked_by_its_end_and_odd_characters_do_no_harm() -> None:
    query = query_in(messages(("user", [{"text": "a\x00\ud800 " * 6000 + "whose is the boat?"}])))
    assert query is not None
    assert query.endswith("whose is the boat?")
    assert len(query) <= 10_000
    assert "\x00" not in query


def test_what_stands_in_messages_is_known_whole_and_by_each_part_without_looking_at_case_and_blanks() -> (  # noqa: E501
    None
):
    texts = texts_said(
        messages(
            ("user", "The Red  boat sank."),
            ("assistant", [{"text": "Oh no!"}, {"text": "Where?"}]),
            ("tool", None),
        )
    )
    assert texts == {
        normalised(text) for text in ("the red boat sank", "Oh no!\nWhere?", "Oh no!", "Where?")
    }


def test_calls_and_results_of_tools_are_known_as_they_are_kept_and_a_result_also_without_its_tool() -> (  # noqa: E501
    None
):
    """A result that was told by itself was kept without the name of its tool."""
    other = {
        "id": "call_2",
        "type": "function",
        "function": {"name": "find_boat", "arguments": "{}"},
    }
    given = [
        {"role": "assistant", "content": None, "tool_calls": [CALL, other]},
        {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"},
    ]
    contents = [
        'get_weather({"city": "Porto"})\nfind_boat({})',
        'get_weather({"city": "Porto"})',
        "find_boat({})",
        "get_weather: 18 degrees",
    ]
    assert texts_said(read_messages(given)[0]) == {
        normalised(text) for text in (*contents, "18 degrees")
    }


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_what_is_kept_of_a_list_is_known_in_it(form: ChatForm) -> None:
    texts = texts_said(read_messages(form.messages, lenient=True)[0])
    assert {normalised(content) for _, _, content in form.expected} <= texts


@pytest.mark.parametrize(
    "text",
    [
        "Noted!",
        "thanks for telling me",
        "thanks, that's all",
        "👍",
        "sounds good",
        "",
        "That's really helpful, thank you.",
        "ok, see you tomorrow",
    ],
)
def test_a_remark_says_hardly_anything_and_asks_nothing(text: str) -> None:
    assert is_remark(text)


@pytest.mark.parametrize(
    "text", ["And hers?", "Biscuit limped home today", "who?", "Noted! What was her name?"]
)
def test_what_asks_or_says_something_is_no_remark(text: str) -> None:
    assert not is_remark(text)
