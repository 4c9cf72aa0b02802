"""Casual English is read like careful English, and a quote stays as it was said."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.casual import with_subject, written_out
from memory_core.adapters.offline.clauses import expanded
from memory_core.adapters.offline.facts import said_facts
from tests.talk import talk

WRITTEN_OUT = {
    "im allergic to penicillin": "I'm allergic to penicillin",
    "so im 41 and tired": "so I'm 41 and tired",
    "hey, im moving to ghent": "hey, I'm moving to Ghent",
    "im training for a triathlon": "I'm training for a triathlon",
    "ive had two jobs and i liked neither": "I've had two jobs and I liked neither",
    "dont worry, she doesnt mind": "don't worry, she doesn't mind",
    "we cant come and i wont ask": "we can't come and I won't ask",
    "thats fine, hes here": "that's fine, he's here",
    "i've told you, i'm fine": "I've told you, I'm fine",
    "i dont want to die in a war with a hat": "I don't want to die in a war with a hat",
    "im dave, live in leeds w my gf": "I'm Dave, live in Leeds with my girlfriend",
    "i live in york w/ our dog": "I live in York with our dog",
    "jetzt lern ich klavier": "jetzt lerne ich klavier",
    "ich wohn in einer wg": "ich wohne in einer wg",
    # what only looks like it
    "we were well and ill in turn": "we were well and ill in turn",
    "the id is in the shed": "the id is in the shed",
    "see section i.e. the first": "see section i.e. the first",
    "read via i/o ports": "read via i/o ports",
    "the lint job and the paint": "the lint job and the paint",
    "im fernsehen, live in berlin": "im fernsehen, live in Berlin",
    "i live alone w/o my parents": "I live alone w/o my parents",
    "a 60 w bulb": "a 60 w bulb",
    "im kino gewesen": "im kino gewesen",
    "im training war es heute warm": "im training war es heute warm",
    "ich bin im 10. monat": "ich bin im 10. monat",
    "treffen im park": "treffen im park",
    "im mai 12 tage weg": "im Mai 12 tage weg",
    "im camping platz": "im camping platz",
    "東京に住んでいます": "東京に住んでいます",
    "i libri sono miei": "i libri sono miei",
}
WITH_SUBJECT = {
    "sold the kayak": "I sold the kayak",
    "Fractured my wrist skiing": "I fractured my wrist skiing",
    "been knitting since march": "I've been knitting since march",
    "just moved to Bergen": "I just moved to Bergen",
    "ok cancelled spotify": "ok I cancelled spotify",
    "signed up for a pottery class": "I signed up for a pottery class",
    "gave up dairy": "I gave up dairy",
    "had to rehome the cat": "I had to rehome the cat",
    "off metformin since june": "I'm off metformin since june",
    "back from the alps": "I'm back from the alps",
    "learning welsh for a year now": "I'm learning welsh for a year now",
    "turned 52 yesterday": "I turned 52 yesterday",
    "haven't smoked in weeks": "I haven't smoked in weeks",
    "no longer on prednisone": "I'm no longer on prednisone",
    "split up with theo": "I split up with theo",
    "live in hull with my dad": "I live in hull with my dad",
}
AS_THEY_ARE = (
    "live in the moment with my help",
    "Live in Rome tonight with our guest",
    "Used cars in Ohio",
    "Left hand exercises for piano",
    "Broken pipe in the kitchen",
    "Finished products are in the shed",
    "got a question about taxes",
    "got an error when it starts",
    "cancelled flights and my rights",
    "been there, done that",
    "learning Welsh is hard",
    "working at night is tiring",
    "back to the roots",
    "turned out fine",
    "lost in translation",
    "fried rice with peas",
    "started by a friend",
    "off season in Crete",
    "not now, thanks",
    "sell the car or keep it",
    "Moved: one piano, two lamps",
    "I sold the kayak",
    "she sold the kayak",
    "we moved to Bergen",
    "mein Auto ist verkauft",
    "車を売りました",
)


@pytest.mark.parametrize(("text", "written"), WRITTEN_OUT.items())
def test_apostrophes_and_capitals_are_restored(text: str, written: str) -> None:
    assert written_out(text) == written
    assert written_out(written) == written


@pytest.mark.parametrize(("text", "written"), WITH_SUBJECT.items())
def test_a_dropped_subject_is_added(text: str, written: str) -> None:
    assert with_subject(text) == written
    assert with_subject(written) == written


@pytest.mark.parametrize("text", AS_THEY_ARE)
def test_what_drops_no_subject_stays_as_it_is(text: str) -> None:
    assert with_subject(text) == text


POSSESSIVES = (
    "I work at Nando's in Leeds.",
    "I work at Wendy's from 9 to 5.",
    "I had dinner at Tom's on Friday.",
    "My favourite shop is Marks's in Hull.",
    "I live near St Paul's in London.",
    "I quit Nando's on Friday.",
    "Nando's in Leeds is busy.",
)


@pytest.mark.parametrize("text", POSSESSIVES)
def test_the_possessive_of_a_name_is_no_verb(text: str) -> None:
    assert expanded(text) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Maya's in Berlin.", "Maya is in Berlin."),
        ("My sister's allergic to nuts.", "My sister is allergic to nuts."),
        ("My best friend Leo's vegan.", "My best friend Leo is vegan."),
        ("I am well, and Leo's got asthma.", "I am well, and Leo has got asthma."),
    ],
)
def test_a_name_with_its_verb_at_the_start_of_a_clause_is_written_out(
    text: str, written: str
) -> None:
    assert expanded(text) == written


def facts(text: str) -> dict[str | None, str | None]:
    """Values of the slots that a message of the user fills."""
    return {fact.attribute: fact.value for fact in said_facts(talk(text)) if fact.attribute}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("im 41 and ive moved to Ghent", {"age": "41", "home city": "Ghent"}),
        ("big news 🎉 joined Siemens last week", {"employer": "Siemens"}),
        ("quit smoking in may", {"smokes": "no"}),
        ("ugh. sold my golf today", {"car": "no longer golf"}),
        ("dont smoke", {}),
        ("my aunt is odd. moved to Ghent last week", {}),
        ("did i tell you? moved to Ghent?", {}),
        # English of people who learn it
        ("I work by Hofer since March.", {"employer": "Hofer"}),
        ("I work by candlelight and by night.", {}),
        ("I work by the river.", {}),
        ("I work by Monday evening again.", {}),
        ("I live by myself in Linz.", {"home city": "Linz"}),
        ("I live by my rules in peace.", {}),
        ("I live since 3 years in Ghent.", {"home city": "Ghent"}),
        ("I am living already for two years in Ghent with my cousin.", {"home city": "Ghent"}),
        ("I live for the weekend in Paris.", {}),
        ("Since last autumn we live in Turku.", {"home city": "Turku"}),
        ("Since Monday I am reading a book.", {}),
        ("I am in Linz since March.", {"home city": "Linz"}),
        ("I am in therapy since March.", {}),
        ("I am married with Samira since 2015.", {"spouse": "Samira", "marital status": "married"}),
        ("I am married with two kids.", {"marital status": "married", "number of children": "2"}),
        ("I have married in June with Jonas.", {"spouse": "Jonas", "marital status": "married"}),
        ("I have 41 years and I come from Peru.", {"age": "41", "origin": "Peru"}),
        ("I have 20 years of experience.", {}),
        ("I have 2 years left on my contract.", {}),
        ("I am cook in a hotel.", {"occupation": "cook"}),
        ("I am driver of tram.", {"occupation": "driver of tram"}),
        ("I am cook-curious and I am model train fan.", {}),
        ("I no drink milk.", {"drinks milk": "no"}),
        ("I am not more working at Spar.", {"employer": "no longer Spar"}),
        ("I living in Braga.", {"home city": "Braga"}),
        ("My new boyfriend calls himself Marek.", {"name": "Marek"}),
        ("My boss calls himself a feminist.", {}),
        ("I have allergic on nuts.", {"allergy to nuts": "yes"}),
        ("With my dog she seems happy, so I work as a vet.", {"occupation": "vet"}),
        ("I was a tailor, retired in 1999.", {}),
        ("Retired in 1999, that was my brother, not me.", {}),
        ("I retired last month.", {"employer": "no longer", "occupation": "no longer"}),
        # German of people who learn it
        ("Ich bin nach Linz umgezieht.", {"home city": "Linz"}),
        ("Wir sind gezogt in Linz.", {"home city": "Linz"}),
        ("Ich bin gezogen in den Krieg.", {}),
        ("Ich habe gefunden Arbeit bei Lidl.", {"employer": "Lidl"}),
        ("Ich habe gefunden eine Arbeit als Maler.", {"occupation": "Maler"}),
        ("Ich habe viel Arbeit bei Regen.", {}),
        ("Ich arbeite bei Kerzenlicht.", {}),
        ("Ich arbeite bei Flutlicht GmbH.", {"employer": "Flutlicht GmbH"}),
        ("I work by Skype.", {}),
        ("I work by Hyde Park.", {}),
        ("Ich arbeite bei Nacht und Regen.", {}),
        ("Ich bin jetzt in Hofer arbeiten.", {"employer": "Hofer"}),
        ("Ich bin in Hamburg arbeiten.", {}),
        ("Mein Name Jolanta, ich komme aus Polen.", {"name": "Jolanta", "origin": "Polen"}),
        ("Ich esse nicht Schwein.", {"eats schwein": "no"}),
        ("Ich arbeite wie Pflegerin in Ulm.", {"occupation": "Pflegerin"}),
        ("Ich arbeite wie ein Pferd.", {}),
        # several languages in a sentence, and Japanese in kana
        (
            "Ich work bei Zalando und live in Berlin.",
            {"employer": "Zalando", "home city": "Berlin"},
        ),
        ("I got a new Chefin, she heißt Frau Okoye.", {"name": "Frau Okoye"}),
        ("ぼくはゆうと、10さい。", {"name": "ゆうと", "age": "10"}),
        ("いまはcafeのstaff。", {"occupation": "cafeのstaff"}),
        ("いまはcafeのまえ。", {}),
        ("わたし、Annaです。", {"name": "Anna"}),
        ("ください、10さつ。", {}),
    ],
)
def test_rules_read_casual_sentences_and_those_of_a_second_language(
    text: str, filled: dict[str, str]
) -> None:
    assert facts(text) == filled


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Zoe's allergic to eggs.", ["Zoe allergy to eggs: yes"]),
        ("Zoe's allergy is bad.", []),
        ("My brother Ali he is allergic on cats.", ["Ali allergy to cats: yes"]),
        (
            "Tim (9) has asthma, Ida (6) is coeliac.",
            ["Ida age: 6", "Ida condition coeliac: yes", "Tim age: 9", "Tim condition asthma: yes"],
        ),
        ("Dad passed away last night.", []),
        ("Rex passed away last night.", ["user pet rex: no longer"]),
        ("Theo takes a size 3 shoe.", ["Theo shoe size: 3"]),
        ("Theo's gone up to a size 4.", ["Theo shoe size: 4"]),
        ("Theo needs size 128 now.", ["Theo size: 128"]),
        ("Rosa wears size 30. Rosa wears size 32 now.", ["Rosa shoe size: 32"]),
        ("Theo needs 32 pages.", []),
        ("Theo's teacher is Mrs Patel.", ["Theo's teacher name: Mrs Patel"]),
        (
            "Theo's in Year 4 now, his teacher is Mr Boyd.",
            ["Theo school year: 4", "Theo's teacher name: Mr Boyd"],
        ),
        ("Theo's in tears.", []),
        ("Mila braucht jetzt Größe 25.", ["Mila shoe size: 25"]),
        ("Mila hat Schuhgröße 24.", ["Mila shoe size: 24"]),
        ("Mila braucht 25 Minuten.", []),
        ("Jonas kommt jetzt aufs Goethe-Gymnasium.", ["Jonas school: Goethe-Gymnasium"]),
        ("Jonas kommt jetzt aufs Sofa.", []),
        ("We got a new boss. The new one is called Ms Okoye.", ["user's boss name: Ms Okoye"]),
        ("We got a new car. The new one is called Betsy.", []),
    ],
)
def test_everyday_words_about_others_fill_their_slots(text: str, filled: list[str]) -> None:
    facts_of_all = [fact for fact in said_facts(talk(text)) if fact.attribute]
    slots = [f"{fact.subject} {fact.attribute}: {fact.value}" for fact in facts_of_all]
    assert sorted(slot for slot in slots if not slot.startswith("user brother")) == filled


def test_a_quote_is_words_of_the_message() -> None:
    text = "lol 😂 tore my achilles 😭 im off work now"
    for fact in said_facts(talk(text)):
        assert fact.quote in text
    assert [fact.text for fact in said_facts(talk(text))] == [
        "User tore their achilles",
        "User is off work now",
    ]


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("hey im dave, live in leeds w my gf sophie n our cat biscuit", ["Leeds"]),
        ("im tom, live in hull with my dad", ["Hull"]),
        ("live in Leeds w/ my parents", ["Leeds"]),
        ("Live in concert with our band", []),
        ("live in peace with my neighbours", []),
        ("they live in leeds w my gf", []),
    ],
)
def test_a_home_with_others_in_it_is_read(text: str, home: list[str]) -> None:
    facts = said_facts(talk(text))
    assert [fact.value for fact in facts if fact.attribute == "home city"] == home
