"""The way `told`: sessions told as messages, every question answered with a context."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from bench.locomo_data import Conversation, Turn
from bench.yardstick.figures import Row
from bench.yardstick.turns import answered, report_contexts
from bench.yardstick.ways import Given, Measured, milliseconds, progress

HISTORIES, NAMED_HISTORIES, TIMELESS_HISTORIES = (
    "histories",
    "named-histories",
    "timeless-histories",
)
ALL_HISTORIES = (HISTORIES, NAMED_HISTORIES, TIMELESS_HISTORIES)
HISTORY_STEP, MOST_MESSAGES = 10, 200
"""New messages in each call of a history; messages that a call takes."""
ASSISTANT = "Assistant"


def measure(given: Given) -> Measured:
    """Tell, ask and report, for each number of messages a call."""
    measured = Measured()
    for how in given.calls:
        rows: list[Row] = []
        times: list[float] = []
        for place, conversation in given.each(f"told, {described(how)}"):
            user, peers = told(given, conversation, how), given.peers(conversation)
            progress(
                f"{given.name}, told, {described(how)}: asking "
                f"{len(conversation.questions)} questions"
            )
            for question in conversation.questions:
                rows.append(
                    Row(
                        place,
                        question.kind,
                        answered(given.service, user, conversation, question, peers),
                    )
                )
                times.append(given.service.seconds)
        measured.rows[how] = rows
        measured.figures[f"context ms, {how}"] = {
            "p50": milliseconds(times, 0.5),
            "p95": milliseconds(times, 0.95),
        }
    report_contexts(
        measured,
        f"{given.name}, told: evidence in contexts",
        {described(how): rows for how, rows in measured.rows.items()},
    )
    measured.figures["tasks by how they ended"] = dict(given.service.tasks)
    if set(given.service.tasks) - {"succeeded"}:
        progress(f"NOT ALL TASKS SUCCEEDED: {given.service.tasks}")
    return measured


def described(how: str) -> str:
    """How sessions were told, in words."""
    return f"{how} a call" if how.isdecimal() else how.replace("-", " ")


def told(given: Given, conversation: Conversation, how: str) -> str:
    """A user who has been told the conversation, each call once the one before is formed."""

    def tell(user: str) -> None:
        for session, turns in sessions(conversation.turns):
            for messages in calls_of(turns, how):
                given.service.wait(user, given.service.tell(user, session, messages))

    return given.users.filled(conversation, f"told-{how}", tell)


def sessions(turns: Sequence[Turn]) -> list[tuple[str, list[Turn]]]:
    """The sessions in order, each with its turns."""
    return [(name, list(part)) for name, part in groupby(turns, lambda turn: turn.session)]


def calls_of(turns: Sequence[Turn], how: str) -> list[list[dict[str, Any]]]:
    """The messages of each call by which a session is told.

    Args:
        turns: Of one session.
        how: A number of messages a call; or `histories`, where each call has all that was said so
            far, at most its last 200 messages, and ten more, without ids and speakers; or
            `named-histories`, with speakers; or `timeless-histories`, with speakers and without
            times, so that all of it is of today.

    """
    if how.isdecimal():
        return [
            [message(turn) for turn in turns[start : start + int(how)]]
            for start in range(0, len(turns), int(how))
        ]
    ends = range(HISTORY_STEP, len(turns) + HISTORY_STEP, HISTORY_STEP)
    told_so_far = [turns[: min(end, len(turns))][-MOST_MESSAGES:] for end in ends]
    named, dated = how != HISTORIES, how != TIMELESS_HISTORIES
    return [[message(turn, named=named, dated=dated) for turn in part] for part in told_so_far]


def message(turn: Turn, *, named: bool = True, dated: bool = True) -> dict[str, Any]:
    """A turn as a message. named: with its speaker. dated: with its time."""
    role = "assistant" if turn.actor == ASSISTANT else "user"
    speaker = {"actor": turn.actor} if named else {}
    moment = {"timestamp": turn.at} if dated else {}
    return {"role": role, "content": turn.text, **speaker, **moment}
