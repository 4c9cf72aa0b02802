"""The way `unrelated`: questions about another conversation, and what the thresholds that
refuse them cost.

A best hit is the best-ranked evidence among the first ten results without thresholds. It is lost
when the answer with the service's own thresholds does not have it; the answer is empty when it has
nothing at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from bench.yardstick import figures
from bench.yardstick.contexts import is_marked
from bench.yardstick.figures import Row
from bench.yardstick.told import described, told
from bench.yardstick.ways import TEN, Given, Measured, drawn, without_adversarial

MOST_WORDS = 120
"""Words of a context for what is not surely related."""
NOTHING, EMPTY_CONTEXT, SHORT, MARKED = (
    "nothing found",
    "context empty",
    f"context of at most {MOST_WORDS} words",
    "told as perhaps related",
)
LOST, EMPTY = "best hit lost", "best hit lost, answer empty"


def measure(given: Given) -> Measured:
    """Ask here what is asked of the next conversation, and the own questions with thresholds
    and without.
    """
    foreign: dict[str, list[Row]] = {"turns saved": []}
    own: list[Row] = []
    for place, conversation in given.each("unrelated"):
        users = {"turns saved": given.users.saved(conversation)}
        if given.has_told:
            users |= {
                f"told, {described(how)}": told(given, conversation, how) for how in given.calls
            }
        following = given.following(place)
        for question in without_adversarial(following.questions) if following else ():
            for name, user in users.items():
                foreign.setdefault(name, []).append(
                    Row(place, question.kind, _asked(given, user, question.text))
                )
        user = users["turns saved"]
        for question in without_adversarial(conversation.questions):
            opened = given.service.turns(user, question.text, limit=TEN, similarity_threshold=0)
            shipped = given.service.turns(user, question.text, limit=TEN)
            lost = is_lost(opened, shipped, question.evidence)
            if lost is not None:
                own.append(
                    Row(place, question.kind, {LOST: float(lost), EMPTY: float(not shipped)})
                )
    measured = Measured(rows={**foreign, "own": own})
    lines = []
    for name, rows in foreign.items():
        shares = {kind: figures.of(rows, kind) for kind in (NOTHING, EMPTY_CONTEXT, SHORT, MARKED)}
        words = figures.of(rows, "words")
        measured.figures[name] = {
            **{kind: asdict(share) for kind, share in shares.items()},
            "words": asdict(words),
        }
        lines.append(
            [
                name,
                str(words.count),
                *(f"{share.percent()} ({share.percent_interval()})" for share in shares.values()),
                words.shown(0),
            ]
        )
    over = drawn(figures.of(foreign["turns saved"], NOTHING))
    headings = (
        "",
        "questions",
        f"{NOTHING} ({over})",
        EMPTY_CONTEXT,
        SHORT,
        "of contexts, told as perhaps related",
        "words",
    )
    measured.table(f"{given.name}, questions about another conversation", headings, lines)
    costs = {kind: figures.of(own, kind) for kind in (LOST, EMPTY)}
    measured.figures["own"] = {kind: asdict(cost) for kind, cost in costs.items()}
    measured.table(
        f"{given.name}, own questions with evidence among the first ten",
        ("", "questions", "share", drawn(costs[LOST])),
        [
            [kind, str(cost.count), cost.percent(), cost.percent_interval()]
            for kind, cost in costs.items()
        ],
    )
    return measured


def _asked(given: Given, user: str, text: str) -> dict[str, float]:
    results = given.service.retrieve(user, text, limit=TEN)
    context = given.service.reconstruct(user, text)["context"] or ""
    words = len(context.split())
    values = {NOTHING: not results, EMPTY_CONTEXT: not context, SHORT: words <= MOST_WORDS}
    marked = {MARKED: float(is_marked(context))} if context else {}
    return {
        **{name: float(value) for name, value in values.items()},
        **marked,
        "words": float(words),
    }


def is_lost(opened: Sequence[str], shipped: Sequence[str], evidence: frozenset[str]) -> bool | None:
    """Whether the thresholds leave out the best-ranked evidence; None where none is among
    the first ten.

    Args:
        opened: What is found without thresholds, best first.
        shipped: What is found with the service's own.
        evidence: What should be found.

    """
    best = next((turn for turn in opened[:TEN] if turn in evidence), None)
    return None if best is None else best not in shipped
