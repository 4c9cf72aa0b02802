"""Turn the text of a model into a checked answer.

The model is never asked again. List items that are wrong, or that repeat the prompt, are dropped,
and the other items are kept. Texts and lists that are too long are cut. An optional field that is
wrong counts as not given.

Note: an object without any right content is a failed answer, not an empty answer. Otherwise garbage
would be taken for "no facts".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from memory_core.adapters.openai.prompt_record import Echoes
from memory_core.domain.errors import AgentFailed
from memory_core.domain.text.shortening import beginning

T = TypeVar("T", bound=BaseModel)
_ROUNDS = 4
"""Rounds of repair: fixing an error may uncover another.

For example, a list that was cut may hold a text that is too long.
"""


@dataclass(frozen=True, slots=True)
class Repaired(Generic[T]):
    """A checked answer.

    Attributes:
        value: The answer.
        repaired: Whether the text was not plain JSON, or a part was cut.
        dropped: How many items and fields were left out.

    """

    value: T
    repaired: bool = False
    dropped: int = 0


def answer_in(text: str, kind: type[T], echoes: Echoes) -> Repaired[T]:
    """Read an answer from a text.

    Args:
        text: The text of the model.
        kind: The schema of the answer.
        echoes: Texts of the prompt that must not be repeated.

    Raises:
        AgentFailed: The text holds no such answer. The error does not quote the text.

    """
    reason = "no JSON object"
    for value, mended in values_in(text):
        try:
            return answer_of(value, kind, echoes, mended=mended)
        except AgentFailed as error:
            reason = error.detail
    raise AgentFailed(reason)


def answer_of(value: Any, kind: type[T], echoes: Echoes, *, mended: bool) -> Repaired[T]:
    """Read an answer from a JSON value.

    Args:
        value: The JSON value.
        kind: The schema of the answer.
        echoes: Texts of the prompt that must not be repeated.
        mended: Whether the text of the value had to be repaired.

    Raises:
        AgentFailed: The value is no such answer. The error does not quote the value.

    """
    shaped = _shaped(value, kind, mended)
    if shaped is None:
        raise AgentFailed("JSON of another shape")
    shaped_without_echoes, repeated = echoes.without(shaped)
    if shaped_without_echoes is None:
        raise AgentFailed("a repetition of its instructions")
    return _checked(shaped_without_echoes, kind, _filled_fields(shaped, kind), mended, repeated)


def _shaped(value: Any, kind: type[BaseModel], mended: bool) -> dict[str, Any] | None:
    """Find the object with the fields of `kind`.

    It is the value itself, a value wrapped in it, or an object around a bare list.
    """
    if isinstance(value, list):
        bare = _lists(kind)
        meant = bool(value and all(isinstance(item, dict) for item in value)) if mended else True
        return {bare[0]: value} if len(bare) == 1 and meant else None
    if not isinstance(value, dict):
        return None
    inner = next(iter(value.values())) if len(value) == 1 else None
    return next(
        (
            candidate
            for candidate in (value, inner)
            if isinstance(candidate, dict) and _has_its_fields(candidate, kind)
        ),
        None,
    )


def _has_its_fields(value: dict[str, Any], kind: type[BaseModel]) -> bool:
    """Return whether the object has any field of `kind`.

    For an answer that is made of lists, it must have the first list. Otherwise a missing list would
    be taken for an empty answer.
    """
    needed = _lists(kind)[:1] or kind.model_fields.keys()
    return any(name in value for name in needed)


def _lists(kind: type[BaseModel]) -> list[str]:
    """Names of the answer's own fields that are lists."""
    return [
        name
        for name, field in kind.model_fields.items()
        if str(field.annotation).startswith("list")
    ]


def _filled_fields(value: dict[str, Any], kind: type[BaseModel]) -> frozenset[str]:
    """Names of the fields that are not empty."""
    return frozenset(name for name in kind.model_fields if value.get(name) not in (None, [], {}))


def _checked(
    value: dict[str, Any], kind: type[T], given: frozenset[str], mended: bool, dropped: int
) -> Repaired[T]:
    changed = mended or dropped > 0
    for _ in range(_ROUNDS):
        try:
            answer = kind.model_validate(value)
        except ValidationError as error:
            dropped += _fixed(value, error)
            changed = True
            continue
        lost = given - _filled_fields(value, kind)
        if (given and lost == given) or not lost.isdisjoint(_lists(kind)[:1]):
            raise AgentFailed("nothing in its JSON was right")
        return Repaired(answer, changed, dropped)
    raise AgentFailed("JSON that is wrong where it has to be right")


def _fixed(value: dict[str, Any], error: ValidationError) -> int:
    """Cut or remove the wrong parts in place, and return how many were removed.

    Items of lists are removed from the end, so that the places of other items stay valid.
    """
    gone: set[tuple[int | str, ...]] = set()
    for problem in error.errors(include_url=False, include_input=False):
        place = problem["loc"]
        longest = problem.get("ctx", {}).get("max_length")
        if problem["type"] in ("string_too_long", "too_long") and isinstance(longest, int):
            _cut(value, place, longest)
        elif problem["type"] != "missing" or len(place) > 1:
            gone.add(_outermost(place))
    for place in sorted(
        gone, key=lambda steps: [str(step).zfill(9) for step in steps], reverse=True
    ):
        _take_out(value, place)
    return len(gone)


def _outermost(place: Sequence[int | str]) -> tuple[int | str, ...]:
    """The outermost list item that contains a place; outside of lists, the place itself."""
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


# Find the JSON object in a model's answer: without thoughts, chatter and code fences, and closed if
# it was cut off.
#
# Note: a cut object is closed by leaving out, never by inventing. The last item of a list is
# dropped, since half a fact may be a wrong fact; of an object the last field is dropped.


