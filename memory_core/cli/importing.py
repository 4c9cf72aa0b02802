"""The command `import`: reads a file, sends it in calls, and remembers its progress.

In every run a call has the same items, with the same ids and the same idempotency key. So a run
that was killed is continued by the same command: acknowledged calls are left out, and a call that
was sent without an acknowledgement takes effect once.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import typer

from memory_core.cli.command import CommandFailed, CommandRun, command, finished
from memory_core.cli.import_calls import (
    ImportSource,
    ImportState,
    Json,
    SkippedCounts,
    calls_of,
    send_all,
)
from memory_core.cli.import_formats.formats import FORMATS, OWN_EXPORT, detect_format
from memory_core.cli.import_formats.json_streams import UnreadableFile, open_export
from memory_core.cli.service import (
    LONGEST_POLL_S,
    UNDER_WAY,
    CallFailed,
    MemoryService,
    key_of_call,
    path_part,
)
from memory_core.cli.target import Target, state_folder
from memory_core.domain.errors import PlainError

app = typer.Typer()
FORMATS_OF_MESSAGES = ("chatgpt", "claude", "messages")
PART_BYTES = 1_000_000
BEGUN_AGAIN_BY = "the same command goes on from there"


@command(app, "import")
async def import_file(
    run: CommandRun,
    file: Annotated[
        Path,
        typer.Argument(
            help=(
                "conversations.json (or the zip) of ChatGPT or Claude, JSON Lines, an export of "
                "mem0 or our own."
            )
        ),
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            "--format",
            help=f"{', '.join((*FORMATS, OWN_EXPORT))}; default: what the file looks like.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only read the file and say what would be sent.")
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Begin from the start though an earlier run came further."),
    ] = False,
    wait: Annotated[
        bool,
        typer.Option("--wait/--no-wait", help="Wait until memories are formed of the messages."),
    ] = True,
    actor: Annotated[
        str | None,
        typer.Option(help="Name of the person whose messages these are; without one it is User."),
    ] = None,
) -> None:
    """Import a file.

    After an interruption, the same command continues without doubling items.
    """
    if kind is not None and kind not in (*FORMATS, OWN_EXPORT):
        raise PlainError(f"--format should be one of {', '.join((*FORMATS, OWN_EXPORT))}")
    if not file.is_file():
        raise PlainError(f"there is no file {file}")
    if actor is not None and not actor.strip():
        raise PlainError("--actor may not be empty")
    try:
        with open_export(file) as stream:
            kind = kind or detect_format(stream)
            if actor is not None and kind not in FORMATS_OF_MESSAGES:
                raise PlainError(
                    f"--actor is for messages ({', '.join(FORMATS_OF_MESSAGES)}), and this file "
                    f"is {kind}"
                )
            source = ImportSource(file, stream, kind, actor)
            if dry_run:
                _report_dry_run(run, source)
            else:
                await _import(run, source, again=again, wait=wait)
    except UnreadableFile as error:
        raise CommandFailed(f"{file}: {error}") from None


async def _import(run: CommandRun, source: ImportSource, *, again: bool, wait: bool) -> None:
    file, kind, conflicts = source.file, source.kind, None
    path = state_path(run.target, source)
    state = (
        ImportState(file.name, kind, again=again)
        if again
        else ImportState.read(path, file.name, kind)
    )
    skipped, sent, seconds = SkippedCounts(), 0, 0.0
    earlier = state.calls
    async with run.service(works=wait or kind == OWN_EXPORT) as service:
        started = time.monotonic()
        try:
            if kind == OWN_EXPORT:
                await _bring_own_export(run, service, file, state, path)
            else:
                sent = await send_all(run, service, source, state, path, skipped)
            seconds = time.monotonic() - started
            if wait and kind != OWN_EXPORT:
                await _wait_until_formed(run, service)
                conflicts = await _conflicts_to_decide(service)
        except (asyncio.CancelledError, CallFailed):
            if items := state.new + state.known:
                run.output.note(f"Interrupted after {items} items: {BEGUN_AGAIN_BY}.")
            raise
    for entry in state.refused:
        skipped.add(entry["reason"], entry["place"])
    report = {
        "file": str(file),
        "format": kind,
        "user": run.target.user,
        "new": state.new,
        "known": state.known,
        "resumed_after_calls": earlier,
        "sent": sent,
        "seconds": round(seconds, 3),
        "conflicts_to_decide": conflicts,
        "skipped": skipped.public(),
    }
    _print_report(run, report)


def state_path(target: Target, source: ImportSource) -> Path:
    """The state file of an import.

    It depends on the service, the user, the format, the content of the file and the actor.

    Args:
        target: The service and the user.
        source: The file to import.

    """
    with source.file.open("rb") as stream:
        content = hashlib.file_digest(stream, "sha256").hexdigest()
    named = () if source.actor is None else (source.actor,)
    return (
        state_folder(os.environ)
        / "imports"
        / f"{key_of_call(target.name, target.user, source.kind, content, *named)[:32]}.json"
    )


async def _bring_own_export(
    run: CommandRun, service: MemoryService, file: Path, state: ImportState, path: Path
) -> None:
    """Upload an own export in parts, which the service stores whole or not at all.

    Raises CallFailed and CommandFailed.
    """
    route = f"/api/v1/users/{path_part(service.user)}/import"
    if state.finished_at is not None:
        raise CommandFailed(
            "this export was imported already; an export goes into a user without memories: give "
            "another --user, or --again"
        )
    if state.task_id is None:
        state.task_id = str((await service.answer("POST", route))["task_id"])
        state.write(path)
    digest, number = hashlib.sha256(), 0
    with file.open("rb") as stream:
        while part := stream.read(PART_BYTES):
            number += 1
            digest.update(part)
            query = {"part": number}
            await service.send(
                "PUT",
                f"{route}/{path_part(state.task_id)}",
                content=part,
                content_type="application/x-ndjson",
                query=query,
            )
    body = {"parts": number, "sha256": digest.hexdigest()}
    await service.send("POST", f"{route}/{path_part(state.task_id)}/commit", body=body)
    task = await finished(run, service, state.task_id, "importing")
    state.new = (task.get("result") or {}).get("counts", {}).get("memory", 0)
    state.finished_at = datetime.now(timezone.utc).isoformat()
    state.write(path)


async def _wait_until_formed(run: CommandRun, service: MemoryService) -> None:
    """Wait until no conversation of the user waits to be formed."""
    most, pause = 0, 0.1
    with run.output.progress() as progress:
        bar = progress.add_task("forming memories", total=None, detail="")
        while left := await _conversations_under_way(service):
            most = max(most, left)
            detail = f"{left} tasks left"
            progress.update(bar, total=most, completed=most - left, detail=detail)
            run.output.progress_line(f"forming memories: {detail}")
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, LONGEST_POLL_S)


async def _conversations_under_way(service: MemoryService) -> int:
    count = 0
    for status in UNDER_WAY:
        async for _ in service.pages("/api/v1/tasks", "tasks", status=status, kind="converse"):
            count += 1
    return count


async def _conflicts_to_decide(service: MemoryService) -> int:
    """The number of the user's pending conflicts, whatever their origin."""
    return len(
        [
            conflict
            async for conflict in service.pages("/api/v1/conflicts", "conflicts", status="pending")
        ]
    )


