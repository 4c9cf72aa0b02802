"""A slot has one value, in whichever languages it was told."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.builders import ALICE, NOW
from tests.telling import tell
from tests.world import World

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("messages", "name", "value"),
    [
        (
            ("Meine Adresse ist Lindenweg 4.", "My address is 9 Oak Street."),
            "address",
            "9 Oak Street",
        ),
        (
            ("My phone number is 0171 999999.", "Meine Telefonnummer ist 0170 123456."),
            "phone number",
            "0170 123456",
        ),
        (("Meine Miete beträgt 900 Euro.", "My rent is 950 euros."), "rent", "950 euros"),
        (("My shoe size is 41.", "Meine Schuhgröße ist 42."), "shoe size", "42"),
        (("My rent is 950 euros.", "家賃は8万円です。"), "rent", "8万円"),
    ],
)
async def test_what_is_told_in_another_language_takes_the_place(
    world: World, messages: tuple[str, str], name: str, value: str
) -> None:
    core = await world.core_by_rules()
    for day, text in enumerate(messages):
        world.clock.forward(DAY.total_seconds())
        await tell(core, text, session=f"s{day}", at=NOW + (day + 1) * DAY)
    explicit = (await core.profile(ALICE)).explicit
    assert [(fact.name, fact.value) for fact in explicit] == [(name, value)]
