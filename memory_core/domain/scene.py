"""Scenes, the threads that episodes form over time, and the profile of a person that facts and scenes add up to.

One would get wrong: a scene knows its cells, a cell's `scene_id` only repeats that. Of the two the scene is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from memory_core.domain.models import Moment

MAX_PREVIOUS: Final = 20
"""Earlier values that a fact of the profile is kept with, the latest of them."""
OF_THE_STORE: Final = ("epoch", "sequence")
"""Fields of a stored scene or profile that are not its own."""


class Scene(BaseModel):
    """Cells of one theme, none more than a week from the next. Its centroid, the running mean of their vectors, is the document's vector.

    cell_ids: in the order of their times. started_at, ended_at: event times of the first and of the last. session_ids: where they were
    told. as_of: the sequence of the log up to which it is known what became of its cells. title and summary are words of users: data.
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
    as_of: int = Field(default=0, ge=0)

    def public(self) -> dict[str, Any]:
        """The scene as the API shows it."""
        return self.model_dump(mode="json", exclude={"as_of"})


@dataclass(frozen=True, slots=True)
class ScenePage:
    """One page of scenes, the one begun last first; `next_cursor` is None on the last."""

    scenes: tuple[Scene, ...]
    next_cursor: str | None


class PreviousValue(BaseModel):
    """What a fact of the profile said before. memory_id: of the memory that held it."""

    model_config = ConfigDict(extra="forbid")

    value: Any
    since: Moment
    until: Moment | None = None
    memory_id: str


class ProfileFact(BaseModel):
    """What is known of the person under one name, by the memory `memory_id`; of one that has ended, only `previous` says anything."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=200)
    value: Any = None
    confidence: float = Field(1.0, ge=0, le=1)
    since: Moment
    source_scene_ids: list[str] = Field(default_factory=list)
    previous: list[PreviousValue] = Field(default_factory=list)
    memory_id: str


class ProfileTrait(BaseModel):
    """What shows in at least three cells and nobody said in so many words. since: the time of the third of them."""

    model_config = ConfigDict(extra="forbid")

    trait: str = Field(min_length=1, max_length=300)
    confidence: float = Field(ge=0, le=1)
    source_scene_ids: list[str] = Field(default_factory=list)
    cell_ids: list[str] = Field(default_factory=list)
    since: Moment


class Profile(BaseModel):
    """What is known of a person: facts, and traits that show."""

    model_config = ConfigDict(extra="forbid")

    explicit: list[ProfileFact] = Field(default_factory=list)
    implicit: list[ProfileTrait] = Field(default_factory=list)

    def public(self) -> dict[str, Any]:
        """The profile as the API shows it."""
        shown = self.model_dump(mode="json")
        for trait in shown["implicit"]:
            del trait["cell_ids"], trait["since"]
        return shown


def scene_in(body: dict[str, Any]) -> Scene:
    """The scene in a document's body."""
    return Scene.model_validate({name: value for name, value in body.items() if name not in OF_THE_STORE})


def profile_in(body: dict[str, Any]) -> Profile:
    """The profile in a document's body."""
    return Profile.model_validate({name: value for name, value in body.items() if name not in OF_THE_STORE})


def profile_at(profile: Profile, at: datetime) -> Profile:
    """The profile as it was true at a moment: each fact with the value that it had then, and what was before that."""
    facts = [fact for one in profile.explicit if (fact := _fact_at(one, at)) is not None]
    return Profile(explicit=facts, implicit=[one for one in profile.implicit if one.since <= at])


def _fact_at(fact: ProfileFact, at: datetime) -> ProfileFact | None:
    before = [one for one in fact.previous if one.since <= at]
    if fact.since <= at and fact.value is not None:
        return fact.model_copy(update={"previous": before})
    held = next((one for one in before if one.until is None or at < one.until), None)
    if held is None:
        return None
    earlier = [one for one in before if one is not held]
    return fact.model_copy(update={"value": held.value, "since": held.since, "memory_id": held.memory_id, "previous": earlier})
