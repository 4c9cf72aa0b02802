"""Commands for API keys: make, list, rotate, withdraw.

They need a key with the right `admin`.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memory_core.cli.command import CommandFailed, CommandRun, command
from memory_core.cli.memory_output import moment
from memory_core.cli.service import CallFailed, MemoryService, path_part

app = typer.Typer(
    help="Make, list, rotate and withdraw API keys (needs the right admin).", no_args_is_help=True
)
KEYS = "/api/v1/keys"
NO_SUCH_CALL = 404
KeyArgument = Annotated[
    str, typer.Argument(metavar="KEY_ID", help="Id of a key, as `keys list` shows it.")
]


@command(app)
async def make(
    run: CommandRun,
    name: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    right: Annotated[
        list[str] | None,
        typer.Option(help="read, write or admin; may be given again. Default read and write."),
    ] = None,
    bound_to: Annotated[
        str | None, typer.Option("--bound-to", help="The only user whom the key may name.")
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option("--expires", help="When it ends: 2027-01-01, or a moment with a time zone."),
    ] = None,
) -> None:
    """Make a key. Its secret is printed once and can't be read again."""
    body = {
        "name": name,
        "rights": right or None,
        "user_id": bound_to,
        "expires_at": moment(expires),
    }
    async with run.service() as service:
        await check_route(service)
        key = await _post(service, KEYS, body)
    _print_key(run, key)


@command(app, "list")
async def list_keys(
    run: CommandRun,
    status: Annotated[str | None, typer.Option(help="active, expired or withdrawn.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Keys at most.")] = 100,
) -> None:
    """List the keys, without their secrets."""
    async with run.service() as service:
        await check_route(service)
        keys = [key async for key in service.pages_of_app(KEYS, "keys", limit, status=status)]
    if run.output.as_json:
        return run.output.document({"keys": keys})
    if not keys:
        return run.output.note(
            "No keys were made here. `memory-core keys make` makes one; those of MEMORY_API_KEYS "
            "are not listed."
        )
    rows = [
        (
            key["key_id"],
            key["name"],
            key["rights"],
            key["user_id"],
            key["status"],
            key["expires_at"],
            key["last_used_at"],
        )
        for key in keys
    ]
    return run.output.table(
        ("id", "name", "rights", "user", "status", "expires", "last used"), rows
    )


@command(app)
async def rotate(
    run: CommandRun,
    key_id: KeyArgument,
    overlap: Annotated[
        int, typer.Option(min=0, help="Seconds for which the old key still works.")
    ] = 3600,
) -> None:
    """Make a key that replaces another key."""
    async with run.service() as service:
        await check_route(service)
        key = await _post(
            service, f"{KEYS}/{path_part(key_id)}/rotate", {"overlap_seconds": overlap}
        )
    _print_key(run, key)


@command(app)
async def withdraw(run: CommandRun, key_id: KeyArgument) -> None:
    """Withdraw a key, with immediate effect."""
    async with run.service() as service:
        await check_route(service)
        await service.send("DELETE", f"{KEYS}/{path_part(key_id)}")
    if run.output.as_json:
        return run.output.document({"key_id": key_id, "status": "withdrawn"})
    return run.output.line(f"{key_id} withdrawn")


async def check_route(service: MemoryService) -> None:
    """Raise CommandFailed where the service has no calls for keys."""
    try:
        await service.send("GET", KEYS, query={"limit": 1})
    except CallFailed as error:
        if error.status != NO_SUCH_CALL:
            raise
        detail = (
            "this service has no calls for keys: its keys are the setting MEMORY_API_KEYS, and a "
            "newer version has these calls"
        )
        raise CommandFailed(detail) from None


async def _post(service: MemoryService, path: str, body: dict[str, Any]) -> dict[str, Any]:
    present = {name: value for name, value in body.items() if value is not None}
    return await service.answer("POST", path, body=present)


def _print_key(run: CommandRun, key: dict[str, Any]) -> None:
    if run.output.as_json:
        return run.output.document(key)
    run.output.line(key["key"])
    rights = ", ".join(key["rights"])
    run.output.note(f"Key {key['key_id']} ({rights}). Keep it now: it is not shown again.")
    if key.get("replaces"):
        run.output.note(f"It replaces {key['replaces']}.")
    return None
