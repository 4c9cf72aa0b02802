"""Every code block of README and docs/ is run: against a host with the local embedder and the
rules, as `make run` starts it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs_blocks import (
    ADDRESS,
    SHELL,
    Block,
    Reader,
    Shell,
    blocks,
    commands,
    documents,
    steps,
    syntax_error,
)
from tests.exported_chats import chatgpt_conversation
from tests.host import ROOT, running

FIRST_STEPS = "first-steps.md"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "memory_core_client" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
WITH_KEYS = "many-users.md"
"""The page whose host asks for keys."""
ADMIN_KEY = f"mc_shop_1_{'5b' * 24}"
ELSEWHERE = {
    "library.md": "tests/unit/test_docs.py",
    "mcp.md": "tests/e2e/test_docs_mcp.py",
    "langgraph.md": "tests/client/test_docs_adapters.py",
    "openai-agents.md": "tests/client/test_docs_adapters.py",
    "other-frameworks.md": "tests/client/test_docs_adapters.py",
}
"""Pages whose Python is run by another test, which names the page."""
PROGRAMS = [
    (FIRST_STEPS, 0, 2),
    ("languages.md", 1, 2),
    ("agents.md", 1, 2),
    ("formation.md", 0, 0),
]
PAGES_WITH_STEPS = [
    page
    for page in PAGES
    if steps(page) and page.name not in {*ELSEWHERE, *[name for name, _, _ in PROGRAMS]}
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("docs"), EMBEDDING_PROVIDER="minilm") as client:
        yield str(client.base_url).rstrip("/")


@pytest.fixture(scope="module")
def url_with_keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    keys = [
        {
            "id": "1",
            "app": "shop",
            "sha256": hashlib.sha256(ADMIN_KEY.encode()).hexdigest(),
            "rights": ["admin"],
        }
    ]
    with running(
        tmp_path_factory.mktemp("keys"),
        EMBEDDING_PROVIDER="minilm",
        MEMORY_API_KEYS=json.dumps(keys),
    ) as client:
        yield str(client.base_url).rstrip("/")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the pages bring in."""
    turns = (
        "I moved to Lisbon in May.",
        "How do you like it?",
        "The hills are steep.",
        "They are.",
    )
    with zipfile.ZipFile(tmp_path / "chatgpt.zip", "w") as export:
        export.writestr("conversations.json", json.dumps([chatgpt_conversation("c1", *turns)]))
    year = {
        "session_id": "s1",
        "messages": [
            {"role": "user", "content": "I keep bees.", "timestamp": "2025-05-08T12:00:00Z"}
        ],
    }
    (tmp_path / "year.jsonl").write_text(json.dumps(year) + "\n")
    return tmp_path


def page_named(name: str) -> Path:
    return ROOT / "docs" / name


def python_of(page: Path) -> list[str]:
    return [
        block.text for block in blocks(page) if block.language == "python" and not block.not_run
    ]


def printed(program: str, folder: Path, url: str) -> list[str]:
    settings = {
        "HOST_URL": url,
        "PYTHONUTF8": "1",
        "PYTHONPATH": str(ROOT / "memory_core_client" / "src"),
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=folder,
        env=settings,
        timeout=120,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("page", "before", "prints"), PROGRAMS, ids=[page for page, _, _ in PROGRAMS]
)
def test_the_pieces_of_a_page_in_order_print_what_is_written_beside_them(
    page: str, before: int, prints: int, tmp_path: Path, url: str
) -> None:
    """before: how many pieces of the first steps the page builds on. prints: how many lines it says
    at least that are printed.
    """
    program = "\n".join(
        [*python_of(page_named(FIRST_STEPS))[:before], *python_of(page_named(page))]
    ).replace(ADDRESS, url)
    expected = re.findall(r"# prints: (.*)", program)
    assert len(expected) >= prints
    assert not prints or printed(program, tmp_path, url) == expected
    assert prints or printed(program, tmp_path, url) is not None


@pytest.mark.parametrize(
    "page", PAGES_WITH_STEPS, ids=lambda page: f"{page.parent.name}-{page.name}"
)
def test_the_commands_of_a_page_in_order_print_what_the_page_shows(
    page: Path, folder: Path, request: pytest.FixtureRequest
) -> None:
    address = request.getfixturevalue("url_with_keys" if page.name == WITH_KEYS else "url")
    shell = Shell(folder, ADMIN_KEY=ADMIN_KEY, EMBEDDING_PROVIDER="minilm")
    try:
        reader = Reader(page, shell, address)
        wrong = [message for step in steps(page) if (message := reader.follow(step)) is not None]
    finally:
        shell.close()
    assert wrong == [], "\n\n".join(wrong)


def is_run_or_read(block: Block) -> bool:
    """Whether a test here or elsewhere does something with a block."""
    name = block.page.name
    if block.language == "python":
        return (
            name in ELSEWHERE
            or name in [page for page, _, _ in PROGRAMS]
            or block.page in PAGES_WITH_STEPS
        )
    return block.language in (*SHELL, "json", "mermaid", "text", "")


def test_every_block_is_run_or_says_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    every = [block for page in PAGES for block in blocks(page)]
    assert [block.name for block in every if not block.not_run and not is_run_or_read(block)] == []
    assert [
        name
        for name, test in ELSEWHERE.items()
        if name not in (ROOT / test).read_text(encoding="utf-8")
    ] == []
    unparsed = [
        (block.name, problem)
        for block in every
        if block.language in SHELL
        for problem in unparsed_commands(block)
    ]
    assert unparsed == []
    with_language = [block for block in every if block.language not in ("", "text", "mermaid")]
    reasons = Counter(block.not_run for block in with_language if block.not_run)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{len(with_language)} code blocks in the documents; not run: {dict(reasons)}\n"
        )
    assert reasons.total() <= 25, "a block that is not run is an exception"


def unparsed_commands(block: Block) -> list[str]:
    """Commands of a block that the shell can't parse. `<name>` stands for a value of
    the reader's.
    """
    parsed = [re.sub(r"<([\w ]+)>", r"\1", command) for command, _ in commands(block)]
    return [problem for command in parsed if (problem := syntax_error(command)) is not None]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.name}")
def test_the_json_of_a_page_is_json_but_for_what_is_left_out(page: Path) -> None:
    for block in blocks(page):
        if block.language == "json":
            try:
                assert list(documents(block.text)), block.name
            except ValueError as error:
                raise AssertionError(f"{block.name}: {error}") from error


def test_every_module_that_the_documents_start_is_there() -> None:
    named = {
        name
        for page in PAGES
        for name in re.findall(
            r"python3? -m ((?:bench|tests|deployment|memory_core)[\w.]*)", page.read_text("utf-8")
        )
    }
    assert len(named) > 10
    assert [
        name for name in sorted(named) if importlib.util.find_spec(name.rstrip(".")) is None
    ] == []
