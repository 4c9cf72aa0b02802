"""What the protocol's own inspector makes of /mcp and of `memory-core mcp`."""

from __future__ import annotations

from pathlib import Path

import httpx

from tests import fork_server
from tests.inspector import inspect

TOOLS = [
    "memory_context",
    "memory_search",
    "memory_save",
    "memory_converse",
    "memory_timeline",
    "memory_forget",
]


def test_it_lists_and_calls_the_tools_of_a_host_and_finds_nothing_to_complain_of(
    embedded_host: httpx.Client, user: str
) -> None:
    """Of one profile: what the inspector looks at is in front of every store."""
    target = [
        f"{str(embedded_host.base_url).rstrip('/')}/mcp",
        "--transport",
        "http",
        "--header",
        f"X-Memory-User: {user}",
    ]
    listed = inspect(*target, "--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == TOOLS
    saved = inspect(
        *target,
        "--method",
        "tools/call",
        "--tool-name",
        "memory_save",
        "--tool-arg",
        "content=I like rye bread",
    )
    assert saved["content"][0]["text"].startswith("Saved as mem_")
    searched = inspect(
        *target,
        "--method",
        "tools/call",
        "--tool-name",
        "memory_search",
        "--tool-arg",
        "query=I like rye bread",
        "--tool-arg",
        "limit=1",
    )
    assert "I like rye bread" in searched["content"][0]["text"]
    assert len(inspect(*target, "--method", "resources/list")["resources"]) == 2
    assert inspect(*target, "--method", "resources/read", "--uri", "memory://profile")["contents"][
        0
    ]["text"]
    assert len(inspect(*target, "--method", "prompts/list")["prompts"]) == 2
    prompt = inspect(
        *target,
        "--method",
        "prompts/get",
        "--prompt-name",
        "recall",
        "--prompt-args",
        "topic=rye bread",
    )
    assert "I like rye bread" in prompt["messages"][0]["content"]["text"]


def test_it_lists_and_calls_the_tools_over_stdin_and_stdout(tmp_path: Path) -> None:
    target = [
        fork_server.python(),
        "-m",
        "memory_core.cli",
        "mcp",
        "--data",
        str(tmp_path / "data"),
        "-e",
        "EMBEDDING_PROVIDER=hash",
    ]
    assert [
        tool["name"] for tool in inspect(*target, "--method", "tools/list", "--strict")["tools"]
    ] == TOOLS
    saved = inspect(
        *target,
        "--method",
        "tools/call",
        "--tool-name",
        "memory_save",
        "--tool-arg",
        "content=I like rye bread",
    )
    assert saved["content"][0]["text"].startswith("Saved as mem_")
