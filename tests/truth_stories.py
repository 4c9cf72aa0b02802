"""Everyday stories about one slot, played as the operations of the product would."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from memory_core.domain.truth.entries import Assertion, Entry, Retraction, Statement
from memory_core.domain.truth.resolve import resolve
from memory_core.domain.truth.timeline import Timeline
from memory_core.evolution import decisions
from memory_core.evolution import truth_commands as commands
from memory_core.evolution.judgements import repeated
from memory_core.evolution.slot_log import Act
from memory_core.evolution.truth_commands import without_names
from tests.truth_logs import added, next_version, slot_of

CONFLICT = "cft_1"
STORIES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "truth_stories.json").read_text()
)


def day(text: str) -> datetime:
    """A year, a month or a day; without a day the first, without a month the middle of the year."""
    parts = [int(part) for part in text.split("-")]
    year, month, number = (*parts, *(7, 1)[len(parts) - 1 :]) if len(parts) < 3 else parts
    return datetime(year, month, number, tzinfo=timezone.utc)


class Slot:
    """A slot's log, step by step. The first step has the sequence 1."""

    def __init__(self) -> None:
        self.log: list[Entry] = []
        self.step = 0

    def play(self, step: dict[str, Any]) -> None:
        self.step += 1
        do = str(step["do"])
        if do in ("save", "retract", "merge"):
            self.say(step)
        elif do == "forget":
            slot = slot_of(self.log, self.step, day(step["on"]))
            self.log = [*without_names(slot, step["memory"], f"forgotten_{self.step}").entries]
        elif do not in ("archive", "decide keep_both"):  # these two add nothing
            self.log = added(self.log, self._command(do, step), self.step, day(step["on"]))

    def say(self, step: dict[str, Any]) -> None:
        event = day(step["said"])
        occurred = day(step.get("arrives", step["said"]))
        fields: dict[str, Any] = {
            "memory_id": step["memory"],
            "asserted_at": min(event, occurred),
            "valid_from": day(step["from"]) if "from" in step else event,
            "valid_until": day(step["until"]) if "until" in step else None,
        }
        if step["do"] == "merge":
            command = decisions.merges(
                step["sources"], Assertion(value=step["value"], **fields), at_save=True
            )
        else:
            kind = Retraction if step["do"] == "retract" else Assertion
            command = self._saved(
                kind(value=step["value"], **fields), step.get("beside", ()), occurred
            )
        self.log = added(self.log, command, self.step, occurred)

    def _saved(self, statement: Statement, beside: Sequence[str], now: datetime) -> Act:
        """A repeat is a mention, as in the product."""
        again = repeated(statement, slot_of(self.log, self.step, now))
        if again is None:
            return commands.says(statement, beside=beside)
        return commands.mentions(again.memory_id, again.version, statement)

    def _command(self, do: str, step: dict[str, Any]) -> Act:
        memory, now = step["memory"], day(step["on"])
        start = day(step["from"]) if "from" in step else None
        end = day(step["until"]) if "until" in step else None
        match do:
            case "edit":
                return commands.edits(next_version(self.log, memory, step["value"]), start, end)
            case "correct times":
                assert start is not None
                return commands.corrects_times(memory, start, end)
            case "delete":
                return commands.deletes(memory)
            case "withdraw":
                return commands.withdraws(memory)
            case "restore":
                return commands.shows_again(memory)
            case "undo":
                return commands.undoes(memory)
            case "decide supersede":
                return decisions.supersedes(step["old"], memory, CONFLICT)
            case "decide reject_new":
                return commands.withdraws(memory, CONFLICT)
            case "decide merge":
                merged = Assertion(
                    memory_id=memory, value=step["value"], asserted_at=now, valid_from=now
                )
                return decisions.merges(step["sources"], merged, CONFLICT)
            case "undo decision":
                return decisions.undoes_decision(CONFLICT)
        raise AssertionError(do)


def played(steps: list[dict[str, Any]]) -> list[Entry]:
    slot = Slot()
    for step in steps:
        slot.play(step)
    return slot.log


def expectations(story: dict[str, Any]) -> list[tuple[str, int | None, datetime, list[str]]]:
    """Each expectation: as written, the last known sequence, the moment, the values."""
    made = []
    for moment, values in story["holds"].items():
        when, _, known = moment.partition(" known after ")
        made.append((moment, int(known) if known else None, day(when), values))
    return made


def values_at(timeline: Timeline, moment: datetime) -> list[str]:
    return [interval.value for interval in timeline.at(moment) if interval.value is not None]


__all__ = ["CONFLICT", "STORIES", "Slot", "day", "expectations", "played", "resolve", "values_at"]
