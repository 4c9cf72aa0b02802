"""Place new episodes in scenes and take removed episodes out, in a run.

Note: a scene's document and its cells' `scene_id` are written in a single commit. The latter is
written beside the log, like accesses: no ETag changes, and a rival writer that read the memory
before may overwrite it. In such a case the scene is right.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from memory_core.consolidation.step import Proposal, Run
from memory_core.domain.agent_schemas import Answered, ConversationSummary
from memory_core.domain.conversation import Message
from memory_core.domain.errors import AgentFailed
from memory_core.domain.memory import Memory, MemoryType, Status, Vector
from memory_core.domain.scene_assignment import (
    EVERYDAY,
    GAP,
    PROTOTYPES,
    EpisodeToPlace,
    SceneRules,
    Thread,
    begun,
    mean,
    place,
    theme_of,
    themes,
)
from memory_core.domain.scenes import Scene, SceneMember, line_of, scene_in, shown_in, with_words
from memory_core.domain.scope import Owner
from memory_core.domain.statements.provenance import tells_of
from memory_core.ledger.ids import derived, note_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Agents, Document, Embedder, LongTermStore, Mark
from memory_core.tasks.agent_steps import Steps
from memory_core.tasks.operation_records import Chunk

PLACED_AT_ONCE: Final = 30
"""Cells of a commit; each is a document of it, and so is each scene."""
MOST_DOCUMENTS: Final = 96
"""The most documents of a commit beside head and operation.

A scene is split only if its cells fit, and later cells wait.
"""
MOST_TOLD: Final = 1_000
"""The most cells of the changed scenes of a commit, together.

Each takes about 600 bytes, some with a vector of 40 KB.
"""
SEARCHED: Final = 100
"""Scenes, the most recently begun, that are searched for a cell.

The cell was placed while it was being deleted, by the last run or so.
"""
TOLD = 12
"""The most cells of a scene that a model gets for a summary, the latest."""
MAX_SUMMARY = 2_000
log = logging.getLogger(__name__)
Summaries = Mapping[tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The subject of a chunk.

    Attributes:
        cells: The ids of the cells.
        ids: The ids of all documents that are read for them.
        prototypes: The vectors of the themes.

    """

    cells: tuple[str, ...]
    ids: tuple[str, ...]
    prototypes: Mapping[str, Vector]


