"""What an app on Azure signs in with: the identity endpoint of its machine, which gives tokens to
every caller that shows its header.

Note: the tokens are not signed. Azurite looks at whom they are for, from whom
and until when; the Cosmos DB emulator only that there is one. What this proves is that the product
asks for the right token and that it is sent.
"""

from __future__ import annotations

import base64
import http.server
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

SECRET = "only this app knows it"
LIFE_S = 86_400
TENANT = "11111111-1111-1111-1111-111111111111"


@dataclass
class Identity:
    """An endpoint that gives tokens. asked: (resource, client id, the header that shows who asks)
    of each request.
    """

    url: str
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """What the Functions host tells an app about it."""
        return {"IDENTITY_ENDPOINT": self.url, "IDENTITY_HEADER": SECRET}


@contextmanager
def running() -> Iterator[Identity]:
    """The endpoint of a machine for as long as the block runs."""
    server = _Server(("127.0.0.1", 0), _Endpoint)
    server.identity = Identity(f"http://127.0.0.1:{server.server_port}/msi/token")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.identity
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(http.server.ThreadingHTTPServer):
    identity: Identity


class _Endpoint(http.server.BaseHTTPRequestHandler):
    """Answers as App Service's endpoint does, api-version 2019-08-01."""

    def do_GET(self) -> None:
        asked = parse_qs(urlsplit(self.path).query)
        (resource,), client_id = asked["resource"], asked.get("client_id", [""])[0]
        assert isinstance(self.server, _Server)
        self.server.identity.asked.append(
            (resource, client_id, self.headers.get("X-IDENTITY-HEADER", ""))
        )
        until = int(time.time()) + LIFE_S
        given = {
            "access_token": _token(resource, until),
            "expires_on": str(until),
            "resource": resource,
            "token_type": "Bearer",
        }
        body = json.dumps(given).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Tests print what they need."""


def _token(resource: str, until: int) -> str:
    begins = until - LIFE_S - 60
    claims = {
        "aud": resource,
        "iss": f"https://sts.windows.net/{TENANT}/",
        "nbf": begins,
        "iat": begins,
        "exp": until,
        "tid": TENANT,
    }
    return ".".join(
        _encoded(part)
        for part in (json.dumps({"alg": "none", "typ": "JWT"}), json.dumps(claims), "nobody")
    )


def _encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()
