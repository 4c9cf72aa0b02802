"""What was true then: by id, in lists and in answers, against a model that paints each memory's
versions onto a line of days.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from memory_core.core import MemoryCore
from memory_core.domain.errors import Invalid, NotFound
from memory_core.domain.memory import Memory, OnConflict
from memory_core.domain.requests.memories import CopyInput, RetrieveInput, StatusInput, UpdateInput
from memory_core.domain.scope import Owner
from tests.builders import ALICE, NOW, StillClock
from tests.contract.conftest import on_cosmos
from tests.cosmos_server import Steered
from tests.past import check_that_the_log_tells_it
from tests.telling import Tellers, tell
from tests.world import World, fact, listed, rule

FIRST, LAST = -6, 6
DAY = timedelta(days=1)
DAYS = st.integers(FIRST, LAST)
MAYBE_DAY = st.none() | DAYS
ACTS = st.one_of(
    st.tuples(st.just("state"), MAYBE_DAY, MAYBE_DAY),
    st.tuples(st.just("edit"), st.integers(0, 9), MAYBE_DAY, MAYBE_DAY),
    st.tuples(st.just("prefer"), MAYBE_DAY),
    st.tuples(st.just("replace"), DAYS),
    st.tuples(st.just("delete"), st.integers(0, 9)),
    st.tuples(st.just("restore"), st.integers(0, 9)),
)


def moment(day: int | None) -> datetime | None:
    return None if day is None else NOW + day * DAY


@dataclass
class Line:
    """A memory: what holds on which stretch, and whether it was taken back. Later words about a day
    overrule the earlier ones.
    """

    pieces: list[tuple[datetime, datetime | None, str]] = field(default_factory=list)
    gone: bool = False

    def paint(self, begins: datetime, ends: datetime | None, content: str) -> None:
        self.cut(begins)
        self.pieces.append((begins, ends, content))

    def cut(self, at: datetime) -> None:
        self.pieces = [
            (begins, at if ends is None else min(ends, at), content)
            for begins, ends, content in self.pieces
        ]

    def then(self, at: datetime) -> str | None:
        values = [
            content
            for begins, ends, content in self.pieces
            if begins <= at and (ends is None or at < ends)
        ]
        assert len(values) <= 1
        return values[0] if values and not self.gone else None


@dataclass
class Life:
    """One user's memories in the product and in the model, changed alike."""

    core: MemoryCore
    clock: StillClock
    owner: Owner
    lines: dict[str, Line] = field(default_factory=dict)
    truths: list[tuple[datetime, datetime, str, str]] = field(default_factory=list)
    rules: list[tuple[str, datetime, str]] = field(default_factory=list)
    number: int = 0

    def text(self) -> str:
        self.number += 1
        return f"thing {self.number}"

    async def one(self, place: int) -> Memory | None:
        in_slot = {name for _, _, name, _ in self.truths}
        free = [name for name in self.lines if name not in in_slot]
        return await self.core.get(self.owner, free[place % len(free)]) if free else None

    async def state(self, begins: int | None, ends: int | None) -> None:
        text, now = self.text(), self.clock.now()
        with suppress(Invalid, ValidationError):
            item = fact(
                text,
                valid_from=moment(begins),
                valid_until=moment(ends),
                event_timestamp=now,
                on_conflict=OnConflict.KEEP_BOTH,
            )
            saved = (await self.core.save(self.owner, item)).memory
            self.lines.setdefault(saved.id, Line()).paint(moment(begins) or now, moment(ends), text)

    async def edit(self, place: int, begins: int | None, ends: int | None) -> None:
        memory, text, now = await self.one(place), self.text(), self.clock.now()
        if memory is None or self.lines[memory.id].gone or memory.type == "procedural":
            return
        given_days = {
            name: moment(day)
            for name, day in (("valid_from", begins), ("valid_until", ends))
            if day is not None
        }
        with suppress(Invalid):
            made = await self.core.update(
                self.owner,
                memory.id,
                UpdateInput.model_validate({"content": text, **given_days}),
                memory.etag,
            )
            self.lines[memory.id].paint(made.valid_from, made.valid_until, text)
            assert made.valid_from == given_days.get("valid_from", made.valid_from)
            assert made.valid_until == given_days.get("valid_until", made.valid_until)
            assert made.valid_from in {moment(begins), now, memory.valid_from}

    async def prefer(self, begins: int | None) -> None:
        text, now = self.text(), self.clock.now()
        saved = (
            await self.core.save(
                self.owner,
                rule("thing", text, content=text, valid_from=moment(begins), event_timestamp=now),
            )
        ).memory
        line = self.lines.setdefault(saved.id, Line())
        if line.gone:
            self.rules = [entry for entry in self.rules if entry[0] != saved.id]
        line.gone = False
        self.rules.append((saved.id, moment(begins) or now, text))
        self.paint_rules()

    def paint_rules(self) -> None:
        """One key: what is announced is a memory of its own until its day, and cuts the others."""
        lines = {name: self.lines[name] for name, _, _ in self.rules}
        for line in lines.values():
            line.pieces = []
        for name, begins, text in self.rules:
            if not lines[name].gone:
                for line in lines.values():
                    line.cut(begins)
                lines[name].paint(begins, None, text)

    async def replace(self, day: int) -> None:
        """One slot: a truth holds from its day on, until the day of any that was said later. One
        of a day ahead is said when it arrives.
        """
        text, at = self.text(), NOW + day * DAY
        if at in {begins for _, begins, _, _ in self.truths}:
            return
        item = fact(
            text,
            subject="thing",
            attribute="name",
            event_timestamp=at,
            on_conflict=OnConflict.SUPERSEDE,
        )
        saved = (await self.core.save(self.owner, item)).memory
        self.truths = sorted([*self.truths, (min(at, self.clock.now()), at, saved.id, text)])
        for number, (_, begins, name, day_told) in enumerate(self.truths):
            self.lines[name] = Line([(begins, None, day_told)])
            for _, _, earlier, _ in self.truths[:number]:
                self.lines[earlier].cut(begins)

    async def delete(self, place: int) -> None:
        if (memory := await self.one(place)) is not None:
            await self.core.delete(self.owner, memory.id)
            self.lines[memory.id].gone = True
            self.paint_rules()

    async def restore(self, place: int) -> None:
        if (memory := await self.one(place)) is not None and self.lines[memory.id].gone:
            await self.core.set_status(
                self.owner, memory.id, StatusInput(status="active", reason="again")
            )
            self.lines[memory.id].gone = False
            self.paint_rules()

    async def check(self, at: datetime) -> None:
        expected = {
            name: text for name, line in self.lines.items() if (text := line.then(at)) is not None
        }
        for query in ({}, {"status": "all"}, {"limit": 2}):
            memories = await listed(self.core, self.owner, at=at, **query)
            assert [memory.id for memory in memories] == list(
                dict.fromkeys(memory.id for memory in memories)
            )
            assert {memory.id: memory.content for memory in memories} == expected
        asked = RetrieveInput(query="thing", at=at, similarity_threshold=0.0, limit=100)
        assert {
            hit.memory.id: hit.memory.content
            for hit in (await self.core.retrieve(self.owner, asked)).results
        } == expected
        for name in self.lines:
            if name in expected:
                assert (await self.core.get(self.owner, name, at=at)).content == expected[name]
            else:
                with pytest.raises(NotFound):
                    await self.core.get(self.owner, name, at=at)


