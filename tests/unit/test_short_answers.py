"""Short answers to an assistant's questions: "In Gdansk." to "Where do you live?"."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.agent_schemas import ExtractedFacts, SaidFact
from memory_core.domain.conversation import Message
from memory_core.domain.statements.fact_checks import asserted_facts
from tests.builders import NOW

ANSWERS: list[tuple[str, str, dict[str, str]]] = [
    ("Where does your wife work, and where do you work?", "Bosch", {"employer": "Bosch"}),
    ("Do you have any allergies?", "Yes, I have allergic on peanut.", {"allergy to peanut": "yes"}),
    ("Where do you live?", "In Gdansk.", {"home city": "Gdansk"}),
    ("And where are you based, if I may ask?", "Hull", {"home city": "Hull"}),
    ("Do you have any allergies?", "Yes, peanuts.", {"allergy to peanuts": "yes"}),
    (
        "Any food allergies I should know about?",
        "Shellfish and kiwi.",
        {"allergy to shellfish": "yes", "allergy to kiwi": "yes"},
    ),
    ("What's your name?", "Olga", {"name": "Olga"}),
    ("Nice to meet you! May I ask your name?", "Marek Nowak.", {"name": "Marek Nowak"}),
    ("How old are you?", "34", {"age": "34"}),
    ("Could you tell me your age?", "41 years old", {"age": "41"}),
    (
        "Where do you work?",
        "At Siemens, as a welder",
        {"employer": "Siemens", "occupation": "welder"},
    ),
    ("What do you do for a living?", "nurse", {"occupation": "nurse"}),
    ("Are you married?", "Yes, to Tom.", {"marital status": "married", "spouse": "Tom"}),
    ("Do you have kids?", "Yes, two.", {"number of children": "2"}),
    ("You live in Rome, right?", "Yes", {"home city": "Rome"}),
    ("Do you smoke?", "No.", {"smokes": "no"}),
    ("Wo wohnst du?", "In Danzig.", {"home city": "Danzig"}),
    ("Und wie heißen Sie?", "Olga Kern", {"name": "Olga Kern"}),
    ("Wie alt bist du?", "34", {"age": "34"}),
    ("Was machen Sie beruflich?", "Schweißer.", {"occupation": "Schweißer"}),
    ("Hast du Allergien?", "Ja, gegen Erdnüsse.", {"allergy to erdnüsse": "yes"}),
    ("Bist du verheiratet?", "Ja, mit Tom", {"marital status": "verheiratet", "spouse": "Tom"}),
    (
        "Wo arbeitest du?",
        "Bei Siemens, als Schweißer",
        {"employer": "Siemens", "occupation": "Schweißer"},
    ),
    ("どこに住んでいますか？", "グダニスクです。", {"home city": "グダニスク"}),
    ("お名前は何ですか？", "健太です", {"name": "健太"}),
    ("ありがとうございます。お名前を教えてください。", "佐藤美咲です。", {"name": "佐藤美咲"}),
    ("おいくつですか？", "34です", {"age": "34"}),
    ("アレルギーはありますか？", "はい、そばです。", {"allergy to そば": "yes"}),
    ("どこで働いていますか？", "トヨタです", {"employer": "トヨタ"}),
    ("ご結婚されていますか？", "はい", {"marital status": "結婚しています"}),
    ("Haben Sie Allergien?", "Ja, Soja", {"allergy to soja": "yes"}),
    ("Thanks! And your name?", "Olga", {"name": "Olga"}),
    ("Do you have any pets?", "Yes, a dog called Rufus.", {"pet rufus": "dog"}),
    ("Do you have any kids?", "No.", {"number of children": "0"}),
    ("When is your birthday?", "3rd of May", {"birthday": "3rd of May"}),
    (
        "What do you do?",
        "Software engineer at SAP",
        {"occupation": "Software engineer", "employer": "SAP"},
    ),
    ("Wann hast du Geburtstag?", "Am 3. Mai", {"birthday": "3. Mai"}),
    ("お仕事は何をされていますか？", "看護師です", {"occupation": "看護師"}),
]
SAY_NOTHING: list[tuple[str, str]] = [
    ("Where does your sister live?", "Ok bye."),
    ("What is your sister's name?", "Whatever."),
    ("Where do you live?", "No idea."),
    ("What's your name?", "Why?"),
    ("How old are you?", "I'd rather not say."),
    ("Where do you work?", "On the moon lol"),
    ("Do you want me to book a hotel in Rome?", "Yes, please."),
    ("What is your favourite part of the plan?", "The second one"),
    ("Wo wohnen Sie?", "Warum fragen Sie das?"),
    ("Wo wohnst du?", "Keine Ahnung."),
    ("Wie heißt du?", "Möchte ich nicht sagen"),
    ("おいくつですか？", "言いたくないです"),
    ("お名前は何ですか？", "秘密です"),
    ("どこに住んでいますか？", "なぜですか？"),
    ("What's your name?", "Guess!"),
    ("What's your name?", "Nope."),
    ("What's your name?", "The same as yours"),
    ("What's your name?", "First tell me yours"),
    ("What should I call you?", "Whatever you like"),
    ("How old are you?", "Old enough"),
    ("How old are you?", "29 forever lol"),
    ("Where do you live?", "Far away"),
    ("Where do you live?", "Under a bridge"),
    ("Where do you live?", "On Earth"),
    ("Where do you live?", "Somewhere warm"),
    ("Where do you live?", "In a small flat"),
    ("Where do you live?", "With my parents"),
    ("Where do you live?", "Depends on the season"),
    ("Where do you work?", "From home"),
    ("Where do you work?", "Nowhere"),
    ("Where do you work?", "Retired"),
    ("What do you do?", "Nothing much"),
    ("What do you do?", "Help me with the code"),
    ("What do you do for a living?", "Stay alive"),
    ("Are you married?", "Not yet"),
    ("Are you married?", "Yes and no"),
    ("Are you married?", "Yes, to my job lol"),
    ("Are you ready?", "Yes"),
    ("Are you sure?", "Yes"),
    ("Do you have any questions?", "Yes, two"),
    ("Do you have a car?", "Yes"),
    ("Do you have any allergies?", "No"),
    ("Do you have any allergies?", "Yes"),
    ("Do you have any allergies?", "Yes, several"),
    ("Do you live alone?", "Yes"),
    ("Do you want to live in Berlin?", "Yes"),
    ("Are you living in a dream?", "Yes"),
    ("Should I book a hotel in Rome?", "Yes"),
    ("What city should I search?", "Rome"),
    ("Where do you want to go?", "Rome"),
    ("Where are you flying from?", "Leeds"),
    ("Where are you flying to?", "Rome"),
    ("Which city do you want the weather for?", "Oslo"),
    ("What's the name of the file?", "Olga"),
    ("What is your question?", "Rome"),
    ("What's your favourite?", "Blue"),
    ("Do you drive to work?", "Yes"),
    ("Do you work with Python?", "Yes"),
    ("Do you work on Mondays?", "Yes"),
    ("Are you from the support team?", "Yes"),
    ("Do you need the report in English?", "Yes"),
    ("Do you speak to Tom often?", "Yes"),
    ("You mean Rome, right?", "Yes"),
    ("You are done, right?", "Yes"),
    ("You want Rome, right?", "Yes"),
    ("You moved to Rome in the story, right?", "Yes"),
    ("Are you Team Edward?", "Yes"),
    ("Are you happy with it?", "Yes"),
    ("Are you still at Otto?", "Yes"),
    ("Do you eat here?", "Yes"),
    ("Wo wohnst du?", "Im Moment nirgends"),
    ("Wo wohnst du?", "Bei meinen Eltern"),
    ("Wie alt bist du?", "Alt genug"),
    ("Hast du Allergien?", "Nein"),
    ("Hast du Allergien?", "Ja"),
    ("Hast du Allergien?", "Ja, leider"),
    ("Bist du bereit?", "Ja"),
    ("Was machst du beruflich?", "Nichts Besonderes"),
    ("Was machst du beruflich?", "Dies und das"),
    ("Wie heißt du?", "Rate mal"),
    ("Wie heißt du?", "Warum?"),
    ("Bist du verheiratet?", "Noch nicht"),
    ("Bist du in Rom?", "Ja"),
    ("お名前は？", "ひみつです"),
    ("お名前は？", "言いたくない"),
    ("何歳ですか？", "二十歳くらいです"),
    ("どこに住んでいますか？", "地球です笑"),
    ("どこに住んでいますか？", "いろいろです"),
    ("アレルギーはありますか？", "いいえ"),
    ("アレルギーはありますか？", "はい"),
    ("アレルギーはありますか？", "特にないです"),
    ("お仕事は何ですか？", "いろいろです"),
    ("どこで働いていますか？", "家です"),
    ("どこに住んでいますか？", "東京か大阪"),
]


def talk(question: str, answer: str, between: str = "") -> list[Message]:
    return [
        Message(role="assistant", content=question, timestamp=NOW),
        *([Message(role="tool", content=between, timestamp=NOW)] if between else []),
        Message(role="user", content=answer, timestamp=NOW),
    ]


@pytest.mark.parametrize(("question", "answer", "filled"), ANSWERS)
def test_a_short_answer_says_what_its_question_asks_for(
    question: str, answer: str, filled: dict[str, str]
) -> None:
    messages = talk(question, answer)
    facts = said_facts(messages)
    assert {fact.attribute: fact.value for fact in facts} == filled
    assert all(fact.message == 1 and fact.quote in answer for fact in facts)
    checked = asserted_facts(ExtractedFacts(facts=facts), messages)
    assert {fact.attribute: fact.value for fact in checked.facts} == filled


@pytest.mark.parametrize(("question", "answer"), SAY_NOTHING)
def test_refusals_jokes_and_other_questions_say_nothing(question: str, answer: str) -> None:
    messages = talk(question, answer)
    assert [fact for fact in said_facts(messages) if fact.attribute is not None] == []
    assert len(said_facts(messages)) == len(said_facts(messages[1:]))


@pytest.mark.parametrize(
    ("before", "question", "answer", "texts"),
    [
        (
            "My son starts school.",
            "Does he have any allergies?",
            "Yes, peanuts.",
            ["User's son is allergic to peanuts"],
        ),
        (
            "I need ideas for dinner.",
            "Does your son have any allergies?",
            "Yes, peanuts.",
            ["User's son is allergic to peanuts"],
        ),
        (
            "I look after my mother.",
            "Where does she live?",
            "In Kiel.",
            ["User's mother lives in Kiel"],
        ),
        ("I look after my mother.", "How old is she?", "82.", ["User's mother is 82 years old"]),
        ("I look after my mother.", "How old is he?", "82.", []),
        ("I look after my mother and my aunt.", "How old is she?", "82.", []),
        ("Hello.", "How old is she?", "82.", []),
        (
            "Hello.",
            "Do you have any allergies?",
            "Me no, my son yes, nuts.",
            ["User's son is allergic to nuts"],
        ),
        (
            "Hallo.",
            "Hast du Allergien?",
            "Ich nicht, aber meine Tochter, Nüsse.",
            ["User: Meine Tochter ist allergisch gegen Nüsse"],
        ),
        ("Ich pflege meinen Vater.", "Wie alt ist er?", "82.", ["User: Mein Vater ist 82"]),
        (
            "Ich pflege meine Mutter.",
            "Wo wohnt sie?",
            "In Kiel.",
            ["User: Meine Mutter wohnt in Kiel"],
        ),
        (
            "娘が小学校に入ります。",
            "娘さんにアレルギーはありますか？",
            "はい、卵です。",
            ["User: 娘は卵アレルギーがあります"],
        ),
        (
            "母の介護をしています。",
            "お母さんはおいくつですか？",
            "82歳です。",
            ["User: 母は82歳です"],
        ),
        ("母の介護をしています。", "どちらにお住まいですか？", "京都です。", []),
    ],
)
def test_a_short_answer_about_another_person_is_a_fact_of_that_person(
    before: str, question: str, answer: str, texts: list[str]
) -> None:
    messages = [Message(role="user", content=before, timestamp=NOW), *talk(question, answer)]
    facts = [fact for fact in said_facts(messages) if fact.message == 2]
    assert [fact.text for fact in facts] == texts
    assert asserted_facts(ExtractedFacts(facts=facts), messages).facts == facts


def test_a_question_is_answered_by_the_message_after_it_alone() -> None:
    assert said_facts(talk("Where do you live?", "Gdansk", between="ok")) == []
    assert said_facts(talk("Where do you live? And where do you work?", "Gdansk")) == []
    assert said_facts([*talk("Where do you live?", "Hm."), *talk("Nice.", "Gdansk")[1:]]) == []


def test_a_question_proves_nothing_that_its_answer_does_not_affirm() -> None:
    fact = SaidFact(
        text="User lives in Rome",
        message=1,
        quote="I love it",
        subject="user",
        attribute="home city",
        value="Rome",
        confidence=0.9,
    )
    messages = talk("You live in Rome, right?", "I love it there.")
    assert asserted_facts(ExtractedFacts(facts=[fact]), messages).facts == []
