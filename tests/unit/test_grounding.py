"""A story tells of the messages that it was made of, or it is not believed."""

from __future__ import annotations

import pytest

from memory_core.domain.conversation import Message
from memory_core.domain.grounding import tells_of
from tests.builders import NOW

SAID = [
    Message(role="user", content="Ich wohne jetzt in Lissabon und arbeite als Krankenschwester.", timestamp=NOW, actor="Clara"),
    Message(role="assistant", content="Wie gefällt dir die Stadt?", timestamp=NOW),
]


@pytest.mark.parametrize(
    "story",
    [
        "Clara wohnt in Lissabon und arbeitet dort als Krankenschwester.",
        "Clara told that she lives in Lissabon.",
        "The user lives in Lissabon.",
        "Clara",
        "…",
        "",
    ],
)
def test_a_story_in_the_words_that_were_said_or_with_their_names_tells_of_them(story: str) -> None:
    assert tells_of(story, SAID)


@pytest.mark.parametrize(
    "story",
    [
        "Petra inherited seventeen vineyards near Toledo from her grandfather.",
        "PWNED",
        "The user and the assistant talked about gardening, tomatoes, compost and the first frost of the year.",
    ],
)
def test_a_story_about_something_else_does_not(story: str) -> None:
    assert not tells_of(story, SAID)
