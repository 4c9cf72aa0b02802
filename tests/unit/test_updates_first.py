"""What was said later comes before what it updates, where a question asks how something is."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from memory_core.domain.text.analyzer import tokens
from memory_core.recollection.updates import SaidStatement, asks_of_the_past, put_updates_first

START = datetime(2026, 3, 1, 9, tzinfo=timezone.utc)
COVERAGE = "What is the test coverage of my billing module?"


def order_of(question: str, *statements: tuple[str, int]) -> list[int]:
    """The numbers of statements as they are found, each with the day on which it was said; the
    first is the most relevant.
    """
    candidates = [
        SaidStatement(
            row, row, text, "Ana", START + timedelta(days=day), 0.6 - row / 50, leads=True
        )
        for row, (text, day) in enumerate(statements)
    ]
    return put_updates_first(range(len(statements)), candidates, question, tokens(question))[0]


def test_a_later_number_comes_before_the_earlier_one_of_the_same_matter() -> None:
    assert order_of(
        COVERAGE,
        ("The test coverage of my billing module is at 65 %.", 1),
        ("Coffee is out again.", 2),
        ("I brought the test coverage of the billing module to 78 %.", 3),
    ) == [2, 0, 1]


def test_an_update_of_the_same_matter_comes_before_a_later_one_of_another() -> None:
    assert order_of(
        COVERAGE,
        ("The test coverage of my billing module is at 65 %.", 1),
        ("I brought the test coverage of the billing module to 78 %.", 3),
        ("The test coverage of my whole project is at 81 %.", 5),
    ) == [1, 0, 2]


def test_several_updates_come_before_what_they_update_the_latest_first() -> None:
    assert order_of(
        COVERAGE,
        ("The test coverage of my billing module is at 65 %.", 1),
        ("The test coverage of my billing module is at 70 %.", 3),
        ("The test coverage of my billing module is at 78 %.", 5),
    ) == [2, 1, 0]


@pytest.mark.parametrize(
    ("query", "of_the_past"),
    [
        ("What is the deadline of the first sprint?", False),
        ("What's my first meeting today?", False),
        ("What is the rent that I paid first?", True),
        ("What did I pay first?", True),
        ("How much was the rent?", True),
        ("How much is the rent?", False),
        ("Wo habe ich im Mai gewohnt?", True),
        ("Wo wohne ich?", False),
        ("Welches Auto habe ich gekauft?", False),
        ("Yesterday was awful. How much is the rent?", False),
        ("Make a budget, rent and food.", False),
        ("List what I paid last year.", True),
        ("Was zahle ich an Miete?", False),
        ("Wie heißt meine Chefin, und was mag sie nicht?", False),
        ("Weißt du, was ich für Strom zahle?", False),
        ("Was war meine alte Adresse?", True),
        ("Was habe ich im Mai bezahlt?", True),
        ("Was I on 5 mg?", True),
        ("Was Tom on 5 mg?", True),
        ("What was the name of my dentist again?", False),
        ("What was the rent before they raised it again last year?", True),
        ("Wann war noch mal der Termin beim Zahnarzt?", False),
        ("猫の名前は？", False),
        ("前の仕事は？ 前はどこで働いてた？", True),
    ],
)
def test_only_what_a_query_asks_for_may_be_past(query: str, of_the_past: bool) -> None:
    assert asks_of_the_past(query) is of_the_past


def test_a_later_number_of_what_is_counted_comes_before_that_of_something_else() -> None:
    assert order_of(
        "How many interviews have I secured as a curator at the museum?",
        ("I secured 3 interviews as a curator at the museum.", 1),
        ("I secured 5 interviews, how do I thank them?", 3),
        ("My nerves in interviews as a curator at the museum went up to 20.", 5),
    ) == [1, 0, 2]


@pytest.mark.parametrize(
    ("question", "earlier", "later"),
    [
        (
            "Which port does the dev API run on?",
            "The dev API runs on port 8080.",
            "Moved the dev API over to 9090 because 8080 clashed with Jenkins.",
        ),
        (
            "Write a status mail with the launch and the budget.",
            "The launch is on 4 December, the budget is 40k.",
            "They cut the budget to 32k. Not thrilled.",
        ),
        (
            "Wie viel Ramipril soll ich morgens nehmen?",
            "Ich nehme Ramipril 5 mg, jeden Morgen eine Tablette.",
            "Der Arzt hat das Ramipril auf 2,5 mg runtergesetzt.",
        ),
        (
            "How many interviews have I secured for head gardener jobs?",
            "I only secured 3 interviews for head gardener jobs, is that a good sign?",
            "How can I use the fact that I secured 5 interviews to further improve my letter?",
        ),
        (
            "How many plants do I water in the greenhouse?",
            "I water 8 plants in the greenhouse, how far apart should they stand?",
            "I water 12 tall tomato plants in the greenhouse, what do I feed them?",
        ),
        (
            "What deadline should I aim for to hand my chapter for peer review to the writers?",
            "I'm worried about my May 2 deadline for handing the chapter for peer review to the"
            " local writers.",
            "I worry that I won't make the new May 9 deadline, can you plan in the extra peer"
            " review feedback?",
        ),
        (
            "Wie viele Bewerbungen habe ich verschickt?",
            "Ich habe jetzt 14 Bewerbungen verschickt, wie viele sind normal?",
            "Nach 21 verschickten Bewerbungen habe ich endlich ein Gespräch.",
        ),
    ],
)
def test_a_value_that_is_said_to_have_changed_comes_first(
    question: str, earlier: str, later: str
) -> None:
    assert order_of(question, (earlier, 1), ("Coffee is out again.", 2), (later, 3)) == [2, 0, 1]


@pytest.mark.parametrize(
    ("question", "earlier", "later"),
    [
        (
            "Which port does the dev API run on?",
            "The dev API runs on port 8080.",
            "Moved the desk 2 metres to the left.",
        ),
        (
            "Which port does the dev API run on?",
            "The dev API runs on port 8080.",
            "I like the dev API, it has 12 endpoints.",
        ),
        (
            "What does my sister paint in the summer?",
            "My sister paints 3 pictures in the summer.",
            "Moved to 12 Elm Street with my brother.",
        ),
        (
            "What is my salary?",
            "My salary is 3,200 a month.",
            "The salary of the new colleague was raised to 3,500.",
        ),
        (
            "When is my flight to Rome?",
            "My flight to Rome is at 9:40 on 12 December.",
            "The taxi to the flight to Rome costs 55 now, they raised the prices.",
        ),
        (
            "How many guests are coming to our wedding?",
            "We invited 40 guests to the wedding.",
            "Jo's wedding now has 120 guests, she moved it to a hall.",
        ),
        (
            "Wie hoch ist die Miete der Wohnung in Kassel?",
            "Die Wohnung in Kassel kostet 700 Euro Miete.",
            "Die Wohnung in Fulda kostet 640 Euro Miete.",
        ),
        (
            "What deadline should I aim for to send my reviewed chapter to the local writers?",
            "I'm worried about my May 2 deadline for sending the reviewed chapter to the local"
            " writers.",
            "The chapter on bees has a new deadline, May 30, for the museum.",
        ),
        (
            "What is my dose of metformin?",
            "I take 500 mg of metformin.",
            "The metformin was moved to shelf 4. " + "I tidied up all day long. " * 8,
        ),
    ],
)
def test_a_value_of_something_else_changes_no_order(
    question: str, earlier: str, later: str
) -> None:
    assert order_of(question, (earlier, 1), (later, 3)) == [0, 1]
