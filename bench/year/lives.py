"""A life of a year: chats on their days, and the questions that each month answers.

Note: a conversation of a set keeps the order of its sessions, but they lie evenly over the year.
Questions that name a month or a year are left out, since those dates are others here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bench.locomo_data import Conversation, Question, Turn
from bench.yardstick.figures import ADVERSARIAL
from bench.yardstick.told import sessions

MONTHS = 12
YEAR = timedelta(days=365)
MONTH = YEAR / MONTHS
LONGEST_SESSION = timedelta(hours=3)
"""A longer session of a set is told in this time."""
_DATED = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December"
    r"|\d{4})\b"
)


@dataclass(frozen=True, slots=True)
class Chat:
    """What is said on one occasion. ends_at: when it is told."""

    session: str
    ends_at: datetime
    turns: list[Turn]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. evidence: the turns that answer it, each with the month it was told in. until:
    when another answer became true.
    """

    text: str
    evidence: Mapping[str, int]
    until: datetime | None = None

    def is_answerable(self, month: int) -> bool:
        """Whether all of its evidence is told by the end of a month."""
        return max(self.evidence.values()) <= month


@dataclass(frozen=True, slots=True)
class Life:
    """Chats in order, and what is asked about them. began_at: where its first month begins."""

    name: str
    began_at: datetime
    chats: list[Chat]
    questions: list[Asked]

    def end_of(self, month: int) -> datetime:
        """When a month is over; months are numbered from 0."""
        return self.began_at + (month + 1) * MONTH

    def month_of(self, moment: datetime) -> int:
        """The month in which a moment lies."""
        return min(MONTHS - 1, int((moment - self.began_at) / MONTH))

    def first_months(self, count: int, name: str) -> Life:
        """The same life, silent after so many months."""
        chats = [chat for chat in self.chats if chat.ends_at < self.end_of(count - 1)]
        return replace(
            self,
            name=name,
            chats=chats,
            questions=[
                question for question in self.questions if question.is_answerable(count - 1)
            ],
        )


def of_conversation(conversation: Conversation) -> Life:
    """A conversation of a set as a life of a year, its sessions evenly over it."""
    parts = [turns for _, turns in sessions(conversation.turns)]
    first = datetime.fromisoformat(parts[0][0].at)
    began = first.replace(hour=0, minute=0, second=0, microsecond=0)
    chats = [
        _chat(turns, began + (place + 0.5) / len(parts) * YEAR) for place, turns in enumerate(parts)
    ]
    life = Life(conversation.name, began, chats, [])
    months = {turn.id: life.month_of(chat.ends_at) for chat in chats for turn in chat.turns}
    asked = [
        Asked(question.text, {turn: months[turn] for turn in sorted(question.evidence)})
        for question in conversation.questions
        if _is_asked(question)
    ]
    return replace(life, questions=asked)


def _is_asked(question: Question) -> bool:
    return question.kind != ADVERSARIAL and _DATED.search(question.text) is None


def _chat(turns: Sequence[Turn], at: datetime) -> Chat:
    """A session told from a moment on, its turns as far apart as they were, or nearer where that
    would take long.
    """
    times = [datetime.fromisoformat(turn.at) for turn in turns]
    took = max(times) - times[0]
    share = min(1.0, LONGEST_SESSION / took) if took else 1.0
    moved = [at + max(time - times[0], timedelta(0)) * share for time in times]
    return Chat(
        turns[0].session,
        max(moved),
        [replace(turn, at=time.isoformat()) for turn, time in zip(turns, moved, strict=True)],
    )
