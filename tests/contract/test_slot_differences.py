"""Every memory whose stored fields differ from the timeline of its slot is named,
with what is stored and what should be.
"""

from __future__ import annotations

import pytest

from memory_core import verify
from memory_core.ports import Document, Write
from tests.builders import ALICE, commit
from tests.conflicts import lives
from tests.contract.insistent import Insistent
from tests.world import World


async def spoil(world: World, memory_id: str) -> None:
    """Let a truth end that did not."""
    store = await world.look_on()
    document = (await store.snapshot(ALICE, [memory_id])).documents[memory_id]
    body = {
        **document.body,
        "status": "superseded",
        "status_reason": "contradicted",
        "revision": document.body["revision"],
    }
    await commit(
        Insistent(store),
        ALICE,
        Write("put", Document(memory_id, "memory", body, document.vector)),
        events=0,
    )


async def test_nothing_is_said_of_slots_that_are_as_their_logs(world: World) -> None:
    core = await world.core()
    await lives(core, "Oslo", -2)
    await lives(core, "Bergen", -1)
    assert [line async for line in core.slot_differences()] == []


async def test_a_memory_that_differs_is_named_with_its_fields(world: World) -> None:
    core = await world.core()
    await lives(core, "Oslo", -2)
    memory = (await lives(core, "Bergen", -1)).memory
    await spoil(world, memory.id)
    (line,) = [line async for line in core.slot_differences(ALICE.app_id, ALICE)]
    assert line.startswith(f"{ALICE.app_id} {ALICE.user_id} slt_")
    assert memory.id in line
    assert "status" in line
    assert "should be" in line


def test_the_command_says_how_many_there_are(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MEMORY_DATA", str(tmp_path_factory.mktemp("none")))
    monkeypatch.setenv("MEMORY_EMBEDDING_PROVIDER", "hash")
    assert verify.main([]) == 0
    assert capsys.readouterr().out == "0 differences\n"


def test_settings_that_are_wrong_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMORY_CONSOLIDATION_THRESHOLD", "many")
    assert verify.main([]) == 2
    assert "Not done: " in capsys.readouterr().err
