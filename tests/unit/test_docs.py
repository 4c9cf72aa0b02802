"""What the documents say by name is there, and what is there is named."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import get_args

import azure.functions as func
import pytest

from deployment import docs_site
from memory_core.adapters.offline.facts import said_facts
from memory_core.config import Settings, rows
from memory_core.domain import errors
from memory_core.domain.conversation import TaskKind
from memory_core.domain.memory import INTERNAL_FIELDS, Memory
from memory_core.functions.blueprints import BLUEPRINTS
from memory_core.functions.openapi import document
from memory_core.functions.registered import Door, door_of
from memory_core.functions.request_parsing import from_json
from memory_core.localhost.routing import Route, Router
from memory_core.setting_types import COMMAND_LINE, LIVE, variable
from memory_core.telemetry import Telemetry
from tests import docs_diagrams
from tests.talk import talk

ROOT = Path(__file__).parents[2]
CLIENT_PAGE = ROOT / "memory_core_client" / "README.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED_PAGES = [*PAGES, CLIENT_PAGE, ROOT / "CHANGELOG.md"]
PAGES_ON_CODE = [
    ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("architecture", "decisions", "glossary")),
]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def in_code(text: str) -> str:
    return " ".join(re.findall(r"`([^`]+)`", text))


def test_the_program_of_the_library_does_what_its_comments_say(tmp_path: Path) -> None:
    program = re.search(r"```python\n(.*?)```", read("docs/library.md"), re.DOTALL)
    assert program is not None
    settings = {"PYTHONPATH": str(ROOT), "EMBEDDING_PROVIDER": "hash", "MEMORY_DATA": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program[1]],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=settings,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["superseded", "Ana works at Bosch", "Ana works at Siemens"]


def calls_of(page: Path) -> list[tuple[str, str, str]]:
    """Method, path and JSON body of each curl in a page's consoles; those that shorten their path
    or body with … or ... apart.
    """
    calls: list[tuple[str, str, str]] = []
    for console in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for command in re.split(r"(?m)^\$ ", console)[1:]:
            path, body = (
                re.search(r"(/api/v1[^\s\"'?]*)", command),
                re.search(r" -d '(\{.*?\})'", command, re.DOTALL),
            )
            if command.startswith("curl") and path and body and "…" not in path[1] + body[1]:
                method = re.search(r"-X (\w+)", command)
                calls.append((method[1] if method else "POST", path[1], body[1]))
    return calls


@pytest.fixture(scope="module")
def registered() -> dict[str, tuple[Route, Door]]:
    """Every HTTP function by its call, "METHOD /path", as the app registers it."""
    app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
    for blueprint in BLUEPRINTS:
        app.register_functions(blueprint)
    calls = {}
    for function in app.get_functions():
        name, call, trigger = (
            str(function.get_function_name()),
            function.get_user_function(),
            function.get_trigger(),
        )
        if trigger is not None and (door := door_of(call)) is not None:
            if name == "wrong_path":
                continue  # it takes whatever no call does
            binding = trigger.get_dict_repr()
            for method in binding["methods"]:
                route = Route.parse(name, str(method.value), binding["route"], call)
                calls[f"{route.method} /{binding['route'].strip('/')}"] = route, door
    return calls


@pytest.fixture(scope="module")
def doors(registered: dict[str, tuple[Route, Door]]) -> tuple[Router, dict[str, Door]]:
    return Router([route for route, _ in registered.values()]), {
        route.function: door for route, door in registered.values()
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_the_documents_send_is_what_the_calls_take(
    page: Path, doors: tuple[Router, dict[str, Door]]
) -> None:
    router, known = doors
    for method, path, body in calls_of(page):
        match = router.match(method, path.encode())
        assert match is not None, (method, path)
        fields, door = json.loads(body), known[match.route.function]
        if door.scoped:
            assert (
                fields.pop("user_id", None) is not None
                or match.parameters.get("user_id")
                or door.nameless
            )
        from_json(door.takes, fields)


def test_the_pages_have_such_calls_and_the_readmes_can_be_copied_as_they_are() -> None:
    assert len(calls_of(ROOT / "README.md")) >= 1
    assert len(calls_of(ROOT / "docs" / "many-users.md")) >= 4
    assert len(calls_of(ROOT / "docs" / "api.md")) >= 8
    assert not re.search(r"\$ curl[^\n]*\.\.\.", read("README.md"))


def test_every_kind_of_task_is_documented() -> None:
    assert [kind for kind in get_args(TaskKind) if f"`{kind}`" not in read("docs/api.md")] == []


def test_every_path_of_the_api_is_documented() -> None:
    page = read("docs/api.md").replace("{memory_id}", "{id}")
    missing = [
        path
        for path in document()["paths"]
        if path.replace("{memory_id}", "{id}").removeprefix("/api/v1") not in page
    ]
    assert missing == []


def rows_of(text: str, columns: int) -> list[list[str]]:
    """The cells of every table row of `columns` columns, header rows and rules apart."""
    rows = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in text.splitlines()
        if line.startswith("| ")
    ]
    return [row for row in rows if len(row) == columns]


def required_right(door: Door) -> str:
    """What the table of calls says of this door."""
    right = door.right or "none"
    if door.own:
        return f"{right}, or write with a key bound to that user"
    return (
        right if door.scoped or door.right is None else f"{right}, not with a key bound to a user"
    )


def test_the_table_of_calls_has_every_route_with_its_right_and_no_other(
    registered: dict[str, tuple[Route, Door]],
) -> None:
    table = read("docs/api.md").split("\n## ")[0]
    documented = [
        (re.findall(r"`([^`]+)`", call), right) for call, _, right in rows_of(table, 3)[1:]
    ]
    routes = [([call], required_right(door)) for call, (_, door) in registered.items()]
    assert sorted(documented) == sorted(routes), (
        "docs/api.md: one row a call: | [`METHOD /path`](#section) | does | right |"
    )


def test_the_table_of_retries_has_every_call_that_writes_and_no_other(
    registered: dict[str, tuple[Route, Door]],
) -> None:
    table = re.split(r"\n##+ ", read("docs/api.md").split("\n### Sending a call again\n")[1])[0]
    documented = [
        call
        for calls, _ in rows_of(table, 2)[1:]
        for call in re.findall(r"`([A-Z]+ /[^`]*)`", calls)
    ]
    writing = [
        call
        for call, (route, door) in registered.items()
        if door.right in ("write", "admin") and route.method != "GET"
    ]
    export = "POST /api/v1/users/{user_id}/export"  # begins a task with the right to read
    assert sorted(documented) == sorted([*writing, export])


def test_the_tables_of_settings_have_every_setting_with_its_default_and_no_other() -> None:
    documented = [
        (re.sub("`", "", name), re.sub("`", "", default))
        for name, default, _ in rows_of(read("docs/settings.md"), 3)
    ]
    rows_of_settings = Counter(row for row in documented if row[0] != "variable")
    defaults = Counter((name, default) for name, default, *_ in rows(Settings()))
    wrong = {
        "missing": [*(defaults - rows_of_settings)],
        "unknown": [*(rows_of_settings - defaults)],
    }
    assert not any(wrong.values()), (
        f"docs/settings.md: one row a setting: | `VARIABLE` | default | meaning |; {wrong}"
    )


def test_the_table_of_errors_has_every_error_that_a_caller_can_get() -> None:
    table = read("docs/api.md").split("### Errors")[1].split("\n### ")[0]
    documented = {
        (status, kind)
        for status, kinds, _ in rows_of(table, 3)
        for kind in re.findall(r"`(\w+)`", kinds)
    }
    kinds = [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.MemoryCoreError)
    ]
    # rules answer where agents fail
    raised = {(str(kind.status), kind.type) for kind in kinds if kind is not errors.AgentFailed}
    assert raised - documented == set()


def metrics() -> dict[str, set[str]]:
    """Every metric of a process by its name in Prometheus' text format, with its labels."""
    telemetry = Telemetry()
    with suppress(KeyError), telemetry.operation("save"):
        raise KeyError
    telemetry.batch("bulk", 2)
    telemetry.charged(1.0)
    telemetry.tokens("app", "model", 2, 2, 1)
    telemetry.agent_call("form", "ok")
    telemetry.answer_cut("form", "facts")
    text = telemetry.text({"long_term": (1, 0)}, {"long_term": False}).decode()
    labels: dict[str, set[str]] = {
        name: set() for name in re.findall(r"^# TYPE (\w+)", text, re.MULTILINE)
    }
    for name, given in re.findall(r"^(\w+)\{(.*)\} ", text, re.MULTILINE):
        metric = re.sub(r"_(?:bucket|count|sum)$", "", name)
        labels[metric] |= set(re.findall(r'(\w+)="', given)) - {"le"}
    return labels


