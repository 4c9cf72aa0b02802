"""Pairs of messages of one person, written before the rules that read slots, and what a sensible
person expects of them.

TWO_THINGS: the later message tells of another owner, thing, place or occasion, or adds to what was
told; it would be wrong to mark the earlier one as replaced. ONE_THING: what the earlier one tells
is so no more.
"""

from __future__ import annotations

from tests.change_stories import Story

TWO_THINGS = [
    # another owner: a relative, a friend, a neighbour, a colleague
    Story("I live in Hamburg.", "My mother-in-law moved to Bremen last week."),
    Story("We live in a flat in Leeds.", "My best friend has just moved to York."),
    Story("I work at Siemens.", "My flatmate quit his job at Siemens."),
    Story("I'm vegetarian.", "My girlfriend's father eats meat again now."),
    Story("I drive a Golf.", "Our neighbours sold their Golf."),
    Story("I play the cello.", "Clara from the office gave up the cello."),
    Story("My rent is 900 euros.", "My brother's rent went up to 1,100 euros."),
    Story("My boss is Helen.", "My wife has a new boss called Amir."),
    Story("I'm married to Jonas.", "My cousin got divorced in spring."),
    Story("I have two cats.", "My aunt has three cats now."),
    Story("I smoke about ten a day.", "My colleague quit smoking in May."),
    Story("My dentist appointment is on Tuesday at 9.", "Lena's dentist moved hers to Thursday."),
    Story("My phone number is 0171 555 2093.", "Mum has a new phone number, 0160 555 8841."),
    Story("I earn 3,200 a month.", "Paul got a raise, he earns 3,900 a month now."),
    Story("My son is in year 3.", "My niece is in year 5 now."),
    Story("I use Slack at work.", "My sister's company switched from Slack to Teams."),
    # the speaker's own, and that of something
    Story("My rent is 890 a month.", "The rent of the shop went up to 1,400."),
    Story("My rent is 890 a month.", "The rent for the shop is 1,400 now."),
    Story("Meine Miete beträgt 700 Euro.", "Die Miete vom Laden wurde auf 1.500 Euro erhöht."),
    Story("My salary is 3,200.", "The salary of the new colleague was raised to 3,400."),
    Story("My flight leaves at 9.", "The flight of the band was moved to 11."),
    Story("My budget is 500 euros.", "The budget for the office party went up to 900 euros."),
    Story("Mein Termin ist um 10 Uhr.", "Der Termin für den Hund wurde auf 12 Uhr verlegt."),
    # the same of another of its kind
    Story("My savings account pays 2 %.", "My current account now pays 0.5 %."),
    Story(
        "The balance of my savings account is 5,000 euros.",
        "The balance of my current account dropped to 300 euros.",
    ),
    Story("My first exam is on June 3.", "The second exam was moved to June 20."),
    # the same owner, one more of it
    Story("I work at the bakery on Mill Road.", "I also work at the library on Saturdays now."),
    Story("I have a car, an old Volvo.", "We bought a second car, a little Fiat."),
    Story("I'm learning Spanish.", "I've started learning Italian as well."),
    Story("I go to the gym on Mondays.", "I now go to the gym on Thursdays too."),
    Story("I take vitamin D.", "The doctor put me on iron in addition."),
    Story("My email is ana@home.example.", "I have a second email for work now, ana@work.example."),
    Story("I play chess on Tuesdays.", "I'm playing chess on Sundays as well these days."),
    Story("We have a dog called Otto.", "We got another dog, she is called Pippa."),
    Story("I speak French and German.", "I speak some Polish now, too."),
    Story("I have an account at ING.", "I opened an additional account at N26."),
    # the same owner, another thing of the kind
    Story("I owe Ben 20 euros.", "I owe Mia 50 now."),
    Story("The hotel in Paris costs 140 a night.", "The hotel in Rome now costs 180 a night."),
    Story("My work laptop is a ThinkPad.", "My new private laptop is a MacBook."),
    Story(
        "The meeting with Lena is on Tuesday at 10.",
        "The meeting with the bank was moved to Thursday at 2.",
    ),
    Story("My flight to Oslo is on 3 May.", "My flight to Berlin was rescheduled to 9 May."),
    Story("The kitchen budget is 8,000 euros.", "We raised the bathroom budget to 6,000 euros."),
    Story("The guest room is painted blue.", "The bedroom is green now."),
    Story("My piano lesson is on Wednesdays at 5.", "My swimming lesson moved to Fridays at 4."),
    Story("My English exam is on 12 June.", "My maths exam was postponed to 20 June."),
    Story("The wifi password at home is tulip7.", "The wifi password at the office is rose9 now."),
    Story("My left knee hurts when I run.", "My right knee doesn't hurt any more."),
    Story("My older daughter goes to school.", "My younger daughter is in nursery now."),
    Story("I sold my old bike.", "I sold my surfboard yesterday."),
    Story("The train to Cologne leaves at 7:40.", "The train back now leaves at 18:10."),
    Story("I'm reading Dune.", "I stopped watching Severance."),
    Story("I cancelled Netflix last year.", "I cancelled Spotify today."),
    Story(
        "The deadline for the grant is 3 May.",
        "The deadline for the tax return was extended to 31 July.",
    ),
    Story("My grandmother in Porto is 88.", "My grandmother in Lyon is 91 now."),
    Story("Lunch with Sam is at noon.", "Dinner with Sam was moved to 8."),
    Story("My team at work has six people.", "My football team has eleven people now."),
    Story("The front door code is 4410.", "They changed the code of the garage to 8206."),
    # a visit, a plan or a wish is no move
    Story("I live in Ghent.", "I'm in Lisbon now for the weekend."),
    Story("I drink coffee every morning.", "No coffee for me today, I slept badly."),
    Story("I drive a Golf to work.", "I rented a Tesla for the holidays."),
    Story("I go running every day.", "I didn't go running this week, I had a cold."),
    # German
    Story("Ich wohne in Mainz.", "Meine Schwiegermutter ist nach Kassel gezogen."),
    Story("Ich arbeite bei Bosch.", "Mein Mitbewohner hat bei Bosch gekündigt."),
    Story("Ich lerne Gitarre.", "Ich lerne jetzt auch noch Klavier."),
    Story("Wir haben ein Auto, einen Polo.", "Wir haben jetzt ein zweites Auto, einen Corsa."),
    Story("Das Hotel in Wien kostet 120 Euro.", "Das Hotel in Rom kostet jetzt 150 Euro."),
    Story("Meine Miete beträgt 800 Euro.", "Die Miete meiner Schwester ist auf 950 gestiegen."),
    Story(
        "Der Termin beim Zahnarzt ist am Montag.",
        "Der Termin beim Steuerberater wurde auf Freitag verschoben.",
    ),
    # Japanese
    Story("大阪に住んでいます。", "義理の母が福岡に引っ越しました。"),
    Story("トヨタで働いています。", "友達がトヨタを辞めました。"),
    Story("英語を勉強しています。", "最近フランス語も勉強し始めました。"),
    Story("犬を一匹飼っています。", "おばは今、犬を二匹飼っています。"),
    Story("パリのホテルは一泊一万円です。", "ローマのホテルは一泊二万円になりました。"),
    Story("月曜日に英会話のレッスンがあります。", "ピアノのレッスンは木曜日に変更になりました。"),
]
"""Another owner, thing, place or occasion, or one more: nothing is replaced."""

