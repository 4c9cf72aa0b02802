"""A query is a message: what is asked for inside one is found, what is only said in one is not."""

from __future__ import annotations

from math import prod

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import RetrieveInput
from tests.builders import ALICE
from tests.world import WordsEmbedder, find, turn

QUESTION = "Where did Dee sail the red boat?"
CHATTER = (
    "The dishwasher broke on Tuesday and nobody wants to wash up. My brother will bring the "
    "accounts over after lunch."
)
SAID = [
    "Dee sailed the red boat to Porto",
    "Ben grows lemons behind the house",
    "We had soup and bread at noon",
    "The exam was easy",
]


async def told(core: MemoryCore) -> None:
    await core.bulk(ALICE, [turn(text, None) for text in SAID])


async def test_a_question_inside_a_message_finds_what_it_finds_alone(words: MemoryCore) -> None:
    await told(words)
    for message in (
        f"{CHATTER} {QUESTION}",
        f"{QUESTION} {CHATTER}",
        f"Good morning! {QUESTION} Thank you so much.",
    ):
        assert (await find(words, message))[:1] == [SAID[0]]


async def test_chatter_alone_finds_nothing(words: MemoryCore) -> None:
    await told(words)
    assert await find(words, CHATTER) == []


async def test_two_questions_are_both_answered(words: MemoryCore) -> None:
    await told(words)
    assert set(await find(words, f"{QUESTION} What does Ben grow behind the house?")) == {
        SAID[0],
        SAID[1],
    }


async def test_the_sentences_of_a_message_are_embedded_together_and_those_without_a_telling_word_not(  # noqa: E501
    words: MemoryCore, embedder: WordsEmbedder
) -> None:
    await told(words)
    embedder.texts.clear()
    await find(words, f"How are you? The dishwasher broke. {QUESTION}")
    assert sorted(embedder.texts) == ["The dishwasher broke.", QUESTION]
    embedder.texts.clear()
    await find(words, "Which lemons grow behind the house?")
    assert embedder.texts == ["Which lemons grow behind the house?"]


async def test_explain_tells_the_parts_and_which_was_answered(words: MemoryCore) -> None:
    await told(words)
    answer = await words.retrieve(ALICE, RetrieveInput(query=f"{CHATTER} {QUESTION}", explain=True))
    assert answer.explain is not None
    parts = answer.explain["parts"]
    best = answer.results[0].explain or {}
    assert parts[best["part"]]["text"] == QUESTION
    assert list(best["terms"]) == parts[best["part"]]["terms"]
    assert best["boosts"]["part"] == parts[best["part"]]["weight"]
    alone = await words.retrieve(ALICE, RetrieveInput(query=QUESTION, explain=True))
    assert alone.explain is not None
    assert alone.explain["parts"] == []
    assert (alone.results[0].explain or {})["part"] is None


async def test_the_relevance_for_a_part_can_be_worked_out_from_what_explain_tells(
    words: MemoryCore,
) -> None:
    await told(words)
    answer = await words.retrieve(
        ALICE, RetrieveInput(query=f"{CHATTER} {QUESTION}", explain=True, similarity_threshold=0.0)
    )
    assert answer.explain is not None
    for hit in answer.results:
        told_of = hit.explain or {}
        norm = 0.7 * (
            0.6 + 0.4 * told_of["length"] / min(max(answer.explain["mean_length"], 30), 40)
        )
        near = min(1.0, 1.7 / (1 + norm))
        shares = [
            term["worth"]
            * (
                (count := term["frequency"] + 0.25 * term["next"]) / (count + norm)
                + 0.6 * near * term["near"]
            )
            for term in told_of["terms"].values()
        ]
        beside = [
            similarity
            for similarity in (told_of["previous_similarity"], told_of["next_similarity"])
            if similarity is not None
        ]
        cosine = (
            (told_of["similarity"] + max(*beside, 0.0)) / 2 if beside else told_of["similarity"]
        )
        relevance = (0.35 * max(cosine, 0.0) + 0.65 * min(sum(shares), 1.0) ** 0.7) * prod(
            told_of["boosts"].values()
        )
        assert hit.relevance_score == pytest.approx(min(1.0, relevance), abs=1e-4)


async def test_a_message_finds_by_its_words_while_the_embedder_is_down(
    words: MemoryCore, embedder: WordsEmbedder
) -> None:
    await told(words)
    embedder.down = True
    answer = await words.retrieve(ALICE, RetrieveInput(query=f"{CHATTER} {QUESTION}"))
    assert [hit.memory.content for hit in answer.results][:1] == [SAID[0]]
    assert answer.degraded == ("embedder",)


async def test_a_long_message_is_answered_by_its_question(words: MemoryCore) -> None:
    await told(words)
    paste = "\n".join(
        f"Row {number} of the table holds a figure that nobody has looked at since."
        for number in range(110)
    )
    assert (await find(words, f"{paste}\n{QUESTION}"))[:1] == [SAID[0]]


LONG = (
    "The workshop manual says that the carburettor of the Zündapp is cleaned with petrol and a "
    "horsehair brush, never with water. After that the float needs a new gasket, the jets are "
    "blown through from behind, and the throttle cable is oiled where it enters the sleeve. The "
    "spark plug sits behind the fairing, which comes off with two screws; the upper one is longer. "
    "Check the tank for rust, the fork for oil and the chain for slack before the first ride of "
    "the year, and do not forget that the odometer was replaced at forty thousand kilometres, so "
    "that the number which it shows today is too low by that much in every document since then."
)


async def test_an_old_long_text_among_short_ones_is_found_by_its_own_rare_words(
    words: MemoryCore,
) -> None:
    await words.save(ALICE, turn(LONG, None))
    await words.bulk(ALICE, [turn(f"We had soup number {n} at noon", None) for n in range(20)])
    for query in (
        "Is the carburettor cleaned with a horsehair brush?",
        "odometer replaced forty thousand kilometres",
        "Zündapp throttle cable sleeve",
    ):
        assert await find(words, query) == [LONG]


async def test_what_an_assistant_said_at_length_does_not_hide_what_the_person_said_in_a_line(
    words: MemoryCore,
) -> None:
    line = "My sister Ada plays the cello in Ghent"
    answer = (
        "That is wonderful to hear! The cello is a demanding instrument, and a sister who plays it "
        "will have practised for years. In Ghent there are several orchestras, a conservatory and "
        "many small halls. If Ada wants to play in public, she could ask the conservatory for its "
        "list of concerts, look for a quartet that needs a cello, or play at a church. "
    ) * 4
    await words.bulk(
        ALICE,
        [
            turn(text, "Ana" if text == line else "Assistant")
            for text in (answer, line, answer + " Good luck!")
        ],
    )
    assert (await find(words, "Where does my sister Ada play the cello?"))[0] == line
