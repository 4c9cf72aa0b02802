"""Messages that are dictated, or typed in a hurry, are read as if they were written out."""

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.text.dictation import spoken_sentences
from memory_core.domain.text.given_names import is_given_name
from memory_core.domain.text.spelled_out import spelled_out
from tests.talk import talk

SLOTS = {
    "hey so um my daughter lena just turned five and we moved to swansea last week": {
        "daughter lena": "yes",
        "home city": "Swansea",
    },
    "my name is marcus i'm thirty four i live in denver": {
        "name": "Marcus",
        "age": "34",
        "home city": "Denver",
    },
    "um i'm allergic to peanuts and you know my brother is allergic to cats": {
        "allergy to peanuts": "yes",
        "allergy to cats": "yes",
    },
    "my husband rob hes a teacher": {"name": "Rob", "occupation": "teacher"},
    "i have two sisters mia and lea mia lives in rome and lea is studying medicine": {
        "sister mia": "yes",
        "sister lea": "yes",
        "number of sisters": "2",
        "home city": "Rome",
        "field of study": "medicine",
    },
    "im alergic to penuts and shelfish": {
        "allergy to peanuts": "yes",
        "allergy to shellfish": "yes",
    },
    "my rent is six hundred and fifty a month": {"rent": "650 a month"},
    "my phone number is oh seven seven double nine one two three four five six": {
        "phone number": "07799123456"
    },
    "my email is jane dot miller at example dot com": {"email address": "jane.miller@example.com"},
    "my birthdays the third of june": {"birthday": "June 3"},
    "my wifes name is priya": {"name": "Priya"},
    "i work as a welder sorry typo": {"occupation": "welder"},
    "ich heiße peter und ich wohne in köln und arbeite bei ford als mechaniker": {
        "name": "Peter",
        "home city": "Köln",
        "occupation": "Mechaniker",
        "employer": "Ford",
    },
    "also meine frau heißt sabine und wir haben zwei kinder leon und mia": {
        "name": "Sabine",
        "kind leon": "yes",
        "kind mia": "yes",
        "number of children": "zwei",
    },
    "えっと名前は田中で東京に住んでいて銀行で働いています": {
        "name": "田中",
        "home city": "東京",
        "employer": "銀行",
    },
    "i cant eat gluten cos im coeliac": {"eats gluten": "no"},
    "im allergic to bees and like wasps": {"allergy to bees": "yes", "allergy to wasps": "yes"},
    "i quit smoking like three weeks ago yay me": {"smokes": "no"},
    "I LIVE IN AUSTIN AND I WORK AS A WELDER SORRY CAPS LOCK IS STUCK": {
        "home city": "Austin",
        "occupation": "welder",
    },
    "ähm wir sind letzte woche nach bonn gezogen": {"home city": "Bonn"},
    "えーと大阪に住んでて家賃は八万五千円なんだよね": {"home city": "大阪", "rent": "八万五千円"},
    # words of others
    "and then play i'm married to the sea by um whats their name": {},
    "the party is on saturday at eight and the code for the door is nine nine two": {
        "party": "saturday at 8"
    },
    # what is reported, supposed or asked for is not told
    "my mom claims i am allergic to peanuts but she is wrong": {},
    "he insists i live in berlin for some reason": {},
    "just imagine for a moment my husband is a pilot and we live in rome": {},
    "if my mom asks i am single and live in rome": {},
    "write an email to john saying i moved to munich and i love it": {},
    "妹は医者で大阪に住んでて子供が三人いる": {},
    # written sentences are read as before
    "My sister called yesterday.": {},
    "My daughter rose early today.": {},
    "I don't like work.": {"opinion of work": "dislikes"},
    "My mother used to make that cake for my birthday.": {},
    "meine tochter kommt im august in die schule": {},
    # a correction that is not understood leaves neither value
    "i work at bosch no wait siemens": {},
    "i am vegan no wait vegetarian": {},
    "my rent is eight hundred no nine hundred euros": {"rent": "900"},
    # what is over
    "me and tom broke up last week": {"name": "no longer Tom"},
    "jan und ich haben uns getrennt": {"name": "no longer Jan"},
    "彼氏と別れました": {"name": "no longer"},
    "tom and i broke up the old concrete": {},
    "my sister said tom and i broke up": {},
    "jan und ich haben uns getrennt angemeldet": {},
    "i quit tesco last week": {"employer": "no longer Tesco"},
    "I quit Tesco. I'm at Aldi now.": {"employer": "Aldi"},
    "quit tesco lol im at aldi now": {"employer": "Aldi"},
    "I quit smoking. I'm at Starbucks now.": {"smokes": "no"},
    # numbers in words
    "I'm thirty-four and I live in Denver.": {"age": "34", "home city": "Denver"},
    "My rent is six hundred and fifty a month.": {"rent": "650 a month"},
    "私は三十二歳です": {"age": "32"},
    "i work as a paramedic for like the last twelve years": {"occupation": "paramedic"},
    "私は医者ですって英語でなんて言うの": {},
    "俺トラックの運転手なんだよね": {"occupation": "トラックの運転手"},
    "えっと娘の名前はさくらで今年五歳になりました": {"娘 さくら": "yes"},
    "あの名古屋に住んでるんですけど": {"home city": "名古屋"},
    "俺名古屋住み": {"home city": "名古屋"},
    "えーと名前は健太っていいます": {"name": "健太"},
    "誕生日は六月三日": {"birthday": "6月3日"},
    "あとパクチーがほんと苦手でさ": {"opinion of パクチー": "dislikes"},
    "ich heiß übrigens tim und bin einunddreißig": {"name": "Tim", "age": "31"},
    "also ich bin krankenpfleger in leipzig": {"occupation": "krankenpfleger"},
    "ich bin kellner bei vapiano": {"occupation": "kellner", "employer": "Vapiano"},
    "ich bin gerade bei rewe": {},
    "ich mag halt total gern krimis": {"opinion of krimis": "likes"},
    "bin alergisch gegen haselnüse": {"allergy to haselnüsse": "yes"},
    "i got a new number its 555 0177": {"phone number": "555 0177"},
    "sold the golf got a tesla now": {"car": "a tesla"},
    "we got a puppy his name is biscuit": {"number of pets": "no longer", "pet biscuit": "puppy"},
    "karen left my new boss is steve": {"name": "Steve"},
    "sandra is my sister sarah is my boss": {},
    "Actually my dog is called Mimo, not Momo.": {"pet mimo": "dog", "pet momo": "no longer"},
    "Honestly my dog is called Mimo.": {"pet mimo": "dog"},
    # corrections within a breath
    "名前は田中じゃなくて中田です": {"name": "中田"},
    "mein bruder heißt tim ach nee tom": {"bruder tom": "yes"},
    "im flying to paris on friday i mean saturday": {},
    "my appointment with doctor miller is on tuesday no wait wednesday at three": {
        "appointment with doctor miller": "wednesday at 3"
    },
    "ich wohn in köln nein quatsch in bonn": {"home city": "Bonn"},
    "i have two brothers no three brothers": {"number of brothers": "3"},
    "i have two brothers. No, three.": {"number of brothers": "3"},
    "Ich wohne in Köln. Nee, Quatsch, in Bonn.": {"home city": "Bonn"},
    "Meine Chefin heißt Sarah. Nee, Moment, Sandra.": {"name": "Sandra"},
    "Meine Chefin heißt Sarah. Nein, sorry, Sandra.": {"name": "Sandra"},
    "Meine Chefin heißt Sarah. Nein, wait, Sandra.": {"name": "Sandra"},
    "im forty one no forty two": {"age": "42"},
    "i live in leeds no wait i live in york now": {"home city": "York"},
    "my sisters name is sarah no sorry sandra": {"name": "Sandra"},
    "im allergic to eggs no sorry not eggs i mean nuts": {"allergy to nuts": "yes"},
}


