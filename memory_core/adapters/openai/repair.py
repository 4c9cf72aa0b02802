"""From model text to a checked answer: repaired once, in code, without what is wrong.

The model is never asked again. Items of lists that are wrong, or that repeat the prompt, are dropped and the others kept; texts and lists
that are too long are cut; an optional field that is wrong counts as not given. Note: an object in which nothing right is left is no empty
answer but a failed one, because "no facts" must not be what garbage comes to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from memory_core.adapters.openai.echoes import Echoes
from memory_core.adapters.openai.json_text import values_in
from memory_core.domain.errors import AgentFailed
from memory_core.domain.text.excerpts import beginning

T = TypeVar("T", bound=BaseModel)
_ROUNDS = 4
"""Fixing one error may uncover another: a cut list may hold a text that is too long."""


@dataclass(frozen=True, slots=True)
class Repaired(Generic[T]):
    """A checked answer. repaired: whether the text was not plain JSON or something was cut. dropped: items and fields left out."""

    value: T
    repaired: bool = False
    dropped: int = 0


def answer_in(text: str, kind: type[T], echoes: Echoes) -> Repaired[T]:
    """The answer of that kind in the text. Raises AgentFailed, in words without the text, when there is none."""
    reason = "no JSON object"
    for value, mended in values_in(text):
        shaped = _shaped(value, kind, mended)
        if shaped is None:
            reason = "JSON of another shape"
            continue
        shaped_without_echoes, repeated = echoes.without(shaped)
        if shaped_without_echoes is None:
            reason = "a repetition of its instructions"
            continue
        try:
            return _checked(shaped_without_echoes, kind, _told(shaped, kind), mended, repeated)
        except AgentFailed as error:
            reason = error.detail
    raise AgentFailed(reason)


def _shaped(value: Any, kind: type[BaseModel], mended: bool) -> dict[str, Any] | None:
    """The object with the fields of `kind`: the value itself, what is wrapped in it, or the list that is nearly all of it."""
    if isinstance(value, list):
        bare = _lists(kind)
        meant = bool(value and all(isinstance(item, dict) for item in value)) if mended else True
        return {bare[0]: value} if len(bare) == 1 and meant else None
    if not isinstance(value, dict):
        return None
    inner = next(iter(value.values())) if len(value) == 1 else None
    return next((candidate for candidate in (value, inner) if isinstance(candidate, dict) and _has_its_fields(candidate, kind)), None)


def _has_its_fields(value: dict[str, Any], kind: type[BaseModel]) -> bool:
    """Any of them; but of an answer that is made of lists the first, or "nothing found" would be what a missing one comes to."""
    needed = _lists(kind)[:1] or kind.model_fields.keys()
    return any(name in value for name in needed)


def _lists(kind: type[BaseModel]) -> list[str]:
    """The fields of the answer itself that are lists."""
    return [name for name, field in kind.model_fields.items() if str(field.annotation).startswith("list")]


def _told(value: dict[str, Any], kind: type[BaseModel]) -> frozenset[str]:
    """The fields that hold something."""
    return frozenset(name for name in kind.model_fields if value.get(name) not in (None, [], {}))


def _checked(value: dict[str, Any], kind: type[T], given: frozenset[str], mended: bool, dropped: int) -> Repaired[T]:
    changed = mended or dropped > 0
    for _ in range(_ROUNDS):
        try:
            answer = kind.model_validate(value)
        except ValidationError as error:
            dropped += _fixed(value, error)
            changed = True
            continue
        lost = given - _told(value, kind)
        if (given and lost == given) or not lost.isdisjoint(_lists(kind)[:1]):
            raise AgentFailed("nothing in its JSON was right")
        return Repaired(answer, changed, dropped)
    raise AgentFailed("JSON that is wrong where it has to be right")


def _fixed(value: dict[str, Any], error: ValidationError) -> int:
    """Cut or take out what is wrong, in place; how many things were taken out. Items of lists go from the end, so that places hold."""
    gone: set[tuple[int | str, ...]] = set()
    for problem in error.errors(include_url=False, include_input=False):
        place = problem["loc"]
        longest = problem.get("ctx", {}).get("max_length")
        if problem["type"] in ("string_too_long", "too_long") and isinstance(longest, int):
            _cut(value, place, longest)
        elif problem["type"] != "missing" or len(place) > 1:
            gone.add(_outermost(place))
    for place in sorted(gone, key=lambda steps: [str(step).zfill(9) for step in steps], reverse=True):
        _take_out(value, place)
    return len(gone)


def _outermost(place: Sequence[int | str]) -> tuple[int | str, ...]:
    """The item of a list that the place lies in; for what lies in none the field itself."""
    for depth, step in enumerate(place):
        if isinstance(step, int):
            return tuple(place[: depth + 1])
    return tuple(place)


def _take_out(value: Any, place: Sequence[int | str]) -> None:
    *path, last = place
    for step in path:
        value = value[step]
    if not isinstance(value, dict) or last in value:
        value.pop(last)


def _cut(value: Any, place: Sequence[int | str], longest: int) -> None:
    *path, last = place
    for step in path:
        value = value[step]
    whole = value[last]
    value[last] = beginning(whole, longest) if isinstance(whole, str) else whole[:longest]
