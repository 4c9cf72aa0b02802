from datetime import datetime, timezone

import pytest

from memory_core.domain.conversation import Message
from memory_core.domain.statements.provenance import Proofs

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)


def message(content: str, role: str = "user", actor: str | None = None) -> Message:
    return Message.model_validate(
        {"role": role, "content": content, "timestamp": NOON, "actor": actor}
    )


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("I live in Lisbon", "Well, i  LIVE in\nLisbon now."),
        ("“I’m vegan”", 'She said: "I\'m vegan".'),
        ("日本語", "私は日本語を話す"),
        ("café", "the cafe\u0301 is closed"),
    ],
)
def test_words_that_were_said_are_found(quote: str, text: str) -> None:
    assert Proofs([message(text)]).prove(quote, 0)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("I live in Porto", "I live in Lisbon"),
        ("...", "and so on..."),
        ("", "anything"),
        ('"', '"'),
    ],
)
def test_words_that_were_not_said_prove_nothing(quote: str, text: str) -> None:
    assert not Proofs([message(text)]).prove(quote, 0)


def test_a_message_that_is_not_there_proves_nothing() -> None:
    assert not Proofs([message("hello")]).prove("hello", 1)
    assert not Proofs([message("hello")]).prove("hello", -1)


@pytest.mark.parametrize("role", ["system", "tool", "assistant"])
def test_the_system_a_tool_and_an_unnamed_assistant_tell_no_facts(role: str) -> None:
    assert not Proofs([message("I live in Rome", role)]).prove("I live in Rome", 0)


def test_a_named_person_tells_facts_in_either_role() -> None:
    assert Proofs([message("I live in Rome", "assistant", "Charlotte")]).prove("I live in Rome", 0)


def test_recalled_memories_are_no_news() -> None:
    recalled = message("<memories>Ana lives in Rome</memories> What do you think?")
    assert not Proofs([recalled]).prove("Ana lives in Rome", 0)
    assert Proofs([recalled]).prove("What do you think", 0)
