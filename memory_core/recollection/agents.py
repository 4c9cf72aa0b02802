"""The agents that an app's users have memories of: user by user, each agent counted when it is asked for.

Note: nothing keeps these counts. Indexes tell them, an agent at a time, so what a page costs is bounded by its limit and by
how many users are looked at for it. Where many users have no agent, a page is short, or empty, though more follow.
"""

from __future__ import annotations

from typing import Final

from memory_core.domain.models import Head
from memory_core.domain.results import AgentPage, AgentView
from memory_core.domain.scope import Owner
from memory_core.ledger.cursors import Cursors
from memory_core.ports import LongTermStore

HEADS_AT_ONCE: Final = 25
LOOKS: Final = 4
"""So 100 users are looked at for a page, at most."""
_BOUND = {"list": "agents"}
_ALL = ""
"""In a cursor, in the place of an agent's id: all agents of the user have been shown."""


class AgentList:
    """Lists the agents of a whole app."""

    def __init__(self, store: LongTermStore, cursors: Cursors) -> None:
        self._store, self._cursors = store, cursors

    async def page(self, app_id: str, cursor: str | None, limit: int) -> AgentPage:
        """One page by (user_id, agent_id); users who are being erased have none. Raises Malformed for a void cursor."""
        after, agents = await self._rest_of_user(app_id, cursor, limit + 1)  # one more than is shown: it tells whether more follow
        for _ in range(LOOKS):
            if len(agents) > limit:
                break
            heads = await self._store.owners(after, HEADS_AT_ONCE, app_id)
            for owner, head in heads:
                if len(agents) > limit:
                    break
                if _is_to_count(head):
                    agents += await self._of_user(owner, None, limit + 1 - len(agents))
                after = owner
            if len(heads) < HEADS_AT_ONCE and len(agents) <= limit:
                return AgentPage(tuple(agents), None)
        if len(agents) > limit:
            return AgentPage(tuple(agents[:limit]), self._cursor(app_id, agents[limit - 1].user_id, agents[limit - 1].agent_id))
        return AgentPage(tuple(agents), self._cursor(app_id, after.user_id, _ALL))

    async def _rest_of_user(self, app_id: str, cursor: str | None, limit: int) -> tuple[Owner, list[AgentView]]:
        """The user at whom the last page ended, with those of their agents that it did not show; before all users at first."""
        user_id, agent_id = self._cursors.read_for_app(app_id, _BOUND, cursor) or ("", _ALL)
        owner = Owner(app_id, user_id)
        if agent_id == _ALL:
            return owner, []
        head = (await self._store.snapshot(owner)).head
        return owner, [] if head is None or not _is_to_count(head) else await self._of_user(owner, agent_id, limit)

    async def _of_user(self, owner: Owner, after: str | None, limit: int) -> list[AgentView]:
        counted = await self._store.agents(owner, after, limit)
        return [AgentView(owner.user_id, count.agent_id, count.memories, count.last_active_at) for count in counted]

    def _cursor(self, app_id: str, user_id: str, agent_id: str) -> str:
        return self._cursors.make_for_app(app_id, _BOUND, (user_id, agent_id))


def _is_to_count(head: Head) -> bool:
    """Whether what is stored is the user's: not of one who is being erased, nor of one without a log, into whom a file is being brought."""
    return head.state == "live" and head.sequence > 0
