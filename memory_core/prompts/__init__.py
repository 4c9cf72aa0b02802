"""The prompts, a Markdown file each, and the rules that all of them share.

A file's first lines have the id, the version and the answer's schema. A prompt's text is a
constant: a user's words are never put into it, only into the record beside it. A changed text needs
a new version, since id and version are stored in every memory that is made with it.

Examples are between <example> marks. The JSON in them is known here, so that an answer which
repeats an example can be told from a new answer. The prompts of joint answers begin with the shared
rules, and the prompt of a window continues the prompt of a cell. So a service's cache of a call
serves the next call.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Generic, Literal, TypeVar, cast

from pydantic import BaseModel

from memory_core.domain import agent_schemas, joint_answers
from memory_core.domain.statements.attributes import ATTRIBUTES

T = TypeVar("T", bound=BaseModel)
Name = Literal[
    "detect_boundary", "analyse_episode", "summarise", "summarise_fast", "extract_facts",
    "decide_conflicts", "find_patterns", "update_profile", "judge_sufficiency", "rank_texts",
    "form_cell", "form_window", "reflect", "synthesise",
]  # fmt: skip
NAMES: tuple[Name, ...] = (
    "detect_boundary", "analyse_episode", "summarise", "summarise_fast", "extract_facts",
    "decide_conflicts", "find_patterns", "update_profile", "judge_sufficiency", "rank_texts",
    "form_cell", "form_window", "reflect", "synthesise",
)  # fmt: skip
_EXAMPLE = re.compile(r"<example>(.*?)(?:</example>|\Z)", re.DOTALL)
_ABOUT_EXAMPLES = re.compile(r"^- Texts between <example> .*\n", re.MULTILINE)
_OTHER = re.compile(rf"\{{({'|'.join(NAMES)})\}}")
_JSON = re.compile(r"```json\n(.*?)(?:```|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt(Generic[T]):
    """A prompt.

    Attributes:
        id: Its name.
        version: Its version.
        answer: The schema of the model's answer.
        text: The instructions for the model.
        examples: The JSON values that the text shows.

    """

    id: Name
    version: str
    answer: type[T]
    text: str
    examples: tuple[Any, ...]


@lru_cache(maxsize=len(NAMES))
def prompt(name: Name) -> Prompt[Any]:
    """Return the prompt of that name, which is read once."""
    stated, body = _parts(name)
    is_joint = "{record_rules}" in body
    rules = _read("record_rules.md").strip()
    if is_joint and "<example>" not in body:
        rules = _ABOUT_EXAMPLES.sub("", rules)
    text = body if is_joint else f"{body}\n\n{{record_rules}}"
    text = f"{text}\n".replace("{record_rules}", rules).replace("{attributes}", _attributes())
    text = text.replace("{attributes_in_short}", _attributes_in_short())
    examples = [
        json.loads(block) for example in _EXAMPLE.findall(text) for block in _JSON.findall(example)
    ]
    answers = joint_answers if hasattr(joint_answers, stated["answer"]) else agent_schemas
    answer = cast("type[BaseModel]", getattr(answers, stated["answer"]))
    return Prompt(name, stated["version"], answer, text, tuple(examples))


def _parts(name: str) -> tuple[dict[str, str], str]:
    """Return the fields of a prompt's first lines, and its body.

    In the body, `{form_cell}` is replaced with the body of that other prompt.
    """
    head, body = _read(f"{name}.md").removeprefix("---\n").split("\n---\n", 1)
    whole = _OTHER.sub(lambda other: _parts(other[1])[1], body.strip())
    return dict(line.split(": ", 1) for line in head.splitlines()), whole


def _read(file: str) -> str:
    return files(__name__).joinpath(file).read_text(encoding="utf-8")


def _attributes() -> str:
    return "\n".join(f"- `{attribute.name}`: {attribute.value}" for attribute in ATTRIBUTES)


def _attributes_in_short() -> str:
    """Return the attributes by their values, which are left out if the name says them."""
    by_value: dict[str, list[str]] = {}
    for attribute in ATTRIBUTES:
        is_plain = attribute.value.removeprefix("the ") in attribute.name
        by_value.setdefault("" if is_plain else f": {attribute.value}", []).append(attribute.name)
    return "\n".join(f"- {', '.join(names)}{value}" for value, names in by_value.items())
