"""People's rights, put together: to take along what is kept of them, to bring it elsewhere, to have it erased."""

from __future__ import annotations

from memory_core.consolidation.erase import Eraser, EraseRules
from memory_core.consolidation.export import Exporter
from memory_core.consolidation.import_conversations import ConversationTeller, Converse
from memory_core.consolidation.importing import Importer
from memory_core.domain.task import TaskKind
from memory_core.ledger.archive_files import ColdCopies, ErasureNotes, OwnerNames, Parts
from memory_core.ledger.commit import Ledger
from memory_core.ports import Archive, Clock, Embedder, IdSource, LongTermStore, ShortTermStore
from memory_core.tasks.worker import Tasking, Work


class People:
    """The three, by name. works: what is done for each kind of task."""

    def __init__(
        self,
        store: LongTermStore,
        short_term: ShortTermStore,
        archive: Archive,
        names: OwnerNames,
        copies: ColdCopies,
        embedder: Embedder,
        ledger: Ledger,
        tasking: Tasking,
        clock: Clock,
        ids: IdSource,
        rules: EraseRules,
        converse: Converse,
    ) -> None:
        self.parts = Parts(archive, names, clock)
        notes = ErasureNotes(archive, names)
        self.eraser = Eraser(store, short_term, self.parts, copies, names, notes, ledger, tasking, clock, ids, rules)
        self.exporter = Exporter(store, copies, self.parts, tasking.operations, clock)
        teller = ConversationTeller(converse, tasking.operations, clock)
        self.importer = Importer(store, embedder, copies, self.parts, tasking.operations, teller, clock, ids)
        self.works: dict[TaskKind, Work] = {"erase": self.eraser.erase, "export": self.exporter.export, "import": self.importer.work}
