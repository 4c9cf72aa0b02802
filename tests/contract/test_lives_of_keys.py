"""Drawn lives of a key: told now, late, ahead and of a time that is over, edited, deleted, brought
back. At every moment one value of it holds, and the key finds the one that holds now.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, Invalid, NotFound
from memory_core.domain.event_log import base_id, is_of_its_life, version_id
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.maintenance import ReplayInput
from memory_core.domain.requests.memories import ListInput, StatusInput, UpdateInput
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.ledger.readable import as_memory
from memory_core.recollection.filters import of_list, shows
from tests.world import World, listed, rule

KEY = "editor"
VALUES = ("vim", "nano", "emacs", "ed")
TIMES = ("valid_from", "valid_from", "valid_until")
STEPS = 14
SQLITE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)


class Life:
    """One user with one key, and what is drawn for it."""

    def __init__(self, world: World, core: MemoryCore, seed: int) -> None:
        self.world, self.core, self.owner, self.draw = (
            world,
            core,
            Owner("app", f"life-{seed}"),
            random.Random(seed),
        )
        self.done: list[str] = []

    async def live(self, steps: int = STEPS) -> None:
        """Do what is drawn; after each step everything is as it has to be."""
        for _ in range(steps):
            self.world.clock.forward(self.draw.choice((60, 3600, 86_400, 3 * 86_400)))
            members = await listed(self.core, self.owner, status="all")
            try:
                await self._step(members)
            except (Conflict, Invalid, NotFound) as refused:
                self.done[-1] += f" -> {type(refused).__name__}"
            await self._check()
        await self._check_the_log()

    async def _step(self, members: Sequence[Memory]) -> None:
        acts: list[Callable[[Sequence[Memory]], Awaitable[None]]] = [
            self._tell,
            self._tell_late,
            self._tell_late,
            self._tell_ahead,
            self._tell_of_a_time,
        ]
        if members:
            acts += [
                self._edit,
                self._edit_times,
                self._delete,
                self._bring_back,
                self._bring_back,
                self._bring_back,
            ]
        await self.draw.choice(acts)(members)

    async def _tell(self, _: Sequence[Memory], **fields: Any) -> None:
        value, session = (
            self.draw.choice(VALUES),
            self.draw.choice((None, None, "monday", "tuesday")),
        )
        times = " ".join(f"{name}={moment:%m-%d %H:%M}" for name, moment in fields.items())
        self.done.append(f"tell {value} {times or 'now'}")
        await self.core.save(self.owner, rule(KEY, value, session_id=session, **fields))

    async def _tell_late(self, members: Sequence[Memory]) -> None:
        fields = {"event_timestamp": self._moment(members)}
        if self.draw.random() < 0.25:
            fields["valid_from"] = self._moment(members)
        await self._tell(members, **fields)

    async def _tell_ahead(self, members: Sequence[Memory]) -> None:
        await self._tell(
            members, valid_from=self.world.clock.now() + timedelta(days=self.draw.randint(1, 9))
        )

    async def _tell_of_a_time(self, members: Sequence[Memory]) -> None:
        begin, end = sorted((self._moment(members), self._moment(members)))
        if begin < end:
            await self._tell(members, valid_from=begin, valid_until=end)

    async def _edit(self, members: Sequence[Memory]) -> None:
        memory = self.draw.choice(
            [member for member in members if member.status in FOUND_BY_DEFAULT] or members
        )
        self.done.append(f"edit {self._name(memory)}")
        await self.core.update(
            self.owner, memory.id, UpdateInput(value=self.draw.choice(VALUES)), "*"
        )

    async def _edit_times(self, members: Sequence[Memory]) -> None:
        """Correct times, ahead of now neither before nor after."""
        now = self.world.clock.now()
        begun = [member for member in members if member.valid_from <= now]
        if not begun:
            return
        memory, name = (
            self.draw.choice(
                [member for member in begun if member.status in FOUND_BY_DEFAULT] or begun
            ),
            self.draw.choice(TIMES),
        )
        changed: dict[str, Any] = {name: min(self._moment(members), now)}
        if self.draw.random() < 0.5:
            changed["value"] = self.draw.choice(VALUES)
        self.done.append(
            f"edit {self._name(memory)} {name}={changed[name]:%m-%d %H:%M} "
            f"{changed.get('value', '')}"
        )
        await self.core.update(self.owner, memory.id, UpdateInput(**changed), "*")

    async def _delete(self, members: Sequence[Memory]) -> None:
        memory = self.draw.choice(members)
        self.done.append(f"delete {self._name(memory)}")
        await self.core.delete(self.owner, memory.id)

    async def _bring_back(self, members: Sequence[Memory]) -> None:
        memory = self.draw.choice(
            [member for member in members if member.status not in FOUND_BY_DEFAULT] or members
        )
        self.done.append(f"bring back {self._name(memory)}")
        if self.draw.random() < 0.5:
            await self.core.restore(self.owner, memory.id)
        else:
            await self.core.set_status(
                self.owner, memory.id, StatusInput(status="active", reason="asked for")
            )

    def _moment(self, members: Sequence[Memory]) -> datetime:
        now = self.world.clock.now()
        beside = [
            member.valid_from + timedelta(minutes=self.draw.choice((-90, 0, 90)))
            for member in members
        ]
        return self.draw.choice(
            [
                *beside,
                now - timedelta(days=self.draw.randint(1, 30)),
                now - timedelta(hours=self.draw.randint(1, 30)),
            ]
        )

    def _name(self, memory: Memory) -> str:
        return (
            f"{memory.id[-4:]} {memory.value} "
            f"({memory.status.value}/{memory.status_reason} v{memory.version})"
        )

    async def _check(self) -> None:
        members, versions = await self._everything()
        story = "\n".join([*self.done, *(self._told(member) for member in (*members, *versions))])
        now = self.world.clock.now()
        standing = await listed(self.core, self.owner)
        holding = [member for member in standing if member.valid_from <= now]
        assert len(holding) <= 1, story
        try:
            memory = await self.core.procedure(self.owner, KEY)
        except NotFound:
            memory = None
        if holding:
            assert memory is not None, story
            assert memory.id == holding[0].id, story
        else:
            assert memory is None or memory.id in {member.id for member in standing}, story
        is_announced = len(standing) > len(holding)  # its memory may hold now by an earlier time
        assert [member.id for member in holding] == self._held(members, versions, now) or (
            is_announced and not holding
        ), story
        for moment in {member.valid_from for member in (*members, *versions)}:
            truths = self._held(members, versions, moment)
            assert len(truths) <= 1, f"{story}\nat {moment:%m-%d %H:%M:%S}: {truths}"
        following = {member.id: member.next_id for member in members}
        for start in following:
            step, passed = following[start], {start}
            while step is not None:
                assert step not in passed, story
                passed.add(step)
                step = following.get(step)

    async def _check_the_log(self) -> None:
        """What the log tells is what is stored, old versions included."""
        slot_differences = self.core.slot_differences(self.owner.app_id, self.owner)
        assert [line async for line in slot_differences] == []
        members, versions = await self._everything()
        story = "\n".join([*self.done, *(self._told(member) for member in (*members, *versions))])
        moments = sorted({member.valid_from for member in (*members, *versions)})
        for moment in moments[:: max(1, len(moments) // 3)]:
            page = await self.core.replay(
                self.owner,
                ReplayInput(known_at=self.world.clock.now() + timedelta(days=1), at=moment),
            )
            memories = await listed(self.core, self.owner, at=moment)
            assert [memory.id for memory in memories] == [memory.id for memory in page.memories], (
                f"{story}\nat {moment}: {self._shown(memories)}, "
                f"replayed {self._shown(page.memories)}"
            )
            assert [memory.id for memory in memories] == [
                base_id(name) for name in self._held(members, versions, moment)
            ], story
        for name in ("monday", "tuesday"):
            alive = [
                member
                for member in members
                if member.session_id == name and member.status is not Status.DELETED
            ]
            try:
                counts = (await self.core.session(self.owner, name)).counts
            except NotFound:
                counts = {}
            assert sum(counts.values()) == len(alive), f"{story}\n{name}"

    def _held(
        self, members: Sequence[Memory], versions: Sequence[Memory], moment: datetime
    ) -> list[str]:
        where, bases = of_list(ListInput(at=moment)), {member.id: member for member in members}
        of_its_life = [
            version for version in versions if is_of_its_life(version, bases[base_id(version.id)])
        ]
        return [member.id for member in (*members, *of_its_life) if shows(where, member)]

    async def _everything(self) -> tuple[list[Memory], list[Memory]]:
        members = await listed(self.core, self.owner, status="all")
        store = await self.world.look_on()
        seen = await store.snapshot(
            self.owner,
            [
                version_id(member.id, number)
                for member in members
                for number in range(1, member.version)
            ],
        )
        versions = [as_memory(document, seen.head) for document in seen.documents.values()]
        return members, [version for version in versions if version is not None]

    def _shown(self, memories: Sequence[Memory]) -> list[str]:
        return [f"{memory.id[-4:]} v{memory.version}" for memory in memories]

    def _told(self, memory: Memory) -> str:
        until = "" if memory.valid_until is None else f"{memory.valid_until:%m-%d %H:%M}"
        tells = ",".join(
            f"{moment:%m-%d %H:%M}" for moment in sorted({*memory.told_at, memory.event_timestamp})
        )
        state = f"{memory.status.value}/{memory.status_reason}"
        name, leads = (
            f"{base_id(memory.id)[-4:]}{memory.id.removeprefix(base_id(memory.id))}",
            (memory.next_id or "-")[-4:],
        )
        return (
            f"  {name} {memory.value} {state} v{memory.version} "
            f"[{memory.valid_from:%m-%d %H:%M}, {until}) told {tells} -> {leads}"
        )


@SQLITE
async def test_at_every_moment_of_a_drawn_life_one_value_of_a_key_holds(world: World) -> None:
    core = await world.core()
    # in the last one, a value with a stated end is repeated while it holds on
    for seed in (*range(16), 7077):
        await Life(world, core, seed).live()


@pytest.mark.long
@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_so_it_is_in_many_lives(world: World) -> None:
    core = await world.core()
    for seed in range(1000, 1400 if world.elsewhere is None else 1030):
        await Life(world, core, seed).live()
