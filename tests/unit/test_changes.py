"""What a later message says about an earlier one of the same person: that it holds no more,
or nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.ranking.questions import asks_directly, asks_of_oneself
from memory_core.domain.statements.change_messages import read
from memory_core.domain.statements.change_sentences import _CUES
from memory_core.domain.statements.changes import LaterChange, change, update_closeness
from memory_core.domain.statements.values_said import AskedKind, _read_values, values_in
from memory_core.domain.text.analyzer import tokens
from tests.change_stories import (
    CHANGED,
    FOURTEEN,
    OF_ANOTHER_THING,
    OF_THE_THING_ITSELF,
    UNCHANGED,
    Story,
)


@pytest.mark.parametrize("story", [*CHANGED, *FOURTEEN], ids=lambda story: story.later)
def test_a_later_message_replaces_what_it_says_is_over_or_otherwise(story: Story) -> None:
    assert change(story.earlier, story.later) is not None


@pytest.mark.parametrize("story", UNCHANGED, ids=lambda story: story.later)
def test_two_messages_that_can_both_hold_replace_nothing(story: Story) -> None:
    assert change(story.earlier, story.later) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I drive a Golf.", "I won't sell the Golf."),
        ("I drive a Golf.", "If I sold the Golf, what would I get?"),
        ("I drive a Golf.", "He told me: 'I sold the Golf'."),
        ("I drive a Golf.", "My brother sold the Golf that he had."),
        ("You should drive a Golf.", "I sold the Golf."),
        ("My flight is on the 14th.", "The flight back is on the 18th."),
    ],
)
def test_what_is_supposed_denied_quoted_or_of_somebody_else_replaces_nothing(
    earlier: str, later: str
) -> None:
    assert change(earlier, later) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "I'm allergic to penicillin and I take warfarin 5 mg every evening.",
            "The clinic took me off warfarin, I'm on apixaban now.",
        ),
        (
            "I do all my drawing in Krita.",
            "Gave up and moved over to Inkscape, where are the Krita brushes?",
        ),
        ("I don't drink coffee.", "Lately I drink coffee again."),
        ("Ich trinke keinen Kaffee.", "Seit kurzem trinke ich wieder Kaffee."),
        ("Unser Sohn Emil geht in den Kindergarten.", "Emil ist jetzt ein Schulkind!"),
        (
            "I like plain unittest for the tests.",
            "Also I moved the tests over to pytest, it reads better.",
        ),
    ],
)
def test_a_switch_a_return_and_the_next_school_replace_what_was_before(
    earlier: str, later: str
) -> None:
    assert change(earlier, later) is not None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "I bought a refurbished phone in mint green, Freya calls it the toothpaste.",
            "Freya's violin has been moved to Mondays at half past three.",
        ),
        (
            "My daughter Freya has swimming in the morning, she's seven.",
            "Freya's violin has been moved to Mondays at half past three.",
        ),
        ("Tom has a table tennis match on Friday.", "Tom's dentist was cancelled."),
        ("Paula plays the cello in a quartet.", "Paula's old car has been sold."),
        ("私は卵アレルギーです。", "花の卵アレルギーが治りました。"),
        ("トヨタで働いています。", "健はトヨタを辞めました。"),
        ("私は大阪に住んでいます。", "健は京都に引っ越しました。"),
    ],
)
def test_whose_something_is_does_not_end_with_it(earlier: str, later: str) -> None:
    assert change(earlier, later) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "Dr Nakamura wanted 320 pounds and I nearly fell off the chair.",
            "The rent goes up to 1,240 pounds from January, it was 1,150.",
        ),
        ("The bike cost me 900 dollars.", "My rent goes up to 1,400 dollars in May."),
    ],
)
def test_sums_of_one_currency_are_not_of_one_thing(earlier: str, later: str) -> None:
    assert change(earlier, later) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "Freya's violin lesson is Wednesday at four.",
            "Freya's violin has been moved to Mondays.",
        ),
        (
            "I drive an old Golf to work.",
            "Tom's Golf has been sold, and mine, the Golf, is gone too.",
        ),
        ("My rent is 1,150 pounds.", "The rent goes up to 1,240 pounds from January."),
    ],
)
def test_the_thing_itself_is_changed_whosever_it_is(earlier: str, later: str) -> None:
    assert change(earlier, later) is not None


@pytest.mark.parametrize("story", OF_ANOTHER_THING, ids=lambda story: story.earlier)
def test_a_thing_that_changes_leaves_what_only_shares_its_owner_or_its_first_word(
    story: Story,
) -> None:
    assert change(story.earlier, story.later) is None


@pytest.mark.parametrize("story", OF_THE_THING_ITSELF, ids=lambda story: story.earlier)
def test_a_thing_that_changes_replaces_what_was_told_of_it(story: Story) -> None:
    assert change(story.earlier, story.later) is not None


@pytest.mark.parametrize(
    "earlier",
    ["diet: vegetarian", "eats meat: no", "We're vegetarian at home, me since university."],
)
def test_a_diet_of_the_profile_is_over_when_fish_is_eaten_again(earlier: str) -> None:
    later = "The doctor says my ferritin is 9, so I'm eating fish again after nineteen years."
    assert change(earlier, later) is not None
    assert change(earlier, "Am I eating fish again?") is None


def test_a_change_names_the_sentences_that_say_so() -> None:
    detected = change(
        "Morning! The standup is at 9:30 each day.",
        "Thanks. The standup got moved to 10:15, so I can sleep longer.",
    )
    assert detected == LaterChange(
        "value",
        "The standup got moved to 10:15, so I can sleep longer.",
        "The standup is at 9:30 each day.",
    )


@pytest.mark.parametrize(
    ("earlier", "later", "question", "updates_it"),
    [
        (
            "My library has 45 sources by theme.",
            "Added 52 sources to my library.",
            "How many sources are in my library?",
            True,
        ),
        (
            "I secured 3 interviews for editor roles.",
            "I secured 5 interviews for editor roles.",
            "How many interviews have I secured?",
            True,
        ),
        (
            "My library has 45 sources by theme.",
            "My library has 3 shelves.",
            "How many sources are in my library?",
            False,
        ),
        (
            "I ran 5 km by the river.",
            "I paid 12 euros by the river.",
            "How many km do I run by the river?",
            False,
        ),
        (
            "I had 3 interviews by mail in 2024.",
            "For interviews by mail I use version 20.",
            "How many interviews did I have?",
            False,
        ),
    ],
)
def test_a_later_number_of_what_a_question_asks_for_updates_the_earlier(
    earlier: str, later: str, question: str, updates_it: bool
) -> None:
    asked = AskedKind.of(question, tokens(question))
    assert (update_closeness(read(earlier), read(later), asked) > 0) is updates_it


def test_of_two_updates_the_one_that_says_more_of_the_question_is_closer() -> None:
    question = "What is the test coverage of my billing module?"
    asked = AskedKind.of(question, tokens(question))
    earlier = read("The test coverage of my billing module is at 65 %.")
    closer = read("I brought the test coverage of the billing module to 78 %.")
    other = read("The test coverage of my whole project is at 81 %.")
    assert update_closeness(earlier, closer, asked) > update_closeness(earlier, other, asked) > 0


def test_a_number_that_increased_to_another_updates_it_and_is_no_change_by_itself() -> None:
    question = "How many apprentices are in the workshop?"
    asked = AskedKind.of(question, tokens(question))
    earlier = "I look after 5 apprentices in the workshop."
    later = "The number of apprentices in the workshop has increased to 7."
    assert update_closeness(read(earlier), read(later), asked) > 0
    wanted = "I'm asking for a salary increase of 400 with my new portfolio of interviews."
    got = "I'm promoted, with a salary increase to 4,000, how do I show this in my portfolio?"
    assert change(wanted, got) is None


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Where's the spare key?", True),
        ("wie alt ist Ella", True),
        ("夫の趣味は？", True),
        ("The spare key. Who has it?", True),
        ("The spare key is at Ella's.", False),
        ("I slept badly. The invoice is late. My head hurts. Where is the spare key?", False),
    ],
)
def test_a_message_of_a_sentence_or_two_that_asks_is_a_direct_question(
    text: str, asks: bool
) -> None:
    assert asks_directly(text) is asks


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("What's my sister's name?", True),
        ("do you remember where I work", True),
        ("Wie heißt meine Frau?", True),
        ("夫の名前覚えてる？", True),
        ("Is a tomato a fruit?", False),
        ("What did Caroline paint?", False),
        ("I like my sister.", False),
        ("Should I buy a bike?", False),
        ("I slept badly. The invoice is late. My head hurts. What is my sister's name?", False),
    ],
)
def test_a_question_about_oneself_is_known_by_its_words(text: str, asks: bool) -> None:
    assert asks_of_oneself(text) is asks


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_are_compared_and_a_text_never_replaces_itself(
    earlier: str, later: str
) -> None:
    change(earlier, later)
    assert change(earlier, earlier) is None


MORE = json.loads(
    (Path(__file__).parents[2] / "bench" / "knowledge" / "changes_more.json").read_text(
        encoding="utf-8"
    )
)


def test_no_harmless_later_sentence_changes_an_earlier_one() -> None:
    assert [
        row["id"] for row in MORE["harmless"] if change(row["first"], row["second"]) is not None
    ] == []


def test_nearly_every_change_of_the_tuning_part_is_recognised() -> None:
    tuned = [row for row in MORE["changes"] if row["part"] == "tune"]
    recognised = [row for row in tuned if change(row["first"], row["second"]) is not None]
    assert len(recognised) >= 0.95 * len(tuned)


@pytest.mark.parametrize(
    "text",
    [
        "See you on Friday", "on MONDAYS", "at noon", "um halb acht", "mittags", "two cats",
        "zwölf Katzen", "in October", "im März", "月曜に会う", "猫が三匹", "猫が３匹", "by 14",
        "at ٣ cats", "nothing of the kind", "we may go less", "",
    ],
)  # fmt: skip
def test_a_sentence_without_a_sign_of_a_value_has_none(text: str) -> None:
    assert values_in(text) == _read_values(text)


def test_of_all_stories_the_values_are_those_of_every_sentence_read() -> None:
    texts = [row[side] for rows in MORE.values() for row in rows for side in ("first", "second")]
    assert [values_in(text) for text in texts] == [_read_values(text) for text in texts]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Our house is painted white.", "The fence around the house has been repaired."),
        ("I drive a Golf.", "I had the tyres of the Golf replaced."),
        ("We use Postgres.", "We reset the Postgres password."),
    ],
)
def test_what_happens_to_a_part_of_a_thing_does_not_end_the_thing(earlier: str, later: str) -> None:
    assert change(earlier, later) is None


def test_a_day_is_read_as_a_date_beside_any_word() -> None:
    assert values_in("the 14th because").whens == {"date": frozenset({"14"})}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I met some bright kids there and helped them along.", "It has definitely changed them."),
        ("It is a quiet day for me.", "That is different for everyone."),
        (
            (
                "We planned the portal with a gallery of 6 items, a news page and a form for "
                "members, all in one release."
            ),
            (
                "While checking the images of the gallery I found a tool that reduced the largest "
                "of them to 180 KB, so pages load faster."
            ),
        ),
        (
            "The gallery of the portal shows 30 % of the pictures.",
            "The quiz about the gallery went from 65 % to 82 % since spring.",
        ),
        (
            "I won the chess evening last week, so many people came to the old hall!",
            "My train was cancelled, so I missed the evening in town.",
        ),
    ],
)
def test_a_word_in_common_makes_no_change_of_what_is_about_something_else(
    earlier: str, later: str
) -> None:
    assert change(earlier, later) is None


def test_a_sentence_that_names_what_was_before_changes_what_said_so() -> None:
    earlier = "My quiz score is 65 %."
    assert change(earlier, "My quiz score went up from 65 % to 82 %.") is not None
    assert change(earlier, "My quiz score went up from 70 % to 82 %.") is None


def test_the_name_with_which_facts_of_one_person_begin_makes_no_change() -> None:
    assert (
        change("Ben is after a new floor for the studio", "Ben has left or lost their job") is None
    )
    assert change("Ben plays the cello", "Ben sold the cello") is not None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Ich spiele donnerstags Volleyball.", "Diesen Donnerstag fällt Volleyball aus."),
        ("I go to choir on Mondays.", "Choir is cancelled this week."),
        ("I swim twice a week.", "Gave swimming a miss on Monday, my shoulder was sore."),
        ("Montags gehe ich zum Töpfern.", "Am Montag fiel Töpfern aus, der Ofen war kaputt."),
        ("毎朝太極拳に行っています。", "今朝は雪で太極拳が中止でした。"),
    ],
)
def test_what_is_called_off_once_ends_no_habit(earlier: str, later: str) -> None:
    assert change(earlier, later) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I swim twice a week.", "I gave up swimming, my shoulder can't take it."),
        ("I'm flying to Oslo on Tuesday.", "My flight to Oslo on Tuesday was cancelled."),
        ("毎朝太極拳に行っています。", "太極拳はやめました。"),
        ("生徒の佐藤さんは800点が目標です。", "佐藤さんは目標を850点に変えました。"),
    ],
)
def test_what_is_given_up_or_called_off_for_good_is_over(earlier: str, later: str) -> None:
    assert change(earlier, later) is not None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My bike is a red Gazelle.", "Dropped the Gazelle in for a service, they lent me a Cube."),
        ("Ich laufe jeden Sonntag.", "Ich träume vom Fliegen statt vom Laufen."),
    ],
)
def test_an_errand_and_a_dream_end_nothing(earlier: str, later: str) -> None:
    assert change(earlier, later) is None


def test_a_correction_that_names_the_day_told_wrong_replaces_it() -> None:
    earlier = "The dentist is on Friday the 18th at 9."
    assert (
        change(earlier, "Sorry, I misread the card, it's Thursday the 17th, not Friday.")
        is not None
    )
    assert change(earlier, "Sorry, I misread the card, it's Thursday the 17th, not Monday.") is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "We go by train because we don't have a car.",
            "I'm filling in a form for the school, what does our Tom teach again?",
        ),
        ("My boss is Anna.", "I need to send an email to my new boss at Contoso."),
        ("My boss is Anna.", "I'm at the office party, where does my new boss live?"),
        (
            "My boss there will be a woman named Hanneke, with fourteen couriers.",
            "I had lunch with my new boss.",
        ),
    ],
)
def test_a_question_an_errand_and_somebody_announced_replace_nothing(
    earlier: str, later: str
) -> None:
    assert change(earlier, later) is None
    assert change("My boss is Anna.", "I have a new boss, and she is kind.") is not None


@pytest.mark.parametrize(
    ("earlier", "later", "replaces"),
    [
        (
            "I run a wee pottery studio on Quay Lane.",
            "Changed the studio code after the break-in next door, it's 8206 from today.",
            False,
        ),
        (
            "The studio rent is 7000 a month.",
            "Changed the studio code after the break-in next door, it's 8206 from today.",
            False,
        ),
        ("My wifi code is 1234.", "Changed the studio code, it's 8206 from today.", False),
        ("My bike is a red Canyon.", "I changed my bike tyres.", False),
        (
            "The studio code is 4410.",
            "Changed the studio code after the break-in next door, it's 8206 from today.",
            True,
        ),
        (
            "The door code for the studio is 4471.",
            "Changed the studio code, it's 8206 from today.",
            True,
        ),
        ("My dentist is Dr Okafor.", "I switched dentists last month.", True),
        ("I'm with O2 as my phone provider.", "I changed phone provider, it's Three now.", True),
    ],
)
def test_of_a_compound_its_last_noun_is_what_changed(
    earlier: str, later: str, *, replaces: bool
) -> None:
    assert (change(earlier, later) is not None) is replaces


@pytest.mark.parametrize(
    "later",
    [
        "I picked up the car from the garage.",
        "I got the car washed.",
        "I'm driving a rental car to Cork.",
        "I bought a car seat for Ada.",
    ],
)
def test_what_is_done_with_a_car_or_bought_for_it_is_no_other_car(later: str) -> None:
    assert change("car: a grey Golf", later) is None
    assert change("car: a grey Golf", "I picked up a second-hand Kia on Friday.") is not None


@pytest.mark.parametrize(
    ("earlier", "later", "replaces"),
    [
        ("I work at Siemens", "Sorry, I meant Bosch, not Siemens.", True),
        ("My boss is Jon", "Sorry, I meant John, not Jon.", True),
        ("My sister works at Siemens", "Sorry, I meant Bosch, not Siemens.", False),
        ("Mein Bruder arbeitet bei Siemens", "Sorry, ich meinte Bosch, nicht Siemens.", False),
        ("I fly to Lisbon on Monday", "My flight was cancelled.", True),
        ("I fly drones", "My flight was cancelled.", False),
        ("Ich fliege Drohnen", "Mein Flug wurde gestrichen.", False),
    ],
)
def test_only_the_statement_that_is_meant_changes(
    earlier: str, later: str, *, replaces: bool
) -> None:
    assert (change(earlier, later) is not None) is replaces


@pytest.mark.parametrize(
    "text",
    [
        "I SOLD the Golf",
        "We've MOVED to Kassel",
        "No, I meant Tuesday",
        "Termin VERSCHOBEN auf Freitag",
        "I live in Mainz",
    ],
)
def test_a_word_for_a_change_is_one_in_any_case(text: str) -> None:
    (sentence,) = read(text).sentences
    assert sentence.changes == any(cue.search(text) for cue in _CUES)
    assert [read(variant).sentences[0].changes for variant in (text.lower(), text.upper())] == [
        sentence.changes
    ] * 2


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("the old Corsa has 180k on it", "so the Corsa's gone to the tip"),
        ("I joined Flexhall on Mill Lane.", "Flexhall was too loud so I've quit."),
        ("We've booked Naxos for May.", "Naxos is off, it's Malta now."),
        ("I do bookkeeping at Marsh & Sons.", "First week at Bolt Freight done!"),
        ("I cycle in most days.", "I have to take the bus now."),
        ("Ist ein altes Hercules.", "Das Hercules wurde mir geklaut."),
        ("Unser Zahnarzt ist Dr. Kern.", "Dr. Kern hat zugemacht!"),
        ("Die Feier ist im Ratskeller.", "Wir feiern jetzt doch zu Hause im Hof."),
        ("英語は月曜の夜に習ってる。", "英語、先週から水曜に移った。"),
        ("今は山川商事で営業やってる。", "先月から北星製菓で働いてます。"),
        ("南町の西田歯科ってところ", "先生が引退したから、今は駅前の大山歯科に通ってるよ"),
    ],
)
def test_a_change_is_read_where_it_is_told_in_passing(earlier: str, later: str) -> None:
    assert change(earlier, later) is not None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I joined Flexhall on Mill Lane.", "The website was too slow so I've quit."),
        ("We've booked Naxos for May.", "Malta is off the table now."),
        ("I do bookkeeping at Marsh & Sons.", "First week at school for Mia!"),
        ("Die Feier ist im Ratskeller.", "Wir fahren jetzt doch nach Bonn."),
        ("南町の西田歯科ってところ", "先生が引退したから、今は駅前の花屋に通ってるよ"),
    ],
)
def test_what_is_told_in_passing_of_something_else_replaces_nothing(
    earlier: str, later: str
) -> None:
    assert change(earlier, later) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "The staging database has 16 GB of memory.",
            "We upgraded the production database, it has 64 GB of memory now.",
        ),
        ("The staging server has 8 cores.", "The test server was upgraded to 32 cores."),
        ("My phone has 128 GB.", "We upgraded my brother's phone, it has 512 GB now."),
        (
            "My savings account pays 2.1 percent.",
            "The bank raised the rate of my current account, it pays 0.5 percent now.",
        ),
        (
            "My laptop has 16 GB of RAM.",
            "Put more memory into my brother's laptop, it has 32 GB of RAM now.",
        ),
        ("私のパソコンのメモリは16GBです。", "弟のパソコンのメモリを32GBに増やした。"),
    ],
)
def test_another_value_of_another_thing_changes_nothing(earlier: str, later: str) -> None:
    assert change(earlier, later) is None
