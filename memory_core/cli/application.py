"""The commands of `memory-core`, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from memory_core import __version__
from memory_core.cli import conflicts, doctor, hosting, importing, keys, memories, removal, upkeep
from memory_core.cli.command import EPILOG

app = typer.Typer(
    name="memory-core",
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
