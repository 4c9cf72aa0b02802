"""Consolidation, put together: what works on a user's memories as a whole."""

from __future__ import annotations

from memory_core.consolidation.archive import Archiver
from memory_core.consolidation.archive_plan import ArchiveRules
from memory_core.consolidation.snapshots import Snapshots
from memory_core.domain.task import TaskKind
from memory_core.ledger.cold_copies import ColdCopies
from memory_core.ledger.commit import Ledger
from memory_core.ledger.tasking import Tasking
from memory_core.ledger.worker import Work
from memory_core.ports import Clock, LongTermStore


class Consolidation:
    """The phase; each of its parts by name. works: what it does for each kind of task."""

    def __init__(
        self, store: LongTermStore, ledger: Ledger, tasking: Tasking, copies: ColdCopies, clock: Clock, archive_rules: ArchiveRules
    ) -> None:
        self.snapshots = Snapshots(store, ledger)
        self.archiver = Archiver(store, ledger, tasking.operations, copies, clock, archive_rules)
        self.works: dict[TaskKind, Work] = {"archive": self.archiver.work}
