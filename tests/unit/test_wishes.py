"""What a sentence asks of the memory, and what only sounds like it."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from memory_core.domain.conversation import Message, Role
from memory_core.domain.statements.sentence_wishes import Wish
from memory_core.domain.statements.wish_limits import holds_until
from memory_core.domain.statements.wishes import (
    REQUESTED,
    only_requests,
    said_wishes,
    without_requests,
)

AT = datetime(2026, 5, 8, tzinfo=timezone.utc)
TO_FORGET = [
    ("Please forget what I told you about my salary.", "my salary"),
    ("Delete everything about Gerd", "gerd"),
    ("Can you remove my address from your memory?", "my address"),
    ("Please forget that I have diabetes.", "i have diabetes"),
    ("Forget my old phone number, please", "my old phone number"),
    ("Erase all information about my ex-wife.", "my ex-wife"),
    ("I'd like you to forget about my surgery", "my surgery"),
    ("please delete what you know about my bank account", "my bank account"),
    ("Wipe anything you have stored about my therapy", "my therapy"),
    ("Could you delete the note about my knee?", "my knee"),
    ("Forget what I just said.", ""),
    ("Vergiss bitte, was ich über meine Scheidung gesagt habe", "meine scheidung"),
    ("Lösch bitte alles über Gerd", "gerd"),
    ("Bitte vergiss alles, was ich dir über Tom erzählt habe.", "tom"),
    ("Kannst du meine Adresse aus deinem Gedächtnis löschen?", "meine adresse"),
    ("Vergiss das mit dem Umzug nach Bonn", "dem umzug nach bonn"),
    ("さっきの病気の話は忘れてください", "病気"),
    ("母の入院のことを忘れてください", "母の入院"),
    ("給料についての情報を削除してください", "給料"),
]
INSTRUCTIONS = [
    "Hören Sie, antworten Sie immer auf Deutsch.", "My rule: always answer in full sentences.",
    "Always answer briefly, as I said.", "いつも短く答えてくださいと言いましたよね。",
    "I never want you to recommend alcohol, I'm sober since January.",
    "I don't ever want you to mention my ex.", "I always want you to answer in German.",
    "always use metric units", "Never suggest meat", "Answer me in bullet points from now on",
    "Don't show me unittest examples", "Please don't mention my ex again",
    "Keep your answers short", "From now on, call me Max", "Please never call me after 9pm",
    "Always give prices in euros, please.", "When you write code, always add type hints.",
    "Use British spelling in all your replies", "Explain technical terms in plain words",
    "List in bullet points, always", "Explain the reasoning in two sentences, always",
    "Explain everything in simple words",
    "Please don't bring up work on weekends", "I want you to always cite your sources",
    "Never recommend horror movies to me", "Antworte immer auf Deutsch",
    "Sprich bitte nicht mehr von meiner Diät",
    "Verwende in Zukunft nur noch metrische Einheiten",
    "Zeig mir bitte keine Beispiele mit unittest", "Schlag mir nie Fleischgerichte vor",
    "これからは敬語を使わないで", "いつも短く答えてください", "今後は絵文字を使わないでください",
    "元カノの話はもうしないでください",
]  # fmt: skip
WITHDRAWALS = [
    "You can use imperial units again", "You don't need to answer in bullet points any more",
    "Stop answering in bullet points", "It's fine to suggest meat now",
    "Forget the rule about metric units", "You can mention my ex again",
    "As I said, you can use emojis again", "The build is green, you can push again",
    "Du darfst wieder Emojis benutzen", "また敬語で話していいですよ", "もう短くなくていいです",
]  # fmt: skip
HARMLESS = [
    "I never want you to worry about me.", "I always want you to be happy.",
    "I never want my kids to smoke.",
    "Wissen Sie, wir sind immer zu Fuß gegangen, fünf Kilometer.",
    "Also wissen Sie, wir hatten immer einen Dackel, den Waldi.",
    "Hören Sie, mein Bruder hat immer für alle gesungen.",
    "Sie müssen wissen, meine Schwester nimmt nie den Bus.",
    "Miss Gray said always underline the title and never use pencil.",
    "The dietician told us never add salt and always read the label.",
    "Never add salt and always read the label, the dietician told us.",
    "You must always speak to Mum slowly, I told the new carer on Monday.",
    "My rule for the class: always raise your hand, never shout.",
    "In my class the rule is never run, always use indoor voices.",
    "In meiner Klasse gilt: immer melden, nie schreien.",
    "クラスのルールは、いつも手をあげて話してください、です。",
    "コーチはいつも短く話しなさいと言いました。",
    "The dice roll example really helped clarify how to use the complement rule.",
    "Setting aside 30 minutes each evening sounds doable.",
    "The docs say you can push again.", "According to the docs you can push again.",
    "My boss says you can use emojis again.", "Laut Doku darfst du wieder auf main pushen.",
    "In der Doku steht, dass du wieder pushen darfst.",
    "ドキュメントにはまたpushしていいと書いてあります。", "この文を日本語に戻してください。",
    "I forgot my keys", "forget it, never mind", "don't forget to send the mail",
    "Delete the temp files from the repo", "how do I forget my ex?", "Forget it", "never mind",
    "Don't let me forget Ben's birthday", "Remove the duplicates from this list",
    "Delete all emails about the conference", "I'll never forget that trip",
    "I always forget my password", "forget about it", "You can forget the salt in this recipe",
    "Drop the last column", "Forget that, let's do something else",
    "Remember to delete the old branch", "Did you forget my birthday?",
    "Use bullet points for this list", "I never eat meat", "I always drink coffee in the morning",
    "Don't worry about it", "Always good to see you", "Can you show me an example?",
    "Write an email to my boss", "Do not delete this file", "I don't like olives",
    "Don't you think so?", "Should I always use metric units?",
    "Explain the difference between TCP and UDP in two sentences.",
    "Describe the plot of Hamlet in three sentences, please",
    "Give me three names for a cat in bullet points",
    "Erklär mir bitte den Unterschied zwischen Wels und Hecht in kurzen Sätzen",
    "クジラとサメの違いを二文で説明してください",
    "Add salt and stir", "Keep the oven at 180",
    "I am allergic to walnuts. Can you suggest a cake without nuts?",
    "Could you recommend a hotel without stairs?", "Ich habe den Termin vergessen", "Vergiss es",
    "Vergiss nicht, Milch zu kaufen", "Lösche die Datei bitte", "Ich esse nie Fleisch",
    "Ich trinke immer Kaffee", "Schreib mir bitte eine Mail an den Vermieter",
    "財布を忘れてしまいました", "鍵を忘れた", "忘れないでください", "ファイルを削除してください",
    "この行を消して", "コーヒーはいつも飲みます",
    "この文を英語に翻訳してください", "今日の天気を教えてください",
]  # fmt: skip


def message(content: str, role: Role = "user") -> Message:
    return Message(role=role, content=content, timestamp=AT)


def wishes(content: str, role: Role = "user") -> list[Wish]:
    return said_wishes([message(content, role)])


@pytest.mark.parametrize(("sentence", "about"), TO_FORGET)
def test_a_request_to_forget_says_what(sentence: str, about: str) -> None:
    assert [(wish.kind, wish.about) for wish in wishes(sentence)] == [("forget", about)]


@pytest.mark.parametrize("sentence", INSTRUCTIONS)
def test_what_is_to_be_done_from_now_on_is_an_instruction(sentence: str) -> None:
    assert [wish.kind for wish in wishes(sentence)] == ["instruction"]


@pytest.mark.parametrize("sentence", WITHDRAWALS)
def test_an_instruction_can_be_lifted(sentence: str) -> None:
    assert [wish.kind for wish in wishes(sentence)] == ["withdrawal"]


@pytest.mark.parametrize("sentence", HARMLESS)
def test_what_only_sounds_like_a_wish_is_none(sentence: str) -> None:
    assert wishes(sentence) == []


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_only_what_a_user_says_is_a_wish(role: Role) -> None:
    assert wishes("Delete everything about Gerd", role) == []
    assert wishes("Always use metric units", role) == []


def test_what_is_quoted_is_no_wish() -> None:
    assert wishes('My boss wrote: "Delete everything about Gerd"') == []
    assert wishes("> Always use metric units\nWhat does she mean by that?") == []


@pytest.mark.parametrize(
    "text", ["Stop using emojis", "Bitte keine Emojis mehr", "no more jokes please"]
)
def test_to_stop_something_may_be_an_instruction_by_itself(text: str) -> None:
    assert [(wish.kind, wish.instructs) for wish in wishes(text)] == [("withdrawal", True)]


def test_a_request_is_taken_out_of_its_message_and_the_rest_stays() -> None:
    messages = [
        message(
            "I moved to Bonn. Please forget what I told you about Gerd. And delete everything "
            "about Tina!"
        ),
        message("Hello"),
    ]
    left = without_requests(messages, said_wishes(messages))
    assert [message.content for message in left] == [
        f"I moved to Bonn. {REQUESTED} {REQUESTED}",
        "Hello",
    ]
    assert [only_requests(message) for message in left] == [False, False]
    alone = [message("Delete everything about Gerd, please.")]
    assert [only_requests(request) for request in without_requests(alone, said_wishes(alone))] == [
        True
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "Could all of the info about my custody case be deleted? My lawyer insists.",
        "The thing I mentioned about Tara's rehab should never have been shared. Wipe it.",
        "Please don't keep the fact that I'm on antidepressants.",
        "btw that thing with the police last year, erase it pls",
        "Könntest du die Sache mit meinem Rauswurf streichen? Ist mir peinlich.",
        "Das mit der Abtreibung sollte niemand wissen, bitte vergiss es",
        "元上司の話は全部なかったことにしてくれませんか",
        "前に言った会社名、伏せておきたいので消してください",
    ],
)
def test_a_request_is_heard_in_other_words(sentence: str) -> None:
    assert [wish.kind for wish in wishes(sentence)] == ["forget"]


@pytest.mark.parametrize(
    "sentence",
    [
        "Delete everything about Berlin from the itinerary",
        "My therapist told me to forget about perfection.",
        "Grandpa keeps forgetting that grandma died",
        "She told me: 'forget me'. I can't.",
        "Und vergiss die Frist nicht, 14 Tage.",
        "Er hat mich gebeten, seine Nummer zu löschen",
        "Entferne alles über Tom aus der Gästeliste",
        "会議の議事録から私の発言を消しておいて",
        "「忘れてください」を英語にして",
    ],
)
def test_what_is_edited_reported_or_quoted_is_no_request(sentence: str) -> None:
    assert [wish for wish in wishes(sentence) if wish.kind == "forget"] == []


def test_what_only_points_is_what_the_sentence_before_told() -> None:
    (wish,) = wishes(
        "I told you earlier about my HIV test. Can you delete that from your memory please?"
    )
    assert (wish.about, wish.surety) == ("my hiv test", "sure")


@pytest.mark.parametrize(
    "text",
    [
        "lets pretend i never said that",
        "Let's pretend I never told you that.",
        "act as if I never mentioned it",
        "let's pretend i never said that. i work at tesco",
        "tun wir so, als hätte ich das nie gesagt",
        "tu einfach so als hätt ich das nie gesagt",
        "今のは聞かなかったことにして",
        "聞かなかったことにしてくださいね",
    ],
)
def test_to_pretend_that_nothing_was_said_means_what_was_said_last(text: str) -> None:
    (wish,) = wishes(text)
    assert (wish.kind, wish.surety, wish.about) == ("forget", "sure", "")


@pytest.mark.parametrize(
    "text",
    [
        "聞かなかったことにして帰りました",
        "彼の噂は聞かなかったことにして寝ます",
        "pretend you're a pirate",
        "let's pretend he never said that",
        "pretend I never left",
    ],
)
def test_to_pretend_something_else_is_no_request(text: str) -> None:
    assert [wish for wish in wishes(text) if wish.surety == "sure"] == []


def test_everything_is_asked_for_in_so_many_words() -> None:
    assert [wish.extent for wish in wishes("Delete everything about Gerd")] == ["topic"]
    assert [wish.extent for wish in wishes("Forget my old phone number, please")] == ["single"]


def test_people_who_talk_with_each_other_ask_nothing_of_the_memory() -> None:
    messages = [
        message("Please forget what I told you about my salary.", "user"),
        message("Always use metric units.", "user"),
    ]
    assert said_wishes(messages)
    named = [
        message.model_copy(update={"actor": name})
        for message, name in zip(messages, ("Ana", "Ben"), strict=True)
    ]
    assert said_wishes(named) == []
    assert said_wishes([*named, message("Sure.", "assistant")])


@pytest.mark.parametrize(
    "text",
    [
        "Never give up!",
        "Hey, long time no talk!",
        "Feel free to share if you have more ideas.",
        "Keep it up, you're doing great!",
    ],
)
def test_what_people_say_to_encourage_each_other_is_no_wish(text: str) -> None:
    assert [wish for wish in wishes(text) if wish.surety == "sure"] == []


@pytest.mark.parametrize(
    "text",
    [
        "just back from the dentist, my mouth is numb. can you recommend soup",
        "suggest something cheap",
        "Please recommend books by women.",
        "Schlag mir ein Rezept vor",
        "Kannst du mir ein gutes Restaurant empfehlen?",
        "empfiehl mir ein Buch",
        "おすすめの本を教えて",
        "レシピを提案して",
        "schreib mir bitte ein kurzes gedicht für oma",
        "erzähl mir drei kurze witze",
        "use bullet points here",
        "dont use tables here",
        "could you make it a bit shorter please",
        "rezepte ohne fleisch bitte",
        "i love long novels and i hate bullet points in decks, my colleague always uses them.",
        "ich liebe lange filme und hasse kurze pausen",
    ],
)
def test_to_ask_for_a_suggestion_is_no_standing_instruction(text: str) -> None:
    assert said_wishes([message(text)]) == []


@pytest.mark.parametrize(
    "text",
    [
        "only suggest vegan restaurants",
        "please don't suggest meat",
        "schlag mir nur vegane Gerichte vor",
        "bitte nichts mit Nüssen vorschlagen",
        "always suggest two options",
        "ビーガンなので、ビーガンレシピだけ提案して",
    ],
)
def test_to_limit_all_suggestions_is_one(text: str) -> None:
    assert [wish.kind for wish in said_wishes([message(text)])] == ["instruction"]


@pytest.mark.parametrize(
    "text",
    [
        "Write me a Python function that reverses a linked list. Please add type hints.",
        "Write me a Python function that reverses a list, please add type hints.",
        "Give me a recipe for lentil soup. Please use metric units.",
        "Help me write a speech for the wedding. Please don't mention my ex.",
    ],
)
def test_a_request_beside_one_piece_of_work_is_no_standing_instruction(text: str) -> None:
    assert said_wishes([message(text)]) == []


@pytest.mark.parametrize(
    "text",
    [
        "Write me a Python function. From now on please add type hints.",
        "Write me a function. Always add type hints when you write Python.",
        "Explain DNS. And please call me Ingrid.",
        "Write me a mail. Stop using em dashes.",
        "Write me a mail. I prefer short sentences.",
        "Suggest three dinners. I'm vegetarian, so please don't suggest meat.",
        "Please add type hints.",
    ],
)
def test_an_instruction_that_names_other_times_or_no_piece_of_work_is_kept(text: str) -> None:
    assert [wish.kind for wish in wishes(text)] in (["instruction"], ["withdrawal"])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "magst du mich bitte immer duzen und keine aufzählungen benutzen?",
            ["magst du mich bitte immer duzen", "keine aufzählungen benutzen?"],
        ),
        ("Call me Max and never use emojis.", ["Call me Max", "never use emojis."]),
        (
            "これからは敬語なしで答えてくれる?あと絵文字は使わないでほしいです。",
            ["これからは敬語なしで答えてくれる?", "あと絵文字は使わないでほしいです。"],
        ),
        (
            "from now on keep your answers under five lines and no bullet points please",
            ["from now on keep your answers under five lines", "no bullet points please"],
        ),
        (
            "Always use metric units and keep your answers short.",
            ["Always use metric units", "keep your answers short."],
        ),
        (
            "Duz mich bitte immer und lass die Emojis weg, das macht mich wahnsinnig.",
            ["Duz mich bitte immer", "lass die Emojis weg, das macht mich wahnsinnig."],
        ),
        (
            "lass die Emojis weg und duz mich bitte immer",
            ["lass die Emojis weg", "duz mich bitte immer"],
        ),
        ("Answer briefly and don't use emojis", ["Answer briefly", "don't use emojis"]),
        (
            "Antworte bitte immer auf Deutsch und keine Aufzählungen mehr.",
            ["Antworte bitte immer auf Deutsch", "keine Aufzählungen mehr."],
        ),
        (
            "いつも短く答えて、絵文字は使わないでください",
            ["いつも短く答えて", "絵文字は使わないでください"],
        ),
        (
            "Two rules for this repo: always run the tests before you commit, and never push to"
            " main.",
            ["always run the tests before you commit", "never push to main."],
        ),
    ],
)
def test_two_wishes_of_one_message_are_two_instructions(text: str, parts: list[str]) -> None:
    assert [(wish.kind, wish.text) for wish in wishes(text)] == [
        ("instruction", part) for part in parts
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Never swear and use slang.",
        "Never use tables and charts.",
        "Don't mention my ex and my job.",
        "Always answer with tables and charts.",
        "When you write code, use tabs and no semicolons.",
        "Antworte immer kurz und ohne Emojis.",
        "Antworte immer kurz und nenn mir eine Quelle.",
        "Benutze nie Emojis und Ausrufezeichen.",
        "I like long novels and please never spoil the end",
        "コードを書くときは短くして、絵文字は使わないでください",
    ],
)
def test_a_wish_whose_parts_say_nothing_alone_is_one_instruction(text: str) -> None:
    assert [(wish.kind, wish.text) for wish in wishes(text)] == [("instruction", text)]


@pytest.mark.parametrize(
    ("text", "instruction"),
    [
        ("ich wohne in linz und bitte antworte immer kurz", "bitte antworte immer kurz"),
        ("I live in Linz and please always answer briefly.", "please always answer briefly."),
        (
            "I work with React and Vue and please always use TypeScript",
            "please always use TypeScript",
        ),
        (
            "Ich bin Anfänger und bitte erkläre immer alles einfach",
            "bitte erkläre immer alles einfach",
        ),
    ],
)
def test_what_is_told_before_an_instruction_is_no_part_of_it(text: str, instruction: str) -> None:
    assert [(wish.kind, wish.text) for wish in wishes(text)] == [("instruction", instruction)]


@pytest.mark.parametrize(
    "text",
    [
        "Always run the tests before you commit.",
        "Never push to main.",
        "Never merge without a review.",
        "Never force-push.",
        "Always run the linter first.",
        "Never touch the migrations folder.",
        "Commit nie direkt auf main.",
        "Pushe nie auf main.",
        "from now on, commit messages in the imperative",
        "Never deploy on Fridays.",
        "Never touch src/gen.",
        "Never promise refunds.",
        "Never share the roadmap with customers.",
        "Always tag Priya in reviews.",
        "Always escalate refunds above 100 EUR to Dana.",
        "Make sure to always run pnpm lint before pushing.",
        "Do not commit without tests.",
        "When you open a PR, always tag @priya.",
        "Ask before you delete files.",
        "Ask me before you run migrations.",
        "Niemals auf main pushen.",
        "Immer die Tests ausführen.",
        "Frag mich, bevor du Dateien löschst.",
        "Führe immer die Tests aus, bevor du committest.",
        "コミット前に必ずテストを実行してください",
        "絶対に本番ブランチへ直接プッシュしないで",
    ],
)
def test_a_rule_for_a_coding_agent_is_an_instruction(text: str) -> None:
    assert [(wish.kind, wish.text) for wish in wishes(text)] == [("instruction", text)]


def test_a_rule_for_a_coding_agent_stands_after_the_word_to_remember_it() -> None:
    assert [wish.text for wish in wishes("Remember: never push to main.")] == [
        "never push to main."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Never mind.",
        "Never push your luck.",
        "Never commit to a man like that.",
        "Never had tests like that in school.",
        "Always wanted to run a marathon.",
        "Always the same bug in that file.",
        "I never push to main.",
        "We always run the tests before we commit.",
        "Should I always run the tests before I commit?",
        "Never run a marathon without training.",
        "Never change a running system.",
        "Never promise anything.",
        "Never work on Sundays, my doctor says.",
        "Never worked on the repo.",
        "Always writes tests.",
        "Make sure to add the tests.",
        "Do not delete this file without asking me.",
        "Don't push yourself without rest.",
        "Ask him before you leave.",
        "Ask me before you buy that.",
        "From now on tests are run by CI.",
        "From now on we run the tests at night.",
        "Immer diese Tests im Code.",
        "Niemals aufgeben!",
        "Ich pushe nie auf main.",
        "Wir führen immer die Tests aus.",
        "Führst du immer die Tests aus?",
        "いつもコミット前にテストを実行しています",
        "テストはいつも難しい",
        "Never open the door to strangers.",
        "Always run from bears!",
        "Never run with scissors.",
        "Never push my buttons.",
        "Always test the water first.",
        "Never delete old love letters.",
        "Ask before you touch a dog.",
        "Ask before you leap.",
        "Never commit to anything before coffee.",
    ],
)
def test_what_only_sounds_like_a_rule_for_a_coding_agent_is_none(text: str) -> None:
    assert [wish for wish in wishes(text) if wish.surety == "sure"] == []


@pytest.mark.parametrize(
    "text",
    [
        "Wenn ich du wäre, würde ich nur noch sowas schreiben",
        "An deiner Stelle würde ich immer kurz antworten.",
        "Ich an deiner Stelle würde nie wieder Emojis benutzen.",
        "If I were you, I'd only write poems from now on.",
        "If I was you I would always answer in French",
        "Were I you, I'd never use emojis",
        "私があなたなら、いつも短く答えます",
    ],
)
def test_what_a_speaker_would_do_in_the_assistants_place_is_no_instruction(text: str) -> None:
    assert wishes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Wenn ich dich bitte, antworte immer kurz.",
        "If I were you I'd be annoyed, but please always answer briefly.",
        "I'd like you to only write poems from now on.",
        "Wenn ich Code zeige, antworte immer kurz.",
        "私が質問したら、いつも短く答えてください",
        "quiz me with one question at the start of every chat",
        "until my exam on friday please quiz me with one question at the start of every chat",
        "Bis zur Prüfung frag mich bitte am Anfang jedes Chats eine Vokabel ab.",
        "Erzähl mir am Ende jeder Antwort einen Witz",
        "Tell me a joke at the end of every reply",
        "毎回のチャットの最初に単語を一つ出題してください",
    ],
)
def test_a_condition_or_each_conversation_makes_an_instruction(text: str) -> None:
    assert [wish.kind for wish in wishes(text)] == ["instruction"]


@pytest.mark.parametrize(
    "text",
    [
        "At the start of every chat I get nervous.",
        "The bot greets me at the start of every chat.",
        "My teacher asks me a question at the start of every session.",
        "Nervous at the start of every meeting.",
        "What happens at the start of every chat?",
        "Why do you greet me at the start of every chat?",
        "Am Anfang jedes Chats bin ich nervös.",
        "Warum fragst du mich am Anfang jedes Chats?",
        "毎回のチャットの最初に緊張します",
        "毎回の会話の最初に挨拶しています",
    ],
)
def test_what_happens_in_each_conversation_is_no_instruction(text: str) -> None:
    assert wishes(text) == []


@pytest.mark.parametrize(
    "text", ["no more than 50 words please", "keine antworten mit mehr als 50 wörtern bitte"]
)
def test_a_limit_ends_no_instruction(text: str) -> None:
    assert [wish for wish in wishes(text) if wish.kind == "withdrawal"] == []


@pytest.mark.parametrize(
    "text",
    [
        "please speak german with me this week",
        "this week please keep it brief",
        "please answer me only in french until friday",
        "nur heute bitte keine langen erklärungen, ich hab kopfweh",
        "heute bitte nur auf englisch antworten",
        "nur heute bitte auf Englisch",
        "今日だけは英語で答えてください",
        "今週は短く答えてください",
    ],
)
def test_what_is_wanted_for_a_day_or_a_week_is_an_instruction_with_an_end(text: str) -> None:
    (wish,) = wishes(text)
    assert wish.kind == "instruction"
    assert holds_until(wish.text, AT) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Translate this letter, please use formal language for it.",
        "Schreib mir eine Mail an den Vermieter. Bitte kurz halten.",
        "この段落を短く書き直して",
        "さっきの返事を短くして",
        "今回だけ英語で答えて",
    ],
)
def test_what_is_asked_for_a_single_answer_is_no_instruction(text: str) -> None:
    assert [wish for wish in wishes(text) if wish.surety == "sure"] == []


@pytest.mark.parametrize(
    "text",
    [
        "my sister told anna please forget my ex",
        "my brother shouted please forget my birthday",
        "in the film a man tells bob please forget my sister",
        "please delete my address scratch that keep it",
        "i live in oslo these days please forget my old address",
    ],
)
def test_a_request_within_a_dictated_sentence_is_never_done_at_once(text: str) -> None:
    assert "sure" not in {wish.surety for wish in wishes(text)}


@pytest.mark.parametrize(
    "text",
    [
        "um can u forget what i said about my salary",
        "hey so uh forget about the salary thing i told you",
        "pls delete everything about darren thx",
        "äh vergiss mal bitte mein gehalt",
    ],
)
def test_a_request_with_fillers_and_chat_words_is_one(text: str) -> None:
    assert [(wish.kind, wish.surety) for wish in wishes(text)] == [("forget", "sure")]
