"""A life told on its days to a MemoryCore on an injected clock, with an hourly run wherever
something is due.

Idle hours are skipped: the next hour is the first at which the user is due. Note: the questions are
asked by a second MemoryCore on the same stores, whose accesses are not written down. Otherwise what
is asked about each month would be kept alive by the asking.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bench.counted import CountedStore
from bench.day import Ids, requests, units, work
from bench.locomo_data import Turn
from bench.users import Hands
from bench.yardstick.contexts import packed, share_standing
from bench.yardstick.peers import bm25
from bench.yardstick.told import calls_of
from bench.year.lives import MONTHS, Asked, Chat, Life
from memory_core.adapters.redis.local import NullShortTermStore
from memory_core.bootstrap.adapters import Adapters
from memory_core.bootstrap.rules import fading_rules
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.fading import has_faded
from memory_core.domain.memory import Memory
from memory_core.domain.requests.memories import ConverseInput, RetrieveInput
from memory_core.domain.scope import Owner
from memory_core.functions.triggers import send_for_work
from memory_core.ports import Document, Filter, LongTermStore, Place
from memory_core.telemetry import Telemetry

APP = "year"
HOUR = timedelta(hours=1)
A_CALL = "50"
"""Messages a call."""
BEGINNING, EARLIER = 0, 3
"""The month that is the beginning; and how many months ago "three months ago" is."""
SEED = 7
PAGE = 200
_MAY_FADE = Filter(frozenset({"active", "decayed"}))


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a turn that answers a question is in the context, in ours and in what
    plain BM25 packs.

    month: in which it was asked; told_month: in which the turn was told. words: of our context.
    """

    month: int
    told_month: int
    question: int
    turn: str
    ours: float
    peer: float
    words: int

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        fields = asdict(self)
        return {"month": fields.pop("month"), "told": fields.pop("told_month"), **fields}


@dataclass(frozen=True, slots=True)
class Stored:
    """What is there at the end of a month, and what the month cost.

    turns, told_bytes: told so far. faded: memories that count as such then, marked or not. hours:
    in which something was due. Requests and request units: of telling and of the runs.
    """

    month: int
    turns: int
    told_bytes: int
    documents: int
    stored: int
    faded: int
    hours: int
    telling_requests: int
    telling_units: float
    run_requests: int
    run_units: float


@dataclass(slots=True)
class Lived:
    """What a life came to."""

    name: str
    months: list[Stored] = field(default_factory=list)
    answers: list[Standing] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        answers = [answer.plain() for answer in self.answers]
        return {**asdict(self), "answers": answers}


class Unseen:
    """A store for questions: it forgets at once which memories were shown."""

    def __init__(self, inner: LongTermStore) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def keep(self, owner: Owner, document: Document) -> Document | None:
        """As the store does, but no accesses."""
        return document if document.kind == "accesses" else await self._inner.keep(owner, document)


async def live(
    life: Life,
    settings: Settings,
    *,
    only_beginning: bool = False,
    along: Callable[[timedelta], None] = lambda by: None,
) -> Lived:
    """Tell a life and ask at the end of each month.

    Args:
        life: What is told and asked.
        settings: Which stores and embedder.
        only_beginning: Ask about the first month alone.
        along: Told by how much the clock is moved, each time.

    """
    year = _Year(life, settings, along)
    async with year.core, year.reader:
        await year.core.warm_up()
        for month in range(MONTHS):
            print(f"{life.name}: month {month + 1} of {MONTHS}", file=sys.stderr, flush=True)
            await year.until(life.end_of(month))
            await year.close(month)
            await year.ask(
                month, {BEGINNING} if only_beginning else {month, month - EARLIER, BEGINNING}
            )
    return year.lived


