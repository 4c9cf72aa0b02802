"""Everyday stories about one slot, played as the operations of the product would."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from memory_core.domain.truth import operations
from memory_core.domain.truth.entries import Assertion, Entry, Retraction, asserted_at, numbered
from memory_core.domain.truth.resolve import resolve
from memory_core.domain.truth.timeline import Timeline

CONFLICT = "cft_1"
STORIES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "truth_stories.json").read_text())


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
            self.log = operations.forget(self.log, step["memory"], f"forgotten_{self.step}", self.step)
        elif do not in ("archive", "decide keep_both"):  # these two add nothing
            self.log += self._added(do, step)

    def say(self, step: dict[str, Any]) -> None:
        event = day(step["said"])
        occurred = day(step.get("arrives", step["said"]))
        fields: dict[str, Any] = {
            "sequence": self.step,
            "memory_id": step["memory"],
            "asserted_at": asserted_at(event, occurred),
            "valid_from": day(step["from"]) if "from" in step else event,
            "valid_until": day(step["until"]) if "until" in step else None,
        }
        if step["do"] == "retract":
            self.log.append(Retraction(value=step["value"], **fields))
        elif step["do"] == "merge":
            self.log += operations.merge(self.log, step["sources"], Assertion(value=step["value"], **fields))
        else:
            self.log += operations.keep_beside(self.log, Assertion(value=step["value"], **fields), step.get("beside", ()))

    def _added(self, do: str, step: dict[str, Any]) -> list[Entry]:
        memory, now, log, number = step["memory"], day(step["on"]), self.log, self.step
        start = day(step["from"]) if "from" in step else None
        end = day(step["until"]) if "until" in step else None
        match do:
            case "edit":
                return operations.edit(log, memory, step["value"], now, number, valid_from=start, valid_until=end)
            case "correct times":
                assert start is not None
                return operations.correct_times(log, memory, number, start, end)
            case "delete":
                return operations.delete(memory, number)
            case "withdraw":
                return operations.withdraw(log, memory, number)
            case "restore":
                return operations.restore(log, memory, number)
            case "undo":
                return operations.undo(log, memory, number)
            case "decide supersede":
                return operations.decide_supersede(log, step["old"], memory, now, number, CONFLICT)
            case "decide reject_new":
                return operations.decide_reject_new(log, memory, number, CONFLICT)
            case "decide merge":
                merged = Assertion(sequence=number, memory_id=memory, value=step["value"], asserted_at=now, valid_from=now)
                return operations.merge(log, step["sources"], merged, CONFLICT)
            case "undo decision":
                return operations.undo_decision(log, CONFLICT, number)
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
    return [one.value for one in timeline.at(moment) if one.value is not None]


__all__ = ["CONFLICT", "STORIES", "Slot", "day", "expectations", "numbered", "played", "resolve", "values_at"]
