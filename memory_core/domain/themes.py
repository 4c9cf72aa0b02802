"""The themes of everyday talk, each with words that belong to it.

They are the topics where no agent can be asked.
English. A theme is a hint, never a fact: it tells that a flight and a hotel go together, and it tags a note "travel".
Note: words of several themes ("bank", "run") are left out or stand where they are used most.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from memory_core.domain.text import tokens

PROTOTYPES: dict[str, str] = {
    "health": """
        health healthy wellness doctor dentist hospital clinic nurse medicine medication pills prescription antibiotics symptom
        pain ache headache migraine fever cold flu cough allergy allergic asthma diabetes insulin surgery injury knee ankle physio
        physiotherapy therapy therapist vaccine pharmacy blood pressure anxiety depression insomnia sleep diagnosis recovery
        pregnant pregnancy eczema rash""",
    "fitness": """
        gym workout exercise fitness jog marathon runner running race training trainer treadmill squats deadlift weights muscle
        stretching yoga pilates cycling swim swimming climbing bouldering hike hiking trail steps cardio kilometres 10k 5k pace""",
    "sports": """
        football soccer basketball tennis cricket rugby hockey baseball golf match league team goal player coach tournament
        championship stadium score season referee padel badminton volleyball""",
    "food": """
        food eat eating cook cooking recipe dish meal breakfast lunch dinner kitchen oven bake baking bread sourdough flour
        starter dough cake pasta rice noodles ramen soup salad sauce garlic onion cheese meat chicken fish vegetarian vegan diet
        restaurant menu pizza sushi taste delicious spicy curry coffee tea espresso barista wine beer dessert chocolate fruit
        vegetables grocery snack butter yeast ferment""",
    "travel": """
        travel trip journey flight fly flying airport airline plane luggage passport visa hotel hostel booking itinerary vacation
        holiday tour tourist sightseeing museum beach island train station ticket rail abroad cruise backpacking airbnb
        destination layover suitcase""",
    "work": """
        work job career office boss manager colleague coworker meeting project deadline client customer salary promotion raise
        interview resume cv hiring hired recruiter company employer team shift overtime contract freelance startup business
        presentation quarterly colleagues resign offer onboarding standup""",
    "technology": """
        computer laptop software app code coding programming python javascript java rust api database server cloud bug debug
        deploy deployment docker kubernetes git repository github test tests compile function library framework website browser
        phone android iphone wifi router network keyboard monitor update install password data model query cache error log script
        backend frontend postgres sql linux windows""",
    "education": """
        school university college student teacher professor class lecture exam homework essay thesis degree study studying
        semester tutor scholarship graduate graduation kindergarten lesson math physics chemistry history grade campus
        dissertation language vocabulary grammar verbs vowels pronunciation tense""",
    "home": """
        house home apartment flat rent landlord mortgage lease kitchen bathroom bedroom furniture sofa couch shelf paint painting
        wall roof renovate renovation repair plumber leak boiler heating neighbour neighbor moving mover boxes garage basement
        balcony tiles""",
    "gardening": """
        garden gardening plant plants seeds seedlings soil compost tomatoes roses herbs basil lawn weeds pruning watering
        greenhouse flowerpot bulbs tulips slugs fertilizer orchid""",
    "family": """
        family mother father mom mum dad parents sister brother son daughter child children kids baby grandmother grandfather
        grandma grandpa aunt uncle cousin niece nephew wife husband toddler nursery babysitter""",
    "relationships": """
        friend friends friendship girlfriend boyfriend partner dating date marriage married wedding engaged engagement divorce
        breakup love anniversary bride groom bridesmaid party guests invitation""",
    "pets": """
        pet pets dog puppy cat kitten vet veterinarian leash walkies litter fur paw bark kennel hamster rabbit parrot aquarium
        goldfish breed collar""",
    "money": """
        money budget savings saving invest investment investing stocks shares fund pension tax taxes loan debt credit card bank
        account insurance expenses bill bills salary income interest crypto portfolio refund invoice""",
    "music": """
        music song songs band concert guitar piano violin drums sing singing choir album playlist chord melody festival vinyl
        orchestra lyrics saxophone gig""",
    "reading": """
        book books novel author reading chapter library fiction writer poem poetry story paperback audiobook bookshop publisher
        memoir""",
    "film": """
        film films movie movies cinema series episode netflix actor actress director documentary trailer thriller comedy
        screenplay oscar streaming""",
    "games": """
        game games gaming console playstation xbox nintendo chess puzzle boardgame multiplayer quest dungeon dragons steam level""",
    "art": """
        art artist painting drawing sketch watercolor watercolour canvas pottery ceramics clay sculpture gallery exhibition
        photography photo photos camera lens knitting yarn sewing crochet""",
    "transport": """
        car drive driving bike bicycle bus metro subway tram traffic parking engine garage mechanic tyre tire brakes fuel electric
        charging licence license motorcycle scooter commute""",
    "weather": """
        weather rain rainy snow sunny storm wind forecast temperature heatwave humid cloudy hail thunder""",
    "shopping": """
        buy bought shopping shop store mall order delivery discount price sale amazon return receipt size shoes jacket dress
        clothes""",
    "politics": """
        politics election vote government president minister parliament law policy protest mayor council""",
    "nature": """
        nature forest mountain lake river bird birds birdwatching camping tent wildlife climate stars telescope astronomy fishing""",
}
"""Theme → words that belong to it."""


@lru_cache(maxsize=1)
def _themes_of_terms() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for theme, prototype in PROTOTYPES.items():
        for term in tokens(prototype):
            found.setdefault(term, {})[theme] = None
    return {term: tuple(themes) for term, themes in found.items()}


def themes(terms: Iterable[str]) -> dict[str, float]:
    """How much each theme has of these terms (as `text.tokens` gives them); a term of several themes is shared among them."""
    known = _themes_of_terms()
    weight: dict[str, float] = {}
    for term in terms:
        belongs = known.get(term, ())
        for theme in belongs:
            weight[theme] = weight.get(theme, 0.0) + 1 / len(belongs)
    return weight
