"""Memory Core on real stores, for tests that stop and kill them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.builders import StillClock
from tests.world import World


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = World(tmp_path, StillClock())
    yield made
    await made.close()
