"""Draws the Mermaid diagrams of docs/ for the site: `python -m tests.docs_diagrams`.
It needs Chromium and, once, npm.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from deployment.docs_site import diagram_picture, diagrams
from tests import browser
from tests.npm_file import npm_file

DOCS = Path(__file__).resolve().parents[1] / "docs"
MERMAID = "mermaid@12.3.0"
OPTIONS = {
    "startOnLoad": False,
    "theme": "neutral",
    "fontFamily": "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif",
    "htmlLabels": False,
    "flowchart": {"htmlLabels": False},
}
DRAW = "(async () => (await mermaid.render('diagram', {source})).svg)()"


def sources() -> dict[Path, str]:
    """Each diagram's source by the file of its picture."""
    return {
        DOCS / diagram_picture(page.stem, number): source
        for page in sorted(DOCS.glob("*.md"))
        for number, source in enumerate(diagrams(page.read_text(encoding="utf-8")), 1)
    }


def mark(source: str) -> str:
    """A comment at the end of a picture that names its source."""
    return f"<!-- source {hashlib.sha256(source.encode()).hexdigest()} -->\n"


def main() -> int:
    """Write the pictures; 1 where there is no browser."""
    program, reason = browser.found()
    if program is None:
        sys.stderr.write(f"{reason}\n")
        return 1
    script = npm_file(MERMAID, "dist/mermaid.min.js").read_text(encoding="utf-8")
    with browser.running(program) as page:
        page.open("data:text/html,<title>diagrams</title><body></body>")
        page.evaluate(f"{script}; mermaid.initialize({json.dumps(OPTIONS)})")
        for target, source in sources().items():
            target.write_text(
                page.evaluate(DRAW.replace("{source}", json.dumps(source))) + mark(source),
                encoding="utf-8",
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
