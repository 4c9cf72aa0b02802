"""Changes of things of work: a value's bearer has to be the same, and what was over can return."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from memory_core.domain.statements.changes import change

TOLD = datetime(2026, 9, 1, 10, tzinfo=timezone.utc)
OF_ANOTHER = [
    ("The frontend is on React 18.", "The admin is on React 19 now."),
    ("We use Python 3.12 for the API.", "The scripts are on Python 3.13 now."),
    ("The main branch is protected.", "The dev branch is no longer protected."),
    ("The dataset A has 1,000 rows.", "The dataset B has 2,000 rows now."),
    ("My desktop runs Ubuntu 22.04.", "My laptop is on Ubuntu 24.04 now."),
    ("Das Frontend läuft mit React 18.", "Das Backoffice läuft jetzt mit React 19."),
    ("Der Datensatz A hat 1.000 Zeilen.", "Der Datensatz B hat jetzt 2.000 Zeilen."),
    ("Contoso: the deadline is 3 May.", "Fabrikam: the deadline moved to 9 June."),
    ("Contoso: the deadline is 3 May.", "Fabrikam: deadline is now 9 June."),
    ("Contoso: our budget is 40k.", "For Fabrikam: our budget is now 70k."),
    ("The deadline for Contoso is 3 May.", "For Fabrikam: the deadline is now 9 June."),
    ("Contoso: Unser Budget ist 40.000 Euro.", "Für Fabrikam: Unser Budget ist jetzt 70.000 Euro."),
    ("データセットAは1000行です。", "データセットBは今2000行です。"),
]
OF_THE_SAME = [
    ("The frontend is on React 18.", "The frontend is on React 19 now."),
    ("The frontend is on React 18.", "We upgraded to React 19."),
    ("We use Python 3.12 for the API.", "The API is on Python 3.13 now."),
    ("We are on Postgres 15.", "The database was upgraded to Postgres 16."),
    ("The main branch is protected.", "The main branch is no longer protected."),
    ("The dataset A has 1,000 rows.", "The dataset A has 2,000 rows now."),
    ("Contoso: the deadline is 3 May.", "Contoso: the deadline moved to 9 June."),
    ("Contoso: the deadline is 3 May.", "The deadline for Contoso moved to 9 June."),
    ("The deadline for Contoso is 3 May.", "For Contoso: the deadline is now 9 June."),
    ("Contoso: the deadline is 3 May.", "Ben: the Contoso deadline moved to 9 June."),
    ("The deadline is 3 May.", "Edit: the deadline is now 9 June."),
    ("Update: the deadline is 3 May.", "PS: the deadline is now 9 June."),
    ("Contoso: the deadline is 3 May.", "Quick update: the deadline is now 9 June."),
    ("Das Frontend läuft mit React 18.", "Das Frontend läuft jetzt mit React 19."),
]
UNDONE = [
    ("Our CI runs on Buildkite now.", "Our CI runs on Jenkins again."),
    ("We moved sessions from Redis to Postgres.", "We moved sessions back to Redis."),
    ("I cycle to work now.", "I'm taking the bus again."),
    ("I cycle now.", "bus again"),
    ("Unser CI läuft jetzt auf Buildkite.", "Unser CI läuft wieder auf Jenkins."),
    (
        "My dentist appointment was moved to 8 October at 14:00.",
        "My dentist appointment was cancelled.",
    ),
    (
        "Mein Zahnarzttermin wurde auf den 8. Oktober verschoben.",
        "Mein Zahnarzttermin wurde abgesagt.",
    ),
]
STILL_SO = [
    ("I take the bus to work.", "I'm taking the bus again."),
    ("I cycle to work now.", "The bus was late again."),
    ("I take the train to work.", "Train again late today."),
    ("I cycle to work now.", "My sister takes the bus again."),
    ("I live in Denver.", "We moved to Phoenix for the web framework."),
    ("Our CI runs on Jenkins.", "Our CI runs on Jenkins again."),
    ("Our CI runs on Buildkite now.", "Our CD runs on Jenkins again."),
    ("We use Redis for sessions.", "We moved sessions back to Redis."),
    ("We moved sessions to Postgres.", "We moved sessions from Redis to Postgres."),
    ("I went to the gym in Bonn.", "I went to the dentist again."),
    ("I ate at the Greek place.", "I ate at the Thai place again."),
    ("Unser CI läuft auf Jenkins.", "Unser CI läuft wieder auf Jenkins."),
    (
        "My dentist appointment was moved to 8 October at 14:00.",
        "My vet appointment was cancelled.",
    ),
]


def _is_replaced(earlier: str, later: str) -> bool:
    return change(earlier, later, (TOLD, TOLD + timedelta(days=3))) is not None


@pytest.mark.parametrize(("earlier", "later"), OF_ANOTHER)
def test_a_value_of_another_thing_replaces_nothing(earlier: str, later: str) -> None:
    assert not _is_replaced(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), OF_THE_SAME)
def test_a_new_value_of_the_same_thing_replaces_the_old(earlier: str, later: str) -> None:
    assert _is_replaced(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), UNDONE)
def test_a_change_is_undone(earlier: str, later: str) -> None:
    assert _is_replaced(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), STILL_SO)
def test_what_is_so_again_replaces_nothing_else(earlier: str, later: str) -> None:
    assert not _is_replaced(earlier, later)


def test_a_sentence_with_code_between_its_commas_is_read_as_a_whole() -> None:
    headers = change(
        "I set the headers in `a.py` , `b.py`, and `c.py`.",
        "I switched from `a.py` to headers in nginx now.",
    )
    assert headers is not None
    assert not headers.is_part
