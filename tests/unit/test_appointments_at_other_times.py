"""What a later sentence says about an appointment: its new time, or that it is called off."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from memory_core.adapters.offline.own_plans import is_own
from memory_core.domain.statements.change_messages import read
from memory_core.domain.statements.changes import change
from memory_core.domain.statements.rescheduled import Appointment, Rescheduling, rescheduling
from memory_core.recollection.expectations import may_change

SAID_AT = datetime(2026, 5, 8, 12, tzinfo=timezone.utc)
MONDAY = datetime(2026, 5, 11, 9, tzinfo=timezone.utc)


def effect(earlier: str, later: str, *, follows: bool = False) -> Rescheduling | None:
    """The effect of the last sentence of a text on an appointment on Monday at 9."""
    before = Appointment(read(earlier).sentences[0], MONDAY, MONDAY + timedelta(hours=1))
    return rescheduling(before, read(later).sentences[0], SAID_AT, follows=follows)


@pytest.mark.parametrize(
    ("earlier", "later", "day"),
    [
        (
            "I have a driving lesson on Monday at 9.",
            "My instructor is ill so my driving lesson got switched to Thursday at 9.",
            14,
        ),
        (
            "Ich habe am Montag um 9 Uhr Fahrstunde.",
            "Mein Fahrlehrer ist krank, deshalb ist die Fahrstunde auf Donnerstag gerutscht.",
            14,
        ),
        ("月曜日の9時に教習があります。", "教官が病気なので、教習は木曜に回されました。", 14),
        (
            "The car goes in for its service on Monday.",
            "The garage rang, they want to do the service on Wednesday instead.",
            13,
        ),
        (
            "Am Montag ist die Inspektion.",
            "Die Werkstatt rief an, sie wollen die Inspektion lieber am Mittwoch machen.",
            13,
        ),
        ("月曜日に車の点検があります。", "点検は水曜日にしてほしいそうです。", 13),
    ],
)
def test_an_appointment_is_put_to_another_time_by_whom_it_is_with(
    earlier: str, later: str, day: int
) -> None:
    change = effect(earlier, later)
    assert change is not None
    assert change.start == MONDAY.replace(day=day)


@pytest.mark.parametrize(
    "later",
    [
        "Der Zahnarzttermin ist abgesagt.",
        "Der Zahnarzttermin ist geplatzt.",
        "Der Zahnarzttermin wurde gestrichen.",
        "Der Zahnarzttermin fällt flach.",
        "Der Zahnarzttermin fällt leider aus.",
        "Der Zahnarzttermin findet am Montag nicht statt.",
    ],
)
def test_a_german_appointment_is_called_off_in_any_of_its_words(later: str) -> None:
    change = effect("Ich habe am Montag einen Zahnarzttermin.", later)
    assert change is not None
    assert change.start is None
    assert may_change(later), "else no context looks at it"


def test_a_correction_may_begin_with_an_interjection() -> None:
    change = effect("面接は月曜の9時からです。", "あ、ごめん、月曜じゃなくて火曜だ。", follows=True)
    assert change is not None
    assert change.start == MONDAY.replace(day=12)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I have a driving lesson on Monday.", "If she's ill, the driving lesson gets moved."),
        ("I have a driving lesson on Monday.", "My sister's lesson got switched to Thursday."),
        ("I have a blood test on Monday.", "I want to do the washing on Wednesday instead."),
        ("I have a blood test on Monday.", "Tom wants to do his blood test on Wednesday instead."),
        ("The service is on Monday.", "Maybe they want to do the service on Wednesday instead."),
        ("Am Montag ist die Inspektion.", "Vielleicht wollen sie die Inspektion lieber morgen."),
        ("月曜日に車の点検があります。", "点検は水曜日にしてほしいな。"),
    ],
)
def test_a_wish_or_another_persons_appointment_moves_nothing(earlier: str, later: str) -> None:
    assert effect(earlier, later) is None


@pytest.mark.parametrize(
    ("text", "is_german"),
    [
        ("Hab am Donnerstag um 17 Uhr Friseur.", True),
        ("Habe morgen Yoga.", True),
        ("Car goes in for its service on Monday.", False),
    ],
)
def test_an_appointment_is_the_speakers_without_a_word_for_the_speaker(
    text: str, is_german: bool
) -> None:
    assert is_own(text, german=is_german, japanese=False)


def test_a_time_at_the_end_of_a_japanese_sentence_is_the_speakers() -> None:
    assert is_own("面接は月曜の午後2時から。", german=False, japanese=True)


@pytest.mark.parametrize("year", [1, 9999])
def test_an_appointment_at_the_end_of_all_days_is_left_as_it_is(year: int) -> None:
    start = datetime(year, 12, 31, 23, tzinfo=timezone.utc)
    before = Appointment(read("I have a haircut on Friday.").sentences[0], start, start)
    later = read("The haircut was moved to the 3rd at 5.").sentences[0]
    assert rescheduling(before, later, SAID_AT, follows=True) is None


@pytest.mark.parametrize(("days", "ground"), [(1, "ends"), (40, None)])
def test_words_about_an_appointment_that_is_over_change_nothing(
    days: int, ground: str | None
) -> None:
    changed = change(
        "I have a piano lesson on Monday at 5.",
        "She is ill, so no lesson on Monday.",
        (SAID_AT, SAID_AT + timedelta(days=days)),
    )
    assert (None if changed is None else changed.ground) == ground


DENTIST = "I have a dentist appointment on Monday at 9."
ZAHNARZT = "Ich habe am Montag um 9 Uhr einen Zahnarzttermin."
HAISHA = "月曜日の9時に歯医者があります。"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (DENTIST, "The dentist was postponed."),
        (DENTIST, "I had to postpone the dentist."),
        (DENTIST, "They have put off my dentist appointment until further notice."),
        (DENTIST, "We pushed the dentist back."),
        (DENTIST, "The dentist had to be rescheduled."),
        (ZAHNARZT, "Der Zahnarzttermin wurde verschoben."),
        (ZAHNARZT, "Ich musste den Zahnarzttermin leider verschieben."),
        (ZAHNARZT, "Der Zahnarzttermin am Montag ist vertagt worden."),
        (HAISHA, "歯医者は延期になった。"),
        (HAISHA, "月曜日の歯医者を延期しました。"),
    ],
)
def test_an_appointment_that_is_put_off_without_a_new_time_has_none(
    earlier: str, later: str
) -> None:
    change = effect(earlier, later)
    assert change is not None
    assert (change.effect, change.start) == ("put off", None)
    assert may_change(later), "else no context looks at it"


@pytest.mark.parametrize(
    ("later", "kind"),
    [
        ("It was postponed.", "put off"),
        ("Er wurde verschoben.", "put off"),
        ("延期になりました。", "put off"),
        ("中止になりました。", "called off"),
        ("It's cancelled.", "called off"),
        ("It was not cancelled.", None),
    ],
)
def test_the_next_sentence_need_not_name_the_appointment(later: str, kind: str | None) -> None:
    change = effect(DENTIST if later.isascii() else HAISHA, later, follows=True)
    assert (None if change is None else change.effect) == kind


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (DENTIST, "I never cancel on the dentist."),
        (DENTIST, "The dentist appointment was not cancelled."),
        (DENTIST, "The dentist wasn't postponed."),
        (DENTIST, "Did the dentist cancel?"),
        (DENTIST, "The dentist often cancels."),
        (DENTIST, "I can cancel the dentist until Sunday."),
        (DENTIST, "The dentist charges for cancelled appointments."),
        (DENTIST, "I forgot to cancel the dentist."),
        (DENTIST, "I hope the dentist is postponed."),
        (DENTIST, "The dentist was cancelled last year."),
        (DENTIST, "My sister's dentist appointment was postponed."),
        (DENTIST, "The dentist on Wednesday was postponed."),
        (DENTIST, "I was put off by the dentist."),
        (DENTIST, "If the dentist is postponed I'll go swimming."),
        (DENTIST, "We never postpone the dentist."),
        (ZAHNARZT, "Hat der Zahnarzt den Termin abgesagt?"),
        (ZAHNARZT, "Der Zahnarzttermin fällt nicht aus."),
        (ZAHNARZT, "Der Zahnarzt sagt nie einen Termin ab."),
        (ZAHNARZT, "Der Zahnarzttermin wurde nicht verschoben."),
        (ZAHNARZT, "Den Zahnarzttermin kann ich bis Sonntag absagen."),
        (ZAHNARZT, "Letztes Jahr wurde der Zahnarzttermin verschoben."),
        (ZAHNARZT, "Der Zahnarzttermin von Anna ist verschoben."),
        (HAISHA, "歯医者は中止になりませんでした。"),
        (HAISHA, "歯医者は延期にはならなかった。"),
        (HAISHA, "歯医者を延期できますか。"),
        (HAISHA, "歯医者を延期したい。"),
        (HAISHA, "弟の歯医者は延期になった。"),
        (HAISHA, "歯医者はよくキャンセルされる。"),
    ],
)
def test_harmless_words_call_no_appointment_off(earlier: str, later: str) -> None:
    assert effect(earlier, later) is None


def test_the_month_of_may_is_no_doubt() -> None:
    change = effect("I have a maths exam on 11 May.", "The maths exam on 11 May is cancelled.")
    assert change is not None
    assert change.effect == "called off"
