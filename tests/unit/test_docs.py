"""What the documents say by name is there, and what is there is named."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import azure.functions as func
import pytest

from memory_core.config import Settings
from memory_core.domain.models import INTERNAL_FIELDS, Memory
from memory_core.domain.task import TaskKind
from memory_core.environment import LIVE, variable
from memory_core.functions.blueprints import BLUEPRINTS
from memory_core.functions.gate import Door, door_of
from memory_core.functions.inputs import from_json
from memory_core.functions.openapi import document
from memory_core.localhost.routing import Route, Router

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def in_code(text: str) -> str:
    return " ".join(re.findall(r"`([^`]+)`", text))


def test_the_readmes_program_does_what_its_comments_say(tmp_path: Path) -> None:
    program = re.search(r"```python\n(.*?)```", read("README.md"), re.DOTALL)
    assert program is not None
    settings = {"PYTHONPATH": str(ROOT), "EMBEDDING_PROVIDER": "hash", "MEMORY_DATA": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program[1]], capture_output=True, text=True, cwd=tmp_path, env=settings, timeout=60)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["superseded", "Ana works at Bosch", "Ana works at Siemens"]


def calls_of(page: Path) -> list[tuple[str, str, str]]:
    """Method, path and JSON body of each curl in a page's consoles; those that shorten their path or body with … or ... apart."""
    found: list[tuple[str, str, str]] = []
    for console in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for command in re.split(r"(?m)^\$ ", console)[1:]:
            path, body = re.search(r"(/api/v1[^\s\"'?]*)", command), re.search(r" -d '(\{.*?\})'", command, re.DOTALL)
            if command.startswith("curl") and path and body and "…" not in path[1] + body[1]:
                method = re.search(r"-X (\w+)", command)
                found.append((method[1] if method else "POST", path[1], body[1]))
    return found


@pytest.fixture(scope="module")
def doors() -> tuple[Router, dict[str, Door]]:
    app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
    for blueprint in BLUEPRINTS:
        app.register_functions(blueprint)
    routes, found = [], {}
    for function in app.get_functions():
        name, call, trigger = str(function.get_function_name()), function.get_user_function(), function.get_trigger()
        if trigger is not None and (door := door_of(call)) is not None:
            binding = trigger.get_dict_repr()
            if name == "wrong_path":
                continue  # it takes whatever no call does
            routes += [Route.parse(name, str(method.value), binding["route"], call) for method in binding["methods"]]
            found[name] = door
    return Router(routes), found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_the_documents_send_is_what_the_calls_take(page: Path, doors: tuple[Router, dict[str, Door]]) -> None:
    router, known = doors
    for method, path, body in calls_of(page):
        match = router.match(method, path.encode())
        assert match is not None, (method, path)
        fields = json.loads(body)
        assert fields.pop("user_id", None) is not None or match.parameters.get("user_id") or known[match.route.function].nameless
        from_json(known[match.route.function].takes, fields)


def test_the_readme_and_the_api_have_such_calls_and_the_readmes_can_be_copied_as_they_are() -> None:
    assert len(calls_of(ROOT / "README.md")) >= 4
    assert len(calls_of(ROOT / "docs" / "api.md")) >= 8
    assert not re.search(r"\$ curl[^\n]*\.\.\.", read("README.md"))


def test_every_kind_of_task_is_documented() -> None:
    assert [kind for kind in get_args(TaskKind) if f"`{kind}`" not in read("docs/api.md")] == []


def test_every_path_of_the_api_is_documented() -> None:
    shown = read("docs/api.md").replace("{memory_id}", "{id}")
    missing = [path for path in document()["paths"] if path.replace("{memory_id}", "{id}").removeprefix("/api/v1") not in shown]
    assert missing == []


def test_every_field_of_a_memory_that_callers_see_is_documented() -> None:
    named = set(re.findall(r"\w+", in_code(read("docs/model.md"))))
    assert Memory.model_fields.keys() - INTERNAL_FIELDS - named == set()


def test_the_documents_name_no_setting_that_is_not_there() -> None:
    known = {variable(name) for name in Settings.model_fields}
    named = {word for page in PAGES for word in re.findall(r"\b(?:MEMORY|EMBEDDING)_[A-Z_]*[A-Z]\b", page.read_text(encoding="utf-8"))}
    named = {name for name in named if not name.startswith(LIVE)}
    assert named - known <= {"MEMORY_DECAY_FLOR"}  # the misspelt one of an example


@pytest.mark.parametrize(
    ("example", "adapters"),
    [
        ("local.settings.json.example", ("sqlite", "embedded", "embedded", "folder")),
        ("local.settings.azure.json.example", ("cosmos", "redis", "storage", "blob")),
    ],
)
def test_the_examples_of_local_settings_choose_each_store_by_names_that_exist(example: str, adapters: tuple[str, ...]) -> None:
    values = json.loads(read(example))["Values"]
    assert {name for name in values if name.startswith("MEMORY_")} <= {variable(name) for name in Settings.model_fields}
    settings = Settings.from_env(values)
    assert (settings.long_term, settings.short_term, settings.queue, settings.archive) == adapters


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_the_documents_lead_somewhere(page: Path) -> None:
    targets = [target for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []
