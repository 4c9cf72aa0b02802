"""From the text of a query to its tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson

from tests.cosmos_emulator.refused import bad_request

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*)
      | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<parameter>@\w+)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign>\?\?|\|\||!=|<>|<=|>=|[-+*/%=<>()\[\]{},.:?])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """kind: string, number, parameter, name, sign or end. value: what it stands for. start:
    where in the text.
    """

    kind: str
    value: Any
    start: int

    def is_word(self, *words: str) -> bool:
        """Whether this is one of these key words, whatever their case."""
        return self.kind == "name" and self.value.upper() in words


def tokens(text: str) -> list[Token]:
    """All tokens and an end; 400 at the first character that begins none."""
    lexed: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise bad_request(f"Syntax error, incorrect syntax near {text[at : at + 20]!r}")
        kind = str(match.lastgroup)
        if kind != "space":
            lexed.append(Token(kind, _value(kind, match.group()), at))
        at = match.end()
    return [*lexed, Token("end", "", len(text))]


def _value(kind: str, text: str) -> Any:
    if kind == "number":
        return int(text) if text.isdigit() else float(text)
    if kind == "string":
        return _unquoted(text)
    return text


def _unquoted(text: str) -> str:
    inner = text[1:-1]
    if "\\" not in inner:
        return inner
    inner = re.sub(
        r'\\(.)|(")',
        lambda match: '\\"' if match[2] else "'" if match[1] == "'" else match[0],
        inner,
    )
    try:
        return str(orjson.loads(f'"{inner}"'))
    except orjson.JSONDecodeError as error:
        raise bad_request(f"Syntax error, invalid string literal {text}") from error
