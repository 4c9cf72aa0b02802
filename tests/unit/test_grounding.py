"""A story tells of the messages that it was made of, or it is not believed."""

from __future__ import annotations

import pytest

from memory_core.domain.conversation import Message
from memory_core.domain.statements.provenance import in_another_language, invents_names, tells_of
from tests.builders import NOW

SAID = [
    Message(
        role="user",
        content="Ich wohne jetzt in Lissabon und arbeite als Krankenschwester.",
        timestamp=NOW,
        actor="Clara",
    ),
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
        (
            "The user and the assistant talked about gardening, tomatoes, compost and the first "
            "frost of the year."
        ),
    ],
)
def test_a_story_about_something_else_does_not(story: str) -> None:
    assert not tells_of(story, SAID)


@pytest.mark.parametrize(
    ("story", "invents"),
    [
        ("Clara lives in Lissabon now.", False),
        ("On Monday, in June, Clara told that she lives in Lissabon.", False),
        ("Clara lives in Lissabon with Petra and works for Contoso.", True),
        ("Clara wohnt mit ihrem Mann in Lissabon und arbeitet als Krankenschwester.", False),
    ],
)
def test_a_story_names_only_what_was_named(story: str, invents: bool) -> None:
    assert invents_names(story, SAID) is invents


@pytest.mark.parametrize(
    ("source", "text", "other"),
    [
        (
            "Ich wohne jetzt in Lissabon und das ist schön.",
            "Clara lives in Lissabon and that is what she likes.",
            True,
        ),
        (
            "Ich wohne jetzt in Lissabon und das ist schön.",
            "Clara wohnt in Lissabon und mag das.",
            False,
        ),
        ("I live in Lisbon and it is lovely.", "Clara wohnt in Lissabon und das ist schön.", True),
        ("大阪に住んでいます", "Ben lives in Osaka", True),
        ("大阪に住んでいます", "Ben: 大阪に住んでいる", False),
        ("I live in Osaka", "ベンは大阪に住んでいる", True),
        ("Lisbon!", "Clara wohnt in Lissabon.", False),
    ],
)
def test_another_language_is_known_where_it_is_sure(source: str, text: str, other: bool) -> None:
    assert in_another_language(source, text) is other