async def live(life: Life, acts: list[tuple[Any, ...]]) -> None:
    for name, *args in acts:
        life.clock.forward(3600)
        await getattr(life, name)(*args)
    for day in range(FIRST - 1, LAST + 2):
        await life.check(NOW + day * DAY)
    await life.check(life.clock.now())


@pytest.mark.parametrize(
    ("adapter", "examples"), [("sqlite", 60), ("cosmos", 6)], indirect=["adapter"]
)
def test_what_was_true_then(
    tmp_path: Path, clock: StillClock, server: Steered | None, examples: int
) -> None:
    world = World(tmp_path, clock, None if server is None else on_cosmos(server, clock))
    users: Iterator[int] = count()
    with asyncio.Runner() as runner:
        core = runner.run(world.core())

        @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(st.lists(ACTS, max_size=12))
        def alike(acts: list[tuple[Any, ...]]) -> None:
            clock.moment = NOW
            runner.run(live(Life(core, clock, Owner("app", f"user{next(users)}")), acts))

        try:
            alike()
        finally:
            runner.run(world.close())


@pytest.mark.parametrize(
    "days", [(2, 1), (1, 2), (2, 1, -1), (3, 1, 2), (-1, 2, -3)], ids=lambda days: f"{days}"
)
async def test_a_truth_of_a_day_ahead_counts_as_said_when_it_arrived(
    core: MemoryCore, clock: StillClock, days: tuple[int, ...]
) -> None:
    life = Life(core, clock, ALICE)
    await live(life, [("replace", day) for day in days])
    # of those of days ahead the one that arrived last ends the others
    expected = [text for _, _, _, text in life.truths][-1]
    beyond = NOW + (LAST + 1) * DAY
    assert [memory.content for memory in await listed(core, at=beyond)] == [expected]


