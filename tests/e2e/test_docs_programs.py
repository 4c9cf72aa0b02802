"""The programs in the docs print what their comments say, against a host with the local embedder and the rules, as `make run` starts it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.host import ROOT, running

FIRST_STEPS = "first-steps.md"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.URL]:
    with running(tmp_path_factory.mktemp("docs"), EMBEDDING_PROVIDER="minilm") as client:
        yield client.base_url


def pieces(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)


def printed(program: str, folder: Path, url: httpx.URL) -> list[str]:
    settings = {"HOST_URL": str(url), "PYTHONUTF8": "1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=folder, env=settings, timeout=120)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(("page", "before"), [(FIRST_STEPS, 0), ("languages.md", 1), ("agents.md", 1)])
def test_the_pieces_of_a_page_in_order_print_what_is_written_beside_them(page: str, before: int, tmp_path: Path, url: httpx.URL) -> None:
    """before: how many pieces of the first steps the page builds on."""
    program = "\n".join([*pieces(FIRST_STEPS)[:before], *pieces(page)])
    expected = re.findall(r"# prints: (.*)", program)
    assert len(expected) >= 2
    assert printed(program, tmp_path, url) == expected
