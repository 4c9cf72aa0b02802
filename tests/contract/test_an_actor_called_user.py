"""A person who is called "User" is not the user: no truth of one of them becomes one of
the other's.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.chat.read_message import timed
from memory_core.domain.conversation import as_named
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import ConverseInput
from tests.builders import ALICE, NOW
from tests.tasks import Hand, task_of
from tests.world import World, listed

Line = tuple[str, str | None, str]


def talk(*lines: Line, days: int = 0) -> ConverseInput:
    messages = [
        {
            "role": role,
            "actor": actor,
            "content": content,
            "timestamp": (NOW + timedelta(days=days, minutes=place)).isoformat(),
        }
        for place, (role, actor, content) in enumerate(lines)
    ]
    return ConverseInput.model_validate({"session_id": f"s{days}", "messages": messages})


async def cities(core: MemoryCore) -> dict[str | None, object]:
    return {
        memory.subject: memory.value
        for memory in await listed(core)
        if memory.attribute == "home city"
    }


async def told(core: MemoryCore, *lines: Line, days: int = 0) -> None:
    accepted = await core.converse(ALICE, talk(*lines, days=days))
    await Hand(core).work_all()
    assert (await task_of(core, accepted)).status == "succeeded"


@pytest.mark.parametrize("name", ["User", "user", "USER "])
async def test_beside_somebody_with_a_name_it_is_a_name(world: World, name: str) -> None:
    core = await world.core(agents=OfflineAgents())
    await told(core, ("user", None, "I live in Oslo."))
    await told(
        core, ("user", "Ana", "I live in Bergen."), ("user", name, "I live in Turku."), days=1
    )
    assert await cities(core) == {"user": "Oslo", "Ana": "Bergen", f"Actor {name.strip()}": "Turku"}


async def test_in_another_role_it_is_a_name(world: World) -> None:
    core = await world.core(agents=OfflineAgents())
    await told(core, ("user", None, "I live in Oslo."), ("assistant", "User", "I live in Turku."))
    assert await cities(core) == {"user": "Oslo", "Actor User": "Turku"}


async def test_where_nobody_else_speaks_for_himself_it_is_a_label_of_the_user(world: World) -> None:
    core = await world.core(agents=OfflineAgents())
    await told(core, ("user", None, "I live in Oslo."))
    await told(
        core, ("user", "User", "I live in Turku."), ("assistant", "Helper", "Noted."), days=1
    )
    assert await cities(core) == {"user": "Turku"}


def test_it_is_decided_on_the_whole_conversation_and_changes_no_other_actor() -> None:
    lines = talk(("user", "Ana", "a"), ("user", "User", "b"), ("assistant", "Bot", "c")).messages
    whole = timed(lines, NOW)
    assert [message.actor for message in as_named(whole[1:], whole)] == ["Actor User", "Bot"]
    assert [message.actor for message in as_named(whole[1:], whole[1:])] == [None, "Bot"]
    assert [message.actor for message in whole] == ["Ana", "User", "Bot"]


@pytest.mark.parametrize("name", ["ben_77", "u-1042", "ben@example.com", "auth0|5f1c"])
async def test_an_account_that_alone_speaks_is_the_user(world: World, name: str) -> None:
    core = await world.core(agents=OfflineAgents())
    await told(core, ("user", name, "I live in Turku."), ("assistant", "Helper", "Noted."))
    assert await cities(core) == {"user": "Turku"}


async def test_an_account_beside_another_is_a_name(world: World) -> None:
    core = await world.core(agents=OfflineAgents())
    lines = talk(("user", "ben_77", "a"), ("user", "lea_3", "b")).messages
    whole = timed(lines, NOW)
    assert [message.actor for message in as_named(whole, whole)] == ["ben_77", "lea_3"]
    await told(core, ("user", "ben_77", "I live in Turku."), ("user", "Lea", "I live in Oslo."))
    assert "user" not in await cities(core)


async def test_the_profile_is_of_who_alone_speaks_as_the_user(world: World) -> None:
    core = await world.core(agents=OfflineAgents())
    await told(core, ("user", "Ben", "I live in Turku. My sister Lea lives in Oslo."))
    await told(core, ("user", "Ben", "I am allergic to peanuts."), days=1)
    for _ in range(2):  # by the facts, then as a run has written it
        profile = await core.profile(ALICE)
        assert {(fact.name, fact.value) for fact in profile.explicit} >= {
            ("home city", "Turku"),
            ("allergy to peanuts", "yes"),
        }
        assert "Oslo" not in {fact.value for fact in profile.explicit}
        await core.consolidate(ALICE, ConsolidateInput())
        await Hand(core).work_all()


async def test_a_team_has_no_profile_of_one_of_them(world: World) -> None:
    core = await world.core(agents=OfflineAgents())
    await told(core, ("user", "Ben", "I live in Turku."))
    await told(core, ("user", "Ana", "I live in Oslo."), days=1)
    assert (await core.profile(ALICE)).explicit == []


async def test_of_two_who_speak_together_neither_is_the_user(world: World) -> None:
    core = await world.core(agents=OfflineAgents())
    await told(core, ("user", "Ben", "I live in Turku."), ("user", "Ana", "I live in Oslo."))
    assert (await core.profile(ALICE)).explicit == []
