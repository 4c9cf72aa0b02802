"""The calls of MemoryCore about people's rights: export, import, erasure."""

from __future__ import annotations

from typing import Any

from memory_core.bootstrap.phases import People
from memory_core.domain.people_requests import ImportCommitInput, ImportInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner, check_app_id, checked
from memory_core.domain.user_settings import SettingsInput, UserSettings
from memory_core.ledger.documents import SettingsOfUsers
from memory_core.ledger.ids import keyed
from memory_core.telemetry import Telemetry

NO_CALL = Call()
AN_EXPORT = ImportInput()


class Peopling:
    """A part of `MemoryCore`, which supplies what it needs."""

    _people: People
    _user_settings: SettingsOfUsers
    _telemetry: Telemetry

    async def user_settings(self, owner: Owner) -> UserSettings:
        """What the user has set; the defaults where nothing is. Raises Unavailable."""
        with self._telemetry.operation("user_settings"):
            return await self._user_settings.get(checked(owner))

    async def set_user_settings(self, owner: Owner, settings: SettingsInput, call: Call = NO_CALL) -> UserSettings:
        """Set all settings of a user. Durable when it returns. Raises HeadMoved, Unavailable."""
        with self._telemetry.operation("user_settings"):
            return await self._user_settings.put(checked(owner), UserSettings(**settings.model_dump()), call)

    async def export(self, owner: Owner, call: Call = NO_CALL) -> Accepted:
        """Begin to put everything that is kept of a user into a file. Raises NotFound, Conflict, Unavailable."""
        with self._telemetry.operation("export"):
            return await self._people.exporter.begin(checked(owner), keyed(call, "export"))

    async def export_part(self, owner: Owner, task_id: str, part: int) -> bytes:
        """A part of an export that is done, counted from 1: JSON Lines. Raises NotFound, Conflict, Gone, Unavailable."""
        with self._telemetry.operation("export_part"):
            return await self._people.exporter.page(checked(owner), task_id, part)

    async def begin_import(self, owner: Owner, what: ImportInput = AN_EXPORT, call: Call = NO_CALL) -> Accepted:
        """Begin to gather the parts of a file: an export, for a user who is empty, or conversations. Raises Conflict, Unavailable."""
        with self._telemetry.operation("import"):
            return await self._people.importer.begin(checked(owner), what, keyed(call, "import", what))

    async def import_part(self, owner: Owner, task_id: str, part: int, data: bytes, call: Call = NO_CALL) -> None:
        """Bring a part; brought again it replaces itself. Durable when it returns. Raises NotFound, Conflict, Unavailable."""
        with self._telemetry.operation("import_part"):
            await self._people.importer.bring(checked(owner), task_id, part, data, call)

    async def commit_import(self, owner: Owner, task_id: str, what: ImportCommitInput, call: Call = NO_CALL) -> Accepted:
        """All parts have been brought: begin the work. The same again is no second time. Raises NotFound, Conflict, Unavailable."""
        with self._telemetry.operation("import_commit"):
            return await self._people.importer.commit(checked(owner), task_id, what.parts, what.sha256, call)

    async def erase(self, owner: Owner, call: Call = NO_CALL) -> Accepted:
        """Erase a user for good. From now on nothing of theirs is read or written; the task empties what is left.

        Raises Conflict (idempotency key reused), Unavailable.
        """
        with self._telemetry.operation("erase"):
            return await self._people.eraser.begin(checked(owner), keyed(call, "erase"))

    async def erase_again(self, *, dry_run: bool = False) -> int:
        """After a restore of the long term from a backup: erase whom it brought back, in every app; how many. Raises Unavailable.

        When it returns nothing of theirs is read any more, as after `erase`. With dry_run they are counted only.
        """
        with self._telemetry.operation("erase_again"):
            return await self._people.eraser.again(dry_run=dry_run)

    async def erasures(self, app_id: str, after: int | None = None, limit: int = 100) -> list[dict[str, Any]]:
        """The receipts of an app's erasures, the latest first; `after`: the `sequence` of the last one seen. They name users by hashes."""
        with self._telemetry.operation("erasures"):
            return await self._people.eraser.receipts(check_app_id(app_id), after, limit)

    async def sweep_files(self) -> int:
        """Remove exported and brought files whose seven days are over; of how many blobs. The hourly timer's work. Raises Unavailable."""
        with self._telemetry.operation("sweep_files"):
            return await self._people.parts.sweep()
