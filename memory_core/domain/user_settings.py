"""What a user has set: today their time zone."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from memory_core.domain.fields import Input
from memory_core.domain.time_zone import MAX_NAME, TimeZone

SETTINGS_ID: Final = "set_settings"
"""The document of a user's settings; there is one."""


class UserSettings(BaseModel):
    """The settings of a user. time_zone: None is UTC, and so is a name that this machine's database does not know."""

    model_config = ConfigDict(extra="forbid")

    time_zone: Annotated[str, Field(min_length=1, max_length=MAX_NAME)] | None = None

    def public(self) -> dict[str, Any]:
        """The settings as the API shows them."""
        return self.model_dump(mode="json")


class SettingsInput(Input):
    """The settings as they are to be from now on. time_zone: null for UTC."""

    time_zone: TimeZone | None
