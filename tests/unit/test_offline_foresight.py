"""Foresight by rule: what holds for a while ends when it should, counted from the message and not
from the clock.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_core.adapters.offline.foresight import PASSING, said_foresight
from memory_core.domain.text.forward_dates import ahead
from tests.talk import FRIDAY, talk

MIDNIGHT = FRIDAY.replace(hour=0)
TIME_WORDS = [
    *("from", "until", "for", "on", "to", "tomorrow", "Friday", "May", "weeks", "days", "next"),
    *("bis", "ab", "morgen", "Mai", "Wochen", "31", "30", "0", "2.5", "2024-02-29", "…", "."),
]


def day(offset: int) -> datetime:
    return MIDNIGHT + timedelta(days=offset)


def date(year: int, month: int, number: int) -> datetime:
    return datetime(year, month, number, tzinfo=timezone.utc)


# said on Friday 8 May 2026 at noon; None as a beginning: right then
NAMED = [
    ("I'm travelling for two weeks.", None, FRIDAY + timedelta(days=14)),
    ("I'll be offline for the next 3 days", None, FRIDAY + timedelta(days=3)),
    ("I'm busy for the rest of the week", None, day(3)),
    ("I'm in Rome until Friday.", None, day(8)),
    ("I'm in Rome until Monday.", None, day(4)),
    ("I'm off until tomorrow", None, day(2)),
    ("I'll be in Rome until 3 December.", None, date(2026, 12, 4)),
    ("I'm on leave until 3 April", None, date(2027, 4, 4)),
    ("I'm on leave until January 2027", None, date(2027, 1, 1)),
    ("I work from home until the end of the month", None, date(2026, 6, 1)),
    ("I need to finish the report by Thursday.", None, day(7)),
    ("The deadline of the report is in two weeks.", day(14), day(21)),
    ("The tax return is due on 3 June.", date(2026, 6, 3), date(2026, 6, 4)),
    ("I have a dentist appointment tomorrow.", day(1), day(2)),
    ("I'm meeting Tom the day after tomorrow", day(2), day(3)),
    ("I'm visiting my parents this weekend", day(1), day(3)),
    ("I'm flying to Tokyo next week.", day(3), day(10)),
    ("I start my new job next month", date(2026, 6, 1), date(2026, 7, 1)),
    ("I have a meeting on Monday.", day(3), day(4)),
    ("I have an exam on 5 June.", date(2026, 6, 5), date(2026, 6, 6)),
    ("I have an exam on 2026-06-05.", date(2026, 6, 5), date(2026, 6, 6)),
    ("My brother and I are getting a dog in March", date(2027, 3, 1), date(2027, 4, 1)),
    ("I booked a flight for 5 July.", date(2026, 7, 5), date(2026, 7, 6)),
    ("I'm away from 3 to 10 June.", date(2026, 6, 3), date(2026, 6, 11)),
    ("I'm away from 28 December to 3 January", date(2026, 12, 28), date(2027, 1, 4)),
    ("I'm away from Monday to Wednesday", day(3), day(6)),
    ("Next week I'm in Oslo for three days.", day(3), day(6)),
    ("I'll be 40 in two weeks", day(14), day(21)),
    ("I'm at home until Easter", None, date(2027, 3, 28)),
    ("I'm saving money until Christmas", None, date(2026, 12, 25)),
    (
        "I have to be at the dentist on Thursday 21 May at 16:30.",
        date(2026, 5, 21).replace(hour=16, minute=30),
        date(2026, 5, 22),
    ),
    ("I have an interview next Thursday, May 21st.", date(2026, 5, 21), date(2026, 5, 22)),
    ("I'm at the dentist on Thursday the 21st.", date(2026, 5, 21), date(2026, 5, 22)),
    ("I'm in Rome until Thu 21 May.", None, date(2026, 5, 22)),
    ("I'm away from Thursday 21 May to Monday 25 May", date(2026, 5, 21), date(2026, 5, 26)),
    ("I have an exam on Monday 4 January", date(2027, 1, 4), date(2027, 1, 5)),
    ("We booked a hut, two nights from 5 June, 180 euros.", date(2026, 6, 5), date(2026, 6, 7)),
    ("I'm in Rome two nights from Monday.", day(3), day(5)),
    ("Ich bin für zwei Wochen in Spanien.", None, FRIDAY + timedelta(days=14)),
]
# said on Tuesday 17 November 2026 at 10
TUESDAY = datetime(2026, 11, 17, 10, tzinfo=timezone.utc)
HOURS = [
    ("My exam is next Wednesday at 10.", "2026-11-25 10:00"),
    ("I'm seeing the physio this Friday at 2.", "2026-11-20 14:00"),
    ("I'm meeting Tom next Monday.", "2026-11-23 00:00"),
    ("We're flying to Malaga on Saturday next week.", "2026-11-28 00:00"),
    ("I'm meeting Zoe at noon tomorrow.", "2026-11-18 12:00"),
    ("I have a call today at 3.", "2026-11-17 15:00"),
    ("I'm in class from 11 to 5 today.", "2026-11-17 11:00"),
    ("I have a call today at 8.", "2026-11-17 20:00"),
    ("My course starts on the first of December.", "2026-12-01 00:00"),
    ("Nächsten Mittwoch habe ich um 10 eine Prüfung.", "2026-11-25 10:00"),
    ("Diesen Donnerstag habe ich um halb zehn ein Vorstellungsgespräch.", "2026-11-19 09:30"),
    ("Nächste Woche Dienstag habe ich einen Arzttermin.", "2026-11-24 00:00"),
    ("Ich fliege am Freitag übernächster Woche nach Wien.", "2026-12-04 00:00"),
    ("Ich treffe Zoe morgen Mittag.", "2026-11-18 12:00"),
    ("Ich habe am ersten Dezember um Viertel vor neun Schule.", "2026-12-01 08:45"),
    ("Ich muss um fünf zur Feier am 5.12.", "2026-12-05 17:00"),
    ("来週の金曜日に東京へ出張します。", "2026-11-27 00:00"),
    ("今週の金曜日に面接があります。", "2026-11-20 00:00"),
    ("明日の正午にゾーイと会います。", "2026-11-18 12:00"),
    ("金曜日の午後4時半に電話があります。", "2026-11-20 16:30"),
]
USUAL = [
    ("I have a cold.", 7),
    ("I broke my leg", 42),
    ("I'm on holiday!", 14),
    ("I'm jet-lagged", 4),
    ("I'm pregnant", 280),
    ("I'm five months pregnant", 130),
    ("I'm training for a marathon", 90),
    ("Ich bin erkältet.", 7),
    ("Je suis enrhumée", 7),
    ("Tengo un resfriado", 7),
]
NOTHING_AHEAD = [
    "I had a cold last week.",
    "I broke my left wrist skiing in 2019.",
    "I had the flu in 2015.",
    "I no longer have a cold.",
    "I lived in Paris for two weeks.",
    "I moved to Lisbon in March.",
    "I ran a marathon in October.",
    "I was in Rome until Friday when I was a child",
    "I'm not going to Rome next week.",
    "Are you free tomorrow?",
    "If I go to Rome next week I'll call.",
    "He said 'I am away until Friday'.",
    "a: I will be down for two hours tomorrow.",
    "s: I am on holiday until Friday.",
    "<memory>I am on holiday until Friday</memory>",
    "I work on Mondays.",
    "I love summer.",
    "The train leaves tomorrow.",
    "She'll love that, thanks :) Could you check the weather for tomorrow, I want to cycle to work",
    "I have to cancel for tomorrow.",
    "I had my exam, it was on Thursday 7 May.",
    "I have to be at the dentist on Thursday 7 May.",
]


@pytest.mark.parametrize(("sentence", "start", "end"), NAMED)
def test_a_named_time_is_taken_from_the_message(
    sentence: str, start: datetime | None, end: datetime
) -> None:
    (foresight,) = said_foresight(talk(sentence))
    assert (foresight.start_time, foresight.end_time) == (start or FRIDAY, end)
    assert foresight.quote == sentence
    assert foresight.confidence == 0.9


@pytest.mark.parametrize(("sentence", "start"), HOURS)
def test_a_day_and_an_hour_are_those_that_people_mean(sentence: str, start: str) -> None:
    (foresight,) = said_foresight(talk(sentence, start=TUESDAY))
    assert f"{foresight.start_time:%Y-%m-%d %H:%M}" == start


@pytest.mark.parametrize(
    ("sentence", "hours"),
    [
        ("I have a viewing between 8 and 12 on Thursday.", (8, 12)),
        ("Ich habe am Donnerstag zwischen 14 und 16 Uhr eine Besichtigung.", (14, 16)),
        ("木曜日の8時から12時の間に会議があります。", (8, 12)),
    ],
)
def test_a_range_of_hours_has_its_end(sentence: str, hours: tuple[int, int]) -> None:
    (foresight,) = said_foresight(talk(sentence, start=TUESDAY))
    assert foresight.end_time is not None
    assert (foresight.start_time.hour, foresight.end_time.hour) == hours


def test_what_begins_and_has_no_end_is_given_none() -> None:
    (foresight,) = said_foresight(talk("From 1 June I'm their head of operations."))
    assert (foresight.start_time, foresight.end_time) == (date(2026, 6, 1), None)


# said on Tuesday 17 November 2026 at 10
EVERYDAY = [
    ("Dinner with Paul tonight at 8.", "2026-11-17 20:00"),
    ("Job interview on Thursday at three.", "2026-11-19 15:00"),
    ("Vet with Rufus tomorrow at 9:15.", "2026-11-18 09:15"),
    ("Parents' evening is on 2 December at 6pm.", "2026-12-02 18:00"),
    ("The plumber is coming between 8 and 12 on Thursday.", "2026-11-19 08:00"),
    ("I've got a call with the bank at half past four on Friday.", "2026-11-20 16:30"),
    ("Kids have no school on Monday.", "2026-11-23 00:00"),
    ("Ella has a piano recital on Saturday at 4 o'clock.", "2026-11-21 16:00"),
    ("Sam picks up the kids on Friday.", "2026-11-20 00:00"),
    ("There's a fire drill at work on Monday at 11.", "2026-11-23 11:00"),
    ("The certificate expires on 3 December.", "2026-12-03 00:00"),
    ("The deploy freeze is from 20 to 27 December.", "2026-12-20 00:00"),
    ("Code freeze from 20 to 27 December.", "2026-12-20 00:00"),
    ("Das Zertifikat läuft am 3. Dezember ab.", "2026-12-03 00:00"),
    ("証明書は12月3日に期限切れになります。", "2026-12-03 00:00"),
    ("We're keeping the dog for two weeks.", "2026-11-17 10:00"),
    ("Remind me to call mum on Sunday.", "2026-11-22 00:00"),
    ("Could you remind me to water the plants on Sunday?", "2026-11-22 00:00"),
    ("Don't let me forget to pay the rent on Friday.", "2026-11-20 00:00"),
    ("Abendessen mit Paul heute Abend um acht.", "2026-11-17 20:00"),
    ("Der Klempner kommt am Donnerstag zwischen 8 und 12.", "2026-11-19 08:00"),
    ("Die Kinder haben am Montag schulfrei.", "2026-11-23 00:00"),
    ("Morgen früh ist Wohnungsübergabe.", "2026-11-18 00:00"),
    ("Friseur morgen um 15 Uhr.", "2026-11-18 15:00"),
    ("Erinnere mich am Sonntag daran, Mama anzurufen.", "2026-11-22 00:00"),
    ("今夜8時にポールと夕食。", "2026-11-17 20:00"),
    ("木曜日の8時から12時の間に配管工が来ます。", "2026-11-19 08:00"),
    ("土曜日に両親が遊びに来る。", "2026-11-21 00:00"),
    ("日曜日に母に電話するのをリマインドして。", "2026-11-22 00:00"),
]
NOT_FORESEEN = [
    "We got a puppy on Saturday.",
    "My brother got engaged on Sunday.",
    "We had a barbecue on Sunday.",
    "He told me on Thursday that he's leaving.",
    "The plumber came on Thursday.",
    "Lunch with Sandra on Thursday was fun.",
    "What's on at the cinema tonight?",
    "On Mondays I swim.",
    "Grandma usually visits on Sunday.",
    "Dinner ideas for tonight, please.",
    "Find me a table for two tomorrow at 8.",
    "Write a story where a plumber is coming on Thursday at 8.",
    "The certificate expired on Monday.",
    "Freeze the soup on Friday.",
    "We keep backups for 14 days.",
    "Our logs are kept for 30 days.",
    "Wir behalten Backups für 14 Tage.",
    "In my novel the hero has a duel on Friday at noon.",
    "If the plumber comes on Thursday I'll stay home.",
    "Maybe the plumber is coming on Thursday.",
    "Remind me what the dentist said on Monday.",
    "The bus leaves on Saturday at 9.",
    "Happy birthday for Saturday!",
    "Am Samstag haben wir einen Welpen bekommen.",
    "Am Sonntag gab es bei uns Gulasch.",
    "Sonntags kommt Oma um drei.",
    "Am Sonntag kommt immer Oma.",
    "Angenommen, die Handwerker kommen am Freitag.",
    "Schreib eine Geschichte, in der am Freitag ein Klempner kommt.",
    "Was läuft heute Abend im Kino?",
    "土曜日に子犬を飼いました。",
    "土曜日のコンサートは楽しかったです。",
    "もし木曜日に配管工が来たら、家にいます。",
    "明日の夕食のレシピを考えて。",
]


@pytest.mark.parametrize(("sentence", "start"), EVERYDAY)
def test_an_everyday_appointment_is_foreseen_however_it_is_told(sentence: str, start: str) -> None:
    (foresight,) = said_foresight(talk(sentence, start=TUESDAY))
    assert f"{foresight.start_time:%Y-%m-%d %H:%M}" == start


@pytest.mark.parametrize("sentence", NOT_FORESEEN)
def test_what_is_over_repeats_is_asked_for_or_invented_is_not_foreseen(sentence: str) -> None:
    assert said_foresight(talk(sentence, start=TUESDAY)) == []


@pytest.mark.parametrize(("sentence", "days"), USUAL)
def test_what_passes_by_itself_ends_after_what_it_usually_takes(sentence: str, days: int) -> None:
    (foresight,) = said_foresight(talk(sentence))
    assert (foresight.start_time, foresight.end_time) == (FRIDAY, FRIDAY + timedelta(days=days))
    assert foresight.confidence < 0.9


def test_a_named_time_goes_before_the_usual_one() -> None:
    (foresight,) = said_foresight(talk("I have a cold and stay in bed until Sunday."))
    assert foresight.end_time == day(3)


@pytest.mark.parametrize("sentence", NOTHING_AHEAD)
def test_what_is_past_denied_supposed_or_not_ones_own_is_no_foresight(sentence: str) -> None:
    assert said_foresight(talk(sentence)) == []


@pytest.mark.parametrize(
    "text",
    ["My exam is on Monday. That was wrong. It's Tuesday.", "My exam is on Monday. No, Tuesday!"],
)
def test_a_day_put_right_in_the_same_message_is_the_one_foreseen(text: str) -> None:
    (foreseen,) = said_foresight(talk(text))
    assert foreseen.start_time.strftime("%A") == "Tuesday"
    assert "Monday" not in foreseen.description


def test_it_is_told_of_the_one_who_said_it() -> None:
    (foresight,) = said_foresight(talk("I'm travelling for two weeks.", actor="Ann"))
    assert foresight.description == "Ann is travelling for two weeks."


def test_everybody_passing_state_has_a_length() -> None:
    assert all(0 < row.days <= 365 for row in PASSING)


@given(
    st.sampled_from([sentence for sentence, *_ in NAMED]),
    st.integers(0, 100 * 365 * 24).map(lambda hours: date(1990, 1, 1) + timedelta(hours=hours)),
)
# on its first day
@example("I'm away from 3 to 10 June.", datetime(2000, 6, 3, 1, tzinfo=timezone.utc))
def test_on_whatever_day_it_is_said_it_lies_ahead(sentence: str, moment: datetime) -> None:
    window = ahead(sentence, moment)
    if window is not None:  # "2026-06-05" is over one day
        assert moment <= window.start < window.end


@given(
    st.one_of(
        st.text(max_size=80), st.lists(st.sampled_from(TIME_WORDS), max_size=8).map(" ".join)
    ),
    st.sampled_from([date(2, 1, 1), date(1999, 12, 31), date(2024, 2, 29), date(9990, 1, 1)]),
)
@example("until tomorrow …!", date(2024, 2, 29))
def test_no_text_is_too_odd(text: str, moment: datetime) -> None:
    """A text names no time, or one with a beginning and an end that is still ahead."""
    window = ahead(text, moment)
    assert window is None or moment < window.end > window.start


@given(
    st.sampled_from([sentence for sentence, *_ in [*NAMED, *USUAL]]),
    st.integers(0, 3 * 365).map(timedelta),
    st.sampled_from(
        [datetime.min.replace(tzinfo=timezone.utc), datetime.max.replace(tzinfo=timezone.utc)]
    ),
)
def test_what_would_end_outside_the_calendar_is_not_foreseen(
    sentence: str, away: timedelta, edge: datetime
) -> None:
    moment = edge + away if edge.year == 1 else edge - away
    for foresight in said_foresight(talk(sentence, start=moment)):
        assert moment <= foresight.start_time < foresight.end_time


@pytest.mark.parametrize(
    "done",
    [
        "I will miss this park, I ran here for nine years.",
        "I went for a run this afternoon.",
        "I made a curry tonight and it was better than expected.",
    ],
)
def test_what_somebody_did_is_not_foreseen_whatever_else_the_sentence_says(done: str) -> None:
    assert said_foresight(talk(done)) == []


@pytest.mark.parametrize(
    "ahead_of",
    [
        "I moved, and I start at Contoso on Monday.",
        "I looked at a race, it is in October.",
        "I can come this weekend.",
        "Please note that I have to be in Rome next week.",
    ],
)
def test_what_comes_is_foreseen_beside_what_was(ahead_of: str) -> None:
    assert len(said_foresight(talk(ahead_of))) == 1
