"""Read scenes, a person's profile, and the time of the next run.

Note: a run takes deleted memories out of their scene, but readers do not wait for a run. If
memories were removed since the last run, removed cells are left out here. Expired cells, which no
run takes out, are always left out. Title and summary are of the remaining cells.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from memory_core.domain.conflict import record_in
from memory_core.domain.errors import NotFound
from memory_core.domain.fields import local
from memory_core.domain.memory import Head, Memory, MemoryType, Status
from memory_core.domain.profile import (
    MAX_FACTS,
    cell_ids_of,
    disputes_of,
    profile_at,
    subjects,
    with_facts,
    with_successors,
    without_rivals,
)
from memory_core.domain.scenes import (
    PROFILE_ID,
    KnownFact,
    KnownPerson,
    Profile,
    Scene,
    SceneMember,
    ScenePage,
    SceneView,
    person_in,
    scene_in,
    with_words,
)
from memory_core.domain.scope import Owner
from memory_core.domain.statements.values_said import values_in
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.readable import readable
from memory_core.ports import Clock, Document, Filter, LongTermStore, Place
from memory_core.recollection.candidate_sources import Zones
from memory_core.recollection.expectations import (
    LATEST,
    expectations,
    facts_changed_since,
    facts_that_are_over,
    foreseen,
)
from memory_core.recollection.superseded_facts import (
    SupersededFact,
    SupersededFacts,
    find_superseded_facts,
)
from memory_core.recollection.untold import Untold

_READ_AT_ONCE = 200


class Scenes:
    """The scenes of any owner.

    The id of another owner's scene looks like the id of no scene.
    """

    def __init__(self, store: LongTermStore, cursors: Cursors, clock: Clock) -> None:
        self._store, self._cursors, self._clock = store, cursors, clock
        self._untold = Untold(store)

    async def page(self, owner: Owner, cursor: str | None, limit: int) -> ScenePage:
        """Return a page of scenes, the most recently begun first.

        Args:
            owner: Whose scenes are listed.
            cursor: The end of the last page; None for the first page.
            limit: The most scenes of the page.

        Raises:
            Malformed: The cursor is void.
            Unavailable: The long-term store is down.

        """
        head = (await self._store.snapshot(owner)).head
        place = self._cursors.read(owner, head, {"list": "scenes"}, cursor)
        if head is None:
            return ScenePage((), None)
        documents = await self._store.page(owner, "scene", None, place, limit + 1)
        now = self._clock.now()
        scenes = await self._views(
            owner, [*(await self._present(owner, head, documents[:limit], now)).values()], now
        )
        if len(documents) <= limit:
            return ScenePage(scenes, None)
        last = Place(int(documents[limit - 1].body["sequence"]), documents[limit - 1].id)
        return ScenePage(scenes, self._cursors.make(owner, head, {"list": "scenes"}, last))

    async def get(self, owner: Owner, scene_id: str) -> SceneView:
        """Return a scene.

        Args:
            owner: Whose scene it is.
            scene_id: The id of the scene.

        Raises:
            NotFound: There is no such scene.
            Unavailable: The long-term store is down.

        """
        now = self._clock.now()
        scenes = await self._by_ids(owner, [scene_id], now)
        if scene_id not in scenes:
            raise NotFound("no scene of this id for this user")
        (view,) = await self._views(owner, [scenes[scene_id]], now)
        return view

    async def of(
        self, owner: Owner, cells: Mapping[str, str | None] | Sequence[str], moment: datetime
    ) -> Mapping[str, Scene]:
        """Return the scene of each cell at a moment, by the cell's id.

        Args:
            owner: Whose cells they are.
            cells: The ids; or ids with the `scene_id` of each if the memories are at hand, which
                saves a read.
            moment: The moment.

        Returns:
            The scenes; a cell without a scene is left out.

        Raises:
            Unavailable: The long-term store is down.

        """
        if not isinstance(cells, Mapping):
            documents = await self._store.memories(owner, list(cells))
            cells = {name: document.memory.scene_id for name, document in documents.items()}
        scenes = await self._by_ids(
            owner, sorted({scene_id for scene_id in cells.values() if scene_id is not None}), moment
        )
        scene_of_cell = {
            name: scenes[scene_id]
            for name, scene_id in cells.items()
            if scene_id is not None and scene_id in scenes
        }
        return {name: scene for name, scene in scene_of_cell.items() if name in scene.cell_ids}

    async def _by_ids(self, owner: Owner, ids: Sequence[str], moment: datetime) -> dict[str, Scene]:
        if not ids:
            return {}
        look = await self._store.snapshot(owner, ids)
        if look.head is None:
            return {}
        return await self._present(
            owner,
            look.head,
            [document for document in look.documents.values() if document.kind == "scene"],
            moment,
        )

    async def _present(
        self, owner: Owner, head: Head, documents: Sequence[Document], moment: datetime
    ) -> dict[str, Scene]:
        """Return the scenes in these documents by id, without removed and expired cells.

        Nor with cells that tell a deleted fact.

        A scene without any other cell is left out.
        """
        scenes = {
            document.id: scene_in(document.body)
            for document in documents
            if document.body["epoch"] == head.epoch
        }
        cells = sorted({name for scene in scenes.values() for name in scene.cell_ids})
        gone = {*await self._untold.of_cells(owner, head, cells)}
        if head.last_removal_sequence > head.consolidated_sequence:
            gone |= await self._gone(owner, cells)
        return {
            name: current
            for name, scene in scenes.items()
            if (current := standing(scene, gone, moment)).count
        }

    async def _views(
        self, owner: Owner, scenes: Sequence[Scene], moment: datetime
    ) -> tuple[SceneView, ...]:
        """Return the scenes with the facts of their cells that were superseded since."""
        cells = sorted({name for scene in scenes for name in scene.cell_ids})
        superseded = SupersededFacts({})
        for start in range(0, len(cells), _READ_AT_ONCE):
            documents = await self._store.memories(owner, cells[start : start + _READ_AT_ONCE])
            superseded |= await find_superseded_facts(self._store, owner, documents, moment)
        return tuple(
            _view(
                scene,
                [fact for name in scene.cell_ids for fact in superseded.by_memory.get(name, ())],
            )
            for scene in scenes
        )

    async def _gone(self, owner: Owner, cells: Sequence[str]) -> set[str]:
        there: set[str] = set()
        for start in range(0, len(cells), _READ_AT_ONCE):
            documents = await self._store.memories(owner, cells[start : start + _READ_AT_ONCE])
            there |= {
                name
                for name, document in documents.items()
                if document.memory.status is not Status.DELETED
            }
        return set(cells) - there


def _view(scene: Scene, superseded: Sequence[SupersededFact]) -> SceneView:
    """Return a scene with each superseded fact once, however many cells told it."""
    facts = {fact.text: fact.as_shown() for fact in superseded}
    return SceneView.model_construct(**dict(scene), stale_facts=[*facts.values()])


def standing(scene: Scene, gone: Collection[str], moment: datetime) -> Scene:
    """Return the scene without cells that are removed, or ended at a moment.

    Args:
        scene: The scene.
        gone: The ids of removed cells.
        moment: The moment.

    Returns:
        The scene; the same object if it keeps all its cells.

    """

    def stands(member: SceneMember) -> bool:
        return member.cell_id not in gone and (member.until is None or moment < member.until)

    members = [member for member in scene.members if stands(member)]
    return scene if len(members) == scene.count else with_words(scene.changed(members=members))


# The profile of a person as it is read: what the memories that it names say now,
# or said at a moment.
#
# Note: a run writes down which memories a profile rests on, not what they say. So what was
# superseded, edited or deleted since the last run is so here as well, at the price of one read by
# ids; and one more for what has come in its place. Before the first run it is told from the latest
# facts themselves.


_SEMANTIC = frozenset({MemoryType.SEMANTIC.value})
_EPISODIC = frozenset({MemoryType.EPISODIC.value})
_FOUND = frozenset(status.value for status in FOUND_BY_DEFAULT)
_TRUE = frozenset(status.value for status in (*FOUND_BY_DEFAULT, Status.SUPERSEDED, Status.UPDATED))
"""The statuses of truths of today and of earlier times."""
MAX_READ = 2 * MAX_FACTS
"""The latest facts, ended ones among them, that are read before the first run."""
MAX_DISPUTES = 5
"""The most open conflicts of a fact that its profile tells, the latest."""
MAX_STEPS = 3
"""How far a chain is followed of truths that succeeded each other since the last run.

