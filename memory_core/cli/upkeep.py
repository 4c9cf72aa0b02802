"""Commands for upkeep and a person's rights: consolidate, export, erase, tasks, audit."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from memory_core.cli.command import (
    USAGE,
    CommandFailed,
    CommandRun,
    command,
    confirm_for_good,
    finished,
)
from memory_core.cli.memories import MomentOption
from memory_core.cli.memory_output import moment
from memory_core.cli.service import MemoryService, path_part
from memory_core.domain.errors import PlainError

app = typer.Typer()
tasks = typer.Typer(help="Look at work under way, begin it again, cancel it.", no_args_is_help=True)
WaitOption = Annotated[bool, typer.Option("--wait", help="Wait until it has ended.")]
TaskArgument = Annotated[str, typer.Argument(metavar="TASK", help="Id of a task.")]


@command(app)
async def consolidate(
    run: CommandRun,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be done.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it has ended.")] = True,
) -> None:
    """Make scenes, patterns and the profile from the memories now."""
    async with run.service(works=wait and not dry_run) as service:
        answer = await service.post("/api/v1/consolidate", {"dry_run": dry_run or None})
        if not dry_run and wait:
            answer = await finished(run, service, answer["task_id"], "consolidating")
    print_outcome(run, answer)


@command(app)
async def export(
    run: CommandRun,
    file: Annotated[
        Path,
        typer.Argument(
            help="Where to write the JSON Lines; - is the standard output.", dir_okay=False
        ),
    ],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file where it exists.")
    ] = False,
) -> None:
    """Write all data of the user into a file."""
    to_stdout = str(file) == "-"
    if not to_stdout and file.exists() and not overwrite:
        raise PlainError(f"{file} exists already; --overwrite replaces it")
    async with run.service(works=True) as service:
        path = f"/api/v1/users/{path_part(service.user)}/export"
        accepted = await service.answer("POST", path)
        task = await finished(run, service, accepted["task_id"], "exporting")
        numbers = range(1, task["result"]["parts"] + 1)
        if to_stdout:
            return await _write_parts(
                service, f"{path}/{path_part(accepted['task_id'])}", numbers, sys.stdout.buffer
            )
        unfinished = file.with_name(f"{file.name}.part")
        with os.fdopen(
            os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb"
        ) as stream:
            await _write_parts(service, f"{path}/{path_part(accepted['task_id'])}", numbers, stream)
        unfinished.replace(file)
    result = task["result"]
    if run.output.as_json:
        return run.output.document({"file": str(file), **result})
    return run.output.line(
        f"{file}: {result['bytes']} bytes, {result['counts'].get('memory', 0)} memories, sha256 "
        f"{result['sha256']}"
    )


@command(app)
async def erase(
    run: CommandRun,
    user_id: Annotated[
        str | None,
        typer.Argument(
            metavar="USER", help="Whose data to erase; has to be named, here or by --user."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Erase all data of a user, for good."""
    named = {name for name in (user_id, run.named_user) if name is not None}
    if len(named) != 1:
        problem = "USER and --user name two users" if named else "say whose data to erase"
        raise CommandFailed(f"{problem}: memory-core erase USER", USAGE)
    (owner,) = named
    if not yes:
        confirm_for_good(
            run, "erasing", f"Erase everything of the user {owner} in {run.target.name}, for good?"
        )
    async with run.service(works=True) as service:
        service.user = owner
        accepted = await service.answer("DELETE", f"/api/v1/users/{path_part(owner)}")
        task = await finished(run, service, accepted["task_id"], "erasing")
    print_outcome(run, task)


@command(app)
async def audit(
    run: CommandRun,
    since: MomentOption = None,
    until: MomentOption = None,
    action: Annotated[
        str | None, typer.Option(help="Such as key_made, user_erased, memories_forgotten.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Entries at most.")] = 100,
) -> None:
    """List the actions on keys and on users' data, newest first (for an admin)."""
    query = {"since": moment(since), "until": moment(until), "action": action}
    async with run.service() as service:
        entries = [
            entry
            async for entry in service.pages_of_app("/api/v1/audit", "entries", limit, **query)
        ]
    if run.output.as_json:
        return run.output.document({"entries": entries})
    if not entries:
        return run.output.note(
            "No entries. Deletes of single memories are in `memory-core timeline`."
        )
    rows = [
        (
            entry["at"][:19],
            entry["actor"],
            entry["action"],
            entry["outcome"],
            ", ".join(plain_lines(entry["target"])),
        )
        for entry in entries
    ]
    return run.output.table(("at", "by", "action", "outcome", "of"), rows)


