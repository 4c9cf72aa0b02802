"""A sentence without a subject goes on about the person of the sentence before it."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.adapters.offline.omissions import is_about_the_same_person
from memory_core.adapters.offline.summary import candidates, narrative
from memory_core.domain.conversation import Message
from tests.builders import NOW


def slots_of(text: str) -> dict[str, str | None]:
    messages = [Message(role="user", content=text, timestamp=NOW)]
    return {
        fact.attribute: fact.value
        for fact in said_facts(messages)
        if fact.attribute is not None and fact.subject == "user"
    }


@pytest.mark.parametrize(
    "text",
    [
        "Tom called. just got divorced, has two kids, 45. poor guy",
        "My brother texted me. lost his job and moved to Rome.",
        "My friend Lea was here. works as a nurse now.",
        "父は先月退職しました。今は京都に住んでいます。67歳です",
        "彼女は医者です。大阪に住んでいます。",
        "so my sister moved out. got divorced last month",
        "he's in Rome now. works at Lidl",
        "My best friend lives in Bath. sold his house and moved to Spain",
        "My cousin is doing well. been vegan for two years",
        "She is a nurse. allergic to peanuts",
        "my daughter started school. has two kids in the class she likes",
        "My mum visited. no longer works at Lidl",
        "Ana texted. quit smoking last month",
        "My uncle called. just retired",
        "he lives in Bath now, works at Lidl and just got divorced",
        "she's 29, works at Zara and just got engaged",
        "my neighbour lost a bet. moved to Oslo",
        "My brother's wife is pregnant and just lost her job. moved in with my parents",
        "Mum keeps telling the carers I live in Dublin and I'm 30.",
        "My boss tells people I'm 50 and I live in Rome.",
        "My grandson shouts all day, I'm Spiderman and I live in New York.",
        "Dad told the nurse I'm a pilot and I work for KLM, bless him.",
        "Mama sagt jeden Tag zu mir: Ich wohne in Breslau, ich will heim.",
        "Mein Opa sagt immer: Ich bin 95 und fühle mich wie 20.",
        "Mein Sohn schreit den ganzen Tag, ich bin Spiderman und wohne in New York.",
        "Paul hat beim Vorstellen gerufen: Ich heiße Batman und bin 100!",
        "Uwe erzählt allen, ich bin allergisch gegen Arbeit.",
        "生徒が作文に、私は大阪に住んでいます、と書いた。",
        "祖母がまた、私は東京に住んでいます、と言っていた。",
        "in roblox i live in brookhaven and i work as a doctor lol",
        "in my minecraft world i live in a castle and i have 30 horses",
        "im doing a quiz, it says i am a capricorn and i live in atlantis",
        "In the campaign I'm a level 5 paladin, I live in Varnhold and I have two dogs.",
        "In meiner Minecraft-Welt wohne ich in Atlantis und ich habe 30 Pferde.",
        "マイクラでは大阪に住んでいて、トヨタで働いています。",
        "My daughter saw the doctor. Allergic to hazel, it turns out.",
        "Mein Sohn ist 6. Ist allergisch gegen Erdnüsse. Geht in die Sternschule.",
        "Meine Klientin Birgit: 40, Vegetarierin, wohnt in Graz, allergisch gegen Latex.",
        "さくらは大阪に引っ越しました。",
        "健はトヨタで働いています。",
        "ゆきは結婚しています。",
        "翔太は今年で8歳です。",
        "翔太はベジタリアンです。",
        "太郎はサッカーをやめて、今は英語を習っています。",
        "母は80歳です。趣味はゴルフです。",
        "花の卵アレルギーが治りました。",
        "今井は大阪に住んでいます。",
        "今日子は大阪に住んでいます。",
        "結婚後、健は京都に住んでいます。",
        "子どもたちは大阪に住んでいます。",
        "My grandson says I'm Spiderman and I live in New York.",
        "Mein Opa sagt immer, ich bin 95.",
        "Meine Mutter hat der Nachbarin gesagt, ich bin Pilot.",
    ],
)
def test_what_is_said_of_another_is_no_fact_of_the_user(text: str) -> None:
    assert slots_of(text) == {}


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("Tom called. I just got divorced.", "marital status", "divorced"),
        ("Work was busy. just got divorced too.", "marital status", "divorced"),
        ("They called today. moved to Rome last week", "home city", "Rome"),
        ("The kids are fine. moved to Rome last week", "home city", "Rome"),
        ("My landlord raised the rent. moved to Rome last week", "home city", "Rome"),
        ("My boss was awful. moved to Rome last week", "home city", "Rome"),
        ("My flat was too small. moved to Rome last week", "home city", "Rome"),
        ("The winter was long. moved to Rome last week", "home city", "Rome"),
        ("My brother called. moved to Rome with my wife", "home city", "Rome"),
        ("My sister is here. I live in Rome now", "home city", "Rome"),
        ("Ben is great. moved to Rome last week", "home city", "Rome"),
        ("My therapist says hi. just got divorced", "marital status", "divorced"),
        ("I moved last week. I live in Rome now.", "home city", "Rome"),
        ("Hi there. I live in Rome.", "home city", "Rome"),
        ("父は先月退職しました。私は京都に住んでいます。", "home city", "京都"),
        ("福岡に住んでいます。28歳です。", "age", "28"),
        ("My mum is 80 and I live in Leeds.", "home city", "Leeds"),
        ("I told my boss I'm leaving and I live in Rome anyway.", "home city", "Rome"),
        ("I live in Leeds and Mum tells everybody I'm a nun.", "home city", "Leeds"),
        ("As I said to the nurse: I'm allergic to kiwi.", "allergy to kiwi", "yes"),
        ("Wie gesagt: Ich wohne in Breslau.", "home city", "Breslau"),
        ("Mein Arzt sagt, ich habe Diabetes.", "condition diabetes", "yes"),
        ("Ich wohne in Ulm und mein Vater sagt immer: Ich bin 95.", "home city", "Ulm"),
        ("I work as a nurse and in Minecraft I live in a castle.", "occupation", "nurse"),
        ("I teach coding in Minecraft and I live in Leeds.", "home city", "Leeds"),
        ("I work in the game industry and I live in Leeds.", "home city", "Leeds"),
        ("Hi. Allergic to nuts.", "allergy to nuts", "yes"),
        ("My doctor called. Allergic to latex.", "allergy to latex", "yes"),
        ("My son Theo has ADHD. We live in Leeds. Allergic to kiwi.", "allergy to kiwi", "yes"),
        ("息子が二人います。仕事はデザイナーです。", "occupation", "デザイナー"),
        ("父は医者ですが、私は大阪に住んでいます。", "home city", "大阪"),
        ("東京は暑いですが、横浜に住んでいます。", "home city", "横浜"),
        ("利き手は左利きです。", "handedness", "左利き"),
        ("卵アレルギーが治りました。", "allergy to 卵", "no"),
        ("あたしは大阪に住んでいます。", "home city", "大阪"),
        ("オレはトヨタで働いています。", "employer", "トヨタ"),
        ("わたし達は大阪に住んでいます。", "home city", "大阪"),
        ("わたしたちは大阪に住んでいます。", "home city", "大阪"),
        ("当方は大阪に住んでいます。", "home city", "大阪"),
        ("私自身は京都に住んでいます。", "home city", "京都"),
        ("実は大阪に住んでいます。", "home city", "大阪"),
        ("元々は福岡出身です。", "origin", "福岡"),
        ("先月からは大阪に住んでいます。", "home city", "大阪"),
        ("四月からは京都に住んでいます。", "home city", "京都"),
        ("結婚後は京都に住んでいます。", "home city", "京都"),
        ("離婚してからは京都に住んでいます。", "home city", "京都"),
        ("コロナ以降は京都に住んでいます。", "home city", "京都"),
        ("生まれは福岡で、大阪に住んでいます。", "home city", "大阪"),
        ("My mum says I'm stubborn, but I live in Leeds.", "home city", "Leeds"),
        ("My company says I'm a contractor, but I work at Bosch.", "employer", "Bosch"),
        ("My brother said I should move, so I moved to York.", "home city", "York"),
        ("He said I'm fired, so I'm unemployed now.", "employer", "no longer"),
        ("Meine Frau meint, ich bin stur, aber ich bin Lehrer.", "occupation", "Lehrer"),
        ("My boss tells people I'm 50, but I live in Leeds.", "home city", "Leeds"),
        ("Uwe erzählt allen, ich bin Pilot, aber ich bin Lehrer.", "occupation", "Lehrer"),
        ("Meine Mutter sagt, ich bin in Graz geboren.", "birthplace", "Graz"),
        ("In meinem Pass steht, ich bin in Graz geboren.", "birthplace", "Graz"),
        ("Mein Ausweis sagt, ich bin 34.", "age", "34"),
    ],
)
def test_what_the_speaker_says_of_themselves_is_one(text: str, slot: str, value: str) -> None:
    assert slots_of(text)[slot] == value


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("My son Theo has ADHD. Allergic to kiwi.", "User's son Theo is allergic to kiwi"),
        ("Kofi saw the doctor today. Allergic to latex.", "Kofi is allergic to latex"),
        ("Rosa's school form. Name: Rosa. Allergic to kiwi.", "Rosa is allergic to kiwi"),
        ("Mein Sohn Ole: allergisch gegen Soja.", "User: Mein Sohn Ole ist allergisch gegen Soja"),
        ("Unser Paul kommt in die Schule. Ist Linkshänder.", "User: Unser Paul ist Linkshänder"),
        ("父は医者です。車の運転はもうしません。", "User: 父は、車の運転はもうしません"),
        (
            "Dad's medicine is at 7. I do his meals, he can't swallow anything hard.",
            "User does Dad's meals, he can not swallow anything hard",
        ),
        ("The blood test says I have anaemia.", "The blood test says User has anaemia."),
        (
            "My landlord says I have to move out by 31 January.",
            "User's landlord says User has to move out by 31 January.",
        ),
        ("I broke up with my girlfriend Mina.", "Mina is no longer User's girlfriend"),
        ("I am separated from my husband Luca.", "Luca is no longer User's husband"),
        ("My husband Luca died in May.", "User's husband Luca has died"),
        (
            "Ich habe Schluss gemacht mit meine Freundin Mina.",
            "User: Freundin Mina ist es nicht mehr",
        ),
    ],
)
def test_a_fact_says_whose_it_is(text: str, fact: str) -> None:
    messages = [Message(role="user", content=text, timestamp=NOW)]
    facts = said_facts(messages)
    assert fact in [each.text for each in facts]
    assert not any(each.text.endswith(("is called Mina", "is called Luca")) for each in facts)


def test_a_pronoun_that_nothing_explains_makes_no_fact() -> None:
    text = "I do her breakfast, she can't chew crusts."
    assert not said_facts([Message(role="user", content=text, timestamp=NOW)])


@pytest.mark.parametrize(
    "text",
    [
        "I finished the shelf with my boyfriend Luca.",
        "I separated the eggs for my boyfriend Luca.",
        "My boyfriend Luca nearly died laughing.",
    ],
)
def test_a_partner_of_whom_nothing_ends_is_named(text: str) -> None:
    facts = said_facts([Message(role="user", content=text, timestamp=NOW)])
    assert "User's boyfriend is called Luca" in [fact.text for fact in facts]


@pytest.mark.parametrize(
    "sentence",
    [
        "Also Ben started school in Rome on Monday.",
        "Need a recipe without nuts, as Ben is allergic.",
        "Now the kitchen is done.",
        "Indeed, a lot happened.",
        "Just to be clear: the party is on Friday.",
        "I just got divorced.",
    ],
)
def test_a_sentence_with_its_own_subject_is_about_that(sentence: str) -> None:
    assert not is_about_the_same_person(sentence, "My brother called.")


def test_anothers_new_person_is_not_the_users() -> None:
    for text, persons in {
        "he's got a new girlfriend called Mia": [],
        "My sister got a new boss called Petra": [],
        "I've moved teams and got a new boss called Petra": ["user's boss"],
        "we hired a new manager called Petra": ["user's manager"],
    }.items():
        messages = [Message(role="user", content=text, timestamp=NOW)]
        assert [f.subject for f in said_facts(messages) if f.attribute == "name"] == persons


def test_the_story_does_not_make_it_the_users() -> None:
    messages = [
        Message(role="user", content="Tom called. just got divorced, poor guy", timestamp=NOW)
    ]
    assert "User just got" not in narrative(messages, candidates(messages))


def test_an_ordinal_is_no_age() -> None:
    assert slots_of("ich bin 3. geworden beim lauf") == {}
    assert slots_of("ich bin 34 geworden") == {"age": "34"}


def test_a_thing_is_no_person_of_an_age() -> None:
    messages = [Message(role="user", content="weight is 81 now!", timestamp=NOW)]
    assert all(fact.attribute != "age" for fact in said_facts(messages))


def test_a_time_is_nothing_that_is_drunk() -> None:
    assert set(slots_of("i quit drinking 3 weeks ago and started running")) == {"drinks alcohol"}
    assert slots_of("I don't drink coffee.") == {"drinks coffee": "no"}


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("I also work at a bakery as a cashier on Saturdays.", "employer"),
        ("I also work at a bakery as a cashier on Saturdays.", "occupation"),
        ("I also drive a Volvo.", "car"),
        ("I bought a Volvo as a second car.", "car"),
        ("I bought a second car, a Volvo.", "car"),
        ("On weekends I work at Costa.", "employer"),
        ("Ich arbeite nebenbei bei Edeka.", "employer"),
        ("Ich arbeite auch bei Edeka.", "employer"),
        ("I live in Porto in the winter.", "home city"),
        ("Samstags arbeite ich als Kassiererin bei Otto.", "employer"),
        ("週末は本屋で働いています。", "employer"),
        ("Wir sind mit der Werkstatt nach Ulm gezogen.", "home city"),
        ("Ich bin mit dem Verlag nach Trier umgezogen.", "home city"),
        ("Unsere Nachbarn sind nach Trier umgezogen.", "home city"),
        ("工場は熊本に引っ越しました。", "home city"),
    ],
)
def test_what_stands_beside_the_job_or_home_takes_no_place(text: str, attribute: str) -> None:
    assert attribute not in slots_of(text)


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I live in Leeds, and I also work there at Asda.", "home city", "Leeds"),
        ("I live in Leeds too.", "home city", "Leeds"),
        ("I also live in Leeds.", "home city", "Leeds"),
        ("I work at Asda as well.", "employer", "Asda"),
        ("I'm a nurse too.", "occupation", "nurse"),
        ("I'm a nurse and also a mother of two.", "occupation", "nurse"),
        ("Like my brother, I also work at Siemens.", "employer", "Siemens"),
        ("My wife works at Asda. I also work at Asda.", "employer", "Asda"),
        ("I work at Asda but not on Saturdays.", "employer", "Asda"),
        ("I work at Asda and on weekends I go hiking.", "employer", "Asda"),
        ("I'm a student and work at Asda on weekends.", "employer", "Asda"),
        ("I work at the Weekend Bakery.", "employer", "the Weekend Bakery"),
        ("I'm a nurse at St James and I also teach.", "employer", "St James"),
        ("I'm a nurse at St James and I also teach.", "occupation", "nurse"),
        ("I work at Bosch and my wife also works there.", "employer", "Bosch"),
        ("I work at Asda, where my sister works too.", "employer", "Asda"),
        ("I'm a developer at SAP and teach yoga on weekends.", "employer", "SAP"),
        ("I live in Leeds during the week and in York on weekends.", "home city", "Leeds"),
        ("I live in Too, Norway.", "home city", "Too"),
        ("I work at Lidl now, also on weekends.", "employer", "Lidl"),
        ("I also work at a gym now.", "employer", "a gym"),
        ("Auch ich wohne in Köln.", "home city", "Köln"),
        ("Ich arbeite bei Edeka, auch am Wochenende.", "employer", "Edeka"),
        ("Ich wohne in Köln und meine Schwester auch.", "home city", "Köln"),
        ("Ich lebe in Köln, auch wenn es laut ist.", "home city", "Köln"),
        ("トヨタで働いていて、週末は釣りをします。", "employer", "トヨタ"),
        # the main job or car stays beside another
        (
            "I'm a nurse at St. Mary's. I also work at a gym as a trainer on weekends.",
            "employer",
            "St. Mary's",
        ),
        (
            "I'm a nurse at St. Mary's. I also work at a gym as a trainer on weekends.",
            "occupation",
            "nurse",
        ),
        ("I work at Shell and I also work at Costa on weekends.", "employer", "Shell"),
        ("I work at Shell. I work at Costa on weekends.", "employer", "Shell"),
        ("I drive a Golf. I bought a Volvo as a second car.", "car", "a Golf"),
        ("I also moved to Bremen in May.", "home city", "Bremen"),
        ("Also I work at Bosch now.", "employer", "Bosch"),
        ("Ich bin mit meiner Familie nach Trier gezogen.", "home city", "Trier"),
        ("Mein Mann und ich sind nach Köln gezogen.", "home city", "Köln"),
        ("妻と私は熊本に引っ越しました。", "home city", "熊本"),
    ],
)
def test_what_takes_the_place_of_the_job_or_home_fills_the_slot(
    text: str, attribute: str, value: str
) -> None:
    assert slots_of(text)[attribute] == value
