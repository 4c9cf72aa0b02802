"""Scenes and profiles as records, and the title and text of a scene.

Facts and scenes add up to the profile. Note: a scene knows its cells, a cell's `scene_id` only
repeats that. Of the two the scene is right. And a stored profile names memories; what they say is
read from them, so it can't tell what was superseded or deleted since.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, TypedDict, Unpack

from pydantic import ConfigDict, Field

from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.memory import Memory
from memory_core.domain.note import BEHAVIOUR, parts_of
from memory_core.domain.scope import Timestamp
from memory_core.domain.text.analyzer import FUNCTION_WORDS, GREETINGS, QUERY_WORDS, words
from memory_core.domain.text.kept import keep_texts
from memory_core.domain.text.sentences import sentences

PROFILE_ID: Final = "prf_profile"
"""The document of a user's profile; there is one."""
MAX_LINE: Final = 240
"""Characters that a scene keeps of each of its cells."""
OF_THE_STORE: Final = ("epoch", "sequence")
"""Fields of a stored scene or profile that are not its own."""


class SceneMember(DeferredModel):
    """What a scene keeps of a cell. line: its first words, of which title and summary are made.
    shows: how the person behaved in it.

    until: when what it tells ends, if ever; an episode is never edited, so that stays as it was.
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
    """Cells of one theme, none more than a week from the others. Its centroid, the running mean of
    their vectors, is the document's vector.

    cell_ids: in the order of their times. started_at, ended_at: event times of the first and of the
    last. session_ids: where they were told. count: of the cells. title and summary are words of
    users: data. members: the same cells, with what is kept of each.
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
    """A scene as it is read. stale_facts: what its cells told that holds no longer,
    `{text, superseded_by, current}` as beside a result.

    Title and summary stay as it was told.
    """

    stale_facts: list[dict[str, Any]] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ScenePage:
    """One page of scenes, the one begun last first; `next_cursor` is None on the last."""

    scenes: tuple[SceneView, ...]
    next_cursor: str | None


class PreviousValue(DeferredModel):
    """What a fact of the profile said before, by the memory, or the old version of one,
    that held it.
    """

    value: Any
    since: Timestamp
    until: Timestamp | None = None
    memory_id: str


class Dispute(DeferredModel):
    """A statement that may contradict a fact of the profile: the open conflict, the memory,
    its words and when it was said.
    """

    conflict_id: str
    memory_id: str
    text: str
    at: Timestamp


class ProfileFact(DeferredModel):
    """What is known of the person under one name, by the memory `memory_id`. disputed_by: what may
    contradict it, the latest first.
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


class ProfileTrait(DeferredModel):
    """What at least three cells show, though it was not said in so many words."""

    trait: str
    confidence: float
    source_scene_ids: list[str] = Field(default_factory=list)


class Profile(DeferredModel):
    """What is known of a person: facts, and traits that show."""

    explicit: list[ProfileFact] = Field(default_factory=list)
    implicit: list[ProfileTrait] = Field(default_factory=list)

    def with_facts(self, explicit: list[ProfileFact]) -> Profile:
        """The profile with these facts; its traits stay."""
        return self.model_copy(update={"explicit": explicit})

    def public(self) -> dict[str, Any]:
        """The profile as the API shows it."""
        return self.model_dump(mode="json")


class KnownFact(DeferredModel):
    """The memories that say, or said, something under one name, and the cells that told them."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=200)
    memory_ids: list[str]
    cell_ids: list[str] = Field(default_factory=list)


class KnownTrait(DeferredModel):
    """A trait, and the cells that it shows in. since: the time of the third of them. by: `rule`,
    or the model that saw it.
    """

    model_config = ConfigDict(extra="forbid")

    trait: str = Field(min_length=1, max_length=300)
    confidence: float = Field(ge=0, le=1)
    cell_ids: list[str]
    since: Timestamp
    by: str = Field(max_length=200)


class KnownPerson(DeferredModel):
    """A profile as it is stored: what it rests on."""

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


# The title and text of a scene, made only of its cells' own first words.
#
# Note: a line is kept with each cell, so a cell that leaves takes its words along;
# the others need not be read again.


MAX_SUMMARY = 1_200
"""Characters of a summary by rule."""
READ = 1_000
"""Characters of a cell that are looked at for its line."""
TITLE_WORDS = 3
_LINES_KEPT = 2_048
"""Lines whose words are remembered.

A scene that grows has its title made again in each chunk of a run, of the same lines
and a few more.
"""
_ASIDE = re.compile(r"(?<!\s)\s*+\([^()\d]*+\d[^()]*+\)")
"""What differs each time: "writes short messages (11 words on average)" is one trait,
however many words they were.
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
"""Leaves a title to what things, places and people are called."""


def line_of(content: str) -> str:
    """The first sentences of a text, as many as fit a line; the first words of a longer one."""
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
    """The sentences of a note that tell how the person behaves, without the numbers of
    that one time.
    """
    behaviour = "" if note is None else parts_of(note.content).get(BEHAVIOUR, "")
    return [
        _STYLE.sub("", _ASIDE.sub("", " ".join(sentence.text.split())))[:300]
        for sentence in sentences(behaviour)
    ][:4]


def with_members(scene: Scene, given: Sequence[SceneMember]) -> Scene:
    """The scene with these members in order, and all that they say of it but the words: those are
    made once, when all have come.
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
    """The scene with title and summary by rule, and all else that its members say."""
    updated = with_members(scene, scene.members)
    return updated.changed(
        title=_title(updated.theme, updated.members),
        summary=_summary([member.line for member in updated.members]),
    )


def _title(theme: str, members: Sequence[SceneMember]) -> str:
    """The theme, and the words that most of the cells have, names with their capitals."""
    counted: Counter[str] = Counter()
    for member in members:
        counted.update(word for word in _telling(member.line) if word != theme)
    common = [
        _written(word, members)
        for word in sorted(counted, key=lambda word: -counted[word])[:TITLE_WORDS]
    ]
    return f"{theme.capitalize()}: {', '.join(common)}"[:200] if common else theme.capitalize()


@keep_texts(_LINES_KEPT)
def _telling(line: str) -> tuple[str, ...]:
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

    In small letters where it only begins sentences.
    """
    within = re.compile(rf"(?<=[^\W_]\s){re.escape(word)}\b", re.IGNORECASE)
    return next((match[0] for member in members if (match := within.search(member.line))), word)


def _summary(lines: Sequence[str]) -> str:
    """How it began, and the latest of what came after that: as much as there is room for,
    in order.
    """
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