def test_the_table_of_metrics_has_every_metric_with_its_labels_and_no_other() -> None:
    documented = {
        name: set(labels.split(","))
        for name, labels in re.findall(r"`(memory_core_\w+)\{([\w,]+)\}`", read("docs/api.md"))
    }
    assert documented == metrics()


def facts_in(page: str) -> list[tuple[str, str]]:
    """What a page says of statements: the statement, and the facts that it becomes."""
    table = read(page).split("\n## What becomes a fact\n")[1].split("\n## ")[0]
    return [
        (statement, fact)
        for language, statement, fact in rows_of(table, 3)
        if language not in ("language", "---")
    ]


@pytest.mark.parametrize(("statement", "fact"), facts_in("docs/languages.md"))
def test_a_statement_becomes_the_facts_that_the_page_of_languages_names(
    statement: str, fact: str
) -> None:
    assert (
        "; ".join(
            known.text for known in said_facts(talk(statement)) if known.subject or known.lasting
        )
        or "none"
    ) == fact


def test_every_field_of_a_memory_that_callers_see_is_documented() -> None:
    named = set(re.findall(r"\w+", in_code(read("docs/model.md"))))
    assert Memory.model_fields.keys() - INTERNAL_FIELDS - named == set()


def test_the_documents_name_no_setting_that_is_not_there() -> None:
    known = {variable(name) for name in Settings.model_fields}
    named = {
        word
        for page in PAGES
        for word in re.findall(
            r"\b(?:MEMORY|EMBEDDING)_[A-Z_]*[A-Z]\b", page.read_text(encoding="utf-8")
        )
    }
    named = {name for name in named if not name.startswith(LIVE) and name not in COMMAND_LINE}
    assert named - known <= {"MEMORY_DECAY_FLOR"}  # the misspelt one of an example


