"""States, plans and arrangements that are told in short sentences become facts; what passes does
not.
"""

from __future__ import annotations

import pytest

from tests.unit.test_everyday_changes import stored

STATES = [
    "I'm planning a road trip through Norway in July.",
    "We're renovating our bathroom.",
    "I'm writing a book about lighthouses.",
    "I want to buy a cargo bike.",
    "I'm going to enrol in an evening course in pottery.",
    "Hannah is my landlady.",
    "My gym membership costs me 39 euros a month.",
    "I see a physiotherapist twice a month.",
    "My surgeon put me on blood thinners.",
    "Our internet is from a small local provider.",
    "I'm taking antibiotics for my tooth.",
    "My contract ends in November.",
    "I'm reading Middlemarch.",
    "My niece wants to be a pilot.",
    "I'm staying at my aunt's place in Leith.",
    "The code for the bike shed is 8812.",
    "Ich möchte im Frühjahr nach Schottland.",
    "Wir wollen uns einen Wohnwagen kaufen.",
    "Ich will Tischlerin werden.",
    "Mein Handyvertrag läuft noch bis Oktober.",
    "Wir suchen eine größere Wohnung in Bremen.",
    "Spotifyに登録しています。",
    "電車で通学しています。",
    "葉巻を吸います。",
    "川沿いのカフェによく行きます。",
    "Zoomで授業をしています。",
    "赤いバイクを持っています。",
    "冬に北欧へ行きたいです。",
    "診察は9時半です。",
    "補聴器をつけています。",
    "中古のカメラを使っています。",
    "週末は妻と登山をしています。",
]
PASSING = [
    "I'm going to bed.",
    "I'm having trouble with my keyboard.",
    "I want to know more about that.",
    "I want to thank everybody for coming.",
    "I'm getting a weird popup.",
    "I'm going to try it out.",
    "I'm writing an email to complain about a delayed parcel.",
    "I see what went wrong.",
    "I'm reading your answer.",
    "I want to make this sentence shorter.",
    "I'm taking a break.",
    "I'm planning to ask you a few more things.",
    "I sit here and can't think of a title.",
    "The code in the second cell is 404.",
    "Ich möchte den Text kürzen.",
    "Ich will nur kurz etwas fragen.",
    "Wir suchen einen Reim auf Mond.",
    "Ich möchte mehr dazu wissen.",
    "Wir wollen gleich essen.",
    "電車を待っています。",
    "資料を開いています。",
    "今お風呂に入っています。",
    "もっと詳しく知りたいです。",
    "この文を短くしたいです。",
    "画面に変な文字が出ています。",
    "返事を待っています。",
    "道に迷っています。",
    "もう寝ます。",
    "トイレに行きたいです。",
    "宿題をしています。",
    "頭が痛いです。",
]


@pytest.mark.parametrize("text", STATES)
def test_a_state_that_may_end_is_a_fact(text: str) -> None:
    assert stored(text)


@pytest.mark.parametrize("text", PASSING)
def test_what_passes_is_no_fact(text: str) -> None:
    assert not stored(text)
