"""The calls of MemoryCore about what memories add up to: the scenes of a life, and the profile of a person."""

from __future__ import annotations

from datetime import datetime

from memory_core.domain.scene import Profile, ScenePage, SceneView
from memory_core.domain.scope import Owner, checked
from memory_core.recollection.scenes import NextRun, Profiles, Scenes
from memory_core.telemetry import Telemetry


class Knowing:
    """A part of `MemoryCore`, which supplies what it needs."""

    _scenes: Scenes
    _profiles: Profiles
    _next_run: NextRun
    _telemetry: Telemetry

    async def next_run(self, owner: Owner) -> datetime | None:
        """By when the user's next run has begun, which makes scenes and traits; None where nothing is due. Raises Unavailable."""
        with self._telemetry.operation("scenes"):
            return await self._next_run.expected(checked(owner))

    async def scenes(self, owner: Owner, cursor: str | None = None, limit: int = 20) -> ScenePage:
        """One page of scenes, the one begun last first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("scenes"):
            return await self._scenes.page(checked(owner), cursor, limit)

    async def scene(self, owner: Owner, scene_id: str) -> SceneView:
        """One scene. Raises NotFound."""
        with self._telemetry.operation("scenes"):
            return await self._scenes.get(checked(owner), scene_id)

    async def profile(self, owner: Owner, at: datetime | None = None) -> Profile:
        """What is known of the person: as it holds now, or held at a moment. An empty one of an unknown user."""
        with self._telemetry.operation("profile"):
            return await self._profiles.of(checked(owner), at)
