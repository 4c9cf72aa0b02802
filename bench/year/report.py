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
    """Of a month: the share of evidence that is in contexts, by when it was told;
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
    answers = [answer for life in lives for answer in life.lived.answers]
    twins = [answer for life in lives if life.twin is not None for answer in life.twin.answers]
    now, earlier, beginning = [
        of_age(answers, month, told_month) for told_month in (month, month - EARLIER, BEGINNING)
    ]
    asked = {(answer.question, answer.words) for answer in answers if answer.month == month}
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


def _ours(answer: Standing) -> float:
    return answer.ours


def _peer(answer: Standing) -> float:
    return answer.peer


def stored(lives: Sequence[Told], month: int) -> Stored:
    """The sums of one month over some lives."""
    months = [life.lived.months[month] for life in lives]
    return Stored(
        month=month,
        turns=sum(month_of_life.turns for month_of_life in months),
        told_bytes=sum(month_of_life.told_bytes for month_of_life in months),
        documents=sum(month_of_life.documents for month_of_life in months),
        stored=sum(month_of_life.stored for month_of_life in months),
        faded=sum(month_of_life.faded for month_of_life in months),
        hours=sum(month_of_life.hours for month_of_life in months),
        telling_requests=sum(month_of_life.telling_requests for month_of_life in months),
        telling_units=sum(month_of_life.telling_units for month_of_life in months),
        run_requests=sum(month_of_life.run_requests for month_of_life in months),
        run_units=sum(month_of_life.run_units for month_of_life in months),
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
            f"{life.lived.name}, {kind} {_of(life, LAST, kind) / _of(life, after, kind):.2f}"
            for life, after in silent
            for kind in ("documents", "stored")
            if _of(life, LAST, kind) > IDLE_GROWTH * _of(life, after, kind)
        ]
        made.append(Verdict(rule, broken))
    return made


def _below_this_month(lives: Sequence[Told]) -> list[str]:
    broken = []
    for life in lives:
        for month in range(1, MONTHS):
            shares = recall([life], month)
            if (
                shares.beginning is not None
                and shares.now is not None
                and shares.beginning < shares.now - SLACK
            ):
                broken.append(
                    f"{life.lived.name}, month {month + 1}: {shares.beginning:.2f} for "
                    f"{shares.now:.2f}"
                )
    return broken


def _below_the_twin(lives: Sequence[Told]) -> list[str]:
    broken = []
    for life in lives:
        months = [recall([life], month) for month in range(1, MONTHS)]
        asked = [
            (month.beginning, month.unfading)
            for month in months
            if month.beginning is not None and month.unfading is not None
        ]
        if not asked:
            continue
        fading, unfading = (fmean(figures) for figures in zip(*asked, strict=True))
        if fading < unfading - SLACK:
            broken.append(f"{life.lived.name}: {fading:.3f} for {unfading:.3f}")
    return broken


def _grown(lives: Sequence[Told]) -> list[str]:
    broken = []
    for life in lives:
        first, last = life.lived.months[THIRD], life.lived.months[LAST]
        for kind in ("documents", "stored"):
            grown = (_of(life, LAST, kind) / last.turns) / (_of(life, THIRD, kind) / first.turns)
            if grown > GROWTH:
                broken.append(f"{life.lived.name}, {kind} {grown:.2f}")
    return broken


def _of(life: Told, month: int, kind: str) -> int:
    number: int = getattr(life.lived.months[month], kind)
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
    recall_rows, spent = [], []
    for month in range(MONTHS):
        of, there = recall(lives, month), stored(lives, month)
        less = None if of.beginning is None or of.now is None else of.beginning - of.now
        shares = [_share(value) for value in (of.now, of.earlier, of.beginning, of.unfading)]
        peers = [_share(value) for value in (of.peer_now, of.peer_earlier, of.peer_beginning)]
        words = "–" if of.words is None else f"{of.words:.0f}"
        recall_rows.append(
            [str(month + 1), *shares, "–" if less is None else f"{less:+.2f}", *peers, words]
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
        recall_rows,
    )
    show(f"{name}: what is stored, and what each month cost", SPENT, spent)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
