"""The clock moved on after everything was told: the same questions after days and months without a
message or a query.

Turns are saved one by one for one user and told in sessions for another. On each day the hour's
work is done, and `consolidate`, `decay` and `archive` are asked for by hand. Note: a second
MemoryCore asks, whose accesses are not written down.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from bench.day import Ids, work
from bench.locomo_data import Conversation, Turn
from bench.tables import show
from bench.users import Hands
from bench.yardstick.contexts import share_standing
from bench.yardstick.figures import ADVERSARIAL
from bench.yardstick.told import calls_of, sessions
from bench.year.lived import A_CALL, APP, SEED, Unseen
from bench.year.lives import Life
from memory_core.adapters.redis.local import NullShortTermStore
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.requests.maintenance import ArchiveInput, ConsolidateInput, DecayInput
from memory_core.domain.requests.memories import ConverseInput, RetrieveInput, SaveInput
from memory_core.domain.scope import Owner
from memory_core.functions.triggers import send_for_work
from memory_core.telemetry import Telemetry

DAYS = (0, 30, 90, 130, 200, 400)
TURN = "turn"
AT_ONCE = 100
LIMIT = 10
MOST_LOST = 0.02
"""What recall may lose against day 0."""
HEADINGS = (
    "day",
    "recall@10, saved turn by turn",
    "evidence in a context, told in sessions",
    "questions with all of it",
)


@dataclass(frozen=True, slots=True)
class Talk:
    """What is told in which sessions, and what is asked: texts, each with the turns
    that answer it.
    """

    name: str
    sessions: list[tuple[str, list[Turn]]]
    questions: list[tuple[str, frozenset[str]]]

    @classmethod
    def of_conversation(cls, conversation: Conversation) -> Talk:
        """A conversation of a set, at its own times."""
        asked = [
            (question.text, question.evidence)
            for question in conversation.questions
            if question.kind != ADVERSARIAL
        ]
        return cls(conversation.name, sessions(conversation.turns), asked)

    @classmethod
    def of_life(cls, life: Life) -> Talk:
        """A life of chats, each a session."""
        return cls(
            life.name,
            [(chat.session, chat.turns) for chat in life.chats],
            [(question.text, frozenset(question.evidence)) for question in life.questions],
        )


@dataclass(frozen=True, slots=True)
class Moved:
    """What is found on one day. recall: of turns saved; standing: of evidence in contexts; whole:
    questions all of whose evidence is there.
    """

    day: int
    recall: float
    standing: float
    whole: int

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


async def measure(
    talk: Talk, settings: Settings, along: Callable[[timedelta], None] = lambda by: None
) -> list[Moved]:
    """Tell a talk, and ask on each of `DAYS`. along: told by how much the clock is moved,
    each time.
    """
    moved = _Moved(talk, settings, along)
    async with moved.core, moved.reader:
        await moved.core.warm_up()
        await moved.tell()
        return [await moved.ask(day) for day in DAYS]


def together(talks: Sequence[tuple[Talk, list[Moved]]]) -> list[Moved]:
    """The figures of several talks over all of their questions."""
    asked = [len(talk.questions) for talk, _ in talks]
    days = zip(*(days for _, days in talks), strict=True)

    def mean(values: Iterable[float]) -> float:
        return sum(count * value for count, value in zip(asked, values, strict=True)) / sum(asked)

    return [
        Moved(
            same_day[0].day,
            mean(of.recall for of in same_day),
            mean(of.standing for of in same_day),
            sum(of.whole for of in same_day),
        )
        for same_day in days
    ]


def report(name: str, asked: int, days: Sequence[Moved]) -> None:
    """Print a table."""
    rows = [
        [str(day.day), f"{day.recall:.3f}", f"{day.standing:.3f}", f"{day.whole} of {asked}"]
        for day in days
    ]
    show(f"{name}: {asked} questions, the clock moved on", HEADINGS, rows)


def broken(name: str, days: Sequence[Moved]) -> list[str]:
    """The days on which too little is found. Note: of one conversation's 150 questions, one more or
    less is a third of what may be lost.
    """
    first = days[0]
    return [
        f"{name}, day {day.day}: recall@10 {day.recall:.3f}"
        for day in days
        if day.recall < first.recall - MOST_LOST
    ]


class _Moved:
    def __init__(self, talk: Talk, settings: Settings, along: Callable[[timedelta], None]) -> None:
        self._talk = talk
        self._texts = {turn.id: turn.text for _, turns in talk.sessions for turn in turns}
        self._saved, self._told = Owner(APP, "saved"), Owner(APP, "told")
        self._clock, telemetry = (
            Hands(datetime.fromisoformat(talk.sessions[0][1][0].at), along),
            Telemetry(),
        )
        made = Adapters.of(settings, self._clock, telemetry.charged, telemetry)
        self.core = MemoryCore(settings, clock=self._clock, ids=Ids(SEED), adapters=made)
        asking = Adapters.of(settings, self._clock, telemetry.charged, telemetry)
        asking = replace(
            asking, long_term=Unseen(asking.long_term), short_term=NullShortTermStore()
        )
        self.reader = MemoryCore(settings, clock=self._clock, adapters=asking)
        self._began = self._clock.now()

    async def tell(self) -> None:
        """All of it at its times; day 0 is when the last session ends."""
        for session, turns in self._talk.sessions:
            self._move(max(datetime.fromisoformat(turn.at) for turn in turns))
            items = [
                SaveInput.model_validate({**turn.saved(), "metadata": {TURN: turn.id}})
                for turn in turns
            ]
            for start in range(0, len(items), AT_ONCE):
                await self.core.bulk(self._saved, items[start : start + AT_ONCE])
            for messages in calls_of(turns, A_CALL):
                await self.core.converse(
                    self._told,
                    ConverseInput.model_validate({"session_id": session, "messages": messages}),
                )
                await work(self.core)
        self._began = self._clock.now()

    async def ask(self, day: int) -> Moved:
        """Let the days go by, do all upkeep, and ask."""
        self._move(self._began + timedelta(days=day))
        await send_for_work(self.core)
        await work(self.core)
        for owner in (self._saved, self._told):
            await self.core.consolidate(owner, ConsolidateInput())
            await work(self.core)
            await self.core.decay(owner, DecayInput())
            await self.core.archive(owner, ArchiveInput())
            await work(self.core)
        print(f"{self._talk.name}: day {day}", file=sys.stderr, flush=True)
        recalls = [await self._recall(text, evidence) for text, evidence in self._talk.questions]
        standing = [
            await self._standing(text, [self._texts[turn] for turn in evidence])
            for text, evidence in self._talk.questions
        ]
        asked = len(self._talk.questions)
        return Moved(
            day,
            sum(recalls) / asked,
            sum(standing) / asked,
            sum(share == 1.0 for share in standing),
        )

    async def _recall(self, query: str, evidence: frozenset[str]) -> float:
        answer = await self.reader.retrieve(self._saved, RetrieveInput(query=query, limit=LIMIT))
        return len({hit.memory.metadata.get(TURN) for hit in answer.results} & evidence) / len(
            evidence
        )

    async def _standing(self, query: str, evidence: Sequence[str]) -> float:
        answer = await self.reader.retrieve(
            self._told, RetrieveInput(query=query, mode="reconstruct")
        )
        return share_standing(answer.context or "", evidence)

    def _move(self, to: datetime) -> None:
        self._clock.forward(max(to - self._clock.now(), timedelta(0)))
