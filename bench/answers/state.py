"""What a run has done so far, a JSON object a line, written as soon as it is known:
the next run goes on from there.

Note: the last line may be half of one, where the process was killed within it; it is left out,
and overwritten by the next.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.answers.plan import Key


class OtherRun(Exception):
    """The file is of another set or model."""


@dataclass(slots=True)
class State:
    """A run's file. users: the user that holds each conversation, by its name. answers, verdicts:
    by question and way.
    """

    file: Path
    about: dict[str, Any]
    users: dict[str, str] = field(default_factory=dict)
    answers: dict[Key, str] = field(default_factory=dict)
    verdicts: dict[Key, bool] = field(default_factory=dict)
    spent: list[int] = field(default_factory=lambda: [0, 0])

    @classmethod
    def open(cls, file: Path, **about: Any) -> State:
        """The state as the file has it, or a new one. Raises OtherRun."""
        state = cls(file, about)
        lines = _lines(file)
        if not lines:
            file.unlink(missing_ok=True)
            return state
        known = lines[0].get("about", {})
        if differing := [name for name, value in about.items() if known.get(name) != value]:
            raise OtherRun(
                f"{file} is of another run ({', '.join(differing)} differ); name another file with "
                "--state, or delete it"
            )
        for line in lines[1:]:
            state._take(line)
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return state

    def tell(self, conversation: str, user: str) -> None:
        """A conversation is told."""
        self._write({"told": conversation, "user": user})

    def answer(self, key: Key, answer: str, tokens: tuple[int, int]) -> None:
        """A question is answered."""
        self._write({"question": key[0], "way": key[1], "answer": answer, "tokens": list(tokens)})

    def judge(self, key: Key, right: bool, why: str, tokens: tuple[int, int]) -> None:
        """An answer is judged."""
        self._write(
            {"question": key[0], "way": key[1], "right": right, "why": why, "tokens": list(tokens)}
        )

    def _write(self, line: dict[str, Any]) -> None:
        if not self.file.exists():
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text(json.dumps({"about": self.about}) + "\n", encoding="utf-8")
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self._take(line)

    def _take(self, line: dict[str, Any]) -> None:
        if "told" in line:
            self.users[line["told"]] = line["user"]
            return
        key = (line["question"], line["way"])
        if "answer" in line:
            self.answers[key] = line["answer"]
        else:
            self.verdicts[key] = line["right"]
        self.spent = [had + more for had, more in zip(self.spent, line["tokens"], strict=True)]


def _lines(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    records: list[dict[str, Any]] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return records
