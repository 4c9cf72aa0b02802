"""What a memory is worth keeping, told by its words: thirty everyday statements with what a
sensible person expects, and their like.
"""

from __future__ import annotations

import pytest

from memory_core.domain.statements.worth import (
    HALF_LIFE_FACTORS,
    asks_to_keep,
    most_lasting,
    place_of_worth,
    worth_of,
)

EXPECTED = [
    # What a sensible person keeps for good.
    ("My name is Ana Lopes.", "never"),
    ("Call me Bea, nobody calls me Beatrice.", "never"),
    ("My daughter's name is Ida.", "never"),
    ("My birthday is on 3 June.", "never"),
    ("I'm allergic to penicillin.", "never"),
    ("My father has a pacemaker.", "never"),
    ("Please remember that I never fly on Fridays.", "never"),
    ("Don't forget: the alarm company's word is heron.", "never"),
    ("Merk dir bitte, dass ich keinen Koriander mag.", "never"),
    ("私は乳製品が苦手だと覚えておいて。", "never"),
    ("Penicillin gives me hives.", "never"),
    ("I can't eat peanuts, my throat swells up.", "never"),
    ("The doctor says I must never take ibuprofen.", "never"),
    ("Sam carries an EpiPen.", "never"),
    ("ピーナッツアレルギーです。", "never"),
    ("Remember, the plumber comes on Monday.", "never"),
    ("Note to self: the dog's chip ends in 88.", "never"),
    ("Make a note that Lea is left-handed.", "never"),
    ("For future reference, the meter is behind the fridge.", "never"),
    # What they keep for years.
    ("I was diagnosed with high blood pressure last week.", "slow"),
    ("I take metformin every morning.", "slow"),
    ("Meine Mutter hat Rheuma.", "slow"),
    ("母は糖尿病です。", "never"),
    ("We agreed that Tom pays the rent and I pay the power.", "slow"),
    ("From now on, always answer me in Portuguese.", "slow"),
    ("The spare key is under the blue flowerpot.", "slow"),
    ("I promised Lea to be her witness.", "slow"),
    ("The PIN of the alarm is 4471.", "slow"),
    ("The wifi password is hunter22.", "slow"),
    # What counts as always.
    ("Remember, we laughed all night in Rome.", "normal"),
    ("I gave Ben the rash estimate for the roof.", "normal"),
    ("I never take the bus in the rain.", "normal"),
    ("Our future plans are open.", "normal"),
    ("I bought new curtains for the kitchen.", "normal"),
    ("We had pizza with the neighbours on Saturday.", "normal"),
    ("I have a headache today.", "normal"),
    ("What are the symptoms of diabetes?", "normal"),
    ("Do you remember that night in Rome?", "normal"),
    ("I'll never forget that concert.", "normal"),
    ("The test passed once the cache was emptied.", "normal"),
    # What is not worth keeping.
    ("ok", "fast"),
    ("lol good morning", "fast"),
    ("Thanks, that's great!", "fast"),
    ("Guten Morgen!", "fast"),
    ("おはようございます！", "fast"),
    ("Hi! How's it going?", "fast"),
    ("how are you doing today?", "fast"),
    ("Na, wie geht's dir so?", "fast"),
    ("こんにちは、お元気ですか？", "fast"),
    ("👍", "fast"),
]


def pace(text: str) -> str:
    """How fast a text fades, in the words of the table."""
    factor = HALF_LIFE_FACTORS[worth_of(text)]
    return (
        "never" if factor is None else "slow" if factor > 1 else "fast" if factor < 1 else "normal"
    )


@pytest.mark.parametrize(("text", "expected"), EXPECTED)
def test_everyday_statements_fade_as_a_sensible_person_expects(text, expected):
    assert pace(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Remember that I'm vegan",
        "Also, remember: my parking space is 41.",
        "Can you remember that I'm left-handed?",
        "I'd like you to remember that I work nights.",
        "please dont forget that Mia is lactose intolerant",
        "Keep in mind that I can't climb stairs.",
        "Hey, make sure you remember I moved.",
        "Don't forget to call my mother on Sundays.",
        "Remember my flat is on the fourth floor",
        "Vergiss nicht, dass ich um sechs aufstehe.",
        "Bitte merken: Tor 4.",
        "Denk daran, dass Lea keine Nüsse isst.",
        "水曜日は休みだって忘れないで",
    ],
)
def test_a_request_to_remember_is_heard(text):
    assert asks_to_keep(text)


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember that night in Rome?",
        "I can't remember that restaurant's name.",
        "I don't remember that.",
        "I will never forget that day.",
        "She told him to remember that.",
        "Remember when we got lost in Porto?",
        "Remember that time in Porto, the fog, the tram?",
        "Don't forget your umbrella, my mother always said.",
        "Remember that I told you about Oslo?",
        "What should I remember that for?",
        "Ich kann mir das nicht merken.",
        "名前を覚えていますか？",
        "Forget that.",
        "Don't forget to take breaks.",
        "And remember, I'm always here for you.",
        "Remember that staying positive is important.",
        "Remember my puppy from earlier",
        "Remember I told you they moved",
    ],
)
def test_reminiscing_is_no_request_to_remember(text):
    assert not asks_to_keep(text)


@pytest.mark.parametrize(
    "text",
    [
        "ok, the build is green now",
        "Good morning! The plumber comes at ten.",
        "Yes.",
        "no",
        "42",
        "Thanks to Ben the report was on time.",
        "Hi, how's it going with the boat?",
        "Wie geht's Mama?",
        "母は元気ですか？",
        "We agreed to disagree, haha",
        "Danke an Lea für das Rezept mit Rosinen.",
        "",
    ],
)
def test_a_short_text_that_says_something_is_no_small_talk(text):
    assert worth_of(text) != "small_talk"


@pytest.mark.parametrize(
    "text",
    [
        "Diabetes is a disease of the metabolism.",
        "If I had diabetes, I would not eat that.",
        "Is Ben allergic to nuts?",
        "The function is called merge.",
        "The API key is in the header of the request.",
        "My cat has no name yet.",
        "She had a cold last week.",
        "One of my favourite pieces is called Blue Rider.",
        "He hid his bone in my slipper.",
    ],
)
def test_what_only_sounds_like_something_lasting_fades_as_always(text):
    assert worth_of(text) is None


def test_what_an_assistant_says_is_weighed_as_small_talk_only():
    assert worth_of("Remember that you are allergic to nuts.", by_assistant=True) is None
    assert worth_of("You're welcome!", by_assistant=True) == "small_talk"


def test_of_several_the_most_lasting_counts_and_small_talk_only_when_nothing_else_is_said():
    assert most_lasting(["small_talk", "health", None]) == "health"
    assert most_lasting(["agreement", "asked_to_keep"]) == "asked_to_keep"
    assert most_lasting(["small_talk", None]) is None
    assert most_lasting(["small_talk", "small_talk"]) == "small_talk"
    assert most_lasting([]) is None


def test_the_most_lasting_worth_has_the_first_place():
    worths = ("asked_to_keep", "identity", "vital", "health", None, "small_talk")
    places = [place_of_worth(worth) for worth in worths]
    assert places == sorted(set(places))


def test_a_long_text_is_read_in_time_that_grows_with_its_length():
    assert worth_of("remember remember " * 20_000) is None
    assert worth_of("I have " * 50_000 + "diabetes") in (None, "vital", "health")
