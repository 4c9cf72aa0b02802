"""The tasks that were given up, of all users of an app: for its operator, who is to look at them, mend what is wrong and retry.

Note: what a store finds may be of a life that was erased since. So each task is compared with its owner's head, and a page
may be short though more follow. An erasure that was given up is of the new life: it is shown, or no operator would see that it got stuck.
"""

from __future__ import annotations

import asyncio

from memory_core.domain.models import Head
from memory_core.domain.results import OwnedTaskPage
from memory_core.domain.scope import Owner
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.tasks import held_task
from memory_core.ports import LongTermStore, Place

_BOUND = {"list": "poisoned tasks"}


class Poisoned:
    """Reads the poisoned tasks of a whole app: one query, and one head for each user on the page."""

    def __init__(self, store: LongTermStore, cursors: Cursors) -> None:
        self._store, self._cursors = store, cursors

    async def page(self, app_id: str, cursor: str | None, limit: int) -> OwnedTaskPage:
        """One page, newest first. Raises Malformed for a void cursor."""
        given = self._cursors.read_for_app(app_id, _BOUND, cursor)
        documents = await self._store.poisoned(app_id, None if given is None else Place(*given), limit + 1)
        page = documents[:limit]
        following = None
        if len(documents) > limit:
            document = page[-1][1]
            following = self._cursors.make_for_app(app_id, _BOUND, (document.body["sequence"], document.id))
        heads = await self._heads({owner for owner, _ in page})
        tasks = [(owner, held_task(document, heads[owner])) for owner, document in page]
        return OwnedTaskPage(tuple((owner.user_id, task.task) for owner, task in tasks if task is not None), following)

    async def _heads(self, owners: set[Owner]) -> dict[Owner, Head | None]:
        looks = await asyncio.gather(*(self._store.snapshot(owner) for owner in owners))
        return {owner: look.head for owner, look in zip(owners, looks, strict=True)}
