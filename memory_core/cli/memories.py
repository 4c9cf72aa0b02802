"""Commands that save and read memories: save, search, context, show, timeline, replay,
scenes, profile, users.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Annotated, Any

import typer

from memory_core.cli.command import CommandRun, command
from memory_core.cli.output import day_of
from memory_core.cli.service import CallFailed, MemoryService, path_part
from memory_core.cli.target import other_default_folder
from memory_core.domain.errors import PlainError

app = typer.Typer()
Json = dict[str, Any]
GONE = 404
LOOKED_UP = 50
"""Memories that are read one by one for the rows of a list."""
STORIES = ("cell", "note")
"""Categories of what was formed of a whole conversation."""
MADE_A_MEMORY = ("superseded", "kept_both")
"""Outcomes of a save that name what became of another memory: the saved one is new."""
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Items at most.")]
MOMENT = "A moment with a time zone: 2026-05-08T12:00:00Z, or a day."
MomentOption = Annotated[str | None, typer.Option(help=MOMENT)]
TrueAtOption = Annotated[
    str | None, typer.Option(help=f"What was true then, instead of now. {MOMENT}")
]
SAVE_OPTIONS = {"event_timestamp": "--at", "key": "--name", "type": "--type"}
"""Options of `save` that have another name than their field."""


@command(app)
async def save(
    run: CommandRun,
    content: Annotated[
        str, typer.Argument(help="What to remember; - reads it from the standard input.")
    ],
    kind: Annotated[
        str, typer.Option("--type", help="episodic, semantic or procedural.")
    ] = "semantic",
    session: Annotated[str | None, typer.Option(help="Session that it belongs to.")] = None,
    agent: Annotated[str | None, typer.Option(help="Agent that it belongs to.")] = None,
    subject: Annotated[
        str | None,
        typer.Option(help="With --attribute: what the fact is about; a newer fact replaces it."),
    ] = None,
    attribute: Annotated[
        str | None, typer.Option(help="With --subject: which of its properties.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Key of a procedural memory.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be given again.")] = None,
    at: Annotated[
        str | None,
        typer.Option(
            help=f"When it happened or became true (event_timestamp), default now. {MOMENT}"
        ),
    ] = None,
    metadata: Annotated[str | None, typer.Option(help="A JSON object.")] = None,
) -> None:
    """Save one memory."""
    body = {
        "content": sys.stdin.read().strip() if content == "-" else content,
        "type": kind,
        "session_id": session,
        "agent_id": agent,
        "subject": subject,
        "attribute": attribute,
        "key": name,
        "tags": tag or None,
        "event_timestamp": moment(at),
        "metadata": None if metadata is None else _object(metadata, "--metadata"),
    }
    async with run.service() as service:
        try:
            answer = await service.post("/api/v1/memories/save", body)
        except CallFailed as error:
            raise error.with_names(SAVE_OPTIONS) from None
        conflict = answer.get("conflict") or {}
        other_id = None if run.output.as_json else conflict.get("old_id")
        others = await memories_by_id(service, [other_id])
    if run.output.as_json:
        return run.output.document(answer)
    outcome = "created" if answer["outcome"] in MADE_A_MEMORY else answer["outcome"]
    run.output.line(f"{outcome} {answer['memory']['id']}")
    if conflict:
        _note_conflict(run, answer, others.get(other_id or "", {}))
    return None


@command(app)
async def search(
    run: CommandRun,
    query: Annotated[str, typer.Argument(help="A question or a few words.")],
    limit: Annotated[int, typer.Option(min=1, max=100, help="Results at most.")] = 10,
    session: Annotated[str | None, typer.Option(help="Only this session.")] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--type", help="Only this type; may be given again.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Only with this tag; may be given again.")
    ] = None,
    at: TrueAtOption = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Relevance that the best result must reach.")
    ] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Look in the archive too.")] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help=(
                "Say how each result came to its place (with --json); without a result, what the "
                "nearest memory lacked."
            ),
        ),
    ] = False,
) -> None:
    """Find the memories that answer a question, best first."""
    body: Json = {
        "query": query,
        "limit": limit,
        "session_id": session,
        "types": kind or None,
        "tags": tag or None,
        "at": moment(at),
    }
    body |= {
        "answer_threshold": threshold,
        "similarity_threshold": threshold,
        "include_archived": archived or None,
    }
    async with run.service() as service:
        answer = await service.post(
            "/api/v1/memories/retrieve", {**body, "explain": explain or None}
        )
        if run.output.as_json:
            return run.output.document(answer)
        if not answer["results"]:
            for line in await _why_nothing(
                run, service, answer, narrowed=bool(session or kind or tag or at)
            ):
                run.output.note(line)
            return None
    _print_results(run, answer["results"], moment(at))
    _note_degraded(run, answer)
    return None


@command(app)
async def context(
    run: CommandRun,
    query: Annotated[str | None, typer.Argument(help="What the next turn is about.")] = None,
    session: Annotated[str | None, typer.Option(help="The session of that turn.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens at most.")] = 2000,
    at: TrueAtOption = None,
) -> None:
    """Print what a model should be told before it answers."""
    async with run.service() as service:
        answer = await service.post(
            "/api/v1/context",
            {"query": query, "session_id": session, "max_tokens": max_tokens, "at": moment(at)},
        )
        if run.output.as_json:
            return run.output.document(answer)
        if not answer["context"]:
            for line in await _why_nothing(run, service, answer, narrowed=False):
                run.output.note(line)
            return None
    run.output.line(answer["context"])
    _note_degraded(run, answer)
    return None


@command(app)
async def show(
    run: CommandRun,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a memory.")],
    versions: Annotated[bool, typer.Option("--versions", help="Its earlier versions too.")] = False,
) -> None:
    """Print one memory, every field of it."""
    path = f"/api/v1/memories/{path_part(memory_id)}"
    async with run.service() as service:
        memory = await service.get(path)
        earlier = (await service.get(f"{path}/versions"))["versions"] if versions else None
        linked = (
            {}
            if run.output.as_json
            else await memories_by_id(service, [memory.get("next_id"), memory.get("supersedes_id")])
        )
    if run.output.as_json:
        return run.output.document(memory if earlier is None else {**memory, "versions": earlier})
    for name, value in memory.items():
        if value not in (None, [], {}, ""):
            run.output.line(f"{name:<20} {_shown_field(memory, name, linked)}")
    for version in earlier or ():
        run.output.line(
            f"version {version['version']:<12} {version['changed_at']}  {version['content']}"
        )
    return None


@command(app)
async def timeline(
    run: CommandRun,
    since: MomentOption = None,
    until: MomentOption = None,
    types: Annotated[
        str | None,
        typer.Option(
            help=(
                "Of memories or events, with commas between: semantic,superseded,deleted,forgotten."
            )
        ),
    ] = None,
    memory: Annotated[str | None, typer.Option(help="Only of this memory.")] = None,
    limit: LimitOption = 100,
) -> None:
    """List what happened to the memories, oldest first."""
    query = {"since": moment(since), "until": moment(until), "types": types, "memory_id": memory}
    async with run.service() as service:
        events = [
            event async for event in service.pages("/api/v1/timeline", "events", limit, **query)
        ]
        contents = {} if run.output.as_json else await _contents_of_events(service, events)
    rows = [
        (
            event["occurred_at"][:19],
            event["event_type"],
            event["memory_id"],
            _event_text(event, contents),
        )
        for event in events
    ]
    _print_list(
        run,
        "events",
        events,
        ("at", "event", "memory", "content"),
        rows,
        "Nothing happened then. Leave out --since or --until.",
    )


@command(app)
async def replay(
    run: CommandRun,
    known_at: Annotated[
        str,
        typer.Option(
            "--known-at", help="What was known at this moment, or at the end of this day (UTC)."
        ),
    ],
    at: Annotated[str | None, typer.Option(help="Only what was true at this moment.")] = None,
    limit: LimitOption = 100,
) -> None:
    """List the memories as they were known at an earlier moment."""
    memories: list[Json] = []
    cursor: str | None = None
    async with run.service() as service:
        while len(memories) < limit:
            body = {
                "known_at": moment(known_at, end=True),
                "at": moment(at),
                "limit": min(100, limit - len(memories)),
                "cursor": cursor,
            }
            page = await service.post("/api/v1/replay", body)
            memories += page["memories"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
    hint = "Nothing was known by then. `memory-core timeline` says when the first memory was saved."
    _print_list(run, "memories", memories, *_memory_rows(memories), hint)


@command(app)
async def scenes(run: CommandRun, limit: LimitOption = 100) -> None:
    """List the scenes that episodes were gathered into."""
    async with run.service() as service:
        all_scenes = [scene async for scene in service.pages("/api/v1/scenes", "scenes", limit)]
    rows = [
        (
            scene["id"],
            scene["theme"],
            scene["title"],
            day_of(scene["started_at"]),
            scene.get("count"),
        )
        for scene in all_scenes
    ]
    hint = (
        "No scenes yet. They are made of conversations by the next run: `memory-core consolidate` "
        "begins one."
    )
    _print_list(
        run, "scenes", all_scenes, ("id", "theme", "title", "since", "episodes"), rows, hint
    )


@command(app)
async def profile(run: CommandRun, at: TrueAtOption = None) -> None:
    """Print what is known of the person."""
    async with run.service() as service:
        answer = await service.get("/api/v1/profile", at=moment(at))
    if run.output.as_json:
        return run.output.document(answer)
    rows = [(item["name"], item["value"], day_of(item.get("since"))) for item in answer["explicit"]]
    rows += [("trait", item["trait"], "") for item in answer["implicit"]]
    if not rows:
        return run.output.note(
            "Nothing is known of this person yet. Import or save what they said, then `memory-core "
            "consolidate`."
        )
    return run.output.table(("what", "value", "since"), rows)


@command(app)
async def users(run: CommandRun, limit: LimitOption = 1000) -> None:
    """List the users whose agents have memories, by user and agent (for an admin)."""
    async with run.service() as service:
        agents = [agent async for agent in service.pages_of_app("/api/v1/agents", "agents", limit)]
    rows = [
        (
            agent["user_id"],
            agent.get("agent_id"),
            agent.get("memories"),
            agent.get("last_active_at"),
        )
        for agent in agents
    ]
    _print_list(
        run,
        "agents",
        agents,
        ("user", "agent", "memories", "last active"),
        rows,
        "No agent has memories here. Memories that name no agent are not in this list.",
    )


def moment(text: str | None, *, end: bool = False) -> str | None:
    """A moment as the API takes it; a day alone is its begin in UTC, or its last second."""
    if text is None or len(text) != len("2026-05-08") or text.count("-") != 2:
        return text
    return f"{text}T23:59:59Z" if end else f"{text}T00:00:00Z"


def _object(text: str, option: str) -> Json:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise PlainError(f'{option} should be a JSON object, such as {{"place": "office"}}')
    return value


async def _why_nothing(
    run: CommandRun, service: MemoryService, answer: Json, *, narrowed: bool
) -> list[str]:
    """What to try where nothing answers a query."""
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
    """The nearest memory of a search that found nothing, and what it lacked."""
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
    """From which day on a truth holds that has not begun by then, else now; empty for others."""
    start = memory.get("valid_from")
    if start is None or memory.get("type") == "episodic" or memory.get("category") in STORIES:
        return ""
    asked = datetime.now(timezone.utc) if at is None else datetime.fromisoformat(at)
    return f"(from {day_of(start)})" if datetime.fromisoformat(start) > asked else ""


def _print_results(run: CommandRun, results: list[Json], at: str | None) -> None:
    if not run.output.is_terminal:
        rows = [
            (
                result["rank"],
                result["relevance_score"],
                result["memory"]["id"],
                day_of(_when(result["memory"])),
                result["memory"]["type"],
                _with_beginning(result["memory"], at),
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
        for stale in result.get("stale_facts") or ():
            run.output.line(f"   no longer: {stale['text']} → {stale['current']}", "yellow")
    return None


def _with_beginning(memory: Json, at: str | None = None) -> str:
    return f"{memory.get('content') or memory.get('value')} {begins(memory, at)}".rstrip()


async def memories_by_id(service: MemoryService, ids: Iterable[str | None]) -> dict[str, Json]:
    """The memories with these ids, whatever their status, without those that are gone."""
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
    """The id of a memory and its content."""
    content = memory.get("content") or memory.get("value_text")
    return f'{memory_id} "{content}"' if content else memory_id


def _note_conflict(run: CommandRun, answer: Json, other: Json) -> None:
    """Say what became of the memory that the saved one contradicts, and what is left to decide."""
    conflict = answer["conflict"]
    name, reason = quoted(conflict["old_id"], other), conflict.get("reason") or "no reason is given"
    if answer["outcome"] == "superseded":
        end = f" (until {day_of(other['valid_until'])})" if other.get("valid_until") else ""
        return run.output.note(f"It replaced {name}{end}.")
    if answer["outcome"] == "merged":
        return run.output.note(f"It has the text of {name}, too.")
    if conflict["status"] == "pending":
        run.output.note(f"It may contradict {name}: {reason}. Both stand until somebody decides:")
        return run.output.note(
            f"memory-core conflicts decide {conflict['id']} supersede (or keep_both, "
            "reject_new, merge)"
        )
    return run.output.note(f"It differs from {name}: {reason}.")


def _shown_field(memory: Json, name: str, linked: dict[str, Json]) -> str:
    """A field of a memory for people: ids with the content of their memory, reasons in words."""
    value = memory[name]
    if name == "status_reason" and value == "contradicted" and memory.get("next_id"):
        return "contradicted (a later truth took its place: next_id)"
    if isinstance(value, str) and value in linked:
        return quoted(value, linked[value])
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


async def _contents_of_events(service: MemoryService, events: list[Json]) -> dict[str, str]:
    """The content of each memory that an event without a content is about, by id;
    of the last LOOKED_UP at most.
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


def _event_text(event: Json, contents: dict[str, str]) -> str:
    """What an event is about: the content, and of a memory that was replaced,
    what took its place.
    """
    after = event.get("after") or {}
    text = (
        after.get("content")
        or contents.get(event["memory_id"])
        or ("(redacted)" if event.get("redacted") else "")
    )
    successor = after.get("next_id")
    return f"{text} → {successor}".strip() if successor else text


def _memory_rows(memories: list[Json]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
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


def _print_list(
    run: CommandRun,
    name: str,
    items: list[Json],
    columns: tuple[str, ...],
    rows: list[tuple[Any, ...]],
    hint: str,
) -> None:
    if run.output.as_json:
        run.output.document({name: items})
    elif not items:
        run.output.note(hint)
    else:
        run.output.table(columns, rows)


def _note_degraded(run: CommandRun, answer: Json) -> None:
    if answer.get("degraded"):
        run.output.note(
            f"Answered without: {', '.join(answer['degraded'])}. `memory-core doctor` says why.",
            "yellow",
        )
