"""Formation, put together: what takes things in, and what works on them."""

from __future__ import annotations

from dataclasses import dataclass

from memory_core.domain.task import TaskKind
from memory_core.evolution.edit import Editor
from memory_core.evolution.forget_told import ToldForgetter
from memory_core.formation.batches import Batches
from memory_core.formation.callbacks import Callbacks
from memory_core.formation.converse import Converser
from memory_core.formation.former import Former, FormingRules
from memory_core.formation.forming import Forming
from memory_core.formation.handover import BatchRules, Gathering, Handover
from memory_core.formation.message_memories import MessageWriter
from memory_core.formation.save import Saver
from memory_core.formation.summaries import Summaries, SummingUp
from memory_core.formation.webhooks import Deliveries
from memory_core.formation.wishes import Finder, Wishes
from memory_core.ledger.commit import Ledger, Mirror
from memory_core.ports import Agents, Clock, Courier, Embedder, IdSource, LongTermStore, TaskQueue
from memory_core.tasks.worker import Tasking, Work


@dataclass(frozen=True, slots=True)
class FormationRules:
    """What the phase goes by. webhook_secret: None where callbacks can't be signed, and so can't be asked for."""

    forming: FormingRules
    batches: BatchRules
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


@dataclass(frozen=True, slots=True)
class Heeding:
    """What the wishes in conversations are carried out with."""

    saver: Saver
    editor: Editor
    forgetter: ToldForgetter
    find: Finder


class Formation:
    """The phase; each of its parts by name. works: what it does for each kind of task."""

    def __init__(
        self,
        here: Surroundings,
        ledger: Ledger,
        mirror: Mirror,
        tasking: Tasking,
        heeding: Heeding,
        clock: Clock,
        ids: IdSource,
        rules: FormationRules,
    ) -> None:
        ends, steps = tasking.ends, tasking.steps
        callbacks = Callbacks(here.courier, rules.webhook_secret)
        messages = MessageWriter(ledger, here.embedder, clock)
        self.messages = messages
        self.converser = Converser(tasking.beginning, messages, callbacks, clock, ids)
        self.summaries = Summaries(here.agents, here.rules, callbacks, tasking.beginning, clock, ids)
        handover = Handover(ledger, messages, here.queue, clock, rules.batches)
        self.batches = Batches(ledger, here.store, handover, clock, ids, rules.commit_deadline_s)
        self.deliveries = Deliveries(here.store, ledger, here.courier, ends, clock, rules.webhook_secret)
        wishes = Wishes(here.store, heeding.saver, heeding.editor, heeding.forgetter, heeding.find, steps, clock)
        former = Former(ledger, mirror, messages, here.embedder, here.agents, here.rules, clock, rules.forming, wishes.keep_told)
        forming = Forming(ledger, messages, former, wishes, steps, ends, here.queue, clock)
        self.works: dict[TaskKind, Work] = {
            "converse": forming.form,
            "agent_memory": forming.form,
            "flush": Gathering(ledger, handover, forming, clock).gather,
            "summary": SummingUp(ledger, self.summaries, steps, ends).sum_up,
            "webhook": self.deliveries.deliver,
        }
