"""Sentences that change a life, told in a conversation, and what holds afterwards: with vectors
that mean something, and without.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.memories import ListInput
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import is_retraction, slot_of
from tests.builders import NOW
from tests.life_changes import BEFORE, CHANGES, KNOWN, NO_CHANGES, OVER
from tests.loaded_minilm import LoadedMiniLM
from tests.telling import Line, tell
from tests.world import World, listed

LATER = NOW + timedelta(days=10)
ANN = Owner("app", "ann")
Open = Callable[[World], Awaitable[MemoryCore]]
Copies = Callable[[], AbstractAsyncContextManager[MemoryCore]]
SQLITE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)


@pytest.fixture(params=["hash", "minilm"])
def opened(request: pytest.FixtureRequest) -> Open:
    """Opens a core of a world, with one embedder or the other."""

    async def core_of(world: World) -> MemoryCore:
        if request.param == "hash":
            return await world.core_by_rules()
        return await world.core_by_rules(embedder=LoadedMiniLM(), embedding_provider="minilm")

    return core_of


@pytest.fixture
async def core(world: World, opened: Open) -> MemoryCore:
    return await opened(world)


@pytest.fixture
async def copied(world: World, opened: Open, tmp_path_factory: pytest.TempPathFactory) -> Copies:
    """Opens cores on copies of the files in which Ann has told BEFORE and nothing else: to form it
    takes more than all that is told after it.
    """
    first = await opened(world)
    await tell(first, BEFORE, owner=ANN)
    await world.end(first)

    @asynccontextmanager
    async def core_on_a_copy() -> AsyncIterator[MemoryCore]:
        folder = tmp_path_factory.mktemp("copy")
        shutil.copytree(world.folder, folder, dirs_exist_ok=True)
        own = World(folder, world.clock)
        try:
            yield await opened(own)
        finally:
            await own.close()
            shutil.rmtree(folder)

    return core_on_a_copy


async def truths(core: MemoryCore, owner: Owner, **which: object) -> dict[str, Memory]:
    """The user's truths by attribute: one each."""
    memories = (await core.list(owner, ListInput.model_validate({"limit": 100, **which}))).memories
    slotted = [
        memory for memory in memories if memory.subject == "user" and memory.attribute is not None
    ]
    assert len({slot_of(memory) for memory in slotted}) == len(slotted), "one truth a slot"
    return {memory.attribute or "": memory for memory in slotted}


def values(memories: dict[str, Memory]) -> dict[str, str]:
    return {
        name: OVER if is_retraction(memory) else str(memory.value)
        for name, memory in memories.items()
        if name in KNOWN
    }


def around(sentence: str) -> list[Line]:
    return [
        "Good morning!",
        ("assistant", "Good morning, what is new?"),
        sentence,
        ("assistant", "I see."),
        "Thanks for asking.",
    ]


