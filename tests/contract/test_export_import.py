"""What is exported is everything, as of one moment; what is brought in is the same again, or nothing."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, NotFound
from memory_core.domain.people_requests import ImportCommitInput
from memory_core.domain.requests import RetrieveInput, UpdateInput
from memory_core.domain.results import Accepted
from memory_core.domain.scope import Owner
from memory_core.domain.task import Task, TaskMessage
from memory_core.domain.upkeep_requests import ConsolidateInput, ForgetFilter, ForgetInput
from memory_core.ports import LongTermStore
from tests.builders import ALICE
from tests.cold import archived, blobs, years_go_by
from tests.conflicts import open_conflict, warring
from tests.mortal import Moment, Mortal
from tests.tasks import MADE, Hand, converse, ended
from tests.world import BOB, Killed, World, fact, listed, rule, turn

ELSEWHERE = Owner("another-app", "carol")
Lines = list[dict[str, Any]]


async def worked(world: World, core: MemoryCore, task_id: str, owner: Owner = ALICE) -> Task:
    """The task, done; one that found others writing has waited for a minute."""
    return await ended(world, core, task_id, owner, apart_s=61)


async def exported(world: World, core: MemoryCore, owner: Owner = ALICE) -> bytes:
    """The whole file."""
    task = await worked(world, core, (await core.export(owner)).task_id, owner)
    assert task.status == "succeeded", task.error
    return await fetched(core, task, owner)


async def fetched(core: MemoryCore, task: Task, owner: Owner = ALICE) -> bytes:
    assert task.result is not None
    parts = [await core.export_part(owner, task.task_id, number) for number in range(1, task.result["parts"] + 1)]
    assert all(len(part) <= 2**20 and part.endswith(b"\n") for part in parts)
    file = b"".join(parts)
    assert (len(file), hashlib.sha256(file).hexdigest()) == (task.result["bytes"], task.result["sha256"])
    return file


async def brought(world: World, core: MemoryCore, file: bytes, owner: Owner = BOB, size: int = 2**20) -> Task:
    """The task of its import, done or refused. size: of a part."""
    task_id = await gathered(core, file, owner, size)
    return await worked(world, core, task_id, owner)


async def gathered(core: MemoryCore, file: bytes, owner: Owner = BOB, size: int = 2**20) -> str:
    task_id = (await core.begin_import(owner)).task_id
    parts = [file[at : at + size] for at in range(0, len(file), size)]
    for number, part in reversed([*enumerate(parts, 1)]):
        await core.import_part(owner, task_id, number, part)
    await core.commit_import(owner, task_id, ImportCommitInput(parts=len(parts), sha256=hashlib.sha256(file).hexdigest()))
    return task_id


def parsed(file: bytes) -> tuple[dict[str, Any], Lines]:
    """The first line, and all others."""
    first, *others = [orjson.loads(line) for line in file.splitlines()]
    return first, others


def of_kind(lines: Lines, kind: str) -> Lines:
    return [line for line in lines if line["kind"] == kind]


async def filled(core: MemoryCore) -> None:
    """One of everything that is easily made."""
    await core.save(ALICE, turn("I keep bees", actor="Ana"))
    await core.save(ALICE, turn("They make honey", actor="Ana"))
    await core.save(ALICE, fact("Ana lives in Lisbon", subject="Ana", attribute="city"))
    await core.save(ALICE, fact("Ana lives in Porto", subject="Ana", attribute="city"))
    await core.save(ALICE, rule("language", "pt"))
    await core.save(ALICE, rule("language", "en"))
    told = (await core.save(ALICE, fact("The hive is blue", session_id="s2"))).memory
    changed = await core.update(ALICE, told.id, UpdateInput(content="The hive is green 🐝"), told.etag)
    await core.delete(ALICE, (await core.save(ALICE, turn("forget this", session="s3"))).memory.id)
    assert changed.version == 2
    await converse(core)
    await Hand(core).work_all()


async def more(core: MemoryCore) -> None:
    """So much that it takes several commits to bring it in."""
    await core.bulk(ALICE, [turn(f"note {number}", session=f"s{number % 7}") for number in range(90)])


async def test_what_comes_back_out_of_another_app_and_user_is_the_same(world: World) -> None:
    core = await world.core()
    await filled(core)
    file = await exported(world, core)
    task = await brought(world, core, file, ELSEWHERE, size=3_000)
    assert task.status == "succeeded", task.error
    first, lines = parsed(file)
    copied = await exported(world, core, ELSEWHERE)
    again, same = parsed(copied)
    assert same == lines
    assert copied.splitlines()[1:] == file.splitlines()[1:]
    changing = ("app_id", "user_id", "exported_at")
    assert {name: value for name, value in again.items() if name not in changing} == {
        name: value for name, value in first.items() if name not in changing
    }
    assert (again["app_id"], again["user_id"]) == ELSEWHERE
    assert first["counts"]["memory"] == len(of_kind(lines, "memory")) == 10
    assert not any(word in file for word in (b"embedding", b"epoch"))


async def test_what_was_found_and_looked_at_by_a_run_comes_back_out_the_same_and_the_runs_report_with_it(world: World) -> None:
    core = await warring(world)
    await filled(core)
    await open_conflict(core)
    assert (await core.retrieve(ALICE, RetrieveInput(query="the big old server"))).results
    assert await core.flush_touches() > 0
    begun = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(begun, Accepted)
    await worked(world, core, begun.task_id)
    file = await exported(world, core)
    _, lines = parsed(file)
    assert any(line["body"]["access_count"] for line in of_kind(lines, "memory"))
    assert any(line["body"]["looked_at"] for line in of_kind(lines, "conflict"))
    assert len(of_kind(lines, "run")) == 1
    task = await brought(world, core, file, ELSEWHERE)
    assert task.status == "succeeded", task.error
    assert (await exported(world, core, ELSEWHERE)).splitlines()[1:] == file.splitlines()[1:]


async def test_what_was_brought_in_works_like_what_it_was(world: World) -> None:
    core = await world.core()
    await filled(core)
    await brought(world, core, await exported(world, core))
    for ask in (
        lambda owner: listed(core, owner, status="all"),
        lambda owner: listed(core, owner),
    ):
        here, there = await ask(ALICE), await ask(BOB)
        assert [(one.id, one.content, one.status) for one in there] == [(one.id, one.content, one.status) for one in here]
    assert (await core.procedure(BOB, "language")).value == "en"
    assert (await core.save(BOB, rule("language", "fr"))).memory.version == 3
    assert (await core.save(BOB, turn("They sting", actor="Ana"))).memory.session_id == "s1"
    before, after = (await core.session(ALICE, "s1")).counts, (await core.session(BOB, "s1")).counts
    assert after == {**before, "episodic": before["episodic"] + 1}
    here, there = await core.get(ALICE, (await listed(core))[0].id), await core.get(BOB, (await listed(core))[0].id)
    assert here.embedding is not None
    assert there.embedding is not None
    assert here.embedding.tolist() == there.embedding.tolist()


async def test_a_document_longer_than_a_part_comes_in_pieces(world: World) -> None:
    core = await world.core()
    messages = [f"{number} " + 'é"' * 9_000 for number in range(40)]
    await converse(core, *messages)
    file = await exported(world, core)
    assert len([line for line in parsed(file)[1] if "piece" in line]) > 2
    task = await brought(world, core, file)
    assert task.status == "succeeded", task.error
    assert (await exported(world, core, BOB)).splitlines()[1:] == file.splitlines()[1:]


async def test_what_was_waiting_to_be_formed_is_formed_where_it_was_brought(world: World) -> None:
    core = await world.core()
    await converse(core)
    file = await exported(world, core)
    assert (await brought(world, core, file)).status == "succeeded"
    world.clock.forward(3600)
    assert (await core.sweep()).sent >= 1
    await Hand(core).work_all()
    assert sorted(one.content for one in await listed(core, BOB)) == MADE
    head = await world.head(BOB)
    assert head is not None
    assert head.pending_tasks == 0


async def test_an_unknown_user_has_nothing_to_export(world: World) -> None:
    core = await world.core()
    with pytest.raises(NotFound):
        await core.export(ALICE)
    assert await world.head() is None, "asking makes nobody known"


async def test_parts_can_be_fetched_once_the_export_is_done_and_for_seven_days(world: World) -> None:
    core = await world.core()
    await core.save(ALICE, turn("I keep bees"))
    accepted = await core.export(ALICE)
    with pytest.raises(Conflict):
        await core.export_part(ALICE, accepted.task_id, 1)
    task = await worked(world, core, accepted.task_id)
    assert task.result is not None
    for wrong in (0, task.result["parts"] + 1):
        with pytest.raises(NotFound):
            await core.export_part(ALICE, task.task_id, wrong)
    with pytest.raises(NotFound):
        await core.export_part(BOB, task.task_id, 1)
    world.clock.forward(9 * 24 * 3600)
    assert await core.sweep_files() == task.result["parts"]
    with pytest.raises(NotFound):
        await core.export_part(ALICE, task.task_id, 1)
    assert await core.sweep_files() == 0


async def test_what_is_written_while_the_file_is_made_is_in_it_whole_or_not_at_all(world: World) -> None:
    """Between any two reads of the export somebody saves, edits, supersedes, deletes. The file is what one moment held."""
    writer = await world.core()
    await filled(writer)
    turns = iter(range(1000))

    async def write() -> None:
        number = next(turns)
        if number > 24:
            return
        match number % 4:
            case 0:
                await writer.save(ALICE, fact(f"Ana lives in city {number}", subject="Ana", attribute="city", session_id=f"s{number}"))
            case 1:
                await writer.save(ALICE, rule("language", f"l{number}"))
            case 2:
                await writer.save(ALICE, turn(f"And then {number}"))
            case _:
                await writer.delete(ALICE, (await listed(writer))[-1].id)

    core = await world.core(wrap=lambda store: Between(store, write))
    first, lines = parsed(await exported(world, core))
    assert next(turns) > 24, "it was interrupted all the time"
    assert_consistent(first, lines)


@pytest.mark.parametrize("at", [2, 6, 10])
async def test_what_is_forgotten_for_good_while_the_file_is_made_is_not_in_it(world: World, at: int) -> None:
    """Before the `at`-th page that is read: some of the log is in the file by then, some is not."""
    writer = await world.core()
    await filled(writer)
    (bees,) = [one for one in await listed(writer) if "bees" in one.content]

    async def forget() -> None:
        asked = ForgetInput(filter=ForgetFilter(ids=[bees.id]), mode="hard")
        await writer.forget(ALICE, asked)
        await Hand(writer, "consolidation").work_all()

    store: list[Before] = []
    core = await world.core(wrap=lambda inner: store.append(Before(inner, "page", forget)) or store[0])
    accepted = await core.export(ALICE)
    store[0].left = at
    message = TaskMessage(app_id=ALICE.app_id, user_id=ALICE.user_id, task_id=accepted.task_id, generation=0)
    await core.work(message.model_dump_json(), "consolidation")
    file = await fetched(core, await worked(world, core, accepted.task_id))
    assert b"bees" not in file
    assert (await brought(world, core, file)).status == "succeeded", "what is left of it is a whole"
    assert (await exported(world, core, BOB)).splitlines()[1:] == file.splitlines()[1:]


def assert_consistent(first: dict[str, Any], lines: Lines) -> None:
    """Every memory is as its last event left it; sessions count what is there; nothing is there that the log does not tell of."""
    events = [line["body"] for line in of_kind(lines, "event")]
    assert [event["sequence"] for event in events] == list(range(1, first["sequence"] + 1))
    last: dict[str, dict[str, Any]] = {}
    for event in events:
        last[event["memory_id"]] = event
    memories = {line["id"]: line["body"] for line in of_kind(lines, "memory")}
    assert memories.keys() == last.keys()
    for identity, event in last.items():
        assert memories[identity]["revision"] == event["sequence"], identity
        said = {name: value for name, value in event["after"].items() if name != "atomic_facts"}  # in events without what is not set
        assert {name: memories[identity][name] for name in said} == said
    for line in of_kind(lines, "session"):
        held = [one["type"] for one in memories.values() if one["session_id"] == line["id"] and one["status"] != "deleted"]
        assert {kind: count for kind, count in line["body"]["counts"].items() if count} == Counter(held)
    for identity, body in memories.items():
        versions = [line["id"] for line in of_kind(lines, "version") if line["id"].startswith(f"{identity}.v")]
        assert len(versions) == body["version"] - 1


@dataclass
class Between:
    """A store before each of whose reads something else happens."""

    inner: LongTermStore
    then: Callable[[], Awaitable[None]]
    busy: bool = False

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if name not in ("page", "snapshot", "events"):
            return found

        async def late(*args: Any, **options: Any) -> Any:
            if not self.busy:
                self.busy = True
                await self.then()
                self.busy = False
            return await found(*args, **options)

        return late


def changed(file: bytes, change: Callable[[Lines], None]) -> bytes:
    """The file with its lines changed; the first line stays as it is unless that is what is changed."""
    lines = [orjson.loads(line) for line in file.splitlines()]
    change(lines)
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


def place(lines: Lines, kind: str, number: int = 0) -> int:
    return [at for at, line in enumerate(lines) if line.get("kind") == kind][number]


def setting(kind: str, name: str, value: Any) -> Callable[[Lines], None]:
    """Another value in the first document of a kind."""

    def change(lines: Lines) -> None:
        lines[place(lines, kind)]["body"][name] = value

    return change


def naming(kind: str, identity: str) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        line = lines[place(lines, kind)]
        line["id"] = line["body"]["id"] = identity

    return change


def without(kind: str, number: int = 0) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        del lines[place(lines, kind, number)]

    return change


def without_counted(kind: str) -> Callable[[Lines], None]:
    """One document less, and the first line says so too."""

    def change(lines: Lines) -> None:
        without(kind)(lines)
        lines[0]["counts"][kind] -= 1

    return change


def twice(lines: Lines) -> None:
    lines.insert(2, lines[1])


def in_a_circle(lines: Lines) -> None:
    first, second = lines[1]["body"], lines[2]["body"]
    first["next_id"], second["next_id"] = second["id"], first["id"]


TAMPERED: dict[str, tuple[Callable[[Lines], None], str]] = {
    "another format": (lambda lines: lines[0].update(format="x"), "line 1: this is not an export"),
    "another version": (lambda lines: lines[0].update(version=2), "line 1: `version` is 2"),
    "an unknown kind counted": (lambda lines: lines[0]["counts"].update(task=1), "line 1: `counts` names task"),
    "an unknown kind": (lambda lines: lines[1].update(kind="task"), "line 2: is no document"),
    "a field too many": (lambda lines: lines[1].update(x=1), "line 2: is no document"),
    "an unknown field": (setting("memory", "colour", "red"), "line 2: memory .*colour"),
    "a wrong type": (setting("memory", "confidence", "high"), "line 2: memory .*confidence"),
    "too long a text": (setting("memory", "content", "x" * 40_000), "line 2: memory .*content"),
    "another text": (setting("memory", "content", "I keep wasps"), r"line 2: mem_\w+: content: is not what the log tells of it"),
    "another text of an old version": (setting("version", "content", "x"), r"line \d+: mem_\w+: content: is not what the log tells of it"),
    "another text in the log": (
        lambda lines: lines[place(lines, "event")]["body"]["after"].update(content="I keep wasps"),
        r"line \d+: mem_\w+: content: is not what the log tells of it",
    ),
    "an event said to be forgotten": (setting("event", "redacted", True), r"line 2: by the log there is no mem_\w+"),
    "a beginning that says nothing": (setting("event", "after", {}), r"line 2: by the log there is no mem_\w+"),
    "a conflict with a stranger": (setting("conflict", "old_id", "mem_stranger"), r"line \d+: refers to mem_stranger"),
    "a stranger in a conflict": (setting("conflict", "new_id", "mem_stranger"), r"line \d+: refers to mem_stranger"),
    "another revision": (setting("memory", "revision", 2), r"line 2: no event 2 of the log tells of mem_\w+"),
    "another id within": (setting("memory", "id", "mem_other"), "line 2: memory .* is called mem_other within"),
    "the head": (naming("memory", "head"), "line 2: 'head' is no id of a memory"),
    "a task's id": (naming("conflict", "tsk_1"), r"line \d+: 'tsk_1' is no id of a conflict"),
    "twice": (twice, "line 3: memory .* comes twice"),
    "a stranger": (setting("memory", "supersedes_id", "mem_stranger"), "line 2: refers to mem_stranger"),
    "a circle": (in_a_circle, "by itself"),
    "a later revision": (setting("memory", "revision", 10_000), "line 2: revision: the log ends"),
    "a hole in the log": (without("event", 3), r"line \d+: event .* sequence: is 5, where the log goes on with 4"),
    "a truncated log": (without("event", -1), r"line \d+: the file ends here with \d+ of the kind event"),
    "one memory less": (without("memory"), r"line \d+: the file ends here with \d+ of the kind memory"),
    "one memory less, and counted so": (without_counted("memory"), r"line \d+: refers to mem_\w+, which is not in this file"),
    "a version of nobody": (naming("version", "mem_nobody.v1"), r"line \d+: refers to mem_nobody"),
    "an unknown field of an event": (setting("event", "colour", "red"), r"line \d+: event .*colour"),
    "a field of an event that no memory has": (lambda lines: lines[place(lines, "event")]["body"]["after"].update(di=1), "after: di"),
    "a value that no memory could have": (
        lambda lines: lines[place(lines, "event")]["body"]["after"].update(confidence="high"),
        "confidence",
    ),
    "time that goes back": (setting("event", "occurred_at", "2999-01-01T00:00:00Z"), r"line \d+: event .*occurred_at"),
    "messages of no conversation": (without_counted("conversation"), r"line \d+: cnv_\w+ belongs to a conversation"),
    "a turn that is none": (
        lambda lines: lines[place(lines, "session")]["body"].update(last_turns=[{"di": "mem_1"}]),
        r"line \d+: session s1: last_turns",
    ),
    "a session of another name": (setting("session", "session_id", "s9"), r"line \d+: session s1: is called s9 within"),
}


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
@pytest.mark.parametrize("what", TAMPERED)
async def test_a_file_that_was_tampered_with_is_refused_whole_with_the_line(world: World, what: str, adapter: str) -> None:
    change, reason = TAMPERED[what]
    core = await world.core()
    await filled(core)
    task = await brought(world, core, changed(await exported(world, core), change))
    await assert_refused(world, core, task, reason)
    assert await brought(world, core, await exported(world, core)), "the user is as empty as before"


async def assert_refused(world: World, core: MemoryCore, task: Task, reason: str) -> None:
    """Nothing is visible, nothing is left lying."""
    assert task.status == "failed"
    assert task.error is not None
    assert re.search(reason, task.error), task.error
    assert await listed(core, BOB, status="all") == []
    assert await world.log(BOB) == []
    onlooker = await world.look_on()
    assert [one for one in await onlooker.strays(BOB, 100) if one.kind not in ("task", "operation")] == []
    assert not [one for one in await blobs(world) if one.startswith("people/") and task.task_id in one]
    with pytest.raises(Conflict):
        await core.retry(BOB, task.task_id)


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_text_that_is_no_json_a_cut_file_and_another_hash_are_refused(world: World, adapter: str) -> None:
    core = await world.core()
    await filled(core)
    file = await exported(world, core)
    lines = file.splitlines(keepends=True)
    for broken, reason in (
        (lines[0] + b"{nonsense}\n", "line 2: is not JSON"),
        (lines[0] + b"[]\n", "line 2: is no JSON object"),
        (b"\n", "line 1: is not JSON"),
        (file[: len(file) // 2], r"line \d+: is not JSON"),
        (b"".join(lines[:-2]), r"line \d+: the file ends here"),
        (lines[0] + lines[1].replace(b"bees", b"\\u0000"), "line 2: holds the NUL character"),
    ):
        await assert_refused(world, core, await brought(world, core, broken), reason)
    task_id = (await core.begin_import(BOB)).task_id
    await core.import_part(BOB, task_id, 1, file)
    await core.commit_import(BOB, task_id, ImportCommitInput(parts=1, sha256="0" * 64))
    await assert_refused(world, core, await worked(world, core, task_id, BOB), "have the SHA-256")


async def test_a_part_that_is_brought_again_replaces_itself_and_none_may_be_missing(world: World) -> None:
    core = await world.core()
    await filled(core)
    file = await exported(world, core)
    task_id = (await core.begin_import(BOB)).task_id
    half = len(file) // 2
    await core.import_part(BOB, task_id, 2, b"something else")
    with pytest.raises(Conflict, match="the parts 1 "):
        await core.commit_import(BOB, task_id, ImportCommitInput(parts=2, sha256="0" * 64))
    await core.import_part(BOB, task_id, 1, file[:half])
    await core.import_part(BOB, task_id, 2, file[half:])
    said = ImportCommitInput(parts=2, sha256=hashlib.sha256(file).hexdigest())
    await core.commit_import(BOB, task_id, said)
    await core.commit_import(BOB, task_id, said)
    with pytest.raises(Conflict):
        await core.import_part(BOB, task_id, 1, b"late")
    assert (await worked(world, core, task_id, BOB)).status == "succeeded"


async def test_only_an_empty_user_can_be_imported_into(world: World) -> None:
    core = await world.core()
    await filled(core)
    with pytest.raises(Conflict):
        await core.begin_import(ALICE)
    await core.begin_import(BOB)
    with pytest.raises(Conflict):
        await core.begin_import(BOB)
    await converse(core, owner=ELSEWHERE)
    with pytest.raises(Conflict):
        await core.begin_import(ELSEWHERE)


@pytest.mark.parametrize("at", [1, 2, 3, 4])
async def test_a_user_who_began_to_save_meanwhile_keeps_that_and_nothing_else(world: World, at: int) -> None:
    """Before the `at`-th commit of the work. What was stored by then goes."""
    other = await world.core()
    await filled(other)
    await more(other)
    file = await exported(world, other)

    async def save() -> None:
        await other.save(BOB, turn("I was here first"))

    store: list[Before] = []
    core = await world.core(wrap=lambda inner: store.append(Before(inner, "commit", save)) or store[0])
    task_id = await gathered(core, file)
    store[0].left = at
    task = await worked(world, core, task_id, BOB)
    assert store[0].left <= 0
    assert task.status == "failed", task
    assert task.error is not None
    assert "only an empty user" in task.error
    assert [one.content for one in await listed(core, BOB, status="all")] == ["I was here first"]
    assert len(await world.log(BOB)) == 1
    assert await (await world.look_on()).strays(BOB, 100) == []


@dataclass
class Before:
    """A store before whose `left`-th call of a name something else happens."""

    inner: LongTermStore
    name: str
    then: Callable[[], Awaitable[None]]
    left: int = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if name != self.name:
            return found

        async def late(*args: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                await self.then()
            return await found(*args, **options)

        return late


async def test_while_it_is_stored_nothing_of_it_is_seen_and_cancelled_it_leaves_nothing(world: World) -> None:
    other = await world.core()
    await filled(other)
    await more(other)
    file = await exported(world, other)
    seen: list[Any] = []

    async def look() -> None:
        seen.append((await listed(other, BOB, status="all"), await world.log(BOB)))
        assert (await other.retrieve(BOB, RetrieveInput(query="bees Lisbon hive", similarity_threshold=0.0))).results == ()
        assert await (await world.look_on()).strays(BOB, 100)
        await other.cancel(BOB, task_id)

    store: list[Before] = []
    core = await world.core(wrap=lambda inner: store.append(Before(inner, "commit", look)) or store[0])
    task_id = await gathered(core, file)
    store[0].left = 4
    task = await worked(world, core, task_id, BOB)
    assert seen == [([], [])]
    assert task.status == "cancelled"
    assert await listed(core, BOB, status="all") == []
    assert await (await world.look_on()).strays(BOB, 100) == []
    assert not [one for one in await blobs(world) if one.startswith("people/") and task.task_id in one]
    assert (await brought(world, core, file)).status == "succeeded"


@pytest.mark.parametrize("after", [False, True])
async def test_a_worker_that_is_killed_at_any_write_is_followed_by_one_that_ends_it(world: World, after: bool) -> None:
    """Nothing doubled, nothing half there."""
    other = await world.core()
    await filled(other)
    await more(other)
    file = await exported(world, other)
    written = 1
    number = 0
    while number < written:
        number += 1
        owner = Owner("app", f"user-{number}-{after}")
        moment = Moment(number, after, asleep=True)
        mortal = await world.core(wrap=lambda inner, m=moment: Mortal(inner, m))
        task_id = await gathered(mortal, file, owner)
        moment.asleep = False
        with suppress(Killed):
            await Hand(mortal, "consolidation").work_all()
        written = max(written, len(moment.names))
        task = await worked(world, other, task_id, owner)
        assert task.status == "succeeded", (number, task.error)
        assert [one.content for one in await listed(other, owner, status="all")] == [
            one.content for one in await listed(other, ALICE, status="all")
        ]
    assert (await exported(world, other, owner)).splitlines()[1:] == file.splitlines()[1:]


async def test_what_lies_in_the_archive_is_in_the_file_and_lies_in_the_archive_again(world: World) -> None:
    core = await world.core()
    for number in range(3):
        await core.save(ALICE, fact(f"Ana lives in city {number} {'and on ' * 60}", subject="Ana", attribute="city"))
    years_go_by(world)
    assert await archived(world, core)
    await core.save(ALICE, turn("I keep bees"))
    stubs = await listed(core, status="archived")
    file = await exported(world, core)
    first, _ = parsed(file)
    assert first["counts"]["cold"] == 1
    assert f"city 2 {'and on ' * 60}" in file.decode(), "whole"
    task = await brought(world, core, file)
    assert task.status == "succeeded", task.error
    assert (await exported(world, core, BOB)).splitlines()[1:] == file.splitlines()[1:]
    assert len(stubs) == 3
    back = await core.restore(BOB, stubs[0].id)
    assert back.content == f"Ana lives in city 2 {'and on ' * 60}".strip() or len(back.content) > 400
    assert await listed(core, BOB, status="archived") == [], "the whole chain is back"
    assert await listed(core, status="archived") == stubs, "that of the first user is not"


async def test_a_chain_whose_last_was_deleted_before_the_rest_went_into_the_archive_comes_in_too(world: World) -> None:
    core = await world.core()
    await core.save(ALICE, fact("Ana lives in Oslo", subject="Ana", attribute="city"))
    last = await core.save(ALICE, fact("Ana lives in Bergen", subject="Ana", attribute="city"))
    await core.delete(ALICE, last.memory.id)
    years_go_by(world)
    assert await archived(world, core)
    file = await exported(world, core)
    assert (await brought(world, core, file)).status == "succeeded"
    assert (await exported(world, core, BOB)).splitlines()[1:] == file.splitlines()[1:]
    (stub,) = await listed(core, BOB, status="archived")
    assert (await core.restore(BOB, stub.id)).content == "Ana lives in Oslo"


async def test_what_lies_in_the_archive_chain_by_chain_fills_parts_like_everything_else(world: World) -> None:
    core = await world.core()
    await core.bulk(ALICE, [turn(f"note {number}") for number in range(30)])
    years_go_by(world)
    assert await archived(world, core)
    task = await worked(world, core, (await core.export(ALICE)).task_id, ALICE)
    assert task.result is not None
    assert (task.result["counts"]["cold"], task.result["parts"]) == (30, 5), "the first line, copies, memories, events, the session"
    assert (await brought(world, core, await fetched(core, task))).status == "succeeded"


async def test_an_import_that_is_refused_late_leaves_nothing_in_the_archive(world: World) -> None:
    core = await world.core()
    await core.save(ALICE, fact(f"Ana lives in Lisbon {'and on ' * 60}"))
    years_go_by(world)
    await archived(world, core)
    file = await exported(world, core)
    held = await blobs(world)
    task_id = await gathered(core, file)
    await core.save(BOB, turn("I was here first"))
    assert (await worked(world, core, task_id, BOB)).status == "failed"
    assert [one for one in await blobs(world) if not one.startswith("due/")] == [one for one in held if not one.startswith("due/")]
