import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.text.fuzzy_dedup import fuzzy_dedup, normalise_token

DISTINCT = [
    "C",
    "C++",
    "C#",
    "日本語",
    "日本酒",
    "кофе",
    "чай",
    "قهوة",
    "شاي",
    "python 2",
    "python 3",
    "👍",
    "👎",
    "🙂",
    ".net",
    "net",
    "日本語教師",
    "日本語教室",
]
words = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [*DISTINCT, "Machine Learning", "machine-learning", "machine learnings", "port 8080"]
    ),
)


def test_names_in_any_script_stay_distinct():
    assert fuzzy_dedup(DISTINCT) == DISTINCT
    assert fuzzy_dedup(reversed(DISTINCT)) == DISTINCT[::-1]


@pytest.mark.parametrize(
    "group",
    [
        [
            "machine learning",
            "Machine-Learning",
            "machine_learning",
            "learning machine",
            "machine  learnings",
            "machinelearning",
        ],
        ["Kubernetes", "kubernetes!", "kubernets", "kuberneetes"],
        ["Node.js", "nodejs"],
        ["python 3", "Python-3", "PYTHON 3", "python ３"],
        ["Straße in Köln", "STRASSE IN KÖLN"],
        ["What does the user like to eat?", "What do the users like to eat?"],
    ],
)
def test_spellings_of_one_thing_become_its_first_spelling(group):
    assert fuzzy_dedup(group) == group[:1]


@pytest.mark.parametrize(
    "pair",
    [
        ("port 8080", "port 8081"),
        ("room 1/2", "room 12"),
        ("version 3.5", "version 35"),
        ("java", "lava"),
        ("male voice", "female voice"),
        ("increase", "decrease"),
        ("morning meeting", "evening meeting"),
        ("machine learning", "machine learning model"),
        ("C programming", "C# programming"),
        ("north carolina", "north california"),
        ("東京大学", "京都大学"),
        ("temperature -5", "temperature 5"),
        ("happy 🙂", "happy 🙁"),
        ("does the cat sleep on sofa 3?", "does the cat sleep on sofa 4?"),
    ],
)
def test_look_alikes_that_mean_two_things_stay_two(pair):
    assert fuzzy_dedup(pair) == list(pair)
    assert fuzzy_dedup(pair[::-1]) == list(pair[::-1])


def test_a_double_is_found_behind_any_number_of_near_ones():
    many = [f"release notes {number}" for number in range(40)]
    assert fuzzy_dedup([*many, "Release-Notes 39"]) == many


def test_blank_items_are_dropped_and_pure_punctuation_is_kept():
    assert fuzzy_dedup(["", "  ", "!!!", "???", "!!!"]) == ["!!!", "???"]


def test_a_higher_threshold_merges_less():
    pair = ["recommendation", "recommendations"]
    assert fuzzy_dedup(pair) == pair[:1]
    assert fuzzy_dedup(pair, threshold=99) == pair


def test_numbers_are_the_same_in_every_script():
    assert fuzzy_dedup(["chapter 12", "chapter ١٢"]) == ["chapter 12"]


@given(st.lists(words, max_size=15))
def test_deduplicating_twice_changes_nothing_more(items):
    once = fuzzy_dedup(items)
    assert fuzzy_dedup(once) == once


@given(st.lists(words, max_size=15))
def test_what_stays_was_there_in_that_order_and_every_item_that_is_not_blank_is_stood_for(items):
    left = fuzzy_dedup(items)
    places = iter(items)
    assert all(item in places for item in left)
    forms = {normalise_token(item) for item in left}
    assert bool(left) == any(normalise_token(item) for item in items)
    assert len(forms) <= len(left)


@given(st.text(max_size=20))
def test_a_normal_form_is_its_own_normal_form(text):
    assert normalise_token(normalise_token(text)) == normalise_token(text)