async def test_a_correction_of_the_past_ends_every_version_after_it(
    core: MemoryCore, clock: StillClock
) -> None:
    memory = (await core.save(ALICE, fact("one", event_timestamp=NOW - 9 * DAY))).memory
    for days, text in ((6, "two"), (3, "three")):
        memory = await core.update(
            ALICE, memory.id, UpdateInput(content=text, valid_from=NOW - days * DAY), memory.etag
        )
    await core.update(ALICE, memory.id, UpdateInput(content="four", valid_from=NOW - 8 * DAY), "*")
    for days, text in ((8.5, "one"), (7, "four"), (5, "four"), (1, "four")):
        assert [memory.content for memory in await listed(core, at=NOW - days * DAY)] == [text]


@pytest.mark.parametrize(
    "edit",
    [UpdateInput(value="Oslo, on the hill"), UpdateInput(tags=["home"])],
    ids=["what it says", "its tags"],
)
async def test_a_truth_told_after_an_edit_gets_the_time_that_it_is_about(
    world: World, clock: StillClock, edit: UpdateInput
) -> None:
    """An edit by hand today, and then word of four days ago that it was otherwise from then on: by
    a save, and by a conversation.
    """
    agents = Tellers()
    core = await world.core(agents=agents, rules=Tellers())
    for subject in ("Ana", "Ben"):
        slot = {"subject": subject, "attribute": "city", "category": "fact"}
        memory = (
            await core.save(
                ALICE,
                fact(
                    f"{subject}'s city is Oslo", value="Oslo", event_timestamp=NOW - 9 * DAY, **slot
                ),
            )
        ).memory
        await core.update(ALICE, memory.id, edit, memory.etag)
    later = NOW - 4 * DAY
    slot = {"subject": "Ana", "attribute": "city", "category": "fact"}
    await core.save(ALICE, fact("Ana's city is Rome", value="Rome", event_timestamp=later, **slot))
    await tell(core, "Ben's city is Rome", at=later)
    for days, city in ((6, "Oslo"), (2, "Rome")):
        memories = await listed(core, at=NOW - days * DAY)
        assert sorted((memory.subject, memory.value) for memory in memories if memory.subject) == [
            ("Ana", city),
            ("Ben", city),
        ]
    await check_that_the_log_tells_it(world)


async def test_a_correction_ends_however_many_versions_it_lies_before(
    core: MemoryCore, clock: StillClock
) -> None:
    for n in range(45):
        clock.forward(60)
        await core.save(ALICE, rule("tabs", n))
    memory = await core.procedure(ALICE, "tabs")
    await core.update(ALICE, memory.id, UpdateInput(content="8", valid_from=NOW - DAY), memory.etag)
    for ago in (DAY / 2, timedelta(), -DAY):
        assert [memory.content for memory in await listed(core, at=NOW - ago)] == ["8"]
    assert (await core.procedure(ALICE, "tabs")).version == 46


async def test_what_was_deleted_and_begun_anew_has_no_past_before_that(
    core: MemoryCore, clock: StillClock
) -> None:
    memory = (await core.save(ALICE, fact("one", event_timestamp=NOW - 9 * DAY))).memory
    made = await core.copy(ALICE, memory.id, CopyInput(to_agent_id="a"))
    await core.update(ALICE, made.id, UpdateInput(content="two"), made.etag)
    await core.delete(ALICE, made.id)
    clock.forward(3600)
    again = await core.copy(ALICE, memory.id, CopyInput(to_agent_id="a"))
    assert (again.id, again.version) == (made.id, 1)
    memories = await listed(core, at=NOW + timedelta(minutes=90), agent_id="a")
    assert [(memory.id, memory.content) for memory in memories] == [(made.id, "one")]


async def test_what_was_deleted_by_hand_was_never_true(core: MemoryCore) -> None:
    memory = (await core.save(ALICE, fact("one"))).memory
    assert (await core.get(ALICE, memory.id, at=NOW)).content == "one"
    await core.delete(ALICE, memory.id)
    assert await listed(core, status="all", at=NOW) == []
    assert await listed(core, status="deleted", at=NOW) == []
    assert [memory.id for memory in await listed(core, status="deleted")] == [memory.id]
