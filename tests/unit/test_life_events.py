"""What begins and ends in a life, as people tell it in chats, in three languages."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.statements.changes import change
from memory_core.domain.truth.slots import NO_LONGER
from tests.talk import talk

OVER = NO_LONGER
FILLED: dict[str, dict[str, str]] = {
    # couples
    "Pavel proposed on the pier and i said yes!": {"marital status": "engaged"},
    "she proposed to me last night": {"marital status": "engaged"},
    "back from our honeymoon in Crete": {"marital status": "married"},
    "we tied the knot in june": {"marital status": "married"},
    "wir haben im juni geheiratet": {"marital status": "verheiratet"},
    "ich bin mit Olga verlobt": {"marital status": "verlobt"},
    "昨日プロポーズされました": {"marital status": "婚約中"},
    "春に結婚しました": {"marital status": "既婚"},
    "She proposed a new plan to me.": {},
    "If he proposed to me I'd say no.": {},
    "My cousin is back from her honeymoon.": {},
    "Meine Cousine hat im Juni geheiratet.": {},
    "友達が結婚しました": {},
    "結婚したいです": {},
    "妹の結婚式が終わりました": {},
    # names
    "I took her name so I'm Nils Berg now": {"name": "Nils Berg"},
    "I go by Sam": {"name": "Sam"},
    "everyone calls me Fitz": {"nickname": "Fitz"},
    "my friends all call me Bo": {"nickname": "Bo"},
    "ich heiße jetzt Nina Vogt": {"name": "Nina Vogt"},
    "苗字が小林に変わりました": {"last name": "小林"},
    "I'm Home now.": {},
    "My friends call me often.": {},
    "Everyone calls me lazy or worse.": {},
    "Er heißt jetzt Nils Vogt.": {},
    "友達の苗字が小林に変わりました": {},
    # smoking
    "started smoking again in spring": {"smokes": "yes"},
    "i've been smoke-free since may": {"smokes": "no"},
    "ich rauche wieder": {"smokes": "yes"},
    "ich rauche seit 12 jahren und will aufhören": {"smokes": "yes"},
    "The pub has been smoke free since may.": {},
    "Ich rauche keine Zigarren.": {},
    "Rauche ich zu viel?": {},
    # animals
    "Pixie my old spaniel is limping": {"pet pixie": "spaniel"},
    "Yesterday my old dog was sick.": {},
    "we adopted a puppy, a border collie called Ziggy": {
        "number of pets": OVER,
        "pet ziggy": "collie",
    },
    "our cat Olive hates the vet": {"pet olive": "cat"},
    "we had to put Olive to sleep": {"pet olive": OVER},
    "olive died on friday": {"pet olive": OVER},
    "unser hund Pablo frisst nicht": {"pet pablo": "hund"},
    "pablo ist gestern gestorben": {"pet pablo": OVER},
    "うちの犬のモカ、もう16歳です": {"pet モカ": "犬"},
    "モカが先週亡くなりました": {"pet モカ": OVER},
    "柴犬のゴン、生後2か月": {"pet ゴン": "柴犬"},
    "We had to put Olive down for a nap.": {},
    "My aunt has two pets, a cat called Tom.": {},
    "Ann, my old friend, is here.": {},
    "友達の犬のモカはかわいい": {},
    # homes, cars, diets
    "moved out of my parents' house, living in Ulm now": {"home city": "Ulm"},
    "I met Ann, living in Hull": {},
    "not vegan anymore": {"diet": f"{OVER} vegan"},
    "den polo hab ich verkauft": {"car": f"{OVER} polo"},
    "アクアを売って、ヤリスを買いました": {"car": "ヤリス"},
    "ノートを買いました": {},
    "new address as of this week btw, 9 Elm Row": {"address": "9 Elm Row"},
    "new phone, who is this": {},
    "ich wohn in Ulm": {"home city": "Ulm"},
    "I was born on Monday 14 sept": {},
    # what is no age, no job and no meal
    "ich bin schwanger, 10. Woche": {},
    "Ich bin schwanger, 31. SSW": {},
    "Ich bin Jonas, 34, aus Ulm": {"name": "Jonas", "age": "34", "origin": "Ulm"},
    "my daughter Pip started at Hillside Primary": {"daughter pip": "yes"},
    "Pip started at Hillside Nursery": {},
    "I started at Hillside Primary as a cook": {"employer": "Hillside Primary"},
    "もう15歳でごはんをあんまり食べない": {},
    "肉はあまり食べません": {"eats 肉": "no"},
}


@pytest.mark.parametrize(("text", "filled"), FILLED.items())
def test_slots_of_the_speaker_that_a_message_fills(text: str, filled: dict[str, str]) -> None:
    assert {
        fact.attribute: fact.value
        for fact in said_facts(talk(text))
        if fact.attribute and fact.subject == "user"
    } == filled


def test_a_newborn_is_named_by_its_parents_word() -> None:
    texts = [
        fact.text for fact in said_facts(talk("3月3日に無事女の子が生まれました。名前は凛です"))
    ]
    assert texts[0] == "User: 娘の名前は凛です"
    assert all("女の子の名前" not in text for text in texts)
    of_sister = said_facts(talk("姉に女の子が生まれました。名前は凛です"))
    assert all(fact.attribute is None for fact in of_sister)


def test_a_new_boss_in_the_same_sentence_is_the_boss() -> None:
    facts = said_facts(talk("my boss Ida is leaving, new boss is called Olaf"))
    assert [fact.value for fact in facts if fact.attribute == "name"] == ["Olaf"]
    assert all(fact.text != "User's boss is called Ida" for fact in facts)


def test_a_person_who_is_only_named_is_a_statement() -> None:
    texts = [fact.text for fact in said_facts(talk("booked a trip with my friend Bea! any tips?"))]
    assert texts == ["Bea is User's friend"]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("User is 14 weeks pregnant", "Noa was born on Tuesday, 3.2 kg"),
        ("I'm pregnant", "sorry for the silence, Noa was born this morning"),
        ("We're expecting in June", "we lost the baby last week"),
        ("Ich bin schwanger", "unser Sohn Emil ist da!"),
        ("Ich bin schwanger", "ich hatte eine Fehlgeburt"),
        ("今妊娠4ヶ月です", "昨日男の子が生まれました"),
        ("今妊娠4ヶ月です", "先月流産しました"),
        ("Our cat Olive will not eat", "we had to put olive down yesterday"),
    ],
)
def test_what_ends_what_was_told_before(earlier: str, later: str) -> None:
    assert change(earlier, later) is not None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("User is 14 weeks pregnant", "my niece Noa was born on Tuesday"),
        ("I'm pregnant", "Mozart was born in 1756"),
        ("I'm pregnant", "the parcel arrived yesterday"),
        ("I'm pregnant", "Anna gave birth on Tuesday"),
        ("Ich bin schwanger", "unser Sofa ist da!"),
        ("Ich bin schwanger", "Lisas Sohn Emil ist da"),
        ("今妊娠4ヶ月です", "友達が旅行しました"),
        ("My phone is red", "I had to put the phone down for a moment"),
        ("Our cat Olive will not eat", "I had to put olive oil down on the list"),
    ],
)
def test_what_ends_nothing(earlier: str, later: str) -> None:
    assert change(earlier, later) is None
