"""What importing `function_app` brings into the process: every cold start on Azure pays for it
before the first request.

How long that takes is the bench's to measure; here only what is loaded, which does not depend on
the machine.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AT_IMPORT = {"azure-functions", "numpy", "orjson", "pydantic"}
"""What the functions' own signatures and models are made of. All else is loaded by the first
request that needs it.
"""
FOR_REQUESTS = (
    "memory_core.bootstrap",
    "memory_core.config",
    "memory_core.core",
    "memory_core.domain.results",
    "memory_core.domain.text.spelling",
    "memory_core.functions.mcp",
    "memory_core.functions.openapi",
)
"""Modules of our own, with those inside them, that no signature and no model needs: they build
many classes or compile many patterns.
"""
REPORT = """
import function_app, json, sys
from pydantic import BaseModel

models = [BaseModel]
for model in models:
    models += model.__subclasses__()
ours = [model for model in models if model.__module__.startswith("memory_core.")]
print(json.dumps({
    "files": [getattr(module, "__file__", None) for module in list(sys.modules.values())],
    "modules": list(sys.modules),
    "models": [model.__qualname__ for model in ours],
    "built": [model.__qualname__ for model in ours if model.__pydantic_complete__],
}))
"""


@pytest.fixture(scope="module")
def imported() -> dict[str, list[str]]:
    """What a process that has imported the functions and nothing else says of itself."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT], cwd=ROOT, capture_output=True, text=True, check=True
    )
    report: dict[str, list[str]] = json.loads(done.stdout)
    return report


def test_importing_the_functions_loads_no_client_of_any_service(
    imported: dict[str, list[str]],
) -> None:
    loaded = {Path(file).resolve() for file in imported["files"] if file}
    named = set(re.findall(r"^([\w-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE))
    assert named >= AT_IMPORT
    installed = {
        distribution.name: {Path(str(file.locate())).resolve() for file in distribution.files or ()}
        for distribution in distributions()
    }
    loaded_packages = {name for name in named if loaded & installed.get(name, set())}
    assert "azure-functions" in loaded_packages, "this test does not see what is loaded"
    assert loaded_packages <= AT_IMPORT


def test_importing_the_functions_loads_no_module_that_only_requests_need(
    imported: dict[str, list[str]],
) -> None:
    assert "memory_core.functions.gate" in imported["modules"]
    assert [module for module in FOR_REQUESTS if importlib.util.find_spec(module) is None] == []
    early = [
        module
        for module in imported["modules"]
        if module in FOR_REQUESTS or module.startswith(tuple(f"{name}." for name in FOR_REQUESTS))
    ]
    assert early == []


def test_importing_the_functions_builds_no_model(imported: dict[str, list[str]]) -> None:
    assert {"Memory", "SaveInput"} <= set(imported["models"])
    assert imported["built"] == []


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
