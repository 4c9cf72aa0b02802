"""The second half of Nora's month: she moves to Lisbon, finds another job, and gives
her diet up.
"""

TALKS = """
day 15 11:30 home
I have decided to leave Berlin and look for a flat in Lisbon.
> The old map had something to tell you after all!
It had, and Olga will take over my flat with the balcony.
> So the balcony stays in good hands.
The cat comes with me, of course, in a proper travel box.
> Miso will see the sea.

day 15 18:00 running
I walked five kilometres today instead of running, my lungs are still weak.
> That is the right pace after a cold.
I will run again on Tuesday if my chest is clear.
> Start with three kilometres and no hills.
Lisbon has a lot of hills, so I should get used to running on hills.
> The river bank there is flat, you can run there first.

day 16 17:10 family
I call my sister every Sunday. Today I told her that I will move.
> What did Hannah say?
She cried, and then she laughed, and she and the boys will visit me in August.
> And your mother?
My mother said that the cake must come to her birthday all the same.
> The hazelnut cake is a promise, then.

day 16 20:50 kitchen
I emptied the freezer and ate the last of the aubergine stew with bread.
> A good goodbye to the freezer.
I gave the big pot to Olga, it is too heavy to carry to another kitchen.
> You will find another pot in Lisbon.
I like cooking in small kitchens anyway.
> Then a small flat will do.

day 17 09:30 home
I packed nine boxes of books today and my back complains.
> How many boxes are left to pack?
Four more, and the movers come tomorrow for all of it.
> Label the boxes before they leave.
I wrote the names of the rooms on every box, although I don't know the rooms yet.
> That is true optimism.

day 17 20:00 portuguese
I practised my Portuguese on the phone with the man who lets the flat.
> How brave! Did the lessons help?
They did, he said that it is on the third floor without a lift.
> Your Portuguese is better than you think.
My teacher taught me the word for stairs in the last lesson, which is the important one.
> Escadas, you will use that word often.

day 18 07:10 running
I run every Tuesday before breakfast. My first run after the cold was four kilometres.
> A good run to say goodbye to the park.
My legs were fine, my lungs were slow, the new shoes are great.
> Be patient with the lungs.
I will miss this park, I ran here for nine years.
> The park will miss you too.

day 18 15:30 home
The movers came today and all the boxes are gone.
> How does the empty flat feel?
It echoes, and the cat walks around as if she had lost something.
> She will understand when she smells her blanket again.
We fly tomorrow morning, I have the tickets and the travel box.
> Have a safe flight, both of you!

day 19 19:00 home
I moved to Lisbon today!
> Welcome to your new city! How was the flight?
Miso slept through the whole flight, I did not.
> And the new flat?
The flat is small and white, and from the kitchen window I see the river.
> The map was right.

day 20 11:20 home
My home is in Lisbon now and I still have no curtains.
> The neighbours have surely noticed.
The neighbour downstairs brought me a lemon cake and a list of plumbers.
> That is a real welcome.
The boxes arrive on Friday, until then I sleep on a mattress.
> Camping in your own flat, then.

day 20 18:20 portuguese
I spoke Portuguese all day, in the shop, at the bakery, with the neighbour.
> How did it go?
It was one long lesson, and only the numbers still trip me.
> Sixteen and seventeen again?
Sixteen and seventeen, my teacher Teresa would laugh.
> She would be proud of you all the same.

day 21 12:15 kitchen
I ate grilled sardines today, and I was happy.
> So the diet is over?
I'm not vegan anymore. The smell of fish was stronger than my plan.
> Sixteen days are an honest try.
I still cook mostly vegetables, but I eat fish again.
> Then let us find recipes with fish and vegetables.

day 21 09:10 work
I applied for three jobs here in Lisbon and updated my CV.
> Which job would you like best?
The one at Northwind, they are looking for an editor and the salary is fair.
> An editor, that is close to your wish.
I also wrote a page about why I left my old job, and deleted half of it.
> A short resume gets read.

day 22 10:00 running
I ran along the river this morning, five flat kilometres.
> How was the first run in the new city?
Warm, bright, and full of other runners and dogs.
> Drink enough water when you run there.
I like running by the water.
> You have chosen the right city for it.

day 22 16:40 home
The boxes arrived and one of them had the rooms wrong.
> Which one?
The box for the kitchen was full of books, so I cooked with the wrong pans.
> And where were the pans?
Under the cat's blanket, in the box with the word study on it.
> Miso found her blanket, that is what counts.

day 23 17:00 family
I call my sister every Sunday. Today I showed her the view from here.
> What did Hannah and the boys like best?
My sister liked the river, and the boys liked that nobody else has to sleep in their room.
> August is not far away.
My mother wants to come too, the family will fill the whole flat.
> You will need that big pot after all.

day 23 20:30 kitchen
I cooked cod with potatoes and olives for the neighbour tonight.
> How was your first Portuguese dinner?
A bit salty, I did not soak the cod for long enough.
> A day and a half in water, with a change of water.
I wrote it into my recipe book, with three exclamation marks.
> The next cod will be perfect.

day 24 14:00 work
I had an interview at Northwind today.
> How did the interview go?
We talked about books for an hour and about money for a minute.
> That is a good sign for an editor.
They will call me this week, I left my phone on loud.
> Fingers crossed for the job.

day 24 21:00 health
My back hurts from all the boxes and the stairs.
> Did you lift heavy things?
Only four boxes of books up to the third floor.
> Warmth and a short walk will help your back.
I did the stretches that my doctor showed me last year.
> Do them every evening this week.

day 25 07:20 running
I run every Tuesday before breakfast. Today it was six kilometres.
> How is the back?
The back is fine, the running loosened it.
> And the hills?
I walked up the last hill, nobody saw it but a cat.
> Walking up a hill is good training too.

day 25 13:10 work
Northwind called! I start as an editor there on Thursday.
> Congratulations on the new job!
The contract is for two years and the office is ten minutes away.
> What will be your first book?
A novel by a young writer from Leipzig, four hundred pages.
> No valves in it, I hope.

day 26 18:45 portuguese
My Portuguese lesson with Teresa is online now, still on Wednesdays.
> How was the lesson?
She noticed that I swallow the vowels like the people here.
> That is the local music in your ear.
We practised how to introduce myself at the office.
> Tomorrow you can use it.

day 27 19:15 work
I work as an editor at Northwind now.
> How was the first day at work?
I met eleven people and I remember four names.
> That is a good start. Is there a coffee machine?
There is, and it is one of those whose manual I translated.
> The world of valves is small.

day 27 21:00 home
I bought yellow curtains for the flat today.
> The neighbours will be sad or relieved.
Miso climbed them at once, up to the ceiling.
> Then they are well tested.
The flat feels like mine now.
> That is what curtains are for.

day 28 12:30 work
I read the first fifty pages of the novel in the office today.
> Is the novel good?
It is, but the writer loves commas more than I do.
> An editor's first battle.
We will meet the writer in the office next week.
> Bring cake to the meeting.

day 28 20:20 kitchen
My cat is called Mochi on the vet's card, can you believe it?
> What happened?
The vet misheard me. Miso is the name, and Miso it stays.
> Poor Miso, renamed by a stamp.
I made fish soup for both of us, hers without pepper.
> A soup for two.

day 29 09:45 running
I ran eight kilometres along the river, my longest run since the cold.
> That is wonderful! How do you feel?
Proud, hungry, and a bit sunburnt on the nose.
> Take a cap on your next run.
I signed up for the half marathon in Lisbon in October.
> Then the training starts for real.

day 29 18:30 family
I talked to my sister and my mother about the birthday next week.
> Is the cake still a promise?
It is, my mother asked for it twice and the boys asked for it ten times.
> And the whole family will be there?
All of us, even the uncle who never leaves his village.
> Have a wonderful day with your family.
"""
