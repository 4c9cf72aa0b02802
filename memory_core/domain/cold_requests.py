"""What a caller may ask of the archive."""

from __future__ import annotations

from memory_core.domain.fields import Input, Name


class ArchiveInput(Input):
    """An archive run over a user's memories, or a session's. dry_run: only say what would move."""

    session_id: Name | None = None
    dry_run: bool = False
