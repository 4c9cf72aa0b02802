"""What a host says on its terminal."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from memory_core.localhost.door import say

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
def test_an_output_that_takes_nothing_does_not_end_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with os.fdopen(os.open(FULL, os.O_WRONLY), "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        full.write("before\n")
        with pytest.raises(OSError, match="No space left"):
            full.flush()
        say("Worker 1 of 2 has ended")
        with suppress(OSError):  # what was not written is tried again
            full.close()


def test_what_is_said_is_written_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "log"
    with file.open("w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        say("Ready")
        assert file.read_text() == "Ready\n"


def test_a_terminal_without_our_signs_is_no_reason_not_to_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "log"
    with file.open("w", encoding="latin-1") as output:
        monkeypatch.setattr(sys, "stdout", output)
        say("  adapters  short term embedded \N{MIDDLE DOT} data /Köln/日本 …")
    assert file.read_text("latin-1") == "  adapters  short term embedded · data /Köln/?? ?\n"
