"""The tables of a year, and what must hold in it.

Note: questions of a conversation set differ in difficulty from month to month, and later ones need
several turns. So what time takes is judged there against a twin: the same life told to a MemoryCore
in which nothing fades. That is judged over the whole year, since a month asks 10 to 40 of them, of
which one is more than `SLACK`. In the daily chats every month has the same kinds of questions, and
the beginning is judged against the month itself, in every month.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from bench.tables import show
from bench.year.lived import BEGINNING, EARLIER, Lived, Standing, Stored, of_age
from bench.year.lives import MONTHS

SLACK = 0.03
"""How far the beginning may fall behind."""
GROWTH, IDLE_GROWTH = 1.1, 1.02
"""How much a told turn may take in the last month of what it took in the third; and a silent life
of what it took when it fell silent.
"""
THIRD, LAST = 2, MONTHS - 1


@dataclass(frozen=True, slots=True)
class Told:
    """A life that was lived. twin: the same where nothing fades. even: whether all months'
    questions are equally hard.

    silent_after: the month after which nothing is told any more; None for a life that goes on.
    """

    lived: Lived
    twin: Lived | None = None
    even: bool = False
    silent_after: int | None = None

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "lived": self.lived.plain(),
            "twin": self.twin and self.twin.plain(),
            "even": self.even,
            "silent_after": self.silent_after,
        }


@dataclass(frozen=True, slots=True)
class Recall:
    """Of a month: the share of evidence that stands in contexts, by when it was told;
    None where nothing was asked.

    unfading: of the beginning, where nothing fades. words: of a context in the mean.
    """

    now: float | None
    earlier: float | None
    beginning: float | None
    unfading: float | None
    peer_now: float | None
    peer_earlier: float | None
    peer_beginning: float | None
    words: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What must hold, and in which months or lives it does not."""

    rule: str
    broken: list[str]


def recall(lives: Sequence[Told], month: int) -> Recall:
    """The figures of one month over all answers of some lives."""
    answers = [one for life in lives for one in life.lived.answers]
    twins = [one for life in lives if life.twin is not None for one in life.twin.answers]
    now, earlier, beginning = [
        of_age(answers, month, told) for told in (month, month - EARLIER, BEGINNING)
    ]
    asked = {(one.question, one.words) for one in answers if one.month == month}
    return Recall(
        now=_mean(now, _ours),
        earlier=_mean(earlier, _ours),
        beginning=_mean(beginning, _ours),
        unfading=_mean(of_age(twins, month, BEGINNING), _ours),
        peer_now=_mean(now, _peer),
        peer_earlier=_mean(earlier, _peer),
        peer_beginning=_mean(beginning, _peer),
        words=fmean(words for _, words in asked) if asked else None,
    )


def _mean(answers: Sequence[Standing], value: Callable[[Standing], float]) -> float | None:
    return fmean(map(value, answers)) if answers else None


def _ours(one: Standing) -> float:
    return one.ours


def _peer(one: Standing) -> float:
    return one.peer


def stored(lives: Sequence[Told], month: int) -> Stored:
    """The sums of one month over some lives."""
    months = [life.lived.months[month] for life in lives]
    return Stored(
        month=month,
        turns=sum(one.turns for one in months),
        told_bytes=sum(one.told_bytes for one in months),
        documents=sum(one.documents for one in months),
        stored=sum(one.stored for one in months),
        faded=sum(one.faded for one in months),
        hours=sum(one.hours for one in months),
        telling_requests=sum(one.telling_requests for one in months),
        telling_units=sum(one.telling_units for one in months),
        run_requests=sum(one.run_requests for one in months),
        run_units=sum(one.run_units for one in months),
    )


def verdicts(lives: Sequence[Told]) -> list[Verdict]:
    """What must hold in a year."""
    even = [life for life in lives if life.even and life.silent_after is None]
    paired = [life for life in lives if life.twin is not None]
    speaking = [life for life in lives if life.silent_after is None]
    silent = [(life, life.silent_after) for life in lives if life.silent_after is not None]
    made = []
    if even:
        made.append(
            Verdict(
                f"questions about the beginning at most {SLACK} below those about this month",
                _below_this_month(even),
            )
        )
    if paired:
        rule = (
            f"questions about the beginning at most {SLACK} below the same where nothing fades, "
            "over the year"
        )
        made.append(Verdict(rule, _below_the_twin(paired)))
    if speaking:
        made.append(
            Verdict(
                f"documents and bytes of a told turn at the end at most {GROWTH} of the "
                "third month's",
                _grown(speaking),
            )
        )
    if silent:
        rule = (
            f"documents and bytes of a silent life at the end at most {IDLE_GROWTH} of those when "
            "it fell silent"
        )
        broken = [
            f"{life.lived.name}, {what} {_of(life, LAST, what) / _of(life, after, what):.2f}"
            for life, after in silent
            for what in ("documents", "stored")
            if _of(life, LAST, what) > IDLE_GROWTH * _of(life, after, what)
        ]
        made.append(Verdict(rule, broken))
    return made


