"""Scenes, the threads that episodes form over time, and a person's profile.

Facts and scenes add up to the profile. Note: a scene knows its cells, a cell's `scene_id` only repeats that. Of the two the scene is right.
And a stored profile names memories; what they say is read from them, so it can't tell what was superseded or deleted since.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from memory_core.domain.moments import Moment

PROFILE_ID: Final = "prf_profile"
"""The document of a user's profile; there is one."""
MAX_LINE: Final = 240
"""Characters that a scene keeps of each of its cells."""
OF_THE_STORE: Final = ("epoch", "sequence")
"""Fields of a stored scene or profile that are not its own."""


class SceneMember(BaseModel):
    """What a scene keeps of a cell. line: its first words, of which title and summary are made. shows: how the person behaved in it.

    until: when what it tells ends, if ever; an episode is never edited, so that stays as it was.
    """

    model_config = ConfigDict(extra="forbid")

    cell_id: str = Field(min_length=1, max_length=128)
    at: Moment
    until: Moment | None = None
    line: str = Field(max_length=MAX_LINE)
    session_id: str | None = None
    shows: list[str] = Field(default_factory=list, max_length=4)


class Scene(BaseModel):
    """Cells of one theme, none more than a week from the others. Its centroid, the running mean of their vectors, is the document's vector.

    cell_ids: in the order of their times. started_at, ended_at: event times of the first and of the last. session_ids: where they were
    told. count: of the cells. title and summary are words of users: data. members: the same cells, with what is kept of each.
    """

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1)
    theme: str = Field(min_length=1, max_length=40)
    title: str = Field(max_length=200)
    summary: str = Field(max_length=4000)
    started_at: Moment
    ended_at: Moment
    cell_ids: list[str]
    session_ids: list[str] = Field(default_factory=list)
    count: int = Field(ge=0)
    members: list[SceneMember] = Field(default_factory=list)

    def public(self) -> dict[str, Any]:
        """The scene as the API shows it."""
        return self.model_dump(mode="json", exclude={"members"})


class SceneView(Scene):
    """A scene as it is read. stale_facts: what its cells told that holds no longer, `{text, superseded_by, current}` as beside a result.

    Title and summary stay as it was told.
    """

    stale_facts: list[dict[str, Any]] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ScenePage:
    """One page of scenes, the one begun last first; `next_cursor` is None on the last."""

    scenes: tuple[SceneView, ...]
    next_cursor: str | None


class PreviousValue(BaseModel):
    """What a fact of the profile said before, by the memory, or the old version of one, that held it."""

    value: Any
    since: Moment
    until: Moment | None = None
    memory_id: str


class ProfileFact(BaseModel):
    """What is known of the person under one name, by the memory `memory_id`."""

    name: str
    value: Any
    confidence: float
    since: Moment
    source_scene_ids: list[str] = Field(default_factory=list)
    previous: list[PreviousValue] = Field(default_factory=list)
    memory_id: str


class ProfileTrait(BaseModel):
    """What shows in at least three cells and nobody said in so many words."""

    trait: str
    confidence: float
    source_scene_ids: list[str] = Field(default_factory=list)


class Profile(BaseModel):
    """What is known of a person: facts, and traits that show."""

    explicit: list[ProfileFact] = Field(default_factory=list)
    implicit: list[ProfileTrait] = Field(default_factory=list)

    def public(self) -> dict[str, Any]:
        """The profile as the API shows it."""
        return self.model_dump(mode="json")


class KnownFact(BaseModel):
    """The memories that say, or said, something under one name, and the cells that told them."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=200)
    memory_ids: list[str]
    cell_ids: list[str] = Field(default_factory=list)


class KnownTrait(BaseModel):
    """A trait, and the cells that it shows in. since: the time of the third of them. by: `rule`, or the model that saw it."""

    model_config = ConfigDict(extra="forbid")

    trait: str = Field(min_length=1, max_length=300)
    confidence: float = Field(ge=0, le=1)
    cell_ids: list[str]
    since: Moment
    by: str = Field(max_length=200)


class KnownPerson(BaseModel):
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
