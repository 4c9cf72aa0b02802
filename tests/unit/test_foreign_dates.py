"""What is ahead in German and Japanese, by rule."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from memory_core.adapters.offline.foresight import said_foresight
from tests.talk import FRIDAY, talk

DAY, MIDNIGHT = timedelta(1), FRIDAY.replace(hour=0)


def date(month: int, number: int) -> datetime:
    return datetime(2026, month, number, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Ich habe morgen einen Zahnarzttermin.", MIDNIGHT + DAY, MIDNIGHT + 2 * DAY),
        ("Morgen habe ich einen Zahnarzttermin.", MIDNIGHT + DAY, MIDNIGHT + 2 * DAY),
        (
            "Am Montag um 9 Uhr habe ich ein Vorstellungsgespräch.",
            MIDNIGHT + 3 * DAY + timedelta(hours=9),
            MIDNIGHT + 4 * DAY,
        ),
        ("Ich fliege nächste Woche nach Rom.", MIDNIGHT + 3 * DAY, MIDNIGHT + 10 * DAY),
        ("Ich habe am 12. Dezember eine Prüfung.", date(12, 12), date(12, 13)),
        ("Ich bin bis Freitag in Wien.", FRIDAY, MIDNIGHT + 8 * DAY),
        ("In zwei Wochen ziehe ich um.", MIDNIGHT + 14 * DAY, MIDNIGHT + 21 * DAY),
        ("Ab Montag mache ich Diät.", MIDNIGHT + 3 * DAY, None),
        ("明日、歯医者の予約があります。", MIDNIGHT + DAY, MIDNIGHT + 2 * DAY),
        ("来週、京都に出張します。", MIDNIGHT + 3 * DAY, MIDNIGHT + 10 * DAY),
        (
            "Ich muss am Donnerstag, den 21. Mai um 9 zum Arzt.",
            date(5, 21) + timedelta(hours=9),
            date(5, 22),
        ),
        ("Ich bin bis Freitag, 22.5. in Rom.", MIDNIGHT + timedelta(hours=12), date(5, 23)),
        ("5月21日(木)に歯医者の予約があります。", date(5, 21), date(5, 22)),
        ("5月20日に引っ越します。", date(5, 20), date(5, 21)),
        ("Ich bin vom 5. bis 8. Dezember in Rom.", date(12, 5), date(12, 9)),
        ("Ich fliege vom 5.12. bis 8.12. nach Rom.", date(12, 5), date(12, 9)),
        ("Ich bin von Montag bis Mittwoch in Rom.", MIDNIGHT + 3 * DAY, MIDNIGHT + 6 * DAY),
        ("Ich bin ab dem 5.12. im Urlaub.", date(12, 5), None),
        ("Ich habe am 5.12. um fünf eine Feier.", date(12, 5) + timedelta(hours=17), date(12, 6)),
        ("12月5日から8日まで旅行します。", date(12, 5), date(12, 9)),
        ("月曜日に面接があります。", MIDNIGHT + 3 * DAY, MIDNIGHT + 4 * DAY),
        ("来月から在宅勤務です。", date(6, 1), None),
        (
            "明日は午後3時に会議があります。",
            MIDNIGHT + DAY + timedelta(hours=15),
            MIDNIGHT + 2 * DAY,
        ),
    ],
)
def test_a_time_ahead_is_read(text: str, start: datetime, end: datetime | None) -> None:
    ((begins, ends),) = [
        (foresight.start_time, foresight.end_time) for foresight in said_foresight(talk(text))
    ]
    assert (begins, ends) == (start, end)


@pytest.mark.parametrize(
    "text",
    [
        "Ich gehe jeden Montag zum Yoga.",
        "Guten Morgen, ich bin müde.",
        "Ich mag den Morgen.",
        "Ich trinke morgens Kaffee.",
        "Ich war am Montag in Rom.",
        "Ich habe am Montag einen Kuchen gebacken.",
        "Wir sind am Sonntag nach Bonn gefahren.",
        "Habe ich morgen einen Termin?",
        "毎週月曜日にヨガに行きます。",
        "昨日、公園に行きました。",
        "明日何をすればいい？",
        "明るい日が好きです。",
    ],
)
def test_what_is_over_comes_back_or_asks_is_not_ahead(text: str) -> None:
    assert said_foresight(talk(text)) == []
