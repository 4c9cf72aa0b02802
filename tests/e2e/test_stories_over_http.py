"""The everyday stories of slots over HTTP, on the days on which they happen."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.host import ROOT, running
from tests.truth_stories import STORIES, day, expectations

LEFT_OUT = frozenset({"merge", "withdraw", "forget", "archive"})
"""Steps that no call of a person is; `test_truth_stories` plays them in the log alone."""
CITY = {"subject": "Ana", "attribute": "city"}


class Days:
    """A host whose clock is set by the test."""

    def __init__(self, client: httpx.Client, clock: Path) -> None:
        self.client, self._clock = client, clock

    def set(self, moment: datetime) -> None:
        """Let it be this moment; the file is replaced, so that it is never read in half."""
        new = self._clock.with_suffix(".new")
        new.write_text(moment.isoformat())
        os.replace(new, self._clock)

    def call(self, method: str, path: str, **fields: Any) -> dict[str, Any]:
        """The answer to a call that succeeds."""
        response = self.client.request(method, f"/api/v1/{path}", **fields)
        assert response.status_code in (200, 201), (
            f"{method} {path}: {response.status_code} {response.text}"
        )
        answer: dict[str, Any] = response.json()
        return answer


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Days]:
    folder = tmp_path_factory.mktemp("days")
    clock = folder / "clock.txt"
    clock.write_text(day("2000-01-01").isoformat())
    app = folder / "app"
    shutil.copytree(ROOT / "tests" / "clock_host", app)
    shutil.copy(ROOT / "host.json", app)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with running(folder, app=app, TEST_CLOCK=str(clock), PYTHONPATH=path) as client:
        yield Days(client, clock)


class Story:
    """A story on its way: the memories and conflicts that its steps made, by the story's names."""

    def __init__(self, days: Days, *, is_pinned: bool) -> None:
        self.days, self.is_pinned = days, is_pinned
        self.user = {"user_id": f"user-{uuid.uuid4().hex[:12]}"}
        self.now = day("2000-01-01")
        self.memories: dict[str, str] = {}
        self.conflicts: list[str] = []
        self.decided: list[str] = []

    def play(self, step: dict[str, Any]) -> None:
        moment = day(step.get("arrives", step.get("said", step.get("on"))))
        self.now = max(moment, self.now + timedelta(seconds=2))
        self.days.set(self.now)
        do = str(step["do"])
        path = f"memories/{self.memories.get(step.get('memory', ''), '')}"
        match do:
            case "save" | "retract":
                self.say(step)
            case "edit" | "correct times":
                self.days.call(
                    "PUT", path, json={**self.user, **_changes(step)}, headers={"If-Match": "*"}
                )
            case "delete":
                self.days.call("DELETE", path, params=self.user)
            case "restore" | "undo":
                self.days.call("POST", f"{path}/restore", json=self.user)
            case "undo decision":
                self.days.call("POST", f"conflicts/{self.decided[-1]}/undo", json=self.user)
            case _:
                self.decide(do.removeprefix("decide "))

    def say(self, step: dict[str, Any]) -> None:
        ends = step["do"] == "retract"
        # an event more than a day ahead is refused; it counts as said when it arrives
        event = min(day(step["said"]), self.now)
        fields: dict[str, Any] = {
            **self.user,
            **CITY,
            "type": "semantic",
            "event_timestamp": event.isoformat(),
        }
        fields |= {"value": {"no_longer": step["value"]} if ends else step["value"]}
        fields |= {"content": f"Ana {'no longer lives' if ends else 'lives'} in {step['value']}"}
        fields |= {"valid_from": day(step.get("from", step["said"])).isoformat()}
        fields |= {"valid_until": day(step["until"]).isoformat()} if "until" in step else {}
        fields |= {"on_conflict": "keep_both"} if step.get("beside") and not self.is_pinned else {}
        fields |= {"pinned": True} if self.is_pinned and not self.memories else {}
        saved = self.days.call("POST", "memories/save", json=fields)
        self.memories[step["memory"]] = saved["memory"]["id"]
        if saved.get("conflict"):
            self.conflicts.append(saved["conflict"]["id"])

    def decide(self, decision: str) -> None:
        conflict = self.conflicts[-1]
        if self.days.call("GET", f"conflicts/{conflict}", params=self.user)["status"] == "resolved":
            self.days.call("POST", f"conflicts/{conflict}/undo", json=self.user)
        self.days.call(
            "POST", f"conflicts/{conflict}/resolve", json={**self.user, "decision": decision}
        )
        self.decided.append(conflict)

    def values(self, **moments: datetime) -> list[str]:
        """What a list shows, the retractions left out."""
        asked = {name: moment.isoformat() for name, moment in moments.items()}
        page = self.days.call("GET", "memories", params={**self.user, **asked, "limit": "100"})
        return sorted(
            _value(memory)
            for memory in page["memories"]
            if not isinstance(memory.get("value"), dict)
        )


def _changes(step: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {"valid_from": day(step["from"]).isoformat()} if "from" in step else {}
    fields |= {"valid_until": day(step["until"]).isoformat()} if "until" in step else {}
    fields |= {"valid_until": None} if step["do"] == "correct times" and "until" not in step else {}
    return fields | (
        {"value": step["value"], "content": f"Ana lives in {step['value']}"}
        if "value" in step
        else {}
    )


def _value(memory: dict[str, Any]) -> str:
    return str(
        memory["value"]
        if memory.get("value") is not None
        else memory["content"].replace("Ana lives in ", "").replace("\n", " and ")
    )


def _stories() -> Iterator[Any]:
    """Those that send a call or a field which none before them sends; the others, of which
    `test_stories_of_slots` tells the same to the library, with `make test-long`.
    """
    sent: set[str] = set()
    for story in STORIES:
        if LEFT_OUT.isdisjoint(step["do"] for step in story["steps"]):
            sends = {f"{step['do']} {field}" for step in story["steps"] for field in step}
            marks = pytest.mark.long if sends <= sent else ()
            yield pytest.param(story, marks=marks, id=str(story["story"])[:60])
            sent |= sends


@pytest.mark.parametrize("story", list(_stories()))
def test_what_holds_is_what_the_story_says(story: dict[str, Any], days: Days) -> None:
    story_told, known = Story(days, is_pinned="Pinned" in story["story"]), list[datetime]()
    for step in story["steps"]:
        story_told.play(step)
        known.append(story_told.now + timedelta(seconds=1))
    days.set(story_told.now + timedelta(seconds=2))
    answers = {}
    for written, sequence, moment, _ in expectations(story):
        since = {} if sequence is None else {"known_at": known[sequence - 1]}
        answers[written] = story_told.values(at=moment, **since)
    assert answers == {written: sorted(expected) for written, _, _, expected in expectations(story)}
