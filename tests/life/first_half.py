"""The first fifteen days of a month in Nora's life: Berlin, a job that she leaves,
a diet that begins, a cold.
"""

TALKS = """
day 0 09:10 home
Good morning! My name is Nora and I live in Berlin.
> Good morning, Nora! How long have you been there?
Nine years by now, in a small flat with a balcony full of tomato plants.
> That sounds lovely. Who waters them?
I do, every evening. I have a cat called Miso who sleeps between the pots.
> Miso sounds like good company.

day 0 13:05 work
I work as a translator at Fabrikam.
> What do you translate there?
Mostly manuals for coffee machines, from English into German.
> That must take patience.
My boss wants the next manual finished on Friday, so I have a deadline at work.
> Then let us keep the afternoon free for it.

day 1 10:30 kitchen
I'm vegetarian, so please suggest dinners without meat.
> Gladly. Do you like lentils?
I like lentils, and I like aubergines even more.
> Then an aubergine and lentil stew could be your dinner.
I will cook it in the big pot and freeze half of the stew.
> Good plan, it keeps for a month.

day 1 18:40 running
I went for a run in the Tiergarten this afternoon, six kilometres.
> Well done! How was it?
Slow, but the park was green and my knee did not hurt.
> A slow run is a good run when the knee is quiet.
I like running in the rain best.
> Berlin will give you plenty of that.

day 2 17:30 family
I call my sister every Sunday. My sister is called Anna.
> What did you two talk about today?
No, I meant Hannah. My fingers are faster than my head.
> Hannah it is. What did you talk about?
Her garden, her two boys, and the birthday of our mother in June.
> A good Sunday call, then.

day 2 20:15 kitchen
The aubergine stew was a success, even the cat looked interested.
> Did you keep to the recipe?
Almost, I used more cumin and a bit of lemon in the stew.
> Lemon at the end is a good habit.
I hate coriander, so never put that into a recipe for me.
> Noted, no coriander.

day 3 08:20 work
The manual for the coffee machine has ninety pages and I have translated forty.
> Then you are nearly half way through.
The terminology is the hard part of this translation, there are five words for valve.
> A glossary might save you time.
I made a glossary this morning and sent it to my boss.
> A good start to the week at work.

day 3 21:00 home
The tomato plants on the balcony have their first flowers.
> That is early for May!
The balcony faces south, so the flat gets warm quickly.
> Watch out for Miso and the soil.
She digs in the pots at night, I found soil on the carpet.
> A few stones on the soil may stop her.

day 4 07:30 running
I run every Tuesday before breakfast. Today it was seven kilometres.
> How was the pace?
A bit under six minutes per kilometre, which is good for me.
> That is a solid training run.
I want to run a half marathon one day.
> Then Tuesday runs are the right base.

day 4 19:30 portuguese
I am learning Portuguese with an app.
> How far have you got?
I can order coffee and ask for the bill, the verbs are harder.
> The past tense needs some patience.
My Portuguese lesson with a real teacher is on Wednesdays.
> Then we can prepare the lesson together.

day 5 18:30 portuguese
My Portuguese lesson was fun today, we practised numbers.
> Which numbers gave you trouble?
Sixteen and seventeen, I mix them up in Portuguese all the time.
> Dezasseis and dezassete, it takes a while.
My teacher is called Teresa and she laughs a lot.
> A teacher who laughs is half the lesson.

day 5 21:10 kitchen
I went vegan today, for good reasons and with some fear about cheese.
> What made you start?
A film about cows, and a friend who cooks very well without milk.
> Then your dinners will need a few new recipes.
I made a tofu curry with coconut milk tonight and it was better than expected.
> Coconut milk forgives a lot.

day 6 12:40 work
My boss liked the glossary, but the deadline moved to tomorrow.
> Will you finish the translation?
Only if nobody calls me, twelve pages are left.
> Turn the phone off for the afternoon.
I will, the coffee machine manual must be done at last.
> Good luck with the last pages.

day 6 20:30 running
I bought new running shoes today, blue ones with a softer sole.
> Did you try them on a treadmill?
Yes, the shop filmed my stride while running, I roll inward a little.
> Then the softer sole will help your knee.
I will run with the new shoes on Tuesday.
> Break them in slowly.

day 7 17:50 work
The manual is finished and I am so tired of valves.
> Congratulations, that was a long translation!
My boss already has the next manual for me, for a dishwasher.
> Do you want to translate it?
Honestly no, I have been thinking about this job for months.
> Then it may be time to talk about it.

day 8 11:00 home
I cleaned the whole flat today and found three of the cat's toys under the sofa.
> Miso must be delighted.
She carried them all onto the balcony, one by one.
> What else did you find?
An old map of Lisbon from a holiday, I hung it above the desk.
> Perhaps the map wants to tell you something.

day 8 19:20 kitchen
My friend Olga came for dinner and I made a vegan chili.
> Did she like the chili?
She had three plates, and she is not easy to please at dinner.
> That is praise. What was in it?
Black beans, smoked paprika, dark chocolate and a lot of patience.
> Chocolate in chili is a fine trick.

day 9 17:20 family
I call my sister every Sunday. Today it was a whole hour.
> How is your sister?
Hannah is planning the birthday of our mother, the whole family will come.
> What will you bring for your mother?
I promised her boys and my mother a cake with hazelnuts, a vegan one.
> Your family is in for a surprise.

day 9 21:30 health
I have a cold and my nose is running.
> I am sorry to hear that. Do you have a fever?
No fever, only a headache and a sore throat.
> Tea and sleep will help against the cold.
I will go to bed early and skip work tomorrow if it gets worse.
> Get well soon, Nora.

day 10 10:15 health
The cold is worse today, I slept badly and my throat hurts.
> Please stay in bed.
I called the doctor and the doctor said to rest for three days.
> That sounds wise.
I drink ginger tea with honey, no wait, honey is not vegan.
> Agave syrup does the same for the throat.

day 10 16:00 work
I told my boss that I am sick and he asked about the dishwasher manual.
> That was not very kind.
No, and it helped me to decide something about this job.
> What did you decide?
I will write my resignation letter as soon as my head is clear.
> Sleep first, then write the letter.

day 11 09:00 running
No run this Tuesday because of the cold, which feels strange.
> Your legs will not forget how to run.
I looked at the half marathon in Lisbon instead, it is in October.
> That would be a fine first race.
I like the idea of running along the river there.
> Five months are enough to train for the race.

day 11 20:00 kitchen
I made a vegetable soup with ginger for my throat.
> A good dinner for a cold. Did it help?
It did, and the soup is enough for three days.
> Soup is the best medicine for a tired cook.
I like soup with a lot of pepper.
> Pepper clears the nose too.

day 12 18:10 portuguese
I had the Portuguese lesson at home today, in front of the screen.
> How did it go with a cold?
My nose made my Portuguese sound better, said Teresa.
> Nasal vowels, of course!
We practised the past tense and how to ask polite questions.
> That sounds like a very practical lesson.

day 13 09:40 work
I quit my job at Fabrikam.
> That is big news! How do you feel?
Light, and a little frightened when I think of the rent.
> When is your last day at work?
My last day is on Friday because I have so much holiday left.
> Then a new chapter begins soon.

day 13 19:45 home
I looked at the rent of my flat and at my savings this evening.
> What did the numbers say?
My savings are enough for five months if I cook at home.
> That leaves you some time to look around.
My friend Olga says I should move somewhere warm.
> What do you say?

day 14 10:20 work
It was my last day at work and they gave me a coffee machine.
> After all those manuals, how fitting!
I know every valve of it by name.
> What will you do next for work?
I want to work with books, not with manuals.
> A publishing house might suit you, then.

day 14 21:15 health
The cold is nearly gone, I can smell the coffee again.
> That is good to hear.
I will rest over the weekend until the cough is gone, and then try a short walk.
> A walk in fresh air will do you good.
I feel healthy enough to be bored, which is a good sign.
> Boredom is the first day of health.
"""
