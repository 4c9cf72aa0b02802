"""A model is changed by methods of its own, whose names and types say what they set."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Unpack, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel

from memory_core.domain.memory import Head, HeadFields, Memory, MemoryFields
from memory_core.domain.requests.memories import UpdateInput
from tests.host import ROOT

ELSEWHERE = {
    "memory_core/data_rights/import_parse.py": "a whole copy, whose fields are set with validation",
    "memory_core/domain/redaction/requests.py": "takes any model, and names of fields that it has",
}
"""Modules that copy models otherwise, and why they may."""


class Copy(NamedTuple):
    """A call of `model_copy`, with the class around it, if it is in a class."""

    path: Path
    call: ast.Call
    owner: str | None

    @property
    def is_own(self) -> bool:
        """Whether a model copies itself."""
        assert isinstance(self.call.func, ast.Attribute)
        receiver = self.call.func.value
        return self.owner is not None and isinstance(receiver, ast.Name) and receiver.id == "self"

    @property
    def model(self) -> type[BaseModel]:
        module = ".".join(self.path.relative_to(ROOT).with_suffix("").parts)
        model = getattr(import_module(module), self.owner or "")
        assert issubclass(model, BaseModel)
        return model

    @property
    def named(self) -> list[str] | None:
        """The fields that it sets by name; None where they come in as keywords."""
        (update,) = (word.value for word in self.call.keywords if word.arg == "update")
        if isinstance(update, ast.Name):
            return None
        assert isinstance(update, ast.Dict)
        return [key.value for key in update.keys if isinstance(key, ast.Constant)]


def copies(path: Path) -> Iterator[Copy]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    owners = {
        id(node): parent.name
        for parent in tree.body
        if isinstance(parent, ast.ClassDef)
        for node in ast.walk(parent)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "model_copy"
        ):
            yield Copy(path, node, owners.get(id(node)))


@pytest.fixture(scope="module")
def calls() -> list[Copy]:
    return [copy for path in sorted((ROOT / "memory_core").rglob("*.py")) for copy in copies(path)]


def with_subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    for further in model.__subclasses__():
        yield from with_subclasses(further)


def test_no_model_is_copied_but_by_a_method_of_its_own(calls: list[Copy]) -> None:
    others = {str(copy.path.relative_to(ROOT)) for copy in calls if not copy.is_own}
    assert others == ELSEWHERE.keys()


def test_a_method_that_names_what_it_sets_names_fields_of_its_model(calls: list[Copy]) -> None:
    unknown = [
        (copy.model.__name__, name)
        for copy in calls
        if copy.is_own
        for name in copy.named or ()
        if not any(name in model.model_fields for model in with_subclasses(copy.model))
    ]
    assert unknown == []


def test_what_a_method_takes_as_keywords_has_the_types_of_the_model(calls: list[Copy]) -> None:
    models = {copy.model for copy in calls if copy.is_own and copy.named is None}
    assert {Memory, Head} <= models
    wrong = [
        (model.__name__, name)
        for model in models
        for name, kind in keywords_of(model).items()
        if get_type_hints(model).get(name) != kind or name not in model.model_fields
    ]
    assert wrong == []


def keywords_of(model: type[BaseModel]) -> dict[str, Any]:
    fields = get_type_hints(model.changed)["fields"]  # type: ignore[attr-defined]
    assert get_origin(fields) is Unpack
    return get_type_hints(*get_args(fields))


def test_all_of_a_memory_and_all_of_a_head_but_its_epoch_can_be_set() -> None:
    assert get_type_hints(MemoryFields).keys() == Memory.model_fields.keys()
    assert get_type_hints(HeadFields).keys() == Head.model_fields.keys() - {"epoch"}


def test_an_edit_sets_fields_of_a_memory() -> None:
    assert UpdateInput.model_fields.keys() - {"importance"} <= Memory.model_fields.keys()
