"""Formation, put together: what takes things in, what works on them, and what watches over that."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from memory_core.domain.task import TaskKind
from memory_core.formation.batches import Batches
from memory_core.formation.callbacks import Callbacks
from memory_core.formation.converse import Beginning, Converser
from memory_core.formation.ends import Ends
from memory_core.formation.former import Former, FormingRules
from memory_core.formation.forming import Forming
from memory_core.formation.gathered import Gathered
from memory_core.formation.handover import BatchRules, Gathering, Handover
from memory_core.formation.steering import Steering
from memory_core.formation.summaries import Summaries, SummingUp
from memory_core.formation.sweep import Sweep
from memory_core.formation.webhooks import Deliveries
from memory_core.formation.worker import Work, Worker
from memory_core.ledger.commit import Ledger
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.leases import Leases
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.steps import Steps
from memory_core.ledger.tasks import Tasks
from memory_core.ports import Agents, Clock, Courier, Embedder, IdSource, LongTermStore, TaskQueue


@dataclass(frozen=True, slots=True)
class FormationRules:
    """What the phase goes by. webhook_secret: None where callbacks can't be signed, and so can't be asked for."""

    forming: FormingRules
    batches: BatchRules
    lease: timedelta
    commit_deadline_s: float
    webhook_secret: bytes | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The adapters that formation works with."""

    store: LongTermStore
    embedder: Embedder
    queue: TaskQueue
    agents: Agents
    rules: Agents
    courier: Courier


class Formation:
    """The phase; each of its parts by name."""

    def __init__(
        self, here: Surroundings, ledger: Ledger, mirror: Mirror, cursors: Cursors, clock: Clock, ids: IdSource, rules: FormationRules
    ) -> None:
        store, queue = here.store, here.queue
        self.tasks = Tasks(store, cursors)
        ends, beginning, steps = Ends(ledger, queue, clock), Beginning(ledger, queue), Steps(store, clock)
        callbacks = Callbacks(here.courier, rules.webhook_secret)
        self.converser = Converser(beginning, callbacks, clock, ids)
        self.summaries = Summaries(here.agents, here.rules, callbacks, beginning, clock, ids)
        handover = Handover(ledger, queue, clock, rules.batches)
        self.gathered = Gathered()
        self.batches = Batches(ledger, store, handover, clock, ids, rules.commit_deadline_s)
        self.steering = Steering(ledger, self.tasks, ends, queue, clock)
        self.deliveries = Deliveries(store, ledger, here.courier, ends, clock, rules.webhook_secret)
        former = Former(ledger, mirror, here.embedder, here.agents, here.rules, clock, rules.forming)
        forming = Forming(ledger, former, steps, ends, clock)
        works: dict[TaskKind, Work] = {
            "converse": forming.form,
            "agent_memory": forming.form,
            "flush": Gathering(ledger, handover, forming, clock).gather,
            "summary": SummingUp(ledger, self.summaries, steps, ends).sum_up,
            "webhook": self.deliveries.deliver,
        }
        leases = Leases(store, self.tasks, clock, ids, rules.lease)
        self.worker = Worker(self.tasks, leases, works, ends, queue, clock)
        self.sweep = Sweep(store, self.tasks, queue, clock, ids)
