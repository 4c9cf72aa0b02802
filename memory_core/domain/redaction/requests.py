"""Requests without secrets, and a list of the replaced texts.

Every text of a call's input is searched. Ids stay as they are, because memories are found by them,
and so does the address that a task's end is sent to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from pydantic import BaseModel

from memory_core.domain.chat.message_content import SEAM, parts_sent, with_joined_texts
from memory_core.domain.chat.read_message import ReadMessage, ReadMessages
from memory_core.domain.chat.session_items import SessionItem, SessionItems

if TYPE_CHECKING:
    from memory_core.domain.redaction.rule import Rule

KINDS: Final = ("secrets", "card", "email", "phone", "iban", "ip")
"""The names that the setting may have. `secrets` includes card numbers."""
IDENTITIES: Final = frozenset({
    "app_id", "key_id", "user_id",
    "agent_id", "callback_url", "correlation_id", "cursor", "exclude_session_id", "id", "ids",
    "memory_id", "session_id", "sha256", "time_zone", "to_agent_id",
})  # fmt: skip
"""Fields of requests whose texts are names."""
LEAST_CARD: Final = 10**13
"""Least number that may be the number of a payment card."""
OPAQUE: Final = frozenset(
    {"encrypted_content", "signature", "thought_signature", "thoughtSignature", "data", "b64_json"}
)
"""Fields of messages that hold bytes.

Bytes may look like any secret, and have to be returned as they were sent.
"""
TITLES: Final = ("name", "key")
"""Fields that name the value of a field beside them."""
VALUES: Final = frozenset({"value", "v", "val"})
"""Fields whose own name says no kind: {"name": "DB_PASSWORD", "value": "…"}."""
MOST_READABLE: Final = 200
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/_.%-]+={0,2}")
"""Bytes as a text.

A text with blanks is no such text and is searched in any field.
"""
_DATA_URL: Final = re.compile(r"data:[^\s,]{0,100};base64,[A-Za-z0-9+/_%-]*={0,2}")
MAX_REPORTED: Final = 100
"""Entries of an answer; a request may hold more, and all are replaced."""
MOST_OF_A_PATH: Final = 200
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Redaction:
    """The secrets of a kind that were replaced in a field.

    `kind` is as in the mark that replaces them.
    """

    field: str
    kind: str
    count: int


_collected: ContextVar[list[Redaction] | None] = ContextVar("redactions", default=None)


@contextmanager
def collect_redactions() -> Iterator[list[Redaction]]:
    """Collect the replacements of the calls within."""
    redactions: list[Redaction] = []
    token = _collected.set(redactions)
    try:
        yield redactions
    finally:
        _collected.reset(token)


def collected_redactions() -> list[Redaction]:
    """Replacements since the innermost `collect_redactions` began; empty outside of it."""
    return _collected.get() or []


class Redactor:
    """Replaces secrets of some kinds.

    `kinds` are names of `KINDS`. Without any, every text stays as it is.
    """

    def __init__(self, kinds: Sequence[str]) -> None:
        self._kinds = tuple(kinds)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the kinds.

        Their expressions are compiled for the first text that is searched, not at the start.
        """
        from memory_core.domain.redaction.texts import rules_of

        return rules_of(self._kinds)

    def text(self, text: str) -> str:
        """The text as it is kept. Replacements in it do not go to `collect_redactions`."""
        from memory_core.domain.redaction.texts import redact_text

        return redact_text(text, self.rules)[0] if self._kinds else text

    def value(self, value: Value, path: str = "") -> Value:
        """A value without secrets; the very same object where no text is replaced.

        Replacements go to `collect_redactions`.

        Args:
            value: A request, a list of requests or plain JSON.
            path: The name of the value within the request.

        """
        if not self._kinds:
            return value
        walk = _Walk(self.rules)
        redacted = walk.visit(value, path)
        redactions = _collected.get()
        if walk.counts and redactions is not None:
            new = (
                Redaction(field[:MOST_OF_A_PATH], kind, count)
                for (field, kind), count in walk.counts.items()
            )
            redactions += islice(new, max(0, MAX_REPORTED - len(redactions)))
        return cast("Value", redacted) if walk.counts else value


