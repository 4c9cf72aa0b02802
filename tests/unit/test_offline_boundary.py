"""Topic changes by rule, on conversations of one to four topics written for it
(`tests.topic_conversations`).
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.adapters.offline.boundaries import boundaries
from memory_core.domain.conversation import Message
from tests.talk import FRIDAY, talk
from tests.topic_conversations import TUNED, UNSEEN, conversations

GAP = timedelta(hours=2)
ALL = conversations(TUNED) + conversations(UNSEEN)


def cuts(messages: list[Message]) -> list[int]:
    return [cut.after for cut in boundaries(messages, None, GAP).cuts]


@pytest.mark.parametrize(
    ("messages", "expected"), ALL, ids=[messages[0].content[:30] for messages, _ in ALL]
)
def test_a_conversation_is_cut_where_its_topic_changes(
    messages: list[Message], expected: list[int]
) -> None:
    assert cuts(messages) == expected


@pytest.mark.parametrize(
    "cue",
    [
        "By the way, ",
        "Anyway, ",
        "Changing the subject: ",
        "Let's talk about this: ",
        "Before I forget, ",
        "Übrigens, ",
        "Au fait, ",
        "Por cierto, ",
    ],
)
def test_a_cue_cuts_even_before_a_word_in_common(cue: str) -> None:
    messages = talk(
        "u: My garden needs new soil for the tomatoes.",
        "a: Use compost, tomatoes need much food.",
        f"u: {cue}my bicycle stands in the garden and has a flat tyre, who repairs bicycle tyres?",
        "a: A bicycle shop repairs tyres in ten minutes.",
    )
    assert cuts(messages) == [1]


@pytest.mark.parametrize(
    ("statement", "correction"),
    [
        ("I live in Derby.", "Sorry, I meant Leeds."),
        ("My vet is on thursday at 4.", "oh wait no, friday. same time"),
        ("I have a meeting with Sarah on Monday.", "Oops, with Sandra."),
        ("My driving test is on 1 December.", "Wait, the 2nd, not the 1st."),
        ("Ich wohne in Köln.", "Quatsch, in Bonn."),
        ("明日の14時に美容院の予約があります。", "すみません、15時の間違いでした。"),
    ],
)
def test_a_correction_stays_with_what_it_corrects(statement: str, correction: str) -> None:
    assert cuts(talk(f"u: {statement}", f"u: {correction}")) == []


def test_an_excuse_before_another_matter_holds_no_topic_together() -> None:
    messages = talk(
        "u: My garden needs new soil for the tomatoes.",
        "a: Use compost, tomatoes need much food.",
        "u: Sorry, my bicycle has a flat tyre and needs a repair before the weekend trip.",
        "a: A bicycle shop repairs tyres in ten minutes.",
    )
    assert cuts(messages) == [1]


def test_a_question_stays_with_its_answer() -> None:
    messages = talk(
        "u: My garden needs new soil for the tomatoes.",
        "a: How large is it?",
        "u: Twelve square metres, behind the garage.",
        "a: Then order half a cubic metre.",
    )
    assert cuts(messages) == []


def test_a_long_silence_cuts_whatever_follows() -> None:
    messages = talk(
        "u: My tomatoes need soil.",
        "a: Tomatoes like compost as soil.",
        "u: I put compost on the tomatoes.",
    )
    late = [
        *messages[:2],
        messages[2].model_copy(update={"timestamp": FRIDAY + timedelta(hours=5)}),
    ]
    assert (cuts(messages), cuts(late)) == ([], [1])


def test_thanks_stay_with_what_they_are_for() -> None:
    messages = talk(
        "u: How do I boil an egg?",
        "a: Seven minutes in boiling water makes a soft egg.",
        "u: Thanks!",
        "u: Which bus goes to the harbour?",
        "a: Bus 12 goes to the harbour every ten minutes.",
    )
    assert cuts(messages) == [2]


def test_a_greeting_in_the_middle_opens_what_comes_after_it() -> None:
    messages = talk(
        "u: How do I boil an egg?",
        "a: Seven minutes in boiling water makes a soft egg.",
        "u: Hello again!",
        "u: Which bus goes to the harbour?",
        "a: Bus 12 goes to the harbour every ten minutes.",
    )
    assert cuts(messages) == [1]


def test_it_says_whether_the_first_messages_go_on_with_the_episode_before() -> None:
    messages = talk(
        "u: The sourdough starter smells of acetone now.", "a: Feed the starter twice a day."
    )
    assert boundaries(messages, "user: My sourdough starter does not rise.", GAP).continues
    assert not boundaries(messages, "user: I moved to Lisbon for a new job.", GAP).continues
    assert not boundaries(messages, None, GAP).continues


def test_vectors_hold_together_what_shares_no_word() -> None:
    import numpy as np

    messages = talk(
        "u: The puppy chewed my slippers.",
        "a: Young dogs chew everything.",
        "u: Bruno keeps barking whenever somebody rings.",
        "a: Reward silence at the door.",
    )
    same = [np.array([1.0, 0.0], dtype=np.float32)] * 4
    other = [*same[:2], *[np.array([0.0, 1.0], dtype=np.float32)] * 2]
    cuts_found = [
        [cut.after for cut in boundaries(messages, None, GAP, vectors).cuts]
        for vectors in (None, other, same)
    ]
    assert cuts_found == [[1], [1], []]