@pytest.mark.parametrize(
    ("example", "adapters"),
    [
        ("local.settings.json.example", ("sqlite", "embedded", "embedded", "folder")),
        ("local.settings.azure.json.example", ("cosmos", "redis", "storage", "blob")),
    ],
)
def test_the_examples_of_local_settings_choose_each_store_by_names_that_exist(
    example: str, adapters: tuple[str, ...]
) -> None:
    values = json.loads(read(example))["Values"]
    assert {name for name in values if name.startswith("MEMORY_")} <= {
        variable(name) for name in Settings.model_fields
    }
    settings = Settings.from_env(values)
    assert (settings.long_term, settings.short_term, settings.queue, settings.archive) == adapters


def without_code(page: Path) -> str:
    return re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )


def anchors_of(page: Path) -> set[str]:
    """The anchors of a page's headings, as the repository's viewer and the site make them."""
    headings = re.findall(r"^#+ (.+)$", without_code(page), re.MULTILINE)
    plain = [re.sub(r"\]\([^)]*\)", "", heading).strip().lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def dead_links(page: Path) -> list[str]:
    """Links of a page to files that are not there, or to headings that no page has."""
    links = re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", without_code(page))
    targets = [
        (target, page.parent / target if target else page, anchor)
        for target, anchor in links
        if "://" not in target
    ]
    return [
        f"{target}#{anchor}"
        for target, path, anchor in targets
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors_of(path))
    ]


@pytest.mark.parametrize("page", LINKED_PAGES, ids=lambda page: f"{page.parent.name}-{page.name}")
def test_links_between_the_documents_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    assert dead_links(page) == []


def test_the_site_and_its_first_page_have_every_page_once() -> None:
    navigation = re.findall(
        r": ([\w-]+\.md)$", read("mkdocs.yml").split("\nnav:\n")[1], re.MULTILINE
    )
    pages = {page.name for page in (ROOT / "docs").glob("*.md")}
    assert sorted(navigation) == sorted(
        pages | (set(docs_site.EXTRA_PAGES.values()) - {"index.md"})
    )
    assert {
        name for name in pages - {"index.md"} if f"({name}" not in read("docs/index.md")
    } == set()


def test_in_the_site_links_out_of_the_folder_lead_to_its_pages_or_name_the_file() -> None:
    text = (
        "[client](../memory_core_client/README.md#use) [code](../infra/checkov.yaml) "
        "[api](api.md#save)\n```\n[x](../no.md)\n```\n"
    )
    assert docs_site.site_markdown(text, "langgraph.md") == (
        "[client](python-client.md#use) code (`infra/checkov.yaml`) [api](api.md#save)\n```\n"
        "[x](../no.md)\n```\n"
    )


def test_the_drawn_diagrams_are_of_the_sources_in_the_pages() -> None:
    drawn = docs_diagrams.sources()
    assert len(drawn) >= 5
    assert [
        path.name
        for path, source in drawn.items()
        if not path.read_text(encoding="utf-8").endswith(docs_diagrams.mark(source))
    ] == [], "run: python -m tests.docs_diagrams"