@SQLITE
@pytest.mark.parametrize(
    ("before", "sentence", "known", "remaining"),
    [
        ("I have a dog called Rufus.", "Rufus died last week.", {"pet rufus": "dog"}, {}),
        ("I have a dog called Rufus.", "My dog Rufus ran away.", {"pet rufus": "dog"}, {}),
        ("We got a cat named Kiki.", "I don't have Kiki any more.", {"pet kiki": "cat"}, {}),
        ("Ich habe einen Hund namens Bello.", "Bello ist gestorben.", {"pet bello": "Hund"}, {}),
        ("犬の名前はポチです。", "ポチが先週亡くなりました。", {"pet ポチ": "犬"}, {}),
        (
            "I have a dog called Rufus.",
            "Max died last week.",
            {"pet rufus": "dog"},
            {"pet rufus": "dog"},
        ),
        ("I don't have any pets.", "We got a puppy.", {"number of pets": "0"}, {}),
        ("I don't have a pet.", "I adopted a cat last week.", {"number of pets": "0"}, {}),
        (
            "Ich habe keine Haustiere.",
            "Wir haben uns eine Katze geholt.",
            {"number of pets": "0"},
            {},
        ),
        ("ペットは飼っていません。", "先週から子犬を飼っています。", {"number of pets": "0"}, {}),
        (
            "I don't have any pets.",
            "I got a cat scan and a hot dog.",
            {"number of pets": "0"},
            {"number of pets": "0"},
        ),
        (
            "I don't have any pets.",
            "My sister got a puppy.",
            {"number of pets": "0"},
            {"number of pets": "0"},
        ),
        (
            "I've got two cats.",
            "We only have one cat now, Mia.",
            {"number of cats": "2"},
            {"number of cats": "1"},
        ),
    ],
)
async def test_pets_that_are_gone_or_new_end_what_was_known_of_them(
    core: MemoryCore, before: str, sentence: str, known: dict[str, str], remaining: dict[str, str]
) -> None:
    await tell(core, before, owner=ANN)
    assert _holding(await truths(core, ANN)) == known
    await tell(core, sentence, at=LATER, owner=ANN, session="s2")
    assert _holding(await truths(core, ANN)) == remaining


@SQLITE
@pytest.mark.parametrize("sentence", ["Bowie died today.", "Opa ist gestorben.", "We got a puppy."])
async def test_an_end_of_a_pet_that_is_not_known_is_not_kept(
    core: MemoryCore, sentence: str
) -> None:
    await tell(core, sentence, owner=ANN)
    assert await truths(core, ANN) == {}


def _holding(memories: dict[str, Memory]) -> dict[str, str]:
    return {
        name: str(memory.value) for name, memory in memories.items() if not is_retraction(memory)
    }


@SQLITE
@pytest.mark.parametrize("place", range(4))
async def test_a_change_leaves_one_new_truth_and_all_others_as_they_were(
    copied: Copies, place: int
) -> None:
    for sentence, changed in CHANGES[place::4]:
        async with copied() as core:
            await _check_change(core, sentence, changed)


async def _check_change(core: MemoryCore, sentence: str, changed: dict[str, str]) -> None:
    old = await truths(core, ANN)
    assert (
        await tell(core, *around(sentence), at=LATER, owner=ANN, session="s2")
    ).status == "succeeded"
    new = await truths(core, ANN)
    assert values(new) == {**KNOWN, **changed}, sentence
    for attribute in changed:
        fallen = await core.get(ANN, old[attribute].id)
        expected = (Status.SUPERSEDED, "contradicted", new[attribute].id, new[attribute].valid_from)
        assert (
            fallen.status,
            fallen.status_reason,
            fallen.next_id,
            fallen.valid_until,
        ) == expected, sentence
    assert values(await truths(core, ANN, at=NOW + timedelta(days=1))) == KNOWN, sentence


@SQLITE
@pytest.mark.parametrize("place", range(4))
async def test_what_only_looks_like_a_change_leaves_every_truth(copied: Copies, place: int) -> None:
    for sentence in NO_CHANGES[place::4]:
        async with copied() as core:
            old = {truth.id for name, truth in (await truths(core, ANN)).items() if name in KNOWN}
            await tell(core, *around(sentence), at=LATER, owner=ANN, session="s2")
            assert {
                truth.id
                for name, truth in (await truths(core, ANN, at=LATER)).items()
                if name in KNOWN
            } == old, sentence