class _Year:
    """The stores, the clock, and how far it is."""

    def __init__(self, life: Life, settings: Settings, along: Callable[[timedelta], None]) -> None:
        self._life, self._owner = life, Owner(APP, life.name.replace(" ", "-"))
        self._clock, telemetry = Hands(life.began_at, along), Telemetry()
        self._counts, self._charged, self._charges = (
            Counter[str](),
            0.0,
            settings.long_term == "cosmos",
        )
        made = Adapters.of(settings, self._clock, self._charge, telemetry)
        self._inner = made.long_term
        self._store = CountedStore(
            made.long_term, self._counts, dimensions=made.embedder.dimensions
        )
        self.core = MemoryCore(
            settings,
            clock=self._clock,
            ids=Ids(SEED),
            adapters=replace(made, long_term=self._store),
        )
        asking = Adapters.of(settings, self._clock, telemetry.charged, telemetry)
        asking = replace(
            asking, long_term=Unseen(asking.long_term), short_term=NullShortTermStore()
        )
        self.reader = MemoryCore(settings, clock=self._clock, adapters=asking)
        self._chats, self._fading = list(life.chats), fading_rules(settings)
        self._said: list[Turn] = []
        self._hours, self._last_hour = 0, life.began_at - HOUR
        self._spent = {"telling": [0.0, 0.0], "runs": [0.0, 0.0]}
        self.lived = Lived(life.name)

    def _charge(self, charged: float) -> None:
        self._charged += charged

    async def until(self, end: datetime) -> None:
        """Let time go by, chat after chat and due hour after due hour."""
        while True:
            hour = await self._next_hour()
            chat = self._chats[0] if self._chats else None
            if chat is not None and chat.ends_at < end and (hour is None or chat.ends_at < hour):
                self._move(chat.ends_at)
                await self._tell(self._chats.pop(0))
            elif hour is not None and hour < end:
                self._move(hour)
                await self._run(hour)
            else:
                return self._move(end)

    def _move(self, to: datetime) -> None:
        self._clock.forward(max(to - self._clock.now(), timedelta(0)))

    async def _next_hour(self) -> datetime | None:
        """The first full hour at which the user is due; each comes once."""
        head = (await self._inner.snapshot(self._owner)).head
        if head is None or head.due_at is None:
            return None
        due = max(head.due_at, self._clock.now())
        full = due.replace(minute=0, second=0, microsecond=0)
        return max(full if full == due else full + HOUR, self._last_hour + HOUR)

    async def _tell(self, chat: Chat) -> None:
        for messages in calls_of(chat.turns, A_CALL):
            given = ConverseInput.model_validate({"session_id": chat.session, "messages": messages})
            task = (await self.core.converse(self._owner, given)).task_id
            await work(self.core)
            if (status := (await self.core.task(self._owner, task)).status) != "succeeded":
                raise RuntimeError(f"a chat's task is {status}")
        self._said += chat.turns
        self._spend("telling")

    async def _run(self, hour: datetime) -> None:
        await send_for_work(self.core)
        await work(self.core)
        self._hours, self._last_hour = self._hours + 1, hour
        self._spend("runs")

    def _spend(self, on: str) -> None:
        """Book what was counted since the last time."""
        spent = self._spent[on]
        spent[0] += requests(self._counts)
        spent[1] += self._charged if self._charges else units(self._counts)
        self._counts.clear()
        self._charged = 0.0

    async def _faded(self) -> int:
        count, after, now = 0, None, self._clock.now()
        while documents := await self._inner.page(self._owner, "memory", _MAY_FADE, after, PAGE):
            count += sum(
                has_faded(Memory.model_validate(document.body), now, self._fading)
                for document in documents
            )
            after = Place(int(documents[-1].body["sequence"]), documents[-1].id)
        return count

    async def close(self, month: int) -> None:
        """Write down what the month came to."""
        telling, runs = self._spent["telling"], self._spent["runs"]
        self.lived.months.append(
            Stored(
                month=month,
                turns=len(self._said),
                told_bytes=sum(len(turn.text.encode()) for turn in self._said),
                documents=self._store.documents,
                stored=self._store.stored,
                faded=await self._faded(),
                hours=self._hours,
                telling_requests=round(telling[0]),
                telling_units=round(telling[1], 1),
                run_requests=round(runs[0]),
                run_units=round(runs[1], 1),
            )
        )
        self._hours, self._spent = 0, {"telling": [0.0, 0.0], "runs": [0.0, 0.0]}
        self._counts.clear()
        self._charged = 0.0

    async def ask(self, month: int, about: set[int]) -> None:
        """Ask at the end of a month about others."""
        now = self._clock.now()
        texts = {turn.id: turn.text for turn in self._said}
        scores = bm25(self._said) if self._said else None
        for number, question in enumerate(self._life.questions):
            if scores is None or not _is_asked(question, month, about, now):
                continue
            answer = await self.reader.retrieve(
                self._owner, RetrieveInput(query=question.text, mode="reconstruct")
            )
            context, pack = (
                answer.context or "",
                packed(scores(question.text), list(texts.values())),
            )
            self.lived.answers += [
                Standing(
                    month=month,
                    told_month=told_month,
                    question=number,
                    turn=turn,
                    ours=share_standing(context, [texts[turn]]),
                    peer=share_standing(pack, [texts[turn]]),
                    words=len(context.split()),
                )
                for turn, told_month in question.evidence.items()
                if told_month in about
            ]


def _is_asked(question: Asked, month: int, about: set[int], now: datetime) -> bool:
    still_true = question.until is None or now < question.until
    return (
        still_true
        and question.is_answerable(month)
        and not about.isdisjoint(question.evidence.values())
    )


def embedded(folder: Path, embedder: str) -> Settings:
    """Settings of the stores on this machine. embedder: `minilm` or `hash`."""
    return Settings.model_validate({"embedding_provider": embedder, "data": folder, **_BOTH})


def azure(folder: Path, embedder: str, stores: Mapping[str, str]) -> Settings:
    """Settings of the stores of Azure. stores: environment variables that name them."""
    given = Settings.from_env(
        {"EMBEDDING_PROVIDER": embedder, "MEMORY_DATA": str(folder), **stores}
    )
    return given.model_copy(update=_BOTH)


_BOTH: dict[str, Any] = {
    "llm_provider": "offline",
    "consolidation_spread_minutes": 0,
    "sqlite_synchronous": "normal",
}


def of_age(answers: Sequence[Standing], month: int, about: int) -> list[Standing]:
    """What was asked in a month about what was told in another."""
    return [answer for answer in answers if answer.month == month and answer.told_month == about]