def _below_this_month(lives: Sequence[Told]) -> list[str]:
    broken = []
    for life in lives:
        for month in range(1, MONTHS):
            found = recall([life], month)
            if (
                found.beginning is not None
                and found.now is not None
                and found.beginning < found.now - SLACK
            ):
                broken.append(
                    f"{life.lived.name}, month {month + 1}: {found.beginning:.2f} for "
                    f"{found.now:.2f}"
                )
    return broken


def _below_the_twin(lives: Sequence[Told]) -> list[str]:
    broken = []
    for life in lives:
        months = [recall([life], month) for month in range(1, MONTHS)]
        asked = [
            (one.beginning, one.unfading)
            for one in months
            if one.beginning is not None and one.unfading is not None
        ]
        if not asked:
            continue
        found, unfading = (fmean(figures) for figures in zip(*asked, strict=True))
        if found < unfading - SLACK:
            broken.append(f"{life.lived.name}: {found:.3f} for {unfading:.3f}")
    return broken


def _grown(lives: Sequence[Told]) -> list[str]:
    broken = []
    for life in lives:
        first, last = life.lived.months[THIRD], life.lived.months[LAST]
        for what in ("documents", "stored"):
            grown = (_of(life, LAST, what) / last.turns) / (_of(life, THIRD, what) / first.turns)
            if grown > GROWTH:
                broken.append(f"{life.lived.name}, {what} {grown:.2f}")
    return broken


def _of(life: Told, month: int, what: str) -> int:
    number: int = getattr(life.lived.months[month], what)
    return number


FOUND = (
    "month", "this month", "three months ago", "the beginning", "where nothing fades",
    "beginning less this month", "BM25: this month", "three months ago", "the beginning",
    "words of a context",
)  # fmt: skip
SPENT = (
    "month", "turns told so far", "documents", "MB", "documents a turn", "kB a turn", "faded",
    "hours with a run", "requests of runs", "RU of runs", "requests of telling", "RU of telling",
)  # fmt: skip


def report(lives: Sequence[Told]) -> list[Verdict]:
    """Print the tables of each life and of all, and the verdicts, which are handed back."""
    for life in lives:
        _tables(life.lived.name, [life])
    speaking = [life for life in lives if life.silent_after is None]
    if len(speaking) > 1:
        _tables("All lives together", speaking)
    made = verdicts(lives)
    print()
    for verdict in made:
        print(
            f"{'BROKEN' if verdict.broken else 'holds'}: "
            f"{verdict.rule}{': ' if verdict.broken else ''}{'; '.join(verdict.broken)}"
        )
    return made


def _tables(name: str, lives: Sequence[Told]) -> None:
    found, spent = [], []
    for month in range(MONTHS):
        of, there = recall(lives, month), stored(lives, month)
        less = None if of.beginning is None or of.now is None else of.beginning - of.now
        shown = [_share(value) for value in (of.now, of.earlier, of.beginning, of.unfading)]
        peers = [_share(value) for value in (of.peer_now, of.peer_earlier, of.peer_beginning)]
        words = "–" if of.words is None else f"{of.words:.0f}"
        found.append(
            [str(month + 1), *shown, "–" if less is None else f"{less:+.2f}", *peers, words]
        )
        turns = max(1, there.turns)
        spent.append([
            str(month + 1), f"{there.turns:,}", f"{there.documents:,}",
            f"{there.stored / 2**20:.1f}", f"{there.documents / turns:.2f}",
            f"{there.stored / 1024 / turns:.1f}", f"{there.faded:,}", str(there.hours),
            f"{there.run_requests:,}", f"{there.run_units:,.0f}", f"{there.telling_requests:,}",
            f"{there.telling_units:,.0f}",
        ])  # fmt: skip
    show(
        f"{name}: the share of the evidence in a context, asked at the end of each month",
        FOUND,
        found,
    )
    show(f"{name}: what is stored, and what each month cost", SPENT, spent)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
