"""Everyday sentences, and all that rules make of each: what fills a slot, and what is
told besides.
"""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.adapters.offline.foresight import said_foresight
from tests.talk import talk

FILLED: dict[str, dict[str, str]] = {
    # what is not so, beside what is
    "I eat fish but no meat.": {"eats fish": "yes", "eats meat": "no"},
    "I speak German but no English.": {"speaks german": "yes", "speaks english": "no"},
    "I like cats but not dogs.": {"opinion of cats": "likes", "opinion of dogs": "dislikes"},
    "I hate cats but not dogs.": {"opinion of cats": "dislikes"},
    "I'm allergic to nuts but not to almonds.": {
        "allergy to nuts": "yes",
        "allergy to almonds": "no",
    },
    "I like coffee but not with milk.": {"opinion of coffee": "likes"},
    "I like tea, no sugar.": {"opinion of tea": "likes"},
    "I don't speak any French.": {"speaks french": "no"},
    "I don't drink much.": {},
    "I don't have any siblings.": {"number of siblings": "0"},
    "I don't have kids yet.": {"number of children": "0"},
    "I have no pets.": {"number of pets": "0"},
    "I'm not married.": {"marital status": "not married"},
    "I don't smoke.": {"smokes": "no"},
    "I quit smoking two years ago.": {"smokes": "no"},
    "I smoke.": {"smokes": "yes"},
    "I don't drink.": {"drinks alcohol": "no"},
    "I stopped drinking alcohol in January.": {"drinks alcohol": "no"},
    "I stopped eating sugar last year.": {"eats sugar": "no"},
    # lists of what there is a closed number of
    "I speak English and a little bit of Italian.": {
        "speaks english": "yes",
        "speaks italian": "yes",
    },
    "I speak fluent Spanish and some Portuguese.": {
        "speaks spanish": "yes",
        "speaks portuguese": "yes",
    },
    # who one is
    "I'm Sarah and I work as a vet.": {"name": "Sarah", "occupation": "vet"},
    "I'm Mary Jones.": {"name": "Mary Jones"},
    "I'm Austrian.": {"nationality": "Austrian"},
    "I'm South African and I live in Leeds.": {
        "nationality": "South African",
        "home city": "Leeds",
    },
    "I'm Vegan.": {},
    "I'm Home.": {},
    "I'm Catholic.": {},
    "Actually my name is Jon without h.": {"name": "Jon"},
    "My name isn't Tom, it's Thomas.": {"name": "Thomas"},
    "I changed my name to Alexandra.": {"name": "Alexandra"},
    "My favourite author used to be Kafka, now it's Borges.": {"favourite author": "Borges"},
    "My mother tongue is Turkish.": {"native language": "Turkish"},
    "My pronouns are they/them.": {"pronouns": "they/them"},
    "I'm 180 cm tall.": {"height": "180 cm"},
    "I was born in 1990 in Linz.": {"birth year": "1990", "birthplace": "Linz"},
    "I'm married with three kids.": {"marital status": "married", "number of children": "3"},
    "I'm with two kids at the beach.": {},
    "I was born on 3 May 1990 in Graz.": {"birthday": "3 May 1990", "birthplace": "Graz"},
    "We got married in 2019.": {"marital status": "married"},
    "I'm a mother of two.": {"number of children": "2"},
    # work
    "I got promoted to team lead last week.": {"occupation": "team lead"},
    "I started a new job as a data scientist at Spotify.": {
        "occupation": "data scientist",
        "employer": "Spotify",
    },
    "I work in finance at Deutsche Bank.": {"employer": "Deutsche Bank"},
    "I work nights as a security guard.": {"occupation": "security guard"},
    "I've been a teacher for ten years.": {"occupation": "teacher"},
    "I'm self-employed.": {"employer": "self-employed"},
    "I'm doing a PhD in linguistics at Utrecht University.": {"field of study": "linguistics"},
    # what one eats and has
    "I follow a keto diet.": {"diet": "keto"},
    "I'm on a gluten free diet for two weeks.": {},
    "I am intolerant to lactose.": {"intolerance to lactose": "yes"},
    "My car is a mess.": {},
    "My car is a red Volvo.": {"car": "a red Volvo"},
    "I live in the centre of Vienna.": {"home city": "Vienna"},
}
TOLD: dict[str, str] = {
    "I bought a new bike last week.": "User has a new bike",
    "I adopted a puppy yesterday.": "User has a puppy",
    "I don't own a car.": "User does not have a car",
    "I own a small house by the lake.": "User owns a small house by the lake",
    "I'm retired.": "User is retired",
    "We live in a village near Salzburg.": "User lives near Salzburg",
    "Our dog is called Bello.": "User has a dog called Bello",
    "Our daughter Emma is five years old.": "User's daughter Emma is 5 years old",
}
PERSONS: dict[str, dict[tuple[str, str], str]] = {
    "My wife Julia works as a doctor.": {
        ("user's wife", "name"): "Julia",
        ("user's wife", "occupation"): "doctor",
    },
    "My sister Lena is 25, my sister Mia is 20.": {("Lena", "age"): "25", ("Mia", "age"): "20"},
    "My sister Lena is 25 and studies medicine in Prague.": {
        ("Lena", "age"): "25",
        ("Lena", "field of study"): "medicine",
    },
    "My best friend Max moved to Sydney.": {("Max", "home city"): "Sydney"},
}


