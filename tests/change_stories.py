"""Everyday stories: what a person says, what the same person says weeks later, and whether that
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
OF_ANOTHER_THING = [
    # a name, a currency or the first word of a compound in common
    Story(
        "Freya has a dentist appointment on Tuesday at nine.",
        "Freya's violin has been moved to Mondays at half past three.",
    ),
    Story(
        "I pick Freya up at four on Wednesdays.",
        "Freya's violin has been moved to Mondays at half past three.",
    ),
    Story("Freya is at the chess club on Wednesdays.", "Freya's swimming moved to Fridays."),
    Story(
        "The plumber charged us 90 pounds.",
        "The rent goes up to 1,240 pounds from January, it was 1,150.",
    ),
    Story("The rent deposit was 900 pounds.", "The council tax goes up to 190 pounds a month."),
    Story("My gym is 35 euros a month.", "My phone contract went up to 42 euros a month."),
    Story(
        "We sold the Skoda today, Freya and the shopping go in front of the new bike.",
        "Freya's swimming got cancelled.",
    ),
    Story(
        "Liam starts school at half past eight.", "Liam's football training has been moved to six."
    ),
    Story("I meet Priya for lunch on Thursdays.", "Priya's flight was moved to Sunday."),
    Story("Priya gave me a lamp for my desk.", "Priya's lease has ended."),
    Story(
        "Grandma's birthday is on 3 March.", "Grandma's operation has been postponed to 12 March."
    ),
    Story("Tom and I play squash on Fridays.", "Tom's yoga class was moved to Mondays."),
    Story("Mr Okafor teaches me piano, he has a grey cat.", "Mr Okafor's shop has closed."),
    Story("The kitchen light in the flat flickers.", "The kitchen tap has been replaced."),
    Story(
        "Our flat has two balconies and a cellar.",
        "The lift in our flat's building has been replaced.",
    ),
    Story("Luisa loves the swing in the garden.", "Luisa's playdate has been moved to Saturday."),
    Story("The dentist wants 320 pounds for a crown.", "The car insurance went up to 640 pounds."),
    Story(
        "The train to Leeds takes two hours and costs 30 pounds.",
        "The nursery fees went up to 900 pounds.",
    ),
    Story("Freyas Geige steht im Flur.", "Freyas Schwimmen wurde auf Montag verschoben."),
    Story(
        "Freya geht mittwochs um vier zum Turnen.",
        "Freyas Schwimmkurs wurde auf Montag um drei verlegt.",
    ),
    Story("The choir rehearsal is on Sundays at seven.", "The choir outing has been moved to May."),
    Story(
        "My team at work has twelve people.", "My team lunch has been moved to Thursday at noon."
    ),
    Story("Mia has her recital on Friday at six.", "Mia has dropped judo."),
    Story("Ben's school starts at eight.", "Ben's school trip has been moved to 9 June."),
    Story(
        "The school run takes me twenty minutes.",
        "The school fair has been moved to Sunday at ten.",
    ),
    Story("Freya wants a kitten, she asks every morning.", "Freya has stopped with ballet."),
    Story(
        "Freya plays the violin, badly and loudly.",
        "Freya's violin has been moved to Mondays at half past three.",
    ),
    Story(
        "I bought rosin for Freya's violin.",
        "Freya's violin has been moved to Mondays at half past three.",
    ),
    Story("Euan cooks on Wednesdays at six.", "Euan's physio has been moved to Tuesdays at eight."),
    Story(
        "I'm seeing Dr Nakamura on the 14th.",
        "Dr Nakamura's colleague moved my cleaning to the 20th.",
    ),
    Story("Euan and I watch a film every Friday.", "Euan cancelled his gym contract."),
    Story("My sister Ines lives in Porto.", "Ines's book launch was moved to Lisbon on Friday."),
    Story("I run with Ines on Saturdays at eight.", "Ines's shift was changed to Sundays."),
    Story("The Bee Sting cost me 9 pounds.", "The parking permit went up to 12 pounds."),
    Story(
        "Freya's teacher is called Mrs Lowe.",
        "Freya's violin lesson has been moved, with a new teacher called Senga.",
    ),
    Story("Hugo turns six on the 20th.", "Hugo's party got moved to the 22nd."),
    Story(
        "Omar drops off the laundry on Mondays at ten.",
        "Omar's driving test was pushed back to Friday.",
    ),
    Story("I paid Omar 60 euros for the tyres.", "Omar's hourly rate went up to 45 euros."),
    Story("Our hedge touches the school fence.", "The school concert was rescheduled to the 9th."),
    Story(
        "My brother Joel comes round on Sundays at two.",
        "Joel's band practice has moved to Saturdays at three.",
    ),
    Story("Joel lent me his drill.", "Joel's motorbike was stolen."),
    Story(
        "The office plants get watered on Fridays.",
        "The office party has been moved to Thursday the 12th.",
    ),
    Story("The office printer jams daily.", "The office fridge has been thrown out."),
    Story("I swim with Aoife at seven on Tuesdays.", "Aoife's hearing was postponed to Thursday."),
    Story("Aoife is allergic to sesame.", "Aoife's course was cancelled."),
    Story(
        "The vet charged 85 dollars for Biscuit's jabs.",
        "Biscuit's insurance went up to 31 dollars a month.",
    ),
    Story("Biscuit sleeps on the sofa.", "Biscuit's old basket has been thrown away."),
    Story(
        "My aunt Rosa's bakery opens at six.", "Rosa's hip operation was moved to the 3rd at eight."
    ),
    Story("The parking fine was 70 pounds.", "Parking permits go up to 140 pounds in April."),
    Story("Mia's piano exam is on 4 June.", "Mia's swimming gala has been moved to 11 June."),
    Story("The summer fete needs volunteers at eleven.", "The summer concert was moved to four."),
]
OF_THE_THING_ITSELF = [
    Story(
        "Freya's violin lesson is Wednesday at four.",
        "Freya's violin has been moved to Mondays at half past three.",
    ),
    Story(
        "Freya has violin on Wednesdays at four.",
        "Freya's violin has been moved to Mondays at half past three.",
    ),
    Story(
        "The rent is 1,150 pounds a month.",
        "The rent goes up to 1,240 pounds from January, it was 1,150.",
    ),
    Story("Liam has football training at five.", "Liam's football training has been moved to six."),
    Story("The plumber is coming on Tuesday at ten.", "The plumber moved to Thursday at two."),
    Story("Our nursery fees are 850 pounds.", "The nursery fees went up to 900 pounds."),
    Story("My physio is on Mondays at eight.", "My physio has been moved to Tuesdays at nine."),
    Story("Priya's flight lands on Saturday.", "Priya's flight was moved to Sunday."),
    Story("Freya has ballet on Thursdays.", "Freya has stopped ballet."),
    Story("Choir is on Sundays at seven.", "Choir rehearsal has moved to Mondays at seven."),
    Story("Hugo's party is on the 20th at three.", "Hugo's party got moved to the 22nd."),
    Story("We pay 35 euros a month for the gym.", "The gym goes up to 39 euros from March."),
    Story(
        "My dentist appointment is on Tuesday at nine.",
        "The dentist has moved me to Friday at eleven.",
    ),
    Story(
        "Freya hat mittwochs um vier Schwimmkurs.",
        "Freyas Schwimmkurs wurde auf Montag um drei verlegt.",
    ),
    Story("Mia's piano exam is on 4 June.", "Mia's piano exam has been moved to 11 June."),
    Story("Omar's driving test is on Wednesday.", "Omar's driving test was pushed back to Friday."),
    Story(
        "Joel has band practice on Fridays at seven.",
        "Joel's band practice has moved to Saturdays at three.",
    ),
    Story(
        "The office party is on the 5th.", "The office party has been moved to Thursday the 12th."
    ),
    Story("Aoife's hearing is on Tuesday.", "Aoife's hearing was postponed to Thursday."),
    Story(
        "We pay 28 dollars a month for Biscuit's insurance.",
        "Biscuit's insurance went up to 31 dollars a month.",
    ),
    Story("My rent is 900 euros.", "The rent's going up to 950 euros in May."),
    Story(
        "I see my therapist on Mondays at five.", "My therapist has moved me to Wednesdays at six."
    ),
    Story("I ride Joel's motorbike to work.", "Joel's motorbike was stolen."),
    Story("The parents' evening is on the 4th.", "The parents' evening has been moved to the 6th."),
    Story("The yoga class starts at six.", "Yoga has been moved to seven."),
]
