"""Files that `memory-core import` reads: each format, what is left out, and that broken ones end in
the one documented error.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.cli.import_calls import CALL_MESSAGES, SkippedCounts, calls_of
from memory_core.cli.import_formats.formats import FORMATS, detect_format
from memory_core.cli.import_formats.items import (
    MESSAGE_BYTES,
    ChatMessage,
    Item,
    SavedMemory,
    Skipped,
)
from memory_core.cli.import_formats.json_lines import SAVE_FIELDS
from memory_core.cli.import_formats.json_streams import UnreadableFile, open_export
from memory_core.domain.requests.memories import SaveInput
from tests.exported_chats import CLAUDE, MEM0, MEMORY_LINES, MESSAGE_LINES, chatgpt_conversation


def items_of(data: bytes, kind: str | None = None) -> list[Item]:
    stream = io.BytesIO(data)
    return list(FORMATS[kind or detect_format(stream)](stream, "file"))


def read(value: Any) -> list[Item]:
    return items_of(json.dumps(value).encode())


def lines(*texts: str) -> bytes:
    return "\n".join(texts).encode()


def test_of_a_chatgpt_conversation_the_branch_that_it_ended_with_is_read() -> None:
    items = read([chatgpt_conversation()])
    assert [item for item in items if isinstance(item, ChatMessage)] == [
        ChatMessage(
            "chatgpt-c1",
            {
                "role": role,
                "content": text,
                "id": key,
                "timestamp": "2026-05-08T12:00:00.500000+00:00",
            },
            "Moving",
        )
        for role, text, key in (
            ("user", "I moved to Lisbon in May.", "c1-m0"),
            ("assistant", "How do you like it?", "c1-m1"),
        )
    ]
    assert [item.reason for item in items if isinstance(item, Skipped)] == [
        "on a branch that was given up",
        "of the system",
    ]


def test_titles_of_chats_are_one_line_of_at_most_200_characters() -> None:
    def titles(value: Any) -> set[str | None]:
        return {item.title for item in read(value) if isinstance(item, ChatMessage)}

    for written, title in (
        ("Moving\n to  Lisbon", "Moving to Lisbon"),
        ("x" * 300, "x" * 200),
        ("  ", None),
        (7, None),
        (None, None),
    ):
        assert titles([chatgpt_conversation() | {"title": written}]) == {title}
        assert titles([CLAUDE[0] | {"name": written}]) == {title}
    (call,) = calls_of(iter(read([chatgpt_conversation()])), SkippedCounts())
    assert call.title == "Moving"


def test_pictures_of_chatgpt_are_named_and_hidden_messages_left_out() -> None:
    conversation = chatgpt_conversation("c2", "a", "b", "c")
    picture = {
        "content_type": "multimodal_text",
        "parts": [{"content_type": "image_asset_pointer"}, "my cat"],
    }
    conversation["mapping"]["c2-m0"]["message"]["content"] = picture
    conversation["mapping"]["c2-m2"]["message"]["metadata"][
        "is_visually_hidden_from_conversation"
    ] = True
    assert [
        item.fields["content"] for item in read([conversation]) if isinstance(item, ChatMessage)
    ] == ["[image]\nmy cat", "b"]


def test_of_claude_what_was_said_is_read_with_the_names_of_files() -> None:
    first, second, third = read(CLAUDE)
    assert first == ChatMessage(
        "claude-7b1e",
        {
            "role": "user",
            "content": "I keep bees.\n[file: hive.png]",
            "id": "u1",
            "timestamp": "2026-05-08T12:00:00.123456+00:00",
        },
        "Bees",
    )
    assert isinstance(second, ChatMessage)
    assert second.fields["content"] == "How many hives?"
    assert third == Skipped("without words", "conversation 1, message 3")


def test_a_message_without_a_readable_time_has_that_of_the_message_before() -> None:
    """Without it, an old message would be dated by the import, and be newer than all others."""
    times = (None, "2025-02-01T10:00:00Z", "yesterday", None)
    read_times = [f"2025-0{month}-01T10:00:00+00:00" for month in (1, 2, 2, 2)]
    claude = {
        "uuid": "a",
        "created_at": "2025-01-01T10:00:00Z",
        "chat_messages": [
            {"uuid": f"m{number}", "sender": "human", "text": "hi", "created_at": time}
            for number, time in enumerate(times)
        ],
    }
    message_lines = [
        json.dumps({"role": "user", "content": "hi", "session_id": "s", "timestamp": time})
        for time in ("2025-01-01T10:00:00Z", *times[1:])
    ]
    chatgpt = chatgpt_conversation("c", "a", "b", "c") | {"create_time": 1735725600}
    for key, time in (("c-m0", None), ("c-m1", 1738404000), ("c-m2", 1e18)):
        chatgpt["mapping"][key]["message"]["create_time"] = time
    for items, expected in (
        (read([claude]), read_times),
        (items_of(lines(*message_lines)), read_times),
        (read([chatgpt]), read_times[:3]),
    ):
        assert [i.fields["timestamp"] for i in items if isinstance(i, ChatMessage)] == expected


def test_a_message_of_chatgpt_that_is_left_out_has_its_own_reason() -> None:
    for change, reason in (
        ({"author": {"role": "wizard"}}, "no role that is known"),
        ({"author": {"role": "tool"}}, "of the tool"),
        ({"content": None}, "without words"),
        ({"content": {"content_type": "code", "text": "1"}}, "not a visible text"),
    ):
        conversation = chatgpt_conversation("c", "a")
        conversation["mapping"]["c-m0"]["message"].update(change)
        assert Skipped(reason, "conversation 1, message 3") in read([conversation])


@pytest.mark.parametrize("value", [MEM0, MEM0["results"], {"memories": MEM0["results"]}])
def test_of_mem0_the_memories_of_one_user_are_read(value: Any) -> None:
    memory, *skipped = read(value)
    assert isinstance(memory, SavedMemory)
    assert memory.fields == {
        "type": "semantic",
        "source": "mem0",
        "content": "Plays the cello",
        "metadata": {"where": "choir", "mem0_id": "3f1c"},
        "event_timestamp": "2026-05-08T12:00:00+00:00",
        "tags": ["music"],
    }
    assert skipped == [
        Skipped("of another user than the first memory", "memory 2"),
        Skipped("no content", "memory 3"),
    ]
    assert items_of(lines(*map(json.dumps, MEM0["results"]))) == [memory, *skipped]


def test_lines_of_messages_are_read_and_broken_ones_named() -> None:
    first, second, broken, narrator, third = items_of(lines(*MESSAGE_LINES))
    assert first == ChatMessage(
        "s1",
        {
            "role": "user",
            "content": "I play the cello.",
            "id": "s1-1",
            "timestamp": "2026-05-08T10:00:00+00:00",
            "actor": "Ana",
        },
    )
    assert isinstance(second, ChatMessage)
    assert second.fields["content"] == "Since when?\n[image]"
    assert (broken, narrator) == (
        Skipped("not JSON", "line 4"),
        Skipped("no role that is known", "line 5"),
    )
    assert isinstance(third, ChatMessage)
    assert third.session.startswith("a-b-"), (
        "an id that the service does not take gets another, the same each time"
    )
    assert items_of(lines(*MESSAGE_LINES)) == [first, second, broken, narrator, third]


def test_lines_of_messages_say_what_the_service_would_read_of_them() -> None:
    conversation = [
        {"role": "human", "content": [{"text": "Which flight?"}, {"type": "hint_of_ours"}]},
        {
            "role": "bot",
            "id": "a1",
            "content": [
                {"type": "thinking", "thinking": "The user wants a flight."},
                {"type": "tool_use", "id": "t1", "name": "flights", "input": {"to": "Oslo"}},
                {"type": "text", "text": "I look it up."},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "SK 1473"}],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "t2", "function": {"name": "book", "arguments": "{}"}}],
        },
        {"role": "assistant", "content": [{"type": "reasoning", "text": "Done."}]},
    ]
    read = items_of(json.dumps({"messages": conversation, "conversation_id": "c"}).encode())
    assert [
        (item.fields["role"], item.fields["content"], item.fields["id"])
        for item in read
        if isinstance(item, ChatMessage)
    ] == [
        ("user", "Which flight?", "c-1"),
        ("tool", 'flights({"to": "Oslo"})', "a1"),
        ("assistant", "I look it up.", "a1.part1"),
        ("tool", "flights: SK 1473", "c-3"),
        ("tool", "book({})", "c-4"),
    ]
    assert read[-1] == Skipped("without words", "line 1, message 5")


def test_lines_of_memories_keep_the_fields_of_a_save() -> None:
    memory, without, no_object = items_of(lines(*MEMORY_LINES))
    assert memory == SavedMemory(
        {
            "type": "episodic",
            "source": "import",
            "content": "Ana owns a bicycle",
            "metadata": {"colour": "red"},
        },
        "line 1",
    )
    assert (without, no_object) == (
        Skipped("no content", "line 2"),
        Skipped("not an object", "line 3"),
    )


def test_a_long_message_becomes_several_and_none_of_it_is_lost() -> None:
    text = " ".join(f"wörd{number}" for number in range(9_000))
    pieces = [
        item for item in read([chatgpt_conversation("c3", text)]) if isinstance(item, ChatMessage)
    ]
    assert len(pieces) > 2
    assert all(len(piece.fields["content"].encode()) <= MESSAGE_BYTES for piece in pieces)
    assert " ".join(piece.fields["content"] for piece in pieces) == text
    assert len({piece.fields["id"] for piece in pieces}) == len(pieces)


def test_calls_hold_one_session_each_and_no_more_than_the_service_takes() -> None:
    turns = [f"turn {number}" for number in range(CALL_MESSAGES + 1)]
    conversations = [chatgpt_conversation("c1", *turns), chatgpt_conversation("c2")]
    skipped = SkippedCounts()
    calls = list(calls_of(iter(read(conversations)), skipped))
    assert [(call.session, len(call.items)) for call in calls] == [
        ("chatgpt-c1", CALL_MESSAGES),
        ("chatgpt-c1", 1),
        ("chatgpt-c2", 2),
    ]
    assert sum(skipped.counts.values()) == 4


def test_an_archive_is_read_without_being_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("export/conversations.json", json.dumps([chatgpt_conversation()]))
    with open_export(tmp_path / "export.zip") as stream:
        assert detect_format(stream) == "chatgpt"
        assert len(list(FORMATS["chatgpt"](stream, "file"))) == 4
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("chat.html", "")
    with (
        pytest.raises(RuntimeError, match="of the reader's own"),
        open_export(tmp_path / "export.zip"),
    ):
        raise RuntimeError("of the reader's own")  # says nothing of the archive
    with (
        pytest.raises(UnreadableFile, match=r"no conversations\.json"),
        open_export(tmp_path / "other.zip"),
    ):
        pass


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", b"[]", b'[{"mapping": ', b'{"a": 1}', b"[1, 2]", b"\xff\xfe[", b"[" * 100_000],
)
def test_a_file_of_no_known_format_says_so(data: bytes) -> None:
    with pytest.raises(UnreadableFile):
        items_of(data)


def test_a_file_that_ends_early_is_read_up_to_there() -> None:
    data = json.dumps([chatgpt_conversation("c1"), chatgpt_conversation("c2")]).encode()[:-20]
    stream = io.BytesIO(data)
    reader = FORMATS["chatgpt"](stream, "file")
    assert [next(reader) for _ in range(4)] == read([chatgpt_conversation("c1")])
    with pytest.raises(UnreadableFile, match="ends after entry 1"):
        next(reader)


NAMES = [
    "mapping",
    "current_node",
    "message",
    "author",
    "role",
    "content",
    "parts",
    "chat_messages",
    "sender",
    "text",
    "created_at",
    "uuid",
    "memory",
    "user_id",
    "metadata",
    "categories",
    "messages",
    "session_id",
    "id",
    "results",
    "timestamp",
    "content_type",
    "create_time",
    "parent",
    "children",
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.sampled_from(["user", "c1-m0", "root", "text"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=25,
)


@given(
    st.sampled_from(sorted(FORMATS)),
    st.lists(JSON, max_size=4),
    st.integers(0, 400),
    st.binary(max_size=6),
)
def test_a_reader_raises_nothing_but_its_documented_error(
    kind: str, values: list[Any], cut: int, noise: bytes
) -> None:
    """Whatever the JSON holds, wherever it breaks: items, of texts that UTF-8 can hold,
    or UnreadableFile.
    """
    whole = json.dumps(values).encode()
    for data in (
        whole,
        whole[:cut] + noise,
        whole[:cut] + noise + whole[cut:],
        lines(*map(json.dumps, values)),
    ):
        for reader in (kind, None):
            try:
                items = items_of(data, reader)
            except UnreadableFile:
                continue
            for call in calls_of(iter(items), SkippedCounts()):
                json.dumps(call.items, ensure_ascii=False).encode()
                assert all(
                    item["content"].strip() and 1 <= len(item["id"]) <= 128
                    for item in call.items
                    if call.session is not None
                )


def test_a_line_of_memories_takes_the_fields_of_a_save_except_on_conflict() -> None:
    assert SaveInput.model_fields.keys() - {"on_conflict"} == SAVE_FIELDS
