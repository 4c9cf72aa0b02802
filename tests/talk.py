"""Small talk for tests: messages from lines, a minute apart."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from memory_core.domain.conversation import Message

FRIDAY = datetime(2026, 5, 8, 12, 0, tzinfo=timezone.utc)
_ROLES = {"u": "user", "a": "assistant", "s": "system", "t": "tool"}


def talk(*lines: str, start: datetime = FRIDAY, actor: str | None = None) -> list[Message]:
    """Messages of lines like "a: Hello": u = user (and of `actor`), a = assistant, s = system, t =
    tool; without a mark the user's.
    """
    messages = []
    for number, line in enumerate(lines):
        mark, sign, rest = line.partition(": ")
        known = bool(sign) and mark in _ROLES
        role: Any = _ROLES[mark] if known else "user"
        actor_of_message = actor if role == "user" else None
        messages.append(
            Message(
                role=role,
                content=rest if known else line,
                timestamp=start + timedelta(minutes=number),
                actor=actor_of_message,
            )
        )
    return messages
