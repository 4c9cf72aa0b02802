"""The lives of a year and what must hold in it: when things are told and asked,
and which figures are called broken.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from bench.locomo_data import Conversation, Question, Turn
from bench.year import daily, moved
from bench.year.lived import Lived, Standing, Stored
from bench.year.lives import LONGEST_SESSION, MONTHS, YEAR, of_conversation
from bench.year.report import Told, recall, verdicts


def turn(session: int, place: int, minutes: float = 0) -> Turn:
    at = datetime.fromisoformat("2023-05-08T13:56:00+00:00") + timedelta(
        days=session, minutes=minutes or place
    )
    return Turn(
        f"D{session}:{place}",
        f"session-{session}",
        "Ana",
        f"turn {place} of {session}",
        at.isoformat(),
    )


def conversation(*questions: Question, sessions: int = 24) -> Conversation:
    return Conversation(
        "talk",
        [turn(session, place) for session in range(sessions) for place in range(3)],
        list(questions),
    )


def asked(text: str, *evidence: str, kind: str = "single-hop") -> Question:
    return Question(text, 4, frozenset(evidence), kind)


def month(number: int, **more: int) -> Stored:
    fields = {
        "turns": 100 * (number + 1),
        "told_bytes": 0,
        "documents": 400 * (number + 1),
        "stored": 9_000 * (number + 1),
    }
    return Stored(
        month=number,
        **{**fields, **more},
        faded=0,
        hours=0,
        telling_requests=0,
        telling_units=0,
        run_requests=0,
        run_units=0,
    )


def standing(month: int, told_month: int, ours: float, peer: float = 1.0) -> Standing:
    return Standing(
        month=month,
        told_month=told_month,
        question=told_month,
        turn=f"D{told_month}",
        ours=ours,
        peer=peer,
        words=100,
    )


def lived(beginning: float, months: list[Stored] | None = None) -> Lived:
    answers = [
        standing(number, told_month, beginning if told_month == 0 < number else 1.0)
        for number in range(MONTHS)
        for told_month in {0, number}
    ]
    return Lived("a life", months or [month(number) for number in range(MONTHS)], answers)


def test_sessions_lie_evenly_over_the_year_in_their_order() -> None:
    life = of_conversation(conversation())
    starts = [datetime.fromisoformat(chat.turns[0].at) for chat in life.chats]
    assert [chat.session for chat in life.chats] == [f"session-{number}" for number in range(24)]
    assert {later - earlier for earlier, later in pairwise(starts)} == {YEAR / 24}
    assert [life.month_of(chat.ends_at) for chat in life.chats] == [
        number // 2 for number in range(24)
    ]


def test_turns_of_a_session_stay_as_far_apart_as_they_were() -> None:
    chat = of_conversation(conversation()).chats[3]
    first, last = (datetime.fromisoformat(chat.turns[place].at) for place in (0, -1))
    assert last - first == timedelta(minutes=2)
    assert chat.ends_at == last


def test_a_session_of_days_is_told_within_hours() -> None:
    talk = Conversation("talk", [turn(0, 0), turn(0, 1, minutes=3_000), turn(9, 0)], [])
    chat = of_conversation(talk).chats[0]
    assert chat.ends_at - datetime.fromisoformat(chat.turns[0].at) == LONGEST_SESSION


def test_a_question_is_asked_once_all_of_its_evidence_is_told() -> None:
    (question,) = of_conversation(conversation(asked("What was said?", "D0:1", "D7:0"))).questions
    assert question.evidence == {"D0:1": 0, "D7:0": 3}
    assert [question.is_answerable(number) for number in range(5)] == [
        False,
        False,
        False,
        True,
        True,
    ]


def test_questions_that_name_a_date_or_have_no_answer_are_left_out() -> None:
    dated, adversarial = (
        asked("What was said in July?", "D0:1"),
        asked("Who flew?", "D0:1", kind="adversarial"),
    )
    question = asked("What may it be?", "D0:1")
    assert [
        kept_question.text
        for kept_question in of_conversation(conversation(dated, adversarial, question)).questions
    ] == [question.text]


def test_one_seed_makes_one_life_and_another_seed_another() -> None:
    assert daily.life(3) == daily.life(3) != daily.life(4)


def test_every_month_of_a_made_up_life_has_the_same_number_of_facts_each_in_one_turn_of_the_user() -> (  # noqa: E501
    None
):
    life = daily.life(every_days=12)
    turns = {turn.id: turn for chat in life.chats for turn in chat.turns}
    months = [month for question in life.questions for month in question.evidence.values()]
    assert {months.count(number) for number in range(MONTHS)} == {10}
    assert {
        turns[turn_id].actor for question in life.questions for turn_id in question.evidence
    } == {daily.USER}
    assert (
        len({question.text for question in life.questions if question.until is None})
        == len(life.questions) - daily.CHANGED_AFTER
    )


def test_a_truth_is_asked_about_until_it_is_told_anew() -> None:
    life = daily.life()
    dentists = [question for question in life.questions if question.text == "Who is my dentist?"]
    (old, new) = sorted(dentists, key=lambda question: max(question.evidence.values()))
    assert old.until is not None
    assert new.until is None
    assert life.month_of(old.until) == max(new.evidence.values()) == daily.CHANGED_AFTER


def test_a_life_that_falls_silent_keeps_its_beginning_alone() -> None:
    silent = daily.life().first_months(1, "silent")
    assert {silent.month_of(chat.ends_at) for chat in silent.chats} == {0}
    assert {month for question in silent.questions for month in question.evidence.values()} == {0}


def test_recall_is_of_the_turns_told_in_a_month_not_of_all_that_was_asked() -> None:
    answers = [
        standing(5, 5, 1.0),
        standing(5, 2, 0.5),
        standing(5, 0, 0.0, peer=0.25),
        standing(4, 0, 1.0),
    ]
    figures = recall([Told(Lived("a life", [], answers))], 5)
    assert (
        figures.now,
        figures.earlier,
        figures.beginning,
        figures.peer_beginning,
        figures.unfading,
    ) == (1.0, 0.5, 0.0, 0.25, None)


def test_a_year_in_which_nothing_is_lost_breaks_nothing() -> None:
    assert not any(
        verdict.broken for verdict in verdicts([Told(lived(0.98), lived(1.0), even=True)])
    )


def test_a_beginning_that_falls_behind_is_broken_in_every_such_month() -> None:
    made = verdicts([Told(lived(0.9), lived(1.0), even=True)])
    assert [len(verdict.broken) for verdict in made] == [MONTHS - 1, 1, 0]


def test_where_questions_are_uneven_the_twin_alone_is_the_measure() -> None:
    """A twin that finds as little had the same hard questions, and no time took anything."""
    assert not any(verdict.broken for verdict in verdicts([Told(lived(0.6), lived(0.62))]))


def test_a_turn_that_takes_more_and_more_is_broken() -> None:
    months = [month(number, documents=400 * (number + 1) ** 2) for number in range(MONTHS)]
    (growth,) = verdicts([Told(lived(1.0, months))])
    assert growth.broken == ["a life, documents 4.00"]


def test_a_silent_life_that_grows_is_broken() -> None:
    still = [month(number, turns=100, documents=400, stored=9_000) for number in range(MONTHS)]
    grown = [*still[:-1], replace(still[-1], documents=440)]
    (verdict,), (broken,) = [
        verdicts([Told(lived(1.0, months), silent_after=0)]) for months in (still, grown)
    ]
    assert verdict.broken == []
    assert broken.broken == ["a life, documents 1.10"]


def test_talks_together_are_judged_by_all_of_their_questions() -> None:
    """A question more or less of a short talk is no loss of time."""
    talks = [
        moved.Talk(name, [], [("what?", frozenset())] * count)
        for name, count in (("long", 90), ("short", 10))
    ]
    days = [
        [moved.Moved(0, 0.8, 0.9, 70), moved.Moved(400, recall, 0.9, 70)] for recall in (0.8, 0.7)
    ]
    whole = moved.together(list(zip(talks, days, strict=True)))
    assert [round(day.recall, 3) for day in whole] == [0.8, 0.79]
    assert [day.whole for day in whole] == [140, 140]
    assert moved.broken("both", whole) == []
    assert moved.broken("short", days[1]) == ["short, day 400: recall@10 0.700"]
