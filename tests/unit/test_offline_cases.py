"""Cases that readers of the product tried first, by rule: a thought in two messages, habits and
days, hours, names of several, numbers.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memory_core.adapters.offline.behaviour import episode_analysis
from memory_core.adapters.offline.boundaries import boundaries
from memory_core.adapters.offline.facts import said_facts
from memory_core.adapters.offline.foresight import said_foresight
from memory_core.adapters.offline.summary import keywords_of
from memory_core.adapters.offline.voice import third_person
from memory_core.domain.conversation import Message
from memory_core.recollection.quotations import is_ahead
from tests.talk import FRIDAY, talk

MIDNIGHT = FRIDAY.replace(hour=0)


def facts(*texts: str) -> list[tuple[str, str | None, str]]:
    return [(fact.text, fact.attribute, fact.quote) for fact in said_facts(talk(*texts))]


@pytest.mark.parametrize(
    "texts",
    [
        ("My favorite movie is…", "…The Matrix"),
        ("My favorite movie is...", "...The Matrix"),
        ("My favorite movie is…", "a: Yes?", "…The Matrix"),
    ],
)
def test_a_statement_that_breaks_off_goes_on_in_the_next_message_of_its_speaker(
    texts: tuple[str, ...],
) -> None:
    ((text, attribute, quote),) = facts(*texts)
    assert (text, attribute) == ("User's favourite movie is The Matrix", "favourite movie")
    assert quote.endswith("The Matrix")
    assert boundaries(talk(*texts), None, timedelta(hours=6)).cuts == []


def test_dots_at_the_end_of_a_whole_statement_take_nothing_of_it() -> None:
    assert facts("I live in Berlin...", "Nice day today") == [
        ("User lives in Berlin", "home city", "I live in Berlin...")
    ]


def foreseen(text: str) -> list[tuple[datetime, datetime | None]]:
    return [(foresight.start_time, foresight.end_time) for foresight in said_foresight(talk(text))]


@pytest.mark.parametrize(
    "text",
    [
        "My backups always run on Monday mornings.",
        "I have yoga every Monday.",
        "I usually have lunch with Tom on Friday.",
        "My shift is on Sunday evenings, always.",
    ],
)
def test_what_comes_back_is_no_day_ahead(text: str) -> None:
    assert foreseen(text) == []


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("From tomorrow I work from home.", MIDNIGHT + timedelta(1)),
        ("Starting next week I work from home.", MIDNIGHT + timedelta(3)),
        ("From Monday on I am on a diet.", MIDNIGHT + timedelta(3)),
    ],
)
def test_what_begins_one_day_does_not_begin_before_it_and_goes_on(
    text: str, start: datetime
) -> None:
    ((begins, ends),) = foreseen(text)
    assert (begins, ends) == (start, None)


def test_a_holiday_that_begins_tomorrow_ends_when_it_is_over() -> None:
    assert foreseen("From tomorrow I am on holiday for two weeks.") == [
        (MIDNIGHT + timedelta(1), MIDNIGHT + timedelta(15))
    ]


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("I have a dentist appointment tomorrow at 9.", 9),
        ("I have a dentist appointment tomorrow at 9:30.", 9.5),
        ("I have a call tomorrow at 3 pm", 15),
        ("I have a call tomorrow at 3", 15),
        ("I have a call tomorrow at 8 am.", 8),
        ("I have a call tomorrow at 12 pm.", 12),
        ("I have an exam tomorrow at 25.", 0),
        ("I'm selling the bike tomorrow at 90 euros", 0),
    ],
)
def test_an_hour_beside_a_day_is_when_it_begins(text: str, hours: float) -> None:
    assert foreseen(text) == [(MIDNIGHT + timedelta(1, hours=hours), MIDNIGHT + timedelta(2))]


@pytest.mark.parametrize(
    "text",
    [
        "I'm starting a new keto diet today",
        "I started a low-carb diet.",
        "I'm trying the keto diet",
    ],
)
def test_a_diet_that_is_begun_is_expected_to_last_a_month(text: str) -> None:
    assert foreseen(text) == [(FRIDAY, FRIDAY + timedelta(30))]


def test_what_is_ahead_is_so_only_for_a_while_before_it_begins() -> None:
    (foresight,) = said_foresight(talk("I have a dentist appointment on 5 June at 9."))
    month = timedelta(30)
    assert not is_ahead(foresight, FRIDAY - timedelta(10), month)  # type: ignore[arg-type]
    assert is_ahead(foresight, FRIDAY, month)  # type: ignore[arg-type]
    assert not is_ahead(foresight, foresight.start_time, month)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I first roll back.", "User first rolls back."),
        (
            "When it fails, I first roll back, then I check.",
            "When it fails, User first rolls back, then User checks.",
        ),
        ("Priya and I write the docs.", "Priya and User write the docs."),
        ("My husband and I live in Rome.", "User's husband and User live in Rome."),
        ("My sister Lena and I am late", "User's sister Lena and User are late"),
        ("I like tea and I drink coffee.", "User likes tea and User drinks coffee."),
        ("I usually take the bus", "User usually takes the bus"),
        ("Hey, me again.", None),
        ("It's me!", None),
    ],
)
def test_a_verb_is_that_of_who_it_is_about(sentence: str, expected: str | None) -> None:
    assert third_person(sentence, "User") == expected


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("My budget for the kitchen is 12,000 euros.", ["12,000 euros", "budget", "kitchen"]),
        ("The fridge costs 1,299.50 euros.", ["1,299.50 euros", "fridge costs"]),
        ("We use version 3.12.1 of Python", ["3.12.1", "version", "Python"]),
        ("私は東京に住んでいます。猫を二匹飼っています。", ["東京", "二匹", "猫"]),
        ("週末はよく山に登ります。", ["週末", "山"]),
        ("毎朝散歩します。買い物は土曜日です。", ["毎朝散歩", "買い物", "土曜日"]),
    ],
)
def test_numbers_and_words_of_japanese_stay_whole_in_keywords(
    text: str, keywords: list[str]
) -> None:
    assert sorted(keywords_of([text])) == sorted(keywords)


@pytest.mark.parametrize(
    "text",
    ["Please don't show me unittest examples", "No more examples please, never give me an example"],
)
def test_a_wish_that_is_denied_is_no_guidance(text: str) -> None:
    analysis = episode_analysis([Message(role="user", content=text, timestamp=FRIDAY)])
    assert analysis.future_guidance.recommended_approaches == []
    assert "example" not in analysis.behavioral_profile.learning


def test_a_wish_is_guidance() -> None:
    analysis = episode_analysis(
        [Message(role="user", content="Can you show me an example?", timestamp=FRIDAY)]
    )
    assert analysis.future_guidance.recommended_approaches == ["Give an example."]


@pytest.mark.parametrize(
    "text",
    [
        "I have a meeting in ten minutes, can you summarize this?",
        "This file has two columns and we need the second one.",
        "My query takes 30 seconds, how can I speed it up?",
        "My train is late again, ugh.",
        "I enjoy talking to you.",
        "I am allergic to bad code, haha.",
        "I study this paragraph and I don't get the point.",
        "My essay is 200 words too long.",
        "Ich nehme die zweite Variante.",
        "Mein Zug hat Verspätung.",
        "Ich mag deine Antwort.",
        "Unser Drucker geht schon wieder nicht.",
        "電車が遅れています。",
        "私の質問はまだ答えられていません。",
        "それは好きです。",
        "We've got a bet going.",
        "I want to handle errors, like 404 or 429, and to retry.",
        "I wonder about the tools we use, like Grammarly and Hemingway.",
        "I'm feeling anxious about it, like I did when I moved.",
        "I want it to be 150 pixels wide, just like the requirements say.",
        "Have tools (like Axe, Wave) been used to find issues?",
        "File systems on some operating systems (like Linux) are case-sensitive.",
    ],
)
def test_what_is_of_the_moment_becomes_no_fact(text: str) -> None:
    assert [fact.text for fact in said_facts(talk(text)) if fact.attribute or fact.lasting] == []


@pytest.mark.parametrize(
    "text",
    [
        "I study law this year.",
        "My daughter starts school in September.",
        "I always take the bus to work.",
        "Our flat is on the third floor.",
        "Wir haben einen Garten.",
        "Mein Vater ist Bäcker.",
        "毎朝ジョギングをしています。",
        "犬を一匹飼っています。",
    ],
)
def test_what_lasts_becomes_one(text: str) -> None:
    assert [fact.text for fact in said_facts(talk(text)) if fact.attribute or fact.lasting]


@pytest.mark.parametrize(
    "text",
    ["From Hamburg, that's where we live.", "We came by train from Hamburg, that's where I live."],
)
def test_where_somebody_lives_may_be_told_after_the_place(text: str) -> None:
    assert ("User lives in Hamburg", "home city") in [
        (text_of_fact, attribute) for text_of_fact, attribute, _ in facts(text)
    ]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Wow, that's gorgeous! I love the self-acceptance and love theme.", "theme"),
        ("I like the colours, they go well together.", "colours"),
        (
            "When events are independent, like tossing two coins, the probability is the product.",
            "tossing",
        ),
    ],
)
def test_a_reaction_to_what_is_in_sight_makes_no_taste(text: str, wrong: str) -> None:
    assert not [
        fact.text
        for fact in said_facts(talk(text))
        if wrong in fact.text and (fact.attribute or fact.lasting)
    ]


@pytest.mark.parametrize("text", ["I love the sea.", "I play the piano and love the mountains."])
def test_a_taste_for_what_can_be_liked_anywhere_is_one(text: str) -> None:
    assert [fact.text for fact in said_facts(talk(text)) if fact.attribute or fact.lasting]


@pytest.mark.parametrize(
    "text",
    [
        "It really helped me, and it always reminds me of my family.",
        "They are my biggest motivation and support.",
        "We've come so far, and our loved ones give us strength.",
        "I'm so grateful for everything my friends did.",
        "Unconditional love is so important to us.",
        "I'll use these tools to gather the data for my report.",
    ],
)
def test_what_passes_or_needs_the_sentence_before_lasts_not(text: str) -> None:
    assert not [fact.text for fact in said_facts(talk(text)) if fact.attribute or fact.lasting]


def test_who_is_spoken_to_is_no_part_of_a_fact() -> None:
    texts = [
        fact.text for fact in said_facts(talk("Gina, I live in Porto and I drive an old van."))
    ]
    assert texts
    assert not [text for text in texts if "Gina" in text]


@pytest.mark.parametrize(
    "text",
    [
        "姉が福岡に引っ越した。",
        "弟は仙台に住んでいます。",
        "夫は銀行で働いています。",
        "父が会社を辞めました。",
        "友達が京都に引っ越した。",
        "父は糖尿病です。",
    ],
)
def test_what_a_relative_does_in_japanese_fills_no_slot_of_the_speaker(text: str) -> None:
    assert [fact.attribute for fact in said_facts(talk(text)) if fact.attribute] == []


@pytest.mark.parametrize(
    "text", ["札幌に住んでいます。", "銀行で働いています。", "福岡に引っ越しました。"]
)
def test_what_nobody_is_named_for_in_japanese_is_of_the_speaker(text: str) -> None:
    assert [fact.attribute for fact in said_facts(talk(text)) if fact.attribute]


@pytest.mark.parametrize(
    "text",
    [
        "I've got 30 kids in my class.",
        "We've got two dogs at the office now.",
        "I've got 29 kids this year, year 4 again.",
    ],
)
def test_what_is_counted_at_work_is_not_of_the_family(text: str) -> None:
    assert [fact.attribute for fact in said_facts(talk(text)) if fact.attribute] == []


@pytest.mark.parametrize(
    "text",
    [
        "Ab Februar arbeite ich bei Bosch.",
        "Ab nächster Woche wohne ich in Köln.",
        "来月から大阪のデザイン事務所で働きます。",
    ],
)
def test_what_begins_later_in_german_and_japanese_fills_no_slot_yet(text: str) -> None:
    assert [fact.attribute for fact in said_facts(talk(text)) if fact.attribute] == []


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("子供は二人います。", "number of children"),
        ("犬の名前はモモです。", "pet モモ"),
        ("娘は卵アレルギーです。", "allergy to 卵"),
    ],
)
def test_a_slot_in_japanese_that_names_whom_it_is_about_is_filled(
    text: str, attribute: str
) -> None:
    assert [fact.attribute for fact in said_facts(talk(text)) if fact.attribute] == [attribute]
