"""What the tools ask a person, by clients of both generations connected to a server in
this process.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import ElicitResult

from memory_core.config import Settings
from memory_core.domain.requests.memories import SaveInput, UpdateInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.functions import runtime
from memory_core.functions.callers import LOCAL_CALLER
from memory_core.functions.mcp.callers import ToolCaller
from memory_core.functions.mcp.server import build_server
from tests.mcp_client import MODES, Person, answer

ANA = Owner("local", "ana")
LIVES = {"role": "user", "content": "My locker is number 12."}
REQUEST = {"role": "user", "content": "Please forget my locker number."}
each_mode = pytest.mark.parametrize("mode", MODES)


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[runtime.Runtime]:
    settings = {"MEMORY_DATA": str(tmp_path), "EMBEDDING_PROVIDER": "hash", "MEMORY_AUTH": "off"}
    yield await runtime.start(Settings.from_env(settings))
    await runtime.close()


def client_of(here: runtime.Runtime, mode: str, person: Any = None) -> Client:
    server = build_server(ToolCaller(here.core, ANA, LOCAL_CALLER, Call(actor="mcp")))
    return Client(server, mode=mode, elicitation_callback=person)


class Editor(Person):
    """A person who agrees after something has changed."""

    def __init__(self, change: Callable[[], Awaitable[Any]]) -> None:
        super().__init__(agrees=True)
        self._change = change

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        await self._change()
        return await super().__call__(context, params)


@each_mode
async def test_what_changes_while_a_person_thinks_is_not_forgotten_unseen(
    here: runtime.Runtime, mode: str
) -> None:
    saved = await here.core.save(ANA, SaveInput(content="The alarm code is 4711", type="semantic"))

    async def edit() -> None:
        current = await here.core.get(ANA, saved.memory.id)
        if current.version == 1:
            await here.core.update(
                ANA, current.id, UpdateInput(content="The alarm code is 4712"), current.etag
            )

    async with client_of(here, mode, Editor(edit)) as client:
        first = await answer(client, "memory_forget", ids=[saved.memory.id])
        assert (mode == "legacy") == first.startswith(
            "What the user agreed to has changed meanwhile"
        ), "or asked again, with the new text"
    assert (await here.core.get(ANA, saved.memory.id)).content == "The alarm code is 4712"


@each_mode
async def test_a_conversation_that_asks_to_forget_is_taken_in_once_the_person_agrees(
    here: runtime.Runtime, mode: str
) -> None:
    refusing, agreeing = Person(agrees=False), Person(agrees=True)
    turns = {"messages": [LIVES, REQUEST], "session_id": "monday"}
    async with client_of(here, mode, refusing) as client:
        assert "nothing was stored" in await answer(client, "memory_converse", **turns)
        assert REQUEST["content"] in refusing.asked[0]
        await answer(client, "memory_converse", messages=[LIVES], session_id="monday")
        assert len(refusing.asked) == 1, "what asks for nothing needs no answer"
    async with client_of(here, mode, agreeing) as client:
        assert "POST /api/v1/memories/{id}/restore" in await answer(
            client, "memory_converse", **turns
        )
        again = await answer(client, "memory_converse", **turns)
        assert (len(agreeing.asked), "restore" in again) == (1, False), (
            "turns that are known ask for nothing"
        )


@each_mode
async def test_where_nobody_can_be_asked_the_answer_says_that_something_is_hidden_and_how_it_comes_back(  # noqa: E501
    here: runtime.Runtime, mode: str
) -> None:
    async with client_of(here, mode) as client:
        reply = await answer(client, "memory_converse", messages=[LIVES, REQUEST])
    assert "hidden soon, not gone" in reply
    assert "POST /api/v1/memories/{id}/restore" in reply
