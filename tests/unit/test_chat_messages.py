"""Messages as chat models exchange them, read into messages as they are kept."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.domain.chat.messages import read_messages
from memory_core.domain.chat.parts import MAX_TOOL_CHARACTERS, without_data_urls
from memory_core.domain.chat.read_message import ReadMessage, timed
from memory_core.domain.errors import Invalid
from memory_core.domain.requests.maintenance import AgentMemoryInput, BatchInput, SummaryInput
from memory_core.domain.requests.memories import ContextInput, ConverseInput
from memory_core.functions.request_parsing import from_json
from tests.builders import NOW
from tests.chat_forms import DATA_URL, FORMS, PDF, PNG, ChatForm

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def shown(messages: list[ReadMessage]) -> list[tuple[str | None, str | None, str]]:
    return [(message.role, message.actor, message.content) for message in messages]


def refusals(messages: Any, model: type[Any] = ConverseInput, **fields: Any) -> dict[str, str]:
    with pytest.raises(Invalid) as refused:
        from_json(model, {"messages": messages, **fields}, now=NOW)
    return {error.field: error.message for error in refused.value.errors}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_each_documented_form_is_read_and_nothing_of_it_is_unknown(form: ChatForm) -> None:
    messages, ignored = read_messages(form.messages)
    assert shown(messages) == form.expected
    assert ignored == ()
    assert not any(PNG in message.content or PDF in message.content for message in messages)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize(
    "model", [ConverseInput, BatchInput, AgentMemoryInput, SummaryInput, ContextInput]
)
def test_each_call_that_is_told_messages_takes_each_form(form: ChatForm, model: type[Any]) -> None:
    session = {"session_id": "s"} if model is BatchInput else {}
    parsed = from_json(model, {"messages": form.messages, **session}, now=NOW)
    assert shown(list(parsed.messages)) == form.expected
    assert parsed.messages.ignored == ()


def test_other_fields_and_kinds_are_ignored_and_named_once() -> None:
    message = {
        "role": "user",
        "content": [{"type": "text", "text": "a"}, {"type": "hologram", "of": "a cat"}],
        "foo": 1,
        "my salary": 2,
    }
    messages, ignored = read_messages([message, message])
    assert messages[0].content == "a\n[hologram]"
    assert ignored == (
        "messages.*.foo",
        "messages.*.(a name that is not shown)",
        "messages.*.content.*.hologram",
    )


def test_fields_within_a_dump_that_are_not_known_are_named_too() -> None:
    dumps = [
        {"type": "human", "data": {"content": "a", "mood": "good"}},
        {"type": "constructor", "id": ["HumanMessage"], "kwargs": {"content": "b", "foo": 1}},
    ]
    messages, ignored = read_messages(dumps)
    assert shown(messages) == [("user", None, "a"), ("user", None, "b")]
    assert ignored == ("messages.*.mood", "messages.*.foo")


def test_a_field_beside_a_dumps_data_counts_as_one_within() -> None:
    moment = datetime(2026, 11, 3, 9, tzinfo=timezone.utc)
    dump = {
        "type": "human",
        "timestamp": moment.isoformat(),
        "mood": "good",
        "data": {"content": "a"},
    }
    (message,), ignored = read_messages([dump])
    assert (message.role, message.content, message.timestamp) == ("user", "a", moment)
    assert ignored == ("messages.*.mood",)


def test_a_dump_of_what_is_no_message_is_refused() -> None:
    dump = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "prompts", "PromptTemplate"],
        "kwargs": {"template": "a"},
    }
    assert refusals([dump]) == {
        "messages.0.kwargs.type": "is not a kind of message that is known; a message has a role "
        "and a content"
    }


def test_a_message_of_several_parts_names_them() -> None:
    messages, _ = read_messages(
        [
            {"role": "user", "content": ["a", {"type": "text", "text": "b\nc"}]},
            {"role": "user", "content": "d"},
        ]
    )
    assert [message.parts for message in messages] == [("a", "b\nc"), ("d",)]


ODD = [
    {"role": "user"},
    {"role": "user", "content": None},
    {"role": "user", "content": []},
    {"role": "user", "content": " "},
    {"role": "user", "text": "a"},
    {"role": "user", "content": [{"text": 3}, {}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1"}, 3]},
    {"role": "assistant", "tool_calls": 3, "refusal": 3, "audio": 3},
    {"type": "function_call_output", "call_id": "call_1"},
    {"type": "reasoning"},
]


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_where_a_model_is_only_shown_messages_what_says_nothing_is_passed_over(
    odd: dict[str, Any],
) -> None:
    context_input = from_json(
        ContextInput, {"messages": [odd, {"role": "user", "content": "b"}]}, now=NOW
    )
    assert shown(list(context_input.messages)) == [("user", None, "b")]


def test_where_a_model_is_only_shown_messages_an_empty_list_is_one() -> None:
    assert len(from_json(ContextInput, {"messages": []}, now=NOW).messages) == 0
    assert from_json(ContextInput, {"messages": None}, now=NOW).messages is None


def test_where_a_model_is_only_shown_messages_their_length_their_times_and_their_names_matter_not() -> (  # noqa: E501
    None
):
    odd = {
        "role": "user",
        "content": "a\x00" * 40_000,
        "timestamp": "2099-01-01",
        "name": "",
        "id": "a/b",
    }
    context_input = from_json(ContextInput, {"messages": [odd]}, now=NOW)
    assert shown(list(context_input.messages)) == [("user", None, odd["content"])]


@pytest.mark.parametrize(
    ("message", "refused"),
    [
        ({"content": "a"}, {"messages.0.role": "is required: user, assistant, system or tool"}),
        (
            {"role": "user", "content": 7},
            {"messages.0.content": "should be a text, a list of parts, or null"},
        ),
        (
            {"role": "user", "content": [7]},
            {"messages.0.content.0": "should be an object or a text"},
        ),
        (
            {"type": "hologram"},
            {
                "messages.0.type": "is not a kind of message that is known; a message has a role "
                "and a content"
            },
        ),
        ("a", {"messages.0": "should be an object"}),
    ],
    ids=str,
)
def test_what_is_no_message_is_refused_there_too(message: Any, refused: dict[str, str]) -> None:
    assert refusals([message], ContextInput) == refused


def test_an_actor_goes_before_a_name() -> None:
    messages, _ = read_messages(
        [{"role": "user", "name": "user_7", "actor": "Ana", "content": "a"}]
    )
    assert messages[0].actor == "Ana"


def test_a_tool_is_kept_to_two_thousand_characters() -> None:
    long = "x" * 50_000
    messages, _ = read_messages(
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{**CALL, "function": {"name": "f", "arguments": long}}] * 9,
            },
            {"role": "tool", "tool_call_id": "c", "content": long},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c", "content": long}],
            },
        ]
    )
    assert [len(message.content) for message in messages] == [MAX_TOOL_CHARACTERS] * 3


def test_tools_that_do_much_are_kept_as_several_messages_that_fit() -> None:
    calls = [
        {"name": f"f{number}", "args": {"text": "🙂" * 3_000}, "id": str(number)}
        for number in range(20)
    ]
    messages, _ = read_messages(
        [{"role": "assistant", "content": "Let me look.", "tool_calls": calls, "id": "m"}]
    )
    assert [message.id for message in messages] == ["m", *(f"m#{number}" for number in range(1, 8))]
    assert all(len(message.content.encode()) <= 32 * 1024 for message in messages)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"look: {DATA_URL}", "look: [image]"),
        (f"({DATA_URL}) and {DATA_URL}.", "([image]) and [image]."),
        ("data:audio/mpeg;codecs=opus;base64,AAAA", "[audio]"),
        ("DATA:application/pdf;name=a.pdf;BASE64,AAAA==", "[file]"),
        ("data:;base64,AAAA", "[file]"),
        ("data: base64, plain words", "data: base64, plain words"),
    ],
)
def test_no_bytes_get_into_the_text(text: str, expected: str) -> None:
    assert without_data_urls(text) == expected
    messages, _ = read_messages([{"role": "user", "content": text}])
    assert messages[0].content == expected


@pytest.mark.parametrize(
    ("message", "field", "words"),
    [
        (3, "messages.0", "object"),
        ("a", "messages.0", "object"),
        ({}, "messages.0.role", "is required"),
        ({"content": "a"}, "messages.0.role", "is required"),
        ({"role": "user"}, "messages.0.content", "is required"),
        ({"role": "assistant"}, "messages.0.content", "is required"),
        (
            {"role": "user", "text": "a"},
            "messages.0.content",
            "is required; text is no field of a message",
        ),
        ({"role": 3, "content": "a"}, "messages.0.role", "should be"),
        ({"role": "user", "content": 3}, "messages.0.content", "a text, a list of parts, or null"),
        (
            {"role": "user", "content": {"a": 1}},
            "messages.0.content",
            "a text, a list of parts, or null",
        ),
        ({"role": "user", "content": None}, "messages.0.content", "null"),
        ({"role": "user", "content": ""}, "messages.0.content", "must not be empty"),
        ({"role": "user", "content": []}, "messages.0.content", "must not be empty"),
        ({"role": "user", "content": "a\x00"}, "messages.0.content", "NUL"),
        ({"role": "user", "content": "é" * 20_000}, "messages.0.content", "40000 bytes"),
        (
            {"role": "user", "content": [{"type": "text", "text": "é" * 10_000}] * 2},
            "messages.0.content",
            "40001 bytes",
        ),
        ({"role": "user", "content": [3]}, "messages.0.content.0", "an object or a text"),
        ({"role": "user", "content": [{}]}, "messages.0.content.0.type", "is required"),
        (
            {"role": "user", "content": [{"type": 3}]},
            "messages.0.content.0.type",
            "should be a text",
        ),
        (
            {"role": "user", "content": [{"type": "my salary"}]},
            "messages.0.content.0.type",
            "not a kind of part",
        ),
        (
            {"role": "user", "content": [{"type": "text"}]},
            "messages.0.content.0.text",
            "is required",
        ),
        (
            {"role": "user", "content": ["a", {"type": "input_text", "text": 3}]},
            "messages.0.content.1.text",
            "should be a text",
        ),
        (
            {"role": "assistant", "content": [{"type": "tool_use"}]},
            "messages.0.content.0.name",
            "is required",
        ),
        (
            {"role": "assistant", "content": None, "tool_calls": "a"},
            "messages.0.tool_calls",
            "list",
        ),
        (
            {"role": "assistant", "content": None, "tool_calls": [1]},
            "messages.0.tool_calls.0",
            "object",
        ),
        (
            {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]},
            "messages.0.tool_calls.0.name",
            "is required",
        ),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": 3}}]},
            "messages.0.tool_calls.0.function.name",
            "text",
        ),
        (
            {"role": "assistant", "content": None, "function_call": "a"},
            "messages.0.function_call",
            "object",
        ),
        (
            {"role": "assistant", "content": None, "refusal": 3},
            "messages.0.refusal",
            "text or null",
        ),
        ({"role": "assistant", "content": None, "audio": 3}, "messages.0.audio", "object or null"),
        ({"role": "user", "content": "a", "name": ""}, "messages.0.name", "must not be empty"),
        ({"role": "user", "content": "a", "id": "a/b"}, "messages.0.id", "must not contain"),
        ({"role": "user", "content": "a", "id": "x" * 129}, "messages.0.id", "1-128"),
        ({"role": "user", "content": "a", "id": 3}, "messages.0.id", "string"),
        (
            {"role": "user", "content": "a", "timestamp": 1_700_000},
            "messages.0.timestamp",
            "seconds or milliseconds since 1970",
        ),
        (
            {"role": "user", "content": "a", "timestamp": "2026-05-08T13:56:00"},
            "messages.0.timestamp",
            "time zone",
        ),
        ({"type": "hologram"}, "messages.0.type", "not a kind of message"),
        ({"type": 3}, "messages.0.type", "should be a text"),
        ({"type": "function_call", "arguments": "{}"}, "messages.0.name", "is required"),
        ({"type": "function_call_output", "call_id": "a"}, "messages.0.output", "is required"),
        (
            {"type": "function_call", "name": "f", "arguments": "\x00"},
            "messages.0.arguments",
            "NUL",
        ),
    ],
)
def test_an_odd_message_is_refused_by_name(message: Any, field: str, words: str) -> None:
    errors = refusals([message])
    assert list(errors) == [field]
    assert words in errors[field]


def test_a_call_that_holds_nothing_is_refused() -> None:
    thinking = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "a", "signature": "b"}],
    }
    assert "nothing that is kept" in refusals([thinking])["messages"]


def test_each_refused_message_is_named() -> None:
    good = {"role": "user", "content": "a"}
    assert list(refusals([good, {"role": "bot", "content": "a"}, good, {"role": "user"}])) == [
        "messages.1.role",
        "messages.3.content",
    ]


def test_a_refusal_repeats_no_words() -> None:
    with pytest.raises(Invalid) as refused:
        from_json(
            ConverseInput,
            {
                "messages": [
                    {
                        "role": "my salary is 4,200",
                        "content": ["my salary", 5],
                        "timestamp": "my salary",
                    }
                ]
            },
        )
    assert "salary" not in refused.value.detail


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"data": [{"city": "Porto"}]}, '{"data": [{"city": "Porto"}]}'),
        ({"shot": {"bytes": PNG, "size": 3}}, '{"shot": {"size": 3}}'),
        ([{"path": "a.png", "b64": PNG}], '{"path": "a.png"}'),
        ({"page": "a" * 300, "blob_name": "a.png"}, '{"blob_name": "a.png"}'),
        ([{"image": {"format": "png", "source": {"bytes": PNG}}}], "[image]"),
        ([{"type": "file_update", "name": "a.txt"}], '{"type": "file_update", "name": "a.txt"}'),
        ({"type": "text", "value": "18"}, "18"),
    ],
    ids=str,
)
def test_the_result_of_a_tool_is_kept_without_bytes(result: Any, text: str) -> None:
    part = {"type": "tool_result", "tool_use_id": "t1", "content": result}
    ((read,), _) = read_messages([{"role": "user", "content": [part]}])
    assert (read.role, read.content) == ("tool", text)


def test_a_content_goes_before_lists_that_are_no_parts_of_it() -> None:
    message = {"role": "user", "content": "I bought three.", "items": [{"sku": 17}]}
    ((read,), _) = read_messages([message])
    assert read.content == "I bought three."


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
WORDS = [
    "role", "content", "type", "text", "tool_calls", "function_call", "name", "arguments", "id",
    "input", "output", "call_id", "data", "parts", "refusal", "audio", "timestamp", "actor",
    "image_url", "source", "file", "url", "title", "transcript", "functionCall", "functionResponse",
    "inlineData", "function", "custom", "toolUse", "kind", "part_kind", "items", "message", "$type",
    "createdAt", "source", "state", "toolCallId", "document", "images",
]  # fmt: skip
VALUES = JSON | st.sampled_from([
    "user", "assistant", "tool", "message", "text", "thinking", "tool_use", "tool_result",
    "function_call", "function_call_output", "reasoning", "image", "document", "human",
    "web_search_call", "mcp_call", "http://[", DATA_URL, "request", "tool-x", "user-prompt",
    "TextMessage", "ThoughtEvent", "tool-invocation",
])  # fmt: skip
OBJECTS = st.recursive(
    st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=6),
    lambda inner: st.dictionaries(
        st.sampled_from(WORDS), VALUES | inner | st.lists(inner, max_size=3), max_size=6
    ),
    max_leaves=6,
)


@settings(max_examples=400)
@given(st.lists(OBJECTS | JSON, min_size=1, max_size=4))
def test_whatever_is_sent_is_read_or_refused(raw: list[Any]) -> None:
    for model, more in ((ConverseInput, {}), (SummaryInput, {}), (BatchInput, {"session_id": "s"})):
        try:
            parsed = from_json(model, {"messages": raw, **more}, now=NOW)
        except Invalid:
            continue
        assert len(parsed.messages) > 0
        assert all(
            message.content.strip() and PNG not in message.content for message in parsed.messages
        )
        assert timed(parsed.messages, NOW)


def moments(*given: datetime | None) -> list[datetime]:
    return [
        message.timestamp
        for message in timed([ReadMessage("user", "a", moment) for moment in given], NOW)
    ]


def test_a_missing_time_is_that_of_the_message_before_it() -> None:
    early, late = NOW - timedelta(days=2), NOW - timedelta(days=1)
    assert moments(early, None, late, None) == [early, early, late, late]
    assert moments(None, None, late, None) == [late, late, late, late]
    assert moments(None, None) == [NOW, NOW]


def test_an_id_is_kept_with_its_message() -> None:
    conversation = from_json(
        ConverseInput,
        {
            "messages": [
                {"role": "user", "content": "a", "id": "m1"},
                {"role": "user", "content": "b"},
            ]
        },
        now=NOW,
    )
    messages = timed(conversation.messages, NOW)
    assert [message.id for message in messages] == ["m1", None]
    assert "id" not in messages[1].model_dump()


def document(text: str, **fields: str) -> dict[str, Any]:
    return {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": text},
        **fields,
    }


def test_documents_are_kept_as_far_as_a_message_has_room_beside_its_other_words() -> None:
    question = "Which of them is the newer one?"
    parts = [
        document("a" * 50_000, title="First"),
        document("é" * 50_000),
        document("short"),
        {"type": "text", "text": question},
    ]
    ((read,), _) = read_messages([{"role": "user", "content": parts}])
    first, long, other, short, asked = read.content.split("\n")
    assert (first, short, asked) == ("[file: First]", "> short", question)
    assert long.endswith("a…")
    assert other.endswith("é…")
    assert 32_000 < len(read.content.encode()) <= 32 * 1024
    assert abs(len(long) - 2 * len(other)) < 50


def test_a_document_that_other_words_leave_no_room_is_left_out() -> None:
    text = "b" * (32 * 1024 - 20)
    ((read,), _) = read_messages(
        [{"role": "user", "content": [document("a" * 500), {"type": "text", "text": text}]}]
    )
    assert read.content == text


def test_a_document_within_a_result_of_a_tool_is_text_too() -> None:
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [document("Rent is due on the 3rd.", title="Lease")],
    }
    ((read,), _) = read_messages([{"role": "user", "content": [result]}])
    assert (read.role, read.content) == ("tool", "[file: Lease]\n> Rent is due on the 3rd.")


@pytest.mark.parametrize(
    "created_at",
    [
        "2026-05-01T10:00:00Z",
        "2026-05-01T12:00:00.000000123+02:00",
        1_777_629_600,
        1_777_629_600.0,
        1_777_629_600_000,
    ],
)
def test_created_at_is_the_time_of_a_message_without_a_timestamp(created_at: str | float) -> None:
    moment = datetime(2026, 5, 1, 10, tzinfo=timezone.utc)
    message = {"role": "user", "content": "a", "created_at": created_at}
    (read, timed_read), ignored = read_messages(
        [message, message | {"timestamp": NOW.isoformat()}], now=NOW
    )
    assert (read.timestamp, timed_read.timestamp, ignored) == (moment, NOW, ())


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "a", "timestamp": 1_777_629_600.25},
        {"role": "user", "content": "a", "timestamp": 1_777_629_600_250},
        {"role": "user", "content": "a", "createdAt": "2026-05-01T10:00:00.250Z"},
        {
            "role": "user",
            "parts": [{"type": "text", "text": "a"}],
            "metadata": {"createdAt": 1_777_629_600_250},
        },
        {
            "type": "human",
            "data": {"content": "a", "additional_kwargs": {"timestamp": 1_777_629_600.25}},
        },
        {
            "kind": "request",
            "timestamp": None,
            "parts": [
                {"part_kind": "user-prompt", "content": "a", "timestamp": "2026-05-01T10:00:00.25Z"}
            ],
        },
        {
            "author": "user",
            "timestamp": 1_777_629_600.25,
            "content": {"role": "user", "parts": [{"text": "a"}]},
        },
    ],
    ids=str,
)
def test_the_time_of_a_message_is_read_as_frameworks_write_it(message: dict[str, Any]) -> None:
    ((read,), ignored) = read_messages([message], now=NOW)
    moment = datetime(2026, 5, 1, 10, 0, 0, 250_000, tzinfo=timezone.utc)
    assert (read.role, read.content, read.timestamp, ignored) == ("user", "a", moment, ())


@pytest.mark.parametrize(
    "created_at",
    [
        "2026-05-01T10:00:00",
        "May",
        True,
        [1],
        float("inf"),
        1_777_629,
        1_777_629_600_000_000,
        "2099-01-01T00:00Z",
        4_070_908_800,
    ],
)
def test_a_created_at_that_names_no_moment_is_ignored_and_named(created_at: object) -> None:
    message = {"role": "user", "content": "a", "created_at": created_at}
    (read,), ignored = read_messages([message], now=NOW)
    assert (read.timestamp, ignored) == (None, ("messages.*.created_at",))
