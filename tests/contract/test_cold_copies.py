"""Cold copies: the same memories come back, a spoilt copy says so, and every copy of a user or of a
memory is found by its name.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from memory_core.domain.archival import ArchivedStates, ColdCopy
from memory_core.domain.errors import Damaged, NotFound
from memory_core.domain.memory import AtomicFact, Memory, Status
from memory_core.domain.scope import Owner
from memory_core.ledger.archive_files import KEY_NAME, ColdCopies, operation_of
from memory_core.ports import Archive
from tests.archives import Folder, OpenArchive, Place
from tests.builders import ALICE, memory, unit
from tests.cold import copies_of

# Another app, another user, and one whose app and user together read like Alice's.
OTHERS = (Owner("app2", "alice"), Owner("app", "bob"), Owner("appa", "lice"))


@pytest.fixture
def copies(archive: Archive) -> ColdCopies:
    return copies_of(archive)


def chain(
    count: int = 1,
    *,
    owner: Owner = ALICE,
    epoch: str = "epoch-1",
    name: str = "mem_a",
    revision: int = 7,
) -> ColdCopy:
    """A chain of `count` memories, each the successor of the one before; the first has an
    old version.
    """
    members = []
    for number in range(count):
        first = memory(
            f"tea number {number}",
            id=f"{name}{number}",
            owner=owner,
            epoch=epoch,
            embedding=unit(number),
            revision=revision + number,
        )
        member = first.model_copy(
            update={
                "next_id": f"{name}{number + 1}" if number + 1 < count else None,
                "value": {"кофе": [1, None, "日本"]},
            }
        )
        members.append(member)
    older = memory(
        "old",
        id=f"{name}0.v1",
        owner=owner,
        epoch=epoch,
        embedding=unit(99),
        status=Status.SUPERSEDED,
    )
    entries = [
        ArchivedStates(member, (older,) if number == 0 else ())
        for number, member in enumerate(members)
    ]
    return ColdCopy(epoch, f"{name}{count - 1}", tuple(entries))


def same(stored_memory: Memory, other: Memory) -> bool:
    """Equal in all but what is found by words, to the last bit of the vector."""
    left = {"lexical", "search_text"}
    vectors = (stored_memory.embedding is None) == (other.embedding is None) and (
        stored_memory.embedding is None or np.array_equal(stored_memory.embedding, other.embedding)  # type: ignore[arg-type]
    )
    return vectors and stored_memory.model_dump(exclude=left) == other.model_dump(exclude=left)


@pytest.mark.parametrize("count", [1, 2, 5, 6, 40])
async def test_a_chain_comes_back_as_it_was(
    copies: ColdCopies, opened: OpenArchive, count: int
) -> None:
    written = chain(count)
    location = await copies.write(ALICE, "op_1", written)
    read = await copies_of(await opened()).read(ALICE, location)
    assert (read.epoch, read.chain_id, read.revision) == (
        "epoch-1",
        written.chain_id,
        7 + count - 1,
    )
    for was, is_ in zip(written.members, read.members, strict=True):
        assert same(was.memory, is_.memory)
        assert all(same(*pair) for pair in zip(was.versions, is_.versions, strict=True))
    assert operation_of(location) == "op_1"


async def test_an_original_and_a_memory_without_a_vector_come_back(copies: ColdCopies) -> None:
    facts = [AtomicFact(text="likes tea", quote="I like tea")]
    short = memory("tea", id="mem_a", status=Status.COMPRESSED, epoch="epoch-1")
    long = memory(
        "tea, and why", id="mem_a", atomic_facts=facts, epoch="epoch-1", embedding=unit(3)
    )
    location = await copies.write(
        ALICE, "op_1", ColdCopy("epoch-1", "mem_a", (ArchivedStates(short, (), long),))
    )
    (entry,) = (await copies.read(ALICE, location)).members
    assert entry.original is not None
    assert same(entry.memory, short)
    assert same(entry.original, long)
    assert entry.whole is entry.original


async def test_the_same_state_written_again_is_one_copy(
    copies: ColdCopies, opened: OpenArchive
) -> None:
    others = [copies_of(await opened()) for _ in range(3)]
    locations = await asyncio.gather(
        *(copy_store.write(ALICE, "op_1", chain(2)) for copy_store in (copies, *others))
    )
    assert len(set(locations)) == 1
    assert [name async for name in copies.names(ALICE)] == locations[:1]


async def test_another_revision_content_or_operation_is_another_copy(copies: ColdCopies) -> None:
    other = ColdCopy(
        "epoch-1",
        "mem_a0",
        (ArchivedStates(chain().members[0].memory.model_copy(update={"content": "coffee"})),),
    )
    made = {
        await copies.write(ALICE, "op_1", chain()),
        await copies.write(ALICE, "op_1", chain(revision=8)),
        await copies.write(ALICE, "op_1", other),
        await copies.write(ALICE, "op_2", chain()),
    }
    assert len(made) == 4


async def test_a_name_tells_nobody_whose_it_is(copies: ColdCopies, archive: Archive) -> None:
    owner = Owner("my-app", "ann@example.org")
    await copies.write(owner, "op_1", chain(owner=owner, name="mem_secret"))
    (name,) = [name for name in await archive.names("", None, 10) if name != KEY_NAME]
    for part in ("ann", "example", "my-app", "secret"):
        assert part not in name


async def test_the_names_are_the_same_for_every_process_and_others_for_every_installation(
    copies: ColdCopies, opened: OpenArchive, tmp_path: Path
) -> None:
    elsewhere = Folder(tmp_path / "elsewhere").process()
    await elsewhere.open()
    processes = [copies_of(await opened()) for _ in range(4)]
    prefixes = await asyncio.gather(*(process.prefix(ALICE) for process in processes))
    assert {*prefixes} == {await copies.prefix(ALICE)}
    assert await copies_of(elsewhere).prefix(ALICE) != prefixes[0]
    await elsewhere.close()


async def test_nobody_reads_or_removes_another_users_copy(copies: ColdCopies) -> None:
    location = await copies.write(ALICE, "op_1", chain())
    for other in OTHERS:
        with pytest.raises(NotFound):
            await copies.read(other, location)
        assert not await copies.remove(other, location)
        assert [name async for name in copies.names(other)] == []
        assert await copies.remove_all(other) == 0
    assert await copies.read(ALICE, location)


async def test_a_copy_that_was_put_under_a_wrong_name_is_not_believed(
    copies: ColdCopies, archive: Archive
) -> None:
    location = await copies.write(ALICE, "op_1", chain())
    theirs = await copies.prefix(OTHERS[1]) + location.split("/", 2)[2]
    data = await archive.get(location)
    assert data is not None
    await archive.put(theirs, data)
    with pytest.raises(Damaged, match="somebody else"):
        await copies.read(OTHERS[1], theirs)


@pytest.mark.parametrize("spoilt", [b"", b"{}", b"\x1f\x8b\x08\x00garbage"])
async def test_a_damaged_copy_says_so_when_it_is_read_and_when_it_is_written_again(
    copies: ColdCopies, place: Place, spoilt: bytes
) -> None:
    location = await copies.write(ALICE, "op_1", chain())
    await place.damage(location, spoilt)
    with pytest.raises(Damaged):
        await copies.read(ALICE, location)
    with pytest.raises(Damaged):
        await copies.write(ALICE, "op_1", chain())


async def test_bytes_that_are_not_those_of_the_name_are_damaged(
    copies: ColdCopies, archive: Archive
) -> None:
    location, other = (
        await copies.write(ALICE, "op_1", chain()),
        await copies.write(ALICE, "op_1", chain(name="mem_b")),
    )
    data = await archive.get(other)
    assert data is not None
    await archive.remove(location)
    await archive.put(location, data)
    with pytest.raises(Damaged, match="checksum"):
        await copies.read(ALICE, location)


async def test_what_is_not_there_is_not_found(copies: ColdCopies) -> None:
    location = await copies.write(ALICE, "op_1", chain())
    assert await copies.remove(ALICE, location)
    assert not await copies.remove(ALICE, location)
    with pytest.raises(NotFound):
        await copies.read(ALICE, location)


@pytest.mark.parametrize("count", [2, 7], ids=["named", "many"])
async def test_every_copy_that_holds_a_memory_is_found_and_removed(
    copies: ColdCopies, place: Place, count: int
) -> None:
    """Those of several operations and revisions too; of a long chain even a spoilt one,
    since it may hold it.
    """
    older = await copies.write(ALICE, "op_1", chain(count))
    newer = await copies.write(ALICE, "op_2", chain(count, revision=70))
    spared = await copies.write(ALICE, "op_2", chain(count, name="mem_b"))
    assert await copies.holding(ALICE, ["mem_a1", "mem_z"]) == sorted([older, newer])
    assert await copies.holding(ALICE, ["mem_z"]) == []
    await place.damage(older, b"spoilt")
    holding = await copies.holding(ALICE, ["mem_a0"])
    assert holding == sorted([older, newer])
    for name in holding:
        await copies.remove(ALICE, name)
    assert [name async for name in copies.names(ALICE)] == [spared]


async def test_all_copies_of_a_user_are_removed_but_those_of_a_new_life(
    copies: ColdCopies, archive: Archive
) -> None:
    for epoch in ("epoch-1", "epoch-2", "epoch-3"):
        for number in range(3):
            await copies.write(ALICE, "op_1", chain(epoch=epoch, name=f"mem_{number}"))
    theirs = [await copies.write(other, "op_1", chain(owner=other)) for other in OTHERS]
    assert await copies.remove_all(ALICE, but_epoch="epoch-2") == 6
    assert len([name async for name in copies.names(ALICE)]) == 3
    assert [name async for name in copies.names(ALICE, "epoch-1")] == []
    assert await copies.remove_all(ALICE) == 3
    assert await copies.remove_all(ALICE) == 0
    assert sorted(await archive.names("", None, 100)) == sorted([*theirs, KEY_NAME])
