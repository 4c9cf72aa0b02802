"""Items that readers find in a file, in a form that the service can store.

They are messages, memories, and entries that are left out. All ids are from the export, or made of
a place in the file, so that a second reading gives the same ids.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import IO, Any

Json = dict[str, Any]
MESSAGE_BYTES = 32 * 1024
"""The most bytes of a message in the service."""
ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
} | {"system": "system", "developer": "system", "tool": "tool", "function": "tool"}
_FIELD_NESTED, _LARGEST = 30, 2**63 - 1
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._:@-]+")
_TITLE_CHARACTERS = 200
_NAME_CHARACTERS = 128


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message as `POST /api/v1/memories` takes it, in its session."""

    session: str
    fields: Json
    title: str | None = None


@dataclass(frozen=True, slots=True)
class SavedMemory:
    """A memory as `POST /api/v1/memories/bulk` takes it, with its place in the file."""

    fields: Json
    place: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """An entry that is left out, with the reason."""

    reason: str
    place: str


Item = ChatMessage | SavedMemory | Skipped
Reader = Callable[[IO[bytes], str], Iterator[Item]]


def message_items(
    session: str,
    role: Any,
    text: str,
    when: Any,
    own_id: Any,
    place: str,
    actor: Any = None,
    title: Any = None,
) -> Iterator[Item]:
    """A message as items.

    A message that is too long becomes pieces, and an invalid message is left out with a reason.

    Args:
        session: The session of the message.
        role: The role as the export names it.
        text: The text.
        when: The moment as the export has it.
        own_id: The id as the export has it.
        place: The place of the message in the file.
        actor: The name of the person or agent, if any.
        title: The title of the session, if any.

    """
    known_role = role_of(role)
    if known_role is None:
        yield Skipped("no role that is known", place)
        return
    if not text.strip():
        yield Skipped("without words", place)
        return
    identity = service_name("", own_id, place)
    for number, piece in enumerate(_pieces(storable_text(text))):
        fields: Json = {
            "role": known_role,
            "content": piece,
            "id": identity if not number else f"{identity[: _NAME_CHARACTERS - 8]}.{number}",
        }
        moment = iso_moment(when)
        if moment is not None:
            fields["timestamp"] = moment
        if isinstance(actor, str) and actor.strip():
            fields["actor"] = storable_text(actor)[:200]
        yield ChatMessage(session, fields, _title(title))


def role_of(given: Any) -> str | None:
    """The service's name of a role; None for a role that is not known."""
    return ROLES.get(given) if isinstance(given, str) else None


def _title(given: Any) -> str | None:
    """The title of a chat on a single line; None where it has no title."""
    words = " ".join(storable_text(given).split()) if isinstance(given, str) else ""
    return words[:_TITLE_CHARACTERS].strip() or None


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces that fit, cut at white space where possible."""
    rest = text.strip()
    while len(rest.encode()) > MESSAGE_BYTES:
        head = rest.encode()[: MESSAGE_BYTES - 4].decode(errors="ignore")
        cut = max(head.rfind(" "), head.rfind("\n"))
        head = head[:cut] if cut > len(head) // 2 else head
        if head.strip():
            yield head.strip()
        rest = rest[len(head) :].strip()
    if rest:
        yield rest


def time_of_message(given: Any, before: Any) -> Any:
    """The time of a message; without a readable time, that of the message before.

    Without any, an old message would have the time of the import, and be newer than all others.

    Args:
        given: The time of the message as the export has it.
        before: The time of the message before, or of the conversation, as the export has it.

    """
    return before if iso_moment(given) is None else given


def iso_moment(value: Any) -> str | None:
    """A moment as ISO 8601 with a time zone; None where there is no moment.

    The value is a text, or seconds since 1970.
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, timezone.utc).isoformat()
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return (
                (moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc))
                .astimezone(timezone.utc)
                .isoformat()
            )
    except (ValueError, OverflowError, OSError):
        return None
    return None


def service_name(prefix: str, given: Any, place: str) -> str:
    """An id that the service accepts, made of an id of the export.

    It is unchanged where it fits, else it has a hash of the original.

    Args:
        prefix: The beginning of the id; may be empty.
        given: The id of the export.
        place: The place in the file, which is used instead of a missing id.

    """
    own = str(given) if isinstance(given, str | int) and str(given).strip() else place
    plain = _NOT_IN_NAMES.sub("-", own).strip("-.")
    whole = "-".join(part for part in (prefix, plain) if part)
    if plain == own and len(whole) <= _NAME_CHARACTERS:
        return whole
    digest = hashlib.sha256(own.encode("utf-8", "replace")).hexdigest()[:12]
    return "-".join(part for part in (prefix, plain[:80].strip("-."), digest) if part)


def storable_text(text: str) -> str:
    """A text that UTF-8 and the stores can represent."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def storable(value: Any, depth: int = 0) -> Any:
    """A value in JSON that the service can store.

    Args:
        value: The value.
        depth: The depth of the value in its document.

    """
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, dict | list) and depth >= _FIELD_NESTED:
        return "…"
    if isinstance(value, dict):
        return {
            storable_text(str(name)): storable(field, depth + 1) for name, field in value.items()
        }
    if isinstance(value, list):
        return [storable(item, depth + 1) for item in value]
    return str(value) if isinstance(value, int) and abs(value) > _LARGEST else value


def list_of(value: Any) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []
