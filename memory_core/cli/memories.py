"""Commands that save and read memories.

They are save, search, context, show, timeline, replay, scenes, profile and users.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from memory_core.cli.command import CommandRun, command
from memory_core.cli.memory_output import (
    Json,
    contents_of_events,
    displayed_field,
    event_text,
    json_object,
    memories_by_id,
    memory_rows,
    moment,
    note_conflict,
    note_degraded,
    other_side,
    print_list,
    print_results,
    why_nothing,
    with_marks,
)
from memory_core.cli.output import day_of
from memory_core.cli.service import CallFailed, path_part
from memory_core.domain.text import remarks

app = typer.Typer()
MADE_A_MEMORY = ("superseded", "kept_both")
"""Outcomes of a save that describe another memory. The saved memory is new."""
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Items at most.")]
MOMENT = "A moment with a time zone: 2026-05-08T12:00:00Z, or a day."
MomentOption = Annotated[str | None, typer.Option(help=MOMENT)]
TrueAtOption = Annotated[
    str | None, typer.Option(help=f"What was true then, instead of now. {MOMENT}")
]
SAVE_OPTIONS = {"event_timestamp": "--at", "key": "--name", "type": "--type"}
"""Options of `save` with another name than their field; `--key` is that of the service."""


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
    """Save a memory."""
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
        "metadata": None if metadata is None else json_object(metadata, "--metadata"),
    }
    async with run.service() as service:
        try:
            answer = await service.post("/api/v1/memories/save", body)
        except CallFailed as error:
            raise error.with_names(SAVE_OPTIONS) from None
        conflict = answer.get("conflict") or {}
        other_id = None if run.output.as_json else other_side(conflict, answer["memory"]["id"])
        others = await memories_by_id(service, [other_id])
    if run.output.as_json:
        return run.output.document(answer)
    outcome = "created" if answer["outcome"] in MADE_A_MEMORY else answer["outcome"]
    run.output.line(f"{outcome} {answer['memory']['id']}")
    if conflict:
        note_conflict(run, answer, others.get(other_id or "", {}))
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
        float | None, typer.Option(min=0, max=1, help="Relevance that each result must reach.")
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
            for line in await why_nothing(
                run, service, answer, narrowed=bool(session or kind or tag or at)
            ):
                run.output.note(line)
            return None
    print_results(run, answer["results"], moment(at))
    note_degraded(run, answer)
    return None


@command(app)
async def context(
    run: CommandRun,
    query: Annotated[str | None, typer.Argument(help="What the next turn is about.")] = None,
    session: Annotated[str | None, typer.Option(help="The session of that turn.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens at most.")] = 2000,
    at: TrueAtOption = None,
) -> None:
    """Print the context that a model should get before it answers."""
    async with run.service() as service:
        answer = await service.post(
            "/api/v1/context",
            {"query": query, "session_id": session, "max_tokens": max_tokens, "at": moment(at)},
        )
        if run.output.as_json:
            return run.output.document(answer)
        if not answer["context"]:
            for line in await why_nothing(run, service, answer, narrowed=False):
                run.output.note(line)
            return None
    run.output.line(answer["context"])
    note_degraded(run, answer)
    return None


@command(app)
async def show(
    run: CommandRun,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a memory.")],
    versions: Annotated[bool, typer.Option("--versions", help="Its earlier versions too.")] = False,
) -> None:
    """Print a memory with all its fields."""
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
            run.output.line(f"{name:<20} {displayed_field(memory, name, linked)}")
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
    """List the changes of the memories, oldest first."""
    query = {"since": moment(since), "until": moment(until), "types": types, "memory_id": memory}
    async with run.service() as service:
        events = [
            event async for event in service.pages("/api/v1/timeline", "events", limit, **query)
        ]
        contents = {} if run.output.as_json else await contents_of_events(service, events)
    rows = [
        (
            event["occurred_at"][:19],
            event["event_type"],
            event["memory_id"],
            event_text(event, contents),
        )
        for event in events
    ]
    print_list(
        run,
        "events",
        events,
        ("at", "event", "memory", "content"),
        rows,
        "Nothing happened then. Leave out an option."
        if any(query.values())
        else "Nothing happened yet.",
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
    print_list(run, "memories", memories, *memory_rows(memories), hint)


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
    print_list(run, "scenes", all_scenes, ("id", "theme", "title", "since", "episodes"), rows, hint)


@command(app)
async def profile(run: CommandRun, at: TrueAtOption = None) -> None:
    """Print the profile of the person."""
    async with run.service() as service:
        answer = await service.get("/api/v1/profile", at=moment(at))
    if run.output.as_json:
        return run.output.document(answer)
    rows = [
        (
            item["name"],
            with_marks(
                item["value"],
                (
                    remarks.disputed(day_of(other["at"]), other["text"])
                    for other in item.get("disputed_by") or ()
                ),
            ),
            day_of(item.get("since")),
        )
        for item in answer["explicit"]
    ]
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
    print_list(
        run,
        "agents",
        agents,
        ("user", "agent", "memories", "last active"),
        rows,
        "No agent has memories here. Memories that name no agent are not in this list.",
    )
