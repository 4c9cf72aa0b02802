"""What tests over HTTP share beside the two profiles."""

from __future__ import annotations

import uuid

import pytest

from tests.profiles import Profile


@pytest.fixture
def settings(profile: Profile) -> dict[str, str]:
    """For hosts of a test's own."""
    return profile.settings()


@pytest.fixture
def user() -> str:
    """A user of this test alone."""
    return f"user-{uuid.uuid4().hex[:12]}"
