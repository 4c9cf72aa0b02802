"""What a later message says about an earlier one of the same person: that it holds no more, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.changes import change
from tests.change_stories import CHANGED, FOURTEEN, UNCHANGED, Story


@pytest.mark.parametrize("story", [*CHANGED, *FOURTEEN], ids=lambda story: story.later)
def test_a_later_message_replaces_what_it_says_is_over_or_otherwise(story: Story) -> None:
    assert change(story.earlier, story.later) is not None


@pytest.mark.parametrize("story", UNCHANGED, ids=lambda story: story.later)
def test_two_messages_that_can_both_hold_replace_nothing(story: Story) -> None:
    assert change(story.earlier, story.later) is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_are_compared_and_a_text_never_replaces_itself(earlier: str, later: str) -> None:
    change(earlier, later)
    assert change(earlier, earlier) is None
