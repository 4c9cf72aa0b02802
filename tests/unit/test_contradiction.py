"""What `contradiction` sees in two statements, and what it leaves alone."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.statements import statement_words
from memory_core.domain.statements.contradictions import contradiction
from memory_core.domain.statements.statement_words import StatementWords, opcodes
from memory_core.domain.text.spelling import one_spelling
from memory_core.domain.text.text_cache import forget_texts

EXCLUDE = [
    ("Likes coffee", "Does not like coffee", "negation"),
    ("User likes coffee", "User doesn't like coffee", "negation"),
    ("Anna is married", "Anna is not married", "negation"),
    ("Carla can swim", "Carla cannot swim", "negation"),
    ("Carla does n't swim", "Carla swims", "negation"),
    ("Lisa mag Oliven", "Lisa mag keine Oliven", "negation"),
    ("お酒を飲みます", "お酒を飲みません", "negation"),
    ("Takes the pill before breakfast", "Takes the pill after breakfast", "opposites"),
    ("Anna is left-handed", "Anna is right-handed", "opposites"),
    ("The heating is on", "The heating is off", "opposites"),
    ("Dark mode is enabled", "Dark mode is disabled", "opposites"),
    ("Ben loves cilantro", "Ben hates cilantro", "opposites"),
    ("User always eats breakfast", "User never eats breakfast", "opposites"),
    ("コーヒーが好きです", "コーヒーが嫌いです", "opposites"),
    ("Stand-up is at 9", "Stand-up is at 10", "numbers"),
    ("Ana has two dogs", "Ana has three dogs", "numbers"),
    ("The budget is 6,500 euros", "The budget is 8,000 euros", "numbers"),
    ("The server listens on port 8080", "The server listens on port 9090", "numbers"),
    ("Der Kurs beginnt um 18 Uhr", "Der Kurs beginnt um 19 Uhr", "numbers"),
    ("会議は10時からです", "会議は11時からです", "numbers"),
    ("犬を二匹飼っています", "犬を三匹飼っています", "numbers"),
    ("The meeting is on Tuesday", "The meeting is on Thursday", "times"),
    ("The deploy branch is main", "The deploy branch is release", "values"),
    ("Her doctor is Dr. Smith", "Her doctor is Dr. Jones", "values"),
    ("User lives in Berlin", "User lives in Hamburg", "values"),
    ("Tom wohnt in Köln", "Tom wohnt in Bonn", "values"),
    (
        "The project uses PostgreSQL as its database",
        "The project uses MySQL as its database",
        "values",
    ),
    ("田中さんは東京に住んでいます", "田中さんは大阪に住んでいます", "values"),
    ("User drinks milk", "User doesn't drink milk", "negation"),
    ("The office has a lift", "There is no lift in the office", "negation"),
    ("父はタバコを吸う", "父はタバコを吸わない", "negation"),
    ("The shop opens at 9 am", "The shop opens at 10 am", "numbers"),
    ("The exam is in May", "The exam takes place in June", "times"),
    ("Die Wohnung hat drei Zimmer", "Die Wohnung hat vier Zimmer", "numbers"),
    ("Der Schlüssel liegt in der Küche", "Der Schlüssel liegt im Flur", "values"),
    ("The team lead is Sara", "The team lead is Omar", "values"),
    ("User's dog is called Rex", "User's dog is called Bo", "values"),
    ("会社は渋谷にあります", "会社は新宿にあります", "values"),
    ("Rosa prefers tea to coffee", "Rosa prefers coffee to tea", "opposites"),
    ("The user wants longer answers", "The user wants shorter answers", "opposites"),
    ("Gabe is a plumber", "Gabe is an electrician", "values"),
    ("For notes I use Obsidian", "For notes I use Notion", "values"),
    ("車を持っている", "車は持っていません", "negation"),
    ("参加は必須です", "参加は任意です", "opposites"),
]
BOTH_TRUE = [
    ("The n't house has 5 rooms", "The big house with 6 rooms"),
    ("Likes tea", "Likes coffee"),
    ("Likes coffee", "Likes coffee with milk"),
    ("Visited Rome in 2019", "Visited Rome in 2022"),
    ("My brother lives in Rome", "My sister lives in Oslo"),
    ("My brother lives in Rome", "My brother is a nurse"),
    ("Speaks German", "Speaks French"),
    ("Paid 30 euros for the train", "Paid 45 euros for the hotel"),
    ("Has a meeting with Ann on Monday", "Has a meeting with Bob on Tuesday"),
    ("The staging server listens on port 8080", "The production server listens on port 9090"),
    ("Goes to yoga on Mondays", "Goes to yoga on Thursdays"),
    ("Ran 5 km on Monday", "Ran 8 km on Monday"),
    ("Port 8080 is used by nginx", "Port 8081 is used by nginx"),
    ("Ana's brother is Tom", "Ana's brother is Jon"),
    ("The kitchen light is on", "The garage light is off"),
    ("Anna is left-handed", "Ben is right-handed"),
    ("Doesn't like olives", "Doesn't like capers"),
    ("Prefers tabs in Go", "Prefers spaces in Python"),
    ("Emma is 5 years old", "Leo is 8 years old"),
    ("紅茶が好きです", "コーヒーが好きです"),
    ("京都に行きました", "大阪に行きました"),
    ("Is the meeting at 9?", "Is the meeting at 10?"),
    ("The lunch is at 1 pm", "The lunch is at 13:00"),
    ("Anna has two cats", "Anna has 2 cats"),
    ("The bill was 30 euros in May", "The bill was 45 euros in June"),
    ("Takes iron before breakfast", "Takes magnesium after dinner"),
    ("The front door is red", "The front door is made of oak"),
    ("Version 2.4 came out in May", "Version 2.5 came out in July"),
    ("Ben is 30 years old", "Ben's wife is 32 years old"),
    ("", "Likes tea"),
    ("The car is red", "The car is electric"),
    ("He lives in Berlin", "He lives with his sister"),
    ("Nora isn't tall", "Nora isn't short"),
    ("The old office was noisy", "The new office was quiet"),
    ("Some tests are slow", "Some tests are fast"),
    ("会議は午後3時です", "会議は15時です"),
    ("部屋が少ない", "部屋が少ないです"),
    ("Ines jogged 5 km on Friday", "Ines jogged 8 km on Sunday"),
    ("The update came out on 1 April", "The update came out on 2 April"),
]


@pytest.mark.parametrize(("first", "second", "kind"), EXCLUDE)
def test_statements_that_exclude_each_other_are_seen_either_way_round(
    first: str, second: str, kind: str
) -> None:
    assert (contradiction(first, second), contradiction(second, first)) == (kind, kind)


@pytest.mark.parametrize(("first", "second"), BOTH_TRUE)
def test_statements_that_can_both_be_true_are_left_alone(first: str, second: str) -> None:
    assert (contradiction(first, second), contradiction(second, first)) == (None, None)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_are_compared_and_a_text_never_excludes_itself(
    first: str, second: str
) -> None:
    contradiction(first, second)
    assert contradiction(first, first) is None


def test_a_text_is_read_once_for_all_that_it_is_compared_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def counted(text: str) -> str:
        read.append(text)
        return one_spelling(text)

    forget_texts()
    monkeypatch.setattr(statement_words, "one_spelling", counted)
    others = [f"Ana has a friend in town {number}" for number in range(20)]
    for other in others:
        contradiction("Ana lives in Rome", other)
        contradiction(other, "Ana lives in Rome")
    assert len(read) == 1 + len(others)


_WORDS = st.lists(st.sampled_from("abcdefg"), max_size=7).map(tuple)


@given(_WORDS, _WORDS)
def test_words_part_where_the_sequence_matcher_says_so(
    first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    ours, theirs = (
        StatementWords(words, tuple(range(len(words))), words, negated=False)
        for words in (first, second)
    )
    expected = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    assert [(code[0] == "equal", *code[1:]) for code in opcodes(ours, theirs)] == [
        (code[0] == "equal", *code[1:]) for code in expected
    ]