class SceneStep:
    """Places the episodes of a run.

    The agent `rules` works without a model. If there is no other agent, summaries are made by
    rules.
    """

    name = "scenes"

    def __init__(
        self,
        store: LongTermStore,
        embedder: Embedder,
        agents: Agents,
        rules: Agents,
        steps: Steps,
        sorting: SceneRules,
    ) -> None:
        self._store, self._embedder, self._steps, self._sorting = store, embedder, steps, sorting
        self._model = None if agents is rules else agents
        self._prototypes: dict[str, Vector] = {}

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """Return the next cells that are to be placed or taken out.

        Args:
            run: The run.
            cursor: The place among the changed episodes; None for the beginning.

        Raises:
            Unavailable: The long-term store, the embedder or an agent is down.

        """
        changed_ids, begin = run.changed_ids(MemoryType.EPISODIC.value), cursor or 0
        for start in range(begin, len(changed_ids), PLACED_AT_ONCE):
            names = changed_ids[start : start + PLACED_AT_ONCE]
            read_set = await run.reads.look(names)
            cells = [cell for name in names if (cell := read_set.memory(name)) is not None]
            left = await self._scenes_with_deleted(run.owner, cells)
            waiting = [
                waiting_cell
                for waiting_cell in cells
                if _is_to_do(waiting_cell) or waiting_cell.id in left
            ]
            if waiting:
                return await self._proposed(
                    run, waiting, left, start, last=start + PLACED_AT_ONCE >= len(changed_ids)
                )
        return None

    async def _scenes_with_deleted(self, owner: Owner, cells: Sequence[Memory]) -> dict[str, str]:
        """Return the scenes that have deleted cells without a `scene_id`, by the cell's id.

        Such cells were placed while they were being deleted.
        """
        lost = {
            cell.id
            for cell in cells
            if cell.type is MemoryType.EPISODIC
            and cell.status is Status.DELETED
            and cell.scene_id is None
        }
        scenes = await self._store.page(owner, "scene", None, None, SEARCHED) if lost else []
        return {
            name: document.id
            for document in scenes
            for name in document.body["cell_ids"]
            if name in lost
        }

    async def _proposed(
        self,
        run: Run,
        waiting: Sequence[Memory],
        left: Mapping[str, str],
        start: int,
        *,
        last: bool,
    ) -> Proposal:
        asked = await self._asked(run, waiting, left)
        summaries = await self._summaries(run, asked) if self._model is not None else {}

        def decide(read_set: ReadSet) -> Chunk:
            placing = _Placing(run.id, read_set, asked, self._sorting)
            chunk = placing.chunk(summaries)
            return replace(
                chunk,
                cursor=start + PLACED_AT_ONCE if placing.whole else start,
                done=last and placing.whole,
            )

        return Proposal(asked.ids, decide, waits=True)

    async def dry_run(self, run: Run) -> Mapping[str, int]:
        """Count the cells that would be placed."""
        changed_ids = run.changed_ids(MemoryType.EPISODIC.value)
        cells = await run.reads.memories(changed_ids)
        return {
            "cells_placed": sum(
                _is_to_do(cell) and cell.status is not Status.DELETED for cell in cells.values()
            )
        }

    async def _asked(self, run: Run, waiting: Sequence[Memory], left: Mapping[str, str]) -> _Asked:
        """Collect all that is read to place the cells.

        These are their notes, the scenes near in time, and the cells of scenes that get a new
        centroid.
        """
        coming = [cell for cell in waiting if cell.status is not Status.DELETED]
        known = {*left.values(), *(cell.scene_id for cell in waiting if cell.scene_id is not None)}
        if coming:
            first, last = min(_at(cell) for cell in coming), max(_at(cell) for cell in coming)
            times = {
                document.id: [
                    datetime.fromisoformat(document.body[name])
                    for name in ("started_at", "ended_at")
                ]
                for document in await run.reads.scenes()
            }
            known |= {
                name
                for name, (began, ended) in times.items()
                if began - last <= GAP and first - ended <= GAP
            }
        scenes, prototypes = sorted(known), await self._themes() if coming else {}
        members, gone = list[str](), {cell.id for cell in waiting if cell.status is Status.DELETED}
        if scenes and self._sorting.by_vectors:
            theme_counts = Counter(
                theme_of(themes(cell.lexical.own), cell.embedding, prototypes, self._sorting)
                for cell in coming
            )
            for document in (await run.reads.look(scenes)).documents.values():
                body = document.body
                most = (
                    body["count"]
                    + theme_counts[EVERYDAY]
                    + (theme_counts[body["theme"]] if body["theme"] != EVERYDAY else 0)
                )
                # The scene may be split now or when a cell leaves, and each half needs a centroid.
                if (
                    document.vector is None
                    or most > self._sorting.most
                    or not gone.isdisjoint(body["cell_ids"])
                ):
                    members += body["cell_ids"]
        notes = [note_id(cell.id) for cell in coming if cell.category == "cell"]
        cells = tuple(cell.id for cell in waiting)
        return _Asked(cells, tuple(dict.fromkeys([*cells, *notes, *scenes, *members])), prototypes)

    async def _themes(self) -> Mapping[str, Vector]:
        """Return the prototypes' vectors, which are made once a process.

        Empty if vectors have no meaning, as without a real embedder.
        """
        if self._sorting.by_vectors and not self._prototypes:
            vectors = await self._embedder.embed(
                [f"{name}: {' '.join(words.split()[:24])}" for name, words in PROTOTYPES.items()]
            )
            self._prototypes = dict(zip(PROTOTYPES, vectors, strict=True))
        return self._prototypes

    async def _summaries(self, run: Run, asked: _Asked) -> Summaries:
        """Ask the model for summaries of the scenes as they would be now.

        The summaries are by the scene's cells. A scene that the model can't summarise is left out.
        """
        placing = _Placing(run.id, await run.reads.look(asked.ids), asked, self._sorting)
        placing.chunk({})
        texts: dict[tuple[str, ...], str] = {}
        for thread in placing.threads:
            if (
                thread.changed
                and thread.scene.count
                and (text := await self._summary(run, thread.scene)) is not None
            ):
                texts[tuple(thread.scene.cell_ids)] = text
        return texts

    async def _summary(self, run: Run, scene: Scene) -> str | None:
        assert self._model is not None
        agents = self._model
        messages = [
            Message(role="user", content=member.line, timestamp=member.at)
            for member in scene.members[-TOLD:]
        ]

        async def ask() -> Answered[ConversationSummary]:
            return await agents.summarise(run.owner, messages, fast=True)

        name = f"{self.name}:{hashlib.sha256(' '.join(scene.cell_ids).encode()).hexdigest()[:24]}"
        try:
            answer = await self._steps.frozen(run.owner, run.id, name, ask, ConversationSummary)
        except AgentFailed as error:
            log.warning("a scene is told of by rules: %s", error.detail)
            return None
        text = " ".join(answer.value.narrative.split())[:MAX_SUMMARY]
        return text if tells_of(text, messages) else None


