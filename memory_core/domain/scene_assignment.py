"""The assignment of an episode to a theme and to a scene.

Words decide a theme where they are clear, and vectors of prototypes where they are not. Note: time
is event time, and a week is seven times twenty-four hours. An old event that is saved late joins
the scene of its time, not the latest scene.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from memory_core.domain.memory import Vector
from memory_core.domain.scenes import Scene, SceneMember, with_members
from memory_core.domain.text.analyzer import tokens

EVERYDAY: Final = "everyday"
"""The theme of episodes without any other theme."""
GAP: Final = timedelta(days=7)
"""The longest silence within a scene."""
CLEAR: Final = 0.5
"""Share of a cell's theme words above which a theme is decided by words alone."""


@dataclass(frozen=True, slots=True)
class SceneRules:
    """Thresholds of the assignment.

    Attributes:
        threshold: Cosine above which a cell is near to a scene. From 1 up vectors are not used.
        to_theme: Cosine above which a cell is near to a theme's words.
        most: Number of cells above which a scene is split.

    """

    threshold: float
    to_theme: float
    most: int

    @property
    def by_vectors(self) -> bool:
        """Whether vectors are used."""
        return self.threshold < 1


@dataclass(frozen=True, slots=True)
class EpisodeToPlace:
    """An episode to be placed. `themes` is how many of its words each theme has."""

    member: SceneMember
    themes: Mapping[str, float]
    vector: Vector | None = None


