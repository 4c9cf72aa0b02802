"""The prompts are packaged, versioned, hold no user's words, and fit the answers that
are asked for.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from memory_core import prompts
from memory_core.adapters.openai.answers import strict_schema
from memory_core.domain.note import FOOTER, HEADINGS
from memory_core.domain.statements.attributes import ATTRIBUTES, canonical_attribute
from memory_core.prompts import NAMES, Name, prompt

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "memory_core" / "prompts").glob("*.md"))
PINNED = {
    "detect_boundary 1": "397cb100f9d2",
    "analyse_episode 1": "3507cdf8368d",
    "summarise 2": "08b55fd4f21e",
    "summarise_fast 1": "2ebb81d4518d",
    "extract_facts 4": "2fff34584f4a",
    "decide_conflicts 3": "5d254bae158b",
    "synthesise 2": "58765ea96bdf",
    "find_patterns 1": "a061f5149afd",
    "update_profile 1": "ec6a98c140a5",
    "judge_sufficiency 1": "591c10690e06",
    "rank_texts 1": "54e39da942b9",
    "form_cell 2": "74352a15d004",
    "form_window 2": "275c93b4a03c",
    "reflect 2": "89e714e9a991",
}


def nodes(schema: Any) -> list[dict[str, Any]]:
    """The schema and every schema within it."""
    inner = [
        *schema.get("properties", {}).values(),
        *schema.get("anyOf", []),
        *([schema["items"]] if "items" in schema else []),
    ]
    return [schema, *(node for schema in inner for node in nodes(schema))]


def test_a_changed_prompt_has_a_new_version() -> None:
    """What is stamped on memories must name one text. A failing line here means: raise the prompt's
    version, then pin the new text.
    """
    assert {
        f"{name} {prompt(name).version}": hashlib.sha256(prompt(name).text.encode()).hexdigest()[
            :12
        ]
        for name in NAMES
    } == PINNED


def test_there_is_a_file_for_each_prompt_and_no_other() -> None:
    assert {file.stem for file in FILES} == {*NAMES, "record_rules"}
    assert all(
        re.search(rf"^id: {file.stem}$", file.read_text(encoding="utf-8"), re.MULTILINE)
        for file in FILES
        if file.stem in NAMES
    )


def test_the_files_are_packaged_and_published() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = config["tool"]["setuptools"]["packages"]["find"]["include"]
    assert not any(fnmatch.fnmatch("memory_core_client", pattern) for pattern in patterns)
    packaged = config["tool"]["setuptools"]["package-data"]["memory_core"]
    left_out = [
        line.rstrip("/")
        for line in (ROOT / ".funcignore").read_text(encoding="utf-8").splitlines()
        if line and line[0] != "#"
    ]
    data = [
        file
        for file in (ROOT / "memory_core").rglob("*.*")
        if file.suffix in {".md", ".json", ".npz", ".html", ".js", ".css", ".svg"}
    ]
    assert {*FILES} < {*data}
    for file in data:
        path = file.relative_to(ROOT / "memory_core")
        assert any(fnmatch.fnmatch(str(path), pattern) for pattern in packaged)
        assert not [
            pattern for pattern in left_out for part in path.parts if fnmatch.fnmatch(part, pattern)
        ]
        assert not any(f"memory_core/{path}".startswith(pattern) for pattern in left_out)


@pytest.mark.parametrize("name", NAMES)
def test_every_field_that_is_asked_for_is_explained(name: Name) -> None:
    asked = prompt(name)
    fields = {
        field
        for node in nodes(strict_schema(asked.answer, bounded=True))
        for field in node.get("properties", {})
    }
    assert [field for field in fields if field not in asked.text] == []


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_valid_answers(name: Name) -> None:
    asked = prompt(name)
    for example in asked.examples:
        answer = asked.answer.model_validate(example)
        assert answer.model_dump(exclude_unset=True).keys() == example.keys()


def test_all_json_in_a_prompt_is_a_marked_example() -> None:
    for name in NAMES:
        asked = prompt(name)
        assert asked.text.count("```json") == len(asked.examples)
        assert all(
            json.dumps(example)[:20].replace(" ", "") in asked.text.replace(" ", "")
            for example in asked.examples
        )
    assert any(prompt(name).examples for name in NAMES)


def test_the_attributes_of_the_example_are_canonical_and_all_are_named() -> None:
    asked = prompt("extract_facts")
    assert all(f"`{attribute.name}`" in asked.text for attribute in ATTRIBUTES)
    for fact in asked.examples[0]["facts"]:
        assert canonical_attribute(fact["attribute"]) == fact["attribute"]


def test_a_joint_prompt_names_every_attribute_and_what_fills_it() -> None:
    """Only where the name itself says it ("birth year": "the year") the value is left out."""
    text = prompt("form_cell").text
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    for attribute in ATTRIBUTES:
        (line,) = [
            line for line in lines if attribute.name in line[2:].partition(":")[0].split(", ")
        ]
        assert (
            line.endswith(f": {attribute.value}") or attribute.value.split()[-1] in attribute.name
        )


def test_rules_about_examples_stand_only_where_there_are_examples_in_joint_prompts() -> None:
    assert "<example>" not in prompt("form_cell").text
    assert "Texts between <example> marks" in prompt("reflect").text
    rules = prompt("extract_facts").text.partition("# The record")[2].splitlines()
    left_out = {rule for rule in rules if rule not in prompt("form_cell").text}
    assert [rule.split(",")[0][:29] for rule in left_out] == ["- Texts between <example> mark"[:29]]


def test_the_synthesis_is_asked_for_the_parts_that_a_note_has() -> None:
    assert all(f"\n    {heading}\n" in prompt("synthesise").text for heading in (*HEADINGS, FOOTER))


def test_no_prompt_holds_a_place_for_text_of_users() -> None:
    """Whatever is put into a prompt's text is put there by the loader, from constants."""
    assert all("{attributes}" not in prompt(name).text for name in NAMES)
    assert prompts.prompt("summarise") is prompts.prompt("summarise")


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_a_strict_schema_closes_every_object_and_requires_every_field(
    name: Name, bounded: bool
) -> None:
    schema = strict_schema(prompt(name).answer, bounded=bounded)
    for node in nodes(schema):
        assert "$ref" not in node
        assert "default" not in node
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])


@pytest.mark.parametrize("name", NAMES)
def test_every_text_and_list_of_a_bounded_schema_has_an_end(name: Name) -> None:
    for node in nodes(strict_schema(prompt(name).answer, bounded=True)):
        assert node.get("type") != "string" or node.keys() & {"maxLength", "enum", "format"}
        assert node.get("type") != "array" or "maxItems" in node


@pytest.mark.parametrize("name", NAMES)
def test_an_unbounded_schema_has_only_what_every_service_takes(name: Name) -> None:
    taken = {"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum"}
    assert [
        node.keys() - taken
        for node in nodes(strict_schema(prompt(name).answer, bounded=False))
        if node.keys() - taken
    ] == []