@command(tasks, "list")
async def list_tasks(
    run: CommandRun,
    status: Annotated[
        str | None,
        typer.Option(help="accepted, running, succeeded, failed, poisoned or cancelled."),
    ] = None,
    kind: Annotated[str | None, typer.Option(help="Such as converse, consolidate, export.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Tasks at most.")] = 20,
) -> None:
    """List the user's tasks, newest first."""
    async with run.service() as service:
        items = [
            task
            async for task in service.pages(
                "/api/v1/tasks", "tasks", limit, status=status, kind=kind
            )
        ]
    if run.output.as_json:
        return run.output.document({"tasks": items})
    if not items:
        return run.output.note(
            "No tasks. They are kept for seven days; leave out --status and --kind to see all "
            "of them."
        )
    rows = [
        (
            task["task_id"],
            task["kind"],
            task["status"],
            task.get("progress"),
            task["created_at"][:19],
            task.get("error"),
        )
        for task in items
    ]
    return run.output.table(("id", "kind", "status", "progress", "created", "error"), rows)


@command(tasks, "show")
async def show_task(run: CommandRun, task_id: TaskArgument, wait: WaitOption = False) -> None:
    """Print a task."""
    async with run.service(works=wait) as service:
        if wait:
            task = await finished(run, service, task_id, "waiting")
        else:
            task = await service.get(f"/api/v1/tasks/{path_part(task_id)}")
    print_outcome(run, task)


@command(tasks, "retry")
async def retry_task(run: CommandRun, task_id: TaskArgument, wait: WaitOption = False) -> None:
    """Restart a task that was given up or waits."""
    async with run.service(works=wait) as service:
        answer = await service.post(f"/api/v1/tasks/{path_part(task_id)}/retry", {})
        if wait:
            answer = await finished(run, service, task_id, "waiting")
    print_outcome(run, answer)


@command(tasks, "cancel")
async def cancel_task(run: CommandRun, task_id: TaskArgument) -> None:
    """End a task that is not done."""
    async with run.service() as service:
        answer = await service.post(f"/api/v1/tasks/{path_part(task_id)}/cancel", {})
    print_outcome(run, answer)


async def _write_parts(
    service: MemoryService, path: str, numbers: Iterable[int], stream: IO[bytes]
) -> None:
    for number in numbers:
        stream.write((await service.send("GET", path, query={"part": number})).content)


def print_outcome(run: CommandRun, answer: dict[str, Any]) -> None:
    """Print a task, or the counts of a dry run.

    Args:
        run: The run of the command.
        answer: The answer of the service.

    """
    if run.output.as_json:
        return run.output.document(answer)
    if "task_id" not in answer:
        counts = answer.get("counts") or {}
        if unknown := answer.get("not_found"):
            run.output.note(f"No such memory: {', '.join(unknown)}")
        return (
            run.output.table(("what", "count"), list(counts.items()))
            if counts
            else run.output.line("Nothing would be done.")
        )
    run.output.line(f"{answer['task_id']} {answer['status']}")
    if answer.get("error"):
        run.output.line(f"  {answer['error']}")
    for line in plain_lines(answer.get("result") or {}):
        run.output.line(f"  {line}")
    if answer["status"] in ("accepted", "running"):
        run.output.note(f"Look at it: memory-core tasks show {answer['task_id']} --wait")
    return None


def plain_lines(values: dict[str, Any]) -> list[str]:
    """Names and values as lines for people.

    The entries of an object are below its name, and those of a list are side by side.
    """
    lines = []
    for name, value in values.items():
        if isinstance(value, dict):
            lines += (
                [f"{name}: none"]
                if not value
                else [f"{name}:", *(f"  {line}" for line in plain_lines(value))]
            )
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            lines += [
                f"{name}:",
                *(
                    f"  {', '.join(plain_lines(item)) if isinstance(item, dict) else item}"
                    for item in value
                ),
            ]
        elif isinstance(value, list):
            lines.append(f"{name}: {', '.join(map(str, value)) or 'none'}")
        elif value is not None:
            lines.append(f"{name}: {str(value).lower() if isinstance(value, bool) else value}")
    return lines
