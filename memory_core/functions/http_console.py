"""The console: a page for operators and developers, which uses the public calls alone.

The page loads no file from elsewhere. Its files are ES modules and style sheets in `console`, as
they were written, without a build. They are read at the first request.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
from pathlib import Path

import azure.functions as func
from azure.functions import HttpRequest, HttpResponse

from memory_core.domain.errors import NotFound
from memory_core.functions.gate import ungated

blueprint = func.Blueprint()
FOLDER = Path(__file__).with_name("console")
PAGE = "page.html"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Content security policy of the console.

The page runs and shows files of this app, and sends to this app alone. With trusted types no text
can become HTML or a script.
"""
_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
_MEDIA = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
"""The media types of the files beside the page."""


@blueprint.route(route="console", methods=["GET"])
@ungated
async def console_page(req: HttpRequest) -> HttpResponse:
    """A page to read memories, to decide conflicts and to watch the service."""
    page = (FOLDER / PAGE).read_bytes().replace(b"{release}", release().encode())
    headers = {**_HEADERS, "Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
    return HttpResponse(page, mimetype="text/html", headers=headers)


@blueprint.route(route="console/{release}/{file}", methods=["GET"])
@ungated
async def console_file(req: HttpRequest) -> HttpResponse:
    """A script, style sheet or picture of that page."""
    name = req.route_params["file"]
    if name not in _contents():
        raise NotFound("The console has no such file")
    content = _contents()[name]
    # A page of another release, while an upgrade is under way, gets this file once; it must not
    # stay in a cache under the wrong name.
    caching = (
        "public, max-age=31536000, immutable"
        if req.route_params["release"] == release()
        else "no-store"
    )
    headers = {**_HEADERS, "Cache-Control": caching, "Vary": "Accept-Encoding"}
    if "gzip" in req.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        content = gzip.decompress(content)
    return HttpResponse(content, mimetype=_MEDIA[Path(name).suffix], headers=headers)


@functools.cache
def release() -> str:
    """Beginning of the addresses of the files.

    With it, no cache mixes the modules of two versions.
    """
    return hashlib.sha256(b"".join(_contents().values())).hexdigest()[:12]


@functools.cache
def _contents() -> dict[str, bytes]:
    """The files beside the page by name, compressed."""
    paths = sorted(path for path in FOLDER.iterdir() if path.suffix in _MEDIA)
    return {path.name: gzip.compress(path.read_bytes(), 9, mtime=0) for path in paths}
