"""The JSON object in what a model wrote: without its thoughts, its chatter and its code fences, and closed where it was cut off.

Note: a cut object is closed by leaving out, never by making up. Of a list the item that was under way is
dropped, since half a fact may be a wrong one; of an object the field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_THOUGHT = re.compile(r"\A\s*+<(?:think|thinking|reasoning)>", re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_OPENING = re.compile(r"[{\[]")
_MAX_STARTS = 40
"""Braces and brackets in chatter that are tried as the beginning of the answer."""
_PAIRS = {"{": "}", "[": "]"}
_DECODER = json.JSONDecoder(strict=False)


def values_in(text: str) -> Iterator[tuple[Any, bool]]:
    """The JSON objects and lists that the text may mean, the likeliest first.

    Each comes with whether anything had to be repaired. The whole text as it is; else those that it contains, the longest first; else one
    that was cut off, closed.
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
    """The value of the whole text; None when it is no JSON."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _without_thoughts(text: str) -> str:
    """The text after the thoughts it begins with; the opening tag is often the server's and missing. Thoughts without an end are all."""
    if text.startswith(("{", "[", "`")):
        return text
    end = _END_OF_THOUGHT.search(text)
    if end is not None:
        return text[end.end() :]
    return "" if _THOUGHT.match(text) else text


def _complete(text: str) -> Iterator[tuple[int, Any]]:
    """(length, value) of the complete objects and lists that stand in the text and not within one another."""
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
    """One object or list that is not closed yet. safe: where it could be closed without losing more than what was under way."""

    bracket: str
    safe: int


@dataclass(slots=True)
class _Scan:
    """The place within its JSON that a text has come to."""

    stack: list[_Open] = field(default_factory=list)
    in_text: bool = False
    escaped: bool = False

    def step(self, character: str, place: int) -> None:
        """Take in one more character."""
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
    """The object that the text opens and does not end, closed at the last place where that is safe; None when there is none."""
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
