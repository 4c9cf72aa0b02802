import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.text.sameness import differences, normalised

SAME = [
    ("I moved to Berlin", "I have moved to Berlin."),
    ("I am allergic to peanuts", "I'm allergic to peanuts!"),
    ("My sister lives in Oslo", "My sister is living in Oslo"),
    ("The user prefers TypeScript for new projects", "User prefers TypeScript for new projects."),
    ("The rent is 1,000 euros", "the rent is 1000 euros"),
    ("Der Preis ist 3,5 Euro", "Der Preis ist 3.5 Euro"),
    ("The city has 1'250'000 inhabitants", "The city has 1,250,000 inhabitants"),
    ("The servers listen on two ports", "The server is listening on two port"),
    ("She doesn't drink coffee", "She does not drink coffee"),
    ("Ｔｈｅ ｐｏｒｔ ｉｓ 8080", "The port is 8080"),
    ("日本語を勉強する。", "日本語を 勉強する"),
    ("Anna's bike is red", "Anna’s bike is red"),
    ("It's cold in Oslo", "It is cold in Oslo"),
    ("I'll move to Oslo", "I will move to Oslo"),
]  # fmt: skip

APART = [
    ("numbers", "The server listens on port 8080", "The server listens on port 8081"),
    ("numbers", "She takes 20 mg daily", "She takes 200 mg daily"),
    ("numbers", "We use Python 3.10", "We use Python 3.1"),
    ("numbers", "The meeting is at 10:30", "The meeting is at 11:30"),
    ("numbers", "Due on 2026-05-08", "Due on 2026-08-05"),
    ("numbers", "It is -5 degrees", "It is 5 degrees"),
    ("symbols", "It costs $5", "It costs €5"),
    ("symbols", "Prices rose 5%", "Prices rose 5"),
    ("numbers", "الغرفة ٣", "الغرفة ٤"),
    ("symbols", "The blood type is A", "The blood type is A-"),
    ("symbols", "I feel 🙂 today", "I feel 🙁 today"),
    ("negation", "User likes tea", "User does not like tea"),
    ("negation", "I smoke", "I no longer smoke"),
    ("negation", "He can come", "He can't come"),
    ("negation", "He can come", "He cannot come"),
    ("negation", "Coffee with sugar", "Coffee without sugar"),
    ("negation", "I like tea but not coffee", "I like coffee but not tea"),
    ("negation", "Ich mag Tee", "Ich mag keinen Tee"),
    ("negation", "J'aime le thé", "Je n'aime pas le thé"),
    ("negation", "Me gusta el té", "No me gusta el té"),
    ("negation", "Я пью кофе", "Я не пью кофе"),
    ("negation", "我喜欢咖啡", "我不喜欢咖啡"),
    ("negation", "コーヒーを飲みます", "コーヒーを飲みません"),
    ("negation", "コーヒーを飲む", "コーヒーを飲まない"),
    ("names", "I moved to Berlin", "I moved to Munich"),
    ("names", "Yesterday we met Anna", "Yesterday we met Maria"),
    ("names", "The config is in settings.py", "The config is in main.py"),
    ("names", "Call get_user first", "Call get_users first"),
    ("names", "I met Anna and Anna", "I met Anna"),
    ("names", "Marie owns the house", "Maries owns the house"),
    ("values", "theme: dark mode", "theme: dark mode always"),
    ("values", "timeout = ten seconds", "timeout = one minute"),
    ("opposites", "enable logging in production", "disable logging in production"),
    ("opposites", "My sister lives here", "My brother lives here"),
    ("opposites", "Turn left at the church", "Turn right at the church"),
    ("opposites", "He called before lunch", "He called after lunch"),
    ("opposites", "He likes tea", "She likes tea"),
    ("opposites", "She is a nurse", "She was a nurse"),
    ("opposites", "The switch is safe", "The switch is unsafe"),
    ("order", "I prefer tea over coffee", "I prefer coffee over tea"),
    ("order", "moved from Berlin to Paris", "moved from Paris to Berlin"),
    ("order", "Bob loves Anna", "Anna loves Bob"),
    ("words", "The favourite colour is blue", "The favourite colour is green"),
    ("words", "i moved to berlin", "i moved to munich"),
    ("words", "My sister lives in Oslo", "My sister lived in Oslo"),
    ("words", "The car is new", "The care is new"),
    ("words", "i met anna", "i met annie"),
    ("words", "Anna is a doctor", "Anna has a doctor"),
    ("words", "Anna was invited by Tom", "Anna invited Tom"),
    ("words", "User has been fired", "User has fired"),
    ("words", "User was being promoted", "User promoted"),
    ("words", "I am Tom's boss", "Tom is my boss"),
    ("words", "The report is due by Monday", "The report is due on Monday"),
    ("words", "User will move to Oslo", "User would move to Oslo"),
    ("words", "User will live in Oslo", "User lives in Oslo"),
    ("words", "用户搬到北京了", "用户搬到北京"),
    ("order", "田中が佐藤を招待した", "田中を佐藤が招待した"),
    ("words", "I like tea", "I like tea with milk"),
    ("words", "我住在北京", "我住在上海"),
    ("question", "Does she drink tea", "Does she drink tea?"),
]  # fmt: skip

