"""Whichever way a secret comes in: it is in no file, no vector's text, no queue message and no
answer, and what is sent again is known.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import KeyReused
from memory_core.domain.redaction.requests import collect_redactions
from memory_core.domain.requests.maintenance import (
    AgentMemoryInput,
    BatchInput,
    ImportInput,
    SummaryInput,
)
from memory_core.domain.requests.memories import (
    AppendInput,
    ContextInput,
    ConverseInput,
    RetrieveInput,
    SaveInput,
    UpdateInput,
)
from memory_core.domain.results import Call, Saved, Told
from tests.builders import ALICE
from tests.exports import brought, exported, gathered
from tests.tasks import Hand
from tests.world import BOB, WordsEmbedder, World, listed

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
TEXT = f"The zebra deployment uses {TOKEN} until May."
Way = Callable[[MemoryCore], Awaitable[Any]]


async def edit(core: MemoryCore) -> None:
    saved = await core.save(
        ALICE, SaveInput(content="The zebra deployment has no token.", type="semantic")
    )
    await core.update(
        ALICE,
        saved.memory.id,
        UpdateInput(content=TEXT, metadata={"api_key": TOKEN}),
        saved.memory.etag,
    )


async def import_conversations(core: MemoryCore) -> None:
    line = orjson.dumps(
        {
            "session_id": "i",
            "messages": [{"role": "user", "content": TEXT, "timestamp": "2026-05-01T10:00:00Z"}],
        }
    )
    await gathered(core, line + b"\n", BOB, import_input=ImportInput(of="conversations"))


def message(content: str) -> dict[str, Any]:
    return {"role": "user", "content": content}


WAYS: dict[str, Way] = {
    "save": lambda core: core.save(
        ALICE,
        SaveInput(content=TEXT, tags=[TOKEN], metadata={"zebra": {TOKEN: TOKEN}}, actor=TOKEN),
    ),
    "bulk": lambda core: core.bulk(
        ALICE,
        [SaveInput(content="zebra"), SaveInput(type="procedural", key="zebra token", value=TOKEN)],
    ),
    "edit": edit,
    "conversation": lambda core: core.converse(
        ALICE, ConverseInput(session_id="c", messages=[message(TEXT)])
    ),
    "batch": lambda core: core.batch(ALICE, BatchInput(session_id="b", messages=[message(TEXT)])),
    "agent's words": lambda core: core.agent_memory(
        ALICE, AgentMemoryInput(messages=TEXT, session_id="a")
    ),
    "appended items": lambda core: core.append(
        ALICE,
        "s",
        AppendInput(
            form=True,
            messages=[
                message(TEXT),
                {
                    "type": "function_call",
                    "name": "zebra",
                    "call_id": "c1",
                    "arguments": orjson.dumps({"token": TOKEN}).decode(),
                },
            ],
        ),
    ),
    "summary": lambda core: core.summary_later(
        ALICE, SummaryInput(messages=TEXT, callback_url="https://hook.test/x"), Call()
    ),
    "query": lambda core: core.retrieve(ALICE, RetrieveInput(query=TEXT)),
    "context": lambda core: core.context(ALICE, ContextInput(query=TEXT, messages=[message(TEXT)])),
    "import": import_conversations,
}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = World(tmp_path)
    yield made
    await made.close()


def kept(folder: Path) -> bytes:
    """Every byte of every file, in small letters, as words are indexed."""
    return b"".join(
        file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()
    ).lower()


async def test_no_way_in_keeps_a_secret(world: World) -> None:
    embedder = WordsEmbedder()
    core = await world.core_by_rules(embedder=embedder)
    for name, way in WAYS.items():
        with collect_redactions() as redactions:
            await way(core)
        assert redactions or name == "import", name
        assert all(
            redaction.kind in ("github token", "token") and redaction.count
            for redaction in redactions
        ), (name, redactions)
        assert TOKEN not in repr(redactions), name
    for queue in ("formation", "consolidation", "formation"):
        await Hand(core, queue).work_all()
        world.clock.forward(61)
    await world.close()
    files = kept(world.folder)
    assert b"zebra deployment uses [redacted: github token] until may" in files
    assert TOKEN.lower().encode() not in files
    assert not any(TOKEN.lower() in text.lower() for text in embedder.texts)
    assert any("[redacted: github token]" in text for text in embedder.texts)


async def test_without_redaction_the_files_hold_what_was_said(world: World) -> None:
    core = await world.core(redact="off")
    with collect_redactions() as redactions:
        await core.save(ALICE, SaveInput(content=TEXT))
    await world.close()
    assert redactions == []
    assert TOKEN.lower().encode() in kept(world.folder)


async def test_an_export_that_holds_secrets_is_imported_without_them(world: World) -> None:
    plain = await world.core(redact="off")
    await plain.save(ALICE, SaveInput(content=TEXT, session_id="s", metadata={"api_key": TOKEN}))
    await plain.converse(
        ALICE,
        ConverseInput(session_id="s", messages=[message(TEXT), message("Thanks, I like zebras.")]),
    )
    await Hand(plain).work_all()
    file = await exported(world, plain)
    assert TOKEN.encode() in file
    core = await world.core()
    task = await brought(world, core, file)
    assert task.status == "succeeded", task.error
    again = await exported(world, core, BOB)
    assert TOKEN.lower().encode() not in again.lower()
    assert [memory.content for memory in await listed(core, BOB, session_id="s", type="episodic")]
    answer = await core.retrieve(BOB, RetrieveInput(query="the zebra deployment"))
    assert answer.results[0].memory.content.startswith(
        "The zebra deployment uses [redacted: github token] until May."
    )


async def test_what_is_sent_again_is_known_again(world: World) -> None:
    """Redacted is compared with redacted: a history, a save, and a call with its
    idempotency key.
    """
    core = await world.core()
    conversation = ConverseInput(session_id="c", messages=[message("Hello"), message(TEXT)])
    first, second = (
        await core.converse(ALICE, conversation),
        await core.converse(ALICE, conversation),
    )
    assert (first.messages, second.messages) == (Told(2, 0), Told(0, 2))
    item = SaveInput(content=TEXT, type="semantic")
    assert [(await core.save(ALICE, item)).outcome for _ in range(2)] == ["created", "reinforced"]
    other = "ghp_" + "Z9y8X7w6V5u4T3s2R1" * 2
    answers: list[Saved] = []
    for token in (TOKEN, other):
        door_hash = hashlib.sha256(token.encode()).hexdigest()
        call = Call(idempotency_key="once", route="POST memories_save", body_hash=door_hash)
        answers.append(await core.save(ALICE, SaveInput(content=f"{token} again"), call))
        assert door_hash.encode() not in kept(world.folder), (
            "a hash of the request as it came would let a short secret be guessed"
        )
    assert [(saved.replayed, saved.memory.id) for saved in answers] == [
        (False, answers[0].memory.id),
        (True, answers[0].memory.id),
    ]
    with pytest.raises(KeyReused):
        await core.save(
            ALICE,
            SaveInput(content="something else"),
            Call(idempotency_key="once", route="POST memories_save", body_hash="0" * 64),
        )
