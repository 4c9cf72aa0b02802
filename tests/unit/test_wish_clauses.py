"""Instructions within long sentences, as people dictate or paste them."""

from __future__ import annotations

import pytest

from memory_core.domain.statements.wish_clauses import is_long, wishes_of_clauses
from memory_core.domain.statements.wishes import said_wishes
from memory_core.domain.text.sentences import Sentence
from tests.unit.test_wishes import message

BEFORE = "we spent the whole week painting the hallway, the cat walked through the wet paint twice"
AFTER = (
    "and the plumber who comes on Thursday says that the pipe behind the bath is older than the"
    " house, so could you help me plan the next two weekends, given that my sister needs the car"
)
BEFORE_DE = (
    "wir haben die ganze Woche den Flur gestrichen, die Katze ist zweimal durch die Farbe gelaufen"
)
AFTER_DE = (
    "und der Installateur, der am Donnerstag kommt, sagt, dass das Rohr hinter der Wanne älter ist"
    " als das Haus, kannst du mir also helfen, die nächsten beiden Wochenenden zu planen"
)
BEFORE_JA = "一週間ずっと廊下の壁を塗っていて、猫が二回も塗りたてのところを歩いてしまって"
AFTER_JA = (
    "それで木曜日に来る水道屋さんによると風呂の裏の管が家よりも古いらしいので、来週の予定を一緒に"
    "考えたいと思っていて、車は妹が使うことになっているのでそれも考えに入れたいです。"
)
INSTRUCTIONS = [
    ("so I prefer short plans with a table", "I prefer short plans with a table"),
    ("I prefer simple, cheap materials", "I prefer simple, cheap materials"),
    ("please always give me prices including VAT", "please always give me prices including VAT"),
    (
        "and since I grew up in Sweden I'd like you to always use metric units",
        "since I grew up in Sweden I'd like you to always use metric units",
    ),
    (
        "and whenever I send you notes start your reply with a summary",
        "whenever I send you notes start your reply with a summary",
    ),
    ("from now on, please, call me Max", "from now on, please, call me Max"),
    ("never suggest wine, beer, or cocktails", "never suggest wine, beer, or cocktails"),
    ("never suggest meat, unless I ask for it", "never suggest meat, unless I ask for it"),
    ("keep your answers short", "keep your answers short"),
    ("never push to main without asking me", "never push to main without asking me"),
]
INSTRUCTIONS_DE = [
    "antworte mir künftig immer in Stichpunkten",
    "ich bevorzuge Lösungen aus der Region",
    "ich möchte, dass du mir ab jetzt immer auf Englisch antwortest",
    "verwende nie Wörter, die ich nicht kenne",
]
INSTRUCTIONS_JA = [
    "今後は必ず箇条書きで答えてください",
    "仕事の話のときは、いつも敬語で話してください",
    "返事に絵文字は使わないでください",
]
HARMLESS = [
    "my boss told us never to use templates and always to answer within four hours",
    "the office rules are: always begin with the customer's name, never use emojis in replies",
    "please write it in a polite way, don't use any jargon",
    "can you also provide step-by-step explanations with examples",
    "explain why the centroid is always inside of the triangle",
    "I'd like to use a tool that makes sure the code is formatted consistently",
    "my aunt said that they always apologise before a rehearsal",
    "he said that I should please always mind my own business",
    "my brother says: always use short words, never call me before nine",
]
HARMLESS_DE = [
    "mein Chef will, dass E-Mails immer nur in Stichpunkten beantwortet werden",
    "man sollte da bitte auch die Kinder nie an die Steckdosen lassen",
]
HARMLESS_JA = [
    "先生が宿題は必ず夕食の前に終わらせてくださいと話していて",
    "寝る前に必ず日記を三行だけ書くって決めて",
    "夜は絶対に絵文字を使わないで",
]
DICTATED = (
    "so um I was on the phone with the landlord again and he said the boiler man comes thursday"
    " between eight and twelve and I have to be at work at nine oh and from now on please don't use"
    " bullet points when you answer me anyway the neighbour said she would tell me by tonight and"
    " if she can't I'd have to ask my brother who lives forty minutes away"
)


def around(clause: str) -> str:
    return f"{BEFORE}, {clause}, {AFTER}."


def around_in_german(clause: str) -> str:
    return f"{BEFORE_DE}, {clause}, {AFTER_DE}."


def around_in_japanese(clause: str) -> str:
    return f"{BEFORE_JA}、{clause}、{AFTER_JA}"


def said(content: str) -> list[tuple[str, str]]:
    return [(wish.kind, wish.text) for wish in said_wishes([message(content)])]


@pytest.mark.parametrize(
    ("content", "instruction"),
    [
        *((around(clause), words) for clause, words in INSTRUCTIONS),
        *((around_in_german(clause), clause) for clause in INSTRUCTIONS_DE),
        *((around_in_japanese(clause), clause) for clause in INSTRUCTIONS_JA),
    ],
)
def test_the_clause_of_a_long_sentence_that_instructs_is_kept(
    content: str, instruction: str
) -> None:
    assert is_long(content)
    assert said(content) == [("instruction", instruction)]


@pytest.mark.parametrize(
    "content",
    [
        *map(around, HARMLESS),
        *map(around_in_german, HARMLESS_DE),
        *map(around_in_japanese, HARMLESS_JA),
    ],
)
def test_no_clause_of_a_long_story_instructs(content: str) -> None:
    assert is_long(content)
    assert said(content) == []


def test_an_instruction_in_dictated_words_without_marks_is_read() -> None:
    assert said(DICTATED) == [
        ("instruction", "from now on please don't use bullet points when you answer me")
    ]


def test_a_clause_is_read_wherever_it_stands_in_an_endless_sentence() -> None:
    story = ", ".join([BEFORE, AFTER] * 4)
    content = f"{story}, and I prefer step-by-step plans for such work, {story}."
    assert said(content) == [("instruction", "I prefer step-by-step plans for such work")]
    for wish in said_wishes([message(content)]):
        assert wish.text in content[wish.start : wish.end]


def test_several_instructions_of_a_sentence_are_kept_in_order() -> None:
    first, second = "please always use metric units", "I prefer short plans"
    content = around(f"{first}, the weather was awful all week, and {second}")
    assert said(content) == [("instruction", first), ("instruction", second)]


def test_a_sentence_of_marks_alone_has_no_clause() -> None:
    assert [*wishes_of_clauses(Sentence(", ; " * 100, 0, 400))] == []
