"""`python -m tests.quiet_lives [--lives 300] [--first 0] [--show]`: drawn lives of a user, and what
is left undone after some quiet hours.

Time does not move in them, goes on by a microsecond or by a year, and goes back. The work of the
hour is left out, done twice, or dies half-way. In the end nothing may wait that no worker takes up:
`Remains` says what that is. Each finding is printed with its seed, and what was refused is counted
by its reason. Exit code 1 where something was left undone.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import re
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.errors import MemoryCoreError
from memory_core.domain.memory import Head, Memory, Status
from memory_core.domain.messages import MESSAGE
from memory_core.domain.requests.maintenance import (
    ArchiveInput,
    BatchInput,
    ConsolidateInput,
    DecayInput,
    ForgetInput,
    ImportInput,
)
from memory_core.domain.requests.memories import (
    AppendInput,
    ClearInput,
    ConverseInput,
    RetrieveInput,
    StatusInput,
    UpdateInput,
)
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.evolution.slot_check import differences
from memory_core.ledger.batch import CONSOLIDATION
from memory_core.ports import POISON, Document, Posted
from memory_core.tasks.store import task_in
from tests.builders import ALICE
from tests.conflicts import DECISIONS, asking
from tests.couriers import ScriptedCourier
from tests.exports import fetched, gathered
from tests.slot_lives import CITIES, SLOT, WAYS
from tests.tasks import Hand
from tests.world import BOB, DiesAfter, Down, Killed, World, fact, listed, rule, turn

ACTS = 40
QUIET_HOURS = 14
"""A task that the sweep has sent eight times is sent again after more than four hours."""
QUEUES = ("formation", "consolidation", "webhooks")
SESSIONS = ("s1", "s2")
KEYS = ("k1", "k2", "k3")
HOUR, DAY = 3600.0, 86_400.0
STEPS = (*[0.0] * 3, 1e-6, 1.0, 31.0, 61.0, 600.0, *[HOUR] * 2, DAY, DAY + 1, -HOUR, 8 * DAY)
YEAR_LATER = 400 * DAY
DAYS_LATE = (0, 0, 1, 5, 9)
"""How late a fact is told: of a time before others, it parts what held then into two times."""
SAYINGS = (
    "I live in {}",
    "My sister lives in {}",
    "I moved to {}",
    "I like the harbour of {}",
    "What is the weather in {}?",
    "Please forget that I live in {}",
    "My favourite town is {}",
    "Always answer in the language of {}",
)
_NAMES: Final = re.compile(r"\b[a-z]{2,5}_[0-9a-f]+(\.v\d+)?|\d+")
Act = Callable[[MemoryCore], Awaitable[None]]


class Life:
    """A user, and a second one who takes over the first one's exports.

    Attributes:
        said: Messages that must be somewhere, by owner.
        trace: What was done.

    """

    def __init__(self, world: World, seed: int, refused: Counter[str]) -> None:
        self.world, self.random, self.refused = world, Random(seed), refused
        self.said: dict[Owner, set[str]] = {ALICE: set(), BOB: set()}
        self.files: list[bytes] = []
        self.words, self.share_of_bob = 0, self.random.choice([0.0, 0.1])
        self.trace: list[str] = []
        self.ways_to_forget = self.random.choice([("soft",), ("soft", "hard")])
        self.settings: dict[str, Any] = {
            "batch_messages": self.random.choice([2, 4, 30]),
            "forgetting": self.random.choice(["gentle", "strict"]),
            "consolidation_threshold": self.random.choice([3, 10_000]),
            "consolidation_first_minutes": self.random.choice([0, 1]),
            "archival_age_years": 0.5,
            "erase_settle_s": self.random.choice([0.0, 120.0]),
            "webhook_secret": "long enough to sign what is delivered",
            "upkeep_cap": self.random.choice([2, 10_000]),
        }

    async def begin(self) -> None:
        """Open the process that lives on."""
        self.core = await self.process()

    async def process(self, **given: Any) -> MemoryCore:
        """One more process; its receiver of callbacks fails at first."""
        courier = ScriptedCourier([Posted(503)] * self.random.randint(0, 6))
        return await self.world.core_by_rules(courier=courier, **given, **self.settings)

    async def live(self) -> None:
        """Do some acts; after about half of them the service does something, too."""
        for _ in range(ACTS):
            await self.pass_time()
            await self.do(self.random.choice(self.acts()))
            if self.random.random() < 0.5:
                await self.do(self.random.choice(self.works()))

    async def pass_time(self) -> None:
        """Move the clock, at times to the very moment at which the next run is due."""
        head, now = await self.world.head(), self.world.clock.now()
        if head is not None and head.due_at is not None and self.random.random() < 0.1:
            self.world.clock.moment = max(head.due_at, now)
            self.trace.append("clock: to the due moment")
            return
        step = YEAR_LATER if self.random.random() < 0.03 else self.random.choice(STEPS)
        self.world.clock.forward(step)
        self.trace.append(f"clock: {step:+} s")

    async def do(self, act: Act) -> None:
        """Do something; at times by a process that dies, or whose store or queue is down."""
        way, name = self.random.random(), act.__name__
        self.trace.append(name)
        if way >= 0.12:
            return await self.try_to(act, self.core)
        if way < 0.08:
            commits, applied = self.random.randint(0, 3), self.random.random() < 0.5
            core = await self.process(wrap=lambda store: DiesAfter(store, commits, applied))
            self.trace[-1] = f"{name}, dies after {commits} commits, applied: {applied}"
        elif way < 0.1:
            core = await self.process(wrap=Down)
            core._services.adapters.long_term.down = True  # type: ignore[attr-defined]
            self.trace[-1] = f"{name}, the store is down"
        else:
            file = self.world.folder / "queue.db"
            queue = SqliteQueue(file, clock=self.world.clock, synchronous="normal")
            core = await self.process(queue=Down(queue, down=True, name="queue"))
            self.trace[-1] = f"{name}, the queue is down"
        with suppress(Killed):
            await self.try_to(act, core)
        await self.close(core)
        return None

    async def try_to(self, act: Act, core: MemoryCore) -> None:
        try:
            await act(core)
        except MemoryCoreError as error:
            self.refused[f"{act.__name__}: {error.status} {_NAMES.sub('…', error.detail)}"] += 1
            self.trace[-1] += f": {error.status} {error.detail[:80]}"

    async def close(self, core: MemoryCore) -> None:
        self.world.cores.remove(core)
        with suppress(Killed, MemoryCoreError):
            await core.close()

    def acts(self) -> list[Act]:
        return [
            *[self.save] * 4, *[self.gather] * 6, *[self.converse] * 4, *[self.append] * 3,
            *[self.retrieve] * 2, *[self.change] * 2, *[self.take_back] * 3, self.clear,
            *[self.forget] * 2, *[self.decide] * 2, *[self.flush] * 2, *[self.operate] * 3,
            *[self.steer] * 3, self.export, *[self.import_file] * 2, self.erase,
        ]  # fmt: skip

    def works(self) -> list[Act]:
        return [
            *[self.work] * 3, self.work_on_one, *[self.pass_hour] * 2, self.fan_out, self.sweep,
            self.restart,
        ]  # fmt: skip

    # What users do.

    def owner(self) -> Owner:
        return BOB if self.random.random() < self.share_of_bob else ALICE

    def call(self) -> Call:
        key = self.random.choice(KEYS) if self.random.random() < 0.4 else None
        return Call(idempotency_key=key)

    def text(self) -> str:
        self.words += 1
        saying = self.random.choice(SAYINGS).format(self.random.choice(CITIES))
        return f"{saying} word{self.words}x"

    def messages(self) -> list[dict[str, Any]]:
        roles = ("user", "assistant", "user")[: self.random.randint(1, 3)]
        now = self.world.clock.now().isoformat()
        times = {"timestamp": now} if self.random.random() < 0.3 else {}
        return [{"role": role, "content": self.text(), **times} for role in roles]

    def expect(self, owner: Owner, messages: Iterable[dict[str, Any]]) -> None:
        self.said[owner] |= {message["content"] for message in messages}

    async def save(self, core: MemoryCore) -> None:
        city, way = self.random.choice(CITIES), self.random.choice(WAYS)
        late = timedelta(days=DAYS_LATE[self.words % len(DAYS_LATE)])
        home: dict[str, Any] = {"event_timestamp": self.world.clock.now() - late, **SLOT}
        items = [
            fact(f"Ana lives in {city}", value=city, on_conflict=way, **home),
            fact(f"Ana likes {city} word{self.words}", importance=0.1),
            turn(self.text(), self.random.choice(SESSIONS), importance=0.06),
            rule("language", city),
        ]
        await core.save(self.owner(), self.random.choice(items), self.call())

    async def gather(self, core: MemoryCore) -> None:
        owner, messages = self.owner(), self.messages()
        asked = {"session_id": self.random.choice(SESSIONS), "messages": messages}
        await core.batch(owner, BatchInput.model_validate(asked), self.call())
        self.expect(owner, messages)

    async def converse(self, core: MemoryCore) -> None:
        owner, messages = self.owner(), self.messages()
        asked = {
            "session_id": self.random.choice([*SESSIONS, None]),
            "messages": messages,
            "callback_url": self.random.choice([None, "https://example.com/done"]),
        }
        await core.converse(owner, ConverseInput.model_validate(asked), self.call())
        self.expect(owner, messages)

    async def append(self, core: MemoryCore) -> None:
        owner, messages = self.owner(), self.messages()
        asked = {"messages": messages, "form": self.random.random() < 0.7}
        session = self.random.choice(SESSIONS)
        await core.append(owner, session, AppendInput.model_validate(asked), self.call())
        self.expect(owner, messages)

    async def retrieve(self, core: MemoryCore) -> None:
        query = f"Ana lives in {self.random.choice(CITIES)}"
        await core.retrieve(ALICE, RetrieveInput(query=query, limit=5))

    async def change(self, core: MemoryCore) -> None:
        if (memory := await self.chosen(core)) is None:
            return
        self.said[ALICE].discard(memory.content)
        name, kind = memory.id, self.random.choice(["update", "delete", "restore", "undo"])
        if kind == "update":
            await core.update(ALICE, name, UpdateInput(content=self.text()), "*")
        elif kind == "delete":
            await core.delete(ALICE, name)
        elif kind == "restore":
            await core.set_status(ALICE, name, StatusInput(status=Status.ACTIVE, reason="again"))
        else:
            await core.restore(ALICE, name)

    async def chosen(self, core: MemoryCore) -> Memory | None:
        category = self.random.choice([None, None, MESSAGE])
        memories = await listed(core, ALICE, status="all", category=category)
        return self.random.choice(memories) if memories else None

    async def take_back(self, core: MemoryCore) -> None:
        self.said[ALICE].clear()
        session, count = self.random.choice(SESSIONS), self.random.choice([None, None, 1, 3])
        await core.take_back(ALICE, session, count, self.call())

    async def clear(self, core: MemoryCore) -> None:
        self.said[ALICE].clear()
        kind = self.random.choice([None, None, "episodic"])
        asked = {"session_id": self.random.choice(SESSIONS), "type": kind}
        await core.clear(ALICE, ClearInput.model_validate(asked), self.call())

    async def forget(self, core: MemoryCore) -> None:
        self.said[ALICE].clear()
        asked: dict[str, Any] = {"session_id": self.random.choice(SESSIONS)}
        if (memory := await self.chosen(core)) is not None and self.random.random() < 0.7:
            asked = {"filter": {"ids": [memory.id]}}
        asked["mode"] = self.random.choice(self.ways_to_forget)
        await core.forget(ALICE, ForgetInput.model_validate(asked), self.call())

    async def decide(self, core: MemoryCore) -> None:
        records = await (await self.world.look_on()).page(ALICE, "conflict", None, None, 100)
        if not records:
            return
        record = self.random.choice(records)
        if record.body["status"] == "pending":
            await core.resolve_conflict(ALICE, record.id, asking(self.random.choice(DECISIONS)))
        else:
            await core.undo_conflict(ALICE, record.id)

    async def flush(self, core: MemoryCore) -> None:
        await core.batch_flush(self.owner(), self.random.choice(SESSIONS), self.call())

    async def operate(self, core: MemoryCore) -> None:
        session, call = self.random.choice([None, *SESSIONS]), self.call()
        kind = self.random.choice(["consolidate", "consolidate", "decay", "archive"])
        if kind == "consolidate":
            await core.consolidate(ALICE, ConsolidateInput(session_id=session), call)
        elif kind == "decay":
            await core.decay(ALICE, DecayInput(session_id=session), call)
        else:
            await core.archive(ALICE, ArchiveInput(session_id=session), call)

    async def steer(self, core: MemoryCore) -> None:
        owner = self.random.choice([ALICE, ALICE, BOB])
        tasks = await tasks_of(self.world, owner)
        if not tasks:
            return
        unfinished = [task for task in tasks if not task.finished]
        task = self.random.choice([*unfinished * 3, *tasks])
        self.said[owner].clear()
        steer = self.random.choice([core.cancel, core.retry])
        self.trace[-1] += f": {steer.__name__} {task.kind}, {task.status}, {task.step}"
        await steer(owner, task.task_id)

    async def export(self, core: MemoryCore) -> None:
        await core.export(ALICE, self.call())

    async def import_file(self, core: MemoryCore) -> None:
        """Keep the files of finished exports, and import one, or begin an import alone."""
        for task in await tasks_of(self.world, ALICE):
            if task.kind == "export" and task.status == "succeeded":
                with suppress(MemoryCoreError):
                    self.files.append(await fetched(core, task))
        owner = self.random.choice([ALICE, BOB, BOB])
        if self.files and self.random.random() < 0.8:
            await gathered(core, self.random.choice(self.files), owner)
        elif self.random.random() < 0.2:
            await core.begin_import(owner, ImportInput())

    async def erase(self, core: MemoryCore) -> None:
        if self.random.random() < 0.4:
            owner = self.random.choice([ALICE, BOB])
            self.said[owner].clear()
            await core.erase(owner, self.call())

    # What the service does.

    async def work(self, core: MemoryCore) -> None:
        for queue in QUEUES:
            await Hand(core, queue).work_all()
            await Hand(core, queue + POISON).work_all()

    async def work_on_one(self, core: MemoryCore) -> None:
        hand = Hand(core, self.random.choice(QUEUES))
        for delivery in await hand.take(1):
            await hand.work(delivery)

    async def pass_hour(self, core: MemoryCore) -> None:
        await core.flush_accesses()
        await core.fan_out()
        await core.sweep()
        await core.sweep_files()
        await self.work(core)

    async def fan_out(self, core: MemoryCore) -> None:
        await core.fan_out()
        await core.fan_out()

    async def sweep(self, core: MemoryCore) -> None:
        await core.sweep()
        await core.sweep()

    async def restart(self, core: MemoryCore) -> None:
        if core is self.core:
            await self.close(core)
            self.core = await self.process()

    async def wait(self) -> None:
        """Let some hours pass in which users do nothing."""
        for _ in range(QUIET_HOURS):
            await self.pass_hour(self.core)
            for _ in range(4):
                self.world.clock.forward(HOUR / 4)
                await self.work(self.core)


async def tasks_of(world: World, owner: Owner) -> list[Task]:
    """The tasks of a user, the newest first."""
    store = await world.look_on()
    head = (await store.snapshot(owner)).head
    documents = await store.page(owner, "task", None, None, 1_000)
    tasks = (task_in(document, head) for document in documents)
    return [stored.task for stored in tasks if stored is not None]


class Remains:
    """What of a user's work is left undone, though nothing will happen any more."""

    def __init__(self, world: World, owner: Owner, head: Head, tasks: list[Task]) -> None:
        self.world, self.owner, self.head, self.tasks = world, owner, head, tasks
        self.unfinished = [task for task in tasks if not task.finished]
        self.now = world.clock.now()

    async def all(self) -> AsyncIterator[str]:
        """Each piece, in words."""
        if self.head.state != "live":
            yield f"the user is {self.head.state}"
        for finding in (*self.of_tasks(), *await self.of_head()):
            yield finding
        for check in (self.of_buffers, self.of_conversations, self.of_operations, self.of_rest):
            async for finding in check():
                yield finding

    def of_tasks(self) -> Iterator[str]:
        if self.head.pending_tasks != len(self.unfinished):
            yield f"{self.head.pending_tasks} tasks are counted of {len(self.unfinished)}"
        for task in self.tasks:
            if task.status == "poisoned" or (not task.finished and not self.gathers_parts(task)):
                yield f"{task.kind} is {task.status} at {task.step}: {task.error}"

    def gathers_parts(self, task: Task) -> bool:
        """Whether it is an import that has a week's time for its parts."""
        due = task.next_enqueue_at
        return task.kind == "import" and due is not None and due > self.now

    async def of_head(self) -> list[str]:
        head, store, left = self.head, await self.world.look_on(), list[str]()
        if head.due_at is not None and head.due_at <= self.now:
            left.append(f"a run was due at {head.due_at}, it is {self.now}")
        events = await store.events(self.owner, head.consolidated_sequence, 100_000)
        if head.pending_operations:
            left.append(f"clears are half done: {head.pending_operations}")
        news = [event for event in events if event.actor != CONSOLIDATION]
        if news and (head.due_at is None or head.due_at > self.now + timedelta(days=1)):
            left.append(f"no run will read {len(news)} events; due {head.due_at}, it is {self.now}")
        return left

    async def of_buffers(self) -> AsyncIterator[str]:
        async for document in self.documents("buffer"):
            if document.body["messages"]:
                yield f"messages wait in a buffer since {document.body['last_append_at']}"

    async def of_conversations(self) -> AsyncIterator[str]:
        subjects = {task.subject_id for task in self.unfinished}
        async for document in self.documents("conversation"):
            state = document.body["state"]
            if state in ("pending", "poisoned") and document.id not in subjects:
                yield f"a conversation is {state}, and no task forms it"

    async def of_operations(self) -> AsyncIterator[str]:
        subjects = {task.subject_id for task in self.unfinished}
        async for document in self.documents("operation"):
            state = document.body.get("state")
            if state in ("pending", "cancelling", "poisoned") and document.id not in subjects:
                yield f"{document.body['kind']} is {state}, and no task does it"

    async def of_rest(self) -> AsyncIterator[str]:
        async for document in self.documents("delivery"):
            if document.body["state"] == "pending":
                yield "a delivery is pending"
        async for document in self.documents("accesses"):
            due_s = document.body["due_s"]
            if due_s is not None and not 0 <= due_s - self.now.timestamp() <= 3 * DAY:
                yield f"accesses are due at {due_s}, it is {self.now.timestamp()}"
        wrong = await differences(await self.world.look_on(), self.owner, self.now)
        if wrong:
            yield f"slots differ from their logs: {wrong[:2]}"

    async def documents(self, kind: Any) -> AsyncIterator[Document]:
        store = await self.world.look_on()
        for document in await store.page(self.owner, kind, None, None, 1_000):
            if document.body.get("epoch") in (None, self.head.epoch):
                yield document


