"""The last messages of a chat as an agent hands them over with a question about its memory.

Only what is said is taken: the text of a message, its text parts joined, nothing where there is none.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from memory_core.domain.fence import visible
from memory_core.domain.fields import Text


class GivenMessage(BaseModel):
    """One message as chat models exchange them. Fields of it that say nothing here are let through and not looked at."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"additionalProperties": True})

    role: str = Field(min_length=1, max_length=40)
    content: Text | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """What it says: its content, or the text parts of that, joined."""
        return "\n".join(self.texts)

    @property
    def texts(self) -> list[str]:
        """What each of its parts says, one for a content that is a text; those that say nothing are left out."""
        parts = [self.content] if isinstance(self.content, str) else [part.get("text") for part in self.content or ()]
        said = (visible(one).strip() for one in parts if isinstance(one, str))
        return [one for one in said if one]
