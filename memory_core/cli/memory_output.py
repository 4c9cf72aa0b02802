"""Memories as the commands print them, and moments as people write them."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any

from memory_core.cli.command import CommandRun
from memory_core.cli.output import day_of
from memory_core.cli.service import CallFailed, MemoryService, path_part
from memory_core.cli.target import other_default_folder
from memory_core.domain.errors import PlainError
from memory_core.domain.text import remarks

Json = dict[str, Any]
GONE = 404
LOOKED_UP = 50
"""The most memories that are read singly for the rows of a list."""
STORIES = ("cell", "note")
"""Categories of memories that were formed of a whole conversation."""


def moment(text: str | None, *, end: bool = False) -> str | None:
    """A moment as the API takes it.

    Args:
        text: The moment, or a day alone.
        end: Whether a day alone means its last second instead of its beginning, in UTC.

    """
    if text is None or len(text) != len("2026-05-08") or text.count("-") != 2:
        return text
    return f"{text}T23:59:59Z" if end else f"{text}T00:00:00Z"


def json_object(text: str, option: str) -> Json:
    """The JSON object in the value of an option.

    Args:
        text: The value.
        option: Its name, for the message about a wrong value.

    Raises:
        PlainError: It is no JSON object.

    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise PlainError(f'{option} should be a JSON object, such as {{"place": "office"}}')
    return value


async def why_nothing(
    run: CommandRun, service: MemoryService, answer: Json, *, narrowed: bool
) -> list[str]:
    """Advice where no memory answers a query.

    Args:
        run: The command's output and settings.
        service: The service that was asked.
        answer: Its empty answer.
        narrowed: Whether the query named filters.

    """
    nearest = answer.get("nearest")
    lines = ["Nothing found."]
    if nearest:
        reached, needed = nearest["relevance_score"], nearest["answer_threshold"]
        lines.append(
            f"The nearest memory reaches a relevance of {reached:.2f}, an answer needs "
            f"{needed:.2f}."
        )
        lines += _nearest_miss((answer.get("explain") or {}).get("nearest"))
        if reached > 0:
            lines.append(
                f"Show it: --threshold {max(0.0, reached - 0.01):.2f}; or ask with words that the "
                "memory itself has."
            )
    if narrowed:
        lines.append("Leave out --session, --type, --tag or --at: they narrow the search.")
    try:
        known = (await service.get("/api/v1/memories", limit=1, status="all"))["memories"]
    except CallFailed:
        return lines
    if not known:
        lines.append(f"The user {service.user} has no memories here, {run.target.place}.")
        lines.append("Is it the right --user, --data or --url? `memory-core save` adds one.")
        other = other_default_folder(run.target, os.environ)
        if other is not None:
            lines.append(
                f"There is another data folder: --data {shlex.quote(str(other))} looks there."
            )
    else:
        lines.append(
            "`memory-core timeline` lists what was saved, superseded, deleted and forgotten; "
            "--archived looks in the archive too."
        )
    return lines


SIGNALS = {
    "similarity": "its meaning is not near enough",
    "words": "it has too few of the words",
    "score": "--json shows its score",
}


def _nearest_miss(miss: Json | None) -> list[str]:
    """The nearest memory of a search without a result, with its lacks."""
    if not miss:
        return []
    similarity, lexical = (
        miss[name] if miss[name] is not None else 0.0
        for name in ("similarity_score", "lexical_score")
    )
    lines = [
        f"It is {quoted(miss['memory_id'], miss)}: meaning {similarity:.2f}, words {lexical:.2f}."
    ]
    if lacks := [SIGNALS[name] for name in miss["lacks"]]:
        lines.append(f"What it lacks: {', and '.join(lacks)}.")
    if miss["missing_terms"]:
        lines.append(
            f"Terms of the query that it does not have: {', '.join(miss['missing_terms'])}."
        )
    return lines


