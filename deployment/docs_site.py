"""Hooks of mkdocs for `make docs`: pages from outside docs/, links that leave it, drawn diagrams.

Note: the pages are written for the repository, where every relative link leads to a file. Only what
differs in the site is changed here.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXTRA_PAGES = {
    "memory_core_client/README.md": "python-client.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "README.md": "index.md",  # only links are changed: docs/ has a first page of its own
}
"""Files outside docs/ by the page that they are in the site."""
_SOURCES = {page: source for source, page in EXTRA_PAGES.items() if page != "index.md"}
_FENCE = re.compile(r"^```.*?^```[ ]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[([^\]\[]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
_MERMAID = re.compile(r"^```mermaid\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
_DIAGRAM_LABEL = re.compile(r"%% (.*)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that lie outside docs/."""
    from mkdocs.structure.files import File  # only `make docs` has it

    for page, source in _SOURCES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A page as the site shows it."""
    return site_markdown(markdown, page.file.src_uri)


def site_markdown(markdown: str, page: str) -> str:
    """Replace diagrams by their pictures, and mend links that leave docs/."""
    folder = posixpath.dirname(_SOURCES.get(page, f"docs/{page}"))
    drawn = replace_diagrams(markdown, page.removesuffix(".md"))
    pieces, end = [], 0
    for fence in _FENCE.finditer(drawn):
        pieces += [mend_links(drawn[end : fence.start()], folder), fence[0]]
        end = fence.end()
    return "".join([*pieces, mend_links(drawn[end:], folder)])


def mend_links(text: str, folder: str) -> str:
    """Lead links of a file in `folder` to the site's pages; the label alone stays of a link to a
    file that the site does not have.
    """

    def mended(link: re.Match[str]) -> str:
        picture, label, target, anchor = link[1], link[2], link[3], link[4] or ""
        if not target or "://" in target or target.startswith("mailto:"):
            return link[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        if path in EXTRA_PAGES:
            return f"{picture}[{label}]({EXTRA_PAGES[path]}{anchor})"
        if path.startswith("docs/") and not path.endswith(".json"):
            return f"{picture}[{label}]({path.removeprefix('docs/')}{anchor})"
        return (
            label if path in label or posixpath.basename(path) in label else f"{label} (`{path}`)"
        )

    return _LINK.sub(mended, text)


def diagram_picture(page: str, number: int) -> str:
    """Path below docs/ of the picture of a page's diagram, counted from 1."""
    return f"pictures/diagram-{page}-{number}.svg"


def diagrams(markdown: str) -> list[str]:
    """The sources of a page's Mermaid diagrams."""
    return [block[1] for block in _MERMAID.finditer(markdown)]


def replace_diagrams(markdown: str, page: str) -> str:
    """Put pictures where Mermaid's sources are: its script would have to come from elsewhere."""
    numbers = iter(range(1, 1 + len(diagrams(markdown))))

    def picture(block: re.Match[str]) -> str:
        label = _DIAGRAM_LABEL.search(block[1])
        return (
            f"![{label[1] if label else 'Diagram'}]({diagram_picture(page, next(numbers))}){{ "
            f".diagram }}"
        )

    return _MERMAID.sub(picture, markdown)