@pytest.mark.parametrize("sentence", FILLED)
def test_an_everyday_sentence_fills_these_slots_and_no_others(sentence: str) -> None:
    assert {
        fact.attribute: fact.value for fact in said_facts(talk(sentence)) if fact.attribute
    } == FILLED[sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "I'm writing the abstract at last. The deadline is midnight, of course. What was my title?",
        "The deadline for the grant is at noon.",
        "My deadline is 5 pm.",
    ],
)
def test_a_deadline_at_an_hour_of_today_is_no_standing_one(sentence: str) -> None:
    assert not [fact for fact in said_facts(talk(sentence)) if fact.attribute]


@pytest.mark.parametrize(
    ("sentence", "deadline"),
    [
        ("The deadline is Friday at noon.", "Friday at noon"),
        ("My deadline is the 14th.", "the 14th"),
        ("The deadline is 3 May.", "3 May"),
    ],
)
def test_a_deadline_on_a_day_stands(sentence: str, deadline: str) -> None:
    assert [fact.value for fact in said_facts(talk(sentence)) if fact.attribute == "deadline"] == [
        deadline
    ]


@pytest.mark.parametrize("sentence", TOLD)
def test_an_everyday_sentence_tells_this(sentence: str) -> None:
    facts = said_facts(talk(sentence))
    by_table = [fact.text for fact in facts if fact.confidence > 0.5]
    assert TOLD[sentence] in by_table
    assert not [text for text in by_table if text.endswith("last week")]


@pytest.mark.parametrize("sentence", PERSONS)
def test_who_is_named_has_slots_under_that_name_and_the_only_one_of_a_kind_under_the_kind(
    sentence: str,
) -> None:
    assert {
        (fact.subject, fact.attribute): fact.value
        for fact in said_facts(talk(sentence))
        if fact.attribute
    } == PERSONS[sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "I've been living in Madrid for three years now.",
        "I have been vegan for two years.",
        "I live in Munich now, moved here from Cologne in March",
    ],
)
def test_what_took_its_time_before_is_not_ahead(sentence: str) -> None:
    assert said_foresight(talk(sentence)) == []


def test_what_one_has_been_told_to_do_is_ahead() -> None:
    assert len(said_foresight(talk("I have been told to rest for two weeks."))) == 1


def test_of_two_times_the_one_that_is_over_is_left_out() -> None:
    (foresight,) = said_foresight(
        talk("I came here from Cologne in March and I will start my course in October.")
    )
    assert (foresight.start_time.month, foresight.end_time and foresight.end_time.month) == (10, 11)
