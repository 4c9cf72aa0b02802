"""Of an erased user no byte is left, in any store of either profile, whatever was about to be
written when it happened.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_core.adapters.redis.client import server
from memory_core.adapters.redis.store import RedisShortTermStore
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task, TaskMessage
from memory_core.domain.errors import MemoryCoreError
from memory_core.domain.requests.maintenance import ArchiveInput, BatchInput, ImportCommitInput
from memory_core.domain.requests.memories import RetrieveInput, UpdateInput
from memory_core.domain.results import Accepted
from memory_core.domain.scope import Owner
from memory_core.ports import LongTermStore, QueueName, ShortTermStore
from tests.agents import Gate, Gated, ScriptedAgents
from tests.azure_stores import AzureStores
from tests.azure_stores import running as azure_stores_running
from tests.builders import ALICE, StillClock
from tests.redis_server import in_process
from tests.remains import in_blobs, in_files, in_queues, in_redis, in_the_emulator
from tests.tasks import NOW, converse
from tests.world import Paused, fact, listed, rule, turn

DIMENSIONS = 64
SEARCHED = 20
ELSE = Owner("app", "somebody-else")


@dataclass
class Place:
    """All stores of one profile, and processes on them."""

    folder: Path
    stores: AzureStores | None
    settings: Settings
    clock: StillClock = field(default_factory=StillClock)
    redis: Any = None
    cores: list[MemoryCore] = field(default_factory=list)

    async def core(
        self,
        *,
        wrap: Callable[[LongTermStore], Any] = lambda store: store,
        short: Callable[[ShortTermStore], Any] = lambda store: store,
        agents: ScriptedAgents | None = None,
    ) -> MemoryCore:
        """One more process; all of them share one Redis, and what is in files."""
        made = Adapters.of(self.settings, self.clock, lambda units: None)
        if self.redis is None:
            self.redis = (in_process() if self.stores is None else server(self.stores.redis.url))()
        short_term = RedisShortTermStore(lambda: self.redis, self.clock, timeout_s=None)
        agents = agents or ScriptedAgents()
        adapters = replace(
            made,
            long_term=wrap(made.long_term),
            short_term=short(short_term),
            agents=agents,
            rules=agents,
        )
        with_redis = self.settings.model_copy(update={"short_term": "redis"})
        core = MemoryCore(with_redis, clock=self.clock, adapters=adapters)
        await core.open()
        self.cores.append(core)
        return core

    async def left_of(self, phrases: list[str], core: MemoryCore) -> list[str]:
        """Wherever one of the phrases still is."""
        places = in_files(self.folder / "data", phrases)
        places += await in_redis(self.redis, phrases)
        places += await in_blobs(core._services.adapters.archive, phrases)
        places += await in_queues(core.queue, phrases)
        if self.stores is not None:
            places += in_the_emulator(self.folder / "azure" / "cosmos.db", phrases)
        return places


@pytest.fixture(params=["embedded", "azure"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    given: dict[str, Any] = {
        "EMBEDDING_PROVIDER": "hash",
        "EMBEDDING_DIMENSIONS": str(DIMENSIONS),
        "MEMORY_DATA": str(tmp_path / "data"),
    }
    if request.param == "embedded":
        place = Place(tmp_path, None, Settings.from_env(given))
        yield place
        await closed(place)
        return
    (tmp_path / "azure").mkdir()
    with azure_stores_running(tmp_path / "azure") as stores:
        await stores.provision(DIMENSIONS)
        place = Place(tmp_path, stores, Settings.from_env({**given, **stores.settings()}))
        yield place
        await closed(place)


async def closed(place: Place) -> None:
    for core in place.cores:
        await core.close()


async def worked(
    core: MemoryCore, task_id: str, queue: QueueName = "consolidation", owner: Owner = ALICE
) -> None:
    """Do what a message of this task asks for."""
    task = await core.task(owner, task_id)
    message = TaskMessage(
        app_id=owner.app_id, user_id=owner.user_id, task_id=task_id, generation=task.generation
    )
    await core.work(message.model_dump_json(), queue)


def phrase() -> str:
    return f"{secrets.token_hex(5)} {secrets.token_hex(5)}"


async def filled(place: Place, core: MemoryCore, count: int) -> list[str]:
    """Many memories of every kind, versions, chains, a conversation, a batch, accesses, and one in
    the archive; the phrases in them.
    """
    cold = phrase()
    await core.save(ALICE, fact(f"Long ago it was {cold}"))
    place.clock.moment += timedelta(days=4_000)
    accepted = await core.archive(ALICE, ArchiveInput())
    assert isinstance(accepted, Accepted)
    await worked(core, accepted.task_id)
    phrases = [phrase() for _ in range(count)]
    for start in range(0, count, 100):
        await core.bulk(
            ALICE,
            [
                turn(f"I said {phrase_said}", session=f"s{at % 9}")
                for at, phrase_said in enumerate(phrases[start : start + 100])
            ],
        )
    odd = [phrase() for _ in range(14)]
    city, home, key, held_phrase, batch, told_phrase, *_ = odd
    await core.save(
        ALICE,
        fact(
            f"Ana lives in {city}",
            subject=f"Ana {odd[6]}",
            attribute="city",
            tags=[odd[7]],
            session_id="s1",
        ),
    )
    await core.save(
        ALICE,
        fact(
            f"Ana lives in {home}",
            subject=f"Ana {odd[6]}",
            attribute="city",
            metadata={"note": odd[8]},
        ),
    )
    await core.save(ALICE, rule(f"key {odd[9]}", key))
    await core.save(ALICE, rule(f"key {odd[9]}", f"other {odd[10]}"))
    memory = (await core.save(ALICE, fact(f"The hive is {held_phrase}"))).memory
    await core.update(
        ALICE, memory.id, UpdateInput(content=f"The hive was painted {odd[11]}"), memory.etag
    )
    await core.batch(
        ALICE, BatchInput.model_validate({"session_id": "s2", "messages": [message(batch)]})
    )
    await worked(
        core, (await converse(core, f"I live in {odd[12]}", f"{told_phrase}")).task_id, "formation"
    )
    await core.retrieve(ALICE, RetrieveInput(query=city, session_id="s1"))
    await core.delete(ALICE, memory.id)
    return [cold, *phrases, *odd[:13]]


def message(content: str) -> dict[str, str]:
    return {"role": "user", "content": content, "timestamp": NOW.isoformat()}


async def a_file(core: MemoryCore) -> tuple[bytes, list[str]]:
    """An export of another user, to be uploaded; the phrases in it."""
    phrases = [phrase() for _ in range(3)]
    for phrase_said in phrases:
        await core.save(ELSE, turn(f"I read {phrase_said}"))
    accepted = await core.export(ELSE)
    await worked(core, accepted.task_id, owner=ELSE)
    task = await core.task(ELSE, accepted.task_id)
    assert task.result is not None
    return b"".join(
        [await core.export_part(ELSE, task.task_id, n + 1) for n in range(task.result["parts"])]
    ), phrases


async def import_paused(
    place: Place, core: MemoryCore, file: bytes
) -> tuple[Gate, asyncio.Task[None]]:
    """An import whose worker is about to publish."""
    task_id = (await core.begin_import(ALICE)).task_id
    await core.import_part(ALICE, task_id, 1, file)
    await core.commit_import(
        ALICE, task_id, ImportCommitInput(parts=1, sha256=hashlib.sha256(file).hexdigest())
    )
    gate = Gate("commit", skip=2)
    working = asyncio.create_task(
        worked(await place.core(wrap=lambda store: Gated(store, gate)), task_id)
    )
    await gate.reached.wait()
    return gate, working


async def others_paused(
    place: Place, core: MemoryCore, phrases: list[str]
) -> list[tuple[Callable[[], None], asyncio.Task[Any]]]:
    """A formation, an agent's answer, a restore, a save, an export and a write-back,
    each right before its last write.
    """
    told_phrases = [phrase() for _ in range(4)]
    phrases += told_phrases
    gates = {name: Gate("commit") for name in ("formation", "restore", "save", "export")}
    cores = {
        name: await place.core(wrap=lambda store, at=gate: Gated(store, at))
        for name, gate in gates.items()
    }
    (stub,) = await listed(core, status="archived")
    forming = (await converse(core, f"I keep {told_phrases[0]}")).task_id
    exporting = (await core.export(ALICE)).task_id
    paused: list[tuple[Callable[[], None], asyncio.Task[Any]]] = []

    async def pause(name: str, work: Any) -> None:
        paused.append((gates[name].open, asyncio.create_task(work)))
        await gates[name].reached.wait()

    await pause("formation", worked(cores["formation"], forming, "formation"))
    await pause("restore", cores["restore"].restore(ALICE, stub.id))
    await pause("save", cores["save"].save(ALICE, turn(f"I hear {told_phrases[1]}")))
    await pause("export", worked(cores["export"], exporting))
    answer = Gate("summary")
    asked = (await converse(core, f"I fear {told_phrases[2]}")).task_id
    paused.append(
        (
            answer.open,
            asyncio.create_task(
                worked(await place.core(agents=ScriptedAgents(before=answer)), asked, "formation")
            ),
        )
    )
    await answer.reached.wait()
    write_backs: list[Paused] = []
    writer = await place.core(
        short=lambda store: write_backs.append(Paused(store)) or write_backs[0]
    )
    write_backs[0].hold()
    paused.append(
        (
            write_backs[0].release,
            asyncio.create_task(writer.save(ALICE, turn(f"I see {told_phrases[3]}"))),
        )
    )
    await write_backs[0].waiting.wait()
    return paused


async def erased(place: Place, core: MemoryCore) -> Task:
    """The whole of it; and the erasure is done before anybody who was late goes on."""
    accepted = await core.erase(ALICE)
    await worked(core, accepted.task_id)
    place.clock.forward(3600)
    await worked(core, accepted.task_id)
    task = await core.task(ALICE, accepted.task_id)
    assert task.status == "succeeded", task
    return task


@pytest.mark.parametrize("count", [200, pytest.param(5_000, marks=pytest.mark.long)])
async def test_not_a_byte_is_left_whoever_was_about_to_write(
    place: Place, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    core = await place.core()
    file, brought = await a_file(core)
    gate, importing = await import_paused(place, core, file)
    phrases = await filled(place, core, count)
    paused = [(gate.open, importing), *await others_paused(place, core, phrases)]
    looked_for = [phrases[0], *random.sample(phrases, SEARCHED), *phrases[-20:]]
    assert len(await place.left_of(phrases[:2], core)) >= 2, (
        "they are found while they are there, in the archive too"
    )
    caplog.clear()

    task = await erased(place, core)
    assert task.result is not None
    assert task.result["counts"]["memory"] >= count
    early = await place.left_of(looked_for, core)
    for release, _ in paused:
        release()
    ended = await asyncio.gather(*(outcome for _, outcome in paused), return_exceptions=True)
    assert all(outcome is None or isinstance(outcome, MemoryCoreError) for outcome in ended[:5]), (
        ended
    )
    late = await place.left_of(looked_for, core)
    assert (early, late) == ([], [])
    assert not [phrase_logged for phrase_logged in looked_for if phrase_logged in caplog.text]

    await core.save(ALICE, turn("I begin anew", session="s1"))
    for process in place.cores:
        answer = await process.retrieve(
            ALICE,
            RetrieveInput(query=f"I said {phrases[0]}", session_id="s1", similarity_threshold=0.0),
        )
        assert [hit.memory.content for hit in answer.results] in ([], ["I begin anew"])
        assert [memory.content for memory in await listed(process, status="all")] == [
            "I begin anew"
        ]
        assert len((await process.sessions(ALICE)).sessions) == 1
    assert len(await listed(core, ELSE, status="all")) == len(brought)


async def test_the_receipt_tells_of_every_key_in_redis_that_names_the_user(place: Place) -> None:
    core = await place.core()
    await core.save(ALICE, turn("I keep bees", session="s1"))
    await core.retrieve(
        ALICE, RetrieveInput(query="bees", session_id="s1", similarity_threshold=0.0)
    )
    task = await erased(place, core)
    assert task.result is not None
    left = [key async for key in place.redis.scan_iter() if ALICE.user_id.encode() in key]
    messages = [
        text
        for text in task.result["remains"]
        if "Redis" in text and "user's id" in text and "8 days" in text
    ]
    assert (len(left), len(messages)) == (1, 1)
    assert 0 < await place.redis.ttl(left[0]) <= 8 * 24 * 3600
