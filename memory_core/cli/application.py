"""The commands of `memory-core`, put together."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from memory_core import __version__
from memory_core.cli import conflicts, doctor, hosting, importing, keys, memories, removal, upkeep
from memory_core.cli.command import COMMON, EPILOG

_OF_COMMANDS = {f"--{option}" for option in COMMON}
OTHER_WORDS = {
    **dict.fromkeys(("ask", "find", "query", "recall", "retrieve"), "search"),
    **dict.fromkeys(("add", "create", "remember", "store"), "save"),
    **dict.fromkeys(("history", "list", "log"), "timeline"),
    **dict.fromkeys(("get", "read"), "show"),
    **dict.fromkeys(("remove", "rm"), "delete"),
    **dict.fromkeys(("run", "start"), "serve"),
}
"""Words that callers use for a command, which need not resemble its name."""


class _Commands(TyperGroup):
    """The commands, with help for words and places that are not theirs."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        option = args[0].partition("=")[0] if args else ""
        if option in _OF_COMMANDS and not ctx.resilient_parsing:
            ctx.fail(f"{option} belongs after the command: memory-core search QUERY {option} …")
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        meant = OTHER_WORDS.get(args[0])
        if meant is not None and not ctx.resilient_parsing:
            ctx.fail(f"No such command '{args[0]}'. Did you mean '{meant}'?")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="memory-core",
    cls=_Commands,
    help="Long-term memory for AI agents.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for part in (hosting.app, memories.app, removal.app, importing.app, upkeep.app):
    app.registered_commands += part.registered_commands
app.add_typer(upkeep.tasks, name="tasks")
app.add_typer(conflicts.app, name="conflicts")
app.add_typer(keys.app, name="keys")
app.registered_commands += doctor.app.registered_commands


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"memory-core {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Long-term memory for AI agents."""
