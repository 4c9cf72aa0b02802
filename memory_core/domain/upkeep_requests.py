"""What may be asked about the life of many memories at once: that time takes its course, that they be forgotten, or one brought back.

Note: an empty filter is no filter for everything. It is refused, because forgetting all that a user has is another call,
with a receipt of its own.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from memory_core.domain.fields import Input, Labels, Name, require_fields
from memory_core.domain.models import MemoryType
from memory_core.domain.moments import Moment

MAX_IDS = 1000
"""Memories named one by one in one call: 33 KB."""


class DecayInput(Input):
    """Let time take its course: for all of a user's memories, or those of a session. dry_run: only count."""

    session_id: Name | None = None
    dry_run: bool = False


class ConsolidateInput(Input):
    """Settle what has happened since the last run: for all of a user's memories, or a session's. dry_run: only count."""

    session_id: Name | None = None
    dry_run: bool = False


class ReembedInput(Input):
    """Make vectors anew that another embedder made, of all of a user's memories. dry_run: only count."""

    dry_run: bool = False


class ForgetFilter(Input):
    """Which memories: those that all of the given fields fit; tags, types and ids: any of them. before: told before that moment."""

    types: Annotated[list[MemoryType], Field(min_length=1, max_length=3)] | None = None
    tags: Annotated[Labels, Field(min_length=1)] | None = None
    session_id: Name | None = None
    before: Moment | None = None
    ids: Annotated[list[Name], Field(min_length=1, max_length=MAX_IDS)] | None = None


class ForgetInput(Input):
    """Forget what a filter fits. soft: it is `deleted` and may be restored; hard: it is gone, its history and what was made of it too."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                require_fields("session_id"),
                {"required": ["filter"], "properties": {"filter": {"anyOf": [require_fields(name) for name in ForgetFilter.model_fields]}}},
            ]
        }
    )

    session_id: Name | None = None
    filter: ForgetFilter = Field(default_factory=ForgetFilter)
    mode: Literal["soft", "hard"] = "soft"
    dry_run: bool = False

    @model_validator(mode="after")
    def _says_what(self) -> ForgetInput:
        if self.session_id is not None and self.filter.session_id not in (None, self.session_id):
            raise ValueError("session_id: differs from filter.session_id")
        if self.session_id is None and not any(value is not None for value in self.filter.model_dump().values()):
            raise ValueError("filter: says nothing; to forget all that a user has, delete the user")
        return self

    @property
    def chosen(self) -> ForgetFilter:
        """The filter, with the session that was named beside it."""
        return self.filter if self.session_id is None else self.filter.model_copy(update={"session_id": self.session_id})
