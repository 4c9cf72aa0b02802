"""Standing instructions of several people who share an account."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ContextInput, ConverseInput
from tests.builders import ALICE, NOW
from tests.contract.test_wishes_heeded import instructions
from tests.telling import formed, talk

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("wish", "other"),
    [
        ("Please always answer me in German.", "Please always answer me in French."),
        ("Call me Bine.", "Call me Lucky."),
        ("Never mention my ex.", "You can mention my ex again."),
        ("Never use emojis.", "Forget what I said about emojis."),
    ],
)
async def test_an_instruction_is_ended_only_by_the_person_who_gave_it(
    core: MemoryCore, wish: str, other: str
) -> None:
    for day, (actor, text) in enumerate((("Sabine", wish), ("Luc", other))):
        await _told_by(core, actor, text, day)
    assert wish in await instructions(core)
    await _told_by(core, "sabine", other, 2)
    assert wish not in await instructions(core)


async def test_a_context_names_the_persons_whose_instructions_it_tells(core: MemoryCore) -> None:
    await _told_by(core, "Sabine", "Please always answer me in German.", 0)
    asked = ContextInput(query="What is new?", session_id="s9")
    alone = (await core.context(ALICE, asked)).context
    assert "[1] Sabine: Please always answer me in German." in alone
    await _told_by(core, "Luc", "Please always answer me in French.", 1)
    both = (await core.context(ALICE, asked)).context
    assert "[1] Sabine: Please always answer me in German." in both
    assert "[2] Luc: Please always answer me in French." in both


async def _told_by(core: MemoryCore, actor: str, text: str, day: int) -> None:
    conversation = talk(text, at=NOW + day * DAY, session=f"s{day}").model_dump(mode="json")
    conversation["messages"][0]["actor"] = actor
    await formed(core, await core.converse(ALICE, ConverseInput.model_validate(conversation)))
