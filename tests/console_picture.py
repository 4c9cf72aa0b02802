"""Draws the picture of docs/console.md: `python -m tests.console_picture`. It starts a host of its
own, with a small life in it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

import httpx

from tests import browser
from tests.host import ROOT, answer_when, ended_task, running

PICTURE = ROOT / "docs" / "pictures" / "console.png"
LARGEST = 150_000
WIDTH, HEIGHT = 1200, 860
QUERY = "Where does Ana live?"
SESSIONS = {
    "spring": [
        (
            "2026-03-02T18:00:00Z",
            "I am Ana. I live in Oslo and I work as a nurse at Ullevål hospital.",
        ),
        ("2026-03-02T18:02:00Z", "My sister Mia lives in Lisbon. I am thinking of moving south."),
    ],
    "new home": [
        ("2026-05-08T18:00:00Z", "I moved to Lisbon last week! The new flat is in Alfama."),
        ("2026-05-08T18:02:00Z", "The rent is 950 euros, and the tram stops at the door."),
    ],
}


def tell(host: httpx.Client) -> None:
    """Tell the conversations and wait until they are formed."""
    for session, turns in SESSIONS.items():
        messages = [
            {"role": "user", "content": text, "timestamp": moment} for moment, text in turns
        ]
        answer = host.post(
            "/api/v1/memories", json={"user_id": "ana", "session_id": session, "messages": messages}
        )
        ended_task(host, answer.headers["location"])


def main() -> int:
    """Write the picture; 1 where there is no browser, or where the picture is too large for
    the repository.
    """
    program, reason = browser.found()
    if program is None:
        sys.stderr.write(f"{reason}\n")
        return 1
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), EMBEDDING_PROVIDER="minilm") as host,
        browser.running(program) as page,
    ):
        tell(host)
        page.open(
            f"{str(host.base_url).rstrip('/')}/console#/search?{urlencode({'user': 'ana', 'q': QUERY})}",  # noqa: E501
            width=WIDTH,
            height=HEIGHT,
        )
        answer_when(
            lambda: page.evaluate(
                "!!document.querySelector('.hit') && !document.querySelector('[aria-busy]')"
            ),
            bool,
        )
        PICTURE.write_bytes(page.screenshot())
    return 0 if PICTURE.stat().st_size < LARGEST else 1


if __name__ == "__main__":
    sys.exit(main())
