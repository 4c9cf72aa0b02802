"""Forgetting for good, in what memories add up to: scenes without the forgotten, and the profile without what rested on them.

One would get wrong: words of a forgotten cell may stand in a scene's title and summary, whoever made these, and its vector in the centroid.
So they are made anew of what stays; and a trait that a model saw in a forgotten cell goes, since nobody knows what it was made of.
"""

from __future__ import annotations

from memory_core.consolidation.forgetting_plan import Progress
from memory_core.domain.profile_news import without_memories
from memory_core.domain.scene import PROFILE_ID, Scene, person_in, scene_in
from memory_core.domain.scene_sorting import mean
from memory_core.domain.scene_words import with_words
from memory_core.domain.versions import base_id
from memory_core.ledger.commit import Look
from memory_core.ledger.leases import Lease
from memory_core.ledger.operations import Chunk, Operation, Operations
from memory_core.ports import Document, LongTermStore, Place

PAGE = 50


class Derived:
    """Does both passes for any owner."""

    def __init__(self, store: LongTermStore, operations: Operations) -> None:
        self._store, self._operations = store, operations

    async def scenes(self, lease: Lease, operation: Operation, progress: Progress, following: Progress) -> Operation:
        """The next scene that a forgotten cell was in; `following` once there is none."""
        place = None if progress.place is None else Place(*progress.place)
        while documents := await self._store.page(lease.owner, "scene", None, place, PAGE, newest_first=False):
            concerned = next((one for one in documents if _names(progress, scene_in(one.body))), None)
            if concerned is not None:
                return await self._without(lease, operation, progress, concerned)
            place = Place(int(documents[-1].body["sequence"]), documents[-1].id)
        return await self._operations.advance(lease, operation, [], lambda look, stored: Chunk(cursor=following.document))

    async def profile(self, lease: Lease, operation: Operation, progress: Progress, following: Progress) -> Operation:
        """The profile, in one commit."""

        def decide(look: Look, stored: Operation) -> Chunk:
            found = look.documents.get(PROFILE_ID)
            if found is None or look.head is None or found.body["epoch"] != look.head.epoch:
                return Chunk(cursor=following.document)
            person = person_in(found.body)
            named = {name for one in person.facts for name in one.memory_ids}
            gone = {*progress.gone, *(name for name in named if base_id(name) in progress.gone)}
            left = without_memories(person, gone)
            body = {**found.body, **left.model_dump(mode="json")}
            puts = () if left == person else (Document(PROFILE_ID, "profile", body, tag=found.tag),)
            return Chunk(puts=puts, cursor=following.document)

        return await self._operations.advance(lease, operation, [PROFILE_ID], decide)

    async def _without(self, lease: Lease, operation: Operation, progress: Progress, document: Document) -> Operation:
        cells = scene_in(document.body).cell_ids

        def decide(look: Look, stored: Operation) -> Chunk:
            # The count moves, so that of two workers each does a scene once.
            further = progress.at("scene", (int(document.body["sequence"]), document.id)).document
            found = look.documents.get(document.id)
            if found is None:
                return Chunk(cursor=further)
            scene = scene_in(found.body)
            kept = [one for one in scene.members if one.cell_id not in progress.gone]
            if not kept:
                return Chunk(deletes=(Document(found.id, "scene", {}),), cursor=further, counts={"scenes": 1})
            left = with_words(scene.model_copy(update={"members": kept}))
            vectors = {name: memory.embedding for name in left.cell_ids if (memory := look.memory(name)) is not None}
            centroid = None if found.vector is None else mean(left.members, vectors)
            body = {**found.body, **left.model_dump(mode="json")}
            return Chunk(puts=(Document(found.id, "scene", body, centroid, tag=found.tag),), cursor=further, counts={"scenes": 1})

        return await self._operations.advance(lease, operation, [document.id, *cells], decide)


def _names(progress: Progress, scene: Scene) -> bool:
    return any(name in progress.gone for name in scene.cell_ids)
