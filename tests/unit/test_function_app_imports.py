"""What importing `function_app` brings into the process: every cold start on Azure pays for it
before the first request.

How long that takes is the bench's to measure; here only what is loaded, which does not depend on
the machine.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
AT_IMPORT = {"azure-functions", "numpy", "orjson", "pydantic"}
"""What the functions' own signatures and models are made of. All else is loaded by the first
request that needs it.
"""
LOADED_FILES = (
    "import function_app, json, sys; print(json.dumps([getattr(one, '__file__', None) for one in "
    "list(sys.modules.values())]))"
)


def test_importing_the_functions_loads_no_client_of_any_service() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED_FILES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {Path(file).resolve() for file in json.loads(done.stdout) if file}
    named = set(re.findall(r"^([\w-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE))
    assert named >= AT_IMPORT
    installed = {
        one.name: {Path(str(file.locate())).resolve() for file in one.files or ()}
        for one in distributions()
    }
    found = {name for name in named if loaded & installed.get(name, set())}
    assert "azure-functions" in found, "this test does not see what is loaded"
    assert found <= AT_IMPORT


def test_products_of_numbers_take_no_threads_of_their_own_unless_somebody_asks_for_them() -> None:
    threads = "import memory_core, os; print(os.environ['OPENBLAS_NUM_THREADS'])"

    def printed(environment: dict[str, str]) -> str:
        inherited = {
            name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"
        }
        done = subprocess.run(
            [sys.executable, "-c", threads],
            cwd=ROOT,
            env=inherited | environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    assert printed({}) == "1"
    assert printed({"OPENBLAS_NUM_THREADS": "3"}) == "3"