ONE_THING = [
    Story("The rent of the shop is 1,400.", "The shop's rent was raised to 1,500."),
    Story("My rent is 890 a month.", "My rent for the flat went up to 950."),
    Story("My rent for the flat is 890 a month.", "My rent went up to 950."),
    Story("Our kitchen budget is 8,000 euros.", "The budget for the kitchen went up to 9,000."),
    Story("My first exam is on June 3.", "My first exam was moved to June 20."),
    Story("Our deadline is on June 3.", "The deadline was moved to June 20."),
    Story(
        "The balance of my savings account is 5,000 euros.",
        "The balance of my savings account dropped to 3,000 euros.",
    ),
    Story("I have an old iPhone.", "I got a new phone, a Pixel."),
    Story("We live in Hamburg near the harbour.", "We moved to Bonn in March."),
    Story("The budget for the party is 300 euros.", "The budget is 500 now."),
    Story("My boss is Helen.", "Amir is my boss now."),
    Story("I work as a nurse.", "I'm a teacher now."),
    Story("My sister lives in Ghent.", "My sister moved to Antwerp last month."),
    Story("My brother works at Siemens.", "My brother started at Bosch in May."),
    Story("The hotel in Rome costs 150 a night.", "The hotel in Rome is 180 a night now."),
    Story("I owe Mia 20 euros.", "I owe Mia 50 now."),
    Story("I'm on the night shift.", "I'm on the day shift since Monday."),
    Story("My daughter is six.", "My daughter turned seven yesterday."),
    Story("I weigh 82 kilos.", "I'm down to 78 kilos."),
    Story("I'm single.", "I have a boyfriend now, he's called Tom."),
    Story("My son plays the trumpet.", "My son gave up the trumpet."),
    Story("We bank with Barclays.", "We're with Monzo now."),
    Story("I take the bus to work.", "I cycle to work now."),
    Story("My hair is brown.", "I dyed my hair red."),
    Story("Tom is my flatmate.", "Tom moved out on Sunday."),
    Story("My gym is PureFit.", "I go to FitX now, it's a better gym."),
    Story("My favourite colour is blue.", "My favourite colour is green these days."),
    Story("The wifi password at home is tulip7.", "The wifi password at home is rose9 now."),
    Story("I don't eat fish.", "I eat fish again."),
    Story("I'm a student at Leeds.", "I graduated last week!"),
    Story("My mother is in hospital.", "My mother is home again, thank God."),
    Story("The car is in the garage for repair.", "I got the car back today."),
    Story("I can't drive.", "I passed my driving test!"),
    Story("My team has six people.", "My team has eight people now."),
    Story("I'm pregnant.", "Our baby was born on Friday, a girl."),
    Story("The meeting with Lena is on Tuesday.", "The meeting with Lena is on Thursday instead."),
    Story("The train to Cologne leaves at 7:40.", "The train to Cologne leaves at 8:05 now."),
    # German
    Story("Ich habe ein altes Nokia.", "Ich habe endlich ein neues Handy."),
    Story("Mein Bruder wohnt in Köln.", "Mein Bruder wohnt jetzt in Essen."),
    Story("Das Hotel in Rom kostet 120 Euro.", "Das Hotel in Rom kostet jetzt 150 Euro."),
    Story("Ich bin Verkäufer.", "Ich bin jetzt Filialleiter."),
    Story("Ich schulde Mia 20 Euro.", "Ich schulde Mia jetzt 50 Euro."),
    Story("Meine Tochter ist fünf.", "Meine Tochter ist gestern sechs geworden."),
    # Japanese
    Story("妹は大阪に住んでいます。", "妹が福岡に引っ越しました。"),
    Story("看護師として働いています。", "今は教師をしています。"),
    Story("ローマのホテルは一泊一万円です。", "ローマのホテルは一泊二万円になりました。"),
    Story("体重は70キロです。", "体重が65キロになりました。"),
]
"""What the earlier one tells is so no more."""
