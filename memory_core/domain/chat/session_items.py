"""Messages of a session as an agent framework keeps them.

Each item is a single message and is kept exactly as it was sent. Its text is read leniently, in
every form that chat models exchange, so that the item can be found. An item that can't be read has
no text, and is returned all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, overload

from pydantic import ValidationError

from memory_core.domain.chat.message_frame import MessageMoment, named_role
from memory_core.domain.chat.messages import MAX_ERRORS, MessageReader, error_words
from memory_core.domain.chat.read_message import ReadMessage
from memory_core.domain.conversation import GivenRole, Role
from memory_core.domain.errors import FieldError, Invalid
from memory_core.domain.fields import Input, Label, value_of_json
from memory_core.domain.memory import MAX_CONTENT_BYTES, text_within

MAX_ID_CHARACTERS: Final = 200
_PLAIN: Final = frozenset({"role", "content"})
_OF_MODELS: Final = ("reasoning", "compaction", "item_reference")
"""Kinds of items without a role that a model makes; tools make the rest."""


@dataclass(frozen=True, slots=True)
class SessionItem:
    """An item of a session.

    Attributes:
        role: The speaker's role.
        content: The item's text; empty where none could be read.
        actor: The speaker's name, or None.
        id: The item's own id, or None.
        sent: The item as it was sent; None where role and content are the whole item.

    """

    role: Role
    content: str
    timestamp: datetime | None = None
    actor: str | None = None
    id: str | None = None
    sent: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SessionItems(Sequence[SessionItem]):
    """The items of a call, in order."""

    items: tuple[SessionItem, ...]

    @overload
    def __getitem__(self, place: int) -> SessionItem: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[SessionItem]: ...
    def __getitem__(self, place: int | slice) -> SessionItem | Sequence[SessionItem]:
        """The item at a place, or the items of a slice."""
        return self.items[place]

    def __len__(self) -> int:
        """The number of items."""
        return len(self.items)

    def __iter__(self) -> Iterator[SessionItem]:
        """Each item in order."""
        return iter(self.items)


class _Frame(Input):
    """The fields of an item that are checked, whatever else it holds."""

    role: GivenRole | None = None
    timestamp: MessageMoment | None = None
    actor: Label | None = None


def read_items(
    raw: Sequence[Any], *, now: datetime | None = None, path: str = "messages"
) -> SessionItems:
    """Read the items of a call.

    Args:
        raw: Each item as JSON has it.
        now: No item may be said long after this moment; None checks no times.
        path: Prefix of the names of refused fields.

    Raises:
        Invalid: Some items are no objects, are too large, or have a wrong role, time or actor.

    """
    reader, items, errors = (
        MessageReader(now, path, roles_optional=True, lenient=True),
        list[SessionItem](),
        list[FieldError](),
    )
    for place, item in enumerate(raw):
        try:
            items.append(_read(reader, place, item, now, f"{path}.{place}"))
        except Invalid as error:
            errors += error.errors
        if len(errors) >= MAX_ERRORS:
            break
    if errors:
        raise Invalid(
            "; ".join(f"{error.field}: {error.message}" for error in errors[:5]),
            errors=tuple(errors[:MAX_ERRORS]),
        )
    return SessionItems(tuple(items))


def _read(
    reader: MessageReader, place: int, item: Any, now: datetime | None, path: str
) -> SessionItem:
    if not isinstance(item, Mapping) or not item:
        raise _refused(path, "should be an object with something in it")
    try:
        value_of_json(item)
    except ValueError as error:
        raise _refused(path, str(error)) from None
    try:
        given = {**item, "role": named_role(item.get("role"))}
        frame = _Frame.model_validate(
            {name: given[name] for name in _Frame.model_fields if given.get(name) is not None},
            context={"now": now},
        )
    except ValidationError as error:
        problems = error.errors(include_url=False)
        raise Invalid(
            "an item is refused",
            errors=tuple(
                FieldError(f"{path}.{details['loc'][0]}", error_words(details))
                for details in problems
            ),
        ) from None
    read = reader.said(place, item)
    content = text_within("\n".join(message.content for message in read), MAX_CONTENT_BYTES)
    role = frame.role or _role_of(read, item)
    plain = item.keys() <= _PLAIN and item.get("role") == role and item.get("content") == content
    identity = item.get("id")
    return SessionItem(
        role=role,
        content=content,
        timestamp=frame.timestamp,
        actor=frame.actor
        or next((message.actor for message in read if message.actor is not None), None),
        id=identity
        if isinstance(identity, str) and 0 < len(identity) <= MAX_ID_CHARACTERS
        else None,
        sent=None if plain else dict(item),
    )


def _role_of(read: Sequence[ReadMessage], item: Mapping[str, Any]) -> Role:
    """The role of an item that names no role."""
    if read and read[0].role is not None:
        return read[0].role
    kind = item.get("type")
    return (
        "tool"
        if isinstance(kind, str) and kind not in _OF_MODELS and kind.endswith(("_call", "_output"))
        else "assistant"
    )


def _refused(field: str, message: str) -> Invalid:
    return Invalid(f"{field}: {message}", errors=(FieldError(field, message),))
