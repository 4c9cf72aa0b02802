"""A made-up life of daily chats with an assistant, out of a seed: facts told once, truths that
change, plans and much small talk.

Every month has one fact of each kind, so that the questions of all months are equally hard. Note:
what an assistant answers never repeats a fact; each has a single turn as its evidence.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone

from bench.locomo_data import Turn
from bench.yardstick.told import ASSISTANT
from bench.year.lives import MONTHS, YEAR, Asked, Chat, Life

BEGAN_AT = datetime(2025, 1, 6, tzinfo=timezone.utc)
EVENING = 20
"""The hour of a chat. Note: months begin at even hours, and no chat may go on over one of these."""
CHANGED_AFTER = MONTHS // 2
"""Months after which a truth changes, and its new value is told."""
USER = "user"
NAME = "daily chats"

PEOPLE = (
    "sister", "neighbour", "boss", "cousin", "uncle", "flatmate", "landlady", "grandmother",
    "best friend", "colleague", "nephew", "tutor",
)  # fmt: skip
PETS = (
    "tortoise",
    "parrot",
    "spaniel",
    "hamster",
    "ferret",
    "kitten",
    "goat",
    "rabbit",
    "pony",
    "iguana",
    "poodle",
    "canary",
)
PET_NAMES = (
    "Pixel",
    "Waffle",
    "Bruno",
    "Clover",
    "Ziggy",
    "Pepper",
    "Marble",
    "Otis",
    "Saffron",
    "Domino",
    "Truffle",
    "Basil",
)
FOODS = (
    "peanuts",
    "shellfish",
    "sesame",
    "celery",
    "kiwi",
    "mustard",
    "walnuts",
    "soy",
    "strawberries",
    "lupin",
    "hazelnuts",
    "egg",
)
OBJECTS = (
    "spare key", "passport", "wedding ring", "old letters", "gold coin", "savings book", "diary",
    "medal", "stamp album", "birth certificate", "silver spoons", "backup disk",
)  # fmt: skip
PLACES = (
    "under the third flower pot on the balcony", "behind the loose tile in the bathroom",
    "in the blue biscuit tin", "inside the grandfather clock", "in the piano stool",
    "under the attic stairs", "in the lining of the green coat", "behind the radiator in the hall",
    "in the empty paint bucket", "between the atlas and the cookbook", "in the left ski boot",
    "below the drawer of the sewing table",
)  # fmt: skip
THINGS = (
    "bicycle", "lawnmower", "telescope", "kettle", "armchair", "printer", "raincoat", "toaster",
    "wardrobe", "guitar", "microscope", "tent",
)  # fmt: skip
SHOPS = (
    "Harlow",
    "Brandt",
    "Okafor",
    "Lindqvist",
    "Moreau",
    "Tanaka",
    "Fischer",
    "Delgado",
    "Novak",
    "Petrov",
    "Silva",
    "Jansen",
)
LOCKS = (
    "garage", "boathouse", "office", "gym locker", "bike cellar", "studio", "allotment shed",
    "parcel box", "rehearsal room", "rooftop", "laundry room", "archive",
)  # fmt: skip
EVENTS = (
    "marathon", "book fair", "chess tournament", "wedding", "robotics congress", "jazz festival",
    "pottery course", "reunion", "film premiere", "language exam", "regatta", "wine harvest",
)  # fmt: skip
CITIES = (
    "Lisbon",
    "Tallinn",
    "Graz",
    "Porto",
    "Ghent",
    "Krakow",
    "Turin",
    "Bergen",
    "Seville",
    "Dublin",
    "Utrecht",
    "Basel",
)
TRUTHS = ("dentist", "yoga teacher", "bank adviser", "hairdresser", "piano teacher", "tax adviser")
SURNAMES = (
    "Keller",
    "Amado",
    "Vance",
    "Ruiz",
    "Halvorsen",
    "Okoye",
    "Laurent",
    "Baptiste",
    "Moretti",
    "Sato",
    "Lindgren",
    "Duarte",
)
RESTAURANTS = (
    "Blue Heron", "Salt Cellar", "Copper Pan", "Old Mill", "Lemon Tree", "Red Lantern",
    "Glass House", "Stone Oven", "Corner Table", "Night Market", "Harbour Room", "Silver Fork",
)  # fmt: skip
DISHES = (
    "mushroom risotto", "grilled octopus", "pumpkin soup", "lamb stew", "plum dumplings",
    "beetroot carpaccio", "fish curry", "onion tart", "duck noodles", "saffron rice",
    "cheese soufflé", "lentil salad",
)  # fmt: skip
ITEMS = (
    "drill", "ladder", "typewriter", "violin", "canoe", "projector", "suitcase", "sleeping bag",
    "waffle iron", "chainsaw", "tripod", "record player",
)  # fmt: skip
BORROWERS = (
    "Marta",
    "Jonas",
    "Priya",
    "Felix",
    "Ines",
    "Tobias",
    "Leila",
    "Oscar",
    "Greta",
    "Hugo",
    "Nadia",
    "Emil",
)

TALK = (
    (
        "Work was {mood} today, the meeting took {number} hours.",
        "That is a long meeting. Did anything come out of it?",
    ),
    ("It has been raining since {part}, so I stayed in.", "A good day for tea and a book."),
    ("I slept {mood} and woke up at {number}.", "An early night today might help."),
    ("The train was {number} minutes late again.", "Annoying. Did you get a seat at least?"),
    ("I cooked pasta with {food} tonight, it was fine.", "Sounds like an easy dinner."),
    ("I watched a film in the {part}, nothing special.", "Sometimes that is just what one needs."),
    ("My {person} called and talked for {number} minutes.", "It is nice to hear from people."),
    ("I went for a run of {number} kilometres.", "Well done! How do your legs feel?"),
    ("The shop was out of bread this {part}.", "Then rice it is."),
    ("I am reading a {mood} book about gardens.", "What made you pick it?"),
    ("The lift is broken, so I climbed {number} floors.", "That counts as training."),
    ("My {person} wants to meet on {day}.", "Do you have time then?"),
    ("I cleaned the kitchen for {number} hours.", "It must shine now."),
    ("Traffic was {mood} this {part}.", "Perhaps leave a little earlier tomorrow."),
    ("I listened to the radio all {part}.", "Anything worth telling?"),
    ("My {person} sent me {number} photos from the holidays.", "Which one did you like best?"),
    ("The coffee machine makes strange noises since {day}.", "It may want descaling."),
    ("I tried to draw the view from the window, it looks {mood}.", "Practice is half of it."),
    ("There was a market on the square this {part}.", "Did you buy anything?"),
    ("I had {number} calls before lunch.", "No wonder you are tired."),
)
MOODS = ("good", "bad", "quiet", "strange", "long", "slow", "lovely", "dull", "busy")
PARTS = ("morning", "noon", "afternoon", "evening")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
OPENINGS = ("By the way: ", "Before I forget: ", "", "Something else: ", "Oh, and ")
NOTED = ("Thanks for telling me.", "Good to know.", "Noted.", "I will keep that in mind.")


@dataclass(frozen=True, slots=True)
class Fact:
    """What is told, what is asked about it, and whether another truth ends it (by the name of what
    it is about).
    """

    text: str
    question: str
    about: str | None = None


def life(seed: int = 7, *, every_days: int = 1, most_exchanges: int = 4) -> Life:
    """A year of chats.

    Args:
        seed: The same seed makes the same life.
        every_days: A chat every so many days.
        most_exchanges: Of small talk in a chat; at least 2.

    """
    chance = random.Random(seed)
    days = list(range(0, YEAR.days, every_days))
    empty = Life(NAME, BEGAN_AT, [], [])
    by_month: dict[int, list[int]] = {month: [] for month in range(MONTHS)}
    for day in days:
        by_month[empty.month_of(BEGAN_AT + timedelta(days=day, hours=EVENING + 1))].append(day)
    facts_by_day: dict[int, list[Fact]] = {day: [] for day in days}
    for month, facts in enumerate(_facts(chance)):
        for fact in facts:
            facts_by_day[chance.choice(by_month[month])].append(fact)
    chats: list[Chat] = []
    truths: dict[str, int] = {}
    asked: list[Asked] = []
    for day in days:
        at = BEGAN_AT + timedelta(days=day, hours=EVENING, minutes=10 + chance.randrange(60))
        turns, evidence = _turns(
            chance, f"day-{day}", at, facts_by_day[day], chance.randint(2, most_exchanges)
        )
        chats.append(Chat(f"day-{day}", datetime.fromisoformat(turns[-1].at), turns))
        for fact, turn in evidence:
            question = Asked(fact.question, {turn.id: empty.month_of(chats[-1].ends_at)})
            if fact.about is not None:
                if (before := truths.get(fact.about)) is not None:
                    asked[before] = replace(asked[before], until=chats[-1].ends_at)
                truths[fact.about] = len(asked)
            asked.append(question)
    return Life(empty.name, BEGAN_AT, chats, asked)


def _facts(chance: random.Random) -> Iterator[list[Fact]]:
    """The facts of each month, one of each kind."""
    pools = {
        name: chance.sample(list(given), len(given))
        for name, given in {
            "owner": PEOPLE, "pet": PETS, "pet name": PET_NAMES, "eater": PEOPLE, "food": FOODS,
            "object": OBJECTS, "place": PLACES, "thing": THINGS, "shop": SHOPS, "lock": LOCKS,
            "event": EVENTS, "city": CITIES, "surname": SURNAMES, "restaurant": RESTAURANTS,
            "dish": DISHES, "item": ITEMS, "borrower": BORROWERS, "born": PEOPLE,
        }.items()
    }  # fmt: skip
    prices, codes = chance.sample(range(21, 980), MONTHS), chance.sample(range(1000, 9999), MONTHS)
    for month in range(MONTHS):
        of = {name: pool[month] for name, pool in pools.items()}
        truth = TRUTHS[month % CHANGED_AFTER]
        again = "my new" if month >= CHANGED_AFTER else "my"
        born = f"the {chance.randint(3, 28)}th of {('March', 'June', 'October')[month % 3]}"
        yield [
            Fact(
                f"my {of['owner']} has a {of['pet']} called {of['pet name']}.",
                f"What is the {of['pet']} of my {of['owner']} called?"
            ),
            Fact(f"my {of['eater']} is allergic to {of['food']}.",
                f"What is my {of['eater']} allergic to?"),
            Fact(f"I hid the {of['object']} {of['place']}, nobody else knows.",
                f"Where did I hide the {of['object']}?"),
            Fact(
                f"I bought a {of['thing']} for {prices[month]} euros at {of['shop']}'s.",
                f"How much did I pay for the {of['thing']}?"
            ),
            Fact(f"the code of the {of['lock']} is {codes[month]}.",
                f"Which code opens the {of['lock']}?"),
            Fact(f"I am travelling to {of['city']} for the {of['event']} soon.",
                f"Where is the {of['event']} that I travel to?"),
            Fact(f"{again} {truth} is called {of['surname']}.", f"Who is my {truth}?", truth),
            Fact(
                f"we ate at the {of['restaurant']}, and the {of['dish']} was the best.",
                f"What was the best dish at the {of['restaurant']}?",
            ),
            Fact(f"I lent my {of['item']} to {of['borrower']}.",
                f"Who has borrowed my {of['item']}?"),
            Fact(f"the birthday of my {of['born']} is on {born}.",
                f"When does my {of['born']} have birthday?"),
        ]  # fmt: skip


def _turns(
    chance: random.Random, session: str, at: datetime, facts: list[Fact], exchanges: int
) -> tuple[list[Turn], list[tuple[Fact, Turn]]]:
    """A chat, and the turn of each fact in it."""
    spoken: list[tuple[str, Fact | None]] = []
    for line, answer in chance.sample(TALK, exchanges):
        words = {
            "mood": chance.choice(MOODS), "number": chance.randint(2, 12),
            "part": chance.choice(PARTS), "day": chance.choice(DAYS), "food": chance.choice(FOODS),
            "person": chance.choice(PEOPLE),
        }  # fmt: skip
        spoken += [(line.format(**words), None), (answer, None)]
    for fact in facts:
        opening = chance.choice(OPENINGS)
        text = opening + fact.text if opening else fact.text[0].upper() + fact.text[1:]
        place = 2 * chance.randint(1, len(spoken) // 2)
        spoken[place:place] = [(text, fact), (chance.choice(NOTED), None)]
    turns = [
        Turn(
            f"{session}:{place}",
            session,
            (USER, ASSISTANT)[place % 2],
            text,
            (at + timedelta(minutes=place)).isoformat(),
        )
        for place, (text, _) in enumerate(spoken)
    ]
    return turns, [
        (fact, turn) for (_, fact), turn in zip(spoken, turns, strict=True) if fact is not None
    ]
