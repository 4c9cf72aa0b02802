"""Scenes as they are read: in pages, one by one, and by the cells that are in them.

One would get wrong: a cell's `scene_id` is a hint. Which cells a scene has is what its own document says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_core.domain.errors import NotFound
from memory_core.domain.scene import Scene, ScenePage, scene_in
from memory_core.domain.scope import Owner
from memory_core.ledger.cursors import Cursors
from memory_core.ports import LongTermStore, Place


class Scenes:
    """The scenes of any owner; another owner's id is told apart from none by nothing."""

    def __init__(self, store: LongTermStore, cursors: Cursors) -> None:
        self._store, self._cursors = store, cursors

    async def page(self, owner: Owner, cursor: str | None, limit: int) -> ScenePage:
        """One page, the scene begun last first. Raises Malformed for a void cursor."""
        head = (await self._store.snapshot(owner)).head
        place = self._cursors.read(owner, head, {"list": "scenes"}, cursor)
        if head is None:
            return ScenePage((), None)
        documents = await self._store.page(owner, "scene", None, place, limit + 1)
        shown = documents[:limit]
        scenes = tuple(scene_in(one.body) for one in shown if one.body["epoch"] == head.epoch)
        if len(documents) == len(shown):
            return ScenePage(scenes, None)
        last = Place(int(shown[-1].body["sequence"]), shown[-1].id)
        return ScenePage(scenes, self._cursors.make(owner, head, {"list": "scenes"}, last))

    async def get(self, owner: Owner, scene_id: str) -> Scene:
        """One scene. Raises NotFound."""
        found = await self._by_ids(owner, [scene_id])
        if scene_id not in found:
            raise NotFound(f"no scene {scene_id!r} for this user")
        return found[scene_id]

    async def of(self, owner: Owner, cells: Mapping[str, str | None] | Sequence[str]) -> Mapping[str, Scene]:
        """The scene of each of these cells, by the cell's id; those that are in none are left out.

        cells: ids; or ids with the `scene_id` of each where the memories are at hand, which saves reading them.
        """
        if not isinstance(cells, Mapping):
            shown = await self._store.memories(owner, list(cells))
            cells = {name: one.memory.scene_id for name, one in shown.items()}
        scenes = await self._by_ids(owner, sorted({one for one in cells.values() if one is not None}))
        found = {name: scenes[one] for name, one in cells.items() if one is not None and one in scenes}
        return {name: scene for name, scene in found.items() if name in scene.cell_ids}

    async def _by_ids(self, owner: Owner, ids: Sequence[str]) -> dict[str, Scene]:
        if not ids:
            return {}
        look = await self._store.snapshot(owner, ids)
        epoch = None if look.head is None else look.head.epoch
        found = {name: one for name, one in look.documents.items() if one.kind == "scene" and one.body["epoch"] == epoch}
        return {name: scene_in(one.body) for name, one in found.items()}
