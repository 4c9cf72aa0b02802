"""Scenes and profiles as records, and the title and text of a scene.

Facts and scenes add up to the profile. Note: a scene knows its cells, and a cell's `scene_id` only
repeats that. If they differ, the scene is right. A stored profile names memories, and its values
are read from them. So it never shows a value that was superseded or deleted since.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, TypedDict, Unpack

from pydantic import ConfigDict, Field

from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.memory import Memory
from memory_core.domain.note import BEHAVIOUR, parts_of
from memory_core.domain.text.analyzer import FUNCTION_WORDS, GREETINGS, QUERY_WORDS, words
from memory_core.domain.text.sentences import sentences
from memory_core.domain.text.text_cache import keep_texts
from memory_core.domain.text.timestamps import Timestamp

PROFILE_ID: Final = "prf_profile"
"""The id of the document of a user's profile; each user has a single profile."""
MAX_LINE: Final = 240
"""Characters that a scene keeps of each of its cells."""
OF_THE_STORE: Final = ("epoch", "sequence")
"""Fields of a stored scene or profile that belong to the store."""


class SceneMember(DeferredModel):
    """The part of a cell that a scene keeps.

    Attributes:
        at: Event time of the cell.
        until: When the cell's content ends, if ever. An episode is never edited, so this stays.
        line: The cell's first words, of which title and summary are made.
        shows: How the person behaved in the cell.

    """

    model_config = ConfigDict(extra="forbid")

    cell_id: str = Field(min_length=1, max_length=128)
    at: Timestamp
    until: Timestamp | None = None
    line: str = Field(max_length=MAX_LINE)
    session_id: str | None = None
    shows: list[str] = Field(default_factory=list, max_length=4)


class SceneFields(TypedDict, total=False):
    """Fields of a scene that a change replaces."""

    id: str
    title: str
    summary: str
    started_at: Timestamp
    ended_at: Timestamp
    cell_ids: list[str]
    session_ids: list[str]
    count: int
    members: list[SceneMember]


class Scene(DeferredModel):
    """Cells of a single theme, with no silence of more than a week between them.

    The scene's centroid, the running mean of the cells' vectors, is the document's vector. Title
    and summary are words of users, so they are data.

    Attributes:
        started_at: Event time of the first cell.
        ended_at: Event time of the last cell.
        cell_ids: Ids of the cells in the order of their times.
        session_ids: The sessions of the cells.
        count: Number of cells.
        members: The same cells, with the part that the scene keeps of each.

    """

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1)
    theme: str = Field(min_length=1, max_length=40)
    title: str = Field(max_length=200)
    summary: str = Field(max_length=4000)
    started_at: Timestamp
    ended_at: Timestamp
    cell_ids: list[str]
    session_ids: list[str] = Field(default_factory=list)
    count: int = Field(ge=0)
    members: list[SceneMember] = Field(default_factory=list)

    def changed(self, **fields: Unpack[SceneFields]) -> Self:
        """The scene with these fields replaced, without validation."""
        return self.model_copy(update=fields)

    def public(self) -> dict[str, Any]:
        """The scene as the API shows it."""
        return self.model_dump(mode="json", exclude={"members"})


class SceneView(Scene):
    """A scene as it is read. Title and summary stay as they were made.

    `stale_facts` are facts of its cells that hold no longer, `{text, superseded_by, current}` as
    beside a result.
    """

    stale_facts: list[dict[str, Any]] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ScenePage:
    """A page of scenes, the scene that began last first.

    `next_cursor` is None on the last page.
    """

    scenes: tuple[SceneView, ...]
    next_cursor: str | None


class PreviousValue(DeferredModel):
    """An earlier value of a profile's fact, with the memory that held it.

    That is a memory or an old version of a memory.
    """

    value: Any
    since: Timestamp
    until: Timestamp | None = None
    memory_id: str


class Dispute(DeferredModel):
    """A statement that may contradict a fact of the profile.

    It has the open conflict, the memory, its words and when it was said.
    """

    conflict_id: str
    memory_id: str
    text: str
    at: Timestamp