_THOUGHT = re.compile(r"\A\s*+<(?:think|thinking|reasoning)>", re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_OPENING = re.compile(r"[{\[]")
_MAX_STARTS = 40
"""Braces and brackets in chatter that are tried as the beginning of the answer."""
_PAIRS = {"{": "}", "[": "]"}


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse_constant)


def values_in(text: str) -> Iterator[tuple[Any, bool]]:
    """Yield the JSON objects and lists that the text may mean, the likeliest first.

    The first choice is the whole text as it is. Otherwise the values that the text contains follow,
    the longest first. The last is a value that was cut off, which is closed. Each comes with
    whether any part had to be repaired.
    """
    bare = text.strip("\ufeff \t\r\n")
    whole = _decoded(bare)
    if whole is not None:
        yield whole, False
        return
    bare = _without_thoughts(bare)
    objects = sorted(_complete(bare), key=lambda sized_object: -sized_object[0])
    yield from ((value, True) for _, value in objects)
    cut = _closed(bare)
    if cut is not None:
        yield cut, True


def _decoded(text: str) -> Any:
    """Parse the whole text as JSON; None if it is not JSON."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _without_thoughts(text: str) -> str:
    """Remove the thoughts at the beginning of a text.

    The opening tag is often missing, since the server has written it. Thoughts without an end take
    up the whole text.
    """
    if text.startswith(("{", "[", "`")):
        return text
    end = _END_OF_THOUGHT.search(text)
    if end is not None:
        return text[end.end() :]
    return "" if _THOUGHT.match(text) else text


def _complete(text: str) -> Iterator[tuple[int, Any]]:
    """Yield (length, value) of the complete objects and lists in a text.

    Objects and lists within another are left out.
    """
    place = 0
    for _ in range(_MAX_STARTS):
        start = _OPENING.search(text, place)
        if start is None:
            return
        try:
            value, end = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            place = start.end()
            continue
        yield end - start.start(), value
        place = end


@dataclass(slots=True)
class _Open:
    """An object or list that is not closed yet.

    Attributes:
        safe: Where it could be closed without losing more than the unfinished part.

    """

    bracket: str
    safe: int


@dataclass(slots=True)
class _Scan:
    """Position of a scan within the JSON of a text."""

    stack: list[_Open] = field(default_factory=list)
    in_text: bool = False
    escaped: bool = False

    def step(self, character: str, place: int) -> None:
        """Process the next character."""
        if self.in_text:
            self.in_text = self.escaped or character != '"'
            self.escaped = character == "\\" and not self.escaped
        elif character == '"':
            self.in_text = True
        elif character in _PAIRS:
            self.stack.append(_Open(character, place + 1))
        elif character in _PAIRS.values():
            self.stack.pop()
            if self.stack:
                self.stack[-1].safe = place + 1
        elif character == ",":
            self.stack[-1].safe = place


def _closed(text: str) -> Any:
    """Close the object that the text opens and does not end.

    It is closed at the last place where that is safe. None if there is no such object.
    """
    start = text.find("{")
    scan = _Scan()
    for place in range(max(start, 0), len(text)):
        if scan.stack or text[place] == "{":
            start = start if scan.stack else place
            scan.step(text[place], place)
    if not scan.stack:
        return None
    lists = [number for number, opening in enumerate(scan.stack) if opening.bracket == "["]
    whole = [] if lists or scan.in_text else [(text[start:], scan.stack)]
    keep = scan.stack[: lists[0] + 1] if lists else scan.stack
    closings = (
        head + "".join(_PAIRS[opening.bracket] for opening in reversed(opened))
        for head, opened in (*whole, (text[start : keep[-1].safe], keep))
    )
    return next((value for closing in closings if (value := _decoded(closing)) is not None), None)


# Convert a pydantic model to the JSON schema for structured outputs.
#
# Every field must be required, and no other field is allowed. Services differ otherwise: llama.cpp
# needs bounds for every text and list, or it writes without end; Azure refuses bounds. So there are
# both forms.


_BOUNDS = frozenset(
    {"minLength", "maxLength", "format", "minItems", "maxItems", "minimum", "maximum"}
)
_NOT_FOR_MODELS = frozenset({"title", "description", "default", "$defs"})


@lru_cache(maxsize=32)
def strict_schema(model: type[BaseModel], *, bounded: bool) -> dict[str, Any]:
    """Return the schema of `model` for structured outputs.

    It has no references, titles and defaults. Every object is closed, and every field is required.

    Args:
        model: The model of Pydantic.
        bounded: Whether the schema has the limits of texts, lists and numbers.

    """
    schema = model.model_json_schema()
    strict: dict[str, Any] = _strict(schema, schema.get("$defs", {}), bounded)
    return strict


def _strict(node: Any, named: dict[str, Any], bounded: bool) -> Any:
    if "$ref" in node:
        return _strict(named[node["$ref"].rsplit("/", 1)[-1]], named, bounded)
    strict = {
        name: value
        for name, value in node.items()
        if name not in _NOT_FOR_MODELS and (bounded or name not in _BOUNDS)
    }
    if "properties" in strict:
        strict["properties"] = {
            name: _strict(value, named, bounded) for name, value in strict["properties"].items()
        }
        strict["required"] = list(strict["properties"])
        strict["additionalProperties"] = False
    if "items" in strict:
        strict["items"] = _strict(strict["items"], named, bounded)
    if "anyOf" in strict:
        strict["anyOf"] = [_strict(branch, named, bounded) for branch in strict["anyOf"]]
    return strict
