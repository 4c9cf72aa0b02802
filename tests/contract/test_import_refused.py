"""A file that was cut or changed is refused whole, with the line that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.errors import Conflict
from memory_core.domain.requests.maintenance import ImportCommitInput
from tests.cold import blobs
from tests.exports import Lines, brought, exported, filled, worked
from tests.world import BOB, World, listed


def changed(file: bytes, change: Callable[[Lines], None]) -> bytes:
    """The file with its lines changed; the first line stays as it is unless that is
    what is changed.
    """
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
    "an unknown kind counted": (
        lambda lines: lines[0]["counts"].update(task=1),
        "line 1: `counts` names task",
    ),
    "an unknown kind": (lambda lines: lines[1].update(kind="task"), "line 2: is no document"),
    "a field too many": (lambda lines: lines[1].update(x=1), "line 2: is no document"),
    "an unknown field": (setting("memory", "colour", "red"), "line 2: memory .*colour"),
    "a wrong type": (setting("memory", "confidence", "high"), "line 2: memory .*confidence"),
    "too long a text": (setting("memory", "content", "x" * 40_000), "line 2: memory .*content"),
    "another text": (
        setting("memory", "content", "I keep wasps"),
        r"line 2: mem_\w+: content: is not what the log tells of it",
    ),
    "another text of an old version": (
        setting("version", "content", "x"),
        r"line \d+: mem_\w+: content: is not what the log tells of it",
    ),
    "another text in the log": (
        lambda lines: lines[place(lines, "event")]["body"]["after"].update(content="I keep wasps"),
        r"line \d+: mem_\w+: content: is not what the log tells of it",
    ),
    "an event said to be forgotten": (
        setting("event", "redacted", True),
        r"line 2: by the log there is no mem_\w+",
    ),
    "a beginning that says nothing": (
        setting("event", "after", {}),
        r"line 2: by the log there is no mem_\w+",
    ),
    "a conflict with a stranger": (
        setting("conflict", "old_id", "mem_stranger"),
        r"line \d+: refers to mem_stranger",
    ),
    "a stranger in a conflict": (
        setting("conflict", "new_id", "mem_stranger"),
        r"line \d+: refers to mem_stranger",
    ),
    "another revision": (
        setting("memory", "revision", 2),
        r"line 2: no event 2 of the log tells of mem_\w+",
    ),
    "another id within": (
        setting("memory", "id", "mem_other"),
        "line 2: memory .* is called mem_other within",
    ),
    "the head": (naming("memory", "head"), "line 2: 'head' is no id of a memory"),
    "a task's id": (naming("conflict", "tsk_1"), r"line \d+: 'tsk_1' is no id of a conflict"),
    "twice": (twice, "line 3: memory .* comes twice"),
    "a stranger": (
        setting("memory", "supersedes_id", "mem_stranger"),
        "line 2: refers to mem_stranger",
    ),
    "a circle": (in_a_circle, "by itself"),
    "a later revision": (setting("memory", "revision", 10_000), "line 2: revision: the log ends"),
    "a hole in the log": (
        without("event", 3),
        r"line \d+: event .* sequence: is 5, where the log goes on with 4",
    ),
    "a truncated log": (
        without("event", -1),
        r"line \d+: the file ends here with \d+ of the kind event",
    ),
    "one memory less": (
        without("memory"),
        r"line \d+: the file ends here with \d+ of the kind memory",
    ),
    "one memory less, and counted so": (
        without_counted("memory"),
        r"line \d+: refers to mem_\w+, which is not in this file",
    ),
    "a version of nobody": (naming("version", "mem_nobody.v1"), r"line \d+: refers to mem_nobody"),
    "an unknown field of an event": (
        setting("event", "colour", "red"),
        r"line \d+: event .*colour",
    ),
    "a field of an event that no memory has": (
        lambda lines: lines[place(lines, "event")]["body"]["after"].update(di=1),
        "after: di",
    ),
    "a value that no memory could have": (
        lambda lines: lines[place(lines, "event")]["body"]["after"].update(confidence="high"),
        "confidence",
    ),
    "time that goes back": (
        setting("event", "occurred_at", "2999-01-01T00:00:00Z"),
        r"line \d+: event .*occurred_at",
    ),
    "messages of no conversation": (
        without_counted("conversation"),
        r"line \d+: cnv_\w+ belongs to a conversation",
    ),
    "a turn that is none": (
        lambda lines: lines[place(lines, "session")]["body"].update(last_turns=[{"di": "mem_1"}]),
        r"line \d+: session s1: last_turns",
    ),
    "a session of another name": (
        setting("session", "session_id", "s9"),
        r"line \d+: session s1: is called s9 within",
    ),
}


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
@pytest.mark.parametrize("fault", TAMPERED)
async def test_a_file_that_was_tampered_with_is_refused_whole_with_the_line(
    world: World, fault: str, adapter: str
) -> None:
    change, reason = TAMPERED[fault]
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
    assert [
        stray
        for stray in await onlooker.strays(BOB, 100)
        if stray.kind not in ("task", "operation")
    ] == []
    assert not [
        blob for blob in await blobs(world) if blob.startswith("people/") and task.task_id in blob
    ]
    with pytest.raises(Conflict):
        await core.retry(BOB, task.task_id)


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_text_that_is_no_json_a_cut_file_and_another_hash_are_refused(
    world: World, adapter: str
) -> None:
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