class ProfileFact(DeferredModel):
    """A fact about the person under a name, from the memory `memory_id`.

    `disputed_by` are statements that may contradict it, the latest first.
    """

    name: str
    value: Any
    confidence: float
    since: Timestamp
    source_scene_ids: list[str] = Field(default_factory=list)
    previous: list[PreviousValue] = Field(default_factory=list)
    memory_id: str
    disputed_by: list[Dispute] = Field(default_factory=list)

    def disputed(self, disputed_by: list[Dispute]) -> ProfileFact:
        """The fact with the statements that may contradict it."""
        return self.model_copy(update={"disputed_by": disputed_by})

    def without_earlier(self, memory_ids: Collection[str]) -> ProfileFact:
        """The fact without the earlier values of these memories."""
        previous = [value for value in self.previous if value.memory_id not in memory_ids]
        return self.model_copy(update={"previous": previous})


def profile_line(name: str, value: str) -> str:
    """A fact of a profile as a line of a text.

    "home city: Oslo", or "allergy to nuts" if the value is "yes".

    Args:
        name: The name of the fact.
        value: Its value.

    """
    return name if value == "yes" and " " in name else f"{name}: {value}"


class ProfileTrait(DeferredModel):
    """A trait that at least three cells show, though no message states it."""

    trait: str
    confidence: float
    source_scene_ids: list[str] = Field(default_factory=list)


class Profile(DeferredModel):
    """Knowledge about a person: facts, and traits that show."""

    explicit: list[ProfileFact] = Field(default_factory=list)
    implicit: list[ProfileTrait] = Field(default_factory=list)

    def with_facts(self, explicit: list[ProfileFact]) -> Profile:
        """The profile with these facts; its traits stay."""
        return self.model_copy(update={"explicit": explicit})

    def public(self) -> dict[str, Any]:
        """The profile as the API shows it."""
        return self.model_dump(mode="json")


class KnownFact(DeferredModel):
    """The memories that state a fact under a name, now or once, and their cells."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=200)
    memory_ids: list[str]
    cell_ids: list[str] = Field(default_factory=list)


class KnownTrait(DeferredModel):
    """A trait, and the cells that it shows in.

    Attributes:
        since: Event time of the third of its cells.
        by: `rule`, or the model that saw it.

    """

    model_config = ConfigDict(extra="forbid")

    trait: str = Field(min_length=1, max_length=300)
    confidence: float = Field(ge=0, le=1)
    cell_ids: list[str]
    since: Timestamp
    by: str = Field(max_length=200)


class KnownPerson(DeferredModel):
    """A profile as it is stored: the memories and cells that it rests on."""

    model_config = ConfigDict(extra="forbid")

    facts: list[KnownFact] = Field(default_factory=list)
    traits: list[KnownTrait] = Field(default_factory=list)


def scene_in(body: dict[str, Any]) -> Scene:
    """The scene in a document's body."""
    return Scene.model_validate(_own(body))


def person_in(body: dict[str, Any]) -> KnownPerson:
    """The profile in a document's body."""
    return KnownPerson.model_validate(_own(body))


def _own(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in OF_THE_STORE}


# The title and text of a scene, made only of first words of its cells.
#
# Note: each cell's line is stored with it. So a cell that leaves takes its words along, and the
# other cells need not be read.


MAX_SUMMARY = 1_200
"""Characters of a summary by rule."""
READ = 1_000
"""Characters of a cell that are read for its line."""
TITLE_WORDS = 3
_LINES_KEPT = 2_048
"""Lines whose words are cached.

A growing scene has its title made again in each chunk of a run, from the same lines and a few more.
"""
_ASIDE = re.compile(r"(?<!\s)\s*+\([^()\d]*+\d[^()]*+\)")
"""The part of a trait that differs each time.

"writes short messages (11 words on average)" is the same trait, however many words they were.
"""
_STYLE = re.compile(r"^User's style:\s*")
"""Begins a note's account of how a person writes; the next sentence names the person."""
_FILLER = """
    user assistant said says say asked asks told tells called calls call name names named like likes
    liked love loves today yesterday tomorrow day days week weeks month months year years time times
    morning afternoon evening night every always never again still now soon already even ever yet
    back away here much many more most few little lot new old good great nice fine well sure right
    first last next one two three thing things something nothing everything comes come came goes
    went gone going gets get got getting makes make made takes take took gives give gave given wants
    want wanted needs need let lets put keep really maybe please thanks thank hello yes course
    without live lives lived show shows showed look looks looked
    also anyway btw yep yeah yup nope quick question actually basically honestly alright guess
    finally otherwise
"""
_SAYS_NOTHING = FUNCTION_WORDS | QUERY_WORDS | GREETINGS | frozenset(_FILLER.split())
"""Words that a title leaves out, so that names of things, places and people remain."""


