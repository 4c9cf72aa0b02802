from __future__ import annotations

import uuid
from collections.abc import Iterator

import httpx
import pytest

from tests.host import running


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of one host for all tests that need nothing special; each test has users of its own."""
    with running(tmp_path_factory.mktemp("host")) as client:
        yield client


@pytest.fixture
def user() -> str:
    """A user that nobody else has."""
    return f"user-{uuid.uuid4().hex[:12]}"
