"""The title of a session: told with a conversation, listed, exported, redacted,
and gone with what was forgotten for good.
"""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from memory_core.core import MemoryCore
from memory_core.domain.errors import NotFound
from memory_core.domain.requests.maintenance import ForgetInput
from memory_core.domain.requests.memories import ConverseInput, RetrieveInput
from tests.builders import ALICE, NOW
from tests.exports import brought, exported, worked
from tests.tasks import Hand
from tests.world import BOB, World


def asked(content: str, **fields: Any) -> ConverseInput:
    message = {"role": "user", "content": content, "timestamp": NOW.isoformat()}
    return ConverseInput.model_validate({"session_id": "s1", "messages": [message], **fields})


async def title_of(core: MemoryCore, session: str = "s1", owner: Any = ALICE) -> str | None:
    (listed,) = [
        listed_session
        for listed_session in (await core.sessions(owner)).sessions
        if listed_session.session_id == session
    ]
    assert (await core.session(owner, session)).title == listed.title
    return listed.title


async def test_the_latest_title_counts_and_one_without_leaves_it(core: MemoryCore) -> None:
    await core.converse(ALICE, asked("I play the cello."))
    assert await title_of(core) is None
    await core.converse(ALICE, asked("I moved.", session_title="Moving"))
    assert await title_of(core) == "Moving"
    await core.converse(ALICE, asked("I like the flat."))
    assert await title_of(core) == "Moving"
    await core.converse(ALICE, asked("The kitchen is small.", session_title="The new flat"))
    assert await title_of(core) == "The new flat"


async def test_a_title_is_searched_by_nothing(core: MemoryCore) -> None:
    await core.converse(ALICE, asked("I play the cello.", session_title="Zanzibar"))
    await Hand(core).work_all()
    assert (await core.retrieve(ALICE, RetrieveInput(query="Zanzibar"))).results == ()


@pytest.mark.parametrize("title", ["", "  ", "x" * 201])
def test_a_title_has_words_and_an_end(title: str) -> None:
    with pytest.raises(ValidationError, match="session_title"):
        asked("I moved.", session_title=title)
    with pytest.raises(ValidationError, match="session_title: needs a session_id"):
        asked("I moved.", session_title="Moving", session_id=None)


async def test_a_secret_in_a_title_is_redacted(world: World) -> None:
    core = await world.core()
    await core.converse(
        ALICE,
        asked("I moved.", session_title="my key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"),
    )
    title = await title_of(core)
    assert title is not None
    assert "abcdefghij" not in title


async def test_an_export_brings_the_title_along(core: MemoryCore, world: World) -> None:
    await core.converse(ALICE, asked("I moved.", session_title="Moving"))
    await Hand(core).work_all()
    file = await exported(world, core)
    assert (await brought(world, core, file)).status == "succeeded"
    assert await title_of(core, owner=BOB) == "Moving"


async def test_forgetting_a_memory_of_the_session_for_good_takes_the_title(
    core: MemoryCore, world: World
) -> None:
    await core.converse(ALICE, asked("I moved.", session_title="Moving"))
    await core.converse(ALICE, asked("I play the cello."))
    await Hand(core).work_all()
    (moved, *_) = [
        result.memory
        for result in (
            await core.retrieve(ALICE, RetrieveInput(query="moved", similarity_threshold=0.0))
        ).results
    ]
    chosen = ForgetInput.model_validate({"filter": {"ids": [moved.id]}, "mode": "hard"})
    forgotten = await core.forget(ALICE, chosen)
    await worked(world, core, forgotten.task_id)
    assert await title_of(core) is None


async def test_an_erased_user_has_no_titles(world: World) -> None:
    core = await world.core(erase_settle_s=0)
    await core.converse(ALICE, asked("I moved.", session_title="Moving"))
    await Hand(core).work_all()
    await worked(world, core, (await core.erase(ALICE)).task_id)
    with pytest.raises(NotFound):
        await core.session(ALICE, "s1")
    await core.converse(ALICE, asked("I am new here."))
    assert await title_of(core) is None
