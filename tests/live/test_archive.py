"""The archive's whole contract, on a real storage account."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.archives import Service
from tests.contract.conftest import archive, opened  # noqa: F401 - fixtures of the contract
from tests.contract.test_archive import *  # noqa: F403
from tests.live.account import Live

pytestmark = [
    pytest.mark.live,
    pytest.mark.filterwarnings("ignore:Sending a large body directly:ResourceWarning"),
]


@pytest.fixture(params=["blob"])
async def place(live: Live) -> AsyncIterator[Service]:
    """A container of the test's own. The hot tier: cooler ones charge for a month."""
    if live.blobs is None:
        pytest.skip("no storage account is named for blobs")
    service = Service(live.blobs, "hot")
    async with service.client() as container:
        await container.create_container()
        yield service
        await container.delete_container()
