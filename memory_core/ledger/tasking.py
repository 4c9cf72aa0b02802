"""Tasks, put together: what every phase needs to begin one, work on it, end it and watch over it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from memory_core.domain.task import TaskKind
from memory_core.ledger.beginning import Beginning
from memory_core.ledger.commit import Ledger
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.ends import Ends
from memory_core.ledger.leases import Leases
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.operations import Operations
from memory_core.ledger.steering import Steering
from memory_core.ledger.steps import Steps
from memory_core.ledger.sweep import Sweep
from memory_core.ledger.tasks import Tasks
from memory_core.ledger.worker import Work, Worker
from memory_core.ports import Clock, IdSource, LongTermStore, TaskQueue


class Tasking:
    """The parts, by name. lease: how long a worker may be silent."""

    def __init__(
        self,
        store: LongTermStore,
        ledger: Ledger,
        mirror: Mirror,
        queue: TaskQueue,
        cursors: Cursors,
        clock: Clock,
        ids: IdSource,
        lease: timedelta,
    ) -> None:
        self._queue, self._clock = queue, clock
        self.tasks = Tasks(store, cursors)
        self.steps = Steps(store, clock)
        self.ends = Ends(ledger, queue, clock)
        self.beginning = Beginning(ledger, queue)
        self.operations = Operations(ledger, mirror, self.beginning, self.ends, clock, ids)
        self.steering = Steering(ledger, self.tasks, self.ends, queue, clock)
        self.sweep = Sweep(store, self.tasks, queue, clock, ids)
        self._leases = Leases(store, self.tasks, clock, ids, lease)

    def worker(self, works: Mapping[TaskKind, Work]) -> Worker:
        """A worker that does what each kind of task asks for."""
        return Worker(self.tasks, self._leases, works, self.ends, self._queue, self._clock)