@pytest.mark.parametrize(("text", "slots"), SLOTS.items())
def test_slots_of_dictated_messages(text: str, slots: dict[str, str]) -> None:
    filled = {fact.attribute: fact.value for fact in said_facts(talk(text)) if fact.attribute}

    assert filled == slots


TALKS = {
    ("my name", "is jonas"): {"name": "Jonas"},
    # a message that has a subject of its own begins a statement
    ("my wife is a nurse", "im a teacher"): {"occupation": "teacher"},
    ("hi", "im tom", "from leeds"): {"name": "Tom"},
    ("im vegan", "im allergic to nuts"): {
        "diet": "vegan",
        "eats meat": "no",
        "allergy to nuts": "yes",
    },
    ("plan a menu", "im allergic to nuts"): {"allergy to nuts": "yes"},
    ("i like tea", "im from ghana"): {"opinion of tea": "likes", "origin": "Ghana"},
    ("hey", "im anna", "34", "from hull"): {"name": "Anna", "age": "34"},
    ("i think", "im allergic to nuts"): {"allergy to nuts": "yes"},
    ("my son is 5", "im 34"): {"age": "34"},
    ("i work", "at asda"): {"employer": "Asda"},
    ("i work at", "asda"): {"employer": "Asda"},
    ("my wife is called", "ana"): {"name": "Ana"},
    ("my wife", "is called ana"): {"name": "Ana"},
    ("got a new job!!", "at ikea", "starting monday"): {"employer": "Ikea"},
    ("i live in leeds", "at least for now"): {"home city": "Leeds"},
    ("i live in leds", "leeds*"): {"home city": "Leeds"},
    ("im allergic to nuts", "*cats"): {"allergy to cats": "yes"},
    ("i live in leeds", "*hugs*"): {"home city": "Leeds"},
    ("i live in leeds", "scratch that"): {},
    ("i live in leeds", "oh sorry autocorrect i meant leiden"): {"home city": "Leiden"},
    ("my sister is called jo", "a: Ok.", "lol jk i dont have a sister"): {},
    ("a: What do you do for work?", "im like a nurse"): {"occupation": "nurse"},
    ("a: What is your name?", "its jonas"): {"name": "Jonas"},
    ("a: You live in Rome, right?", "nope milan"): {"home city": "Milan"},
    ("a: You live in Rome, right?", "no way"): {},
    ("a: Do you have children?", "yeah two lena and max"): {
        "number of children": "2",
        "child lena": "yes",
        "child max": "yes",
    },
}


