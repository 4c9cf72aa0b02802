"""The calls of MemoryCore for the operator of an app: what concerns all of its users, page by page. They name an app, and no user."""

from __future__ import annotations

from collections.abc import AsyncIterator

from memory_core.domain.requests import AcrossInput
from memory_core.domain.results import AgentPage, OwnedTaskPage
from memory_core.domain.scope import Owner, check_app_id
from memory_core.evolution.truth_projection import SlotCheck
from memory_core.recollection.read import AgentList
from memory_core.tasks.control import Poisoned
from memory_core.telemetry import Telemetry


class Overseeing:
    """A part of `MemoryCore`, which supplies what it needs."""

    _poisoned: Poisoned
    _agent_list: AgentList
    _slot_check: SlotCheck
    _telemetry: Telemetry

    async def poisoned_tasks(self, app_id: str, query: AcrossInput) -> OwnedTaskPage:
        """One page of the tasks that were given up, of all users of an app, newest first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("poisoned_tasks"):
            return await self._poisoned.page(check_app_id(app_id), query.cursor, query.limit)

    async def agents(self, app_id: str, query: AcrossInput) -> AgentPage:
        """One page of the agents that an app's users have memories of. Raises Malformed for a void cursor."""
        with self._telemetry.operation("agents"):
            return await self._agent_list.page(check_app_id(app_id), query.cursor, query.limit)

    def slot_differences(self, app_id: str | None = None, only: Owner | None = None) -> AsyncIterator[str]:
        """A line for every memory whose stored fields differ from the timeline of its slot, of an app's users or of one."""
        return self._slot_check.lines(app_id, only)
