"""What the official runtime finds around it: the packages that an Azure worker has,
and none that only a laptop has.

The virtual environment holds `requirements.txt` and the runtime; the app comes out of the zip that
is sent to Azure. So an import that works only beside the development packages or the development
host fails here. The environment is made at first use (15 to 25 s) and kept until `requirements.txt`
or the Python version changes.
"""

from __future__ import annotations

from pathlib import Path

from tests.environments import ROOT, environment

RUNTIME = "azure-functions-runtime==1.3.0"
REQUIREMENTS = ROOT / "requirements.txt"


def interpreter() -> Path:
    """Its Python. Raises AssertionError with pip's own words when it can't be made."""
    folder = environment(
        ".official_runtime",
        ("-r", str(REQUIREMENTS)),
        # The runtime names Python 3.13 as its oldest and asks for the SDK that goes with that;
        # it runs on 3.11 and 3.12 as well.
        ("--no-deps", "--ignore-requires-python", RUNTIME),
        also=REQUIREMENTS.read_text(encoding="utf-8"),
    )
    return folder / "bin" / "python"


if __name__ == "__main__":
    interpreter()