@pytest.mark.parametrize(("lines", "slots"), TALKS.items())
def test_slots_of_several_messages(lines: tuple[str, ...], slots: dict[str, str]) -> None:
    filled = {fact.attribute: fact.value for fact in said_facts(talk(*lines)) if fact.attribute}

    assert filled == slots


PARTS = {
    "i live in leeds and my wife works at the hospital": [
        "i live in leeds",
        "my wife works at the hospital",
    ],
    "my dog is called bella shes three years old": [
        "my dog is called bella",
        "shes three years old",
    ],
    # a subject that a word before it governs
    "i think i know the guy that i met in the park": [
        "i think i know the guy that i met in the park"
    ],
    "the flat i live in is very small and cold": ["the flat i live in is very small and cold"],
    "what i like about the place is the quiet garden": [
        "what i like about the place is the quiet garden"
    ],
    "can you tell me when i have my next appointment": [
        "can you tell me when i have my next appointment"
    ],
    # written sentences stay whole
    "I live in Leeds and my wife works at the hospital": [
        "I live in Leeds and my wife works at the hospital"
    ],
    "i live in leeds, and my wife works at the hospital": [
        "i live in leeds, and my wife works at the hospital"
    ],
    "the meeting is on monday no wait its off": ["the meeting is on monday", "no wait its off"],
    "on monday no wait tuesday": ["on monday no wait tuesday"],
}


