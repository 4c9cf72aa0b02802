"""Which lines of a context are marked as replaced by what was said later."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from memory_core.domain.ranking.selection import Piece
from memory_core.recollection import replaced_lines
from memory_core.recollection.replaced_lines import mark_replaced_pieces
from tests.builders import NOW

SOLD = "User sold the Golf and bought a Tesla."


def piece(name: str, text: str, *, order: int, days: int = 0) -> Piece:
    return Piece(
        id=name, at=NOW + timedelta(days=days), order=order, text=text, priority=1.0, said_by=""
    )


def marks(*pieces: Piece) -> list[str]:
    return [piece.mark for piece in mark_replaced_pieces(pieces, NOW + timedelta(days=600))]


def test_a_line_of_the_profile_is_not_replaced_by_what_told_it() -> None:
    assert marks(piece("mem_1", "car: a Tesla", order=3), piece("mem_2", SOLD, order=50)) == [
        "",
        "",
    ]


def test_a_line_of_the_profile_is_not_replaced_by_a_later_repeat_of_its_value() -> None:
    assert marks(
        piece("mem_1", "car: a Tesla", order=3), piece("mem_2", SOLD, order=50, days=2)
    ) == ["", ""]


def test_a_line_of_the_profile_is_replaced_by_what_ends_its_value() -> None:
    pet, _ = marks(
        piece("mem_1", "pet rufus: dog", order=3),
        piece("msg_2", "I don't have the dog any more.", order=50, days=2),
    )
    assert pet.startswith("replaced on ")


def test_what_was_said_before_is_marked_with_the_day_and_the_later_words() -> None:
    golf, sold = marks(
        piece("msg_1", "I drive an old Golf.", order=1),
        piece("msg_2", "I sold the Golf.", order=9, days=7),
    )
    assert golf.startswith(f"replaced on {(NOW + timedelta(days=7)).date()}: I sold the Golf")
    assert sold == ""


def test_lines_compared_again_without_a_change_are_not_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [
        piece("msg_1", "I feed the neighbour's parrot.", order=1),
        piece("msg_2", "I sold the trumpet.", order=9, days=7),
        piece("msg_3", "The trumpet lessons were fun.", order=12, days=8),
    ]
    assert marks(*lines) == ["", "", ""]
    texts: list[str] = []
    monkeypatch.setattr(replaced_lines, "read", texts.append)
    assert marks(*lines) == ["", "", ""]
    assert texts == []


def test_lines_laid_side_by_side_again_have_the_marks_that_they_had() -> None:
    lines = [
        piece("msg_1", "I drive an old Golf.", order=1),
        piece("msg_2", "I sold the Golf.", order=9),
        piece("msg_3", "Hi.", order=10),
    ]
    lines.append(piece("msg_4", "I moved the sofa to the window.", order=11))
    first = marks(*lines)
    assert marks(*lines) == first
    assert first[0]


def test_a_line_that_was_edited_is_laid_beside_the_others_anew() -> None:
    later = piece("msg_2", "I sold the Golf.", order=9)
    assert marks(piece("msg_1", "I drive an old Volvo.", order=1), later) == ["", ""]
    assert marks(piece("msg_1", "I drive an old Golf.", order=1), later)[0]


def test_of_two_turns_of_one_moment_the_later_in_order_marks_the_earlier() -> None:
    golf, sold = marks(
        piece("msg_1", "I drive an old Golf.", order=1), piece("msg_2", "I sold the Golf.", order=2)
    )
    assert golf
    assert not sold


def test_what_was_formed_at_the_moment_of_a_turn_is_not_replaced_by_it() -> None:
    assert marks(
        piece("mem_1", "User drives a Golf.", order=1), piece("msg_2", "I sold the Golf.", order=2)
    ) == ["", ""]


def test_one_later_message_marks_three_lines_at_most_the_likest() -> None:
    golf = [
        piece(f"msg_{n}", f"My Golf is parked {place}.", order=n)
        for n, place in enumerate(("at home", "here", "outside", "at work"))
    ]
    likest = piece("msg_7", "I drive the old Golf.", order=7)
    marks_of_pieces = marks(*golf, likest, piece("msg_9", "I sold the old Golf.", order=9, days=7))
    assert sum(map(bool, marks_of_pieces)) <= 3
    assert marks_of_pieces[4]


def test_a_line_of_the_profile_is_marked_where_what_it_names_has_another_time_now() -> None:
    line = piece("mem_1", "team meeting: Mondays at 9:30", order=1)
    assert marks(
        line,
        piece(
            "msg_2",
            "The team meeting has been put on Wednesdays at 14:00, so I can hand over.",
            order=9,
            days=7,
        ),
    )[0]
    for later in (
        "The team meeting was moved to Wednesday this week.",
        "My wife's team meeting has been moved to Wednesdays.",
        "Has the team meeting been moved to Wednesdays?",
        "The meeting with the team of Anna moved on.",
    ):
        assert marks(line, piece("msg_2", later, order=9, days=7)) == ["", ""], later


@pytest.mark.parametrize(
    ("before", "announced"),
    [
        ("I drive an old Golf.", "From 1 January 2027 I no longer drive the Golf."),
        ("I take my coffee black.", "Starting 1 January 2027 I no longer take my coffee black."),
        ("Ich wohne in Lissabon.", "Ab dem 1. Januar 2027 wohne ich nicht mehr in Lissabon."),
        ("My rent is 800 euros.", "The rent goes up to 950 euros from 1 January 2027."),
    ],
)
def test_what_is_announced_marks_the_earlier_line_from_its_day_on(
    before: str, announced: str
) -> None:
    pieces = (piece("msg_1", before, order=1), piece("msg_2", announced, order=9, days=7))
    begins = datetime(2027, 1, 1, tzinfo=timezone.utc)
    assert not mark_replaced_pieces(pieces, begins - timedelta(days=1))[0].mark
    for days in (0, 1):
        assert mark_replaced_pieces(pieces, begins + timedelta(days=days))[0].mark.startswith(
            "replaced on 2027-01-01: "
        ), days


@pytest.mark.parametrize(
    ("before", "moved"),
    [
        (
            "My flight is on the 14th of December 2026.",
            "They moved my flight to the 15th of December 2026.",
        ),
        ("I drive an old Golf.", "I sold the Golf on Monday."),
        ("I live in Lisbon.", "We've moved to Porto, and on 1 January 2027 I start a course."),
    ],
)
def test_what_is_so_already_marks_the_earlier_line_at_once(before: str, moved: str) -> None:
    pieces = (piece("msg_1", before, order=1), piece("msg_2", moved, order=9, days=7))
    assert mark_replaced_pieces(pieces, NOW + timedelta(days=8))[0].mark.startswith(
        f"replaced on {(NOW + timedelta(days=7)).date()}: "
    )


def test_a_fact_or_an_expectation_marks_what_it_replaces_from_its_own_beginning_on() -> None:
    begins = NOW + timedelta(days=30)
    for later in ("User is vegan", "from 2026-06-07: User no longer eats meat"):
        pieces = [
            piece("msg_1", "I eat meat every day.", order=1),
            replace(piece("mem_2", later, order=9, days=7), begins=begins),
        ]
        assert not mark_replaced_pieces(pieces, begins - timedelta(days=1))[0].mark
        if later.startswith("from"):
            assert mark_replaced_pieces(pieces, begins)[0].mark.startswith(
                f"replaced on {begins.date()}"
            )


def test_a_piece_that_is_not_told_marks_what_it_replaces() -> None:
    quoted = piece("msg_1", "The old Golf needs a radiator.", order=1)
    untold = piece("msg_2", "The Golf's gone to the scrapyard.", order=9, days=7)
    (line,) = mark_replaced_pieces([quoted], NOW + timedelta(days=600), [untold])
    assert line.mark.startswith(f"replaced on {(NOW + timedelta(days=7)).date()}: The Golf's gone")


def answer(name: str, text: str, *, order: int, days: int = 0) -> Piece:
    return replace(piece(name, text, order=order, days=days), said_by=None, speaker="assistant")


def test_an_answer_that_repeats_what_was_replaced_is_marked_with_it() -> None:
    golf, same_talk, sold = marks(
        piece("msg_1", "I drive a Golf with 90 hp.", order=1),
        answer("msg_2", "A Golf of that age needs a new belt.", order=2),
        piece("msg_3", "I sold the Golf.", order=9, days=7),
    )
    assert same_talk == f"about what was {golf}"
    assert sold == ""


@pytest.mark.parametrize(
    ("text", "days"), [("Then check the tyres.", 0), ("A Golf is a car of Volkswagen.", 2)]
)
def test_an_answer_about_something_else_or_of_another_day_is_not_marked(
    text: str, days: int
) -> None:
    marked_lines = marks(
        piece("msg_1", "I drive a Golf with 90 hp.", order=1),
        answer("msg_2", text, order=2, days=days),
        piece("msg_3", "I sold the Golf.", order=9, days=7),
    )
    assert marked_lines[0]
    assert marked_lines[1] == ""


@pytest.mark.parametrize(
    ("earlier", "later", "marked"),
    [
        (
            ("The rent of unit 2 is 700.", "The rent of unit 5 is 760."),
            "The rent of unit 5 went up to 800.",
            [1],
        ),
        (
            ("The Larkin poster is due on March 3.", "The Osmond leaflet is due on March 9."),
            "The Osmond leaflet is due on March 20 instead.",
            [1],
        ),
        (
            ("I'm flying to Malta on October 3.", "I'm flying to Riga on October 21."),
            "The Riga flight was moved to October 22.",
            [1],
        ),
        (
            ("My boat is insured with Nordia.", "My shop is insured with Falk."),
            "I switched the shop insurance to Sirius.",
            [1],
        ),
        (
            ("Am 3. Oktober fliege ich nach Malta.", "Am 21. Oktober fliege ich nach Riga."),
            "Der Flug nach Riga wurde auf den 22. verschoben.",
            [1],
        ),
        (
            ("Die Miete von Laden 1 beträgt 900 Euro.", "Die Miete von Laden 2 beträgt 950 Euro."),
            "Die Miete von Laden 2 ist auf 990 Euro gestiegen.",
            [1],
        ),
        (
            ("1号館の家賃は6万円です。", "2号館の家賃は7万円です。"),
            "2号館の家賃が8万円に上がりました。",
            [1],
        ),
        (
            ("The choir in Kent meets on Monday.", "The choir in Hove meets on Friday."),
            "The choir in Hove was moved to Sunday.",
            [1],
        ),
        (
            ("I drive a Golf.", "I drive my Golf to Bremen every Friday."),
            "Sold the Golf in Bremen.",
            [0, 1],
        ),
        (
            ("My rent is 800.", "I pay 800 a month for rent in Kent."),
            "My rent went up to 850.",
            [0, 1],
        ),
    ],
)
def test_a_change_is_left_to_the_line_that_it_names_most_closely(
    earlier: tuple[str, ...], later: str, marked: list[int]
) -> None:
    texts = (*earlier, later)
    pieces = [piece(f"msg_{n}", text, order=n, days=n) for n, text in enumerate(texts)]
    assert [n for n, mark in enumerate(marks(*pieces)) if mark] == marked


def test_a_part_is_not_left_to_its_own_sentence() -> None:
    insured, _ = marks(
        piece("msg_1", "Das Boot ist bei Nordia versichert, der Laden bei Falk.", order=1),
        piece(
            "msg_2",
            "Mit dem Boot bin ich zu Sirius gewechselt, der Laden bleibt bei Falk.",
            order=2,
            days=1,
        ),
    )
    assert insured.startswith('"Das Boot ist bei Nordia versichert" replaced on ')


def test_a_list_of_things_is_marked_with_each_that_is_over() -> None:
    owned, *_ = marks(
        piece("msg_1", "I own a red kayak, a yellow canoe and a white dinghy.", order=1),
        piece("msg_2", "Sold the yellow canoe.", order=2, days=1),
        piece("msg_3", "The dinghy got stolen.", order=3, days=2),
    )
    assert owned == (
        f'"a yellow canoe" replaced on {(NOW + timedelta(days=1)).date()}: Sold the yellow canoe.; '
        f'"a white dinghy" replaced on {(NOW + timedelta(days=2)).date()}: The dinghy got stolen.'
    )
