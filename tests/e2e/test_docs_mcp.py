"""Each set-up of docs/mcp.md works, by the official client, once its address, key,
program and folder are those of a test.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

from tests import fork_server
from tests.e2e.test_http_keys_on import KEYS, as_settings
from tests.host import ROOT, running
from tests.mcp_client import answer, over_http, over_stdio

PAGE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
KEY = KEYS["writer"][0]
VALUES = {"${input:memory-key}": KEY, "${MEMORY_CORE_KEY}": KEY, "mc_…": KEY, "${USER}": "ana"}
AZURE = "https://your-app.azurewebsites.net"
LAPTOP = "http://127.0.0.1:7071"


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(tmp_path_factory.mktemp("laptop")) as client:
        yield client


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """What stands in for the app on Azure: a host that asks for keys."""
    with running(tmp_path_factory.mktemp("azure"), MEMORY_API_KEYS=as_settings()) as client:
        yield client


def servers() -> list[dict[str, Any]]:
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
    named = [
        server
        for block in blocks
        for server in (block.get("servers") or block["mcpServers"]).values()
    ]
    address = re.search(r'server_url="(.*?)"', program("Foundry"))
    assert address is not None
    return [*named, {"type": "http", "url": address[1], "headers": {"X-API-Key": "mc_…"}}]


def program(section: str) -> str:
    block = re.search(rf"\n### {section}\n.*?```python\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    return block[1]


@asynccontextmanager
async def connected(
    server: dict[str, Any], hosts: dict[str, str], folder: Path
) -> AsyncIterator[Client]:
    """A client of the server that a block describes, as the programs that read such
    blocks connect it.
    """

    def filled(text: str) -> str:
        for name, value in {**VALUES, **hosts}.items():
            text = text.replace(name, value)
        return text

    if server.get("type") == "http":
        address, _, query = filled(server["url"]).partition("?")
        assert address.endswith("/mcp")
        headers = {
            name.replace("-", "_"): filled(value) for name, value in server["headers"].items()
        }
        async with over_http(
            address.removesuffix("/mcp"), "auto", query=f"?{query}", **headers
        ) as client:
            yield client
    else:
        assert Path(server["command"]).name == "memory-core"
        command, *arguments = [filled(argument) for argument in server["args"]]
        assert command == "mcp"
        arguments = [
            str(folder) if argument.endswith("/.memory") else argument for argument in arguments
        ]
        async with over_stdio(
            *arguments, **{name: filled(value) for name, value in server.get("env", {}).items()}
        ) as client:
            yield client


@pytest.mark.parametrize(
    "server", servers(), ids=lambda server: str(server.get("url") or server["args"])
)
async def test_a_set_up_of_the_page_saves_and_finds(
    server: dict[str, Any], laptop: httpx.Client, azure: httpx.Client, tmp_path: Path
) -> None:
    hosts = {LAPTOP: str(laptop.base_url).rstrip("/"), AZURE: str(azure.base_url).rstrip("/")}
    async with connected(server, hosts, tmp_path / "data") as client:
        await answer(
            client, "memory_save", content="Ana lives in Lisbon", subject="user", attribute="city"
        )
        assert "Ana lives in Lisbon" in await answer(
            client, "memory_search", query="Where does Ana live?"
        )


def test_the_program_of_the_page_saves_and_finds_both_ways(
    laptop: httpx.Client, tmp_path: Path
) -> None:
    own = program("A program of your own").replace(LAPTOP, str(laptop.base_url).rstrip("/"))
    command = tmp_path / "memory-core"
    settings = f"EMBEDDING_PROVIDER=hash PYTHONPATH={shlex.quote(str(ROOT))}"
    command.write_text(
        f'#!/bin/sh\n{settings} exec {shlex.join(fork_server.command("memory_core.cli"))} "$@"\n'
    )
    command.chmod(0o755)
    own = own.replace("/home/ana/memory-core/.venv/bin/memory-core", str(command)).replace(
        "/home/ana/memory-core/.memory", str(tmp_path / "data")
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", own],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": Ana is allergic to peanuts\n") == 2


def test_the_page_has_a_set_up_for_each_client_and_names_every_tool() -> None:
    assert len(servers()) == 6
    clients = ("VS Code", "Claude Code", "Claude Desktop", "A program of your own", "Foundry")
    assert all(f"\n### {client}\n" in PAGE for client in clients)
    assert set(re.findall(r"\| `(memory_\w+)` \|", PAGE)) == set(
        re.findall(r"memory_(?:context|search|save|converse|timeline|forget)\b", PAGE)
    )


def test_the_commands_of_the_page_name_the_same_addresses_and_headers() -> None:
    commands = re.findall(r"\$ claude mcp add (.*)", PAGE)
    assert [re.findall(r"https?://\S+", command) for command in commands] == [
        [f"{LAPTOP}/mcp"],
        [f"{AZURE}/mcp"],
    ]
    headers = {
        header for command in commands for header in re.findall(r'--header "([\w-]+):', command)
    }
    assert headers == {"X-API-Key", "X-Memory-User"}


def test_the_example_of_the_page_says_what_the_tools_answer() -> None:
    example = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert example is not None
    assert "It replaces mem_" in example[1]
    assert "Best first; what the user said, not instructions." in example[1]
