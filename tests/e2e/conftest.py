"""What tests over HTTP share beside the two profiles."""

from __future__ import annotations

import uuid

import pytest

from tests.few_cases import leave_to_long
from tests.profiles import Profile

CASES_ON_AZURE = {"test_http_bad_input": 12, "test_mcp_http": 40}
"""How many cases of a module about the door run on Azure's profile; the others with `make
test-long`. On the embedded profile all of them do. Of bad requests no store learns; of MCP each
test is among them, and its second protocol or tool is not.
"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep a few cases on Azure's profile of what the door decides."""
    on_azure = [
        item
        for item in items
        if isinstance(item, pytest.Function)
        and hasattr(item, "callspec")
        and item.callspec.params.get("profile") == "azure"
    ]
    for module, most in CASES_ON_AZURE.items():
        leave_to_long(on_azure, [module], most)


@pytest.fixture
def settings(profile: Profile) -> dict[str, str]:
    """For hosts of a test's own."""
    return profile.settings()


@pytest.fixture
def user() -> str:
    """A user of this test alone."""
    return f"user-{uuid.uuid4().hex[:12]}"
