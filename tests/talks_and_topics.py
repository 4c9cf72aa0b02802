"""Thirty short talks of a person with an assistant, and the topics that a profile may name.

Each was written with what a sensible reader would say of it, before a rule was tried on it. A line
is a message; those that begin with "> " are the assistant's. Each block is a day of its own.
"""

from __future__ import annotations

TALKS: dict[str, tuple[str, frozenset[str]]] = {
    "how to answer": (
        """Keep your answers short, please.
        > Understood.

        Your last answers were too long again.
        > Sorry, I will be brief.

        That answer was better, thank you.""",
        frozenset(),
    ),
    "a course at the university": (
        """My lecture on linear algebra starts at nine on Monday.
        > Good luck.

        I have to hand in the essay for my seminar, and the professor is strict.

        I failed the physics exam at the university, so I repeat it in autumn.""",
        frozenset({"education"}),
    ),
    "classes in code": (
        """The class Invoice has too many methods, how do I split it?
        > Move the printing into another class.

        My class does not compile, it says abstract class.

        Which class should hold the database connection?""",
        frozenset({"technology"}),
    ),
    "a knee": (
        """My knee hurts when I climb stairs.
        > See a doctor if it lasts.

        The doctor says it is an inflammation and gave me pills.

        Physiotherapy for the knee begins next week.""",
        frozenset({"health"}),
    ),
    "three errands": (
        """Remind me to call the plumber.

        The parcel has arrived at last.

        What is a good present for a colleague who leaves?""",
        frozenset(),
    ),
    "degrees and history": (
        """How many degrees is it in Cairo today?

        Please delete my browser history.

        What is the grade of this steel?""",
        frozenset(),
    ),
    "running a marathon": (
        """I ran ten kilometres this morning, my longest run so far.

        My training plan for the marathon has four runs a week.

        Which stretching is good after a long run at marathon pace?""",
        frozenset({"fitness"}),
    ),
    "a server that runs": (
        """The server is running again.

        The job has been running for two hours.

        I left the tap running all night.""",
        frozenset(),
    ),
    "sourdough": (
        """My sourdough starter does not rise.
        > Feed it twice a day.

        The bread came out flat, the dough was too wet.

        Today I baked a loaf with rye flour and it was delicious.""",
        frozenset({"food"}),
    ),
    "food for thought": (
        """That is a piece of cake for you.

        His speech was a recipe for disaster.

        I have a lot on my plate this week.""",
        frozenset(),
    ),
    "moving to Leeds": (
        """We signed the lease for the flat in Leeds.

        The landlord wants two months of rent in advance.

        How do I get a sofa through a narrow door of the apartment?""",
        frozenset({"home"}),
    ),
    "an interview": (
        """I have an interview at Bosch on Friday.

        My manager does not know that I look for another job.

        The recruiter called, they want me to begin in May at a higher salary.""",
        frozenset({"work"}),
    ),
    "songs and bands": (
        """Our band plays a concert on Saturday.

        I practise guitar every evening.

        Which chords go with this song in E minor?""",
        frozenset({"music"}),
    ),
    "a rubber band": (
        """Where did I put the rubber bands?

        The band around my watch is broken.

        The chart shows a wide band of prices.""",
        frozenset(),
    ),
    "a trip to Japan": (
        """We fly to Osaka in April.

        Is our hotel in Kyoto near the station?

        I still need a rail pass and a visa for the trip.""",
        frozenset({"travel"}),
    ),
    "one talk of each": (
        """The cat was sick last night.

        I paid the electricity bill.

        Dune was a great film.""",
        frozenset(),
    ),
    "the cat": (
        """The cat was sick, I took her to the vet.

        Our kitten scratches the sofa.

        Which litter is best for two cats?""",
        frozenset({"pets"}),
    ),
    "translations": (
        """Translate "good morning" into Polish.

        How do you say "cheese" in Italian?

        What does "Feierabend" mean?""",
        frozenset(),
    ),
    "learning Spanish": (
        """I have a Spanish lesson twice a week.

        My teacher says that my pronunciation is good.

        I mix up the tenses of Spanish verbs, can you give me some homework?""",
        frozenset({"education"}),
    ),
    "questions about everything": (
        """How high is Mount Everest?

        Who painted the Mona Lisa?

        When was the French Revolution?""",
        frozenset(),
    ),
    "thanks": (
        """Thank you!

        That helped a lot.

        Great, see you tomorrow.""",
        frozenset(),
    ),
    "a poem": (
        """Write me a poem about autumn.

        Make it shorter and without rhymes.

        Now a title for it, please.""",
        frozenset(),
    ),
    "a budget": (
        """I want to save 300 euros a month, how do I plan my budget?

        Is a pension fund worth it at forty?

        My loan costs four percent interest, should I pay the debt first?""",
        frozenset({"money"}),
    ),
    "interest and sharing": (
        """I have no interest in football talk.

        Can you share the document with Ben?

        I save every file twice.""",
        frozenset(),
    ),
    "a garden": (
        """The slugs ate all my seedlings.

        When do I plant tomatoes outside?

        I put compost on the beds and pruned the roses.""",
        frozenset({"gardening"}),
    ),
    "plans and plants": (
        """The power plant near us is closed.

        My plan is to leave at six.

        The seeds of doubt are sown, he said.""",
        frozenset(),
    ),
    "a person and a job apart": (
        """My sister has a new boyfriend.

        I changed the password of the router.

        It rained all day.

        My exam is in June.""",
        frozenset(),
    ),
    "books": (
        """I finished the new novel by Ali Smith.

        My book club meets on Tuesday, we read poems.

        Which author writes like Ishiguro? I like slow books.""",
        frozenset({"reading"}),
    ),
    "booking and booked": (
        """Book a table for two at eight.

        I booked the car for inspection.

        The hall is booked until May.""",
        frozenset(),
    ),
    "an assistant that lectures": (
        """What shall I do on Sunday?
        > You could study for an exam, read a book on history, or take a class at the university.

        And on Monday?
        > A lecture at the college, or a language course with a good teacher.

        And after that?
        > Homework, a seminar and an exam at school.""",
        frozenset(),
    ),
}