@dataclass(slots=True)
class Thread:
    """A scene while cells are added and removed.

    Attributes:
        centroid: Mean of the cells' vectors; None where no cell has a vector.
        changed: Whether the scene has changed since it was read.

    """

    scene: Scene
    centroid: Vector | None = None
    changed: bool = False

    def add(self, cell: EpisodeToPlace) -> None:
        """Add a cell.

        The new centroid is c + (v - c) / n, the mean of all cells.
        """
        n = self.scene.count + 1
        if cell.vector is not None:
            self.centroid = (
                cell.vector.copy()
                if self.centroid is None
                else self.centroid + (cell.vector - self.centroid) / np.float32(n)
            )
        self._become([*self.scene.members, cell.member])

    def remove(self, cell_id: str, vector: Vector | None) -> None:
        """Remove a cell.

        The new centroid is c + (c - v) / n, the mean of the cells that stay.

        Args:
            cell_id: The cell; a cell that is not in the scene is ignored.
            vector: The cell's vector; without it the centroid stays.

        """
        members = [member for member in self.scene.members if member.cell_id != cell_id]
        if len(members) == self.scene.count:
            return
        if self.centroid is not None and vector is not None and members:
            self.centroid = self.centroid + (self.centroid - vector) / np.float32(len(members))
        self._become(members)

    def has(self, cell_id: str) -> bool:
        """Whether a cell is in the scene."""
        return cell_id in self.scene.cell_ids

    def gap(self, at: datetime) -> timedelta:
        """The silence between the scene and a moment; zero for a moment within the scene."""
        return max(self.scene.started_at - at, at - self.scene.ended_at, timedelta(0))

    def split(self, scene_id: str, vectors: Mapping[str, Vector | None]) -> Thread:
        """Move the later cells into a new thread.

        The cut is at the widest silence within the middle half of the cells.

        Args:
            scene_id: Id of the new scene.
            vectors: The cells' vectors by their ids.

        """
        members = self.scene.members
        quarter = max(1, len(members) // 4)
        places = range(quarter, len(members) - quarter + 1)
        place = max(
            places,
            key=lambda place: (
                members[place].at - members[place - 1].at,
                -abs(place - len(members) // 2),
            ),
        )
        return self._cut(place, scene_id, vectors)

    def part(self, scene_id: str, vectors: Mapping[str, Vector | None]) -> Thread | None:
        """Move the cells after the first silence above `GAP` into a new thread.

        There is such a silence only where a cell was removed that was in between.

        Args:
            scene_id: Id of the new scene.
            vectors: The cells' vectors by their ids.

        Returns:
            The new thread; None where there is no such silence.

        """
        members = self.scene.members
        place = next(
            (
                number
                for number, (first, two) in enumerate(pairwise(members), 1)
                if two.at - first.at > GAP
            ),
            None,
        )
        return None if place is None else self._cut(place, scene_id, vectors)

    def _cut(self, place: int, scene_id: str, vectors: Mapping[str, Vector | None]) -> Thread:
        members = self.scene.members
        later = Thread(
            self.scene.changed(id=scene_id), mean(members[place:], vectors), changed=True
        )
        later._become(members[place:])
        self.centroid = mean(members[:place], vectors)
        self._become(members[:place])
        return later

    def _become(self, members: list[SceneMember]) -> None:
        self.scene = with_members(self.scene, members)
        self.changed = True


def theme_of(
    shares: Mapping[str, float],
    vector: Vector | None,
    prototypes: Mapping[str, Vector],
    rules: SceneRules,
) -> str:
    """The theme of a cell.

    A theme with more than half of its theme words is decided by words. Otherwise the nearest
    prototype decides if it is near enough, and else the theme with most of its words. A cell
    without any is everyday.

    Args:
        shares: How many of the cell's words each theme has.
        vector: The cell's vector, or None.
        prototypes: The vector of each theme's words.
        rules: The thresholds.

    """
    best = max(sorted(shares), key=lambda name: shares[name], default=None)
    if best is not None and shares[best] >= 1 and shares[best] > CLEAR * sum(shares.values()):
        return best
    if vector is not None and rules.by_vectors and prototypes:
        names = sorted(prototypes)
        near = _cosines(vector, np.stack([prototypes[name] for name in names]))
        nearest = int(near.argmax())
        if near[nearest] > rules.to_theme:
            return names[nearest]
    return best if best is not None and shares[best] >= 1 else EVERYDAY


def place(
    cell: EpisodeToPlace, theme: str, threads: Sequence[Thread], rules: SceneRules
) -> Thread | None:
    """The thread that a cell belongs to; None when it begins a new thread.

    Threads within a week of the cell are considered, and the nearest thread of the same theme is
    chosen. An everyday cell joins a thread that it is near to, and else a thread of other everyday
    cells. A thread that is too large already, since it could not be split, gets no more cells.

    Args:
        cell: The episode.
        theme: Its theme.
        threads: The threads.
        rules: The thresholds.

    """
    fitting: list[tuple[int, float, datetime, str, Thread]] = []
    for thread in threads:
        if not 0 < thread.scene.count <= rules.most or thread.gap(cell.member.at) > GAP:
            continue
        if theme not in (thread.scene.theme, EVERYDAY):
            continue
        near = cosine(cell.vector, thread.centroid) if rules.by_vectors else 0.0
        if theme == thread.scene.theme != EVERYDAY:
            rank = 2
        elif theme == EVERYDAY and near > rules.threshold:
            rank = 1
        elif theme == thread.scene.theme:
            rank = 0
        else:
            continue
        fitting.append((rank, near, thread.scene.ended_at, thread.scene.id, thread))
    return max(fitting, key=lambda option: option[:4])[4] if fitting else None


def begun(scene_id: str, cell: EpisodeToPlace, theme: str) -> Thread:
    """A new thread with a single cell.

    Args:
        scene_id: Id of the new scene.
        cell: The episode.
        theme: Its theme.

    """
    at = cell.member.at
    scene = Scene(
        id=scene_id,
        theme=theme,
        title="",
        summary="",
        started_at=at,
        ended_at=at,
        cell_ids=[],
        count=0,
    )
    thread = Thread(scene)
    thread.add(cell)
    return thread


def cosine(vector: Vector | None, other: Vector | None) -> float:
    """The cosine of two vectors; 0 where a vector is None or all zeros.

    Args:
        vector: A vector.
        other: A vector of the same dimensions.

    """
    if vector is None or other is None:
        return 0.0
    lengths = math.sqrt(float(np.dot(vector, vector)) * float(np.dot(other, other)))
    return float(np.dot(vector, other)) / lengths if lengths else 0.0


def _cosines(vector: Vector, others: Vector) -> Vector:
    """The cosine of a vector with each row of `others`; 0 for zeros."""
    lengths = np.linalg.norm(others, axis=1) * np.linalg.norm(vector)
    cosines: Vector = np.divide(
        others @ vector, lengths, out=np.zeros_like(lengths), where=lengths > 0
    )
    return cosines


def mean(members: Sequence[SceneMember], vectors: Mapping[str, Vector | None]) -> Vector | None:
    """The centroid of the cells that have a vector; None without vectors.

    Args:
        members: The cells.
        vectors: The cells' vectors by their ids.

    """
    known = [vector for member in members if (vector := vectors.get(member.cell_id)) is not None]
    return np.mean(known, axis=0, dtype=np.float32) if known else None


# The themes of everyday talk, with their words, for use without a model. English only.
#
# A theme is a hint, not a fact: it groups a flight with a hotel, and tags a note "travel". Note:
# words of several themes ("bank", "run") are left out, or belong to their most frequent theme.


PROTOTYPES: dict[str, str] = {
    "health": """
        health healthy wellness doctor dentist hospital clinic nurse medicine medication pills
        prescription antibiotics symptom pain ache headache migraine fever cold flu cough allergy
        allergic asthma diabetes insulin surgery injury knee ankle physio physiotherapy therapy
        therapist vaccine pharmacy blood pressure anxiety depression insomnia sleep diagnosis
        recovery pregnant pregnancy eczema rash""",
    "fitness": """
        gym workout exercise fitness jog marathon runner running race training trainer treadmill
        squats deadlift weights muscle stretching yoga pilates cycling swim swimming climbing
        bouldering hike hiking trail steps cardio kilometres 10k 5k pace""",
    "sports": """
        football soccer basketball tennis cricket rugby hockey baseball golf match league team goal
        player coach tournament championship stadium score season referee padel badminton
        volleyball""",
    "food": """
        food eat eating cook cooking recipe dish meal breakfast lunch dinner kitchen oven bake
        baking bread sourdough flour starter dough cake pasta rice noodles ramen soup salad sauce
        garlic onion cheese meat chicken fish vegetarian vegan diet restaurant menu pizza sushi
        taste delicious spicy curry coffee tea espresso barista wine beer dessert chocolate fruit
        vegetables grocery snack butter yeast ferment""",
    "travel": """
        travel trip journey flight fly flying airport airline plane luggage passport visa hotel
        hostel booking itinerary vacation holiday tour tourist sightseeing museum beach island train
        station ticket rail abroad cruise backpacking airbnb destination layover suitcase""",
    "work": """
        work job career office boss manager colleague coworker meeting project deadline client
        customer salary promotion raise interview resume cv hiring hired recruiter company employer
        team shift overtime contract freelance startup business presentation quarterly colleagues
        resign offer onboarding standup""",
    "technology": """
        computer laptop software app code coding programming python javascript java rust api
        database server cloud bug debug deploy deployment docker kubernetes git repository github
        test tests compile function library framework website browser phone android iphone wifi
        router network keyboard monitor update install password data model query cache error log
        script backend frontend postgres sql linux windows""",
    "education": """
        school university college student teacher professor class lecture exam homework essay thesis
        degree study studying semester tutor scholarship graduate graduation kindergarten lesson
        math physics chemistry history grade campus dissertation language vocabulary grammar verbs
        vowels pronunciation tense""",
    "home": """
        house home apartment flat rent landlord mortgage lease kitchen bathroom bedroom furniture
        sofa couch shelf paint painting wall roof renovate renovation repair plumber leak boiler
        heating neighbour neighbor moving mover boxes garage basement balcony tiles""",
    "gardening": """
        garden gardening plant plants seeds seedlings soil compost tomatoes roses herbs basil lawn
        weeds pruning watering greenhouse flowerpot bulbs tulips slugs fertilizer orchid""",
    "family": """
        family mother father mom mum dad parents sister brother son daughter child children kids
        baby grandmother grandfather grandma grandpa aunt uncle cousin niece nephew wife husband
        toddler nursery babysitter""",
    "relationships": """
        friend friends friendship girlfriend boyfriend partner dating date marriage married wedding
        engaged engagement divorce breakup love anniversary bride groom bridesmaid party guests
        invitation""",
    "pets": """
        pet pets dog puppy cat kitten vet veterinarian leash walkies litter fur paw bark kennel
        hamster rabbit parrot aquarium goldfish breed collar""",
    "money": """
        money budget savings saving invest investment investing stocks shares fund pension tax taxes
        loan debt credit card bank account insurance expenses bill bills salary income interest
        crypto portfolio refund invoice""",
    "music": """
        music song songs band concert guitar piano violin drums sing singing choir album playlist
        chord melody festival vinyl orchestra lyrics saxophone gig""",
    "reading": """
        book books novel author reading chapter library fiction writer poem poetry story paperback
        audiobook bookshop publisher memoir""",
    "film": """
        film films movie movies cinema series episode netflix actor actress director documentary
        trailer thriller comedy screenplay oscar streaming""",
    "games": """
        game games gaming console playstation xbox nintendo chess puzzle boardgame multiplayer quest
        dungeon dragons steam level""",
    "art": """
        art artist painting drawing sketch watercolor watercolour canvas pottery ceramics clay
        sculpture gallery exhibition photography photo photos camera lens knitting yarn sewing
        crochet""",
    "transport": """
        car drive driving bike bicycle bus metro subway tram traffic parking engine garage mechanic
        tyre tire brakes fuel electric charging licence license motorcycle scooter commute""",
    "weather": """
        weather rain rainy snow sunny storm wind forecast temperature heatwave humid cloudy hail
        thunder""",
    "shopping": """
        buy bought shopping shop store mall order delivery discount price sale amazon return receipt
        size shoes jacket dress clothes""",
    "politics": """
        politics election vote government president minister parliament law policy protest mayor
        council""",
    "nature": """
        nature forest mountain lake river bird birds birdwatching camping tent wildlife climate
        stars telescope astronomy fishing""",
}
"""Theme → words that belong to it."""
_LOOSE = """
    account band bank bark bill book bought box breed bug bus business buy cake canvas card
    chapter charge class client climate cloud cold collar company console contract credit
    customer data date degree depression director dish draw drive electric engage engine episode
    error exercise flat forecast friend fuel function fund fur gallery game gig goal grade
    guests history home install interest job key language lens lesson level library license
    litter log love manager match model monitor move offer order pace paint partner party phone
    photo plant player policy presentation president pressure price project puzzle query quest
    race raise recipe record recovery return run sale save saving score season seed seeds series
    share shares shift size sleep stage star starter station steam steps stock stocks store
    story study taste team temperature tense term test ticket tire tour track traffic trail
    train training update wall weights"""
"""Words of themes that mean other things as often: "a class of the program", "share a file"."""
_BY_ASSISTANT = re.compile(r"\bAssistant (?:said|asked): .*?(?=(?:\b[\w-]+ (?:said|asked): )|\Z)")
"""What an assistant said, in the text of an episode."""
CLEAR_SHARE: Final = 3
"""Episodes that may count as about a theme for each that clearly is."""


def about(theme: str, lines: Sequence[str]) -> list[int]:
    """The places of the episodes' texts that are about a theme, in people's words.

    A text is about the theme if no other theme has more of its words. It clearly is if it has two
    words of the theme, or one that hardly means anything else. Texts that have only a loose word
    ("run", "class") count beside clear ones, at most two for each.

    Args:
        theme: One of the themes.
        lines: The texts, the latest last.

    """
    clear, loose = list[int](), list[int]()
    for place_of_line, line in enumerate(lines):
        terms = dict.fromkeys(tokens(_BY_ASSISTANT.sub("", line)))
        weights = themes(terms)
        if theme in weights and weights[theme] == max(weights.values()):
            own = {term for term in terms if theme in _themes_of_terms().get(term, ())}
            is_clear = len(own) > 1 or not own <= _loose_terms()
            (clear if is_clear else loose).append(place_of_line)
    return sorted([*clear, *loose[-(CLEAR_SHARE - 1) * len(clear) :]] if clear else [])


@lru_cache(maxsize=1)
def _loose_terms() -> frozenset[str]:
    return frozenset(tokens(_LOOSE))


@lru_cache(maxsize=1)
def _themes_of_terms() -> dict[str, tuple[str, ...]]:
    by_term: dict[str, dict[str, None]] = {}
    for theme, prototype in PROTOTYPES.items():
        for term in tokens(prototype):
            by_term.setdefault(term, {})[theme] = None
    return {term: tuple(themes) for term, themes in by_term.items()}


def themes(terms: Iterable[str]) -> dict[str, float]:
    """How many of these terms belong to each theme.

    A term of several themes is divided among them. Terms are as `analyzer.tokens` gives them.
    """
    known = _themes_of_terms()
    weight: dict[str, float] = {}
    for term in terms:
        belongs = known.get(term, ())
        for theme in belongs:
            weight[theme] = weight.get(theme, 0.0) + 1 / len(belongs)
    return weight
