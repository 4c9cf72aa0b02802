"""What German leaves out after a move, and after the end of a job."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.truth.slots import NO_LONGER
from tests.talk import talk


def values(text: str, attribute: str) -> list[str | None]:
    return [fact.value for fact in said_facts(talk(text)) if fact.attribute == attribute]


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("Puh, der Umzug ist geschafft, wir sind jetzt in Wiesbaden.", ["Wiesbaden"]),
        ("Der Umzug ist endlich vorbei. Wir sind jetzt in Wiesbaden.", ["Wiesbaden"]),
        ("Ich bin gestern umgezogen. Ich bin jetzt in Mainz!", ["Mainz"]),
        ("Unser Umzug ist durch, jetzt sind wir in Köln.", ["Köln"]),
        ("Mein Umzug war erledigt, nun bin ich in Ulm.", ["Ulm"]),
        ("Wir sind umgezogen, wir sind nun in Bonn.", ["Bonn"]),
        ("Wir sind jetzt in Rom.", []),
        ("Wir sind jetzt in Rom und essen Eis.", []),
        ("Der Umzug ist geschafft, wir sind jetzt in der Küche.", []),
        ("Der Umzug ist geschafft, wir sind jetzt in Elternzeit.", []),
        ("Der Umzug ist geschafft, meine Eltern sind jetzt in Köln.", []),
        ("Der Umzug der Firma ist geschafft, wir sind jetzt in Köln.", []),
        ("Der Umzug ist geschafft, seid ihr jetzt in Köln?", []),
        ("Wir sind noch nicht umgezogen, wir sind jetzt in Köln.", []),
        ("Wenn der Umzug geschafft ist, sind wir jetzt in Köln.", []),
    ],
)
def test_where_one_is_after_a_move_is_the_home(text: str, home: list[str]) -> None:
    assert values(text, "home city") == home


@pytest.mark.parametrize(
    ("text", "employer"),
    [
        (
            "In der Bibliothek hab ich aufgehört, ab jetzt bin ich im Buchladen Vaternahm.",
            ["Buchladen Vaternahm"],
        ),
        ("Bei Bosch habe ich gekündigt, jetzt bin ich beim Bäcker Meier.", ["Bäcker Meier"]),
        (
            "Im Kino hab ich letzte Woche aufgehört, und ab sofort bin ich in der Apotheke.",
            ["Apotheke"],
        ),
        ("Im Fitnessstudio habe ich gekündigt, jetzt bin ich im Ruderverein.", []),
        ("Im Chor habe ich aufgehört, jetzt bin ich im Kirchenchor.", []),
        ("Im Buchladen bin ich jetzt.", []),
        ("Ab jetzt bin ich im Urlaub.", []),
        ("Mit dem Rauchen hab ich aufgehört, jetzt bin ich im Garten.", []),
        ("In der Bibliothek hat er aufgehört, jetzt bin ich im Garten.", []),
        ("Bei Bosch habe ich gekündigt, jetzt bin ich im Urlaub.", []),
    ],
)
def test_where_one_is_after_a_job_is_the_next(text: str, employer: list[str]) -> None:
    employers = values(text, "employer")
    assert [name for name in employers if name and not name.startswith(NO_LONGER)] == employer