def _report_dry_run(run: CommandRun, source: ImportSource) -> None:
    if source.kind == OWN_EXPORT:
        raise PlainError(
            "--dry-run is not for our own export: the service looks such a file through before it "
            "stores anything"
        )
    skipped, items, sessions, calls = SkippedCounts(), 0, set(), 0
    for call in calls_of(source.items(), skipped):
        calls, items = calls + 1, items + len(call.items)
        if call.session is not None:
            sessions.add(call.session)
    report = {
        "file": str(source.file),
        "format": source.kind,
        "user": run.target.user,
        "dry_run": True,
        "items": items,
    }
    _print_report(
        run, {**report, "sessions": len(sessions), "calls": calls, "skipped": skipped.public()}
    )


def _print_report(run: CommandRun, report: Json) -> None:
    if run.output.as_json:
        return run.output.document(report)
    if report.get("dry_run"):
        run.output.line(
            f"{report['file']} ({report['format']}): {report['items']} items in "
            f"{report['sessions']} sessions would be sent to {report['user']}"
        )
    else:
        rate = (
            f", {report['sent']} sent in {report['seconds']:.1f} s "
            f"({report['sent'] / max(report['seconds'], 1e-6):.0f}/s)"
        )
        counts = f"{report['new']} new, {report['known']} known before"
        run.output.line(
            f"{report['file']} ({report['format']}): {counts}{rate if report['sent'] else ''}"
        )
        if report["resumed_after_calls"] and not report["sent"]:
            run.output.line(
                "An earlier run had sent all of it. --again sends it once more; what is known is "
                "not doubled."
            )
    for entry in report["skipped"]:
        run.output.line(
            f"  left out {entry['count']}: {entry['reason']} ({'; '.join(entry['examples'])})"
        )
    if report.get("conflicts_to_decide"):
        run.output.line(
            f"Conflicts to decide: {report['conflicts_to_decide']} (memory-core conflicts list)"
        )
    if not report.get("items", report.get("new", 0) + report.get("known", 0)):
        run.output.note(
            "There is nothing to import in this file. Is it the right one, and the right --format?"
        )
    return None
