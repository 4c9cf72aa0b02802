"""Drawn lives of a key: told now and late, edited, deleted, brought back. At every moment one value
of it holds, and it finds that one.
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
from memory_core.domain.memory import FOUND_BY_DEFAULT, Memory, Status
from memory_core.domain.requests.maintenance import ReplayInput
from memory_core.domain.requests.memories import ListInput, StatusInput, UpdateInput
from memory_core.domain.scope import Owner
from memory_core.ledger.readable import as_memory
from memory_core.recollection.read import of_list, shows
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
        said = " ".join(f"{name}={moment:%m-%d %H:%M}" for name, moment in fields.items())
        self.done.append(f"tell {value} {said or 'now'}")
        await self.core.save(self.owner, rule(KEY, value, session_id=session, **fields))

    async def _tell_late(self, members: Sequence[Memory]) -> None:
        fields = {"event_timestamp": self._moment(members)}
        if self.draw.random() < 0.25:
            fields["valid_from"] = self._moment(members)
        await self._tell(members, **fields)

    async def _edit(self, members: Sequence[Memory]) -> None:
        one = self.draw.choice(
            [one for one in members if one.status in FOUND_BY_DEFAULT] or members
        )
        self.done.append(f"edit {self._name(one)}")
        await self.core.update(self.owner, one.id, UpdateInput(value=self.draw.choice(VALUES)), "*")

    async def _edit_times(self, members: Sequence[Memory]) -> None:
        one, name = (
            self.draw.choice([one for one in members if one.status in FOUND_BY_DEFAULT] or members),
            self.draw.choice(TIMES),
        )
        changed: dict[str, Any] = {name: self._moment(members)}
        if self.draw.random() < 0.5:
            changed["value"] = self.draw.choice(VALUES)
        self.done.append(
            f"edit {self._name(one)} {name}={changed[name]:%m-%d %H:%M} {changed.get('value', '')}"
        )
        await self.core.update(self.owner, one.id, UpdateInput(**changed), "*")

    async def _delete(self, members: Sequence[Memory]) -> None:
        one = self.draw.choice(members)
        self.done.append(f"delete {self._name(one)}")
        await self.core.delete(self.owner, one.id)

    async def _bring_back(self, members: Sequence[Memory]) -> None:
        one = self.draw.choice(
            [one for one in members if one.status not in FOUND_BY_DEFAULT] or members
        )
        self.done.append(f"bring back {self._name(one)}")
        if self.draw.random() < 0.5:
            await self.core.restore(self.owner, one.id)
        else:
            await self.core.set_status(
                self.owner, one.id, StatusInput(status="active", reason="asked for")
            )

    def _moment(self, members: Sequence[Memory]) -> datetime:
        now = self.world.clock.now()
        beside = [
            one.valid_from + timedelta(minutes=self.draw.choice((-90, 0, 90))) for one in members
        ]
        return self.draw.choice(
            [
                *beside,
                now - timedelta(days=self.draw.randint(1, 30)),
                now - timedelta(hours=self.draw.randint(1, 30)),
            ]
        )

    def _name(self, one: Memory) -> str:
        return f"{one.id[-4:]} {one.value} ({one.status.value}/{one.status_reason} v{one.version})"

    async def _check(self) -> None:
        members, versions = await self._everything()
        told = "\n".join([*self.done, *(self._told(one) for one in (*members, *versions))])
        standing = [one for one in members if one.status in FOUND_BY_DEFAULT]
        assert len(standing) <= 1, told
        try:
            found = await self.core.procedure(self.owner, KEY)
        except NotFound:
            found = None
        if standing:
            assert found is not None, told
            assert found.id == standing[0].id, told
        else:
            assert found is None or found.status not in (Status.DELETED, *FOUND_BY_DEFAULT), told
        for moment in {one.valid_from for one in (*members, *versions)}:
            held = self._held(members, versions, moment)
            assert len(held) <= 1, f"{told}\nat {moment:%m-%d %H:%M:%S}: {held}"
        following = {one.id: one.next_id for one in members}
        for start in following:
            step, passed = following[start], {start}
            while step is not None:
                assert step not in passed, told
                passed.add(step)
                step = following.get(step)

    async def _check_the_log(self) -> None:
        """What the log tells is what is stored, old versions included."""
        members, versions = await self._everything()
        told = "\n".join([*self.done, *(self._told(one) for one in (*members, *versions))])
        moments = sorted({one.valid_from for one in (*members, *versions)})
        for moment in moments[:: max(1, len(moments) // 3)]:
            page = await self.core.replay(
                self.owner,
                ReplayInput(known_at=self.world.clock.now() + timedelta(days=1), at=moment),
            )
            held = await listed(self.core, self.owner, at=moment)
            assert [one.id for one in held] == [one.id for one in page.memories], (
                f"{told}\nat {moment}: {self._shown(held)}, replayed {self._shown(page.memories)}"
            )
            assert [one.id for one in held] == [
                base_id(name) for name in self._held(members, versions, moment)
            ], told
        for name in ("monday", "tuesday"):
            alive = [
                one
                for one in members
                if one.session_id == name and one.status is not Status.DELETED
            ]
            try:
                counts = (await self.core.session(self.owner, name)).counts
            except NotFound:
                counts = {}
            assert sum(counts.values()) == len(alive), f"{told}\n{name}"

    def _held(
        self, members: Sequence[Memory], versions: Sequence[Memory], moment: datetime
    ) -> list[str]:
        where, bases = of_list(ListInput(at=moment)), {one.id: one for one in members}
        of_its_life = [one for one in versions if is_of_its_life(one, bases[base_id(one.id)])]
        return [one.id for one in (*members, *of_its_life) if shows(where, one)]

    async def _everything(self) -> tuple[list[Memory], list[Memory]]:
        members = await listed(self.core, self.owner, status="all")
        store = await self.world.look_on()
        seen = await store.snapshot(
            self.owner,
            [version_id(one.id, number) for one in members for number in range(1, one.version)],
        )
        versions = [as_memory(document, seen.head) for document in seen.documents.values()]
        return members, [one for one in versions if one is not None]

    def _shown(self, held: Sequence[Memory]) -> list[str]:
        return [f"{one.id[-4:]} v{one.version}" for one in held]

    def _told(self, one: Memory) -> str:
        until = "" if one.valid_until is None else f"{one.valid_until:%m-%d %H:%M}"
        tells = ",".join(
            f"{moment:%m-%d %H:%M}" for moment in sorted({*one.told_at, one.event_timestamp})
        )
        state = f"{one.status.value}/{one.status_reason}"
        name, leads = (
            f"{base_id(one.id)[-4:]}{one.id.removeprefix(base_id(one.id))}",
            (one.next_id or "-")[-4:],
        )
        return (
            f"  {name} {one.value} {state} v{one.version} [{one.valid_from:%m-%d %H:%M}, {until}) "
            f"told {tells} -> {leads}"
        )


@SQLITE
async def test_at_every_moment_of_a_drawn_life_one_value_of_a_key_holds(world: World) -> None:
    core = await world.core()
    for seed in range(16):
        await Life(world, core, seed).live()


@pytest.mark.long
@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_so_it_is_in_many_lives(world: World) -> None:
    core = await world.core()
    for seed in range(1000, 1400 if world.elsewhere is None else 1030):
        await Life(world, core, seed).live()
