"""Two statements are of the same thing and owner before their words make a change."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_core.domain.statements.change_messages import read
from memory_core.domain.statements.changes import change, update_closeness
from memory_core.domain.statements.contradictions import contradiction
from memory_core.domain.statements.values_said import AskedKind
from memory_core.domain.text.analyzer import tokens

MOMENTS = datetime(2026, 11, 2, 9, tzinfo=UTC), datetime(2026, 11, 12, 9, tzinfo=UTC)

OF_ANOTHER = (
    # another thing of the same kind
    ("My bicycle has 21 gears.", "My wife's bicycle now has 27 gears."),
    ("The staging database has 16 GB of memory.", "The production database was upgraded to 64 GB."),
    ("My electricity contract costs 70 euros a month.", "The gas contract went up to 95 euros."),
    ("I weigh 68 kg.", "The rucksack is down to 12 kg now."),
    ("Our kitchen is painted yellow.", "We repainted the bathroom, it is green now."),
    ("My work phone is a Pixel 7.", "My private phone is an iPhone 15 now."),
    ("Unser Testserver hat 8 Kerne.", "Der Produktionsserver hat jetzt 32 Kerne."),
    ("Meine Miete beträgt 900 Euro.", "Die Miete meiner Schwester ist auf 1100 Euro gestiegen."),
    ("Mein Rad wiegt 14 Kilo.", "Der Anhänger wiegt jetzt nur noch 9 Kilo."),
    ("私の体重は70キロです。", "猫の体重は5キロになりました。"),
    ("仕事用の携帯はPixelです。", "個人用の携帯はiPhoneに変えました。"),
    # another person
    ("I live in Leeds.", "My cousin has moved to Bristol."),
    ("I work as a nurse.", "My daughter works as a teacher now."),
    ("My mother-in-law lives in Hull.", "My mother died in 2011."),
    ("Ich wohne in Bonn.", "Meine Chefin ist nach Köln gezogen."),
    ("Ich nehme 50 mg Sertralin.", "Mein Bruder nimmt jetzt 100 mg Sertralin."),
    ("私は大阪に住んでいます。", "妹は名古屋に引っ越しました。"),
    ("私の給料は30万円です。", "同僚の給料は35万円に上がりました。"),
    # a wish or a supposition
    ("I weigh 85 kg.", "I want to get down to 81 kg by summer."),
    ("I drive a Golf.", "If I win the lottery I will drive a Porsche."),
    ("Ich wohne in Kiel.", "Am liebsten würde ich nach Hamburg ziehen."),
    ("Ich verdiene 3000 Euro.", "Wenn ich befördert werde, verdiene ich 3500 Euro."),
    ("私は福岡に住んでいます。", "いつか京都に引っ越したいです。"),
    # the past
    ("I weigh 85 kg.", "In 2019 I was down to 74 kg."),
    ("I live in Oslo.", "As a child I lived in Bergen."),
    ("Ich arbeite bei Siemens.", "Bis 2015 habe ich bei Bosch gearbeitet."),
    ("私は銀行で働いています。", "学生の頃は本屋で働いていました。"),
    # someone else's story
    ("I have a dog called Rex.", "Watched a film with a dog called Rex, Rex died at the end."),
    ("My sister lives in Rome.", "In the novel the sister moves to Venice."),
    ("Unser Server heißt Atlas.", "Im Roman ist Atlas gestorben."),
    # variants
    ("Our dev cluster has 3 nodes.", "The prod cluster was scaled to 12 nodes."),
    ("I weigh 68 kg.", "The rucksack weighs 9 kg now."),
    ("I weigh 68 kg.", "Repacked the rucksack. Down to 9 kg."),
    ("I'm 172 cm tall.", "My son is up to 180 cm now."),
    ("My daughter is 120 cm tall.", "The sunflower is up to 180 cm now."),
    ("I take 20 mg of citalopram.", "My aunt's dose of citalopram went up to 40 mg."),
    ("My car has 90,000 km on it.", "My dad's car now has 200,000 km on it."),
    ("Our office has 40 desks.", "The new office of our client has 120 desks now."),
    ("My laptop has 16 GB of RAM.", "The server was upgraded to 128 GB."),
    ("My gym costs 30 euros a month.", "Tom's gym went up to 45 euros a month."),
    ("The backend listens on port 8080.", "The frontend listens on port 5173 now."),
    ("The invoice for March is 400 euros.", "The invoice for April went up to 520 euros."),
    ("My blood pressure is 140 over 90.", "Dad's blood pressure is down to 120 over 80."),
    ("I sleep 7 hours a night.", "The baby sleeps 5 hours a night now."),
    ("My sister has two kids.", "My neighbour has three kids now."),
    ("I play tennis.", "In the book the girl stopped playing tennis."),
    ("My cat is called Luna.", "In the series Luna died."),
    ("I live in Porto.", "I'd love to move to Lisbon."),
    ("I live in Porto.", "If we moved to Lisbon, rent would be higher."),
    ("I work at Bosch.", "My friend quit her job at Bosch."),
    ("My stepmother lives in Bath.", "My mother moved to Leeds."),
    ("My boss is Karen.", "Ben has a new boss, Karen left his company."),
    ("My older brother lives in Wien.", "My younger brother moved to Graz."),
    ("Meine Hausärztin ist Dr. Klein.", "Meine Schwester hat eine neue Hausärztin."),
    ("Das Schlafzimmer hat 14 Quadratmeter.", "Das Wohnzimmer hat jetzt 30 Quadratmeter."),
    ("Unsere Warmmiete beträgt 1200 Euro.", "Die Kaltmiete ist auf 900 Euro gestiegen."),
    ("Mein Arbeitsvertrag läuft bis Mai.", "Der Handyvertrag läuft jetzt bis August."),
    ("Meine Oma ist 84.", "Mein Opa ist jetzt 90."),
    ("Ich wiege 70 Kilo.", "Ich möchte auf 65 Kilo runter."),
    ("Ich wiege 70 Kilo.", "Früher wog ich 90 Kilo."),
    ("Ich wiege 70 Kilo.", "Noch nicht runter auf 65 Kilo."),
    ("Ich fahre einen Golf.", "Der Golf meines Vaters wurde verkauft."),
    ("Der Zug nach Berlin fährt um 8 Uhr.", "Der Zug nach Hamburg fährt jetzt um 9 Uhr."),
    ("Mein Hund heißt Bello.", "Im Film ist ein Hund namens Bello gestorben."),
    ("Der Testserver läuft auf Port 8080.", "Der Testserver ist gestern zweimal abgestürzt."),
    ("母は札幌に住んでいます。", "義理の母は函館に引っ越しました。"),
    ("私の車は燃費が15キロです。", "父の車は燃費が20キロになりました。"),
    ("開発サーバーのメモリは8GBです。", "本番サーバーのメモリを32GBに増やしました。"),
    ("犬のポチを飼っています。", "映画でポチが死にました。"),
    ("会社の定時は18時です。", "妹の会社の定時は17時に変わりました。"),
    ("仙台に住んでいます。", "いつか福岡に引っ越したい。"),
    ("I'm flying to Lisbon in May.", "The flight to Porto was cancelled."),
    ("Ich fliege nach Lissabon.", "Der Flug nach Porto wurde gestrichen."),
    ("仙台に住んでいます。", "福岡に引っ越したら連絡します。"),
    # as told by people who tried it
    ("I weigh 85 kg.", "the parcel came in at 4.2 kg, down to 3.9 without the box"),
    ("I weigh 85 kg.", "repacked the suitcase, down to 22 kg"),
    ("I weigh 85 kg.", "Baby update: down to 3.2 kg since birth, the midwife isn't worried"),
    ("I weigh 85 kg.", "I want to get down to 81 kg by summer"),
    ("I weigh 85 kg.", "once I'm down to 81 kg I'll buy new trousers"),
    ("I weigh 85 kg.", "in 2019 I was down to 74 kg"),
    ("I weigh 85 kg.", "still not down to 81 kg, sigh"),
    ("Ich wiege 86 Kilo.", "der Koffer wiegt jetzt 23 Kilo, runter von 25"),
    ("Ich wiege 86 Kilo.", "mein Bruder ist runter auf 78 Kilo, der Angeber."),
    (
        "Die Testdatenbank hat 16 GB Speicher.",
        "Wir haben die Produktionsdatenbank aufgerüstet, sie hat jetzt 64 GB Speicher.",
    ),
    ("ステージングのDBのメモリは16GBです。", "本番のDBのメモリを64GBに増やしました。"),
    ("The rent for my flat is 980.", "Ben told me that his rent went up to 1,200."),
    ("The rent for my flat is 980.", "Ben told User that his rent went up to 1,200."),
    ("My mother-in-law lives in Hull.", "my mother died in 2011"),
    ("My mother lives in Hull.", "my mother-in-law died last week"),
    (
        "I have a dog called Rex.",
        "watched a film with a dog called Rex, Rex died at the end, I cried",
    ),
    (
        "Der Entwicklungsserver läuft auf Port 8080.",
        "Der Entwicklungsserver ist heute 3 mal abgestürzt.",
    ),
    (
        "Mein Zug nach Köln fährt um 8:12 Uhr.",
        "Im Zug nach Köln gibt es jetzt 2 Ruhewagen, wurde umgestellt.",
    ),
    ("My salary is 3,200 a month.", "The salary of the new colleague was raised to 3,500."),
    (
        "My flight to Rome is at 9:40 on 12 December.",
        "The taxi to the flight to Rome costs 55 now, they raised the prices.",
    ),
    (
        "We invited 40 guests to the wedding.",
        "Jo's wedding now has 120 guests, she moved it to a hall.",
    ),
    (
        "Das Training ist am Montag um 18 Uhr.",
        "Das Training der Kinder wurde auf Mittwoch um 16 Uhr verlegt.",
    ),
    (
        "Mein Auto verbraucht 7 Liter.",
        "Das neue Auto meiner Schwester verbraucht jetzt nur 5 Liter.",
    ),
    ("deadline is Friday for the grant", "deadline is 20 December for the tax return"),
    (
        "The production server runs Postgres 15.",
        "We upgraded the test server. It runs Postgres 16.",
    ),
    # another of its kind, by a number or a name
    ("The rent of unit 2 is 700.", "The rent of unit 5 went up to 800."),
    ("Sample B7 is in rack 2.", "Sample B9 was moved to rack 5."),
    ("I'm flying to Malta on October 3.", "The Riga flight was moved to October 22."),
    ("Am 3. Oktober fliege ich nach Malta.", "Der Flug nach Riga wurde auf den 22. verschoben."),
    ("Laden 1 kostet 900 Euro.", "Laden 2 kostet jetzt 990 Euro."),
    ("1号館の家賃は6万円です。", "2号館の家賃が8万円に上がりました。"),
    (
        "My interview at Otto is on November 10 at 9.",
        "The Bosch interview was moved to November 12.",
    ),
    # another labelled thing
    ("The rent of flat 2 is 850.", "The rent of flat 4 went up to 950."),
    ("The rent of flat 2 is 850.", "We moved to flat 4."),
    ("I live in flat 4.", "My brother moved to flat 6."),
    ("I rent out flat 2.", "I sold flat 4."),
)
OF_THE_SAME = (
    ("My suitcase weighs 23 kg.", "I repacked my suitcase. It's 19 kg now."),
    ("Mein Koffer wiegt 23 kg.", "Koffer umgepackt. Er wiegt jetzt 19 kg."),
    ("My bicycle has 21 gears.", "I got a new bicycle, it has 27 gears."),
    ("The staging server has 8 cores.", "The staging server was upgraded to 32 cores."),
    ("My rent is 980 euros.", "My rent went up to 1,050 euros."),
    ("I weigh 85 kg.", "I'm down to 82 kg now."),
    ("I live in Leeds.", "I have moved to Bristol."),
    ("My sister lives in Rome.", "My sister has moved to Venice."),
    ("I work as a nurse.", "I work as a teacher now."),
    ("We use npm.", "We switched to pnpm."),
    ("My wife takes 500 mg of metformin.", "Her doctor has increased metformin to 1000 mg."),
    ("My work phone is a Pixel 7.", "My work phone is an iPhone 15 now."),
    ("My savings account pays 2.1 percent.", "My savings account pays only 1.8 percent now."),
    ("I drive a Golf.", "I sold the Golf and drive a Skoda now."),
    ("Our standup is at 9:30.", "Our standup is now at 10:00."),
    ("My dog is called Rex.", "Rex died last week."),
    ("Unser Testserver hat 8 Kerne.", "Der Testserver hat jetzt 16 Kerne."),
    ("Meine Miete beträgt 900 Euro.", "Meine Miete ist auf 950 Euro gestiegen."),
    ("Ich wohne in Bonn.", "Ich bin nach Köln gezogen."),
    ("Ich nehme 50 mg Sertralin.", "Ich nehme jetzt 100 mg Sertralin."),
    ("Ich arbeite bei Siemens.", "Ich arbeite jetzt bei Bosch."),
    ("Mein Bruder wohnt in Ulm.", "Mein Bruder ist nach Trier gezogen."),
    ("Ich wiege 85 Kilo.", "Ich wiege nur noch 82 Kilo."),
    ("Meine Freundin heißt Anna.", "Anna und ich haben uns getrennt."),
    ("Wir benutzen MySQL.", "Wir sind auf Postgres umgestiegen."),
    ("Der Termin beim Zahnarzt ist am Montag.", "Der Zahnarzttermin ist auf Mittwoch verschoben."),
    ("私は大阪に住んでいます。", "名古屋に引っ越しました。"),
    ("妹は大阪に住んでいます。", "妹は名古屋に引っ越しました。"),
    ("私の体重は70キロです。", "体重は67キロになりました。"),
    ("私は銀行で働いています。", "今は出版社で働いています。"),
    ("テストサーバーのメモリは16GBです。", "テストサーバーのメモリを64GBに増やしました。"),
    ("仕事用の携帯はPixelです。", "仕事用の携帯はiPhoneに変えました。"),
    # variants
    ("Our dev cluster has 3 nodes.", "The dev cluster was scaled to 12 nodes, we upgraded it."),
    ("I'm 172 cm tall.", "My height is 174 cm now, I grew."),
    ("My daughter is 120 cm tall.", "My daughter is 130 cm tall now."),
    ("I take 20 mg of citalopram.", "My doctor put the citalopram up to 40 mg."),
    ("I take 20 mg of citalopram.", "I'm now on 40 mg of citalopram."),
    ("My tablets are 5 mg of amlodipine.", "Saw the doctor, she's put me up to 10 mg."),
    ("My laptop has 8 GB of RAM.", "I upgraded it to 32 GB."),
    ("The choir is on Mondays.", "The choir moved to Tuesdays, I saw the film about it."),
    ("The premiere is on Monday.", "I saw the movie premiere has been moved to Tuesday."),
    ("My gym costs 30 euros a month.", "The gym went up to 45 euros a month."),
    ("My laptop has 16 GB of RAM.", "I upgraded the laptop to 32 GB."),
    ("The backend listens on port 8080.", "The backend moved to port 9090."),
    ("My sister has two kids.", "My sister has three kids now."),
    ("I weigh 85 kg.", "Weighed myself, down to 81 kg!"),
    ("I weigh 85 kg.", "Down to 81 kg!"),
    ("I live in Porto.", "We moved to Lisbon in March."),
    ("I drive a Golf.", "I sold the Golf."),
    ("My mother-in-law lives in Bath.", "My mother-in-law moved to Leeds."),
    ("My mother-in-law has a dog.", "My mother-in-law gave the dog away."),
    ("My mother lives in Hull.", "My mother died last week."),
    ("My older brother lives in Wien.", "My older brother moved to Graz."),
    ("We deploy with yarn.", "We switched to pnpm last week."),
    ("Meine Chefin ist Frau Klein.", "Meine neue Chefin ist Frau Groß."),
    ("Unsere Warmmiete beträgt 1200 Euro.", "Die Warmmiete ist auf 1300 Euro gestiegen."),
    ("Mein Handyvertrag kostet 20 Euro.", "Der Handyvertrag kostet jetzt 25 Euro."),
    ("Ich wiege 70 Kilo.", "Ich wiege jetzt 65 Kilo."),
    (
        "Die Produktionsdatenbank hat 16 GB Speicher.",
        "Wir haben die Produktionsdatenbank aufgerüstet, sie hat jetzt 64 GB Speicher.",
    ),
    ("Mein Bruder wohnt in Ulm.", "Mein Bruder war hier, er ist nach Trier gezogen."),
    ("Der Zug nach Berlin fährt um 8 Uhr.", "Der Zug nach Berlin fährt jetzt um 9 Uhr."),
    ("Ich fahre einen Golf.", "Den Golf habe ich verkauft."),
    ("Im Büro haben wir 12 Plätze.", "Im Büro haben wir jetzt 20 Plätze."),
    ("私の車の燃費は15キロです。", "車の燃費が18キロになりました。"),
    ("開発サーバーのメモリは8GBです。", "開発サーバーのメモリを32GBに増やしました。"),
    ("私は71キロです。", "68キロになりました。"),
    ("ジムの会費は月3500円です。", "ジムの会費が4000円に上がりました。"),
    ("母は札幌に住んでいます。", "母は函館に引っ越しました。"),
    ("My sister has a dog called Rex.", "Rex died last week."),
    ("My rent is 980.", "My rent is 1040 now."),
    ("We use npm.", "we switched from npm to pnpm"),
    (
        "My doctor has put me on metformin, 500 mg twice a day.",
        "dr okafor has increased the metformin to 850 mg",
    ),
    ("I take metformin 500 mg", "she has increased metformin to 1000"),
    ("I take metformin, 500 mg twice a day.", "she has increased metformin to 1000"),
    ("Dana owns the billing service", "I've taken over billing from Dana as of today"),
    ("Our standup is at 9:45", "standup is at 10 from now on"),
    # by a number or a name
    (
        "My interview at Otto is on November 10 at 9.",
        "The Otto interview was moved to November 12.",
    ),
    ("The rent of unit 2 is 700.", "The rent of unit 2 went up to 800."),
    ("I'm flying to Riga on November 21.", "The Riga flight was moved to November 22."),
    ("My shop is insured with Falk.", "I switched the shop insurance to Sirius."),
    ("The server runs Debian 11.", "The server runs Debian 12 now."),
    # from a labelled thing to another
    ("We live in flat 4.", "We moved to flat 6."),
    ("We live on floor 3.", "We moved to floor 5."),
    ("My desk is desk 12.", "I moved to desk 14."),
    ("I park in space 12.", "I park in space 14 now."),
    ("I take bus 12 to work.", "I take bus 14 now."),
    ("We use Node 18.", "We moved to Node 22."),
)
PARTS = (
    (
        "We keep a piano, a cello and an old harmonium.",
        "We gave the harmonium away.",
        "an old harmonium",
    ),
    (
        "The almonds are in the left drawer, the raisins in the right one.",
        "The raisins are gone.",
        "the raisins in the right one",
    ),
    ("My uncle Otto is 70 and my aunt Vera is 66.", "Otto died in March.", "My uncle Otto is 70"),
    (
        "I subscribe to the Herald, the Courier and the Post.",
        "I cancelled the Courier.",
        "the Courier",
    ),
    (
        "The van takes diesel and the moped takes petrol.",
        "Sold the moped.",
        "the moped takes petrol",
    ),
    (
        "I have a hamster called Pip and a parrot called Coco.",
        "Coco passed away last week.",
        "a parrot called Coco",
    ),
    ("My drill, my sander and my jigsaw are in the shed.", "The sander got stolen.", "my sander"),
    (
        "I pay 30 for the pool, 25 for judo and 18 for the library.",
        "Judo went up to 29.",
        "25 for judo",
    ),
    ("My horse Bela is 12, my pony Nik is 7.", "Bela died last night.", "My horse Bela is 12"),
    (
        "We have two boats: the Anna is at the quay and the Berta is on land.",
        "We sold the Berta.",
        "the Berta is on land",
    ),
    (
        "I own a red kayak, a yellow canoe and a white dinghy.",
        "Sold the yellow one.",
        "a yellow canoe",
    ),
    (
        "Ich habe ein Klavier, eine Geige und eine alte Orgel.",
        "Die Geige habe ich verkauft.",
        "eine Geige",
    ),
    (
        "Die Tomaten stehen im Gewächshaus, die Gurken auf dem Balkon.",
        "Die Gurken sind eingegangen.",
        "die Gurken auf dem Balkon",
    ),
    ("Ich unterrichte Paul, Emma und Nils.", "Nils hat aufgehört.", "Nils"),
    (
        "Ich habe einen Hund namens Bodo und einen Esel namens Fritz.",
        "Fritz ist gestorben.",
        "einen Esel namens Fritz",
    ),
    ("ハナとシロという犬を飼っています。", "シロが亡くなりました。", "シロという犬を飼っています"),
    ("ピアノとバイオリンとギターを持っています。", "バイオリンは売りました。", "バイオリン"),
    ("赤い船は港、青い船は湖にあります。", "青い船は売りました。", "青い船は湖にあります"),
)
"""What is told of several things, of one of them, and what was told of that one."""
WHOLE = (
    ("My dentist, Dr. Bloom, is on Tuesday at 9.", "The dentist was moved to Friday at 10."),
    ("I drive a Golf and love it.", "Sold the Golf."),
    ("I take my coffee with milk and sugar.", "I've given up coffee."),
    ("My dog Rex is 7 and has a limp.", "Rex died last week."),
    ("I own a Trek and a Canyon.", "Sold the Trek and the Canyon."),
    ("The yoga class is on Monday, so I leave at five.", "The yoga class was moved to Tuesday."),
    ("Ich spiele Tennis und liebe es.", "Mit Tennis habe ich aufgehört."),
    (
        "Der Zahnarzt, Dr. Wolf, ist am Montag um 9 Uhr.",
        "Der Zahnarzt wurde auf Freitag verschoben.",
    ),
    ("週末はヨガとピラティスの教室に通っています。", "教室は辞めました。"),
)


@pytest.mark.parametrize(("earlier", "later"), OF_ANOTHER)
def test_what_is_told_of_another_thing_or_person_changes_nothing(earlier: str, later: str) -> None:
    assert change(earlier, later, MOMENTS) is None
    assert contradiction(earlier, later) is None


@pytest.mark.parametrize(("earlier", "later"), OF_THE_SAME)
def test_what_is_told_of_the_same_thing_changes_it(earlier: str, later: str) -> None:
    assert change(earlier, later, MOMENTS) is not None or contradiction(earlier, later) is not None


@pytest.mark.parametrize(("earlier", "later", "part"), PARTS)
def test_what_is_told_of_one_of_several_things_changes_its_part(
    earlier: str, later: str, part: str
) -> None:
    made = change(earlier, later, MOMENTS)
    assert made is not None
    assert (made.replaced, made.is_part) == (part, True)


@pytest.mark.parametrize(("earlier", "later"), WHOLE)
def test_what_is_told_of_all_that_a_sentence_names_changes_the_sentence(
    earlier: str, later: str
) -> None:
    made = change(earlier, later, MOMENTS)
    assert made is not None
    assert (made.replaced, made.is_part) == (earlier, False)


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        (
            "ステージングのDBのメモリは16GBです。",
            "本番のDBのメモリを64GBに増やしました。",
            "ステージングのDBのメモリは何GBですか？",
        ),
        (
            "The rent for my flat is 980.",
            "Ben told me that his rent went up to 1,200.",
            "How much is my rent?",
        ),
        (
            "Mein Zug nach Köln fährt um 8:12 Uhr.",
            "Im Zug nach Köln gibt es jetzt 2 Ruhewagen, wurde umgestellt.",
            "Wann fährt mein Zug nach Köln?",
        ),
        (
            "Der Entwicklungsserver läuft auf Port 8080.",
            "Der Entwicklungsserver ist heute 3 mal abgestürzt.",
            "Auf welchem Port läuft der Entwicklungsserver?",
        ),
    ],
)
def test_what_is_told_of_another_thing_updates_nothing(
    earlier: str, later: str, question: str
) -> None:
    asked = AskedKind.of(question, tokens(question))
    assert update_closeness(read(earlier), read(later), asked) == 0
