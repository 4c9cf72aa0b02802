"""What moves where: a home needs a place, since teams and colleagues move in the same words."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.announced_facts import announced_facts
from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.statements.change_messages import read
from memory_core.domain.statements.changes import change_between
from tests.talk import talk

_HOMES = frozenset({"home city", "home country"})


def homes(text: str) -> list[str | None]:
    """The homes that a message tells."""
    return [fact.value for fact in said_facts(talk(text)) if fact.attribute in _HOMES]


@pytest.mark.parametrize(
    "text",
    [
        "We moved from Jest to Vitest.",
        "We've moved from Jenkins to Buildkite.",
        "We moved to TypeScript last month.",
        "We moved from MySQL to Postgres in May.",
        "We moved from Slack to Teams.",
        "We live in Slack these days.",
        "I moved to Neovim.",
        "I moved to marketing.",
        "I've moved to Platform Engineering.",
        "Jonas moved to logistics.",
        "Ahmed moved to Sales.",
        "Jonas moved to Vitest.",
        "Wir sind nach GitLab umgezogen.",
        "Wir sind von Jira nach Linear umgezogen.",
    ],
)
def test_a_team_that_moves_to_a_tool_has_no_new_home(text: str) -> None:
    assert homes(text) == []


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("We moved to Whitby.", "Whitby"),
        ("I moved to Kleinmachnow in May.", "Kleinmachnow"),
        ("We moved to Lorch, Germany.", "Lorch"),
        ("I've moved to North London.", "North London"),
        ("We moved from Jena to Bavaria.", "Bavaria"),
        ("i moved to lisbon", "Lisbon"),
        ("My brother moved to São Paulo.", "São Paulo"),
        ("We live in Ålesund these days.", "Ålesund"),
        ("I live in Little Snoring.", "Little Snoring"),
        ("Wir sind nach Wien gezogen.", "Wien"),
        ("Ich bin im Mai nach Königs Wusterhausen gezogen.", "Königs Wusterhausen"),
    ],
)
def test_who_moves_to_a_town_lives_there(text: str, home: str) -> None:
    assert homes(text)[:1] == [home]


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("We're moving to Vitest on 1 October.", None),
        ("Our move to Slack is on 1 October.", None),
        ("We're moving to Ghent on 1 October.", "Ghent"),
        ("My move to Ghent is on 1 October.", "Ghent"),
    ],
)
def test_an_announced_home_is_a_place(text: str, home: str | None) -> None:
    values = [fact.value for fact in announced_facts(talk(text), []) if fact.attribute in _HOMES]
    assert values == ([] if home is None else [home])


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("I moved to the platform team.", False),
        ("We moved to Vitest.", False),
        ("I moved to a standing desk.", False),
        ("Wir sind nach GitLab umgezogen.", False),
        ("We moved to Kassel last month.", True),
        ("we moved to new york", True),
        ("I moved to a bigger flat.", True),
        ("I moved back to my parents.", True),
        ("Wir sind nach Wien gezogen.", True),
    ],
)
def test_only_a_move_of_a_home_ends_where_someone_lives(text: str, ends: bool) -> None:
    home = "Ich wohne in Mainz." if text.startswith("Wir") else "I live in Mainz."
    assert (change_between(read(home), read(text), None) is not None) == ends


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("I moved to NYC.", "NYC"),
        ("I moved to LA.", "LA"),
        ("I moved to the UK.", "UK"),
        ("We moved to Upper Austria.", "Upper Austria"),
        ("I moved to Mobile, Alabama.", "Mobile"),
        ("We've just moved to Shropshire.", "Shropshire"),
        ("I moved to Hackney with Tom.", "Hackney"),
        ("We moved to the Cotswolds.", "Cotswolds"),
        ("We relocated to DC.", "DC"),
        ("Ich bin nach Oberbayern gezogen.", "Oberbayern"),
        ("Wir sind nach Wanne-Eickel gezogen.", "Wanne-Eickel"),
    ],
)
def test_regions_districts_and_short_names_are_places(text: str, home: str) -> None:
    assert homes(text)[:1] == [home]
    earlier = "Ich wohne in Mainz." if "gezogen" in text else "I live in Mainz."
    assert change_between(read(earlier), read(text), None) is not None