async def test_an_end_and_what_came_before_and_after_it_are_one_chain_in_whatever_order_they_are_told(  # noqa: E501
    core: MemoryCore,
) -> None:
    lines = {0: "I live in Lisbon.", 30: "I live in Berlin.", 60: "I no longer live in Berlin."}
    for number, order in enumerate(([0, 30, 60], [60, 30, 0], [0, 60, 30], [30, 60, 0])):
        owner = Owner("app", f"user{number}")
        for day in order:
            await tell(
                core, lines[day], at=NOW + timedelta(days=day), owner=owner, session=f"day {day}"
            )
        facts = {
            memory.content: memory
            for memory in await listed(core, owner, status="all")
            if memory.category == "fact"
        }
        lisbon, berlin, end = (
            facts[f"User {text}"]
            for text in ("lives in Lisbon", "lives in Berlin", "no longer lives in Berlin")
        )
        assert (lisbon.next_id, berlin.next_id, end.next_id) == (berlin.id, end.id, None), order
        assert (lisbon.status, berlin.status, end.status) == (
            Status.SUPERSEDED,
            Status.SUPERSEDED,
            Status.ACTIVE,
        ), order
        superseded = {
            fact.text: fact.superseded_by
            for memory in await listed(core, owner)
            if memory.category == "cell"
            for fact in memory.atomic_facts
        }
        assert [superseded[memory.content] for memory in (lisbon, berlin, end)] == [
            berlin.id,
            end.id,
            None,
        ], order


async def test_an_end_of_what_was_never_told_stands_by_itself_until_something_else_is_known(
    core: MemoryCore,
) -> None:
    await tell(core, "I no longer live in Berlin.", owner=ANN)
    (end,) = (await truths(core, ANN)).values()
    assert (end.content, end.value) == ("User no longer lives in Berlin", {"no_longer": "Berlin"})
    await tell(core, "I live in Lisbon.", at=NOW - timedelta(days=3), owner=ANN, session="s2")
    assert [truth.content for truth in (await truths(core, ANN)).values()] == [
        "User lives in Lisbon"
    ]
    end = await core.get(ANN, end.id)
    assert (end.status, end.next_id) == (
        Status.SUPERSEDED,
        (await truths(core, ANN))["home city"].id,
    )


@SQLITE
@pytest.mark.parametrize(
    ("before", "ended"),
    [
        ("I work at Siemens.", ["employer"]),
        ("I work as a nurse.", ["occupation"]),
        ("I work as a nurse at Siemens.", ["employer", "occupation"]),
        ("I like olives.", ["employer"]),
    ],
)
async def test_who_quits_a_job_ends_what_is_known_of_it_and_no_more(
    core: MemoryCore, before: str, ended: list[str]
) -> None:
    await tell(core, before, owner=ANN)
    await tell(core, "I quit my job.", at=LATER, owner=ANN, session="s2")
    assert (
        sorted(name for name, truth in (await truths(core, ANN)).items() if is_retraction(truth))
        == ended
    )


@SQLITE
@pytest.mark.parametrize(("undone", "late_first"), [(False, False), (False, True), (True, True)])
async def test_a_truth_that_somebody_deleted_from_the_middle_of_a_life_leads_nothing_in_a_circle(
    core: MemoryCore, undone: bool, late_first: bool
) -> None:
    lines = {0: "I live in Berlin.", 30: "I live in Porto.", 40: "I no longer live in Porto."}
    for day, line in lines.items():
        await tell(core, line, at=NOW + timedelta(days=day), owner=ANN, session=f"day {day}")
    facts = {
        memory.content: memory
        for memory in await listed(core, ANN, status="all")
        if memory.category == "fact"
    }
    # what it was that ended is what holds, as a person says: nothing of what was told since counts
    if undone:
        await core.restore(ANN, facts["User lives in Berlin"].id)
    else:
        await core.delete(ANN, facts["User lives in Porto"].id)
    told_then = [(20, "I live in Oslo."), (50, "I moved to Rome.")]
    for day, line in told_then if late_first else reversed(told_then):
        task = await tell(core, line, at=NOW + timedelta(days=day), owner=ANN, session=f"day {day}")
        assert task.status == "succeeded", task.error
    assert (await truths(core, ANN))["home city"].value == "Rome"
    assert [
        truth.value for truth in (await truths(core, ANN, at=NOW + timedelta(days=10))).values()
    ] == ["Berlin"]