def test_the_glossary_has_each_term_once() -> None:
    rows = rows_of(read("docs/glossary.md"), 3)
    terms = [
        term for cell, _, _ in rows if cell not in ("term", "---") for term in cell.split(", ")
    ]
    assert sorted(terms) == sorted(set(terms))


@pytest.fixture(scope="module")
def paths() -> set[str]:
    """Every file and folder that the pages on the code may name, from the root on."""
    folders = [
        ROOT / name
        for name in (
            "bench",
            "deployment",
            "docs",
            "examples",
            "infra",
            "memory_core",
            "memory_core_client",
            "tests",
            ".github",
        )
    ]
    known = [*ROOT.iterdir(), *folders, *(path for folder in folders for path in folder.rglob("*"))]
    return {path.relative_to(ROOT).as_posix() for path in known}


@pytest.mark.parametrize("page", PAGES_ON_CODE, ids=lambda page: page.name)
def test_the_pages_on_the_code_name_files_and_folders_that_are_there(
    page: Path, paths: set[str]
) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    named = re.findall(
        r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|json|md|toml|txt|bicep|tf|yaml)|(?:[\w.-]+/)+)`", prose
    )
    assert len(named) > 5
    endings = {"/" + path for path in paths}
    assert [
        name
        for name in named
        if not any(ending.endswith("/" + name.rstrip("/")) for ending in endings)
    ] == []


CODE = ("*.py", "*.json", "*.bicep", "*.tf", "*.toml", "*.yaml", "*.ts", "*.example", "Makefile")
IDENTIFIER = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"


def code_named_in(text: str) -> set[str]:
    """What of the code a page names in backticks: snake_case, CamelCase, CONSTANTS and calls().
    Of a dotted name the last part; templates (`http_<subject>`, `MEMORY_<NAME>`) are none.
    """
    spans = re.findall(r"`([^`\n]+)`", text)
    names = [match for span in spans if (match := re.fullmatch(rf"({IDENTIFIER})(\(.*\))?", span))]
    return {
        name.rpartition(".")[2]
        for name, call in (match.groups() for match in names)
        if call or re.search(r"_|[a-z][A-Z]|^[A-Z]\w*[a-z]|^[A-Z]{3,}", name)
    }


def words_in(paths: Iterable[Path]) -> set[str]:
    return {word for path in paths for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}


@pytest.fixture(scope="module")
def words_of_code(paths: set[str]) -> set[str]:
    """Every word of the code, this file's and those of the bench's data apart."""
    files = (ROOT / path for path in paths if any(Path(path).match(kind) for kind in CODE))
    return words_in(file for file in files if file.is_file() and file != Path(__file__))


@pytest.mark.parametrize("page", PAGES_ON_CODE, ids=lambda page: page.name)
def test_the_pages_on_the_code_name_identifiers_that_are_in_it(
    page: Path, words_of_code: set[str]
) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    variables = {variable(name) for name in Settings.model_fields}
    assert sorted(code_named_in(prose) - words_of_code - variables) == []


@pytest.mark.parametrize("page", PAGES_ON_CODE, ids=lambda page: page.name)
def test_what_a_page_says_to_be_in_a_file_is_in_that_file(page: Path, paths: set[str]) -> None:
    """`NAME` in `file`, `NAME` of `file`, and `file` (`NAME`, `other_name`)."""
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    file = r"`((?:[\w.-]+/)*[\w-]+\.py)`"
    listed = rf"(`{IDENTIFIER}`(?:(?:, | and | or |, and )`{IDENTIFIER}`)*)"
    pairs = [
        *((name, listing) for listing, name in re.findall(rf"{listed}\s(?:in|of)\s{file}", prose)),
        *re.findall(rf"{file} \({listed}\)", prose),
    ]
    missing = []
    for name, listing in pairs:
        files = [ROOT / path for path in paths if f"/{path}".endswith(f"/{name}")]
        missing += [
            (name, name_in_code) for name_in_code in code_named_in(listing) - words_in(files)
        ]
    assert missing == []


def test_each_hook_before_a_commit_is_a_linter_of_make_lint() -> None:
    target = re.search(r"\nlint:.*\n((?:\t.*\n)+)", read("Makefile"))
    assert target is not None
    linters = [line.strip().removeprefix("@$(BIN)/") for line in target[1].splitlines()]
    assert [f".venv/bin/{linter}" for linter in linters] == re.findall(
        r"entry: (.+)", read(".pre-commit-config.yaml")
    )


def test_the_page_on_security_names_tests_that_are_there() -> None:
    names = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", read("SECURITY.md"))
    assert len(names) > 20
    assert [
        name
        for file, name in names
        if not re.search(rf"^(?:async )?def {name or '.*'}\(", read(file), re.MULTILINE)
    ] == []
