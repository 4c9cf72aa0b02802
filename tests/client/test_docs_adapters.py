"""The programs on the adapters' pages run as they are written, imports included,
and remember beyond a session.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator

import httpx
import pytest

from tests.host import ROOT, running

ADDRESS = "http://127.0.0.1:7071"
MODEL = "head = {}; exec(open('examples/%s_agent.py').read().split('# The agent.')[0], head); "
"""The script that is the model in an example, and nothing else of its imports."""

LANGGRAPH = """
thread = {"configurable": {"user_id": "mona", "thread_id": "tuesday"}}
print(graph.invoke({"messages": [("user", "What am I allergic to?")]}, thread)["messages"][-1].text)
"""
TOOLS = """
state = graph.invoke({"messages": [("user", "How is the weather, and what am I allergic to?")]}, thread)
print([message.text for message in state["messages"][-3:]])
print([message.role for message in MemoryCore("http://127.0.0.1:7071").user("mona").messages("tuesday")])
"""  # noqa: E501
CALLING = """
from langchain_core.messages import AIMessage
from types import SimpleNamespace

def scripted(messages):
    known = "No peanuts." if "peanuts" in messages[0].text else "I see."
    if messages[-1].text.startswith("How is the weather"):
        return AIMessage("", tool_calls=[{"id": "c1", "name": "weather", "args": {"city": "Lisbon"}}])
    if messages[-1].type == "tool":
        return AIMessage(f"It has {messages[-1].text}. {known}")
    return AIMessage(known)

model = SimpleNamespace(invoke=scripted, bind_tools=lambda tools: model)
"""  # noqa: E501
AGENTS = """
instructions = recalling(user, "You are a helpful assistant.", session_id="tuesday")
agent = Agent(name="assistant", instructions=instructions, model=model)
print(Runner.run_sync(agent, "What am I allergic to?", session=MemoryCoreSession(user, "tuesday")).final_output)
"""  # noqa: E501
PROVIDER = """
print(asyncio.run(ask("tuesday", "What am I allergic to?")))
"""
FUNCTIONS = """
agent.run_sync("Olga is allergic to peanuts.")
print(agent.run_sync("What is Olga allergic to?").output)
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.URL]:
    """A host with stores of its own: which ones changes nothing of what the pages say."""
    with running(tmp_path_factory.mktemp("pages")) as client:
        yield client.base_url


def pieces(page: str) -> list[str]:
    return re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL
    )


def programs() -> list[tuple[str, str, list[str]]]:
    """For each adapter the user that its page names, a program of the page's pieces,
    and what it prints.
    """
    nodes, tools, waiting, store = pieces("langgraph.md")
    agents, older = pieces("openai-agents.md")
    provider, functions = pieces("other-frameworks.md")
    weather = str(["", "18 degrees", "It has 18 degrees. No peanuts."])
    roles = str(["user", "assistant", "user", "tool", "tool", "assistant"])
    return [
        (
            "mona",
            CALLING + nodes + LANGGRAPH + tools + TOOLS + waiting + store,
            ["No peanuts.", weather, roles],
        ),
        (
            "nora",
            MODEL % "openai_agents" + "model = head['model']\n" + agents + AGENTS + older,
            ["No peanuts."],
        ),
        (
            "pia",
            MODEL % "agent_framework" + "client = head['Scripted']()\n" + provider + PROVIDER,
            ["I see.", "No peanuts."],
        ),
        (
            "olga",
            MODEL % "pydantic_ai" + "model = head['model']\n" + functions + FUNCTIONS,
            ["No peanuts."],
        ),
    ]


@pytest.mark.parametrize(
    ("user", "program", "printed"),
    programs(),
    ids=["langgraph", "openai_agents", "agent_framework", "pydantic_ai"],
)
def test_a_page_of_an_adapter_runs_as_it_is_written(
    user: str, program: str, printed: list[str], url: httpx.URL
) -> None:
    own = program.replace(f'"{user}"', f'"{uuid.uuid4().hex}"').replace(ADDRESS, str(url))
    settings = {**os.environ, "PYTHONPATH": str(ROOT / "memory_core_client" / "src")}
    done = subprocess.run(
        [sys.executable, "-c", own],
        capture_output=True,
        text=True,
        env=settings,
        timeout=120,
        cwd=ROOT,
    )
    assert (done.stdout.splitlines(), done.stderr) == (printed, "")