async def left_undone(life: Life) -> list[str]:
    """What is left of a life whose quiet hours are over."""
    left, gathers = list[str](), False
    for owner in (ALICE, BOB):
        head = await life.world.head(owner)
        if head is None:
            continue
        remains = Remains(life.world, owner, head, await tasks_of(life.world, owner))
        gathers |= any(map(remains.gathers_parts, remains.unfinished))
        left += [f"{owner.user_id}: {finding}" async for finding in remains.all()]
        categories = (None, MESSAGE)
        known = {
            memory.content
            for category in categories
            for memory in await listed(life.core, owner, status="all", category=category)
        }
        # A hard delete that waited takes along what states the same later.
        if "hard" not in life.ways_to_forget and (lost := life.said[owner] - known):
            left.append(f"{owner.user_id}: said, and nowhere: {sorted(lost)[:3]}")
    for name in [name for queue in QUEUES for name in (queue, queue + POISON)]:
        if (length := await life.core.queue.length(name)) and not gathers:
            left.append(f"{length} messages are in the queue {name}")
    return left


class _Failures(logging.Handler):
    """Keeps what is logged as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.lines.append(f"logged: {record.getMessage()[:200]} {error!r}"[:600])


@contextmanager
def _failures() -> Iterator[list[str]]:
    logger, handler = logging.getLogger("memory_core"), _Failures()
    logger.addHandler(handler)
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)


async def left_of(life: Life) -> list[str]:
    """Live a life and wait; what is left undone, and what was logged as an error."""
    with _failures() as failures:
        try:
            await life.begin()
            await life.live()
            await life.wait()
            return [*await left_undone(life), *failures]
        finally:
            await life.world.close()


def check(folder: Path, seeds: Iterable[int]) -> None:
    """Fail at the first life of these seeds that leaves something undone."""
    for seed in seeds:
        life = Life(World(folder / str(seed)), seed, Counter())
        life.world.folder.mkdir()
        assert asyncio.run(left_of(life)) == [], f"seed {seed}"


def main() -> int:
    """Live lives as the arguments say."""
    parser = argparse.ArgumentParser(prog="python -m tests.quiet_lives")
    parser.add_argument("--lives", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print what was done in each life")
    asked = parser.parse_args()
    logging.getLogger("memory_core").propagate = False
    refused, wrong = Counter[str](), 0
    for seed in range(asked.first, asked.first + asked.lives):
        with tempfile.TemporaryDirectory() as folder:
            life = Life(World(Path(folder)), seed, refused)
            try:
                left = asyncio.run(left_of(life))
            except Exception as error:  # a 5xx, or a check that failed: the next life can be lived
                left = [f"{type(error).__name__}: {error}"[:2_000]]
        wrong += bool(left)
        for line in [*(life.trace if asked.show else ()), *left]:
            print(f"seed {seed}:", line, flush=True)  # noqa: T201
    print(f"{asked.lives} lives, {wrong} with something left undone")  # noqa: T201
    for reason, count in refused.most_common():
        print(f"{count:6} {reason}")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
