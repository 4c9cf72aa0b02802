"""`python -m bench.redaction [SET.json …]`: how many planted secrets are found, and how many
ordinary messages are touched.

500 made-up secrets of some 50 kinds are planted into texts. One counts as found when no four
characters in a row are left of it (ten of one that is longer than 20). SET as `bench.locomo_data`
reads it: every turn of its conversations is an ordinary message.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.locomo_data import read
from bench.planted_secrets import Planted, plant
from bench.tables import show
from memory_core.domain.redaction.requests import KINDS, Redactor, collect_redactions

SEED, PLANTED = 77, 500
LONG = 20
"""Characters of a secret from which ten in a row count as a part of it, not four:
a mark may hold a few of any.
"""


def is_left(planted: Planted, text: str) -> bool:
    """Whether a part of the secret can still be read."""
    size = 4 if len(planted.secret) < LONG else 10
    return any(
        planted.secret[place : place + size] in text
        for place in range(max(1, len(planted.secret) - size + 1))
    )


def missed(redactor: Redactor, texts: Sequence[Planted]) -> list[Planted]:
    """The secrets of which something is left."""
    return [planted for planted in texts if is_left(planted, redactor.text(planted.text))]


def measure_planted(redactor: Redactor, texts: Sequence[Planted]) -> None:
    """Show how many of each kind are found."""
    left = Counter(planted.kind for planted in missed(redactor, texts))
    kinds = Counter(planted.kind for planted in texts)
    rows = [[kind, str(count), str(count - left[kind])] for kind, count in kinds.items()]
    show(
        "planted secrets",
        ["kind", "planted", "found"],
        [*rows, ["all", str(len(texts)), str(len(texts) - left.total())]],
    )


def measure_set(redactor: Redactor, file: Path) -> list[str]:
    """Of a set: messages, characters of a message, how many are touched, by which kinds,
    microseconds a message.
    """
    texts = [turn.text for conversation in read(file) for turn in conversation.turns]
    touched, kinds = 0, Counter[str]()
    begun = time.process_time()
    for text in texts:
        with collect_redactions() as redactions:
            redactor.value(text)
        touched += bool(redactions)
        kinds.update({redaction.kind: redaction.count for redaction in redactions})
    microseconds = (time.process_time() - begun) / len(texts) * 1e6
    named = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    return [
        file.stem,
        f"{len(texts):,}",
        f"{sum(map(len, texts)) // len(texts):,}",
        str(touched),
        f"{touched / len(texts):.3%}",
        named or "-",
        f"{microseconds:.0f}",
    ]


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(
        description="Planted secrets that are found, and ordinary messages that are touched."
    )
    parser.add_argument("sets", nargs="*", type=Path, metavar="SET.json")
    parser.add_argument(
        "--kinds", default="secrets", help=f"of {', '.join(KINDS)}, with commas between"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    redactor = Redactor(arguments.kinds.split(","))
    measure_planted(redactor, list(plant(PLANTED, arguments.seed)))
    head = ["set", "messages", "characters", "touched", "share", "marks", "µs a message"]
    if arguments.sets:
        show("ordinary messages", head, [measure_set(redactor, file) for file in arguments.sets])


if __name__ == "__main__":
    main()