def begins(memory: Json, at: str | None = None) -> str:
    """The day from which a fact is valid, where it is not valid yet.

    Args:
        memory: The memory.
        at: The moment to compare with; None for now.

    Returns:
        A remark for people; empty for any other memory.

    """
    start = memory.get("valid_from")
    if start is None or memory.get("type") == "episodic" or memory.get("category") in STORIES:
        return ""
    asked = datetime.now(timezone.utc) if at is None else datetime.fromisoformat(at)
    return f"(from {day_of(start)})" if datetime.fromisoformat(start) > asked else ""


def print_results(run: CommandRun, results: list[Json], at: str | None) -> None:
    """Print the results of a search.

    Args:
        run: The command that prints.
        results: As the API answers them.
        at: The moment that was asked for; None for now.

    """
    if not run.output.is_terminal:
        rows = [
            (
                result["rank"],
                result["relevance_score"],
                result["memory"]["id"],
                day_of(_when(result["memory"])),
                result["memory"]["type"],
                with_marks(_with_beginning(result["memory"], at), _remarks(result)),
            )
            for result in results
        ]
        return run.output.table(("rank", "relevance", "id", "day", "type", "content"), rows)
    for result in results:
        memory = result["memory"]
        run.output.line(f"{result['rank']}. {_with_beginning(memory, at)}", "bold")
        run.output.line(
            f"   {result['relevance_score']:.2f} · {day_of(_when(memory))} · {memory['type']} · "
            f"{memory['id']}",
            "dim",
        )
        for remark in _remarks(result):
            run.output.line(f"   {remark}", "yellow")
    return None


def _remarks(result: Json) -> list[str]:
    """What is said against a result, in the words of a context."""
    return [
        *(
            remarks.no_longer_true(fact["text"], fact["current"])
            for fact in result.get("stale_facts") or ()
        ),
        *(
            remarks.replaced(day_of(later["at"]), later["text"], later["replaced"])
            for later in result.get("replaced_by") or ()
        ),
        *(
            remarks.in_conflict(day_of(other["at"]), other["text"])
            for other in result.get("disputed_by") or ()
        ),
    ]


def with_marks(text: str, marks: Iterable[str]) -> str:
    """A text with marks in brackets behind it, as a line of a context.

    Args:
        text: The text.
        marks: The marks; without any the text is as it was.

    """
    joined = "; ".join(marks)
    return f"{text} ({joined})" if joined else text


def _with_beginning(memory: Json, at: str | None = None) -> str:
    return f"{memory.get('content') or memory.get('value')} {begins(memory, at)}".rstrip()


async def memories_by_id(service: MemoryService, ids: Iterable[str | None]) -> dict[str, Json]:
    """The memories with these ids, whatever their status, without those that are gone.

    Args:
        service: The service.
        ids: The ids; those that are None are left out.

    Raises:
        CallFailed: A call failed.

    """
    memories: dict[str, Json] = {}
    for memory_id in dict.fromkeys(ids):
        if memory_id is not None:
            try:
                memories[memory_id] = await service.get(f"/api/v1/memories/{path_part(memory_id)}")
            except CallFailed as error:
                if error.status != GONE:
                    raise
    return memories


def quoted(memory_id: str, memory: Json) -> str:
    """The id of a memory with its content.

    Args:
        memory_id: The id of the memory.
        memory: The fields of the memory; may be empty.

    """
    content = memory.get("content") or memory.get("value_text")
    return f'{memory_id} "{content}"' if content else memory_id


def other_side(conflict: Json, memory_id: str) -> str | None:
    """The id of a conflict's other memory, or of its only memory.

    None without a conflict.

    Args:
        conflict: The record of the conflict, or an empty object.
        memory_id: The id of a side.

    """
    other_id = conflict.get("new_id") if conflict.get("old_id") == memory_id else None
    return other_id or conflict.get("old_id")


