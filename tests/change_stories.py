"""Everyday stories: what somebody says, what the same person says weeks later, and whether that
means the first holds no more.
"""

from __future__ import annotations

from typing import NamedTuple


class Story(NamedTuple):
    """Two messages of one person, the earlier first."""

    earlier: str
    later: str


CHANGED = [
    # own stories, written before the rules
    Story(
        "I rent a room on Cedar Road, the boiler there is ancient.",
        "Moved out of Cedar Road, I'm in a flat by the canal now.",
    ),
    Story(
        "We use Trello for the whole team.",
        "We switched from Trello to Linear last week, how do I import the boards?",
    ),
    Story(
        "My piano lesson is on Wednesdays at 5.",
        "Piano lesson has been moved to Fridays at 4, remind me to tell my mum.",
    ),
    Story("I pay 38 euros a month for the gym.", "The gym went up to 44 a month, is that normal?"),
    Story(
        "My manager is Helen and she loves long meetings.", "Helen retired, my new manager is Amir."
    ),
    Story(
        "I eat meat pretty much every day.",
        "I went vegetarian in January, what can I do with lentils?",
    ),
    Story(
        "Our sofa is a grey three-seater from the nineties.",
        "Finally got rid of the sofa! What should go in the corner?",
    ),
    Story("I take the 7:40 train to work.", "I don't take the train any more, I got a bike."),
    Story(
        "My girlfriend Nora is allergic to cats.",
        "Nora and I broke up, so I am cooking for one now.",
    ),
    Story(
        "The deadline for the grant is 3 May.", "They extended the grant deadline to 17 May, phew."
    ),
    Story(
        "I'm training for the Berlin marathon.",
        "I had to pull out of the marathon, my knee is done for.",
    ),
    Story(
        "My email is jo.hart@oldmail.example, send it there.",
        "Please use my new email from now on, jo@hart.example.",
    ),
    Story(
        "I'm working as a barista while I look for something better.",
        "I got the job! I start as a junior designer on Monday.",
    ),
    Story("The party is at our place on Saturday.", "Change of plan, the party is at Mia's now."),
    Story(
        "I drink three cups of coffee before noon.",
        "I've given up coffee completely, any good herbal teas?",
    ),
    Story("Meine Nummer ist 0151 555 0101.", "Ich habe eine neue Handynummer: 0170 555 0202."),
    Story(
        "Ich fahre einen alten Polo, der braucht viel Öl.",
        "Den Polo hab ich verkauft, jetzt fahre ich einen Corsa.",
    ),
    Story("Das Treffen ist am Montag um 10 Uhr.", "Das Treffen wurde auf Mittwoch verschoben."),
    Story(
        "Unser Budget für das Bad sind 9.000 Euro.",
        "Wir haben das Budget für das Bad auf 12.000 Euro erhöht.",
    ),
    Story("Ich lerne gerade Gitarre.", "Mit der Gitarre habe ich aufgehört, keine Zeit mehr."),
    Story(
        "Meine Chefin ist Frau Winter.",
        "Frau Winter hat gekündigt, mein neuer Chef heißt Herr Sommer.",
    ),
    Story(
        "Wir wohnen in Mainz in einer kleinen Wohnung.",
        "Wir sind nach Kassel umgezogen, kennst du gute Bäcker?",
    ),
    Story(
        "私の電話番号は090-5555-1111です。",
        "電話番号が変わりました。新しい番号は080-5555-2222です。",
    ),
    Story("毎週月曜日に料理教室に通っています。", "料理教室は木曜日に変更になりました。"),
    Story("大阪に住んでいます。", "先月、福岡に引っ越しました。"),
    Story("ゴルフに乗っています。", "ゴルフは売って、プリウスを買いました。"),
    Story("お肉が大好きで毎日食べます。", "最近ベジタリアンになったので、肉は食べません。"),
    Story("歯医者の予約は5月10日です。", "歯医者の予約を5月12日に変更してもらいました。"),
]
UNCHANGED = [
    Story(
        "I drink three cups of coffee before noon.",
        "I tried a new coffee place near the station today.",
    ),
    Story("My sister Clara lives in Ghent.", "My brother has moved to Antwerp."),
    Story("I have an old Nikon camera.", "Bought a new lens for the Nikon."),
    Story("My piano lesson is on Wednesdays at 5.", "My swimming lesson is on Fridays at 4."),
    Story(
        "I work at a bakery on the corner.", "I left the bakery an hour late today, what a shift."
    ),
    Story("The grant deadline is 3 May.", "The deadline for the tax return is 31 July."),
    Story("I'm vegetarian.", "My dad has gone vegan, can you believe it?"),
    Story(
        "We use Trello for the whole team.",
        "How do I switch from list view to board view in Trello?",
    ),
    Story("I run 5 km every morning.", "I ran 12 km on Sunday."),
    Story("Ich fahre einen alten Polo.", "Mein Bruder hat seinen Golf verkauft."),
    Story("Ich lerne gerade Gitarre.", "Heute habe ich zwei Stunden Gitarre geübt."),
    Story("Das Treffen ist am Montag um 10 Uhr.", "Das Treffen war gut, wir haben viel geschafft."),
    Story("大阪に住んでいます。", "妹が福岡に引っ越しました。"),
    Story("犬を飼っています。", "友達が猫を飼い始めました。"),
    Story("毎朝6時に起きます。", "今朝は寝坊して8時に起きた。"),
]
FOURTEEN = [
    # the everyday pairs of which four were recognised before
    Story("My phone number is 555 0134.", "I have a new phone number: 555 0177."),
    Story("My boss is Karen.", "I have a new boss, her name is Petra."),
    Story("I drive a Golf.", "I sold the Golf and bought a Tesla."),
    Story(
        "The budget for the kitchen is 8,000 euros.",
        "We raised the kitchen budget to 11,000 euros.",
    ),
    Story(
        "The meeting with Lena is on Tuesday at 10.",
        "The meeting with Lena moved to Thursday at 2.",
    ),
    Story("I love a good steak, I eat meat every day.", "I am vegan now."),
    Story("I live in Hamburg.", "I moved to Bremen last month."),
    Story("I work at Siemens.", "I quit my job at Siemens and started at Bosch."),
    Story("I am single.", "I got engaged last night!"),
    Story("We use Jira for our tickets.", "We switched to Linear, Jira is gone."),
    Story("My flight is on 3 May.", "My flight was rescheduled to 5 May."),
    Story("I am learning Spanish.", "I stopped learning Spanish."),
    Story("I have two dogs.", "I have three dogs now."),
    Story("I prefer tabs over spaces.", "I prefer spaces now."),
]