class _Walk:
    """Walks through a value. `counts` are the replacements by field and kind."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        from memory_core.domain.redaction import texts

        self._texts, self._rules = texts, rules
        self._last: tuple[str, str] | None = None
        self.counts: Counter[tuple[str, str]] = Counter()

    def visit(self, value: Any, path: str) -> Any:
        """The value without secrets."""
        if type(value) is str:  # not the members of enumerations
            return self._text(value, path)
        if type(value) is int and value >= LEAST_CARD:
            redacted = self._text(str(value), path)
            return value if redacted == str(value) else redacted
        if isinstance(value, dict):
            return self._fields(value, path)
        if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            return type(value)(
                self.visit(item, _joined(path, str(place))) for place, item in enumerate(value)
            )
        if isinstance(value, BaseModel):
            return self._model(value, path)
        if isinstance(value, ReadMessages):
            return replace(
                value,
                messages=tuple(
                    self._message(item, _joined(path, str(place)))
                    for place, item in enumerate(value)
                ),
                ignored=tuple(self._text(name, path) for name in value.ignored),
            )
        if isinstance(value, SessionItems):
            return replace(
                value,
                items=tuple(
                    self._item(item, _joined(path, str(place))) for place, item in enumerate(value)
                ),
            )
        return value

    def _fields(self, value: dict[str, Any], path: str, of: str = "") -> dict[str, Any]:
        """The fields of an object without secrets. `of` is the name for its field `value`."""
        # A name that is a secret itself is not repeated in the path of its value.
        names = {name: self.visit(name, path) for name in value}
        title = of or next((value[name] for name in TITLES if type(value.get(name)) is str), "")
        return self._apart(
            (
                name,
                self._field(
                    title if title and given in VALUES else given, value[given], _joined(path, name)
                ),
            )
            for given, name in names.items()
        )

    def _apart(self, fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        """The fields by name; equal names are numbered, so that no value is lost."""
        named: dict[str, Any] = {}
        repeated: Counter[str] = Counter()
        for name, value in fields:
            repeated[name] += 1
            named[name if repeated[name] == 1 else f"{name} {repeated[name]}"] = value
        return named

    def _text(self, text: str, path: str) -> str:
        if _DATA_URL.fullmatch(text):
            return text
        redacted, counts = self._texts.redact_text(text, self._rules)
        for kind, count in counts.items():
            self.counts[path, kind] += count
        self._last = text, redacted
        return redacted

    def _field(self, name: str, value: Any, path: str, *, is_item: bool = False) -> Any:
        """The value of a field, or of an item of its list.

        The field's name may say that the value is a secret.
        """
        if (
            name in OPAQUE
            and isinstance(value, str)
            and len(value) > MOST_READABLE
            and _ENCODED.fullmatch(value)
        ):
            return value
        if type(value) in (dict, list) and self._texts.kind_of_name(name) is not None:
            if type(value) is dict:
                return self._fields(value, path, name)
            return [
                self._field(name, item, _joined(path, str(place)), is_item=True)
                for place, item in enumerate(value)
            ]
        kind = (
            self._texts.kind_of_field(name, value, self._rules, is_item=is_item)
            if type(value) in (str, int)
            else None
        )
        redacted = self.visit(value, path)
        if kind is None or redacted != value:
            return redacted
        self.counts[path, kind] += 1
        return self._texts.mark(kind)

    def _model(self, model: BaseModel, path: str) -> BaseModel:
        changed = {}
        for name in sorted(model.model_fields_set - IDENTITIES):
            given = getattr(model, name)
            title = self._name_of_value(model) if name in ("value", "content") else name
            value = self._field(title, given, _joined(path, name))
            if value is not given and value != given:
                changed[name] = value
        return model.model_copy(update=changed) if changed else model

    def _name_of_value(self, model: BaseModel) -> str:
        """The name that a memory's key or attribute gives its value."""
        return str(getattr(model, "key", None) or getattr(model, "attribute", None) or "")

    def _message(self, message: ReadMessage, path: str) -> ReadMessage:
        content = self._text(message.content, f"{path}.content")
        parts, unnamed = (
            tuple(map(self._again, texts)) for texts in (message.parts, message.unnamed)
        )
        actor = self._actor(message.actor, path)
        return replace(message, content=content, actor=actor, parts=parts, unnamed=unnamed)

    def _item(self, item: SessionItem, path: str) -> SessionItem:
        """An item without secrets.

        The item as it was sent holds its content as well, so secrets are counted once.
        """
        actor = self._actor(item.actor, path)
        if item.sent is None:
            return replace(item, content=self._text(item.content, f"{path}.content"), actor=actor)
        sent = self.visit(self._without_hidden_seams(item.sent), path)
        return replace(item, content=self._again(item.content), actor=actor, sent=sent)

    def _without_hidden_seams(self, sent: Mapping[str, Any]) -> Mapping[str, Any]:
        """The item with its texts in a single part if they hide a secret.

        They hide it if no text shows the secret alone, but all texts together do.

        Any other item stays as it is.
        """
        texts = [
            part["text"] for part in parts_sent(sent) or () if isinstance(part.get("text"), str)
        ]
        if len(texts) < 2 or self._again(SEAM.join(texts)) == SEAM.join(map(self._again, texts)):
            return sent
        return with_joined_texts(sent)

    def _actor(self, actor: str | None, path: str) -> str | None:
        return None if actor is None else self._text(actor, f"{path}.actor")

    def _again(self, text: str) -> str:
        """A text that repeats another text, whose secrets are counted there.

        Mostly it repeats all of the text before it.
        """
        if self._last is not None and self._last[0] == text:
            return self._last[1]
        return self._texts.redact_text(text, self._rules)[0]


def text_length(value: Any) -> int:
    """The number of characters of all texts of a request, approximately."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(text_length, value.values()))
    if isinstance(value, BaseModel):
        return sum(text_length(getattr(value, name)) for name in value.model_fields_set)
    if isinstance(value, ReadMessage):
        return 2 * len(value.content)
    if isinstance(value, SessionItem):
        return len(value.content) + text_length(value.sent)
    return sum(map(text_length, value)) if isinstance(value, Sequence) else 0


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def renumber(items: str, places: Sequence[int]) -> None:
    """Name the collected replacements of a list by places in the request.

    Args:
        items: The list's name.
        places: For each item, its place in the request.

    """
    redactions = collected_redactions()
    for number, redaction in enumerate(redactions):
        name, _, rest = redaction.field.partition(".")
        place, _, inner = rest.partition(".")
        if name == items and place.isdecimal():
            redactions[number] = replace(redaction, field=f"{items}.{places[int(place)]}.{inner}")
