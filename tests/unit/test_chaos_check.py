"""The chaos run's comparison can accuse: each thing that must not happen is found in
what is stored.
"""

from __future__ import annotations

from typing import Any

import pytest

from bench.chaos_check import Stored, check_user
from bench.chaos_clients import Notebook, Save, Told


def memory(memory_id: str, content: str, **fields: Any) -> dict[str, Any]:
    plain = {
        "status": "active",
        "status_reason": "created",
        "key": None,
        "subject": None,
        "category": None,
        "episode": None,
        "version": 1,
    }
    return {"id": memory_id, "content": content, **plain, **fields}


def task(status: str, *memory_ids: str) -> dict[str, Any]:
    result = {"cells": [{"memory_ids": list(memory_ids)}]}
    return {
        "task_id": "t1",
        "kind": "converse",
        "status": status,
        "attempts": 0,
        "error": None,
        "result": result,
    }


def notebook_of(*saves: Save, conversations: list[Told] | None = None) -> Notebook:
    notebook = Notebook()
    notebook.saves = {f"mark{number}": save for number, save in enumerate(saves)}
    notebook.told = conversations or []
    return notebook


def accused(
    notebook: Notebook, memories: list[dict[str, Any]], tasks: list[dict[str, Any]] | None = None
) -> list[str]:
    check_user(notebook, "ana", Stored(memories, {}, tasks or []))
    return [kind for kind, reasons in notebook.accusations.items() for _ in reasons]


def note(**fields: Any) -> Save:
    return Save(
        **{
            "user": "ana",
            "memory_id": "m1",
            "type": "episodic",
            "contents": {"note"},
            "event": None,
            "slot": None,
            "once": True,
            **fields,
        }
    )


def fact(number: int) -> Save:
    return note(
        memory_id=f"f{number}",
        type="semantic",
        contents={f"Mark mark{number}."},
        event=f"2026-01-0{number + 1}",
        slot="desk",
    )


def told(**fields: Any) -> Told:
    return Told(**{"user": "ana", "task_id": "t1", "marks": ["mark7"], "once": True, **fields})


@pytest.mark.parametrize(
    ("save", "memories", "expected"),
    [
        (note(), [memory("m1", "note")], []),
        (note(), [], ["lost"]),
        (note(), [memory("m1", "something else")], ["lost"]),
        (note(), [memory("m1", "note", status="deleted")], ["lost"]),
        (note(unclear=True), [memory("m1", "note", status="deleted")], []),
        (note(), [memory("m1", "note"), memory("m2", "note")], ["doubled"]),
        (note(once=False), [memory("m1", "note"), memory("m2", "note")], []),
        (note(deleted=True), [memory("m1", "note", status="deleted")], []),
        (note(deleted=True), [memory("m1", "note")], ["back"]),
        (
            note(deleted=True),
            [memory("m1", "note", status="deleted"), memory("m2", "note")],
            ["back"],
        ),
    ],
)
def test_a_save_is_compared_with_what_is_stored(
    save: Save, memories: list[dict[str, Any]], expected: list[str]
) -> None:
    assert accused(notebook_of(save), memories) == expected


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (("superseded", "active"), []),
        (("active", "active"), ["doubled"]),
        (("active", "superseded"), ["lost"]),
        (("superseded", "superseded"), ["lost"]),
    ],
)
def test_of_a_slot_only_what_was_told_last_may_hold(
    statuses: tuple[str, str], expected: list[str]
) -> None:
    memories = [
        memory(f"f{number}", f"Mark mark{number}.", subject="desk", status=status)
        for number, status in enumerate(statuses)
    ]
    assert accused(notebook_of(fact(0), fact(1)), memories) == expected


@pytest.mark.parametrize(
    ("conversation", "status", "episodes", "expected"),
    [
        (told(), "succeeded", ["user: Mark mark7."], []),
        (told(), "succeeded", ["user: something else"], ["lost"]),
        (told(), "succeeded", ["user: Mark mark7.", "user: Mark mark7."], ["doubled"]),
        (told(deleted_cells=["c9"]), "succeeded", ["user: Mark mark7."], ["back"]),
        (told(), "accepted", ["user: Mark mark7."], ["stuck"]),
        (told(), "running", ["user: Mark mark7."], ["stuck"]),
        (told(), "poisoned", ["user: Mark mark7."], ["poisoned"]),
        (told(), "failed", ["user: Mark mark7."], ["poisoned"]),
    ],
)
def test_a_conversation_is_compared_with_its_task_and_cells(
    conversation: Told, status: str, episodes: list[str], expected: list[str]
) -> None:
    memories = [
        memory(f"c{number}", "story", category="cell", episode=episode)
        for number, episode in enumerate(episodes)
    ]
    assert (
        accused(notebook_of(conversations=[conversation]), memories, [task(status, "c0")])
        == expected
    )


def test_a_memory_that_a_conversation_made_has_to_be_there() -> None:
    cells = [memory("c0", "story", category="cell", episode="user: Mark mark7.")]
    assert accused(notebook_of(conversations=[told()]), cells, [task("succeeded", "c0", "c1")]) == [
        "lost"
    ]
