"""Conversations of one to four topics, written for these tests: `u:` is the user, `a:` the
assistant, `---` is where the topic changes.

The rules were tuned on `TUNED` and are judged on `UNSEEN`. Note: a
greeting or a thank-you belongs to the topic beside it, never to one of its own.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from memory_core.domain.conversation import Message

START = datetime(2026, 5, 4, 9, 0, tzinfo=timezone.utc)

TUNED = """
u: Hi there!
a: Hello, how can I help?
u: My sourdough starter does not rise any more.
a: How often do you feed the starter?
u: Once a day, with rye flour.
a: Feed it twice a day and keep the jar warm.
---
u: By the way, I'm flying to Lisbon next month.
a: How nice, is the trip for work or for pleasure?
u: For a conference, but I stay for the weekend. Which hotel is close to the airport?
a: There are several hotels near the airport, with a metro line to the centre.
u: I'd rather sleep in the centre and take the metro to the airport.
a: Then look for a hotel near Rossio station.
===
u: Can you help me with a bug in my Python script?
a: Sure, what does the error say?
u: It raises a KeyError when the config file is empty.
a: Use dict.get with a default, or check the config file first.
u: dict.get worked, the script runs now.
a: Great! Add a test for the empty config file too.
u: Good idea, I wrote the test with pytest.
a: Well done.
===
u: I need ideas for my daughter's birthday party.
a: How old will your daughter be?
u: She turns seven and loves dinosaurs.
a: A dinosaur treasure hunt in the garden could be fun for the party.
u: Lovely. We have a big garden and ten kids are coming.
a: Then make two teams of five kids for the treasure hunt.
---
u: I also have to renew my passport this week.
a: Does the passport expire soon?
u: Yes, in June. Which documents do I need at the office?
a: Bring the old passport, a photo and your ID card to the office.
---
u: Changing the subject: my knee hurts when I run.
a: Where does the knee hurt, at the front or at the side?
u: At the side, after about five kilometres of running.
a: That may be the iliotibial band. Run less for two weeks and stretch.
===
u: What should I cook tonight? I have chickpeas and spinach.
a: A chickpea curry with spinach is quick to cook.
u: I don't have coconut milk for the curry.
a: Use yoghurt instead, stirred into the curry at the end.
u: Sounds delicious, thanks.
---
a: Anyway, did you finish the quarterly report for your manager?
u: Not yet, the sales numbers are missing.
a: Who has the sales numbers?
u: My colleague Petra, but she is on holiday until Thursday.
a: Then tell your manager that the report will be ready on Friday.
===
u: I started learning the violin.
a: How exciting! Do you have a teacher?
u: Yes, I have a lesson every Tuesday, and I practise scales at home.
a: Scales are the best way to learn clean intonation on the violin.
u: My bow arm gets tired though.
a: Relax the shoulder of the bow arm, and practise in front of a mirror.
u: My teacher says the same about the shoulder.
a: Your teacher is right.
===
u: Our cat Minka stopped eating yesterday.
a: Is the cat drinking water?
u: She drinks a little, but she hides under the bed.
a: Call the vet today, cats should not go without food for long.
u: The vet has an appointment at four.
a: Good, take the cat there in a carrier.
---
u: Let's talk about my savings now.
a: What would you like to do with the savings?
u: I want to invest some money in an index fund.
a: Check the yearly costs of the fund before you invest.
u: The fund costs 0.2 percent a year.
a: That is cheap for an index fund.
===
u: Which laptop should I buy for video editing?
a: One with at least 32 GB of memory and a good graphics card.
u: My budget for the laptop is 1800 euros.
a: In that budget look at laptops with a Ryzen 9 and a good graphics card.
---
u: And what film could we watch on Sunday evening?
a: Do you prefer a comedy or a thriller?
u: A comedy, my parents are watching with us.
a: Then a classic comedy, not too loud, would suit your parents.
---
u: I have to plant the tomatoes this weekend.
a: Are the nights warm enough for tomatoes in your garden?
u: It is about ten degrees at night in the garden.
a: Ten degrees is fine, but cover the tomato plants in the first nights.
---
u: Oh, before I forget: my neighbour plays loud music every night.
a: Have you talked with the neighbour about the music?
u: Twice, and the landlord does nothing.
a: Write down when the music is loud and send the list to the landlord.
===
u: Hallo!
a: Hallo, wie kann ich helfen?
u: Mein Fahrrad macht komische Geräusche.
a: Kommen die Geräusche von der Kette oder von der Bremse des Fahrrads?
u: Von der Kette, glaube ich.
a: Dann öle die Kette und putze sie vorher.
---
u: Übrigens, ich suche eine neue Wohnung in Hamburg.
a: Wie groß soll die Wohnung sein?
u: Zwei Zimmer, höchstens 900 Euro Miete.
a: Bei 900 Euro Miete musst du in Hamburg schnell sein.
===
u: I'm preparing a talk about climate change for my geography class.
a: How long is the talk?
u: Fifteen minutes, and I have thirty slides.
a: Thirty slides are too many for fifteen minutes, take twelve slides.
u: Which slides would you cut from the talk?
a: Cut the history of climate science, and keep the charts.
u: The charts are about sea level and temperature.
a: Those charts carry the talk well.
u: Thanks, I'll cut the slides tonight.
a: Good luck with the talk in class!
===
u: The heating in our flat is broken again.
a: Did you tell the landlord about the heating?
u: He says the boiler is old but works.
a: Ask him for a date by which the boiler is repaired.
u: I'll write him an email about the boiler.
---
u: My brother got engaged on Saturday!
a: Congratulations to your brother! When is the wedding?
u: In September, by the lake where they met.
a: A wedding by the lake sounds wonderful. Are you the best man?
u: Yes, so I have to give a speech at the wedding.
===
u: How do I deploy the container to Kubernetes?
a: Write a deployment with your image and apply it with kubectl.
u: The pod restarts all the time.
a: Look at the logs of the pod with kubectl logs.
u: The logs say that the database password is missing.
a: Put the password in a secret and mount it in the deployment.
---
u: Is it normal to be nervous before a job interview?
a: Very normal. What is the interview for?
u: A senior developer role at a bank.
a: Prepare three stories about your work that show what you can do in that role.
u: I'm good at stories, but salary talk scares me in interviews.
a: Say a range for the salary, and be silent afterwards.
===
u: I adopted a dog from the shelter, he is called Bruno.
a: How lovely! What breed is Bruno?
u: A mix of beagle and something bigger. He pulls on the leash.
a: Stop walking whenever the dog pulls on the leash.
u: And he barks when he is alone.
a: Leave him alone for one minute first, then longer, so that the barking stops.
u: Bruno slept through the night at least.
a: A dog that sleeps is a dog that trusts you.
===
u: Good morning
a: Good morning!
u: How are you?
a: I'm fine, thanks. And you?
===
u: I want to read more novels this year.
a: Which novels did you like in the past?
u: I loved family sagas, long ones.
a: Then read sagas by Scandinavian authors, they write long novels.
---
u: My back hurts from sitting at the desk all day.
a: Get up every half hour and check the height of the desk.
u: The desk can't be adjusted.
a: Then put the screen higher, so that your back stays straight.
---
u: What's the capital of Mongolia?
a: Ulaanbaatar is the capital of Mongolia.
u: How many people live in Ulaanbaatar?
a: About 1.6 million people, half of Mongolia.
"""

UNSEEN = """
u: My tax return is due and I can't find the form.
a: Which form do you need for the tax return?
u: The one for freelance income.
a: It is annex S. You can fill it in online with your tax number.
u: I have the tax number here.
a: Good, then start the online form.
---
u: By the way, do you know how to get red wine out of a carpet?
a: Put salt on the wine at once, then rinse the carpet with cold water.
u: The stain is from yesterday.
a: Then try baking soda with vinegar on the stain.
u: It worked, the carpet is clean.
a: Great.
===
u: I'm training for the Berlin marathon.
a: How many kilometres do you run each week?
u: About forty, with one long run on Sunday.
a: Raise the long run by two kilometres every week until the marathon.
u: I had shin pain last year when I raised it too fast.
a: Then add a rest day after the long run.
u: And what should I eat before a long run?
a: Oats and a banana two hours before the run.
===
u: We want to paint the nursery before the baby comes.
a: Which colour would you like for the nursery?
u: A soft green, with white shelves.
a: Use a paint without solvents for the baby's room.
---
u: I also got promoted at work last week!
a: Congratulations! What is your new role?
u: I lead the design team, five people.
a: Talk with each person of the team in the first two weeks.
u: I planned those meetings already.
a: A good start for a team lead.
===
u: Explain recursion to me please, with an example.
a: A function that calls itself. For example the factorial function calls itself with n minus one.
u: When does the function stop?
a: At the base case, where n is one. Without a base case recursion never stops.
u: So the base case is the most important line.
a: Exactly, write the base case first.
===
u: Where can I see whales in Iceland?
a: From Húsavík, boats leave every morning to see whales.
u: Is June a good month for whales?
a: Yes, June and July are the best months in Iceland.
---
u: I need a gift for my mother, she turns sixty.
a: What does your mother like?
u: She paints watercolours and drinks a lot of tea.
a: A set of good watercolour brushes would be a fine gift for her.
---
u: Switching topics, my phone battery dies by noon.
a: How old is the phone?
u: Three years, and the battery says 78 percent health.
a: A new battery costs about 80 euros and the phone is like new.
===
u: The bakery where I work wants to open on Sundays.
a: How do you feel about working on Sundays?
u: I don't like it, because my kids are home then.
a: Tell the owner of the bakery that you can work every second Sunday.
u: That could work for the kids too.
---
u: Have you heard of the new museum of modern art?
a: Yes, the museum opened in April with a photography exhibition.
u: I love photography. Are there tickets for the exhibition on Saturday?
a: Tickets for Saturday are sold out, but Friday evening is free.
u: Friday evening then.
===
u: My chess rating does not move above 1500.
a: Do you analyse your chess games after you lose?
u: Rarely. I mostly play blitz.
a: Play slower games and analyse each one, that lifts the rating.
u: Which opening should I play with white?
a: The Italian game is a sound opening for white at your rating.
===
u: Je cherche un cours de poterie à Lyon.
a: Vous avez déjà fait de la poterie ?
u: Non, je suis débutante, mais j'aime travailler la terre.
a: Il y a un atelier de poterie près de la gare, avec un cours pour débutants.
---
u: Au fait, mon ordinateur est très lent depuis hier.
a: Avez-vous installé quelque chose sur l'ordinateur hier ?
u: Une mise à jour, je crois.
a: Redémarrez l'ordinateur, la mise à jour n'est peut-être pas finie.
===
u: I forgot the password of my router.
a: You can reset the router with the small button on its back.
u: The reset worked, and I set a new password.
a: Write the password down in a password manager.
---
u: My grandmother fell yesterday and broke her hip.
a: I'm sorry to hear that. Is your grandmother in hospital?
u: Yes, they operated on the hip this morning.
a: After a hip operation people usually stay in hospital for a week.
u: I'll visit her in hospital tomorrow.
a: She will be happy about your visit.
---
u: Can you recommend a podcast about history?
a: Do you prefer ancient history or modern history?
u: Ancient, Rome above all.
a: Then there is a long podcast on the history of Rome, from the kings to the end.
===
u: hey
a: Hi! What's up?
u: i'm so tired of my commute
a: How long is the commute?
u: ninety minutes each way, the train is always late
a: Could you work from home two days a week, to skip the train?
u: i asked, my boss wants everybody in the office
a: Then ask for one day from home, and show your boss that it works.
===
u: Which bike should I get for the commute to the office?
a: How far is the office?
u: Nine kilometres, with two hills.
a: An electric bike makes the hills easy.
u: Electric bikes are heavy to carry to the cellar.
a: Some electric bikes weigh only fifteen kilos.
---
u: On another note, my son is scared of thunder.
a: How old is your son?
u: Four. He cries whenever there is a storm.
a: Count the seconds between lightning and thunder with him, that makes a storm a game.
u: What a nice idea, I'll try it in the next storm.
===
u: I'd like to learn some Italian before the summer.
a: How much time do you have each day for Italian?
u: Twenty minutes in the evening.
a: Then do ten minutes of vocabulary and ten minutes of listening to Italian.
u: My vocabulary is very small.
a: Learn the thousand most frequent words of the vocabulary first.
---
u: My mother-in-law is coming for dinner on Friday.
a: What would you like to cook for the dinner?
u: Lamb, but she is a vegetarian.
a: Then cook a mushroom risotto, which suits a vegetarian and is festive enough.
u: The risotto it is.
---
u: Does a bank have to replace a stolen credit card for free?
a: Usually yes, when you report the stolen card at once.
u: I reported the card within an hour.
a: Then the bank should replace the credit card without a fee.
===
u: Hola, quiero cambiar de trabajo.
a: Hola, ¿qué trabajo tienes ahora?
u: Soy camarero, pero quiero un trabajo de oficina.
a: Prepara primero tu currículum para un trabajo de oficina.
---
u: Por cierto, ¿qué puedo hacer contra el insomnio?
a: ¿A qué hora te acuestas?
u: A la una, y duermo muy mal.
a: Acuéstate siempre a la misma hora y deja el café, así duermes mejor.
===
u: I planted roses along the fence.
a: Which roses did you plant?
u: Old climbing roses, white ones. The leaves have black spots.
a: Black spots are a fungus. Remove the leaves and water the roses only at the roots.
u: I removed the leaves with black spots.
a: Good, and do not put the leaves on the compost.
u: Too late, they're on the compost heap.
a: Then take them off the heap again.
===
u: The printer in the office shows paper jam.
a: Open the back of the printer and pull the paper out slowly.
u: There is no paper in it.
a: Then clean the sensor of the printer with a soft brush.
---
u: What do you think about adopting a second cat?
a: How does your first cat react to other cats?
u: She is calm and curious with other cats.
a: Then a second cat of the same age could work well.
---
u: My landlord raised the rent by 15 percent.
a: When was the rent raised the last time?
u: Four years ago.
a: In most cities 15 percent in four years is allowed, but the landlord must write to you.
---
u: Anyway, what was the name of the song with the whistling?
a: Do you remember where you heard the song?
u: In a commercial for a car, around 2012.
a: Many songs of that year have whistling. Can you hum the song?
"""


def conversations(text: str) -> list[tuple[list[Message], list[int]]]:
    """(messages, the numbers of the messages after which the topic changes) of each conversation;
    a message every 30 seconds.
    """
    read_conversations = []
    for block in text.strip().split("==="):
        messages: list[Message] = []
        cuts: list[int] = []
        for line in block.strip().splitlines():
            if line == "---":
                cuts.append(len(messages) - 1)
                continue
            role, content = line.split(": ", 1)
            when = START + timedelta(seconds=30 * len(messages))
            messages.append(
                Message(
                    role="user" if role == "u" else "assistant", content=content, timestamp=when
                )
            )
        read_conversations.append((messages, cuts))
    return read_conversations
