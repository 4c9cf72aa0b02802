"""What only a live account can answer, and what follows from each answer: the table that
`make test-live` ends with.

Each question is asked by a function in `cosmos_questions` or `app_questions`, which returns an
`Answer`. What a run could not ask is in the table too, with what it would have needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """text: what is asked. needs: what a run without it lacks."""

    text: str
    needs: str


@dataclass(frozen=True, slots=True)
class Answer:
    """seen: what the account did. follows: what to do, or to believe, because of it."""

    seen: str
    follows: str


class NotAsked(Exception):
    """Why a question could not be asked, in words for the table."""


QUESTIONS: Mapping[int, Question] = {
    1: Question(
        "Can it be provisioned again, and after `azd down`?",
        "MEMORY_LIVE_AZD=again, or MEMORY_LIVE_AZD=rebuild for `azd down` too",
    ),
    2: Question(
        "Does the account take the container with vectors, full text and this key?",
        "MEMORY_LIVE_COSMOS_ENDPOINT",
    ),
    3: Question(
        "Does text ranking rank when a partition key is given?", "MEMORY_LIVE_COSMOS_ENDPOINT"
    ),
    4: Question(
        "What does a vector query cost, with and without a shard key?",
        "MEMORY_LIVE_COSMOS_ENDPOINT",
    ),
    5: Question("What does a read cost under Strong, and relaxed?", "MEMORY_LIVE_COSMOS_ENDPOINT"),
    6: Question(
        "Does Azure run the package, all functions of it, by its Python?",
        "MEMORY_LIVE_GROUP and MEMORY_LIVE_APP",
    ),
    7: Question(
        "How long is a cold start, with and without byte code?",
        "MEMORY_LIVE_GROUP, MEMORY_LIVE_APP and dist/memory-core.zip",
    ),
    8: Question(
        "Do queues and the timer write AppRequests?",
        "MEMORY_LIVE_GROUP, MEMORY_LIVE_APP and MEMORY_LIVE_API_KEY",
    ),
    9: Question(
        "How long does Redis take for the first call?",
        "MEMORY_LIVE_REDIS_URL, from where the cache can be reached",
    ),
    10: Question(
        "Is work taken over when the app restarts in the middle?",
        "MEMORY_LIVE_GROUP, MEMORY_LIVE_APP and MEMORY_LIVE_API_KEY",
    ),
}


def table(answers: Mapping[int, Answer], reasons: Mapping[int, str]) -> str:
    """All questions in their order, as Markdown. reasons: why one was not asked,
    where that is not what it always needs.
    """
    lines = ["| | asked | seen | what follows |", "|--:|---|---|---|"]
    for number, question in QUESTIONS.items():
        answer = answers.get(number)
        if answer is None:
            answer = Answer(
                f"not asked: {reasons.get(number, f'needs {question.needs}')}", "nothing is known"
            )
        cells = (str(number), question.text, answer.seen, answer.follows)
        lines.append(
            f"| {' | '.join(cell.replace('|', '/').replace(chr(10), ' ') for cell in cells)} |"
        )
    return "\n".join(lines)