class _Placing:
    """A chunk in the making, on a single read set.

    `whole` says that no cell had to be left to another chunk.
    """

    def __init__(self, run_id: str, read_set: ReadSet, asked: _Asked, rules: SceneRules) -> None:
        self._run_id, self._look, self._asked, self._rules = run_id, read_set, asked, rules
        self._epoch = None if read_set.head is None else read_set.head.epoch
        self._read = {
            name: document
            for name, document in read_set.documents.items()
            if document.kind == "scene" and document.body["epoch"] == self._epoch
        }
        self.threads = [self._thread(document) for _, document in sorted(self._read.items())]
        self._marks: dict[str, str | None] = {}
        self._placed = 0
        self.whole = True

    def chunk(self, summaries: Summaries) -> Chunk:
        """Return all that is to be written; the caller sets the cursor."""
        cells = [
            cell for name in self._asked.cells if (cell := self._look.memory(name)) is not None
        ]
        leaving = [
            leaving_cell
            for leaving_cell in cells
            if leaving_cell.status is Status.DELETED
            and (_is_to_do(leaving_cell) or self._held(leaving_cell) is not None)
        ]
        coming = [
            coming_cell
            for coming_cell in cells
            if coming_cell.status is not Status.DELETED and _is_to_do(coming_cell)
        ]
        for memory in [*leaving, *sorted(coming, key=lambda cell: (_at(cell), cell.id))]:
            if self._full(memory):
                self.whole = False
                break
            if memory.status is Status.DELETED:
                self._leave(memory)
            else:
                self._join(memory)
        changed = [thread for thread in self.threads if thread.changed]
        puts = [self._document(thread, summaries) for thread in changed if thread.scene.count]
        gone = [
            self._read[thread.scene.id]
            for thread in changed
            if not thread.scene.count and thread.scene.id in self._read
        ]
        made = sum(document.id not in self._read for document in puts)
        return Chunk(
            puts=tuple(puts),
            deletes=tuple(Document(document.id, "scene", {}) for document in gone),
            marks={name: Mark.of_scene(scene_id) for name, scene_id in self._marks.items()},
            counts={"cells_placed": self._placed, "scenes_made": made},
        )

    def _held(self, memory: Memory) -> Thread | None:
        return next((thread for thread in self.threads if thread.has(memory.id)), None)

    def _full(self, memory: Memory) -> bool:
        """Whether the commit might have no room for another cell and its scene.

        A cell that leaves its scene may also split the scene.
        """
        changed = [thread.scene.count for thread in self.threads if thread.changed]
        thread = self._held(memory) if memory.status is Status.DELETED and self._marks else None
        parting = 0 if thread is None else thread.scene.count
        return (
            len(self._marks) + len(changed) + parting + 2 > MOST_DOCUMENTS
            or sum(changed) > MOST_TOLD
        )

    def _leave(self, memory: Memory) -> None:
        """Take a cell out of its scene.

        Without it two of the scene's cells may be too far apart; then the scene is split.
        """
        self._marks[memory.id] = None
        thread = self._held(memory)
        if thread is None:
            return
        thread.remove(memory.id, memory.embedding)
        vectors = self._vectors(thread.scene)
        while thread.scene.count + len(self._marks) + len(self.threads) < MOST_DOCUMENTS:
            later = thread.part(
                derived("scn", self._run_id, "part", thread.scene.id, memory.id), vectors
            )
            if later is None:
                break
            self._marks |= dict.fromkeys(later.scene.cell_ids, later.scene.id)
            self.threads.append(later)
            thread = later

    def _join(self, memory: Memory) -> None:
        thread = self._held(memory)
        if thread is None:
            cell = self._cell(memory)
            theme = theme_of(cell.themes, cell.vector, self._asked.prototypes, self._rules)
            thread = place(cell, theme, self.threads, self._rules)
            if thread is None:
                thread = begun(derived("scn", self._run_id, memory.id), cell, theme)
                self.threads.append(thread)
            else:
                thread.add(cell)
            self._placed += 1
        self._marks[memory.id] = thread.scene.id
        if thread.scene.count > self._rules.most:
            self._split(thread)

    def _split(self, thread: Thread) -> None:
        """Split a scene at once, so that the halves grow, however many cells come.

        The scene stays whole if more of its cells would move than the commit has room for.
        """
        first = replace(thread)
        name = derived("scn", self._run_id, "split", thread.scene.id, thread.scene.cell_ids[-1])
        later = first.split(name, self._vectors(thread.scene))
        moved = self._marks | dict.fromkeys(later.scene.cell_ids, later.scene.id)
        if (
            len(moved) + sum(other_thread.changed for other_thread in self.threads) + 1
            > MOST_DOCUMENTS
        ):
            return
        thread.scene, thread.centroid, self._marks = first.scene, first.centroid, moved
        self.threads.append(later)

    def _thread(self, document: Document) -> Thread:
        scene = scene_in(document.body)
        if document.vector is not None or not self._rules.by_vectors:
            return Thread(scene, document.vector)
        return Thread(scene, mean(scene.members, self._vectors(scene)))

    def _vectors(self, scene: Scene) -> dict[str, Vector | None]:
        documents = [
            document
            for name in scene.cell_ids
            if (document := self._look.documents.get(name)) is not None
        ]
        return {
            document.id: document.vector
            for document in documents
            if document.body["epoch"] == self._epoch
        }

    def _cell(self, memory: Memory) -> EpisodeToPlace:
        note = self._look.memory(note_id(memory.id)) if memory.category == "cell" else None
        member = SceneMember(
            cell_id=memory.id,
            at=_at(memory),
            until=memory.valid_until,
            line=line_of(memory.content),
            session_id=memory.session_id,
            shows=shown_in(note),
        )
        return EpisodeToPlace(
            member, themes(memory.lexical.own), memory.embedding if self._rules.by_vectors else None
        )

    def _document(self, thread: Thread, summaries: Summaries) -> Document:
        scene, read = with_words(thread.scene), self._read.get(thread.scene.id)
        scene = scene.changed(summary=summaries.get(tuple(scene.cell_ids), scene.summary))
        store_fields = (
            {} if read is None else {name: read.body[name] for name in ("epoch", "sequence")}
        )
        body = {**store_fields, **scene.model_dump(mode="json")}
        return Document(
            scene.id, "scene", body, thread.centroid, tag=None if read is None else read.tag
        )


def _is_to_do(memory: Memory) -> bool:
    """Whether a cell is to be placed, or to be taken out of its scene."""
    return memory.type is MemoryType.EPISODIC and (memory.status is Status.DELETED) == (
        memory.scene_id is not None
    )


def _at(memory: Memory) -> datetime:
    return memory.event_timestamp
