"""An adapter whose framework is not installed says what to install, and the client needs
none of them.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.host import ROOT

WITHOUT = (
    "import sys; sys.modules.update(dict.fromkeys(('langchain_core', 'langgraph', 'agents', "
    "'agent_framework')))"
)


def run(program: str) -> subprocess.CompletedProcess[str]:
    settings = {"PYTHONPATH": str(ROOT / "memory_core_client" / "src")}
    return subprocess.run(
        [sys.executable, "-c", f"{WITHOUT}; {program}"],
        capture_output=True,
        text=True,
        env=settings,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("langgraph", "langgraph"),
        ("openai_agents", "openai-agents"),
        ("agent_framework", "agent-framework"),
    ],
)
def test_an_adapter_without_its_framework_names_the_extra(module: str, extra: str) -> None:
    done = run(f"import memory_core_client.{module}")
    assert f"pip install 'memory-core-client[{extra}]'" in done.stderr.splitlines()[-1]


def test_the_client_and_its_functions_need_no_framework() -> None:
    assert run("import memory_core_client.tools").returncode == 0
