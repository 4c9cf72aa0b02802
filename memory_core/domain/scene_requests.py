"""What a caller may ask about scenes and profiles."""

from __future__ import annotations

from memory_core.domain.fields import Cursor, Input, Limit
from memory_core.domain.moments import Moment


class ScenesInput(Input):
    """Where to go on listing scenes, and how many at once."""

    cursor: Cursor | None = None
    limit: Limit = 20


class ProfileInput(Input):
    """At which moment the profile is to be true; now where none is given."""

    at: Moment | None = None
