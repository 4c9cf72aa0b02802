"""What every archive promises: a name is written once, read back whole or not at all, listed in
order, and gone when it is removed.
"""

from __future__ import annotations

import asyncio

import pytest

from memory_core.domain.errors import Damaged, Unavailable
from memory_core.ports import Archive
from tests.archives import OpenArchive, Place

# aiohttp's advice for bodies over 1 MiB, given to its callers: the SDK hands it bytes.
pytestmark = pytest.mark.filterwarnings("ignore:Sending a large body directly:ResourceWarning")
BIG = bytes(range(256)) * (8 * 2**20 // 256)


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"sha256:\n\x00\xff", BIG], ids=["empty", "newline", "binary", "8 MB"]
)
async def test_what_was_put_is_read_back_whole_by_every_process(
    archive: Archive, opened: OpenArchive, data: bytes
) -> None:
    assert await archive.put("a/b", data)
    assert await (await opened()).get("a/b") == data
    assert await archive.get("a/b") == data


async def test_a_name_is_written_once(archive: Archive, opened: OpenArchive) -> None:
    assert await archive.put("a", b"first")
    assert not await archive.put("a", b"second")
    assert not await (await opened()).put("a", b"first")
    assert await archive.get("a") == b"first"


async def test_what_is_not_there_is_none(archive: Archive) -> None:
    await archive.put("a/b", b"x")
    assert await archive.get("a") is None
    assert await archive.get("a/b/c") is None
    assert await archive.get("a/bb") is None
    assert not await archive.remove("a")


async def test_what_was_removed_is_gone_and_its_name_free(
    archive: Archive, opened: OpenArchive
) -> None:
    await archive.put("a/b/c", b"first")
    await archive.put("a/d", b"other")
    assert await archive.remove("a/b/c")
    assert not await archive.remove("a/b/c")
    assert await archive.get("a/b/c") is None
    assert await archive.names("", None, 10) == ["a/d"]
    assert await (await opened()).put("a/b/c", b"second")
    assert await archive.get("a/b/c") == b"second"


@pytest.mark.parametrize(
    "spoilt", [b"", b"goof", b"goo", b"good!"], ids=["emptied", "changed", "shorter", "longer"]
)
async def test_a_damaged_blob_is_unavailable_and_not_returned(
    archive: Archive, place: Place, spoilt: bytes
) -> None:
    await archive.put("a", b"good")
    await place.damage("a", spoilt)
    with pytest.raises(Damaged, match="a is not what was written") as caught:
        await archive.get("a")
    assert caught.value.dependency == "archive"
    assert await archive.remove("a")


NAMES = [
    "A",
    "B/x",
    "a",
    "a-b",
    "a-b/c",
    "a.b",
    "a/-",
    "a/b",
    "a/b/c",
    "a0",
    "aB",
    "a_b",
    "ab",
    "b.json.gz/x",
    "b/.x/y",
    "c",
]


async def test_names_come_in_the_order_of_their_characters(archive: Archive) -> None:
    for name in sorted(NAMES, key=lambda name: name[::-1]):
        assert await archive.put(name, name.encode())
    assert await archive.names("", None, 100) == sorted(NAMES)
    for name in NAMES:
        assert await archive.get(name) == name.encode()


async def test_pages_of_names_follow_each_other_without_gap_or_repetition(archive: Archive) -> None:
    for name in NAMES:
        await archive.put(name, b"")
    for prefix in ("", "a", "a/", "a/b", "a-", "b/.", "B/x", "nowhere", "nowhere/at/all"):
        for size in (1, 3, 50):
            seen: list[str] = []
            while page := await archive.names(prefix, seen[-1] if seen else None, size):
                assert len(page) <= size
                seen += page
            assert seen == sorted(name for name in NAMES if name.startswith(prefix)), (prefix, size)


async def test_a_page_begins_after_a_name_whether_or_not_that_is_there(archive: Archive) -> None:
    for name in ("a/1", "a/3", "b/1"):
        await archive.put(name, b"")
    assert await archive.names("", "a/2", 10) == ["a/3", "b/1"]
    assert await archive.names("a/", "a/3", 10) == []
    assert await archive.names("b", "a", 10) == ["b/1"]
    assert await archive.names("a", "b", 10) == []


BAD = [
    "",
    "/",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "../a",
    "a/../b",
    "a/./b",
    "a.",
    "a./b",
    "a b",
    "a\\b",
    "é",
    "a%2fb",
    "a\x00",
    "a+blob",
    "^a",
]


@pytest.mark.parametrize("name", [*BAD, "x" * 101, "/".join(["abcd"] * 101)])
async def test_a_name_that_could_lead_elsewhere_is_refused(archive: Archive, name: str) -> None:
    for call in (archive.put(name, b"x"), archive.get(name), archive.remove(name)):
        with pytest.raises(ValueError, match="name of a blob"):
            await call
    assert await archive.names("", None, 10) == []


@pytest.mark.parametrize("prefix", ["/", "../", "a/../", "a//", "a b", "é", "a./b"])
async def test_a_prefix_that_no_name_has_is_refused(archive: Archive, prefix: str) -> None:
    with pytest.raises(ValueError, match="name of a blob"):
        await archive.names(prefix, None, 10)


async def test_the_longest_name_is_kept(archive: Archive) -> None:
    longest = "/".join(["X" * 100] * 4 + ["Y" * 96])
    assert len(longest) == 500
    assert await archive.put(longest, b"x")
    assert await archive.names("X" * 100, None, 10) == [longest]
    assert await archive.get(longest) == b"x"


async def test_of_many_who_write_the_same_name_exactly_one_wins_and_its_bytes_stay(
    opened: OpenArchive,
) -> None:
    rivals = [await opened(), await opened()]
    for turn in range(10):
        mine = {number: f"{number} {turn}".encode() * 5000 for number in range(8)}
        won = await asyncio.gather(
            *(rivals[number % 2].put(f"a/{turn}", data) for number, data in mine.items())
        )
        assert won.count(True) == 1
        for rival in rivals:
            assert await rival.get(f"a/{turn}") == mine[won.index(True)]


async def test_whoever_writes_while_others_remove_is_told_the_truth(opened: OpenArchive) -> None:
    """The last blob of a folder takes the folder with it; a new one must not be lost with it,
    nor fail.
    """
    archive, other = await opened(), await opened()

    async def comes_and_goes(archive: Archive, name: str) -> None:
        for _ in range(30):
            assert await archive.put(name, b"x")
            assert await archive.remove(name)

    await asyncio.gather(
        *(
            comes_and_goes(opened, f"a/b/c/{number}")
            for number, opened in enumerate((archive, other, archive))
        )
    )
    assert await archive.names("", None, 10) == []


async def test_a_closed_archive_says_so_and_can_be_opened_again(archive: Archive) -> None:
    await archive.put("a", b"x")
    await archive.close()
    with pytest.raises(Unavailable, match="not open"):
        await archive.get("a")
    assert (await archive.check()).status == "unavailable"
    await archive.open()
    assert await archive.get("a") == b"x"


async def test_readiness_names_the_adapter_and_how_long_it_took(
    archive: Archive, request: pytest.FixtureRequest
) -> None:
    health = await archive.check()
    assert health.status == "ok"
    assert health.adapter == request.node.callspec.params["place"]
    assert health.latency_ms is not None
    assert health.last_ok is not None
    size, active = archive.pool()
    assert size > 0
    assert active == 0
