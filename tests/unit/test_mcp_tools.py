"""What a model reads of the tools: their descriptions and schemas, what these cost,
and answers and errors as sentences.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from memory_core.domain.errors import (
    Conflict,
    EmbeddingMismatch,
    Forbidden,
    Invalid,
    MemoryCoreError,
    NotFound,
    TooLarge,
    Unavailable,
)
from memory_core.domain.memory import Event, MemoryType
from memory_core.domain.results import EventPage, Foreseen, Hit, Retrieved
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.functions.mcp.answers import (
    SHORT,
    forgotten_head,
    memory_line,
    one_line,
    search_text,
    timeline_text,
)
from memory_core.functions.mcp.arguments import SaveArguments, checked_arguments, input_schema
from memory_core.functions.mcp.callers import advice
from memory_core.functions.mcp.tools import TOOLS, Tool
from tests.builders import memory as stored_memory

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 5, 8, 13, 56, tzinfo=timezone.utc)
each_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def nodes(schema: Any) -> list[dict[str, Any]]:
    """A schema and all schemas within it."""
    if isinstance(schema, list):
        return [node for item in schema for node in nodes(item)]
    return [schema, *nodes([*schema.values()])] if isinstance(schema, dict) else []


@each_tool
def test_a_schema_is_valid_and_plain(tool: Tool) -> None:
    schema = input_schema(tool.arguments)
    Draft202012Validator.check_schema(schema)
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    keywords = {keyword for node in nodes(schema) for keyword in node}
    assert not keywords & {"$ref", "$defs", "anyOf", "title", "pattern"}, (
        "clients differ in what they understand of these"
    )
    assert "user_id" not in schema["properties"], (
        "whose memories are meant is not the model's to say"
    )


def test_a_wrong_argument_is_answered_with_a_tool_and_never_with_a_call_of_the_http_api() -> None:
    """memory_forget with a query suggested `POST /api/v1/memories/retrieve`."""
    for name, field, suggestion in (
        ("memory_forget", "query", "memory_search, and then ids"),
        ("memory_save", "messages", "memory_converse"),
        ("memory_save", "text", "content"),
        ("memory_search", "known_at", None),
        ("memory_search", "half_life", None),
    ):
        (arguments,) = (tool.arguments for tool in TOOLS if tool.name == name)
        with pytest.raises(Invalid) as refused:
            checked_arguments(arguments, {field: "x"})
        (error,) = (error for error in refused.value.errors if error.field == field)
        meant = f"; did you mean {suggestion}?" if suggestion else ""
        assert (error.message, error.did_you_mean) == (
            f"is not a field of this request{meant}",
            suggestion,
        )


@each_tool
def test_a_description_says_when_to_use_the_tool_and_each_field_what_it_is(tool: Tool) -> None:
    assert re.search(r"\b(when|only|Use|Call|at its end)\b", tool.description), tool.description
    assert re.fullmatch(r"memory_[a-z]+", tool.name)
    assert 60 < len(tool.description) < 400
    for name, field in input_schema(tool.arguments)["properties"].items():
        assert field.get("description"), name


def test_the_list_of_tools_costs_a_conversation_less_than_1700_tokens() -> None:
    tools = [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": input_schema(tool.arguments),
        }
        for tool in TOOLS
    ]
    assert len(json.dumps(tools, separators=(",", ":"))) < 6_800, (
        "four characters a token, as models count English"
    )


def test_only_forgetting_can_destroy_and_it_asks() -> None:
    assert [tool.name for tool in TOOLS if tool.destructive] == ["memory_forget"]
    assert [tool.name for tool in TOOLS if tool.ask] == ["memory_converse", "memory_forget"]
    assert {tool.name for tool in TOOLS if tool.right == "write"} == {
        "memory_save",
        "memory_converse",
        "memory_forget",
    }


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5
)


@each_tool
@settings(deadline=None)
@given(arguments=st.dictionaries(st.text(max_size=20), VALUES, max_size=5))
def test_arguments_that_a_tool_does_not_take_are_refused_in_few_words(
    tool: Tool, arguments: dict[str, Any]
) -> None:
    with pytest.raises(Invalid) as refused:
        checked_arguments(tool.arguments, {**arguments, "colour": "red"})
    assert refused.value.errors
    assert len(advice(refused.value)) < 2_000


def test_arguments_beyond_json_are_refused() -> None:
    for content in (2**70, "\ud800"):
        with pytest.raises(Invalid, match="arguments"):
            checked_arguments(SaveArguments, {"content": content})


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            Invalid("content: must not be empty"),
            "Not done. content: must not be empty. Correct the arguments and call again.",
        ),
        (
            Forbidden("This key has no right"),
            "Not allowed. This key has no right. Calling again does not help; tell the user.",
        ),
        (
            NotFound("no memory of this id"),
            "Not found. no memory of this id. Look for the right id with memory_search.",
        ),
        (Conflict("is episodic"), "Not done. Conflict: is episodic."),
        (TooLarge("too large"), "Not done. Too large: too large."),
        (
            Unavailable("long_term", "is down", retry_after_s=7),
            (
                "The memory can't be reached just now (long_term: is down). Go on without it, or "
                "call again in 7 s."
            ),
        ),
        (
            EmbeddingMismatch("embedder", "is another"),
            (
                "The memory can't be reached just now (embedder: is another). Go on without it, or "
                "call again in 2 s."
            ),
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, MemoryCoreError) else "",
)
def test_an_error_tells_a_model_what_to_do(error: MemoryCoreError, sentence: str) -> None:
    assert advice(error) == sentence


@settings(deadline=None)
@given(text=st.text(max_size=2_000))
def test_no_text_of_a_user_makes_a_line_of_its_own(text: str) -> None:
    line = memory_line(
        {
            "id": "mem_1",
            "type": "procedural",
            "event_timestamp": NOW.isoformat(),
            "key": text,
            "content": text,
        }
    )
    assert len(line.splitlines()) == 1
    assert len(one_line(text, SHORT)) <= SHORT


def test_an_event_without_a_text_says_what_it_did() -> None:
    def event(kind: str, **after: Any) -> Event:
        return Event(
            id="evt_1",
            sequence=1,
            event_type=kind,
            memory_id="mem_1",
            memory_type=MemoryType.SEMANTIC,
            occurred_at=NOW,
            after=after,
        )

    events = (
        event("created", content="Ana\nlives in Porto", status="active"),
        event("superseded", next_id="mem_2", status="superseded"),
        event("forgotten", status="deleted"),
        event("conflict_marked", conflict_state="pending", conflict_ids=["c"]),
    )
    assert timeline_text(EventPage(events, None), since=None).splitlines()[1:] == [
        "2026-05-08T13:56Z created [mem_1] semantic: Ana lives in Porto",
        "2026-05-08T13:56Z superseded [mem_1] semantic by [mem_2]",
        "2026-05-08T13:56Z forgotten [mem_1] semantic",
        "2026-05-08T13:56Z conflict_marked [mem_1] semantic (conflict_ids, conflict_state)",
    ]


def test_a_result_that_has_not_begun_says_from_when_on_it_holds() -> None:
    later = NOW + timedelta(days=30)

    def lines(moment: datetime, **fields: Any) -> list[str]:
        given = {"type": MemoryType.SEMANTIC, "valid_from": later, **fields}
        memory = stored_memory("Ana lives in Porto", **given)
        hit = Hit(
            1,
            SerializedMemory.of(memory),
            None,
            0.5,
            0.5,
            1.0,
            1.0,
            1.0,
            1.0,
            0.5,
            0.5,
            "long",
            None,
            (),
            (),
            (),
            None,
            (),
        )
        return search_text(Retrieved((hit,), 1), whole=False, moment=moment).splitlines()[1:]

    (line,) = lines(NOW)
    assert line.endswith(f"Ana lives in Porto (from {later.date()})")
    for begun in (lines(later), lines(NOW, valid_from=NOW), lines(NOW, category="cell")):
        assert begun[0].endswith("Ana lives in Porto")


def test_a_result_names_what_speaks_against_it_in_the_words_of_a_context() -> None:
    later = {"replaced": "I take warfarin.", "text": "I'm off\nwarfarin.", "at": NOW}
    other = {"conflict_id": "cft_1", "memory_id": "mem_2", "text": "User is off warfarin"}
    hit = Hit(
        rank=1,
        serialized=SerializedMemory.of(stored_memory("User takes warfarin")),
        similarity_score=None,
        lexical_score=0.5,
        relevance_score=0.5,
        recency_score=1.0,
        importance_score=1.0,
        frequency_score=1.0,
        confidence_score=1.0,
        score=0.5,
        composite_score=0.5,
        tier="long",
        matched_by=(),
        stale_facts=({"text": "User is well", "superseded_by": "mem_3", "current": None},),
        replaced_by=({**later, "memory_id": "msg_1"},),
        disputed_by=({**other, "at": NOW},),
    )
    lines = search_text(Retrieved((hit,), 1), whole=False, moment=NOW).splitlines()
    assert lines[2:] == [
        "   no longer true: User is well",
        '   "I take warfarin." replaced on 2026-05-08: I\'m off warfarin.',
        "   in conflict with what was said on 2026-05-08: User is off warfarin",
    ]


def test_neither_the_app_nor_the_definition_of_the_tools_loads_the_sdk() -> None:
    """It takes half a second; `server` and `http`, which the first request of /mcp imports,
    need it.
    """
    code = (
        "import function_app, memory_core.functions.mcp.tools, memory_core.functions.mcp.reading, "
        "memory_core.cli.__main__, sys\n"
    )
    code += (
        "print([name for name in ('mcp', 'mcp_types', 'starlette', 'jsonschema', 'httpx2', "
        "'anyio') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("counts", "for_good", "capped", "head"),
    [
        ({"forgotten": 1}, False, False, "1 memory would be hidden, and could be restored."),
        (
            {"forgotten": 9},
            False,
            True,
            "At least 9 memories would be hidden, and could be restored.",
        ),
        (
            {"forgotten": 1, "derived": 4, "messages": 3, "notes": 1, "facts": 0},
            True,
            False,
            "1 memory would be forgotten for good, with its history, and 4 more with it "
            "(3 messages, 1 note).",
        ),
        (
            {"forgotten": 2, "derived": 0},
            True,
            False,
            "2 memories would be forgotten for good, with their history.",
        ),
    ],
)
def test_a_question_before_forgetting_counts_in_sentences(
    counts: dict[str, int], for_good: bool, capped: bool, head: str
) -> None:
    assert forgotten_head(Foreseen(counts, capped), for_good=for_good) == head
