"""The local model is local: loading it leaves nothing behind and calls no service."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LOAD = "from memory_core.adapters.embedders.minilm_model import MiniLM; MiniLM().vectors([[2054]])"


def test_the_local_model_does_not_report_its_use(tmp_path: Path) -> None:
    """Its runtime would write an id of the machine into the home folder, and a session into the
    temporary one, before it sends any.
    """
    home = tmp_path / "home"
    home.mkdir()
    environment = {
        "HOME": str(home),
        "TMPDIR": str(home),
        "PATH": "/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(Path.cwd()),
    }
    subprocess.run([sys.executable, "-c", LOAD], env=environment, check=True, timeout=120)
    assert list(home.rglob("*")) == []
