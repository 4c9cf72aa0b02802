"""Requests of an app's admin about its keys and its audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from memory_core.domain.access import RIGHTS, Action, KeyStatus, Right
from memory_core.domain.fields import Cursor, Input, Label, Limit, Name, check_period
from memory_core.domain.text.timestamps import Timestamp

MAX_OVERLAP_S = 30 * 86_400


def _ahead_of_now(value: datetime, info: ValidationInfo) -> datetime:
    now = (info.context or {}).get("now")
    if now is not None and value <= now:
        raise ValueError(
            f"must lie ahead of this service's clock, which says {now:%Y-%m-%dT%H:%MZ}"
        )
    return value


def _in_order(values: list[Right]) -> list[Right]:
    return [right for right in RIGHTS if right in values]


class KeyInput(Input):
    """A key to make: its rights, its only user, and its end."""

    name: Label | None = None
    rights: Annotated[
        list[Right], Field(min_length=1, max_length=len(RIGHTS)), AfterValidator(_in_order)
    ] = Field(["read", "write"])
    user_id: Name | None = None
    expires_at: Annotated[Timestamp, AfterValidator(_ahead_of_now)] | None = None


class KeysInput(Input):
    """Which keys to list, where to continue, and how many at once."""

    status: KeyStatus | None = None
    cursor: Cursor | None = None
    limit: Limit = 20


class RotateInput(Input):
    """How long the key that is replaced goes on working."""

    overlap_seconds: Annotated[int, Field(ge=0, le=MAX_OVERLAP_S)] = 3600


class AuditInput(Input):
    """Which entries of the audit log to list: since ≤ at < until."""

    since: Timestamp | None = None
    until: Timestamp | None = None
    action: Action | None = None
    cursor: Cursor | None = None
    limit: Limit = 20

    @model_validator(mode="after")
    def _period_in_order(self) -> AuditInput:
        check_period(self.since, self.until)
        return self