def note_conflict(run: CommandRun, answer: Json, other: Json) -> None:
    """Print the effect of a save on the memory that it contradicts.

    A pending decision is printed too.

    Args:
        run: The command's output and settings.
        answer: The answer to the save.
        other: The contradicted memory.

    """
    conflict = answer["conflict"]
    name = quoted(other_side(conflict, answer["memory"]["id"]) or "", other)
    reason = conflict.get("reason") or "no reason is given"
    if answer["outcome"] == "superseded":
        end = f" (until {day_of(other['valid_until'])})" if other.get("valid_until") else ""
        return run.output.note(f"It replaced {name}{end}.")
    if answer["outcome"] == "merged":
        return run.output.note(f"It has the text of {name}, too.")
    if conflict["status"] == "pending":
        run.output.note(f"It may contradict {name}: {reason}. Both are active until it is decided:")
        return run.output.note(
            f"memory-core conflicts decide {conflict['id']} supersede (or keep_both, "
            "reject_new, merge)"
        )
    return run.output.note(f"It differs from {name}: {reason}.")


def displayed_field(memory: Json, name: str, linked: dict[str, Json]) -> str:
    """A field of a memory for people.

    An id has the content of its memory, and a reason is in words.

    Args:
        memory: As the service answers it.
        name: Name of the field.
        linked: Memories that the field may name, by id.

    """
    value = memory[name]
    if name == "status_reason" and value == "contradicted" and memory.get("next_id"):
        return "contradicted (a later truth took its place: next_id)"
    if isinstance(value, str) and value in linked:
        return quoted(value, linked[value])
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


async def contents_of_events(service: MemoryService, events: list[Json]) -> dict[str, str]:
    """The content of each memory of an event without a content, by id.

    At most the last LOOKED_UP memories are read.

    Args:
        service: The service to read from.
        events: Of a timeline.

    """
    contents = {
        event["memory_id"]: event["after"]["content"]
        for event in events
        if (event.get("after") or {}).get("content")
    }
    unknown = dict.fromkeys(
        event["memory_id"] for event in reversed(events) if event["memory_id"] not in contents
    )
    memories = await memories_by_id(service, list(unknown)[:LOOKED_UP])
    return contents | {
        memory_id: str(memory.get("content") or "") for memory_id, memory in memories.items()
    }


def event_text(event: Json, contents: dict[str, str]) -> str:
    """The text of an event: its content, and the successor of a replaced memory.

    Args:
        event: Of a timeline.
        contents: Contents of memories, by id.

    """
    after = event.get("after") or {}
    text = (
        after.get("content")
        or contents.get(event["memory_id"])
        or ("(redacted)" if event.get("redacted") else "")
    )
    successor = after.get("next_id")
    return f"{text} → {successor}".strip() if successor else text


def memory_rows(memories: list[Json]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """The heads and the rows of a table of memories."""
    rows = [
        (
            memory["id"],
            day_of(_when(memory)),
            memory["type"],
            memory.get("status", "active"),
            _with_beginning(memory),
        )
        for memory in memories
    ]
    return ("id", "day", "type", "status", "content"), rows


def _when(memory: Json) -> str | None:
    return memory.get("event_timestamp") or memory.get("created_at")


def print_list(
    run: CommandRun,
    name: str,
    items: list[Json],
    columns: tuple[str, ...],
    rows: list[tuple[Any, ...]],
    hint: str,
) -> None:
    """Print the items of a list, as JSON or as a table.

    Args:
        run: The command that prints.
        name: Of the list in the JSON.
        items: As the API answers them.
        columns: Heads of the table.
        rows: Of the table.
        hint: Printed in the place of an empty table.

    """
    if run.output.as_json:
        run.output.document({name: items})
    elif not items:
        run.output.note(hint)
    else:
        run.output.table(columns, rows)


def note_degraded(run: CommandRun, answer: Json) -> None:
    """Say which dependencies an answer had to do without.

    Args:
        run: The command that prints.
        answer: As the API answers it.

    """
    if answer.get("degraded"):
        run.output.note(
            f"Answered without: {', '.join(answer['degraded'])}. `memory-core doctor` says why.",
            "yellow",
        )
