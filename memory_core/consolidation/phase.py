"""Consolidation, put together: what works on a user's memories as a whole."""

from __future__ import annotations

from memory_core.domain.task import TaskKind
from memory_core.ledger.worker import Work


class Consolidation:
    """The phase; each of its parts by name. works: what it does for each kind of task."""

    def __init__(self) -> None:
        self.works: dict[TaskKind, Work] = {}
