"""What adapters send of a framework's messages, whatever these hold."""

from __future__ import annotations

import json
from datetime import datetime, timezone

from memory_core_client.messages import MOST_BYTES, MOST_OF_CALL, sendable, without_bytes


def test_messages_that_can_be_sent_stay_as_they_are() -> None:
    messages = [
        {"role": "user", "content": "Hello"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "18 degrees"},
        {"type": "human", "data": {"content": [{"type": "text", "text": "And now?"}]}},
    ]
    assert sendable(messages) == messages


def test_what_no_message_may_have_is_cut_or_replaced() -> None:
    long, null, lone = (
        {"role": "user", "content": text} for text in ("ä " * MOST_BYTES, "a\0b", "a\ud800b")
    )
    cut, replaced, mended = sendable([long, null, lone])
    assert 0 < len(cut["content"].encode()) <= MOST_BYTES
    assert replaced["content"] == "a\ufffdb"
    assert mended["content"] == "a?b"


def test_what_json_has_nothing_for_is_named_or_written_as_text() -> None:
    values = {
        "object": object(),
        "bytes": b"\xff",
        "set": {1},
        "moment": datetime(2026, 3, 2, tzinfo=timezone.utc),
        "none": None,
    }
    numbers = {"long": 2**70, "nan": float("nan"), "whole": 2**63 - 1, "part": 0.5, "yes": True}
    (sent,) = sendable([{"role": "tool", "content": "done", "artifact": values, "args": [numbers]}])
    assert sent["artifact"] == {
        "object": "[object]",
        "bytes": "[bytes]",
        "set": [1],
        "moment": "2026-03-02T00:00:00+00:00",
        "none": None,
    }
    assert sent["args"] == [
        {"long": str(2**70), "nan": "nan", "whole": 2**63 - 1, "part": 0.5, "yes": True}
    ]


def test_a_picture_is_named_and_not_sent() -> None:
    picture = "data:image/png;base64," + "A" * 2_000_000
    parts = [
        {"type": "text", "text": "See this"},
        {"type": "image_url", "image_url": {"url": picture}},
    ]
    source = [{"type": "image", "source": {"type": "base64", "data": "A" * 2_000_000}}]
    sent = sendable([{"role": "user", "content": parts}, {"role": "user", "content": source}])
    assert len(json.dumps(sent)) < 1000
    assert sent[0]["content"][0] == {"type": "text", "text": "See this"}


def test_contents_of_files_are_left_out_and_words_are_not() -> None:
    photo = "A" * 2_000_000
    words = ["data: I live in Porto;base64, he said", "x" * 4_000, '{"a":' * 2_000, "ä" * 5_000]
    moment = datetime(2026, 3, 2, tzinfo=timezone.utc)
    parts = [{"image": {"format": "png", "source": {"bytes": b"\xff"}}}, {"data": photo}]
    sent = without_bytes(
        [
            {
                "role": "user",
                "content": [*words, f"data:image/png;base64,{photo}", *parts],
                "timestamp": moment,
            }
        ]
    )
    assert len(json.dumps(sent)) < 100_000
    assert sent[0]["content"][:4] == words
    assert sent[0]["content"][4].startswith("data:image/png;base64,AAA")
    assert sent[0]["content"][5]["image"]["source"] == {"bytes": "[bytes]"}
    assert sent[0]["timestamp"] == moment.isoformat()


def test_empty_messages_are_left_out_and_calls_of_tools_are_not() -> None:
    empty = [{"role": "user", "content": text} for text in ("", "  ", "\0", [])]
    calls = {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1"}]}
    dumped = {"type": "human", "data": {"content": ""}}
    assert sendable([*empty, calls, dumped]) == [calls]


def test_of_more_than_a_call_takes_the_last_are_sent() -> None:
    messages = [{"role": "user", "content": f"{number} " + "word " * 4000} for number in range(100)]
    sent = sendable(messages)
    assert len(json.dumps(sent)) <= MOST_OF_CALL + 100_000
    assert sent == messages[-len(sent) :]
    assert len(sent) > 20


def test_a_long_text_in_a_language_without_blanks_is_no_file() -> None:
    message = {"role": "user", "content": "私は東京に住んでいます。" * 500}
    assert sendable([message]) == [message]
