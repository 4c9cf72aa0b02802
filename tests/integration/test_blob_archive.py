"""The archive in Blob Storage over the wire: outages, refusals, what is sent;
and the product when its archive is down.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from memory_core.adapters.azure_storage.account import StorageAccount
from memory_core.adapters.azure_storage.blob_archive import BlobArchive, Tier
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import Unavailable
from memory_core.domain.requests.memories import RetrieveInput, SaveInput
from tests.archives import Service
from tests.azurite_server import ACCOUNT, KEY, AzuriteServer, running
from tests.builders import ALICE, StillClock


@pytest.fixture(scope="module")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AzuriteServer]:
    with running(tmp_path_factory.mktemp("azurite")) as started:
        yield started


@pytest.fixture
def service(azurite: AzuriteServer) -> Service:
    return Service(StorageAccount(azurite.connection_string))


@pytest.fixture
async def archive(service: Service) -> AsyncIterator[BlobArchive]:
    made = service.process(deadline_s=5)
    await made.open()
    yield made
    await made.close()


async def test_a_service_that_is_down_is_said_and_comes_back_without_a_restart(
    azurite: AzuriteServer, archive: BlobArchive
) -> None:
    await archive.put("a", b"x")
    azurite.stop()
    try:
        for call in (
            archive.get("a"),
            archive.put("b", b"x"),
            archive.remove("a"),
            archive.names("", None, 10),
        ):
            with pytest.raises(Unavailable) as caught:
                await call
            assert caught.value.dependency == "archive"
            assert caught.value.retry_after_s
        assert (await archive.check()).status == "unavailable"
    finally:
        azurite.start()
    assert await archive.get("a") == b"x"
    assert await archive.put("b", b"x")
    assert await archive.names("", None, 10) == ["a", "b"]
    assert (await archive.check()).status == "ok"


async def test_a_service_that_hangs_is_given_up_at_the_deadline(
    azurite: AzuriteServer, service: Service
) -> None:
    archive = service.process(deadline_s=0.5)
    azurite.freeze()
    try:
        # from the first call on: nothing here has to succeed in so little time
        with pytest.raises(Unavailable, match=r"within 0\.5 s"):
            await archive.open()
        with pytest.raises(Unavailable, match=r"within 0\.5 s"):
            await archive.get("a")
    finally:
        azurite.thaw()
    assert archive.pool()[1] == 0
    await archive.close()


async def test_a_blob_is_put_on_the_tier_that_was_chosen(azurite: AzuriteServer) -> None:
    tiers: tuple[Tier, ...] = ("hot", "cool", "cold")
    for tier in tiers:
        service = Service(StorageAccount(azurite.connection_string), tier)
        archive = service.process()
        await archive.open()
        await archive.put("a", b"x")
        async with service.client() as container:
            assert (
                await container.get_blob_client("a").get_blob_properties()
            ).blob_tier == tier.capitalize()
        await archive.close()


async def test_a_blob_that_another_program_wrote_has_no_checksum_and_is_not_returned(
    service: Service, archive: BlobArchive
) -> None:
    async with service.client() as container:
        await container.upload_blob("a", b"x")
    with pytest.raises(Unavailable, match="not what was written"):
        await archive.get("a")


async def test_a_blob_that_somebody_sent_to_the_archive_tier_is_said_to_be_there(
    service: Service, archive: BlobArchive
) -> None:
    await archive.put("a", b"x")
    async with service.client() as container:
        await container.get_blob_client("a").set_standard_blob_tier("Archive")
    with pytest.raises(Unavailable, match="BlobArchived"):
        await archive.get("a")
    assert not await archive.put("a", b"x")


async def test_a_wrong_key_is_named_and_not_shown(azurite: AzuriteServer) -> None:
    wrong = "A" * 86 + "=="
    archive = BlobArchive(
        StorageAccount(azurite.connection_string.replace(KEY, wrong)), "archive", clock=StillClock()
    )
    with pytest.raises(Unavailable, match="identity, key or rights") as caught:
        await archive.open()
    assert wrong not in str(caught.value)
    await archive.close()


async def test_a_connection_string_that_is_none_is_named(azurite: AzuriteServer) -> None:
    archive = BlobArchive(StorageAccount("no connection string"), "archive", clock=StillClock())
    await archive.open()
    assert "can't be used" in ((await archive.check()).detail or "")
    await archive.close()


async def test_in_an_account_of_ones_own_the_container_is_not_made_but_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURITE_ACCOUNTS", f"ours:{KEY}")
    with running(tmp_path) as azurite:
        connection = azurite.connection_string.replace(ACCOUNT, "ours")
        archive = BlobArchive(StorageAccount(connection), "archive", clock=StillClock())
        await archive.open()
        for call in (
            archive.get("a"),
            archive.put("a", b"x"),
            archive.remove("a"),
            archive.names("", None, 10),
        ):
            with pytest.raises(Unavailable, match="the container does not exist"):
                await call
        assert "container does not exist" in ((await archive.check()).detail or "")
        await archive.close()


async def test_the_product_works_without_its_archive_says_so_and_finds_it_again(
    azurite: AzuriteServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chosen = {
        "MEMORY_ARCHIVE": "blob",
        "MEMORY_ARCHIVE_CONNECTION": azurite.connection_string,
        "MEMORY_ARCHIVE_TIER": "Cold",
    }
    settings = Settings.from_env(
        chosen | {"EMBEDDING_PROVIDER": "hash", "MEMORY_DATA": str(tmp_path)}
    )
    azurite.stop()
    try:
        core = MemoryCore(settings)
        await core.open()
        assert "archive: Storage can not be reached" in caplog.text
        saved = await core.save(ALICE, SaveInput(content="Ann drinks jasmine tea"))
        asked = RetrieveInput(query="jasmine tea", answer_threshold=0.0, similarity_threshold=0.0)
        assert [hit.memory.id for hit in (await core.retrieve(ALICE, asked)).results] == [
            saved.memory.id
        ]
        ready = await core.ready()
        assert ready["status"] == "degraded"
        assert ready["dependencies"]["archive"]["status"] == "unavailable"
    finally:
        azurite.start()
    ready = await core.ready()
    assert ready["status"] == "ready"
    assert ready["dependencies"]["archive"]["facts"] == {"container": "archive", "tier": "cold"}
    assert "archive" in core.pool_stats()
    await core.close()
