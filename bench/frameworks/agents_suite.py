"""A pytest plugin: the Agents SDK's `SQLiteSession` becomes `MemoryCoreSession` on a host,
a user a database.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agents
import pytest

from bench.frameworks import HOST_URL
from memory_core_client import MemoryCore
from memory_core_client.openai_agents import MemoryCoreSession


class SQLiteSession(MemoryCoreSession):
    """Made as the sessions of the suite are made, and named as those: a closed session
    names its class.
    """

    service: MemoryCore

    def __init__(
        self, session_id: str, db_path: str | Path = ":memory:", *, session_settings: Any = None
    ) -> None:
        name = (
            uuid.uuid4().hex
            if str(db_path) == ":memory:"
            else uuid.uuid5(uuid.NAMESPACE_URL, str(db_path)).hex
        )
        super().__init__(self.service.user(name), session_id, session_settings=session_settings)


@pytest.fixture(scope="session", autouse=True)
def _connected() -> Iterator[None]:
    with MemoryCore(os.environ[HOST_URL]) as SQLiteSession.service:
        yield


agents.SQLiteSession = SQLiteSession  # type: ignore[misc, assignment]
