"""What is to be asked of a set, and what that will cost, before anything is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from bench.answers.model import ANSWER, JUDGE
from bench.locomo_data import Conversation, Question
from bench.yardstick.contexts import BUDGET
from bench.yardstick.figures import ADVERSARIAL
from bench.yardstick.peers import BM25
from bench.yardstick.turns import OURS
from memory_core.adapters.openai.tokens import CHARACTERS_A_TOKEN

WAYS = (OURS, BM25)
MOST_REFERENCE = 4_000
"""Characters of evidence that a judge is shown."""
ANSWER_TOKENS, VERDICT_TOKENS = 60, 60
"""Tokens that an answer and a verdict usually take; a model that thinks first takes more."""
FRAME_TOKENS = 60
"""Of a record's marks and headings."""
UNANSWERABLE = "The conversation does not tell this."
Key = tuple[str, str]
"""A question and a way, by their names."""


@dataclass(frozen=True, slots=True)
class Item:
    """One question of a set. conversation: its place. key: its name, which stays the same from run
    to run. reference: what is right.
    """

    conversation: int
    key: str
    question: Question
    reference: str


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls of the model, and about how many tokens they will take."""

    calls: int = 0
    prompt: int = 0
    completion: int = 0

    def plus(self, prompt: int, completion: int) -> Cost:
        """With one call more."""
        return Cost(self.calls + 1, self.prompt + prompt, self.completion + completion)

    def price(self, price_in: float, price_out: float) -> float:
        """What it costs by prices for a million tokens."""
        return (self.prompt * price_in + self.completion * price_out) / 1_000_000


def items_of(conversations: Sequence[Conversation], most_questions: int | None) -> list[Item]:
    """The questions of conversations, at most so many of each."""
    return [
        Item(place, f"{conversation.name}#{number}", question, reference(conversation, question))
        for place, conversation in enumerate(conversations)
        for number, question in enumerate(conversation.questions[:most_questions])
    ]


def reference(conversation: Conversation, question: Question) -> str:
    """What is right: the set's own answer, or the turns that hold it."""
    if question.kind == ADVERSARIAL:
        return UNANSWERABLE
    if question.answer is not None:
        return question.answer
    turns = [turn for turn in conversation.turns if turn.id in question.evidence]
    dialogue = "\n".join(
        f"[{datetime.fromisoformat(turn.at):%d %B %Y}] {turn.actor}: {turn.text}" for turn in turns
    )
    return dialogue[:MOST_REFERENCE]


def cost_of(
    items: Sequence[Item], ways: Sequence[str], answered: Collection[Key], judged: Collection[Key]
) -> Cost:
    """What is left to be paid for. answered, judged: what is known already."""
    cost = Cost()
    for item in items:
        asked = _tokens(item.question.text)
        for way in ways:
            key = (item.key, way)
            if key not in answered:
                cost = cost.plus(
                    _tokens(ANSWER.text) + FRAME_TOKENS + asked + BUDGET, ANSWER_TOKENS
                )
            if key not in judged:
                cost = cost.plus(
                    _tokens(JUDGE.text)
                    + FRAME_TOKENS
                    + asked
                    + _tokens(item.reference)
                    + ANSWER_TOKENS,
                    VERDICT_TOKENS,
                )
    return cost


def fingerprint(conversations: Sequence[Conversation]) -> str:
    """Tells sets apart, so that one is not gone on with in the name of another."""
    digest = hashlib.sha256()
    for conversation in conversations:
        digest.update(
            "\0".join(
                [
                    conversation.name,
                    *(turn.text for turn in conversation.turns),
                    *(asked.text for asked in conversation.questions),
                ]
            ).encode()
        )
    return digest.hexdigest()[:16]


def _tokens(text: str) -> int:
    return ceil(len(text) / CHARACTERS_A_TOKEN)