@pytest.mark.parametrize(("text", "parts"), PARTS.items())
def test_statements_of_a_message_without_marks(text: str, parts: list[str]) -> None:
    parts_of_text = [*spoken_sentences(text)]

    assert [sentence.text for sentence in parts_of_text] == parts
    assert [text[sentence.start : sentence.end] for sentence in parts_of_text] == parts


WRITTEN = {
    "my daughter lena": "my daughter Lena",
    "my daughter will start": "my daughter will start",
    "she works at google": "she works at Google",
    "he works at night": "he works at night",
    "we live in new york": "we live in New York",
    "we live in peace": "we live in peace",
    "im going to march with them": "im going to march with them",
    "mia and noah": "Mia and Noah",
    "um so my bday": "so my birthday",
    "I work at Google and um like it": "I work at Google and um like it",
    "on tuesday no wait wednesday at three": "on wednesday at 3",
    "am donnerstag nein moment am freitag": "am freitag",
    "my meeting is monday no tuesday": "my meeting is tuesday",
    "my meeting is monday no tuesday at 3": "my meeting is tuesday at 3",
    "my meeting is monday no tuesday is a holiday": "my meeting is monday no tuesday is a holiday",
    "my flight is on friday no sunday flights": "my flight is on friday no sunday flights",
    "our wedding is in may no june was booked": "our wedding is in may no june was booked",
    "my jobs at asda and lidl are tiring": "my jobs at asda and lidl are tiring",
    "好きな番組は金曜ロードショーです": "好きな番組は金曜ロードショーです",
    "曲名は月曜の朝です": "曲名は月曜の朝です",
    "好きな本は二十歳の原点です": "好きな本は二十歳の原点です",
    "三十歳の息子がいます": "30歳の息子がいます",
    "dinner w sam on thurs": "dinner with Sam on thursday",
    "a 60 w bulb and some work": "a 60 w bulb and some work",
    "my boss is steve": "my boss is Steve",
    "my boss is german": "my boss is german",
    "ich bin einunddreißig": "ich bin 31",
    "来月の十日の三時半": "来月の10日の3時半",
    "一日中三人で": "一日中三人で",
    "i earn like fifteen hundred": "i earn 1500",
    "it looks like every day": "it looks like every day",
    "i have like a haircut": "i have a haircut",
    "i like a haircut": "i like a haircut",
    "my sisters are here": "my sisters are here",
    "My sister is like a mother to me.": "My sister is like a mother to me.",
    "my boss is like a father to me": "my boss is like a father to me",
    "im juni heirate ich": "im Juni heirate ich",
    "my son jack up the car": "my son jack up the car",
    "i was born in nineteen ninety five": "i was born in 1995",
    "i moved in two thousand twenty three": "i moved in 2023",
    "my kid can count one two three four five": "my kid can count one two three four five",
    "i work for food at sea": "i work for food at sea",
    "i'll let you know when": "i'll let you know when",
    "my sisters name": "my sister's name",
    "he is mister right": "he is mister right",
}


@pytest.mark.parametrize(("text", "written"), WRITTEN.items())
def test_names_and_words_are_spelled_out(text: str, written: str) -> None:
    assert spelled_out(text) == written
    assert spelled_out(written) == written


@pytest.mark.parametrize("name", ["Lena", "sabine", "Jürgen", "yuki", "Priya", "MAX"])
def test_given_names_in_any_capitals(name: str) -> None:
    assert is_given_name(name)


@pytest.mark.parametrize("word", ["just", "will", "may", "is", "and", "said", "baby", "", "\n"])
def test_common_words_are_no_given_names(word: str) -> None:
    assert not is_given_name(word)
