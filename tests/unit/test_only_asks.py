"""Which texts only ask, so that they hold no answer."""

from __future__ import annotations

import pytest

from memory_core.domain.ranking.questions import asks_for_an_answer, knows_not, only_asks


@pytest.mark.parametrize(
    "text",
    [
        "Where did I put the passport?",
        "Hey, do you know where my keys are? And who has the car?",
        "where did I put the passport",
        "how much did I pay for the bike",
        "User asked: Where did User put the passport?",
        "## Summary\nUser asked: Where is it?\n\n---\nTags: passport | Keywords: passport",
        "Wo habe ich den Schlüssel hingelegt?",
        "Weißt du noch, wo die Quittung ist?",
        "パスポートはどこに置いた？",
    ],
)
def test_questions_alone_only_ask(text: str) -> None:
    assert only_asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "The passport is in the blue box.",
        "My passport is in the blue box, is that safe?",
        "I moved to Rome. Do you know a doctor there?",
        "When I was in Rome I lost my passport.",
        "What I did was wrong.",
        "What matters is the result",
        "How to bake bread: take flour.",
        "Where I grew up, winters have been cold.",
        "User asked: Where is it? Assistant said: It is in the blue box.",
        "Ben asked me: stay or go.",
        "",
    ],
)
def test_a_text_that_tells_something_does_not_only_ask(text: str) -> None:
    assert not only_asks(text)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Where is my passport?", True),
        ("Did I ask you about the passport?", False),
        ("Which question did I have about Rome?", False),
        ("I have a passport.", False),
    ],
)
def test_a_query_asks_for_an_answer_or_for_a_question(text: str, asks: bool) -> None:
    assert asks_for_an_answer(text) == asks


@pytest.mark.parametrize(
    ("reply", "unknown"),
    [
        ("I don't know that.", True),
        ("I don't have any information about where you put your passport. Can you tell me?", True),
        ("You have not told me yet.", True),
        ("Das weiß ich leider nicht.", True),
        ("申し訳ありませんが、わかりません。", True),
        ("It is in the blue box.", False),
        ("In the blue box. Don't forget to lock it. I did not see the keys.", False),
    ],
)
def test_a_reply_says_that_the_answer_is_not_known(reply: str, unknown: bool) -> None:
    assert knows_not(reply) == unknown
