"""The way `turns`: every turn saved as an episodic memory, every question a retrieve without
thresholds, and a context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from bench.locomo_data import Conversation, Question
from bench.peers import which
from bench.yardstick import figures
from bench.yardstick.contexts import share_standing
from bench.yardstick.figures import Row
from bench.yardstick.peers import BM25, NAMES, Peers
from bench.yardstick.service import Service
from bench.yardstick.ways import TEN, Given, Measured, drawn, milliseconds, recall

OURS = "Memory Core"
RESULTS = 20


def measure(given: Given) -> Measured:
    """Save, ask and report."""
    rows: list[Row] = []
    times: list[float] = []
    contexts: list[float] = []
    for place, conversation in given.each("turns"):
        user, peers = given.users.saved(conversation), given.peers(conversation)
        # the first one reads the user's memories into memory
        given.service.turns(user, "Is there anything?", limit=1)
        for question in conversation.questions:
            results = given.service.turns(
                user, question.text, limit=RESULTS, similarity_threshold=0
            )
            times.append(given.service.seconds)
            values = {OURS: recall(results, question.evidence)}
            values |= {
                name: recall(turns, question.evidence)
                for name, turns in peers.found(question.text, TEN).items()
            }
            values |= answered(given.service, user, conversation, question, peers)
            contexts.append(given.service.seconds)
            rows.append(Row(place, question.kind, values))
    measured = Measured(rows={"turns": rows})
    measured.figures["retrieve ms"] = {
        "p50": milliseconds(times, 0.5),
        "p95": milliseconds(times, 0.95),
    }
    measured.figures["context ms"] = {
        "p50": milliseconds(contexts, 0.5),
        "p95": milliseconds(contexts, 0.95),
    }
    report_found(measured, f"{given.name}, turns saved: recall@10", "turns", rows)
    report_contexts(
        measured, f"{given.name}, turns saved: evidence in contexts", {"turns saved": rows}
    )
    timed = [
        [name, *(f"{measured.figures[f'{name} ms'][part]:.1f}" for part in ("p50", "p95"))]
        for name in ("retrieve", "context")
    ]
    measured.table(
        f"{given.name}, turns saved: times, each context after its retrieve",
        ("", "p50 ms", "p95 ms"),
        timed,
    )
    return measured


def asked_peers(rows: Sequence[Row], prefix: str = "") -> list[str]:
    """The peers that the rows have a value of."""
    return [name for name in NAMES if any(prefix + name in row.values for row in rows)]


def report_found(
    measured: Measured, title: str, key: str, rows: list[Row], prefix: str = ""
) -> None:
    """A line for us and one for each peer: recall, its interval, ours less the peer's,
    adversarial ones apart.
    """
    head, apart = figures.answerable(rows), figures.adversarial(rows)
    kinds = sorted({row.kind for row in rows})
    ours = figures.of(head, prefix + OURS)
    lines = []
    for name in (OURS, *asked_peers(rows, prefix)):
        whole, difference = (
            figures.of(head, prefix + name),
            figures.between(head, prefix + OURS, prefix + name),
        )
        by_kind = figures.by_kind(rows, prefix + name)
        against = "" if name == OURS else difference.difference()
        lines.append(
            [
                name,
                str(whole.count),
                whole.shown(),
                whole.interval(),
                against,
                *(f"{by_kind[kind]:.3f}" for kind in kinds),
            ]
        )
        measured.figures.setdefault(key, {})[name] = {
            "recall@10": asdict(whole),
            "ours less this": asdict(difference),
            "adversarial": asdict(figures.of(apart, prefix + name)),
            "by kind": by_kind,
        }
    measured.table(
        title, ("", "questions", "recall@10", drawn(ours), "ours less this", *kinds), lines, which()
    )


def answered(
    service: Service, user: str, conversation: Conversation, question: Question, peers: Peers
) -> dict[str, float]:
    """What the contexts for a question come to, an agent's and a reconstruction's,
    beside what the peers would pack.
    """
    agents_context = service.context(user, question.text)
    answer = service.reconstruct(user, question.text)
    texts = {turn.id: turn.text for turn in conversation.turns}
    evidence, context = [texts[turn] for turn in sorted(question.evidence)], answer["context"] or ""
    standing = share_standing(context, evidence)
    agents = share_standing(agents_context, evidence)
    values = {
        "standing": standing,
        "agent's": agents,
        "words": float(len(context.split())),
        "sufficient": float(answer["sufficient"]),
    }
    if answer["sufficient"]:
        values["right"] = float(standing == 1.0)
    contexts = peers.contexts(question.text)
    return values | {
        f"standing, {name}": share_standing(context, evidence) for name, context in contexts.items()
    }


def report_contexts(measured: Measured, title: str, ways: dict[str, list[Row]]) -> None:
    """A line for each way of sending sessions: evidence that is in contexts, beside the peers',
    words, and the judgement.
    """
    lines = []
    over = ""
    peers = asked_peers([row for rows in ways.values() for row in rows], "standing, ")
    for name, rows in ways.items():
        head, apart = figures.answerable(rows), figures.adversarial(rows)
        standing = figures.of(head, "standing")
        packs = {peer: figures.of(head, f"standing, {peer}") for peer in peers}
        less = {peer: figures.between(head, "standing", f"standing, {peer}") for peer in peers}
        sufficient, right, words = (
            figures.of(head, "sufficient"),
            figures.of(head, "right"),
            figures.of(head, "words"),
        )
        agents = figures.of(head, "agent's")
        over = drawn(standing)
        apart_standing = figures.of(apart, "standing")
        lines.append([
            name, str(standing.count), standing.shown(), standing.interval(), agents.shown(),
            agents.interval(), *(pack.shown() for pack in packs.values()), less[BM25].difference(),
            apart_standing.shown(), words.shown(0), sufficient.percent(), right.percent(),
        ])  # fmt: skip
        measured.figures[f"contexts, {name}"] = {
            "standing": asdict(standing),
            "agent's": asdict(agents),
            **{f"standing, {peer}": asdict(pack) for peer, pack in packs.items()},
            **{f"ours less {peer}": asdict(difference) for peer, difference in less.items()},
            "adversarial": asdict(apart_standing),
            "words": asdict(words),
            "sufficient said": asdict(sufficient),
            "right where said": asdict(right),
            "by kind": figures.by_kind(rows, "standing"),
            "agent's by kind": figures.by_kind(rows, "agent's"),
        }
    packed_by = [f"{peer} packed" for peer in peers]
    more = (f"ours less {BM25}", "adversarial", "words", "`sufficient` said", "right")
    measured.table(
        title,
        ("", "questions", "in the context", over, "in an agent's", over, *packed_by, *more),
        lines,
        which(),
    )
