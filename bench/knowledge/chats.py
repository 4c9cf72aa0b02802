"""`python -m bench.knowledge.chats SET.json…`: which later turns of real chats are taken for a
change of something said before.

Every turn is laid beside all earlier ones of the same person, as in a memory of months. Pairs that
were written for a test tell how many changes are recognised; this tells how many are invented,
since in such chats hardly anything changes.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from bench.locomo_data import Turn, read
from memory_core.domain.statements.change_messages import read as read_message
from memory_core.domain.statements.changes import LaterChange, change_between

ASSISTANT = "Assistant"


def main(arguments: Sequence[str] | None = None) -> int:
    """Count and print, by set."""
    parser = argparse.ArgumentParser(prog="python -m bench.knowledge.chats", description=__doc__)
    parser.add_argument(
        "data", type=Path, nargs="+", help="conversations in a form that bench.locomo_data reads"
    )
    parser.add_argument("--show", action="store_true", help="print each pair of sentences")
    options = parser.parse_args(arguments)
    for file in options.data:
        turns = pairs = 0
        later: set[tuple[str, str]] = set()
        grounds: Counter[str] = Counter()
        for conversation in read(file):
            user_turns = [turn for turn in conversation.turns if turn.actor != ASSISTANT]
            turns += len(user_turns)
            for turn, change in _changes(user_turns):
                pairs += 1
                later.add((conversation.name, turn.id))
                grounds[change.ground] += 1
                if options.show:
                    print(f"  {change.ground}: {change.replaced!r} | {change.statement!r}")
        print(
            f"{file.stem}: {turns} turns, {len(later)} taken for a change of {pairs} earlier ones, "
            f"{dict(grounds)}",
            flush=True,
        )
    return 0


def _changes(turns: Sequence[Turn]) -> Iterator[tuple[Turn, LaterChange]]:
    """Each turn that says something against an earlier one of the same person,
    with what it says; once for each of these.
    """
    messages = [read_message(turn.text) for turn in turns]
    moments = [datetime.fromisoformat(turn.at) for turn in turns]
    for place, turn in enumerate(turns):
        if not messages[place].tells_change:
            continue
        for earlier in range(place):
            if (
                turns[earlier].actor == turn.actor
                and (
                    change := change_between(
                        messages[earlier], messages[place], (moments[earlier], moments[place])
                    )
                )
                is not None
            ):
                yield turn, change


if __name__ == "__main__":
    sys.exit(main())
