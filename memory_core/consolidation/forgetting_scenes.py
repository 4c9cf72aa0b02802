"""Forgetting for good, in what memories add up to: scenes without the forgotten, and the profile without what rested on them.

Note: words of a forgotten cell may stand in a scene's title and summary, made by rules or by a model, and its vector in the centroid.
So they are made again of what stays; and a trait that a model saw in a forgotten cell goes, since it is not known what it was made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_core.consolidation.forgetting_plan import Progress
from memory_core.domain.models import Vector
from memory_core.domain.profile_news import without_memories
from memory_core.domain.scene import OF_THE_STORE, PROFILE_ID, Scene, person_in, scene_in
from memory_core.domain.scene_sorting import Thread, mean
from memory_core.domain.scene_words import with_members, with_words
from memory_core.domain.versions import base_id
from memory_core.ledger.commit import Look
from memory_core.ledger.ids import derived
from memory_core.ports import Document, LongTermStore, Mark, Place
from memory_core.tasks.leases import Lease
from memory_core.tasks.operations import Chunk, Operation, Operations

PAGE = 50
MOST_DOCUMENTS = 96
"""Of a commit, beside head and operation: a scene becomes several only where all its cells and these fit in."""


class Derived:
    """Does both passes for any owner."""

    def __init__(self, store: LongTermStore, operations: Operations) -> None:
        self._store, self._operations = store, operations

    async def scenes(self, lease: Lease, operation: Operation, progress: Progress, following: Progress) -> Operation:
        """The next scene that a forgotten cell was in; `following` once there is none."""
        place = None if progress.place is None else Place(*progress.place)
        while documents := await self._store.page(lease.owner, "scene", None, place, PAGE, newest_first=False):
            concerned = next((document for document in documents if _names(progress, scene_in(document.body))), None)
            if concerned is not None:
                return await self._without(lease, operation, progress, concerned)
            place = Place(int(documents[-1].body["sequence"]), documents[-1].id)
        return await self._operations.advance(lease, operation, [], lambda look, stored: Chunk(cursor=following.document))

    async def profile(self, lease: Lease, operation: Operation, progress: Progress, following: Progress) -> Operation:
        """The profile, in one commit."""

        def decide(look: Look, stored: Operation) -> Chunk:
            document = look.documents.get(PROFILE_ID)
            if document is None or look.head is None or document.body["epoch"] != look.head.epoch:
                return Chunk(cursor=following.document)
            person = person_in(document.body)
            named = {name for fact in person.facts for name in fact.memory_ids}
            gone = {*progress.gone, *(name for name in named if base_id(name) in progress.gone)}
            left = without_memories(person, gone)
            body = {**document.body, **left.model_dump(mode="json")}
            puts = () if left == person else (Document(PROFILE_ID, "profile", body, tag=document.tag),)
            return Chunk(puts=puts, cursor=following.document)

        return await self._operations.advance(lease, operation, [PROFILE_ID], decide)

    async def _without(self, lease: Lease, operation: Operation, progress: Progress, document: Document) -> Operation:
        cells = scene_in(document.body).cell_ids

        def decide(look: Look, stored: Operation) -> Chunk:
            # The count moves, so that of two workers each does a scene once.
            further = progress.at("scene", (int(document.body["sequence"]), document.id)).document
            scene_document = look.documents.get(document.id)
            if scene_document is None:
                return Chunk(cursor=further)
            scene = scene_in(scene_document.body)
            members = [member for member in scene.members if member.cell_id not in progress.gone]
            if not members:
                return Chunk(deletes=(Document(scene_document.id, "scene", {}),), cursor=further, counts={"scenes": 1})
            vectors = {name: memory.embedding for name in cells if (memory := look.memory(name)) is not None}
            vectors = {} if scene_document.vector is None else vectors
            left, *parted = _parted(Thread(with_members(scene, members), mean(members, vectors)), vectors, operation.id)
            body = {name: scene_document.body[name] for name in OF_THE_STORE}
            puts = [_document(left, body, scene_document.tag), *(_document(thread, {}, None) for thread in parted)]
            marks = {
                name: Mark.of_scene(thread.scene.id) for thread in parted for name in thread.scene.cell_ids if look.memory(name) is not None
            }
            return Chunk(puts=tuple(puts), marks=marks, cursor=further, counts={"scenes": 1})

        return await self._operations.advance(lease, operation, [document.id, *cells], decide)


def _parted(thread: Thread, vectors: Mapping[str, Vector | None], operation_id: str) -> list[Thread]:
    """The thread as it stays, and what is too far from it without the cells between, as far as that fits a commit."""
    cells, parted = thread.scene.count, [thread]
    while cells + len(parted) < MOST_DOCUMENTS:
        later = parted[-1].part(derived("scn", operation_id, parted[-1].scene.id), vectors)
        if later is None:
            break
        parted.append(later)
    return parted


def _document(thread: Thread, stored: Mapping[str, Any], tag: str | None) -> Document:
    scene = with_words(thread.scene)
    return Document(scene.id, "scene", {**stored, **scene.model_dump(mode="json")}, thread.centroid, tag=tag)


def _names(progress: Progress, scene: Scene) -> bool:
    return any(name in progress.gone for name in scene.cell_ids)
