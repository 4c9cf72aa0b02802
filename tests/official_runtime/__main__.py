"""`python -m tests.official_runtime`: write down what the official runtime would tell Azure's host
about the functions.

The file is the expectation that a test compares with. Read the difference before you commit it:
it is what changes on Azure.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.environments import ROOT
from tests.official_runtime.expectation import FILE, as_text
from tests.official_runtime.worker import working


def main() -> int:
    """Write the file; 0."""
    with tempfile.TemporaryDirectory() as folder, working(ROOT, Path(folder)) as worker:
        FILE.write_text(as_text(worker.functions), encoding="utf-8")
    sys.stdout.write(f"{len(worker.functions)} functions in {FILE.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
