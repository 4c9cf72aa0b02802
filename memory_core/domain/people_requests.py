"""What a caller may ask for about people's rights."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from memory_core.domain.chat_input import ChatMessages
from memory_core.domain.fields import Input, Name
from memory_core.domain.time_zone import TimeZone

MAX_PARTS = 2_000
"""2 GB; the operation, which names each part in 50 bytes, stays small enough to be written with each that comes."""
PartNumber = Annotated[int, Field(ge=1, le=MAX_PARTS)]


class PartInput(Input):
    """Which part of a file, counted from 1."""

    part: PartNumber


class ImportInput(Input):
    """What the lines of the file are: an export of Memory Core, or conversations."""

    of: Literal["export", "conversations"] = "export"


class ConversationLine(Input):
    """A line of a file of conversations."""

    session_id: Name | None = None
    agent_id: Name | None = None
    messages: ChatMessages
    time_zone: TimeZone | None = None


class ImportCommitInput(Input):
    """How many parts a file has, and the SHA-256 of all of them together, as hex digits."""

    parts: PartNumber
    sha256: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$")]
