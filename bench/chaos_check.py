"""Compares what is stored with what was acknowledged to the clients of `bench.chaos`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from bench.chaos_clients import Notebook, Save, Told

WAITING = ("accepted", "running")
GIVEN_UP = ("failed", "poisoned", "cancelled")


class Stored(NamedTuple):
    """All that a user has. versions: of each memory with a key that has more than one."""

    memories: list[dict[str, Any]]
    versions: Mapping[str, list[dict[str, Any]]]
    tasks: list[dict[str, Any]]


def check_user(notebook: Notebook, user: str, stored: Stored) -> None:
    """Accuse of everything of this user that is not as it was acknowledged."""
    saves = [(mark, save) for mark, save in notebook.saves.items() if save.user == user]
    _check_saves(notebook, user, stored.memories, [save for _, save in saves if save.slot is None])
    _check_slots(
        notebook, user, stored, [(mark, save) for mark, save in saves if save.slot is not None]
    )
    _check_tasks(notebook, user, stored.tasks)
    _check_conversations(
        notebook,
        user,
        stored,
        [conversation for conversation in notebook.told if conversation.user == user],
    )


def _check_saves(
    notebook: Notebook, user: str, memories: list[dict[str, Any]], saves: list[Save]
) -> None:
    """Each memory that fills no slot is there with its content, and once."""
    by_id = {memory["id"]: memory for memory in memories}
    copies = _copies(memories)
    for save in saves:
        memory, name = by_id.get(save.memory_id), f"{user} {save.memory_id}"
        if memory is None:
            notebook.accuse("lost", f"{name}: not there")
            continue
        if memory["content"] not in save.contents:
            notebook.accuse(
                "lost", f"{name}: says {memory['content']!r} and should say {sorted(save.contents)}"
            )
        count = copies[memory["content"]]
        if save.deleted:
            if count:
                notebook.accuse("back", f"{name}: deleted, and {count} memories say the same")
        elif memory["status"] == "deleted" and not save.unclear:
            notebook.accuse(
                "lost", f"{name}: deleted ({memory['status_reason']}), though no client did that"
            )
        elif save.once and count > 1:
            notebook.accuse("doubled", f"{name}: {count} memories say {memory['content']!r}")


def _check_slots(
    notebook: Notebook, user: str, stored: Stored, saves: list[tuple[str, Save]]
) -> None:
    """Of each slot and key: all that was told is there once, one holds, and that is what
    was told last.
    """
    by_slot, by_statement = defaultdict(list), defaultdict(list)
    for memory in stored.memories:
        by_slot[memory["key"] or memory["subject"]].append(memory)
    for mark, save in saves:
        by_statement[str(save.slot)].append((str(save.event), mark, save))
    for slot, statements in by_statement.items():
        memories, name = by_slot[slot], f"{user} {slot}"
        old = [
            version["content"]
            for memory in memories
            for version in stored.versions.get(memory["id"], [])
        ]
        copies = _copies(memories)
        for _, mark, save in statements:
            (content,) = save.contents
            if content not in old and content not in copies:
                notebook.accuse("lost", f"{name} {save.memory_id}: nothing says {mark}")
            if copies[content] > 1:
                notebook.accuse("doubled", f"{name}: {copies[content]} memories say {content!r}")
        holding = [memory["content"] for memory in memories if memory["status"] == "active"]
        last = max(statements)[1]
        if len(holding) > 1:
            notebook.accuse("doubled", f"{name}: {len(holding)} hold: {holding}")
        elif name not in notebook.unclear and not any(
            f"Mark {last}." in content for content in holding
        ):
            notebook.accuse(
                "lost", f"{name}: {last} was told last and does not hold, but {holding}"
            )


def _check_tasks(notebook: Notebook, user: str, tasks: list[dict[str, Any]]) -> None:
    """Each task has ended, and well."""
    for task in tasks:
        notebook.counts[f"tasks {task['kind']}"] += 1
        why = (
            f"{user} {task['kind']} {task['task_id']}: {task['status']}, {task['attempts']} "
            f"attempts, {task['error']}"
        )
        if task["status"] in WAITING:
            notebook.accuse("stuck", why)
        elif task["status"] in GIVEN_UP:
            notebook.accuse("poisoned", why)


def _check_conversations(
    notebook: Notebook, user: str, stored: Stored, conversations: list[Told]
) -> None:
    """What each conversation became is there, each of its messages in one cell."""
    tasks = {task["task_id"]: task for task in stored.tasks}
    by_id = {memory["id"]: memory for memory in stored.memories}
    cells = [
        memory
        for memory in stored.memories
        if memory["category"] == "cell" and memory["status"] != "deleted"
    ]
    marks = Counter(
        word
        for cell in cells
        for word in str(cell["episode"]).replace(".", " ").split()
        if word.startswith("mark")
    )
    for conversation in conversations:
        task, name = tasks.get(conversation.task_id), f"{user} {conversation.task_id}"
        if task is None:
            notebook.accuse("lost", f"{name}: the task is not there")
        elif task["status"] == "succeeded":
            made = [
                memory_id for cell in task["result"]["cells"] for memory_id in cell["memory_ids"]
            ]
            for memory_id in made:
                if memory_id not in by_id:
                    notebook.accuse("lost", f"{name}: {memory_id}, which it made, is not there")
            if not conversation.unclear:
                _check_marks(notebook, name, conversation, marks)


def _check_marks(notebook: Notebook, name: str, conversation: Told, marks: Counter[str]) -> None:
    """Each message is in one cell that is not deleted; in none once the cells were deleted."""
    for mark in conversation.marks:
        count = marks[mark]
        if conversation.deleted_cells and count:
            notebook.accuse("back", f"{name}: {mark} is in {count} cells, and its own was deleted")
        elif not conversation.deleted_cells and count != 1:
            notebook.accuse("doubled" if count else "lost", f"{name}: {mark} is in {count} cells")


def _copies(memories: list[dict[str, Any]]) -> Counter[str]:
    """How many memories that are not deleted have each content."""
    return Counter(memory["content"] for memory in memories if memory["status"] != "deleted")
