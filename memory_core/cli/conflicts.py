"""Commands for conflicts: list, decide, undo."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memory_core.cli.command import CommandRun, command
from memory_core.cli.memory_output import memories_by_id, quoted
from memory_core.cli.service import path_part

app = typer.Typer(
    help="List memories that can't both be true, decide between them, take a decision back.",
    no_args_is_help=True,
)
CONFLICTS = "/api/v1/conflicts"
ConflictArgument = Annotated[
    str, typer.Argument(metavar="CONFLICT", help="Id of a conflict, as `conflicts list` shows it.")
]


@command(app, "list")
async def list_conflicts(
    run: CommandRun,
    status: Annotated[str, typer.Option(help="pending, resolved or all.")] = "pending",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Conflicts at most.")] = 20,
) -> None:
    """List conflicts with both memories, newest first.

    Without --status, only pending conflicts are listed.
    """
    async with run.service() as service:
        query = {"status": None if status == "all" else status}
        conflicts = [
            conflict async for conflict in service.pages(CONFLICTS, "conflicts", limit, **query)
        ]
        if run.output.as_json:
            return run.output.document({"conflicts": conflicts})
        memories = await memories_by_id(
            service, [conflict[name] for conflict in conflicts for name in ("old_id", "new_id")]
        )
    if not conflicts:
        return run.output.note(
            "No conflict is to be decided." if status == "pending" else "No conflicts."
        )
    if not run.output.is_terminal:
        rows = [
            (conflict["id"], conflict["status"], conflict["reason"], *_texts(conflict, memories))
            for conflict in conflicts
        ]
        return run.output.table(("id", "status", "reason", "old", "new"), rows)
    for conflict in conflicts:
        _print_conflict(run, conflict, memories)
    if status == "pending":
        run.output.note(
            "Decide one: memory-core conflicts decide CONFLICT supersede (or keep_both, "
            "reject_new, merge)"
        )
    return None


@command(app)
async def decide(
    run: CommandRun,
    conflict_id: ConflictArgument,
    decision: Annotated[
        str,
        typer.Argument(
            metavar="DECISION",
            help=(
                "supersede: the new one holds; reject_new: the old one; keep_both; merge: one "
                "memory with both texts."
            ),
        ),
    ],
    reason: Annotated[str | None, typer.Option(help="Why; it is kept in the record.")] = None,
) -> None:
    """Decide a conflict. `conflicts undo` reverses the decision."""
    async with run.service() as service:
        path = f"{CONFLICTS}/{path_part(conflict_id)}/resolve"
        await _print_record(
            run, service, await service.post(path, {"decision": decision, "reason": reason})
        )


@command(app)
async def undo(run: CommandRun, conflict_id: ConflictArgument) -> None:
    """Reverse the decision of a conflict."""
    async with run.service() as service:
        await _print_record(
            run, service, await service.post(f"{CONFLICTS}/{path_part(conflict_id)}/undo", {})
        )


async def _print_record(run: CommandRun, service: Any, conflict: dict[str, Any]) -> None:
    if run.output.as_json:
        return run.output.document(conflict)
    return _print_conflict(
        run, conflict, await memories_by_id(service, [conflict["old_id"], conflict["new_id"]])
    )


def _print_conflict(
    run: CommandRun, conflict: dict[str, Any], memories: dict[str, dict[str, Any]]
) -> None:
    decision = f" ({conflict['strategy']})" if conflict["status"] == "resolved" else ""
    run.output.line(
        f"{conflict['id']} {conflict['status']}{decision}: "
        f"{conflict['reason'] or 'no reason is given'}"
    )
    for label, text in zip(("old", "new"), _texts(conflict, memories), strict=True):
        run.output.line(f"  {label}  {text}")


def _texts(conflict: dict[str, Any], memories: dict[str, dict[str, Any]]) -> list[str]:
    """The older and the newer memory of a conflict, each with its content."""
    texts = []
    for memory_id in (conflict["old_id"], conflict["new_id"]):
        rejected = conflict.get("rejected_content") or ""
        texts.append(
            quoted(memory_id, memories.get(memory_id, {}))
            if memory_id
            else f'not stored "{rejected}"'
        )
    return texts
