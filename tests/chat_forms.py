"""Lists of messages in every documented form of the usual chat APIs, and what is kept of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple


class ChatForm(NamedTuple):
    """A list of messages. expected: (role, actor, content) of each message that comes of it."""

    name: str
    messages: list[dict[str, Any]]
    expected: list[tuple[str, str | None, str]]


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
DATA_URL = f"data:image/png;base64,{PNG}"
PDF = "JVBERi0xLjQKJcOkw7zDtsOfCjIgMCBvYmoKPDwvTGVuZ3RoIDMgMCBSL0ZpbHRlci9GbGF0ZURlY29kZT4"
WEATHER = '{"city": "Porto"}'
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": WEATHER},
}


def _dumpd(name: str, **fields: Any) -> dict[str, Any]:
    """A message as LangChain's `dumpd` writes it."""
    return {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", name],
        "kwargs": fields,
    }


OPENAI_CHAT = [
    ChatForm(
        "plain",
        [
            {"role": "user", "content": "I moved to Porto."},
            {"role": "assistant", "content": "How is it?"},
        ],
        [("user", None, "I moved to Porto."), ("assistant", None, "How is it?")],
    ),
    ChatForm(
        "developer and system",
        [{"role": "developer", "content": "Be brief."}, {"role": "system", "content": "Be kind."}],
        [("system", None, "Be brief."), ("system", None, "Be kind.")],
    ),
    ChatForm(
        "name",
        [{"role": "user", "name": "Ana", "content": "I sing."}],
        [("user", "Ana", "I sing.")],
    ),
    ChatForm(
        "text parts",
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "I have a cat."},
                    {"type": "text", "text": "She is grey."},
                ],
            }
        ],
        [("user", None, "I have a cat.\nShe is grey.")],
    ),
    ChatForm(
        "image_url",
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "My cat:"},
                    {
                        "type": "image_url",
                        "image_url": {
                            "url": "https://example.org/a/cat%20one.png?token=secret",
                            "detail": "auto",
                        },
                    },
                    {"type": "image_url", "image_url": {"url": DATA_URL}},
                ],
            }
        ],
        [("user", None, "My cat:\n[image: cat one.png]\n[image]")],
    ),
    ChatForm(
        "input_audio and file",
        [
            {
                "role": "user",
                "content": [
                    {"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}},
                    {
                        "type": "file",
                        "file": {
                            "filename": "lease.pdf",
                            "file_data": f"data:application/pdf;base64,{PDF}",
                        },
                    },
                    {"type": "file", "file": {"file_id": "file-abc"}},
                ],
            }
        ],
        [("user", None, "[audio]\n[file: lease.pdf]\n[file]")],
    ),
    ChatForm(
        "tool calls beside null, and their result",
        [
            {"role": "user", "content": "How warm is it?"},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"},
            {
                "role": "assistant",
                "content": "It is 18 degrees.",
                "refusal": None,
                "annotations": [],
            },
        ],
        [
            ("user", None, "How warm is it?"),
            ("tool", None, 'get_weather({"city": "Porto"})'),
            ("tool", None, "get_weather: 18 degrees"),
            ("assistant", None, "It is 18 degrees."),
        ],
    ),
    ChatForm(
        "tool calls beside words, a custom tool, a result in parts",
        [
            {
                "role": "assistant",
                "content": "Let me look.",
                "tool_calls": [
                    CALL,
                    {
                        "id": "call_2",
                        "type": "custom",
                        "custom": {"name": "run_sql", "input": "select 1"},
                    },
                ],
            },
            {
                "role": "tool",
                "tool_call_id": "call_2",
                "content": [{"type": "text", "text": "1"}, {"type": "text", "text": "row"}],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": ""},
        ],
        [
            ("assistant", None, "Let me look."),
            ("tool", None, 'get_weather({"city": "Porto"})\nrun_sql(select 1)'),
            ("tool", None, "run_sql: 1\nrow"),
        ],
    ),
    ChatForm(
        "function_call and function",
        [
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "get_weather", "arguments": WEATHER},
            },
            {"role": "function", "name": "get_weather", "content": "18 degrees"},
        ],
        [
            ("tool", None, 'get_weather({"city": "Porto"})'),
            ("tool", None, "get_weather: 18 degrees"),
        ],
    ),
    ChatForm(
        "refusals",
        [
            {"role": "assistant", "content": None, "refusal": "I can't help with that."},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "Nor with that."}]},
        ],
        [("assistant", None, "I can't help with that."), ("assistant", None, "Nor with that.")],
    ),
    ChatForm(
        "an answer spoken",
        [
            {"role": "assistant", "content": None, "audio": {"id": "audio_1"}},
            {
                "role": "assistant",
                "content": None,
                "audio": {"id": "audio_2", "data": PNG, "expires_at": 1, "transcript": "Hello."},
            },
        ],
        [("assistant", None, "[audio]"), ("assistant", None, "Hello.")],
    ),
    ChatForm(
        "an answer without words, and reasoning beside one",
        [
            {"role": "user", "content": "I ski."},
            {
                "role": "assistant",
                "content": None,
                "refusal": None,
                "tool_calls": None,
                "function_call": None,
                "audio": None,
            },
            {"role": "assistant", "content": "Nice.", "reasoning_content": "They ski."},
        ],
        [("user", None, "I ski."), ("assistant", None, "Nice.")],
    ),
]
OPENAI_RESPONSES = [
    ChatForm(
        "input and output messages",
        [
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "This is Rex."},
                    {"type": "input_image", "image_url": DATA_URL, "detail": "auto"},
                    {"type": "input_image", "file_id": "file-abc", "detail": "low"},
                    {
                        "type": "input_file",
                        "filename": "rex.pdf",
                        "file_data": f"data:application/pdf;base64,{PDF}",
                    },
                    {"type": "input_file", "file_url": "https://example.org/papers/chip.pdf"},
                ],
            },
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [
                    {
                        "type": "output_text",
                        "text": "What a dog!",
                        "annotations": [],
                        "logprobs": [],
                    }
                ],
            },
            {"role": "user", "content": "He is three."},
        ],
        [
            ("user", None, "This is Rex.\n[image]\n[image]\n[file: rex.pdf]\n[file: chip.pdf]"),
            ("assistant", None, "What a dog!"),
            ("user", None, "He is three."),
        ],
    ),
    ChatForm(
        "function_call, its output, reasoning",
        [
            {"role": "user", "content": "How warm is it?"},
            {
                "id": "rs_1",
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "secret"}],
                "encrypted_content": PNG,
            },
            {
                "id": "fc_1",
                "type": "function_call",
                "call_id": "call_1",
                "name": "get_weather",
                "arguments": WEATHER,
                "status": "completed",
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "18 degrees"},
            {
                "type": "function_call_output",
                "call_id": "call_9",
                "output": [{"type": "input_text", "text": "mild"}],
            },
        ],
        [
            ("user", None, "How warm is it?"),
            ("tool", None, 'get_weather({"city": "Porto"})'),
            ("tool", None, "get_weather: 18 degrees"),
            ("tool", None, "mild"),
        ],
    ),
    ChatForm(
        "tools of the service",
        [
            {
                "id": "ws_1",
                "type": "web_search_call",
                "status": "completed",
                "action": {"type": "search", "query": "Porto"},
            },
            {
                "id": "fs_1",
                "type": "file_search_call",
                "status": "completed",
                "queries": ["lease"],
                "results": None,
            },
            {
                "id": "ci_1",
                "type": "code_interpreter_call",
                "code": "print(1)",
                "outputs": [{"type": "logs", "logs": "1"}],
            },
            {"id": "ig_1", "type": "image_generation_call", "status": "completed", "result": PNG},
            {
                "id": "ct_1",
                "type": "custom_tool_call",
                "call_id": "call_7",
                "name": "run_sql",
                "input": "select 1",
            },
            {"type": "custom_tool_call_output", "call_id": "call_7", "output": "1"},
            {
                "id": "cu_1",
                "type": "computer_call",
                "call_id": "call_8",
                "action": {"type": "click", "x": 1, "y": 2},
            },
            {
                "type": "computer_call_output",
                "call_id": "call_8",
                "output": {"type": "computer_screenshot", "image_url": DATA_URL},
            },
            {
                "id": "mcp_1",
                "type": "mcp_call",
                "server_label": "shop",
                "name": "order",
                "arguments": "{}",
                "output": "done",
            },
            {"id": "mcpl_1", "type": "mcp_list_tools", "server_label": "shop", "tools": []},
        ],
        [
            ("tool", None, 'web_search({"type": "search", "query": "Porto"})'),
            ("tool", None, 'file_search(["lease"])'),
            (
                "tool",
                None,
                'code_interpreter(print(1))\ncode_interpreter: {"type": "logs", "logs": "1"}',
            ),
            ("tool", None, "image_generation()"),
            ("tool", None, "run_sql(select 1)"),
            ("tool", None, "run_sql: 1"),
            ("tool", None, 'computer({"type": "click", "x": 1, "y": 2})'),
            ("tool", None, 'computer: {"type": "computer_screenshot", "image_url": "[image]"}'),
            ("tool", None, "order({})\norder: done"),
        ],
    ),
]
ANTHROPIC = [
    ChatForm(
        "text, image, document",
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "The lease.", "cache_control": {"type": "ephemeral"}},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                    },
                    {
                        "type": "image",
                        "source": {"type": "url", "url": "https://example.org/door.jpg"},
                    },
                    {
                        "type": "document",
                        "title": "Lease of 2026",
                        "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
                    },
                    {
                        "type": "document",
                        "source": {
                            "type": "text",
                            "media_type": "text/plain",
                            "data": "All of it.",
                        },
                    },
                    {
                        "type": "document",
                        "title": "House rules",
                        "source": {
                            "type": "content",
                            "content": [
                                {"type": "text", "text": "No drums."},
                                {
                                    "type": "image",
                                    "source": {
                                        "type": "base64",
                                        "media_type": "image/png",
                                        "data": PNG,
                                    },
                                },
                                {"type": "text", "text": "No smoke."},
                            ],
                        },
                    },
                    {
                        "type": "document",
                        "title": "Letter",
                        "source": {"type": "content", "content": "Dear tenant."},
                    },
                    {
                        "type": "document",
                        "title": "Scan",
                        "source": {"type": "file", "file_id": "file_011"},
                    },
                ],
            },
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "a-model",
                "content": [{"type": "text", "text": "It runs a year.", "citations": None}],
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        ],
        [
            (
                "user",
                None,
                (
                    "The lease.\n[image]\n[image: door.jpg]\n[file: Lease of 2026]\n> All of it.\n"
                    "[file: House rules]\n> No drums.\n> [image]\n> No smoke.\n[file: Letter]\n"
                    "> Dear tenant.\n[file: Scan]"
                ),
            ),
            ("assistant", None, "It runs a year."),
        ],
    ),
    ChatForm(
        "tool_use and tool_result",
        [
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Let me look."},
                    {
                        "type": "tool_use",
                        "id": "toolu_1",
                        "name": "get_weather",
                        "input": {"city": "Porto"},
                    },
                    {"type": "tool_use", "id": "toolu_2", "name": "take_photo", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "18 degrees"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_2",
                        "content": [
                            {"type": "text", "text": "Here:"},
                            {
                                "type": "image",
                                "source": {
                                    "type": "base64",
                                    "media_type": "image/png",
                                    "data": PNG,
                                },
                            },
                        ],
                    },
                    {"type": "tool_result", "tool_use_id": "toolu_3", "is_error": True},
                    {"type": "text", "text": "Shall I take a coat?"},
                ],
            },
        ],
        [
            ("assistant", None, "Let me look."),
            ("tool", None, 'get_weather({"city": "Porto"})\ntake_photo({})'),
            ("tool", None, "get_weather: 18 degrees\ntake_photo: Here:\n[image]"),
            ("user", None, "Shall I take a coat?"),
        ],
    ),
    ChatForm(
        "thinking",
        [
            {"role": "user", "content": "I ski."},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "They ski.", "signature": PNG},
                    {"type": "redacted_thinking", "data": PNG},
                    {"type": "text", "text": "Where?"},
                ],
            },
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "Nothing else.", "signature": PNG}],
            },
        ],
        [("user", None, "I ski."), ("assistant", None, "Where?")],
    ),
    ChatForm(
        "tools of the service, a search result",
        [
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "server_tool_use",
                        "id": "srvtoolu_1",
                        "name": "web_search",
                        "input": {"query": "Porto"},
                    },
                    {
                        "type": "web_search_tool_result",
                        "tool_use_id": "srvtoolu_1",
                        "content": [
                            {
                                "type": "web_search_result",
                                "url": "https://porto.pt",
                                "title": "Porto",
                                "encrypted_content": PNG,
                            }
                        ],
                    },
                    {"type": "text", "text": "It lies on the Douro."},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "search_result",
                        "source": "https://porto.pt",
                        "title": "Bridges",
                        "content": [{"type": "text", "text": "Six."}],
                    }
                ],
            },
        ],
        [
            (
                "tool",
                None,
                (
                    'web_search({"query": "Porto"})\nweb_search: {"type": "web_search_result", '
                    '"url": "https://porto.pt", "title": "Porto"}'
                ),
            ),
            ("assistant", None, "It lies on the Douro."),
            ("tool", None, "Bridges: Six."),
        ],
    ),
    ChatForm(
        "a system message",
        [
            {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "user", "content": "I ski."},
        ],
        [("system", None, "Be brief."), ("user", None, "I ski.")],
    ),
]
OTHERS = [
    ChatForm(
        "LangChain, dumped",
        [
            {"type": "system", "content": "Be brief."},
            {
                "type": "human",
                "content": "How warm is it?",
                "name": None,
                "id": "1",
                "additional_kwargs": {},
                "response_metadata": {},
                "example": False,
            },
            {
                "type": "ai",
                "content": [
                    {
                        "type": "tool_use",
                        "id": "call_1",
                        "name": "get_weather",
                        "input": {"city": "Porto"},
                    }
                ],
                "tool_calls": [
                    {
                        "name": "get_weather",
                        "args": {"city": "Porto"},
                        "id": "call_1",
                        "type": "tool_call",
                    }
                ],
                "invalid_tool_calls": [],
                "usage_metadata": None,
            },
            {
                "type": "tool",
                "content": "18 degrees",
                "tool_call_id": "call_1",
                "status": "success",
                "artifact": None,
            },
            {"type": "ai", "data": {"content": "18 degrees.", "type": "ai"}},
        ],
        [
            ("system", None, "Be brief."),
            ("user", None, "How warm is it?"),
            ("tool", None, 'get_weather({"city": "Porto"})'),
            ("tool", None, "get_weather: 18 degrees"),
            ("assistant", None, "18 degrees."),
        ],
    ),
    ChatForm(
        "LangChain, messages_to_dict",
        [
            {
                "type": "human",
                "data": {
                    "content": "How warm is it?",
                    "type": "human",
                    "name": None,
                    "id": "1",
                    "example": False,
                },
            },
            {
                "type": "ai",
                "data": {
                    "content": "",
                    "additional_kwargs": {},
                    "type": "ai",
                    "tool_calls": [
                        {
                            "name": "get_weather",
                            "args": {"city": "Porto"},
                            "id": "call_1",
                            "type": "tool_call",
                        }
                    ],
                    "usage_metadata": None,
                },
            },
            {
                "type": "tool",
                "data": {
                    "content": "18 degrees",
                    "type": "tool",
                    "name": "get_weather",
                    "tool_call_id": "call_1",
                },
            },
            {
                "type": "AIMessageChunk",
                "data": {
                    "content": "18 degrees.",
                    "type": "AIMessageChunk",
                    "chunk_position": None,
                },
            },
            {"type": "chat", "data": {"content": "Thanks", "type": "chat", "role": "user"}},
            {"type": "remove", "data": {"content": "", "type": "remove", "id": "1"}},
        ],
        [
            ("user", None, "How warm is it?"),
            ("tool", None, 'get_weather({"city": "Porto"})'),
            ("tool", None, "get_weather: 18 degrees"),
            ("assistant", None, "18 degrees."),
            ("user", None, "Thanks"),
        ],
    ),
    ChatForm(
        "LangChain, dumpd",
        [
            _dumpd("HumanMessage", content="How warm is it?", type="human", id="1"),
            _dumpd(
                "AIMessage",
                content="",
                type="ai",
                tool_calls=[
                    {
                        "name": "get_weather",
                        "args": {"city": "Porto"},
                        "id": "call_1",
                        "type": "tool_call",
                    }
                ],
                invalid_tool_calls=[],
            ),
            _dumpd(
                "ToolMessage",
                content="18 degrees",
                type="tool",
                tool_call_id="call_1",
                status="success",
            ),
            _dumpd("AIMessageChunk", content="18 degrees."),
            _dumpd("RemoveMessage", content="", type="remove", id="1"),
        ],
        [
            ("user", None, "How warm is it?"),
            ("tool", None, 'get_weather({"city": "Porto"})'),
            ("tool", None, "get_weather: 18 degrees"),
            ("assistant", None, "18 degrees."),
        ],
    ),
    ChatForm(
        "Gemini",
        [
            {
                "role": "user",
                "parts": [
                    {"text": "How warm is it?"},
                    {"inlineData": {"mimeType": "image/png", "data": PNG}},
                ],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "hm", "thought": True},
                    {"functionCall": {"name": "get_weather", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "get_weather", "response": {"result": 18}}}
                ],
            },
        ],
        [
            ("user", None, "How warm is it?\n[image]"),
            ("tool", None, "get_weather({})"),
            ("tool", None, 'get_weather: {"result": 18}'),
        ],
    ),
]
FRAMEWORKS = [
    ChatForm(name, form["messages"], [tuple(message) for message in form["expected"]])
    for name, form in json.loads(
        Path(__file__).with_name("framework_conversations.json").read_text(encoding="utf-8")
    ).items()
]
"""A conversation as each agent framework keeps it, by the framework's documents or its code."""
FORMS = [*OPENAI_CHAT, *OPENAI_RESPONSES, *ANTHROPIC, *OTHERS, *FRAMEWORKS]
