"""A user's settings: one document in their partition, which an export takes along and an erasure removes."""

from __future__ import annotations

from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.user_settings import SETTINGS_ID, UserSettings
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ports import Document

_OF_THE_STORE = ("epoch", "sequence")


class SettingsOfUsers:
    """Reads and writes the settings of any owner."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def get(self, owner: Owner) -> UserSettings:
        """The settings as they stand; the defaults where nothing is set. Raises Unavailable."""
        return settings_in(await self._ledger.look(owner, [SETTINGS_ID]))

    async def put(self, owner: Owner, settings: UserSettings, call: Call) -> UserSettings:
        """Set them. Durable when it returns. Raises HeadMoved, Unavailable."""

        def decide(look: Look) -> Changes[UserSettings]:
            if settings_in(look) == settings:
                return Changes(settings)
            document = look.documents.get(SETTINGS_ID)
            tag = None if document is None else document.tag
            return Changes(settings, puts=(Document(SETTINGS_ID, "settings", settings.model_dump(mode="json"), tag=tag),), fragile=True)

        return (await self._ledger.commit(owner, decide, ids=[SETTINGS_ID], call=call)).result


def settings_in(look: Look) -> UserSettings:
    """The settings that a look shows, which was asked for `SETTINGS_ID`."""
    document = look.documents.get(SETTINGS_ID)
    if document is None or look.head is None or document.body.get("epoch") != look.head.epoch:
        return UserSettings()
    return UserSettings.model_validate({name: value for name, value in document.body.items() if name not in _OF_THE_STORE})
