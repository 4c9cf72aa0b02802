"""Schemathesis in an environment of its own: its packages neither meet ours, nor is its plugin
loaded by every run of pytest.

The environment is made at first use (10 s, 60 MB) in `.request_generator/` and kept until the
versions here or Python change.
"""

from __future__ import annotations

from pathlib import Path

from tests.environments import environment

PACKAGES = ("schemathesis==4.32.5", "hypothesis==6.170.15")


def interpreter() -> Path:
    """Its Python. Raises AssertionError with pip's own words when it can't be made."""
    return environment(".request_generator", PACKAGES) / "bin" / "python"


if __name__ == "__main__":
    interpreter()
