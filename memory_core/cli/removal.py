"""Commands that remove memories and restore them: delete, restore, forget."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memory_core.cli.command import CommandRun, command, confirm_for_good, finished
from memory_core.cli.memories import MomentOption
from memory_core.cli.memory_output import moment
from memory_core.cli.service import path_part
from memory_core.cli.upkeep import print_outcome
from memory_core.domain.errors import PlainError

app = typer.Typer()
MemoryArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of a memory.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@command(app)
async def delete(run: CommandRun, memory_id: MemoryArgument) -> None:
    """Hide a memory from searches and contexts; `restore` brings it back."""
    async with run.service() as service:
        path = f"/api/v1/memories/{path_part(memory_id)}"
        memory = await service.answer("DELETE", path, query={"user_id": service.user})
    if run.output.as_json:
        return run.output.document(memory)
    run.output.line(f"{memory['outcome']} {memory['id']}")
    return run.output.note(
        f"Bring it back: memory-core restore {memory_id}. For good: memory-core forget --id "
        f"{memory_id} --hard"
    )


@command(app)
async def restore(run: CommandRun, memory_id: MemoryArgument) -> None:
    """Restore a memory that was deleted, replaced or archived, or has decayed."""
    async with run.service() as service:
        memory = await service.post(f"/api/v1/memories/{path_part(memory_id)}/restore", {})
    if run.output.as_json:
        return run.output.document(memory)
    return run.output.line(f"restored {memory['id']}: {memory['status']}")


@command(app)
async def forget(
    run: CommandRun,
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="This memory; may be given again.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="With this tag; may be given again.")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--type", help="Of this type; may be given again.")
    ] = None,
    session: Annotated[str | None, typer.Option(help="Of this session.")] = None,
    before: MomentOption = None,
    hard: Annotated[
        bool,
        typer.Option(
            "--hard", help="For good, with what was made of it and the messages that tell it."
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would go.")] = False,
    yes: YesOption = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it has ended.")] = True,
) -> None:
    """Hide all memories that fit every option.

    With --hard they are removed for good, after a confirmation.
    """
    wanted = {
        "ids": ids or None,
        "tags": tag or None,
        "types": kind or None,
        "session_id": session,
        "before": moment(before),
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    if not given:
        raise PlainError(
            "say what to forget: --id, --tag, --type, --session or --before; `memory-core erase` "
            "forgets a whole user"
        )
    body: dict[str, Any] = {"filter": given, "mode": "hard" if hard else "soft"}
    async with run.service(works=wait and not dry_run) as service:
        if dry_run:
            return print_outcome(
                run, await service.post("/api/v1/forget", {**body, "dry_run": True})
            )
        if hard and not yes:
            counts = (await service.post("/api/v1/forget", {**body, "dry_run": True}))["counts"]
            going = f"{counts['forgotten']} that fit and {counts['derived']} that go along"
            confirm_for_good(
                run,
                "forgetting",
                f"Forget memories of the user {service.user} in {run.target.name} for "
                f"good, {going}?",
            )
        answer = await service.post("/api/v1/forget", body)
        if wait:
            answer = await finished(run, service, answer["task_id"], "forgetting")
    return print_outcome(run, answer)
