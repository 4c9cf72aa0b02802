"""The ways `frames` and `two`: a question inside a longer message, and two questions
in a message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TypeVar

from bench.peers import which
from bench.yardstick import figures
from bench.yardstick.figures import Row
from bench.yardstick.turns import OURS, asked_peers, report_found
from bench.yardstick.ways import TEN, Given, Measured, drawn, recall, without_adversarial

ALONE, FRAMED = "alone, ", "in a message, "
EMPTY = "nothing"
T = TypeVar("T")


def measure_frames(given: Given) -> Measured:
    """Ask each question alone and in a message, with the service's own thresholds,
    and each message without its question.
    """
    measured = Measured()
    for name, frames in given.frames.items():
        rows: list[Row] = []
        bare: list[Row] = []
        for place, conversation in given.each(f"frames of {name}"):
            user, peers = given.users.saved(conversation), given.peers(conversation)
            for number, question in enumerate(without_adversarial(conversation.questions)):
                before, after = frames[number % len(frames)]
                values: dict[str, float] = {}
                for how, text in ((ALONE, question.text), (FRAMED, before + question.text + after)):
                    results = given.service.turns(user, text, limit=TEN)
                    values |= {
                        how + OURS: recall(results, question.evidence),
                        how + EMPTY: float(not results),
                    }
                    values |= {
                        how + peer: recall(turns, question.evidence)
                        for peer, turns in peers.found(text, TEN).items()
                    }
                rows.append(Row(place, question.kind, values))
            for before, after in frames:
                bare.append(
                    Row(
                        place,
                        "",
                        {EMPTY: float(not given.service.turns(user, before + after, limit=TEN))},
                    )
                )
        measured.rows |= {name: rows, f"{name}, without question": bare}
        _report_empty(measured, given.name, name, rows, bare)
        for how in (ALONE, FRAMED):
            report_found(
                measured,
                f"{given.name}, frames of {name}: {how.strip(', ')}, shipped thresholds",
                f"{name}, {how}",
                rows,
                how,
            )
    return measured


def _report_empty(measured: Measured, of: str, name: str, rows: list[Row], bare: list[Row]) -> None:
    empty = {
        "a question alone": figures.of(rows, ALONE + EMPTY),
        "the question in a message": figures.of(rows, FRAMED + EMPTY),
        "the message without its question": figures.of(bare, EMPTY),
    }
    measured.figures[f"{name}, nothing found"] = {
        name_of_share: asdict(share) for name_of_share, share in empty.items()
    }
    lines = [
        [name_of_share, str(share.count), share.percent(), share.percent_interval()]
        for name_of_share, share in empty.items()
    ]
    over = drawn(empty["a question alone"])
    measured.table(
        f"{of}, frames of {name}: nothing is found for", ("", "asked", "nothing found", over), lines
    )


def measure_two(given: Given) -> Measured:
    """Ask two questions in a message; both should have a hit among ten results."""
    rows: list[Row] = []
    for place, conversation in given.each("two"):
        user, peers = given.users.saved(conversation), given.peers(conversation)
        for first, second in pairs(without_adversarial(conversation.questions)):
            text = f"{first.text} {second.text}"
            rankings = {OURS: given.service.turns(user, text, limit=TEN), **peers.found(text, TEN)}
            values = {
                name: float(bool(first.evidence & set(ids)) and bool(second.evidence & set(ids)))
                for name, ids in rankings.items()
            }
            alone = [
                bool(asked.evidence & set(given.service.turns(user, asked.text, limit=TEN)))
                for asked in (first, second)
            ]
            rows.append(Row(place, "two", {**values, "each alone": float(all(alone))}))
    measured = Measured(rows={"two": rows})
    lines = []
    for name in (OURS, *asked_peers(rows), "each alone"):
        whole, difference = figures.of(rows, name), figures.between(rows, OURS, name)
        against = "" if name == OURS else difference.points()
        label = "Memory Core, asked one after the other" if name == "each alone" else name
        lines.append([label, str(whole.count), whole.percent(), whole.percent_interval(), against])
        measured.figures[name] = {"both hit": asdict(whole), "ours less this": asdict(difference)}
    headings = (
        "",
        "pairs",
        "both have a hit in ten",
        drawn(figures.of(rows, OURS)),
        "ours less this",
    )
    measured.table(f"{given.name}, two questions in a message", headings, lines, which())
    return measured


def pairs(items: Sequence[T]) -> list[tuple[T, T]]:
    """Each of the first half with its place in the second half, so that neighbours,
    which are often alike, are apart.
    """
    half = len(items) // 2
    return list(zip(items[:half], items[half : 2 * half], strict=True))