The next run learns of them all.
"""


class Profiles:
    """The profile of any owner."""

    def __init__(self, store: LongTermStore, clock: Clock) -> None:
        self._store, self._clock, self._zones = store, clock, Zones(store)
        self._untold = Untold(store)

    async def of(
        self, owner: Owner, at: datetime | None = None, *, without_session_id: str | None = None
    ) -> Profile:
        """Return the profile of the person, as it was true at a moment.

        Args:
            owner: Whose profile it is.
            at: The moment; None for now.
            without_session_id: The session whose facts are left out; None to leave out none.

        Returns:
            The profile; empty for an unknown user.

        Raises:
            Unavailable: The long-term store is down.

        """
        look = await self._store.snapshot(owner, [PROFILE_ID])
        document = look.documents.get(PROFILE_ID)
        if look.head is None:
            return Profile()
        if document is None or document.body["epoch"] != look.head.epoch:
            person, memories = await self._of_facts(owner)
        else:
            person, memories = person_in(document.body), {}
        named = {name for fact in person.facts for name in (*fact.memory_ids, *fact.cell_ids)}
        named |= {name for trait in person.traits for name in trait.cell_ids}
        memories |= await self._memories(owner, named - memories.keys())
        for _ in range(MAX_STEPS):
            if not (
                wanted := {
                    memory.next_id for memory in memories.values() if memory.next_id is not None
                }
                - memories.keys()
            ):
                break
            found_more = await self._memories(owner, wanted)
            if not found_more:
                break
            memories |= found_more
        untold = await self._untold.among(owner, look.head, memories.values())
        searchable = {
            name: memory
            for name, memory in memories.items()
            if memory.searchable and name not in untold
        }
        profile = profile_at(with_successors(person, memories), searchable, at or self._clock.now())
        profile = await self._without_changed(
            owner,
            _without_session(profile, searchable, without_session_id),
            searchable,
            at,
            without_session_id,
        )
        return await self._with_disputes(owner, profile, searchable, at, without_session_id)

    async def _of_facts(self, owner: Owner) -> tuple[KnownPerson, dict[str, Memory]]:
        """Return a profile of the latest facts, and these facts.

        It serves before a run has written a profile. Cells are left out: they are in no scene
        before a run.
        """
        where = Filter(_TRUE, types=_SEMANTIC)
        read, _ = readable(await self._store.page(owner, "memory", where, None, MAX_READ))
        memories = {fact.id: fact for fact in read if fact.searchable}
        known = with_facts(
            KnownPerson(), memories.values(), subjects(memories.values(), owner.user_id), memories
        )
        facts = [KnownFact(name=fact.name, memory_ids=fact.memory_ids) for fact in known.facts]
        return KnownPerson(facts=facts), memories

    async def _without_changed(
        self,
        owner: Owner,
        profile: Profile,
        memories: Mapping[str, Memory],
        at: datetime | None,
        without_session_id: str | None,
    ) -> Profile:
        """Leave out appointments that are over, or were moved or called off since.

        That costs three reads if a fact names a time that is not long over, one if all are over,
        else none; one more for its cell if no run has written the profile.
        """
        dated = [fact for fact in profile.explicit if values_in(str(fact.value)).whens]
        if not dated:
            return profile
        zone = await self._zones.of(owner)
        now = self._clock.now()
        moment = at or now
        over = facts_that_are_over(dated, memories, moment, zone)
        profile = profile.with_facts(
            [fact for fact in profile.explicit if fact.memory_id not in over]
        )
        dated = [fact for fact in dated if fact.memory_id not in over]
        cell_ids = {name for fact in dated for name in cell_ids_of(memories[fact.memory_id])}
        cells = await self._memories(owner, cell_ids - memories.keys())
        cells |= {name: memories[name] for name in cell_ids & memories.keys()}
        ahead = [cell for cell in cells.values() if cell.searchable and foreseen(cell, moment)]
        if not ahead:
            return profile
        where = Filter(
            _FOUND,
            types=_EPISODIC,
            without_session_id=without_session_id,
            at=at,
            now=now,
            hide_formed_messages=True,
        )
        page = await self._store.page(owner, "memory", where, None, LATEST)
        latest = [memory for memory in readable(page)[0] if memory.searchable]
        every = await asyncio.to_thread(expectations, [*latest, *ahead], local(moment, zone))
        changed = facts_changed_since(dated, every)
        return profile.with_facts(
            [fact for fact in profile.explicit if fact.memory_id not in changed]
        )

    async def _with_disputes(
        self,
        owner: Owner,
        profile: Profile,
        memories: Mapping[str, Memory],
        at: datetime | None,
        without_session_id: str | None,
    ) -> Profile:
        """Add the statements that open conflicts set against the profile's facts.

        That costs two reads if a fact has conflicts, else none.
        """
        ids = [
            name
            for fact in profile.explicit
            for name in memories[fact.memory_id].conflict_ids[-MAX_DISPUTES:]
        ]
        if not ids:
            return profile
        documents = (
            await self._store.snapshot(owner, list(dict.fromkeys(ids))[:_READ_AT_ONCE])
        ).documents.values()
        records = [
            record
            for document in documents
            if document.kind == "conflict" and (record := record_in(document.body)).open
        ]
        sides = await self._memories(
            owner, {name for record in records for name in record.sides} - memories.keys()
        )
        statements = {
            name: memory
            for name, memory in {**memories, **sides}.items()
            if memory.searchable
            and memory.status in FOUND_BY_DEFAULT
            and (at is None or memory.event_timestamp <= at)
            if without_session_id is None or memory.session_id != without_session_id
        }
        facts = [
            fact.disputed(disputes_of(fact.memory_id, records, statements))
            for fact in profile.explicit
        ]
        return profile.with_facts(without_rivals(facts))

    async def _memories(self, owner: Owner, names: Collection[str]) -> dict[str, Memory]:
        ids, memories = sorted(names), dict[str, Memory]()
        for start in range(0, len(ids), _READ_AT_ONCE):
            documents = await self._store.memories(owner, ids[start : start + _READ_AT_ONCE])
            memories |= {name: document.memory for name, document in documents.items()}
        return memories


def _without_session(
    profile: Profile, memories: Mapping[str, Memory], session_id: str | None
) -> Profile:
    """Return the profile without a session's facts; traits stay, since they come from many."""
    if session_id is None:
        return profile
    of_session = {name for name, memory in memories.items() if memory.session_id == session_id}
    return profile.with_facts(
        [
            fact.without_earlier(of_session)
            for fact in profile.explicit
            if fact.memory_id not in of_session
        ]
    )


HOUR = timedelta(hours=1)


class NextRun:
    """The next run of any owner.

    If `first` is given, it is how long after their first memory a user's first run begins. If it
    is None, the first run begins with the hour, over which runs are spread.
    """

    def __init__(
        self, store: LongTermStore, clock: Clock, first: timedelta | None, spread: timedelta
    ) -> None:
        self._store, self._clock, self._first, self._spread = store, clock, first, spread

    async def expected(self, owner: Owner) -> datetime | None:
        """Return the moment by which the next run has begun.

        None if no run is due. Raises Unavailable.
        """
        head = (await self._store.snapshot(owner, [])).head
        now = self._clock.now()
        # later: what fades, which makes no scenes
        if head is None or head.due_at is None or head.due_at > now:
            return None
        if self._first is not None and head.settled_at is None and head.due_at + self._first > now:
            return head.due_at + self._first
        return now.replace(minute=0, second=0, microsecond=0) + HOUR + self._spread