def line_of(content: str) -> str:
    """The first sentences of a text, as many as fit a line.

    If the first sentence is too long, it is the text's first words.
    """
    line = ""
    for sentence in sentences(content[:READ]):
        longer = f"{line} {' '.join(sentence.text.split())}".strip()
        if len(longer) > MAX_LINE:
            break
        line = longer
    if line:
        return line
    text = " ".join(content[:READ].split())
    return (
        text
        if len(text) <= MAX_LINE and len(content) <= READ
        else text[: MAX_LINE - 1].rstrip() + "…"
    )


def shown_in(note: Memory | None) -> list[str]:
    """The sentences of a note about the person's behaviour, without numbers of that time."""
    behaviour = "" if note is None else parts_of(note.content).get(BEHAVIOUR, "")
    return [
        _STYLE.sub("", _ASIDE.sub("", " ".join(sentence.text.split())))[:300]
        for sentence in sentences(behaviour)
    ][:4]


def with_members(scene: Scene, given: Sequence[SceneMember]) -> Scene:
    """The scene with these members in order, and with the fields that follow from them.

    Title and summary stay. They are made once, when all members are added.

    Args:
        scene: The scene.
        given: Its new members in any order.

    """
    members = sorted(given, key=lambda member: (member.at, member.cell_id))
    return scene.changed(
        members=members,
        cell_ids=[member.cell_id for member in members],
        session_ids=list(
            dict.fromkeys(member.session_id for member in members if member.session_id is not None)
        ),
        count=len(members),
        started_at=members[0].at if members else scene.started_at,
        ended_at=members[-1].at if members else scene.ended_at,
    )


def with_words(scene: Scene) -> Scene:
    """The scene with title and summary by rule, and its members' fields."""
    updated = with_members(scene, scene.members)
    return updated.changed(
        title=_title(updated.theme, updated.members),
        summary=_summary([member.line for member in updated.members]),
    )


def _title(theme: str, members: Sequence[SceneMember]) -> str:
    """The theme, and the words that most of the cells have, names with their capitals."""
    counted: Counter[str] = Counter()
    for member in members:
        counted.update(word for word in _title_words(member.line) if word != theme)
    common = [
        _written(word, members)
        for word in sorted(counted, key=lambda word: -counted[word])[:TITLE_WORDS]
    ]
    return f"{theme.capitalize()}: {', '.join(common)}"[:200] if common else theme.capitalize()


@keep_texts(_LINES_KEPT)
def _title_words(line: str) -> tuple[str, ...]:
    """The words of a line that a title may be made of, each once."""
    return tuple(
        dict.fromkeys(
            word
            for word in words(line)
            if len(word) > 2 and word not in _SAYS_NOTHING and not word.isdigit()
        )
    )


def _written(word: str, members: Sequence[SceneMember]) -> str:
    """The word as it is first written within a sentence, where only names have capitals.

    It has small letters where it only begins sentences.
    """
    within = re.compile(rf"(?<=[^\W_]\s){re.escape(word)}\b", re.IGNORECASE)
    return next((match[0] for member in members if (match := within.search(member.line))), word)


def _summary(lines: Sequence[str]) -> str:
    """The first line, and the latest of the other lines that fit, in order."""
    if not lines:
        return ""
    first, room = lines[0], MAX_SUMMARY - len(lines[0])
    rest: list[str] = []
    for line in reversed(lines[1:]):
        if line in (first, *rest):
            continue
        if (room := room - len(line) - 3) < 0:
            return " ".join([first, "…", *reversed(rest)])
        rest.append(line)
    return " ".join([first, *reversed(rest)])