pieces = st.sampled_from(
    [
        "I",
        "like",
        "tea",
        "not",
        "Berlin",
        "Paris",
        "8080",
        "8081",
        "1,000",
        "port",
        "don't",
        "日本語",
        "не",
        "key: value",
        ".",
        "?",
        "before",
        "after",
        "foo.py",
    ]
)
texts = st.one_of(st.text(max_size=60), st.lists(pieces, max_size=8).map(" ".join))


@pytest.mark.parametrize(("first", "second"), SAME)
def test_a_statement_said_a_little_differently_is_the_same(first, second):
    assert differences(first, second) == frozenset()
    assert differences(second, first) == frozenset()


@pytest.mark.parametrize(("guard", "first", "second"), APART)
def test_a_guard_tells_two_statements_apart(guard, first, second):
    assert guard in differences(first, second)


@pytest.mark.parametrize(
    ("first", "second", "only"),
    [
        ("The server listens on port 8080", "The server listens on port 8081", "numbers"),
        ("I am allergic to peanuts", "I am not allergic to peanuts", "negation"),
        ("User likes tea", "User does not like tea", "negation"),
        ("Я пью кофе", "Я не пью кофе", "negation"),
    ],
)
def test_what_only_a_number_or_a_negation_tells_apart_is_told_apart_by_that_alone(
    first, second, only
):
    assert differences(first, second) == {only}


@given(texts, texts)
def test_it_does_not_matter_which_comes_first(first, second):
    assert differences(first, second) == differences(second, first)


@given(texts)
def test_every_statement_is_the_same_as_itself_in_capitals_spaced_out_or_with_a_full_stop(text):
    assert not differences(text, text)
    assert not differences(text, f"  {text}\n")
    assert not differences(text, f"{text}.") or text.rstrip().endswith("?")


@given(texts)
def test_normalising_twice_changes_nothing_more(text):
    assert normalised(normalised(text)) == normalised(text)


@given(st.lists(pieces, min_size=1, max_size=6), st.integers(0, 9999), st.integers(0, 9999))
def test_two_statements_with_different_numbers_are_never_the_same(words, first, second):
    before = " ".join(words)
    assert bool(differences(f"{before} {first}", f"{before} {second}")) == (first != second)


@given(
    st.lists(pieces.filter(lambda word: word not in ("not", "не", "don't")), min_size=1, max_size=6)
)
def test_a_negation_on_one_side_is_never_overlooked(words):
    assert "negation" in differences(" ".join(words), " ".join(["never", *words]))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (" The  Port\tis 8080 . ", "the port is 8080"),
        ("STRASSE", "strasse"),
        ("Straße!", "strasse"),
        ("really?", "really?"),
        ("...", "..."),
        ("C#", "c#"),
    ],
)
def test_normalised_forms(text, form):
    assert normalised(text) == form
