"""Messages as memories: what tells the memory of one message, as it was said, from all others."""

from __future__ import annotations

from typing import Final

MESSAGE: Final = "message"
"""The category of the memory of one message."""
PREFIX: Final = "msg"
"""What the id of a message's memory begins with; nothing else has such an id."""


def is_message(memory_id: str) -> bool:
    """Whether a memory is a message as it was said, by its id."""
    return memory_id.startswith(f"{PREFIX}_")
