"""Read the command line and run its command."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, which `memory-core --help` explains."""
    try:
        from memory_core.cli.application import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich", "ijson"):
            raise
        sys.stderr.write(
            f"memory-core: {error.name} is not installed; the command line needs pip install "
            "'.[cli]', or '.[local]'\n"
        )
        return 1
    try:
        app(None if arguments is None else list(arguments), prog_name="memory-core")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
