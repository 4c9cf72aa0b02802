"""The API as a page: Swagger UI on this app's own OpenAPI document.

The page loads no file from elsewhere. The files of Swagger UI are in `viewer`, as
`deployment.viewer` fetched them, and are read at the first request.
"""

from __future__ import annotations

import functools
import gzip
from pathlib import Path

import azure.functions as func
from azure.functions import HttpRequest, HttpResponse

from memory_core.domain.errors import NotFound
from memory_core.functions.gate import ungated

blueprint = func.Blueprint()
FOLDER = Path(__file__).with_name("viewer")
VERSION = "5.35.0"
"""Version of Swagger UI."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy of the page.

The page runs and shows files of this app, and sends to this app alone. `data:` is for the icons in
Swagger UI's style sheet.
"""
_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
_FILES = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
    "start.js": "text/javascript",
    "page.css": "text/css",
}
"""Files that the page loads, with their media types."""


@blueprint.route(route="docs", methods=["GET"])
@ungated
async def docs_page(req: HttpRequest) -> HttpResponse:
    """A page to read about all calls and to try them."""
    headers = {**_HEADERS, "Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
    return HttpResponse(_content("page.html")[0], mimetype="text/html", headers=headers)


@blueprint.route(route="docs/{file}", methods=["GET"])
@ungated
async def docs_file(req: HttpRequest) -> HttpResponse:
    """A script, style sheet or picture of that page."""
    name = req.route_params["file"]
    if name not in _FILES:
        raise NotFound(f"The page has no such file, only {', '.join(_FILES)}")
    content, is_compressed = _content(name)
    headers = {**_HEADERS, "Cache-Control": "public, max-age=86400", "Vary": "Accept-Encoding"}
    if is_compressed and "gzip" in req.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    elif is_compressed:
        content = gzip.decompress(content)
    return HttpResponse(content, mimetype=_FILES[name], headers=headers)


@functools.cache
def _content(name: str) -> tuple[bytes, bool]:
    """The bytes of a file of the page, and whether they are compressed."""
    compressed = FOLDER / f"{name}.gz"
    return (
        (compressed.read_bytes(), True)
        if compressed.exists()
        else ((FOLDER / name).read_bytes(), False)
    )
