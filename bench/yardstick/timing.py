"""The ways `latency` and `after202`: how long answers and formation take, and what is found before
anything is formed.

Note: no text is asked twice, since the host knows the vector of a text that it was asked before.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.locomo_data import Conversation, Turn
from bench.yardstick import figures
from bench.yardstick.contexts import share_standing
from bench.yardstick.figures import Row
from bench.yardstick.sentences import messages_of_six, rarest_words
from bench.yardstick.service import running
from bench.yardstick.told import calls_of, message, sessions
from bench.yardstick.ways import (
    TEN,
    Given,
    Measured,
    drawn,
    milliseconds,
    progress,
    without_adversarial,
)

MOST_QUESTIONS = 40
"""Of a conversation, for each kind of call."""
WARM_UP = 5
INGEST_CALLS = "50"
HELD_APP = Path(__file__).with_name("held_app")
TOLD_TURNS, WORDS = 200, 5


def measure_latency(given: Given) -> Measured:
    """Time retrieves, contexts and the way from messages to memories."""
    times: dict[str, list[float]] = {}
    for place, conversation in given.each("latency"):
        user = given.users.saved(conversation)
        questions = [question.text for question in without_adversarial(conversation.questions)][
            :MOST_QUESTIONS
        ]
        others = (given.following(place) or conversation).turns
        for number in range(WARM_UP):
            given.service.turns(user, f"Is there anything about number {number}?")
        for name, call in _calls(given, user, questions, [turn.text for turn in others]).items():
            for number in range(len(questions)):
                call(number)
                times.setdefault(name, []).append(given.service.seconds)
    measured = Measured()
    lines = []
    for name, seconds in times.items():
        p50, p95 = milliseconds(seconds, 0.5), milliseconds(seconds, 0.95)
        measured.figures[name] = {"p50 ms": p50, "p95 ms": p95, "calls": len(seconds)}
        lines.append([name, str(len(seconds)), f"{p50:.1f}", f"{p95:.1f}"])
    measured.table(f"{given.name}, times of answers", ("", "calls", "p50 ms", "p95 ms"), lines)
    _ingest(given, measured)
    return measured


def _calls(
    given: Given, user: str, questions: Sequence[str], others: Sequence[str]
) -> dict[str, Callable[[int], Any]]:
    """By name, what asks the question of a number. Each begins otherwise, so that its
    text is new.
    """
    messages, service = messages_of_six(questions, others), given.service
    return {
        "retrieve, a question": lambda number: service.turns(user, f"Tell me, {questions[number]}"),
        "retrieve, a message of six sentences": lambda number: service.turns(
            user, messages[number]
        ),
        "context for a question (reconstruct)": lambda number: service.reconstruct(
            user, f"Let me know, {questions[number]}"
        ),
        "context for a turn (/context)": lambda number: service.post(
            "/api/v1/context", {"user_id": user, "query": f"Please say, {questions[number]}"}
        ),
    }


def _ingest(given: Given, measured: Measured) -> None:
    """Tell everything without waiting in between; then wait for all tasks."""
    tasks: list[tuple[str, str]] = []
    accepted: list[float] = []
    count = 0
    began = time.perf_counter()
    for _, conversation in given.each("ingestion"):
        user = given.users.fresh(conversation, "ingested")
        for session, turns in sessions(conversation.turns):
            for messages in calls_of(turns, INGEST_CALLS):
                tasks.append((user, given.service.tell(user, session, messages)))
                accepted.append(given.service.seconds)
                count += len(messages)
    progress(f"{given.name}, ingestion: waiting for {len(tasks)} tasks")
    ended = [given.service.wait(user, task) for user, task in tasks]
    took = time.perf_counter() - began
    made = {
        "messages": count,
        "seconds": round(took, 2),
        "messages a second": round(count / took, 1),
        "accepted p50 ms": milliseconds(accepted, 0.5),
        "accepted p95 ms": milliseconds(accepted, 0.95),
        "tasks succeeded": ended.count("succeeded"),
        "tasks": len(ended),
    }
    measured.figures["ingestion"] = made
    measured.table(
        f"{given.name}, sessions told {INGEST_CALLS} messages a call, until all tasks are done",
        ("", *made),
        [["ingestion", *map(str, made.values())]],
    )


def measure_after_202(given: Given) -> Measured:
    """Tell turns one by one to a host that forms nothing, and ask for each as soon as it
    was accepted.
    """
    rows: list[Row] = []
    later: list[tuple[int, str, str, Turn]] = []
    statuses: list[str] = []
    degraded = 0
    with (
        tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder,
        running(given.profile, Path(folder), app=HELD_APP) as service,
    ):
        most = -(-TOLD_TURNS // len(given.conversations))
        for place, conversation in given.each("after202"):
            user = given.users.fresh(conversation, "held")
            for turn, words in asked_for(conversation, most):
                answer = service.post(
                    "/api/v1/memories",
                    {"user_id": user, "session_id": turn.session, "messages": [message(turn)]},
                )
                query = " ".join(words)
                shipped = service.retrieve(user, query, limit=TEN)
                opened = service.retrieve(user, query, limit=TEN, similarity_threshold=0)
                values = {
                    "found": _has(shipped, turn),
                    "nothing": not shipped,
                    "without thresholds": _has(opened, turn),
                }
                rows.append(
                    Row(place, "told", {name: float(value) for name, value in values.items()})
                )
                later.append((place, user, query, turn))
                degraded += bool(answer["degraded"])
                statuses.append(
                    service.get(f"/api/v1/tasks/{answer['task_id']}?user_id={user}")["status"]
                )
        progress(f"{given.name}, after202: asking {len(later)} times again")
        again = [
            Row(
                place,
                "told",
                {"found later": float(_has(service.retrieve(user, query, limit=TEN), turn))},
            )
            for place, user, query, turn in later
        ]
    measured = Measured(rows={"after202": rows, "later": again})
    shares = {name: figures.of(rows, name) for name in ("found", "nothing", "without thresholds")}
    shares["found later"] = figures.of(again, "found later")
    measured.figures |= {name: asdict(share) for name, share in shares.items()}
    measured.figures |= {
        "tasks that waited": statuses.count("accepted"),
        "answers that were degraded": degraded,
    }
    found_share, opened_share = shares["found"], shares["without thresholds"]
    over = drawn(found_share)
    headings = (
        "",
        "turns",
        "found in ten",
        over,
        "nothing found",
        "without thresholds",
        over,
        "found at the end",
        "tasks that waited",
        "degraded",
    )
    line = [
        str(found_share.count),
        found_share.percent(),
        found_share.percent_interval(),
        shares["nothing"].percent(),
    ]
    line += [
        opened_share.percent(),
        opened_share.percent_interval(),
        shares["found later"].percent(),
        str(statuses.count("accepted")),
        str(degraded),
    ]
    measured.table(
        f"{given.name}, asked straight after the 202, nothing formed",
        headings,
        [["by five rarest words", *line]],
    )
    return measured


def _has(results: Sequence[dict[str, Any]], turn: Turn) -> bool:
    return any(
        share_standing(result["memory"]["content"], [turn.text]) == 1.0 for result in results
    )


def asked_for(conversation: Conversation, most: int) -> list[tuple[Turn, list[str]]]:
    """At most so many turns, evenly over the conversation, each with its five rarest words."""
    texts = [turn.text for turn in conversation.turns]
    wordy = [
        (turn, words)
        for turn in conversation.turns
        if (words := rarest_words(turn.text, texts, WORDS)) is not None
    ]
    step = max(1, len(wordy) // most)
    return wordy[::step][:most]
