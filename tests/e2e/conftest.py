"""What tests over HTTP share beside the two profiles."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from tests import browser
from tests.browser import Browser
from tests.profiles import Profile


@pytest.fixture
def settings(profile: Profile) -> dict[str, str]:
    """For hosts of a test's own."""
    return profile.settings()


@pytest.fixture
def user() -> str:
    """A user of this test alone."""
    return f"user-{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of a module."""
    program, reason = browser.found()
    if program is None:
        pytest.skip(reason)
    with browser.running(program) as started:
        yield started
