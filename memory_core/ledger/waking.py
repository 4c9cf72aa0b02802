"""Makes a user due for a run whose faded memories were found: accesses are beside the log, so no commit says that there is work."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from memory_core.domain.errors import HeadMoved, Unavailable
from memory_core.domain.models import Head
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.changes import CONSOLIDATION, Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.ids import derived
from memory_core.ports import Clock, Document, LongTermStore

KEPT_FOR: Final = timedelta(days=1)
log = logging.getLogger(__name__)


class Waking:
    """Wakes any owner; costs one look into an index where nothing faded was found."""

    def __init__(self, store: LongTermStore, ledger: Ledger, clock: Clock) -> None:
        self._store, self._ledger, self._clock = store, ledger, clock

    async def wake(self, owner: Owner) -> None:
        """Make the user due now, if a memory of theirs was found since it faded and no run is due anyway.

        A failure is logged and raises nothing: the memories are found all the same, and the next access wakes the user again.
        """
        try:
            if await self._store.recalled(owner, None, 1):
                await self._ledger.commit(owner, self._due, ids=[], call=Call(actor=CONSOLIDATION))
        except (Unavailable, HeadMoved) as error:
            log.warning("a user whose faded memories were found is not due for it: %s", error.detail)

    def _due(self, look: Look) -> Changes[None]:
        head, now = look.head, self._clock.now()
        if head is None or (head.due_at is not None and head.due_at <= now):
            return Changes(None)

        def due(head: Head) -> Mapping[str, Any]:
            return {"due_at": now if head.due_at is None else min(head.due_at, now)}

        mark = Document(derived("mrk", head.epoch, "recalled", now.isoformat()), "marker", {}, expires_at=now + KEPT_FOR)
        return Changes(None, puts=(mark,), head_fields=due)
